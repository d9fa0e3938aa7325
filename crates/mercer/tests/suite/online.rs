//! Learners that look at one row at a time, against scikit-learn's steps over rows as they come.

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

    assert_eq!(fitted.certificate.stopped(), Some(mercer::model::Stop::Cancelled));
    assert!(fitted.certificate.iterations <= 4);
    assert!(fitted.certificate.to_string().contains("CUT SHORT"));
}

/// Every online estimator with rows of its kind, in the order they come.
fn each_online(mut check: impl FnMut(&Estimator, &Dataset<'_>, &Shape<'_>)) {
    let x = Matrix::from_shape_fn((60, 4), |(i, j)| ((i * 7 + j * 5) % 11) as f64 / 5.0 - 1.0);
    let codes: Vec<u32> = (0..60).map(|i| ((i * 7) % 11 / 4) as u32).collect();
    let y: Vec<f64> = x.outer_iter().map(|row| row[0] - 0.5 * row[2]).collect();
    let classes = Classes::from_names(["a", "b", "c"]);
    let by_class = Dataset::classes(&x, &codes, &classes).unwrap();
    let by_number = Dataset::numbers(&x, &y).unwrap();
    let layout = mercer_num::parallel::Layout::Dense;
    for card in mercer::catalog::CATALOG.iter().filter(|card| card.can(Capability::Online)) {
        let estimator = Estimator::from_id(card.id).unwrap().set("shuffle", json!(false)).unwrap();
        if card.can(Capability::Regressor) {
            check(&estimator, &by_number, &Shape { classes: None, n_columns: 4, layout });
        } else {
            check(&estimator, &by_class, &Shape { classes: Some(&classes), n_columns: 4, layout });
        }
    }
}

#[test]
fn rows_in_parts_are_learned_as_rows_together() {
    each_online(|estimator, data, shape| {
        let together = estimator.fit(data, &Monitor::quiet()).unwrap();

        let mut learner = estimator.in_parts(shape).unwrap();
        loop {
            for range in [0..7, 7..8, 8..40, 40..60] {
                let places: Vec<usize> = (0..range.len()).collect();
                learner.take(&data.slice(range), &places, &Monitor::quiet()).unwrap();
            }
            if !learner.end_pass().unwrap() {
                break;
            }
        }
        let parts = learner.finish(None).unwrap();

        let ((a, b, passes, t), (c, d, more, u)) = (planes(&parts.model), planes(&together.model));
        assert_eq!((passes, t), (more, u), "{}", estimator.id());
        assert_eq!(parts.certificate.rows, 60);
        for (found, expected) in a.iter().chain(&b).zip(c.iter().chain(&d)) {
            assert!((found - expected).abs() < 1e-12, "{}: {found}, {expected}", estimator.id());
        }
    });
}

#[test]
fn rows_at_other_places_of_a_part_have_no_say() {
    each_online(|estimator, data, shape| {
        let estimator = estimator.set("max_iter", json!(3)).unwrap();
        let even: Vec<usize> = (0..60).step_by(2).collect();
        let mut learner = estimator.in_parts(shape).unwrap();
        let mut whole = estimator.in_parts(shape).unwrap();
        for i in &even {
            whole.take(&data.slice(*i..*i + 1), &[0], &Monitor::quiet()).unwrap();
        }
        learner.take(data, &even, &Monitor::quiet()).unwrap();

        assert!(learner.end_pass().unwrap() && whole.end_pass().unwrap());
        let (a, b) = (learner.finish(None).unwrap(), whole.finish(None).unwrap());

        assert_eq!(planes(&a.model), planes(&b.model));
    });
}

#[test]
fn what_needs_all_rows_is_refused_where_they_come_in_parts() {
    let classes = Classes::from_names(["a", "b"]);
    let layout = mercer_num::parallel::Layout::Sparse;
    let shape = Shape { classes: Some(&classes), n_columns: 2, layout };
    let refused = |estimator: Estimator| estimator.in_parts(&shape).err().unwrap().to_string();
    let sgd = Estimator::from_id("sgd").unwrap();

    let judged = refused(sgd.set("early_stopping", json!(true)).unwrap());
    let balanced = refused(sgd.set("class_weight", json!("balanced")).unwrap());
    let solver = refused(Estimator::from_id("linear-svc").unwrap());

    assert!(judged.contains("early_stopping"), "{judged}");
    assert!(balanced.contains("class_weight"), "{balanced}");
    assert!(solver.contains("learn rows in parts"), "{solver}");
    let mut nothing = sgd.in_parts(&shape).unwrap();
    assert_eq!(nothing.end_pass(), Err(Error::NoRows));
}
