//! Estimators by rounds: one mergeable summary of the rows per iteration.
//!
//! A fit is a state machine. Every round sums something over the rows at the current state ([`Rounds::observe`]); the
//! sums of parts of the rows are added in the fixed tree of [`gather`]; the total moves the state ([`Rounds::step`]).
//! Rows are never held, so the same fit runs on threads, on files larger than memory and on a cluster.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{Fit, Fitted, Gathered, Monitor, Shape, Statistics, Stop, gather};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The sums of one round over the rows; the current state defines their meaning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundSums {
    /// The sums; empty before the first rows.
    pub sums: Vec<f64>,
}

impl RoundSums {
    /// The sums, extended with zeros to at least `n`.
    pub fn at_least(&mut self, n: usize) -> &mut [f64] {
        if self.sums.len() < n {
            self.sums.resize(n, 0.0);
        }
        &mut self.sums[..n]
    }
}

impl Statistics for RoundSums {
    fn merge(&mut self, other: &Self) -> Result<()> {
        let sums = self.at_least(other.sums.len());
        sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum += other);
        Ok(())
    }

    fn forget(&mut self, _: &Self) -> Result<()> {
        Err(Error::Forget { why: "the sums of a round belong to one state of the fit".into() })
    }

    fn check(&self) -> Result<()> {
        match self.sums.iter().all(|sum| sum.is_finite()) {
            true => Ok(()),
            false => Err(Error::File("sums of a round that are not finite".into())),
        }
    }
}

/// What the sums of a round depend on besides the rows and the parameters: all that a process needs to observe its part
/// of the rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundPoint {
    /// The weights to evaluate.
    pub weights: Vec<f64>,
    /// The direction to multiply the Hessian with, or `None` to evaluate the loss and its derivatives.
    pub direction: Option<Vec<f64>>,
    /// The classes that have rows.
    pub present: Vec<u32>,
    /// The weight of each class in the loss.
    pub factors: Vec<f64>,
}

/// What the squared penalty of a fit by rounds is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundPenalty {
    /// The weights of the columns.
    #[default]
    Columns,
    /// The weights of the columns divided by their standard deviation, as in Spark's MLlib.
    StandardizedColumns,
    /// Nothing.
    None,
}

/// How far a fit by rounds has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundProgress {
    /// Accepted Newton steps.
    pub iterations: u64,
    /// The objective at the current point.
    pub objective: f64,
    /// The duality gap there; `None` without a penalty.
    pub duality_gap: Option<f64>,
    /// The largest entry of the gradient there.
    pub violation: f64,
}

/// An estimator that can also be fitted by rounds. [`Fit::fit`] finds the same optimum with the rows in memory.
pub trait ByRounds: Fit {
    /// Starts a fit by rounds.
    ///
    /// # Errors
    /// If parameters are invalid, or specify a problem that cannot be fitted by rounds.
    fn by_rounds(&self, shape: &Shape<'_>) -> Result<BoxedRounds<Self::Model>>;
}

/// The state of a fit by rounds.
pub trait Rounds: Send + Sync {
    /// The fitted model.
    type Model;

    /// Adds rows to the sums of this round.
    ///
    /// # Errors
    /// If the rows are invalid.
    fn observe(&self, sums: &mut RoundSums, batch: &Dataset<'_>) -> Result<()>;

    /// Updates the state with the sums of all rows; returns whether another round follows.
    ///
    /// # Errors
    /// If no model can be fitted to the rows.
    fn step(&mut self, sums: &RoundSums, rows: u64) -> Result<bool>;

    /// The point of the next round; `None` before the first, whose sums depend on the parameters only.
    fn point(&self) -> Option<RoundPoint>;

    /// Moves a new fit to a point of another process, to observe rows there.
    ///
    /// # Errors
    /// If the point is of another problem.
    fn move_to(&mut self, point: &RoundPoint) -> Result<()>;

    /// Changes what the penalty is on; called before the first round.
    fn set_penalty(&mut self, penalty: RoundPenalty);

    /// The current objective and duality gap; `None` before the first evaluation.
    fn progress(&self) -> Option<RoundProgress>;

    /// The model of the current state.
    ///
    /// # Errors
    /// If no round has been completed.
    fn finish(self: Box<Self>, stopped: Option<Stop>) -> Result<Fitted<Self::Model>>;
}

/// A fit by rounds, of any estimator.
pub type BoxedRounds<M> = Box<dyn Rounds<Model = M>>;

/// Runs the rounds of a fit over rows in memory.
///
/// # Errors
/// If the rows are invalid, or the monitor stopped the fit before a model existed.
pub fn fit_by_rounds<M>(
    mut rounds: BoxedRounds<M>,
    data: &Dataset<'_>,
    monitor: &Monitor<'_>,
) -> Result<Fitted<M>> {
    let start = Instant::now();
    let silent = monitor.silent();
    let mut n_rounds = 0;
    let stopped = loop {
        let observe = |sums: &mut RoundSums, batch: &Dataset<'_>| rounds.observe(sums, batch);
        let stopped = match gather(data, &silent, observe) {
            Ok(Gathered { stopped: Some(why), .. }) => Some(why),
            Ok(Gathered { stats, rows, stopped: None }) => match rounds.step(&stats, rows)? {
                true => None,
                false => break None,
            },
            Err(Error::Stopped) => Some(monitor.stop().unwrap_or(Stop::Cancelled)),
            Err(error) => return Err(error),
        };
        if stopped.is_some() {
            break stopped;
        }
        n_rounds += 1;
        monitor.report(n_rounds, None);
    };
    let mut fitted = rounds.finish(stopped)?;
    fitted.certificate = fitted.certificate.since(start);
    Ok(fitted)
}
