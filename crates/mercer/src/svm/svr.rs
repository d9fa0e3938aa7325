//! ε-support vector regression.
//!
//! Minimize `½‖w‖² + Σᵢ Cᵢ max(0, |yᵢ − w·φ(xᵢ) − b| − ε)` (Vapnik 1995). With `β = α⁺ − α⁻` the dual problem is
//! `min ½ βᵀKβ − yᵀβ + ε‖β‖₁` with `|βᵢ| ≤ Cᵢ` and `Σ βᵢ = 0`.

use super::dual_problem::{DualProblem, SvmParams};
use super::single_output::{self, SingleOutput, one_group};
use super::subproblem::Subproblem;
use crate::explain::SupportExplanation;
use crate::kernel::{Gamma, GammaRule, Kernel, KernelExpansion};
use crate::prelude::*;
use std::time::Instant;

params! {
    /// ε-support vector regression: errors within a tube around the function cost nothing.
    pub struct Svr {
        /// The kernel: `linear`, `poly`, `rbf`, `sigmoid`, `laplacian`, `chi2`, sums and products of
        /// these as in `rbf(gamma=0.1)+2*linear`, or `precomputed` where the rows are kernel values.
        kernel: Kernel = Kernel::Rbf, Formula(Kernel::WORDS);
        /// The power of the kernel `poly`.
        degree: usize = 3, Between(0.0, 1000.0);
        /// How fast a kernel falls with distance: a number, `scale` for `1 / (columns · variance)`, or
        /// `auto` for `1 / columns`. Larger values make the function bend more.
        gamma: Gamma = Gamma::Rule(GammaRule::Scale), AtLeast(0.0);
        /// The constant in the kernels `poly` and `sigmoid`.
        coef0: f64 = 0.0, Any;
        /// The largest violation of the optimum's conditions to stop at. Smaller values are nearer to the
        /// optimum and take longer.
        tol: f64 = 1e-3, Above(0.0);
        /// Where given, the fit ends when the objective is proved to be within this share of the best, in place of
        /// `tol`.
        gap: Option<f64> = None, Above(0.0);
        /// Inverse regularization strength: the cost of errors outside the tube. Larger values fit
        /// the training rows more closely.
        C: f64 = 1.0, Above(0.0);
        /// Half-width of the insensitive tube, in units of the target: errors up to `epsilon` cost
        /// nothing. Larger values give fewer support vectors.
        epsilon: f64 = 0.1, AtLeast(0.0);
        /// Whether rows that are far from mattering may be set aside until the end.
        shrinking: bool = true, Any;
        /// Most memory for kernel values, in millions of bytes; taken as it is needed.
        cache_size: f64 = 256.0, Above(0.0);
        /// Most steps; -1 sets no limit.
        max_iter: i64 = -1, AtLeast(-1.0);
    }
}

/// A regression function as a sum over support vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvrModel {
    /// Support vectors, dual coefficients and the intercept.
    pub expansion: KernelExpansion,
    /// The solver's iterations.
    pub n_iter: u64,
    /// Whether the solver reached its tolerance.
    pub converged: bool,
}

impl Fit for Svr {
    type Model = SvrModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<SvrModel>> {
        let start = Instant::now();
        self.check()?;
        let y = data.regression_target()?;
        let problem = DualProblem::new(&self.svm_params(), data, |_| 0, self.C, monitor)?;
        let n = problem.indices.len();
        let bounds: Vec<f64> = problem.weights.iter().map(|w| self.C * w).collect();
        let subproblem = Subproblem {
            rows: (0..n as u32).collect(),
            linear: problem.indices.iter().map(|i| y[*i as usize]).collect(),
            lower: bounds.iter().map(|c| -c).collect(),
            upper: bounds,
            start: vec![0.0; n],
            epsilon: self.epsilon,
            split: n,
            slack: None,
        };
        let SingleOutput { expansion, solution, certificate } =
            single_output::fit(&problem, subproblem, one_group, monitor, start);
        let (n_iter, converged) = (solution.iterations, solution.converged);
        Ok(Fitted { model: SvrModel { expansion, n_iter, converged }, certificate })
    }
}

impl Svr {
    fn svm_params(&self) -> SvmParams {
        SvmParams {
            kernel: self.kernel.clone(),
            gamma: self.gamma,
            coef0: self.coef0,
            degree: self.degree,
            tol: self.tol,
            gap: self.gap,
            cache_size: self.cache_size,
            shrinking: self.shrinking,
            max_iter: self.max_iter,
        }
    }
}

impl Regressor for SvrModel {
    fn n_columns(&self) -> usize {
        self.expansion.n_columns
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        single_output::values(&self.expansion, x)
    }
}

impl SupportVectors for SvrModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        single_output::support_terms(&self.expansion, row)
    }
}

impl Check for SvrModel {
    fn check(&self) -> Result<()> {
        single_output::check(&self.expansion)
    }
}
