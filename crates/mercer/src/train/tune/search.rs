//! Grid search, random search and successive halving.

use super::fold_sets::{FoldSet, encode, fold_sets};
use super::grid::{Grid, GridValue, with_setting};
use super::leave_one_out::{Decomposition, alpha, is_closed_form};
use super::prune::hopeless;
use super::result::{TunedSetting, Tuning, TuningStanding, edges};
use super::shared::{Fits, FoldResults};
use crate::catalog::Estimator;
use crate::data::{Schema, Stream, Table};
use crate::error::{Error, Result};
use crate::evaluate::{Metric, Predictions, Split, Splitting};
use crate::model::{Monitor, Stop};
use crate::preprocess::{Encoded, Features, Recipe};
use crate::train::select::Candidate;
use crate::train::select::bias_correction::corrected_score;
use crate::train::select::halving::{
    EARLY_FOLDS, describe_splits, round_sizes, stratification_codes,
};
use crate::train::select::out_of_fold::{FoldPredictions, join, total_variance};
use crate::train::select::sample::{Sample, SplitColumns, check_rows, reading_schema, subset};
use crate::train::{ColumnSelection, Task};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Folds from which on hopeless settings are dropped after the first one.
const MIN_PRUNED_FOLDS: usize = 3;
/// Settings that stay after a round of successive halving: this fraction of them,
const KEPT_FRACTION: f64 = 0.34;
/// but at least so many.
const MIN_KEPT: usize = 3;

/// Which settings are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// All settings of the grid.
    Grid,
    /// So many settings drawn at random.
    Random(usize),
    /// All settings of the grid on few rows, the better third of them on more, and so on.
    Halving,
}

/// The options of a search.
#[derive(Clone, Debug)]
pub struct TuneOptions<'a> {
    /// Which settings are tried.
    pub search: Search,
    /// The metric.
    pub metric: Metric,
    /// The folds; `None` scores ridge and kernel ridge regression by leave-one-out in closed form, and others by five
    /// folds.
    pub splitting: Option<Splitting>,
    /// The seed of random settings, of samples and of the folds if none are given.
    pub seed: u64,
    /// The column whose rows of equal value stay in the same fold.
    pub group: Option<&'a str>,
    /// The column that orders the rows in time: a fold is predicted from earlier rows.
    pub time: Option<&'a str>,
    /// Do not fit settings to the other folds if they are far behind the best after the first one.
    pub prune: bool,
    /// The time for all fits; `None` ends with the last setting.
    pub budget: Option<Duration>,
    /// The columns that the user selected.
    pub columns: ColumnSelection<'a>,
    /// The column of the sample weights.
    pub weights: Option<&'a str>,
}

/// Scores the settings of an estimator by cross-validation on the rows of a stream. `base` has the hyperparameters and
/// the preprocessing that all settings share.
///
/// # Errors
/// An error of reading or preprocessing, or the first error of a fit if no setting could be fitted.
#[expect(clippy::too_many_arguments, reason = "the parts of a fit and the search")]
pub fn tune<S: Stream>(
    base: &Candidate,
    grid: &Grid,
    schema: &Schema,
    n_rows: u64,
    (target, task): (&str, Task<'_>),
    stream: &S,
    options: &TuneOptions<'_>,
    monitor: &Monitor<'_>,
) -> std::result::Result<Tuning, S::Error> {
    let start = Instant::now();
    let schema = reading_schema(schema, target, task);
    let sample = Sample::read(stream, &schema, n_rows, options.seed, monitor)?;
    let codes = stratification_codes(&sample.table, target, task);
    let splitting = options.splitting.clone().unwrap_or(Splitting::folds(5, options.seed));
    check_rows(codes.len(), splitting.n_folds)?;
    let (mut features, recipe) = base.plan(options.columns, &schema, target, &[])?;
    features.weights = options.weights.map(str::to_owned);
    let run = Run {
        base,
        grid,
        table: &sample.table,
        codes,
        split_by: SplitColumns::of(&sample.table, options.group, options.time)?,
        splitting,
        planned: (features, recipe),
        task,
        options,
        monitor: limited(monitor, options.budget),
    };
    let mut tuning = run.search()?;
    tuning.is_sample = sample.is_partial;
    tuning.seconds = start.elapsed().as_secs_f64();
    Ok(tuning)
}

/// The limits of the user and the budget of the search.
fn limited<'m>(monitor: &'m Monitor<'_>, budget: Option<Duration>) -> Monitor<'m> {
    match budget {
        Some(budget) => monitor.planned().time_limit_within(budget),
        None => monitor.planned(),
    }
}

struct Run<'r> {
    base: &'r Candidate,
    grid: &'r Grid,
    table: &'r Table,
    codes: Vec<u32>,
    split_by: SplitColumns,
    splitting: Splitting,
    planned: (Features, Recipe),
    task: Task<'r>,
    options: &'r TuneOptions<'r>,
    monitor: Monitor<'r>,
}

impl Run<'_> {
    fn search(&self) -> Result<Tuning> {
        let (grid, options) = (self.grid, self.options);
        let settings = match options.search {
            Search::Grid | Search::Halving => grid.settings(),
            Search::Random(n) => grid.random_settings(n, options.seed),
        };
        let all = self.fit_preprocessing(self.table)?;
        let mut tuned = self.candidates(&settings, &all)?;
        if let Some(closed) = self.leave_one_out(&mut tuned, &all)? {
            return self.finish(tuned, closed);
        }
        if options.search == Search::Halving {
            self.halve(&mut tuned)?;
        }
        let rows: Vec<usize> = (0..self.table.n_rows()).collect();
        let prune = options.prune && options.search != Search::Halving;
        self.score(&mut tuned, &rows, &self.splitting, prune)?;
        let words = describe_splits(&self.splitting, options.group, options.time);
        self.finish(tuned, words)
    }

    /// All rows, preprocessed by all of them: for kernel widths relative to the spread of the columns, and for closed
    /// forms.
    fn fit_preprocessing(&self, table: &Table) -> Result<Encoded> {
        let all: Vec<usize> = (0..table.n_rows()).collect();
        let stream = crate::data::SelectedRows { table, rows: &all };
        let (planned, recipe) = &self.planned;
        let features = planned.clone().fit(recipe, &stream, &self.monitor.silent())?;
        encode(table, &features, self.task)
    }

    fn candidates(
        &self,
        settings: &[Vec<(String, GridValue)>],
        all: &Encoded,
    ) -> Result<Vec<TunedSetting>> {
        let variance = total_variance(&all.rows());
        let tuned = |setting: &Vec<(String, GridValue)>| {
            let candidate = with_setting(self.base, setting, variance)?;
            let value = |name: &str, value: &GridValue| (name.to_owned(), value.resolved(variance));
            Ok(TunedSetting {
                settings: setting.iter().map(|(name, v)| value(name, v)).collect(),
                score: None,
                fold_scores: Vec::new(),
                standing: TuningStanding::Finished,
                converged: true,
                fit_seconds: 0.0,
                candidate,
                predictions: None,
            })
        };
        settings.iter().map(tuned).collect()
    }

    /// Scores ridge and kernel ridge regression by leave-one-out, unless folds were asked for; returns how the rows were
    /// split, in words.
    fn leave_one_out(&self, tuned: &mut [TunedSetting], all: &Encoded) -> Result<Option<String>> {
        let options = self.options;
        let by_folds =
            options.splitting.is_some() || options.group.is_some() || options.time.is_some();
        let closed = tuned.iter().all(|s| is_closed_form(&s.candidate.estimator, all));
        if by_folds || !closed || !matches!(self.task, Task::Regression) {
            return Ok(None);
        }
        let mut known: Vec<Decomposition> = Vec::new();
        for (done, setting) in tuned.iter_mut().enumerate() {
            if self.monitor.stop().is_some() {
                setting.standing = TuningStanding::OverBudget;
                continue;
            }
            let estimator = setting.candidate.estimator.clone();
            let start = Instant::now();
            let at = match known.iter().position(|d| d.is_of(&estimator, all)) {
                Some(at) => at,
                None => {
                    let n_bytes = 24 * (all.rows().n_rows() as u64).pow(2);
                    self.monitor.reserve("the eigenvectors of a kernel matrix", n_bytes)?;
                    let Some(new) = Decomposition::of(&estimator, all) else {
                        let why = "the kernel matrix or the cross-products are not finite";
                        setting.standing = TuningStanding::Failed(why.into());
                        continue;
                    };
                    // Only the settings with the same kernel need it, and these follow each other.
                    known.clear();
                    known.push(new);
                    0
                }
            };
            let predictions = known[at].predictions(alpha(&estimator));
            self.set_score(setting, predictions);
            setting.fit_seconds = start.elapsed().as_secs_f64();
            self.monitor.report(done as u64 + 1, Some(self.grid.n_settings() as u64));
        }
        Ok(Some("leave-one-out in closed form".into()))
    }

    fn set_score(&self, setting: &mut TunedSetting, predictions: Predictions) {
        let rows: Vec<usize> = (0..predictions.n_rows()).collect();
        setting.score = self.options.metric.score(&predictions, &rows);
        setting.predictions = Some(predictions);
        self.check_score(setting);
    }

    fn check_score(&self, setting: &mut TunedSetting) {
        let metric = self.options.metric;
        let reason = match setting.score {
            None => format!("{metric} needs probabilities"),
            Some(score) if !score.is_finite() => format!("{metric} is {score}"),
            Some(_) => return,
        };
        setting.score = None;
        setting.standing = TuningStanding::Failed(reason);
    }

    /// Drops settings in rounds on few rows.
    fn halve(&self, tuned: &mut [TunedSetting]) -> Result<()> {
        for n_rows in round_sizes(self.table.n_rows()) {
            if n_rows == self.table.n_rows() || self.monitor.stop().is_some() {
                break;
            }
            let rows = subset(&self.codes, self.task.n_classes(), n_rows, self.options.seed);
            let splitting = Splitting::folds(EARLY_FOLDS, self.options.seed);
            self.score(tuned, &rows, &splitting, false)?;
            let mut order: Vec<usize> = (0..tuned.len()).filter(|k| tuned[*k].is_alive()).collect();
            order.sort_by(|a, b| self.utility(&tuned[*b]).total_cmp(&self.utility(&tuned[*a])));
            let kept = ((KEPT_FRACTION * order.len() as f64).ceil() as usize).max(MIN_KEPT);
            for k in order.into_iter().skip(kept) {
                tuned[k].standing = TuningStanding::Pruned;
            }
        }
        Ok(())
    }

    fn utility(&self, setting: &TunedSetting) -> f64 {
        let sign = if self.options.metric.greater_is_better() { 1.0 } else { -1.0 };
        setting.score.map_or(f64::NEG_INFINITY, |score| sign * score)
    }

    /// Scores the settings that are left on some rows.
    fn score(
        &self,
        tuned: &mut [TunedSetting],
        rows: &[usize],
        splitting: &Splitting,
        prune: bool,
    ) -> Result<()> {
        let table = self.table.rows_at(rows)?;
        let codes: Vec<u32> = rows.iter().map(|i| self.codes[*i]).collect();
        let splits: Vec<Split> = self.split_by.splits(splitting, &codes, rows)?;
        let (planned, recipe) = &self.planned;
        let sets = fold_sets(&table, &splits, (planned, recipe), self.task, &self.monitor)?;
        let estimators: Vec<Estimator> =
            tuned.iter().map(|s| s.candidate.estimator.clone()).collect();
        let fits = Fits { recipe, task: self.task, with_decisions: false };
        let mut results: FoldResults =
            tuned.iter().map(|_| splits.iter().map(|_| None).collect()).collect();
        let alive: Vec<bool> = tuned.iter().map(TunedSetting::is_alive).collect();
        let run = |results: &mut FoldResults, wanted: &dyn Fn(usize, usize) -> bool| {
            let sets: &[FoldSet] = &sets;
            fits.run(sets, &estimators, wanted, results, &self.monitor);
        };
        // All settings on the first fold, so that a budget that ends early has seen each of them.
        run(&mut results, &|k, fold| alive[k] && fold == 0);
        let mut dropped = vec![false; tuned.len()];
        if prune && splits.len() >= MIN_PRUNED_FOLDS {
            let first = |folds: &Vec<Option<Result<FoldPredictions>>>| match &folds[0] {
                Some(Ok(fold)) => Some(fold.predictions.clone()),
                _ => None,
            };
            let first: Vec<Option<Predictions>> = results.iter().map(first).collect();
            let first: Vec<Option<&Predictions>> = first.iter().map(Option::as_ref).collect();
            dropped = hopeless(&first, self.options.metric, self.options.seed);
        }
        run(&mut results, &|k, fold| alive[k] && !dropped[k] && fold > 0);
        for (k, (setting, folds)) in tuned.iter_mut().zip(results).enumerate() {
            if alive[k] {
                self.record(setting, folds, dropped[k], splitting.n_repeats);
            }
        }
        Ok(())
    }

    /// Records the folds of a setting.
    fn record(
        &self,
        setting: &mut TunedSetting,
        folds: Vec<Option<Result<FoldPredictions>>>,
        is_dropped: bool,
        n_repeats: usize,
    ) {
        let n_folds = folds.len();
        let (mut done, mut error) = (Vec::new(), None);
        for fold in folds.into_iter().flatten() {
            match fold {
                Ok(fold) => done.push(fold),
                Err(why) => error = error.or(Some(why)),
            }
        }
        setting.fit_seconds += done.iter().map(|fold| fold.fit_seconds).sum::<f64>();
        setting.converged = done.iter().all(|fold| fold.converged);
        let is_complete = done.len() == n_folds;
        setting.standing = match &error {
            Some(Error::Stopped) => TuningStanding::OverBudget,
            Some(why) => TuningStanding::Failed(why.to_string()),
            None if is_dropped => TuningStanding::Pruned,
            None => TuningStanding::Finished,
        };
        (setting.score, setting.predictions) = (None, None);
        if matches!(setting.standing, TuningStanding::Failed(_)) {
            return;
        }
        let Some((joined, ranges)) = join(done) else { return };
        let metric = self.options.metric;
        let score =
            |range: std::ops::Range<usize>| metric.score(&joined, &range.collect::<Vec<_>>());
        setting.fold_scores = ranges.iter().cloned().filter_map(&score).collect();
        setting.score = score(0..joined.n_rows());
        let n_first = (n_folds / n_repeats.max(1)).max(1);
        let n_predicted = ranges.get(n_first - 1).map_or(joined.n_rows(), |range| range.end);
        setting.predictions = is_complete.then(|| joined.first(n_predicted));
        self.check_score(setting);
    }

    fn finish(&self, mut tuned: Vec<TunedSetting>, splitting: String) -> Result<Tuning> {
        if tuned.iter().all(|setting| setting.score.is_none()) {
            if self.monitor.stop() == Some(Stop::Cancelled) {
                return Err(Error::Stopped);
            }
            let failed = tuned.iter().find_map(|setting| match &setting.standing {
                TuningStanding::Failed(why) => Some(why.clone()),
                _ => None,
            });
            return Err(failed.map_or(Error::Stopped, |why| Error::Selection { why }));
        }
        // A setting that was scored on all folds comes before those that were not; of equal settings the first wins.
        let rank = |setting: &TunedSetting| match (&setting.standing, setting.score) {
            (TuningStanding::Finished, Some(_)) => 0,
            (_, Some(_)) => 1,
            (_, None) => 2,
        };
        tuned.sort_by(|a, b| {
            let by_score = self.utility(b).total_cmp(&self.utility(a));
            rank(a).cmp(&rank(b)).then(by_score)
        });
        let finished: Vec<&Predictions> =
            tuned.iter().filter_map(|s| s.predictions.as_ref()).collect();
        let n = finished.first().map_or(0, |p| p.n_rows());
        let comparable: Vec<&Predictions> =
            finished.into_iter().filter(|p| p.n_rows() == n).collect();
        let corrected = corrected_score(&comparable, self.options.metric, self.options.seed);
        let cut_short = tuned.iter().any(|s| s.standing == TuningStanding::OverBudget);
        Ok(Tuning {
            model: self.base.estimator.id().to_owned(),
            metric: self.options.metric,
            grid: self.grid.clone(),
            edges: edges(&tuned),
            settings: tuned,
            corrected,
            n_rows: self.table.n_rows(),
            is_sample: false,
            splitting,
            cut_short,
            seconds: 0.0,
        })
    }
}

impl TunedSetting {
    fn is_alive(&self) -> bool {
        self.standing == TuningStanding::Finished
    }

    /// The setting in words: `C=10 gamma=0.05`.
    pub fn name(&self) -> String {
        let word = |(name, value): &(String, Value)| match value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        };
        self.settings.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}
