//! Kernel feature maps in front of an estimator, from the table to the prediction.

use super::{Folder, example};

#[test]
fn a_map_and_its_estimator_are_one_model() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    for (map, model) in [
        ("rff:60", "logistic"),
        ("nystroem:30", "lda"),
        ("poly:2", "linear-svc"),
        ("chi2", "gaussian-nb"),
    ] {
        let report = folder.output(&[
            "train",
            &iris,
            "--target",
            "species",
            "--model",
            model,
            "--features",
            map,
            "--folds",
            "3",
            "--out",
            "map.mercer",
        ]);

        assert!(report.contains(&format!("map: {map}: 4 columns mapped to")), "{report}");
        let inspected = folder.output(&["inspect", "map.mercer"]);
        assert!(inspected.contains(&format!("map: {map}")), "{inspected}");
        let printed = folder.json(&["inspect", "map.mercer", "--json"]);
        assert_eq!(printed["feature_map"]["spec"], map);
        let evaluation = folder.json(&["evaluate", "map.mercer", &iris, "--json"]);
        let accuracy = evaluation["accuracy"]["value"].as_f64().unwrap();
        assert!(accuracy > 0.9, "{map}: {accuracy}");
        let printed_rows = folder.output(&["predict", "map.mercer", &iris]);
        assert_eq!(printed_rows.lines().count(), 151);
    }
}

#[test]
fn a_feature_map_is_sized_by_its_error() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let train = |map: &str| {
        let start = ["train", &iris, "--target", "species", "--model", "logistic", "--folds", "0"];
        folder.output(&[&start[..], &["--features", map, "--out", "m.mercer"]].concat())
    };

    for (map, requested) in
        [("rff:error=0.05", "0.05"), ("nystroem:error=0.02,landmarks=pivoted-cholesky", "0.02")]
    {
        let report = train(map);

        let printed = format!("features for an error of at most {requested}");
        assert!(report.contains(&format!("map: {map}: 4 columns mapped to")), "{report}");
        assert!(unwrapped(&report).contains(&printed), "{report}");
        assert!(unwrapped(&folder.output(&["inspect", "m.mercer"])).contains(&printed));
        assert_eq!(folder.output(&["predict", "m.mercer", &iris]).lines().count(), 151);
    }
    let report = train("rff:40,error=0.01");
    assert!(unwrapped(&report).contains("NOT the requested error of 0.01"), "{report}");
    let start = ["train", &iris, "--target", "species", "--features", "rff:error=2"];
    let error = folder.failure(&start, 2);
    assert!(error.contains("float in (0, 1)"), "{error}");
}

#[test]
fn an_impossible_feature_map_is_refused_with_the_reason() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let start = ["train", &iris, "--target", "species"];
    let train = |more: &[&'static str]| [&start[..], more].concat();

    let error = folder.failure(&train(&["--features", "waves:3"]), 2);
    assert!(error.contains("nystroem:N"), "{error}");
    let error = folder.failure(&train(&["--features", "rff:9", "--model", "multinomial-nb"]), 2);
    assert!(error.contains("reads"), "{error}");
    folder.output(&train(&["--features", "rff:9", "--folds", "0", "--out", "m.mercer"]));
    let error = folder.failure(&["explain", "m.mercer", &iris], 2);
    assert!(error.contains("poly:2"), "{error}");
    let gaps = example("penguins.csv");
    let unimputed = ["--features", "rff:9", "--prepare", "impute=none"];
    let error =
        folder.failure(&[&["train", &gaps, "--target", "species"], &unimputed[..]].concat(), 3);
    assert!(error.contains("row 4, column `bill_length_mm`"), "{error}");
    let error = folder.failure(&train(&["--features", "rff:1000000", "--memory", "1M"]), 5);
    assert!(error.contains("the memory budget of 1.0 MB"), "{error}");
}

#[test]
fn polynomial_features_are_explained_by_name() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    folder.output(&[
        "train",
        &iris,
        "--target",
        "species",
        "--model",
        "logistic",
        "--features",
        "poly:2",
        "--folds",
        "0",
        "--out",
        "m.mercer",
    ]);

    let printed = folder.output(&["explain", "m.mercer", &iris]);

    assert!(printed.contains("petal_length") && printed.contains("^2"), "{printed}");
}

#[test]
fn a_kernel_may_be_a_formula() {
    let folder = Folder::new();
    let iris = example("iris.csv");

    let printed = folder.output(&[
        "kernel",
        "check",
        &iris,
        "--ignore",
        "species",
        "--kernel",
        "rbf(gamma=0.1)+2*linear",
    ]);
    let report = folder.output(&[
        "train",
        &iris,
        "--target",
        "species",
        "--model",
        "svc",
        "--set",
        "kernel=rbf*poly(degree=2)",
        "--folds",
        "3",
    ]);

    assert!(
        printed.contains("positive semi-definite") && printed.contains("2.0*linear"),
        "{printed}"
    );
    assert!(report.contains("svc fitted"), "{report}");
    let error =
        folder.failure(&["kernel", "check", &iris, "--kernel", "rbf+", "--ignore", "species"], 2);
    assert!(error.contains("a formula like"), "{error}");
}

#[test]
fn a_missing_value_before_a_kernel_is_named_and_can_be_imputed() {
    let folder = Folder::new();
    let check = ["kernel", "check", &example("penguins.csv"), "--ignore", "species"];

    let error = folder.failure(&check, 3);
    let printed = folder.output(&[&check[..], &["--prepare", "impute=mean"]].concat());

    assert!(error.contains("penguins.csv, row 4, column `bill_length_mm`"), "{error}");
    assert!(
        printed.contains("positive semi-definite") && !printed.contains("gamma 0.000000"),
        "{printed}"
    );
    assert!(printed.contains("`--prepare scale=standard` standardizes them"), "{printed}");
}

/// The text without the line breaks of the terminal.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn appended_features_keep_the_columns() {
    let folder = Folder::new();
    // A steep line in one column and a wave in the other: the columns fit the first, random features the second.
    let mut table = String::from("a,b,y\n");
    for i in 0..400 {
        let (a, b) = ((i * 37 % 400) as f64 / 200.0 - 1.0, (i * 91 % 400) as f64 / 200.0 - 1.0);
        table += &format!("{a},{b},{}\n", 100.0 * a + 3.0 * (4.0 * b).sin());
    }
    folder.write("wave.csv", &table);
    let error = |more: &[&str]| {
        let start =
            ["train", "wave.csv", "--target", "y", "--model", "ridge", "--set", "alpha=0.1"];
        let report =
            folder.json(&[&start[..], &["--prepare", "scale=standard", "--json"], more].concat());
        report["regression"]["rmse"].as_f64().unwrap()
    };

    let columns = error(&[]);
    let features = error(&["--features", "rff:100"]);
    let both = error(&["--features", "rff:100", "--append"]);

    assert!(both < 0.5 * columns && both < 0.5 * features, "{columns} {features} {both}");
    let inspected = folder.json(&["inspect", "wave.mercer", "--json"]);
    let names: Vec<&str> =
        inspected["features"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    assert_eq!((names.len(), &names[..3]), (102, &["a", "b", "rff1"][..]));
    assert_eq!(folder.output(&["predict", "wave.mercer", "wave.csv"]).lines().count(), 401);
    let start = ["train", "wave.csv", "--target", "y", "--model", "ridge", "--append"];
    let error = folder.failure(&[&start[..], &["--features", "poly:2"]].concat(), 2);
    assert!(error.contains("contain the columns already"), "{error}");
}
