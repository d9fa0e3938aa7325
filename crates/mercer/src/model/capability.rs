//! The traits of fitted models: what a model can compute besides holding its parameters.
//!
//! Every trait here has a [`Capability`](crate::catalog::Capability) of the same name on the estimator's card, and a
//! method of [`Model`] that returns it at run time.

use crate::data::{Classes, check_storage};
use crate::error::{Error, Result};
use crate::evaluate::Summary;
use crate::explain::{ClassMeans, Domain, SupportExplanation, Terms};
use crate::model::finite::check_not_nan;
use mercer_num::parallel;
use mercer_num::parallel::prelude::*;
use mercer_num::random::Random;
use mercer_num::special::{argmax, log_normalize, log_sum_exp};
use mercer_num::{Matrix, Rows, Sparse};
use ndarray::Array2;
use serde::Serialize;

/// Predicts one of several classes.
pub trait Classifier: Send + Sync {
    /// The classes in code order.
    fn classes(&self) -> &Classes;

    /// Number of feature columns.
    fn n_columns(&self) -> usize;

    /// Class scores, one row per row of `x` and one column per class; the largest score is predicted.
    ///
    /// # Errors
    /// If the number of columns differs or a cell is infinite.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix>;

    /// The code of the predicted class of each row; ties go to the first class.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        let scores = self.scores(x)?;
        check_scores(&scores)?;
        Ok(most_probable(&scores, self.log_prior_fallback().as_deref()))
    }

    /// The log class probabilities of a row with likelihood zero in every class, whose scores are all `−∞`: the
    /// priors, because such a row carries no information about its class. `None` for models without such rows.
    fn log_prior_fallback(&self) -> Option<Vec<f64>> {
        None
    }

    /// The mean row of each class, if the model stores class means.
    fn class_means(&self) -> Option<ClassMeans> {
        None
    }

    /// Refuses rows with another number of columns than the model, and sparse rows stored by columns.
    ///
    /// # Errors
    /// [`Error::Columns`], [`Error::ByColumns`].
    fn check_columns(&self, x: &Rows<'_>) -> Result<()> {
        check_storage(x)?;
        let (found, expected) = (x.n_columns(), self.n_columns());
        if found == expected { Ok(()) } else { Err(Error::Columns { found, expected }) }
    }
}

/// Refuses scores that are NaN; `−∞` is a class without a chance.
///
/// # Errors
/// [`Error::Overflow`] with the first such row.
pub fn check_scores(scores: &Matrix) -> Result<()> {
    check_not_nan(scores.as_standard_layout().as_slice().unwrap_or_default(), scores.ncols())
}

/// The index of the largest score of each row; ties go to the first.
pub fn argmax_rows(scores: &Matrix) -> Vec<u32> {
    map_rows(scores, |row| argmax(row) as u32)
}

/// The most probable class of each row from joint log-likelihoods; ties go to the first. A row with likelihood zero in
/// every class gets the class of the largest `fallback`.
pub fn most_probable(scores: &Matrix, fallback: Option<&[f64]>) -> Vec<u32> {
    let Some(fallback) = fallback.map(|priors| argmax(priors) as u32) else {
        return argmax_rows(scores);
    };
    map_rows(scores, |row| if is_impossible(row) { fallback } else { argmax(row) as u32 })
}

/// Joint log-likelihoods normalized to `log P(class | row)`. A row with likelihood zero in every class gets the
/// `fallback`, or else equal probabilities.
pub fn log_posterior(mut scores: Matrix, fallback: Option<&[f64]>) -> Matrix {
    let width = scores.ncols().max(1);
    if let Some(cells) = scores.as_slice_mut() {
        cells.par_chunks_mut(ROWS_PER_TASK * width).for_each(|rows| {
            rows.chunks_exact_mut(width).for_each(|row| {
                normalize_row(row, fallback);
            });
        });
    }
    scores
}

/// As [`log_posterior`], for one row; returns `log p(row)`.
pub(crate) fn normalize_row(row: &mut [f64], fallback: Option<&[f64]>) -> f64 {
    match fallback {
        Some(priors) if is_impossible(row) => {
            row.copy_from_slice(priors);
            f64::NEG_INFINITY
        }
        _ => log_normalize(row),
    }
}

/// The number of rows with likelihood zero in every class.
pub fn n_impossible(scores: &Matrix) -> usize {
    map_rows(scores, is_impossible).into_iter().filter(|impossible| *impossible).count()
}

/// Whether all joint log-likelihoods of a row are `−∞`.
pub(crate) fn is_impossible(row: &[f64]) -> bool {
    row.iter().all(|score| *score == f64::NEG_INFINITY)
}

/// Rows of scores that one task normalizes or reduces.
const ROWS_PER_TASK: usize = 4096;

/// One value per row of scores, computed on all threads.
fn map_rows<T: Send>(scores: &Matrix, reduce: impl Fn(&[f64]) -> T + Sync + Send) -> Vec<T> {
    let width = scores.ncols().max(1);
    let cells = scores.as_standard_layout();
    let cells = cells.as_slice().unwrap_or_default();
    let reduce = &reduce;
    cells
        .par_chunks(ROWS_PER_TASK * width)
        .flat_map_collect(|rows| rows.chunks_exact(width).map(reduce))
}

/// Predicts class probabilities.
pub trait Probabilistic: Classifier {
    /// The log posterior `log P(class | row)`. The default normalizes the scores, which is right
    /// wherever scores are joint log-likelihoods.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn log_proba(&self, x: &Rows<'_>) -> Result<Matrix> {
        let log_proba = log_posterior(self.scores(x)?, self.log_prior_fallback().as_deref());
        check_scores(&log_proba)?;
        Ok(log_proba)
    }
}

/// Models the joint density of rows and classes: detects outliers and samples new rows.
pub trait Generative: Classifier {
    /// The marginal `log p(row)`: the joint log-likelihoods summed over the classes.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn log_density(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        Ok(map_rows(&self.log_joint(x)?, log_sum_exp))
    }

    /// The joint `log p(row, class)`. The default returns the scores; models whose scores leave out
    /// terms that all classes share override it.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn log_joint(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.scores(x)
    }

    /// Whether the posterior is the normalized joint; not if the scores weight the factors.
    fn scores_are_joint(&self) -> bool {
        true
    }

    /// New rows and their class codes: a class drawn from the priors, or the `given` one, then a row of that class.
    fn sample(&self, n: usize, given: Option<u32>, random: &mut Random) -> (Matrix, Vec<u32>);
}

/// A likelihood that factorizes over the columns: `p(row, class) = P(class) Πⱼ p(xⱼ | class)`, so that a
/// prediction is explained factor by factor.
pub trait FactorizedLikelihood: Classifier {
    /// `log P(class)`.
    fn log_priors(&self) -> &[f64];

    /// `log p(xⱼ | class)`: one row per column of the data, one column per class; zero where `xⱼ` is
    /// missing.
    ///
    /// # Errors
    /// If the number of columns differs.
    fn log_factors(&self, row: &[f64]) -> Result<Matrix>;

    /// Calls `visit(column, row, log p(xⱼ | class) of every class)` for the factors of many rows. The rows
    /// of one column come in order; factors equal to one may be left out.
    ///
    /// # Errors
    /// As [`FactorizedLikelihood::log_factors`].
    fn for_each_factor(
        &self,
        x: &Rows<'_>,
        visit: &mut dyn FnMut(usize, usize, &[f64]),
    ) -> Result<()> {
        for i in 0..x.n_rows() {
            let factors = self.log_factors(&x.row(i)).map_err(|e| e.after_rows(i))?;
            for (j, factors) in factors.outer_iter().enumerate() {
                visit(j, i, &factors.to_vec());
            }
        }
        Ok(())
    }

    /// The formula of the factor of a column and class with its numbers filled in.
    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String;

    /// The number of free parameters: of the priors, and of the likelihood of every column in every class. `None` if
    /// a likelihood has no fixed number of parameters, such as a kernel density estimate.
    fn n_parameters(&self) -> Option<u64> {
        let n_classes = self.classes().len() as u64;
        let columns = (0..self.n_columns()).map(|j| self.parameters_of_column(j));
        let per_class = columns.sum::<Option<u64>>()?;
        Some(n_classes - 1 + n_classes * per_class)
    }

    /// The number of free parameters of the likelihood of a column in one class.
    fn parameters_of_column(&self, column: usize) -> Option<u64> {
        match self.domain(column) {
            Domain::Categories(k) => Some((k as u64).saturating_sub(1)),
            Domain::Counts | Domain::NonNegative | Domain::Outcome => Some(1),
            Domain::Real => Some(2),
            // One probability per bin, which sum to one; the bins are shared by the classes.
            Domain::Steps(breaks) => Some((breaks.len() as u64).saturating_sub(2)),
            Domain::Grid(_) => None,
        }
    }

    /// The number of free parameters of the full joint table of the class and all columns, `m Πⱼ kⱼ − 1`, without any
    /// assumption of independence; infinity if it exceeds the largest float. `None` if a column is not discrete.
    fn n_joint_parameters(&self) -> Option<f64> {
        let states = |j: usize| match self.domain(j) {
            Domain::Categories(k) => Some(k as f64),
            // Present or absent.
            Domain::Outcome => Some(2.0),
            _ => None,
        };
        let cells = (0..self.n_columns()).map(states).product::<Option<f64>>()?;
        Some(self.classes().len() as f64 * cells - 1.0)
    }

    /// The set on which the distribution of a column is defined.
    fn domain(&self, _column: usize) -> Domain {
        Domain::Real
    }

    /// The parent column that, besides the class, the factor of a column is conditioned on.
    fn given(&self, _column: usize) -> Option<usize> {
        None
    }

    /// As [`FactorizedLikelihood::factor_formula`], for factors that depend on more than their own value.
    fn factor_formula_in(&self, column: usize, class: u32, row: &[f64]) -> String {
        self.factor_formula(column, class, row[column])
    }
}

/// Class scores that are a sum with one term per column, so that a prediction is explained term by term.
pub trait AdditiveScores: Classifier {
    /// The scores of a row as a sum: the score of each class before any column counts, and the term of
    /// each column, one row per column of the data and one column per class.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)>;

    /// The row whose scores are the intercepts, for models that are not linear and whose terms are integrated gradients
    /// from there.
    fn baseline(&self) -> Option<&[f64]> {
        None
    }

    /// Whether differences of scores are log-odds. Those of a margin classifier are decision values, whose scale has no
    /// meaning as a probability.
    fn scores_are_log_odds(&self) -> bool {
        true
    }
}

/// A kernel expansion over stored training rows (the support vectors), so that a prediction is explained
/// row by row.
pub trait SupportVectors: Send + Sync {
    /// The term of each support vector in the decision value of a row; of more than two classes, in
    /// the decision between the best and the second-best class.
    ///
    /// # Errors
    /// If the number of columns differs, a cell is not finite, or there are several targets.
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation>;
}

/// Discriminant analysis: a mean per class, and Mahalanobis distances to it.
pub trait Discriminant: AdditiveScores {
    /// Squared Mahalanobis distances, one row per row of `x` and one column per class.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn distances(&self, x: &Rows<'_>) -> Result<Matrix>;

    /// The names of quantities that follow from the model's fields and are not stored.
    fn derived_names(&self) -> &'static [&'static str];

    /// Such a quantity by name; a vector is one row.
    fn derived(&self, name: &str) -> Option<Matrix>;
}

/// Its hyperparameters were chosen by cross-validation.
pub trait CrossValidated: Send + Sync {
    /// The candidates and their scores.
    fn candidates(&self) -> Candidates;
}

/// The hyperparameter candidates of a cross-validated fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidates {
    /// The hyperparameters that differ.
    pub names: Vec<&'static str>,
    /// The score they were compared by; higher is better.
    pub score: &'static str,
    /// All candidates, in order.
    pub all: Vec<Candidate>,
}

/// One candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// Its hyperparameters.
    pub values: Vec<f64>,
    /// Its score on held-out rows.
    pub score: f64,
    /// The standard error of the score, where it is the mean over several folds.
    pub error: Option<f64>,
    /// Whether it was chosen.
    pub chosen: bool,
}

/// Validates the fields of a model; called on everything that comes from a file.
pub trait Check {
    /// Refuses fields that no fit could have produced.
    ///
    /// # Errors
    /// The first inconsistency found.
    fn check(&self) -> Result<()>;
}

/// The capabilities of a fitted model, queried at run time by the interfaces. Implemented by the catalog.
pub trait Model: Check + Send + Sync {
    /// As a classifier.
    fn classifier(&self) -> Option<&dyn Classifier> {
        None
    }

    /// As a classifier with probabilities.
    fn probabilistic(&self) -> Option<&dyn Probabilistic> {
        None
    }

    /// As a joint density.
    fn generative(&self) -> Option<&dyn Generative> {
        None
    }

    /// As a likelihood that factorizes over the columns.
    fn factorized_likelihood(&self) -> Option<&dyn FactorizedLikelihood> {
        None
    }

    /// As class scores with one term per column.
    fn additive_scores(&self) -> Option<&dyn AdditiveScores> {
        None
    }

    /// As class means with Mahalanobis distances.
    fn discriminant(&self) -> Option<&dyn Discriminant> {
        None
    }

    /// As a kernel expansion over stored rows.
    fn support_vectors(&self) -> Option<&dyn SupportVectors> {
        None
    }

    /// As a regressor.
    fn regressor(&self) -> Option<&dyn Regressor> {
        None
    }

    /// As a linear regression model.
    fn linear_model(&self) -> Option<&dyn LinearModel> {
        None
    }

    /// As an outlier detector.
    fn outlier_detector(&self) -> Option<&dyn OutlierDetector> {
        None
    }

    /// As a clustering.
    fn clusterer(&self) -> Option<&dyn Clusterer> {
        None
    }

    /// As a decision function.
    fn decision_function(&self) -> Option<&dyn DecisionFunction> {
        None
    }

    /// As the best of several cross-validated candidates.
    fn cross_validated(&self) -> Option<&dyn CrossValidated> {
        None
    }

    /// As a feature map.
    fn transformer(&self) -> Option<&dyn Transformer> {
        None
    }
}

/// Predicts real targets.
pub trait Regressor: Send + Sync {
    /// Number of feature columns.
    fn n_columns(&self) -> usize;

    /// One prediction per row, of the first target.
    ///
    /// # Errors
    /// If the number of columns differs or a cell is infinite.
    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>>;

    /// Number of targets; [`Regressor::predict`] returns the first.
    fn n_targets(&self) -> usize {
        1
    }

    /// Predictions of all targets, one column per target.
    ///
    /// # Errors
    /// As [`Regressor::predict`].
    fn predict_many(&self, x: &Rows<'_>) -> Result<Matrix> {
        let column = self.predict(x)?;
        Ok(Matrix::from_shape_fn((column.len(), 1), |(i, _)| column[i]))
    }

    /// Prediction intervals: for every row the bounds that contain its target with probability `level`;
    /// `None` for models without a predictive distribution.
    ///
    /// # Errors
    /// As [`Regressor::predict`].
    fn intervals(&self, _x: &Rows<'_>, _level: f64) -> Result<Option<Vec<(f64, f64)>>> {
        Ok(None)
    }
}

/// A regressor whose prediction is `intercept + Σⱼ wⱼ xⱼ`, so that it is explained term by term.
pub trait LinearModel: Regressor {
    /// The intercept, the coefficients and the column means.
    fn terms(&self) -> Terms<'_>;

    /// The coefficients with their standard errors, for models that have them.
    fn summary(&self, _names: &[String], _level: f64) -> Option<Summary> {
        None
    }
}

/// Detects outliers (novelties).
pub trait OutlierDetector: Send + Sync {
    /// Number of feature columns.
    fn n_columns(&self) -> usize;

    /// The decision value of each row: positive for inliers, negative for outliers.
    ///
    /// # Errors
    /// If the number of columns differs or a cell is not finite.
    fn inlier_scores(&self, x: &Rows<'_>) -> Result<Vec<f64>>;
}

/// Assigns rows to clusters.
pub trait Clusterer: Send + Sync {
    /// Number of feature columns.
    fn n_columns(&self) -> usize;

    /// Number of clusters.
    fn n_clusters(&self) -> usize;

    /// Squared distances to the cluster centers, one column per cluster.
    ///
    /// # Errors
    /// If the number of columns differs or a cell is not finite.
    fn distances(&self, x: &Rows<'_>) -> Result<Matrix>;

    /// The nearest cluster of every row; ties go to the first.
    ///
    /// # Errors
    /// As [`Clusterer::distances`].
    fn assign(&self, x: &Rows<'_>) -> Result<Vec<u32>>;
}

/// Has a decision function in scikit-learn's shape.
pub trait DecisionFunction: Send + Sync {
    /// Decision values, one row per row of `x`; a single column for two classes and for outlier
    /// detectors.
    ///
    /// # Errors
    /// If the number of columns differs or a cell is not finite.
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix>;
}

/// Maps rows to new features.
pub trait Transformer: Send + Sync {
    /// Number of feature columns it takes.
    fn n_inputs(&self) -> usize;

    /// Number of feature columns it returns.
    fn n_outputs(&self) -> usize;

    /// The transformed rows.
    ///
    /// # Errors
    /// If the number of columns differs or a cell is infinite.
    fn transform(&self, x: &Rows<'_>) -> Result<Matrix>;

    /// Approximate preimages of transformed rows; `None` for maps without an inverse.
    ///
    /// # Errors
    /// If the number of columns differs or a cell is not finite.
    fn inverse(&self, _new: &Rows<'_>) -> Result<Option<Matrix>> {
        Ok(None)
    }

    /// The transformed rows in single precision, for input in single precision.
    ///
    /// # Errors
    /// As [`Transformer::transform`].
    fn transform_f32(&self, x: &Rows<'_>) -> Result<Array2<f32>> {
        Ok(self.transform(x)?.mapv(|v| v as f32))
    }

    /// Writes the transformed rows, row-major, into allocated memory, so that a large result is written
    /// once.
    ///
    /// # Errors
    /// As [`Transformer::transform`].
    ///
    /// # Panics
    /// If `out` does not have one element per cell.
    fn transform_into(&self, x: &Rows<'_>, out: &mut [f64]) -> Result<()> {
        let rows = self.transform(x)?;
        parallel::copy(
            rows.as_standard_layout().as_slice().expect("standard layout is contiguous"),
            out,
        );
        Ok(())
    }

    /// As [`Transformer::transform_into`], in single precision.
    ///
    /// # Errors
    /// As [`Transformer::transform`].
    ///
    /// # Panics
    /// If `out` does not have one element per cell.
    fn transform_f32_into(&self, x: &Rows<'_>, out: &mut [f32]) -> Result<()> {
        let rows = self.transform_f32(x)?;
        parallel::copy(
            rows.as_standard_layout().as_slice().expect("standard layout is contiguous"),
            out,
        );
        Ok(())
    }

    /// The transformed rows in compressed sparse rows; `None` for maps whose output is dense.
    ///
    /// # Errors
    /// As [`Transformer::transform`].
    fn transform_sparse(&self, _x: &Rows<'_>) -> Result<Option<Sparse>> {
        Ok(None)
    }

    /// Names of the new features from the names of the input columns; `None` for numbered features.
    fn feature_names_out(&self, _inputs: &[String]) -> Option<Vec<String>> {
        None
    }
}
