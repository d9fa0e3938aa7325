//! ν-support vector regression.
//!
//! `ν` is an upper bound on the fraction of rows outside the insensitive tube and a lower bound on the fraction of
//! support vectors; the width of the tube follows from it (Schölkopf et al. 2000):
//! `min ½ (α⁺−α⁻)ᵀK(α⁺−α⁻) − yᵀ(α⁺−α⁻)` with `0 ≤ α ≤ Cᵢ` and `Σ α⁺ = Σ α⁻ = ν Σ Cᵢ / 2`.

use super::dual_problem::{DualProblem, DualSolution};
use super::params::{SmoOptions, SmoParams, SvmOptions};
use super::single_output::{self, SingleOutput};
use super::subproblem::{Subproblem, fill_to_sum};
use crate::explain::SupportExplanation;
use crate::kernel::{KernelExpansion, KernelParams, SvmKernelOptions};
use crate::prelude::*;
use std::time::Instant;

params! {
    /// ν-support vector regression: the fraction of rows outside the tube is given instead of its
    /// width.
    pub struct NuSvr {
        /// Upper bound on the fraction of rows outside the tube and lower bound on the fraction of
        /// support vectors. Larger values narrow the tube.
        nu: f64 = 0.5, Between(1e-9, 1.0);
        /// Inverse regularization strength: the cost of errors outside the tube. Larger values fit
        /// the training rows more closely.
        C: f64 = 1.0, Above(0.0);
        ..KernelParams(svm);
        ..SmoParams;
    }
    formula = "min ½‖w‖² + C Σᵢ max(0, |yᵢ − w·φ(xᵢ) − b| − ε) + C n ν ε  over w, b and ε ≥ 0";
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
        own("epsilon_", "float", "Half-width `ε` of the insensitive tube."),
    ];
    sklearn {
        spellings: &[POLYNOMIAL],
    }
}

/// A regression function as a sum over support vectors, and the width of its tube.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NuSvrModel {
    /// Support vectors, dual coefficients and the intercept.
    pub expansion: KernelExpansion,
    /// The solver's iterations.
    pub n_iter: u64,
    /// Whether the solver reached its tolerance.
    pub converged: bool,
    /// The half-width of the insensitive tube that `nu` leads to.
    pub epsilon: f64,
}

impl Fit for NuSvr {
    type Model = NuSvrModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<NuSvrModel>> {
        let start = Instant::now();
        self.check()?;
        let y = data.regression_target()?;
        let problem = DualProblem::new(&SvmOptions::from(self), data, |_| 0, self.C, monitor)?;
        problem.check_total(self.C * problem.weights.iter().sum::<f64>())?;
        let n = problem.indices.len();
        let y: Vec<f64> = problem.indices.iter().map(|i| y[*i as usize]).collect();
        let function = |solution: &DualSolution| {
            let [above, below] = solution.intercepts;
            let beta = (0..n).map(|i| solution.beta[i] + solution.beta[n + i]).collect();
            (beta, 0.5 * (above + below))
        };
        let SingleOutput { expansion, solution, certificate } =
            single_output::fit(&problem, self.subproblem(&problem, &y), function, monitor, start);
        let [above, below] = solution.intercepts;
        let model = NuSvrModel {
            expansion,
            n_iter: solution.iterations,
            converged: solution.converged,
            epsilon: 0.5 * (above - below),
        };
        Ok(Fitted { model, certificate })
    }
}

impl NuSvr {
    /// `α⁺` and `−α⁻` as two groups of variables over the same rows.
    fn subproblem(&self, problem: &DualProblem<'_>, y: &[f64]) -> Subproblem {
        let n = y.len();
        let bounds: Vec<f64> = problem.weights.iter().map(|w| self.C * w).collect();
        let mut start = vec![0.0; n];
        fill_to_sum(&bounds, 0.5 * self.nu * bounds.iter().sum::<f64>(), &mut start);
        let both = |first: &dyn Fn(usize) -> f64, second: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..n).map(first).chain((0..n).map(second)).collect()
        };
        Subproblem {
            rows: (0..n as u32).chain(0..n as u32).collect(),
            linear: both(&|i| y[i], &|i| y[i]),
            lower: both(&|_| 0.0, &|i| -bounds[i]),
            upper: both(&|i| bounds[i], &|_| 0.0),
            start: both(&|i| start[i], &|i| -start[i]),
            epsilon: 0.0,
            split: n,
            slack: None,
        }
    }
}

impl Regressor for NuSvrModel {
    fn n_columns(&self) -> usize {
        self.expansion.n_columns
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        single_output::values(&self.expansion, x)
    }
}

impl SupportVectors for NuSvrModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        single_output::support_terms(&self.expansion, row)
    }
}

impl Check for NuSvrModel {
    fn check(&self) -> Result<()> {
        single_output::check(&self.expansion)
    }
}
