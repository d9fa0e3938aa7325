//! Learners that look at one row at a time, against scikit-learn's steps over rows as they come.

use crate::cases::{repository_file, sparse};
use mercer::catalog::{AnyModel, Estimator};
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

/// The weights one plane after the other, the constant terms, the passes and steps.
fn planes(model: &AnyModel) -> (Vec<f64>, Vec<f64>, u64, u64) {
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
        other => panic!("{} does not step", other.id()),
    }
}

#[test]
fn steps_over_rows_as_they_come_are_scikit_learns() {
    let golden: Golden =
        serde_json::from_str(&repository_file("testdata/golden/online.json")).unwrap();
    assert!(golden.source.starts_with("scikit-learn"));
    for case in &golden.cases {
        let rows = golden.rows.iter().find(|rows| rows.name == case.rows).unwrap();
        let what = format!("{} {} {:?} sparse {}", case.kind, case.rows, case.params, case.sparse);
        let width = rows.x[0].len();
        let x = Matrix::from_shape_vec((rows.x.len(), width), rows.x.concat()).unwrap();
        let thin = sparse(&x);
        let cells = if case.sparse { Rows::from(&thin) } else { Rows::from(&x) };
        let codes: Vec<u32> = rows.y.iter().map(|y| *y as u32).collect();
        let n_classes = i64::from(*codes.iter().max().unwrap()) + 1;
        let classes = Classes::new((0..n_classes).map(Label::Int).collect());
        let mut data = match case.kind.contains("regressor") {
            false => Dataset::classes(cells, &codes, &classes).unwrap(),
            true => Dataset::numbers(cells, &rows.y).unwrap(),
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
                    Some(estimator.learn_on(fitted.as_ref(), &part, &Monitor::quiet()).unwrap());
            }
            fitted.unwrap()
        } else {
            estimator.fit(&data, &Monitor::quiet()).unwrap()
        };

        let (weights, constants, n_iter, t) = planes(&fitted.model);
        let tolerance = if case.kind == "perceptron" { 1e-10 } else { 1e-8 };
        let near = |a: f64, b: f64| (a - b).abs() <= tolerance * b.abs().max(1.0);
        assert_eq!((n_iter, t), (case.n_iter, case.t), "{what}");
        for (a, b) in weights.iter().zip(case.coefficients.iter().flatten()) {
            assert!(near(*a, *b), "{what}: weight {a}, golden {b}");
        }
        for (a, b) in constants.iter().zip(&case.intercepts) {
            assert!(near(*a, *b), "{what}: constant {a}, golden {b}");
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
fn a_deadline_midway_keeps_the_planes_and_says_so() {
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

    assert_eq!(fitted.certificate.stopped, Some(mercer::model::Stop::Cancelled));
    assert!(fitted.certificate.rounds <= 4);
    assert!(fitted.certificate.to_string().contains("CUT SHORT"));
}
