//! From a stream of tables to a model with its proof and its cross-validated figures.
//!
//! One pass gathers the summary of all rows and of every fold; a model for judging fold `f` is made
//! from the summaries of the others, so ten folds cost no more reading than one fit. A second pass
//! lets every row be judged by the model that never saw it.

use super::cross_validate::{HeldOutScores, judge_batch};
use super::expectation_maximization::{Climb, Part};
use super::{EmOptions, Trained};
use crate::catalog::{AnyModel, AnyStats, Capability, Estimator};
use crate::data::Schema;
use crate::data::{Classes, Dataset, Stream, Table};
use crate::error::{Error, Result};
use crate::evaluate::{Evaluation, Folds, Information, RegressionEvaluation};
use crate::model::{Fitted, Monitor, Stop};
use crate::preprocess::{Encoded, Encoder, Features, Step, UNLABELED};
use mercer_num::parallel::Layout;
use mercer_num::parallel::{self, Tree};
use std::ops::ControlFlow;
use std::time::Instant;

/// Rows of texts that are read together.
const PIECE: usize = 1024;
/// Bytes of encoded rows that a learner by rows holds; of more it has some at a time.
const HELD: u64 = 128 << 20;
/// Bytes of the summaries of all folds beyond which each has one sum and no tree of them.
const WIDE: u64 = 64 << 20;

/// How to train.
#[derive(Clone, Debug)]
pub struct Training<'a> {
    /// What learns.
    pub estimator: Estimator,
    /// How tables become rows.
    pub features: Features,
    /// What the target is.
    pub task: Task<'a>,
    /// How many rows there are, if known.
    pub n_rows: Option<u64>,
    /// How many folds judge the model; fewer than two skip it.
    pub n_folds: usize,
    /// What the folds are drawn by.
    pub seed: u64,
}

/// What is to be learned about a row.
#[derive(Clone, Copy, Debug)]
pub enum Task<'a> {
    /// Which of these classes it is of.
    Classification(&'a Classes),
    /// A number.
    Regression,
    /// Nothing but whether it is like the others.
    Unsupervised,
}

impl Task<'_> {
    /// The classes; none where numbers are learned.
    pub(crate) fn classes(&self) -> Classes {
        match self {
            Task::Classification(classes) => (*classes).clone(),
            Task::Regression | Task::Unsupervised => Classes::default(),
        }
    }

    pub(crate) fn n_classes(&self) -> usize {
        match self {
            Task::Classification(classes) => classes.len(),
            Task::Regression | Task::Unsupervised => 1,
        }
    }
}

/// What training gives.
pub struct Outcome {
    /// The model of all rows.
    pub trained: Trained,
    /// Held-out rows judged; `None` without folds or when time ran out before.
    pub evaluation: Option<Evaluation>,
    /// Held-out rows judged, where numbers were learned.
    pub regression: Option<RegressionEvaluation>,
    /// What each feature tells about the class on held-out rows, in bits.
    pub bits: Option<Vec<f64>>,
    /// The share of held-out rows that the model of the others takes for strangers, where rows were learned
    /// alone.
    pub outside: Option<f64>,
}

/// Trains an estimator: one that learns by statistics from the stream, another from all its rows together,
/// in memory.
///
/// # Errors
/// What reading or learning failed with.
pub fn train<S: Stream>(
    training: Training<'_>,
    stream: &S,
    monitor: &Monitor<'_>,
) -> std::result::Result<Outcome, S::Error> {
    run(training, None, stream, None, monitor)
}

/// Trains from rows of which some have no class: those of `stream` whose target is missing, and all of
/// `more`. Every fold is judged by rounds of its own, so that no row it judges had a say.
///
/// # Errors
/// What reading or learning failed with, or if the estimator cannot do it.
pub fn train_semi_supervised<S: Stream>(
    training: Training<'_>,
    how: &EmOptions,
    stream: &S,
    more: Option<&S>,
    monitor: &Monitor<'_>,
) -> std::result::Result<Outcome, S::Error> {
    how.check(&training.estimator)?;
    run(training, Some(how), stream, more, monitor)
}

fn run<S: Stream>(
    training: Training<'_>,
    how: Option<&EmOptions>,
    stream: &S,
    more: Option<&S>,
    monitor: &Monitor<'_>,
) -> std::result::Result<Outcome, S::Error> {
    let start = Instant::now();
    if let Task::Classification(classes) = training.task {
        classes.check_several()?;
    }
    training.estimator.check()?;
    if training.estimator.no_rows().is_none() {
        if how.is_some() {
            return Err(training.estimator.unable("learn from rows without a class").into());
        }
        return training.train_together(stream, start, monitor);
    }
    let labels = if how.is_some() { Labels::Some } else { Labels::All };
    let sums = training.gather(stream, labels, monitor)?;
    let Some(mut stats) = sums.total.finish()? else {
        return Err(if sums.stopped.is_some() { Error::Stopped } else { Error::NoRows }.into());
    };
    let mut fitted = training.estimator.finish_within(&stats, sums.rows, monitor)?;
    fitted.certificate = fitted.certificate.stopped_by(sums.stopped);
    let folds = sums.folds.into_iter().map(Leaves::finish).collect::<Result<Vec<_>>>()?;
    let others = sums_without_each(folds)?;
    let models = match how {
        _ if fitted.certificate.stopped().is_some() => Vec::new(),
        Some(how) => {
            let all = Climb::at(fitted, stats, sums.rows);
            let climbs = training.climb(how, all, others, stream, more, monitor)?;
            let mut climbs = climbs.into_iter();
            let Some(Some(all)) = climbs.next() else { return Err(Error::NoRows.into()) };
            (fitted, stats) = all.finish();
            climbs.map(|climb| climb.map(|c| c.finish().0)).collect()
        }
        None => training.models(others, &monitor.silent()),
    };
    fitted.certificate.seconds = start.elapsed().as_secs_f64();
    let judged = if fitted.certificate.stopped().is_none() && training.n_folds > 1 {
        training.judge(&models, stream, labels, monitor, sums.rows)?
    } else {
        None
    };
    Ok(training.outcome(fitted, Some(stats), judged))
}

/// What the first pass gathers.
struct Sums {
    total: Leaves,
    folds: Vec<Leaves>,
    rows: u64,
    stopped: Option<Stop>,
}

/// The sum of summaries.
enum Leaves {
    /// By the tree that the rows of a matrix in memory would make.
    Tree(Tree<AnyStats>),
    /// One after the other: of wide summaries no more than one is kept.
    Running(Option<Box<AnyStats>>),
}

impl Leaves {
    fn push(&mut self, leaf: AnyStats) -> Result<()> {
        match self {
            Leaves::Tree(tree) => tree.push(leaf, 1, AnyStats::merge),
            Leaves::Running(Some(sum)) => sum.merge(&leaf),
            Leaves::Running(sum) => {
                *sum = Some(Box::new(leaf));
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<Option<AnyStats>> {
        match self {
            Leaves::Tree(tree) => tree.finish(AnyStats::merge),
            Leaves::Running(sum) => Ok(sum.map(|sum| *sum)),
        }
    }
}

/// Which rows of a stream have a class or number.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Labels {
    /// All of them; one without is refused.
    All,
    /// Those whose target is not missing.
    Some,
    /// None; there need not be a target.
    None,
}

/// A batch made into rows, and which of them belong to which fold.
pub(crate) struct AssignedRows {
    pub rows: Encoded,
    pub places: Vec<Vec<usize>>,
    /// Rows without a class.
    pub open: Vec<usize>,
}

impl AssignedRows {
    /// The places of the rows with a class that do not belong to a fold.
    pub fn labeled(&self, without: Option<usize>) -> Vec<usize> {
        let mut labeled: Vec<bool> = vec![true; self.rows.rows().n_rows()];
        let left_out = without.and_then(|fold| self.places.get(fold)).into_iter().flatten();
        self.open.iter().chain(left_out).for_each(|i| labeled[*i] = false);
        (0..labeled.len()).filter(|i| labeled[*i]).collect()
    }
}

impl Training<'_> {
    fn gather<S: Stream>(
        &self,
        stream: &S,
        labels: Labels,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Sums, S::Error> {
        let n_classes = match self.task {
            Task::Classification(classes) => classes.len(),
            Task::Regression | Task::Unsupervised => 1,
        };
        let summary = self.estimator.summary_bytes(n_classes, self.features.n_features());
        let summaries = self.n_folds as u64 + 8;
        monitor.reserve("keeping statistics", summary.saturating_mul(summaries))?;
        let wide = summary * self.n_folds as u64 > WIDE;
        let fold = |_| if wide { Leaves::Running(None) } else { Leaves::Tree(Tree::new()) };
        let mut sums = Sums {
            total: Leaves::Tree(Tree::new()),
            folds: (0..self.n_folds).map(fold).collect(),
            rows: 0,
            stopped: None,
        };
        let chunk = self.chunk();
        let with_class = |d: &AssignedRows| (d.rows.rows().n_rows() - d.open.len()) as u64;
        let (mut rows, mut stopped) = (0, None);
        let mut push = |(total, folds): (AnyStats, Vec<AnyStats>)| -> Result<()> {
            sums.total.push(total)?;
            sums.folds.iter_mut().zip(folds).try_for_each(|(fold, leaf)| fold.push(leaf))
        };
        if self.piece() < chunk {
            self.each_part(stream, (labels, chunk), monitor, &mut stopped, |part, first_row| {
                rows += with_class(&part);
                push(self.leaves(&part).map_err(|e| e.after_rows(first_row as usize))?)
            })?;
        } else {
            self.each_wave(stream, (labels, 0), monitor, &mut stopped, |wave, first_row| {
                rows += wave.iter().map(with_class).sum::<u64>();
                let leaves = parallel::map(wave.len(), |k| {
                    self.leaves(&wave[k]).map_err(|e| e.after_rows(first_row as usize + k * chunk))
                })?;
                leaves.into_iter().try_for_each(&mut push)
            })?;
        }
        (sums.rows, sums.stopped) = (rows, stopped);
        Ok(sums)
    }

    /// The summaries of a batch: all of it, and each fold's part.
    fn leaves(&self, batch: &AssignedRows) -> Result<(AnyStats, Vec<AnyStats>)> {
        let total = match batch.open[..] {
            [] => self.leaf(&batch.rows)?,
            _ => {
                let labeled = batch.labeled(None);
                self.leaf(&batch.rows.select(&labeled)).map_err(|e| e.in_row(&labeled))?
            }
        };
        let fold = |k: usize| self.leaf(&batch.rows.select(&batch.places[k]));
        Ok((total, parallel::map(batch.places.len(), fold)?))
    }

    fn leaf(&self, rows: &Encoded) -> Result<AnyStats> {
        let unable = || self.estimator.unable("learn from a stream");
        let mut stats = self.estimator.no_rows().ok_or_else(unable)?;
        self.estimator.observe(&mut stats, &self.dataset(rows)?)?;
        Ok(stats)
    }

    pub(crate) fn dataset<'a>(&'a self, rows: &'a Encoded) -> Result<Dataset<'a>> {
        match self.task {
            Task::Classification(classes) => rows.dataset(classes),
            Task::Regression => rows.regression_dataset(),
            Task::Unsupervised => rows.unlabeled(),
        }
    }

    /// Reads all rows, learns from them, and again without each fold. Where there are too many for a learner
    /// that needs only some at a time, it has them in parts.
    fn train_together<S: Stream>(
        self,
        stream: &S,
        start: Instant,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Outcome, S::Error> {
        // Once as they come, once joined.
        let reserve = |bytes: u64| monitor.reserve("holding the rows together", 2 * bytes);
        let width = self.features.n_features() as u64;
        let online = self.estimator.card().can(Capability::Online);
        if let (Some(n), Layout::Dense, false) = (self.n_rows, self.features.layout(), online) {
            reserve(8 * n * width)?;
        }
        let most = if online { monitor.memory().map_or(HELD, |bytes| bytes / 4) } else { u64::MAX };
        let (mut parts, mut stopped, mut held) = (Vec::new(), None, 0);
        let mut take = |wave: Vec<AssignedRows>| {
            for dealt in wave {
                held += dealt.rows.n_bytes();
                parts.push(dealt.rows);
            }
            if held > most { Err(Error::Stopped) } else { reserve(held) }
        };
        // One table is made into rows where they stay; several have to be joined.
        let plain = !online && self.features.map.is_none();
        let at_once = plain && stream.is_counted(&self.reading(Labels::All));
        let piece = if at_once { usize::MAX } else { self.piece() };
        let (every, stop) = ((Labels::All, 0), &mut stopped);
        let read = self.each_piece(stream, piece, every, monitor, stop, |wave, _| take(wave));
        if held > most {
            drop(parts);
            return self.train_in_parts(stream, start, monitor);
        }
        read?;
        if stopped.is_some() {
            return Err(Error::Stopped.into());
        }
        let rows = Encoded::join(parts).ok_or(Error::NoRows)?;
        let fitted = self.estimator.fit(&self.dataset(&rows)?, monitor)?;
        let (mut evaluation, mut regression, mut outside) = (None, None, None);
        if self.n_folds > 1 && fitted.certificate.stopped().is_none() {
            let mut folds = Folds::new(self.n_folds, self.task.n_classes(), self.seed);
            let batch = self.deal(&mut folds, rows, Labels::All);
            let monitor = &monitor.planned();
            let models: Vec<_> = (0..batch.places.len())
                .map(|fold| {
                    let others = batch.rows.select(&batch.labeled(Some(fold)));
                    // Too few rows to leave any out: that fold cannot be judged.
                    let fitted = self.estimator.fit(&self.dataset(&others).ok()?, monitor).ok()?;
                    fitted.certificate.stopped().is_none().then_some(fitted)
                })
                .collect();
            let judged = judge_batch((&batch, 0), &models, &self.task.classes(), 1)?;
            if monitor.stop().is_none() {
                match self.task {
                    Task::Classification(_) if judged.classes.n_rows() > 0 => {
                        evaluation = Some(judged.classes);
                    }
                    Task::Regression if !judged.numbers.is_empty() => {
                        let mut sums = RegressionEvaluation::default();
                        judged.numbers.iter().for_each(|(y, p)| sums.push(y, p));
                        regression = Some(sums);
                    }
                    Task::Unsupervised if !judged.inside.is_empty() => {
                        let strangers = judged.inside.iter().filter(|inside| **inside < 0.0);
                        outside = Some(strangers.count() as f64 / judged.inside.len() as f64);
                    }
                    _ => {}
                }
            }
        }
        let Training { estimator, features, .. } = self;
        let trained = Trained::new(estimator, features, fitted, None);
        Ok(Outcome { trained, evaluation, regression, bits: None, outside })
    }

    /// What training gives, from the model of all rows and the judgement of those held out.
    pub(crate) fn outcome(
        self,
        fitted: Fitted<AnyModel>,
        stats: Option<AnyStats>,
        judged: Option<HeldOutScores>,
    ) -> Outcome {
        let densities = judged.as_ref().map(|judged| judged.densities.clone());
        let (evaluation, regression, information) = match (judged, self.task) {
            (None, _) => (None, None, None),
            (Some(judged), Task::Classification(_)) => {
                (Some(judged.classes), None, Some(judged.information))
            }
            (Some(judged), Task::Regression) => (None, Some(judged.numbers), None),
            // Nobody who learns by statistics knows strangers but by their density.
            (Some(_), Task::Unsupervised) => (None, None, None),
        };
        let mut trained = Trained::new(self.estimator, self.features, fitted, stats);
        trained.densities = densities.filter(|densities| densities.n_rows() > 0);
        let bits = information.and_then(|i: Information| i.bits());
        Outcome { trained, evaluation, regression, bits, outside: None }
    }

    /// The model of each summary. Too few rows to leave any out: that fold cannot be judged.
    /// Nor can one whose model was cut short.
    fn models(
        &self,
        others: Vec<Option<AnyStats>>,
        monitor: &Monitor<'_>,
    ) -> Vec<Option<Fitted<AnyModel>>> {
        let model = |stats: Option<AnyStats>| {
            let fitted = self.estimator.finish_within(&stats?, 0, monitor).ok()?;
            fitted.certificate.stopped().is_none().then_some(fitted)
        };
        others.into_iter().map(model).collect()
    }

    /// Rounds over the rows without a class, for the model of all rows and those that judge the folds
    /// at once.
    fn climb<S: Stream>(
        &self,
        how: &EmOptions,
        all: Climb,
        others: Vec<Option<AnyStats>>,
        stream: &S,
        more: Option<&S>,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Vec<Option<Climb>>, S::Error> {
        let Task::Classification(classes) = self.task else {
            return Err(self.estimator.unable("learn numbers from rows without one").into());
        };
        let quiet = monitor.silent();
        let begin = |stats: AnyStats| Climb::new(&self.estimator, stats, 0, &quiet).ok();
        let mut climbs = vec![Some(all)];
        climbs.extend(others.into_iter().map(|stats| stats.and_then(begin)));
        let piece = self.piece();
        let going = |climbs: &[Option<Climb>]| climbs.iter().flatten().any(|c| c.goes_on(how));
        while going(&climbs) {
            let mut trees: Vec<Tree<Part>> = climbs.iter().map(|_| Tree::new()).collect();
            let mut stopped = None;
            let sources = [(Some(stream), Labels::Some), (more, Labels::None)];
            for (source, labels) in sources.into_iter().filter_map(|(s, l)| Some((s?, l))) {
                self.each_wave(source, (labels, 0), monitor, &mut stopped, |wave, first_row| {
                    let parts = parallel::map(wave.len(), |k| {
                        self.parts(how, &climbs, &wave[k], classes)
                            .map_err(|e| e.after_rows(first_row as usize + k * piece))
                    })?;
                    for parts in parts {
                        for (tree, part) in trees.iter_mut().zip(parts) {
                            tree.push(part, 1, Part::merge)?;
                        }
                    }
                    Ok(())
                })?;
            }
            for (climb, tree) in climbs.iter_mut().zip(trees) {
                let Some(climb) = climb.as_mut().filter(|climb| climb.goes_on(how)) else {
                    continue;
                };
                match (stopped, tree.finish(Part::merge)?) {
                    (None, Some(part)) => climb.step(how, &self.estimator, part, &quiet)?,
                    (stop, _) => climb.stopped = stop.or(Some(Stop::Cancelled)),
                }
            }
        }
        Ok(climbs)
    }

    /// What a batch adds to the round of every climb.
    fn parts(
        &self,
        how: &EmOptions,
        climbs: &[Option<Climb>],
        batch: &AssignedRows,
        classes: &Classes,
    ) -> Result<Vec<Part>> {
        let open = batch.rows.select(&batch.open);
        let part = |(k, climb): (usize, &Option<Climb>)| {
            let Some(climb) = climb.as_ref().filter(|climb| climb.goes_on(how)) else {
                return Ok(Part::default());
            };
            let model = &climb.fitted.model;
            let labeled = batch.rows.select(&batch.labeled(k.checked_sub(1)));
            let mut part = how.part(&self.estimator, model, &labeled.dataset(classes)?, classes)?;
            let more = how
                .part(&self.estimator, model, &open.unlabeled()?, classes)
                .map_err(|e| e.in_row(&batch.open))?;
            part.merge(&more)?;
            Ok(part)
        };
        climbs.iter().enumerate().map(part).collect()
    }

    /// Rows of a leaf.
    fn chunk(&self) -> usize {
        self.estimator.chunk_rows(self.features.n_features(), self.features.layout())
    }

    /// Rows of a table that is read. Texts are long, and a leaf of as many as words can tell apart would not
    /// fit in memory: they are encoded a few at a time, and their words gathered to leaves.
    pub(crate) fn piece(&self) -> usize {
        let texts = self.features.steps.iter().any(|step| matches!(step, Step::Text(_)));
        let apart = texts && self.features.layout() == Layout::Sparse;
        if apart { self.chunk().min(PIECE) } else { self.chunk() }
    }

    /// The columns to read.
    fn reading(&self, labels: Labels) -> Schema {
        match self.task {
            _ if labels == Labels::None => self.features.input_schema(None),
            Task::Classification(classes) => self.features.input_schema(Some(classes)),
            Task::Regression => self.features.regression_schema(),
            Task::Unsupervised => self.features.input_schema(None),
        }
    }

    fn encode(&self, encoder: &Encoder<'_>, table: &Table, labels: Labels) -> Result<Encoded> {
        match (self.task, labels) {
            (_, Labels::None) | (Task::Unsupervised, _) => encoder.encode(table, None),
            (Task::Classification(classes), Labels::Some) => {
                encoder.encode_semi_supervised(table, classes)
            }
            (Task::Classification(classes), Labels::All) => encoder.encode(table, Some(classes)),
            (Task::Regression, _) => encoder.encode_regression(table),
        }
    }

    /// The rows of each fold, balanced by class where there are classes, and those without one.
    fn deal(&self, folds: &mut Folds, rows: Encoded, labels: Labels) -> AssignedRows {
        let n = rows.rows().n_rows();
        let is_open = |i: &usize| match labels {
            Labels::All => false,
            Labels::Some => rows.codes[*i] == UNLABELED,
            Labels::None => true,
        };
        let open: Vec<usize> = (0..n).filter(is_open).collect();
        if self.n_folds < 2 {
            return AssignedRows { rows, places: Vec::new(), open };
        }
        let places = match self.task {
            Task::Classification(_) if open.is_empty() => folds.split(&rows.codes),
            Task::Classification(_) => {
                let labeled: Vec<usize> = (0..n).filter(|i| !is_open(i)).collect();
                let codes: Vec<u32> = labeled.iter().map(|i| rows.codes[*i]).collect();
                let places = folds.split(&codes).into_iter();
                places.map(|fold| fold.into_iter().map(|i| labeled[i]).collect()).collect()
            }
            Task::Regression | Task::Unsupervised => folds.split(&vec![0; n]),
        };
        AssignedRows { rows, places, open }
    }

    /// Runs over the stream once, wave by wave, with rows made and dealt to folds.
    pub(crate) fn each_wave<S: Stream>(
        &self,
        stream: &S,
        which: (Labels, u64),
        monitor: &Monitor<'_>,
        stopped: &mut Option<Stop>,
        take: impl FnMut(Vec<AssignedRows>, u64) -> Result<()>,
    ) -> std::result::Result<(), S::Error> {
        self.each_piece(stream, self.piece(), which, monitor, stopped, take)
    }

    /// The same in tables of so many rows.
    fn each_piece<S: Stream>(
        &self,
        stream: &S,
        piece: usize,
        (labels, pass): (Labels, u64),
        monitor: &Monitor<'_>,
        stopped: &mut Option<Stop>,
        mut take: impl FnMut(Vec<AssignedRows>, u64) -> Result<()>,
    ) -> std::result::Result<(), S::Error> {
        let encoder = Encoder::new(&self.features);
        let passes = if self.n_folds > 1 { 2 } else { 1 };
        let total = self.n_rows.map(|n| n * passes);
        let mut folds = Folds::new(self.n_folds, self.task.n_classes(), self.seed);
        let mut seen: u64 = 0;
        let schema = self.reading(labels);
        stream.stream(&schema, piece, &mut |tables: Vec<Table>| {
            *stopped = monitor.stop();
            if stopped.is_some() {
                return Ok(ControlFlow::Break(()));
            }
            let rows: u64 = tables.iter().map(|t| t.n_rows() as u64).sum();
            let encoded = parallel::map(tables.len(), |k| {
                self.encode(&encoder, &tables[k], labels)
                    .map_err(|e| e.after_rows(seen as usize + k * piece))
            })?;
            let wave =
                encoded.into_iter().map(|rows| self.deal(&mut folds, rows, labels)).collect();
            take(wave, seen)?;
            seen += rows;
            monitor.report(pass * self.n_rows.unwrap_or(0) + seen, total);
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// For every fold, the summary of all the others: running sums from both ends, so that none is ever
/// subtracted. Wide summaries take their time to copy, and each is copied once.
fn sums_without_each(folds: Vec<Option<AnyStats>>) -> Result<Vec<Option<AnyStats>>> {
    let add = |sum: Option<AnyStats>, next: &Option<AnyStats>| -> Result<Option<AnyStats>> {
        match (sum, next) {
            (Some(mut sum), Some(next)) => {
                sum.merge(next)?;
                Ok(Some(sum))
            }
            (sum, next) => Ok(sum.or_else(|| next.clone())),
        }
    };
    let mut before = Vec::with_capacity(folds.len());
    let mut sum = None;
    for fold in &folds {
        before.push(sum.clone());
        sum = add(sum, fold)?;
    }
    drop(sum);
    let (mut others, mut after) = (Vec::with_capacity(folds.len()), None);
    for (fold, before) in folds.into_iter().zip(before).rev() {
        others.push(add(before, &after)?);
        after = add(fold, &after)?;
    }
    others.reverse();
    Ok(others)
}
