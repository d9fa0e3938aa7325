//! Unsupervised learning, from the table to the prediction.

use super::{Folder, example};

#[test]
fn inliers_and_outliers_are_detected() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let report = folder.output(&[
        "train",
        &iris,
        "--model",
        "one-class-svm",
        "--ignore",
        "species",
        "--set",
        "nu=0.1",
        "--out",
        "alone.mercer",
    ]);
    assert!(report.contains("outliers") && report.contains("certificate"), "{report}");
    assert_eq!(folder.names(), ["alone.html", "alone.mercer"]);

    folder.write(
        "new.csv",
        "sepal_length,sepal_width,petal_length,petal_width\n5.0,3.4,1.5,0.2\n50,-30,90,70\n",
    );
    let printed_rows = folder.output(&["predict", "alone.mercer", "new.csv"]);
    let lines: Vec<&str> = printed_rows.lines().collect();
    assert_eq!(lines[0], "prediction,score");
    assert!(lines[1].starts_with("inlier,") && lines[2].starts_with("outlier,-"), "{printed_rows}");

    let all = folder.output(&["predict", "alone.mercer", &iris]);
    let outliers = all.lines().filter(|line| line.starts_with("outlier")).count();
    assert!((5..=16).contains(&outliers), "{outliers} of 150 rows");
    let printed = folder.output(&["predict", "alone.mercer", "new.csv", "--json"]);
    assert!(printed.starts_with("{\"prediction\":\"inlier\",\"row\":1,\"score\":"), "{printed}");
    let inspected = folder.output(&["inspect", "alone.mercer"]);
    assert!(inspected.contains("unsupervised: prediction, score"), "{inspected}");
}

#[test]
fn unsupervised_estimators_ignore_a_target() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let train = |more: &[&'static str], out: &'static str| {
        let start = ["train", &iris, "--model", "one-class-svm", "--folds", "0", "--out", out];
        folder.output(&[&start[..], more].concat());
        folder.output(&["predict", out, &iris])
    };

    let (named, ignored) =
        (train(&["--target", "species"], "a.mercer"), train(&["--ignore", "species"], "b.mercer"));

    assert_eq!(named, ignored);
    let start = ["train", iris.as_str(), "--model", "one-class-svm"];
    let error = folder.failure(&[&start[..], &["--target", "kind"]].concat(), 3);
    assert!(error.contains("no column `kind`"), "{error}");
    let error = folder.failure(&[&start[..], &["--reject", "0.2"]].concat(), 2);
    assert!(error.contains("is unsupervised"), "{error}");
    let compare = ["compare", &iris, "--target", "species", "--models", "svc,one-class-svm"];
    let error = folder.failure(&compare, 2);
    assert!(error.contains("is unsupervised"), "{error}");
    let error = folder.failure(&["evaluate", "a.mercer", &iris], 2);
    assert!(error.contains("one-class-svm"), "{error}");
}

#[test]
fn rows_are_clustered_and_transformed_without_a_target() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let train = |id: &str, more: &[&str]| {
        let start = ["train", &iris, "--ignore", "species", "--model", id, "--out", "m.mercer"];
        folder.output(&[&start[..], more].concat());
        folder.output(&["predict", "m.mercer", &iris])
    };

    let clusters = train("kernel-k-means", &["--set", "n_clusters=3"]);
    let components = train("kernel-pca", &["--set", "n_components=2", "--set", "kernel=rbf"]);

    assert!(clusters.starts_with("cluster,squared_distance\n"), "{clusters}");
    let of = |line: &str| line.split(',').next().unwrap().to_owned();
    let mut seen: Vec<String> = clusters.lines().skip(1).map(of).collect();
    // The first flowers all belong to one species, far from the others.
    assert!(seen[..50].iter().all(|k| *k == seen[0]) && seen[50..].iter().all(|k| *k != seen[0]));
    seen.sort();
    seen.dedup();
    assert_eq!(seen, ["0", "1", "2"]);
    assert!(components.starts_with("kernelpca0,kernelpca1\n"), "{components}");
    assert_eq!(components.lines().count(), 151);
    let printed = folder.output(&["predict", "m.mercer", &iris, "--json"]);
    assert!(printed.starts_with("{\"kernelpca0\":"), "{printed}");
    let inspected = folder.output(&["inspect", "m.mercer"]);
    assert!(inspected.contains("unsupervised: kernelpca0, kernelpca1"), "{inspected}");
    let products = train("polynomial-features", &[]);
    assert!(products.contains("sepal_length^2,sepal_length sepal_width"), "{products}");
    let error = folder.failure(&["evaluate", "m.mercer", &iris], 2);
    assert!(error.contains("polynomial-features"), "{error}");
}
