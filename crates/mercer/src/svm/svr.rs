//! ε-support vector regression.
//!
//! Minimize `½‖w‖² + Σᵢ Cᵢ max(0, |yᵢ − w·φ(xᵢ) − b| − ε)` (Vapnik 1995). With `β = α⁺ − α⁻` the dual problem is
//! `min ½ βᵀKβ − yᵀβ + ε‖β‖₁` with `|βᵢ| ≤ Cᵢ` and `Σ βᵢ = 0`.

use super::dual_problem::{DualProblem, shared_kernel};
use super::params::{SmoOptions, SmoParams, SvmOptions};
use super::single_output::{self, SingleOutput, one_group};
use super::subproblem::Subproblem;
use super::warm_start::MAX_SUM_ERROR;
use crate::explain::SupportExplanation;
use crate::kernel::{Function, KernelExpansion, KernelParams, Precision, SvmKernelOptions};
use crate::prelude::*;
use std::collections::HashMap;
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

impl Svr {
    /// The kernel function and the precision of a kernel matrix that fits to `data` can share.
    pub(crate) fn shared_kernel(&self, data: &Dataset<'_>) -> (Function, Precision) {
        shared_kernel(&SvmOptions::from(self), data, self.C)
    }

    /// Fits the model, from the dual variables of a previous one if their sum is still zero within the bounds.
    fn fit_with_warm_start(
        &self,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
        previous: Option<&SvrModel>,
    ) -> Result<Fitted<SvrModel>> {
        let start = Instant::now();
        self.check()?;
        let y = data.regression_target()?;
        let problem = DualProblem::new(&SvmOptions::from(self), data, |_| 0, self.C, monitor)?;
        let n = problem.indices.len();
        let bounds: Vec<f64> = problem.weights.iter().map(|w| self.C * w).collect();
        let initial =
            previous.and_then(|model| initial_point(&model.expansion, &problem.indices, &bounds));
        let subproblem = Subproblem {
            rows: (0..n as u32).collect(),
            linear: problem.indices.iter().map(|i| y[*i as usize]).collect(),
            lower: bounds.iter().map(|c| -c).collect(),
            upper: bounds,
            start: initial.unwrap_or_else(|| vec![0.0; n]),
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

/// The dual variables of a previous expansion at the given rows, scaled into the bounds; `None` if rows have changed, so
/// that they do not sum to zero.
fn initial_point(previous: &KernelExpansion, indices: &[u32], bounds: &[f64]) -> Option<Vec<f64>> {
    let vector_of: HashMap<u32, usize> = previous.support.iter().copied().zip(0..).collect();
    let beta = |i: &u32| vector_of.get(i).map_or(0.0, |k| previous.coefficients[[0, *k]]);
    let start: Vec<f64> = indices.iter().map(beta).collect();
    let size: f64 = start.iter().map(|b| b.abs()).sum();
    if start.iter().sum::<f64>().abs() > MAX_SUM_ERROR * size {
        return None;
    }
    let within = |shrink: f64, (b, c): (&f64, &f64)| {
        if *b == 0.0 { shrink } else { shrink.min(c / b.abs()) }
    };
    let shrink = start.iter().zip(bounds).fold(1.0f64, within);
    Some(start.iter().zip(bounds).map(|(b, c)| (shrink * b).clamp(-c, *c)).collect())
}

impl Fit for Svr {
    type Model = SvrModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<SvrModel>> {
        self.fit_with_warm_start(data, monitor, None)
    }

    /// The dual variables of rows that are still present are the initial point.
    fn fit_from(
        &self,
        start: &SvrModel,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<SvrModel>> {
        self.fit_with_warm_start(data, monitor, Some(start))
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
