//! Rows without a class: expectation maximization.
//!
//! maximize `L = Σ log p(x, c)` over labeled rows `+ λ Σ log Σ_c p(x, c)` over the others
//!
//! A round lets every row without a class count in all of them, by `λ P(c | x)` in class `c`, and makes
//! the model again (Dempster, Laird & Rubin, 1977; for naive Bayes with `λ` Nigam and others, 2000). Plain
//! maximum likelihood never lets `L` fall; smoothing is a prior, and what then never falls is `L` with the
//! logarithm of that prior added. The rounds go through the summaries that learning with classes goes
//! through, so whatever learns by statistics and has a likelihood can do it.

use crate::catalog::{AnyModel, AnyStats, Capability, Estimator};
use crate::data::{Classes, Dataset};
use crate::error::{Error, Result};
use crate::model::{Certificate, Fitted, Monitor, Stop};
use mercer_num::special::log_sum_exp;
use mercer_num::{Matrix, Rows, parallel};
use std::time::Instant;

/// How rows without a class are learned from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmOptions {
    /// How much a row without a class counts beside one with a class. Smaller values trust the
    /// labels more.
    pub weight: f64,
    /// The rounds end when the likelihood changes by less than this share of itself.
    pub tolerance: f64,
    /// Rounds at most.
    pub max_iterations: u64,
}

impl Default for EmOptions {
    fn default() -> Self {
        EmOptions { weight: 1.0, tolerance: 1e-6, max_iterations: 100 }
    }
}

impl EmOptions {
    /// Learns from rows with classes and rows without.
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
        let mut climb = Climb::new(estimator, gathered.stats, gathered.rows, monitor)?;
        climb.stopped = gathered.stopped.or(climb.stopped);
        let chunk = estimator.chunk_rows(labeled.n_columns(), labeled.layout());
        while climb.goes_on(self) {
            let model = &climb.fitted.model;
            let sum = |data: &Dataset<'_>| {
                let leaf = |k: usize| {
                    let rows = k * chunk..((k + 1) * chunk).min(data.n_rows());
                    self.part(estimator, model, &data.slice(rows), classes)
                        .map_err(|e| e.after_rows(k * chunk))
                };
                let n = data.n_rows().div_ceil(chunk);
                parallel::reduce(n, leaf, Part::merge, |_| monitor.stop().is_none())
            };
            let mut part = sum(labeled)?.0.unwrap_or_default();
            part.merge(&sum(unlabeled)?.0.unwrap_or_default())?;
            // A round that was cut short is of no use.
            match monitor.stop() {
                Some(stop) => climb.stopped = Some(stop),
                None => climb.step(self, estimator, part, &monitor.silent())?,
            }
            monitor.report(climb.rounds, Some(self.max_iterations));
        }
        let (mut fitted, stats) = climb.finish();
        fitted.certificate.seconds = start.elapsed().as_secs_f64();
        Ok((fitted, stats))
    }

    /// Refuses numbers that make no sense, and estimators that cannot do it.
    ///
    /// # Errors
    /// [`Error::Parameter`], [`Error::Unable`].
    pub fn check(&self, estimator: &Estimator) -> Result<()> {
        let refuse = |name: &str, found: f64, expected: &str| {
            let (found, expected) = (found.to_string(), expected.to_owned());
            Err(Error::Parameter { name: name.to_owned(), found, expected })
        };
        if !(self.weight.is_finite() && self.weight >= 0.0) {
            return refuse("weight", self.weight, "a number of at least 0");
        }
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return refuse("tolerance", self.tolerance, "a number of at least 0");
        }
        if self.max_iterations == 0 {
            return refuse("max_iterations", 0.0, "at least 1");
        }
        let card = estimator.card();
        if !(card.can(Capability::FactorizedLikelihood) || card.can(Capability::Generative)) {
            return Err(estimator.unable("learn from rows without a class: it has no likelihood"));
        }
        if estimator.no_rows().is_none() {
            return Err(estimator.unable("learn from rows without a class: it keeps no statistics"));
        }
        Ok(())
    }

    /// What rows add to a round at a model: their likelihood, and where they have no class, a summary
    /// of them in all classes.
    ///
    /// # Errors
    /// If the rows are not usable.
    pub(crate) fn part(
        &self,
        estimator: &Estimator,
        model: &AnyModel,
        data: &Dataset<'_>,
        classes: &Classes,
    ) -> Result<Part> {
        if data.n_rows() == 0 {
            return Ok(Part::default());
        }
        let joint = log_joint(estimator, model, data.rows())?;
        let weights = data.weights();
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let mut part = Part::default();
        if let Ok((codes, _)) = data.class_target() {
            for (i, c) in codes.iter().enumerate().filter(|(i, _)| weight(*i) > 0.0) {
                part.add(weight(i), joint[[i, *c as usize]]);
            }
            return Ok(part);
        }
        let mut shares = joint;
        for (i, mut row) in shares.outer_iter_mut().enumerate() {
            let weight = self.weight * weight(i);
            let density = log_sum_exp(row.as_slice().unwrap_or_default());
            if weight > 0.0 {
                part.add(weight, density);
            }
            // A row that no class allows is of all of them alike.
            let even = 1.0 / row.len() as f64;
            let known = density.is_finite();
            row.mapv_inplace(|p| weight * if known { (p - density).exp() } else { even });
        }
        part.rows = data.n_rows() as u64;
        part.stats = self.weight_by_class(estimator, data, &shares, classes)?;
        Ok(part)
    }

    /// The summary of rows that count in each class by its column of `shares`.
    fn weight_by_class(
        &self,
        estimator: &Estimator,
        data: &Dataset<'_>,
        shares: &Matrix,
        classes: &Classes,
    ) -> Result<Option<AnyStats>> {
        let Some(mut stats) = estimator.no_rows() else { return Ok(None) };
        for (c, column) in shares.columns().into_iter().enumerate() {
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
        (None, None) => Err(estimator.unable("learn from rows without a class")),
    }
}

/// What some rows add to a round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// The rows without a class, in all of them; `None` where there were none.
    stats: Option<AnyStats>,
    log_likelihood: f64,
    weight: f64,
    /// Rows without a class.
    pub(crate) rows: u64,
}

impl Part {
    fn add(&mut self, weight: f64, log_density: f64) {
        self.log_likelihood += weight * log_density;
        self.weight += weight;
    }

    pub(crate) fn merge(&mut self, other: &Part) -> Result<()> {
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

/// The rounds of one model.
pub(crate) struct Climb {
    /// The rows with a class.
    labeled: AnyStats,
    rows: u64,
    /// All rows, as the last round counted them.
    stats: AnyStats,
    pub(crate) fitted: Fitted<AnyModel>,
    rounds: u64,
    /// The likelihood of the model before the last step, by row.
    mean: Option<f64>,
    change: f64,
    done: bool,
    pub(crate) stopped: Option<Stop>,
}

impl Climb {
    /// At the model of the rows with a class.
    ///
    /// # Errors
    /// If they are too few for a model.
    pub(crate) fn new(
        estimator: &Estimator,
        labeled: AnyStats,
        rows: u64,
        monitor: &Monitor<'_>,
    ) -> Result<Climb> {
        let fitted = estimator.finish_within(&labeled, rows, monitor)?;
        Ok(Climb::at(fitted, labeled, rows))
    }

    /// The same where that model is there already.
    pub(crate) fn at(fitted: Fitted<AnyModel>, labeled: AnyStats, rows: u64) -> Climb {
        Climb {
            stats: labeled.clone(),
            labeled,
            rows,
            stopped: fitted.certificate.stopped(),
            fitted,
            rounds: 0,
            mean: None,
            change: f64::INFINITY,
            done: false,
        }
    }

    pub(crate) fn goes_on(&self, how: &EmOptions) -> bool {
        !self.done && self.stopped.is_none() && self.rounds < how.max_iterations
    }

    /// Moves to the model of a round, unless the likelihood no longer changes.
    ///
    /// # Errors
    /// If the summary makes no model.
    pub(crate) fn step(
        &mut self,
        how: &EmOptions,
        estimator: &Estimator,
        part: Part,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        self.rounds += 1;
        let mean = part.log_likelihood / part.weight;
        if let Some(before) = self.mean {
            // Both infinite: nothing is known about the change.
            let change = (mean - before).abs() / mean.abs().max(f64::MIN_POSITIVE);
            self.change = if change.is_nan() { f64::INFINITY } else { change };
        }
        self.mean = Some(mean);
        let nothing_to_add = part.stats.is_none();
        if nothing_to_add {
            self.change = 0.0;
        }
        if self.change <= how.tolerance || nothing_to_add {
            self.done = true;
            return Ok(());
        }
        let mut stats = self.labeled.clone();
        if let Some(more) = &part.stats {
            stats.merge(more)?;
        }
        let fitted = estimator.finish_within(&stats, self.rows + part.rows, monitor)?;
        self.stopped = fitted.certificate.stopped();
        if self.stopped.is_none() {
            (self.fitted, self.stats) = (fitted, stats);
        }
        Ok(())
    }

    /// The model with the proof of its rounds, and the summary it was made from.
    pub(crate) fn finish(self) -> (Fitted<AnyModel>, AnyStats) {
        let mut fitted = self.fitted;
        let Certificate { rows, seconds, .. } = fitted.certificate;
        let mut certificate = Certificate::iterative(self.done, self.stopped)
            .note("expectation maximization over the unlabeled rows")
            .rows(rows)
            .iterations(self.rounds.max(1));
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
