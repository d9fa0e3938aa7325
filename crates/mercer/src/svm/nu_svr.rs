//! Support vector regression where the tube finds its own width.
//!
//! `ν` is at most the share of rows outside the tube and at least the share of support vectors
//! (Schölkopf et al. 2000): `min ½ (α⁺−α⁻)ᵀK(α⁺−α⁻) − yᵀ(α⁺−α⁻)` with `0 ≤ α ≤ Cᵢ` and
//! `Σ α⁺ = Σ α⁻ = Cν Σ wᵢ / 2`.

use super::dual_problem::{DualProblem, Kernelized};
use super::multiclass::{Task, certificate, solve_all};
use super::nu_svc::fill;
use super::plan::{Problems, plan};
use super::svr::single_expansion;
use crate::explain::SupportExplanation;
use crate::kernel::{Gamma, GammaRule, Kernel};
use crate::kernel::{KernelExpansion, Segment};
use crate::prelude::*;
use std::time::Instant;

params! {
    /// Support vector regression where the share of rows outside the tube is given, not its width.
    pub struct NuSvr {
        /// At most this share of the rows is outside the tube, and at least this share are support
        /// vectors. Larger values make the tube narrower.
        nu: f64 = 0.5, Between(1e-9, 1.0);
        /// The price on rows outside the tube. Larger values fit the rows more closely.
        C: f64 = 1.0, Above(0.0);
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
pub struct NuSvrModel {
    /// Support vectors, coefficients and the constant.
    pub expansion: KernelExpansion,
    /// Steps of the solver.
    pub n_iter: u64,
    /// Whether the problem came to its tolerance.
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
        let mut from = vec![0.0; n];
        fill(&bounds, 0.5 * self.nu * bounds.iter().sum::<f64>(), &mut from);
        // Both sides of the tube are variables of their own, over the same rows.
        let once: Vec<f64> = ground.indices.iter().map(|i| y[*i as usize]).collect();
        let both = |first: &dyn Fn(usize) -> f64, second: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..n).map(first).chain((0..n).map(second)).collect()
        };
        let task = Task {
            places: (0..n as u32).chain(0..n as u32).collect(),
            linear: both(&|i| once[i], &|i| once[i]),
            low: both(&|_| 0.0, &|i| -bounds[i]),
            high: both(&|i| bounds[i], &|_| 0.0),
            start: both(&|i| from[i], &|i| -from[i]),
            tube: 0.0,
            split: n,
            slack: None,
        };
        let tasks = [task];
        let plan = plan(&ground, Problems::One, &tasks, monitor);
        let solved = solve_all(&ground, &tasks, monitor);
        let [above, below] = solved[0].level;
        let beta: Vec<f64> = (0..n).map(|i| solved[0].beta[i] + solved[0].beta[n + i]).collect();
        let expansion = single_expansion(&ground, &beta, 0.5 * (above + below));
        let certificate = certificate(&ground, plan, &solved, expansion.n_vectors(), start);
        let model = NuSvrModel {
            expansion,
            n_iter: solved[0].steps,
            converged: solved[0].converged,
            epsilon: 0.5 * (above - below),
        };
        Ok(Fitted { model, certificate })
    }
}

impl Regressor for NuSvrModel {
    fn n_columns(&self) -> usize {
        self.expansion.n_columns
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        let all = Segment { vectors: 0..self.expansion.n_vectors(), to: vec![0] };
        Ok(self.expansion.decisions(x, &[all])?.column(0).to_vec())
    }
}

impl SupportVectors for NuSvrModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        self.expansion.explain(row, &[Segment::all(&self.expansion)], &[(0, 1.0)])
    }
}

impl Check for NuSvrModel {
    fn check(&self) -> Result<()> {
        self.expansion.check()?;
        if self.expansion.coefficients.nrows() == 1 && self.expansion.intercepts.len() == 1 {
            Ok(())
        } else {
            Err(Error::File("a regression that no rows could have".into()))
        }
    }
}
