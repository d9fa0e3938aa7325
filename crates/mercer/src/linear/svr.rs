//! Linear support vector regression.
//!
//! Minimize `½‖w‖² + C Σᵢ sᵢ max(0, |yᵢ − w·xᵢ − b| − ε)ᵖ` with `p` 1 or 2 (Vapnik 1995; Ho & Lin 2012). The intercept is the
//! weight of a constant column of `intercept_scaling`, penalized like the others or unpenalized.

use super::linear_predictions;
use super::loss::hinge::{
    Dual, DualRule, LossPower, MarginLoss, Penalties, SolveOptions, Targets, check_dual, solve,
};
use super::svc::{InterceptPenalty, check_rows};
use crate::data::design_matrix::DesignMatrix;
use crate::explain::Terms;
use crate::prelude::*;
use crate::solver::coordinate_descent::{ElasticNetPenalty, PenalizedLoss};
use crate::solver::duality_gap::Accuracy;
use mercer_num::rows::Missing;
use std::time::Instant;

choice! {
    /// Loss of a row outside the ε-tube.
    pub enum EpsilonInsensitiveLoss {
        /// `max(0, |y − z| − ε)`.
        EpsilonInsensitive = "epsilon_insensitive",
        /// `max(0, |y − z| − ε)²`.
        SquaredEpsilonInsensitive = "squared_epsilon_insensitive",
    }
}

params! {
    /// Linear support vector regression: the flattest linear function that keeps most rows within `epsilon`.
    pub struct LinearSvr {
        /// Half the width of the ε-tube: smaller errors have no loss.
        epsilon: f64 = 0.0, AtLeast(0.0);
        /// Stop when the optimality conditions are violated by at most `tol` standard deviations of the target and the
        /// relative duality gap is at most `tol`. Smaller values take longer.
        tol: f64 = 1e-4, Above(0.0);
        /// Inverse regularization strength. Larger values fit the training rows more closely.
        C: f64 = 1.0, Above(0.0);
        /// Loss of a row outside the ε-tube: its distance from the tube (`epsilon_insensitive`) or the squared distance
        /// (`squared_epsilon_insensitive`).
        loss: EpsilonInsensitiveLoss = EpsilonInsensitiveLoss::EpsilonInsensitive, OneOf(EpsilonInsensitiveLoss::VALUES);
        ..FitIntercept;
        /// Value of the constant column whose weight gives the intercept. Larger values penalize the intercept less.
        intercept_scaling: f64 = 1.0, Above(0.0);
        /// Whether the penalty includes the intercept: `penalized` like the weight of the constant column, as LIBLINEAR
        /// does, or `unpenalized`.
        intercept: InterceptPenalty = InterceptPenalty::Penalized, OneOf(InterceptPenalty::VALUES);
        /// Solve the dual problem by coordinate descent first. Fast for many features with the linear loss; `auto`
        /// chooses it there. Newton's method on the primal problem gives the last digits in any case.
        dual: Dual = Dual::Rule(DualRule::Auto), Any;
        /// Maximum number of iterations.
        max_iter: usize = 1000, AtLeast(1.0);
        /// Stop at this relative duality gap instead of at `tol`. `None` stops at `tol`.
        gap: Option<f64> = None, Above(0.0);
    }
    formula = "min ½‖w‖² + C Σᵢ max(0, |yᵢ − w·xᵢ − b| − ε)ᵖ,  p = 1 or 2 (squared loss)";
    lecture = 11;
    attributes = [COEF, INTERCEPT, ITERATIONS, CONVERGED];
    sklearn {
        extra: &[VERBOSE_LEVEL, NO_RANDOM_STATE],
    }
}

/// A linear function of the columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearSvrModel {
    /// The weights.
    pub coefficients: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// The weighted means of the columns.
    pub means: Vec<f64>,
    /// Iterations of the solver.
    pub n_iter: u64,
    /// Whether the solver reached its tolerance.
    pub converged: bool,
}

impl Fit for LinearSvr {
    type Model = LinearSvrModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<LinearSvrModel>> {
        let began = Instant::now();
        self.check()?;
        let unpenalized = self.intercept == InterceptPenalty::Unpenalized;
        check_dual(self.dual, false, self.fit_intercept && unpenalized)?;
        let y = data.regression_target()?;
        check_rows(data)?;
        data.check_cells(Missing::Refused)?;
        let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
        let weights: Vec<f64> = (0..data.n_rows()).map(weight).collect();
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return Err(Error::NoRows);
        }
        let n_weights = data.n_columns() + usize::from(self.fit_intercept);
        let bytes = MarginLoss::memory_bytes(data.rows(), n_weights, 1);
        monitor.reserve("storing the scores of all rows", bytes)?;
        let design = DesignMatrix::new(data.rows(), self.fit_intercept, monitor)?;
        let mut means = vec![0.0; n_weights];
        design.transpose_product(&weights, 1, &mut means);
        means.truncate(data.n_columns());
        means.iter_mut().for_each(|mean| *mean /= total);
        let targets = Targets::Regression { y: y.to_vec(), epsilon: self.epsilon };
        let costs = weights.iter().map(|w| self.C * w).collect();
        let power = match self.loss {
            EpsilonInsensitiveLoss::EpsilonInsensitive => LossPower::Linear,
            EpsilonInsensitiveLoss::SquaredEpsilonInsensitive => LossPower::Squared,
        };
        let intercept_penalty = if unpenalized { 0.0 } else { self.intercept_scaling.powi(-2) };
        let penalties = Penalties {
            weights: ElasticNetPenalty { l2: 1.0, l1: 0.0 },
            intercept: ElasticNetPenalty { l2: intercept_penalty, l1: 0.0 },
        };
        let mut problem = MarginLoss::new(design, 1, targets, costs, power, penalties);
        problem.max_hessian_entries = MarginLoss::hessian_budget(monitor, bytes);
        let options = SolveOptions {
            accuracy: Accuracy { tol: self.tol, gap: self.gap },
            dual: self.dual,
            max_iter: self.max_iter,
            monitor,
        };
        let solved = solve(&mut problem, &options);
        if solved.stopped.is_some() && solved.n_iter() == 0 {
            return Err(Error::Stopped);
        }
        monitor.report(solved.n_iter(), Some(solved.n_iter()));
        let certificate = solved.certificate("primal objective", data.n_rows(), began);
        let (coefficients, intercepts) = problem.weights().split_at(data.n_columns());
        let model = LinearSvrModel {
            coefficients: coefficients.to_vec(),
            intercept: intercepts.first().copied().unwrap_or(0.0),
            means,
            n_iter: solved.n_iter(),
            converged: solved.converged,
        };
        Ok(Fitted { model, certificate })
    }
}

impl Check for LinearSvrModel {
    fn check(&self) -> Result<()> {
        let values = self.coefficients.iter().chain(&self.means).chain([&self.intercept]);
        let fits = !self.coefficients.is_empty()
            && self.coefficients.len() == self.means.len()
            && values.into_iter().all(|x| x.is_finite());
        if fits {
            Ok(())
        } else {
            Err(Error::File("coefficients that no fit of a linear SVR can return".into()))
        }
    }
}

impl Regressor for LinearSvrModel {
    fn n_columns(&self) -> usize {
        self.coefficients.len()
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        linear_predictions(x, &self.coefficients, self.intercept)
    }
}

impl LinearModel for LinearSvrModel {
    fn terms(&self) -> Terms<'_> {
        Terms { intercept: self.intercept, coefficients: &self.coefficients, means: &self.means }
    }
}
