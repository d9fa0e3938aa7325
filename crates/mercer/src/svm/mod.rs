//! Support vector machines with kernels.
//!
//! Every estimator here solves quadratic programs over a kernel matrix ([`crate::solver::BoxQp`]). The solution is a
//! kernel expansion over the support vectors, `f(x) = Σᵢ βᵢ K(xᵢ, x) + b`. Its certificate has the duality gap and the largest
//! KKT violation, computed in double precision from the rows and the dual variables alone.
//!
//! - `svc`, `nu_svc`, `svr`, `nu_svr`, `one_class`: the estimators
//! - `dual_problem`, `subproblem`, `duality_gap`: from rows to quadratic programs, and the check of their solutions
//! - `hyperplane`: distances and margins of a given hyperplane
//! - `multiclass`, `kernel_classifier`, `crammer_singer`: more than two classes
//! - `hard_margin`, `approximate`, `duplicate_rows`, `warm_start`, `leave_one_out`, `plan`: parts of the fit

mod approximate;
mod crammer_singer;
mod dual_problem;
mod duality_gap;
mod duplicate_rows;
mod hard_margin;
mod hyperplane;
mod kernel_classifier;
mod leave_one_out;
mod multiclass;
mod nu_svc;
mod nu_svr;
mod one_class;
mod params;
mod plan;
mod single_output;
mod subproblem;
mod svc;
mod svc_model;
mod svr;
mod warm_start;

pub use crate::kernel::{CsrRows, KernelExpansion, Precision};
pub use hyperplane::{Hyperplane, Separation};
pub use multiclass::{DecisionShape, Multiclass};
pub use nu_svc::{NuSvc, NuSvcModel};
pub use nu_svr::{NuSvr, NuSvrModel};
pub use one_class::{OneClassSvm, OneClassSvmModel};
pub use svc::{Margin, Svc};
pub use svc_model::{ClassMargin, SvcModel};
pub use svr::{Svr, SvrModel};

#[cfg(test)]
mod test_data {
    use crate::data::Classes;
    use mercer_num::Matrix;
    use mercer_num::random::Random;

    /// Overlapping Gaussian classes in four columns.
    pub(super) fn blobs(n: usize, n_classes: usize, seed: u64) -> (Matrix, Vec<u32>, Classes) {
        let mut random = Random::new(seed);
        let codes: Vec<u32> = (0..n).map(|i| (i % n_classes) as u32).collect();
        let x = Matrix::from_shape_fn((n, 4), |(i, j)| {
            1.2 * f64::from(codes[i]) * (1.0 + j as f64 * 0.3) + 1.5 * random.normal()
        });
        (x, codes, Classes::from_names((0..n_classes).map(|c| format!("class {c}"))))
    }
}
