//! Ridge regression: minimize `Σᵢ wᵢ (yᵢ − b₀ − Σⱼ bⱼ xᵢⱼ)² + α ‖b‖²` with an unpenalized intercept (Hoerl & Kennard
//! 1970).
//!
//! Bayesian view: with residuals `N(0, σ²)` and the prior `N(0, σ²/α)` of the coefficients, `b` is the posterior mean
//! and `σ² (XᵀX + αI)⁻¹` the posterior covariance. The evidence `p(y | α, σ²)` is maximal at
//! `σ² = (‖y − Xb‖² + α ‖b‖²) / n`, and can also select `α` (MacKay 1992; Bishop 2006, section 3.5).

use super::{linear_predictions, linear_predictions_of_targets, squared_distances};
use crate::explain::Terms;
use crate::prelude::*;
use crate::solver::normal_equations::{Precision, TargetFit, how, largest_gradient, solve};
use crate::stats::{CrossProducts, Scatter};
use mercer_num::linalg::SymmetricEigen;
use mercer_num::special::student_critical_value;
use std::f64::consts::TAU;

choice! {
    /// How the regularization strength is chosen.
    pub enum AlphaFrom {
        /// The parameter `alpha`.
        Given = "given",
        /// The value that maximizes the evidence (marginal likelihood) of the training rows.
        Evidence = "evidence",
    }
}

params! {
    /// Ridge regression: linear regression with an L2 penalty on the coefficients.
    pub struct Ridge {
        /// Regularization strength: the coefficient of the squared norm of the coefficients. Larger values shrink
        /// them more; 0 is ordinary least squares.
        alpha: f64 = 1.0, AtLeast(0.0);
        ..FitIntercept;
        /// Use the parameter `alpha` (`given`), or the value that maximizes the evidence of the training rows
        /// (`evidence`), jointly over all targets.
        alpha_from: AlphaFrom = AlphaFrom::Given, OneOf(AlphaFrom::VALUES);
    }
    formula = "min Σᵢ (yᵢ − w·xᵢ − b)² + α‖w‖²";
    lecture = 9;
    attributes = [
        COEF_BY_TARGET,
        INTERCEPT_BY_TARGET,
        own("alpha_", "float", "Regularization strength, given or chosen by the evidence."),
        own("noise_variance_", "float", "Residual variance that maximizes the evidence."),
        own("log_evidence_", "float", "Logarithm of the evidence `p(y | alpha, noise_variance)`; 0 without a penalty."),
        own("effective_degrees_", "float", "Effective degrees of freedom `Σ λ / (λ + α)`."),
        of_model("posterior_covariance_", "posterior_covariance", "ndarray of shape (n_features, n_features)", "Posterior covariance of the coefficients (of the first target), `σ² (XᵀX + αI)⁻¹` with `σ²` the noise variance."),
        of_model("n_iter_", "one_iteration", "int", "1: the normal equations are solved directly."),
    ];
    sklearn {
        positional: &["alpha"],
        extra: &[
            NO_RANDOM_STATE,
            COPY_X,
            POSITIVE,
            ignored("tol", FLOAT, "0.0001", EXACT),
            ignored("max_iter", INT_OR_NONE, "None", EXACT),
            ignored(
                "solver",
                &["\"auto\"", "\"svd\"", "\"cholesky\"", "\"lsqr\"", "\"sparse_cg\"", "\"sag\"", "\"saga\"", "\"lbfgs\""],
                "\"auto\"",
                "the normal equations are solved exactly for every value.",
            ),
        ],
    }
}

/// A fitted ridge regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RidgeModel {
    /// The coefficient of each column: the posterior mean.
    pub coefficients: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// Whether the intercept was fitted.
    pub fit_intercept: bool,
    /// The regularization strength.
    pub alpha: f64,
    /// The residual variance that maximizes the evidence.
    pub noise_variance: f64,
    /// `log p(y | alpha, noise)`; zero without a penalty, which has no proper prior.
    pub log_evidence: f64,
    /// The effective degrees of freedom `Σ λ / (λ + α)`.
    pub effective_degrees: f64,
    /// An upper bound on the condition number of the scaled columns, penalty included.
    pub condition: f64,
    /// The precision of the cross-products or factorization.
    pub precision: Precision,
    /// The sum of the sample weights.
    pub weight: f64,
    /// The means of the columns; zeros without an intercept.
    pub means: Vec<f64>,
    /// `Σ w (y − ŷ)²`.
    pub residual_squares: f64,
    /// `F` with `(XᵀX + αI)⁻¹ = FᵀF`, for centered columns.
    pub whitener: Matrix,
    /// The models of the second and further targets.
    #[serde(default)]
    pub others: Vec<TargetFit>,
}

impl Accumulate for Ridge {
    type Stats = Scatter;
    type Model = RidgeModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch)
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        let sums = stats.moments(self.fit_intercept)?;
        let alpha = match self.alpha_from {
            AlphaFrom::Given => self.alpha,
            AlphaFrom::Evidence => maximize_evidence(&sums, self.fit_intercept),
        };
        RidgeModel::at(&sums, self.fit_intercept, alpha)
    }

    /// The penalized residual sum of squares, and how far the normal equations are from holding.
    fn certificate(&self, stats: &Self::Stats, model: &Self::Model) -> Certificate {
        let violation = stats.moments(self.fit_intercept).map_or(f64::NAN, |sums| {
            largest_gradient(&sums, &model.coefficients, &model.others, model.alpha)
        });
        let length: f64 = model.coefficients.iter().map(|b| b * b).sum();
        let penalized =
            |line: &TargetFit| line.residual_squares + model.alpha * line.squared_length();
        let others: f64 = model.others.iter().map(penalized).sum();
        let objective = model.residual_squares + model.alpha * length + others;
        let d = model.coefficients.len();
        Certificate::closed_form()
            .objective("penalized residual sum of squares", objective)
            .violation("largest violation of the normal equations", violation)
            .note(how(model.precision, model.condition, d, d))
    }
}

impl RidgeModel {
    /// The model of cross-products around the means, or around zero.
    pub(super) fn at(sums: &CrossProducts, fit_intercept: bool, alpha: f64) -> Result<RidgeModel> {
        let solution = solve(sums, fit_intercept, alpha)?;
        let mut lines = solution.lines.into_iter();
        let first = lines.next().ok_or(Error::NoRows)?;
        let d = sums.means.len();
        let around = |m: f64| if fit_intercept { m } else { 0.0 };
        let rows = degrees_of_freedom(sums.weight, fit_intercept);
        let penalized = first.residual_squares + alpha * first.squared_length();
        let noise_variance = penalized / rows;
        let log_evidence = if alpha > 0.0 && noise_variance > 0.0 {
            let shrinkage = solution.log_determinant - d as f64 * alpha.ln();
            -0.5 * (rows * ((TAU * noise_variance).ln() + 1.0) + shrinkage)
        } else {
            0.0
        };
        let squares: f64 = solution.whitener.iter().map(|f| f * f).sum();
        Ok(RidgeModel {
            effective_degrees: solution.rank as f64 - alpha * squares,
            coefficients: first.coefficients,
            intercept: first.intercept,
            fit_intercept,
            alpha,
            noise_variance,
            log_evidence,
            condition: solution.condition,
            precision: solution.precision,
            weight: sums.weight,
            means: sums.means.iter().map(|m| around(m.value())).collect(),
            residual_squares: first.residual_squares,
            whitener: solution.whitener,
            others: lines.collect(),
        })
    }

    /// The posterior covariance of the coefficients, `σ² (XᵀX + αI)⁻¹`.
    pub fn covariance(&self) -> Matrix {
        self.whitener.t().dot(&self.whitener) * self.noise_variance
    }

    /// The posterior standard deviation of each coefficient.
    pub fn standard_errors(&self) -> Vec<f64> {
        let columns = self.whitener.columns();
        let squares = columns.into_iter().map(|c| c.iter().map(|f| f * f).sum::<f64>());
        squares.map(|s| (self.noise_variance * s).sqrt()).collect()
    }
}

/// The sum of the weights, minus one for an intercept; positive, so that a variance exists.
fn degrees_of_freedom(weight: f64, fit_intercept: bool) -> f64 {
    (weight - f64::from(u8::from(fit_intercept))).max(f64::MIN_POSITIVE)
}

/// The `α` that maximizes the log evidence `−n log(yᵀy − Σ qᵢ²/(λᵢ+α)) − Σ log(1 + λᵢ/α)` over the eigenvalues `λ` and
/// rotated cross-products `q`, summed over all targets. A grid search brackets the maximum, golden-section search
/// refines it.
fn maximize_evidence(sums: &CrossProducts, fit_intercept: bool) -> f64 {
    let d = sums.means.len();
    let products = Matrix::from_shape_fn((d, d), |at| sums.products.high[at]);
    let Some(eigen) = SymmetricEigen::of(products.view()) else { return 0.0 };
    let of_target = |k: usize| {
        let target: Vec<f64> = (0..d).map(|j| sums.products.high[[k, j]]).collect();
        let rotated = eigen.vectors.t().dot(&ndarray::ArrayView1::from(&target));
        (rotated, sums.products.high[[k, k]])
    };
    // The evidence of a constant target does not depend on alpha.
    let targets: Vec<_> =
        (d..d + sums.target_means.len()).map(of_target).filter(|(_, total)| *total > 0.0).collect();
    let rows = degrees_of_freedom(sums.weight, fit_intercept);
    let evidence = |log_alpha: f64| {
        let alpha = log_alpha.exp();
        let log_evidence_of = |(rotated, total): &(ndarray::Array1<f64>, f64)| {
            let (mut rest, mut shrinkage) = (*total, 0.0);
            for (value, q) in eigen.values.iter().map(|v| v.max(0.0)).zip(rotated) {
                rest -= q * q / (value + alpha);
                shrinkage += (value / alpha).ln_1p();
            }
            // The evidence of an exact fit is unbounded; the rounding error of the residual limits it.
            -rows * rest.max(f64::EPSILON * total).ln() - shrinkage
        };
        targets.iter().map(log_evidence_of).sum::<f64>()
    };
    let largest = eigen.values.last().copied().unwrap_or(0.0);
    if largest <= 0.0 || targets.is_empty() {
        return 1.0;
    }
    let (low, high) = (largest.ln() - 35.0, largest.ln() + 25.0);
    let step = (high - low) / 240.0;
    let mut best = low;
    for k in 1..=240 {
        let at = low + step * f64::from(k);
        if evidence(at) > evidence(best) {
            best = at;
        }
    }
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut a, mut b) = ((best - step).max(low), (best + step).min(high));
    for _ in 0..60 {
        let (left, right) = (b - golden * (b - a), a + golden * (b - a));
        if evidence(left) >= evidence(right) {
            b = right;
        } else {
            a = left;
        }
    }
    (0.5 * (a + b)).exp()
}

impl Regressor for RidgeModel {
    fn n_columns(&self) -> usize {
        self.coefficients.len()
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        linear_predictions(x, &self.coefficients, self.intercept)
    }

    fn n_targets(&self) -> usize {
        1 + self.others.len()
    }

    fn predict_many(&self, x: &Rows<'_>) -> Result<Matrix> {
        linear_predictions_of_targets(x, (&self.coefficients, self.intercept), &self.others)
    }

    /// The posterior predictive interval, with Student's t for the estimated variance.
    fn intervals(&self, x: &Rows<'_>, level: f64) -> Result<Option<Vec<(f64, f64)>>> {
        let degrees = self.weight - f64::from(u8::from(self.fit_intercept));
        if degrees <= 0.0 || !self.others.is_empty() {
            return Ok(None);
        }
        let half = student_critical_value(level, degrees);
        let intercept = if self.fit_intercept { 1.0 / self.weight } else { 0.0 };
        let distances = squared_distances(x, &self.whitener, &self.means)?;
        let predictions = self.predict(x)?.into_iter().zip(distances);
        Ok(Some(
            predictions
                .map(|(y, distance)| {
                    let spread = self.noise_variance * (1.0 + intercept + distance);
                    (y - half * spread.sqrt(), y + half * spread.sqrt())
                })
                .collect(),
        ))
    }
}

impl LinearModel for RidgeModel {
    fn terms(&self) -> Terms<'_> {
        Terms { intercept: self.intercept, coefficients: &self.coefficients, means: &self.means }
    }
}

impl Check for RidgeModel {
    fn check(&self) -> Result<()> {
        let d = self.coefficients.len();
        let mut numbers = self.coefficients.iter().chain(&self.means).chain(&self.whitener);
        let figures = [self.intercept, self.condition, self.log_evidence, self.effective_degrees];
        let sizes = [self.weight, self.alpha, self.noise_variance, self.residual_squares];
        let fits = d > 0
            && self.means.len() == d
            && self.whitener.ncols() == d
            && self.whitener.nrows() <= d
            && self.others.iter().all(|line| line.is_sound(d))
            && numbers.all(|v| v.is_finite())
            && figures.iter().all(|v| v.is_finite())
            && sizes.iter().all(|v| v.is_finite() && *v >= 0.0);
        if fits {
            Ok(())
        } else {
            Err(Error::File("linear model with inconsistent shapes or non-finite values".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;
    use ndarray::array;

    fn fit(params: &Ridge, x: &Matrix, y: &[f64]) -> RidgeModel {
        let data = Dataset::regression(x, y).unwrap();
        params.fit(&data, &Monitor::quiet()).unwrap().model
    }

    #[track_caller]
    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!(
            (found - expected).abs() <= tolerance * expected.abs().max(1.0),
            "{found}, {expected}"
        );
    }

    #[test]
    fn a_shrunken_line_matches_a_hand_calculation() {
        // Σ(x−x̄)² = 5, Σ(x−x̄)(y−ȳ) = 4: b = 4 / (5 + 3), and the line passes through the means.
        let x = array![[1.0], [2.0], [3.0], [4.0]];

        let model = fit(&Ridge::new().alpha(3.0), &x, &[2.0, 3.0, 2.0, 5.0]);

        near(model.coefficients[0], 0.5, 1e-14);
        near(model.intercept, 3.0 - 0.5 * 2.5, 1e-14);
        near(model.effective_degrees, 5.0 / 8.0, 1e-14);
        // ‖y − Xb‖² + α b² = 6 − 4 b = 4, on three rows beside the mean.
        near(model.noise_variance, 4.0 / 3.0, 1e-14);
        near(model.covariance()[[0, 0]], 4.0 / 3.0 / 8.0, 1e-14);
        near(model.standard_errors()[0], (1.0f64 / 6.0).sqrt(), 1e-14);
        let log_evidence = -0.5 * (3.0 * ((TAU * 4.0 / 3.0).ln() + 1.0) + (8.0f64 / 3.0).ln());
        near(model.log_evidence, log_evidence, 1e-14);
    }

    #[test]
    fn without_a_penalty_it_is_least_squares() {
        let mut random = Random::new(1);
        let x = Matrix::from_shape_fn((50, 4), |_| random.normal());
        let y: Vec<f64> = x.outer_iter().map(|row| row.sum() + random.normal()).collect();
        let data = Dataset::regression(&x, &y).unwrap();

        let unpenalized = fit(&Ridge::new().alpha(0.0), &x, &y);
        let plain = super::super::LinearRegression::new().fit(&data, &Monitor::quiet()).unwrap();

        assert_eq!(unpenalized.coefficients, plain.coefficients);
        assert_eq!(unpenalized.intercept, plain.intercept);
    }

    #[test]
    fn the_selected_alpha_maximizes_the_evidence() {
        let mut random = Random::new(2);
        let x = Matrix::from_shape_fn((60, 10), |_| random.normal());
        let y: Vec<f64> = x.outer_iter().map(|row| 0.3 * row.sum() + random.normal()).collect();

        let chosen = fit(&Ridge::new().alpha_from(AlphaFrom::Evidence), &x, &y);

        for factor in [0.5, 0.9, 0.99, 1.01, 1.1, 2.0] {
            let other = fit(&Ridge::new().alpha(factor * chosen.alpha), &x, &y);
            assert!(other.log_evidence < chosen.log_evidence, "{factor}");
        }
        // MacKay's fixed point: alpha ‖b‖² = γ σ² with σ² from the same evidence.
        let length: f64 = chosen.coefficients.iter().map(|b| b * b).sum();
        let fixed = chosen.effective_degrees * chosen.noise_variance / length;
        near(chosen.alpha, fixed, 1e-5);
    }
}
