//! Trains an estimator on a stream of tables and scores it by cross-validation.
//!
//! Estimators with sufficient statistics are fitted in one pass (`statistics.rs`), the others from all rows in
//! memory (`in_memory.rs`) or, if the rows do not fit, in passes over the stream: by rounds (`by_rounds.rs`), or online
//! in chunks (`out_of_core.rs`).

use super::cross_validate::HeldOutScores;
use super::{EmOptions, Task, Trained};
use crate::calibrate::{Conformal, Nonconformity};
use crate::catalog::{AnyModel, AnyStats, Estimator};
use crate::data::{Classes, Dataset, Stream};
use crate::error::Result;
use crate::evaluate::{Evaluation, Predictions, RegressionEvaluation};
use crate::model::{Fitted, Monitor, Shape};
use crate::preprocess::{Encoded, Features, Recipe};
use std::time::Instant;

/// The estimator, features and options of a training run.
#[derive(Clone, Debug)]
pub struct Training<'a> {
    /// The estimator.
    pub estimator: Estimator,
    /// The fitted preprocessing.
    pub features: Features,
    /// The task.
    pub task: Task<'a>,
    /// The number of rows, if known.
    pub n_rows: Option<u64>,
    /// The number of cross-validation folds; fewer than two skip the cross-validation.
    pub n_folds: usize,
    /// The seed of the random assignment of rows to folds.
    pub seed: u64,
    /// The recipe that the features were fitted by, so that they can be fitted again without each fold;
    /// `Recipe::default()` leaves the features of all folds as they are.
    pub recipe: Recipe,
}

/// The result of a training run.
pub struct Outcome {
    /// The model fitted to all rows.
    pub trained: Trained,
    /// Cross-validated scores of a classifier; `None` without folds or if the fit was stopped early.
    pub evaluation: Option<Evaluation>,
    /// Cross-validated scores of a regressor.
    pub regression: Option<RegressionEvaluation>,
    /// The mutual information of each feature and the class on held-out rows, in bits.
    pub mutual_information: Option<Vec<f64>>,
    /// The fraction of held-out rows that an outlier detector takes for outliers.
    pub outlier_fraction: Option<f64>,
}

impl Outcome {
    /// Replaces the scores by those of out-of-fold predictions, such as those of a comparison.
    pub fn set_scores(&mut self, predictions: &Predictions, classes: &Classes) {
        self.trained.conformal = Conformal::of(predictions);
        match predictions {
            Predictions::Classes { .. } => {
                self.evaluation = Evaluation::of_predictions(predictions, classes);
            }
            Predictions::Regression { truth, predicted, weights } => {
                let mut evaluation = RegressionEvaluation::default();
                evaluation.push_weighted(truth, predicted, weights);
                self.regression = Some(evaluation);
            }
        }
    }
}

/// Trains an estimator: from a stream if it has sufficient statistics, else from all rows in memory.
///
/// # Errors
/// The error of the stream or of the fit.
pub fn train<S: Stream>(
    training: Training<'_>,
    stream: &S,
    monitor: &Monitor<'_>,
) -> std::result::Result<Outcome, S::Error> {
    run(training, None, stream, None, monitor)
}

/// Semi-supervised training by expectation maximization: the rows of `stream` without a class and all rows of
/// `more` are unlabeled. Each fold is scored by a model whose EM iterations excluded the fold.
///
/// # Errors
/// The error of the stream or of the fit, or if the estimator has no likelihood.
pub fn train_semi_supervised<S: Stream>(
    training: Training<'_>,
    options: &EmOptions,
    stream: &S,
    more: Option<&S>,
    monitor: &Monitor<'_>,
) -> std::result::Result<Outcome, S::Error> {
    options.check(&training.estimator)?;
    run(training, Some(options), stream, more, monitor)
}

fn run<S: Stream>(
    training: Training<'_>,
    em: Option<&EmOptions>,
    stream: &S,
    more: Option<&S>,
    monitor: &Monitor<'_>,
) -> std::result::Result<Outcome, S::Error> {
    let start = Instant::now();
    if let Task::Classification(classes) = training.task {
        classes.check_several()?;
    }
    training.estimator.check()?;
    let has_statistics = training.estimator.no_rows().is_some();
    match em {
        _ if has_statistics => training.train_by_statistics(em, stream, more, start, monitor),
        None => training.train_in_memory(stream, start, monitor),
        Some(_) => Err(training.estimator.unable("learn from unlabeled rows").into()),
    }
}

impl Training<'_> {
    /// The shape of the rows.
    pub(super) fn shape(&self) -> Shape<'_> {
        Shape {
            classes: match self.task {
                Task::Classification(classes) => Some(classes),
                Task::Regression | Task::Unsupervised => None,
            },
            n_columns: self.features.n_features(),
            layout: self.features.layout(),
        }
    }

    pub(crate) fn dataset<'a>(&'a self, rows: &'a Encoded) -> Result<Dataset<'a>> {
        match self.task {
            Task::Classification(classes) => rows.dataset(classes),
            Task::Regression => rows.regression_dataset(),
            Task::Unsupervised => rows.unlabeled(),
        }
    }

    /// The outcome, from the model of all rows and the scores of the held-out rows.
    pub(crate) fn outcome(
        self,
        fitted: Fitted<AnyModel>,
        stats: Option<AnyStats>,
        scores: Option<HeldOutScores>,
    ) -> Outcome {
        let trained = Trained::new(self.estimator, self.features, fitted, stats);
        let mut outcome = Outcome {
            trained,
            evaluation: None,
            regression: None,
            mutual_information: None,
            outlier_fraction: None,
        };
        let Some(scores) = scores else { return outcome };
        let measure = match self.task {
            Task::Classification(_) => Some(Nonconformity::OneMinusProbability),
            Task::Regression => Some(Nonconformity::Residual),
            Task::Unsupervised => None,
        };
        outcome.trained.conformal =
            measure.and_then(|measure| scores.nonconformity.finish(measure));
        match self.task {
            Task::Classification(_) => {
                outcome.mutual_information = scores.information.bits();
                outcome.evaluation = Some(scores.classes).filter(|scores| scores.n_rows() > 0);
            }
            Task::Regression => {
                outcome.regression = Some(scores.regression).filter(|scores| scores.n_rows() > 0);
            }
            Task::Unsupervised => {
                let (n_outliers, n_rows) = scores.outliers;
                outcome.outlier_fraction = (n_rows > 0).then(|| n_outliers as f64 / n_rows as f64);
            }
        }
        outcome.trained.densities = Some(scores.densities).filter(|known| known.n_rows() > 0);
        outcome
    }
}
