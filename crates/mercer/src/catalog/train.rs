//! From a stream of tables to a model with its proof and its cross-validated figures.
//!
//! One pass gathers the summary of all rows and of every fold; a model for judging fold `f` is made
//! from the summaries of the others, so ten folds cost no more reading than one fit. A second pass
//! lets every row be judged by the model that never saw it.

use super::{AnyModel, AnyStats, Estimator, Trained};
use crate::data::{Classes, Dataset, Stream, Table};
use crate::error::{Error, Result};
use crate::evaluate::{Evaluation, Folds, Information, RegressionEvaluation};
use crate::model::{Fitted, Monitor, Stop};
use crate::prepare::{Encoded, Features, Schema};
use mercer_num::parallel::{self, Tree};
use std::ops::ControlFlow;
use std::time::Instant;

/// Rows whose factors are looked at to find the most telling columns, and factors looked at in all.
const TELLING_ROWS: u64 = 20_000;
const TELLING_FACTORS: u64 = 100_000_000;

/// How to train.
#[derive(Clone, Debug)]
pub struct Training<'a> {
    /// What learns.
    pub estimator: Estimator,
    /// How tables become rows.
    pub features: Features,
    /// What the target is.
    pub goal: Goal<'a>,
    /// How many rows there are, if known.
    pub n_rows: Option<u64>,
    /// How many folds judge the model; fewer than two skip it.
    pub n_folds: usize,
    /// What the folds are drawn by.
    pub seed: u64,
}

/// What is to be learned about a row.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'a> {
    /// Which of these classes it is of.
    Classes(&'a Classes),
    /// A number.
    Numbers,
}

impl Goal<'_> {
    fn n_classes(&self) -> usize {
        match self {
            Goal::Classes(classes) => classes.len(),
            Goal::Numbers => 1,
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
    let start = Instant::now();
    if let Goal::Classes(classes) = training.goal {
        classes.check_several()?;
    }
    training.estimator.check()?;
    if training.estimator.no_rows().is_none() {
        return training.train_together(stream, monitor);
    }
    let sums = training.gather(stream, monitor)?;
    let Some(stats) = sums.total.finish(AnyStats::merge)? else {
        return Err(if sums.stopped.is_some() { Error::Stopped } else { Error::NoRows }.into());
    };
    let mut fitted = training.estimator.finish(&stats, sums.rows)?;
    fitted.certificate.stopped = sums.stopped;
    fitted.certificate.seconds = start.elapsed().as_secs_f64();
    let judged = if sums.stopped.is_none() && training.n_folds > 1 {
        let folds = sums
            .folds
            .into_iter()
            .map(|fold| fold.finish(AnyStats::merge))
            .collect::<Result<Vec<_>>>()?;
        let models = training.models_without_each(&folds)?;
        training.judge(&models, stream, monitor, sums.rows)?
    } else {
        None
    };
    let (evaluation, regression, information) = match (judged, training.goal) {
        (None, _) => (None, None, None),
        (Some(judged), Goal::Classes(_)) => (Some(judged.classes), None, Some(judged.information)),
        (Some(judged), Goal::Numbers) => (None, Some(judged.numbers), None),
    };
    let Training { estimator, features, .. } = training;
    Ok(Outcome {
        trained: Trained::new(estimator, features, fitted, Some(stats)),
        evaluation,
        regression,
        bits: information.and_then(|i: Information| i.bits()),
    })
}

/// What the first pass gathers.
struct Sums {
    total: Tree<AnyStats>,
    folds: Vec<Tree<AnyStats>>,
    rows: u64,
    stopped: Option<Stop>,
}

/// A batch made into rows, and which of them belong to which fold.
struct Dealt {
    rows: Encoded,
    places: Vec<Vec<usize>>,
}

impl Training<'_> {
    fn gather<S: Stream>(
        &self,
        stream: &S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Sums, S::Error> {
        let n_classes = match self.goal {
            Goal::Classes(classes) => classes.len(),
            Goal::Numbers => 1,
        };
        let summary = self.estimator.summary_bytes(n_classes, self.features.n_features());
        let summaries = self.n_folds as u64 + 8;
        monitor.reserve("keeping statistics", summary.saturating_mul(summaries))?;
        let mut sums = Sums {
            total: Tree::new(),
            folds: (0..self.n_folds).map(|_| Tree::new()).collect(),
            rows: 0,
            stopped: None,
        };
        let chunk = self.chunk();
        self.each_wave(stream, monitor, 0, &mut sums.stopped, |wave, first_row| {
            sums.rows = first_row + wave.iter().map(|d| d.rows.rows().n_rows() as u64).sum::<u64>();
            let leaves = parallel::map(wave.len(), |k| {
                self.leaves(&wave[k]).map_err(|e| e.after_rows(first_row as usize + k * chunk))
            })?;
            for (total, folds) in leaves {
                sums.total.push(total, 1, AnyStats::merge)?;
                for (tree, leaf) in sums.folds.iter_mut().zip(folds) {
                    tree.push(leaf, 1, AnyStats::merge)?;
                }
            }
            Ok(())
        })?;
        Ok(sums)
    }

    /// The summaries of a batch: all of it, and each fold's part.
    fn leaves(&self, batch: &Dealt) -> Result<(AnyStats, Vec<AnyStats>)> {
        let total = self.leaf(&batch.rows)?;
        let folds = batch
            .places
            .iter()
            .map(|places| self.leaf(&batch.rows.select(places)))
            .collect::<Result<_>>()?;
        Ok((total, folds))
    }

    fn leaf(&self, rows: &Encoded) -> Result<AnyStats> {
        let unable = || self.estimator.unable("learn from a stream");
        let mut stats = self.estimator.no_rows().ok_or_else(unable)?;
        self.estimator.observe(&mut stats, &self.dataset(rows)?)?;
        Ok(stats)
    }

    fn dataset<'a>(&'a self, rows: &'a Encoded) -> Result<Dataset<'a>> {
        match self.goal {
            Goal::Classes(classes) => rows.dataset(classes),
            Goal::Numbers => rows.number_dataset(),
        }
    }

    /// Reads all rows, learns from them, and again without each fold.
    fn train_together<S: Stream>(
        self,
        stream: &S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Outcome, S::Error> {
        let width = self.features.n_features() as u64;
        if let Some(n) = self.n_rows {
            monitor.reserve("holding the rows together", n * width * 16)?;
        }
        let (mut parts, mut stopped) = (Vec::new(), None);
        self.each_wave(stream, monitor, 0, &mut stopped, |wave, _| {
            parts.extend(wave.into_iter().map(|dealt| dealt.rows));
            Ok(())
        })?;
        if stopped.is_some() {
            return Err(Error::Stopped.into());
        }
        let rows = Encoded::join(parts).ok_or(Error::NoRows)?;
        let fitted = self.estimator.fit(&self.dataset(&rows)?, monitor)?;
        let (mut evaluation, mut regression) = (None, None);
        if self.n_folds > 1 && fitted.certificate.stopped.is_none() {
            let mut folds = Folds::new(self.n_folds, self.goal.n_classes(), self.seed);
            let places = self.deal(&mut folds, &rows);
            let models: Vec<_> = places
                .iter()
                .map(|fold| {
                    let mut held = vec![false; rows.rows().n_rows()];
                    fold.iter().for_each(|i| held[*i] = true);
                    let others: Vec<usize> = (0..held.len()).filter(|i| !held[*i]).collect();
                    let others = rows.select(&others);
                    // Too few rows to leave any out: that fold cannot be judged.
                    let fitted = self.estimator.fit(&self.dataset(&others).ok()?, monitor).ok()?;
                    fitted.certificate.stopped.is_none().then_some(fitted)
                })
                .collect();
            let judged = judge_batch(&Dealt { rows, places }, &models, 1)?;
            if monitor.stop().is_none() {
                match self.goal {
                    Goal::Classes(classes) if !judged.classes.is_empty() => {
                        let mut sums = Evaluation::new(classes);
                        judged.classes.iter().for_each(|(codes, p)| sums.judge(codes, p));
                        evaluation = Some(sums);
                    }
                    Goal::Numbers if !judged.numbers.is_empty() => {
                        let mut sums = RegressionEvaluation::default();
                        judged.numbers.iter().for_each(|(y, p)| sums.judge(y, p));
                        regression = Some(sums);
                    }
                    _ => {}
                }
            }
        }
        let Training { estimator, features, .. } = self;
        let trained = Trained::new(estimator, features, fitted, None);
        Ok(Outcome { trained, evaluation, regression, bits: None })
    }

    /// For every fold, the model of all the others: running sums from both ends, so that no
    /// summary is ever subtracted.
    fn models_without_each(
        &self,
        folds: &[Option<AnyStats>],
    ) -> Result<Vec<Option<Fitted<AnyModel>>>> {
        let add = |sum: &Option<AnyStats>, next: &Option<AnyStats>| -> Result<Option<AnyStats>> {
            Ok(match (sum, next) {
                (Some(sum), Some(next)) => {
                    let mut sum = sum.clone();
                    sum.merge(next)?;
                    Some(sum)
                }
                (sum, next) => sum.clone().or_else(|| next.clone()),
            })
        };
        let mut before = vec![None];
        for fold in folds {
            let sum = add(&before[before.len() - 1], fold)?;
            before.push(sum);
        }
        let mut after = None;
        let mut models = Vec::new();
        for (k, fold) in folds.iter().enumerate().rev() {
            let others = add(&before[k], &after)?;
            // Too few rows to leave any out: that fold cannot be judged.
            models.push(others.and_then(|stats| self.estimator.finish(&stats, 0).ok()));
            after = add(fold, &after)?;
        }
        models.reverse();
        Ok(models)
    }

    fn judge<S: Stream>(
        &self,
        models: &[Option<Fitted<AnyModel>>],
        stream: &S,
        monitor: &Monitor<'_>,
        n_rows: u64,
    ) -> std::result::Result<Option<Judgement>, S::Error> {
        let none = Classes::default();
        let mut judgement = Judgement {
            classes: match self.goal {
                Goal::Classes(classes) => Evaluation::new(classes),
                Goal::Numbers => Evaluation::new(&none),
            },
            numbers: RegressionEvaluation::default(),
            information: Information::default(),
        };
        let mut stopped = None;
        let factors = (self.features.n_features() * self.goal.n_classes()).max(1) as u64;
        let telling = TELLING_ROWS.min(TELLING_FACTORS / factors).max(1);
        let stride = n_rows.div_ceil(telling).max(1) as usize;
        let chunk = self.chunk();
        self.each_wave(stream, monitor, 1, &mut stopped, |wave, first_row| {
            let judged = parallel::map(wave.len(), |k| {
                judge_batch(&wave[k], models, stride)
                    .map_err(|e| e.after_rows(first_row as usize + k * chunk))
            })?;
            for batch in judged {
                for (codes, log_proba) in batch.classes {
                    judgement.classes.judge(&codes, &log_proba);
                }
                for (numbers, predicted) in batch.numbers {
                    judgement.numbers.judge(&numbers, &predicted);
                }
                judgement.information.merge(&batch.information);
            }
            Ok(())
        })?;
        Ok(stopped.is_none().then_some(judgement))
    }

    /// Rows of a batch.
    fn chunk(&self) -> usize {
        self.estimator.chunk_rows(self.features.n_features(), self.features.layout())
    }

    /// The columns to read.
    fn reading(&self) -> Schema {
        match self.goal {
            Goal::Classes(classes) => self.features.reading(Some(classes)),
            Goal::Numbers => self.features.reading_numbers(),
        }
    }

    fn encode(&self, table: &Table) -> Result<Encoded> {
        match self.goal {
            Goal::Classes(classes) => self.features.encode(table, Some(classes)),
            Goal::Numbers => self.features.encode_numbers(table),
        }
    }

    /// The places of each fold's rows: balanced by class, where there are classes.
    fn deal(&self, folds: &mut Folds, rows: &Encoded) -> Vec<Vec<usize>> {
        match self.goal {
            Goal::Classes(_) => folds.split(&rows.codes),
            Goal::Numbers => folds.split(&vec![0; rows.numbers.len()]),
        }
    }

    /// Runs over the stream once, wave by wave, with rows made and dealt to folds.
    fn each_wave<S: Stream>(
        &self,
        stream: &S,
        monitor: &Monitor<'_>,
        pass: u64,
        stopped: &mut Option<Stop>,
        mut take: impl FnMut(Vec<Dealt>, u64) -> Result<()>,
    ) -> std::result::Result<(), S::Error> {
        let chunk = self.chunk();
        let passes = if self.n_folds > 1 { 2 } else { 1 };
        let total = self.n_rows.map(|n| n * passes);
        let mut folds = Folds::new(self.n_folds, self.goal.n_classes(), self.seed);
        let mut seen: u64 = 0;
        let schema = self.reading();
        stream.stream(&schema, chunk, &mut |tables: Vec<Table>| {
            *stopped = monitor.stop();
            if stopped.is_some() {
                return Ok(ControlFlow::Break(()));
            }
            let rows: u64 = tables.iter().map(|t| t.n_rows() as u64).sum();
            let encoded = parallel::map(tables.len(), |k| {
                self.encode(&tables[k]).map_err(|e| e.after_rows(seen as usize + k * chunk))
            })?;
            let wave = encoded
                .into_iter()
                .map(|rows| Dealt {
                    places: if self.n_folds > 1 {
                        self.deal(&mut folds, &rows)
                    } else {
                        Vec::new()
                    },
                    rows,
                })
                .collect();
            take(wave, seen)?;
            seen += rows;
            monitor.report(pass * self.n_rows.unwrap_or(0) + seen, total);
            Ok(ControlFlow::Continue(()))
        })
    }
}

/// Held-out rows, judged.
struct Judgement {
    classes: Evaluation,
    numbers: RegressionEvaluation,
    information: Information,
}

/// What the models that never saw them say about the rows of a batch.
#[derive(Default)]
struct Judged {
    classes: Vec<(Vec<u32>, mercer_num::Matrix)>,
    numbers: Vec<(Vec<f64>, Vec<f64>)>,
    information: Information,
}

/// Lets every fold's rows be judged by the model that never saw them.
fn judge_batch(
    batch: &Dealt,
    models: &[Option<Fitted<AnyModel>>],
    stride: usize,
) -> Result<Judged> {
    let mut judged = Judged::default();
    for (places, model) in batch.places.iter().zip(models) {
        let Some(model) = model else { continue };
        let part = batch.rows.select(places);
        let rows = part.rows();
        if let Some(model) = model.as_model().probabilistic() {
            judged.classes.push((part.codes.clone(), model.log_proba(&rows)?));
        }
        if let Some(model) = model.as_model().regressor() {
            judged.numbers.push((part.numbers.clone(), model.predict(&rows)?));
        }
        if let Some(model) = model.as_model().factored() {
            let some: Vec<usize> = (0..places.len()).filter(|i| places[*i] % stride == 0).collect();
            let some = part.select(&some);
            judged.information.push(model, &some.rows(), &some.codes)?;
        }
    }
    Ok(judged)
}
