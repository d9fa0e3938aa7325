//! `mercer compare`, and what an estimator that chooses tells.

use super::{Folder, example};

#[test]
fn estimators_are_judged_on_the_same_folds() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["compare", &iris, "--target", "species", "--models", "lda,logistic,perceptron"];
    let more = ["--set", "logistic.C=10", "--json"];

    let rows = folder.json(&[&run[..], &more].concat());
    let alone = ["train", &iris, "--target", "species", "--model", "lda", "--json"];
    let alone = folder.json(&alone);

    assert_eq!(rows.as_array().unwrap().len(), 3);
    // The same folds as a training alone has.
    assert_eq!(rows[0]["cross_validation"]["accuracy"], alone["cross_validation"]["accuracy"]);
    for row in rows.as_array().unwrap() {
        let accuracy = row["cross_validation"]["accuracy"]["value"].as_f64().unwrap();
        assert!(accuracy > 0.7, "{row}");
    }
    assert!(rows[1]["cross_validation"]["log_loss"].is_number());
    assert!(rows[2]["cross_validation"]["log_loss"].is_null());
}

#[test]
fn posteriors_and_borders_are_drawn() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["compare", &iris, "--target", "species", "--models", "lda,logistic"];

    let one = ["--use", "petal_length", "--plot", "one.svg"];
    let told = folder.output(&[&run[..], &one].concat());
    let two = ["--use", "petal_length", "--use", "petal_width", "--plot", "two.svg"];
    folder.output(&[&run[..], &two].concat());

    assert!(told.contains("accuracy") && told.contains("logistic"), "{told}");
    for (file, words) in [("one.svg", "logistic: setosa"), ("two.svg", "petal_width")] {
        let picture = std::fs::read_to_string(folder.path(file)).unwrap();
        assert!(picture.starts_with("<svg") || picture.contains("<svg"), "{file}");
        assert!(picture.contains(words), "{file}");
    }
}

#[test]
fn what_cannot_be_compared_or_drawn_is_said() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["compare", &iris, "--target", "species", "--models"];

    for (more, words) in [
        (vec!["lda,ols"], "compare one kind"),
        (vec!["lda,nystroem"], "is unsupervised"),
        (vec!["lda", "--set", "shrinkage=0.1"], "--set lda.shrinkage=0.1"),
        (vec!["lda", "--plot", "x.svg"], "select them with --use"),
        (vec!["lda", "--use", "petals"], "one of the columns sepal_length"),
    ] {
        let told = folder.failure(&[&run[..], &more].concat(), 2);
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn the_prices_there_were_are_told_with_the_one_that_was_chosen() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["train", &iris, "--target", "species", "--model", "logistic-cv", "--folds", "0"];

    let told = folder.output(&run);
    let json = folder.json(&[&run[..], &["--json"]].concat());

    assert!(told.contains("cross-validated accuracy") && told.contains("selected"), "{told}");
    assert_eq!(json["candidates"]["all"].as_array().unwrap().len(), 10);
}

#[test]
fn text_is_learned_one_row_at_a_time() {
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
