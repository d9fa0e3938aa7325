//! The parameters of sequential minimal optimization, shared by all support vector machines.

use crate::kernel::SvmKernelOptions;
use crate::param_group;

param_group! {
    /// When the solver stops, and how much memory it uses.
    SmoParams as SmoOptions {
        /// Stop when the largest KKT violation is at most `tol`. Smaller values come closer to the optimum
        /// and take longer.
        tol: f64 = 1e-3, Above(0.0);
        /// Stop when the relative duality gap is at most `gap`, instead of by `tol`. `None`, the default,
        /// stops by `tol`.
        gap: Option<f64> = None, Above(0.0);
        /// Remove variables that are stuck at a bound from the working problem until the final check.
        /// Changes speed only.
        shrinking: bool = true, Any;
        /// Size of the kernel cache in megabytes, allocated as needed. A kernel matrix that fits is cached whole; of a
        /// larger one, at most 256 MB of columns are cached before the solver goes on with working sets.
        /// Larger values recompute fewer kernel values.
        cache_size: f64 = 1500.0, Above(0.0);
        /// Largest number of iterations per binary problem; -1, the default, means no limit. A fit that reaches
        /// the limit returns its current model, marked in the certificate.
        max_iter: i64 = -1, AtLeast(-1.0);
    }
}

/// The kernel and the solver of a support vector machine.
#[derive(Clone, Debug)]
pub(super) struct SvmOptions {
    pub kernel: SvmKernelOptions,
    pub smo: SmoOptions,
    /// Whether the coefficients of every decision function sum to zero, so that the rows of a linear kernel can be
    /// centered: true if there is an intercept and no other fixed sum.
    pub zero_sum: bool,
}

impl<'a, P> From<&'a P> for SvmOptions
where
    SvmKernelOptions: From<&'a P>,
    SmoOptions: From<&'a P>,
{
    fn from(params: &'a P) -> Self {
        SvmOptions { kernel: params.into(), smo: params.into(), zero_sum: true }
    }
}
