//! Costs, rejection, new priors and outliers at prediction time.

use super::{Folder, example};

fn trained() -> Folder {
    let folder = Folder::new();
    folder.output(&[
        "train",
        &example("iris.csv"),
        "--target",
        "species",
        "--folds",
        "0",
        "--no-report",
    ]);
    folder
}

/// The prediction column.
fn predictions(text: &str) -> Vec<String> {
    text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
}

fn count(predictions: &[String], class: &str) -> usize {
    predictions.iter().filter(|a| *a == class).count()
}

#[test]
fn costs_change_predictions_to_the_less_costly_class() {
    let folder = trained();
    // Rows and columns may be in any order. Misclassifying a virginica has a high cost.
    folder.write(
        "costs.csv",
        "truth,virginica,setosa,versicolor\nversicolor,1,1,0\nvirginica,0,1000,1000\nsetosa,1,0,1\n",
    );
    let iris = example("iris.csv");

    let plain = predictions(&folder.output(&["predict", "iris.mercer", &iris]));
    let dear = folder.output(&["predict", "iris.mercer", &iris, "--cost", "costs.csv"]);

    assert_eq!(dear.lines().next(), Some("species,risk"));
    let dear = predictions(&dear);
    assert_eq!(count(&plain, "setosa"), count(&dear, "setosa"));
    assert!(count(&dear, "virginica") > count(&plain, "virginica"));
}

#[test]
fn rejection_of_uncertain_rows_raises_the_accuracy() {
    let folder = trained();
    let iris = example("iris.csv");

    let printed_rows =
        folder.output(&["predict", "iris.mercer", &iris, "--reject", "0.1", "--proba"]);
    let evaluation = folder.json(&["evaluate", "iris.mercer", &iris, "--reject", "0.1", "--json"]);

    let rejected = printed_rows.lines().skip(1).filter(|line| line.starts_with(',')).count();
    assert!(rejected > 0);
    let decision = &evaluation["decision"];
    assert!(
        (decision["rejected_fraction"].as_f64().unwrap() - rejected as f64 / 150.0).abs() < 1e-12
    );
    let answered = decision["accuracy_of_answered"].as_f64().unwrap();
    assert!(answered > evaluation["accuracy"]["value"].as_f64().unwrap());
    assert!(decision["expected_risk"].as_f64().unwrap() > 0.0);
    assert!(decision["empirical_risk"].as_f64().unwrap() > 0.0);
    // Without the options no decision rule is applied.
    let plain = folder.json(&["evaluate", "iris.mercer", &iris, "--json"]);
    assert!(plain.get("decision").is_none());
}

#[test]
fn new_priors_are_those_of_a_model_trained_with_them() {
    let folder = trained();
    let iris = example("iris.csv");
    folder.output(&[
        "train",
        &iris,
        "--target",
        "species",
        "--folds",
        "0",
        "--no-report",
        "--out",
        "new.mercer",
        "--set",
        "priors=[0.1,0.1,0.8]",
    ]);

    let moved =
        folder.output(&["predict", "iris.mercer", &iris, "--prior", "virginica=80%", "--proba"]);
    let trained = folder.output(&["predict", "new.mercer", &iris, "--proba"]);

    for (a, b) in moved.lines().zip(trained.lines()).skip(1) {
        let (a, b): (Vec<&str>, Vec<&str>) = (a.split(',').collect(), b.split(',').collect());
        assert_eq!(a[0], b[0]);
        for k in 1..4 {
            let (p, q): (f64, f64) = (a[k].parse().unwrap(), b[k].parse().unwrap());
            assert!((p - q).abs() < 1e-12);
        }
    }
}

#[test]
fn the_fraction_of_outliers_is_the_requested_one() {
    let folder = trained();

    let text = folder.output(&[
        "predict",
        "iris.mercer",
        &example("iris.csv"),
        "--density",
        "--outliers",
        "0.1",
        "--outliers-here",
    ]);

    assert_eq!(text.lines().next(), Some("species,log_density,outlier"));
    let mut flagged: Vec<f64> = Vec::new();
    let mut usual: Vec<f64> = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let side = if cells[2] == "true" { &mut flagged } else { &mut usual };
        side.push(cells[1].parse().unwrap());
    }
    assert_eq!(flagged.len(), 15);
    assert!(flagged.iter().all(|f| usual.iter().all(|u| f < u)));
}

#[test]
fn invalid_options_are_reported() {
    let folder = trained();
    let iris = example("iris.csv");
    folder.write("two.csv", "truth,setosa,virginica\nsetosa,0,1\nvirginica,1,0\n");
    folder.write(
        "strange.csv",
        "truth,setosa,virginica,rose\nsetosa,0,1,1\nvirginica,1,0,1\nrose,1,1,0\n",
    );
    folder.write(
        "twice.csv",
        "truth,setosa,virginica,versicolor\nsetosa,0,1,1\nvirginica,1,0,1\nsetosa,1,1,0\n",
    );
    let ask = |more: &[&str], code: i32| {
        folder.failure(&[&["predict", "iris.mercer", &iris], more].concat(), code)
    };

    assert!(ask(&["--cost", "two.csv"], 3).contains("3 classes"));
    assert!(ask(&["--cost", "strange.csv"], 2).contains("`rose`"));
    assert!(ask(&["--cost", "twice.csv"], 3).contains("`versicolor` has no row"));
    assert!(ask(&["--cost", "gone.csv"], 3).contains("gone.csv"));
    assert!(ask(&["--prior", "rose=0.5"], 2).contains("setosa, versicolor, virginica"));
    assert!(ask(&["--prior", "setosa=1.5"], 3).contains("1.5"));
    assert!(ask(&["--outliers", "2"], 2).contains("between 0 and 1"));
    assert!(ask(&["--outliers", "0.1"], 2).contains("--outliers-here"));
    let nothing = folder.failure(&["decide", "iris.mercer", "--out", "x.mercer"], 2);
    assert!(nothing.contains("--cost, --reject or --prior"), "{nothing}");
}

#[test]
fn the_outlier_threshold_is_measured_on_training_rows() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    folder.output(&["train", &iris, "--target", "species", "--no-report"]);
    let header = "sepal_length,sepal_width,petal_length,petal_width";
    folder.write("strange.csv", &format!("{header}\n50,1,1,1\n5.1,3.5,1.4,0.2\n"));

    let known = folder.output(&["predict", "iris.mercer", &iris, "--outliers", "0.02"]);
    let strange = folder.output(&["predict", "iris.mercer", "strange.csv", "--outliers", "0.02"]);

    // Two percent of the 150 held-out rows are three; a training row is rarely an outlier.
    assert!(known.lines().filter(|line| line.ends_with(",true")).count() <= 3);
    let flags: Vec<&str> = strange.lines().skip(1).map(|l| l.rsplit(',').next().unwrap()).collect();
    assert_eq!(flags, ["true", "false"]);
    assert_eq!(folder.json(&["inspect", "iris.mercer", "--json"])["outliers"]["rows"], 150);
}

#[test]
fn a_stored_decision_rule_applies_unless_options_override_it() {
    let folder = trained();
    let iris = example("iris.csv");
    let ask = |model: &str, more: &[&str]| {
        folder.output(&[&["predict", model, &iris, "--proba"], more].concat())
    };
    let flags = ["--reject", "0.1", "--prior", "virginica=0.8"];
    let decide = ["decide", "iris.mercer", "--out", "told.mercer"];

    folder.output(&[&decide[..], &flags].concat());

    assert_eq!(ask("told.mercer", &[]), ask("iris.mercer", &flags));
    // An option changes its own part of the stored rule only.
    let both = ["--reject", "0.3", "--prior", "virginica=0.8"];
    assert_eq!(ask("told.mercer", &["--reject", "0.3"]), ask("iris.mercer", &both));
    let evaluation = folder.json(&["evaluate", "told.mercer", &iris, "--json"]);
    assert!(evaluation["decision"]["rejected_fraction"].as_f64().unwrap() > 0.0);
    assert!(folder.output(&["inspect", "told.mercer"]).contains("is above 0.1"));
    // Training with the options gives the same model.
    let train = ["train", &iris, "--target", "species", "--folds", "0", "--no-report", "--out"];
    folder.output(&[&train[..], &["at-once.mercer"], &flags].concat());
    assert_eq!(ask("at-once.mercer", &[]), ask("told.mercer", &[]));
    // After removal, the predictions are those without a rule.
    folder.output(&["decide", "told.mercer", "--forget", "--out", "plain.mercer"]);
    assert_eq!(ask("plain.mercer", &[]), ask("iris.mercer", &[]));
}
