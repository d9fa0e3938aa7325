//! Logistic regression: the log odds of the classes are linear functions of the columns.
//!
//! `P(c | x) = exp(b_c + w_c·x) / Σ_k exp(b_k + w_k·x)`; for two classes only the second has weights, those of the first being
//! zero. The weights minimize
//!
//! `C Σᵢ sᵢ (−log P(cᵢ | xᵢ)) + ½ ‖w‖²`,
//!
//! or with the penalty `‖w‖₁`, a mix of both, or none; the intercepts are unpenalized. With the L2 penalty `½‖∇‖²` at any
//! weights with optimal intercepts is exactly the duality gap there.

use super::loss::hinge::MAX_PRIMAL_SPARSE_COLUMNS;
use super::loss::softmax::SoftmaxLoss;
use crate::data::ClassWeightParam;
use crate::data::design_matrix::DesignMatrix;
use crate::model::{Cached, Certificate, Status, check_predictions};
use crate::prelude::*;
use crate::solver::coordinate_descent;
use crate::solver::dual_coordinate_descent::logistic::{self, LogisticProblem};
use crate::solver::newton_cg::newton_cg;
use crate::solver::{StoppingRule, Termination};
use mercer_num::rows::Missing;
use std::time::Instant;

choice! {
    /// Penalty on the weights.
    pub enum Penalty {
        /// `½‖w‖²`.
        L2 = "l2",
        /// `‖w‖₁`: many weights become zero.
        L1 = "l1",
        /// `l1_ratio` times the L1 penalty plus `1 − l1_ratio` times the L2 penalty.
        ElasticNet = "elasticnet",
        /// No penalty.
        None = "none",
    }
}

params! {
    /// Logistic regression: the log odds of the classes are linear functions of the features.
    pub struct LogisticRegression {
        /// Penalty on the weights: `l2` (half the squared norm), `l1` (the sum of absolute values, which makes many weights
        /// zero), `elasticnet` (a mix of both, see `l1_ratio`) or `none`.
        penalty: Penalty = Penalty::L2, OneOf(Penalty::VALUES);
        /// Inverse regularization strength. Larger values fit the training rows more closely, smaller values shrink the
        /// weights.
        C: f64 = 1.0, Above(0.0);
        /// Fraction of the L1 penalty in `penalty=elasticnet`: 0 is `l2`, 1 is `l1`.
        l1_ratio: f64 = 0.5, Between(0.0, 1.0);
        ..FitIntercept;
        ..ClassWeightParam(AtLeast(0.0));
        /// Stop when the largest entry of the gradient of the penalized mean loss is at most `tol`.
        tol: f64 = 1e-4, Above(0.0);
        /// Maximum number of iterations.
        max_iter: usize = 1000, AtLeast(1.0);
    }
    formula = "min ½‖w‖² − C Σᵢ log P(yᵢ | xᵢ),  P(c | x) = exp(w_c·x + b_c) / Σₖ exp(wₖ·x + bₖ)";
    lecture = 10;
    attributes = [CLASS_COEF, CLASS_INTERCEPT, ITERATIONS];
    sklearn {
        positional: &["penalty"],
        extra: &[
            VERBOSE_LEVEL,
            N_JOBS,
            NO_RANDOM_STATE,
            LOGISTIC_SOLVER,
            LOGISTIC_DUAL,
            honored("intercept_scaling", "float", "1", INTERCEPT_SCALING),
        ],
        // A given `l1_ratio` must have an effect, as in scikit-learn, unless a penalty is given too: the default of the
        // penalty is therefore a value that users do not write.
        restated: &[
            restated(
                "penalty",
                "Literal[\"l2\", \"l1\", \"elasticnet\", \"none\", \"deprecated\"] | None",
                "\"deprecated\"",
                "`None` is `none`. The default of scikit-learn, `deprecated`, lets `l1_ratio` choose: 0 is `l2`, 1 is `l1`, values between are `elasticnet`.",
            ),
            restated("l1_ratio", "float | None", "0.0", "`None` is 0."),
        ],
        spellings: &[NO_PENALTY, default_if("penalty", "\"deprecated\""), spelled("l1_ratio", "None", "0.0")],
        translations: &[Translation::L1RatioChoosesPenalty],
    }
}

/// A linear function of the columns for the log odds of each class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogisticRegressionModel {
    /// The classes.
    pub classes: Classes,
    /// The weights, one row per class; for two classes one row, of the second class.
    pub coefficients: Matrix,
    /// The intercepts.
    pub intercepts: Vec<f64>,
    /// Iterations of the solver.
    pub n_iter: u64,
    #[serde(skip)]
    by_feature: Cached<Vec<f64>>,
}

impl Fit for LogisticRegression {
    type Model = LogisticRegressionModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<Self::Model>> {
        self.learn(None, data, monitor)
    }

    fn fit_from(
        &self,
        start: &LogisticRegressionModel,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        self.learn(Some(start), data, monitor)
    }
}

impl LogisticRegression {
    /// Fits from the weights of another model of the same shape, or from the class frequencies.
    fn learn(
        &self,
        start: Option<&LogisticRegressionModel>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<LogisticRegressionModel>> {
        let began = Instant::now();
        self.check()?;
        let mut problem = SoftmaxLoss::new(data, self, monitor)?;
        match start.filter(|model| model.fits(&problem)) {
            Some(model) => problem.start_at(&model.by_feature(problem.design.intercept)),
            None => problem.start_at_class_frequencies(),
        }
        // The intercepts are optimized at the end, which changes the gradient a little.
        let mut rule = StoppingRule {
            tolerance: 0.5 * self.tol,
            max_iterations: self.max_iter as u64,
            monitor,
        };
        let dual_epochs = if start.is_none() { warm_start(&mut problem, &rule) } else { 0 };
        rule.max_iterations -= dual_epochs;
        let end = match self.ratio() > 0.0 {
            true => coordinate_descent::minimize(&mut problem, &rule),
            false => newton_cg(&mut problem, &rule),
        };
        if self.ratio() == 0.0 {
            center_over_classes(&mut problem);
        }
        if end.stopped.is_some() && end.iterations + dual_epochs == 0 && start.is_none() {
            return Err(Error::Stopped);
        }
        let n_iter = dual_epochs + end.iterations;
        monitor.report(n_iter, Some(n_iter));
        let certificate = self.certificate(&mut problem, end, dual_epochs, monitor);
        let model = LogisticRegressionModel::of(&problem, n_iter);
        let certificate = certificate.rows(data.n_rows() as u64).iterations(n_iter).since(began);
        let certificate = match self.penalty == Penalty::None && separates(&model, data)? {
            true => without_optimum(certificate),
            false => certificate,
        };
        Ok(Fitted { model, certificate })
    }

    /// The fraction of the L1 penalty.
    pub(super) fn ratio(&self) -> f64 {
        match self.penalty {
            Penalty::L1 => 1.0,
            Penalty::ElasticNet => self.l1_ratio,
            Penalty::L2 | Penalty::None => 0.0,
        }
    }

    /// The duality gap and the gradient, computed anew from the weights and the rows.
    fn certificate(
        &self,
        problem: &mut SoftmaxLoss<'_>,
        end: Termination,
        dual_epochs: u64,
        monitor: &Monitor<'_>,
    ) -> Certificate {
        let gap = problem.duality_gap(monitor);
        let stopped = end.stopped.or_else(|| if gap.is_none() { monitor.stop() } else { None });
        // From the mean of the losses to their sum, as in the objective.
        let scale = match self.penalty {
            Penalty::None => problem.total,
            _ => self.C * problem.total,
        };
        let mut work = format!("{} Hessian products", end.products);
        if dual_epochs > 0 {
            work = format!("{dual_epochs} epochs of dual coordinate descent, {work}");
        }
        let Some(gap) = gap else {
            let note = "the objective was not computed before the stop";
            return Certificate::iterative(false, stopped).note(work).note(note);
        };
        Certificate::iterative(gap.kkt_violation <= self.tol, stopped)
            .objective("penalized log loss", scale * gap.primal)
            .dual(gap.lower_bound().map(|dual| scale * dual))
            .violation("largest entry of the mean gradient", gap.kkt_violation)
            .note(work)
    }
}

/// Whether every row of positive weight has its own class as the only one with the highest score. The likelihood then
/// grows with any multiple of the weights (Albert & Anderson 1984).
fn separates(model: &LogisticRegressionModel, data: &Dataset<'_>) -> Result<bool> {
    let (codes, _) = data.class_target()?;
    let scores = model.scores(data.rows())?;
    let is_separated = |i: usize| {
        let own = codes[i] as usize;
        let row = scores.row(i);
        row.iter().enumerate().all(|(c, score)| c == own || *score < row[own])
    };
    let counts = |i: &usize| data.weights().get(*i).is_none_or(|w| *w > 0.0);
    Ok((0..codes.len()).filter(counts).all(is_separated))
}

/// The certificate of a likelihood without a maximum: whatever the gradient is, the weights are not an optimum.
fn without_optimum(certificate: Certificate) -> Certificate {
    let status = match certificate.status {
        Status::Converged => Status::IterationLimit,
        status => status,
    };
    Certificate { status, ..certificate }.note(
        "the hyperplanes separate the classes: without a penalty no finite optimum exists, because the likelihood \
         grows with the norm of the weights; set `penalty` to `l2`",
    )
}

/// Subtracts from the weights of every feature, and from the intercepts, their mean over the classes. The probabilities
/// do not change, and the L2 penalty decreases; without a penalty this chooses one of many equal optima.
fn center_over_classes(problem: &mut SoftmaxLoss<'_>) {
    let m = problem.n_outputs;
    if m < 2 {
        return;
    }
    let mut weights = problem.weights().to_vec();
    for of_feature in weights.chunks_exact_mut(m) {
        let mean = of_feature.iter().sum::<f64>() / m as f64;
        of_feature.iter_mut().for_each(|w| *w -= mean);
    }
    problem.start_at(&weights);
}

/// Starts two classes of wide sparse rows with an L2 penalty by dual coordinate descent; returns the number of epochs.
fn warm_start(problem: &mut SoftmaxLoss<'_>, rule: &StoppingRule<'_>) -> u64 {
    let l2_only = problem.l2_penalty > 0.0 && problem.l1_penalty == 0.0;
    let wide = problem.design.is_sparse() && problem.design.width() > MAX_PRIMAL_SPARSE_COLUMNS;
    if problem.n_outputs > 1 || !l2_only || !wide {
        return 0;
    }
    let dual = LogisticProblem {
        design: &problem.design,
        class_indices: &problem.class_indices,
        row_weights: &problem.row_weights,
        l2_penalty: problem.l2_penalty,
        initial: problem.weights(),
    };
    let Some((epochs, weights)) = logistic::warm_start(&dual, rule) else { return 0 };
    problem.start_at(&weights);
    epochs
}

impl LogisticRegressionModel {
    fn of(problem: &SoftmaxLoss<'_>, n_iter: u64) -> LogisticRegressionModel {
        let (m, width) = (problem.n_outputs, problem.design.width());
        let (classes, observed) = (&problem.classes, &problem.observed);
        LogisticRegressionModel::from_weights(
            classes,
            observed,
            (m, width),
            problem.weights(),
            n_iter,
        )
    }

    /// The model of `m` weights per feature, intercepts last, of the observed classes.
    pub(super) fn from_weights(
        classes: &Classes,
        observed: &[u32],
        (m, width): (usize, usize),
        weights: &[f64],
        n_iter: u64,
    ) -> LogisticRegressionModel {
        let (weights, by_output) = weights.split_at(width * m);
        // The probabilities do not depend on what the intercepts have in common: let their mean be zero.
        let common = if m > 1 { by_output.iter().sum::<f64>() / m as f64 } else { 0.0 };
        let rows = outputs(classes.len());
        let mut coefficients = Matrix::zeros((rows, width));
        let mut intercepts = vec![f64::NEG_INFINITY; rows];
        for (position, code) in observed.iter().enumerate() {
            // The first of two classes is the reference of the second.
            let Some(k) = (position + m).checked_sub(observed.len()) else {
                if rows > 1 {
                    intercepts[*code as usize] = 0.0;
                }
                continue;
            };
            let row = if rows == 1 { 0 } else { *code as usize };
            intercepts[row] = by_output.get(k).map_or(0.0, |b| b - common);
            for j in 0..width {
                coefficients[[row, j]] = weights[j * m + k];
            }
        }
        let (classes, by_feature) = (classes.clone(), Cached::default());
        LogisticRegressionModel { classes, coefficients, intercepts, n_iter, by_feature }
    }

    /// The mean of models of the same classes and columns. A class without rows in one of the fits keeps the intercept −∞.
    pub(super) fn mean<'a>(
        models: impl Iterator<Item = &'a LogisticRegressionModel>,
    ) -> LogisticRegressionModel {
        let mut models = models.enumerate();
        let (_, mut mean) = match models.next() {
            Some((n, first)) => (n, first.clone()),
            None => unreachable!("there are at least two folds"),
        };
        for (n, model) in models {
            let fraction = 1.0 / (n as f64 + 1.0);
            mean.coefficients.zip_mut_with(&model.coefficients, |a, b| *a += fraction * (b - *a));
            for (a, b) in mean.intercepts.iter_mut().zip(&model.intercepts) {
                *a = if a.is_finite() && b.is_finite() {
                    *a + fraction * (b - *a)
                } else {
                    a.min(*b)
                };
            }
        }
        mean
    }

    /// Whether it has the same classes, all with rows, and the same columns.
    fn fits(&self, problem: &SoftmaxLoss<'_>) -> bool {
        self.classes == problem.classes
            && self.coefficients.dim() == (problem.n_outputs, problem.design.width())
            && self.intercepts.iter().all(|b| b.is_finite())
    }

    /// The weights feature by feature, the intercepts last.
    fn by_feature(&self, intercept: bool) -> Vec<f64> {
        let mut weights: Vec<f64> = self.coefficients.t().iter().copied().collect();
        if intercept {
            weights.extend(&self.intercepts);
        }
        weights
    }
}

/// Rows of weights for a number of classes.
fn outputs(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

/// The factor of the log odds in the score of each of two classes.
fn half_sign(class: usize) -> f64 {
    if class == 1 { 0.5 } else { -0.5 }
}

impl Check for LogisticRegressionModel {
    fn check(&self) -> Result<()> {
        let (m, width) = self.coefficients.dim();
        let fits = self.classes.len() >= 2
            && m == outputs(self.classes.len())
            && m == self.intercepts.len()
            && width >= 1
            && self.coefficients.iter().all(|w| w.is_finite())
            // A class without rows has the intercept −∞.
            && self.intercepts.iter().all(|b| *b < f64::INFINITY)
            && self.intercepts.iter().any(|b| b.is_finite());
        if fits {
            Ok(())
        } else {
            Err(Error::File("coefficients that no fit of a logistic regression can return".into()))
        }
    }
}

impl Classifier for LogisticRegressionModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.coefficients.ncols()
    }

    /// Log probabilities up to a constant; for two classes half the log odds, with both signs.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let m = self.intercepts.len();
        let mut scores = Matrix::zeros((x.n_rows(), m));
        let cells = scores.as_slice_mut().expect("a fresh matrix is contiguous");
        let weights = self.by_feature.get(|| self.by_feature(true));
        DesignMatrix::by_rows(x, true).scores(weights, m, cells);
        // A class without rows has the score −∞ for any row; other infinite scores come from bad cells.
        if cells.iter().any(|z| !z.is_finite()) {
            crate::data::check_cells(x, Missing::Refused)?;
            check_predictions(cells, &self.intercepts)?;
        }
        if m > 1 {
            return Ok(scores);
        }
        Ok(Matrix::from_shape_fn((x.n_rows(), 2), |(i, c)| half_sign(c) * scores[[i, 0]]))
    }
}

impl Probabilistic for LogisticRegressionModel {}

impl AdditiveScores for LogisticRegressionModel {
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.scores(&Rows::from(ndarray::ArrayView1::from(row)))?;
        let k = self.classes.len();
        // The single row of two classes counts for the second and against the first.
        let source =
            |c: usize| if self.intercepts.len() == k { (c, 1.0) } else { (0, half_sign(c)) };
        let starts = (0..k).map(|c| source(c).1 * self.intercepts[source(c).0]).collect();
        let terms = Matrix::from_shape_fn((row.len(), k), |(j, c)| {
            let (index, sign) = source(c);
            sign * self.coefficients[[index, j]] * row[j]
        });
        Ok((starts, terms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::SparseView;
    use mercer_num::random::Random;
    use ndarray::array;

    /// Rows around centers that overlap.
    fn rows(n: usize, width: usize, n_classes: usize, seed: u64) -> (Matrix, Vec<u32>) {
        let mut random = Random::new(seed);
        let y: Vec<u32> = (0..n).map(|i| (i % n_classes) as u32).collect();
        let x = Matrix::from_shape_fn((n, width), |(i, j)| {
            random.normal() * (1.0 + j as f64) + f64::from(y[i]) * (j % 3) as f64
        });
        (x, y)
    }

    fn classes(n: usize) -> Classes {
        Classes::new((0..n as i64).map(Label::Int).collect())
    }

    #[test]
    fn the_weight_of_two_points_meets_the_first_order_condition() {
        // One column, symmetric rows: b = 0 and w = 2C (1 − σ(w)) by the first-order condition.
        let x = array![[-1.0], [1.0]];
        let classes = classes(2);
        let data = Dataset::classes(&x, &[0, 1], &classes).unwrap();

        let fitted = LogisticRegression::new().tol(1e-12).fit(&data, &Monitor::quiet()).unwrap();

        let w = fitted.coefficients[[0, 0]];
        assert!((w - 2.0 / (1.0 + w.exp())).abs() < 1e-10, "{w}");
        assert!(fitted.intercepts[0].abs() < 1e-12);
    }

    #[test]
    fn separable_classes_without_a_penalty_have_no_optimum() {
        let x = array![[-2.0], [-1.0], [1.0], [3.0]];
        let classes = classes(2);
        let separable = Dataset::classes(&x, &[0, 0, 1, 1], &classes).unwrap();
        let overlapping = Dataset::classes(&x, &[0, 1, 0, 1], &classes).unwrap();
        let params = LogisticRegression::new().penalty(Penalty::None);

        let fitted = params.fit(&separable, &Monitor::quiet()).unwrap();

        let text = fitted.certificate.to_string();
        assert!(!fitted.certificate.status.is_converged(), "{text}");
        assert!(text.contains("no finite optimum exists") && text.contains("`l2`"), "{text}");
        for (params, data) in [(params, &overlapping), (LogisticRegression::new(), &separable)] {
            let certificate = params.fit(data, &Monitor::quiet()).unwrap().certificate;
            assert!(certificate.status.is_converged(), "{certificate}");
            assert!(!certificate.to_string().contains("finite optimum"));
        }
    }

    #[test]
    fn every_penalty_converges_with_a_small_duality_gap() {
        for n_classes in [2, 4] {
            let (x, y) = rows(300, 5, n_classes, 7);
            let classes = classes(n_classes);
            let data = Dataset::classes(&x, &y, &classes).unwrap();
            for penalty in [Penalty::L2, Penalty::L1, Penalty::ElasticNet, Penalty::None] {
                let params = LogisticRegression::new().penalty(penalty).tol(1e-9);

                let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

                let certificate = &fitted.certificate;
                let violation = certificate.violation.as_ref().unwrap().value;
                assert!(violation <= 1e-9, "{penalty:?} of {n_classes}: {violation}");
                assert!(certificate.status.is_converged(), "{penalty:?}");
                assert_eq!(certificate.dual.is_some(), penalty != Penalty::None);
                if let Some(bound) = certificate.dual {
                    let value = certificate.primal().unwrap();
                    let gap = (value - bound) / value;
                    assert!((-1e-9..1e-6).contains(&gap), "{penalty:?}: {gap}");
                }
            }
        }
    }

    #[test]
    fn a_large_l1_penalty_predicts_the_class_frequencies() {
        let (x, y) = rows(90, 4, 3, 3);
        let classes = classes(3);
        let data = Dataset::classes(&x, &y[..], &classes).unwrap();

        let fitted = LogisticRegression::new()
            .penalty(Penalty::L1)
            .C(1e-6)
            .tol(1e-10)
            .fit(&data, &Monitor::quiet())
            .unwrap();

        assert!(fitted.coefficients.iter().all(|w| *w == 0.0));
        let proba = fitted.log_proba(&Rows::from(&x)).unwrap();
        assert!(proba.iter().all(|p| (p.exp() - 1.0 / 3.0).abs() < 1e-9));
    }

    #[test]
    fn dense_and_sparse_rows_give_the_same_model() {
        let (mut x, y) = rows(200, 12, 3, 5);
        x.mapv_inplace(|v| if v.abs() < 2.0 { 0.0 } else { v });
        let classes = classes(3);
        let sparse = Sparse::csr_from_dense(x.view(), 0.0);
        for penalty in [Penalty::L2, Penalty::L1] {
            let params = LogisticRegression::new().penalty(penalty).tol(1e-10);
            let dense = Dataset::classes(&x, &y, &classes).unwrap();
            let csr = Dataset::classes(&sparse, &y, &classes).unwrap();

            let a = params.fit(&dense, &Monitor::quiet()).unwrap();
            let b = params.fit(&csr, &Monitor::quiet()).unwrap();

            for (a, b) in a.coefficients.iter().zip(&b.coefficients) {
                assert!((a - b).abs() < 1e-7, "{a} {b}");
            }
        }
    }

    #[test]
    fn a_warm_start_at_the_optimum_takes_at_most_one_iteration() {
        let (x, y) = rows(120, 3, 3, 9);
        let classes = classes(3);
        let data = Dataset::classes(&x, &y, &classes).unwrap();
        let params = LogisticRegression::new().tol(1e-8);
        let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

        let again = params.fit_from(&fitted.model, &data, &Monitor::quiet()).unwrap();

        assert!(again.model.n_iter <= 1, "{}", again.model.n_iter);
    }

    #[test]
    fn a_class_without_rows_has_probability_zero() {
        let (x, y) = rows(60, 2, 2, 1);
        let classes = classes(3);
        let data = Dataset::classes(&x, &y, &classes).unwrap();

        let fitted = LogisticRegression::new().fit(&data, &Monitor::quiet()).unwrap();

        fitted.model.check().unwrap();
        let proba = fitted.log_proba(&Rows::from(&x)).unwrap();
        assert!(proba.column(2).iter().all(|p| *p == f64::NEG_INFINITY));
        assert!(proba.column(0).iter().all(|p| p.is_finite()));
    }

    #[test]
    fn a_dual_warm_start_ends_at_the_optimum_of_newtons_method() {
        /// Sparse rows with two entries each; one in four is of the second class.
        fn fit(n_columns: usize, tol: f64) -> Fitted<LogisticRegressionModel> {
            let mut random = Random::new(5);
            let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
            let codes: Vec<u32> = (0..400).map(|i| u32::from(i % 4 == 0)).collect();
            for code in &codes {
                let common = (random.uniform() * 20.0) as i32 + 10 * *code as i32;
                let rare = 100 + (random.uniform() * 900.0) as i32;
                columns.extend([common, rare]);
                values.extend([1.0, random.uniform()]);
                offsets.push(columns.len());
            }
            let x = SparseView::try_new(n_columns, &offsets, &columns, &values).unwrap();
            let classes = Classes::from_names(["no", "yes"]);
            let data = Dataset::classes(Rows::Sparse(x), &codes, &classes).unwrap();
            LogisticRegression { tol, ..LogisticRegression::new() }
                .fit(&data, &Monitor::quiet())
                .unwrap()
        }

        let [by_dual, by_newton] = [MAX_PRIMAL_SPARSE_COLUMNS + 1, MAX_PRIMAL_SPARSE_COLUMNS]
            .map(|width| fit(width, 1e-9));
        let loose = fit(MAX_PRIMAL_SPARSE_COLUMNS + 1, 1e-3);

        let weights = |fitted: &Fitted<LogisticRegressionModel>| {
            let model = &fitted.model;
            model
                .coefficients
                .iter()
                .take(MAX_PRIMAL_SPARSE_COLUMNS)
                .chain(&model.intercepts)
                .copied()
                .collect::<Vec<_>>()
        };
        for (a, b) in weights(&by_dual).iter().zip(weights(&by_newton)) {
            assert!((a - b).abs() <= 1e-6, "{a} {b}");
        }
        for (a, b) in weights(&loose).iter().zip(weights(&by_newton)) {
            assert!((a - b).abs() <= 0.3, "{a} {b}");
        }
        let how = |fitted: &Fitted<_>| fitted.certificate.to_string();
        assert!(how(&loose).ends_with("epochs of dual coordinate descent, 0 Hessian products"));
        assert!(!how(&by_newton).contains("dual coordinate descent"));
        let violation = loose.certificate.violation.map(|violation| violation.value);
        assert!(violation.is_some_and(|violation| violation <= 1e-3));
    }
}
