//! Semi-supervised learning by expectation maximization (Dempster, Laird & Rubin, 1977).
//!
//! maximize `L = Σ log p(x, c)` over labeled rows `+ λ Σ log Σ_c p(x, c)` over unlabeled rows
//!
//! The E-step weights each unlabeled row by `λ P(c | x)` in every class `c`; the M-step fits the model to the weighted
//! statistics (for naive Bayes with `λ`: Nigam, McCallum, Thrun & Mitchell, 2000). With maximum-likelihood estimates
//! `L` never decreases; smoothing acts as a prior, and then `L` plus the log-prior never decreases. Any estimator with
//! a likelihood and sufficient statistics can be used.

use crate::catalog::{AnyModel, AnyStats, Capability, Estimator};
use crate::data::{Classes, Dataset};
use crate::error::{Error, Result};
use crate::model::{Certificate, Fitted, Monitor, Stop};
use mercer_num::special::log_sum_exp;
use mercer_num::{Matrix, Rows, parallel};
use std::time::Instant;

/// The options of expectation maximization over unlabeled rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmOptions {
    /// The weight `λ` of an unlabeled row relative to a labeled one. Smaller values rely more on the
    /// labels.
    pub weight: f64,
    /// Iterations end when the relative change of the mean log-likelihood is at most this.
    pub tolerance: f64,
    /// The maximum number of iterations.
    pub max_iterations: u64,
}

impl Default for EmOptions {
    fn default() -> Self {
        EmOptions { weight: 1.0, tolerance: 1e-6, max_iterations: 100 }
    }
}

impl EmOptions {
    /// Fits an estimator to labeled and unlabeled rows.
    ///
    /// ```
    /// use mercer::bayes::GaussianNb;
    /// use mercer::train::EmOptions;
    /// use mercer::prelude::*;
    /// let (x, more) = (ndarray::array![[0.0], [1.0], [8.0], [9.0]], ndarray::array![[0.5], [8.6]]);
    /// let classes = Classes::from_names(["low", "high"]);
    /// let labeled = Dataset::classes(&x, &[1, 1, 0, 0], &classes)?;
    /// let (fitted, _) = EmOptions::default().fit(
    ///     &GaussianNb::default().into(),
    ///     &labeled,
    ///     &Dataset::unlabeled(&more),
    ///     &Monitor::quiet(),
    /// )?;
    /// assert_eq!(fitted.certificate.rows, 6);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the estimator has no likelihood or does not learn by statistics, or the rows do not fit.
    pub fn fit(
        &self,
        estimator: &Estimator,
        labeled: &Dataset<'_>,
        unlabeled: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<(Fitted<AnyModel>, AnyStats)> {
        let start = Instant::now();
        self.check(estimator)?;
        if unlabeled.n_columns() != labeled.n_columns() && unlabeled.n_rows() > 0 {
            let (found, expected) = (unlabeled.n_columns(), labeled.n_columns());
            return Err(Error::Columns { found, expected });
        }
        let (_, classes) = labeled.class_target()?;
        let gathered = estimator.gather(labeled, monitor)?;
        let mut state = EmState::new(estimator, gathered.stats, gathered.rows, monitor)?;
        state.stopped = gathered.stopped.or(state.stopped);
        let chunk = estimator.chunk_rows(labeled.n_columns(), labeled.layout());
        let mut states = [Some(state)];
        iterate(self, estimator, &mut states, &monitor.silent(), |states| {
            let Some(Some(state)) = states.first() else { return Ok((Vec::new(), None)) };
            let sum = |data: &Dataset<'_>| {
                let leaf = |k: usize| {
                    let rows = k * chunk..((k + 1) * chunk).min(data.n_rows());
                    self.expect(estimator, &state.fitted.model, &data.slice(rows), classes)
                        .map_err(|e| e.after_rows(k * chunk))
                };
                let n = data.n_rows().div_ceil(chunk);
                parallel::reduce(n, leaf, ExpectedStatistics::merge, |_| monitor.stop().is_none())
            };
            let mut expected = sum(labeled)?.0.unwrap_or_default();
            expected.merge(&sum(unlabeled)?.0.unwrap_or_default())?;
            monitor.report(state.iterations + 1, Some(self.max_iterations));
            Ok::<_, Error>((vec![Some(expected)], monitor.stop()))
        })?;
        let [Some(state)] = states else { return Err(Error::NoRows) };
        let (mut fitted, stats) = state.finish();
        fitted.certificate.seconds = start.elapsed().as_secs_f64();
        Ok((fitted, stats))
    }

    /// Checks the options, and that the estimator has a likelihood and statistics.
    ///
    /// # Errors
    /// [`Error::Parameter`], [`Error::Unable`].
    pub fn check(&self, estimator: &Estimator) -> Result<()> {
        let refuse = |name: &str, found: f64, expected: &str| {
            let (found, expected) = (found.to_string(), expected.to_owned());
            Err(Error::Parameter { name: name.to_owned(), found, expected })
        };
        if !(self.weight.is_finite() && self.weight >= 0.0) {
            return refuse("weight", self.weight, "a finite number of at least 0");
        }
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return refuse("tolerance", self.tolerance, "a finite number of at least 0");
        }
        if self.max_iterations == 0 {
            return refuse("max_iterations", 0.0, "at least 1");
        }
        let card = estimator.card();
        if !(card.can(Capability::FactorizedLikelihood) || card.can(Capability::Generative)) {
            return Err(estimator.unable("learn from unlabeled rows: it has no likelihood"));
        }
        if estimator.no_rows().is_none() {
            return Err(
                estimator.unable("learn from unlabeled rows: it has no sufficient statistics")
            );
        }
        Ok(())
    }

    /// The E-step of some rows at a model: their log-likelihood and, if they are unlabeled, their statistics weighted by
    /// the posterior of every class.
    ///
    /// # Errors
    /// If the rows are not usable.
    pub(crate) fn expect(
        &self,
        estimator: &Estimator,
        model: &AnyModel,
        data: &Dataset<'_>,
        classes: &Classes,
    ) -> Result<ExpectedStatistics> {
        if data.n_rows() == 0 {
            return Ok(ExpectedStatistics::default());
        }
        let joint = log_joint(estimator, model, data.rows())?;
        let weights = data.weights();
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let mut expected = ExpectedStatistics::default();
        if let Ok((codes, _)) = data.class_target() {
            for (i, c) in codes.iter().enumerate().filter(|(i, _)| weight(*i) > 0.0) {
                expected.add(weight(i), joint[[i, *c as usize]]);
            }
            return Ok(expected);
        }
        let mut weights_by_class = joint;
        for (i, mut row) in weights_by_class.outer_iter_mut().enumerate() {
            let weight = self.weight * weight(i);
            let density = log_sum_exp(row.as_slice().unwrap_or_default());
            if weight > 0.0 {
                expected.add(weight, density);
            }
            // A row with zero likelihood in every class belongs to all classes equally.
            let uniform = 1.0 / row.len() as f64;
            let possible = density.is_finite();
            row.mapv_inplace(|p| weight * if possible { (p - density).exp() } else { uniform });
        }
        expected.rows = data.n_rows() as u64;
        expected.stats = self.weighted_statistics(estimator, data, &weights_by_class, classes)?;
        Ok(expected)
    }

    /// The statistics of rows weighted by class, with one column of `weights_by_class` per class.
    fn weighted_statistics(
        &self,
        estimator: &Estimator,
        data: &Dataset<'_>,
        weights_by_class: &Matrix,
        classes: &Classes,
    ) -> Result<Option<AnyStats>> {
        let Some(mut stats) = estimator.no_rows() else { return Ok(None) };
        for (c, column) in weights_by_class.columns().into_iter().enumerate() {
            let weights = column.to_vec();
            if weights.iter().all(|w| *w == 0.0) {
                continue;
            }
            let codes = vec![c as u32; weights.len()];
            let rows = Dataset::classes(data.rows().view(), &codes, classes)?.weighted(&weights)?;
            let rows = match data.columns() {
                [] => rows,
                columns => rows.with_descriptions(columns)?,
            };
            estimator.observe(&mut stats, &rows)?;
        }
        Ok(Some(stats))
    }
}

/// `log p(x, c)` of a model that has it.
fn log_joint(estimator: &Estimator, model: &AnyModel, rows: &Rows<'_>) -> Result<Matrix> {
    let able = model.as_model();
    match (able.generative(), able.factorized_likelihood()) {
        (Some(model), _) => model.log_joint(rows),
        (None, Some(model)) => model.scores(rows),
        (None, None) => Err(estimator.unable("learn from unlabeled rows")),
    }
}

/// The result of the E-step of some rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExpectedStatistics {
    /// The weighted statistics of the unlabeled rows; `None` if there are none.
    stats: Option<AnyStats>,
    log_likelihood: f64,
    weight: f64,
    /// The number of unlabeled rows.
    rows: u64,
}

impl ExpectedStatistics {
    fn add(&mut self, weight: f64, log_density: f64) {
        self.log_likelihood += weight * log_density;
        self.weight += weight;
    }

    pub(crate) fn merge(&mut self, other: &ExpectedStatistics) -> Result<()> {
        match (&mut self.stats, &other.stats) {
            (Some(mine), Some(theirs)) => mine.merge(theirs)?,
            (mine @ None, theirs) => *mine = theirs.clone(),
            (Some(_), None) => {}
        }
        self.log_likelihood += other.log_likelihood;
        self.weight += other.weight;
        self.rows += other.rows;
        Ok(())
    }
}

/// The state of expectation maximization for one model.
pub(crate) struct EmState {
    /// The statistics of the labeled rows.
    labeled: AnyStats,
    /// The number of labeled rows.
    rows: u64,
    /// The statistics of all rows in the last M-step.
    stats: AnyStats,
    pub(crate) fitted: Fitted<AnyModel>,
    iterations: u64,
    /// The mean log-likelihood of the model before the last M-step.
    mean: Option<f64>,
    /// The relative change of the mean log-likelihood in the last iteration.
    change: f64,
    converged: bool,
    pub(crate) stopped: Option<Stop>,
}

/// Alternates E-steps and M-steps until every state has converged. `expect` is the E-step: the expected statistics under
/// each state, and whether the pass over the rows was stopped. A state whose pass was stopped keeps its last model.
///
/// # Errors
/// The error of a step.
pub(crate) fn iterate<E: From<Error>>(
    options: &EmOptions,
    estimator: &Estimator,
    states: &mut [Option<EmState>],
    monitor: &Monitor<'_>,
    mut expect: impl FnMut(
        &[Option<EmState>],
    )
        -> std::result::Result<(Vec<Option<ExpectedStatistics>>, Option<Stop>), E>,
) -> std::result::Result<(), E> {
    while states.iter().flatten().any(|state| state.continues(options)) {
        let (expected, stopped) = expect(states)?;
        for (state, expected) in states.iter_mut().zip(expected) {
            let Some(state) = state.as_mut().filter(|state| state.continues(options)) else {
                continue;
            };
            match (stopped, expected) {
                (None, Some(expected)) => state.maximize(options, estimator, expected, monitor)?,
                (stop, _) => state.stopped = stop.or(Some(Stop::Cancelled)),
            }
        }
    }
    Ok(())
}

impl EmState {
    /// The state at the model of the labeled rows.
    ///
    /// # Errors
    /// If they are too few for a model.
    pub(crate) fn new(
        estimator: &Estimator,
        labeled: AnyStats,
        rows: u64,
        monitor: &Monitor<'_>,
    ) -> Result<EmState> {
        let fitted = estimator.finish_within(&labeled, rows, monitor)?;
        Ok(EmState::at(fitted, labeled, rows))
    }

    /// The state at a model of the labeled rows that is fitted already.
    pub(crate) fn at(fitted: Fitted<AnyModel>, labeled: AnyStats, rows: u64) -> EmState {
        EmState {
            stats: labeled.clone(),
            labeled,
            rows,
            stopped: fitted.certificate.stopped(),
            fitted,
            iterations: 0,
            mean: None,
            change: f64::INFINITY,
            converged: false,
        }
    }

    pub(crate) fn continues(&self, options: &EmOptions) -> bool {
        !self.converged && self.stopped.is_none() && self.iterations < options.max_iterations
    }

    /// The M-step: fits the expected statistics, unless the log-likelihood has converged.
    ///
    /// # Errors
    /// If the statistics make no model.
    fn maximize(
        &mut self,
        options: &EmOptions,
        estimator: &Estimator,
        expected: ExpectedStatistics,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        self.iterations += 1;
        let mean = expected.log_likelihood / expected.weight;
        if let Some(before) = self.mean {
            let change = (mean - before).abs() / mean.abs().max(f64::MIN_POSITIVE);
            // NaN if both are infinite: then the change is unknown.
            self.change = if change.is_nan() { f64::INFINITY } else { change };
        }
        self.mean = Some(mean);
        let no_unlabeled_rows = expected.stats.is_none();
        if no_unlabeled_rows {
            self.change = 0.0;
        }
        if self.change <= options.tolerance || no_unlabeled_rows {
            self.converged = true;
            return Ok(());
        }
        let mut stats = self.labeled.clone();
        if let Some(more) = &expected.stats {
            stats.merge(more)?;
        }
        let fitted = estimator.finish_within(&stats, self.rows + expected.rows, monitor)?;
        self.stopped = fitted.certificate.stopped();
        if self.stopped.is_none() {
            (self.fitted, self.stats) = (fitted, stats);
        }
        Ok(())
    }

    /// The model with the certificate of its iterations, and the statistics it was made from.
    pub(crate) fn finish(self) -> (Fitted<AnyModel>, AnyStats) {
        let mut fitted = self.fitted;
        let Certificate { rows, seconds, .. } = fitted.certificate;
        let mut certificate = Certificate::iterative(self.converged, self.stopped)
            .note("expectation maximization over the unlabeled rows")
            .rows(rows)
            .iterations(self.iterations.max(1));
        certificate.seconds = seconds;
        if let Some(mean) = self.mean.filter(|mean| mean.is_finite()) {
            certificate = certificate.objective("mean log likelihood", mean);
        }
        if self.change.is_finite() {
            let name = "relative change of the log likelihood in the last iteration";
            certificate = certificate.violation(name, self.change);
        }
        fitted.certificate = certificate;
        (fitted, self.stats)
    }
}
