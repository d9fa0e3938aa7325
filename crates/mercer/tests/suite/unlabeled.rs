//! Semi-supervised learning by expectation maximization (EM).

use mercer::bayes::{BernoulliNb, CategoricalNb, ComplementNb, GaussianNb, MixedNb, MultinomialNb};
use mercer::catalog::Estimator;
use mercer::data::{Column, Levels, Table, Values};
use mercer::model::{OneOrEach, Stop};
use mercer::prelude::*;
use mercer::preprocess::Features;
use mercer::train::{EmOptions, Task, Training, train_semi_supervised};
use mercer_num::parallel::with_threads;
use mercer_num::random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Two overlapping clusters of integers in six columns; the class of a row is its cluster.
fn clusters(n: usize, seed: u64) -> (Matrix, Vec<u32>) {
    let mut random = Random::new(seed);
    let codes: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
    let x = Matrix::from_shape_fn((n, 6), |(i, j)| {
        let high = (codes[i] == 1) == (j < 3);
        (random.normal() + if high { 2.5 } else { 1.0 }).round().clamp(0.0, 5.0)
    });
    (x, codes)
}

fn likelihood(
    estimator: &Estimator,
    how: &EmOptions,
    labeled: &Dataset<'_>,
    more: &Dataset<'_>,
) -> f64 {
    let (fitted, _) = how.fit(estimator, labeled, more, &Monitor::quiet()).unwrap();
    fitted.certificate.primal().unwrap()
}

fn family() -> Vec<Estimator> {
    vec![
        GaussianNb::default().var_smoothing(0.0).into(),
        MultinomialNb::default().alpha(OneOrEach::One(1e-9)).into(),
        BernoulliNb::default().alpha(OneOrEach::One(1e-9)).into(),
        CategoricalNb::default().alpha(1e-9).into(),
    ]
}

#[test]
fn the_likelihood_never_decreases() {
    let classes = Classes::from_names(["a", "b"]);
    let (x, codes) = clusters(400, 7);
    let labeled = Dataset::classes(&x, &codes, &classes).unwrap().slice(0..40);
    let more = x.slice(ndarray::s![40.., ..]).to_owned();
    let more = Dataset::unlabeled(&more);

    for estimator in family() {
        let rounds = (1..30).map(|max_iterations| {
            let how = EmOptions { tolerance: 0.0, max_iterations, ..EmOptions::default() };
            likelihood(&estimator, &how, &labeled, &more)
        });
        let rounds: Vec<f64> = rounds.collect();

        let falls = rounds.windows(2).filter(|w| w[1] < w[0] - 1e-12 * w[0].abs()).count();
        assert_eq!(falls, 0, "{}: {rounds:?}", estimator.id());
        assert!(rounds[rounds.len() - 1] > rounds[0], "{}", estimator.id());
    }
}

#[test]
fn unlabeled_rows_improve_a_model_of_few_labels() {
    let classes = Classes::from_names(["a", "b"]);
    let (x, codes) = clusters(3000, 3);
    let few = Dataset::classes(&x, &codes, &classes).unwrap().slice(0..8);
    let more = x.slice(ndarray::s![8..1500, ..]).to_owned();
    let (test, truth) = (x.slice(ndarray::s![1500.., ..]).to_owned(), &codes[1500..]);
    let errors = |model: &dyn Classifier| {
        let found = model.predict(&Rows::from(&test)).unwrap();
        found.iter().zip(truth).filter(|(a, b)| a != b).count()
    };
    let estimator = Estimator::from(CategoricalNb::default());

    let alone = estimator.fit(&few, &Monitor::quiet()).unwrap();
    let how = EmOptions::default();
    let (both, _) =
        how.fit(&estimator, &few, &Dataset::unlabeled(&more), &Monitor::quiet()).unwrap();

    let alone = errors(alone.as_model().classifier().unwrap());
    let learned = errors(both.as_model().classifier().unwrap());
    assert!(2 * learned < alone, "{learned} errors with, {alone} without");
    assert_eq!(both.certificate.rows, 1500);
    assert!(both.certificate.iterations > 1);
    assert!(both.certificate.violation.unwrap().value <= how.tolerance);
}

#[test]
fn unlabeled_rows_of_weight_zero_have_no_influence_and_others_interpolate() {
    let classes = Classes::from_names(["a", "b"]);
    let (x, codes) = clusters(200, 5);
    let labeled = Dataset::classes(&x, &codes, &classes).unwrap().slice(0..50);
    let more = x.slice(ndarray::s![50.., ..]).to_owned();
    let more = Dataset::unlabeled(&more);
    let estimator = Estimator::from(MultinomialNb::default());
    let fit = |weight| {
        let how = EmOptions { weight, ..EmOptions::default() };
        how.fit(&estimator, &labeled, &more, &Monitor::quiet()).unwrap().0.model
    };

    let plain = estimator.fit(&labeled, &Monitor::quiet()).unwrap().model;

    assert_eq!(fit(0.0), plain);
    assert_ne!(fit(0.1), plain);
    assert_ne!(fit(0.1), fit(1.0));
}

#[test]
fn one_thread_and_eight_give_the_same_bits() {
    let classes = Classes::from_names(["a", "b"]);
    let (x, codes) = clusters(20_000, 9);
    let labeled = Dataset::classes(&x, &codes, &classes).unwrap().slice(0..200);
    let more = x.slice(ndarray::s![200.., ..]).to_owned();
    let how = EmOptions { max_iterations: 3, ..EmOptions::default() };
    let fit = |threads| {
        let more = Dataset::unlabeled(&more);
        let estimator = Estimator::from(GaussianNb::default());
        with_threads(threads, || how.fit(&estimator, &labeled, &more, &Monitor::quiet()).unwrap())
    };

    assert_eq!(fit(1), fit(8));
}

#[test]
fn a_stopped_fit_keeps_the_finished_iterations() {
    let classes = Classes::from_names(["a", "b"]);
    let (x, codes) = clusters(2000, 1);
    let labeled = Dataset::classes(&x, &codes, &classes).unwrap().slice(0..50);
    let more = Dataset::unlabeled(&x);
    let estimator = Estimator::from(GaussianNb::default());
    let how = EmOptions { tolerance: 0.0, max_iterations: 1_000_000, ..EmOptions::default() };
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    // Progress beyond the labeled rows shows that an EM iteration has finished.
    let cancel = Monitor::quiet().cancelled_by(flag).on_progress(move |p| {
        seen.store(p.total == Some(1_000_000) && p.done > 3, Ordering::Relaxed)
    });

    let (cancelled, _) = how.fit(&estimator, &labeled, &more, &cancel).unwrap();
    // More rows than the EM iterations can process in that time before they converge.
    let (many, _) = clusters(400_000, 1);
    let many = Dataset::unlabeled(&many);
    let limit = Monitor::quiet().time_limit(Duration::from_millis(200));
    let (late, _) = how.fit(&estimator, &labeled, &many, &limit).unwrap();

    assert_eq!(cancelled.certificate.stopped(), Some(Stop::Cancelled));
    assert_eq!(late.certificate.stopped(), Some(Stop::Deadline));
    assert!(cancelled.certificate.iterations >= 3);
}

#[test]
fn estimators_without_a_likelihood_and_invalid_options_are_refused() {
    let complement = Estimator::from(ComplementNb::default());
    let gaussian = Estimator::from(GaussianNb::default());
    let with = |weight, tolerance, max_iterations| EmOptions { weight, tolerance, max_iterations };

    assert!(matches!(EmOptions::default().check(&complement), Err(Error::Unable { .. })));
    for how in [with(-1.0, 0.0, 1), with(1.0, f64::NAN, 1), with(1.0, 0.0, 0)] {
        assert!(matches!(how.check(&gaussian), Err(Error::Parameter { .. })));
    }
}

/// A table of two columns with a missing class in most rows.
fn table(n: usize, labels: usize) -> (Table, Vec<u32>) {
    let (x, codes) = clusters(n, 11);
    let column =
        |j: usize| Column { name: format!("x{j}"), values: Values::Numeric(x.column(j).to_vec()) };
    let words = Arc::new(Levels::new(vec!["a".into(), "b".into()]));
    let shown: Vec<u32> = (0..n)
        .map(|i| if i % (n / labels) < 2 { codes[i] } else { mercer::data::MISSING })
        .collect();
    let target = Values::Categorical { codes: shown, levels: words };
    let mut columns: Vec<Column> = (0..6).map(column).collect();
    columns.push(Column { name: "y".into(), values: target });
    (Table::new(columns).unwrap(), codes)
}

#[test]
fn a_stream_equals_rows_in_memory_and_evaluates_labeled_rows_only() {
    let (table, _) = table(600, 30);
    let classes = Classes::from_names(["a", "b"]);
    let names = (0..6).map(|j| format!("x{j}"));
    let features = Features { target: Some("y".into()), ..Features::plain(names) };
    let training = |n_folds| Training {
        estimator: MixedNb::default().into(),
        features: features.clone(),
        task: Task::Classification(&classes),
        n_rows: Some(600),
        n_folds,
        seed: 0,
        recipe: mercer::preprocess::Recipe::default(),
    };
    let how = EmOptions { max_iterations: 4, ..EmOptions::default() };

    let outcome =
        train_semi_supervised(training(5), &how, &table, None, &Monitor::quiet()).unwrap();

    let metrics = outcome.evaluation.unwrap().report();
    assert_eq!(metrics.classes.iter().map(|c| c.support).sum::<u64>(), 60);
    assert!(metrics.accuracy.value > 0.8, "{}", metrics.accuracy.value);
    assert_eq!(outcome.trained.fitted.certificate.rows, 600);

    // The same rows once more from a second stream: all of them count.
    let more = Some(&table);
    let outcome =
        train_semi_supervised(training(0), &how, &table, more, &Monitor::quiet()).unwrap();
    assert_eq!(outcome.trained.fitted.certificate.rows, 1200);
    let bytes = outcome.trained.to_bytes().unwrap();
    assert_eq!(mercer::train::Trained::from_bytes(&bytes).unwrap(), outcome.trained);
}
