//! Stochastic gradient descent for linear models.
//!
//! Minimize `1/n Σᵢ sᵢ L(yᵢ, w·xᵢ + b) + ½ λ ‖w‖² + μ ‖w‖₁` with one update per row:
//! `w ← (1 − ηλ) w − η sᵢ L'(yᵢ, pᵢ) xᵢ`, and `b` without the penalty (Robbins & Monro 1951; Bottou 2012). The one-class
//! objective has the further term `ν b`. The L1
//! penalty is applied cumulatively (Tsuruoka, Tsujii & Ananiadou 2009). Passive-aggressive updates take their step
//! size from the row (Crammer et al. 2006).
//!
//! The one-vs-rest subproblems of several classes share each read of a row. They are independent: each stops after
//! the epoch at which it would have stopped if it were solved by itself.

use super::lazy_weights::{LazyWeights, LinearWeights};
use super::learning_rate::{LearningRate, StepSize};
use super::loss::Loss;
use crate::data::design_matrix::{DesignMatrix, RowEntries};
use crate::error::{Error, Result};
use crate::model::{Monitor, Stop};
use mercer_num::random::Random;

/// Rows between two checks whether the fit should stop.
const ROWS_PER_STOP_CHECK: usize = 256;
const OUTPUTS_PER_STOP_CHECK: usize = 1 << 16;
/// Derivatives of the loss are clipped to this magnitude, so that an update does not overflow.
const MAX_LOSS_DERIVATIVE: f64 = 1e12;
/// `adaptive` step sizes are not reduced below about this value.
const MIN_ADAPTIVE_STEP: f64 = 1e-6;

/// The options of stochastic gradient descent.
#[derive(Clone, Debug)]
pub(crate) struct SgdOptions {
    pub loss: Loss,
    /// `λ`, the coefficient of `½ ‖w‖²`.
    pub l2_penalty: f64,
    /// `μ`, the coefficient of `‖w‖₁`.
    pub l1_penalty: f64,
    pub step_size: StepSize,
    pub fit_intercept: bool,
    /// `ν` of the term `ν b` of the one-class objective; zero for other estimators.
    pub intercept_gradient: f64,
    /// The step size of the intercept, relative to that of the weights.
    pub intercept_decay: f64,
    /// The first update that enters the averaged weights; `None` for plain SGD.
    pub average: Option<u64>,
    pub max_epochs: u64,
    pub tol: Option<f64>,
    /// Epochs in a row without an improvement of `tol` after which a subproblem stops.
    pub n_iter_no_change: u64,
    /// The seed of the shuffling; `None` keeps the order of the rows.
    pub shuffle: Option<u64>,
}

/// The targets of the rows.
pub(crate) enum SgdTargets<'a> {
    /// Class codes. Two classes are one subproblem, the second class against the first; more classes are one-vs-rest.
    Classes {
        codes: &'a [u32],
        class_weights: Vec<f64>,
    },
    Regression(&'a [f64]),
    /// The target of every row is `+1`.
    Positive,
}

impl SgdTargets<'_> {
    /// The target of row `i` in subproblem `k` of `m`: ±1 for classes.
    pub fn target(&self, i: usize, k: usize, m: usize) -> f64 {
        match self {
            SgdTargets::Classes { codes, .. } => {
                let own = if m == 1 { codes[i] == 1 } else { codes[i] as usize == k };
                if own { 1.0 } else { -1.0 }
            }
            SgdTargets::Regression(y) => y[i],
            SgdTargets::Positive => 1.0,
        }
    }

    /// The class weight of row `i` in subproblem `k`. In a one-vs-rest subproblem, the rows of the other classes have
    /// weight one.
    pub fn class_weight(&self, i: usize, k: usize, m: usize) -> f64 {
        match self {
            SgdTargets::Classes { codes, class_weights } if m == 1 => {
                class_weights[codes[i] as usize]
            }
            SgdTargets::Classes { codes, class_weights } if codes[i] as usize == k => {
                class_weights[k]
            }
            _ => 1.0,
        }
    }
}

/// The training rows with their targets and sample weights.
pub(crate) struct SgdData<'a> {
    pub design: DesignMatrix<'a>,
    pub targets: SgdTargets<'a>,
    /// The sample weights; empty means one everywhere.
    pub sample_weights: &'a [f64],
    /// `‖x‖²` of every row.
    pub squared_norms: Vec<f64>,
    /// Validation rows for early stopping, which are not trained on, in ascending order.
    pub held_out: Vec<usize>,
}

impl SgdData<'_> {
    pub fn sample_weight(&self, i: usize) -> f64 {
        self.sample_weights.get(i).copied().unwrap_or(1.0)
    }
}

/// The initial point.
pub(crate) struct Start {
    pub weights: LinearWeights,
    /// The averaged weights of earlier updates, where averaging had begun.
    pub average: Option<LinearWeights>,
    /// The number of the next update, counted from one.
    pub t: u64,
}

/// The weights that stochastic gradient descent returned, and how it stopped.
pub(crate) struct SgdResult {
    pub weights: LinearWeights,
    pub average: Option<LinearWeights>,
    /// The largest number of epochs of a subproblem.
    pub epochs: u64,
    /// The mean penalized loss of the last epoch, each row evaluated before its update, summed over subproblems.
    pub value: f64,
    /// The rows of the last epoch of each subproblem with `y p ≤ 0` before their update.
    pub mistakes: Vec<u64>,
    /// The updates of each subproblem that changed its weights.
    pub updates: Vec<u64>,
    /// Whether every subproblem met the stopping criterion.
    pub converged: bool,
    /// Whether all weights were zero at the start.
    pub from_zero: bool,
    pub stopped: Option<Stop>,
}

impl SgdResult {
    /// The weights of the model: averaged if averaging had begun, else the last ones.
    pub fn fitted(&self) -> &LinearWeights {
        self.average.as_ref().unwrap_or(&self.weights)
    }

    /// Whether the stopping rule was met: no further improvement, or all epochs if only these were requested.
    pub fn met_rule(&self, options: &SgdOptions) -> bool {
        options.tol.is_none() || self.converged || options.max_epochs <= 1
    }
}

/// The state of one subproblem.
struct Subproblem {
    /// The current step size of `adaptive`.
    eta: f64,
    /// The smallest value of an epoch so far: a penalized mean loss, or a negative validation score.
    best: f64,
    /// Epochs in a row without an improvement.
    epochs_without_improvement: u64,
    converged: bool,
    epochs: u64,
    /// The sum of penalized losses of this epoch.
    sum: f64,
    /// The mean penalized loss of the last epoch.
    value: f64,
    mistakes: u64,
    updates: u64,
}

/// Runs epochs until every subproblem has converged or `max_epochs` is reached.
///
/// # Errors
/// If the fit was stopped before the first row, or the weights diverge.
pub(crate) fn minimize(
    options: &SgdOptions,
    data: &SgdData<'_>,
    start: Start,
    monitor: &Monitor<'_>,
) -> Result<SgdResult> {
    let mut trained = vec![true; data.design.n_rows()];
    data.held_out.iter().for_each(|i| trained[*i] = false);
    let mut order: Vec<usize> = (0..trained.len()).filter(|i| trained[*i]).collect();
    let mut descent = Descent::new(options, start);
    let mut stopped = None;
    while descent.continues(options) && stopped.is_none() {
        descent.begin_epoch();
        stopped = descent.run_rows(options, data, &mut order, monitor);
        if stopped.is_some() && descent.n_rows_seen == 0 {
            return Err(Error::Stopped);
        }
        descent.end_epoch(options, Some(data), stopped)?;
        monitor.report(descent.epoch, None);
    }
    monitor.report(descent.epoch, Some(descent.epoch));
    Ok(descent.finish(stopped))
}

/// The state of stochastic gradient descent between rows, and between parts of out-of-core data.
pub(crate) struct Descent {
    weights: LazyWeights,
    subproblems: Vec<Subproblem>,
    /// The number of the next update, counted from one.
    t: u64,
    /// Completed epochs.
    epoch: u64,
    /// Rows of this epoch so far.
    n_rows: u64,
    /// Rows of all epochs so far.
    n_rows_seen: u64,
    random: Option<Random>,
    from_zero: bool,
}

impl Descent {
    pub fn new(options: &SgdOptions, start: Start) -> Descent {
        let m = start.weights.intercepts.len();
        let from_zero =
            start.weights.coefficients.iter().chain(&start.weights.intercepts).all(|w| *w == 0.0);
        let average = options.average.map(|first| match start.average {
            Some(average) => (average, start.t.saturating_sub(first)),
            None => {
                let coefficients = vec![0.0; start.weights.coefficients.len()];
                (LinearWeights { coefficients, intercepts: vec![0.0; m] }, 0)
            }
        });
        let subproblem = |_| Subproblem {
            eta: options.step_size.eta0,
            best: f64::INFINITY,
            epochs_without_improvement: 0,
            converged: false,
            epochs: 0,
            sum: 0.0,
            value: f64::NAN,
            mistakes: 0,
            updates: 0,
        };
        Descent {
            weights: LazyWeights::new(start.weights, average, options.l1_penalty > 0.0),
            subproblems: (0..m).map(subproblem).collect(),
            t: start.t,
            epoch: 0,
            n_rows: 0,
            n_rows_seen: 0,
            random: options.shuffle.map(Random::new),
            from_zero,
        }
    }

    /// Whether another epoch follows.
    pub fn continues(&self, options: &SgdOptions) -> bool {
        self.epoch < options.max_epochs && self.subproblems.iter().any(|s| !s.converged)
    }

    /// Begins an epoch: one pass over all rows.
    pub fn begin_epoch(&mut self) {
        self.n_rows = 0;
        for subproblem in self.subproblems.iter_mut().filter(|s| !s.converged) {
            (subproblem.sum, subproblem.mistakes) = (0.0, 0);
        }
    }

    /// Updates the weights for each row, in a new random order if rows are shuffled. Returns why it stopped before the
    /// last row, if it did.
    pub fn run_rows(
        &mut self,
        options: &SgdOptions,
        data: &SgdData<'_>,
        order: &mut [usize],
        monitor: &Monitor<'_>,
    ) -> Option<Stop> {
        if let Some(random) = &mut self.random {
            random.shuffle(order);
        }
        let mut step = RowStep::new(options, data, self.t, self.subproblems.len());
        let mut stopped = None;
        // A row of many classes takes as long as many rows of two.
        let n_rows =
            (OUTPUTS_PER_STOP_CHECK / self.subproblems.len()).clamp(1, ROWS_PER_STOP_CHECK);
        for some in order.chunks(n_rows) {
            stopped = monitor.stop();
            if stopped.is_some() {
                break;
            }
            some.iter().for_each(|i| step.apply(*i, &mut self.weights, &mut self.subproblems));
            self.n_rows += some.len() as u64;
            self.n_rows_seen += some.len() as u64;
        }
        self.t = step.t;
        stopped
    }

    /// Ends an epoch and tests convergence, by the validation score if there are held-out rows, else by the mean loss.
    ///
    /// # Errors
    /// If the weights diverged.
    pub fn end_epoch(
        &mut self,
        options: &SgdOptions,
        data: Option<&SgdData<'_>>,
        stopped: Option<Stop>,
    ) -> Result<()> {
        self.epoch += 1;
        // Losses overflow before weights do.
        if !self.weights.renormalize() || self.subproblems.iter().any(|s| !s.sum.is_finite()) {
            return Err(Error::Diverged { pass: self.epoch });
        }
        let validation = data.filter(|data| !data.held_out.is_empty());
        for (k, subproblem) in self.subproblems.iter_mut().enumerate().filter(|(_, s)| !s.converged)
        {
            subproblem.epochs = self.epoch;
            subproblem.value = subproblem.sum / self.n_rows as f64;
            if stopped.is_none() {
                let value = match validation {
                    None => subproblem.value,
                    Some(data) => -held_out_score(data, &self.weights, k),
                };
                subproblem.record_epoch(value, options);
            }
        }
        Ok(())
    }

    /// The weights reached.
    pub fn finish(self, stopped: Option<Stop>) -> SgdResult {
        let (weights, average) = self.weights.finish();
        let subproblems = &self.subproblems;
        SgdResult {
            weights,
            average,
            epochs: subproblems.iter().map(|s| s.epochs).max().unwrap_or(0),
            value: subproblems.iter().map(|s| s.value).sum(),
            mistakes: subproblems.iter().map(|s| s.mistakes).collect(),
            updates: subproblems.iter().map(|s| s.updates).collect(),
            converged: subproblems.iter().all(|s| s.converged),
            from_zero: self.from_zero,
            stopped,
        }
    }
}

impl Subproblem {
    /// Records the value of an epoch, and reduces the step size or stops after too many without improvement.
    fn record_epoch(&mut self, value: f64, options: &SgdOptions) {
        self.epochs_without_improvement = match options.tol {
            Some(tol) if value > self.best - tol => self.epochs_without_improvement + 1,
            _ => 0,
        };
        self.best = self.best.min(value);
        if self.epochs_without_improvement >= options.n_iter_no_change {
            if options.step_size.rate == LearningRate::Adaptive && self.eta > MIN_ADAPTIVE_STEP {
                self.eta /= 5.0;
                self.epochs_without_improvement = 0;
            } else {
                self.converged = true;
            }
        }
    }
}

/// One update per row: the inputs and buffers.
struct RowStep<'a, 'g> {
    options: &'a SgdOptions,
    data: &'a SgdData<'g>,
    /// The number of the update, counted from one.
    t: u64,
    scores: Vec<f64>,
    steps: Vec<f64>,
}

impl<'a, 'g> RowStep<'a, 'g> {
    fn new(options: &'a SgdOptions, data: &'a SgdData<'g>, t: u64, m: usize) -> RowStep<'a, 'g> {
        RowStep { options, data, t, scores: vec![0.0; m], steps: vec![0.0; m] }
    }

    /// Updates all subproblems that have not converged with row `i`.
    fn apply(&mut self, i: usize, weights: &mut LazyWeights, subproblems: &mut [Subproblem]) {
        let (options, data, m) = (self.options, self.data, subproblems.len());
        let row: RowEntries<'_> = data.design.row(i);
        let squared_norm = data.squared_norms[i];
        weights.scores(&row, &mut self.scores);
        let eta = options.step_size.at(self.t as f64);
        let penalizes = !options.step_size.rate.is_passive_aggressive();
        // The PA-I step `ℓ/‖x‖²` is undefined for a row of zeros.
        let skip = options.step_size.rate == LearningRate::Pa1 && squared_norm == 0.0;
        let mut any_step = false;
        for (k, subproblem) in subproblems.iter_mut().enumerate() {
            self.steps[k] = 0.0;
            if subproblem.converged {
                continue;
            }
            let (y, p) = (data.targets.target(i, k, m), self.scores[k]);
            let loss = options.loss.value(y, p);
            subproblem.sum += loss;
            subproblem.mistakes += u64::from(y * p <= 0.0);
            if penalizes {
                subproblem.sum += 0.5 * options.l2_penalty * weights.squared_norm(k);
                subproblem.sum += options.l1_penalty * weights.l1_norm(k);
                subproblem.sum += options.intercept_gradient * weights.intercepts[k];
            }
            if skip {
                continue;
            }
            let eta = options.current_step_size(eta, subproblem);
            let step = options.step(y, p, loss, eta, squared_norm);
            let step = step * data.targets.class_weight(i, k, m) * data.sample_weight(i);
            self.scores[k] -= weights.intercepts[k];
            if options.l2_penalty > 0.0 {
                // A step size above `1/λ` would change the sign of the weights.
                let scale = (1.0 - eta * options.l2_penalty).max(0.0);
                weights.shrink(k, scale);
                self.scores[k] *= scale;
            }
            if step != 0.0 {
                (any_step, self.steps[k]) = (true, step);
                subproblem.updates += 1;
            }
            if options.fit_intercept {
                let intercept_step = step - eta * options.intercept_gradient;
                weights.intercepts[k] += intercept_step * options.intercept_decay;
            }
        }
        if any_step {
            weights.add(&row, &self.steps, &self.scores, squared_norm);
        }
        if !skip {
            self.penalize_and_average(&row, eta, weights, subproblems);
            self.t += 1;
        }
    }

    /// Applies the L1 penalty and adds the new weights to their average.
    fn penalize_and_average(
        &self,
        row: &RowEntries<'_>,
        eta: f64,
        weights: &mut LazyWeights,
        subproblems: &[Subproblem],
    ) {
        let options = self.options;
        let averages = options.average.is_some_and(|first| first <= self.t);
        for (k, subproblem) in subproblems.iter().enumerate().filter(|(_, s)| !s.converged) {
            if options.l1_penalty > 0.0 {
                let eta = options.current_step_size(eta, subproblem);
                weights.apply_l1(row, k, eta * options.l1_penalty);
            }
            if averages {
                weights.add_to_average(k);
            }
        }
    }
}

impl SgdOptions {
    /// The step size of a subproblem: its own for `adaptive`, else the scheduled one.
    fn current_step_size(&self, scheduled: f64, subproblem: &Subproblem) -> f64 {
        if self.step_size.rate == LearningRate::Adaptive { subproblem.eta } else { scheduled }
    }

    /// The multiple of the row that is added to the weight vector, before class and sample weights: a gradient step, or
    /// a passive-aggressive one (PA-I and PA-II of Crammer et al. 2006).
    fn step(&self, y: f64, p: f64, loss: f64, eta: f64, squared_norm: f64) -> f64 {
        let aggressiveness = self.step_size.eta0;
        match self.step_size.rate {
            LearningRate::Pa1 => {
                step_direction(y, p, self.loss) * aggressiveness.min(loss / squared_norm)
            }
            LearningRate::Pa2 => {
                step_direction(y, p, self.loss) * loss / (squared_norm + 0.5 / aggressiveness)
            }
            _ => {
                let derivative = self.loss.derivative(y, p);
                -eta * derivative.clamp(-MAX_LOSS_DERIVATIVE, MAX_LOSS_DERIVATIVE)
            }
        }
    }
}

/// The sign of a passive-aggressive step: the class for the hinge loss, else the sign of the residual.
fn step_direction(y: f64, p: f64, loss: Loss) -> f64 {
    match loss {
        Loss::Hinge(_) => y,
        _ if y - p < 0.0 => -1.0,
        _ => 1.0,
    }
}

/// The validation score of a subproblem: the accuracy on held-out rows, or `R²`.
fn held_out_score(data: &SgdData<'_>, weights: &LazyWeights, k: usize) -> f64 {
    let m = weights.intercepts.len();
    let mut scores = vec![0.0; m];
    let (mut total, mut correct, mut mean) = (0.0, 0.0, 0.0);
    let mut scored = Vec::with_capacity(data.held_out.len());
    for i in &data.held_out {
        weights.scores(&data.design.row(*i), &mut scores);
        let (y, weight) = (data.targets.target(*i, k, m), data.sample_weight(*i));
        total += weight;
        mean += weight * y;
        correct += if (scores[k] > 0.0) == (y > 0.0) { weight } else { 0.0 };
        scored.push((weight, y, scores[k]));
    }
    match data.targets {
        SgdTargets::Classes { .. } | SgdTargets::Positive => correct / total,
        SgdTargets::Regression(_) => {
            let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
                scored.iter().map(|(weight, y, p)| weight * f(*y, *p)).sum()
            };
            let total_variance = sum(&|y, _| (y - mean / total).powi(2));
            1.0 - sum(&|y, p| (y - p).powi(2)) / total_variance.max(f64::MIN_POSITIVE)
        }
    }
}
