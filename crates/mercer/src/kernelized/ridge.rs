//! Kernel ridge regression: L2-penalized least squares in the space of a kernel.
//!
//! Minimize `Σᵢ wᵢ (yᵢ − f(xᵢ))² + α‖f‖²`. The best function is `f(x) = Σᵢ cᵢ K(xᵢ, x)` with
//! `(K + α W⁻¹) c = y` (Saunders, Gammerman & Vovk 1998). What the function would have said of a row without
//! the row itself misses by `cᵢ / (G⁻¹)ᵢᵢ`, `G = K + α W⁻¹`, so every row is left out at the price of one
//! inverse; of a row of weight two, one of two is left out.

use super::relevance::{self, learn_relevance};
use super::ridge_cholesky::solve_by_cholesky;
use super::ridge_conjugate_gradient::{n_pivots, solve_by_conjugate_gradient};
use super::ridge_landmarks::{landmark_bytes, solve_by_landmarks};
use super::{KernelProblem, fit_first_rows};
use crate::explain::SupportExplanation;
use crate::kernel::KernelParams;
use crate::kernel::{Function, Kernel, KernelExpansion, KernelRows, Precision, Segment};
use crate::model::{Cached, Plan, Stop};
use crate::prelude::*;
use mercer_num::linalg::solve_lower;
use mercer_num::parallel::prelude::*;
use mercer_num::random::Random;
use mercer_num::special::{Tails, normal_quantile};
use std::time::Instant;

/// Rows up to which a factor is kept in double precision: it is there at once.
const MAX_DOUBLE_ROWS: usize = 3000;
/// Rows up to which a function of all rows is looked for without its matrix.
const MOST_ITERATED: u64 = 100_000;
/// What to do where there is no room for a factor.
pub(super) const INSTEAD: &str = "raise the memory budget, or set `solver` to `cg` or to `approx`, which do \
                                  without the matrix";
/// Rows whose variances one thread works out at a time.
const ROWS: usize = 64;

choice! {
    /// The solver of kernel ridge regression.
    pub enum RidgeSolver {
        /// The first of the others that fits into the memory budget.
        Auto = "auto",
        /// Cholesky factorization of the kernel matrix.
        Cholesky = "cholesky",
        /// Preconditioned conjugate gradients, without storing the matrix.
        ConjugateGradient = "cg",
        /// An expansion over a few landmarks.
        Landmarks = "approx",
    }
}

choice! {
    /// Whether all features have the same width in the kernel.
    pub enum FeatureWidths {
        /// The same width `gamma`.
        Equal = "equal",
        /// One width per feature, learned by automatic relevance determination.
        Learned = "learned",
    }
}

params! {
    /// Kernel ridge regression: least squares in the space of a kernel, with an L2 penalty.
    pub struct KernelRidge {
        /// Regularization strength: the factor of the squared norm of the function. Larger values make it smoother.
        alpha: f64 = 1.0, AtLeast(0.0);
        ..KernelParams(kernel = Kernel::Linear);
        /// Widths of the features in the kernel `rbf`: the same for all (`equal`), or one per feature, chosen together with
        /// the regularization strength by the gradient of the leave-one-out error (`learned`; automatic relevance
        /// determination), starting from `gamma` and `alpha`. Features that do not help the prediction switch
        /// themselves off.
        widths: FeatureWidths = FeatureWidths::Equal, OneOf(FeatureWidths::VALUES);
        /// Store the Cholesky factor, which predictive variances and intervals need: one value per pair of rows.
        variance: bool = false, Any;
        /// Maximum number of rows for which the leave-one-out error is computed. It takes as long as the
        /// factorization in double precision that it needs.
        leave_one_out_rows: usize = 1000, AtLeast(0.0);
        /// Solver of the linear system: a Cholesky factorization of the kernel matrix (`cholesky`), preconditioned
        /// conjugate gradients without storing the matrix (`cg`), or an expansion over a few landmarks (`approx`), for
        /// very many rows. `auto` chooses the first that fits into the memory budget.
        solver: RidgeSolver = RidgeSolver::Auto, OneOf(RidgeSolver::VALUES);
        /// Number of landmarks of the solver `approx`. Larger values approximate the exact solution more closely.
        n_landmarks: usize = 1000, Between(1.0, 1e5);
        /// Stop `cg` and `approx` when the norm of the residual, relative to the targets, is at most `tol`.
        tol: f64 = 1e-8, Above(0.0);
        /// Maximum number of iterations of `cg` and `approx`.
        max_iter: usize = 500, Between(1.0, 1e9);
    }
    formula = "min Σᵢ (yᵢ − f(xᵢ))² + α‖f‖²,  f(x) = Σᵢ cᵢ K(xᵢ, x)";
    lecture = 13;
    attributes = [
        X_FIT,
        of_model(
            "dual_coef_",
            "dual_coefficients_by_target",
            "ndarray of shape (n_rows,) or (n_rows, n_targets)",
            "Coefficients `c` of the kernel expansion.",
        ),
        own(
            "leave_one_out_error_",
            "float or None",
            "Mean squared leave-one-out error; `None` if it was not computed.",
        ),
        own(
            "relevance_",
            "ndarray of shape (n_features,) or empty",
            "Factor of each feature before the kernel, if the widths were learned; a factor near zero switches the feature off.",
        ),
        own(
            "scale_",
            "float",
            "Scale of the kernel under which the targets are a Gaussian process: `yᵀ(K + αI)⁻¹y / n`.",
        ),
        own("n_iter_", "int", "Number of iterations of the solver; 1 for a factorization."),
    ];
    sklearn {
        positional: &["alpha"],
        extra: &[KERNEL_PARAMS],
        spellings: &[POLYNOMIAL],
        kernel_of_two_rows: true,
    }
}

/// The fitted function as a kernel expansion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelRidgeModel {
    /// The rows and their coefficients.
    pub expansion: KernelExpansion,
    /// The regularization strength.
    pub alpha: f64,
    /// `yᵀG⁻¹y / Σw`: the variance of targets in units of the kernel, where they are a Gaussian process.
    pub scale: f64,
    /// The mean squared error on rows left out, one at a time; `None` where time was up, where the rows are
    /// many or the matrix has no factor.
    pub leave_one_out_error: Option<f64>,
    /// Rounds that solving took; one for a factor.
    #[serde(default)]
    pub n_iter: u64,
    /// The factor of each feature before the kernel; empty if all are one.
    #[serde(default)]
    pub relevance: Vec<f64>,
    /// `L` with `L Lᵀ = G`; nothing where variances were not asked for.
    pub factor: Matrix,
    #[serde(skip)]
    ready: Cached<Option<KernelRows<f64>>>,
}

impl Fit for KernelRidge {
    type Model = KernelRidgeModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<KernelRidgeModel>> {
        let start = Instant::now();
        self.check()?;
        if self.widths == FeatureWidths::Learned {
            return self.fit_learned_widths(data, monitor);
        }
        let (targets, n_targets) = data.regression_targets()?;
        let column = |k: usize| targets.iter().skip(k).step_by(n_targets).copied().collect();
        let targets: Vec<Vec<f64>> = (0..n_targets).map(column).collect();
        let KernelRidge { alpha, ref kernel, gamma, degree, coef0, .. } = *self;
        let problem = KernelProblem::new(data, kernel, gamma, coef0, degree, monitor)?;
        let n = problem.indices.len();
        let pick = |y: &Vec<f64>| problem.indices.iter().map(|i| y[*i as usize]).collect();
        let targets: Vec<Vec<f64>> = targets.iter().map(pick).collect();
        let (solver, why) = self.way(&problem, monitor)?;
        let plan = self.plan(solver, &problem, monitor);
        let ridge: Vec<f64> = problem.weights.iter().map(|w| alpha / w).collect();
        let stop = (self.tol, self.max_iter);
        let answer = match solver {
            RidgeSolver::Landmarks => {
                solve_by_landmarks(&problem, alpha, self.n_landmarks, &targets, stop, monitor)
            }
            RidgeSolver::ConjugateGradient => {
                let ready = problem.kernel_rows();
                solve_by_conjugate_gradient(
                    &ready,
                    &problem.weights,
                    &ridge,
                    &targets,
                    stop,
                    monitor,
                )
            }
            _ => solve_by_cholesky(self, &problem, &ridge, &targets, monitor),
        };
        let mut answer = match (answer, monitor.stop()) {
            (Err(Error::Stopped), Some(stop)) => return fit_first_rows(self, data, stop, start),
            (answer, _) => answer?,
        };
        if solver != RidgeSolver::Cholesky || self.solver != RidgeSolver::Auto {
            answer.certificate = answer.certificate.note_first(why);
        }
        // A factor that was not good enough has told another.
        let plan = answer.certificate.plan.take().or(plan);
        // Where time was up, the first rows are all there is.
        let m = answer.coefficients.first().map_or(0, Vec::len);
        let support = answer.support.unwrap_or_else(|| problem.indices[..m].to_vec());
        let whole = solver == RidgeSolver::Landmarks || m == n;
        let n_targets = targets.len();
        let coefficients = Matrix::from_shape_vec((n_targets, m), answer.coefficients.concat())
            .expect("a row of values a target");
        let intercepts = vec![0.0; n_targets];
        let expansion = problem.expansion(Precision::Double, support, coefficients, intercepts);
        let model = KernelRidgeModel {
            expansion,
            alpha,
            scale: answer.scale.max(0.0),
            leave_one_out_error: answer.leave_one_out_error,
            n_iter: answer.rounds,
            relevance: Vec::new(),
            factor: answer.factor,
            ready: Cached::default(),
        };
        monitor.report(n as u64, Some(n as u64));
        let certificate = answer
            .certificate
            .plan(plan)
            .rows(if whole { data.n_rows() } else { m } as u64)
            .iterations(answer.rounds)
            .stopped_by(answer.stopped)
            .since(start);
        Ok(Fitted { model, certificate })
    }
}

impl KernelRidge {
    /// Whether the kernel is as given, not learned from the rows.
    pub(crate) fn is_given(&self) -> bool {
        self.widths == FeatureWidths::Equal
    }

    /// Learns the widths of the features from at most [`relevance::MAX_ROWS`] rows, and fits all rows with them.
    fn fit_learned_widths(
        &self,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<KernelRidgeModel>> {
        let start = Instant::now();
        let refuse = |name: &str, found: &str, expected: &str| {
            let (name, found) = (name.into(), found.into());
            Err(Error::Parameter { name, found, expected: expected.into() })
        };
        if self.kernel != Kernel::Rbf {
            return refuse("widths", "learned with another kernel", "the kernel `rbf`");
        }
        let (targets, n_targets) = data.regression_targets()?;
        if n_targets > 1 {
            return refuse("widths", "learned with several targets", "one target");
        }
        let function = self.kernel.with(self.gamma, self.coef0, self.degree, data);
        Function { kernel: Kernel::Rbf, ..function.clone() }.check_rows(data.rows())?;
        let x = dense(data.rows());
        let used: Vec<usize> = sampled(data, relevance::MAX_ROWS);
        let some = x.select(ndarray::Axis(0), &used);
        let some_targets: Vec<f64> = used.iter().map(|i| targets[*i]).collect();
        let at = (function.gamma.max(f64::MIN_POSITIVE), self.alpha);
        let Some(learned) = learn_relevance(&some, &some_targets, at, monitor) else {
            if monitor.stop().is_some() {
                return Err(Error::Stopped);
            }
            return refuse(
                "widths",
                "learned on rows without a positive definite kernel matrix",
                "a larger `alpha`",
            );
        };
        let factors: Vec<f64> = learned.widths.iter().map(|w| (w / at.0).sqrt()).collect();
        let scaled = x * ndarray::ArrayView1::from(&factors);
        let mut same = Dataset::regression(&scaled, targets)?;
        if !data.weights().is_empty() {
            same = same.weighted(data.weights())?;
        }
        let plain = KernelRidge {
            widths: FeatureWidths::Equal,
            alpha: learned.alpha,
            gamma: Some(at.0.into()),
            ..self.clone()
        };
        let mut fitted = plain.fit(&same, monitor)?;
        fitted.model.relevance = factors;
        fitted.certificate = fitted
            .certificate
            .note(format!(
                "widths of the features and alpha = {} learned from {} rows in {} iterations; mean squared \
                 leave-one-out error {}",
                crate::explain::short(learned.alpha),
                used.len(),
                learned.iterations,
                crate::explain::short(learned.error)
            ))
            .stopped_by(learned.stopped)
            .since(start);
        Ok(fitted)
    }

    /// Whether a factor of so many rows is kept in single precision.
    pub(super) fn in_single(&self, n: usize) -> bool {
        !self.variance && n > MAX_DOUBLE_ROWS.max(self.leave_one_out_rows)
    }

    /// What a factor of so many rows takes, in bytes a pair of rows.
    fn factor_bytes(&self, n: usize) -> u64 {
        match (self.variance, self.in_single(n)) {
            (true, _) => 16,
            (false, true) => 4,
            (false, false) => 8,
        }
    }

    /// What is about to be done, told.
    fn plan(
        &self,
        solver: RidgeSolver,
        problem: &KernelProblem<'_>,
        monitor: &Monitor<'_>,
    ) -> Option<Plan> {
        let n = problem.indices.len();
        let rows = problem.row_bytes();
        let (way, bytes, size) = match solver {
            RidgeSolver::Landmarks => {
                let m = self.n_landmarks.min(n);
                let way = format!(
                    "at most {m} rows stand for all, conjugate gradients by blocks of rows"
                );
                (way, rows + landmark_bytes(m, problem.rows.n_columns(), 1), 8)
            }
            RidgeSolver::ConjugateGradient => {
                let rank = n_pivots(n, monitor);
                let way = format!(
                    "conjugate gradients without the matrix, {rank} of its columns in front"
                );
                // The columns as they are found and as a factor.
                (way, rows + 16 * (n * rank) as u64, 8)
            }
            _ => {
                let bytes = self.factor_bytes(n);
                let words = if self.in_single(n) { "single" } else { "double" };
                let way = format!("a factor of the kernel matrix in {words} precision");
                (way, problem.matrix_bytes(bytes), bytes.min(8))
            }
        };
        problem.plan(way, bytes, size, monitor)
    }

    /// The way to take, and why.
    fn way(
        &self,
        problem: &KernelProblem<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<(RidgeSolver, String)> {
        let n = problem.indices.len() as u64;
        let bytes = self.factor_bytes(n as usize);
        let refuse = |name: &str, found: String, expected: &str| {
            Err(Error::Parameter { name: name.into(), found, expected: expected.into() })
        };
        let solver = match self.solver {
            RidgeSolver::Auto if self.variance || problem.fits(bytes, monitor) => {
                RidgeSolver::Cholesky
            }
            RidgeSolver::Auto if self.alpha == 0.0 => RidgeSolver::Cholesky,
            RidgeSolver::Auto if n <= MOST_ITERATED => RidgeSolver::ConjugateGradient,
            RidgeSolver::Auto => RidgeSolver::Landmarks,
            asked => asked,
        };
        if solver == RidgeSolver::Cholesky {
            problem.reserve_or(bytes, monitor, INSTEAD)?;
            return Ok((solver, "cholesky as asked".into()));
        }
        if self.variance {
            return refuse("variance", "true".into(), "false where `solver` is not cholesky");
        }
        if self.alpha == 0.0 {
            return refuse("alpha", "0".into(), "above 0 where `solver` is not cholesky");
        }
        if self.kernel == Kernel::Precomputed && solver == RidgeSolver::Landmarks {
            return refuse(
                "solver",
                "approx".into(),
                "cholesky or cg where kernel values are given",
            );
        }
        let word = if solver == RidgeSolver::Landmarks { "approx" } else { "cg" };
        let why = match self.solver {
            RidgeSolver::Auto => format!("{word} because a kernel matrix of {n} rows is too large"),
            _ => format!("{word} as asked"),
        };
        Ok((solver, why))
    }
}

/// What a way of solving leads to.
pub(super) struct Answer {
    /// For every target.
    pub coefficients: Vec<Vec<f64>>,
    /// The rows that the coefficients belong to, where they are not the first ones.
    pub support: Option<Vec<u32>>,
    pub certificate: Certificate,
    pub scale: f64,
    pub leave_one_out_error: Option<f64>,
    pub factor: Matrix,
    pub rounds: u64,
    pub stopped: Option<Stop>,
}

impl Answer {
    pub fn new(coefficients: Vec<Vec<f64>>, certificate: Certificate) -> Answer {
        Answer {
            coefficients,
            support: None,
            certificate,
            scale: 0.0,
            leave_one_out_error: None,
            factor: Matrix::zeros((0, 0)),
            rounds: 1,
            stopped: None,
        }
    }
}

impl KernelRidgeModel {
    /// The rows with every feature multiplied by its relevance; `None` if all relevances are one.
    fn scaled(&self, x: &Rows<'_>) -> Result<Option<Matrix>> {
        if self.relevance.is_empty() {
            return Ok(None);
        }
        self.expansion.check_rows(x)?;
        Ok(Some(dense(x) * ndarray::ArrayView1::from(&self.relevance)))
    }

    /// The variance of the function at every row, in units of the targets, where they are a Gaussian
    /// process with this kernel and noise; `None` where the model did not keep what that needs.
    ///
    /// # Errors
    /// If the width differs or a cell is not finite.
    pub fn variances(&self, x: &Rows<'_>) -> Result<Option<Vec<f64>>> {
        match self.scaled(x)? {
            Some(scaled) => self.kernel_variances(&Rows::from(&scaled)),
            None => self.kernel_variances(x),
        }
    }

    fn kernel_variances(&self, x: &Rows<'_>) -> Result<Option<Vec<f64>>> {
        self.expansion.check_rows(x)?;
        let n = self.expansion.n_vectors();
        // Of given kernel values, that of a new row with itself is not among them.
        if self.factor.nrows() != n || self.expansion.function.kernel == Kernel::Precomputed {
            return Ok(None);
        }
        let ready = self.ready.get(|| self.expansion.kernel_rows_in().ok());
        let Some(ready) = ready else { return Ok(None) };
        let mut out = vec![0.0; x.n_rows()];
        out.par_chunks_mut(ROWS).enumerate().for_each(|(k, out)| {
            let first = (k * ROWS) as u32;
            let indices: Vec<u32> = (first..first + out.len() as u32).collect();
            let some = ready.matching(x, &indices, self.expansion.kernel_center());
            let mut values = vec![0.0; n * out.len()];
            // One row a row learned from, one column a row asked about.
            transposed(&some, ready, &mut values);
            solve_lower(self.factor.view(), &mut values, out.len());
            for (j, (out, own)) in out.iter_mut().zip(some.diagonal()).enumerate() {
                let told: f64 = values.iter().skip(j).step_by(indices.len()).map(|v| v * v).sum();
                *out = self.scale * (own - told).max(0.0);
            }
        });
        Ok(Some(out))
    }
}

/// All cells of some rows.
fn dense(rows: &Rows<'_>) -> Matrix {
    let cells: Vec<f64> = (0..rows.n_rows()).flat_map(|i| rows.row(i)).collect();
    Matrix::from_shape_vec((rows.n_rows(), rows.n_columns()), cells).expect("one cell per column")
}

/// At most so many of the rows of positive weight, at random.
fn sampled(data: &Dataset<'_>, n: usize) -> Vec<usize> {
    let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
    let mut rows: Vec<usize> = (0..data.n_rows()).filter(|i| weight(*i) > 0.0).collect();
    if rows.len() > n {
        Random::new(0).shuffle(&mut rows);
        rows.truncate(n);
        rows.sort_unstable();
    }
    rows
}

/// The kernel of all rows learned from with some others, a row each.
fn transposed(some: &KernelRows<f64>, ready: &KernelRows<f64>, out: &mut [f64]) {
    let (n, m) = (ready.n_rows(), some.n_rows());
    let mut values = vec![0.0; n * m];
    some.block(ready, 0..n, &mut values);
    for i in 0..n {
        for j in 0..m {
            out[i * m + j] = values[j * n + i];
        }
    }
}

impl Regressor for KernelRidgeModel {
    fn n_columns(&self) -> usize {
        self.expansion.n_columns
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        Ok(self.predict_many(x)?.column(0).to_vec())
    }

    fn n_targets(&self) -> usize {
        self.expansion.intercepts.len()
    }

    fn predict_many(&self, x: &Rows<'_>) -> Result<Matrix> {
        let all = [Segment::all(&self.expansion)];
        match self.scaled(x)? {
            Some(scaled) => self.expansion.decisions(&Rows::from(&scaled), &all),
            None => self.expansion.decisions(x, &all),
        }
    }

    fn intervals(&self, x: &Rows<'_>, level: f64) -> Result<Option<Vec<(f64, f64)>>> {
        let Some(variances) = self.variances(x)? else { return Ok(None) };
        if self.n_targets() > 1 {
            return Ok(None);
        }
        let tail = 0.5 * (1.0 - level);
        let far = -normal_quantile(Tails { lower: tail, upper: 1.0 - tail });
        let ends = |(y, v): (f64, f64)| {
            let reach = far * (v + self.scale * self.alpha).sqrt();
            (y - reach, y + reach)
        };
        Ok(Some(self.predict(x)?.into_iter().zip(variances).map(ends).collect()))
    }
}

impl SupportVectors for KernelRidgeModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        if self.n_targets() > 1 {
            let what = "explain several numbers at once".to_owned();
            return Err(Error::Unable { estimator: "kernel-ridge".to_owned(), what });
        }
        let factors = self.relevance.iter().copied().chain(std::iter::repeat(1.0));
        let row: Vec<f64> = row.iter().zip(factors).map(|(x, factor)| x * factor).collect();
        self.expansion.explain(&row, &[Segment::all(&self.expansion)], &[(0, 1.0)])
    }
}

impl Check for KernelRidgeModel {
    fn check(&self) -> Result<()> {
        self.expansion.check()?;
        let n = self.expansion.n_vectors();
        let factor = self.factor.is_empty()
            || (self.factor.dim() == (n, n) && self.factor.diag().iter().all(|v| *v > 0.0));
        let fits = self.n_targets() > 0
            && self.expansion.coefficients.nrows() == self.n_targets()
            && factor
            && self.factor.iter().all(|v| v.is_finite())
            && [self.alpha, self.scale].iter().all(|v| *v >= 0.0 && v.is_finite())
            && self.leave_one_out_error.is_none_or(f64::is_finite)
            && (self.relevance.is_empty() || self.relevance.len() == self.expansion.n_columns)
            && self.relevance.iter().all(|factor| factor.is_finite() && *factor >= 0.0);
        if fits { Ok(()) } else { Err(Error::File("a regression that no rows could have".into())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Ridge;
    use mercer_num::random::Random;
    use std::time::Duration;

    fn rows(n: usize, d: usize, seed: u64) -> (Matrix, Vec<f64>) {
        let mut random = Random::new(seed);
        let x = Matrix::from_shape_simple_fn((n, d), || random.normal());
        let y = x.outer_iter().map(|r| r[0].sin() + 0.1 * random.normal() + 2.0).collect();
        (x, y)
    }

    fn fit(params: &KernelRidge, x: &Matrix, y: &[f64]) -> Fitted<KernelRidgeModel> {
        params.fit(&Dataset::regression(x, y).unwrap(), &Monitor::quiet()).unwrap()
    }

    #[test]
    fn learned_widths_find_two_relevant_columns_of_many() {
        let (x, y) = rows(300, 20, 5);
        let (train, test) = (
            x.slice_axis(ndarray::Axis(0), (..200).into()).to_owned(),
            x.slice_axis(ndarray::Axis(0), (200..).into()).to_owned(),
        );
        let params = KernelRidge::new().kernel(Kernel::Rbf).gamma(Some(0.05.into())).alpha(0.1);
        let r2 = |model: &KernelRidgeModel| {
            let predicted = model.predict(&Rows::from(&test)).unwrap();
            let mean = y[200..].iter().sum::<f64>() / 100.0;
            let spread: f64 = y[200..].iter().map(|y| (y - mean).powi(2)).sum();
            let squares: f64 = y[200..].iter().zip(&predicted).map(|(y, f)| (y - f).powi(2)).sum();
            1.0 - squares / spread
        };

        let equal = fit(&params, &train, &y[..200]);
        let learned = fit(&params.clone().widths(FeatureWidths::Learned), &train, &y[..200]);

        // Only the first column has a part in the target.
        assert!(r2(&learned.model) > 0.9, "{}", r2(&learned.model));
        assert!(r2(&learned.model) > r2(&equal.model) + 0.1, "{}", r2(&equal.model));
        let others = learned.relevance[1..].iter().copied().fold(0.0, f64::max);
        assert!(learned.relevance[0] > 4.0 * others, "{:?}", learned.relevance);
        assert!(learned.model.check().is_ok());
        let wrong = KernelRidge::new().widths(FeatureWidths::Learned);
        let data = Dataset::regression(&train, &y[..200]).unwrap();
        let error = wrong.fit(&data, &Monitor::quiet()).unwrap_err().to_string();
        assert!(error.contains("rbf"), "{error}");
    }

    #[test]
    fn a_linear_kernel_is_ridge_without_a_constant() {
        let (x, y) = rows(50, 4, 1);
        let data = Dataset::regression(&x, &y).unwrap();
        for alpha in [0.01, 1.0, 30.0] {
            let kernel = fit(&KernelRidge::new().alpha(alpha), &x, &y);
            let plain = Ridge::new().alpha(alpha).fit_intercept(false);
            let plain = plain.fit(&data, &Monitor::quiet()).unwrap();

            let (a, b) =
                (kernel.predict(&Rows::from(&x)).unwrap(), plain.predict(&Rows::from(&x)).unwrap());
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() < 1e-10, "{a} and {b}");
            }
        }
    }

    #[test]
    fn the_error_on_rows_left_out_is_that_of_leaving_them_out() {
        let (x, y) = rows(12, 2, 2);
        let params = KernelRidge::new().kernel(Kernel::Rbf).gamma(Some(0.5.into())).alpha(0.1);
        let weights = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 0.0, 1.0, 1.0, 2.0, 1.0, 1.0];
        let fit = |weights: &[f64]| {
            let data = Dataset::regression(&x, &y).unwrap().weighted(weights).unwrap();
            params.fit(&data, &Monitor::quiet()).unwrap()
        };

        let fitted = fit(&weights);

        let (mut sum, mut total) = (0.0, 0.0);
        for i in 0..12 {
            if weights[i] == 0.0 {
                continue;
            }
            let mut without = weights;
            without[i] -= 1.0;
            let miss = y[i] - fit(&without).predict(&Rows::from(x.row(i))).unwrap()[0];
            sum += weights[i] * miss * miss;
            total += weights[i];
        }
        assert!((fitted.leave_one_out_error.unwrap() - sum / total).abs() < 1e-10);
    }

    #[test]
    fn variances_are_those_of_a_gaussian_process() {
        // One row: K = 1, so the variance at distance t is s² (1 − k²/(1 + α)), s² = y²/(1 + α).
        let (x, y) = (ndarray::array![[0.0]], [3.0]);
        let params = KernelRidge::new().kernel(Kernel::Rbf).gamma(Some(1.0.into())).alpha(0.5);

        let fitted = fit(&params.clone().variance(true), &x, &y);

        let scale = 9.0 / 1.5;
        let at = ndarray::array![[0.0], [1.0], [9.0]];
        let found = fitted.variances(&Rows::from(&at)).unwrap().unwrap();
        for (t, found) in [0.0f64, 1.0, 9.0].iter().zip(found) {
            let k = (-t * t).exp();
            assert!((found - scale * (1.0 - k * k / 1.5)).abs() < 1e-12);
        }
        assert!(fitted.intervals(&Rows::from(&at), 0.9).unwrap().is_some());
        assert_eq!(fit(&params, &x, &y).variances(&Rows::from(&at)).unwrap(), None);
    }

    #[test]
    fn no_price_on_rows_that_repeat_is_solved_all_the_same() {
        let x = ndarray::array![[1.0], [1.0], [2.0]];
        let y = [1.0, 3.0, 4.0];

        let fitted = fit(&KernelRidge::new().alpha(0.0), &x, &y);

        // Least squares through the origin: Σxy / Σx² = 12 / 6.
        let found = fitted.predict(&Rows::from(&x)).unwrap();
        assert!(found.iter().zip([2.0, 2.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn without_the_matrix_it_is_the_same_function() {
        let (x, y) = rows(300, 3, 8);
        let weights: Vec<f64> = (0..300).map(|i| 0.5 + (i % 3) as f64).collect();
        let data = Dataset::regression(&x, &y).unwrap().weighted(&weights).unwrap();
        let params = KernelRidge::new().kernel(Kernel::Rbf).gamma(Some(0.3.into())).alpha(0.05);
        let fit = |solver| {
            let params = params.clone().solver(solver).n_landmarks(300).tol(1e-12);
            params.fit(&data, &Monitor::quiet()).unwrap()
        };
        let exact = fit(RidgeSolver::Cholesky).predict(&Rows::from(&x)).unwrap();

        for solver in [RidgeSolver::ConjugateGradient, RidgeSolver::Landmarks] {
            let fitted = fit(solver);

            let found = fitted.predict(&Rows::from(&x)).unwrap();
            for (a, b) in found.iter().zip(&exact) {
                assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{solver:?}: {a} {b}");
            }
            let residual = fitted.certificate.violation.as_ref().unwrap().value;
            assert!(residual < 1e-8, "{solver:?}: {residual}");
            assert!(fitted.certificate.to_string().contains("as asked"));
        }
    }

    #[test]
    fn a_factor_in_single_precision_leads_to_all_digits() {
        let (x, y) = rows(MAX_DOUBLE_ROWS + 50, 2, 12);
        let single = KernelRidge::new().kernel(Kernel::Rbf).gamma(Some(0.3.into())).alpha(0.5);
        let double = single.clone().leave_one_out_rows(MAX_DOUBLE_ROWS + 50);

        let (double, single) = (fit(&double, &x, &y), fit(&single, &x, &y));

        assert!(single.certificate.to_string().contains("single precision"));
        let way =
            |fitted: &Fitted<KernelRidgeModel>| fitted.certificate.plan.clone().unwrap().strategy;
        assert_eq!(way(&single), "a factor of the kernel matrix in single precision");
        assert_eq!(way(&double), "a factor of the kernel matrix in double precision");
        assert!(single.certificate.violation.as_ref().unwrap().value < 1e-11);
        assert!(single.leave_one_out_error.is_none() && double.leave_one_out_error.is_some());
        let (a, b) = (&single.expansion.coefficients, &double.expansion.coefficients);
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs().max(1.0)));
    }

    #[test]
    fn few_centers_come_near() {
        let (x, y) = rows(2000, 2, 9);
        let data = Dataset::regression(&x, &y).unwrap();
        let params = KernelRidge::new().kernel(Kernel::Rbf).gamma(Some(0.3.into())).alpha(1.0);
        let exact = params.fit(&data, &Monitor::quiet()).unwrap();
        let few = params.clone().solver(RidgeSolver::Landmarks).n_landmarks(60);

        let fitted = few.fit(&data, &Monitor::quiet()).unwrap();

        assert_eq!(fitted.expansion.n_vectors(), 60);
        let (a, b) =
            (fitted.predict(&Rows::from(&x)).unwrap(), exact.predict(&Rows::from(&x)).unwrap());
        let off = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 2000.0;
        assert!(off < 1e-3, "{off}");
    }

    #[test]
    fn many_rows_take_another_way_and_say_why() {
        let (x, y) = rows(400, 2, 10);
        let data = Dataset::regression(&x, &y).unwrap();
        let tight = Monitor::quiet().memory_limit(700_000);
        let params = KernelRidge::new().kernel(Kernel::Rbf);

        let fitted = params.fit(&data, &tight).unwrap();

        let told = fitted.certificate.to_string();
        assert!(told.contains("cg because a kernel matrix of 400 rows is too large"), "{told}");
        let plan = fitted.certificate.plan.clone().unwrap();
        // A quarter of the budget is room for 54 columns of 400 rows.
        assert!(plan.strategy.contains("without the matrix, 54 of its columns in front"), "{plan}");
        assert!(plan.bytes < 700_000 && plan.kernel_matrix_bytes == 8 * 400 * 400, "{plan}");
        let refused = params.variance(true).fit(&data, &tight).unwrap_err();
        assert!(matches!(refused, Error::Memory { .. }));
        let said = refused.to_string();
        // Sixteen bytes a pair of rows, and the rows.
        assert!(said.contains("a kernel matrix of 400 rows needs about 2.6 MB"), "{said}");
        assert!(said.contains("budget of 700 KB") && said.contains("`solver`"), "{said}");
    }

    #[test]
    fn several_numbers_are_learned_as_each_alone() {
        let (x, y) = rows(40, 2, 11);
        let other: Vec<f64> = y.iter().map(|y| y * y).collect();
        let both = Matrix::from_shape_fn((40, 2), |(i, k)| if k == 0 { y[i] } else { other[i] });
        for solver in
            [RidgeSolver::Cholesky, RidgeSolver::ConjugateGradient, RidgeSolver::Landmarks]
        {
            let params = KernelRidge::new().kernel(Kernel::Rbf).solver(solver).tol(1e-12);

            let many = params
                .fit(&Dataset::multi_output(&x, both.view()).unwrap(), &Monitor::quiet())
                .unwrap();

            let found = many.predict_many(&Rows::from(&x)).unwrap();
            for (k, y) in [&y, &other].into_iter().enumerate() {
                let alone = fit(&params, &x, y).predict(&Rows::from(&x)).unwrap();
                assert!(alone.iter().zip(found.column(k)).all(|(a, b)| (a - b).abs() < 1e-7));
            }
        }
    }

    #[test]
    fn who_runs_out_of_time_learns_from_the_first_rows() {
        let (x, y) = rows(600, 2, 3);
        let data = Dataset::regression(&x, &y).unwrap();
        let late = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let raise = |at: crate::model::Progress| {
            late.store(at.done >= 512, std::sync::atomic::Ordering::Relaxed);
        };
        let monitor =
            Monitor::quiet().on_progress(raise).cancelled_by(std::sync::Arc::clone(&late));
        let params = KernelRidge::new().kernel(Kernel::Rbf);

        let fitted = params.fit(&data, &monitor).unwrap();

        assert_eq!(fitted.certificate.stopped(), Some(Stop::Cancelled));
        assert_eq!(fitted.certificate.rows, 512);
        let first = params.fit(&data.slice(0..512), &Monitor::quiet()).unwrap();
        let (a, b) = (fitted.predict(&Rows::from(&x)).unwrap(), first.predict(&Rows::from(&x)));
        assert!(a.iter().zip(b.unwrap()).all(|(a, b)| (a - b).abs() < 1e-9));
        let none = Monitor::quiet().time_limit(Duration::ZERO);
        assert_eq!(params.fit(&data, &none).err(), Some(Error::Stopped));
    }
}
