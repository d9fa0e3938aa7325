//! One-class machine: where most of the rows are.
//!
//! Minimize `½‖w‖² − ρ ν Σ wᵢ + Σ wᵢ max(0, ρ − w·φ(xᵢ))` (Schölkopf et al. 2001); in the dual
//! `min ½ αᵀKα` with `0 ≤ αᵢ ≤ wᵢ` and `Σ αᵢ = ν Σ wᵢ`. `f(x) − ρ` is above zero inside.

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
    /// One-class machine: the region that holds most of the rows, to recognize strangers by.
    pub struct OneClassSvm {
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
        /// At most this share of the rows is left outside, and at least this share are support vectors.
        nu: f64 = 0.5, Between(1e-9, 1.0);
        /// Whether rows that are far from mattering may be set aside until the end.
        shrinking: bool = true, Any;
        /// Most memory for kernel values, in millions of bytes; taken as it is needed.
        cache_size: f64 = 256.0, Above(0.0);
        /// Most steps; -1 sets no limit.
        max_iter: i64 = -1, AtLeast(-1.0);
    }
}

/// A region as a sum over support vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneClassSvmModel {
    /// Support vectors, coefficients and the constant.
    pub expansion: KernelExpansion,
    /// Steps of the solver.
    pub n_iter: u64,
    /// Whether the problem came to its tolerance.
    pub converged: bool,
}

impl Fit for OneClassSvm {
    type Model = OneClassSvmModel;

    /// Learns from rows alone; a target is not looked at.
    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<OneClassSvmModel>> {
        let start = Instant::now();
        self.check()?;
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
        let ground = DualProblem::new(&params, data, |_| 0, 1.0, monitor)?;
        let n = ground.indices.len();
        let mut from = vec![0.0; n];
        fill(&ground.weights, self.nu * ground.weights.iter().sum::<f64>(), &mut from);
        let task = Task {
            places: (0..n as u32).collect(),
            linear: vec![0.0; n],
            low: vec![0.0; n],
            high: ground.weights.clone(),
            start: from,
            tube: 0.0,
            split: n,
            slack: None,
        };
        let tasks = [task];
        let plan = plan(&ground, Problems::One, &tasks, monitor);
        let solved = solve_all(&ground, &tasks, monitor);
        let expansion = single_expansion(&ground, &solved[0].beta, solved[0].level[0]);
        let certificate = certificate(&ground, plan, &solved, expansion.n_vectors(), start);
        let model =
            OneClassSvmModel { expansion, n_iter: solved[0].steps, converged: solved[0].converged };
        Ok(Fitted { model, certificate })
    }
}

impl OutlierDetector for OneClassSvmModel {
    fn n_columns(&self) -> usize {
        self.expansion.n_columns
    }

    fn inlier_scores(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        Ok(self.decisions(x)?.column(0).to_vec())
    }
}

impl DecisionFunction for OneClassSvmModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        let all = Segment { vectors: 0..self.expansion.n_vectors(), to: vec![0] };
        self.expansion.decisions(x, &[all])
    }
}

impl SupportVectors for OneClassSvmModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        self.expansion.explain(row, &[Segment::all(&self.expansion)], &[(0, 1.0)])
    }
}

impl Check for OneClassSvmModel {
    fn check(&self) -> Result<()> {
        self.expansion.check()?;
        if self.expansion.coefficients.nrows() == 1 && self.expansion.intercepts.len() == 1 {
            Ok(())
        } else {
            Err(Error::File("a region that no rows could have".into()))
        }
    }
}
