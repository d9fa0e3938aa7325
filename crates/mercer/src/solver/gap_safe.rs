//! Coordinate descent for least squares with an elastic-net penalty, with gap safe screening (Friedman, Hastie & Tibshirani
//! 2010; Ndiaye, Fercoq, Gramfort & Salmon 2017).
//!
//! Minimize `½‖Y − XW‖² + Σⱼ (½ l2 ‖wⱼ‖² + l1 ‖wⱼ‖)` over the rows `wⱼ` of `W`, one per column of `X`, given centered and
//! weighted columns and targets. With one target this is the elastic net; with several the columns are selected for all of
//! them at once (the multi-task elastic net). A scaled residual `θ` is feasible for the dual problem, so that
//! every few passes have a duality gap; columns with `‖xⱼᵀθ‖ + ‖xⱼ‖ √(2 gap) < l1` have weight zero at the optimum and are
//! not visited again.

use super::coordinate_descent::ElasticNetPenalty;
use super::duality_gap::DualityGap;
use crate::model::{Monitor, Stop};
use mercer_num::Rows;
use mercer_num::parallel::prelude::*;
use mercer_num::simd::dot_rows;
use mercer_num::sparse::CsrMatrix;

/// Squares below this fraction of a column's own squares are the rounding error of its centering: it is constant.
const CONSTANT_COLUMN: f64 = 1e-26;
/// The relative rounding error of a duality gap.
const GAP_ROUNDING: f64 = 1e-13;
/// Columns of one parallel task.
const COLUMNS_PER_TASK: usize = 16;

/// The columns of `X`, centered and multiplied by the square roots of the sample weights.
pub(crate) struct WeightedColumns {
    storage: Storage,
    /// The means of the columns; zeros without an intercept.
    pub means: Vec<f64>,
    /// The sum of the sample weights.
    pub weight: f64,
    /// The square roots of the sample weights.
    roots: Vec<f64>,
    squared_norms: Vec<f64>,
}

enum Storage {
    /// Column after column.
    Dense(Vec<f64>),
    /// One row per column of `X`, not centered: the mean is added to products instead.
    Sparse(CsrMatrix),
}

impl WeightedColumns {
    /// The columns of rows with their sample weights, around their means if `centered`.
    pub fn new(rows: &Rows<'_>, weights: &[f64], centered: bool) -> WeightedColumns {
        let weight: f64 = weights.iter().sum();
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let storage = match rows {
            Rows::Sparse(x) => Storage::Sparse(x.sum_duplicates().view().transpose()),
            _ => Storage::Dense(column_major(rows)),
        };
        let (n, d) = (rows.n_rows(), rows.n_columns());
        let mut columns = WeightedColumns {
            storage,
            means: vec![0.0; d],
            weight,
            roots,
            squared_norms: vec![0.0; d],
        };
        if centered {
            columns.means = (0..d).map(|j| columns.dot(j, weights) / weight).collect();
        }
        let (means, roots) = (&columns.means, &columns.roots);
        columns.storage = match columns.storage {
            Storage::Dense(mut x) => {
                x.par_chunks_mut(n.max(1)).zip(means).for_each(|(column, mean)| {
                    column.iter_mut().zip(roots).for_each(|(x, root)| *x = (*x - mean) * root);
                });
                Storage::Dense(x)
            }
            Storage::Sparse(x) => Storage::Sparse(x.scale_columns(roots)),
        };
        columns.squared_norms = (0..d).map(|j| columns.squared_norm(j)).collect();
        columns
    }

    /// A target, centered around its mean if the columns are, and multiplied by the roots of the weights; and its mean.
    pub fn target(&self, y: impl Iterator<Item = f64> + Clone, centered: bool) -> (Vec<f64>, f64) {
        let sum: f64 = y.clone().zip(&self.roots).map(|(y, root)| y * root * root).sum();
        let mean = if centered { sum / self.weight } else { 0.0 };
        (y.zip(&self.roots).map(|(y, root)| (y - mean) * root).collect(), mean)
    }

    pub fn n_columns(&self) -> usize {
        self.means.len()
    }

    /// The product of a column, as it is stored, with a vector.
    fn dot(&self, j: usize, v: &[f64]) -> f64 {
        match &self.storage {
            Storage::Dense(x) => {
                let mut product = [0.0];
                dot_rows(&x[j * v.len()..(j + 1) * v.len()], v, &mut product);
                product[0]
            }
            Storage::Sparse(x) => x.view().dot(j, v),
        }
    }

    fn squared_norm(&self, j: usize) -> f64 {
        let squares = |column: &[f64]| column.iter().map(|x| x * x).sum::<f64>();
        let shift = self.weight * self.means[j] * self.means[j];
        let (norm, scale) = match &self.storage {
            Storage::Dense(x) => {
                let n = self.roots.len();
                let norm = squares(&x[j * n..(j + 1) * n]);
                (norm, norm + shift)
            }
            Storage::Sparse(x) => {
                let raw = squares(x.view().row(j).1);
                // The cancellation of the difference has relative errors of the size of the machine epsilon.
                return if raw - shift > 1e-13 * raw { raw - shift } else { 0.0 };
            }
        };
        if norm > CONSTANT_COLUMN * scale { norm } else { 0.0 }
    }
}

/// The cells of dense rows, column after column.
fn column_major(rows: &Rows<'_>) -> Vec<f64> {
    /// Rows of a block that is transposed while it is in cache.
    const ROWS_PER_BLOCK: usize = 64;
    let (n, d) = (rows.n_rows(), rows.n_columns());
    let mut out = vec![0.0; n * d];
    for first in (0..n).step_by(ROWS_PER_BLOCK) {
        let end = (first + ROWS_PER_BLOCK).min(n);
        let block = rows.block(first..end).unwrap_or_default();
        for (i, row) in (first..end).zip(block.chunks_exact(d.max(1))) {
            row.iter().enumerate().for_each(|(j, x)| out[j * n + i] = *x);
        }
    }
    out
}

/// Which weights are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Any,
    /// Nonnegative weights of a single target.
    Nonnegative,
}

/// What is minimized, and how closely.
#[derive(Clone, Copy)]
pub(crate) struct Options<'a> {
    pub penalty: ElasticNetPenalty,
    pub sign: Sign,
    /// Stop when the duality gap is at most this fraction of `‖Y‖²`.
    pub tol: f64,
    pub max_iter: usize,
    pub monitor: &'a Monitor<'a>,
}

/// The weights and how close they are to the optimum.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    /// The weights of all targets of the first column, then of the second.
    pub weights: Vec<f64>,
    pub gap: DualityGap,
    /// `½‖Y − XW‖²` twice: the sum of squared residuals of each target.
    pub residual_squares: Vec<f64>,
    pub passes: u64,
    pub converged: bool,
    pub stopped: Option<Stop>,
}

/// Minimizes from the given weights, or from zero.
pub(crate) fn solve(
    columns: &WeightedColumns,
    targets: &[Vec<f64>],
    start: Option<&[f64]>,
    options: &Options<'_>,
) -> Solution {
    let mut state = State::new(columns, targets, start, options);
    let scale: f64 = targets.iter().flatten().map(|y| y * y).sum();
    // Without a penalty there is no dual point, and the gradient decides.
    let penalized = options.penalty.l1 > 0.0 || options.penalty.l2 > 0.0;
    let is_met = |gap: &DualityGap| {
        let stationary = !penalized && gap.kkt_violation <= options.tol * scale.sqrt();
        gap.gap <= options.tol * scale || stationary
    };
    let mut active: Vec<usize> =
        (0..columns.n_columns()).filter(|j| columns.squared_norms[*j] > 0.0).collect();
    let (mut passes, mut stopped) = (0, None);
    let mut gap = state.evaluate(&mut active);
    let mut converged = start.is_some() && is_met(&gap);
    while passes < options.max_iter as u64 && !converged {
        stopped = options.monitor.stop();
        if stopped.is_some() {
            break;
        }
        let (change, largest) = active.iter().fold((0.0f64, 0.0f64), |(change, largest), j| {
            let (by, size) = state.update(*j);
            (change.max(by), largest.max(size))
        });
        passes += 1;
        if change <= options.tol * largest || passes == options.max_iter as u64 || passes % 10 == 0
        {
            gap = state.evaluate(&mut active);
            converged = is_met(&gap) && (change <= options.tol * largest || gap.gap <= 0.0);
            options.monitor.report(passes, None);
        }
    }
    if options.max_iter == 0 {
        converged = is_met(&gap);
    }
    let squares = |r: &Vec<f64>| r.iter().map(|r| r * r).sum();
    let residual_squares = state.centered_residuals().iter().map(squares).collect();
    Solution { weights: state.weights, gap, residual_squares, passes, converged, stopped }
}

/// The current weights and what follows from them.
struct State<'a> {
    columns: &'a WeightedColumns,
    targets: &'a [Vec<f64>],
    options: &'a Options<'a>,
    weights: Vec<f64>,
    /// `Y − XW` of each target, with `X` as it is stored.
    residuals: Vec<Vec<f64>>,
    /// `Σⱼ mⱼ wⱼ` of each target: what the means add to the residuals, in units of the roots of the weights.
    shifts: Vec<f64>,
}

impl<'a> State<'a> {
    fn new(
        columns: &'a WeightedColumns,
        targets: &'a [Vec<f64>],
        start: Option<&[f64]>,
        options: &'a Options<'a>,
    ) -> State<'a> {
        let m = targets.len();
        let mut state = State {
            columns,
            targets,
            options,
            weights: vec![0.0; columns.n_columns() * m],
            residuals: targets.to_vec(),
            shifts: vec![0.0; m],
        };
        for (at, w) in start.unwrap_or_default().iter().enumerate() {
            let allowed = options.sign == Sign::Any || *w > 0.0;
            if *w != 0.0 && allowed && columns.squared_norms[at / m] > 0.0 {
                state.change(at / m, at % m, *w);
            }
        }
        state
    }

    /// Whether the storage of the columns is centered already.
    fn is_shifted(&self) -> bool {
        matches!(self.columns.storage, Storage::Sparse(_))
    }

    /// `xⱼᵀ (Y − XW)` of one target.
    fn correlation(&self, j: usize, k: usize) -> f64 {
        let product = self.columns.dot(j, &self.residuals[k]);
        match self.is_shifted() {
            true => product + self.shifts[k] * self.columns.weight * self.columns.means[j],
            false => product,
        }
    }

    fn change(&mut self, j: usize, k: usize, by: f64) {
        self.weights[j * self.targets.len() + k] += by;
        let residual = &mut self.residuals[k];
        match &self.columns.storage {
            Storage::Dense(x) => {
                let column = &x[j * residual.len()..(j + 1) * residual.len()];
                residual.iter_mut().zip(column).for_each(|(r, x)| *r -= by * x);
            }
            Storage::Sparse(x) => {
                x.view().add_to(j, -by, residual);
                self.shifts[k] += by * self.columns.means[j];
            }
        }
    }

    /// Minimizes over the weights of one column; returns the largest change and the largest weight.
    fn update(&mut self, j: usize) -> (f64, f64) {
        let m = self.targets.len();
        let ElasticNetPenalty { l2, l1 } = self.options.penalty;
        let norm = self.columns.squared_norms[j];
        let old: Vec<f64> = self.weights[j * m..(j + 1) * m].to_vec();
        let mut new: Vec<f64> = (0..m).map(|k| self.correlation(j, k) + norm * old[k]).collect();
        match self.options.sign {
            Sign::Nonnegative => new.iter_mut().for_each(|u| *u = (*u - l1).max(0.0)),
            Sign::Any => {
                let length = new.iter().map(|u| u * u).sum::<f64>().sqrt();
                let kept = if length > l1 { 1.0 - l1 / length } else { 0.0 };
                new.iter_mut().for_each(|u| *u *= kept);
            }
        }
        let (mut change, mut largest) = (0.0f64, 0.0f64);
        for k in 0..m {
            let next = new[k] / (norm + l2);
            largest = largest.max(next.abs());
            if next != old[k] {
                change = change.max((next - old[k]).abs());
                self.change(j, k, next - old[k]);
            }
        }
        (change, largest)
    }

    /// The residuals with the means of sparse columns.
    fn centered_residuals(&self) -> Vec<Vec<f64>> {
        let with_shift = |(residual, shift): (&Vec<f64>, &f64)| {
            let cells = residual.iter().zip(&self.columns.roots);
            cells.map(|(r, root)| if self.is_shifted() { r + shift * root } else { *r }).collect()
        };
        self.residuals.iter().zip(&self.shifts).map(with_shift).collect()
    }

    /// The duality gap at the current weights; removes the columns that it proves to have weight zero.
    fn evaluate(&mut self, active: &mut Vec<usize>) -> DualityGap {
        let m = self.targets.len();
        let ElasticNetPenalty { l2, l1 } = self.options.penalty;
        // xⱼᵀ(Y − XW) − l2 wⱼ: the gradient of the smooth part, with the opposite sign.
        let d = self.columns.n_columns();
        let gradient: Vec<f64> =
            (0..d).into_par_iter().with_min_len(COLUMNS_PER_TASK).flat_map_collect(|j| {
                let this = &*self;
                (0..m).map(move |k| this.correlation(j, k) - l2 * this.weights[j * m + k])
            });
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let sizes: Vec<f64> = match self.options.sign {
            Sign::Any => gradient.chunks_exact(m).map(length).collect(),
            Sign::Nonnegative => gradient.clone(),
        };
        let norms: Vec<f64> = self.weights.chunks_exact(m).map(length).collect();
        let residuals = self.centered_residuals();
        let squares: f64 = residuals.iter().flatten().map(|r| r * r).sum();
        let products =
            |(r, y): (&Vec<f64>, &Vec<f64>)| -> f64 { r.iter().zip(y).map(|(r, y)| r * y).sum() };
        let product: f64 = residuals.iter().zip(self.targets).map(products).sum();
        let (l1_norm, l2_norm): (f64, f64) =
            (norms.iter().sum(), norms.iter().map(|w| w * w).sum());
        let primal = 0.5 * squares + 0.5 * l2 * l2_norm + l1 * l1_norm;
        let largest = sizes.iter().fold(0.0, |a: f64, b| a.max(*b));
        let scaled = if largest > l1 { l1 / largest } else { 1.0 };
        let both = 0.5 * (1.0 + scaled * scaled);
        let mut gap = both * (squares + l2 * l2_norm) + l1 * l1_norm - scaled * product;
        if l1 > 0.0 {
            // The gap is a difference of values of the size of the primal one and can round to zero.
            let rounding = GAP_ROUNDING * (squares + product.abs() + l1 * l1_norm);
            self.screen(active, &sizes, scaled, gap.max(0.0) + rounding);
        }
        let (violation, distance) = self.subgradient(&gradient, &norms);
        if l2 > 0.0 {
            // The objective is strongly convex, which also bounds its distance from the optimum.
            gap = gap.min(0.5 * distance / l2);
        }
        // No objective is negative, which bounds the distance from the optimum even without a penalty.
        let values = DualityGap::from_gap(primal, gap.max(0.0).min(primal));
        DualityGap { kkt_violation: violation, ..values }
    }

    /// The largest entry of the subgradient of minimum norm by column, relative to the column's norm, and its squared norm.
    fn subgradient(&self, gradient: &[f64], norms: &[f64]) -> (f64, f64) {
        let m = self.targets.len();
        let l1 = self.options.penalty.l1;
        let (mut violation, mut squared) = (0.0f64, 0.0);
        for (j, g) in gradient.chunks_exact(m).enumerate() {
            let w = &self.weights[j * m..(j + 1) * m];
            let size = g.iter().map(|g| g * g).sum::<f64>().sqrt();
            let rest = match norms[j] {
                0.0 if self.options.sign == Sign::Nonnegative => (g[0] - l1).max(0.0),
                0.0 => (size - l1).max(0.0),
                norm => {
                    let parts = g.iter().zip(w).map(|(g, w)| (g - l1 * w / norm).powi(2));
                    parts.sum::<f64>().sqrt()
                }
            };
            squared += rest * rest;
            if self.columns.squared_norms[j] > 0.0 {
                violation = violation.max(rest / self.columns.squared_norms[j].sqrt());
            }
        }
        (violation, squared)
    }

    /// Removes the columns whose weight is zero at the optimum.
    fn screen(&mut self, active: &mut Vec<usize>, sizes: &[f64], scaled: f64, gap: f64) {
        let ElasticNetPenalty { l2, l1 } = self.options.penalty;
        let radius = (2.0 * gap).sqrt();
        let m = self.targets.len();
        let is_zero = |j: &usize| {
            let norm = (self.columns.squared_norms[*j] + l2).sqrt();
            scaled * sizes[*j] + radius * norm < (1.0 - GAP_ROUNDING) * l1
        };
        let removed: Vec<usize> = active.iter().copied().filter(|j| is_zero(j)).collect();
        active.retain(|j| removed.binary_search(j).is_err());
        for j in removed {
            for k in 0..m {
                let w = self.weights[j * m + k];
                if w != 0.0 {
                    self.change(j, k, -w);
                    self.weights[j * m + k] = 0.0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::Matrix;
    use mercer_num::random::Random;

    fn options<'a>(l1: f64, l2: f64, tol: f64, monitor: &'a Monitor<'a>) -> Options<'a> {
        let penalty = ElasticNetPenalty { l2, l1 };
        Options { penalty, sign: Sign::Any, tol, max_iter: 10_000, monitor }
    }

    fn problem(n: usize, d: usize) -> (Matrix, Vec<f64>) {
        let mut random = Random::new(4);
        let x = Matrix::from_shape_simple_fn((n, d), || random.normal());
        let y = (0..n).map(|i| 3.0 * x[[i, 0]] - 2.0 * x[[i, 1]] + 0.1 * random.normal()).collect();
        (x, y)
    }

    #[test]
    fn orthogonal_columns_are_soft_thresholded() {
        // XᵀX = 2 I and Xᵀy = (5, 1): wⱼ = sign(5) (5 − 2) / 2 = 1.5 and 0, since 1 < 2.
        let x = ndarray::array![[1.0, 1.0], [1.0, -1.0]];
        let monitor = Monitor::quiet();
        let columns = WeightedColumns::new(&Rows::from(&x), &[1.0, 1.0], false);

        let solution =
            solve(&columns, &[vec![3.0, 2.0]], None, &options(2.0, 0.0, 1e-12, &monitor));

        assert_eq!(solution.weights, [1.5, 0.0]);
        assert!(solution.converged && solution.gap.gap < 1e-12);
    }

    #[test]
    fn the_gap_bounds_the_distance_from_the_optimum() {
        let (x, y) = problem(40, 60);
        let monitor = Monitor::quiet();
        let columns = WeightedColumns::new(&Rows::from(&x), &vec![1.0; 40], true);
        let (y, _) = columns.target(y.iter().copied(), true);
        let best =
            solve(&columns, std::slice::from_ref(&y), None, &options(2.0, 0.5, 1e-14, &monitor));
        for max_iter in 0..6 {
            let few = Options { max_iter, ..options(2.0, 0.5, 1e-14, &monitor) };

            let found = solve(&columns, std::slice::from_ref(&y), None, &few);

            assert!(found.gap.primal - best.gap.primal <= found.gap.gap + 1e-12);
            assert_eq!(found.passes, max_iter as u64);
        }
        assert!(best.converged);
        assert!(best.weights.iter().filter(|w| **w != 0.0).count() < 60);
    }

    #[test]
    fn sparse_columns_are_centered_without_a_dense_copy() {
        let (mut x, y) = problem(30, 8);
        x.mapv_inplace(|x| if x < 0.3 { 0.0 } else { x });
        let weights: Vec<f64> = (0..30).map(|i| f64::from(i % 3) + 0.5).collect();
        let csr = CsrMatrix::from_dense(&Rows::from(&x), 1.0).unwrap();
        let monitor = Monitor::quiet();
        let solved = |rows: &Rows<'_>| {
            let columns = WeightedColumns::new(rows, &weights, true);
            let (y, _) = columns.target(y.iter().copied(), true);
            solve(&columns, &[y], None, &options(1.0, 0.3, 1e-14, &monitor))
        };

        let (dense, sparse) = (solved(&Rows::from(&x)), solved(&Rows::Sparse(csr.view())));

        assert!(dense.weights.iter().zip(&sparse.weights).all(|(a, b)| (a - b).abs() < 1e-7));
        assert!((dense.gap.primal - sparse.gap.primal).abs() < 1e-9 * dense.gap.primal);
    }

    #[test]
    fn a_gap_that_rounds_to_zero_removes_no_selected_column() {
        // Just below the largest strength the gap at zero weights is 1e-18 of the objective; screening by it removed
        // the only column that enters.
        let (x, y) = problem(40, 5);
        let monitor = Monitor::quiet();
        let columns = WeightedColumns::new(&Rows::from(&x), &vec![1.0; 40], true);
        let (y, _) = columns.target(y.iter().copied(), true);
        let largest = (0..5).map(|j| columns.dot(j, &y).abs()).fold(0.0, f64::max);
        for below in [1e-3, 1e-6, 1e-8, 1e-9, 1e-10] {
            let options = options(largest * (1.0 - below), 0.0, 1e-4, &monitor);

            let found = solve(&columns, std::slice::from_ref(&y), None, &options);

            let count = found.weights.iter().filter(|w| **w != 0.0).count();
            assert_eq!((count, found.converged), (1, true), "{below}");
        }
    }

    #[test]
    fn nonnegative_weights_meet_their_own_conditions() {
        let (x, y) = problem(50, 5);
        let monitor = Monitor::quiet();
        let columns = WeightedColumns::new(&Rows::from(&x), &vec![1.0; 50], true);
        let (y, _) = columns.target(y.iter().copied(), true);
        let options = Options { sign: Sign::Nonnegative, ..options(0.5, 0.0, 1e-13, &monitor) };

        let solution = solve(&columns, &[y], None, &options);

        assert!(solution.converged);
        assert!(solution.weights[0] > 2.5 && solution.weights[1] == 0.0);
        assert!(solution.weights.iter().all(|w| *w >= 0.0));
    }

    #[test]
    fn several_targets_share_their_columns() {
        let (x, y) = problem(50, 6);
        let other: Vec<f64> = (0..50).map(|i| y[i] + x[[i, 2]]).collect();
        let monitor = Monitor::quiet();
        let columns = WeightedColumns::new(&Rows::from(&x), &vec![1.0; 50], true);
        let targets = [&y, &other].map(|y| columns.target(y.iter().copied(), true).0);

        let solution = solve(&columns, &targets, None, &options(20.0, 0.0, 1e-13, &monitor));

        assert!(solution.converged);
        for w in solution.weights.chunks_exact(2) {
            assert_eq!(w[0] == 0.0, w[1] == 0.0);
        }
        assert!(solution.weights[10] == 0.0);
    }
}
