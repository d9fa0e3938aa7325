//! The losses of linear support vector machines: hinge and epsilon-insensitive, linear or squared.
//!
//! A score `z = w·x + b` should lie in an interval: `[1, ∞)` or `(−∞, −1]` for a class, `[y − ε, y + ε]` for a regression
//! target. With `d` its distance from the interval,
//!
//! `f(w, b) = ½‖w‖² + ½λ₀b² + Σᵢ Cᵢ dᵢ²`  or  `½‖w‖² + ½λ₀b² + Σᵢ Cᵢ dᵢ`,
//!
//! or with `‖w‖₁` instead of `½‖w‖²`. The second loss is not smooth. It is minimized by the augmented Lagrangian method
//! (Rockafellar 1976; for support vector machines Yan & Li 2020): with multiplier estimates `μᵢ` and a penalty parameter
//! `ρ` the loss is replaced by
//!
//! `Cᵢ max over |t| ≤ 1 of (t r − t² / 2ρ)`  with `r` the signed distance of `z − μᵢ/ρ` from the interval,
//!
//! whose maximizer `θᵢ` is the next `μᵢ`. The squared loss is the same expression with `ρ = 2`, `μ = 0` and unbounded `t`, so
//! that one piecewise quadratic function serves both. `βᵢ = Cᵢθᵢ` is the signed dual variable of row `i`, and a row is
//! *active* where the loss has curvature: `0 < |θᵢ| < 1` (squared loss: `θᵢ ≠ 0`).

mod binary_sparse;
mod duality_gap;
mod line_search;
mod objective;
mod solve;

pub(crate) use crate::solver::dual_coordinate_descent::LossPower;
pub use solve::{Dual, DualRule};
pub(crate) use solve::{MAX_PRIMAL_SPARSE_COLUMNS, SolveOptions, SolveResult, check_dual, solve};

use crate::data::design_matrix::DesignMatrix;
use crate::model::Monitor;
use crate::solver::coordinate_descent::ElasticNetPenalty;
use crate::solver::dual_coordinate_descent::MarginProblem;
use crate::solver::preconditioner::{MAX_HESSIAN_ENTRIES, Preconditioner};
use binary_sparse::RowTarget;
use mercer_num::Rows;
use mercer_num::parallel::prelude::*;

/// Rows whose losses one task sums.
const ROWS_PER_BLOCK: usize = 1024;
/// Dense training data of at least so many rows is first fitted on a subsample.
pub(crate) const MIN_SUBSAMPLED_ROWS: usize = 8192;
/// The factor by which the augmented Lagrangian method increases `ρ`, and the value of `ρ` (times the score scale) at
/// which it stops.
const RHO_GROWTH: f64 = 4.0;
const MAX_RHO: f64 = 1e9;
/// `ρ` (times the score scale) at the start, and after a start from dual variables close to the optimum.
const INITIAL_RHO: f64 = 0.5;
const WARM_RHO: f64 = 16.0;

/// What the scores should be.
#[derive(Clone)]
pub(crate) enum Targets {
    /// At least 1 for a row's own class and at most −1 for the others. A single score belongs to the second class.
    Classes {
        /// The index of a row's class among the observed ones.
        class_indices: Vec<u32>,
        /// The weight of each class in its own one-vs-rest problem.
        class_weights: Vec<f64>,
    },
    /// Within `epsilon` of the regression targets.
    Regression { y: Vec<f64>, epsilon: f64 },
}

/// The penalties on the weights and on the intercept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Penalties {
    pub weights: ElasticNetPenalty,
    pub intercept: ElasticNetPenalty,
}

/// The problem at its current weights.
pub(crate) struct MarginLoss<'a> {
    pub design: DesignMatrix<'a>,
    /// `m`: one-vs-rest subproblems, which are the scores per row and the weights per feature.
    pub n_outputs: usize,
    pub power: LossPower,
    pub penalties: Penalties,
    targets: Targets,
    /// `Cᵢ`, without class weights.
    costs: Vec<f64>,
    /// Interval and cost of every row, for a single subproblem on sparse rows.
    row_targets: Option<Vec<RowTarget>>,
    /// The scale of the scores: 1 for classes, the spread of regression targets.
    pub score_scale: f64,
    /// `ρ` of each subproblem.
    rho: Vec<f64>,
    /// `μ`; empty for the squared loss.
    multipliers: Vec<f64>,
    weights: Vec<f64>,
    scores: Vec<f64>,
    /// `θ` at the current weights.
    thetas: Vec<f64>,
    values: Vec<f64>,
    direction: Vec<f64>,
    direction_scores: Vec<f64>,
    /// Whether `direction_scores` are still to be computed from `direction`.
    direction_scores_stale: bool,
    /// The active rows and their Hessian weights, for a single subproblem on sparse rows.
    sparse_active_rows: Option<Vec<(u32, f64)>>,
    /// The dense rows that are active in any subproblem, where they are few enough to be read alone.
    dense_active_rows: Option<Vec<u32>>,
    /// The memory budget of the Hessian, in entries; its factor takes as many again.
    pub max_hessian_entries: usize,
    /// The vector of the last Hessian product, and its scores.
    last_vector: Vec<f64>,
    last_scores: Vec<f64>,
    /// Damps an unpenalized intercept, whose Hessian entry can vanish.
    intercept_damping: Vec<f64>,
    preconditioner: Preconditioner,
    /// Hessian products since the preconditioner was updated.
    products_since_update: u64,
}

impl<'a> MarginLoss<'a> {
    /// The problem at zero weights.
    pub fn new(
        design: DesignMatrix<'a>,
        n_outputs: usize,
        targets: Targets,
        costs: Vec<f64>,
        power: LossPower,
        penalties: Penalties,
    ) -> MarginLoss<'a> {
        let (n, m) = (design.n_rows(), n_outputs);
        let dimension = design.n_weights() * m;
        let score_scale = match &targets {
            Targets::Classes { .. } => 1.0,
            Targets::Regression { y, epsilon } => target_scale(y, &costs).max(*epsilon),
        };
        let linear = power == LossPower::Linear;
        let single_sparse = m == 1 && design.sums_by_row();
        let mut problem = MarginLoss {
            n_outputs,
            power,
            penalties,
            targets,
            costs,
            row_targets: None,
            score_scale,
            rho: vec![if linear { INITIAL_RHO / score_scale } else { 2.0 }; m],
            multipliers: vec![0.0; if linear { n * m } else { 0 }],
            weights: vec![0.0; dimension],
            scores: vec![0.0; n * m],
            thetas: vec![0.0; n * m],
            values: vec![0.0; m],
            direction: vec![0.0; dimension],
            direction_scores: vec![0.0; n * m],
            direction_scores_stale: false,
            sparse_active_rows: None,
            dense_active_rows: None,
            max_hessian_entries: MAX_HESSIAN_ENTRIES,
            last_vector: vec![0.0; dimension],
            last_scores: vec![0.0; n * m],
            intercept_damping: vec![0.0; m],
            preconditioner: Preconditioner::None,
            products_since_update: 0,
            design,
        };
        let target =
            |i: usize| RowTarget { interval: problem.interval(i, 0), cost: problem.cost(i, 0) };
        problem.row_targets = single_sparse.then(|| (0..n).map(target).collect());
        problem
    }

    /// Bytes of a problem with such rows and of the subsamples it starts with, without the Hessian, which takes what the
    /// memory budget leaves.
    pub fn memory_bytes(rows: &Rows<'_>, n_weights: usize, m: usize) -> u64 {
        let n = rows.n_rows();
        let bytes_per_entry = match rows {
            Rows::Dense(_) => 8,
            Rows::Single(_) => 4,
            Rows::Sparse(_) => 0,
        };
        let subsamples = match n >= MIN_SUBSAMPLED_ROWS {
            true => (n / 4 + n / 16) * (bytes_per_entry * n_weights + 48 * m),
            false => 0,
        };
        (8 * (6 * n * m + 14 * n_weights * m) + subsamples) as u64
    }

    /// Entries that the Hessian may have when so many bytes are taken: each takes 16 bytes, in single precision itself,
    /// in its factor, and temporarily in the next Hessian.
    pub fn hessian_budget(monitor: &Monitor<'_>, bytes_taken: u64) -> usize {
        let budget = monitor.memory().map_or(u64::MAX, |b| b.saturating_sub(bytes_taken) / 16);
        budget.min(MAX_HESSIAN_ENTRIES as u64) as usize
    }

    pub fn has_unpenalized_intercept(&self) -> bool {
        self.design.intercept && self.penalties.intercept == ElasticNetPenalty::default()
    }

    /// The interval that a score should lie in.
    #[inline]
    pub fn interval(&self, i: usize, k: usize) -> (f64, f64) {
        match &self.targets {
            Targets::Classes { class_indices, .. } => match self.is_own(class_indices[i], k) {
                true => (1.0, f64::INFINITY),
                false => (f64::NEG_INFINITY, -1.0),
            },
            Targets::Regression { y, epsilon } => (y[i] - epsilon, y[i] + epsilon),
        }
    }

    #[inline]
    fn is_own(&self, class_index: u32, k: usize) -> bool {
        if self.n_outputs == 1 { class_index == 1 } else { class_index as usize == k }
    }

    /// `Cᵢ` of a row in subproblem `k`, with its class weight.
    #[inline]
    pub fn cost(&self, i: usize, k: usize) -> f64 {
        match &self.targets {
            Targets::Classes { class_indices, class_weights }
                if self.n_outputs == 1 || self.is_own(class_indices[i], k) =>
            {
                self.costs[i] * class_weights[class_indices[i] as usize]
            }
            _ => self.costs[i],
        }
    }

    pub fn score(&self, i: usize, k: usize) -> f64 {
        self.scores[i * self.n_outputs + k]
    }

    /// The signed dual variable `βᵢ = Cᵢθᵢ`.
    pub fn beta(&self, i: usize, k: usize) -> f64 {
        self.cost(i, k) * self.thetas[i * self.n_outputs + k]
    }

    /// Whether the loss of a row has curvature: its dual variable is neither zero nor at its bound.
    pub fn is_active(&self, i: usize, k: usize) -> bool {
        let theta = self.thetas[i * self.n_outputs + k].abs();
        theta > 0.0 && theta < self.max_theta()
    }

    /// The bound on `|θ|`.
    #[inline]
    fn max_theta(&self) -> f64 {
        match self.power {
            LossPower::Linear => 1.0,
            LossPower::Squared => f64::INFINITY,
        }
    }

    /// The loss of a score per unit of cost, and its `θ`.
    #[inline]
    fn loss(&self, i: usize, k: usize, z: f64) -> (f64, f64) {
        let multiplier = self.multipliers.get(i * self.n_outputs + k).copied().unwrap_or(0.0);
        smoothed_loss(self.interval(i, k), self.rho[k], self.max_theta(), multiplier, z)
    }

    /// Updates `θ` of all scores; returns the loss of each subproblem.
    fn update_thetas(&mut self) -> Vec<f64> {
        let m = self.n_outputs;
        let mut thetas = std::mem::take(&mut self.thetas);
        let blocks = thetas.par_chunks_mut(ROWS_PER_BLOCK * m);
        let blocks = blocks.zip(self.scores.par_chunks(ROWS_PER_BLOCK * m));
        let blocks = blocks.enumerate().map(|(block, (thetas, scores))| {
            let mut sums = vec![0.0; m];
            let rows = thetas.chunks_exact_mut(m).zip(scores.chunks_exact(m));
            for (i, (thetas, scores)) in (block * ROWS_PER_BLOCK..).zip(rows) {
                for (k, (theta, z)) in thetas.iter_mut().zip(scores).enumerate() {
                    let (loss, new_theta) = self.loss(i, k, *z);
                    *theta = new_theta;
                    sums[k] += self.cost(i, k) * loss;
                }
            }
            sums
        });
        let sums = sum_blocks(blocks.collect(), m);
        self.thetas = thetas;
        sums
    }

    /// `sign · βᵢ` of all rows.
    fn signed_betas(&self, sign: f64) -> Vec<f64> {
        let m = self.n_outputs;
        let mut betas = self.thetas.clone();
        betas.par_chunks_mut(ROWS_PER_BLOCK * m).enumerate().for_each(|(block, betas)| {
            for (i, row) in (block * ROWS_PER_BLOCK..).zip(betas.chunks_exact_mut(m)) {
                row.iter_mut().enumerate().for_each(|(k, b)| *b *= sign * self.cost(i, k));
            }
        });
        betas
    }

    /// The problem of some of the rows, copied to `rows`, whose costs are increased to stand for all.
    pub fn subsample<'b>(&self, indices: &[usize], rows: &Rows<'b>) -> MarginLoss<'b> {
        let factor = self.costs.len() as f64 / indices.len().max(1) as f64;
        let targets = match &self.targets {
            Targets::Classes { class_indices, class_weights } => Targets::Classes {
                class_indices: indices.iter().map(|i| class_indices[*i]).collect(),
                class_weights: class_weights.clone(),
            },
            Targets::Regression { y, epsilon } => Targets::Regression {
                y: indices.iter().map(|i| y[*i]).collect(),
                epsilon: *epsilon,
            },
        };
        let costs = indices.iter().map(|i| factor * self.costs[*i]).collect();
        let design = DesignMatrix::by_rows(rows, self.design.intercept);
        let sample =
            MarginLoss::new(design, self.n_outputs, targets, costs, self.power, self.penalties);
        MarginLoss { max_hessian_entries: self.max_hessian_entries, ..sample }
    }

    /// Moves to weights close to the optimum, where an explicit Hessian pays off.
    pub fn start_from_weights(&mut self, weights: &[f64]) {
        self.weights.copy_from_slice(weights);
        self.design.scores(&self.weights, self.n_outputs, &mut self.scores);
        self.products_since_update = u64::from(u32::MAX);
    }

    /// Moves to dual variables `θ` and the weights they give.
    pub fn start_from_dual(&mut self, weights: &[f64], thetas: Vec<f64>) {
        self.weights.copy_from_slice(weights);
        self.design.scores(&self.weights, self.n_outputs, &mut self.scores);
        if self.power == LossPower::Linear {
            self.multipliers.copy_from_slice(&thetas);
            self.rho.fill(WARM_RHO / self.score_scale);
        }
        self.thetas = thetas;
    }
}

impl<'a> MarginProblem<'a> for MarginLoss<'a> {
    fn design(&self) -> &DesignMatrix<'a> {
        &self.design
    }

    fn n_subproblems(&self) -> usize {
        self.n_outputs
    }

    fn interval(&self, i: usize, k: usize) -> (f64, f64) {
        MarginLoss::interval(self, i, k)
    }

    fn cost(&self, i: usize, k: usize) -> f64 {
        MarginLoss::cost(self, i, k)
    }

    fn loss_power(&self) -> LossPower {
        self.power
    }

    fn intercept_penalty(&self) -> f64 {
        self.penalties.intercept.l2
    }

    fn score_scale(&self) -> f64 {
        self.score_scale
    }
}

/// The loss of a score per unit of cost, and its `θ`.
#[inline]
fn smoothed_loss(
    interval: (f64, f64),
    rho: f64,
    max_theta: f64,
    multiplier: f64,
    z: f64,
) -> (f64, f64) {
    let r = signed_distance(interval, z - multiplier / rho);
    let theta = (rho * r).clamp(-max_theta, max_theta);
    (theta * r - 0.5 * theta * theta / rho, theta)
}

/// What has to be added to a score to reach its interval.
#[inline]
fn signed_distance((low, high): (f64, f64), z: f64) -> f64 {
    if z < low {
        low - z
    } else if z > high {
        high - z
    } else {
        0.0
    }
}

/// The weighted standard deviation of regression targets; of constant targets their absolute value, or 1.
fn target_scale(y: &[f64], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let mean = y.iter().zip(weights).map(|(y, w)| w * y).sum::<f64>() / total;
    let squares: f64 = y.iter().zip(weights).map(|(y, w)| w * (y - mean) * (y - mean)).sum();
    match (squares / total).sqrt() {
        deviation if deviation > 1e-9 * mean.abs() => deviation,
        _ if mean != 0.0 => mean.abs(),
        _ => 1.0,
    }
}

/// The sums of all blocks, in their order.
fn sum_blocks(blocks: Vec<Vec<f64>>, m: usize) -> Vec<f64> {
    let mut sums = vec![0.0; m];
    for block in blocks {
        sums.iter_mut().zip(block).for_each(|(sum, x)| *sum += x);
    }
    sums
}
