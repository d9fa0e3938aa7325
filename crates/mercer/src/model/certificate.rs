//! The certificate of a fit: how it ended, and how far from the optimum it can be.
//!
//! A convex problem is certified by its duality gap `P(w) − D(α) ≥ P(w) − P*`, the distance between the primal
//! objective of the model and the dual objective of any feasible point (Boyd & Vandenberghe 2004, section 5.5.1), or
//! by the largest violation of the Karush-Kuhn-Tucker conditions. All values are measured on the returned model, in
//! double precision.

use crate::model::{Plan, Stop};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;
use std::time::Instant;

/// A model and the certificate of its fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fitted<M> {
    /// The fitted model.
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

/// How a fit ended and what was measured about its solution.
///
/// Two fits of the same rows have equal certificates and equal bytes in a file; the wall time is reported but neither
/// compared nor saved.
///
/// ```
/// use mercer::model::Certificate;
///
/// let certificate = Certificate::iterative(true, None)
///     .objective("primal objective", 1.25)
///     .dual(1.0)
///     .violation("largest KKT violation", 1e-4)
///     .rows(150)
///     .iterations(12);
///
/// assert_eq!(certificate.duality_gap(), Some(0.25));
/// assert_eq!(
///     certificate.to_string(),
///     "converged: duality gap 2.50e-1 (relative 2.0e-1), primal objective 1.250000, \
///      largest KKT violation 1.00e-4, 12 iterations, 150 rows"
/// );
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// How the fit ended.
    pub status: Status,
    /// The objective of the returned model: the primal objective where a dual one is known.
    pub objective: Option<Measured>,
    /// The dual objective, a bound on the optimum from the other side.
    pub dual: Option<f64>,
    /// A quantity that is zero at the optimum, such as the largest KKT violation or gradient entry.
    pub violation: Option<Measured>,
    /// The condition number of the system that was solved: about how many units in the last place rounding may cost.
    pub condition: Option<f64>,
    /// Iterations of the solver; passes over the rows for estimators by statistics.
    pub iterations: u64,
    /// The number of training rows.
    pub rows: u64,
    /// Which solver was chosen and why, counts of its work, and anything a reader should know.
    pub notes: Vec<String>,
    /// The plan that was reported before the fit, for estimators that make one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// Wall time in seconds; zero in a loaded model.
    #[serde(skip)]
    pub seconds: f64,
}

/// A named value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The name of the quantity.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// How a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A formula over sufficient statistics: exact up to rounding.
    ClosedForm,
    /// Drawn at random from a seed; no optimization problem was solved.
    Sampled,
    /// The measured violation or duality gap is within the tolerance.
    Converged,
    /// The stopping rule of a stochastic method was met: the requested epochs, or no further improvement of the loss.
    /// It says nothing about the distance to the optimum.
    StoppingRule,
    /// The problem is not convex, and the measured violation is within the tolerance: a stationary point, which need not
    /// be an optimum.
    Stationary,
    /// The iteration limit was reached, or rounding allowed no further progress.
    IterationLimit,
    /// The time limit was reached; the model is the best so far.
    TimeLimit,
    /// The fit was interrupted; the model is the best so far.
    Interrupted,
}

impl Status {
    /// Whether the solution is what the method promises.
    pub fn is_converged(self) -> bool {
        match self {
            Status::ClosedForm | Status::Sampled | Status::Converged | Status::StoppingRule => true,
            Status::Stationary
            | Status::IterationLimit
            | Status::TimeLimit
            | Status::Interrupted => false,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::ClosedForm => "closed form, exact up to rounding",
            Status::Sampled => "random features, reproducible from the seed",
            Status::Converged => "converged",
            Status::StoppingRule => "stopping rule met",
            Status::Stationary => "stationary point of a non-convex problem, NOT CERTIFIED",
            Status::IterationLimit => "NOT CONVERGED, iteration or rounding limit reached",
            Status::TimeLimit => "NOT CONVERGED, time limit reached",
            Status::Interrupted => "NOT CONVERGED, interrupted",
        })
    }
}

impl Certificate {
    fn new(status: Status) -> Certificate {
        Certificate {
            status,
            objective: None,
            dual: None,
            violation: None,
            condition: None,
            iterations: 0,
            rows: 0,
            notes: Vec::new(),
            plan: None,
            seconds: 0.0,
        }
    }

    /// Of a formula over sufficient statistics, which takes one pass over the rows.
    pub fn closed_form() -> Certificate {
        Certificate::new(Status::ClosedForm).iterations(1)
    }

    /// Of random features, which solve no optimization problem.
    pub fn sampled() -> Certificate {
        Certificate::new(Status::Sampled)
    }

    /// Of an iterative solver that reached its tolerance, its limit, or a stop.
    pub fn iterative(converged: bool, stopped: Option<Stop>) -> Certificate {
        let status = if converged { Status::Converged } else { Status::IterationLimit };
        Certificate::new(status).stopped_by(stopped)
    }

    /// Of a stochastic method that met its stopping rule, reached its limit of epochs, or was stopped.
    pub fn stochastic(rule_met: bool, stopped: Option<Stop>) -> Certificate {
        let status = if rule_met { Status::StoppingRule } else { Status::IterationLimit };
        Certificate::new(status).stopped_by(stopped)
    }

    /// Of an iterative solver of a problem that is not convex.
    pub fn stationary(within_tolerance: bool, stopped: Option<Stop>) -> Certificate {
        let status = if within_tolerance { Status::Stationary } else { Status::IterationLimit };
        Certificate::new(status).stopped_by(stopped)
    }

    /// Sets the objective of the returned model.
    pub fn objective(self, name: &str, value: f64) -> Certificate {
        Certificate { objective: Some(Measured { name: name.to_owned(), value }), ..self }
    }

    /// Sets the dual objective, if there is one.
    pub fn dual(self, dual: impl Into<Option<f64>>) -> Certificate {
        Certificate { dual: dual.into(), ..self }
    }

    /// Sets the quantity that is zero at the optimum.
    pub fn violation(self, name: &str, value: f64) -> Certificate {
        Certificate { violation: Some(Measured { name: name.to_owned(), value }), ..self }
    }

    /// Sets the condition number.
    pub fn condition(self, condition: f64) -> Certificate {
        Certificate { condition: Some(condition), ..self }
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Certificate {
        self.notes.push(note.into());
        self
    }

    /// Adds a note before the others.
    pub fn note_first(mut self, note: impl Into<String>) -> Certificate {
        self.notes.insert(0, note.into());
        self
    }

    /// Sets the plan that was reported before the fit.
    pub fn plan(self, plan: Option<Plan>) -> Certificate {
        Certificate { plan, ..self }
    }

    /// Sets the number of training rows.
    pub fn rows(self, rows: u64) -> Certificate {
        Certificate { rows, ..self }
    }

    /// Sets the number of iterations.
    pub fn iterations(self, iterations: u64) -> Certificate {
        Certificate { iterations, ..self }
    }

    /// Sets the wall time to the time since `start`.
    pub fn since(self, start: Instant) -> Certificate {
        Certificate { seconds: start.elapsed().as_secs_f64(), ..self }
    }

    /// Marks the fit as cut short, if it was.
    pub fn stopped_by(self, stopped: Option<Stop>) -> Certificate {
        match stopped {
            Some(Stop::Deadline) => Certificate { status: Status::TimeLimit, ..self },
            Some(Stop::Cancelled) => Certificate { status: Status::Interrupted, ..self },
            None => self,
        }
    }

    /// Why the fit was cut short, if it was.
    pub fn stopped(&self) -> Option<Stop> {
        match self.status {
            Status::TimeLimit => Some(Stop::Deadline),
            Status::Interrupted => Some(Stop::Cancelled),
            _ => None,
        }
    }

    /// The value of the objective.
    pub fn primal(&self) -> Option<f64> {
        self.objective.as_ref().map(|objective| objective.value)
    }

    /// The distance between the primal and the dual objective: no model is better by more.
    pub fn duality_gap(&self) -> Option<f64> {
        Some((self.primal()? - self.dual?).abs())
    }

    /// The duality gap as a fraction of the primal objective.
    pub fn relative_gap(&self) -> Option<f64> {
        Some(self.duality_gap()? / self.primal()?.abs().max(f64::MIN_POSITIVE))
    }
}

impl PartialEq for Certificate {
    fn eq(&self, other: &Certificate) -> bool {
        let claims = |c: &Certificate| (c.status, c.dual, c.condition, c.iterations, c.rows);
        claims(self) == claims(other)
            && (&self.objective, &self.violation) == (&other.objective, &other.violation)
            && (&self.notes, &self.plan) == (&other.notes, &other.plan)
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let (Some(gap), Some(relative)) = (self.duality_gap(), self.relative_gap()) {
            parts.push(format!("duality gap {gap:.2e} (relative {relative:.1e})"));
        }
        if let Some(Measured { name, value }) = &self.objective {
            parts.push(format!("{name} {}", Significant(*value)));
        }
        if let Some(Measured { name, value }) = &self.violation {
            parts.push(format!("{name} {value:.2e}"));
        }
        if let Some(condition) = self.condition {
            parts.push(format!("condition number {condition:.1e}"));
        }
        let (unit, units) = match self.status {
            Status::ClosedForm => ("pass", "passes"),
            _ => ("iteration", "iterations"),
        };
        match self.iterations {
            0 => {}
            1 => parts.push(format!("1 {unit}")),
            n => parts.push(format!("{n} {units}")),
        }
        parts.push(format!("{} rows", self.rows));
        write!(f, "{}: {}", self.status, parts.join(", "))?;
        self.notes.iter().try_for_each(|note| write!(f, "; {note}"))
    }
}

/// Prints an objective: integers as such, other values with six decimals if these are significant.
struct Significant(f64);

impl fmt::Display for Significant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        if value.fract() == 0.0 && value.abs() < 1e9 {
            write!(f, "{value:.0}")
        } else if (1e-3..1e9).contains(&value.abs()) {
            write!(f, "{value:.6}")
        } else {
            write!(f, "{value:.6e}")
        }
    }
}
