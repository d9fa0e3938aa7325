//! Sequential minimal optimization with a kernel cache.
//!
//! The solver for a [`BoxQp`] whose kernel matrix does not fit in memory. Every iteration selects the pair that
//! [`optimize_pairs`] would select, over all variables of the working problem. If a column of `K` is not in the cache,
//! it is computed together with the columns of the most violating variables, as one matrix product on all threads.
//! Shrinking removes variables that are at a bound and far from leaving it (Joachims 1999); their rows are dropped
//! from a cached column when the column is next used. The solver stops when the KKT violation of the working problem
//! is within the tolerance; the caller evaluates the violation over all variables and resumes if it is larger.
//! Once the cache is full, [`working_set`](super::working_set) decomposition takes over.

use super::box_qp::{BoxQp, OnProgress, Solution, SolverOptions};
use super::column_cache::ColumnCache;
use super::columns::Columns;
use super::pair::{
    Variables, group_violation, most_violating_group, optimize_pairs, pair_violation, update_pair,
    violation,
};
use crate::model::{Convergence, Monitor};
use mercer_num::Float;
use mercer_num::simd::smo::WorkingSetScan;
use std::ops::Range;

/// The largest problem whose whole kernel matrix is computed at once.
pub(crate) const MAX_DENSE_KERNEL_ROWS: usize = 384;
/// The smallest capacity of the kernel cache, in columns.
pub(crate) const MIN_CACHED_COLUMNS: usize = 64;
/// Columns computed per block: one per `CACHED_PER_NEW_COLUMN` columns in the cache, within bounds. An easy problem
/// needs few columns in all and must not pay for others; a hard one needs most of them, and large blocks are faster.
const CACHED_PER_NEW_COLUMN: usize = 16;
const MIN_NEW_COLUMNS: usize = 8;
const MAX_NEW_COLUMNS: usize = 128;
/// With all columns in memory, a solve continues to this fraction of the tolerance: the last iterations are cheap, and
/// the objective is then not worse than that of a solver whose last step happened to be long.
const TOLERANCE_FRACTION: f64 = 0.5;
/// Iterations between two checks of the monitor.
const ITERATIONS_PER_CHECK: u64 = 64;
/// Columns of the initial point between two checks of the monitor.
const INITIAL_COLUMNS_PER_CHECK: usize = 1024;
/// Iterations between two attempts to shrink the working problem.
const ITERATIONS_PER_SHRINK: u64 = 1000;
/// A variable closer to a bound than this fraction of the box counts as bounded in the intercept.
const BOUND_ROUNDING: f64 = 1e-10;

/// Solves the problem for the kernel matrix `columns`; `progress` receives the completed fraction.
pub fn solve<T: Float>(
    problem: &BoxQp<'_>,
    columns: &dyn Columns<T>,
    options: &SolverOptions,
    monitor: &Monitor<'_>,
    progress: &OnProgress<'_>,
) -> Solution {
    let n = columns.n_rows();
    let (mut beta, mut kernel_values) = (problem.start.clone(), 0);
    let outputs = match &problem.outputs {
        Some(outputs) => outputs.clone(),
        None if beta.iter().all(|b| *b == 0.0) => vec![0.0; n],
        None => {
            let (outputs, n_columns) = initial_outputs(&beta, columns, monitor);
            kernel_values = (n_columns * n) as u64;
            outputs
        }
    };
    beta.iter_mut().zip(problem.lower.iter().zip(problem.upper)).for_each(|(b, (lower, upper))| {
        *b = b.clamp(*lower, *upper);
    });
    let variables = Variables::new(
        beta,
        outputs.iter().zip(problem.linear).map(|(f, z)| f - z).collect(),
        problem.lower.to_vec(),
        problem.upper.to_vec(),
        problem.epsilon,
        problem.split,
        problem.slack.cloned(),
    );
    let mut solution = if n <= MAX_DENSE_KERNEL_ROWS {
        solve_dense(variables, columns, options, monitor)
    } else {
        CachedSmo::new(variables, columns, options, monitor).run(progress)
    };
    solution.kernel_values += kernel_values;
    // G = Kβ − z, and the derivative of the slack penalty.
    for (i, output) in solution.outputs.iter_mut().enumerate() {
        let slack = problem.slack.map_or(0.0, |slack| slack.derivative(i, solution.beta[i]));
        *output += problem.linear[i] - slack;
    }
    solution
}

/// `Kβ` at the initial point, from blocks of columns, and their number. If the monitor stops it, the outputs are those of
/// the first columns; the solve that follows stops at once.
fn initial_outputs<T>(
    beta: &[f64],
    columns: &dyn Columns<T>,
    monitor: &Monitor<'_>,
) -> (Vec<f64>, usize) {
    let support: Vec<u32> = (0..beta.len() as u32).filter(|i| beta[*i as usize] != 0.0).collect();
    let mut outputs = vec![0.0; beta.len()];
    for (k, block) in support.chunks(INITIAL_COLUMNS_PER_CHECK).enumerate() {
        if k > 0 && monitor.stop().is_some() {
            return (outputs, k * INITIAL_COLUMNS_PER_CHECK);
        }
        let coefficients: Vec<f64> = block.iter().map(|i| beta[*i as usize]).collect();
        let sums = columns.combine(block, &[coefficients]).swap_remove(0);
        outputs.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
    }
    (outputs, support.len())
}

/// Solves with the whole kernel matrix in memory, on the calling thread.
fn solve_dense<T: Float>(
    mut v: Variables,
    columns: &dyn Columns<T>,
    options: &SolverOptions,
    monitor: &Monitor<'_>,
) -> Solution {
    let n = columns.n_rows();
    let k = columns.matrix();
    let with_slack = |i: usize| match v.slack {
        None => k[i * n + i],
        Some(_) => T::narrow(k[i * n + i].into() + v.slack_curvature(i)),
    };
    let mut diagonal: Vec<T> = (0..n).map(with_slack).collect();
    let mut stopped = None;
    let tol = TOLERANCE_FRACTION * options.tol;
    let run = optimize_pairs(&mut v, &k, &mut diagonal, tol, options.max_iterations, |_, _| {
        stopped = monitor.stop();
        stopped.is_none()
    });
    Solution {
        intercepts: intercepts(&v),
        outputs: v.gradient.clone(),
        violation: run.violation,
        converged: run.violation <= options.tol,
        n_shrunk: 0,
        iterations: run.iterations,
        kernel_values: (n * (n + 1) / 2) as u64,
        stopped,
        min_curvature: v.min_curvature,
        beta: v.beta,
    }
}

/// The intercept of each group: the mean of `−G` over its free variables or, if there are none, the midpoint of `m` and
/// `M`. A variable that only rounding keeps away from its bound counts as bounded; otherwise the order of the rows would
/// choose between the mean and the midpoint.
fn intercepts(v: &Variables) -> [f64; 2] {
    [0, 1].map(|g| {
        let (mut sum, mut free) = (0.0, 0u64);
        let (mut max_up, mut min_low) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in v.groups()[g].clone() {
            let width = v.upper[i] - v.lower[i];
            let near = if width.is_finite() { BOUND_ROUNDING * width } else { 0.0 };
            let in_up = v.beta[i] < v.upper[i] - near;
            let in_low = v.beta[i] > v.lower[i] + near;
            // Free and not at the kink of ε|β|: both directional derivatives are equal.
            if in_up && in_low && v.up[i] == v.down[i] {
                sum += v.up[i] - v.gradient[i];
                free += 1;
            }
            if in_up {
                max_up = max_up.max(v.up[i] - v.gradient[i]);
            }
            if in_low {
                min_low = min_low.min(v.down[i] - v.gradient[i]);
            }
        }
        match (free, max_up.is_finite(), min_low.is_finite()) {
            (0, true, true) => 0.5 * (max_up + min_low),
            (0, true, false) => max_up,
            (0, false, true) => min_low,
            (0, false, false) => 0.0,
            _ => sum / free as f64,
        }
    })
}

/// The state of a solve with a kernel cache.
pub(crate) struct CachedSmo<'a, T> {
    all: &'a dyn Columns<T>,
    pub options: &'a SolverOptions,
    pub monitor: &'a Monitor<'a>,
    /// The variables of the working problem.
    pub v: Variables,
    /// The indices of the working problem's variables among all.
    active: Vec<u32>,
    /// The kernel matrix of the working problem, once it has been shrunk.
    shrunk: Option<Box<dyn Columns<T>>>,
    /// The diagonal of the kernel matrix plus the curvature of the slack penalty.
    pub diagonal: Vec<T>,
    pub cache: ColumnCache<T>,
    /// All variables; those of the working problem are written back when it shrinks and at the end.
    beta: Vec<f64>,
    /// The gradient of all variables; that of a shrunk variable is what it was then.
    gradient: Vec<f64>,
    pub iterations: u64,
}

impl<'a, T: Float> CachedSmo<'a, T> {
    fn new(
        v: Variables,
        all: &'a dyn Columns<T>,
        options: &'a SolverOptions,
        monitor: &'a Monitor<'a>,
    ) -> Self {
        let n = all.n_rows();
        let mut diagonal = all.diagonal();
        if v.slack.is_some() {
            let entries = diagonal.iter_mut().enumerate();
            entries.for_each(|(i, k)| *k = T::narrow((*k).into() + v.slack_curvature(i)));
        }
        CachedSmo {
            all,
            options,
            monitor,
            active: (0..n as u32).collect(),
            shrunk: None,
            diagonal,
            cache: ColumnCache::new(n, capacity::<T>(n, options.cache_bytes)),
            beta: v.beta.clone(),
            gradient: v.gradient.clone(),
            v,
            iterations: 0,
        }
    }

    fn run(mut self, progress: &OnProgress<'_>) -> Solution {
        let mut scans = self.v.scans();
        let initial = violation(&scans).max(self.options.tol);
        let stopped = loop {
            let g = most_violating_group(&scans);
            let current = group_violation(&scans[g]);
            // A NaN ends the run as well.
            if current <= TOLERANCE_FRACTION * self.options.tol || current.is_nan() {
                break None;
            }
            if self.iterations >= self.options.max_iterations {
                break None;
            }
            if self.iterations.is_multiple_of(ITERATIONS_PER_CHECK) {
                if let Some(stop) = self.monitor.stop() {
                    break Some(stop);
                }
                self.report(progress, initial, current);
            }
            if self.cache.is_full() {
                let (stop, last) = self.run_working_sets(scans, initial, progress);
                scans = last;
                break stop;
            }
            self.iterations += 1;
            if self.options.shrinking
                && self.iterations.is_multiple_of(ITERATIONS_PER_SHRINK)
                && self.shrink(&scans)
            {
                scans = self.v.scans();
                continue;
            }
            match self.step(g, scans) {
                Some(next) => scans = next,
                // Rounding allows no further step.
                None => break None,
            }
        };
        let intercepts = intercepts(&self.v);
        self.write_back();
        Solution {
            intercepts,
            outputs: self.gradient,
            violation: violation(&scans),
            converged: violation(&scans) <= self.options.tol,
            n_shrunk: self.all.n_rows() - self.active.len(),
            iterations: self.iterations,
            kernel_values: self.cache.n_computed,
            stopped,
            min_curvature: self.v.min_curvature,
            beta: self.beta,
        }
    }

    /// Copies the variables of the working problem into those of the whole problem.
    fn write_back(&mut self) {
        for (k, i) in self.active.iter().enumerate() {
            self.beta[*i as usize] = self.v.beta[k];
            self.gradient[*i as usize] = self.v.gradient[k];
        }
    }

    /// Makes sure that the cache holds the columns of the given variables.
    pub fn fetch(&mut self, indices: &[u32]) {
        let columns = self.shrunk.as_deref().unwrap_or(self.all);
        self.cache.fetch(indices, columns);
    }

    /// Reports the completed fraction of the way from the initial violation to the tolerance, on a logarithmic scale.
    pub fn report(&self, progress: &OnProgress<'_>, initial: f64, current: f64) {
        let fraction =
            ((initial / current).ln() / (initial / self.options.tol).ln()).clamp(0.0, 1.0);
        let mut convergence = Convergence::new(current, &self.v.beta);
        if self.active.len() < self.beta.len() {
            // Variables removed by shrinking have the values they had then.
            let active = self.active.iter().filter(|i| self.beta[**i as usize] != 0.0).count();
            convergence.n_support_vectors +=
                Convergence::new(current, &self.beta).n_support_vectors - active;
        }
        convergence.tolerance = self.options.tol;
        progress(fraction, convergence);
    }

    /// Selects the working pair of a group, updates it and the gradient; `None` if rounding allows no step.
    fn step(&mut self, g: usize, mut scans: [WorkingSetScan; 2]) -> Option<[WorkingSetScan; 2]> {
        let group = self.v.groups()[g].clone();
        let i = group.start + scans[g].argmax_up;
        if !self.cache.contains(i as u32) {
            let block = self.columns_to_compute(&[i as u32], &scans);
            self.fetch(&block);
        }
        self.cache.touch(i as u32);
        let v = &self.v;
        let column_i = self.cache.column(i as u32);
        let second = group.start
            + T::select_second(
                &v.gradient[group.clone()],
                &v.down[group.clone()],
                &column_i[group.clone()],
                &self.diagonal[group.clone()],
                self.diagonal[i],
                scans[g].max_up,
            )?;
        let j = v.other_than(i, second);
        if !self.cache.contains(j as u32) {
            let block = self.columns_to_compute(&[i as u32, j as u32], &scans);
            self.fetch(&block);
        }
        self.cache.touch(j as u32);
        let (column_i, column_j) = (self.cache.column(i as u32), self.cache.column(j as u32));
        let slope = pair_violation(&self.v, j, scans[g].max_up);
        let (own_i, own_j) = match self.v.slack {
            None => (self.diagonal[i].into(), self.diagonal[j].into()),
            Some(_) => (column_i[i].into(), column_j[j].into()),
        };
        let curvature = self.v.pair_curvature::<T>([own_i, own_j], column_i[j].into());
        let t = update_pair(&mut self.v, i, j, slope, curvature);
        if t == 0.0 {
            return None;
        }
        if self.v.slack.is_some() {
            self.diagonal[i] = T::narrow(own_i + self.v.slack_curvature(i));
            self.diagonal[j] = T::narrow(own_j + self.v.slack_curvature(j));
        }
        let groups = self.v.groups();
        for (g, group) in groups.into_iter().enumerate().filter(|(_, group)| !group.is_empty()) {
            scans[g] = T::update_and_scan(
                &mut self.v.gradient[group.clone()],
                &column_i[group.clone()],
                &column_j[group.clone()],
                t,
                &self.v.up[group.clone()],
                &self.v.down[group],
            );
        }
        Some(scans)
    }

    /// The requested variables, and with them the most violating ones of each group whose columns are not cached.
    fn columns_to_compute(&self, requested: &[u32], scans: &[WorkingSetScan; 2]) -> Vec<u32> {
        let v = &self.v;
        let free = self.cache.capacity() - self.cache.len();
        let count = (self.cache.len() / CACHED_PER_NEW_COLUMN)
            .clamp(MIN_NEW_COLUMNS, MAX_NEW_COLUMNS)
            .min(free);
        let groups = v.groups();
        let n_lists = 2 * groups.iter().filter(|g| !g.is_empty()).count();
        let each = count.saturating_sub(requested.len()) / n_lists;
        let mut block = requested.to_vec();
        for (group, scan) in groups.into_iter().zip(scans).filter(|_| each > 0) {
            for direction in [Direction::Increase, Direction::Decrease] {
                let missing = |i| !self.cache.contains(i);
                let selected =
                    self.most_violating(group.clone(), scan, direction, (each, 0.5), missing);
                block.extend(selected);
            }
        }
        block.sort_unstable();
        block.dedup();
        block
    }

    /// Up to `count` variables of a group that violate most in a direction and satisfy `eligible`. A variable must be
    /// half of a violating pair and lie beyond the given fraction of the range from `M` to `m`.
    pub fn most_violating(
        &self,
        group: Range<usize>,
        scan: &WorkingSetScan,
        direction: Direction,
        (count, fraction): (usize, f64),
        eligible: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let v = &self.v;
        let (from, to) = match direction {
            Direction::Increase => (scan.min_low, scan.max_up),
            Direction::Decrease => (-scan.max_up, -scan.min_low),
        };
        let limit = from + fraction * (to - from);
        let mut candidates: Vec<(f64, u32)> = Vec::new();
        for i in group {
            let value = match direction {
                Direction::Increase => v.up[i] - v.gradient[i],
                Direction::Decrease => v.gradient[i] - v.down[i],
            };
            if value > limit && eligible(i as u32) {
                candidates.push((value, i as u32));
            }
        }
        if candidates.len() > count {
            let by_value =
                |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1));
            candidates.select_nth_unstable_by(count - 1, by_value);
            candidates.truncate(count);
        }
        candidates.into_iter().map(|(_, i)| i).collect()
    }

    /// Removes the variables that are at a bound and in no violating pair from the working problem. Returns `false` if
    /// too few of them can be removed.
    pub fn shrink(&mut self, scans: &[WorkingSetScan; 2]) -> bool {
        let v = &self.v;
        let retained: Vec<u32> = (0..v.beta.len())
            .filter(|i| {
                let WorkingSetScan { max_up, min_low, .. } = scans[usize::from(*i >= v.split)];
                v.up[*i] - v.gradient[*i] >= min_low || v.down[*i] - v.gradient[*i] <= max_up
            })
            .map(|i| i as u32)
            .collect();
        // Shrinking copies the remaining rows, which pays if it removes at least a tenth of them.
        if retained.len() * 10 > v.beta.len() * 9 || retained.len() < 2 {
            return false;
        }
        let smaller = v.select(&retained);
        self.write_back();
        self.v = smaller;
        self.active = retained.iter().map(|i| self.active[*i as usize]).collect();
        self.diagonal = retained.iter().map(|i| self.diagonal[*i as usize]).collect();
        let columns = self.shrunk.as_deref().unwrap_or(self.all).submatrix(&retained);
        self.shrunk = Some(columns);
        self.cache.shrink(&retained);
        true
    }
}

/// The direction in which a variable violates the KKT conditions.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    Increase,
    Decrease,
}

/// The number of columns of length `n` that fit in the cache, at least [`MIN_CACHED_COLUMNS`].
fn capacity<T>(n: usize, bytes: u64) -> usize {
    let column = (n.max(1) * size_of::<T>()) as u64;
    usize::try_from(bytes / column).unwrap_or(usize::MAX).clamp(MIN_CACHED_COLUMNS.min(n), n.max(1))
}

#[cfg(test)]
mod tests {
    use super::super::columns::test_matrix::TestMatrix;
    use super::*;
    use mercer_num::Matrix;
    use mercer_num::random::Random;

    fn options(tol: f64) -> SolverOptions {
        SolverOptions { tol, max_iterations: u64::MAX, cache_bytes: 1 << 24, shrinking: true }
    }

    fn run<T: Float>(problem: &BoxQp<'_>, k: &TestMatrix<T>, options: &SolverOptions) -> Solution {
        solve(problem, k, options, &Monitor::quiet(), &|_, _| {})
    }

    /// A binary classification problem: rows, labels, and the bounds `0 ≤ yᵢβᵢ ≤ C`.
    struct Classification {
        x: Matrix,
        y: Vec<f64>,
        lower: Vec<f64>,
        upper: Vec<f64>,
    }

    impl Classification {
        fn new(n: usize, seed: u64, c: f64) -> Classification {
            let mut random = Random::new(seed);
            let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
            let x = Matrix::from_shape_fn((n, 5), |(i, _)| 0.7 * y[i] + random.normal());
            let lower = y.iter().map(|y| if *y > 0.0 { 0.0 } else { -c }).collect();
            let upper = y.iter().map(|y| if *y > 0.0 { c } else { 0.0 }).collect();
            Classification { x, y, lower, upper }
        }

        fn qp(&self) -> BoxQp<'_> {
            BoxQp::new(&self.y, &self.lower, &self.upper)
        }

        /// The KKT violation by its definition, from the kernel matrix and nothing else.
        fn violation<T: Float>(&self, k: &TestMatrix<T>, beta: &[f64]) -> f64 {
            let outputs = k.product(beta);
            let (mut max_up, mut min_low) = (f64::NEG_INFINITY, f64::INFINITY);
            for i in 0..beta.len() {
                let gradient = outputs[i] - self.y[i];
                if beta[i] < self.upper[i] {
                    max_up = max_up.max(-gradient);
                }
                if beta[i] > self.lower[i] {
                    min_low = min_low.min(-gradient);
                }
            }
            max_up - min_low
        }
    }

    #[test]
    fn working_sets_reach_the_optimum_of_a_cache_that_holds_all_columns() {
        let n = 900;
        let data = Classification::new(n, 3, 5.0);
        let k: TestMatrix<f64> = TestMatrix::rbf(&data.x, 0.1);
        for (split, epsilon) in [(n, 0.0), (n / 2, 0.0), (n, 0.2)] {
            let problem = BoxQp { epsilon, split, ..data.qp() };
            // Without shrinking the solver evaluates the violation of all variables.
            let large = SolverOptions { shrinking: false, ..options(1e-8) };
            let small = SolverOptions { cache_bytes: 100 * 8 * n as u64, ..large };
            let by_sets = run(&problem, &k, &small);
            let by_columns = run(&problem, &k, &large);

            assert!(by_sets.converged, "violation {}", by_sets.violation);
            assert_ne!(by_sets.iterations, by_columns.iterations, "another method");
            let objective = |beta: &[f64]| -> f64 {
                let outputs = k.product(beta);
                let terms = beta.iter().zip(&outputs).zip(&data.y);
                terms.map(|((b, f), z)| (0.5 * f - z) * b + epsilon * b.abs()).sum()
            };
            let (a, b) = (objective(&by_sets.beta), objective(&by_columns.beta));
            assert!((a - b).abs() < 1e-8 * b.abs(), "split {split}, ε {epsilon}: {a} and {b}");
        }
    }

    #[test]
    fn a_tolerance_below_rounding_ends_before_the_iteration_limit() {
        let max_iterations = 2_000_000;
        for (n, c, gamma) in [
            (200, 1.0, Some(0.2)),
            (200, 1e6, Some(0.01)),
            (200, 1e3, None),
            (900, 10.0, Some(0.2)),
        ] {
            let data = Classification::new(n, 7, c);
            let k: TestMatrix<f64> = match gamma {
                Some(gamma) => TestMatrix::rbf(&data.x, gamma),
                None => TestMatrix::linear(&data.x),
            };
            let options = SolverOptions { max_iterations, ..options(0.0) };

            let end = run(&data.qp(), &k, &options);

            assert!(end.iterations < max_iterations, "{n} rows, C = {c}: {}", end.iterations);
        }
    }

    #[test]
    fn dense_and_cached_solvers_agree() {
        let n = 900;
        let data = Classification::new(n, 1, 2.0);
        let k: TestMatrix<f64> = TestMatrix::rbf(&data.x, 0.2);
        let v = Variables::new(
            vec![0.0; n],
            data.y.iter().map(|z| -z).collect(),
            data.lower.clone(),
            data.upper.clone(),
            0.0,
            n,
            None,
        );

        let cached = run(&data.qp(), &k, &SolverOptions { shrinking: false, ..options(1e-9) });
        let dense = solve_dense(v, &k, &options(1e-9), &Monitor::quiet());

        assert!(cached.converged && dense.converged);
        for (a, b) in cached.beta.iter().zip(&dense.beta) {
            assert!((a - b).abs() < 1e-6);
        }
        assert!((cached.intercepts[0] - dense.intercepts[0]).abs() < 1e-7);
        assert!(data.violation(&k, &cached.beta) < 2e-9);
        assert!(cached.beta.iter().sum::<f64>().abs() < 1e-10);
    }

    #[test]
    fn cache_size_and_shrinking_do_not_change_the_optimum() {
        let data = Classification::new(1500, 2, 5.0);
        let k: TestMatrix<f32> = TestMatrix::rbf(&data.x, 0.1);
        for (cache_bytes, shrinking) in [(1 << 10, false), (1 << 30, true), (600_000, true)] {
            let options = SolverOptions { cache_bytes, shrinking, ..options(1e-3) };

            let first = run(&data.qp(), &k, &options);
            // A second run from there includes the variables that were shrunk.
            let resumed = BoxQp { start: first.beta, ..data.qp() };
            let found = run(&resumed, &k, &SolverOptions { shrinking: false, ..options });

            assert!(found.converged && first.converged);
            assert_eq!(found.n_shrunk, 0);
            let violation = data.violation(&k, &found.beta);
            assert!(violation < 1.05e-3, "{violation}");
        }
    }

    #[test]
    fn kkt_conditions_hold_with_a_tube_and_two_groups() {
        let n = 1000;
        let data = Classification::new(n, 3, 1.0);
        let mut z = data.y.clone();
        let mut random = Random::new(9);
        z.iter_mut().for_each(|z| *z += 0.3 * random.normal());
        let (lower, upper) = (vec![-1.0; n], vec![1.0; n]);
        let k: TestMatrix<f64> = TestMatrix::rbf(&data.x, 0.3);
        let problem = BoxQp { epsilon: 0.2, split: 400, ..BoxQp::new(&z, &lower, &upper) };

        let found = run(&problem, &k, &SolverOptions { shrinking: false, ..options(1e-8) });

        assert!(found.converged);
        let outputs = k.product(&found.beta);
        for (g, group) in [0..400, 400..n].into_iter().enumerate() {
            let sum: f64 = found.beta[group.clone()].iter().sum();
            assert!(sum.abs() < 1e-10);
            for i in group {
                // z − Kβ − b is ε sign(β) for free variables, within ±ε at zero, beyond at a bound.
                let residual = z[i] - outputs[i] - found.intercepts[g];
                let b = found.beta[i];
                match b {
                    0.0 => assert!(residual.abs() <= 0.2 + 1e-7, "{residual}"),
                    b if b.abs() < 1.0 => assert!((residual - 0.2 * b.signum()).abs() < 1e-7),
                    b => assert!(residual * b.signum() >= 0.2 - 1e-7),
                }
            }
        }
    }

    #[test]
    fn a_warm_start_at_the_solution_needs_few_iterations() {
        let data = Classification::new(1200, 4, 2.0);
        let k: TestMatrix<f64> = TestMatrix::rbf(&data.x, 0.2);

        let cold = run(&data.qp(), &k, &options(1e-6));
        let warm = run(&BoxQp { start: cold.beta, ..data.qp() }, &k, &options(1e-6));

        assert!(warm.converged);
        assert!(warm.iterations <= 10, "{}", warm.iterations);
    }
}
