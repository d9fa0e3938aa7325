//! Methods that look at rows only through inner products, given a kernel instead.
//!
//! Each is a method that is known without one, in the space of the kernel: least squares with a price
//! ([`KernelRidge`]), directions of most variance ([`KernelPca`]), clusters around means ([`KernelKMeans`]), a
//! boundary from mistakes ([`KernelPerceptron`]). With a linear kernel each is that method.

mod k_means;
mod pca;
mod perceptron;
mod ridge;
mod ridge_centers;
mod ridge_factor;
mod ridge_gradients;

pub use k_means::{KernelKMeans, KernelKMeansModel};
pub use pca::{KernelPca, KernelPcaModel};
pub use perceptron::{KernelPerceptron, KernelPerceptronModel};
pub use ridge::{KernelRidge, KernelRidgeModel, RidgeSolver};

use crate::data::{Dataset, check_storage};
use crate::error::{Error, Result};
use crate::kernel::{Function, Gamma, Kernel, KernelRows, Storage, center_of, check_square};
use crate::model::{Monitor, Plan};
use mercer_num::Rows;

/// What a kernel matrix may take where nobody set a budget.
const USUAL_BYTES: u64 = 16 << 30;

/// The rows that count, with a kernel.
struct Ground<'a> {
    rows: Rows<'a>,
    function: Function,
    storage: Storage,
    /// What is taken off rows before distances are worked out.
    center: Vec<f64>,
    picks: Vec<u32>,
    weights: Vec<f64>,
}

impl<'a> Ground<'a> {
    fn new(
        data: &Dataset<'a>,
        kernel: &Kernel,
        gamma: Option<Gamma>,
        coef0: f64,
        degree: usize,
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
        check_storage(&rows)?;
        Function { kernel: kernel.clone(), ..Function::linear() }.check_rows(&rows)?;
        if *kernel == Kernel::Precomputed {
            check_square(&rows)?;
        }
        let function = kernel.with(gamma, coef0, degree, data);
        let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
        let picks: Vec<u32> =
            (0..data.n_rows()).filter(|i| weight(*i) > 0.0).map(|i| i as u32).collect();
        if picks.is_empty() {
            return Err(Error::NoRows);
        }
        let weights = picks.iter().map(|i| weight(*i as usize)).collect();
        let storage = Storage::of(&function, &rows);
        let center = center_of(&function, storage, &rows);
        Ok(Ground { rows, function, storage, center, picks, weights })
    }

    /// What the rows made ready take.
    fn row_bytes(&self) -> u64 {
        8 * self.picks.len() as u64 * self.rows.n_columns() as u64
    }

    /// What so many bytes a pair of rows are, with the rows.
    fn matrix_bytes(&self, bytes: u64) -> u64 {
        let n = self.picks.len() as u64;
        bytes * n * n + self.row_bytes()
    }

    /// Asks for the memory of so many bytes a pair of rows.
    fn reserve(&self, bytes: u64, monitor: &Monitor<'_>) -> Result<()> {
        let instead = "raise the memory budget, learn from fewer rows, or put a map such as nystroem in \
                       front of the same method without a kernel";
        self.reserve_or(bytes, monitor, instead)
    }

    /// The same, with what to do where it is refused.
    fn reserve_or(&self, bytes: u64, monitor: &Monitor<'_>, instead: &'static str) -> Result<()> {
        let what = format!("a kernel matrix of {} rows", self.picks.len());
        monitor.reserve_or(&what, self.matrix_bytes(bytes), USUAL_BYTES, instead)
    }

    /// Whether there is that memory.
    fn fits(&self, bytes: u64, monitor: &Monitor<'_>) -> bool {
        self.reserve(bytes, monitor).is_ok()
    }

    /// Tells the way and the bytes it takes; `size` is what a kernel value takes.
    fn plan(&self, way: String, bytes: u64, size: u64, monitor: &Monitor<'_>) -> Option<Plan> {
        let n = self.picks.len() as u64;
        monitor.plan(Plan { way, bytes, whole: size * n * n })
    }

    /// The weight of every row, those that do not count included.
    fn row_weights(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.rows.n_rows()];
        self.picks.iter().zip(&self.weights).for_each(|(i, w)| out[*i as usize] = *w);
        out
    }

    fn ready(&self) -> KernelRows<f64> {
        KernelRows::new(
            self.function.clone(),
            self.storage,
            &self.rows,
            &self.picks,
            &self.center,
            &self.picks,
        )
    }
}
