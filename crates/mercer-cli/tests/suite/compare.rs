//! `mercer compare`, and the report of cross-validated estimators.

use super::{Folder, example};

#[test]
fn estimators_are_evaluated_on_the_same_folds() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["compare", &iris, "--target", "species", "--models", "lda,logistic,perceptron"];
    let more = ["--set", "logistic.C=10", "--json"];

    let rows = folder.json(&[&run[..], &more].concat());
    let alone = ["train", &iris, "--target", "species", "--model", "lda", "--json"];
    let alone = folder.json(&alone);

    assert_eq!(rows.as_array().unwrap().len(), 3);
    // The folds are those of a single training run.
    assert_eq!(rows[0]["cross_validation"]["accuracy"], alone["cross_validation"]["accuracy"]);
    for row in rows.as_array().unwrap() {
        let accuracy = row["cross_validation"]["accuracy"]["value"].as_f64().unwrap();
        assert!(accuracy > 0.7, "{row}");
    }
    assert!(rows[1]["cross_validation"]["log_loss"].is_number());
    assert!(rows[2]["cross_validation"]["log_loss"].is_null());
}

#[test]
fn posteriors_and_decision_boundaries_are_plotted() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["compare", &iris, "--target", "species", "--models", "lda,logistic"];

    let one = ["--use", "petal_length", "--plot", "one.svg"];
    let printed = folder.output(&[&run[..], &one].concat());
    let two = ["--use", "petal_length", "--use", "petal_width", "--plot", "two.svg"];
    folder.output(&[&run[..], &two].concat());

    assert!(printed.contains("accuracy") && printed.contains("logistic"), "{printed}");
    for (file, expected_text) in [("one.svg", "logistic: setosa"), ("two.svg", "petal_width")] {
        let picture = std::fs::read_to_string(folder.path(file)).unwrap();
        assert!(picture.starts_with("<svg") || picture.contains("<svg"), "{file}");
        assert!(picture.contains(expected_text), "{file}");
    }
}

#[test]
fn invalid_comparisons_and_plots_are_refused() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["compare", &iris, "--target", "species", "--models"];

    for (more, expected_text) in [
        (vec!["lda,ols"], "compare one kind"),
        (vec!["lda,nystroem"], "is unsupervised"),
        (vec!["lda", "--set", "shrinkage=0.1"], "--set lda.shrinkage=0.1"),
        (vec!["lda", "--plot", "x.svg"], "select them with --use"),
        (vec!["lda", "--use", "petals"], "one of the columns sepal_length"),
    ] {
        let printed = folder.failure(&[&run[..], &more].concat(), 2);
        assert!(printed.contains(expected_text), "{printed}");
    }
}

#[test]
fn candidate_penalties_are_listed_with_the_chosen_one() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["train", &iris, "--target", "species", "--model", "logistic-cv", "--folds", "0"];

    let printed = folder.output(&run);
    let json = folder.json(&[&run[..], &["--json"]].concat());

    assert!(
        printed.contains("cross-validated accuracy") && printed.contains("selected"),
        "{printed}"
    );
    assert_eq!(json["candidates"]["all"].as_array().unwrap().len(), 10);
}

#[test]
fn text_is_learned_online() {
    let folder = Folder::new();
    for model in ["perceptron", "sgd", "passive-aggressive"] {
        let mail = example("mail.tsv");
        let run =
            ["train", &mail, "--target", "label", "--text", "body", "--model", model, "--json"];

        let report = folder.json(&run);

        let accuracy = report["cross_validation"]["accuracy"]["value"].as_f64().unwrap();
        assert!(accuracy > 0.8, "{model}: {accuracy}");
    }
}
