//! Dual coordinate descent for linear support vector machines (Hsieh et al. 2008; for regression Ho & Lin 2012).
//!
//! For every one-vs-rest subproblem minimize over the signed dual variables `βᵢ` (`βᵢ = yᵢαᵢ` for classification)
//!
//! `½‖Σᵢ βᵢ xᵢ‖² + (Σᵢ βᵢ)² / 2λ₀ − Σᵢ end(βᵢ) βᵢ`  subject to  `|βᵢ| ≤ Cᵢ`,
//!
//! plus `Σᵢ βᵢ² / 4Cᵢ` and without the bound for the squared loss. `end` is the end of the interval `[lowᵢ, highᵢ]` that
//! the score should reach: `[1, ∞)` or `(−∞, −1]` for a class, `[y − ε, y + ε]` for a regression target. The primal weights
//! `w = Σᵢ βᵢ xᵢ` and the intercept `b = Σᵢ βᵢ / λ₀` are updated with every `βᵢ`, so that the minimum over one variable is
//! a formula: with the score `z = wᵀxᵢ + b` and the diagonal entry `QDᵢ = ‖xᵢ‖² + 1/λ₀` (plus `1/2Cᵢ`), the score
//! without the row's own contribution is `z − QDᵢβᵢ`, and `βᵢ` is what brings it to the interval, clipped to the bounds.
//!
//! Steps are over-relaxed, variables stuck at a bound are shrunk ([`active_set`]), and the first epochs handle several
//! classes at once ([`simd_classes`]); afterwards every class has a thread of its own. Rows are read from a copy in
//! single precision until the tolerance is finer than that. The weights and the duality gap are always computed from the
//! rows in double precision. The last digits of an ill-conditioned problem are left to Newton's method.

mod active_set;
pub(crate) mod crammer_singer;
pub(crate) mod logistic;
mod simd_classes;

use crate::data::design_matrix::{DesignMatrix, RowAccess};
use crate::model::{Monitor, Stop};
use active_set::{ActiveSet, Visit};
use mercer_num::memory::prefetch;
use mercer_num::parallel::prelude::*;
use mercer_num::simd::packed_rows::PackedRows;
use simd_classes::{ClassGroup, GroupRow};
use std::cmp::Ordering;

/// Rows per task of parallel loops over rows.
const ROWS_PER_TASK: usize = 1024;
/// The finest tolerances that epochs over several classes, and rows in single precision, can reach.
const MIN_GROUP_TOLERANCE: f64 = 2e-5;
const MIN_SINGLE_PRECISION_TOLERANCE: f64 = 1e-5;
/// The over-relaxation factor `ω`. Any factor below two decreases the objective with every update (Cryer 1971).
const OVER_RELAXATION: f64 = 1.4;
/// Squared norms of rows that single precision can represent with room to spare.
const SINGLE_PRECISION_NORMS: std::ops::Range<f64> = 1e-12..1e12;
/// Classes per group: the larger number where the classes would fill more than two groups of the smaller.
const SMALL_GROUP: usize = 8;
const LARGE_GROUP: usize = 16;
/// Epochs over several classes at once, at most.
const MAX_GROUP_EPOCHS: u64 = 40;

/// Whether the loss is the distance from the interval or its square.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LossPower {
    Linear,
    Squared,
}

/// A linear support vector problem with an L2 penalty: `½‖w‖² + ½λ₀b² + Σᵢ Cᵢ dᵢᵖ`, with `dᵢ` the distance of the score
/// from its interval.
pub(crate) trait MarginProblem<'d>: Sync {
    fn design(&self) -> &DesignMatrix<'d>;

    /// One-vs-rest subproblems.
    fn n_subproblems(&self) -> usize;

    /// The interval that score `k` of row `i` should lie in.
    fn interval(&self, i: usize, k: usize) -> (f64, f64);

    /// `Cᵢ` of row `i` in subproblem `k`.
    fn cost(&self, i: usize, k: usize) -> f64;

    fn loss_power(&self) -> LossPower;

    /// `λ₀`, above zero if there is an intercept.
    fn intercept_penalty(&self) -> f64;

    /// The scale of the scores, which tolerances are relative to.
    fn score_scale(&self) -> f64;
}

/// The dual variables of all classes during the iterations.
pub(crate) struct DualCoordinateDescent<'a> {
    rows: RowAccess<'a>,
    /// The rows in single precision, if it can represent them.
    packed: Option<PackedRows>,
    classes: Vec<ClassDual>,
    n_weights: usize,
    score_scale: f64,
    pub stopped: Option<Stop>,
}

/// One row of one subproblem.
#[derive(Clone, Copy)]
struct DualVariable {
    /// The interval of the score.
    low: f64,
    high: f64,
    cost: f64,
    /// `‖x‖² + 1/λ₀`: how much the score changes with `beta`.
    xsq: f64,
    beta: f64,
}

impl DualVariable {
    /// The bound on `|β|` and the diagonal entry `QD`.
    #[inline]
    fn bound_and_diagonal(&self, power: LossPower) -> (f64, f64) {
        match power {
            LossPower::Linear => (self.cost, self.xsq),
            LossPower::Squared => (f64::INFINITY, self.xsq + 0.5 / self.cost),
        }
    }
}

/// The dual variables and weights of one subproblem.
struct DualState {
    variables: Vec<DualVariable>,
    /// The intercept is the last weight.
    w: Vec<f64>,
    /// `1/λ₀`: how much the intercept changes with a dual variable; zero without one.
    intercept_scale: f64,
    power: LossPower,
    /// Whether `w` is the sum over the dual variables in double precision.
    is_exact: bool,
}

/// One subproblem and its iterations.
struct ClassDual {
    state: DualState,
    active: ActiveSet,
    /// Whether the last epoch over all rows found no violation above the tolerance.
    converged: bool,
    stopped: Option<Stop>,
}

/// When the epochs end.
struct EpochLimits<'m> {
    tolerance: f64,
    max_epochs: u64,
    monitor: &'m Monitor<'m>,
}

/// Rows in double or in single precision.
#[derive(Clone, Copy)]
enum RowSource<'a, 'b> {
    Double(&'b RowAccess<'a>),
    Single(&'b PackedRows),
}

impl<'a> DualCoordinateDescent<'a> {
    /// All dual variables are zero.
    pub fn new(problem: &impl MarginProblem<'a>) -> DualCoordinateDescent<'a> {
        let design = problem.design();
        let rows = design.row_access();
        let (n, n_weights) = (design.n_rows(), design.n_weights());
        let intercept_scale =
            if design.intercept { 1.0 / problem.intercept_penalty() } else { 0.0 };
        let xsq: Vec<f64> = (0..n)
            .into_par_iter()
            .with_min_len(ROWS_PER_TASK)
            .map(|i| rows.squared_norm(i) + intercept_scale)
            .collect();
        let classes = (0..problem.n_subproblems()).into_par_iter().map(|k| {
            let variable = |(i, xsq): (usize, &f64)| {
                let (low, high) = problem.interval(i, k);
                DualVariable { low, high, cost: problem.cost(i, k), xsq: *xsq, beta: 0.0 }
            };
            let variables: Vec<DualVariable> = xsq.iter().enumerate().map(variable).collect();
            let weighted = |i: &u32| variables[*i as usize].cost > 0.0;
            let active = ActiveSet::new((0..n as u32).filter(weighted).collect());
            let (w, power) = (vec![0.0; n_weights], problem.loss_power());
            let state = DualState { variables, w, intercept_scale, power, is_exact: true };
            ClassDual { state, active, converged: false, stopped: None }
        });
        let representable = xsq.iter().all(|s| *s == 0.0 || SINGLE_PRECISION_NORMS.contains(s));
        let packed = match &rows {
            RowAccess::Sparse(x) if representable => PackedRows::of(&x.view()),
            _ => None,
        };
        let (classes, score_scale) = (classes.collect(), problem.score_scale());
        DualCoordinateDescent { classes, rows, packed, n_weights, score_scale, stopped: None }
    }

    /// Epochs over the rows until no projected gradient exceeds `tolerance`, or until the limit of epochs; returns
    /// whether the tolerance was reached.
    pub fn run(&mut self, tolerance: f64, max_epochs: u64, monitor: &Monitor<'_>) -> bool {
        let is_first = self.classes.iter().all(|class| class.active.epochs == 0);
        // Converged to an earlier, coarser tolerance.
        self.classes.iter_mut().for_each(|class| class.converged = false);
        let limits = EpochLimits { tolerance, max_epochs, monitor };
        let DualCoordinateDescent { rows, packed, classes, score_scale, .. } = self;
        let coarse = tolerance >= MIN_SINGLE_PRECISION_TOLERANCE * *score_scale;
        let single = packed.as_ref().filter(|_| coarse);
        let run_class = |class: &mut ClassDual| {
            let source = match single {
                _ if class.converged || class.stopped.is_some() => return,
                Some(packed) => RowSource::Single(packed),
                None => {
                    class.state.sum_weights(rows);
                    RowSource::Double(rows)
                }
            };
            class.run(source, &limits);
        };
        match &*packed {
            Some(packed) if is_first && classes.len() > 1 => {
                let large = classes.len() > 2 * SMALL_GROUP;
                let group_size = if large { LARGE_GROUP } else { SMALL_GROUP };
                let n_groups = classes.len().div_ceil(group_size);
                let size = classes.len().div_ceil(n_groups);
                // In the order of arrival: classes continue one by one while other groups are still running.
                rayon::scope_fifo(|scope| {
                    for group in classes.chunks_mut(size) {
                        let (rows, limits, run_class) = (&*rows, &limits, &run_class);
                        scope.spawn_fifo(move |scope| {
                            match large {
                                true => run_group::<LARGE_GROUP>(group, packed, rows, limits),
                                false => run_group::<SMALL_GROUP>(group, packed, rows, limits),
                            }
                            for class in group {
                                scope.spawn_fifo(|_| run_class(class));
                            }
                        });
                    }
                });
            }
            _ => classes.par_iter_mut().with_max_len(1).for_each(run_class),
        }
        self.stopped = self.classes.iter().find_map(|class| class.stopped);
        self.classes.iter().all(|class| class.converged)
    }

    /// The largest number of epochs of any class.
    pub fn epochs(&self) -> u64 {
        self.classes.iter().map(|class| class.active.epochs).max().unwrap_or(0)
    }

    /// The weights in double precision, feature by feature and the intercepts last.
    pub fn weights(&mut self) -> Vec<f64> {
        let rows = &self.rows;
        self.classes.par_iter_mut().with_max_len(1).for_each(|class| class.state.sum_weights(rows));
        let w: Vec<&[f64]> = self.classes.iter().map(|class| &class.state.w[..]).collect();
        interleave(&w, self.n_weights)
    }

    /// `θᵢ = βᵢ / Cᵢ`, row by row.
    pub fn thetas(&self) -> Vec<f64> {
        let theta = |v: &DualVariable| if v.cost > 0.0 { v.beta / v.cost } else { 0.0 };
        let thetas: Vec<Vec<f64>> = self
            .classes
            .par_iter()
            .map(|class| class.state.variables.iter().map(theta).collect())
            .collect();
        let thetas: Vec<&[f64]> = thetas.iter().map(Vec::as_slice).collect();
        interleave(&thetas, thetas.first().map_or(0, |thetas| thetas.len()))
    }
}

/// Epochs over several classes at once, to the tolerance that single precision allows.
fn run_group<const N: usize>(
    classes: &mut [ClassDual],
    packed: &PackedRows,
    rows: &RowAccess<'_>,
    limits: &EpochLimits<'_>,
) {
    let variables = (0..packed.n_rows()).map(|i| group_row(classes, i)).collect();
    let DualState { intercept_scale, power, .. } = classes[0].state;
    let mut group = ClassGroup::<N>::new(variables, packed.n_columns(), intercept_scale, power);
    let tolerance = limits.tolerance.max(MIN_GROUP_TOLERANCE) as f32;
    group.run(packed, tolerance, MAX_GROUP_EPOCHS.min(limits.max_epochs), limits.monitor);
    for (k, class) in classes.iter_mut().enumerate() {
        class.continue_from(&group, k, rows);
        class.converged = group.converged && limits.tolerance >= MIN_GROUP_TOLERANCE;
    }
}

/// Row `i` of several classes.
fn group_row<const N: usize>(classes: &[ClassDual], i: usize) -> GroupRow<N> {
    let mut row = GroupRow::without_classes(classes[0].state.variables[i].xsq as f32);
    for (k, class) in classes.iter().enumerate() {
        let DualVariable { low, cost, xsq, .. } = class.state.variables[i];
        if cost > 0.0 {
            row.y[k] = if low.is_finite() { 1.0 } else { -1.0 };
            (row.bound[k], row.diagonal[k]) = match class.state.power {
                LossPower::Linear => (cost as f32, xsq.max(SINGLE_PRECISION_NORMS.start) as f32),
                LossPower::Squared => (f32::INFINITY, (xsq + 0.5 / cost) as f32),
            };
        }
    }
    row
}

/// The first entries of all vectors, then the second ones, and so on.
fn interleave(vectors: &[&[f64]], n: usize) -> Vec<f64> {
    let m = vectors.len();
    let mut out = vec![0.0; n * m];
    out.par_chunks_mut(ROWS_PER_TASK * m).enumerate().for_each(|(block, out)| {
        for (j, out) in (block * ROWS_PER_TASK..).zip(out.chunks_exact_mut(m)) {
            out.iter_mut().zip(vectors).for_each(|(out, vector)| *out = vector[j]);
        }
    });
    out
}

impl ClassDual {
    /// Takes over the dual variables of class `k` of a group.
    fn continue_from<const N: usize>(
        &mut self,
        group: &ClassGroup<N>,
        k: usize,
        rows: &RowAccess<'_>,
    ) {
        for (variable, row) in self.state.variables.iter_mut().zip(&group.rows) {
            let bound = match self.state.power {
                LossPower::Linear => variable.cost,
                LossPower::Squared => f64::INFINITY,
            };
            variable.beta = f64::from(row.beta[k]).clamp(-bound, bound);
        }
        (self.stopped, self.state.is_exact) = (group.stopped, false);
        self.active.epochs = group.epochs;
        self.active.visits = group.epochs * self.active.all().len() as u64;
        self.state.sum_weights(rows);
    }

    fn run(&mut self, rows: RowSource<'_, '_>, limits: &EpochLimits<'_>) {
        let EpochLimits { tolerance, max_epochs, monitor } = *limits;
        let ClassDual { state, active, .. } = self;
        active.reactivate();
        let max_visits = max_epochs * active.all().len() as u64;
        // A variable is shrunk where its gradient is beyond the largest violation of the last epoch.
        let mut pg_max_old = f64::INFINITY;
        self.converged = active.all().is_empty();
        while !self.converged && active.visits < max_visits {
            let is_complete = active.is_complete();
            let mut pg_max = 0.0f64;
            self.stopped = active.run_epoch(monitor, |i, upcoming| {
                if let Some(later) = upcoming.after_next {
                    prefetch(&state.variables[later..=later]);
                    rows.prefetch(later);
                }
                let (pg, visit) = state.update(rows, i, pg_max_old);
                pg_max = pg_max.max(pg);
                visit
            });
            if self.stopped.is_some() {
                return;
            }
            self.converged = pg_max <= tolerance && is_complete;
            let reactivated = active.shrink(pg_max <= tolerance);
            pg_max_old = if reactivated { f64::INFINITY } else { pg_max };
        }
    }
}

impl DualState {
    /// Minimizes over one dual variable; returns the size of its projected gradient, and whether to shrink it.
    #[inline]
    fn update(&mut self, rows: RowSource<'_, '_>, i: usize, pg_max_old: f64) -> (f64, Visit) {
        let z = rows.dot(i, &self.w) + self.intercept();
        let variable = self.variables[i];
        let DualVariable { low, high, xsq, beta, .. } = variable;
        let (bound, diagonal) = variable.bound_and_diagonal(self.power);
        // The score without the row's own contribution, and its signed distance from the interval.
        let others = z - xsq * beta;
        let distance = (low - others).max(0.0) + (high - others).min(0.0);
        let minimizer =
            if distance == 0.0 { 0.0 } else { (distance / diagonal).clamp(-bound, bound) };
        let relaxed = beta + OVER_RELAXATION * (minimizer - beta);
        let new_beta = match minimizer.partial_cmp(&0.0) {
            Some(Ordering::Greater) => relaxed.clamp(0.0, bound),
            Some(Ordering::Less) => relaxed.clamp(-bound, 0.0),
            _ => 0.0,
        };
        let step = new_beta - beta;
        if step != 0.0 {
            self.variables[i].beta = new_beta;
            self.is_exact = false;
            rows.add_to(i, step, &mut self.w);
            if let (Some(b), true) = (self.w.last_mut(), self.intercept_scale > 0.0) {
                *b += step * self.intercept_scale;
            }
            return ((minimizer - beta).abs() * diagonal, Visit::Keep);
        }
        let stuck = match minimizer == 0.0 {
            true => z > low + pg_max_old && z < high - pg_max_old,
            false => minimizer.abs() == bound && (z < low - pg_max_old || z > high + pg_max_old),
        };
        (0.0, if stuck { Visit::Shrink } else { Visit::Keep })
    }

    fn intercept(&self) -> f64 {
        match self.w.last() {
            Some(b) if self.intercept_scale > 0.0 => *b,
            _ => 0.0,
        }
    }

    /// `w = Σᵢ βᵢ xᵢ` in double precision.
    fn sum_weights(&mut self, rows: &RowAccess<'_>) {
        if self.is_exact {
            return;
        }
        let w = &mut self.w;
        w.fill(0.0);
        let mut intercept = 0.0;
        for (i, variable) in self.variables.iter().enumerate().filter(|(_, v)| v.beta != 0.0) {
            rows.add_to(i, variable.beta, w);
            intercept += variable.beta * self.intercept_scale;
        }
        if let (Some(b), true) = (w.last_mut(), self.intercept_scale > 0.0) {
            *b = intercept;
        }
        self.is_exact = true;
    }
}

impl RowSource<'_, '_> {
    #[inline]
    fn dot(self, i: usize, w: &[f64]) -> f64 {
        match self {
            RowSource::Double(rows) => rows.dot(i, w),
            RowSource::Single(rows) => rows.dot(i, w),
        }
    }

    #[inline]
    fn add_to(self, i: usize, factor: f64, w: &mut [f64]) {
        match self {
            RowSource::Double(rows) => rows.add_to(i, factor, w),
            RowSource::Single(rows) => rows.add_to(i, factor, w),
        }
    }

    #[inline]
    fn prefetch(self, i: usize) {
        match self {
            RowSource::Double(rows) => rows.prefetch(i),
            RowSource::Single(rows) => rows.prefetch_row(i),
        }
    }
}
