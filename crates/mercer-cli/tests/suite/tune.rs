//! `mercer tune`.

use super::{Folder, example};
use serde_json::Value;

fn scores(tuning: &Value) -> Vec<(String, f64)> {
    let settings = tuning["settings"].as_array().unwrap();
    settings.iter().map(|s| (s["settings"].to_string(), s["score"].as_f64().unwrap())).collect()
}

#[test]
fn the_best_setting_is_printed_with_the_command_that_trains_it() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["tune", &iris, "--target", "species", "--model", "svc", "--grid", "C=0.01,1,100"];
    let more = ["--grid", "gamma=0.01,0.1,1"];

    let printed = folder.output(&[&run[..], &more].concat());
    let tuning = folder.json(&[&run[..], &more, &["--json"]].concat());

    assert!(printed.contains("best: C="), "{printed}");
    let command = tuning["command"].as_str().unwrap();
    assert!(printed.contains(&format!("train it: {command}")), "{printed}");
    assert_eq!(tuning["settings"].as_array().unwrap().len(), 9);
    assert_eq!(tuning["splitting"], "5 folds");
    assert_eq!(tuning["best"], tuning["settings"][0]);
    let best = tuning["best"]["score"].as_f64().unwrap();
    assert!(best > 0.93 && scores(&tuning).iter().all(|(_, score)| *score <= best));
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let model = folder.path("best.mercer");
    let out = ["--out", model.to_str().unwrap(), "--no-report", "--json"];
    let trained = folder.json(&[&words[..], &out].concat());
    let accuracy = trained["cross_validation"]["accuracy"]["value"].as_f64().unwrap();
    assert!((accuracy - best).abs() < 0.05, "{accuracy} {best}");
}

#[test]
fn a_best_value_at_the_edge_of_the_grid_is_reported() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["tune", &iris, "--target", "species", "--model", "svc", "--set", "gamma=0.1"];

    let printed = folder.output(&[&run[..], &["--grid", "C=1e-4,1e-3,1"]].concat());

    assert!(printed.contains("C = 1"), "{printed}");
    assert!(printed.contains("is the largest value tried"), "{printed}");
    assert!(printed.contains("add larger values with --grid"), "{printed}");
}

#[test]
fn any_number_of_threads_gives_the_same_scores() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let settings = |threads: &str| {
        let run = ["tune", &iris, "--target", "species", "--model", "svc", "--threads", threads];
        let tuning = folder.json(&[&run[..], &["--json"]].concat());
        (scores(&tuning), tuning["corrected"].clone(), tuning["edges"].clone())
    };

    assert_eq!(settings("1"), settings("3"));
}

#[test]
fn random_search_and_halving_try_the_settings_they_are_asked_for() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["tune", &iris, "--target", "species", "--model", "logistic", "--json"];

    let random = folder.json(&[&run[..], &["--search", "random", "--trials", "7"]].concat());
    let again = folder.json(&[&run[..], &["--search", "random", "--trials", "7"]].concat());
    let halving = folder.json(&[&run[..], &["--search", "halving"]].concat());

    assert_eq!(random["settings"].as_array().unwrap().len(), 7);
    assert_eq!(scores(&random), scores(&again));
    assert_eq!(halving["settings"].as_array().unwrap().len(), 7);
}

#[test]
fn ridge_is_scored_by_leave_one_out_unless_folds_are_given() {
    let folder = Folder::new();
    let rows = (0..60).map(|i| {
        let x = f64::from(i) / 10.0;
        format!("{x},{},{}\n", (i * 37) % 11, 3.0 * x + f64::from((i * 7919) % 13) / 10.0)
    });
    folder.write("line.csv", &format!("x,z,y\n{}", rows.collect::<String>()));
    let run = ["tune", "line.csv", "--target", "y", "--model", "ridge", "--json"];

    let closed = folder.json(&run);
    let folds = folder.json(&[&run[..], &["--folds", "10"]].concat());
    let kernel = ["tune", "line.csv", "--target", "y", "--model", "kernel-ridge", "--json"];
    let kernel = folder.json(&kernel);

    assert_eq!(closed["splitting"], "leave-one-out in closed form");
    assert_eq!(kernel["splitting"], "leave-one-out in closed form");
    assert_eq!(folds["splitting"], "10 folds");
    let (a, b) =
        (closed["best"]["score"].as_f64().unwrap(), folds["best"]["score"].as_f64().unwrap());
    assert!(a > 0.98 && (a - b).abs() < 0.01, "{a} {b}");
    assert!(kernel["best"]["score"].as_f64().unwrap() > 0.9);
}

#[test]
fn scores_over_one_and_two_hyperparameters_are_plotted() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["tune", &iris, "--target", "species", "--model", "svc", "--grid", "C=0.1,1,10"];

    folder.output(&[&run[..], &["--set", "gamma=0.1", "--plot", "path.svg"]].concat());
    folder.output(&[&run[..], &["--grid", "gamma=0.01,0.1", "--plot", "map.svg"]].concat());

    for (file, expected) in [("path.svg", "log10(C)"), ("map.svg", "svc: accuracy by C and gamma")]
    {
        let picture = std::fs::read_to_string(folder.path(file)).unwrap();
        assert!(picture.contains("<svg") && picture.contains(expected), "{file}: {picture}");
    }
}

#[test]
fn a_budget_that_ends_early_reports_what_was_scored() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["tune", &iris, "--target", "species", "--model", "svc", "--budget", "0s"];

    let printed = folder.failure(&run, 5);

    assert!(printed.contains("raise --budget"), "{printed}");
}

#[test]
fn invalid_searches_are_refused_with_a_remedy() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["tune", &iris, "--target", "species", "--model"];

    for (more, expected) in [
        (vec!["svc", "--grid", "C=0,1"], "C"),
        (vec!["svc", "--grid", "Q=1,2"], "Q"),
        (vec!["svc", "--grid", "C=1,2", "--set", "C=3"], "in --set and in --grid"),
        (vec!["lda"], "--grid C=0.1,1,10"),
        (vec!["nystroem"], "unsupervised"),
        (vec!["svc", "--metric", "r2"], "choose one of"),
        (vec!["svc", "--task", "regression"], "is for classification"),
        (vec!["svc", "--group", "petals"], "no column `petals`"),
    ] {
        let printed = folder.failure(&[&run[..], &more].concat(), 2);
        assert!(printed.contains(expected), "{printed}");
    }
}
