//! Laws: properties of every estimator in the catalog, selected by the capabilities on its card. A new estimator is
//! covered by its line in the catalog.
//!
//! A law counts the cases it has checked and asserts the number, so that it never skips silently.

mod deadlines;
mod densities;
mod errors;
mod explanations;
mod incremental;
mod invariance;
mod monitor;
mod parameters;
mod predictions;
mod reproducibility;

use crate::cases::*;
use mercer::catalog::{AnyModel, CATALOG, Capability, Card, Input, Learns};
use mercer::data::Schema;
use mercer::data::Stream;
use mercer::prelude::*;
use mercer::train::{Task, Training};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};
use std::cell::Cell;
use std::ops::ControlFlow;

/// The relative difference allowed for sums in another order.
const ROUNDING: f64 = 1e-12;
/// The relative difference allowed for longer computations: forgetting, another storage, another column order.
const LONG_WAY: f64 = 1e-9;

/// The number of shapes that a law is checked on.
const SHAPES: u32 = 64;

/// Counts the cases that a law has checked.
#[derive(Default)]
struct Cases(Cell<usize>);

impl Cases {
    /// Counts one case.
    fn checked(&self) {
        self.0.set(self.0.get() + 1);
    }

    /// Fails if fewer cases were checked.
    #[track_caller]
    fn at_least(&self, expected: usize) {
        let found = self.0.get();
        assert!(found >= expected, "checked {found} cases, expected at least {expected}");
    }
}

/// Checks a law on random values of a strategy, and that it counts at least so many cases. The number holds for the
/// fixed seed; `PROPTEST_RNG_SEED` draws other values, of which none may be counted.
#[track_caller]
fn law<S: Strategy>(
    n_cases: usize,
    strategy: S,
    check: impl Fn(S::Value, &Cases) -> TestCaseResult,
) {
    let cases = Cases::default();
    let mut runner = TestRunner::new(same_cases(SHAPES));
    if let Err(failed) = runner.run(&strategy, |value| check(value, &cases)) {
        panic!("{failed}\n{runner}");
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        cases.at_least(n_cases);
    }
}

/// Fails unless two fits were refused for the same reason: row and column of the error may differ.
#[track_caller]
fn assert_same_refusal<T, U>(a: &Result<T>, b: &Result<U>) {
    let kind = |error: &Error| std::mem::discriminant(error);
    let (a, b) = (a.as_ref().err(), b.as_ref().err());
    assert_eq!(a.map(kind), b.map(kind), "{a:?} and {b:?}");
}

fn those_that_can(what: Capability) -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(move |card| card.can(what))
}

fn those_that_take(what: Input) -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(move |card| card.accepts(what))
}

/// Estimators with mergeable statistics.
fn mergeable() -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(|card| card.learns == Learns::Statistics)
}

/// Whether `finish` iterates over stored rows.
fn iterates(card: &Card) -> bool {
    estimator(card).no_rows().is_some_and(|stats| stats.holds_rows())
}

/// Estimators that do not depend on the order of the rows.
fn order_invariant() -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(|card| !card.can(Capability::OrderDependent))
}

/// Generative models with densities over real numbers: a change of units multiplies all densities by a constant.
fn real_densities() -> impl Iterator<Item = &'static Card> {
    those_that_can(Capability::Generative)
        .filter(|card| cells(card) == Cells::Real && !card.accepts(Input::Binary))
}

/// Whether the likelihood of a column depends on another column.
fn has_parents(model: &AnyModel) -> bool {
    let factored = model.as_model().factorized_likelihood();
    let given = factored.is_some_and(|m| (0..m.n_columns()).any(|j| m.given(j).is_some()));
    given || model.fields().get("parents").is_some()
}

/// Forty rows of three classes.
fn small() -> Shape {
    Shape { n_rows: 40, n_columns: 4, n_classes: 3, with_missing: false, weighted: false, seed: 11 }
}

/// A table that is streamed in waves of several batches, as files are.
struct Waves<'a>(&'a Table, usize);

impl Stream for Waves<'_> {
    type Error = Error;

    fn stream(
        &self,
        schema: &Schema,
        chunk: usize,
        take: &mut dyn FnMut(Vec<Table>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut rest = self.0.select(schema)?;
        while rest.n_rows() > 0 {
            let mut wave = Vec::new();
            while rest.n_rows() > 0 && wave.len() < self.1 {
                wave.push(rest.take_front(chunk.min(rest.n_rows())));
            }
            if take(wave)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn training<'a>(card: &Card, case: &'a Case, n_folds: usize) -> Training<'a> {
    Training {
        estimator: estimator(card),
        features: case.features(),
        task: match card.can(Capability::Regressor) {
            true => Task::Regression,
            false => Task::Classification(&case.classes),
        },
        n_rows: Some(case.x.nrows() as u64),
        n_folds,
        seed: 3,
        recipe: mercer::preprocess::Recipe::default(),
    }
}
