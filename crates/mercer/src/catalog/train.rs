//! From a stream of tables to a model with its proof and its cross-validated figures.
//!
//! One pass gathers the summary of all rows and of every fold; a model for judging fold `f` is made
//! from the summaries of the others, so ten folds cost no more reading than one fit. A second pass
//! lets every row be judged by the model that never saw it.

use super::{AnyModel, AnyStats, Estimator, Trained};
use crate::data::{Classes, Stream, Table};
use crate::error::{Error, Result};
use crate::evaluate::{Evaluation, Folds, Information};
use crate::model::{Fitted, Monitor, Stop, chunk_rows};
use crate::prepare::{Encoded, Features};
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
    /// The classes of the target.
    pub classes: &'a Classes,
    /// How many rows there are, if known.
    pub n_rows: Option<u64>,
    /// How many folds judge the model; fewer than two skip it.
    pub n_folds: usize,
    /// What the folds are drawn by.
    pub seed: u64,
}

/// What training gives.
pub struct Outcome {
    /// The model of all rows.
    pub trained: Trained,
    /// Held-out rows judged; `None` without folds or when time ran out before.
    pub evaluation: Option<Evaluation>,
    /// What each feature tells about the class on held-out rows, in bits.
    pub bits: Option<Vec<f64>>,
}

/// Trains an estimator that learns by statistics.
///
/// # Errors
/// What reading or learning failed with.
pub fn train<S: Stream>(
    training: Training<'_>,
    stream: &S,
    monitor: &Monitor<'_>,
) -> std::result::Result<Outcome, S::Error> {
    let start = Instant::now();
    training.classes.check_several()?;
    training.estimator.check()?;
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
    let (evaluation, information) = judged.unzip();
    let Training { estimator, features, .. } = training;
    Ok(Outcome {
        trained: Trained::new(estimator, features, fitted, Some(stats)),
        evaluation,
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
        let width = self.features.n_features() as u64;
        let summaries = (self.n_folds as u64 + 8) * self.classes.len() as u64;
        monitor.reserve("keeping statistics by class", summaries * width * 24)?;
        let mut sums = Sums {
            total: Tree::new(),
            folds: (0..self.n_folds).map(|_| Tree::new()).collect(),
            rows: 0,
            stopped: None,
        };
        let chunk = self.chunk();
        self.each_wave(stream, monitor, 0, &mut sums.stopped, |wave, first_row| {
            sums.rows = first_row + wave.iter().map(|d| d.rows.codes.len() as u64).sum::<u64>();
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
        self.estimator.observe(&mut stats, &rows.dataset(self.classes)?)?;
        Ok(stats)
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
    ) -> std::result::Result<Option<(Evaluation, Information)>, S::Error> {
        let mut evaluation = Evaluation::new(self.classes);
        let mut information = Information::default();
        let mut stopped = None;
        let factors = (self.features.n_features() * self.classes.len()).max(1) as u64;
        let telling = TELLING_ROWS.min(TELLING_FACTORS / factors).max(1);
        let stride = n_rows.div_ceil(telling).max(1) as usize;
        let chunk = self.chunk();
        self.each_wave(stream, monitor, 1, &mut stopped, |wave, first_row| {
            let judged = parallel::map(wave.len(), |k| {
                judge_batch(&wave[k], models, stride)
                    .map_err(|e| e.after_rows(first_row as usize + k * chunk))
            })?;
            for (folds, telling) in judged {
                for (codes, log_proba) in folds {
                    evaluation.judge(&codes, &log_proba);
                }
                information.merge(&telling);
            }
            Ok(())
        })?;
        Ok(stopped.is_none().then_some((evaluation, information)))
    }

    /// Rows of a batch.
    fn chunk(&self) -> usize {
        chunk_rows(self.features.n_features(), self.features.layout())
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
        let features = &self.features;
        let chunk = self.chunk();
        let passes = if self.n_folds > 1 { 2 } else { 1 };
        let total = self.n_rows.map(|n| n * passes);
        let mut folds = Folds::new(self.n_folds, self.classes.len(), self.seed);
        let mut seen: u64 = 0;
        let schema = features.reading(Some(self.classes));
        stream.stream(&schema, chunk, &mut |tables: Vec<Table>| {
            *stopped = monitor.stop();
            if stopped.is_some() {
                return Ok(ControlFlow::Break(()));
            }
            let rows: u64 = tables.iter().map(|t| t.n_rows() as u64).sum();
            let encoded = parallel::map(tables.len(), |k| {
                features
                    .encode(&tables[k], Some(self.classes))
                    .map_err(|e| e.after_rows(seen as usize + k * chunk))
            })?;
            let wave = encoded
                .into_iter()
                .map(|rows| Dealt {
                    places: if self.n_folds > 1 { folds.split(&rows.codes) } else { Vec::new() },
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

type Judged = (Vec<(Vec<u32>, mercer_num::Matrix)>, Information);

/// Lets every fold's rows be judged by the model that never saw them.
fn judge_batch(
    batch: &Dealt,
    models: &[Option<Fitted<AnyModel>>],
    stride: usize,
) -> Result<Judged> {
    let mut folds = Vec::new();
    let mut information = Information::default();
    for (places, model) in batch.places.iter().zip(models) {
        let Some(model) = model else { continue };
        let part = batch.rows.select(places);
        let rows = part.rows();
        if let Some(model) = model.as_model().probabilistic() {
            folds.push((part.codes.clone(), model.log_proba(&rows)?));
        }
        if let Some(model) = model.as_model().factored() {
            let some: Vec<usize> = (0..places.len()).filter(|i| places[*i] % stride == 0).collect();
            let some = part.select(&some);
            information.push(model, &some.rows(), &some.codes)?;
        }
    }
    Ok((folds, information))
}
