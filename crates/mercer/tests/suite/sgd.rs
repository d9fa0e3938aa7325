//! Estimators trained by stochastic gradient descent, against the updates of scikit-learn on unshuffled rows.

use crate::cases::{repository_file, sparse};
use mercer::catalog::{AnyModel, Capability, Estimator};
use mercer::model::Shape;
use mercer::prelude::*;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Golden {
    source: String,
    rows: Vec<GoldenRows>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct GoldenRows {
    name: String,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    weights: Vec<f64>,
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    rows: String,
    params: serde_json::Map<String, Value>,
    weighted: bool,
    sparse: bool,
    parts: bool,
    coefficients: Vec<Vec<f64>>,
    intercepts: Vec<f64>,
    n_iter: u64,
    t: u64,
    proba: Option<Vec<Vec<f64>>>,
}

impl Case {
    fn estimator(&self) -> Estimator {
        let plain = Estimator::from_id(&self.kind).unwrap().set("shuffle", json!(false)).unwrap();
        self.params.iter().fold(plain, |made, (name, value)| made.set(name, value.clone()).unwrap())
    }
}

/// The coefficients, the intercepts, the number of epochs and the number of the next update.
fn state(model: &AnyModel) -> (Vec<f64>, Vec<f64>, u64, u64) {
    match model {
        AnyModel::Perceptron(m) => {
            (m.coefficients.iter().copied().collect(), m.intercepts.clone(), m.n_iter, m.t)
        }
        AnyModel::SgdClassifier(m) => {
            (m.coefficients.iter().copied().collect(), m.intercepts.clone(), m.n_iter, m.t)
        }
        AnyModel::PassiveAggressive(m) => {
            (m.coefficients.iter().copied().collect(), m.intercepts.clone(), m.n_iter, m.t)
        }
        AnyModel::SgdRegressor(m) => (m.coefficients.clone(), m.intercepts.clone(), m.n_iter, m.t),
        AnyModel::PassiveAggressiveRegressor(m) => {
            (m.coefficients.clone(), m.intercepts.clone(), m.n_iter, m.t)
        }
        other => panic!("{} is not trained by SGD", other.id()),
    }
}

#[test]
fn unshuffled_updates_match_scikit_learn() {
    let golden: Golden =
        serde_json::from_str(&repository_file("testdata/golden/online.json")).unwrap();
    assert!(golden.source.starts_with("scikit-learn"));
    for case in &golden.cases {
        let rows = golden.rows.iter().find(|rows| rows.name == case.rows).unwrap();
        let what = format!("{} {} {:?} sparse {}", case.kind, case.rows, case.params, case.sparse);
        let width = rows.x[0].len();
        let x = Matrix::from_shape_vec((rows.x.len(), width), rows.x.concat()).unwrap();
        let csr = sparse(&x);
        let cells = if case.sparse { Rows::from(&csr) } else { Rows::from(&x) };
        let codes: Vec<u32> = rows.y.iter().map(|y| *y as u32).collect();
        let n_classes = i64::from(*codes.iter().max().unwrap()) + 1;
        let classes = Classes::new((0..n_classes).map(Label::Int).collect());
        let mut data = match case.kind.contains("regressor") {
            false => Dataset::classes(cells, &codes, &classes).unwrap(),
            true => Dataset::regression(cells, &rows.y).unwrap(),
        };
        if case.weighted {
            data = data.weighted(&rows.weights).unwrap();
        }
        let estimator = case.estimator();

        let fitted = if case.parts {
            let mut fitted = None;
            for first in (0..x.nrows()).step_by(50) {
                let part = data.slice(first..(first + 50).min(x.nrows()));
                fitted =
                    Some(estimator.partial_fit(fitted.as_ref(), &part, &Monitor::quiet()).unwrap());
            }
            fitted.unwrap()
        } else {
            estimator.fit(&data, &Monitor::quiet()).unwrap()
        };

        let (coefficients, intercepts, n_iter, t) = state(&fitted.model);
        let tolerance = if case.kind == "perceptron" { 1e-10 } else { 1e-8 };
        let near = |a: f64, b: f64| (a - b).abs() <= tolerance * b.abs().max(1.0);
        assert_eq!((n_iter, t), (case.n_iter, case.t), "{what}");
        for (a, b) in coefficients.iter().zip(case.coefficients.iter().flatten()) {
            assert!(near(*a, *b), "{what}: coefficient {a}, golden {b}");
        }
        for (a, b) in intercepts.iter().zip(&case.intercepts) {
            assert!(near(*a, *b), "{what}: intercept {a}, golden {b}");
        }
        let model = fitted.as_model();
        assert_eq!(model.probabilistic().is_some(), case.proba.is_some(), "{what}");
        if let (Some(model), Some(golden)) = (model.probabilistic(), &case.proba) {
            let some = x.select(ndarray::Axis(0), &(0..10).collect::<Vec<_>>());
            let proba = model.log_proba(&Rows::from(&some)).unwrap().mapv(f64::exp);
            for (a, b) in proba.iter().zip(golden.iter().flatten()) {
                assert!(near(*a, *b), "{what}: probability {a}, golden {b}");
            }
        }
    }
}

#[test]
fn a_cancelled_fit_returns_the_weights_so_far() {
    let x = Matrix::from_shape_fn((4000, 20), |(i, j)| ((i * 31 + j * 17) % 23) as f64 - 11.0);
    let codes: Vec<u32> = (0..4000).map(|i| u32::from(i % 7 < 3)).collect();
    let classes = Classes::from_names(["a", "b"]);
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let raise = |at: mercer::model::Progress| {
        flag.store(at.done >= 3, std::sync::atomic::Ordering::Relaxed);
    };
    let monitor = Monitor::quiet().on_progress(raise).cancelled_by(std::sync::Arc::clone(&flag));
    let estimator = Estimator::from_id("perceptron").unwrap().set("tol", Value::Null).unwrap();

    let fitted = estimator.fit(&data, &monitor).unwrap();

    assert_eq!(fitted.certificate.stopped(), Some(mercer::model::Stop::Cancelled));
    assert!(fitted.certificate.iterations <= 4);
    assert!(fitted.certificate.to_string().contains("NOT CONVERGED"));
}

/// Every online estimator with data for its task, unshuffled.
fn each_online(mut check: impl FnMut(&Estimator, &Dataset<'_>, &Shape<'_>)) {
    let x = Matrix::from_shape_fn((60, 4), |(i, j)| ((i * 7 + j * 5) % 11) as f64 / 5.0 - 1.0);
    let codes: Vec<u32> = (0..60).map(|i| ((i * 7) % 11 / 4) as u32).collect();
    let y: Vec<f64> = x.outer_iter().map(|row| row[0] - 0.5 * row[2]).collect();
    let classes = Classes::from_names(["a", "b", "c"]);
    let classification = Dataset::classes(&x, &codes, &classes).unwrap();
    let regression = Dataset::regression(&x, &y).unwrap();
    let layout = mercer_num::parallel::Layout::Dense;
    for card in mercer::catalog::CATALOG.iter().filter(|card| card.can(Capability::Online)) {
        let estimator = Estimator::from_id(card.id).unwrap().set("shuffle", json!(false)).unwrap();
        if card.can(Capability::Regressor) {
            check(&estimator, &regression, &Shape { classes: None, n_columns: 4, layout });
        } else {
            check(
                &estimator,
                &classification,
                &Shape { classes: Some(&classes), n_columns: 4, layout },
            );
        }
    }
}

#[test]
fn out_of_core_fits_equal_fits_in_memory() {
    each_online(|estimator, data, shape| {
        let in_memory = estimator.fit(data, &Monitor::quiet()).unwrap();

        let mut learner = estimator.out_of_core(shape).unwrap();
        loop {
            for range in [0..7, 7..8, 8..40, 40..60] {
                let rows: Vec<usize> = (0..range.len()).collect();
                learner.take(&data.slice(range), &rows, &Monitor::quiet()).unwrap();
            }
            if !learner.end_pass().unwrap() {
                break;
            }
        }
        let out_of_core = learner.finish(None).unwrap();

        let ((a, b, epochs, t), (c, d, expected_epochs, u)) =
            (state(&out_of_core.model), state(&in_memory.model));
        assert_eq!((epochs, t), (expected_epochs, u), "{}", estimator.id());
        assert_eq!(out_of_core.certificate.rows, 60);
        for (found, expected) in a.iter().chain(&b).zip(c.iter().chain(&d)) {
            assert!((found - expected).abs() < 1e-12, "{}: {found}, {expected}", estimator.id());
        }
    });
}

#[test]
fn only_the_selected_rows_of_a_part_are_trained_on() {
    each_online(|estimator, data, shape| {
        let estimator = estimator.set("max_iter", json!(3)).unwrap();
        let even: Vec<usize> = (0..60).step_by(2).collect();
        let mut learner = estimator.out_of_core(shape).unwrap();
        let mut expected = estimator.out_of_core(shape).unwrap();
        for i in &even {
            expected.take(&data.slice(*i..*i + 1), &[0], &Monitor::quiet()).unwrap();
        }
        learner.take(data, &even, &Monitor::quiet()).unwrap();

        assert!(learner.end_pass().unwrap() && expected.end_pass().unwrap());
        let (a, b) = (learner.finish(None).unwrap(), expected.finish(None).unwrap());

        assert_eq!(state(&a.model), state(&b.model));
    });
}

#[test]
fn parameters_that_need_all_rows_are_refused_out_of_core() {
    let classes = Classes::from_names(["a", "b"]);
    let layout = mercer_num::parallel::Layout::Sparse;
    let shape = Shape { classes: Some(&classes), n_columns: 2, layout };
    let refused = |estimator: Estimator| estimator.out_of_core(&shape).err().unwrap().to_string();
    let sgd = Estimator::from_id("sgd").unwrap();

    let early = refused(sgd.set("early_stopping", json!(true)).unwrap());
    let balanced = refused(sgd.set("class_weight", json!("balanced")).unwrap());
    let solver = refused(Estimator::from_id("linear-svc").unwrap());

    assert!(early.contains("early_stopping"), "{early}");
    assert!(balanced.contains("class_weight"), "{balanced}");
    assert!(solver.contains("learn out of core"), "{solver}");
    let mut empty = sgd.out_of_core(&shape).unwrap();
    assert_eq!(empty.end_pass(), Err(Error::NoRows));
}
