//! Numbers that other programs give for the same rows; `testdata/golden/make.py` writes them.

use crate::cases::repository_file;
use mercer::bayes::GaussianNb;
use mercer::catalog::Estimator;
use mercer::prelude::*;
use serde_json::Value;

#[derive(Deserialize)]
struct Golden {
    source: String,
    tolerance: f64,
    rows: Vec<GoldenRows>,
    cases: Vec<GaussianCase>,
}

#[derive(Deserialize)]
struct GoldenRows {
    name: String,
    x: Vec<Vec<f64>>,
    y: Vec<u32>,
    weights: Vec<f64>,
}

#[derive(Deserialize)]
struct GaussianCase {
    rows: String,
    params: Value,
    weighted: bool,
    theta: Vec<Vec<f64>>,
    var: Vec<Vec<f64>>,
    class_prior: Vec<f64>,
    predict: Vec<u32>,
    some: Vec<usize>,
    joint_log_likelihood: Vec<Vec<f64>>,
    log_proba: Vec<Vec<f64>>,
}

fn matrix(rows: &[Vec<f64>]) -> Matrix {
    let width = rows.first().map_or(0, Vec::len);
    Matrix::from_shape_vec((rows.len(), width), rows.concat()).unwrap()
}

/// Relative in every number, however small.
#[track_caller]
fn assert_golden(what: &str, found: &Matrix, golden: &[Vec<f64>], tolerance: f64) {
    let golden = matrix(golden);
    assert_eq!(found.dim(), golden.dim(), "{what}");
    for ((at, a), b) in found.indexed_iter().zip(&golden) {
        assert!((a - b).abs() <= tolerance * b.abs(), "{what} at {at:?}: {a}, golden {b}");
    }
}

#[test]
fn gaussian_nb_equals_scikit_learn() {
    let golden: Golden =
        serde_json::from_str(&repository_file("testdata/golden/gaussian-nb.json")).unwrap();
    assert!(golden.source.starts_with("scikit-learn"));
    let tolerance = golden.tolerance;

    for case in &golden.cases {
        let rows = golden.rows.iter().find(|rows| rows.name == case.rows).unwrap();
        let what = |field: &str| format!("{} {}: {field}", case.rows, case.params);
        let x = matrix(&rows.x);
        let params: GaussianNb = serde_json::from_value(case.params.clone()).unwrap();
        let n_classes = case.theta.len();
        let classes = Classes::new((0..n_classes as i64).map(Label::Int).collect());
        let mut data = Dataset::classes(&x, &rows.y, &classes).unwrap();
        if case.weighted {
            data = data.weighted(&rows.weights).unwrap();
        }

        let model = params.fit(&data, &Monitor::quiet()).unwrap();

        let priors: Vec<f64> = model.log_priors.iter().map(|p| p.exp()).collect();
        let priors = Matrix::from_shape_vec((1, n_classes), priors).unwrap();
        assert_golden(&what("theta"), &model.means, &case.theta, tolerance);
        assert_golden(&what("var"), &model.variances, &case.var, tolerance);
        assert_golden(&what("prior"), &priors, std::slice::from_ref(&case.class_prior), tolerance);
        assert_eq!(model.predict(&Rows::from(&x)).unwrap(), case.predict, "{}", what("predict"));
        let some = x.select(ndarray::Axis(0), &case.some);
        let (scores, log_proba) = (
            model.scores(&Rows::from(&some)).unwrap(),
            model.log_proba(&Rows::from(&some)).unwrap(),
        );
        assert_golden(&what("joint"), &scores, &case.joint_log_likelihood, tolerance);
        for ((at, a), b) in log_proba.indexed_iter().zip(&matrix(&case.log_proba)) {
            // The log of a probability near one is a difference of two joints: absolute there.
            let difference = (a - b).abs();
            assert!(difference <= tolerance * b.abs().max(1.0), "{} {at:?}", what("log_proba"));
        }
    }
}

#[derive(Deserialize)]
struct LinearGolden {
    source: String,
    tolerance: f64,
    rows: Vec<NumberRows>,
    cases: Vec<LinearCase>,
}

#[derive(Deserialize)]
struct NumberRows {
    name: String,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    weights: Vec<f64>,
}

#[derive(Deserialize)]
struct LinearCase {
    rows: String,
    estimator: String,
    params: Value,
    weighted: bool,
    coefficients: Vec<f64>,
    intercept: f64,
    predict: Vec<f64>,
}

#[test]
fn linear_models_equal_scikit_learn() {
    let golden: LinearGolden =
        serde_json::from_str(&repository_file("testdata/golden/linear.json")).unwrap();
    assert!(golden.source.starts_with("scikit-learn"));

    for case in &golden.cases {
        let rows = golden.rows.iter().find(|rows| rows.name == case.rows).unwrap();
        let what = format!("{} {} {}", case.rows, case.estimator, case.params);
        let x = matrix(&rows.x);
        let mut estimator = Estimator::from_id(&case.estimator).unwrap();
        for (name, value) in case.params.as_object().unwrap() {
            estimator = estimator.set(name, value.clone()).unwrap();
        }
        let mut data = Dataset::numbers(&x, &rows.y).unwrap();
        if case.weighted {
            data = data.weighted(&rows.weights).unwrap();
        }

        let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();

        let model = fitted.as_model().additive().unwrap();
        let near = |a: f64, b: f64| (a - b).abs() <= golden.tolerance * b.abs().max(1e-3);
        let terms = model.terms();
        assert!(near(terms.intercept, case.intercept), "{what}: {}", terms.intercept);
        for (a, b) in terms.coefficients.iter().zip(&case.coefficients) {
            assert!(near(*a, *b), "{what}: {a}, golden {b}");
        }
        let predicted = model.predict(&Rows::from(&x)).unwrap();
        assert!(predicted.iter().zip(&case.predict).all(|(a, b)| near(*a, *b)), "{what}");
    }
}
