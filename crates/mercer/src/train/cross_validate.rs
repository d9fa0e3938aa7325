//! Cross-validation: every row is scored by a model that was fitted without its fold.

use super::folds::{AssignedRows, Labels};
use super::training::Training;
use crate::calibrate::conformal::CollectedScores;
use crate::catalog::AnyModel;
use crate::data::{Classes, Stream};
use crate::decision::Densities;
use crate::error::Result;
use crate::evaluate::{Evaluation, Information, RegressionEvaluation};
use crate::model::{Fitted, Generative, Monitor, normalize_row};
use crate::preprocess::Encoded;
use mercer_num::parallel;
use mercer_num::{Matrix, Rows};
use ndarray::ArrayViewMut1;

/// The mutual information of features and classes is estimated from at most this many rows,
const MAX_INFORMATION_ROWS: u64 = 20_000;
/// and at most this many likelihood factors.
const MAX_INFORMATION_FACTORS: u64 = 100_000_000;

/// The scores of all held-out rows.
pub(crate) struct HeldOutScores {
    pub classes: Evaluation,
    pub regression: RegressionEvaluation,
    /// The number of rows that a detector takes for outliers, and the number of rows it scored.
    pub outliers: (u64, u64),
    pub information: Information,
    pub densities: Densities,
    /// How badly the predictions fit.
    pub nonconformity: CollectedScores,
}

impl HeldOutScores {
    pub fn new(classes: &Classes) -> HeldOutScores {
        HeldOutScores {
            classes: Evaluation::new(classes),
            regression: RegressionEvaluation::default(),
            outliers: (0, 0),
            information: Information::default(),
            densities: Densities::default(),
            nonconformity: CollectedScores::default(),
        }
    }

    /// Adds the scores of the next rows.
    pub fn merge(&mut self, batch: BatchScores) {
        self.classes.merge(&batch.classes);
        self.nonconformity.append(&batch.nonconformity);
        for (targets, predicted, weights) in batch.regression {
            self.regression.push_weighted(&targets, &predicted, &weights);
        }
        let n_outliers = batch.inlier_scores.iter().filter(|score| **score < 0.0).count();
        self.outliers.0 += n_outliers as u64;
        self.outliers.1 += batch.inlier_scores.len() as u64;
        self.information.merge(&batch.information);
        self.densities.merge(&batch.densities);
    }
}

/// The scores of the rows of one batch.
pub(crate) struct BatchScores {
    classes: Evaluation,
    /// Targets, predictions and sample weights, fold by fold.
    regression: Vec<(Vec<f64>, Vec<f64>, Vec<f64>)>,
    /// Decision values of an outlier detector, negative for outliers.
    inlier_scores: Vec<f64>,
    information: Information,
    densities: Densities,
    nonconformity: CollectedScores,
}

impl BatchScores {
    fn push_classes(&mut self, rows: &Encoded, log_proba: &Matrix) {
        self.classes.push_weighted(&rows.codes, log_proba, &rows.weights);
        self.nonconformity.push_classes(&rows.codes, |i, c| log_proba[[i, c]]);
    }
}

impl Training<'_> {
    /// Reads the stream again and scores every row by the model of the other folds; `None` if the time is up.
    pub(super) fn score_held_out<S: Stream>(
        &self,
        models: &[Option<Fitted<AnyModel>>],
        stream: &S,
        labels: Labels,
        monitor: &Monitor<'_>,
        n_rows: u64,
    ) -> std::result::Result<Option<HeldOutScores>, S::Error> {
        let classes = self.task.classes();
        let mut scores = HeldOutScores::new(&classes);
        let mut stopped = None;
        let factors = (self.features.n_features() * self.task.n_classes()).max(1) as u64;
        let information_rows = MAX_INFORMATION_ROWS.min(MAX_INFORMATION_FACTORS / factors).max(1);
        let stride = n_rows.div_ceil(information_rows).max(1) as usize;
        let table_rows = self.table_rows();
        self.each_group(stream, (labels, 1), monitor, &mut stopped, |group, first_row| {
            let scored = parallel::map(group.len(), |k| {
                let first = first_row as usize + k * table_rows;
                score_batch((&group[k], first), models, &classes, stride)
                    .map_err(|e| e.after_rows(first))
            })?;
            scored.into_iter().for_each(|batch| scores.merge(batch));
            Ok(())
        })?;
        Ok(stopped.is_none().then_some(scores))
    }
}

/// Scores the rows of each fold by the model of the other folds. `first` is the index of the first row; every
/// `stride`-th row enters the mutual information.
pub(crate) fn score_batch(
    (batch, first): (&AssignedRows, usize),
    models: &[Option<Fitted<AnyModel>>],
    classes: &Classes,
    stride: usize,
) -> Result<BatchScores> {
    let mut scores = BatchScores {
        classes: Evaluation::new(classes),
        regression: Vec::new(),
        inlier_scores: Vec::new(),
        information: Information::default(),
        densities: Densities::default(),
        nonconformity: CollectedScores::default(),
    };
    for (fold, fitted) in batch.folds.iter().zip(models) {
        let Some(fitted) = fitted else { continue };
        let part = batch.rows.select(fold);
        let rows = part.rows();
        let model = fitted.as_model();
        match (model.probabilistic(), model.generative()) {
            // Joint log-likelihoods give the posterior and the density at once.
            (Some(_), Some(generative))
                if model.factorized_likelihood().is_some() && generative.scores_are_joint() =>
            {
                let (log_proba, densities) = posterior_and_density(generative, &rows)?;
                scores.push_classes(&part, &log_proba);
                scores.densities.merge(&Densities::of(&densities));
            }
            (Some(probabilistic), generative) => {
                let log_proba = probabilistic.log_proba(&rows)?;
                scores.push_classes(&part, &log_proba);
                if let Some(generative) = generative {
                    scores.densities.merge(&Densities::of(&generative.log_density(&rows)?));
                }
            }
            (None, _) => {
                if let Some(classifier) = model.classifier() {
                    let predicted = classifier.predict(&rows)?;
                    scores.classes.push_predictions(&part.codes, &predicted, &part.weights);
                }
            }
        }
        if let Some(regressor) = model.regressor() {
            let predicted = regressor.predict(&rows)?;
            scores.nonconformity.push_residuals(&part.targets, &predicted);
            scores.regression.push((part.targets.clone(), predicted, part.weights.clone()));
        }
        if let Some(detector) = model.outlier_detector() {
            scores.inlier_scores.extend(detector.inlier_scores(&rows)?);
        }
        if let Some(factorized) = model.factorized_likelihood() {
            let sampled = |i: &usize| (first + fold[*i]).is_multiple_of(stride);
            let sample: Vec<usize> = (0..fold.len()).filter(sampled).collect();
            let sample = part.select(&sample);
            scores.information.push(factorized, &sample.rows(), &sample.codes)?;
        }
    }
    Ok(scores)
}

/// `log P(class | row)` and `log p(row)`.
fn posterior_and_density(model: &dyn Generative, rows: &Rows<'_>) -> Result<(Matrix, Vec<f64>)> {
    let (mut joint, fallback) = (model.log_joint(rows)?, model.log_prior_fallback());
    let normalize = |mut row: ArrayViewMut1<'_, f64>| {
        row.as_slice_mut().map_or(f64::NAN, |row| normalize_row(row, fallback.as_deref()))
    };
    let densities = joint.outer_iter_mut().map(normalize).collect();
    Ok((joint, densities))
}
