//! Neural networks, from the table to the prediction.

use super::{Folder, example};

#[test]
fn a_classifier_is_trained_with_its_gradient_norm_in_the_certificate() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    // The last model has no map, because random features have no explanation by column.
    for map in [&["--features", "rff:50"][..], &[]] {
        let train = [
            "train",
            &iris,
            "--target",
            "species",
            "--model",
            "mlp",
            "--set",
            "hidden_layer_sizes=[20,10]",
            "--set",
            "alpha=0.1",
            "--prepare",
            "scale=standard",
            "--folds",
            "3",
            "--out",
            "m.mercer",
        ];

        let report = folder.output(&[&train[..], map].concat());

        assert!(report.contains("mlp fitted"), "{report}");
        assert!(report.contains("nonconvex"), "{report}");
        let evaluation = folder.json(&["evaluate", "m.mercer", &iris, "--json"]);
        assert!(evaluation["accuracy"]["value"].as_f64().unwrap() > 0.95);
        let printed_rows = folder.output(&["predict", "m.mercer", &iris, "--proba"]);
        assert_eq!(printed_rows.lines().count(), 151);
        assert!(folder.output(&["inspect", "m.mercer"]).contains("gradient"));
    }
    let why = folder.json(&["explain", "m.mercer", &iris, "--row", "71", "--json"]);
    let text = folder.output(&["explain", "m.mercer", &iris, "--row", "71"]);
    assert!(text.contains("the mean training row (the baseline)"), "{text}");
    assert_eq!(why["baseline"].as_array().unwrap().len(), 4);
    for c in 0..3 {
        let value = |v: &serde_json::Value| v.as_f64().unwrap();
        let terms = why["terms"].as_array().unwrap().iter().map(|t| value(&t["terms"][c]));
        let sum = value(&why["intercepts"][c]) + terms.sum::<f64>();
        assert!((sum - value(&why["scores"][c])).abs() < 1e-9);
    }
}

#[test]
fn a_regressor_is_trained() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let report = folder.output(&[
        "train",
        &iris,
        "--target",
        "petal_width",
        "--ignore",
        "species",
        "--model",
        "mlp-regressor",
        "--set",
        "hidden_layer_sizes=10",
        "--prepare",
        "scale=standard",
        "--out",
        "m.mercer",
    ]);

    assert!(report.contains("mlp-regressor fitted"), "{report}");
    assert_eq!(folder.output(&["predict", "m.mercer", &iris]).lines().count(), 151);
    let error = folder.failure(
        &["train", &iris, "--target", "species", "--model", "mlp", "--set", "solver=newton"],
        2,
    );
    assert!(error.contains("lbfgs"), "{error}");
}
