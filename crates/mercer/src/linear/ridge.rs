//! Ridge regression: least squares with a price on long `b`.
//!
//! Minimize `Σᵢ wᵢ (yᵢ − b₀ − Σⱼ bⱼ xᵢⱼ)² + α ‖b‖²`; the constant term is free. Hoerl & Kennard (1970).
//!
//! The Bayesian reading: if residuals are `N(0, σ²)` and coefficients were `N(0, σ²/α)` before any
//! row was seen, then `b` is their posterior mean and `σ² (XᵀX + αI)⁻¹` their posterior covariance.
//! The evidence `p(y | α, σ²)` is largest at `σ² = (‖y − Xb‖² + α ‖b‖²) / n`, and can choose `α` as
//! well (MacKay 1992; Bishop 2006, section 3.5).

use super::{squared_distances, weighted_sums, weighted_tables};
use crate::explain::Terms;
use crate::prelude::*;
use crate::solver::normal_equations::{Precision, TargetFit, how, largest_gradient, solve};
use crate::stats::{CrossProducts, Scatter};
use mercer_num::linalg::SymmetricEigen;
use mercer_num::special::student_critical_value;
use std::f64::consts::TAU;

choice! {
    /// Where the price on long coefficients comes from.
    pub enum AlphaFrom {
        /// From the parameter `alpha`.
        Given = "given",
        /// From the rows: the price that makes the evidence largest.
        Evidence = "evidence",
    }
}

params! {
    /// Ridge regression: a weighted sum of the columns whose weights are kept small.
    pub struct Ridge {
        /// The price on the squared length of the coefficients. Larger values make them smaller; zero
        /// is least squares.
        alpha: f64 = 1.0, AtLeast(0.0);
        /// Whether there is a constant term, which is free of the price.
        fit_intercept: bool = true, Any;
        /// Whether the price is `alpha` (`given`) or the one that makes the evidence of the rows
        /// largest (`evidence`), of all numbers together where several are learned.
        alpha_from: AlphaFrom = AlphaFrom::Given, OneOf(AlphaFrom::WORDS);
    }
}

/// The weights of the columns, and how sure they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RidgeModel {
    /// The weight of each column: the posterior mean.
    pub coefficients: Vec<f64>,
    /// The constant term.
    pub intercept: f64,
    /// Whether the constant term was fitted.
    pub fit_intercept: bool,
    /// The price on long coefficients.
    pub alpha: f64,
    /// The variance of the residuals that makes the evidence largest.
    pub noise_variance: f64,
    /// `log p(y | alpha, noise)`; zero where there is no price and so no prior.
    pub log_evidence: f64,
    /// How many columns the price leaves free: `Σ λ / (λ + α)`.
    pub effective_degrees: f64,
    /// An upper bound on the condition number of the scaled columns, price included.
    pub condition: f64,
    /// What carried the digits.
    pub precision: Precision,
    /// The weight of the rows.
    pub weight: f64,
    /// The means of the columns; zeros without a constant term.
    pub means: Vec<f64>,
    /// `Σ w (y − ŷ)²`.
    pub residual_squares: f64,
    /// `F` with `(XᵀX + αI)⁻¹ = FᵀF`, the columns taken around their means.
    pub whitener: Matrix,
    /// Where several numbers were learned at once: the second and further ones.
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
            AlphaFrom::Evidence => most_evident(&sums, self.fit_intercept),
        };
        RidgeModel::at(&sums, self.fit_intercept, alpha)
    }

    /// The priced residual, and how far the normal equations are from holding.
    fn certificate(&self, stats: &Self::Stats, model: &Self::Model) -> Certificate {
        let violation = stats.moments(self.fit_intercept).map_or(f64::NAN, |sums| {
            largest_gradient(&sums, &model.coefficients, &model.others, model.alpha)
        });
        let length: f64 = model.coefficients.iter().map(|b| b * b).sum();
        let priced = |line: &TargetFit| line.residual_squares + model.alpha * line.squared_length();
        let others: f64 = model.others.iter().map(priced).sum();
        let objective = model.residual_squares + model.alpha * length + others;
        let d = model.coefficients.len();
        Certificate::closed_form()
            .objective("penalized residual sum of squares", objective)
            .violation("largest violation of the normal equations", violation)
            .note(how(model.precision, model.condition, d, d))
    }
}

impl RidgeModel {
    /// The model of sums around the means, or around zero.
    pub(super) fn at(sums: &CrossProducts, fit_intercept: bool, alpha: f64) -> Result<RidgeModel> {
        let solution = solve(sums, fit_intercept, alpha)?;
        let mut lines = solution.lines.into_iter();
        let first = lines.next().ok_or(Error::NoRows)?;
        let d = sums.means.len();
        let around = |m: f64| if fit_intercept { m } else { 0.0 };
        let rows = free_rows(sums.weight, fit_intercept);
        let priced = first.residual_squares + alpha * first.squared_length();
        let noise_variance = priced / rows;
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

/// Rows less the free constant term, at least one so that a variance can be taken.
fn free_rows(weight: f64, fit_intercept: bool) -> f64 {
    (weight - f64::from(u8::from(fit_intercept))).max(f64::MIN_POSITIVE)
}

/// The price that makes the evidence largest: `−n log(yᵀy − Σ qᵢ²/(λᵢ+α)) − Σ log(1 + λᵢ/α)` over the
/// eigenvalues `λ` and rotated cross-products `q`, added up over all targets. A grid finds the hill, golden
/// sections its top.
fn most_evident(sums: &CrossProducts, fit_intercept: bool) -> f64 {
    let d = sums.means.len();
    let products = Matrix::from_shape_fn((d, d), |at| sums.products.high[at]);
    let Some(eigen) = SymmetricEigen::of(products.view()) else { return 0.0 };
    let of_target = |k: usize| {
        let target: Vec<f64> = (0..d).map(|j| sums.products.high[[k, j]]).collect();
        let rotated = eigen.vectors.t().dot(&ndarray::ArrayView1::from(&target));
        (rotated, sums.products.high[[k, k]])
    };
    // A target that stands still is as likely at any price.
    let targets: Vec<_> =
        (d..d + sums.target_means.len()).map(of_target).filter(|(_, total)| *total > 0.0).collect();
    let rows = free_rows(sums.weight, fit_intercept);
    let evidence = |log_alpha: f64| {
        let alpha = log_alpha.exp();
        let told = |(rotated, total): &(ndarray::Array1<f64>, f64)| {
            let (mut rest, mut shrinkage) = (*total, 0.0);
            for (value, q) in eigen.values.iter().map(|v| v.max(0.0)).zip(rotated) {
                rest -= q * q / (value + alpha);
                shrinkage += (value / alpha).ln_1p();
            }
            // A perfect fit would be infinitely evident; rounding says where to stop.
            -rows * rest.max(f64::EPSILON * total).ln() - shrinkage
        };
        targets.iter().map(told).sum::<f64>()
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
        weighted_sums(x, &self.coefficients, self.intercept)
    }

    fn n_targets(&self) -> usize {
        1 + self.others.len()
    }

    fn predict_many(&self, x: &Rows<'_>) -> Result<Matrix> {
        weighted_tables(x, (&self.coefficients, self.intercept), &self.others)
    }

    /// The posterior predictive interval, with Student's t for the estimated variance.
    fn intervals(&self, x: &Rows<'_>, level: f64) -> Result<Option<Vec<(f64, f64)>>> {
        let degrees = self.weight - f64::from(u8::from(self.fit_intercept));
        if degrees <= 0.0 || !self.others.is_empty() {
            return Ok(None);
        }
        let half = student_critical_value(level, degrees);
        let constant = if self.fit_intercept { 1.0 / self.weight } else { 0.0 };
        let distances = squared_distances(x, &self.whitener, &self.means)?;
        let around = self.predict(x)?.into_iter().zip(distances);
        Ok(Some(
            around
                .map(|(y, distance)| {
                    let spread = self.noise_variance * (1.0 + constant + distance);
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
            Err(Error::File("a linear model that no rows could have".into()))
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
    fn a_shrunken_line_by_hand() {
        // Σ(x−x̄)² = 5, Σ(x−x̄)(y−ȳ) = 4: b = 4 / (5 + 3), and the line still meets the means.
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
    fn without_a_price_it_is_least_squares() {
        let mut random = Random::new(1);
        let x = Matrix::from_shape_fn((50, 4), |_| random.normal());
        let y: Vec<f64> = x.outer_iter().map(|row| row.sum() + random.normal()).collect();
        let data = Dataset::regression(&x, &y).unwrap();

        let free = fit(&Ridge::new().alpha(0.0), &x, &y);
        let plain = super::super::LinearRegression::new().fit(&data, &Monitor::quiet()).unwrap();

        assert_eq!(free.coefficients, plain.coefficients);
        assert_eq!(free.intercept, plain.intercept);
    }

    #[test]
    fn the_evidence_is_largest_at_the_price_it_chose() {
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
