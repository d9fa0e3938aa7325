//! The model selection of `mercer train`.

use super::{Folder, example};

/// A table of two interleaved half circles, which no linear model separates, with an irrelevant column.
fn moons() -> String {
    let mut table = String::from("x,y,noise,class\n");
    for i in 0..120 {
        let angle = std::f64::consts::PI * f64::from(i % 60) / 60.0;
        let jitter = f64::from((i * 7919) % 101) / 500.0;
        let (x, y, class) = match i < 60 {
            true => (angle.cos() + jitter, angle.sin(), "upper"),
            false => (1.0 - angle.cos() - jitter, 0.3 - angle.sin(), "lower"),
        };
        table += &format!("{x:.4},{y:.4},{},{class}\n", (i * 31) % 17);
    }
    table
}

#[test]
fn the_best_candidate_is_trained_and_can_be_trained_again() {
    let folder = Folder::new();
    folder.write("moons.csv", &moons());

    let args = ["train", "moons.csv", "--target", "class", "--budget", "60s", "--json"];
    let report = folder.json(&args);

    let board = &report["leaderboard"];
    let rows = board["rows"].as_array().unwrap();
    assert!(rows.len() > 20, "{}", rows.len());
    let failed: Vec<_> = rows.iter().filter(|row| row["standing"] == "failed").collect();
    assert!(failed.is_empty(), "{failed:?}");
    let score = |name: &str| {
        let row = rows.iter().find(|row| row["name"].as_str().unwrap().starts_with(name));
        row.unwrap()["score"].as_f64().unwrap()
    };
    // A kernel separates the half circles, a linear model does not.
    assert!(rows[0]["score"].as_f64().unwrap() > score("lda") + 0.05, "{rows:?}");
    let corrected = board["corrected"]["score"].as_f64().unwrap();
    assert!(corrected <= rows[0]["score"].as_f64().unwrap());
    // The printed command gives the same model.
    let command = report["command"].as_str().unwrap().to_owned();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let selected = std::fs::read(folder.path("moons.mercer")).unwrap();
    folder.output(&words);
    let first = folder.output(&["predict", "moons.mercer", "moons.csv"]);
    std::fs::write(folder.path("selected.mercer"), selected).unwrap();
    assert_eq!(folder.output(&["predict", "selected.mercer", "moons.csv"]), first);
}

#[test]
fn the_same_candidate_wins_for_any_number_of_threads() {
    let folder = Folder::new();
    folder.write("moons.csv", &moons());
    let report = |threads: &str| {
        let args = ["train", "moons.csv", "--target", "class", "--budget", "10m", "--json"];
        let report = folder.json(&[&args[..], &["--threads", threads]].concat());
        (report["command"].clone(), report["leaderboard"]["corrected"].clone())
    };

    assert_eq!(report("1"), report("2"));
}

#[test]
fn a_numeric_target_with_many_values_is_a_regression() {
    let folder = Folder::new();
    let rows = (0..220).map(|i| format!("{},{}\n", f64::from(i) / 10.0, i % 55));
    folder.write("t.csv", &format!("x,y\n{}", rows.collect::<String>()));
    let select = |options: &[&str]| {
        let args = ["train", "t.csv", "--target", "y", "--budget", "0", "--no-report"];
        let done = folder.mercer(&[&args[..], options].concat()).assert().success();
        String::from_utf8(done.get_output().stderr.clone()).unwrap()
    };

    let inferred = select(&[]);
    let asked = select(&["--task", "classification"]);

    assert!(inferred.contains("task: regression (`y` is numeric with 55 distinct values"));
    assert!(inferred.contains("`--task classification` to change"), "{inferred}");
    assert!(asked.contains("estimator: gaussian-nb"), "{asked}");
}

#[test]
fn the_metric_belongs_to_the_task() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let args =
        ["train", iris.as_str(), "--target", "species", "--budget", "5s", "--metric", "rmse"];

    let message = folder.failure(&args, 2);

    assert!(message.contains("choose one of accuracy, balanced-accuracy"), "{message}");
    assert!(folder.failure(&[&args[..7], &["acuracy"]].concat(), 2).contains("one of accuracy"));
    let task = ["train", iris.as_str(), "--target", "species", "--model", "ridge", "--task"];
    let message = folder.failure(&[&task[..], &["classification"]].concat(), 2);
    assert!(message.contains("choose another --model, or remove --task"), "{message}");
}

#[test]
fn compare_without_models_prints_the_leaderboard() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let args = ["compare", iris.as_str(), "--target", "species", "--metric", "log-loss"];

    let board = folder.json(&[&args[..], &["--json"]].concat());

    assert_eq!(board["metric"], "log-loss");
    let rows = board["rows"].as_array().unwrap();
    let score = |k: usize| rows[k]["score"].as_f64().unwrap();
    assert!(score(0) <= score(1) && score(0) < 0.15, "{}", score(0));
    // Predicting the class frequencies has a loss of log 3.
    assert!((board["baseline"].as_f64().unwrap() - 3f64.ln()).abs() < 1e-12);
    assert!(folder.output(&args).contains("log-loss corrected for the selection"));
}
