//! Sample weights: a row of weight two is the same as two rows.

use super::{Folder, example};

/// Iris with a column of weights 0, 1 and 2, and the same rows repeated as often.
fn weighted_and_repeated(folder: &Folder) {
    let iris = std::fs::read_to_string(example("iris.csv")).unwrap();
    let (mut weighted, mut repeated) = (String::new(), String::new());
    for (i, line) in iris.lines().enumerate() {
        let times = if i == 0 { 1 } else { i * 7 % 3 };
        let weight = if i == 0 { "n".to_owned() } else { times.to_string() };
        weighted += &format!("{line},{weight}\n");
        repeated += &format!("{line}\n").repeat(times);
    }
    folder.write("weighted.csv", &weighted);
    folder.write("repeated.csv", &repeated);
}

fn numbers(text: &str) -> Vec<f64> {
    text.lines().skip(1).flat_map(|line| line.split(',')).filter_map(|c| c.parse().ok()).collect()
}

#[test]
fn a_weight_of_two_equals_two_rows() {
    let folder = Folder::new();
    weighted_and_repeated(&folder);
    let iris = example("iris.csv");
    for (target, model, predict) in [
        ("species", &["gaussian-nb"][..], &["--proba"][..]),
        ("species", &["mixed-nb"], &["--proba"]),
        ("species", &["lda"], &["--proba"]),
        ("species", &["logistic", "--prepare", "scale=standard"], &["--proba"]),
        ("petal_width", &["ridge"], &[]),
        // The variance in `gamma=scale` is not weighted.
        ("petal_width", &["svr", "--set", "tol=1e-8", "--set", "gamma=0.5"], &[]),
    ] {
        let predictions = |data: &str, more: &[&str]| {
            let start = ["train", data, "--target", target, "--ignore", "sepal_width"];
            let species: &[&str] = if target == "species" { &[] } else { &["--ignore", "species"] };
            let end = ["--folds", "0", "--no-report", "--out", "m.mercer", "--model"];
            folder.output(&[&start[..], species, &end, model, more].concat());
            numbers(&folder.output(&[&["predict", "m.mercer", &iris], predict].concat()))
        };

        let weighted = predictions("weighted.csv", &["--weights", "n"]);
        let repeated = predictions("repeated.csv", &[]);

        assert_eq!(weighted.len(), repeated.len());
        assert!(weighted.len() >= 150, "{model:?}");
        let largest =
            weighted.iter().zip(&repeated).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(largest < 2e-4, "{model:?}: {largest}");
    }
}

#[test]
fn weighted_scores_equal_those_of_repeated_rows() {
    let folder = Folder::new();
    weighted_and_repeated(&folder);
    let train = ["train", "weighted.csv", "--target", "species", "--model", "gaussian-nb"];
    let printed = folder.output(&[&train[..], &["--weights", "n", "--out", "m.mercer"]].concat());

    let weighted =
        folder.json(&["evaluate", "m.mercer", "weighted.csv", "--weights", "n", "--json"]);
    let repeated = folder.json(&["evaluate", "m.mercer", "repeated.csv", "--json"]);
    let inspected = folder.output(&["inspect", "m.mercer"]);
    let compared = folder.json(&[
        "compare",
        "weighted.csv",
        "--target",
        "species",
        "--models",
        "gaussian-nb,lda",
        "--weights",
        "n",
        "--json",
    ]);

    for name in ["log_loss", "brier", "macro_f1"] {
        let (a, b) = (weighted[name].as_f64().unwrap(), repeated[name].as_f64().unwrap());
        assert!((a - b).abs() < 1e-12, "{name}: {a} {b}");
    }
    assert_eq!(weighted["confusion"], repeated["confusion"]);
    assert!(printed.contains("sample weights: column `n`"), "{printed}");
    assert!(inspected.contains("sample weights: column `n`"), "{inspected}");
    assert_eq!(compared.as_array().unwrap().len(), 2);
    // The weights are no feature, and predictions do not need them.
    assert!(!inspected.contains("\nn "), "{inspected}");
    folder.output(&["predict", "m.mercer", &example("iris.csv")]);
}

#[test]
fn invalid_weights_are_refused() {
    let folder = Folder::new();
    folder.write("negative.csv", "x,y,w\n1,a,1\n2,b,-1\n3,a,1\n4,b,2\n");
    folder.write("missing.csv", "x,y,w\n1,a,1\n2,b,\n3,a,1\n4,b,2\n");
    folder.write("words.csv", "x,y,w\n1,a,low\n2,b,high\n3,a,low\n4,b,low\n");
    folder.write("zero.csv", "x,y,w\n1,a,0\n2,b,0\n3,a,0\n4,b,0\n");
    let refused = |data: &str, weights: &str, code: i32| {
        folder
            .failure(&["train", data, "--target", "y", "--weights", weights, "--folds", "0"], code)
    };

    assert!(refused("negative.csv", "w", 3).contains("sample weight -1"));
    assert!(refused("missing.csv", "w", 3).contains("missing in 1 rows, first in line 3"));
    assert!(refused("words.csv", "w", 3).contains("expected numeric"));
    assert!(refused("zero.csv", "w", 3).contains("positive weight"));
    assert!(refused("zero.csv", "v", 2).contains("no column `v`"));
    assert!(refused("zero.csv", "y", 2).contains("is the target column"));
    folder.output(&[
        "train",
        "zero.csv",
        "--target",
        "y",
        "--folds",
        "0",
        "--out",
        "m",
        "--no-report",
    ]);
    let feature = folder.failure(&["evaluate", "m", "zero.csv", "--weights", "x"], 2);
    assert!(feature.contains("`x` is a feature of the model"), "{feature}");
    std::fs::remove_file(folder.path("m")).unwrap();
    assert_eq!(folder.names(), ["missing.csv", "negative.csv", "words.csv", "zero.csv"]);
}
