//! What all learners by row are asked for, and how the rows are laid out for them.

use super::descent::{Aims, SgdData, SgdOptions};
use super::learning_rate::{Average, LearningRate, StepSize};
use super::loss::Loss;
use crate::data::design_matrix::DesignMatrix;
use crate::error::{Error, Result};
use crate::linear::logistic::Penalty;
use crate::model::Monitor;
use crate::prelude::Dataset;
use mercer_num::Rows;
use mercer_num::parallel::Layout;
use mercer_num::random::Random;
use mercer_num::rows::Missing;

/// How long the steps of the constant terms are where rows are sparse and nobody said: most cells of such
/// rows are zero, so that the constant would learn far more often than any weight.
const SPARSE_DECAY: f64 = 0.01;

/// What an estimator asks for.
pub(crate) struct Asked {
    pub loss: Loss,
    pub penalty: Penalty,
    pub alpha: f64,
    pub l1_ratio: f64,
    pub rate: LearningRate,
    pub eta0: f64,
    pub power_t: f64,
    pub fit_intercept: bool,
    pub intercept_decay: Option<f64>,
    pub average: Average,
    pub max_iter: usize,
    pub tol: Option<f64>,
    pub n_iter_no_change: usize,
    pub shuffle: bool,
    pub random_state: usize,
    /// The share of the rows that judge the passes.
    pub validation: Option<f64>,
}

impl Asked {
    /// How to step over rows; with `once`, a single time.
    pub fn plan(&self, rows: &Rows<'_>, once: bool) -> Result<SgdOptions> {
        let passes = if once { 1 } else { self.max_iter as u64 };
        self.plan_passes(matches!(rows, Rows::Sparse(_)), passes, once)
    }

    /// How to step over rows of which only a part is seen at a time.
    pub fn plan_in_parts(&self, layout: Layout) -> Result<SgdOptions> {
        self.plan_passes(layout == Layout::Sparse, self.max_iter as u64, true)
    }

    fn plan_passes(&self, sparse: bool, passes: u64, in_parts: bool) -> Result<SgdOptions> {
        let alpha = if self.penalty == Penalty::None { 0.0 } else { self.alpha };
        let ratio = match self.penalty {
            Penalty::L1 => 1.0,
            Penalty::ElasticNet => self.l1_ratio,
            Penalty::L2 | Penalty::None => 0.0,
        };
        let pace = StepSize {
            rate: self.rate,
            eta0: self.eta0,
            power_t: self.power_t,
            // `optimal` follows the number itself, whatever is priced with it.
            alpha: self.alpha,
        };
        pace.check()?;
        if self.rate.by_row() && !matches!(self.loss, Loss::Hinge(1.0) | Loss::Tube(_)) {
            return Err(Error::Parameter {
                name: "learning_rate".into(),
                found: "a passive-aggressive rate with another loss".into(),
                expected: "with the loss `hinge`, or `epsilon_insensitive` for numbers".into(),
            });
        }
        if in_parts && self.validation.is_some() {
            return Err(Error::Parameter {
                name: "early_stopping".into(),
                found: "true".into(),
                expected: "false where rows come in parts: none of them are kept to judge by"
                    .into(),
            });
        }
        let usual = if sparse { SPARSE_DECAY } else { 1.0 };
        Ok(SgdOptions {
            loss: self.loss,
            squared: alpha * (1.0 - ratio),
            absolute: alpha * ratio,
            pace,
            fit_intercept: self.fit_intercept,
            intercept_decay: self.intercept_decay.unwrap_or(usual),
            average: self.average.first(),
            passes,
            tol: self.tol,
            patience: self.n_iter_no_change as u64,
            shuffle: self.shuffle.then_some(self.random_state as u64),
        })
    }

    /// Lays rows out for `m` planes.
    pub fn ground<'a>(
        &self,
        data: &Dataset<'a>,
        aims: Aims<'a>,
        m: usize,
        monitor: &Monitor<'_>,
    ) -> Result<SgdData<'a>> {
        let (n, width) = (data.n_rows(), data.n_columns());
        data.check_cells(Missing::Refused)?;
        if !data.weights().is_empty() && data.weights().iter().sum::<f64>() <= 0.0 {
            return Err(Error::NoRows);
        }
        monitor.reserve("keeping the order of rows", 24 * n as u64)?;
        monitor.reserve("keeping scores of all rows", 16 * (n * m) as u64)?;
        monitor.reserve("keeping weights", 8 * 6 * ((width + 1) * m) as u64)?;
        let design = DesignMatrix::reading(data.rows(), self.fit_intercept);
        let squares = design.squared_lengths();
        let held_out = self.held_out(&aims, n)?;
        Ok(SgdData { design, aims, weights: data.weights(), squares, held_out })
    }

    /// Draws the rows that judge, the same share of every class.
    fn held_out(&self, aims: &Aims<'_>, n: usize) -> Result<Vec<usize>> {
        let Some(share) = self.validation else { return Ok(Vec::new()) };
        let group = |i: usize| match aims {
            Aims::Classes { codes, .. } => codes[i] as usize,
            Aims::Numbers(_) => 0,
        };
        let n_groups = (0..n).map(group).max().map_or(0, |last| last + 1);
        let mut groups = vec![Vec::new(); n_groups];
        (0..n).for_each(|i| groups[group(i)].push(i));
        let mut random = Random::new(self.random_state as u64);
        let mut drawn: Vec<usize> = Vec::new();
        for places in &mut groups {
            random.shuffle(places);
            let count = (share * places.len() as f64).round() as usize;
            drawn.extend(&places[..count]);
        }
        if drawn.is_empty() || drawn.len() == n {
            return Err(Error::Parameter {
                name: "validation_fraction".into(),
                found: share.to_string(),
                expected: format!(
                    "a share of {n} rows that leaves some to learn and some to judge"
                ),
            });
        }
        drawn.sort_unstable();
        Ok(drawn)
    }
}
