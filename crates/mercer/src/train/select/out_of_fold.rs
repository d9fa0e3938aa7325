//! Out-of-fold predictions: every row is predicted by a model whose preprocessing and fit did not see its fold.

use super::candidate::Candidate;
use crate::catalog::{AnyModel, Estimator};
use crate::data::{SelectedRows, Table};
use crate::error::{Error, Result};
use crate::evaluate::Predictions;
use crate::model::{Fitted, Monitor};
use crate::preprocess::{Encoded, Encoder, Features, Recipe};
use crate::train::{Task, Training};
use mercer_num::{Matrix, Rows};
use std::time::Instant;

/// The encoded rows of one fold.
pub(super) struct FoldRows {
    train: Encoded,
    test: Encoded,
    features: Features,
    recipe: Recipe,
    /// The indices of the test rows in the table.
    rows: Vec<usize>,
}

impl FoldRows {
    /// Fits the preprocessing to the training rows and encodes both parts.
    pub fn encode(
        table: &Table,
        (train, test): (&[usize], &[usize]),
        (planned, recipe): (&Features, &Recipe),
        task: Task<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<FoldRows> {
        let fitted_to = SelectedRows { table, rows: train };
        let features = planned.clone().fit(recipe, &fitted_to, &monitor.silent())?;
        let train = encode(&features, &table.rows_at(train)?, task)?;
        let held_out = encode(&features, &table.rows_at(test)?, task)?;
        Ok(FoldRows {
            train,
            test: held_out,
            rows: test.to_vec(),
            features,
            recipe: recipe.clone(),
        })
    }

    /// The sum of the variances of the encoded columns, by which kernel widths are chosen.
    pub fn total_variance(&self) -> f64 {
        total_variance(&self.train.rows())
    }

    /// Fits a candidate and predicts the test rows.
    pub fn predict(
        &self,
        candidate: &Candidate,
        task: Task<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<FoldPredictions> {
        let start = Instant::now();
        let fitted = self.fit(&candidate.estimator, task, monitor)?;
        let (fit_seconds, start) = (start.elapsed().as_secs_f64(), Instant::now());
        let predictions = predictions(&fitted, &self.test, task)?;
        Ok(FoldPredictions {
            rows: self.rows.clone(),
            predictions,
            converged: fitted.certificate.status.is_converged(),
            fit_seconds,
            predict_seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Fits an estimator to the training rows.
    pub fn fit(
        &self,
        estimator: &Estimator,
        task: Task<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<AnyModel>> {
        let training = Training {
            estimator: estimator.clone(),
            features: self.features.clone(),
            task,
            n_rows: None,
            n_folds: 0,
            seed: 0,
            recipe: self.recipe.clone(),
        };
        let (fitted, _) = training.fit_rows(&self.train, &monitor.silent())?;
        if fitted.certificate.stopped().is_some() {
            return Err(Error::Stopped);
        }
        Ok(fitted)
    }

    /// The predictions of a model of this fold for the rows of a table.
    pub fn predict_table(
        &self,
        fitted: &Fitted<AnyModel>,
        table: &Table,
        task: Task<'_>,
    ) -> Result<Predictions> {
        predictions(fitted, &encode(&self.features, table, task)?, task)
    }
}

fn encode(features: &Features, table: &Table, task: Task<'_>) -> Result<Encoded> {
    let encoder = Encoder::new(features);
    match task {
        Task::Classification(classes) => encoder.encode(table, Some(classes)),
        Task::Regression => encoder.encode_regression(table),
        Task::Unsupervised => Err(Error::NoFeatures),
    }
}

fn predictions(fitted: &Fitted<AnyModel>, test: &Encoded, task: Task<'_>) -> Result<Predictions> {
    let rows = test.rows();
    let model = fitted.as_model();
    let unable = || Error::Unable {
        estimator: fitted.model.id().to_owned(),
        what: "predict the target".to_owned(),
    };
    if let Task::Classification(classes) = task {
        let predicted = model.classifier().ok_or_else(unable)?.predict(&rows)?;
        let log_proba = model.probabilistic().map(|m| m.log_proba(&rows)).transpose()?;
        let truth = test.codes.clone();
        return Ok(Predictions::Classes { truth, predicted, log_proba, n_classes: classes.len() });
    }
    let predicted = model.regressor().ok_or_else(unable)?.predict(&rows)?;
    Ok(Predictions::Regression { truth: test.targets.clone(), predicted })
}

/// The sum of the variances of the columns, from at most a thousand rows.
fn total_variance(rows: &Rows<'_>) -> f64 {
    let n = rows.n_rows().min(1000);
    let stride = rows.n_rows().div_ceil(n.max(1)).max(1);
    let (mut sums, mut squares, mut count) =
        (vec![0.0; rows.n_columns()], vec![0.0; rows.n_columns()], 0.0);
    for i in (0..rows.n_rows()).step_by(stride) {
        let row = rows.row(i);
        count += 1.0;
        for ((sum, square), x) in sums.iter_mut().zip(&mut squares).zip(&row) {
            *sum += x;
            *square += x * x;
        }
    }
    if count == 0.0 {
        return 0.0;
    }
    let variance = |(sum, square): (&f64, &f64)| (square / count - (sum / count).powi(2)).max(0.0);
    sums.iter().zip(&squares).map(variance).filter(|v| v.is_finite()).sum()
}

/// The predictions of one fold.
pub(super) struct FoldPredictions {
    pub rows: Vec<usize>,
    pub predictions: Predictions,
    pub converged: bool,
    pub fit_seconds: f64,
    pub predict_seconds: f64,
}

/// Joins the predictions of the folds in the order of the rows; `None` if a row has no prediction.
pub(super) fn join(folds: Vec<FoldPredictions>, n_rows: usize) -> Option<Predictions> {
    let first = folds.first()?;
    let n: usize = folds.iter().map(|fold| fold.rows.len()).sum();
    if n != n_rows {
        return None;
    }
    match &first.predictions {
        Predictions::Classes { n_classes, log_proba, .. } => {
            let n_classes = *n_classes;
            let (mut truths, mut predictions) = (vec![0; n_rows], vec![0; n_rows]);
            let mut joined = log_proba.as_ref().map(|_| Matrix::zeros((n_rows, n_classes)));
            for fold in &folds {
                let Predictions::Classes { truth, predicted, log_proba, .. } = &fold.predictions
                else {
                    return None;
                };
                for (k, i) in fold.rows.iter().enumerate() {
                    (truths[*i], predictions[*i]) = (truth[k], predicted[k]);
                    if let (Some(joined), Some(log_proba)) = (&mut joined, log_proba) {
                        joined.row_mut(*i).assign(&log_proba.row(k));
                    }
                }
            }
            Some(Predictions::Classes {
                truth: truths,
                predicted: predictions,
                log_proba: joined,
                n_classes,
            })
        }
        Predictions::Regression { .. } => {
            let (mut truths, mut predictions) = (vec![0.0; n_rows], vec![0.0; n_rows]);
            for fold in &folds {
                let Predictions::Regression { truth, predicted } = &fold.predictions else {
                    return None;
                };
                for (k, i) in fold.rows.iter().enumerate() {
                    (truths[*i], predictions[*i]) = (truth[k], predicted[k]);
                }
            }
            Some(Predictions::Regression { truth: truths, predicted: predictions })
        }
    }
}
