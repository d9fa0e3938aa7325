//! Out-of-fold predictions: every row is predicted by a model whose preprocessing and fit did not see its fold.

use super::candidate::Candidate;
use crate::catalog::{AnyModel, Estimator};
use crate::data::{SelectedRows, Table};
use crate::error::{Error, Result};
use crate::evaluate::{Predictions, Split};
use crate::model::{Fitted, Monitor};
use crate::preprocess::{Encoded, Encoder, Features, Recipe};
use crate::train::target_scale::SharedFit;
use crate::train::{Task, Training};
use mercer_num::{Matrix, Rows};
use std::ops::Range;
use std::time::Instant;

/// The encoded rows of one fold.
pub(in crate::train) struct FoldRows {
    train: Encoded,
    test: Encoded,
    features: Features,
    recipe: Recipe,
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
        Ok(FoldRows { train, test: held_out, features, recipe: recipe.clone() })
    }

    /// The rows of one split, already encoded.
    pub fn of_split(
        rows: &Encoded,
        split: &Split,
        features: &Features,
        recipe: &Recipe,
    ) -> FoldRows {
        FoldRows {
            train: rows.select(&split.train),
            test: rows.select(&split.test),
            features: features.clone(),
            recipe: recipe.clone(),
        }
    }

    /// The memory of the encoded rows.
    pub fn n_bytes(&self) -> u64 {
        self.train.n_bytes() + self.test.n_bytes()
    }

    /// The training rows.
    pub fn train(&self) -> &Encoded {
        &self.train
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
        let shared = SharedFit::default();
        Ok(self.predict_shared(&candidate.estimator, task, shared, false, monitor)?.0)
    }

    /// The same by a fit that shares kernel values or an initial point with others, and the values of the decision
    /// function if they are requested. Also returns the model, in units of
    /// the standardized target, for later fits to start from.
    pub fn predict_shared(
        &self,
        estimator: &Estimator,
        task: Task<'_>,
        shared: SharedFit<'_>,
        with_decisions: bool,
        monitor: &Monitor<'_>,
    ) -> Result<(FoldPredictions, AnyModel)> {
        let start = Instant::now();
        let (mut fitted, scaling) = self.training(estimator, task).fit_standardized(
            &self.train,
            shared,
            &monitor.silent(),
        )?;
        if fitted.certificate.stopped().is_some() {
            return Err(Error::Stopped);
        }
        // Only the fits of kernel machines start from one another.
        let standardized = match (&fitted.model, scaling) {
            (AnyModel::Svr(_), Some(_)) => Some(fitted.model.clone()),
            _ => None,
        };
        if let Some(scaling) = scaling {
            fitted = scaling.undo(fitted);
        }
        let (fit_seconds, start) = (start.elapsed().as_secs_f64(), Instant::now());
        let predictions = predictions(&fitted, &self.test, task)?;
        let decisions = match fitted.as_model().decision_function().filter(|_| with_decisions) {
            Some(model) => Some(model.decisions(&self.test.rows())?),
            None => None,
        };
        let predictions = FoldPredictions {
            predictions,
            decisions,
            converged: fitted.certificate.status.is_converged(),
            fit_seconds,
            predict_seconds: start.elapsed().as_secs_f64(),
        };
        Ok((predictions, standardized.unwrap_or(fitted.model)))
    }

    /// Fits an estimator to the training rows.
    pub fn fit(
        &self,
        estimator: &Estimator,
        task: Task<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<AnyModel>> {
        let training = self.training(estimator, task);
        let (fitted, _) = training.fit_rows(&self.train, &monitor.silent())?;
        match fitted.certificate.stopped() {
            Some(_) => Err(Error::Stopped),
            None => Ok(fitted),
        }
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

    fn training<'t>(&self, estimator: &Estimator, task: Task<'t>) -> Training<'t> {
        Training {
            estimator: estimator.clone(),
            features: self.features.clone(),
            task,
            n_rows: None,
            n_folds: 0,
            seed: 0,
            recipe: self.recipe.clone(),
        }
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
    let weights = test.weights.clone();
    if let Task::Classification(classes) = task {
        let predicted = model.classifier().ok_or_else(unable)?.predict(&rows)?;
        let log_proba = model.probabilistic().map(|m| m.log_proba(&rows)).transpose()?;
        let (truth, n_classes) = (test.codes.clone(), classes.len());
        return Ok(Predictions::Classes { truth, predicted, log_proba, n_classes, weights });
    }
    let predicted = model.regressor().ok_or_else(unable)?.predict(&rows)?;
    Ok(Predictions::Regression { truth: test.targets.clone(), predicted, weights })
}

/// The sum of the variances of the columns, from at most a thousand rows.
pub(in crate::train) fn total_variance(rows: &Rows<'_>) -> f64 {
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
pub(in crate::train) struct FoldPredictions {
    pub predictions: Predictions,
    /// The values of the decision function, if they were requested and there is one.
    pub decisions: Option<Matrix>,
    pub converged: bool,
    pub fit_seconds: f64,
    pub predict_seconds: f64,
}

/// The predictions of the folds, one fold after the other, and the range of each fold; `None` without folds.
pub(in crate::train) fn join(
    folds: Vec<FoldPredictions>,
) -> Option<(Predictions, Vec<Range<usize>>)> {
    let (mut joined, mut ranges): (Option<Predictions>, Vec<Range<usize>>) = (None, Vec::new());
    for fold in folds {
        let first = ranges.last().map_or(0, |range| range.end);
        ranges.push(first..first + fold.predictions.n_rows());
        match &mut joined {
            Some(joined) => joined.append(fold.predictions),
            None => joined = Some(fold.predictions),
        }
    }
    Some((joined?, ranges))
}
