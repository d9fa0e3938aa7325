//! Logistic regression: log-odds that are a weighted sum of the columns.
//!
//! `P(c | x) = exp(b_c + w_c·x) / Σ_k exp(b_k + w_k·x)`; of two classes only the second has weights,
//! those of the first being zero. The weights minimize
//!
//! `C Σᵢ sᵢ (−log P(cᵢ | xᵢ)) + ½ ‖w‖²`
//!
//! or carry the price `‖w‖₁`, or a mix of both, or none; the constant terms are free. With a squared
//! price, `½‖∇‖²` at any weights whose constant terms are optimal is exactly the gap to the dual
//! problem's value there, so the gradient is the certificate.

use super::loss::softmax::SoftmaxLoss;
use crate::data::ClassWeightParam;
use crate::data::design_matrix::DesignMatrix;
use crate::model::{Cached, Certificate};
use crate::prelude::*;
use crate::solver::coordinate_descent;
use crate::solver::dual_coordinate_descent::logistic::approach;
use crate::solver::newton_cg::newton_cg;
use crate::solver::{StoppingRule, Termination};
use mercer_num::rows::Missing;
use std::time::Instant;

choice! {
    /// What large weights cost.
    pub enum Penalty {
        /// Half their squared length.
        L2 = "l2",
        /// The sum of their absolute values: many become zero.
        L1 = "l1",
        /// `l1_ratio` of the sum of absolute values, and the rest of half the squared length.
        ElasticNet = "elasticnet",
        /// Nothing.
        None = "none",
    }
}

params! {
    /// Logistic regression: log-odds that are a weighted sum of the columns.
    pub struct LogisticRegression {
        /// What large weights cost: half their squared length (`l2`), the sum of their absolute values
        /// (`l1`), a mix of both (`elasticnet`) or nothing (`none`).
        penalty: Penalty = Penalty::L2, OneOf(Penalty::WORDS);
        /// How much the rows count against the price on large weights. Smaller values keep them
        /// smaller.
        C: f64 = 1.0, Above(0.0);
        /// The share of the absolute values in the price `elasticnet`.
        l1_ratio: f64 = 0.5, Between(0.0, 1.0);
        ..FitIntercept;
        ..ClassWeightParam(AtLeast(0.0));
        /// The fit is done when no entry of the gradient of the mean loss, price included, is larger.
        tol: f64 = 1e-4, Above(0.0);
        /// Steps after which to stop in any case; the certificate then says so.
        max_iter: usize = 1000, AtLeast(1.0);
    }
}

/// The weights of the columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogisticRegressionModel {
    /// The classes.
    pub classes: Classes,
    /// The weights, one row a class; of two classes, the second's.
    pub coefficients: Matrix,
    /// The constant terms.
    pub intercepts: Vec<f64>,
    /// Steps the solver took.
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
    /// Learns, beginning at the weights of another model where there is one of the same shape.
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
            None => problem.start_at_odds(),
        }
        // The constant terms are made optimal at the end, which moves the gradient a little.
        let mut rule = StoppingRule {
            tolerance: 0.5 * self.tol,
            max_iterations: self.max_iter as u64,
            monitor,
        };
        let passes = if start.is_none() { approach(&mut problem, &rule) } else { 0 };
        rule.max_iterations -= passes;
        let ended = match self.penalty {
            Penalty::L1 | Penalty::ElasticNet => coordinate_descent::minimize(&mut problem, &rule),
            Penalty::L2 | Penalty::None => newton_cg(&mut problem, &rule),
        };
        if ended.stopped.is_some() && ended.iterations + passes == 0 && start.is_none() {
            return Err(Error::Stopped);
        }
        let rounds = passes + ended.iterations;
        monitor.report(rounds, Some(rounds));
        let certificate = self.certificate(&mut problem, ended, passes);
        let model = LogisticRegressionModel::of(&problem, rounds);
        let certificate = certificate.rows(data.n_rows() as u64).iterations(rounds).since(began);
        Ok(Fitted { model, certificate })
    }

    /// The share of absolute values in the price.
    pub(super) fn ratio(&self) -> f64 {
        match self.penalty {
            Penalty::L1 => 1.0,
            Penalty::ElasticNet => self.l1_ratio,
            Penalty::L2 | Penalty::None => 0.0,
        }
    }

    /// What is true of the weights, worked out from them and the rows alone.
    fn certificate(
        &self,
        problem: &mut SoftmaxLoss<'_>,
        ended: Termination,
        passes: u64,
    ) -> Certificate {
        let measured = problem.measure();
        // From the mean of the losses to their sum, as the objective is written.
        let scale = match self.penalty {
            Penalty::None => problem.total,
            _ => self.C * problem.total,
        };
        let mut how = format!("{} Hessian products", ended.products);
        if passes > 0 {
            how = format!("{passes} epochs of dual coordinate descent, {how}");
        }
        Certificate::iterative(measured.violation <= self.tol, ended.stopped)
            .objective("penalized log loss", scale * measured.value)
            .dual(measured.bound.map(|bound| scale * bound))
            .violation("largest entry of the mean gradient", measured.violation)
            .note(how)
    }
}

impl LogisticRegressionModel {
    fn of(problem: &SoftmaxLoss<'_>, n_iter: u64) -> LogisticRegressionModel {
        let (m, width) = (problem.m, problem.design.width());
        let (classes, present) = (&problem.classes, &problem.present);
        LogisticRegressionModel::from_weights(
            classes,
            present,
            (m, width),
            problem.weights(),
            n_iter,
        )
    }

    /// The model of `m` weights per feature, intercepts last, of the classes that have rows.
    pub(super) fn from_weights(
        classes: &Classes,
        present: &[u32],
        (m, width): (usize, usize),
        weights: &[f64],
        n_iter: u64,
    ) -> LogisticRegressionModel {
        let (weights, constants) = weights.split_at(width * m);
        // The probabilities do not depend on what the intercepts have in common: let their mean be zero.
        let common = if m > 1 { constants.iter().sum::<f64>() / m as f64 } else { 0.0 };
        let rows = outputs(classes.len());
        let mut coefficients = Matrix::zeros((rows, width));
        let mut intercepts = vec![f64::NEG_INFINITY; rows];
        for (position, code) in present.iter().enumerate() {
            // The first of two classes is the reference of the second.
            let Some(k) = (position + m).checked_sub(present.len()) else {
                if rows > 1 {
                    intercepts[*code as usize] = 0.0;
                }
                continue;
            };
            let row = if rows == 1 { 0 } else { *code as usize };
            intercepts[row] = constants.get(k).map_or(0.0, |b| b - common);
            for j in 0..width {
                coefficients[[row, j]] = weights[j * m + k];
            }
        }
        let (classes, by_feature) = (classes.clone(), Cached::default());
        LogisticRegressionModel { classes, coefficients, intercepts, n_iter, by_feature }
    }

    /// The mean of models about the same classes and columns; a class is as unlikely as the most unlikely.
    pub(super) fn mean<'a>(
        models: impl Iterator<Item = &'a LogisticRegressionModel>,
    ) -> LogisticRegressionModel {
        let mut models = models.enumerate();
        let (_, mut mean) = match models.next() {
            Some((n, first)) => (n, first.clone()),
            None => unreachable!("a mean of folds, of which there are at least two"),
        };
        for (n, model) in models {
            let share = 1.0 / (n as f64 + 1.0);
            mean.coefficients.zip_mut_with(&model.coefficients, |a, b| *a += share * (b - *a));
            for (a, b) in mean.intercepts.iter_mut().zip(&model.intercepts) {
                *a = if a.is_finite() && b.is_finite() { *a + share * (b - *a) } else { a.min(*b) };
            }
        }
        mean
    }

    /// Whether it is about the same classes, all of which have rows, and the same columns.
    fn fits(&self, problem: &SoftmaxLoss<'_>) -> bool {
        self.classes == problem.classes
            && self.coefficients.dim() == (problem.m, problem.design.width())
            && self.intercepts.iter().all(|b| b.is_finite())
    }

    /// The weights feature by feature, the constant terms last.
    fn by_feature(&self, intercept: bool) -> Vec<f64> {
        let mut weights: Vec<f64> = self.coefficients.t().iter().copied().collect();
        if intercept {
            weights.extend(&self.intercepts);
        }
        weights
    }
}

/// Rows of weights for so many classes.
fn outputs(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

/// What half of the log-odds each of two classes has.
fn side(class: usize) -> f64 {
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
            // Nothing is the log-odds of a class that no row had.
            && self.intercepts.iter().all(|b| *b < f64::INFINITY)
            && self.intercepts.iter().any(|b| b.is_finite());
        if fits { Ok(()) } else { Err(Error::File("weights that no fit could give".into())) }
    }
}

impl Classifier for LogisticRegressionModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.coefficients.ncols()
    }

    /// Log-probabilities up to a constant; of two classes, half the log-odds for one and against the
    /// other.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let m = self.intercepts.len();
        let mut scores = Matrix::zeros((x.n_rows(), m));
        let cells = scores.as_slice_mut().expect("a fresh matrix is contiguous");
        let weights = self.by_feature.get(|| self.by_feature(true));
        DesignMatrix::by_rows(x, true).scores(weights, m, cells);
        // A class without rows is infinitely unlikely whatever the cells are.
        if cells.iter().any(|z| !z.is_finite()) {
            crate::data::check_cells(x, Missing::Refused)?;
        }
        if m > 1 {
            return Ok(scores);
        }
        Ok(Matrix::from_shape_fn((x.n_rows(), 2), |(i, c)| side(c) * scores[[i, 0]]))
    }
}

impl Probabilistic for LogisticRegressionModel {}

impl AdditiveScores for LogisticRegressionModel {
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.scores(&Rows::from(ndarray::ArrayView1::from(row)))?;
        let k = self.classes.len();
        // The one row of two classes speaks for the second and against the first.
        let part = |c: usize| if self.intercepts.len() == k { (c, 1.0) } else { (0, side(c)) };
        let starts = (0..k).map(|c| part(c).1 * self.intercepts[part(c).0]).collect();
        let terms = Matrix::from_shape_fn((row.len(), k), |(j, c)| {
            let (place, sign) = part(c);
            sign * self.coefficients[[place, j]] * row[j]
        });
        Ok((starts, terms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn the_slope_of_two_points_on_a_line_is_where_the_gradient_is_zero() {
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
    fn every_price_ends_at_a_certified_optimum() {
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
    fn a_high_price_on_absolute_values_leaves_the_shares_alone() {
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
    fn dense_and_sparse_rows_give_one_model_of_many_columns() {
        let (mut x, y) = rows(200, 12, 3, 5);
        x.mapv_inplace(|v| if v.abs() < 2.0 { 0.0 } else { v });
        let classes = classes(3);
        let sparse = Sparse::csr_from_dense(x.view(), 0.0);
        for penalty in [Penalty::L2, Penalty::L1] {
            let params = LogisticRegression::new().penalty(penalty).tol(1e-10);
            let dense = Dataset::classes(&x, &y, &classes).unwrap();
            let thin = Dataset::classes(&sparse, &y, &classes).unwrap();

            let a = params.fit(&dense, &Monitor::quiet()).unwrap();
            let b = params.fit(&thin, &Monitor::quiet()).unwrap();

            for (a, b) in a.coefficients.iter().zip(&b.coefficients) {
                assert!((a - b).abs() < 1e-7, "{a} {b}");
            }
        }
    }

    #[test]
    fn a_warm_start_at_the_optimum_takes_no_step() {
        let (x, y) = rows(120, 3, 3, 9);
        let classes = classes(3);
        let data = Dataset::classes(&x, &y, &classes).unwrap();
        let params = LogisticRegression::new().tol(1e-8);
        let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

        let again = params.fit_from(&fitted.model, &data, &Monitor::quiet()).unwrap();

        assert!(again.model.n_iter <= 1, "{}", again.model.n_iter);
    }

    #[test]
    fn a_class_without_rows_is_never_the_answer() {
        let (x, y) = rows(60, 2, 2, 1);
        let classes = classes(3);
        let data = Dataset::classes(&x, &y, &classes).unwrap();

        let fitted = LogisticRegression::new().fit(&data, &Monitor::quiet()).unwrap();

        fitted.model.check().unwrap();
        let proba = fitted.log_proba(&Rows::from(&x)).unwrap();
        assert!(proba.column(2).iter().all(|p| *p == f64::NEG_INFINITY));
        assert!(proba.column(0).iter().all(|p| p.is_finite()));
    }
}
