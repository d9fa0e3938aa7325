//! Successive halving: all candidates are compared on few rows, the better ones again on more rows, and the finalists on
//! all rows, under a budget of time.

use super::candidate::Candidate;
use super::leaderboard::{Leaderboard, LeaderboardRow, Standing, order};
use super::out_of_fold::{FoldPredictions, FoldRows, join};
use super::sample::{Sample, SplitColumns, check_rows, reading_schema, subset};
use crate::catalog::Capability;
use crate::data::{Schema, Stream, Table, Values};
use crate::error::{Error, Result};
use crate::evaluate::{Metric, Predictions, Split, Splitting};
use crate::model::{Monitor, Stop};
use crate::preprocess::{Features, Recipe};
use crate::train::{ColumnSelection, Task};
use mercer_num::special::argmax;
use mercer_num::{Matrix, parallel};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Rows of the first round; a table of fewer rows has a single round.
const FIRST_ROUND_ROWS: usize = 2000;
/// The next round has so many times the rows.
const GROWTH: usize = 4;
/// Folds of the rounds before the last.
pub(in crate::train) const EARLY_FOLDS: usize = 3;
/// Candidates that stay after a round: this fraction of them,
const KEPT_FRACTION: f64 = 0.34;
/// but at least so many.
const MIN_KEPT: usize = 5;
/// The folds of up to so many rows are fitted at the same time.
const MAX_PARALLEL_ROWS: usize = 8000;

/// Folds of a portfolio for tables of more rows than this; fewer rows have as many as requested.
const MAX_ROWS_OF_MANY_FOLDS: u64 = 1000;
const FEW_FOLDS: usize = 5;

/// The time for the comparison of a portfolio, unless the user sets another. Most tables need a few seconds.
pub const DEFAULT_BUDGET: Duration = Duration::from_secs(60);

/// The folds of the comparison of a portfolio, given those requested.
pub fn portfolio_folds(n_rows: u64, n_folds: usize) -> usize {
    if n_rows > MAX_ROWS_OF_MANY_FOLDS { n_folds.min(FEW_FOLDS) } else { n_folds }
}

/// How candidates are compared.
#[derive(Clone, Debug)]
pub struct SelectionOptions<'a> {
    /// The metric.
    pub metric: Metric,
    /// The folds of the last round.
    pub splitting: Splitting,
    /// The column whose rows of equal value stay in the same fold.
    pub group: Option<&'a str>,
    /// The column that orders the rows in time: a fold is predicted from earlier rows.
    pub time: Option<&'a str>,
    /// The time for all candidates; `None` compares all of them to the end.
    pub budget: Option<Duration>,
    /// The columns that the user selected.
    pub columns: ColumnSelection<'a>,
    /// The column of the sample weights.
    pub weights: Option<&'a str>,
    /// Preprocessing steps that the user asked for.
    pub steps: &'a [String],
}

/// A round, for a progress report.
pub struct Round<'a> {
    /// Whether all candidates of the round are compared; a report follows every group of them.
    pub is_finished: bool,
    /// The number of rows.
    pub n_rows: usize,
    /// The number of folds.
    pub n_folds: usize,
    /// The candidates, the best first if the round is finished.
    pub rows: Vec<&'a LeaderboardRow>,
    /// The seconds since the start.
    pub seconds: f64,
}

/// Compares candidates on the rows of a stream and returns the leaderboard. `on_round` is called during and after every
/// round.
///
/// # Errors
/// An error of reading, or the first error of a fit if no candidate could be fitted.
#[expect(clippy::too_many_arguments, reason = "the parts of a fit and the report")]
pub fn select_model<S: Stream>(
    candidates: Vec<Candidate>,
    schema: &Schema,
    n_rows: u64,
    (target, task): (&str, Task<'_>),
    stream: &S,
    options: &SelectionOptions<'_>,
    monitor: &Monitor<'_>,
    on_round: &mut dyn FnMut(&Round<'_>),
) -> std::result::Result<Leaderboard, S::Error> {
    let reading = reading_schema(schema, target, task);
    let sample = Sample::read(stream, &reading, n_rows, options.splitting.seed, monitor)?;
    let on = (target, task);
    Ok(select_on_sample(candidates, schema, on, &sample, options, monitor, on_round)?)
}

/// As [`select_model`], on rows that are in memory.
///
/// # Errors
/// The first error of a fit if no candidate could be fitted, or if there are too few rows.
pub fn select_on_sample(
    candidates: Vec<Candidate>,
    schema: &Schema,
    (target, task): (&str, Task<'_>),
    sample: &Sample,
    options: &SelectionOptions<'_>,
    monitor: &Monitor<'_>,
    on_round: &mut dyn FnMut(&Round<'_>),
) -> Result<Leaderboard> {
    let start = Instant::now();
    let schema = reading_schema(schema, target, task);
    let codes = stratification_codes(&sample.table, target, task);
    check_rows(codes.len(), options.splitting.n_folds)?;
    let split_by = SplitColumns::of(&sample.table, options.group, options.time)?;
    let race = Race {
        table: &sample.table,
        codes: &codes,
        split_by,
        schema,
        target,
        task,
        options,
        monitor,
        start,
        deadline: options.budget.map(|budget| start + budget),
    };
    race.run(candidates, sample.is_partial, on_round)
}

/// The class of every row; zero for a regression.
pub(in crate::train) fn stratification_codes(
    table: &Table,
    target: &str,
    task: Task<'_>,
) -> Vec<u32> {
    match (task, table.column(target).map(|column| &column.values)) {
        (Task::Classification(classes), Some(Values::Categorical { codes, .. })) => {
            let last = classes.len().saturating_sub(1) as u32;
            codes.iter().map(|code| (*code).min(last)).collect()
        }
        _ => vec![0; table.n_rows()],
    }
}

struct Race<'r> {
    table: &'r Table,
    codes: &'r [u32],
    split_by: SplitColumns,
    schema: Schema,
    target: &'r str,
    task: Task<'r>,
    options: &'r SelectionOptions<'r>,
    monitor: &'r Monitor<'r>,
    start: Instant,
    deadline: Option<Instant>,
}

/// A candidate with what is known about it.
struct Entry {
    row: LeaderboardRow,
    planned: Option<(Features, Recipe)>,
    /// The seconds of its last round, with the number of rows and folds.
    cost: Option<(f64, usize, usize)>,
}

impl Race<'_> {
    fn run(
        &self,
        candidates: Vec<Candidate>,
        is_sample: bool,
        on_round: &mut dyn FnMut(&Round<'_>),
    ) -> Result<Leaderboard> {
        let mut entries: Vec<Entry> = candidates.into_iter().map(|c| self.enter(c)).collect();
        let n = self.table.n_rows();
        let (mut cut_short, mut held_out) = (false, Vec::new());
        for n_rows in round_sizes(n) {
            let last = n_rows == n;
            let seed = self.options.splitting.seed;
            let rows = subset(self.codes, self.task.n_classes(), n_rows, seed);
            let splitting = match last {
                true => self.options.splitting.clone(),
                false => Splitting::folds(EARLY_FOLDS, seed),
            };
            let codes: Vec<u32> = rows.iter().map(|i| self.codes[*i]).collect();
            let splits = self.split_by.splits(&splitting, &codes, &rows)?;
            if last {
                // Repeated folds predict a row several times; the first repeat is kept.
                let n_first = splits.len() / splitting.n_repeats.max(1);
                let first = splits.iter().take(n_first.max(1));
                held_out = first.flat_map(|split| split.test.iter().map(|i| rows[*i])).collect();
            }
            cut_short |= self.round(&mut entries, &rows, &splits, last, on_round);
            entries.sort_by(|a, b| order(&a.row, &b.row, self.options.metric));
            on_round(&self.report(&entries, n_rows, splits.len(), true));
            if self.monitor.stop().is_some() {
                cut_short = true;
                break;
            }
            if !last {
                drop_the_worst(&mut entries);
            }
        }
        self.finish(entries, held_out, is_sample, cut_short)
    }

    /// The state of a round.
    fn report<'e>(
        &self,
        entries: &'e [Entry],
        n_rows: usize,
        n_folds: usize,
        is_finished: bool,
    ) -> Round<'e> {
        Round {
            is_finished,
            n_rows,
            n_folds,
            rows: entries.iter().map(|entry| &entry.row).collect(),
            seconds: self.start.elapsed().as_secs_f64(),
        }
    }

    fn enter(&self, candidate: Candidate) -> Entry {
        let options = self.options;
        let planned = candidate.plan(options.columns, &self.schema, self.target, options.steps);
        let planned = planned.map(|(mut features, recipe)| {
            features.weights = options.weights.map(str::to_owned);
            (features, recipe)
        });
        let standing = match &planned {
            Ok(_) => Standing::Finished,
            Err(error) => Standing::Failed(error.to_string()),
        };
        let row = LeaderboardRow {
            name: candidate.name(),
            candidate,
            score: None,
            interval: None,
            fold_scores: Vec::new(),
            n_rows: 0,
            standing,
            p_value: None,
            converged: true,
            fit_seconds: 0.0,
            predictions: None,
        };
        Entry { row, planned: planned.ok(), cost: None }
    }

    /// Compares the candidates that are left on some rows; tells whether the budget ended it.
    fn round(
        &self,
        entries: &mut [Entry],
        rows: &[usize],
        splits: &[Split],
        last: bool,
        on_round: &mut dyn FnMut(&Round<'_>),
    ) -> bool {
        let Ok(table) = self.table.rows_at(rows) else { return false };
        let n_folds = splits.len();
        let mut done = vec![false; entries.len()];
        let mut cut_short = false;
        for first in 0..entries.len() {
            if done[first] || !entries[first].is_alive() {
                continue;
            }
            // Candidates with the same preprocessing share the encoded rows.
            let group: Vec<usize> = (first..entries.len())
                .filter(|k| entries[*k].is_alive() && entries[*k].planned == entries[first].planned)
                .collect();
            group.iter().for_each(|k| done[*k] = true);
            let affordable: Vec<usize> = group
                .into_iter()
                .filter(|k| {
                    let fits = self.is_affordable(&entries[*k], rows.len(), n_folds);
                    if !fits {
                        entries[*k].row.standing = Standing::OverBudget;
                    }
                    fits
                })
                .collect();
            cut_short |= self.compare(entries, &affordable, &table, splits, last);
            let n_done = done.iter().filter(|done| **done).count();
            self.monitor.report(n_done as u64, Some(done.len() as u64));
            on_round(&self.report(entries, rows.len(), n_folds, false));
        }
        cut_short
    }

    /// Whether the fits of the next round are expected to end within the budget. Kernel methods grow with the square of
    /// the rows, the others with the rows.
    fn is_affordable(&self, entry: &Entry, n_rows: usize, n_folds: usize) -> bool {
        let Some(deadline) = self.deadline else { return true };
        let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        let Some((seconds, known_rows, known_folds)) = entry.cost else { return left > 0.0 };
        let card = entry.row.candidate.estimator.card();
        let power = if card.can(Capability::MemoryPlan) { 2 } else { 1 };
        let rows = (n_rows as f64 / known_rows.max(1) as f64).powi(power);
        seconds * rows * n_folds as f64 / known_folds as f64 <= 0.8 * left
    }

    /// Fits some candidates with the same preprocessing to every fold; tells whether the budget ended it.
    fn compare(
        &self,
        entries: &mut [Entry],
        group: &[usize],
        table: &Table,
        splits: &[Split],
        last: bool,
    ) -> bool {
        let Some(planned) = group.first().and_then(|k| entries[*k].planned.clone()) else {
            return false;
        };
        let limited = self.limited_monitor();
        let n = table.n_rows();
        let resolve_gamma = |rows: &FoldRows, entries: &mut [Entry]| {
            for k in group {
                let row = &mut entries[*k].row;
                match row.candidate.resolve_gamma(rows.total_variance()) {
                    Ok(()) => row.name = row.candidate.name(),
                    Err(error) => row.standing = Standing::Failed(error.to_string()),
                }
            }
        };
        let encode = |fold: usize| {
            let parts = (splits[fold].train.as_slice(), splits[fold].test.as_slice());
            FoldRows::encode(table, parts, (&planned.0, &planned.1), self.task, &limited)
        };
        let mut results: Vec<Vec<Result<FoldPredictions>>> = group.iter().map(|_| vec![]).collect();
        let fit = |rows: &FoldRows, entries: &[Entry]| -> Vec<Result<FoldPredictions>> {
            let alive = |k: &usize| entries[*k].is_alive();
            let predict = |k: &usize| match alive(k) {
                true => rows.predict(&entries[*k].row.candidate, self.task, &limited),
                false => Err(Error::Stopped),
            };
            group.iter().map(predict).collect()
        };
        let mut failed = None;
        let first = encode(0);
        match &first {
            Ok(rows) => resolve_gamma(rows, entries),
            Err(error) => failed = Some(error.to_string()),
        }
        if failed.is_none() {
            let shared: &[Entry] = entries;
            let one = |fold: usize| -> Result<Vec<Result<FoldPredictions>>> {
                if limited.stop().is_some() {
                    return Err(Error::Stopped);
                }
                match (fold, &first) {
                    (0, Ok(rows)) => Ok(fit(rows, shared)),
                    _ => Ok(fit(&encode(fold)?, shared)),
                }
            };
            let of_folds: Vec<Result<_>> = match n <= MAX_PARALLEL_ROWS {
                true => {
                    let each = |fold| Ok::<_, Error>(one(fold));
                    parallel::map(splits.len(), each).unwrap_or_default()
                }
                false => (0..splits.len()).map(one).collect(),
            };
            for of_fold in of_folds {
                match of_fold {
                    Ok(predictions) => {
                        results.iter_mut().zip(predictions).for_each(|(all, p)| all.push(p));
                    }
                    Err(error) => failed = Some(error.to_string()),
                }
            }
        }
        let mut cut_short = false;
        for (k, result) in group.iter().zip(results) {
            cut_short |=
                self.record(&mut entries[*k], result, failed.as_deref(), splits.len(), n, last);
        }
        cut_short
    }

    /// Records the predictions of a candidate; tells whether the budget ended it.
    fn record(
        &self,
        entry: &mut Entry,
        results: Vec<Result<FoldPredictions>>,
        failed: Option<&str>,
        n_folds: usize,
        n_rows: usize,
        last: bool,
    ) -> bool {
        if !entry.is_alive() {
            return false;
        }
        let row = &mut entry.row;
        let error = results.iter().find_map(|r| r.as_ref().err());
        let stopped =
            self.limited_monitor().stop().is_some() && (error.is_some() || results.len() < n_folds);
        if stopped || matches!(error, Some(Error::Stopped)) {
            row.standing = Standing::OverBudget;
            return true;
        }
        if let Some(reason) = error.map(ToString::to_string).or(failed.map(str::to_owned)) {
            row.standing = Standing::Failed(reason);
            row.score = None;
            return false;
        }
        let predictions: Vec<FoldPredictions> = results.into_iter().flatten().collect();
        let seconds: f64 = predictions.iter().map(|p| p.fit_seconds + p.predict_seconds).sum();
        row.fit_seconds += predictions.iter().map(|p| p.fit_seconds).sum::<f64>();
        row.converged = predictions.iter().all(|p| p.converged);
        entry.cost = Some((seconds, n_rows, n_folds));
        let Some((joined, ranges)) = join(predictions) else { return false };
        let metric = self.options.metric;
        let score = |range: Range<usize>| metric.score(&joined, &range.collect::<Vec<_>>());
        row.fold_scores = ranges.iter().cloned().filter_map(&score).collect();
        row.score = score(0..joined.n_rows());
        // Repeated folds predict a row several times; one of them is enough to compare and to calibrate by.
        let n_first = n_folds / self.options.splitting.n_repeats.max(1);
        let n_predicted = ranges[..n_first.clamp(1, ranges.len())].last().map_or(0, |r| r.end);
        row.n_rows = n_rows;
        match row.score {
            None => {
                row.standing = Standing::Failed(format!("{metric} needs probabilities"));
            }
            Some(score) if !score.is_finite() => {
                row.standing = Standing::Failed(format!("{metric} is {score}"));
                row.score = None;
            }
            Some(_) => row.predictions = last.then(|| joined.first(n_predicted)),
        }
        false
    }

    /// The limits of the user, and the budget of the selection.
    fn limited_monitor(&self) -> Monitor<'static> {
        let monitor = self.monitor.silent();
        match self.deadline {
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                monitor.time_limit_within(left)
            }
            None => monitor,
        }
    }

    /// The ratio of test to training rows of the last round.
    fn test_to_train(&self) -> f64 {
        let splitting = &self.options.splitting;
        match splitting.hold_out {
            Some(fraction) => fraction / (1.0 - fraction),
            None => 1.0 / (splitting.n_folds.max(2) - 1) as f64,
        }
    }

    fn finish(
        &self,
        entries: Vec<Entry>,
        held_out: Vec<usize>,
        is_sample: bool,
        mut cut_short: bool,
    ) -> Result<Leaderboard> {
        let (options, n) = (self.options, self.table.n_rows());
        let rows: Vec<LeaderboardRow> = entries.into_iter().map(|entry| entry.row).collect();
        if rows.iter().all(|row| row.score.is_none()) {
            if self.monitor.stop() == Some(Stop::Cancelled) {
                return Err(Error::Stopped);
            }
            let failed = rows.iter().find_map(|row| match &row.standing {
                Standing::Failed(reason) => Some(reason.clone()),
                _ => None,
            });
            return Err(match failed {
                Some(why) => Error::Selection { why },
                None => Error::Stopped,
            });
        }
        cut_short |= rows.iter().any(|row| row.standing == Standing::OverBudget);
        let predictions = rows.iter().find_map(|row| row.predictions.as_ref());
        let baseline = predictions.and_then(|p| baseline(p, options.metric));
        let mut board = Leaderboard {
            metric: options.metric,
            corrected: None,
            baseline,
            rows,
            n_rows: n,
            is_sample,
            n_folds: options.splitting.n_folds,
            splitting: options.describe_splits(),
            held_out,
            test_to_train: self.test_to_train(),
            seed: options.splitting.seed,
            cut_short,
            seconds: self.start.elapsed().as_secs_f64(),
        };
        board.compare();
        Ok(board)
    }
}

impl SelectionOptions<'_> {
    /// The folds in words.
    pub fn describe_splits(&self) -> String {
        describe_splits(&self.splitting, self.group, self.time)
    }
}

/// The folds in words: `5 folds`, `3 folds grouped by id`, `hold-out of 0.2`, `5 folds, 2 repeats`.
pub(in crate::train) fn describe_splits(
    splitting: &Splitting,
    group: Option<&str>,
    time: Option<&str>,
) -> String {
    let mut text = match splitting.hold_out {
        Some(fraction) => format!("hold-out of {fraction}"),
        None => format!("{} folds", splitting.n_folds),
    };
    if splitting.n_repeats > 1 {
        text += &format!(", {} repeats", splitting.n_repeats);
    }
    text += &group.map_or_else(String::new, |column| format!(" grouped by `{column}`"));
    text += &time.map_or_else(String::new, |column| format!(" in order of `{column}`"));
    text
}

impl Entry {
    fn is_alive(&self) -> bool {
        self.row.standing == Standing::Finished && self.planned.is_some()
    }
}

/// The numbers of rows of the rounds.
pub(in crate::train) fn round_sizes(n_rows: usize) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut size = FIRST_ROUND_ROWS;
    // A round on two thirds of the rows would cost as much as the last.
    while 3 * size < 2 * n_rows {
        sizes.push(size);
        size *= GROWTH;
    }
    sizes.push(n_rows);
    sizes
}

/// Drops the candidates below the fraction that stays; entries are sorted.
fn drop_the_worst(entries: &mut [Entry]) {
    let alive = entries.iter().filter(|entry| entry.is_alive()).count();
    let kept = ((KEPT_FRACTION * alive as f64).ceil() as usize).max(MIN_KEPT);
    let losers = entries.iter_mut().filter(|entry| entry.is_alive()).skip(kept);
    losers.for_each(|entry| entry.row.standing = Standing::Dropped);
}

/// The score of always predicting the most frequent class, with the class frequencies as probabilities, or the mean.
fn baseline(predictions: &Predictions, metric: Metric) -> Option<f64> {
    let all: Vec<usize> = (0..predictions.n_rows()).collect();
    let constant = match predictions {
        Predictions::Classes { truth, n_classes, weights, .. } => {
            let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
            let mut counts = vec![0.0; *n_classes];
            truth.iter().enumerate().for_each(|(i, c)| counts[*c as usize] += weight(i));
            let most = argmax(&counts) as u32;
            let total: f64 = counts.iter().sum();
            let logs: Vec<f64> = counts.iter().map(|n| (n / total).ln()).collect();
            let log_proba = Matrix::from_shape_fn((truth.len(), *n_classes), |(_, c)| logs[c]);
            Predictions::Classes {
                truth: truth.clone(),
                predicted: vec![most; truth.len()],
                log_proba: Some(log_proba),
                n_classes: *n_classes,
                weights: weights.clone(),
            }
        }
        Predictions::Regression { truth, weights, .. } => {
            let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
            let total: f64 = (0..truth.len()).map(weight).sum();
            let sum: f64 = truth.iter().enumerate().map(|(i, y)| weight(i) * y).sum();
            let predicted = vec![sum / total.max(f64::MIN_POSITIVE); truth.len()];
            let (truth, weights) = (truth.clone(), weights.clone());
            Predictions::Regression { truth, predicted, weights }
        }
    };
    metric.score(&constant, &all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_grow_to_all_rows() {
        assert_eq!(round_sizes(150), [150]);
        assert_eq!(round_sizes(3000), [3000]);
        assert_eq!(round_sizes(3001), [2000, 3001]);
        assert_eq!(round_sizes(50_000), [2000, 8000, 32_000, 50_000]);
    }
}
