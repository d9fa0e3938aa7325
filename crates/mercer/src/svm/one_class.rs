//! The one-class support vector machine for novelty detection.
//!
//! Minimize `½‖w‖² − ρ ν Σ wᵢ + Σ wᵢ max(0, ρ − w·φ(xᵢ))` (Schölkopf et al. 2001). The dual problem is `min ½ αᵀKα` with
//! `0 ≤ αᵢ ≤ wᵢ` and `Σ αᵢ = ν Σ wᵢ`. The decision function `f(x) − ρ` is positive for inliers.

use super::dual_problem::DualProblem;
use super::params::{SmoOptions, SmoParams, SvmOptions};
use super::single_output::{self, SingleOutput, one_group};
use super::subproblem::{Subproblem, fill_to_sum};
use crate::explain::SupportExplanation;
use crate::kernel::{KernelExpansion, KernelParams, SvmKernelOptions};
use crate::prelude::*;
use std::time::Instant;

params! {
    /// One-class support vector machine for novelty detection: the region that contains most
    /// training rows.
    pub struct OneClassSvm {
        ..KernelParams(svm);
        ..SmoParams;
        /// Upper bound on the fraction of training rows outside the region and lower bound on the
        /// fraction of support vectors. Larger values give a smaller region.
        nu: f64 = 0.5, Between(1e-9, 1.0);
    }
    formula = "min ½‖w‖² − ν n ρ + Σᵢ max(0, ρ − w·φ(xᵢ)),  inlier if w·φ(x) ≥ ρ";
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
        of_field(
            "offset_",
            "intercepts",
            "negated",
            "ndarray of shape (1,)",
            "Offset `ρ` of the decision function: minus the intercept.",
        ),
    ];
    sklearn {
        spellings: &[POLYNOMIAL],
    }
}

/// A decision function that is positive for inliers, as a sum over support vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneClassSvmModel {
    /// Support vectors, dual coefficients and the intercept `−ρ`.
    pub expansion: KernelExpansion,
    /// The solver's iterations.
    pub n_iter: u64,
    /// Whether the solver reached its tolerance.
    pub converged: bool,
}

impl Fit for OneClassSvm {
    type Model = OneClassSvmModel;

    /// Unsupervised: a target is ignored.
    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<OneClassSvmModel>> {
        let start = Instant::now();
        self.check()?;
        let params = SvmOptions { zero_sum: false, ..SvmOptions::from(self) };
        let problem = DualProblem::new(&params, data, |_| 0, 1.0, monitor)?;
        problem.check_total(problem.weights.iter().sum())?;
        let n = problem.indices.len();
        let mut initial = vec![0.0; n];
        fill_to_sum(&problem.weights, self.nu * problem.weights.iter().sum::<f64>(), &mut initial);
        let subproblem = Subproblem {
            rows: (0..n as u32).collect(),
            linear: vec![0.0; n],
            lower: vec![0.0; n],
            upper: problem.weights.clone(),
            start: initial,
            epsilon: 0.0,
            split: n,
            slack: None,
        };
        let SingleOutput { expansion, solution, certificate } =
            single_output::fit(&problem, subproblem, one_group, monitor, start);
        let (n_iter, converged) = (solution.iterations, solution.converged);
        Ok(Fitted { model: OneClassSvmModel { expansion, n_iter, converged }, certificate })
    }
}

impl OutlierDetector for OneClassSvmModel {
    fn n_columns(&self) -> usize {
        self.expansion.n_columns
    }

    fn inlier_scores(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        single_output::values(&self.expansion, x)
    }
}

impl DecisionFunction for OneClassSvmModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        single_output::decisions(&self.expansion, x)
    }
}

impl SupportVectors for OneClassSvmModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        single_output::support_terms(&self.expansion, row)
    }
}

impl Check for OneClassSvmModel {
    fn check(&self) -> Result<()> {
        single_output::check(&self.expansion)
    }
}
