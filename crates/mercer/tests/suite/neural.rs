//! Multilayer perceptrons against scikit-learn (make_mlp.py), and on any number of threads.

use crate::cases::{assert_near, repository_file};
use mercer::catalog::{AnyModel, Estimator};
use mercer::neural::{Activation, MlpClassifierModel, MlpRegressorModel, OutputActivation};
use mercer::prelude::*;
use mercer_num::parallel::with_threads;
use mercer_num::random::Random;
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct Golden {
    source: String,
    x: Vec<Vec<f64>>,
    weights: Vec<f64>,
    cases: Vec<GoldenCase>,
}

#[derive(Deserialize)]
struct GoldenCase {
    kind: String,
    params: Map<String, Value>,
    weighted: bool,
    y: Value,
    coefs: Vec<Vec<Vec<f64>>>,
    intercepts: Vec<Vec<f64>>,
    loss: f64,
    #[serde(rename = "said")]
    predicted: Vec<Vec<f64>>,
}

/// The same sums in a different order.
const TOLERANCE: f64 = 1e-12;

fn matrix(rows: &[Vec<f64>]) -> Matrix {
    Matrix::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
}

#[test]
fn the_weights_of_scikit_learn_give_its_loss_and_predictions() {
    let golden: Golden =
        serde_json::from_str(&repository_file("testdata/golden/mlp.json")).unwrap();
    assert!(golden.source.starts_with("scikit-learn"));
    let x = matrix(&golden.x);
    for case in golden.cases {
        let id = if case.kind == "numbers" { "mlp-regressor" } else { "mlp" };
        // Every gradient meets this tolerance, so that no step is taken.
        let plain = Estimator::from_id(id).unwrap().set_from_str("tol", "1e9").unwrap();
        let estimator = case.params.iter().fold(plain, |e, (k, v)| e.set(k, v.clone()).unwrap());
        let activation: Activation =
            serde_json::from_value(case.params["activation"].clone()).unwrap();
        let coefs: Vec<Matrix> = case.coefs.iter().map(|rows| matrix(rows)).collect();
        let intercepts = case.intercepts;
        let (codes, classes, numbers);
        let (data, start) = if case.kind == "numbers" {
            numbers = matrix(&serde_json::from_value::<Vec<Vec<f64>>>(case.y).unwrap());
            let model = MlpRegressorModel {
                activation,
                coefs,
                intercepts,
                loss: 0.0,
                n_iter: 0,
                output: OutputActivation::Identity,
                training: None,
            };
            (Dataset::multi_output(&x, numbers.view()).unwrap(), AnyModel::MlpRegressor(model))
        } else {
            codes = serde_json::from_value::<Vec<u32>>(case.y).unwrap();
            classes = Classes::new((0..case.predicted[0].len() as i64).map(Label::Int).collect());
            let known = classes.clone();
            let model = MlpClassifierModel {
                classes: known,
                activation,
                coefs,
                intercepts,
                loss: 0.0,
                n_iter: 0,
                training: None,
                means: vec![0.0; x.ncols()],
            };
            (Dataset::classes(&x, &codes, &classes).unwrap(), AnyModel::MlpClassifier(model))
        };
        let data = if case.weighted { data.weighted(&golden.weights).unwrap() } else { data };

        let fitted = estimator.fit_from(&start, &data, &Monitor::quiet()).unwrap();

        let loss = fitted.certificate.primal().unwrap();
        assert!((loss - case.loss).abs() < TOLERANCE, "{loss} and {}", case.loss);
        assert_eq!(fitted.certificate.iterations, 0);
        let predicted = match fitted.as_model().probabilistic() {
            Some(model) => model.log_proba(&Rows::from(&x)).unwrap().mapv(f64::exp),
            None => fitted.as_model().regressor().unwrap().predict_many(&Rows::from(&x)).unwrap(),
        };
        assert_near(&predicted, &matrix(&case.predicted), TOLERANCE);
    }
}

/// A cluster with two rings around it.
fn rings(n: usize) -> (Matrix, Vec<u32>) {
    let mut random = Random::new(12);
    let codes: Vec<u32> = (0..n).map(|i| (i % 3) as u32).collect();
    let angles: Vec<f64> = (0..n).map(|_| 6.3 * random.uniform()).collect();
    let x = Matrix::from_shape_fn((n, 2), |(i, j)| {
        let direction = if j == 0 { angles[i].cos() } else { angles[i].sin() };
        f64::from(codes[i]) * direction + 0.1 * random.normal()
    });
    (x, codes)
}

#[test]
fn fits_are_identical_on_any_number_of_threads() {
    let (x, codes) = rings(3000);
    let classes = Classes::from_names(["a", "b", "c"]);
    let csr = Sparse::csr_from_dense(x.view(), 0.0);
    for rows in [Rows::from(&x), Rows::from(&csr)] {
        let data = Dataset::classes(rows, &codes, &classes).unwrap();
        let estimator = Estimator::from_id("mlp").unwrap();
        let estimator = estimator.set_from_str("hidden_layer_sizes", "[20, 10]").unwrap();
        let run = || estimator.fit(&data, &Monitor::quiet()).unwrap();

        let single = with_threads(1, run);

        for threads in [2, 3, 8] {
            assert_eq!(with_threads(threads, run), single, "{threads} threads");
        }
        let predicted = single.as_model().classifier().unwrap().predict(&rows).unwrap();
        let n_correct = predicted.iter().zip(&codes).filter(|(a, b)| a == b).count();
        assert!(n_correct > 2950, "{n_correct}");
    }
}
