//! What holds of every estimator in the catalog, by what its card says it can and takes. The next
//! estimator is covered by its line in the catalog.

mod answers;
mod bits;
mod going_on;
mod monitor;
mod parameters;
mod refusals;
mod same_rows;

use crate::cases::*;
use mercer::catalog::{AnyModel, CATALOG, Capability, Card, Input, Learns};
use mercer::data::Schema;
use mercer::data::Stream;
use mercer::prelude::*;
use mercer::train::{Task, Training};
use proptest::test_runner::Config;
use std::ops::ControlFlow;

/// Summation in another order may move a number this much.
const ROUNDING: f64 = 1e-12;
/// The same through longer ways: forgetting, another storage, another order of columns.
const LONG_WAY: f64 = 1e-9;

fn few() -> Config {
    same_cases(64)
}

fn those_that_can(what: Capability) -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(move |card| card.can(what))
}

fn those_that_take(what: Input) -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(move |card| card.accepts(what))
}

/// Those that keep a summary.
fn mergeable() -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(|card| card.learns == Learns::Statistics)
}

/// Whether the model is looked for, step by step, once the rows are summed up.
fn searches(card: &Card) -> bool {
    estimator(card).no_rows().is_some_and(|stats| stats.holds_rows())
}

/// Those to whom the order of the rows, and a row twice instead of one of twice the weight, is the same.
fn orderless() -> impl Iterator<Item = &'static Card> {
    CATALOG.iter().filter(|card| !card.can(Capability::OrderDependent))
}

/// Densities over real numbers: a change of units multiplies all of them alike.
fn real_densities() -> impl Iterator<Item = &'static Card> {
    those_that_can(Capability::Generative)
        .filter(|card| cells(card) == Cells::Real && !card.accepts(Input::Binary))
}

/// Whether the factor of a column depends on another column.
fn leaning(model: &AnyModel) -> bool {
    let factored = model.as_model().factorized_likelihood();
    let given = factored.is_some_and(|m| (0..m.n_columns()).any(|j| m.given(j).is_some()));
    given || model.fields().get("parents").is_some()
}

/// Forty rows of three classes.
fn ordinary() -> Shape {
    Shape { n_rows: 40, n_columns: 4, n_classes: 3, gaps: false, weighted: false, seed: 11 }
}

/// A table that comes in waves of several batches, as files do.
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
    }
}
