//! Ordinary least squares: minimize `Σᵢ wᵢ (yᵢ − b₀ − Σⱼ bⱼ xᵢⱼ)²` (Gauss 1809).
//!
//! The cross-products of columns and target are sufficient statistics, so any split of the rows gives the same model;
//! see [`Scatter`] for their precision. If columns are linearly dependent, the solution of minimum norm is returned and
//! the rank is reported. Standard errors assume homoscedastic residuals; a row of weight two counts as two rows.

use super::{linear_predictions, linear_predictions_of_targets, squared_distances};
use crate::evaluate::{Estimate, Summary};
use crate::explain::Terms;
use crate::prelude::*;
use crate::solver::normal_equations::{Precision, TargetFit, largest_gradient, solve};
use crate::stats::Scatter;
use mercer_num::special::{fisher_p_value, student_critical_value, student_p_value};

params! {
    /// Ordinary least squares linear regression, with standard errors.
    pub struct LinearRegression {
        ..FitIntercept;
    }
    formula = "min Σᵢ (yᵢ − w·xᵢ − b)²";
    lecture = 9;
    attributes = [
        COEF_BY_TARGET,
        INTERCEPT_BY_TARGET,
        own("rank_", "int", "Numerical rank of the features, scaled to unit norm."),
        own("condition_", "float", "Upper bound on the condition number of the features, scaled to unit norm."),
        own("residual_squares_", "float", "Sum of squared residuals."),
    ];
    sklearn {
        extra: &[N_JOBS, COPY_X, POSITIVE, ignored("tol", FLOAT, "1e-06", EXACT)],
    }
}

/// A fitted linear regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearRegressionModel {
    /// The coefficient of each column.
    pub coefficients: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// Whether the intercept was fitted.
    pub fit_intercept: bool,
    /// The numerical rank of the columns, scaled to unit norm.
    pub rank: usize,
    /// An upper bound on the condition number of the columns, scaled to unit norm.
    pub condition: f64,
    /// The precision of the cross-products or factorization.
    pub precision: Precision,
    /// The sum of the sample weights.
    pub weight: f64,
    /// The means of the columns; zeros without an intercept.
    pub means: Vec<f64>,
    /// `Σ w (y − mean)²`, or around zero without an intercept.
    pub total_squares: f64,
    /// `Σ w (y − ŷ)²`.
    pub residual_squares: f64,
    /// `mᵀ (XᵀX)⁻¹ m` at the means.
    pub mean_squares: f64,
    /// `F` with `(XᵀX)⁻¹ = FᵀF`, for centered columns.
    pub whitener: Matrix,
    /// The models of the second and further targets.
    #[serde(default)]
    pub others: Vec<TargetFit>,
}

impl Accumulate for LinearRegression {
    type Stats = Scatter;
    type Model = LinearRegressionModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch)
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        let sums = stats.moments(self.fit_intercept)?;
        let solution = solve(&sums, self.fit_intercept, 0.0)?;
        let mut lines = solution.lines.into_iter();
        let first = lines.next().ok_or(Error::NoRows)?;
        let around = |m: f64| if self.fit_intercept { m } else { 0.0 };
        Ok(LinearRegressionModel {
            coefficients: first.coefficients,
            intercept: first.intercept,
            fit_intercept: self.fit_intercept,
            rank: solution.rank,
            condition: solution.condition,
            precision: solution.precision,
            weight: sums.weight,
            means: sums.means.iter().map(|m| around(m.value())).collect(),
            total_squares: first.total_squares,
            residual_squares: first.residual_squares,
            mean_squares: solution.mean_squares,
            whitener: solution.whitener,
            others: lines.collect(),
        })
    }

    /// The residual, and how far the normal equations are from holding.
    fn certificate(&self, stats: &Self::Stats, model: &Self::Model) -> Certificate {
        let gradient = stats.moments(self.fit_intercept).map_or(f64::NAN, |sums| {
            largest_gradient(&sums, &model.coefficients, &model.others, 0.0)
        });
        let others: f64 = model.others.iter().map(|line| line.residual_squares).sum();
        Certificate::closed_form()
            .objective("residual sum of squares", model.residual_squares + others)
            .violation("largest correlation of a column with the residual", gradient)
            .note(crate::solver::normal_equations::how(
                model.precision,
                model.condition,
                model.rank,
                model.means.len(),
            ))
    }
}

impl LinearRegressionModel {
    /// The model of a single target; `None` if there is no such target.
    pub fn of_target(&self, target: usize) -> Option<LinearRegressionModel> {
        let single = LinearRegressionModel { others: Vec::new(), ..self.clone() };
        let Some(target) = target.checked_sub(1) else { return Some(single) };
        let TargetFit { coefficients, intercept, total_squares, residual_squares } =
            self.others.get(target)?.clone();
        Some(LinearRegressionModel {
            coefficients,
            intercept,
            total_squares,
            residual_squares,
            ..single
        })
    }

    /// The residual degrees of freedom: rows minus fitted coefficients.
    pub fn degrees_of_freedom(&self) -> f64 {
        self.weight - self.rank as f64 - f64::from(u8::from(self.fit_intercept))
    }

    /// The residual variance; NaN without residual degrees of freedom.
    pub fn residual_variance(&self) -> f64 {
        let degrees = self.degrees_of_freedom();
        if degrees > 0.0 { self.residual_squares / degrees } else { f64::NAN }
    }

    /// The coefficient of determination `R²`; NaN for a constant target.
    pub fn r_squared(&self) -> f64 {
        1.0 - self.residual_squares / self.total_squares
    }

    /// `R²` adjusted for the number of columns.
    pub fn adjusted_r_squared(&self) -> f64 {
        let rows = self.weight - f64::from(u8::from(self.fit_intercept));
        1.0 - (1.0 - self.r_squared()) * rows / self.degrees_of_freedom()
    }

    /// The F statistic of the overall regression, and its p-value.
    pub fn f_test(&self) -> (f64, f64) {
        let (rank, degrees) = (self.rank as f64, self.degrees_of_freedom());
        let f = (self.total_squares - self.residual_squares) / rank / self.residual_variance();
        (f, fisher_p_value(f, rank, degrees))
    }

    /// The standard error of the intercept.
    pub fn intercept_error(&self) -> f64 {
        (self.residual_variance() * (1.0 / self.weight + self.mean_squares)).sqrt()
    }

    /// The standard error of each coefficient.
    pub fn standard_errors(&self) -> Vec<f64> {
        let squares =
            |column: ndarray::ArrayView1<'_, f64>| column.iter().map(|f| f * f).sum::<f64>();
        let variance = self.residual_variance();
        self.whitener.columns().into_iter().map(|c| (variance * squares(c)).sqrt()).collect()
    }

    /// The leverage of each row: `x (XᵀX)⁻¹ xᵀ`.
    ///
    /// # Errors
    /// If the width differs or a cell is not finite.
    pub fn leverage(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        let intercept = if self.fit_intercept { 1.0 / self.weight } else { 0.0 };
        let distances = squared_distances(x, &self.whitener, &self.means)?;
        Ok(distances.into_iter().map(|d| intercept + d).collect())
    }

    /// The table of coefficients, and the fit statistics.
    pub fn summary(&self, names: &[String], level: f64) -> Summary {
        let degrees = self.degrees_of_freedom();
        let half = student_critical_value(level, degrees);
        let estimate = |name: String, value: f64, error: f64| Estimate {
            name,
            value,
            error,
            t: value / error,
            p: student_p_value(value / error, degrees),
            low: value - half * error,
            high: value + half * error,
        };
        let mut estimates = Vec::new();
        if self.fit_intercept {
            estimates.push(estimate("(intercept)".into(), self.intercept, self.intercept_error()));
        }
        for (j, (b, error)) in self.coefficients.iter().zip(self.standard_errors()).enumerate() {
            let name = names.get(j).cloned().unwrap_or_else(|| format!("x{j}"));
            estimates.push(estimate(name, *b, error));
        }
        let (f, f_p) = self.f_test();
        Summary {
            estimates,
            level,
            residual_error: self.residual_variance().sqrt(),
            degrees_of_freedom: degrees,
            rank: self.rank,
            n_columns: self.coefficients.len(),
            r_squared: self.r_squared(),
            adjusted_r_squared: self.adjusted_r_squared(),
            f,
            f_p,
        }
    }
}

impl Regressor for LinearRegressionModel {
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

    /// Prediction intervals of new rows, which include residual variance and coefficient uncertainty.
    fn intervals(&self, x: &Rows<'_>, level: f64) -> Result<Option<Vec<(f64, f64)>>> {
        let degrees = self.degrees_of_freedom();
        if degrees <= 0.0 || !self.others.is_empty() {
            return Ok(None);
        }
        let half = student_critical_value(level, degrees);
        let variance = self.residual_variance();
        let predictions = self.predict(x)?.into_iter().zip(self.leverage(x)?);
        Ok(Some(
            predictions
                .map(|(y, leverage)| {
                    let width = half * (variance * (1.0 + leverage)).sqrt();
                    (y - width, y + width)
                })
                .collect(),
        ))
    }
}

impl LinearModel for LinearRegressionModel {
    fn terms(&self) -> Terms<'_> {
        Terms { intercept: self.intercept, coefficients: &self.coefficients, means: &self.means }
    }

    fn summary(&self, names: &[String], level: f64) -> Option<Summary> {
        self.others.is_empty().then(|| self.summary(names, level))
    }
}

impl Check for LinearRegressionModel {
    fn check(&self) -> Result<()> {
        let d = self.coefficients.len();
        let mut numbers = self.coefficients.iter().chain(&self.means).chain(&self.whitener);
        let fits = d > 0
            && self.means.len() == d
            && self.whitener.dim() == (self.rank, d)
            && self.rank <= d
            && self.others.iter().all(|line| line.is_sound(d))
            && numbers.all(|v| v.is_finite())
            && [self.intercept, self.condition].iter().all(|v| v.is_finite())
            && [self.weight, self.total_squares, self.residual_squares, self.mean_squares]
                .iter()
                .all(|v| v.is_finite() && *v >= 0.0);
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
    use ndarray::array;

    fn fit(x: &Matrix, y: &[f64]) -> LinearRegressionModel {
        let data = Dataset::regression(x, y).unwrap();
        LinearRegression::new().fit(&data, &Monitor::quiet()).unwrap().model
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{found}, {expected}");
    }

    #[test]
    fn four_points_match_a_hand_calculation() {
        // Means 2.5 and 3; Σ(x−x̄)² = 5, Σ(x−x̄)(y−ȳ) = 4, so b = 0.8, b₀ = 1; residuals 0.2, 0.4,
        // −1.4, 0.8 with squares adding up to 2.8 on two degrees of freedom.
        let x = array![[1.0], [2.0], [3.0], [4.0]];
        let model = fit(&x, &[2.0, 3.0, 2.0, 5.0]);

        near(model.coefficients[0], 0.8);
        near(model.intercept, 1.0);
        near(model.residual_squares, 2.8);
        near(model.r_squared(), 1.0 - 2.8 / 6.0);
        near(model.adjusted_r_squared(), 1.0 - 1.4 / 2.0);
        near(model.standard_errors()[0], (1.4f64 / 5.0).sqrt());
        near(model.intercept_error(), (1.4f64 * (0.25 + 6.25 / 5.0)).sqrt());
        near(model.f_test().0, 3.2 / 1.4);
        let leverage = model.leverage(&Rows::from(&x)).unwrap();
        near(leverage[0], 0.25 + 2.25 / 5.0);
        near(leverage.iter().sum(), 2.0);
        let (low, high) = model.intervals(&Rows::from(&x), 0.95).unwrap().unwrap()[0];
        // Half a 95 % interval of t with two degrees of freedom is 4.302652729749464 errors.
        near(high - low, 2.0 * 4.302652729749464 * (1.4f64 * 1.7).sqrt());
        near(0.5 * (low + high), 1.8);
    }

    #[test]
    fn dependent_columns_give_the_minimum_norm_solution() {
        // The second column is twice the first: y = 5 x₁ = x₁ + 2 x₂.
        let x = array![[1.0, 2.0, 7.0], [2.0, 4.0, 7.0], [3.0, 6.0, 7.0], [5.0, 10.0, 7.0]];

        let model = fit(&x, &[5.0, 10.0, 15.0, 25.0]);

        assert_eq!(model.rank, 1);
        near(model.coefficients[0], 1.0);
        near(model.coefficients[1], 2.0);
        assert_eq!(model.coefficients[2], 0.0);
        near(model.intercept, 0.0);
    }

    #[test]
    fn several_targets_equal_separate_fits() {
        let mut random = mercer_num::random::Random::new(5);
        for n in [20, 1500] {
            // The last column repeats the first one where the rows are few.
            let mut x = Matrix::from_shape_fn((n, 4), |_| random.normal());
            if n == 20 {
                let first = x.column(0).to_owned();
                x.column_mut(3).assign(&first);
            }
            let y = Matrix::from_shape_fn((n, 3), |(i, k)| x[[i, k]] + 0.1 * random.normal());
            let data = Dataset::multi_output(&x, y.view()).unwrap();

            let both = LinearRegression::new().fit(&data, &Monitor::quiet()).unwrap();

            assert_eq!((both.n_targets(), both.of_target(3)), (3, None));
            let found = both.predict_many(&Rows::from(&x)).unwrap();
            for k in 0..3 {
                let single = fit(&x, &y.column(k).to_vec());
                assert_eq!(both.of_target(k), Some(single.clone()));
                assert_eq!(found.column(k).to_vec(), single.predict(&Rows::from(&x)).unwrap());
            }
        }
        let x = array![[1.0], [2.0]];
        let many = array![[1.0, 2.0], [3.0, f64::NAN]];
        let refused = Dataset::multi_output(&x, many.view()).err();
        assert!(matches!(refused, Some(Error::NotFinite { row: 1, column: 2, .. })), "{refused:?}");
    }

    #[test]
    fn more_columns_than_rows_interpolate() {
        let x = array![[1.0, 0.0, 2.0, 1.0], [0.0, 1.0, 1.0, 3.0]];

        let model = fit(&x, &[1.0, 4.0]);

        assert_eq!(model.rank, 1);
        assert!(model.residual_variance().is_nan());
        assert_eq!(model.intervals(&Rows::from(&x), 0.9).unwrap(), None);
        let predicted = model.predict(&Rows::from(&x)).unwrap();
        near(predicted[0], 1.0);
        near(predicted[1], 4.0);
    }

    #[test]
    fn nearly_collinear_columns_are_resolved_in_double_double() {
        // Columns that agree in eight digits; in doubles their cross-products would be equal.
        let mut random = mercer_num::random::Random::new(3);
        let mut x = Matrix::from_shape_fn((3000, 2), |_| random.normal());
        for mut row in x.outer_iter_mut() {
            row[1] = row[0] + 1e-8 * row[1];
        }
        let y: Vec<f64> = x.outer_iter().map(|row| 3.0 * row[0] - 2.0 * row[1]).collect();

        let model = fit(&x, &y);

        // The rounding of y moves them by 1e-16 / 1e-8.
        assert_eq!((model.rank, model.precision), (2, Precision::DoubleDouble));
        assert!((model.coefficients[0] - 3.0).abs() < 1e-7);
        assert!((model.coefficients[1] + 2.0).abs() < 1e-7);
    }

    #[test]
    fn overflowing_squares_are_refused() {
        let x = array![[1.0, 1e200], [2.0, -1e200], [3.0, 0.0]];
        let data = Dataset::regression(&x, &[1.0, 2.0, 3.0]).unwrap();

        let refused = LinearRegression::new().fit(&data, &Monitor::quiet());

        assert_eq!(refused.err(), Some(Error::TooLarge { column: 1 }));
    }

    #[test]
    fn the_summary_matches_the_layout_of_r() {
        let x = array![[1.0], [2.0], [3.0], [4.0]];

        let table = fit(&x, &[2.0, 3.0, 2.0, 5.0]).summary(&["dose".into()], 0.95).to_string();

        // With two degrees of freedom p = 1 − t / √(2 + t²).
        let lines: Vec<&str> = table.lines().collect();
        let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(cells(lines[1])[..5], ["(intercept)", "1", "1.449", "0.6901", "0.5615"]);
        assert_eq!(cells(lines[2])[..5], ["dose", "0.8", "0.5292", "1.512", "0.2697"]);
        assert!(table.contains("residual standard error 1.183 on 2 degrees of freedom"), "{table}");
        assert!(table.contains("F 2.286 on 1 and 2 degrees of freedom, p 0.2697"), "{table}");
    }
}
