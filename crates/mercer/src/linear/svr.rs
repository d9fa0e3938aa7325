//! Linear support vector regression.
//!
//! Minimize `½‖w‖² + C Σᵢ sᵢ max(0, |yᵢ − w·xᵢ − b| − ε)ᵖ` with `p` 1 or 2 (Vapnik 1995; Ho & Lin 2012). The
//! constant is the weight of a column of `intercept_scaling`, with a price like any other, or free of it.

use super::linear_predictions;
use super::loss::hinge::{LossPower, MarginLoss, Penalties, Targets};
use super::svc::{InterceptPenalty, check_rows};
use crate::data::design_matrix::DesignMatrix;
use crate::explain::Terms;
use crate::prelude::*;
use crate::solver::augmented_lagrangian::{Asked, Dual, DualRule, refuse_dual, solve};
use crate::solver::coordinate_descent::PenalizedLoss;
use mercer_num::rows::Missing;
use std::time::Instant;

choice! {
    /// What a row outside the tube costs.
    pub enum EpsilonInsensitiveLoss {
        /// Its distance from the tube.
        EpsilonInsensitive = "epsilon_insensitive",
        /// The square of that distance.
        SquaredEpsilonInsensitive = "squared_epsilon_insensitive",
    }
}

params! {
    /// Linear support vector regression: the flattest plane that most rows are within a tube of.
    pub struct LinearSvr {
        /// Half the width of the tube: errors below this cost nothing.
        epsilon: f64 = 0.0, AtLeast(0.0);
        /// The fit is done when no condition of the optimum is violated by more, in units of the target's
        /// spread, and the objective is proved to be within this share of the best. Smaller values take
        /// longer.
        tol: f64 = 1e-4, Above(0.0);
        /// The price on rows outside the tube. Larger values fit the rows more closely.
        C: f64 = 1.0, Above(0.0);
        /// What a row outside the tube costs: its distance (`epsilon_insensitive`) or the square of it
        /// (`squared_epsilon_insensitive`).
        loss: EpsilonInsensitiveLoss = EpsilonInsensitiveLoss::EpsilonInsensitive, OneOf(EpsilonInsensitiveLoss::WORDS);
        ..FitIntercept;
        /// The value of the column whose weight is the constant term. Larger values make the constant
        /// cheaper.
        intercept_scaling: f64 = 1.0, Above(0.0);
        /// Whether the constant term has the price of that weight (`scaled`) or none (`free`).
        intercept: InterceptPenalty = InterceptPenalty::Penalized, OneOf(InterceptPenalty::WORDS);
        /// Whether to begin with passes over the rows' pulls, which is fast where columns are many and
        /// distances count as they are: `auto` does just there. The last digits come from Newton's method
        /// in any case.
        dual: Dual = Dual::Rule(DualRule::Auto), Any;
        /// Steps after which to stop in any case; the certificate then says so.
        max_iter: usize = 1000, AtLeast(1.0);
        /// Where given, the fit ends when the objective is proved to be within this share of the best, in place of
        /// `tol`.
        gap: Option<f64> = None, Above(0.0);
    }
}

/// A plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearSvrModel {
    /// The weights.
    pub coefficients: Vec<f64>,
    /// The constant term.
    pub intercept: f64,
    /// Where the columns stand on average.
    pub means: Vec<f64>,
    /// Steps the solver took.
    pub n_iter: u64,
    /// Whether it came to its tolerance.
    pub converged: bool,
}

impl Fit for LinearSvr {
    type Model = LinearSvrModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<LinearSvrModel>> {
        let began = Instant::now();
        self.check()?;
        refuse_dual(
            self.dual,
            false,
            self.fit_intercept && self.intercept == InterceptPenalty::Unpenalized,
        )?;
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
        let bytes = MarginLoss::bytes(data.rows(), n_weights, 1);
        monitor.reserve("keeping scores of all rows", bytes)?;
        let design = DesignMatrix::new(data.rows(), self.fit_intercept, monitor)?;
        let mut means = vec![0.0; n_weights];
        design.transpose_product(&weights, 1, &mut means);
        means.truncate(data.n_columns());
        means.iter_mut().for_each(|mean| *mean /= total);
        let aim = Targets::Numbers { y: y.to_vec(), tube: self.epsilon };
        let rows = weights.iter().map(|w| self.C * w).collect();
        let power = match self.loss {
            EpsilonInsensitiveLoss::EpsilonInsensitive => LossPower::Plain,
            EpsilonInsensitiveLoss::SquaredEpsilonInsensitive => LossPower::Squared,
        };
        let free = self.intercept == InterceptPenalty::Unpenalized;
        let scaled = if free { 0.0 } else { self.intercept_scaling.powi(-2) };
        let costs = Penalties { weights: (1.0, 0.0), constant: (scaled, 0.0) };
        let mut problem = MarginLoss::new(design, 1, aim, rows, power, costs);
        problem.room = MarginLoss::room(monitor, bytes);
        let (tol, gap, dual) = (self.tol, self.gap, self.dual);
        let asked = Asked { tol, gap, dual, max_iter: self.max_iter, monitor };
        let solved = solve(&mut problem, &asked);
        if solved.stopped.is_some() && solved.n_iter() == 0 {
            return Err(Error::Stopped);
        }
        monitor.report(solved.n_iter(), Some(solved.n_iter()));
        let certificate = solved.certificate("priced tube", data.n_rows(), began);
        let (coefficients, constant) = problem.weights().split_at(data.n_columns());
        let model = LinearSvrModel {
            coefficients: coefficients.to_vec(),
            intercept: constant.first().copied().unwrap_or(0.0),
            means,
            n_iter: solved.n_iter(),
            converged: solved.converged,
        };
        Ok(Fitted { model, certificate })
    }
}

impl Check for LinearSvrModel {
    fn check(&self) -> Result<()> {
        let numbers = self.coefficients.iter().chain(&self.means).chain([&self.intercept]);
        let fits = !self.coefficients.is_empty()
            && self.coefficients.len() == self.means.len()
            && numbers.into_iter().all(|x| x.is_finite());
        if fits { Ok(()) } else { Err(Error::File("a plane that no fit could give".into())) }
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
