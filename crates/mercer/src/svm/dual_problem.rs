//! What every machine stands on: the rows that count, the kernel with its numbers, and the precision
//! its values are kept in.

use super::duality_gap::{self, Measured};
use super::duplicate_rows::DuplicateRows;
use super::leave_one_out::{Solution, leave_one_out};
use super::multiclass::Task;
use crate::data::Dataset;
use crate::error::Result;
use crate::kernel::{
    Function, Gamma, Kernel, KernelExpansion, KernelRows, Precision, duplicate_keys,
};
use crate::model::{Monitor, Standing, Stop};
use crate::solver::{
    BoxQp, CrammerSinger, CrammerSingerOptions, CrammerSingerSolution, FEWEST_COLUMNS,
    SolverOptions, Tell, solve, solve_crammer_singer,
};
use mercer_num::{Matrix, Rows};
use std::ops::Deref;

/// Problems that are solved at the same time, at most: each has a share of the cache to itself, which must not
/// depend on how many threads there are.
pub(super) const AT_ONCE: usize = 8;
/// What to do where the memory budget does not allow a machine of all rows.
const INSTEAD: &str = "raise the memory budget, or let a few rows stand for all: `approx` of svc, or a \
                       linear expansion on the columns of a map such as nystroem";
/// Single precision is taken where its rounding stays this far below the tolerance.
const SAFETY: f64 = 16.0;
/// What a solver aims at, of the tolerance.
const INSIDE: f64 = 0.98;
/// Rounds of solving and measuring in which rows may be set aside, and in all.
const LAST_ASIDE: usize = 3;
const MOST_ROUNDS: usize = 20;
/// Tolerances below this are for double precision, and gaps below that.
const FINEST_SINGLE: f64 = 1e-5;
const FINEST_SINGLE_GAP: f64 = 1e-3;
/// The violation that a search for a gap begins with, of the first there is; how much smaller it is each
/// time, and where rounding begins.
const FIRST: f64 = 0.1;
const FINER: f64 = 0.1;
const ROUNDING: f64 = 1e-15;

/// The parameters that all machines have.
#[derive(Clone, Debug)]
pub(super) struct Kernelized {
    pub kernel: Kernel,
    pub gamma: Gamma,
    pub coef0: f64,
    pub degree: usize,
    pub tol: f64,
    pub gap: Option<f64>,
    pub cache_size: f64,
    pub shrinking: bool,
    pub max_iter: i64,
}

/// Rows that count, made ready.
pub(super) struct DualProblem<'a> {
    /// The rows in the order of the problem, with the kernel.
    on: crate::kernel::KernelProblem<'a>,
    pub precision: Precision,
    ready: Ready,
    exact: KernelRows<f64>,
    /// What tells rows apart, where some are there more than once.
    keys: Vec<u128>,
    /// What the rows made ready take.
    row_bytes: u64,
    options: SolverOptions,
    gap: Option<f64>,
}

impl<'a> Deref for DualProblem<'a> {
    type Target = crate::kernel::KernelProblem<'a>;

    fn deref(&self) -> &Self::Target {
        &self.on
    }
}

enum Ready {
    Single(KernelRows<f32>),
    Double(KernelRows<f64>),
}

/// A problem solved, with its proof.
pub(super) struct Solved {
    pub beta: Vec<f64>,
    pub level: [f64; 2],
    pub converged: bool,
    pub steps: u64,
    pub kernel_values: u64,
    pub stopped: Option<Stop>,
    pub measured: Measured,
    /// `Kβ`, as measured.
    pub outputs: Vec<f64>,
}

impl Solved {
    /// Where it ended.
    pub fn standing(&self) -> Standing {
        Standing::new(self.measured.violation, &self.beta)
    }
}

impl<'a> DualProblem<'a> {
    /// `group` sorts the rows; rows of one group keep their order. `largest` is the largest bound of a
    /// coefficient.
    pub fn new(
        params: &Kernelized,
        data: &Dataset<'a>,
        group: impl Fn(usize) -> u32,
        largest: f64,
        monitor: &Monitor<'_>,
    ) -> Result<DualProblem<'a>> {
        let Kernelized { kernel, gamma, coef0, degree, .. } = params;
        let on = crate::kernel::KernelProblem::new(
            data,
            kernel,
            Some(*gamma),
            *coef0,
            *degree,
            monitor,
        )?;
        let on = on.sorted_by(group);
        let precision = precision(params, &on.function, &on.rows, &on.center, largest);
        let size = bytes_of(precision);
        let n = on.indices.len() as u64;
        // Rows ready for solving and for the proof, a column cache that holds at least a small working set.
        let row_bytes = n * data.n_columns() as u64 * (size + 8);
        let fixed = row_bytes + n * FEWEST_COLUMNS as u64 * size;
        let what = "rows made ready and a few columns of kernel values";
        monitor.reserve_or(what, fixed, u64::MAX, INSTEAD)?;
        let room = monitor.memory().map_or(u64::MAX, |budget| budget - fixed);
        let options = SolverOptions {
            tol: params.tol,
            max_steps: u64::try_from(params.max_iter).unwrap_or(u64::MAX),
            cache_bytes: ((params.cache_size * 1e6) as u64).min(room),
            shrinking: params.shrinking,
        };
        let ready = match precision {
            Precision::Single => Ready::Single(on.kernel_rows_in()),
            Precision::Double => Ready::Double(on.kernel_rows()),
        };
        let keys = match kernel {
            // Values of another's making need not be the same for the same rows.
            Kernel::Precomputed | Kernel::Custom(_) => Vec::new(),
            _ => duplicate_keys(&on.rows, &on.indices),
        };
        let (exact, gap) = (on.uncentered_kernel_rows(), params.gap);
        Ok(DualProblem { on, precision, ready, exact, keys, row_bytes, options, gap })
    }

    /// What a kernel value takes.
    pub fn value_bytes(&self) -> u64 {
        bytes_of(self.precision)
    }

    /// What the rows made ready take.
    pub fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// What columns may take, of all problems at once.
    pub fn cache_bytes(&self) -> u64 {
        self.options.cache_bytes
    }

    /// Solves a problem over the rows at some places (of [`DualProblem::picks`]), `sharing` others at once.
    pub fn solve(
        &self,
        places: &[u32],
        problem: &BoxQp<'_>,
        sharing: usize,
        monitor: &Monitor<'_>,
        progress: &Tell<'_>,
    ) -> Solved {
        let Some(gap) = self.gap else {
            let to = (self.options.tol, 0);
            return self.solve_to(to, places, problem, sharing, monitor, progress);
        };
        let mut problem = problem.clone();
        let (mut steps, mut kernel_values) = (0, 0);
        let begin =
            duality_gap::measure(&self.exact.select(places), &problem, &problem.start, [0.0; 2]);
        let first = begin.0.violation;
        let mut tolerance = FIRST * first;
        loop {
            let to = (tolerance, steps);
            let solved = self.solve_to(to, places, &problem, sharing, monitor, &|_, _| {});
            steps += solved.steps;
            kernel_values += solved.kernel_values;
            let close = solved.measured.relative_gap() <= gap;
            // Nobody stands still at a tolerance of zero, where the start was the optimum.
            let last = !solved.converged || tolerance <= ROUNDING * first;
            let spent = steps >= self.options.max_steps;
            if close || last || spent {
                return Solved { converged: close, steps, kernel_values, ..solved };
            }
            progress((gap / solved.measured.relative_gap()).min(1.0), solved.standing());
            problem.start = solved.beta;
            problem.outputs = Some(solved.outputs);
            tolerance *= FINER;
        }
    }

    /// The same to a tolerance, after so many steps; rows that are there more than once are solved as one.
    pub fn solve_to(
        &self,
        to: (f64, u64),
        places: &[u32],
        problem: &BoxQp<'_>,
        sharing: usize,
        monitor: &Monitor<'_>,
        progress: &Tell<'_>,
    ) -> Solved {
        let Some(twins) = DuplicateRows::of(&self.keys, places, problem) else {
            return self.solve_each(to, places, problem, sharing, monitor, progress);
        };
        let (fewer, those) = (twins.problem(problem), twins.places(places));
        let solved = self.solve_each(to, &those, &fewer, sharing, monitor, progress);
        let (beta, outputs) = (twins.deal(&solved.beta, problem), twins.each(&solved.outputs));
        Solved { beta, outputs, ..solved }
    }

    fn solve_each(
        &self,
        (tol, taken): (f64, u64),
        places: &[u32],
        problem: &BoxQp<'_>,
        sharing: usize,
        monitor: &Monitor<'_>,
        progress: &Tell<'_>,
    ) -> Solved {
        let mut options = self.options;
        options.cache_bytes /= sharing.clamp(1, AT_ONCE) as u64;
        // A bound that no honest problem comes near: every loop ends.
        options.max_steps = options.max_steps.min(10_000_000.max(1000 * places.len() as u64));
        options.max_steps = options.max_steps.saturating_sub(taken);
        let exact = self.exact.select(places);
        let ready = match &self.ready {
            Ready::Single(rows) => Ready::Single(rows.select(places)),
            Ready::Double(rows) => Ready::Double(rows.select(places)),
        };
        // A little more than asked, so that rounding in single precision does not show.
        options.tol = INSIDE * tol;
        let mut problem = problem.clone();
        let (mut steps, mut kernel_values) = (0, 0);
        for round in 0.. {
            options.shrinking &= round < LAST_ASIDE;
            let solution = match &ready {
                Ready::Single(rows) => solve(&problem, rows, &options, monitor, progress),
                Ready::Double(rows) => solve(&problem, rows, &options, monitor, progress),
            };
            steps += solution.steps;
            kernel_values += solution.kernel_values;
            options.max_steps = options.max_steps.saturating_sub(solution.steps);
            let (measured, outputs) =
                duality_gap::measure(&exact, &problem, &solution.beta, solution.level);
            let again = solution.converged && measured.violation > tol && round < MOST_ROUNDS;
            if again {
                // Rows set aside came to matter, or rounding did: go on from what was measured.
                problem.start = solution.beta;
                problem.outputs = Some(outputs);
                continue;
            }
            return Solved {
                converged: solution.converged && measured.violation <= tol * (1.0 + 1e-9),
                beta: solution.beta,
                level: solution.level,
                steps,
                kernel_values,
                stopped: solution.stopped,
                measured,
                outputs,
            };
        }
        unreachable!("the last round returns")
    }

    /// Learns a function for each of `m` classes together, from the class and the price of every row.
    pub fn solve_crammer_singer(
        &self,
        classes: &[u32],
        m: usize,
        costs: &[f64],
        monitor: &Monitor<'_>,
    ) -> CrammerSingerSolution {
        let problem = CrammerSinger { rows: &self.exact, classes, m, costs };
        let SolverOptions { tol, max_steps, cache_bytes, .. } = self.options;
        let (gap, max_steps) = (self.gap, max_steps.min(10_000_000.max(1000 * costs.len() as u64)));
        solve_crammer_singer(
            &problem,
            &CrammerSingerOptions { tol, gap, max_steps, cache_bytes, monitor },
        )
    }

    /// The largest squared length of the rows at some places.
    pub fn largest_square(&self, places: &[u32]) -> f64 {
        self.exact.select(places).diagonal().into_iter().fold(0.0, f64::max)
    }

    /// What the machine of a task, scaled and with a constant, would say of each of its rows, had it been
    /// left out.
    pub fn leave_one_out(&self, task: &Task, solved: &Solved, times: f64, level: f64) -> Vec<f64> {
        let exact = self.exact.select(&task.places);
        let scaled = |v: &[f64]| -> Vec<f64> { v.iter().map(|v| times * v).collect() };
        let (beta, outputs) = (scaled(&solved.beta), scaled(&solved.outputs));
        let free = |i: usize| solved.beta[i] > task.low[i] && solved.beta[i] < task.high[i];
        let lift =
            |i: usize| task.slack.as_ref().map_or(0.0, |s| s.curvature(i, solved.beta[i].abs()));
        let level = Some(level);
        leave_one_out(&exact, &Solution { beta: &beta, level, outputs: &outputs }, free, lift)
    }

    /// What functions without constants would say of each row, had it been left out: a list for every list of
    /// coefficients. `free` says which rows could give way.
    pub fn leave_one_out_together(
        &self,
        betas: &[Vec<f64>],
        free: impl Fn(usize) -> bool,
    ) -> Vec<Vec<f64>> {
        let outputs = self.exact.weighted_tables(betas, &self.exact);
        let said = |(beta, outputs): (&Vec<f64>, &Vec<f64>)| {
            leave_one_out(&self.exact, &Solution { beta, level: None, outputs }, &free, |_| 0.0)
        };
        betas.iter().zip(&outputs).map(said).collect()
    }

    /// The machine of some of the rows.
    pub fn machine(
        &self,
        places: &[u32],
        coefficients: Matrix,
        intercepts: Vec<f64>,
    ) -> KernelExpansion {
        let support: Vec<u32> = places.iter().map(|k| self.indices[*k as usize]).collect();
        self.on.expansion(self.precision, support, coefficients, intercepts)
    }
}

fn bytes_of(precision: Precision) -> u64 {
    match precision {
        Precision::Single => 4,
        Precision::Double => 8,
    }
}

/// Single precision where its rounding cannot be seen at the tolerance asked for.
fn precision(
    params: &Kernelized,
    function: &Function,
    rows: &Rows<'_>,
    center: &[f64],
    largest: f64,
) -> Precision {
    let fine = params.gap.map_or(params.tol < FINEST_SINGLE, |gap| gap < FINEST_SINGLE_GAP);
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
    let square = sum / n;
    // How large an error of one rounding is in a kernel value.
    let size = match function.kernel {
        Kernel::Rbf => 1.0 + 4.0 * function.gamma * square,
        Kernel::Linear => square,
        Kernel::Poly => {
            (function.gamma * square + function.coef0).abs().powi(function.degree as i32)
        }
        Kernel::Laplacian | Kernel::Chi2 | Kernel::Sigmoid => {
            1.0 + function.gamma * square.sqrt() * (rows.n_columns() as f64).sqrt()
        }
        Kernel::Precomputed | Kernel::Composed(_) | Kernel::Custom(_) => return Precision::Double,
    };
    let seen = size * f64::from(f32::EPSILON) * largest.max(1.0) * SAFETY;
    if seen <= params.gap.unwrap_or(params.tol) { Precision::Single } else { Precision::Double }
}
