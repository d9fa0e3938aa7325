//! The fit of a network by the chosen solver.

use super::architecture::Architecture;
use super::loss::{MlpSolver, NetworkObjective, NetworkTargets};
use super::params::StochasticOptions;
use super::stochastic::{Begin, StochasticProblem, StochasticState};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{Certificate, Monitor};
use crate::solver::StoppingRule;

/// What is fitted, and how.
pub(super) struct Training<'a, 'd> {
    pub architecture: &'a Architecture,
    pub data: &'a Dataset<'d>,
    pub targets: NetworkTargets<'a>,
    pub solver: MlpSolver,
    pub options: StochasticOptions,
    pub max_iter: usize,
    pub tol: f64,
    pub seed: u64,
    /// The name of the loss in the certificate.
    pub loss: &'a str,
    /// The model that the fit starts from, with the state of its stochastic solver if it had one.
    pub before: Option<Option<&'a StochasticState>>,
    /// Whether to run a single epoch (`partial_fit`).
    pub one_epoch: bool,
}

/// How the fit ended.
pub(super) struct TrainingEnd {
    pub loss: f64,
    pub n_iter: u64,
    pub certificate: Certificate,
    pub training: Option<StochasticState>,
}

/// `partial_fit` needs a stochastic solver, and cannot hold out rows.
pub(super) fn check_incremental(id: &str, solver: MlpSolver, early_stopping: bool) -> Result<()> {
    match (solver, early_stopping) {
        (MlpSolver::Lbfgs, _) => Err(Error::Unable {
            estimator: id.into(),
            what: "learn rows in parts with the solver `lbfgs`; set `solver` to `adam` or `sgd`"
                .into(),
        }),
        (_, true) => Err(Error::Parameter {
            name: "early_stopping".into(),
            found: "true".into(),
            expected: "false if rows are learned in parts: no rows are held out for validation"
                .into(),
        }),
        _ => Ok(()),
    }
}

/// Minimizes the penalized loss from the given parameters.
///
/// # Errors
/// If the loss is not finite, the weights diverge, or the fit was stopped before the first iteration.
pub(super) fn minimize(
    training: Training<'_, '_>,
    parameters: &mut Vec<f64>,
    monitor: &Monitor<'_>,
) -> Result<TrainingEnd> {
    if training.solver != MlpSolver::Lbfgs {
        return stochastic(training, parameters, monitor);
    }
    let problem = NetworkObjective::new(training.architecture, training.data, training.targets);
    let stopping =
        StoppingRule { tolerance: training.tol, max_iterations: training.max_iter as u64, monitor };
    let result = problem.minimize(parameters, &stopping)?;
    if result.stopped.is_some() && result.iterations == 0 && training.before.is_none() {
        return Err(Error::Stopped);
    }
    monitor.report(result.iterations, Some(result.iterations));
    let certificate =
        problem.certificate(training.loss, &result, training.tol).iterations(result.iterations);
    Ok(TrainingEnd { loss: result.value, n_iter: result.iterations, certificate, training: None })
}

fn stochastic(
    training: Training<'_, '_>,
    parameters: &mut Vec<f64>,
    monitor: &Monitor<'_>,
) -> Result<TrainingEnd> {
    let problem = StochasticProblem {
        architecture: training.architecture,
        data: training.data,
        targets: training.targets,
        options: training.options,
        solver: training.solver,
        max_epochs: training.max_iter as u64,
        tol: training.tol,
        seed: training.seed,
    };
    let before = training.before.flatten().cloned();
    let begin = match (training.one_epoch, before) {
        (true, state) => Begin::Continue(state),
        (false, Some(state)) => Begin::Restart(state),
        (false, None) => Begin::Fresh,
    };
    let result = problem.minimize(parameters, begin, monitor)?;
    let certificate =
        problem.certificate(training.loss, &result, training.one_epoch).iterations(result.epochs);
    // A diverged epoch after the best one has no finite loss.
    let finite = |value: f64| value.is_finite().then_some(value);
    let best = result.state.best_loss.or_else(|| {
        result.state.loss_curve.iter().copied().filter(|loss| loss.is_finite()).reduce(f64::min)
    });
    let loss = finite(result.value).or(best).unwrap_or(0.0);
    Ok(TrainingEnd { loss, n_iter: result.epochs, certificate, training: Some(result.state) })
}
