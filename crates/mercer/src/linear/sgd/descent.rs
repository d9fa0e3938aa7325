//! Steps along the slopes of single rows.
//!
//! For each plane, minimize `1/n Σᵢ sᵢ L(yᵢ, w·xᵢ + b) + ½ λ ‖w‖² + μ ‖w‖₁` by looking at one row after the
//! other: `w ← (1 − ηλ) w − η sᵢ L'(yᵢ, pᵢ) xᵢ`, `b` likewise without the price (Robbins & Monro 1951; Bottou
//! 2012), and `μ` by what it could have taken so far (Tsuruoka, Tsujii & Ananiadou 2009). Passive-aggressive
//! steps are as long as the row itself needs (Crammer et al. 2006).
//!
//! Where there are several planes, a row is read once and moves all of them. They know nothing of each
//! other, so that each ends at the pass it would have ended at alone.

use super::learning_rate::{LearningRate, StepSize};
use super::loss::Loss;
use super::weights::{Plain, Weights};
use crate::data::design_matrix::{DesignMatrix, RowCells};
use crate::error::{Error, Result};
use crate::model::{Monitor, Stop};
use mercer_num::random::Random;

/// Rows between two looks at the clock.
const ROWS: usize = 256;
/// Slopes are no steeper: a step that overflows would not come back.
const STEEPEST: f64 = 1e12;
/// Steps that adapt are not made shorter than about this.
const SHORTEST: f64 = 1e-6;

/// How to step.
#[derive(Clone, Debug)]
pub(crate) struct SgdOptions {
    pub loss: Loss,
    /// The price `λ` on half the squares.
    pub squared: f64,
    /// The price `μ` on absolute weights.
    pub absolute: f64,
    pub pace: StepSize,
    pub fit_intercept: bool,
    /// How long the steps of the constant terms are, beside those of the weights.
    pub intercept_decay: f64,
    /// The first step that counts in the mean.
    pub average: Option<u64>,
    pub passes: u64,
    pub tol: Option<f64>,
    pub patience: u64,
    /// The seed of the order of rows; none takes them as they come.
    pub shuffle: Option<u64>,
}

/// What the rows should be.
pub(crate) enum Aims<'a> {
    /// Of these classes: for a single plane, of the second and not the first; else a plane a class.
    Classes {
        codes: &'a [u32],
        factors: Vec<f64>,
    },
    Numbers(&'a [f64]),
}

impl Aims<'_> {
    /// What plane `k` of `m` should give row `i`.
    pub fn target(&self, i: usize, k: usize, m: usize) -> f64 {
        match self {
            Aims::Classes { codes, .. } => {
                let own = if m == 1 { codes[i] == 1 } else { codes[i] as usize == k };
                if own { 1.0 } else { -1.0 }
            }
            Aims::Numbers(y) => y[i],
        }
    }

    /// How much row `i` counts to plane `k`, besides its own weight. To the plane of one class among
    /// many, the rows of the others count once.
    pub fn factor(&self, i: usize, k: usize, m: usize) -> f64 {
        match self {
            Aims::Classes { codes, factors } if m == 1 => factors[codes[i] as usize],
            Aims::Classes { codes, factors } if codes[i] as usize == k => factors[k],
            _ => 1.0,
        }
    }
}

/// The rows, and what is known of them.
pub(crate) struct SgdData<'a> {
    pub design: DesignMatrix<'a>,
    pub aims: Aims<'a>,
    /// The weight of each row; empty means one.
    pub weights: &'a [f64],
    /// `‖x‖²` of every row.
    pub squares: Vec<f64>,
    /// Rows that judge the passes and are not learned from, in order.
    pub held_out: Vec<usize>,
}

impl SgdData<'_> {
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }
}

/// Where steps begin.
pub(crate) struct Start {
    pub now: Plain,
    /// The mean over the steps before, where one was begun.
    pub mean: Option<Plain>,
    /// Steps taken, and one.
    pub t: u64,
}

/// How it ended.
pub(crate) struct Ended {
    pub now: Plain,
    pub mean: Option<Plain>,
    /// Passes of the plane that took most.
    pub passes: u64,
    /// The mean loss and price of the rows of the last pass, each when it came, of all planes.
    pub value: f64,
    /// Rows of the last pass of each plane that were on its wrong side, or on it, when they came.
    pub mistakes: Vec<u64>,
    /// Steps of each plane that moved it.
    pub updates: Vec<u64>,
    /// Whether every plane came to the end of its gains.
    pub settled: bool,
    /// Whether all weights were zero at the start.
    pub from_zero: bool,
    pub stopped: Option<Stop>,
}

/// Where a plane has come to.
struct Plane {
    /// The length of steps that adapt.
    eta: f64,
    /// The best value of a pass so far: small for losses, negative for scores.
    best: f64,
    /// Passes in a row without a gain.
    idle: u64,
    done: bool,
    passes: u64,
    /// The losses and prices of this pass,
    sum: f64,
    /// and the mean of those of the last.
    value: f64,
    mistakes: u64,
    updates: u64,
}

/// Takes steps until the passes no longer gain, or are over.
///
/// # Errors
/// If it was stopped before the first row, or the weights leave the numbers there are.
pub(crate) fn descend(
    plan: &SgdOptions,
    ground: &SgdData<'_>,
    start: Start,
    monitor: &Monitor<'_>,
) -> Result<Ended> {
    let mut learned = vec![true; ground.design.n_rows()];
    ground.held_out.iter().for_each(|i| learned[*i] = false);
    let mut order: Vec<usize> = (0..learned.len()).filter(|i| learned[*i]).collect();
    let mut descent = Descent::new(plan, start);
    let mut stopped = None;
    while descent.goes_on(plan) && stopped.is_none() {
        descent.begin_pass();
        stopped = descent.look_at(plan, ground, &mut order, monitor);
        if stopped.is_some() && descent.n_looks == 0 {
            return Err(Error::Stopped);
        }
        descent.end_pass(plan, Some(ground), stopped)?;
        monitor.report(descent.pass, None);
    }
    monitor.report(descent.pass, Some(descent.pass));
    Ok(descent.finish(stopped))
}

/// Steps under way: what is kept from one row to the next, and from one part of the rows to the next.
pub(crate) struct Descent {
    weights: Weights,
    planes: Vec<Plane>,
    /// The number of the next step, counted from one.
    t: u64,
    /// Passes behind us.
    pass: u64,
    /// Rows of this pass.
    n_rows: u64,
    /// Rows of all passes.
    n_looks: u64,
    random: Option<Random>,
    from_zero: bool,
}

impl Descent {
    pub fn new(plan: &SgdOptions, start: Start) -> Descent {
        let m = start.now.constants.len();
        let from_zero = start.now.cells.iter().chain(&start.now.constants).all(|w| *w == 0.0);
        let mean = plan.average.map(|first| match start.mean {
            Some(mean) => (mean, start.t.saturating_sub(first)),
            None => {
                let cells = vec![0.0; start.now.cells.len()];
                (Plain { cells, constants: vec![0.0; m] }, 0)
            }
        });
        let plane = |_| Plane {
            eta: plan.pace.eta0,
            best: f64::INFINITY,
            idle: 0,
            done: false,
            passes: 0,
            sum: 0.0,
            value: f64::NAN,
            mistakes: 0,
            updates: 0,
        };
        Descent {
            weights: Weights::new(start.now, mean, plan.absolute > 0.0),
            planes: (0..m).map(plane).collect(),
            t: start.t,
            pass: 0,
            n_rows: 0,
            n_looks: 0,
            random: plan.shuffle.map(Random::new),
            from_zero,
        }
    }

    /// Whether there is another pass.
    pub fn goes_on(&self, plan: &SgdOptions) -> bool {
        self.pass < plan.passes && self.planes.iter().any(|plane| !plane.done)
    }

    /// Begins a pass over all rows.
    pub fn begin_pass(&mut self) {
        self.n_rows = 0;
        self.planes.iter_mut().filter(|plane| !plane.done).for_each(|plane| {
            (plane.sum, plane.mistakes) = (0.0, 0);
        });
    }

    /// Looks at rows, in another order each time where they are shuffled. Gives why it ended before the
    /// last of them, if it did.
    pub fn look_at(
        &mut self,
        plan: &SgdOptions,
        ground: &SgdData<'_>,
        order: &mut [usize],
        monitor: &Monitor<'_>,
    ) -> Option<Stop> {
        if let Some(random) = &mut self.random {
            random.shuffle(order);
        }
        let mut step = Step::new(plan, ground, self.t, self.planes.len());
        let mut stopped = None;
        for some in order.chunks(ROWS) {
            stopped = monitor.stop();
            if stopped.is_some() {
                break;
            }
            some.iter().for_each(|i| step.look_at(*i, &mut self.weights, &mut self.planes));
            self.n_rows += some.len() as u64;
            self.n_looks += some.len() as u64;
        }
        self.t = step.t;
        stopped
    }

    /// Ends a pass, which is judged by the rows held out where there are any, else by its losses.
    ///
    /// # Errors
    /// If the weights have left the numbers there are.
    pub fn end_pass(
        &mut self,
        plan: &SgdOptions,
        ground: Option<&SgdData<'_>>,
        stopped: Option<Stop>,
    ) -> Result<()> {
        self.pass += 1;
        // Losses overflow long before weights do.
        if !self.weights.settle() || self.planes.iter().any(|plane| !plane.sum.is_finite()) {
            return Err(Error::Diverged { pass: self.pass });
        }
        let judges = ground.filter(|ground| !ground.held_out.is_empty());
        for (k, plane) in self.planes.iter_mut().enumerate().filter(|(_, plane)| !plane.done) {
            plane.passes = self.pass;
            plane.value = plane.sum / self.n_rows as f64;
            if stopped.is_none() {
                let value = match judges {
                    None => plane.value,
                    Some(ground) => -held_out_score(ground, &self.weights, k),
                };
                plane.judge(value, plan);
            }
        }
        Ok(())
    }

    /// Where it came to.
    pub fn finish(self, stopped: Option<Stop>) -> Ended {
        let (now, mean) = self.weights.finish();
        let planes = &self.planes;
        Ended {
            now,
            mean,
            passes: planes.iter().map(|plane| plane.passes).max().unwrap_or(0),
            value: planes.iter().map(|plane| plane.value).sum(),
            mistakes: planes.iter().map(|plane| plane.mistakes).collect(),
            updates: planes.iter().map(|plane| plane.updates).collect(),
            settled: planes.iter().all(|plane| plane.done),
            from_zero: self.from_zero,
            stopped,
        }
    }
}

impl Plane {
    /// Whether a pass gained enough to go on.
    fn judge(&mut self, value: f64, plan: &SgdOptions) {
        self.idle = match plan.tol {
            Some(tol) if value > self.best - tol => self.idle + 1,
            _ => 0,
        };
        self.best = self.best.min(value);
        if self.idle >= plan.patience {
            if plan.pace.rate == LearningRate::Adaptive && self.eta > SHORTEST {
                self.eta /= 5.0;
                self.idle = 0;
            } else {
                self.done = true;
            }
        }
    }
}

/// What a step needs, kept from row to row.
struct Step<'a, 'g> {
    plan: &'a SgdOptions,
    ground: &'a SgdData<'g>,
    /// The number of the step, counted from one.
    t: u64,
    scores: Vec<f64>,
    steps: Vec<f64>,
}

impl<'a, 'g> Step<'a, 'g> {
    fn new(plan: &'a SgdOptions, ground: &'a SgdData<'g>, t: u64, m: usize) -> Step<'a, 'g> {
        Step { plan, ground, t, scores: vec![0.0; m], steps: vec![0.0; m] }
    }

    fn look_at(&mut self, i: usize, weights: &mut Weights, planes: &mut [Plane]) {
        let (plan, ground, m) = (self.plan, self.ground, planes.len());
        let row: RowCells<'_> = ground.design.row(i);
        let square = ground.squares[i];
        weights.scores(&row, &mut self.scores);
        let eta = plan.pace.at(self.t as f64);
        let counts_price = !plan.pace.rate.by_row();
        // A row of zeros says nothing about how long a step it needs.
        let silent = plan.pace.rate == LearningRate::Pa1 && square == 0.0;
        let mut moves = false;
        for (k, plane) in planes.iter_mut().enumerate() {
            self.steps[k] = 0.0;
            if plane.done {
                continue;
            }
            let (y, p) = (ground.aims.target(i, k, m), self.scores[k]);
            let loss = plan.loss.value(y, p);
            plane.sum += loss;
            plane.mistakes += u64::from(y * p <= 0.0);
            if counts_price {
                plane.sum += 0.5 * plan.squared * weights.square(k);
                plane.sum += plan.absolute * weights.absolute(k);
            }
            if silent {
                continue;
            }
            let eta = if plan.pace.rate == LearningRate::Adaptive { plane.eta } else { eta };
            let step = match plan.pace.rate {
                LearningRate::Pa1 => toward(y, p, plan.loss) * plan.pace.eta0.min(loss / square),
                LearningRate::Pa2 => {
                    toward(y, p, plan.loss) * loss / (square + 0.5 / plan.pace.eta0)
                }
                _ => -eta * plan.loss.slope(y, p).clamp(-STEEPEST, STEEPEST),
            };
            let step = step * ground.aims.factor(i, k, m) * ground.weight(i);
            self.scores[k] -= weights.constants[k];
            if plan.squared > 0.0 {
                // A step longer than the price allows would turn the weights around.
                let by = (1.0 - eta * plan.squared).max(0.0);
                weights.shrink(k, by);
                self.scores[k] *= by;
            }
            if step != 0.0 {
                (moves, self.steps[k]) = (true, step);
                plane.updates += 1;
                if plan.fit_intercept {
                    weights.constants[k] += step * plan.intercept_decay;
                }
            }
        }
        if moves {
            weights.add(&row, &self.steps, &self.scores, square);
        }
        if silent {
            return;
        }
        let counts = plan.average.is_some_and(|first| first <= self.t);
        for (k, plane) in planes.iter().enumerate().filter(|(_, plane)| !plane.done) {
            if plan.absolute > 0.0 {
                let eta = if plan.pace.rate == LearningRate::Adaptive { plane.eta } else { eta };
                weights.pay(&row, k, eta * plan.absolute);
            }
            if counts {
                weights.count(k);
            }
        }
        self.t += 1;
    }
}

/// Which way a passive-aggressive step goes: to the row's side, or to its number.
fn toward(y: f64, p: f64, loss: Loss) -> f64 {
    match loss {
        Loss::Hinge(_) => y,
        _ if y - p < 0.0 => -1.0,
        _ => 1.0,
    }
}

/// How well a plane does on the rows that judge: the share on their side, or `R²`.
fn held_out_score(ground: &SgdData<'_>, weights: &Weights, k: usize) -> f64 {
    let m = weights.constants.len();
    let mut scores = vec![0.0; m];
    let (mut total, mut right, mut mean) = (0.0, 0.0, 0.0);
    let mut judged = Vec::with_capacity(ground.held_out.len());
    for i in &ground.held_out {
        weights.scores(&ground.design.row(*i), &mut scores);
        let (y, weight) = (ground.aims.target(*i, k, m), ground.weight(*i));
        total += weight;
        mean += weight * y;
        right += if (scores[k] > 0.0) == (y > 0.0) { weight } else { 0.0 };
        judged.push((weight, y, scores[k]));
    }
    match ground.aims {
        Aims::Classes { .. } => right / total,
        Aims::Numbers(_) => {
            let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
                judged.iter().map(|(weight, y, p)| weight * f(*y, *p)).sum()
            };
            let around = sum(&|y, _| (y - mean / total).powi(2));
            1.0 - sum(&|y, p| (y - p).powi(2)) / around.max(f64::MIN_POSITIVE)
        }
    }
}
