//! Support vector regression with an insensitive tube.
//!
//! Minimize `½‖w‖² + Σᵢ Cᵢ max(0, |yᵢ − w·φ(xᵢ) − b| − ε)` (Vapnik 1995). With `β = α⁺ − α⁻` the dual is
//! `min ½ βᵀKβ − yᵀβ + ε‖β‖₁` with `|βᵢ| ≤ Cᵢ` and `Σ βᵢ = 0`.

use super::dual_problem::{DualProblem, Kernelized};
use super::multiclass::{Task, certificate, solve_all};
use super::plan::{Problems, plan};
use crate::explain::SupportExplanation;
use crate::kernel::{Gamma, GammaRule, Kernel};
use crate::kernel::{KernelExpansion, Segment};
use crate::prelude::*;
use std::time::Instant;

params! {
    /// Support vector regression: the flattest function that most rows are within a tube of.
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
        /// The price on rows outside the tube. Larger values fit the rows more closely.
        C: f64 = 1.0, Above(0.0);
        /// Half the width of the tube: errors below this cost nothing.
        epsilon: f64 = 0.1, AtLeast(0.0);
        /// Whether rows that are far from mattering may be set aside until the end.
        shrinking: bool = true, Any;
        /// Most memory for kernel values, in millions of bytes; taken as it is needed.
        cache_size: f64 = 256.0, Above(0.0);
        /// Most steps; -1 sets no limit.
        max_iter: i64 = -1, AtLeast(-1.0);
    }
}

/// A function as a sum over support vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvrModel {
    /// Support vectors, coefficients and the constant.
    pub expansion: KernelExpansion,
    /// Steps of the solver.
    pub n_iter: u64,
    /// Whether the problem came to its tolerance.
    pub converged: bool,
}

impl Fit for Svr {
    type Model = SvrModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<SvrModel>> {
        let start = Instant::now();
        self.check()?;
        let y = data.regression_target()?;
        let params = Kernelized {
            kernel: self.kernel.clone(),
            gamma: self.gamma,
            coef0: self.coef0,
            degree: self.degree,
            tol: self.tol,
            gap: self.gap,
            cache_size: self.cache_size,
            shrinking: self.shrinking,
            max_iter: self.max_iter,
        };
        let ground = DualProblem::new(&params, data, |_| 0, self.C, monitor)?;
        let n = ground.indices.len();
        let bounds: Vec<f64> = ground.weights.iter().map(|w| self.C * w).collect();
        let task = Task {
            places: (0..n as u32).collect(),
            linear: ground.indices.iter().map(|i| y[*i as usize]).collect(),
            low: bounds.iter().map(|c| -c).collect(),
            high: bounds,
            start: vec![0.0; n],
            tube: self.epsilon,
            split: n,
            slack: None,
        };
        let tasks = [task];
        let plan = plan(&ground, Problems::One, &tasks, monitor);
        let solved = solve_all(&ground, &tasks, monitor);
        let expansion = single_expansion(&ground, &solved[0].beta, solved[0].level[0]);
        let certificate = certificate(&ground, plan, &solved, expansion.n_vectors(), start);
        let model = SvrModel { expansion, n_iter: solved[0].steps, converged: solved[0].converged };
        Ok(Fitted { model, certificate })
    }
}

/// The machine of one problem over all rows.
pub(super) fn single_expansion(
    ground: &DualProblem<'_>,
    beta: &[f64],
    level: f64,
) -> KernelExpansion {
    let places: Vec<u32> = (0..beta.len() as u32).filter(|k| beta[*k as usize] != 0.0).collect();
    let values = places.iter().map(|k| beta[*k as usize]).collect();
    let coefficients = Matrix::from_shape_vec((1, places.len()), values).expect("a row of values");
    ground.machine(&places, coefficients, vec![level])
}

impl Regressor for SvrModel {
    fn n_columns(&self) -> usize {
        self.expansion.n_columns
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        let all = Segment { vectors: 0..self.expansion.n_vectors(), to: vec![0] };
        Ok(self.expansion.decisions(x, &[all])?.column(0).to_vec())
    }
}

impl SupportVectors for SvrModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        self.expansion.explain(row, &[Segment::all(&self.expansion)], &[(0, 1.0)])
    }
}

impl Check for SvrModel {
    fn check(&self) -> Result<()> {
        self.expansion.check()?;
        if self.expansion.coefficients.nrows() == 1 && self.expansion.intercepts.len() == 1 {
            Ok(())
        } else {
            Err(Error::File("a regression that no rows could have".into()))
        }
    }
}
