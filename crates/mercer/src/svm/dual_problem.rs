//! The dual problem of a support vector machine: training rows, kernel, precision, and the loop of solving and checking.
//!
//! The solver works on kernel values in single or double precision and on the working problem that shrinking leaves.
//! After every run the KKT violation and both objectives are computed in double precision over all rows
//! ([`duality_gap`]); if the violation is larger than the tolerance, the solver resumes from there.

use super::duality_gap::{self, DualityGap};
use super::duplicate_rows::DuplicateRows;
use super::leave_one_out::{FittedDual, leave_one_out};
use super::params::SvmOptions;
use super::subproblem::Subproblem;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::{
    Function, Indefinite, Kernel, KernelExpansion, KernelProblem, KernelRows, Precision, Storage,
    SvmKernelOptions, center_of, duplicate_keys, indefinite, overflow,
};
use crate::model::{Convergence, Monitor, Stop};
use crate::solver::{
    BoxQp, CrammerSinger, CrammerSingerOptions, CrammerSingerSolution, MIN_CACHED_COLUMNS,
    OnProgress, SolverOptions, solve, solve_crammer_singer,
};
use mercer_num::{Matrix, Rows};
use std::ops::Deref;

/// The largest number of subproblems solved at the same time. Each has its own part of the kernel cache, whose size must
/// not depend on the number of threads.
pub(super) const MAX_CONCURRENT_SUBPROBLEMS: usize = 8;
/// The remedy if the memory budget is too small for the exact problem.
const MEMORY_REMEDY: &str = "raise the memory budget, or approximate the kernel with landmark rows: `approx` of svc, or a \
                             linear model on a feature map such as nystroem";
/// The part of a memory budget that is not given to the kernel cache: the data as they were read, copies of rows while
/// the working problem shrinks, blocks of columns that are being computed.
const WORKING_BYTES: u64 = 24 << 20;
/// Single precision is used if its rounding error times this factor stays below the tolerance.
const ROUNDING_SAFETY: f64 = 16.0;
/// The solver's tolerance as a fraction of the requested one, so that single-precision rounding stays within it.
const SOLVER_TOLERANCE: f64 = 0.98;
/// Runs of the solver in which shrinking is allowed.
const MAX_SHRINKING_RUNS: usize = 3;
/// Runs of the solver in all.
const MAX_RUNS: usize = 20;
/// Smaller tolerances are solved in double precision.
const MIN_SINGLE_TOLERANCE: f64 = 1e-5;
/// Smaller relative duality gaps are solved in double precision.
const MIN_SINGLE_GAP: f64 = 1e-3;
/// If a duality gap is requested: the first tolerance as a fraction of the initial violation, the factor between two
/// tolerances, and the fraction of the initial violation at which rounding dominates.
const FIRST_GAP_TOLERANCE: f64 = 0.1;
const GAP_TOLERANCE_FACTOR: f64 = 0.1;
const MIN_GAP_TOLERANCE: f64 = 1e-15;
/// A solution with a larger relative duality gap has not converged, however small its KKT violation is: the violation
/// is absolute and means little if kernel values are tiny.
const MAX_OPEN_GAP: f64 = 0.1;
/// The relative gap at which such a solve ends.
const CLOSED_GAP: f64 = 0.01;
/// After this many iterations, or so many per row, the duality gap is measured.
const ITERATIONS_PER_MEASURE: u64 = 1_000_000;
const ITERATIONS_PER_MEASURE_AND_ROW: u64 = 100;
/// A relative gap of this fraction of the tolerance is as good as a KKT violation within it. If kernel values are huge,
/// rounding alone violates the KKT conditions by more.
const GAP_PER_TOLERANCE: f64 = 1e-3;
/// The solver gives up if the dual objective improves by less than this fraction of the gap between two measurements.
const MIN_PROGRESS: f64 = 1e-4;
/// The smaller box that is solved then has bounds of this size in units of `|z| / mean K(x, x)`: far beyond it a wider
/// box hardly changes the weights of a problem that is not separable.
const FALLBACK_BOUND: f64 = 1e3;
/// The largest cache of columns if the whole matrix does not fit.
const MAX_COLUMN_CACHE: u64 = 256_000_000;
/// Kernel values that are computed after a stop to measure the duality gap.
const MAX_VALUES_AFTER_STOP: u64 = 2_000_000;
/// A bound on the iterations that no well-posed problem reaches, so that every solve ends.
const ITERATION_LIMIT: u64 = 10_000_000;
const ITERATION_LIMIT_PER_ROW: u64 = 1000;

/// The training rows with positive weight and their kernel. A subproblem refers to them by position in
/// [`KernelProblem::indices`].
pub(super) struct DualProblem<'a> {
    kernel_problem: KernelProblem<'a>,
    pub precision: Precision,
    /// The rows from which the solver computes kernel values.
    solver_rows: SolverRows,
    /// The rows in double precision, for everything that is reported.
    exact_rows: KernelRows<f64>,
    /// Evidence that the kernel is not positive semi-definite.
    pub indefinite: Option<Indefinite>,
    /// Equal keys for duplicate rows; empty if there are none.
    keys: Vec<u128>,
    /// Memory of `solver_rows` and `exact_rows`.
    row_bytes: u64,
    options: SolverOptions,
    gap: Option<f64>,
}

impl<'a> Deref for DualProblem<'a> {
    type Target = KernelProblem<'a>;

    fn deref(&self) -> &Self::Target {
        &self.kernel_problem
    }
}

enum SolverRows {
    Single(KernelRows<f32>),
    Double(KernelRows<f64>),
}

impl SolverRows {
    fn select(&self, rows: &[u32]) -> SolverRows {
        match self {
            SolverRows::Single(all) => SolverRows::Single(all.select(rows)),
            SolverRows::Double(all) => SolverRows::Double(all.select(rows)),
        }
    }
}

/// The solution of a subproblem, with objectives and violation measured in double precision.
pub(super) struct DualSolution {
    /// The signed dual variables.
    pub beta: Vec<f64>,
    /// The intercept of each group of variables.
    pub intercepts: [f64; 2],
    pub converged: bool,
    pub iterations: u64,
    pub kernel_values: u64,
    pub stopped: Option<Stop>,
    /// Whether the solver gave up because it made no progress.
    pub stagnated: bool,
    /// The most negative curvature of a working pair beyond rounding, or zero.
    pub min_curvature: f64,
    pub gap: DualityGap,
    /// `Kβ` in double precision.
    pub outputs: Vec<f64>,
}

impl DualSolution {
    /// The initial point of a subproblem, all dual variables zero, whose turn did not come before a stop.
    pub fn unsolved(qp: &BoxQp<'_>, stop: Stop) -> DualSolution {
        let outputs = vec![0.0; qp.linear.len()];
        DualSolution {
            gap: DualityGap::at_zero(qp),
            beta: outputs.clone(),
            intercepts: [0.0; 2],
            converged: false,
            iterations: 0,
            kernel_values: 0,
            stopped: Some(stop),
            stagnated: false,
            min_curvature: 0.0,
            outputs,
        }
    }

    /// The final state, as reported to a monitor.
    pub fn convergence(&self) -> Convergence {
        Convergence::new(self.gap.violation, &self.beta)
    }
}

/// What a solve of a subproblem depends on besides the problem itself.
#[derive(Clone, Copy)]
pub(super) struct SolveContext<'s> {
    /// The number of subproblems that share the kernel cache.
    pub n_subproblems: usize,
    pub monitor: &'s Monitor<'s>,
    pub progress: &'s OnProgress<'s>,
}

impl<'a> DualProblem<'a> {
    /// Sorts the rows by `group`, with the order within a group unchanged. `max_bound` is the largest bound of a dual
    /// variable.
    pub fn new(
        params: &SvmOptions,
        data: &Dataset<'a>,
        group: impl Fn(usize) -> u32,
        max_bound: f64,
        monitor: &Monitor<'_>,
    ) -> Result<DualProblem<'a>> {
        let SvmKernelOptions { kernel, gamma, coef0, degree } = &params.kernel;
        let problem = KernelProblem::new(data, kernel, Some(*gamma), *coef0, *degree, monitor)?;
        let mut problem = problem.sorted_by(group);
        if params.zero_sum {
            problem.center_linear();
        }
        let precision = match &problem.gram {
            Some(gram) if gram.matrix.is_single() => Precision::Single,
            Some(_) => Precision::Double,
            None => precision(params, &problem.function, &problem.rows, &problem.center, max_bound),
        };
        let size = bytes_of(precision);
        let n = problem.indices.len() as u64;
        // The rows for the solver and for the duality gap, and the smallest kernel cache.
        let row_bytes = n * data.n_columns() as u64 * (size + 8);
        let smallest_cache = n * MIN_CACHED_COLUMNS as u64 * size;
        let required = row_bytes + smallest_cache;
        let what = "the training rows and a minimal kernel cache";
        monitor.reserve_or(what, required, u64::MAX, MEMORY_REMEDY)?;
        let cache =
            |budget: u64| (budget - required).saturating_sub(WORKING_BYTES).max(smallest_cache);
        let available = monitor.memory().map_or(u64::MAX, cache);
        let options = SolverOptions {
            tol: params.smo.tol,
            max_iterations: u64::try_from(params.smo.max_iter).unwrap_or(u64::MAX),
            cache_bytes: cache_bytes((params.smo.cache_size * 1e6) as u64, n * n * size)
                .min(available),
            shrinking: params.smo.shrinking,
        };
        let solver_rows = match precision {
            Precision::Single => SolverRows::Single(problem.kernel_rows_in()),
            Precision::Double => SolverRows::Double(problem.kernel_rows()),
        };
        let keys = match kernel {
            // Given kernel values need not be equal for equal rows.
            Kernel::Precomputed | Kernel::Custom(_) => Vec::new(),
            _ => duplicate_keys(&problem.rows, &problem.indices),
        };
        let exact_rows = problem.kernel_rows();
        check_finite(&exact_rows, &problem.indices)?;
        Ok(DualProblem {
            indefinite: indefinite(&problem.function, &exact_rows)?,
            exact_rows,
            kernel_problem: problem,
            precision,
            solver_rows,
            keys,
            row_bytes,
            options,
            gap: params.smo.gap,
        })
    }

    /// The problem of the rows at the given positions alone, around their own center, in double precision.
    pub fn restricted_to(&self, positions: &[u32]) -> DualProblem<'a> {
        let problem = self.kernel_problem.restricted_to(positions);
        let keys = match self.keys.is_empty() {
            true => Vec::new(),
            false => positions.iter().map(|k| self.keys[*k as usize]).collect(),
        };
        DualProblem {
            precision: Precision::Double,
            solver_rows: SolverRows::Double(problem.kernel_rows()),
            exact_rows: problem.kernel_rows(),
            indefinite: self.indefinite,
            keys,
            row_bytes: self.row_bytes,
            options: self.options,
            gap: None,
            kernel_problem: problem,
        }
    }

    /// Bytes per kernel value.
    pub fn value_bytes(&self) -> u64 {
        bytes_of(self.precision)
    }

    /// Memory of the training rows in the forms that the solver needs.
    pub fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// The size of the kernel cache of all subproblems together.
    pub fn cache_bytes(&self) -> u64 {
        self.options.cache_bytes
    }

    /// Solves a quadratic program over the given rows, to the tolerance or to the relative duality gap if one is
    /// requested.
    pub fn solve(&self, rows: &[u32], qp: &BoxQp<'_>, context: SolveContext<'_>) -> DualSolution {
        let gap = match (self.indefinite, self.gap) {
            // Without convexity there is no gap to measure.
            (Some(_), _) => {
                return self.solve_to_tolerance((self.options.tol, 0), rows, qp, context);
            }
            (None, gap) => gap,
        };
        let solution = match gap {
            None => self.solve_to_tolerance((self.options.tol, 0), rows, qp, context),
            Some(gap) => self.solve_to_gap(gap, rows, qp, context),
        };
        if solution.stagnated {
            return self.solve_smaller_box(solution, rows, qp, context);
        }
        let largest = MAX_OPEN_GAP.max(2.0 * self.options.tol);
        if solution.stopped.is_some()
            || gap.is_some()
            || !solution.converged
            || solution.gap.relative() <= largest
        {
            return solution;
        }
        let mut qp = qp.clone();
        qp.start.clone_from(&solution.beta);
        let further = self.solve_to_gap(CLOSED_GAP, rows, &qp, context);
        let converged = further.gap.relative() <= largest;
        DualSolution {
            converged,
            iterations: solution.iterations + further.iterations,
            kernel_values: solution.kernel_values + further.kernel_values,
            ..further
        }
    }

    /// After a solve that made no progress because the box is far too wide for its kernel: solves a smaller box and
    /// returns the solution with the smaller primal objective of the whole problem. Its weights are close to the optimal
    /// ones if the classes overlap, but nothing proves it.
    fn solve_smaller_box(
        &self,
        stagnated: DualSolution,
        rows: &[u32],
        qp: &BoxQp<'_>,
        context: SolveContext<'_>,
    ) -> DualSolution {
        let (bound, size) = self.box_size(rows, qp);
        let target = qp.linear.iter().fold(0.0f64, |most, z| most.max(z.abs()));
        let factor = FALLBACK_BOUND * target / (bound * size);
        let starts_at_zero = qp.start.iter().all(|b| *b == 0.0);
        if !starts_at_zero || qp.slack.is_some() || !(factor > 0.0 && factor < 1.0) {
            return stagnated;
        }
        let scaled = |bounds: &[f64]| -> Vec<f64> { bounds.iter().map(|b| factor * b).collect() };
        let (lower, upper) = (scaled(qp.lower), scaled(qp.upper));
        let smaller =
            BoxQp { epsilon: qp.epsilon, split: qp.split, ..BoxQp::new(qp.linear, &lower, &upper) };
        let inner = self.solve_to_tolerance((self.options.tol, 0), rows, &smaller, context);
        let (gap, outputs) = self.measure(rows, qp, &inner.beta, inner.intercepts);
        let iterations = stagnated.iterations + inner.iterations;
        let kernel_values = stagnated.kernel_values + inner.kernel_values;
        if gap.primal < stagnated.gap.primal {
            let (converged, stagnated) = (false, true);
            DualSolution { converged, stagnated, gap, outputs, iterations, kernel_values, ..inner }
        } else {
            DualSolution { iterations, kernel_values, ..stagnated }
        }
    }

    /// Measures a solution over the given rows in double precision; also returns `Kβ`.
    fn measure(
        &self,
        rows: &[u32],
        qp: &BoxQp<'_>,
        beta: &[f64],
        intercepts: [f64; 2],
    ) -> (DualityGap, Vec<f64>) {
        let rounding = self.input_rounding(rows, beta);
        duality_gap::measure(&self.exact_rows.select(rows), qp, beta, intercepts, rounding)
    }

    /// The rounding error of `w·x + b` in the units of the input: rows of a linear kernel are centered for the solver, and
    /// far from zero the intercept of the rows as they were given has fewer digits after the point.
    fn input_rounding(&self, rows: &[u32], beta: &[f64]) -> f64 {
        if self.function.kernel != Kernel::Linear || self.center.is_empty() {
            return 0.0;
        }
        let w = self.linear_weights(rows, beta);
        f64::EPSILON * w.iter().zip(&self.center).map(|(w, c)| (w * c).abs()).sum::<f64>()
    }

    /// The largest bound of a variable and the mean `K(x, x)`.
    pub fn box_size(&self, rows: &[u32], qp: &BoxQp<'_>) -> (f64, f64) {
        let bounds = qp.lower.iter().chain(qp.upper).filter(|b| b.is_finite());
        let bound = bounds.fold(0.0f64, |most, b| most.max(b.abs()));
        let diagonal = self.exact_rows.select(rows).diagonal();
        (bound, diagonal.iter().sum::<f64>() / diagonal.len().max(1) as f64)
    }

    /// Decreases the tolerance until the relative duality gap is at most `gap`.
    fn solve_to_gap(
        &self,
        gap: f64,
        rows: &[u32],
        qp: &BoxQp<'_>,
        context: SolveContext<'_>,
    ) -> DualSolution {
        let mut qp = qp.clone();
        let (mut iterations, mut kernel_values) = (0, 0);
        let (start, _) = self.measure(rows, &qp, &qp.start, [0.0; 2]);
        let initial = start.violation;
        let mut tol = FIRST_GAP_TOLERANCE * initial;
        loop {
            let quiet = SolveContext { progress: &|_, _| {}, ..context };
            let solution = self.solve_to_tolerance((tol, iterations), rows, &qp, quiet);
            iterations += solution.iterations;
            kernel_values += solution.kernel_values;
            let converged = solution.gap.relative() <= gap;
            // The tolerance is zero if the initial point was optimal.
            let last = !solution.converged || tol <= MIN_GAP_TOLERANCE * initial;
            if converged || last || iterations >= self.options.max_iterations {
                return DualSolution { converged, iterations, kernel_values, ..solution };
            }
            let fraction = (gap / solution.gap.relative()).min(1.0);
            (context.progress)(fraction, solution.convergence());
            qp.start = solution.beta;
            qp.outputs = Some(solution.outputs);
            tol *= GAP_TOLERANCE_FACTOR;
        }
    }

    /// Solves to a tolerance after the given number of iterations; duplicate rows are merged into one variable.
    pub fn solve_to_tolerance(
        &self,
        to: (f64, u64),
        rows: &[u32],
        qp: &BoxQp<'_>,
        context: SolveContext<'_>,
    ) -> DualSolution {
        let Some(duplicates) = DuplicateRows::find(&self.keys, rows, qp) else {
            return self.solve_distinct(to, rows, qp, context);
        };
        let (merged, distinct) = (duplicates.merge(qp), duplicates.distinct(rows));
        let solution = self.solve_distinct(to, &distinct, &merged, context);
        let beta = duplicates.distribute(&solution.beta, qp);
        let outputs = duplicates.expand(&solution.outputs);
        DualSolution { beta, outputs, ..solution }
    }

    fn solve_distinct(
        &self,
        (tol, previous_iterations): (f64, u64),
        rows: &[u32],
        qp: &BoxQp<'_>,
        context: SolveContext<'_>,
    ) -> DualSolution {
        let SolveContext { n_subproblems, monitor, progress } = context;
        let mut options = self.options;
        options.cache_bytes /= n_subproblems.clamp(1, MAX_CONCURRENT_SUBPROBLEMS) as u64;
        options.tol = SOLVER_TOLERANCE * tol;
        let n = rows.len();
        let mut left = self.iteration_limit(n).saturating_sub(previous_iterations);
        let mut measure_after =
            ITERATIONS_PER_MEASURE.max(ITERATIONS_PER_MEASURE_AND_ROW * n as u64);
        let solver_rows = self.solver_rows.select(rows);
        let mut qp = qp.clone();
        let (mut iterations, mut kernel_values, mut min_curvature) = (0, 0, 0.0f64);
        let (mut n_repeated, mut last_dual) = (0, f64::NAN);
        let sums = qp.group_sums(&qp.start);
        loop {
            options.shrinking &= n_repeated < MAX_SHRINKING_RUNS;
            options.max_iterations = measure_after.min(left);
            let mut solution = match &solver_rows {
                SolverRows::Single(rows) => solve(&qp, rows, &options, monitor, progress),
                SolverRows::Double(rows) => solve(&qp, rows, &options, monitor, progress),
            };
            qp.restore_group_sums(&mut solution.beta, sums);
            iterations += solution.iterations;
            kernel_values += solution.kernel_values;
            min_curvature = min_curvature.min(solution.min_curvature);
            left = left.saturating_sub(solution.iterations);
            let interrupted = solution.stopped.is_some();
            let (gap, outputs) = match interrupted && !is_measured_soon(&solution.beta) {
                true => (DualityGap::unmeasured(&solution), solution.outputs.clone()),
                false => self.measure(rows, &qp, &solution.beta, solution.intercepts),
            };
            // The solver used up its iterations before it reached the tolerance.
            let unfinished = !interrupted
                && !solution.converged
                && solution.iterations >= options.max_iterations;
            let within_gap = unfinished && gap.relative() <= GAP_PER_TOLERANCE * tol.min(1e-3);
            let resumable = unfinished && left > 0 && !within_gap;
            let stagnated = resumable && makes_no_progress(&gap, last_dual);
            // A shrunk variable violates the KKT conditions, or rounding has accumulated.
            let again = solution.converged && gap.violation > tol && n_repeated < MAX_RUNS;
            if again || resumable && !stagnated {
                n_repeated += usize::from(again);
                measure_after *= if again { 1 } else { 2 };
                last_dual = gap.dual;
                qp.start = solution.beta;
                qp.outputs = Some(outputs);
                continue;
            }
            let within_tolerance = solution.converged && gap.violation <= tol * (1.0 + 1e-9);
            return DualSolution {
                converged: within_tolerance || within_gap && self.indefinite.is_none(),
                beta: solution.beta,
                intercepts: solution.intercepts,
                iterations,
                kernel_values,
                stopped: solution.stopped,
                stagnated,
                min_curvature,
                gap,
                outputs,
            };
        }
    }

    fn iteration_limit(&self, n_rows: usize) -> u64 {
        let limit = ITERATION_LIMIT.max(ITERATION_LIMIT_PER_ROW * n_rows as u64);
        self.options.max_iterations.min(limit)
    }

    /// Solves the multiclass problem of Crammer & Singer from the class and the cost of every row.
    pub fn solve_crammer_singer(
        &self,
        classes: &[u32],
        n_classes: usize,
        costs: &[f64],
        monitor: &Monitor<'_>,
    ) -> CrammerSingerSolution {
        let problem = CrammerSinger { columns: &self.exact_rows, classes, n_classes, costs };
        let SolverOptions { tol, cache_bytes, .. } = self.options;
        let max_iterations = self.iteration_limit(costs.len());
        solve_crammer_singer(
            &problem,
            &CrammerSingerOptions { tol, gap: self.gap, max_iterations, cache_bytes, monitor },
        )
    }

    /// The largest squared distance of a row from the first one in the feature space, and the rounding error of a kernel
    /// value.
    pub fn squared_spread(&self) -> (f64, f64) {
        let rows = &self.exact_rows;
        let diagonal = rows.diagonal();
        let mut first = vec![0.0; diagonal.len()];
        rows.columns(&[0], rows, &mut [first.as_mut_slice()]);
        let own = diagonal.first().copied().unwrap_or(0.0);
        let distances = diagonal.iter().zip(&first).map(|(k, across)| k + own - 2.0 * across);
        (distances.fold(0.0, f64::max), rows.value_rounding())
    }

    /// `w·(x − c)` of every row of a linear kernel.
    pub fn linear_outputs(&self, w: &[f64]) -> Vec<f64> {
        let center = |j: usize| self.center.get(j).copied().unwrap_or(0.0);
        let output = |i: &u32| {
            let row = self.rows.row(*i as usize);
            row.iter().zip(w).enumerate().map(|(j, (x, w))| w * (x - center(j))).sum::<f64>()
        };
        self.indices.iter().map(output).collect()
    }

    /// What to add to the outputs of a linear kernel around the center of these rows, so that they are those around the
    /// center of `other`: `w·(c − c')`. Zero for other kernels.
    pub fn shift_to(&self, other: &DualProblem<'_>, positions: &[u32], beta: &[f64]) -> f64 {
        if self.function.kernel != Kernel::Linear {
            return 0.0;
        }
        let centers = self.center.iter().zip(&other.center);
        let w = self.linear_weights(positions, beta);
        w.iter().zip(centers).map(|(w, (own, other))| w * (own - other)).sum()
    }

    /// Refuses dual variables that sum to `total` if `βᵀKβ` overflows.
    ///
    /// # Errors
    /// [`Error::Number`].
    pub fn check_total(&self, total: f64) -> Result<()> {
        let largest = self.exact_rows.diagonal().iter().fold(0.0f64, |most, k| most.max(k.abs()));
        if (total * total * largest).is_finite() {
            return Ok(());
        }
        Err(Error::Number {
            what: "the sum of the dual variables, a multiple of the sum of the sample weights,"
                .into(),
            value: total,
            expected:
                "so small that its square times K(x, x) is finite; divide the sample weights by \
                       a constant"
                    .into(),
        })
    }

    /// The leave-one-out decision values of a subproblem's rows, with the dual variables scaled by `scale`.
    pub fn leave_one_out(
        &self,
        subproblem: &Subproblem,
        solution: &DualSolution,
        scale: f64,
        intercept: f64,
    ) -> Vec<f64> {
        let exact = self.exact_rows.select(&subproblem.rows);
        let scaled = |v: &[f64]| -> Vec<f64> { v.iter().map(|v| scale * v).collect() };
        let (beta, outputs) = (scaled(&solution.beta), scaled(&solution.outputs));
        let (lower, upper) = (&subproblem.lower, &subproblem.upper);
        let is_free = |i: usize| solution.beta[i] > lower[i] && solution.beta[i] < upper[i];
        let slack = subproblem.slack.as_ref();
        let curvature = |i: usize| slack.map_or(0.0, |s| s.curvature(i, solution.beta[i].abs()));
        let fitted = FittedDual { beta: &beta, intercept: Some(intercept), outputs: &outputs };
        leave_one_out(&exact, &fitted, is_free, curvature)
    }

    /// The leave-one-out decision values of several functions without intercepts, one list per list of coefficients.
    pub fn leave_one_out_without_intercept(
        &self,
        betas: &[Vec<f64>],
        is_free: impl Fn(usize) -> bool,
    ) -> Vec<Vec<f64>> {
        let rows = &self.exact_rows;
        let outputs = rows.weighted_tables(betas, rows);
        let values = |(beta, outputs): (&Vec<f64>, &Vec<f64>)| {
            let fitted = FittedDual { beta, intercept: None, outputs };
            leave_one_out(rows, &fitted, &is_free, |_| 0.0)
        };
        betas.iter().zip(&outputs).map(values).collect()
    }

    /// The kernel expansion with the given rows as support vectors.
    pub fn expansion(
        &self,
        rows: &[u32],
        coefficients: Matrix,
        intercepts: Vec<f64>,
    ) -> KernelExpansion {
        let support: Vec<u32> = rows.iter().map(|k| self.indices[*k as usize]).collect();
        self.kernel_problem.expansion(self.precision, support, coefficients, intercepts)
    }
}

/// The size of the kernel cache: a matrix that fits is cached whole. Beyond that, cached columns save less than their page
/// faults cost, and working sets are faster.
fn cache_bytes(allowed: u64, matrix: u64) -> u64 {
    if matrix <= allowed { allowed } else { allowed.min(MAX_COLUMN_CACHE) }
}

/// Whether the duality gap takes a fraction of a second, so that it is measured after a stop too.
fn is_measured_soon(beta: &[f64]) -> bool {
    let n_support = beta.iter().filter(|b| **b != 0.0).count();
    beta.len() as u64 * n_support as u64 <= MAX_VALUES_AFTER_STOP
}

/// Whether a solve that has not reached its tolerance would not reach it with a thousand times its iterations either:
/// the rounding error is as large as the gap, or the dual objective hardly moves.
fn makes_no_progress(gap: &DualityGap, last_dual: f64) -> bool {
    let open = gap.primal - gap.dual;
    // The first measurement has no other one to compare with. A box problem starts at the dual objective zero; those of
    // the ν forms are negative.
    let improvement = match last_dual.is_nan() {
        true if gap.dual < 0.0 => f64::INFINITY,
        true => gap.dual,
        false => gap.dual - last_dual,
    };
    !open.is_finite() || gap.total_rounding() >= 0.5 * open || improvement < MIN_PROGRESS * open
}

/// Refuses rows whose kernel value with themselves overflows.
fn check_finite(rows: &KernelRows<f64>, indices: &[u32]) -> Result<()> {
    let diagonal = rows.diagonal();
    match diagonal.iter().position(|k| !k.is_finite()) {
        None => Ok(()),
        Some(k) => {
            let what = format!("the kernel value of row {} with itself", indices[k] + 1);
            Err(overflow(&what, diagonal[k]))
        }
    }
}

/// The kernel function and the precision of a kernel matrix that fits to `data` can share.
pub(super) fn shared_kernel(
    params: &SvmOptions,
    data: &Dataset<'_>,
    max_bound: f64,
) -> (Function, Precision) {
    let SvmKernelOptions { kernel, gamma, coef0, degree } = &params.kernel;
    let function = kernel.with(Some(*gamma), *coef0, *degree, data);
    let center = center_of(&function, Storage::of(&function, data.rows()), data.rows());
    let precision = precision(params, &function, data.rows(), &center, max_bound);
    (function, precision)
}

fn bytes_of(precision: Precision) -> u64 {
    match precision {
        Precision::Single => 4,
        Precision::Double => 8,
    }
}

/// Single precision if its rounding error in the gradient stays below the tolerance.
fn precision(
    params: &SvmOptions,
    function: &Function,
    rows: &Rows<'_>,
    center: &[f64],
    max_bound: f64,
) -> Precision {
    let fine =
        params.smo.gap.map_or(params.smo.tol < MIN_SINGLE_TOLERANCE, |gap| gap < MIN_SINGLE_GAP);
    if fine {
        return Precision::Double;
    }
    let stride = rows.n_rows().div_ceil(1000).max(1);
    let (mut sum, mut n) = (0.0, 0.0);
    for i in (0..rows.n_rows()).step_by(stride) {
        let row = rows.row(i);
        let c = |j: usize| center.get(j).copied().unwrap_or(0.0);
        sum += row.iter().enumerate().map(|(j, x)| (x - c(j)).powi(2)).sum::<f64>();
        n += 1.0;
    }
    let mean_square = sum / n;
    // The error of a kernel value, in units of the machine epsilon.
    let size = match function.kernel {
        Kernel::Rbf => 1.0 + 4.0 * function.gamma * mean_square,
        // Single precision ends at 1e-38.
        Kernel::Linear if mean_square < 1e-30 => return Precision::Double,
        Kernel::Linear => mean_square,
        Kernel::Poly => {
            (function.gamma * mean_square + function.coef0).abs().powi(function.degree as i32)
        }
        Kernel::Laplacian | Kernel::Chi2 | Kernel::Sigmoid => {
            1.0 + function.gamma * mean_square.sqrt() * (rows.n_columns() as f64).sqrt()
        }
        Kernel::Precomputed | Kernel::Composed(_) | Kernel::Custom(_) => return Precision::Double,
    };
    let error = size * f64::from(f32::EPSILON) * max_bound.max(1.0) * ROUNDING_SAFETY;
    if error <= params.smo.gap.unwrap_or(params.smo.tol) {
        Precision::Single
    } else {
        Precision::Double
    }
}
