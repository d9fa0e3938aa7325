//! The parameters of the kernel, shared by all kernel methods.

use super::{Gamma, Kernel};

/// The kernel and its parameters. `..KernelParams(kernel = Kernel::Rbf);` has the defaults of scikit-learn's
/// kernel methods, `..KernelParams(svm);` those of its support vector machines, and converts to
/// [`SvmKernelOptions`].
macro_rules! KernelParams {
    ($state:tt kernel = $kernel:expr) => {
        $crate::kernel::KernelParams! { @with
            $state [] $kernel, Option<$crate::kernel::Gamma> = None, 1.0,
            " `None` is `auto`, and 1 for `chi2`."
        }
    };
    ($state:tt svm) => {
        $crate::kernel::KernelParams! { @with
            $state [as SvmKernelOptions] $crate::kernel::Kernel::Rbf,
            $crate::kernel::Gamma = $crate::kernel::Gamma::Rule($crate::kernel::GammaRule::Scale), 0.0,
            ""
        }
    };
    (@with
        $state:tt [$($as:tt)*] $kernel:expr, $Gamma:ty = $gamma:expr, $coef0:expr, $none:literal
    ) => {
        $crate::params! { @group $state $($as)* {
            /// Kernel function: `linear`, `poly`, `rbf`, `sigmoid`, `laplacian`, `chi2`; sums and products of
            /// kernels such as `rbf(gamma=0.1)+2*linear`; or `precomputed`, if the rows are rows of a kernel
            /// matrix.
            kernel: $crate::kernel::Kernel = $kernel, Formula($crate::kernel::Kernel::VALUES);
            /// Degree of the kernel `poly`. Other kernels ignore it.
            degree: usize = 3, Between(0.0, 1000.0);
            /// Coefficient of the kernels `rbf`, `poly`, `sigmoid`, `laplacian` and `chi2`: a number, `scale`
            /// for `1 / (n_features * variance of X)`, or `auto` for `1 / n_features`. Larger values make the
            /// kernel narrower and the fitted function more flexible.
            #[doc = $none]
            gamma: $Gamma = $gamma, AtLeast(0.0);
            /// Independent term of the kernels `poly` and `sigmoid`. Other kernels ignore it.
            coef0: f64 = $coef0, Any;
        } }
    };
}
pub(crate) use KernelParams;

/// The kernel of a support vector machine.
#[derive(Clone, Debug)]
pub(crate) struct SvmKernelOptions {
    pub kernel: Kernel,
    pub gamma: Gamma,
    pub degree: usize,
    pub coef0: f64,
}
