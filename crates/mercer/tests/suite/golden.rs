//! Reference values of other programs for the same rows (`testdata/golden/make.py`).

use crate::cases::repository_file;
use mercer::bayes::GaussianNb;
use mercer::catalog::Estimator;
use mercer::discriminant::{LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis};
use mercer::linear::{LogisticRegression, LogisticRegressionCv, Penalty};
use mercer::prelude::*;
use mercer::probability::network::TanNb;
use serde_json::Value;

#[derive(Deserialize)]
struct Golden<C> {
    source: String,
    tolerance: f64,
    rows: Vec<GoldenRows>,
    cases: Vec<C>,
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

/// Relative for every value, even tiny ones.
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
    let golden: Golden<GaussianCase> =
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
            // The logarithm of a probability near one is a difference of two joint log-likelihoods, so the tolerance is
            // absolute there.
            let difference = (a - b).abs();
            assert!(difference <= tolerance * b.abs().max(1.0), "{} {at:?}", what("log_proba"));
        }
    }
}

#[derive(Deserialize)]
struct DiscriminantCase {
    rows: String,
    params: Value,
    means: Vec<Vec<f64>>,
    priors: Vec<f64>,
    predict: Vec<u32>,
    some: Vec<usize>,
    decision: Vec<Vec<f64>>,
    proba: Vec<Vec<f64>>,
    covariances: Value,
    transform: Option<Vec<Vec<f64>>>,
    explained_variance_ratio: Option<Vec<f64>>,
}

/// The tolerance between two factorizations of well-conditioned rows.
const FACTORIZATION_TOLERANCE: f64 = 1e-8;

#[track_caller]
fn assert_close(what: &str, found: &Matrix, golden: &Matrix) {
    assert_eq!(found.dim(), golden.dim(), "{what}");
    for ((at, a), b) in found.indexed_iter().zip(golden) {
        assert!(
            (a - b).abs() <= FACTORIZATION_TOLERANCE * b.abs().max(1.0),
            "{what} at {at:?}: {a}, golden {b}"
        );
    }
}

/// Scores minus those of the first class: a common offset is arbitrary.
fn against_first(scores: &Matrix) -> Matrix {
    let first = scores.column(0).to_owned().insert_axis(ndarray::Axis(1));
    scores - &first
}

/// Runs the cases of a file; `check` compares the parts that are specific to a model.
fn discriminants<P: Fit>(
    file: &str,
    parts: impl Fn(&P::Model) -> (Matrix, Vec<f64>, Vec<Matrix>),
    check: impl Fn(&str, &P::Model, &Matrix, &DiscriminantCase),
) where
    P::Model: Discriminant + Probabilistic,
{
    let golden: Golden<DiscriminantCase> = serde_json::from_str(&repository_file(file)).unwrap();
    assert!(golden.source.starts_with("scikit-learn"));
    for case in &golden.cases {
        let rows = golden.rows.iter().find(|rows| rows.name == case.rows).unwrap();
        let what = |field: &str| format!("{file} {} {}: {field}", case.rows, case.params);
        let x = matrix(&rows.x);
        let params: P = serde_json::from_value(case.params.clone()).unwrap();
        let classes = Classes::new((0..case.means.len() as i64).map(Label::Int).collect());
        let data = Dataset::classes(&x, &rows.y, &classes).unwrap();

        let model = params.fit(&data, &Monitor::quiet()).unwrap().model;

        let (means, log_priors, covariances) = parts(&model);
        assert_golden(&what("means"), &means, &case.means, golden.tolerance);
        for (a, b) in log_priors.iter().zip(&case.priors) {
            assert!((a.exp() - b).abs() < 1e-12, "{}", what("priors"));
        }
        // Scikit-learn weights the reported covariance by the priors, and the one it uses by the rows.
        if case.params.get("priors").is_none() {
            let squares: Vec<Vec<Vec<f64>>> = match covariances.len() {
                1 => vec![serde_json::from_value(case.covariances.clone()).unwrap()],
                _ => serde_json::from_value(case.covariances.clone()).unwrap(),
            };
            for (found, golden) in covariances.iter().zip(&squares) {
                assert_close(&what("covariance"), found, &matrix(golden));
            }
        }
        assert_eq!(model.predict(&Rows::from(&x)).unwrap(), case.predict, "{}", what("predict"));
        let some = x.select(ndarray::Axis(0), &case.some);
        let scores = model.scores(&Rows::from(&some)).unwrap();
        let decision = matrix(&case.decision);
        assert_close(&what("decision"), &against_first(&scores), &against_first(&decision));
        let proba = model.log_proba(&Rows::from(&some)).unwrap().mapv(f64::exp);
        assert_close(&what("proba"), &proba, &matrix(&case.proba));
        check(&case.rows, &model, &some, case);
    }
}

#[test]
fn linear_discriminant_analysis_equals_scikit_learn() {
    discriminants::<LinearDiscriminantAnalysis>(
        "testdata/golden/lda.json",
        |model| (model.means.clone(), model.log_priors.clone(), vec![model.covariance.clone()]),
        |rows, model, some, case| {
            let (Some(golden), Some(ratios)) = (&case.transform, &case.explained_variance_ratio)
            else {
                return;
            };
            let projected = model.transform(&Rows::from(some)).unwrap().mapv(f64::abs);
            assert_close(&format!("{rows}: transform"), &projected, &matrix(golden));
            let found = model.derived("explained_variance_ratio").unwrap();
            assert_close(rows, &found, &matrix(std::slice::from_ref(ratios)));
        },
    );
}

#[test]
fn quadratic_discriminant_analysis_equals_scikit_learn() {
    discriminants::<QuadraticDiscriminantAnalysis>(
        "testdata/golden/qda.json",
        |model| {
            let gaussians = &model.gaussians;
            let covariances = gaussians.covariances.outer_iter().map(|c| c.to_owned()).collect();
            (gaussians.means.clone(), gaussians.log_priors.clone(), covariances)
        },
        |_, _, _, _| {},
    );
}
#[derive(Deserialize)]
struct LinearGolden {
    source: String,
    tolerance: f64,
    rows: Vec<RegressionRows>,
    cases: Vec<LinearCase>,
}

#[derive(Deserialize)]
struct RegressionRows {
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
        let mut data = Dataset::regression(&x, &rows.y).unwrap();
        if case.weighted {
            data = data.weighted(&rows.weights).unwrap();
        }

        let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();

        let model = fitted.as_model().linear_model().unwrap();
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

#[derive(Deserialize)]
struct LogisticCase {
    rows: String,
    params: Value,
    weighted: bool,
    coefficients: Vec<Vec<f64>>,
    intercepts: Vec<f64>,
    some: Vec<usize>,
    proba: Vec<Vec<f64>>,
}

#[test]
fn logistic_regression_equals_scikit_learn() {
    let golden: Golden<LogisticCase> =
        serde_json::from_str(&repository_file("testdata/golden/logistic.json")).unwrap();
    assert!(golden.source.starts_with("scikit-learn"));
    for case in &golden.cases {
        let rows = golden.rows.iter().find(|rows| rows.name == case.rows).unwrap();
        let what = format!("{} {}", case.rows, case.params);
        let mut x = matrix(&rows.x);
        for mut column in x.columns_mut() {
            let (mean, deviation) = (column.mean().unwrap(), column.std(0.0));
            column.mapv_inplace(|v| (v - mean) / deviation);
        }
        let mut params: LogisticRegression = serde_json::from_value(case.params.clone()).unwrap();
        params.tol = 1e-11;
        let n_classes = i64::from(*rows.y.iter().max().unwrap()) + 1;
        let classes = Classes::new((0..n_classes).map(Label::Int).collect());
        let mut data = Dataset::classes(&x, &rows.y, &classes).unwrap();
        if case.weighted {
            data = data.weighted(&rows.weights).unwrap();
        }

        let model = params.fit(&data, &Monitor::quiet()).unwrap().model;

        // Scikit-learn's solver for the L1 penalty stops earlier than ours.
        let tolerance = if params.penalty == Penalty::L2 { 1e-7 } else { 1e-5 };
        let near = |a: f64, b: f64| (a - b).abs() <= tolerance * b.abs().max(1.0);
        for (a, b) in model.coefficients.iter().zip(case.coefficients.iter().flatten()) {
            assert!(near(*a, *b), "{what}: weight {a}, golden {b}");
        }
        for (a, b) in model.intercepts.iter().zip(&case.intercepts) {
            assert!(near(*a, *b), "{what}: constant {a}, golden {b}");
        }
        let some = x.select(ndarray::Axis(0), &case.some);
        let proba = model.log_proba(&Rows::from(&some)).unwrap().mapv(f64::exp);
        for (a, b) in proba.iter().zip(case.proba.iter().flatten()) {
            assert!(near(*a, *b), "{what}: probability {a}, golden {b}");
        }
    }
}

#[derive(Deserialize)]
struct TanCase {
    rows: String,
    params: Value,
    parents: Vec<Option<usize>>,
    some: Vec<usize>,
    joint_log_likelihood: Vec<Vec<f64>>,
    log_proba: Vec<Vec<f64>>,
}

#[test]
fn tan_equals_an_independent_implementation() {
    let golden: Golden<TanCase> =
        serde_json::from_str(&repository_file("testdata/golden/tan.json")).unwrap();
    assert!(golden.source.contains("Friedman"));

    for case in &golden.cases {
        let rows = golden.rows.iter().find(|rows| rows.name == case.rows).unwrap();
        let what = |field: &str| format!("{} {}: {field}", case.rows, case.params);
        let x = matrix(&rows.x);
        let params: TanNb = serde_json::from_value(case.params.clone()).unwrap();
        let n_classes = case.log_proba[0].len();
        let classes = Classes::new((0..n_classes as i64).map(Label::Int).collect());
        let data = Dataset::classes(&x, &rows.y, &classes).unwrap();

        let model = params.fit(&data, &Monitor::quiet()).unwrap();

        assert_eq!(model.parents, case.parents, "{}", what("parents"));
        let some = x.select(ndarray::Axis(0), &case.some);
        let joint = model.scores(&Rows::from(&some)).unwrap();
        let proba = model.log_proba(&Rows::from(&some)).unwrap();
        assert_golden(&what("joint"), &joint, &case.joint_log_likelihood, golden.tolerance);
        assert_golden(&what("log_proba"), &proba, &case.log_proba, 1e-8);
    }
}

#[derive(Deserialize)]
struct CrossValidatedGolden {
    source: String,
    cases: Vec<CrossValidatedCase>,
}

#[derive(Deserialize)]
// Parameter names are those of the literature, such as `C`.
#[allow(non_snake_case)]
struct CrossValidatedCase {
    rows: String,
    params: Value,
    weighted: bool,
    C: f64,
    l1_ratio: f64,
    Cs: Vec<f64>,
    scores: Vec<f64>,
    coefficients: Vec<Vec<f64>>,
    intercepts: Vec<f64>,
}

#[derive(Deserialize)]
struct OnlyRows {
    rows: Vec<RegressionRows>,
}

#[test]
fn cross_validated_penalties_equal_those_of_scikit_learn() {
    let golden: CrossValidatedGolden =
        serde_json::from_str(&repository_file("testdata/golden/logistic-cv.json")).unwrap();
    let rows: OnlyRows =
        serde_json::from_str(&repository_file("testdata/golden/online.json")).unwrap();
    assert!(golden.source.starts_with("scikit-learn"));
    for case in &golden.cases {
        let rows = rows.rows.iter().find(|rows| rows.name == case.rows).unwrap();
        let what = format!("{} {}", case.rows, case.params);
        let x = matrix(&rows.x);
        let codes: Vec<u32> = rows.y.iter().map(|y| *y as u32).collect();
        let n_classes = i64::from(*codes.iter().max().unwrap()) + 1;
        let classes = Classes::new((0..n_classes).map(Label::Int).collect());
        let mut data = Dataset::classes(&x, &codes, &classes).unwrap();
        if case.weighted {
            data = data.weighted(&rows.weights).unwrap();
        }
        let mut params: LogisticRegressionCv = serde_json::from_value(case.params.clone()).unwrap();
        params.tol = 1e-10;

        let model = params.fit(&data, &Monitor::quiet()).unwrap().model;

        // Scikit-learn's solver for the elastic net stops earlier than ours.
        let tolerance = if params.l1_ratios.is_empty() { 1e-6 } else { 1e-4 };
        let near = |a: f64, b: f64| (a - b).abs() <= tolerance * b.abs().max(1.0);
        assert!(
            near(model.C, case.C) && near(model.l1_ratio, case.l1_ratio),
            "{what}: {}",
            model.C
        );
        assert!(model.Cs.iter().zip(&case.Cs).all(|(a, b)| near(*a, *b)), "{what}");
        for (a, b) in model.scores.iter().zip(&case.scores) {
            assert!(near(*a, *b), "{what}: score {a}, golden {b}");
        }
        for (a, b) in model.logistic.coefficients.iter().zip(case.coefficients.iter().flatten()) {
            assert!(near(*a, *b), "{what}: weight {a}, golden {b}");
        }
        for (a, b) in model.logistic.intercepts.iter().zip(&case.intercepts) {
            assert!(near(*a, *b), "{what}: constant {a}, golden {b}");
        }
    }
}
