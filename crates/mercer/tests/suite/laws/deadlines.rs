//! Deadlines and cancellation, counted in polls of the monitor: no estimator goes on for long after it was told to stop,
//! and what it returns is marked.

use super::Cases;
use crate::cases::*;
use mercer::catalog::{CATALOG, Capability, Card, Learns};
use mercer::prelude::*;

/// Polls after the one that stopped a fit: those of blocks that other threads had begun, of stages that end the fit in
/// order, and of a smaller fit that stands for the one that was stopped.
const MAX_LATE_POLLS: i64 = 40;
/// An iterative fit of this size polls at least so often: a deadline during it is met before its end. One pass over
/// the rows takes milliseconds here; its polls are those of groups of chunks.
const MIN_POLLS: i64 = 4;

/// A problem on which every estimator works for a while.
fn large(card: &Card) -> Shape {
    match card.learns {
        Learns::Statistics => many_chunks(card, 40, 3),
        _ => Shape {
            n_rows: 1500,
            n_columns: 6,
            n_classes: 5,
            with_missing: false,
            weighted: false,
            seed: 8,
        },
    }
}

#[test]
fn every_estimator_returns_soon_after_its_deadline() {
    let (cases, cut) = (Cases::default(), Cases::default());
    let mut failures = Vec::new();
    for card in CATALOG {
        let case = Case::new(card, large(card));
        let data = case.data(card);
        let never = Monitor::quiet().cancelled_after(u32::MAX.into());
        let estimator = mercer::catalog::Estimator::from_id(card.id).unwrap();
        let whole = estimator.fit(&data, &never).unwrap();
        let total = i64::from(u32::MAX) - never.polls_left();
        assert_eq!(whole.certificate.stopped(), None, "{}", card.id);
        let one_pass = card.learns == Learns::Statistics || card.can(Capability::Transformer);
        if total < if one_pass { 1 } else { MIN_POLLS } {
            failures.push(format!("{} polls its monitor {total} times only", card.id));
        }
        for part in [1, 3, 5, 7, 9] {
            let polls = total * part / 10;
            let monitor = Monitor::quiet().cancelled_after(polls as u64);

            let outcome = estimator.fit(&data, &monitor);

            let late = -monitor.polls_left();
            let name = format!("{} cancelled at poll {polls} of {total}", card.id);
            if late > MAX_LATE_POLLS {
                failures.push(format!("{name}: {late} polls after it"));
            }
            match outcome {
                Err(Error::Stopped) => cut.checked(),
                Err(error) => failures.push(format!("{name}: {error}")),
                Ok(fitted) => {
                    let status = fitted.certificate.status;
                    let marked = fitted.certificate.stopped().is_some();
                    // The last poll may come after the last work.
                    if late > 1 && !marked {
                        failures.push(format!("{name}: stopped but {status}"));
                    }
                    if marked {
                        let text = fitted.certificate.to_string();
                        if status.is_converged() || !text.contains("NOT CONVERGED") {
                            failures.push(format!("{name}: {text}"));
                        }
                        cut.checked();
                    }
                    if !card.can(Capability::Transformer) || card.can(Capability::Classifier) {
                        let predictions = predictions_of(&fitted.model, &data);
                        if predictions.iter().any(|v| v.is_nan()) {
                            failures.push(format!("{name}: NaN among the predictions"));
                        }
                    }
                }
            }
            cases.checked();
        }
    }
    println!("promise 5: {} fits cancelled, {} failures", cut.0.get(), failures.len());
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(cases.0.get(), 5 * CATALOG.len());
    cut.at_least(3 * CATALOG.len());
}

/// Predictions of the first rows.
fn predictions_of(model: &mercer::catalog::AnyModel, data: &Dataset<'_>) -> Matrix {
    predictions(model, data.rows().slice(0..20))
}
