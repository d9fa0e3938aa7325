//! Conformal prediction intervals and sets of `mercer predict`.

use super::{Folder, example};
use mercer_num::random::Random;
use std::fmt::Write as _;

/// A regression whose noise is skewed, so that Gaussian intervals would be wrong.
fn skewed(n: usize, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut table = String::from("x,z,y\n");
    for _ in 0..n {
        let (x, z) = (4.0 * random.uniform() - 2.0, random.uniform());
        let noise = -(1.0 - random.uniform()).ln();
        writeln!(table, "{x},{z},{}", (2.0 * x).sin() + noise).unwrap();
    }
    table
}

#[test]
fn intervals_of_any_regressor_cover_what_they_promise() {
    let folder = Folder::new();
    folder.write("train.csv", &skewed(600, 1));
    folder.write("test.csv", &skewed(2000, 2));
    let truth: Vec<f64> = skewed(2000, 2)
        .lines()
        .skip(1)
        .map(|l| l.rsplit(',').next().unwrap().parse().unwrap())
        .collect();
    let mut n_models = 0;
    for model in ["svr", "kernel-ridge", "linear-svr"] {
        let out = ["--out", "m.mercer", "--no-report", "--quiet"];
        folder.output(
            &[&["train", "train.csv", "--target", "y", "--model", model][..], &out].concat(),
        );
        for level in [0.8f64, 0.9] {
            let level_text = level.to_string();
            let run = ["predict", "m.mercer", "test.csv", "--interval", &level_text];
            let lines = folder.output(&run);
            let inside = lines.lines().skip(1).zip(&truth).filter(|(line, y)| {
                let ends: Vec<f64> = line.split(',').map(|v| v.parse().unwrap()).collect();
                (ends[1]..=ends[2]).contains(*y)
            });
            let coverage = inside.count() as f64 / truth.len() as f64;
            // Four standard errors of 600 calibration and 2,000 test rows.
            let error = 4.0 * (level * (1.0 - level) * (1.0 / 600.0 + 1.0 / 2000.0)).sqrt();
            assert!((coverage - level).abs() < error, "{model} {level}: {coverage}");
            n_models += 1;
        }
    }
    assert_eq!(n_models, 6);
}

#[test]
fn posterior_intervals_stay_unless_conformal_ones_are_asked_for() {
    let folder = Folder::new();
    folder.write("train.csv", &skewed(300, 1));
    folder.output(&["train", "train.csv", "--target", "y", "--model", "ridge", "--no-report"]);
    let run = ["predict", "train.mercer", "train.csv", "--interval", "0.9"];

    let posterior = folder.output(&run);
    let conformal = folder.output(&[&run[..], &["--conformal"]].concat());

    let first = |text: &str| {
        let line = text.lines().nth(1).unwrap().to_owned();
        line.split(',').map(|v| v.parse::<f64>().unwrap()).collect::<Vec<f64>>()
    };
    let (a, b) = (first(&posterior), first(&conformal));
    assert_eq!(a[0], b[0]);
    // The posterior interval is symmetric, the conformal one follows the skewed residuals.
    assert!(((a[2] - a[0]) - (a[0] - a[1])).abs() < 1e-9);
    assert!(b[2] - b[0] > 1.05 * (b[0] - b[1]), "{b:?}");
}

#[test]
fn sets_contain_the_true_class_as_often_as_promised() {
    let folder = Folder::new();
    let mut tables = [String::from("x,z,class\n"), String::from("x,z,class\n")];
    let mut random = Random::new(3);
    for i in 0..2400 {
        let class = random.below(3);
        let (x, z) = (random.normal() + class as f64, random.normal() + 0.5 * class as f64);
        writeln!(tables[usize::from(i >= 900)], "{x},{z},c{class}").unwrap();
    }
    folder.write("train.csv", &tables[0]);
    folder.write("test.csv", &tables[1]);
    folder.output(&["train", "train.csv", "--target", "class", "--model", "lda", "--no-report"]);

    let csv = folder.output(&["predict", "train.mercer", "test.csv", "--sets", "0.9"]);
    let json = folder.output(&["predict", "train.mercer", "test.csv", "--sets", "0.9", "--json"]);

    assert_eq!(csv.lines().next(), Some("class,set"));
    let mut covered = 0;
    for (line, row) in csv.lines().skip(1).zip(tables[1].lines().skip(1)) {
        let (predicted, set) = line.split_once(',').unwrap();
        let set: Vec<&str> = set.split('|').collect();
        assert_eq!(set[0], predicted, "the most probable class is the first");
        covered += usize::from(set.contains(&row.rsplit(',').next().unwrap()));
    }
    let coverage = covered as f64 / 1500.0;
    let error = 4.0 * (0.09f64 * (1.0 / 900.0 + 1.0 / 1500.0)).sqrt();
    assert!((coverage - 0.9).abs() < error, "{coverage}");
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert!(first["set"].is_array());
}

#[test]
fn models_without_held_out_predictions_say_how_to_get_them() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    folder.write("train.csv", &skewed(60, 1));
    let line = ["train", "train.csv", "--target", "y", "--model", "svr", "--no-report"];
    folder.output(&[&line[..], &["--folds", "0"]].concat());
    let none = folder.failure(&["predict", "train.mercer", "train.csv", "--interval", "0.9"], 2);
    folder.output(&line);
    let few = folder.failure(&["predict", "train.mercer", "train.csv", "--interval", "0.99"], 2);
    folder.output(&[
        "train",
        &iris,
        "--target",
        "species",
        "--model",
        "svc",
        "--out",
        "svc.mercer",
        "--no-report",
    ]);
    let no_proba = folder.failure(&["predict", "svc.mercer", &iris, "--sets", "0.9"], 2);

    assert!(none.contains("--folds"), "{none}");
    assert!(few.contains("at least 199 rows"), "{few}");
    assert!(no_proba.contains("probability=true"), "{no_proba}");
}
