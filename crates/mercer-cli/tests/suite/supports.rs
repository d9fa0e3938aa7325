//! Kernel machines say which rows their answers come from.

use super::{Folder, example};

fn trained(more: &[&str]) -> Folder {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let start = ["train", &iris, "--folds", "0", "--out", "m.mercer"];
    folder.output(&[&start[..], more].concat());
    folder
}

#[test]
fn a_class_is_told_by_support_vectors() {
    // A map in front says nothing by itself, but rows are rows.
    for map in [&[][..], &["--features", "nystroem:20"]] {
        let folder = trained(&[&["--target", "species", "--model", "svc"], map].concat());
        let iris = example("iris.csv");

        let told = folder.output(&["explain", "m.mercer", &iris, "--row", "71"]);
        let json = folder.json(&["explain", "m.mercer", &iris, "--row", "71", "--json"]);

        assert!(told.contains("training row") && told.contains("exp(-"), "{told}");
        let between = |k: usize| json["between"][k]["text"].as_str().unwrap().to_owned();
        assert!(told.contains(&format!("{} against {}", between(0), between(1))), "{told}");
        let support_vectors = json["support_vectors"].as_array().unwrap();
        let terms: f64 = support_vectors.iter().map(|s| s["term"].as_f64().unwrap()).sum();
        let sum = json["intercept"].as_f64().unwrap() + terms;
        assert!((sum - json["sum"].as_f64().unwrap()).abs() < 1e-9);
    }
}

#[test]
fn a_number_and_a_stranger_are_told_too() {
    let iris = example("iris.csv");
    let folder = trained(&["--target", "petal_length", "--ignore", "species", "--model", "svr"]);
    let told = folder.output(&["explain", "m.mercer", &iris]);
    assert!(told.starts_with("petal_length = "), "{told}");

    let folder = trained(&["--ignore", "species", "--model", "one-class-svm"]);
    let told = folder.output(&["explain", "m.mercer", &iris]);
    assert!(told.contains("lier\n"), "{told}");
}
