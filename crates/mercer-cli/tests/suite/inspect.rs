//! `mercer inspect`: the weights of linear models, the posterior of ridge regression, Fisher's projection.

use super::{Folder, example};
use serde_json::Value;

fn iris() -> Vec<(Vec<f64>, String)> {
    let text = std::fs::read_to_string(example("iris.csv")).unwrap();
    let row = |line: &str| {
        let mut cells: Vec<&str> = line.split(',').collect();
        let class = cells.pop().unwrap().to_owned();
        (cells.into_iter().map(|c| c.parse().unwrap()).collect(), class)
    };
    text.lines().skip(1).map(row).collect()
}

fn values(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// `w·x + b` of every function.
fn decisions(functions: &Value, x: &[f64]) -> Vec<f64> {
    let value = |f: &Value| {
        let dot: f64 = values(&f["coefficients"]).iter().zip(x).map(|(w, x)| w * x).sum();
        dot + f["intercept"].as_f64().unwrap()
    };
    functions.as_array().unwrap().iter().map(value).collect()
}

fn argmax(values: &[f64]) -> usize {
    (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap()
}

#[test]
fn the_printed_functions_give_the_predictions() {
    let folder = Folder::new();
    let table = example("iris.csv");
    let rows = iris();
    for model in ["lda", "logistic", "linear-svc", "sgd", "perceptron", "passive-aggressive"] {
        let train = ["train", &table, "--target", "species", "--model", model, "--folds", "0"];
        folder.output(&[&train[..], &["--out", "m.mercer", "--no-report"]].concat());

        let functions = folder.json(&["inspect", "m.mercer", "--json"])["linear_functions"].clone();
        let predicted = folder.output(&["predict", "m.mercer", &table]);

        let names: Vec<&str> = functions["functions"]
            .as_array()
            .unwrap_or_else(|| panic!("{model}: {functions}"))
            .iter()
            .map(|f| f["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["setosa", "versicolor", "virginica"], "{model}");
        for ((x, _), class) in rows.iter().zip(predicted.lines().skip(1)) {
            assert_eq!(names[argmax(&decisions(&functions["functions"], x))], class, "{model}");
        }
    }
}

#[test]
fn pairs_of_a_linear_kernel_vote_for_the_prediction() {
    let folder = Folder::new();
    let table = example("iris.csv");
    let train =
        ["train", &table, "--target", "species", "--model", "svc", "--set", "kernel=linear"];
    folder.output(&[&train[..], &["--folds", "0", "--out", "m.mercer", "--no-report"]].concat());

    let functions = folder.json(&["inspect", "m.mercer", "--json"])["linear_functions"].clone();
    let predicted = folder.output(&["predict", "m.mercer", &table]);

    let classes = ["setosa", "versicolor", "virginica"];
    let pairs = [(0, 1), (0, 2), (1, 2)];
    assert_eq!(functions["functions"][2]["name"], "versicolor against virginica");
    for ((x, _), class) in iris().iter().zip(predicted.lines().skip(1)) {
        let mut votes = [0.0; 3];
        for (f, (a, b)) in decisions(&functions["functions"], x).into_iter().zip(pairs) {
            votes[if f > 0.0 { a } else { b }] += 1.0;
        }
        assert_eq!(classes[argmax(&votes)], class);
    }
}

#[test]
fn two_classes_of_a_discriminant_have_a_threshold() {
    let folder = Folder::new();
    // Equal priors, means 1 and 4 with pooled variance 2/3: w = 3 / (2/3) and r = w (1 + 4) / 2.
    folder.write("two.csv", "x,y\n0,a\n1,a\n2,a\n3,b\n4,b\n5,b\n");
    folder.output(&["train", "two.csv", "--target", "y", "--model", "lda", "--folds", "0"]);

    let json = folder.json(&["inspect", "two.mercer", "--json"]);
    let printed = folder.output(&["inspect", "two.mercer", "--sort"]);
    let projected = folder.output(&["predict", "two.mercer", "two.csv", "--projection"]);

    let rule = &json["linear_functions"]["two_class_rule"];
    let (w, r) = (values(&rule["weights"])[0], rule["threshold"].as_f64().unwrap());
    assert!((r / w - 2.5).abs() < 1e-12, "{rule}");
    assert_eq!(rule["class"], "b");
    assert!(
        printed.contains("b if w.x = ") && printed.contains("Fisher's projection"),
        "{printed}"
    );
    // The projection is centered between the classes and has unit variance within them.
    let lines: Vec<&str> = projected.lines().collect();
    assert_eq!(lines[0], "y,lda0");
    let z: Vec<f64> =
        lines[1..].iter().map(|l| l.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert!((z.iter().sum::<f64>()).abs() < 1e-12, "{z:?}");
    assert!(z.windows(2).all(|p| (p[1] - p[0] - (z[1] - z[0])).abs() < 1e-12), "{z:?}");
    let refused = folder.failure(&["predict", "two.mercer", "two.csv", "--interval", "0.9"], 2);
    assert!(refused.contains("interval"), "{refused}");
}

#[test]
fn ridge_has_a_posterior_covariance() {
    let folder = Folder::new();
    // Centered x = -2, 0, 2: XᵀX + α = 8 + 8; y = x / 2 shrinks to b = 1/4.
    folder.write("line.csv", "x,y\n-2,-1\n0,0\n2,1\n");
    let train = ["train", "line.csv", "--target", "y", "--model", "ridge", "--set", "alpha=8"];
    folder.output(&[&train[..], &["--prepare", "scale=none", "--folds", "0"]].concat());

    let json = folder.json(&["inspect", "line.mercer", "--json"]);
    let printed = folder.output(&["inspect", "line.mercer"]);

    // Penalized residual squares: (-1/2)² + (1/2)² + 8/16 = 1, over two degrees of freedom.
    let posterior = &json["posterior"];
    assert!((values(&posterior["mean"])[0] - 0.25).abs() < 1e-14, "{posterior}");
    assert!((posterior["noise_variance"].as_f64().unwrap() - 0.5).abs() < 1e-14, "{posterior}");
    assert!((values(&posterior["covariance"][0])[0] - 0.5 / 16.0).abs() < 1e-15, "{posterior}");
    assert!(printed.contains("posterior of the coefficients"), "{printed}");
    assert!(
        (values(&json["linear_functions"]["functions"][0]["coefficients"])[0] - 0.25).abs() < 1e-14
    );
}
