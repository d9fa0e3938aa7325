//! Estimators in the space of a kernel: methods that access rows through inner products only, with a kernel instead.
//!
//! Each is a linear method in the feature space of the kernel: ridge regression ([`KernelRidge`]), principal component
//! analysis ([`KernelPca`]), k-means ([`KernelKMeans`]), the perceptron ([`KernelPerceptron`]). With a linear kernel each is
//! that method itself.

mod k_means;
mod lloyd;
mod pca;
mod perceptron;
mod pre_image;
mod relevance;
mod ridge;
mod ridge_cholesky;
mod ridge_conjugate_gradient;
mod ridge_landmarks;

pub use k_means::{KernelKMeans, KernelKMeansModel};
pub use pca::{KernelPca, KernelPcaModel};
pub use perceptron::{KernelPerceptron, KernelPerceptronModel};
pub use ridge::{FeatureWidths, KernelRidge, KernelRidgeModel, RidgeSolver};

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::KernelProblem;
use crate::model::{Fit, Fitted, Monitor, Plan, Stop};
use std::time::Instant;

/// The memory budget of a kernel matrix if the user set none.
const DEFAULT_MEMORY_BYTES: u64 = 16 << 30;

/// The rows of a fit that was stopped before it had learned from any: few enough for a fraction of a second.
const FIRST_ROWS: usize = 256;

/// The fit of the first rows alone, for a fit that was stopped before its kernel matrix was complete, so that there is a
/// model, which is marked.
///
/// # Errors
/// [`Error::Stopped`] if the first rows cannot be fitted, such as those of a precomputed kernel.
fn fit_first_rows<E: Fit>(
    estimator: &E,
    data: &Dataset<'_>,
    stop: Stop,
    start: Instant,
) -> Result<Fitted<E::Model>> {
    let first = data.slice(0..FIRST_ROWS.min(data.n_rows()));
    let fitted = estimator.fit(&first, &Monitor::quiet()).map_err(|_| Error::Stopped)?;
    let note = format!("stopped before the kernel matrix of {} rows was complete", data.n_rows());
    let certificate = fitted.certificate.note_first(note).stopped_by(Some(stop)).since(start);
    Ok(Fitted { certificate, ..fitted })
}

impl KernelProblem<'_> {
    /// The memory of the prepared rows.
    fn row_bytes(&self) -> u64 {
        8 * self.indices.len() as u64 * self.rows.n_columns() as u64
    }

    /// The memory of the prepared rows and of `bytes` per pair of rows.
    fn matrix_bytes(&self, bytes: u64) -> u64 {
        let n = self.indices.len() as u64;
        bytes * n * n + self.row_bytes()
    }

    /// Reserves `bytes` per pair of rows.
    fn reserve(&self, bytes: u64, monitor: &Monitor<'_>) -> Result<()> {
        let remedy = "raise the memory budget, fit fewer rows, or put a feature map such as nystroem in front of the \
                      same method without a kernel";
        self.reserve_or(bytes, monitor, remedy)
    }

    /// Reserves `bytes` per pair of rows, or fails with a remedy.
    fn reserve_or(&self, bytes: u64, monitor: &Monitor<'_>, remedy: &'static str) -> Result<()> {
        let what = format!("a kernel matrix of {} rows", self.indices.len());
        monitor.reserve_or(&what, self.matrix_bytes(bytes), DEFAULT_MEMORY_BYTES, remedy)
    }

    /// Whether `bytes` per pair of rows fit into the memory budget.
    fn fits(&self, bytes: u64, monitor: &Monitor<'_>) -> bool {
        self.reserve(bytes, monitor).is_ok()
    }

    /// Reports the chosen algorithm and its memory; `size` is that of one kernel value.
    fn plan(&self, way: String, bytes: u64, size: u64, monitor: &Monitor<'_>) -> Option<Plan> {
        let n = self.indices.len() as u64;
        monitor.plan(Plan { strategy: way, bytes, kernel_matrix_bytes: size * n * n })
    }

    /// The weight of every row of the data set, zero for the rows that are not used.
    fn row_weights(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.rows.n_rows()];
        self.indices.iter().zip(&self.weights).for_each(|(i, w)| out[*i as usize] = *w);
        out
    }
}
