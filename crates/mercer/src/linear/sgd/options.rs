//! Parameters shared by the estimators trained by stochastic gradient descent, and the training data they run on.

use super::descent::{SgdData, SgdOptions, SgdTargets};
use super::learning_rate::{Average, LearningRate, StepSize};
use super::loss::Loss;
use crate::data::ClassWeight;
use crate::data::design_matrix::DesignMatrix;
use crate::error::{Error, Result};
use crate::linear::logistic::Penalty;
use crate::model::Monitor;
use crate::prelude::Dataset;
use mercer_num::Rows;
use mercer_num::parallel::Layout;
use mercer_num::random::Random;
use mercer_num::rows::Missing;

/// The default relative step size of the intercept for sparse rows, whose weights are updated far less often than the
/// intercept (as in scikit-learn).
const SPARSE_INTERCEPT_DECAY: f64 = 0.01;

/// The parameters of an estimator.
pub(crate) struct SgdSettings {
    pub class_weight: Option<ClassWeight>,
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
    /// The fraction of the rows held out for early stopping.
    pub validation: Option<f64>,
}

impl SgdSettings {
    /// The options of a fit in memory, or of a single epoch (`partial_fit`).
    pub fn options(&self, rows: &Rows<'_>, single_epoch: bool) -> Result<SgdOptions> {
        let max_epochs = if single_epoch { 1 } else { self.max_iter as u64 };
        self.build_options(matches!(rows, Rows::Sparse(_)), max_epochs, single_epoch)
    }

    /// The options of an out-of-core fit.
    pub fn options_out_of_core(&self, layout: Layout) -> Result<SgdOptions> {
        self.build_options(layout == Layout::Sparse, self.max_iter as u64, true)
    }

    fn build_options(
        &self,
        sparse: bool,
        max_epochs: u64,
        partial_data: bool,
    ) -> Result<SgdOptions> {
        let alpha = if self.penalty == Penalty::None { 0.0 } else { self.alpha };
        let ratio = match self.penalty {
            Penalty::L1 => 1.0,
            Penalty::ElasticNet => self.l1_ratio,
            Penalty::L2 | Penalty::None => 0.0,
        };
        let step_size = StepSize {
            rate: self.rate,
            eta0: self.eta0,
            power_t: self.power_t,
            // `optimal` depends on alpha even without a penalty.
            alpha: self.alpha,
        };
        step_size.check()?;
        if self.rate.is_passive_aggressive()
            && !matches!(self.loss, Loss::Hinge(1.0) | Loss::EpsilonInsensitive(_))
        {
            return Err(Error::Parameter {
                name: "learning_rate".into(),
                found: "a passive-aggressive rate with another loss".into(),
                expected: "with the loss `hinge`, or `epsilon_insensitive` for regression".into(),
            });
        }
        if partial_data && self.validation.is_some() {
            return Err(Error::Parameter {
                name: "early_stopping".into(),
                found: "true".into(),
                expected: "false if rows are learned in parts: no rows are held out for validation"
                    .into(),
            });
        }
        let default_decay = if sparse { SPARSE_INTERCEPT_DECAY } else { 1.0 };
        Ok(SgdOptions {
            loss: self.loss,
            l2_penalty: alpha * (1.0 - ratio),
            l1_penalty: alpha * ratio,
            step_size,
            fit_intercept: self.fit_intercept,
            intercept_gradient: 0.0,
            intercept_decay: self.intercept_decay.unwrap_or(default_decay),
            average: self.average.first(),
            max_epochs,
            tol: self.tol,
            n_iter_no_change: self.n_iter_no_change as u64,
            shuffle: self.shuffle.then_some(self.random_state as u64),
        })
    }

    /// Prepares rows for `m` outputs.
    pub fn training_data<'a>(
        &self,
        data: &Dataset<'a>,
        targets: SgdTargets<'a>,
        m: usize,
        monitor: &Monitor<'_>,
    ) -> Result<SgdData<'a>> {
        let (n, width) = (data.n_rows(), data.n_columns());
        data.check_cells(Missing::Refused)?;
        if !data.weights().is_empty() && data.weights().iter().sum::<f64>() <= 0.0 {
            return Err(Error::NoRows);
        }
        monitor.reserve("storing the order of rows", 24 * n as u64)?;
        monitor.reserve("storing predictions of all rows", 16 * (n * m) as u64)?;
        monitor.reserve("storing weights", 8 * 6 * ((width + 1) * m) as u64)?;
        let design = DesignMatrix::by_rows(data.rows(), self.fit_intercept);
        let squared_norms = design.squared_norms();
        let held_out = self.held_out(&targets, n)?;
        Ok(SgdData { design, targets, sample_weights: data.weights(), squared_norms, held_out })
    }

    /// Draws the validation rows, stratified by class.
    fn held_out(&self, targets: &SgdTargets<'_>, n: usize) -> Result<Vec<usize>> {
        let Some(fraction) = self.validation else { return Ok(Vec::new()) };
        let group = |i: usize| match targets {
            SgdTargets::Classes { codes, .. } => codes[i] as usize,
            SgdTargets::Regression(_) | SgdTargets::Positive => 0,
        };
        let n_groups = (0..n).map(group).max().map_or(0, |last| last + 1);
        let mut groups = vec![Vec::new(); n_groups];
        (0..n).for_each(|i| groups[group(i)].push(i));
        let mut random = Random::new(self.random_state as u64);
        let mut drawn: Vec<usize> = Vec::new();
        for rows in &mut groups {
            random.shuffle(rows);
            let count = (fraction * rows.len() as f64).round() as usize;
            drawn.extend(&rows[..count]);
        }
        if drawn.is_empty() || drawn.len() == n {
            return Err(Error::Parameter {
                name: "validation_fraction".into(),
                found: fraction.to_string(),
                expected: format!(
                    "a fraction of {n} rows that leaves some for training and some for validation"
                ),
            });
        }
        drawn.sort_unstable();
        Ok(drawn)
    }
}
