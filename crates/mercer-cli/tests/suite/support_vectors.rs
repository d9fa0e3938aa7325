//! Support vector machines on the command line: explanations, margins, hyperplanes, and the witness of
//! non-separability.

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

#[test]
fn hard_margins_far_from_zero_are_found_and_witnesses_are_data() {
    let folder = Folder::new();
    folder.write("t.csv", "x,y\n1000000,a\n1000001,a\n1000002,b\n1000003,b\n");
    folder.write("mixed.csv", "x,y\n0,a\n2,a\n1,b\n3,b\n");
    let hard =
        ["--target", "y", "--model", "svc", "--set", "kernel=linear", "--set", "margin=hard"];
    let train = |data: &'static str| {
        let unscaled = ["--prepare", "scale=none"];
        [&["train", data][..], &hard, &unscaled, &["--folds", "0", "--out", "m.mercer"]].concat()
    };

    folder.output(&train("t.csv"));
    let printed = folder.output(&["inspect", "m.mercer"]);
    let json = folder.json(&["inspect", "m.mercer", "--json"]);

    assert!(printed.contains("2 support vectors: a 1, b 1"), "{printed}");
    assert!(printed.contains("a against b") && printed.contains("0.5"), "{printed}");
    let margin = json["support_vectors"]["margins"][0]["margin"].as_f64().unwrap();
    assert!((margin - 0.5).abs() < 1e-6, "{margin}");
    let message = folder.failure(&train("mixed.csv"), 3);
    assert!(message.contains("not linearly separable"), "{message}");
    let failed = folder.mercer(&[&train("mixed.csv")[..], &["--json"]].concat()).assert().code(3);
    let witness: serde_json::Value = serde_json::from_slice(&failed.get_output().stdout).unwrap();
    let combinations = witness["witness"]["combinations"].as_array().unwrap();
    let point = |k: usize| -> f64 {
        let list = |name: &str| combinations[k][name].as_array().unwrap().clone();
        let rows =
            list("rows").into_iter().map(|i| [0.0, 2.0, 1.0, 3.0][i.as_u64().unwrap() as usize]);
        rows.zip(list("weights")).map(|(x, w)| x * w.as_f64().unwrap()).sum()
    };
    assert_eq!(combinations[0]["class"], "a");
    assert!((point(0) - point(1)).abs() < 1e-5, "{witness}");
}

#[test]
fn two_hyperplanes_are_compared() {
    let folder = Folder::new();
    folder.write("p.csv", "x1,x2,y\n0,0,a\n1,1,a\n3,1,b\n1,3,b\n");
    let both =
        ["hyperplane", "p.csv", "--target", "y", "--hyperplane=2,2,-6", "--hyperplane=1,2,-4"];

    let printed = folder.output(&both);
    let json = folder.json(&[&both[..], &["--json"]].concat());

    assert!(printed.contains("canonical form: 1 x1 + 1 x2 - 3 = 0"), "{printed}");
    assert!(printed.contains("B1 is the better hyperplane"), "{printed}");
    assert_eq!(json["better"], 1);
    let first = &json["hyperplanes"][0];
    let width = first["separation"]["width"].as_f64().unwrap();
    assert!((width - 2f64.sqrt()).abs() < 1e-12);
    assert!((first["signed_distances"][0].as_f64().unwrap() + 6.0 / 8f64.sqrt()).abs() < 1e-12);
    let message = folder.failure(&["hyperplane", "p.csv", "--hyperplane=0,0,0,1"], 2);
    assert!(message.contains("w = 0"), "{message}");
    let message = folder.failure(&["hyperplane", "p.csv", "--target", "y", "--hyperplane=1,2"], 3);
    assert!(message.contains("found 2 columns, expected 1"), "{message}");
}

#[test]
fn explanations_name_what_decided() {
    let iris = example("iris.csv");
    let folder = trained(&["--target", "species", "--model", "svc", "--set", "probability=true"]);
    let json = folder.json(&["explain", "m.mercer", &iris, "--row", "71", "--json"]);
    assert_eq!(json["decision"]["by"], "calibrated probabilities");
    let values = json["decision"]["values"].as_array().unwrap();
    assert!(values[0].as_f64() >= values[1].as_f64());
    let printed = folder.output(&["explain", "m.mercer", &iris, "--row", "71"]);
    assert!(printed.contains("by calibrated probabilities"), "{printed}");

    // Exclusive or with a linear kernel is a tie everywhere, and has no margin.
    let folder = Folder::new();
    folder.write("xor.csv", "a,b,y\n0,0,no\n1,1,no\n0,1,yes\n1,0,yes\n");
    let train = ["train", "xor.csv", "--target", "y", "--model", "svc", "--set", "kernel=linear"];
    folder.output(&[&train[..], &["--folds", "0", "--out", "m.mercer"]].concat());
    let printed = folder.output(&["explain", "m.mercer", "xor.csv"]);
    assert!(
        printed.contains("= 0") && !printed.contains("e-") && !printed.contains("+-"),
        "{printed}"
    );
    let printed = folder.output(&["inspect", "m.mercer"]);
    assert!(printed.contains("none, w = 0") && printed.contains("has no margin"), "{printed}");
}
