//! A fit obeys its monitor and reports its progress correctly.

use super::{Cases, Waves, iterates, mergeable, small, training};
use crate::cases::*;
use mercer::catalog::{AnyModel, CATALOG, Capability, Card, Learns};
use mercer::model::{Progress, Status, Stop};
use mercer::prelude::*;
use mercer::train::{Trained, train};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn a_fit_stopped_before_the_first_row_is_an_error() {
    for card in CATALOG {
        let case = Case::new(card, small());
        let cancelled = Monitor::quiet().cancelled_by(Arc::new(AtomicBool::new(true)));
        let late = Monitor::quiet().time_limit(Duration::ZERO);
        for (monitor, why) in [(cancelled, Stop::Cancelled), (late, Stop::Deadline)] {
            match estimator(card).fit(&case.data(card), &monitor) {
                Err(error) => assert_eq!(error, Error::Stopped, "{}", card.id),
                Ok(fitted) => assert_eq!(fitted.certificate.stopped(), Some(why), "{}", card.id),
            }
            if card.learns == Learns::Statistics {
                let outcome = train(training(card, &case, 3), &case.table(card), &monitor);
                assert_eq!(outcome.err(), Some(Error::Stopped), "{}", card.id);
            }
        }
    }
}

#[test]
fn a_fit_cancelled_midway_returns_its_state_and_is_marked() {
    let cases = Cases::default();
    for card in mergeable() {
        // More chunks than between two checks for a stop.
        let case = Case::new(card, many_chunks(card, 40, 3));
        let data = case.data(card);
        let flag = Arc::new(AtomicBool::new(false));
        let raise = |at: Progress| flag.store(at.done > 0, Ordering::Relaxed);
        let monitor = Monitor::quiet().on_progress(raise).cancelled_by(Arc::clone(&flag));

        let fitted = estimator(card).fit(&data, &monitor).unwrap();

        let rows = fitted.certificate.rows as usize;
        assert_eq!(fitted.certificate.stopped(), Some(Stop::Cancelled), "{}", card.id);
        assert!(0 < rows && rows < data.n_rows());
        assert!(fitted.certificate.to_string().contains("NOT CONVERGED"));
        // A structure search has no time either.
        let same = fitted.model == fit_data(card, &data.slice(0..rows)).unwrap().model;
        assert!(same || iterates(card), "{}", card.id);
        cases.checked();
    }
    cases.at_least(13);
}

#[test]
fn training_cancelled_midway_returns_its_state_and_is_marked() {
    let cases = Cases::default();
    for card in mergeable() {
        let case = Case::new(card, many_chunks(card, 6, 3));
        let flag = Arc::new(AtomicBool::new(false));
        let raise = |at: Progress| flag.store(at.done >= 2 * chunk(card) as u64, Ordering::Relaxed);
        let monitor = Monitor::quiet().on_progress(raise).cancelled_by(Arc::clone(&flag));

        let outcome = train(training(card, &case, 3), &case.table(card), &monitor).unwrap();

        let certificate = &outcome.trained.fitted.certificate;
        assert_eq!(certificate.stopped(), Some(Stop::Cancelled));
        assert_eq!(certificate.rows, 2 * chunk(card) as u64);
        assert!(outcome.evaluation.is_none() && outcome.regression.is_none());
        let loaded = Trained::from_bytes(&outcome.trained.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.fitted.certificate.stopped(), Some(Stop::Cancelled));
        cases.checked();
    }
    cases.at_least(13);
}

#[test]
fn a_fit_cancelled_after_any_number_of_polls_is_marked_or_refused() {
    let cases = Cases::default();
    let stopped = Cases::default();
    for card in CATALOG {
        let shape = Shape { n_rows: 300, n_columns: 6, n_classes: 12, ..small() };
        let case = Case::new(card, shape);
        let data = case.data(card);
        for polls in [0, 1, 2, 3, 5, 8, 13, 21, 55, 144] {
            let monitor = Monitor::quiet().cancelled_after(polls);

            match estimator(card).fit(&data, &monitor) {
                Err(error) => assert_eq!(error, Error::Stopped, "{} after {polls}", card.id),
                Ok(fitted) => {
                    let status = fitted.certificate.status;
                    // A fit that ended before its next poll is complete.
                    let cut = fitted.certificate.stopped().is_some();
                    assert!(!cut || !status.is_converged(), "{} after {polls}", card.id);
                    if cut {
                        assert_usable(&fitted.model, &data, card, polls);
                        stopped.checked();
                    }
                }
            }
            // The next poll is the first that stops the fit: all monitors of its parts share the count.
            cases.checked();
        }
    }
    assert_eq!(cases.0.get(), 10 * CATALOG.len());
    stopped.at_least(60);
}

/// Fails unless a model that was cut short predicts, and has the same predictions after it is saved and loaded.
fn assert_usable(model: &AnyModel, data: &Dataset<'_>, card: &Card, polls: u64) {
    let any = model.as_model();
    let name = format!("{} after {polls} polls", card.id);
    if let Some(classifier) = any.classifier() {
        let classes = classifier.predict(data.rows()).unwrap();
        assert_eq!(classes.len(), data.n_rows(), "{name}");
        assert!(classes.iter().all(|c| (*c as usize) < classifier.classes().len()), "{name}");
    }
    if let Some(regressor) = any.regressor() {
        assert!(regressor.predict(data.rows()).unwrap().iter().all(|y| y.is_finite()), "{name}");
    }
}

#[test]
fn a_part_cut_short_marks_the_whole() {
    let cases = Cases::default();
    for card in mergeable() {
        let case = Case::new(card, small());
        let part = |range| trained(card, &case.data(card).slice(range)).unwrap();
        let (whole, mut cut) = (part(0..20), part(20..40));
        cut.fitted.certificate.status = Status::TimeLimit;
        let added = cut.stats.clone().unwrap();

        let merged = [whole.merge(&cut).unwrap(), cut.merge(&whole).unwrap()];

        for merged in merged {
            assert_eq!(merged.fitted.certificate.stopped(), Some(Stop::Deadline), "{}", card.id);
            let left = merged.forget(&added, 20).unwrap();
            assert_eq!(left.fitted.certificate.stopped(), Some(Stop::Deadline), "{}", card.id);
        }
        assert_eq!(whole.merge(&whole).unwrap().fitted.certificate.stopped(), None);
        cases.checked();
    }
    cases.at_least(13);
}

#[test]
fn progress_rises_to_its_total() {
    for card in CATALOG {
        let case = Case::new(card, many_chunks(card, 40, 3));
        let seen = Mutex::new(Vec::new());
        let monitor = Monitor::quiet().on_progress(|at| seen.lock().unwrap().push(at));

        estimator(card).fit(&case.data(card), &monitor).unwrap();

        let seen = seen.lock().unwrap();
        let last = seen.last().unwrap();
        assert_eq!(Some(last.done), last.total, "{}", card.id);
        if iterates(card) {
            // Rows, then steps.
            assert!(seen.iter().all(|at| at.total.is_some_and(|total| at.done <= total)));
            continue;
        }
        assert!(seen.iter().all(|at| at.done <= last.done));
        if card.learns == Learns::Statistics {
            assert!(seen.is_sorted_by_key(|at| at.done));
            assert_eq!(last.done, case.x.nrows() as u64);
        }
    }
}

#[test]
fn the_progress_of_training_rises_to_its_total() {
    let cases = Cases::default();
    for card in mergeable() {
        let case = Case::new(card, many_chunks(card, 6, 3));
        for (n_folds, passes) in [(0, 1), (3, 2)] {
            let seen = Mutex::new(Vec::new());
            let monitor = Monitor::quiet().on_progress(|at| seen.lock().unwrap().push(at));

            train(training(card, &case, n_folds), &Waves(&case.table(card), 2), &monitor).unwrap();

            let seen = seen.lock().unwrap();
            let total = passes * case.x.nrows() as u64;
            let of_rows = |at: &&Progress| !iterates(card) || at.total == Some(total);
            let seen: Vec<&Progress> = seen.iter().filter(of_rows).collect();
            assert!(seen.is_sorted_by_key(|at| at.done));
            assert!(seen.iter().all(|at| at.total == Some(total)));
            assert_eq!(seen.last().unwrap().done, total);
        }
        cases.checked();
    }
    cases.at_least(13);
}

#[test]
fn training_obeys_a_memory_budget() {
    let cases = Cases::default();
    for card in mergeable() {
        let case = Case::new(card, small());
        let run = |bytes| {
            let monitor = Monitor::quiet().memory_limit(bytes);
            train(training(card, &case, 3), &case.table(card), &monitor)
        };

        assert!(run(1 << 20).is_ok());
        assert!(matches!(run(100).err(), Some(Error::Memory { budget: 100, .. })), "{}", card.id);
        cases.checked();
    }
    cases.at_least(13);
}

#[test]
fn a_plan_is_reported_once_and_stored_in_the_certificate() {
    for card in CATALOG {
        let case = Case::new(card, small());
        let plans = Mutex::new(Vec::new());
        let monitor = Monitor::quiet().on_plan(|plan| plans.lock().unwrap().push(plan.clone()));

        let fitted = estimator(card).fit(&case.data(card), &monitor).unwrap();

        let output = plans.lock().unwrap().clone();
        assert_eq!(output.len(), usize::from(card.can(Capability::MemoryPlan)), "{}", card.id);
        assert_eq!(output.first(), fitted.certificate.plan.as_ref(), "{}", card.id);
        assert!(
            output.iter().all(|plan| !plan.strategy.is_empty() && plan.bytes > 0),
            "{}",
            card.id
        );
    }
}
