//! Predictions of kernel methods are explained by support vectors.

use super::{Folder, example};

fn trained(more: &[&str]) -> Folder {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let start = ["train", &iris, "--folds", "0", "--out", "m.mercer"];
    folder.output(&[&start[..], more].concat());
    folder
}

#[test]
fn a_class_is_explained_by_support_vectors() {
    // A feature map has no explanation of its own, but the rows have.
    for map in [&[][..], &["--features", "nystroem:20"]] {
        let folder = trained(&[&["--target", "species", "--model", "svc"], map].concat());
        let iris = example("iris.csv");

        let printed = folder.output(&["explain", "m.mercer", &iris, "--row", "71"]);
        let json = folder.json(&["explain", "m.mercer", &iris, "--row", "71", "--json"]);

        assert!(printed.contains("training row") && printed.contains("exp(-"), "{printed}");
        let between = |k: usize| json["between"][k]["text"].as_str().unwrap().to_owned();
        assert!(printed.contains(&format!("{} against {}", between(0), between(1))), "{printed}");
        let support_vectors = json["support_vectors"].as_array().unwrap();
        let terms: f64 = support_vectors.iter().map(|s| s["term"].as_f64().unwrap()).sum();
        let sum = json["intercept"].as_f64().unwrap() + terms;
        assert!((sum - json["sum"].as_f64().unwrap()).abs() < 1e-9);
    }
}

#[test]
fn regressions_and_outliers_are_explained_by_support_vectors() {
    let iris = example("iris.csv");
    let folder = trained(&["--target", "petal_length", "--ignore", "species", "--model", "svr"]);
    let printed = folder.output(&["explain", "m.mercer", &iris]);
    assert!(printed.starts_with("petal_length = "), "{printed}");

    let folder = trained(&["--ignore", "species", "--model", "one-class-svm"]);
    let printed = folder.output(&["explain", "m.mercer", &iris]);
    assert!(printed.contains("lier\n"), "{printed}");
}
