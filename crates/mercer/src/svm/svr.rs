//! ε-support vector regression.
//!
//! Minimize `½‖w‖² + Σᵢ Cᵢ max(0, |yᵢ − w·φ(xᵢ) − b| − ε)` (Vapnik 1995). With `β = α⁺ − α⁻` the dual problem is
//! `min ½ βᵀKβ − yᵀβ + ε‖β‖₁` with `|βᵢ| ≤ Cᵢ` and `Σ βᵢ = 0`.

use super::dual_problem::DualProblem;
use super::params::{SmoOptions, SmoParams, SvmOptions};
use super::single_output::{self, SingleOutput, one_group};
use super::subproblem::Subproblem;
use crate::explain::SupportExplanation;
use crate::kernel::{KernelExpansion, KernelParams, SvmKernelOptions};
use crate::prelude::*;
use std::time::Instant;

params! {
    /// ε-support vector regression: errors within a tube around the function cost nothing.
    pub struct Svr {
        ..KernelParams(svm);
        ..SmoParams;
        /// Inverse regularization strength: the cost of errors outside the tube. Larger values fit
        /// the training rows more closely.
        C: f64 = 1.0, Above(0.0);
        /// Half-width of the insensitive tube, in units of the target: errors up to `epsilon` cost
        /// nothing. Larger values give fewer support vectors.
        epsilon: f64 = 0.1, AtLeast(0.0);
    }
    formula = "min ½‖w‖² + C Σᵢ max(0, |yᵢ − w·φ(xᵢ) − b| − ε)";
    lecture = 12;
    attributes = [
        SUPPORT,
        SUPPORT_VECTORS,
        SUPPORT_COUNT,
        DUAL_COEF,
        EXPANSION_INTERCEPT,
        LINEAR_KERNEL_WEIGHTS,
        ITERATIONS,
        FIT_STATUS,
    ];
    sklearn {
        spellings: &[POLYNOMIAL],
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
        let problem = DualProblem::new(&SvmOptions::from(self), data, |_| 0, self.C, monitor)?;
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
