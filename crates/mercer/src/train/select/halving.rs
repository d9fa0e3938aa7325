//! Successive halving: all candidates are compared on few rows, the better ones again on more rows, and the finalists on
//! all rows, under a budget of time.

use super::baseline::baseline;
use super::budget::Cost;
use super::candidate::Candidate;
use super::leaderboard::{Leaderboard, LeaderboardRow, Standing, order};
use super::out_of_fold::{FoldPredictions, FoldRows, join};
use super::sample::{Sample, SplitColumns, check_rows, reading_schema, subset};
use crate::data::{Schema, Stream, Table, Values};
use crate::error::{Error, Result};
use crate::evaluate::{Metric, Split, Splitting};
use crate::model::{Monitor, Stop};
use crate::preprocess::{Features, Recipe};
use crate::train::{ColumnSelection, Task};
use mercer_num::parallel;
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
/// The encoded rows of all folds are kept for the candidates that share them up to this size.
const MAX_FOLD_BYTES: u64 = 1 << 30;
/// The fraction of the time left that a round before the last may take,
const EARLY_FRACTION: f64 = 0.4;
/// and the fraction that expected times may fill.
const SAFETY: f64 = 0.8;
/// The test rows if the time allows no more than one fit to most of the rows.
const HELD_OUT_FRACTION: f64 = 0.2;
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
        n_training_rows: sample.n_input_rows,
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
    /// The rows that the best candidate is trained on afterwards.
    n_training_rows: usize,
}

/// A round: some rows, their folds, and the time that they may take.
struct Folds<'f> {
    table: &'f Table,
    splits: &'f [Split],
    deadline: Option<Instant>,
}

impl Folds<'_> {
    /// The training rows of a fold.
    fn n_train(&self) -> usize {
        self.splits.first().map_or(0, |split| split.train.len())
    }
}

/// A candidate with what is known about it.
struct Entry {
    row: LeaderboardRow,
    planned: Option<(Features, Recipe)>,
    cost: Cost,
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
        let mut cut_short = false;
        let (mut scored_by, mut held_out) = (self.options.splitting.clone(), Vec::new());
        for n_rows in round_sizes(n) {
            let last = n_rows == n;
            let seed = self.options.splitting.seed;
            let rows = subset(self.codes, self.task.n_classes(), n_rows, seed);
            let splitting = match last {
                true => self.affordable_splitting(&entries),
                false => Splitting::folds(EARLY_FOLDS, seed),
            };
            let codes: Vec<u32> = rows.iter().map(|i| self.codes[*i]).collect();
            let splits = self.split_by.splits(&splitting, &codes, &rows)?;
            let table = self.table.rows_at(&rows)?;
            let folds = Folds { table: &table, splits: &splits, deadline: self.round_end(last) };
            cut_short |= self.round(&mut entries, &folds, splitting.n_repeats, on_round);
            if entries.iter().any(|entry| entry.row.n_rows == n_rows) {
                // Repeated folds predict a row several times; the first repeat is kept.
                let n_first = splits.len() / splitting.n_repeats.max(1);
                let first = splits.iter().take(n_first.max(1));
                held_out = first.flat_map(|split| split.test.iter().map(|i| rows[*i])).collect();
                scored_by = splitting;
            }
            entries.sort_by(|a, b| order(&a.row, &b.row, self.options.metric));
            on_round(&self.report(&entries, &folds, true));
            if self.monitor.stop().is_some() {
                cut_short = true;
                break;
            }
            if !last {
                drop_the_worst(&mut entries);
            }
        }
        self.finish(entries, (scored_by, held_out), is_sample, cut_short)
    }

    /// The state of a round.
    fn report<'e>(&self, entries: &'e [Entry], folds: &Folds<'_>, is_finished: bool) -> Round<'e> {
        Round {
            is_finished,
            n_rows: folds.table.n_rows(),
            n_folds: folds.splits.len(),
            rows: entries.iter().map(|entry| &entry.row).collect(),
            seconds: self.start.elapsed().as_secs_f64(),
        }
    }

    /// The folds of the last round: those that were asked for, or fewer if the time does not allow them for the best
    /// candidate so far.
    fn affordable_splitting(&self, entries: &[Entry]) -> Splitting {
        let asked = self.options.splitting.clone();
        let best = entries.iter().find(|entry| entry.is_alive());
        let (Some(left), Some(best)) = (self.seconds_left(), best) else { return asked };
        let few = Splitting::folds(EARLY_FOLDS, asked.seed);
        let one = Splitting { hold_out: Some(HELD_OUT_FRACTION), ..few.clone() };
        let is_affordable = |splitting: &Splitting| {
            let n_train = self.table.n_rows() as f64 * (1.0 - splitting.test_fraction());
            let fit = best.seconds_of_fit(n_train as usize).unwrap_or(0.0);
            let training = best.seconds_of_fit(self.n_training_rows).unwrap_or(0.0);
            fit * splitting.n_splits() as f64 + training <= SAFETY * left
        };
        let n_splits = asked.n_splits();
        let fewer = [few, one].into_iter().filter(|s| s.n_splits() < n_splits);
        let mut chosen = asked;
        for splitting in fewer {
            if is_affordable(&chosen) {
                break;
            }
            chosen = splitting;
        }
        chosen
    }

    /// The seconds until the end of the budget; `None` without one.
    fn seconds_left(&self) -> Option<f64> {
        let left = self.deadline?.saturating_duration_since(Instant::now());
        Some(left.as_secs_f64())
    }

    /// When a round has to end. The last one leaves time for the final fit by what it admits.
    fn round_end(&self, last: bool) -> Option<Instant> {
        let fraction = if last { 1.0 } else { EARLY_FRACTION };
        Some(Instant::now() + Duration::from_secs_f64(fraction * self.seconds_left()?))
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
        Entry { row, planned: planned.ok(), cost: Cost::default() }
    }

    /// Compares the candidates that are left on some rows; returns whether the budget ended it.
    fn round(
        &self,
        entries: &mut [Entry],
        folds: &Folds<'_>,
        n_repeats: usize,
        on_round: &mut dyn FnMut(&Round<'_>),
    ) -> bool {
        self.admit(entries, folds);
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
            cut_short |= self.compare(entries, &group, folds, n_repeats);
            let n_done = done.iter().filter(|done| **done).count();
            self.monitor.report(n_done as u64, Some(done.len() as u64));
            on_round(&self.report(entries, folds, false));
        }
        cut_short
    }

    /// Admits candidates to a round, the best first, as long as their fits are expected to end in time, with the final fit
    /// of the best one after them.
    fn admit(&self, entries: &mut [Entry], folds: &Folds<'_>) {
        let (Some(left), Some(end)) = (self.seconds_left(), folds.deadline) else { return };
        let of_round = end.saturating_duration_since(Instant::now()).as_secs_f64();
        let mut expected = 0.0;
        for entry in entries.iter_mut().filter(|entry| entry.is_alive()) {
            let Some(fit) = entry.seconds_of_fit(folds.n_train()) else { continue };
            let training = entry.seconds_of_fit(self.n_training_rows).unwrap_or(fit);
            let fits = fit * folds.splits.len() as f64;
            let seconds = expected + fits;
            if seconds > SAFETY * of_round || seconds + training > SAFETY * left {
                entry.row.standing = Standing::OverBudget;
            } else {
                expected = seconds;
            }
        }
    }

    /// Cross-validates some candidates with the same preprocessing; returns whether the budget ended it.
    fn compare(
        &self,
        entries: &mut [Entry],
        group: &[usize],
        folds: &Folds<'_>,
        n_repeats: usize,
    ) -> bool {
        let Some(planned) = group.first().and_then(|k| entries[*k].planned.clone()) else {
            return false;
        };
        let limited = self.limited_monitor(folds.deadline);
        let encode = |fold: usize| {
            let split = &folds.splits[fold];
            let parts = (split.train.as_slice(), split.test.as_slice());
            FoldRows::encode(folds.table, parts, (&planned.0, &planned.1), self.task, &limited)
        };
        let first = encode(0);
        let n_folds = folds.splits.len();
        let is_small = |rows: &FoldRows| rows.n_bytes() * n_folds as u64 <= MAX_FOLD_BYTES;
        let rest = match &first {
            Ok(rows) if group.len() > 1 && is_small(rows) => each_fold(folds, 1..n_folds, &encode),
            _ => Vec::new(),
        };
        let mut cut_short = false;
        for k in group {
            let entry = &mut entries[*k];
            if let Ok(rows) = &first {
                entry.resolve_gamma(rows);
            }
            if !entry.is_alive() {
                continue;
            }
            let candidate = &entry.row.candidate;
            let predict = |rows: &Result<FoldRows>| match rows {
                Ok(_) if limited.stop().is_some() => Err(Error::Stopped),
                Ok(rows) => rows.predict(candidate, self.task, &limited),
                Err(error) => Err(Error::Selection { why: error.to_string() }),
            };
            let start = Instant::now();
            let results =
                each_fold(folds, 0..n_folds, &|fold| match (fold, rest.get(fold.max(1) - 1)) {
                    (0, _) => predict(&first),
                    (_, Some(rows)) => predict(rows),
                    (_, None) => predict(&encode(fold)),
                });
            let seconds = start.elapsed().as_secs_f64() / n_folds as f64;
            cut_short |= self.record(entry, results, (folds, seconds), n_repeats);
        }
        cut_short
    }

    /// Records the predictions of a candidate; returns whether the budget ended it.
    fn record(
        &self,
        entry: &mut Entry,
        results: Vec<Result<FoldPredictions>>,
        (folds, seconds): (&Folds<'_>, f64),
        n_repeats: usize,
    ) -> bool {
        let row = &mut entry.row;
        if let Some(error) = results.iter().find_map(|r| r.as_ref().err()) {
            if matches!(error, Error::Stopped)
                || self.limited_monitor(folds.deadline).stop().is_some()
            {
                row.standing = Standing::OverBudget;
                return true;
            }
            row.standing = Standing::Failed(error.to_string());
            row.score = None;
            return false;
        }
        let predictions: Vec<FoldPredictions> = results.into_iter().flatten().collect();
        row.fit_seconds += predictions.iter().map(|p| p.fit_seconds).sum::<f64>();
        row.converged = predictions.iter().all(|p| p.converged);
        entry.cost.record(folds.n_train(), seconds);
        let Some((joined, ranges)) = join(predictions) else { return false };
        let metric = self.options.metric;
        let score = |range: Range<usize>| metric.score(&joined, &range.collect::<Vec<_>>());
        row.fold_scores = ranges.iter().cloned().filter_map(&score).collect();
        row.score = score(0..joined.n_rows());
        // Repeated folds predict a row several times; one of them is enough to compare and to calibrate by.
        let n_first = ranges.len() / n_repeats.max(1);
        let n_predicted = ranges[..n_first.clamp(1, ranges.len())].last().map_or(0, |r| r.end);
        row.n_rows = folds.table.n_rows();
        row.predictions = None;
        match row.score {
            None => {
                row.standing = Standing::Failed(format!("{metric} needs probabilities"));
            }
            Some(score) if !score.is_finite() => {
                row.standing = Standing::Failed(format!("{metric} is {score}"));
                row.score = None;
            }
            Some(_) => row.predictions = Some(joined.first(n_predicted)),
        }
        false
    }

    /// The limits of the user, and the end of a round.
    fn limited_monitor(&self, end: Option<Instant>) -> Monitor<'static> {
        let monitor = self.monitor.silent();
        match end {
            Some(end) => monitor.time_limit_within(end.saturating_duration_since(Instant::now())),
            None => monitor,
        }
    }

    fn finish(
        &self,
        entries: Vec<Entry>,
        (splitting, held_out): (Splitting, Vec<usize>),
        is_sample: bool,
        mut cut_short: bool,
    ) -> Result<Leaderboard> {
        let options = self.options;
        let mut rows: Vec<LeaderboardRow> = entries.into_iter().map(|entry| entry.row).collect();
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
        // The candidates that came as far as the best one are compared by the predictions of the same rows.
        let n = rows.iter().map(|row| row.n_rows).max().unwrap_or_default();
        rows.iter_mut().filter(|row| row.n_rows < n).for_each(|row| row.predictions = None);
        let predictions = rows.iter().find_map(|row| row.predictions.as_ref());
        let baseline = predictions.and_then(|p| baseline(p, options.metric));
        let test = splitting.test_fraction();
        let mut board = Leaderboard {
            metric: options.metric,
            corrected: None,
            baseline,
            rows,
            n_rows: n,
            is_sample: is_sample || n < self.table.n_rows(),
            n_folds: splitting.n_folds,
            splitting: describe_splits(&splitting, options.group, options.time),
            held_out,
            test_to_train: test / (1.0 - test),
            seed: splitting.seed,
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

    /// The expected seconds of one fit to so many rows.
    fn seconds_of_fit(&self, n_rows: usize) -> Option<f64> {
        self.cost.of_fit(n_rows, self.row.candidate.estimator.card())
    }

    fn resolve_gamma(&mut self, rows: &FoldRows) {
        let row = &mut self.row;
        match row.candidate.resolve_gamma(rows.total_variance()) {
            Ok(()) => row.name = row.candidate.name(),
            Err(error) => row.standing = Standing::Failed(error.to_string()),
        }
    }
}

/// The values of a function of each fold, at the same time for few rows.
fn each_fold<T: Send>(
    folds: &Folds<'_>,
    range: Range<usize>,
    value: &(dyn Fn(usize) -> T + Sync),
) -> Vec<T> {
    if folds.table.n_rows() > MAX_PARALLEL_ROWS {
        return range.map(value).collect();
    }
    let (first, n) = (range.start, range.len());
    parallel::map(n, |k| Ok::<_, Error>(value(first + k))).unwrap_or_default()
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
