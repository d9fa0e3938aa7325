//! Methods that look at rows only through inner products, given a kernel instead.
//!
//! Each is a method that is known without one, in the space of the kernel: least squares with a price
//! ([`KernelRidge`]), directions of most variance ([`KernelPca`]), clusters around means ([`KernelKMeans`]), a
//! boundary from mistakes ([`KernelPerceptron`]). With a linear kernel each is that method.

mod k_means;
mod pca;
mod perceptron;
mod pre_image;
mod ridge;
mod ridge_cholesky;
mod ridge_conjugate_gradient;
mod ridge_landmarks;

pub use k_means::{KernelKMeans, KernelKMeansModel};
pub use pca::{KernelPca, KernelPcaModel};
pub use perceptron::{KernelPerceptron, KernelPerceptronModel};
pub use ridge::{KernelRidge, KernelRidgeModel, RidgeSolver};

use crate::error::Result;
use crate::kernel::KernelProblem;
use crate::model::{Monitor, Plan};

/// What a kernel matrix may take where nobody set a budget.
const USUAL_BYTES: u64 = 16 << 30;

impl KernelProblem<'_> {
    /// What the rows made ready take.
    fn row_bytes(&self) -> u64 {
        8 * self.indices.len() as u64 * self.rows.n_columns() as u64
    }

    /// What so many bytes a pair of rows are, with the rows.
    fn matrix_bytes(&self, bytes: u64) -> u64 {
        let n = self.indices.len() as u64;
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
        let what = format!("a kernel matrix of {} rows", self.indices.len());
        monitor.reserve_or(&what, self.matrix_bytes(bytes), USUAL_BYTES, instead)
    }

    /// Whether there is that memory.
    fn fits(&self, bytes: u64, monitor: &Monitor<'_>) -> bool {
        self.reserve(bytes, monitor).is_ok()
    }

    /// Tells the way and the bytes it takes; `size` is what a kernel value takes.
    fn plan(&self, way: String, bytes: u64, size: u64, monitor: &Monitor<'_>) -> Option<Plan> {
        let n = self.indices.len() as u64;
        monitor.plan(Plan { strategy: way, bytes, kernel_matrix_bytes: size * n * n })
    }

    /// The weight of every row, those that do not count included.
    fn row_weights(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.rows.n_rows()];
        self.indices.iter().zip(&self.weights).for_each(|(i, w)| out[*i as usize] = *w);
        out
    }
}
