//! What every machine stands on: the rows that count, the kernel with its numbers, and the precision
//! its values are kept in.

use super::machine::{Machine, Precision, ThinRows};
use super::proof::{self, Measured};
use crate::bayes::cache::Cache;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::{Function, Gamma, Kernel, KernelRows, center_of, check_square};
use crate::model::{Monitor, Stop};
use crate::solver::{BoxQp, SolverOptions, solve};
use mercer_num::{Matrix, Rows};

/// Single precision is taken where its rounding stays this far below the tolerance.
const SAFETY: f64 = 16.0;
/// Tolerances below this are for double precision.
const FINEST_SINGLE: f64 = 1e-5;

/// The parameters that all machines have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernelized {
    pub kernel: Kernel,
    pub gamma: Gamma,
    pub coef0: f64,
    pub degree: usize,
    pub tol: f64,
    pub cache_size: f64,
    pub shrinking: bool,
    pub max_iter: i64,
}

/// Rows that count, made ready.
pub(super) struct Ground<'a> {
    rows: Rows<'a>,
    pub function: Function,
    pub precision: Precision,
    center: Vec<f64>,
    /// The rows that count, in the order of the problem.
    pub picks: Vec<u32>,
    /// How often each counts.
    pub weights: Vec<f64>,
    ready: Ready,
    exact: Cache<KernelRows<f64>>,
    options: SolverOptions,
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
}

impl<'a> Ground<'a> {
    /// `group` sorts the rows; rows of one group keep their order. `largest` is the largest bound of a
    /// coefficient.
    pub fn new(
        params: &Kernelized,
        data: &Dataset<'a>,
        group: impl Fn(usize) -> u32,
        largest: f64,
        monitor: &Monitor<'_>,
    ) -> Result<Ground<'a>> {
        if data.n_rows() == 0 {
            return Err(Error::NoRows);
        }
        if data.n_columns() == 0 {
            return Err(Error::NoFeatures);
        }
        if monitor.stop().is_some() {
            return Err(Error::Stopped);
        }
        let rows = *data.rows();
        let gamma = match params.kernel {
            Kernel::Linear | Kernel::Precomputed => 1.0,
            _ => {
                let function = Function { kernel: params.kernel, ..Function::linear() };
                function.check_rows(&rows)?;
                params.gamma.of(data)
            }
        };
        let Kernelized { kernel, coef0, degree, .. } = *params;
        let function = Function { kernel, gamma, coef0, degree };
        function.check_rows(&rows)?;
        if kernel == Kernel::Precomputed {
            check_square(&rows)?;
        }
        let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
        let mut picks: Vec<u32> =
            (0..data.n_rows()).filter(|i| weight(*i) > 0.0).map(|i| i as u32).collect();
        if picks.is_empty() {
            return Err(Error::NoRows);
        }
        picks.sort_by_key(|i| group(*i as usize));
        let weights: Vec<f64> = picks.iter().map(|i| weight(*i as usize)).collect();
        let center = center_of(function, &rows);
        let precision = precision(params, function, &rows, &center, largest);
        let size = if precision == Precision::Single { 4 } else { 8 };
        let cells = (picks.len() * data.n_columns() * size) as u64;
        let options = SolverOptions {
            tol: params.tol,
            max_steps: u64::try_from(params.max_iter).unwrap_or(u64::MAX),
            cache_bytes: (params.cache_size * 1e6) as u64,
            shrinking: params.shrinking,
        };
        monitor.reserve("rows made ready and a cache of kernel columns", 2 * cells)?;
        let ready = match precision {
            Precision::Single => {
                Ready::Single(KernelRows::new(function, &rows, &picks, &center, &picks))
            }
            Precision::Double => {
                Ready::Double(KernelRows::new(function, &rows, &picks, &center, &picks))
            }
        };
        let exact = Cache::default();
        Ok(Ground { rows, function, precision, center, picks, weights, ready, exact, options })
    }

    /// Solves a problem over the rows at some places (of [`Ground::picks`]), `sharing` others at once.
    pub fn solve(
        &self,
        places: &[u32],
        problem: &BoxQp<'_>,
        sharing: usize,
        monitor: &Monitor<'_>,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Solved {
        let mut options = self.options;
        options.cache_bytes /= sharing.clamp(1, rayon::current_num_threads()) as u64;
        // A bound that no honest problem comes near: every loop ends.
        options.max_steps = options.max_steps.min(10_000_000.max(1000 * places.len() as u64));
        let solution = match &self.ready {
            Ready::Single(rows) => {
                solve(problem, &rows.select(places), &options, monitor, progress)
            }
            Ready::Double(rows) => {
                solve(problem, &rows.select(places), &options, monitor, progress)
            }
        };
        let exact = self
            .exact
            .get(|| KernelRows::new(self.function, &self.rows, &self.picks, &[], &self.picks));
        let measured =
            proof::measure(&exact.select(places), problem, &solution.beta, solution.level);
        Solved {
            beta: solution.beta,
            level: solution.level,
            converged: solution.converged,
            steps: solution.steps,
            kernel_values: solution.kernel_values,
            stopped: solution.stopped,
            measured,
        }
    }

    /// The machine of some of the rows.
    pub fn machine(&self, places: &[u32], coefficients: Matrix, intercepts: Vec<f64>) -> Machine {
        let support: Vec<u32> = places.iter().map(|k| self.picks[*k as usize]).collect();
        let given = self.function.kernel == Kernel::Precomputed;
        let (mut vectors, mut thin) = (Matrix::zeros((0, 0)), None);
        match &self.rows {
            _ if given => {}
            Rows::Sparse(x) if self.rows.n_columns() > 4096 => {
                let whole = x.whole();
                thin = Some(ThinRows::of(&whole.view(), &support));
            }
            rows => {
                let cells: Vec<f64> = support.iter().flat_map(|i| rows.row(*i as usize)).collect();
                vectors = Matrix::from_shape_vec((support.len(), rows.n_columns()), cells)
                    .expect("a row each");
            }
        }
        Machine::new(
            self.function,
            self.precision,
            self.rows.n_columns(),
            self.center.clone(),
            support,
            vectors,
            thin,
            coefficients,
            intercepts,
        )
    }
}

/// Single precision where its rounding cannot be seen at the tolerance asked for.
fn precision(
    params: &Kernelized,
    function: Function,
    rows: &Rows<'_>,
    center: &[f64],
    largest: f64,
) -> Precision {
    if params.tol < FINEST_SINGLE {
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
        Kernel::Precomputed => return Precision::Double,
    };
    let seen = size * f64::from(f32::EPSILON) * largest.max(1.0) * SAFETY;
    if seen <= params.tol { Precision::Single } else { Precision::Double }
}
