//! Estimators by rounds find the optimum of their in-memory solvers, from sums that merge.

use mercer::catalog::{AnyModel, CATALOG, Estimator, Learns};
use mercer::data::{Column, Field, Levels, Schema, Table, Values};
use mercer::model::{RoundSums, Shape, Statistics, Status, Stop, fit_by_rounds};
use mercer::prelude::*;
use mercer::preprocess::{CategoryEncoding, Features, Recipe};
use mercer::train::{Outcome, Task, Training, train};
use mercer_num::parallel::{Layout, with_threads};
use mercer_num::random::Random;
use mercer_num::{Matrix, Rows};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// An estimator with parameters.
fn estimator(id: &str, parameters: &[(&str, &str)]) -> Estimator {
    let plain = Estimator::from_id(id).unwrap();
    parameters.iter().fold(plain, |e, (name, value)| e.set_from_str(name, value).unwrap())
}

/// Overlapping classes around corners, and a noisy linear function.
struct Case {
    x: Matrix,
    codes: Vec<u32>,
    classes: Classes,
    y: Vec<f64>,
    weights: Vec<f64>,
}

impl Case {
    fn new(n: usize, n_classes: u32) -> Case {
        let mut random = Random::new(11);
        let codes: Vec<u32> = (0..n as u32).map(|i| i % n_classes).collect();
        let x = Matrix::from_shape_fn((n, 4), |(i, j)| {
            random.normal() + if codes[i] as usize == j { 1.5 } else { 0.0 }
        });
        let y = (0..n).map(|i| 2.0 * x[[i, 0]] - x[[i, 3]] + 0.3 * random.normal()).collect();
        let weights = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
        let names = ["a", "b", "c"];
        let classes = Classes::from_names(names[..n_classes as usize].iter().copied());
        Case { x, codes, classes, y, weights }
    }

    fn data(&self, id: &str) -> Dataset<'_> {
        let data = match id {
            "linear-svr" => Dataset::regression(&self.x, &self.y),
            _ => Dataset::classes(&self.x, &self.codes, &self.classes),
        };
        data.unwrap().weighted(&self.weights).unwrap()
    }
}

fn shape<'a>(data: &Dataset<'a>) -> Shape<'a> {
    let classes = data.class_target().ok().map(|(_, classes)| classes);
    Shape { classes, n_columns: data.n_columns(), layout: Layout::Dense }
}

/// Parameters under which each estimator has rounds, finely solved.
fn problems() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    vec![
        ("logistic", vec![("tol", "1e-9"), ("C", "0.7")]),
        (
            "logistic",
            vec![("tol", "1e-9"), ("class_weight", "balanced"), ("fit_intercept", "false")],
        ),
        ("linear-svc", vec![("tol", "1e-9"), ("C", "0.5")]),
        (
            "linear-svc",
            vec![("tol", "1e-9"), ("intercept", "unpenalized"), ("class_weight", "balanced")],
        ),
        (
            "linear-svr",
            vec![("tol", "1e-9"), ("loss", "squared_epsilon_insensitive"), ("epsilon", "0.1")],
        ),
    ]
}

fn predictions(model: &AnyModel, x: &Matrix) -> Vec<f64> {
    let (model, rows) = (model.as_model(), Rows::from(x));
    match model.regressor() {
        Some(model) => model.predict(&rows).unwrap(),
        None => model.classifier().unwrap().scores(&rows).unwrap().iter().copied().collect(),
    }
}

#[test]
fn every_estimator_by_rounds_is_tested_here() {
    let mut tested: Vec<&str> = problems().iter().map(|(id, _)| *id).collect();
    tested.dedup();

    let by_rounds: Vec<&str> =
        CATALOG.iter().filter(|card| card.learns == Learns::Rounds).map(|card| card.id).collect();

    assert_eq!(by_rounds, tested);
}

#[test]
fn rounds_end_at_the_optimum_of_the_solver_in_memory() {
    for n_classes in [2, 3] {
        let case = Case::new(600, n_classes);
        for (id, parameters) in problems() {
            let (estimator, data) = (estimator(id, &parameters), case.data(id));

            let found = fit_by_rounds(
                estimator.by_rounds(&shape(&data)).unwrap(),
                &data,
                &Monitor::quiet(),
            )
            .unwrap();

            let exact = estimator.fit(&data, &Monitor::quiet()).unwrap();
            let what = format!("{id} {parameters:?}, {n_classes} classes: {}", found.certificate);
            assert_eq!(found.certificate.status, Status::Converged, "{what}");
            let (primal, expected) =
                (found.certificate.primal().unwrap(), exact.certificate.primal().unwrap());
            assert!((primal - expected).abs() <= 1e-7 * expected, "{what}; {}", exact.certificate);
            assert!(found.certificate.relative_gap().unwrap() < 1e-7, "{what}");
            let (a, b) = (predictions(&found.model, &case.x), predictions(&exact.model, &case.x));
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4), "{what}");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let case = Case::new(3000, 3);
    for (id, parameters) in problems() {
        let (estimator, data) = (estimator(id, &parameters), case.data(id));
        let fit = || {
            let rounds = estimator.by_rounds(&shape(&data)).unwrap();
            fit_by_rounds(rounds, &data, &Monitor::quiet()).unwrap()
        };

        let (one, four) = (with_threads(1, fit), with_threads(4, fit));

        assert_eq!(predictions(&one.model, &case.x), predictions(&four.model, &case.x), "{id}");
        assert_eq!(one.certificate, four.certificate);
    }
}

#[test]
fn parts_of_the_rows_merge_to_the_round_of_all() {
    let case = Case::new(400, 3);
    for (id, parameters) in problems() {
        let (estimator, data) = (estimator(id, &parameters), case.data(id));
        let mut rounds = estimator.by_rounds(&shape(&data)).unwrap();
        for _ in 0..6 {
            let (mut whole, mut merged) = (RoundSums::default(), RoundSums::default());

            rounds.observe(&mut whole, &data).unwrap();
            for part in [0..150, 150..151, 151..400] {
                let mut sums = RoundSums::default();
                rounds.observe(&mut sums, &data.slice(part)).unwrap();
                merged.merge(&sums).unwrap();
            }

            let pairs = whole.sums.iter().zip(&merged.sums);
            let size = whole.sums.iter().fold(1.0f64, |a, s| a.max(s.abs()));
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() <= 1e-12 * size), "{id}");
            if !rounds.step(&whole, 400).unwrap() {
                break;
            }
        }
    }
}

#[test]
fn a_fit_cut_short_returns_its_best_model_marked() {
    let case = Case::new(500, 2);
    let data = case.data("logistic");
    let estimator = estimator("logistic", &[("tol", "1e-12")]);

    let flag = Arc::new(AtomicBool::new(false));
    let after = Arc::clone(&flag);
    let monitor = Monitor::quiet().cancelled_by(flag).on_progress(move |progress| {
        after.store(progress.done >= 4, std::sync::atomic::Ordering::Relaxed);
    });
    let rounds = estimator.by_rounds(&shape(&data)).unwrap();
    let fitted = fit_by_rounds(rounds, &data, &monitor).unwrap();

    assert_eq!(fitted.certificate.stopped(), Some(Stop::Cancelled));
    assert!(fitted.certificate.duality_gap().unwrap() > 0.0);
    let late = Monitor::quiet().time_limit(Duration::ZERO);
    let rounds = estimator.by_rounds(&shape(&data)).unwrap();
    assert!(matches!(fit_by_rounds(rounds, &data, &late), Err(Error::Stopped)));
}

#[test]
fn problems_without_rounds_are_refused_by_name() {
    let case = Case::new(20, 2);
    for (id, name, value) in [
        ("logistic", "penalty", "l1"),
        ("linear-svc", "loss", "hinge"),
        ("linear-svc", "multi_class", "crammer_singer"),
        ("linear-svr", "loss", "epsilon_insensitive"),
    ] {
        let estimator = estimator(id, &[(name, value)]);

        let refused = estimator.by_rounds(&shape(&case.data(id))).err().unwrap();

        assert!(
            matches!(&refused, Error::Parameter { name: found, .. } if found == name),
            "{refused}"
        );
    }
}

impl Case {
    /// The rows as a table with a class and a regression target.
    fn table(&self) -> Table {
        let numeric = |name: &str, values: Vec<f64>| Column {
            name: name.to_owned(),
            values: Values::Numeric(values),
        };
        let mut columns: Vec<Column> =
            (0..4).map(|j| numeric(&format!("x{j}"), self.x.column(j).to_vec())).collect();
        let names = self.classes.labels().iter().map(ToString::to_string).collect();
        let values =
            Values::Categorical { codes: self.codes.clone(), levels: Arc::new(Levels::new(names)) };
        columns.push(Column { name: "class".into(), values });
        columns.push(numeric("y", self.y.clone()));
        columns.push(numeric("weight", self.weights.clone()));
        Table::new(columns).unwrap()
    }

    /// Trains on the table under a memory budget.
    fn train(&self, estimator: &Estimator, folds: usize, bytes: u64) -> Result<Outcome> {
        let (target, task) = match estimator.id() {
            "linear-svr" => (Field::numeric("y"), Task::Regression),
            _ => (Field::categorical("class", Arc::default()), Task::Classification(&self.classes)),
        };
        let name = target.name.clone();
        let mut fields: Vec<Field> = (0..4).map(|j| Field::numeric(format!("x{j}"))).collect();
        fields.push(target);
        let schema = Schema { fields };
        let mut features = Features::plan(&schema, Some(&name), CategoryEncoding::Auto).unwrap().0;
        features.weights = Some("weight".into());
        let training = Training {
            estimator: estimator.clone(),
            features,
            task,
            n_rows: Some(self.codes.len() as u64),
            n_folds: folds,
            seed: 1,
            recipe: Recipe::default(),
        };
        train(training, &self.table(), &Monitor::quiet().memory_limit(bytes))
    }
}

/// 20,000 rows of 4 columns take 640 kB; a budget of 1 MB does not hold them twice.
const SMALL_BUDGET: u64 = 1 << 20;

#[test]
fn rows_beyond_the_memory_budget_are_fitted_by_rounds_over_the_stream() {
    for n_classes in [2, 3] {
        let case = Case::new(20_000, n_classes);
        for (id, parameters) in problems() {
            let estimator = estimator(id, &parameters);

            let streamed = case.train(&estimator, 0, SMALL_BUDGET).unwrap().trained;
            let in_memory = case.train(&estimator, 0, u64::MAX).unwrap().trained;

            let data = case.data(id);
            let rounds = estimator.by_rounds(&shape(&data)).unwrap();
            let by_rounds = fit_by_rounds(rounds, &data, &Monitor::quiet()).unwrap();
            assert_eq!(
                streamed.fitted.model, by_rounds.model,
                "{id}: bits of the rounds in memory"
            );
            assert_eq!(streamed.fitted.certificate.rows, 20_000);
            assert_eq!(streamed.fitted.certificate.status, Status::Converged);
            let (a, b) = (
                predictions(&streamed.fitted.model, &case.x),
                predictions(&in_memory.fitted.model, &case.x),
            );
            let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-4, "{id}: {off}");
        }
    }
}

#[test]
fn folds_are_scored_by_rounds_without_their_rows() {
    let case = Case::new(20_000, 3);
    let logistic = estimator("logistic", &[]);

    let outcomes = [1, 2]
        .map(|threads| with_threads(threads, || case.train(&logistic, 4, SMALL_BUDGET).unwrap()));
    let in_memory = case.train(&logistic, 4, u64::MAX).unwrap();

    let accuracy = |outcome: &Outcome| outcome.evaluation.as_ref().unwrap().report().accuracy.value;
    assert_eq!(outcomes[0].trained.fitted, outcomes[1].trained.fitted);
    assert_eq!(outcomes[0].evaluation, outcomes[1].evaluation);
    assert!((accuracy(&outcomes[0]) - accuracy(&in_memory)).abs() < 1e-3);
}

#[test]
fn a_problem_without_rounds_is_refused_beyond_the_memory_budget() {
    let case = Case::new(20_000, 2);
    let l1 = estimator("logistic", &[("penalty", "l1")]);

    let refused = case.train(&l1, 0, SMALL_BUDGET).err().unwrap();

    assert!(matches!(refused, Error::Memory { .. }), "{refused}");
}
