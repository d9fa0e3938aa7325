//! Lasso and elastic net: least squares with an L1 penalty, which makes many coefficients exactly zero.
//!
//! Minimize `1/(2n) Σᵢ (yᵢ − b − w·xᵢ)² + α (ρ ‖w‖₁ + ½ (1 − ρ) ‖w‖²)` with an unpenalized intercept (Tibshirani 1996; Zou &
//! Hastie 2005); sample weights replace the ones in the sum and in `n`. Several targets are independent problems, or share
//! their columns: then `‖w‖₁` becomes the sum of the norms of the rows of `W` (Obozinski, Taskar & Jordan 2010).

use super::svc::check_rows;
use super::{TargetFit, linear_predictions, linear_predictions_of_targets};
use crate::explain::Terms;
use crate::model::Stop;
use crate::prelude::*;
use crate::solver::coordinate_descent::ElasticNetPenalty;
use crate::solver::duality_gap::DualityGap;
use crate::solver::gap_safe::{Options, Sign, Solution, WeightedColumns, solve};
use mercer_num::rows::Missing;
use std::marker::PhantomData;
use std::time::Instant;

params! {
    /// Lasso: linear regression with an L1 penalty, which sets many coefficients to zero.
    pub struct Lasso {
        /// Regularization strength: the coefficient of the L1 norm of the weights. Larger values set more of them to
        /// zero; 0 is ordinary least squares.
        alpha: f64 = 1.0, AtLeast(0.0);
        ..FitIntercept;
        /// Maximum number of passes over the columns.
        max_iter: usize = 1000, AtLeast(0.0);
        /// Stop when the duality gap is at most `tol` times the sum of squares of the centered target. Smaller values
        /// take longer.
        tol: f64 = 1e-4, AtLeast(0.0);
        /// Constrain the coefficients to be nonnegative.
        positive: bool = false, Any;
        /// Select the same columns for all targets (multi-task lasso): the L1 norm becomes the sum over the columns of
        /// the norm of their weights.
        joint: bool = false, Any;
    }
    formula = "min 1/(2n) Σᵢ (yᵢ − w·xᵢ − b)² + α‖w‖₁";
    lecture = 9;
    attributes = [
        COEF_BY_TARGET,
        INTERCEPT_BY_TARGET,
        of_field("n_iter_", "n_iters", "one_or_list", "int or list of int", "Number of passes over the columns, for each target."),
        of_field("dual_gap_", "dual_gaps", "one_or_array", "float or ndarray of shape (n_targets,)", "Duality gap at the end of the fit, for each target."),
        of_field("sparse_coef_", "coefficients", "sparse_matrix", "sparse array of shape (1, n_features)", "`coef_` as a sparse array."),
        CONVERGED,
    ];
    sklearn {
        positional: &["alpha"],
        extra: &[PRECOMPUTE, COPY_X, NO_RANDOM_STATE, SELECTION],
    }
}

params! {
    /// Elastic net: linear regression with a mix of the L1 and the L2 penalty.
    pub struct ElasticNet {
        /// Regularization strength. Larger values shrink the weights more; 0 is ordinary least squares.
        alpha: f64 = 1.0, AtLeast(0.0);
        /// Fraction of the L1 penalty: 0 is ridge regression, 1 is the lasso. Larger values set more weights to zero.
        l1_ratio: f64 = 0.5, Between(0.0, 1.0);
        ..FitIntercept;
        /// Maximum number of passes over the columns.
        max_iter: usize = 1000, AtLeast(0.0);
        /// Stop when the duality gap is at most `tol` times the sum of squares of the centered target. Smaller values
        /// take longer.
        tol: f64 = 1e-4, AtLeast(0.0);
        /// Constrain the coefficients to be nonnegative.
        positive: bool = false, Any;
        /// Select the same columns for all targets (multi-task elastic net): the L1 norm becomes the sum over the
        /// columns of the norm of their weights.
        joint: bool = false, Any;
    }
    formula = "min 1/(2n) Σᵢ (yᵢ − w·xᵢ − b)² + α (ρ‖w‖₁ + ½ (1 − ρ)‖w‖²)";
    lecture = 9;
    attributes = [
        COEF_BY_TARGET,
        INTERCEPT_BY_TARGET,
        of_field("n_iter_", "n_iters", "one_or_list", "int or list of int", "Number of passes over the columns, for each target."),
        of_field("dual_gap_", "dual_gaps", "one_or_array", "float or ndarray of shape (n_targets,)", "Duality gap at the end of the fit, for each target."),
        of_field("sparse_coef_", "coefficients", "sparse_matrix", "sparse array of shape (1, n_features)", "`coef_` as a sparse array."),
        CONVERGED,
    ];
    sklearn {
        positional: &["alpha"],
        extra: &[PRECOMPUTE, COPY_X, NO_RANDOM_STATE, SELECTION],
    }
}

/// The estimator of [`LassoModel`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfLasso;

/// The estimator of [`ElasticNetModel`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfElasticNet;

/// A fitted lasso.
pub type LassoModel = SparseLinear<OfLasso>;
/// A fitted elastic net.
pub type ElasticNetModel = SparseLinear<OfElasticNet>;

/// A linear function with few nonzero coefficients, of estimator `K`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SparseLinear<K> {
    /// The coefficient of each column.
    pub coefficients: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// The weighted means of the columns; zeros without an intercept.
    pub means: Vec<f64>,
    /// The number of passes over the columns of each problem: one per target, or one for all.
    pub n_iters: Vec<u64>,
    /// The duality gap of each problem.
    pub dual_gaps: Vec<f64>,
    /// Whether the solver reached its tolerance.
    pub converged: bool,
    /// The models of the second and further targets.
    #[serde(default)]
    pub others: Vec<TargetFit>,
    #[serde(skip)]
    kind: PhantomData<K>,
}

/// What is fitted: the elastic net with all its settings.
#[derive(Clone, Copy)]
struct Settings {
    alpha: f64,
    l1_ratio: f64,
    fit_intercept: bool,
    max_iter: usize,
    tol: f64,
    positive: bool,
    joint: bool,
}

impl Settings {
    fn options<'a>(&self, weight: f64, monitor: &'a Monitor<'a>) -> Options<'a> {
        let strength = self.alpha * weight;
        let l1 = strength * self.l1_ratio;
        Options {
            penalty: ElasticNetPenalty { l1, l2: strength - l1 },
            sign: if self.positive { Sign::Nonnegative } else { Sign::Any },
            tol: self.tol,
            max_iter: self.max_iter,
            monitor,
        }
    }
}

impl Lasso {
    fn settings(&self) -> Settings {
        let Lasso { alpha, fit_intercept, max_iter, tol, positive, joint } = *self;
        Settings { alpha, l1_ratio: 1.0, fit_intercept, max_iter, tol, positive, joint }
    }
}

impl ElasticNet {
    fn settings(&self) -> Settings {
        let ElasticNet { alpha, l1_ratio, fit_intercept, max_iter, tol, positive, joint } = *self;
        Settings { alpha, l1_ratio, fit_intercept, max_iter, tol, positive, joint }
    }

    /// The models of several regularization strengths, each fitted from the one before. `alpha` is not used.
    ///
    /// # Errors
    /// If parameters or data are invalid, or the fit was stopped before a model existed.
    pub fn path(
        &self,
        alphas: &[f64],
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<ElasticNetModel>> {
        self.check()?;
        let problem = Problem::new(&self.settings(), data, monitor)?;
        let mut models: Vec<ElasticNetModel> = Vec::with_capacity(alphas.len());
        let mut before: Vec<Solution> = Vec::new();
        for alpha in alphas {
            let settings = Settings { alpha: *alpha, ..self.settings() };
            let start: Vec<&[f64]> = before.iter().map(|s| s.weights.as_slice()).collect();
            let solutions = problem.solve(&settings, &start, monitor)?;
            models.push(problem.model(&solutions));
            before = solutions;
        }
        Ok(models)
    }
}

/// The columns and targets of a fit.
struct Problem {
    columns: WeightedColumns,
    /// One group of targets per problem that is solved.
    groups: Vec<Vec<Vec<f64>>>,
    target_means: Vec<f64>,
}

impl Problem {
    fn new(settings: &Settings, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Problem> {
        let (cells, width) = data.regression_targets()?;
        check_rows(data)?;
        data.check_cells(Missing::Refused)?;
        if settings.positive && settings.joint && width > 1 {
            return Err(Error::Parameter {
                name: "positive".into(),
                found: "true".into(),
                expected: "false if `joint` is true and there are several targets".into(),
            });
        }
        let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
        let weights: Vec<f64> = (0..data.n_rows()).map(weight).collect();
        if weights.iter().sum::<f64>() <= 0.0 {
            return Err(Error::NoRows);
        }
        let cells_of_rows = match data.rows() {
            Rows::Sparse(x) => x.iter().map(|(columns, _)| columns.len()).sum::<usize>() * 12,
            rows => rows.n_rows() * rows.n_columns() * 8,
        };
        monitor.reserve("copying the columns", cells_of_rows as u64)?;
        let columns = WeightedColumns::new(data.rows(), &weights, settings.fit_intercept);
        let target = |k: usize| {
            let y = cells.iter().skip(k).step_by(width).copied();
            columns.target(y, settings.fit_intercept)
        };
        let (targets, target_means): (Vec<_>, Vec<_>) = (0..width).map(target).unzip();
        let groups = match settings.joint {
            true => vec![targets],
            false => targets.into_iter().map(|target| vec![target]).collect(),
        };
        Ok(Problem { columns, groups, target_means })
    }

    fn solve(
        &self,
        settings: &Settings,
        start: &[&[f64]],
        monitor: &Monitor<'_>,
    ) -> Result<Vec<Solution>> {
        let options = settings.options(self.columns.weight, monitor);
        let solutions: Vec<Solution> = self
            .groups
            .iter()
            .enumerate()
            .map(|(k, targets)| solve(&self.columns, targets, start.get(k).copied(), &options))
            .collect();
        let is_begun = |solution: &Solution| solution.stopped.is_none() || solution.passes > 0;
        if start.is_empty() && !solutions.iter().all(is_begun) {
            return Err(Error::Stopped);
        }
        Ok(solutions)
    }

    /// The weights of one target, and its sum of squared residuals.
    fn weights_of(&self, solutions: &[Solution], k: usize) -> (Vec<f64>, f64) {
        let joint = self.groups.len() == 1;
        let (solution, at) = if joint { (&solutions[0], k) } else { (&solutions[k], 0) };
        let width = solution.residual_squares.len();
        let weights = solution.weights.iter().skip(at).step_by(width).copied().collect();
        (weights, solution.residual_squares[at])
    }

    fn model<K>(&self, solutions: &[Solution]) -> SparseLinear<K> {
        let fit = |k: usize| {
            let (coefficients, residual_squares) = self.weights_of(solutions, k);
            let mean: f64 = coefficients.iter().zip(&self.columns.means).map(|(w, m)| w * m).sum();
            let joint = self.groups.len() == 1;
            let target = if joint { &self.groups[0][k] } else { &self.groups[k][0] };
            TargetFit {
                intercept: self.target_means[k] - mean,
                coefficients,
                total_squares: target.iter().map(|y| y * y).sum(),
                residual_squares,
            }
        };
        let mut fits = (0..self.target_means.len()).map(fit);
        let first = fits.next().expect("at least one target");
        SparseLinear {
            coefficients: first.coefficients,
            intercept: first.intercept,
            others: fits.collect(),
            means: self.columns.means.clone(),
            n_iters: solutions.iter().map(|s| s.passes).collect(),
            dual_gaps: solutions.iter().map(|s| s.gap.gap / self.columns.weight).collect(),
            converged: solutions.iter().all(|s| s.converged),
            kind: PhantomData,
        }
    }

    fn certificate(&self, solutions: &[Solution], began: Instant) -> Certificate {
        let gaps: Vec<DualityGap> = solutions.iter().map(|s| s.gap).collect();
        let total = DualityGap::total(&gaps);
        let weight = self.columns.weight;
        let stopped: Option<Stop> = solutions.iter().find_map(|s| s.stopped);
        Certificate::iterative(solutions.iter().all(|s| s.converged), stopped)
            .objective("penalized mean squared error", total.primal / weight)
            .dual(total.dual / weight)
            .violation("largest KKT violation", total.kkt_violation / weight.sqrt())
            .iterations(solutions.iter().map(|s| s.passes).sum())
            .since(began)
    }
}

/// Fits from an earlier model, or from zero.
fn fit<K>(
    settings: &Settings,
    start: Option<&SparseLinear<K>>,
    data: &Dataset<'_>,
    monitor: &Monitor<'_>,
) -> Result<Fitted<SparseLinear<K>>> {
    let began = Instant::now();
    let problem = Problem::new(settings, data, monitor)?;
    let start = match start {
        Some(model) => model.start(settings.joint, data)?,
        None => Vec::new(),
    };
    let start: Vec<&[f64]> = start.iter().map(Vec::as_slice).collect();
    let solutions = problem.solve(settings, &start, monitor)?;
    let passes = solutions.iter().map(|solution| solution.passes).sum();
    monitor.report(passes, Some(passes));
    let certificate = problem.certificate(&solutions, began).rows(data.n_rows() as u64);
    Ok(Fitted { model: problem.model(&solutions), certificate })
}

impl<K> SparseLinear<K> {
    /// The weights of each problem, from which a fit may start.
    fn start(&self, joint: bool, data: &Dataset<'_>) -> Result<Vec<Vec<f64>>> {
        let (_, width) = data.regression_targets()?;
        let d = self.coefficients.len();
        if data.n_columns() != d {
            return Err(Error::Columns { found: data.n_columns(), expected: d });
        }
        let others = self.others.iter().map(|line| &line.coefficients);
        let targets: Vec<&Vec<f64>> = std::iter::once(&self.coefficients).chain(others).collect();
        if targets.len() != width {
            return Ok(Vec::new());
        }
        if joint {
            let weights = (0..d).flat_map(|j| targets.iter().map(move |target| target[j]));
            return Ok(vec![weights.collect()]);
        }
        Ok(targets.into_iter().cloned().collect())
    }
}

impl Fit for Lasso {
    type Model = LassoModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<LassoModel>> {
        self.check()?;
        fit(&self.settings(), None, data, monitor)
    }

    fn fit_from(
        &self,
        start: &LassoModel,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<LassoModel>> {
        self.check()?;
        fit(&self.settings(), Some(start), data, monitor)
    }
}

impl Fit for ElasticNet {
    type Model = ElasticNetModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<ElasticNetModel>> {
        self.check()?;
        fit(&self.settings(), None, data, monitor)
    }

    fn fit_from(
        &self,
        start: &ElasticNetModel,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<ElasticNetModel>> {
        self.check()?;
        fit(&self.settings(), Some(start), data, monitor)
    }
}

impl<K: Send + Sync> Check for SparseLinear<K> {
    fn check(&self) -> Result<()> {
        let values = self.coefficients.iter().chain(&self.means).chain([&self.intercept]);
        let d = self.coefficients.len();
        let fits = d > 0
            && d == self.means.len()
            && values.into_iter().all(|x| x.is_finite())
            && self.others.iter().all(|line| line.is_sound(d))
            && self.dual_gaps.len() == self.n_iters.len();
        if fits {
            Ok(())
        } else {
            Err(Error::File("coefficients that no fit of an elastic net can return".into()))
        }
    }
}

impl<K: Send + Sync> Regressor for SparseLinear<K> {
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
}

impl<K: Send + Sync> LinearModel for SparseLinear<K> {
    fn terms(&self) -> Terms<'_> {
        Terms { intercept: self.intercept, coefficients: &self.coefficients, means: &self.means }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn one_centered_column_is_soft_thresholded() {
        // x = (−1, 0, 1), y = x: w = (2/3 − α) / (2/3) (Hastie, Tibshirani & Wainwright 2015, section 2.4.1).
        let x = array![[-1.0], [0.0], [1.0]];
        let data = Dataset::regression(&x, &[-1.0, 0.0, 1.0]).unwrap();
        for (alpha, weight) in [(0.1, 0.85), (0.5, 0.25), (1.0, 0.0)] {
            let fitted = Lasso::new().alpha(alpha).fit(&data, &Monitor::quiet()).unwrap();

            assert!((fitted.coefficients[0] - weight).abs() < 1e-12);
            assert!(fitted.converged && fitted.dual_gaps[0] < 1e-12);
        }
    }

    #[test]
    fn a_path_ends_at_the_model_of_its_last_strength() {
        let mut random = mercer_num::random::Random::new(2);
        let x = Matrix::from_shape_simple_fn((30, 10), || random.normal());
        let y: Vec<f64> = x.outer_iter().map(|row| row[0] - 2.0 * row[3]).collect();
        let data = Dataset::regression(&x, &y).unwrap();
        let params = ElasticNet::new().l1_ratio(0.7).tol(1e-13).max_iter(100_000);

        let path = params.path(&[1.0, 0.3, 0.01], &data, &Monitor::quiet()).unwrap();

        let last = params.alpha(0.01).fit(&data, &Monitor::quiet()).unwrap();
        let pairs = path[2].coefficients.iter().zip(&last.coefficients);
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-6));
        let count = |k: usize| path[k].coefficients.iter().filter(|w| **w != 0.0).count();
        assert!(count(0) <= count(1) && count(1) <= count(2));
    }
}
