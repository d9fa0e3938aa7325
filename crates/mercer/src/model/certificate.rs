//! The proof that comes with a fit: how it ended and how far from the best it can be.

use crate::model::{Plan, Stop};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;

/// A model and the proof of its fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fitted<M> {
    /// What was learned.
    pub model: M,
    /// How well it solves the problem.
    pub certificate: Certificate,
}

impl<M> Deref for Fitted<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.model
    }
}

impl<M> Fitted<M> {
    /// The same certificate around another form of the model.
    pub fn map<N>(self, f: impl FnOnce(M) -> N) -> Fitted<N> {
        Fitted { model: f(self.model), certificate: self.certificate }
    }
}

/// How a fit ended.
///
/// Two fits of the same rows have equal certificates and equal bytes in a file; the time they took
/// is told but not kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// What was measured about the solution.
    pub proof: Proof,
    /// Rows learned from.
    pub rows: u64,
    /// Passes over the rows.
    pub rounds: u64,
    /// Set when the fit was cut short; the model is what was learned until then.
    pub stopped: Option<Stop>,
    /// Wall time; zero in a loaded model.
    #[serde(skip)]
    pub seconds: f64,
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        (&self.proof, self.rows, self.rounds, self.stopped)
            == (&other.proof, other.rows, other.rounds, other.stopped)
    }
}

/// What was measured about a solution, in double precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// How the solution was found.
    pub method: Method,
    /// What was made large or small, and its value.
    pub objective: Option<(String, f64)>,
    /// A bound on the objective from the other side.
    pub bound: Option<f64>,
    /// What is zero at the optimum, and how large it is.
    pub violation: Option<(String, f64)>,
    /// How much the solution magnifies rounding: about this many units in the last place.
    #[serde(default)]
    pub condition: Option<f64>,
    /// Which of several ways was taken, and what was measured to choose it.
    #[serde(default)]
    pub how: Option<String>,
    /// What was said before the fit began, by those that plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
}

/// How a solution was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A formula in sums over the rows: exact up to rounding.
    ClosedForm,
    /// Drawn at random, from a seed.
    Sampled,
    /// Steps until the measured violation or gap was below the tolerance.
    Iterative,
}

impl Proof {
    /// A solution by formula.
    pub fn closed_form() -> Proof {
        Proof {
            method: Method::ClosedForm,
            objective: None,
            bound: None,
            violation: None,
            condition: None,
            how: None,
            plan: None,
        }
    }

    /// The distance between objective and bound.
    pub fn gap(&self) -> Option<f64> {
        Some((self.objective.as_ref()?.1 - self.bound?).abs())
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.proof.method {
            Method::ClosedForm => write!(f, "closed form, exact to rounding (f64)")?,
            Method::Sampled => write!(f, "drawn at random, the same for a seed (f64)")?,
            Method::Iterative => write!(f, "iterative (f64)")?,
        }
        let passes = if self.rounds == 1 { "pass" } else { "passes" };
        write!(f, "; {} rows in {} {passes}", self.rows, self.rounds)?;
        if let Some(how) = &self.proof.how {
            write!(f, "; {how}")?;
        }
        if let Some((name, value)) = &self.proof.objective {
            if value.fract() == 0.0 && value.abs() < 1e9 {
                // A count, or as good as one.
                write!(f, "; {name} {value:.0}")?;
            } else if (1e-3..1e9).contains(&value.abs()) {
                write!(f, "; {name} {value:.6}")?;
            } else {
                write!(f, "; {name} {value:.6e}")?;
            }
        }
        if let Some(gap) = self.proof.gap() {
            write!(f, "; gap {gap:.2e}")?;
        }
        if let Some((name, value)) = &self.proof.violation {
            write!(f, "; {name} {value:.2e}")?;
        }
        if let Some(condition) = self.proof.condition {
            write!(f, "; condition {condition:.1e}")?;
        }
        match self.stopped {
            Some(Stop::Deadline) => write!(f, "; CUT SHORT by the time limit"),
            Some(Stop::Cancelled) => write!(f, "; CUT SHORT on request"),
            None => Ok(()),
        }
    }
}
