//! Stochastic optimization of a network: gradient descent with momentum, and Adam.
//!
//! Minimizes the objective of `loss.rs` with one update per minibatch `B`, whose gradient `g` is that of the mean loss of
//! `B` plus the penalty `α/|B| Σₗ Wₗ`:
//!
//! - `sgd`: `v ← μ v − η g`, `w ← w + v`, or `w ← w + μ v − η g` with Nesterov's momentum (Sutskever et al. 2013),
//! - `adam`: `w ← w − η √(1 − β₂ᵗ) / (1 − β₁ᵗ) m / (√s + ε)` for the decaying means `m` of `g` and `s` of `g²` (Kingma & Ba
//!   2015).
//!
//! An epoch visits every row once. The fit ends when more than `n_iter_no_change` epochs in a row did not improve the
//! mean loss, or the score of the held-out rows, by `tol`.

use super::architecture::Architecture;
use super::loss::{MlpSolver, NetworkObjective, NetworkTargets};
use super::network::Network;
use super::params::StochasticOptions;
use crate::choice;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{Certificate, Monitor, Stop};
use mercer_num::random::{Random, splitmix64};
use mercer_num::sparse::CsrMatrix;
use mercer_num::{Matrix, Rows};
use serde::{Deserialize, Serialize};

/// The default number of rows of a minibatch.
const DEFAULT_BATCH_SIZE: usize = 200;
/// `adaptive` step sizes are not reduced below about this value.
const MIN_ADAPTIVE_STEP: f64 = 1e-6;

choice! {
    /// The learning rate schedule of stochastic gradient descent.
    pub enum MlpLearningRate {
        /// `learning_rate_init`.
        Constant = "constant",
        /// `learning_rate_init / t^power_t` after `t` rows.
        InvScaling = "invscaling",
        /// `learning_rate_init`, divided by five when the loss stops improving.
        Adaptive = "adaptive",
    }
}

/// The state of a stochastic fit after its last epoch, from which `partial_fit` continues.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StochasticState {
    /// The mean penalized loss of each epoch, each minibatch evaluated before its update.
    pub loss_curve: Vec<f64>,
    /// The score of the held-out rows after each epoch, if there are any: accuracy or `R²`.
    pub validation_scores: Vec<f64>,
    /// The smallest loss of an epoch.
    pub best_loss: Option<f64>,
    /// The largest score of the held-out rows.
    pub best_validation_score: Option<f64>,
    /// Rows visited so far.
    pub t: u64,
    /// Epochs in a row without an improvement.
    pub epochs_without_improvement: u64,
    /// The current step size.
    pub step_size: f64,
    /// Updates so far.
    pub n_updates: u64,
    /// The velocities of `sgd`, or the means of the gradients of `adam`.
    pub first_moments: Vec<f64>,
    /// The means of the squared gradients of `adam`.
    pub second_moments: Vec<f64>,
}

impl StochasticState {
    fn new(options: &StochasticOptions, n_parameters: usize, solver: MlpSolver) -> StochasticState {
        let second = if solver == MlpSolver::Adam { n_parameters } else { 0 };
        StochasticState {
            step_size: options.learning_rate_init,
            first_moments: vec![0.0; n_parameters],
            second_moments: vec![0.0; second],
            ..Default::default()
        }
    }

    /// The state after an earlier fit, with new moments: `fit` of a warm start.
    fn restarted(
        self,
        options: &StochasticOptions,
        n: usize,
        solver: MlpSolver,
    ) -> StochasticState {
        let fresh = StochasticState::new(options, n, solver);
        StochasticState {
            step_size: fresh.step_size,
            first_moments: fresh.first_moments,
            second_moments: fresh.second_moments,
            n_updates: 0,
            ..self
        }
    }

    /// Whether the moments have the sizes of the parameters.
    pub(super) fn fits(&self, n_parameters: usize) -> bool {
        let finite = self.first_moments.iter().chain(&self.second_moments).all(|x| x.is_finite());
        let second = self.second_moments.len();
        self.first_moments.len() == n_parameters
            && (second == 0 || second == n_parameters)
            && finite
    }
}

/// Whether the moments of a solver have the sizes of the layers.
pub(super) fn fits_layers(state: Option<&StochasticState>, coefs: &[Matrix]) -> bool {
    let n_parameters = coefs.iter().map(|layer| (layer.nrows() + 1) * layer.ncols()).sum();
    state.is_none_or(|state| state.fits(n_parameters))
}

/// How a stochastic fit ended.
pub(super) struct StochasticResult {
    pub state: StochasticState,
    /// The mean penalized loss of the last epoch.
    pub value: f64,
    pub epochs: u64,
    pub converged: bool,
    pub stopped: Option<Stop>,
}

/// Where a stochastic fit starts.
pub(super) enum Begin {
    /// From initial weights.
    Fresh,
    /// From the weights of an earlier fit, with new moments (warm start).
    Restart(StochasticState),
    /// One more epoch (`partial_fit`).
    Continue(Option<StochasticState>),
}

/// The problem and the options of a stochastic fit.
pub(super) struct StochasticProblem<'a, 'd> {
    pub architecture: &'a Architecture,
    pub data: &'a Dataset<'d>,
    pub targets: NetworkTargets<'a>,
    pub options: StochasticOptions,
    pub solver: MlpSolver,
    pub max_epochs: u64,
    pub tol: f64,
    pub seed: u64,
}

impl StochasticProblem<'_, '_> {
    /// Runs epochs from the given parameters until the stopping rule is met.
    ///
    /// # Errors
    /// If the weights diverge, the fit was stopped before the first epoch, or too few rows are held out.
    pub fn minimize(
        &self,
        parameters: &mut Vec<f64>,
        begin: Begin,
        monitor: &Monitor<'_>,
    ) -> Result<StochasticResult> {
        let n = parameters.len();
        let one_epoch = matches!(begin, Begin::Continue(_));
        let fresh = || StochasticState::new(&self.options, n, self.solver);
        let mut state = match begin {
            Begin::Fresh => fresh(),
            Begin::Restart(state) => state.restarted(&self.options, n, self.solver),
            Begin::Continue(state) => match state {
                Some(state) if state.fits(n) => state,
                _ => fresh(),
            },
        };
        let held_out = if one_epoch { Vec::new() } else { self.held_out()? };
        let mut is_held_out = vec![false; self.data.n_rows()];
        held_out.iter().for_each(|i| is_held_out[*i] = true);
        let mut order: Vec<usize> = (0..is_held_out.len()).filter(|i| !is_held_out[*i]).collect();
        // Another stream than that of the initial weights and of the held-out rows; `partial_fit` continues it.
        let mut random = Random::new(splitmix64(self.seed ^ splitmix64(state.t)));
        let mut best: Option<Vec<f64>> = None;
        let (mut value, mut epochs, mut converged, mut stopped) = (f64::NAN, 0, false, None);
        let max_epochs = if one_epoch { 1 } else { self.max_epochs };
        while epochs < max_epochs && !converged {
            if self.options.shuffle {
                random.shuffle(&mut order);
            }
            let Some(loss) = self.run_epoch(&order, parameters, &mut state, monitor) else {
                stopped = monitor.stop();
                break;
            };
            epochs += 1;
            value = loss;
            let diverged = !value.is_finite() || parameters.iter().any(|w| !w.is_finite());
            if diverged && held_out.is_empty() {
                return Err(Error::Diverged { pass: epochs });
            }
            state.t += order.len() as u64;
            state.loss_curve.push(value);
            if held_out.is_empty() {
                state.record_loss(value, self.tol);
            } else {
                let score = if diverged { f64::NAN } else { self.score(&held_out, parameters) };
                if state.record_score(score, self.tol) {
                    best = Some(parameters.clone());
                }
            }
            converged = self.end_epoch(&mut state);
            monitor.report(epochs, None);
        }
        if epochs == 0 && stopped.is_some() && matches!(state.t, 0) {
            return Err(Error::Stopped);
        }
        if let Some(best) = best {
            *parameters = best;
        }
        if parameters.iter().any(|w| !w.is_finite()) {
            return Err(Error::Diverged { pass: epochs });
        }
        monitor.report(epochs, Some(epochs));
        Ok(StochasticResult { state, value, epochs, converged, stopped })
    }

    /// One update per minibatch. Returns the mean penalized loss, or `None` if the monitor stopped the fit.
    fn run_epoch(
        &self,
        order: &[usize],
        parameters: &mut [f64],
        state: &mut StochasticState,
        monitor: &Monitor<'_>,
    ) -> Option<f64> {
        let size = self.options.batch_size.unwrap_or(DEFAULT_BATCH_SIZE).min(order.len()).max(1);
        let mut gradient = vec![0.0; parameters.len()];
        let mut sum = 0.0;
        for rows in order.chunks(size) {
            let batch = Selection::new(self, rows);
            // A minibatch without weight has no loss.
            if batch.weights.is_empty() || batch.weights.iter().any(|w| *w > 0.0) {
                let objective = batch.objective(self.architecture);
                sum += objective.value_and_gradient(parameters, &mut gradient, monitor)?
                    * rows.len() as f64;
                self.update(parameters, &gradient, state);
            }
        }
        Some(sum / order.len() as f64)
    }

    fn update(&self, parameters: &mut [f64], gradient: &[f64], state: &mut StochasticState) {
        let options = &self.options;
        state.n_updates += 1;
        if self.solver == MlpSolver::Adam {
            let t = state.n_updates.min(i32::MAX as u64) as i32;
            let (beta_1, beta_2) = (options.beta_1, options.beta_2);
            let step =
                options.learning_rate_init * (1.0 - beta_2.powi(t)).sqrt() / (1.0 - beta_1.powi(t));
            let moments = state.first_moments.iter_mut().zip(&mut state.second_moments);
            for ((w, g), (m, s)) in parameters.iter_mut().zip(gradient).zip(moments) {
                *m = beta_1 * *m + (1.0 - beta_1) * g;
                *s = beta_2 * *s + (1.0 - beta_2) * g * g;
                *w -= step * *m / (s.sqrt() + options.epsilon);
            }
            return;
        }
        let (momentum, step) = (options.momentum, state.step_size);
        for ((w, g), v) in parameters.iter_mut().zip(gradient).zip(&mut state.first_moments) {
            *v = momentum * *v - step * g;
            *w += if options.nesterovs_momentum { momentum * *v - step * g } else { *v };
        }
    }

    /// Adapts the step size; returns whether the stopping rule is met.
    fn end_epoch(&self, state: &mut StochasticState) -> bool {
        let options = &self.options;
        let sgd = self.solver == MlpSolver::Sgd;
        if sgd && options.learning_rate == MlpLearningRate::InvScaling {
            let t = (state.t + 1) as f64;
            state.step_size = options.learning_rate_init / t.powf(options.power_t);
        }
        if state.epochs_without_improvement <= options.n_iter_no_change as u64 {
            return false;
        }
        if sgd
            && options.learning_rate == MlpLearningRate::Adaptive
            && state.step_size > MIN_ADAPTIVE_STEP
        {
            state.step_size /= 5.0;
            state.epochs_without_improvement = 0;
            return false;
        }
        true
    }

    /// Draws the validation rows, stratified by class.
    fn held_out(&self) -> Result<Vec<usize>> {
        if !self.options.early_stopping {
            return Ok(Vec::new());
        }
        let n = self.data.n_rows();
        let group = |i: usize| match self.targets {
            NetworkTargets::Binary(codes) | NetworkTargets::Classes(codes) => codes[i] as usize,
            NetworkTargets::Regression(_) | NetworkTargets::Poisson(_) => 0,
        };
        let n_groups = (0..n).map(group).max().map_or(0, |last| last + 1);
        let mut groups = vec![Vec::new(); n_groups];
        (0..n).for_each(|i| groups[group(i)].push(i));
        let mut random = Random::new(splitmix64(self.seed));
        let mut drawn: Vec<usize> = Vec::new();
        for rows in &mut groups {
            random.shuffle(rows);
            let count = (self.options.validation_fraction * rows.len() as f64).round() as usize;
            drawn.extend(&rows[..count]);
        }
        if drawn.len() < 2 || drawn.len() == n {
            return Err(Error::Parameter {
                name: "validation_fraction".into(),
                found: self.options.validation_fraction.to_string(),
                expected: format!(
                    "a fraction of {n} rows that holds out at least two and leaves some for training: the \
                     validation set is too small"
                ),
            });
        }
        drawn.sort_unstable();
        Ok(drawn)
    }

    /// The accuracy or the mean `R²` of the targets on some rows.
    fn score(&self, rows: &[usize], parameters: &[f64]) -> f64 {
        let selection = Selection::new(self, rows);
        let network = Network::from_parameters(self.architecture, parameters);
        let outputs = network.predict(&selection.rows());
        let weight = |i: usize| selection.weights.get(i).copied().unwrap_or(1.0);
        let total: f64 = (0..rows.len()).map(weight).sum();
        match &selection.targets {
            SelectedTargets::Classes { codes, .. } => {
                let correct = (0..rows.len()).filter(|i| class_of(&outputs, *i) == codes[*i]);
                correct.map(weight).sum::<f64>() / total
            }
            SelectedTargets::Regression { values, poisson } => {
                let m = outputs.ncols();
                let of_target = |k: usize| {
                    let y = |i: usize| values[i * m + k];
                    let mean = (0..rows.len()).map(|i| weight(i) * y(i)).sum::<f64>() / total;
                    let (mut residual, mut variance) = (0.0, 0.0);
                    for i in 0..rows.len() {
                        let output = outputs[[i, k]];
                        let predicted = if *poisson { output.exp() } else { output };
                        residual += weight(i) * (y(i) - predicted).powi(2);
                        variance += weight(i) * (y(i) - mean).powi(2);
                    }
                    match (variance > 0.0, residual > 0.0) {
                        (true, _) => 1.0 - residual / variance,
                        // A constant target explains nothing, and is predicted exactly or not.
                        (false, true) => 0.0,
                        (false, false) => 1.0,
                    }
                };
                (0..m).map(of_target).sum::<f64>() / m as f64
            }
        }
    }

    /// The certificate: the stopping rule of a stochastic fit says nothing about the gradient.
    pub fn certificate(
        &self,
        loss: &str,
        result: &StochasticResult,
        one_epoch: bool,
    ) -> Certificate {
        let certificate = Certificate::stochastic(result.converged || one_epoch, result.stopped)
            .objective(loss, result.value)
            .note(format!("{} updates", result.state.n_updates));
        match self.architecture.n_layers() > 1 {
            true => certificate.note("nonconvex: other stationary points may have a smaller loss"),
            false => certificate,
        }
    }
}

impl StochasticState {
    fn record_loss(&mut self, loss: f64, tol: f64) {
        let best = self.best_loss.unwrap_or(f64::INFINITY);
        self.epochs_without_improvement =
            if loss > best - tol { self.epochs_without_improvement + 1 } else { 0 };
        self.best_loss = Some(best.min(loss));
    }

    /// Records a validation score; returns whether it is the best so far.
    fn record_score(&mut self, score: f64, tol: f64) -> bool {
        self.validation_scores.push(score);
        let best = self.best_validation_score.unwrap_or(f64::NEG_INFINITY);
        self.epochs_without_improvement =
            if score < best + tol { self.epochs_without_improvement + 1 } else { 0 };
        let improves = score > best;
        if improves {
            self.best_validation_score = Some(score);
        }
        improves
    }
}

/// The class of the largest output; a single output is the log-odds of the second class.
fn class_of(outputs: &Matrix, i: usize) -> u32 {
    let row = outputs.row(i);
    if row.len() == 1 {
        return u32::from(row[0] > 0.0);
    }
    let first_largest = |best: usize, c: usize| if row[c] > row[best] { c } else { best };
    (1..row.len()).fold(0, first_largest) as u32
}

/// Copies of some rows with their targets and weights.
struct Selection {
    x: SelectedRows,
    targets: SelectedTargets,
    weights: Vec<f64>,
}

enum SelectedRows {
    Dense(Matrix),
    Sparse(CsrMatrix),
}

enum SelectedTargets {
    Classes { codes: Vec<u32>, binary: bool },
    Regression { values: Vec<f64>, poisson: bool },
}

impl Selection {
    fn new(problem: &StochasticProblem<'_, '_>, rows: &[usize]) -> Selection {
        let data = problem.data;
        let x = match data.rows() {
            Rows::Sparse(x) => SelectedRows::Sparse(CsrMatrix::of_rows(x, rows)),
            x => {
                let mut copy = Matrix::zeros((rows.len(), x.n_columns()));
                for (mut out, i) in copy.outer_iter_mut().zip(rows) {
                    let row = x.block(*i..*i + 1).unwrap_or_default();
                    out.iter_mut().zip(row.iter()).for_each(|(out, x)| *out = *x);
                }
                SelectedRows::Dense(copy)
            }
        };
        let m = problem.architecture.n_outputs();
        let classes = |codes: &[u32], binary| SelectedTargets::Classes {
            codes: rows.iter().map(|i| codes[*i]).collect(),
            binary,
        };
        let values = |y: &[f64], poisson| SelectedTargets::Regression {
            values: rows.iter().flat_map(|i| &y[i * m..(i + 1) * m]).copied().collect(),
            poisson,
        };
        let targets = match problem.targets {
            NetworkTargets::Binary(codes) => classes(codes, true),
            NetworkTargets::Classes(codes) => classes(codes, false),
            NetworkTargets::Regression(y) => values(y, false),
            NetworkTargets::Poisson(y) => values(y, true),
        };
        let weights = match data.weights() {
            [] => Vec::new(),
            weights => rows.iter().map(|i| weights[*i]).collect(),
        };
        Selection { x, targets, weights }
    }

    fn rows(&self) -> Rows<'_> {
        match &self.x {
            SelectedRows::Dense(x) => Rows::from(x),
            SelectedRows::Sparse(x) => Rows::Sparse(x.view()),
        }
    }

    fn objective<'a>(&'a self, architecture: &'a Architecture) -> NetworkObjective<'a> {
        let targets = match &self.targets {
            SelectedTargets::Classes { codes, binary: true } => NetworkTargets::Binary(codes),
            SelectedTargets::Classes { codes, binary: false } => NetworkTargets::Classes(codes),
            SelectedTargets::Regression { values, poisson: false } => {
                NetworkTargets::Regression(values)
            }
            SelectedTargets::Regression { values, poisson: true } => {
                NetworkTargets::Poisson(values)
            }
        };
        NetworkObjective::of_rows(architecture, self.rows(), &self.weights, targets)
    }
}

#[cfg(test)]
mod tests {
    use crate::linear::LogisticRegression;
    use crate::neural::{
        MlpClassifier, MlpLearningRate, MlpRegressionLoss, MlpRegressor, MlpSolver,
    };
    use crate::prelude::*;
    use mercer_num::random::Random;

    fn clouds(n: usize) -> (Matrix, Vec<u32>) {
        let mut random = Random::new(5);
        let codes: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
        let x = Matrix::from_shape_fn((n, 2), |(i, _)| random.normal() + f64::from(codes[i]));
        (x, codes)
    }

    #[test]
    fn without_hidden_layers_both_solvers_approach_logistic_regression() {
        let (x, codes) = clouds(200);
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let exact = LogisticRegression::new().C(10.0).tol(1e-10);
        let exact = exact.fit(&data, &Monitor::quiet()).unwrap();
        for solver in [MlpSolver::Adam, MlpSolver::Sgd] {
            let params = MlpClassifier::new().hidden_layer_sizes([].into()).alpha(0.1);
            let params = params.solver(solver).learning_rate_init(0.05).max_iter(500).tol(1e-9);

            let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

            for j in 0..2 {
                let off = fitted.coefs[0][[j, 0]] - exact.coefficients[[0, j]];
                assert!(off.abs() < 0.05, "{solver:?}: {off}");
            }
        }
    }

    #[test]
    fn epochs_of_partial_fit_are_those_of_fit() {
        let (x, codes) = clouds(90);
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        for solver in [MlpSolver::Adam, MlpSolver::Sgd] {
            let params = MlpClassifier::new().solver(solver).batch_size(Some(30)).shuffle(false);
            let params = params.max_iter(3).hidden_layer_sizes(5.into());

            let whole = params.fit(&data, &Monitor::quiet()).unwrap();
            let mut parts = params.partial_fit(None, &data, &Monitor::quiet()).unwrap().model;
            for _ in 0..2 {
                let more = params.partial_fit(Some(&parts), &data, &Monitor::quiet());
                parts = more.unwrap().model;
            }

            assert_eq!(whole.coefs, parts.coefs, "{solver:?}");
            let curve = |model: &Option<super::StochasticState>| {
                model.as_ref().map(|state| state.loss_curve.clone())
            };
            assert_eq!(curve(&whole.training), curve(&parts.training));
        }
    }

    #[test]
    fn early_stopping_returns_the_weights_of_the_best_score() {
        let (x, codes) = clouds(300);
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let params = MlpClassifier::new().solver(MlpSolver::Adam).early_stopping(true);

        let fitted = params.max_iter(400).fit(&data, &Monitor::quiet()).unwrap();

        let state = fitted.training.as_ref().unwrap();
        let best = state.validation_scores.iter().copied().fold(0.0, f64::max);
        assert_eq!(state.best_validation_score, Some(best));
        assert!(fitted.n_iter < 400 && state.validation_scores.len() as u64 == fitted.n_iter);
        let (first, codes) = clouds(4);
        let few = Dataset::classes(&first, &codes, &classes).unwrap();
        let refused = MlpClassifier::new().solver(MlpSolver::Adam).early_stopping(true);
        assert!(refused.fit(&few, &Monitor::quiet()).is_err());
    }

    #[test]
    fn the_poisson_loss_fits_means() {
        let x = Matrix::from_shape_fn((80, 1), |(i, _)| (i % 2) as f64);
        let y: Vec<f64> = (0..80).map(|i| if i % 2 == 0 { 2.0 } else { 6.0 }).collect();
        let data = Dataset::regression(&x, &y).unwrap();
        let params = MlpRegressor::new().loss(MlpRegressionLoss::Poisson).alpha(0.0);

        let fitted = params.hidden_layer_sizes([].into()).fit(&data, &Monitor::quiet()).unwrap();

        let predicted = fitted.predict(&Rows::from(&x)).unwrap();
        assert!((predicted[0] - 2.0).abs() < 1e-2 && (predicted[1] - 6.0).abs() < 1e-2);
        let negative = [-1.0; 80];
        let refused = MlpRegressor::new().loss(MlpRegressionLoss::Poisson);
        assert!(
            refused.fit(&Dataset::regression(&x, &negative).unwrap(), &Monitor::quiet()).is_err()
        );
    }

    #[test]
    fn adaptive_step_sizes_decrease() {
        let (x, codes) = clouds(60);
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let params = MlpClassifier::new().solver(MlpSolver::Sgd).tol(10.0).n_iter_no_change(1);
        let params = params.learning_rate(MlpLearningRate::Adaptive).learning_rate_init(0.01);

        let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

        // 0.01 / 5⁶ is the first step size below 1e-6.
        assert!(fitted.training.as_ref().unwrap().step_size < 1e-6);
        assert!(fitted.certificate.status.is_converged());
    }
}
