//! The predictions of a table.

use super::unsupervised;
use crate::data::Table;
use crate::decision::{Action, DecisionRule, Risk};
use crate::error::Result;
use crate::model::{Classifier, Regressor, chunk_rows, log_posterior, most_probable, n_impossible};
use crate::train::Trained;
use mercer_num::{Matrix, Rows};
use ndarray::{Axis, Slice};
use std::ops::Range;

/// What to compute besides the prediction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PredictOptions {
    /// The posterior probability of every class.
    pub proba: bool,
    /// The log density of the row.
    pub density: bool,
    /// The coordinates along the discriminant axes.
    pub projection: bool,
    /// The decision values, in scikit-learn's shape.
    pub decision_values: bool,
    /// The bounds of a prediction interval with this coverage probability: the posterior predictive interval of
    /// estimators that have one, and a conformal interval of others.
    pub interval: Option<f64>,
    /// Whether the interval is conformal in any case.
    pub conformal: bool,
    /// The classes of a conformal prediction set with this coverage probability.
    pub sets: Option<f64>,
    /// Whether the log density is below this threshold: the row is an outlier.
    pub outlier_threshold: Option<f64>,
    /// How posterior probabilities become decisions; `None` predicts the most probable class.
    pub rule: Option<DecisionRule>,
}

/// The predictions of a table: one entry per row in everything that was requested.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// The prediction itself.
    pub predicted: Predicted,
    /// `P(class | row)`, adjusted to the priors of the decision rule; one column per class.
    pub proba: Option<Matrix>,
    /// The expected cost of each decision, if there is a decision rule.
    pub risk: Option<Vec<f64>>,
    /// `log p(row)`.
    pub log_density: Option<Vec<f64>>,
    /// The coordinates along the discriminant axes.
    pub projection: Option<Matrix>,
    /// The decision values.
    pub decision_values: Option<Matrix>,
    /// The bounds of the prediction intervals.
    pub intervals: Option<Vec<(f64, f64)>>,
    /// The class codes of the prediction sets.
    pub sets: Option<Vec<Vec<usize>>>,
    /// Whether each row is an outlier.
    pub outliers: Option<Vec<bool>>,
    /// The expected risk over all rows.
    pub total_risk: Risk,
    /// The number of cells with a category that the model does not know.
    pub n_unseen: u64,
    /// The number of tokens outside the vocabulary of the model.
    pub n_unknown_tokens: u64,
    /// The number of rows with likelihood zero in every class.
    pub n_impossible: usize,
}

/// The prediction of every row.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicted {
    /// Class codes; `None` if the row is rejected.
    Classes(Vec<Option<u32>>),
    /// Regression predictions.
    Values(Vec<f64>),
    /// Inlier scores: negative for outliers.
    InlierScores(Vec<f64>),
    /// The nearest cluster and the squared distance to its center.
    Clusters(Vec<(u32, f64)>),
    /// The features of a transformation.
    Transformed(Matrix),
}

impl PredictOptions {
    /// Refuses what the model cannot compute.
    ///
    /// # Errors
    /// [`Error::Unable`](crate::Error::Unable).
    pub fn check(&self, model: &Trained) -> Result<()> {
        let able = model.fitted.model.as_model();
        let estimator = &model.estimator;
        if self.proba && able.probabilistic().is_none() {
            return Err(estimator.unable("predict probabilities"));
        }
        if (self.density || self.outlier_threshold.is_some()) && able.generative().is_none() {
            return Err(estimator.unable("compute a density"));
        }
        if self.projection && (able.transformer().is_none() || able.classifier().is_none()) {
            return Err(estimator.unable("project rows on discriminant axes"));
        }
        if self.decision_values && able.decision_function().is_none() {
            return Err(estimator.unable("compute decision values"));
        }
        if self.interval.is_some() && able.regressor().is_none() {
            return Err(estimator.unable("predict an interval"));
        }
        match self.sets {
            Some(level) => check_sets(model, level),
            None => Ok(()),
        }
    }
}

impl Predictions {
    /// Predicts the rows of a table that was read with the schema of the model.
    ///
    /// # Errors
    /// If the model cannot compute an option, the columns do not fit, or a cell is refused.
    pub fn of(model: &Trained, table: &Table, options: &PredictOptions) -> Result<Predictions> {
        options.check(model)?;
        let encoded = model.features.encode(table, None)?;
        let mut predictions = Predictions::of_rows(model, &encoded.rows(), options)?;
        predictions.n_unseen = encoded.n_unseen;
        predictions.n_unknown_tokens = encoded.n_unknown_tokens;
        Ok(predictions)
    }

    fn of_rows(model: &Trained, rows: &Rows<'_>, options: &PredictOptions) -> Result<Predictions> {
        let able = model.fitted.model.as_model();
        let decision_values = match able.decision_function() {
            Some(function) if options.decision_values => Some(function.decisions(rows)?),
            _ => None,
        };
        let predictions = if let Some(regressor) = able.regressor() {
            let mut predictions =
                Predictions::new(Predicted::Values(Regressor::predict(regressor, rows)?));
            if let (Some(level), Predicted::Values(values)) =
                (options.interval, &predictions.predicted)
            {
                let found = intervals(model, regressor, rows, values, level, options.conformal)?;
                predictions.intervals = Some(found);
            }
            predictions
        } else if model.estimator.card().is_unsupervised() {
            Predictions::new(unsupervised::predicted(model, rows)?)
        } else {
            let classifier = able.classifier().ok_or_else(|| model.estimator.unable("predict"))?;
            classify(model, classifier, rows, options)?
        };
        Ok(Predictions { decision_values, ..predictions })
    }

    fn new(predicted: Predicted) -> Predictions {
        Predictions {
            predicted,
            proba: None,
            risk: None,
            log_density: None,
            projection: None,
            decision_values: None,
            intervals: None,
            sets: None,
            outliers: None,
            total_risk: Risk::default(),
            n_unseen: 0,
            n_unknown_tokens: 0,
            n_impossible: 0,
        }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        match &self.predicted {
            Predicted::Classes(all) => all.len(),
            Predicted::Values(all) | Predicted::InlierScores(all) => all.len(),
            Predicted::Clusters(all) => all.len(),
            Predicted::Transformed(all) => all.nrows(),
        }
    }

    /// As [`Predictions::of`], block by block, so that the encoded rows of a large table are never all in memory.
    ///
    /// # Errors
    /// As [`Predictions::of`].
    pub fn in_blocks(
        model: &Trained,
        mut table: Table,
        options: &PredictOptions,
    ) -> Result<Predictions> {
        let features = &model.features;
        let block = chunk_rows(features.n_features(), features.layout());
        if table.n_rows() <= block {
            return Predictions::of(model, &table, options);
        }
        let mut all: Option<Predictions> = None;
        while table.n_rows() > 0 {
            let n_done = all.as_ref().map_or(0, Predictions::n_rows);
            let some = table.take_front(block.min(table.n_rows()));
            let predicted =
                Predictions::of(model, &some, options).map_err(|e| e.after_rows(n_done))?;
            match &mut all {
                Some(all) => all.append(predicted),
                None => all = Some(predicted),
            }
        }
        all.map_or_else(|| Predictions::of(model, &table, options), Ok)
    }

    /// Appends the predictions of further rows under the same options.
    fn append(&mut self, other: Predictions) {
        fn extend<T>(all: &mut Option<Vec<T>>, more: Option<Vec<T>>) {
            if let (Some(all), Some(more)) = (all, more) {
                all.extend(more);
            }
        }
        fn stack(all: &mut Option<Matrix>, more: Option<Matrix>) {
            if let (Some(all), Some(more)) = (all, more) {
                push_rows(all, &more);
            }
        }
        match (&mut self.predicted, other.predicted) {
            (Predicted::Classes(all), Predicted::Classes(more)) => all.extend(more),
            (Predicted::Values(all), Predicted::Values(more))
            | (Predicted::InlierScores(all), Predicted::InlierScores(more)) => all.extend(more),
            (Predicted::Clusters(all), Predicted::Clusters(more)) => all.extend(more),
            (Predicted::Transformed(all), Predicted::Transformed(more)) => push_rows(all, &more),
            _ => unreachable!("one model has one kind of prediction"),
        }
        stack(&mut self.proba, other.proba);
        extend(&mut self.risk, other.risk);
        extend(&mut self.log_density, other.log_density);
        stack(&mut self.projection, other.projection);
        stack(&mut self.decision_values, other.decision_values);
        extend(&mut self.intervals, other.intervals);
        extend(&mut self.sets, other.sets);
        extend(&mut self.outliers, other.outliers);
        self.total_risk.merge(&other.total_risk);
        self.n_unseen += other.n_unseen;
        self.n_unknown_tokens += other.n_unknown_tokens;
        self.n_impossible += other.n_impossible;
    }

    /// The predictions of some rows, without the totals of the table.
    ///
    /// # Panics
    /// If the range exceeds the rows.
    pub fn rows(&self, range: Range<usize>) -> Predictions {
        let of =
            |matrix: &Matrix| matrix.slice_axis(Axis(0), Slice::from(range.clone())).to_owned();
        let predicted = match &self.predicted {
            Predicted::Classes(all) => Predicted::Classes(all[range.clone()].to_vec()),
            Predicted::Values(all) => Predicted::Values(all[range.clone()].to_vec()),
            Predicted::InlierScores(all) => Predicted::InlierScores(all[range.clone()].to_vec()),
            Predicted::Clusters(all) => Predicted::Clusters(all[range.clone()].to_vec()),
            Predicted::Transformed(all) => Predicted::Transformed(of(all)),
        };
        Predictions {
            proba: self.proba.as_ref().map(of),
            risk: self.risk.as_ref().map(|all| all[range.clone()].to_vec()),
            log_density: self.log_density.as_ref().map(|all| all[range.clone()].to_vec()),
            projection: self.projection.as_ref().map(of),
            decision_values: self.decision_values.as_ref().map(of),
            intervals: self.intervals.as_ref().map(|all| all[range.clone()].to_vec()),
            sets: self.sets.as_ref().map(|all| all[range.clone()].to_vec()),
            outliers: self.outliers.as_ref().map(|all| all[range.clone()].to_vec()),
            ..Predictions::new(predicted)
        }
    }
}

fn push_rows(all: &mut Matrix, more: &Matrix) {
    all.append(Axis(0), more.view()).expect("one model has one number of columns");
}

/// The prediction intervals: those of the estimator if it has any, else (or on request) conformal ones.
fn intervals(
    model: &Trained,
    regressor: &dyn Regressor,
    rows: &Rows<'_>,
    predicted: &[f64],
    level: f64,
    conformal: bool,
) -> Result<Vec<(f64, f64)>> {
    if !conformal && let Some(intervals) = regressor.intervals(rows, level)? {
        return Ok(intervals);
    }
    let unable = || {
        model.estimator.unable(
            "predict an interval: the model has no held-out residuals; train it with cross-validation (--folds of 2 \
             or more)",
        )
    };
    let (low, high) = model.conformal.as_ref().ok_or_else(unable)?.interval(level)?;
    Ok(predicted.iter().map(|y| (y + low, y + high)).collect())
}

/// Refuses prediction sets that the model has no held-out probabilities for.
fn check_sets(model: &Trained, level: f64) -> Result<()> {
    if model.fitted.model.as_model().probabilistic().is_none() {
        return Err(model.estimator.unable(
            "predict sets of classes: it has no probabilities (for an SVM, train it with --set probability=true)",
        ));
    }
    let unable = || {
        model.estimator.unable(
            "predict sets of classes: the model has no held-out probabilities; train it with cross-validation \
             (--folds of 2 or more)",
        )
    };
    model.conformal.as_ref().ok_or_else(unable)?.largest_score(level).map(drop)
}

fn classify(
    model: &Trained,
    classifier: &dyn Classifier,
    rows: &Rows<'_>,
    options: &PredictOptions,
) -> Result<Predictions> {
    let able = model.fitted.model.as_model();
    let posterior = options.proba || options.rule.is_some() || options.sets.is_some();
    let mut impossible = 0;
    let (codes, log_proba) = match classifier.log_prior_fallback() {
        // The scores are joint log-likelihoods: they give the class, the posterior and the impossible rows.
        Some(priors) => {
            let scores = classifier.scores(rows)?;
            impossible = n_impossible(&scores);
            let predicted = most_probable(&scores, Some(&priors));
            (predicted, posterior.then(|| log_posterior(scores, Some(&priors))))
        }
        None => {
            let log_proba = match able.probabilistic() {
                Some(model) if posterior => Some(model.log_proba(rows)?),
                _ => None,
            };
            (classifier.predict(rows)?, log_proba)
        }
    };
    let mut predictions =
        Predictions::new(Predicted::Classes(codes.into_iter().map(Some).collect()));
    predictions.n_impossible = impossible;
    if let (Some(level), Some(conformal), Some(log_proba)) =
        (options.sets, &model.conformal, &log_proba)
    {
        let set = |row: ndarray::ArrayView1<'_, f64>| conformal.set(&row.to_vec(), level);
        predictions.sets = Some(log_proba.outer_iter().map(set).collect::<Result<_>>()?);
    }
    match (&options.rule, log_proba) {
        (Some(rule), Some(log_proba)) => decide(rule, log_proba, &mut predictions)?,
        (None, Some(log_proba)) => predictions.proba = Some(log_proba.mapv_into(f64::exp)),
        (_, None) => {}
    }
    predictions.proba = predictions.proba.take().filter(|_| options.proba);
    if let Some(generative) = able.generative()
        && (options.density || options.outlier_threshold.is_some())
    {
        let densities = generative.log_density(rows)?;
        predictions.outliers = options
            .outlier_threshold
            .map(|least| densities.iter().map(|density| *density < least).collect());
        predictions.log_density = options.density.then_some(densities);
    }
    if let Some(map) = able.transformer()
        && options.projection
    {
        predictions.projection = Some(map.transform(rows)?);
    }
    Ok(predictions)
}

/// Replaces the most probable classes by the decisions of a rule.
fn decide(rule: &DecisionRule, mut log_proba: Matrix, predictions: &mut Predictions) -> Result<()> {
    let mut codes = Vec::with_capacity(log_proba.nrows());
    let mut risk = Vec::with_capacity(log_proba.nrows());
    for mut row in log_proba.outer_iter_mut() {
        let log_posterior = row.to_vec();
        let decision = rule.decide(&log_posterior)?;
        predictions.total_risk.push(&rule.costs, &decision, None);
        codes.push(match decision.action {
            Action::Class(c) => Some(c as u32),
            Action::Reject => None,
        });
        risk.push(decision.risk);
        let adjusted = rule.adjusted(&log_posterior)?;
        row.iter_mut().zip(adjusted).for_each(|(p, adjusted)| *p = adjusted.exp());
    }
    predictions.predicted = Predicted::Classes(codes);
    predictions.risk = Some(risk);
    predictions.proba = Some(log_proba);
    Ok(())
}
