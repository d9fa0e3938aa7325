//! Out-of-core stochastic gradient descent: several epochs over data that is read in parts.
//!
//! The updates are those of `descent.rs` in the order of the parts; shuffling permutes the rows within each part.
//! Convergence is tested on the mean loss of an epoch, each row evaluated before its update.

use super::descent::{Descent, SgdOptions, SgdResult, SgdTargets, Start};
use super::linear_classifier::{LinearClassifier, class_factors, n_outputs, zero_start};
use super::linear_regressor::{LinearRegressor, TrainingTotals};
use super::options::SgdSettings;
use crate::data::design_matrix::{DesignMatrix, RowEntries};
use crate::model::{BoxedOutOfCoreFit, Certificate, OutOfCoreFit, Shape, Stop};
use crate::prelude::*;
use std::marker::PhantomData;
use std::time::Instant;

/// The state of a fit between parts.
struct OutOfCoreSgd {
    params: SgdSettings,
    options: SgdOptions,
    descent: Descent,
    n_outputs: usize,
    width: usize,
    /// The number of rows, counted in the first epoch.
    n_rows: u64,
    in_first_epoch: bool,
    /// Whether an epoch has begun.
    in_epoch: bool,
    began: Instant,
}

impl OutOfCoreSgd {
    fn new(params: SgdSettings, shape: &Shape<'_>, start: Start) -> Result<OutOfCoreSgd> {
        if shape.n_columns == 0 {
            return Err(Error::NoFeatures);
        }
        let options = params.options_out_of_core(shape.layout)?;
        Ok(OutOfCoreSgd {
            n_outputs: start.weights.intercepts.len(),
            descent: Descent::new(&options, start),
            params,
            options,
            width: shape.n_columns,
            n_rows: 0,
            in_first_epoch: true,
            in_epoch: false,
            began: Instant::now(),
        })
    }

    fn take<'a>(
        &mut self,
        part: &Dataset<'a>,
        targets: SgdTargets<'a>,
        rows: &[usize],
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        if part.n_columns() != self.width {
            return Err(Error::Columns { found: part.n_columns(), expected: self.width });
        }
        if !std::mem::replace(&mut self.in_epoch, true) {
            self.descent.begin_epoch();
        }
        let data = self.params.training_data(part, targets, self.n_outputs, monitor)?;
        self.n_rows += if self.in_first_epoch { rows.len() as u64 } else { 0 };
        // The caller that reads the parts asks the monitor too, and stops the fit.
        self.descent.run_rows(&self.options, &data, &mut rows.to_vec(), monitor);
        Ok(())
    }

    fn end_pass(&mut self) -> Result<bool> {
        if self.n_rows == 0 {
            return Err(Error::NoRows);
        }
        (self.in_first_epoch, self.in_epoch) = (false, false);
        self.descent.end_epoch(&self.options, None, None)?;
        Ok(self.descent.continues(&self.options))
    }

    fn finish(mut self, stopped: Option<Stop>) -> Result<(SgdResult, Certificate)> {
        if self.n_rows == 0 {
            return Err(if stopped.is_some() { Error::Stopped } else { Error::NoRows });
        }
        if self.in_epoch {
            self.descent.end_epoch(&self.options, None, stopped)?;
        }
        let result = self.descent.finish(stopped);
        let objective = if self.options.loss.is_perceptron() {
            ("mistakes in the last epoch", result.mistakes.iter().sum::<u64>() as f64)
        } else if self.options.step_size.rate.is_passive_aggressive() {
            ("mean loss of the last epoch", result.value)
        } else {
            ("penalized mean loss of the last epoch", result.value)
        };
        let certificate = Certificate::stochastic(result.met_rule(&self.options), stopped)
            .objective(objective.0, objective.1)
            .note(format!("{} updates", result.updates.iter().sum::<u64>()))
            .note("rows were read in blocks, in the order of the file")
            .rows(self.n_rows)
            .iterations(result.epochs)
            .since(self.began);
        Ok((result, certificate))
    }
}

/// An out-of-core fit of a linear classifier.
struct OutOfCoreClassifier<K> {
    sgd: OutOfCoreSgd,
    classes: Classes,
    class_weights: Vec<f64>,
    kind: PhantomData<K>,
}

impl<K: Send + 'static> LinearClassifier<K> {
    /// Begins an out-of-core fit.
    pub(crate) fn fit_out_of_core(
        params: SgdSettings,
        shape: &Shape<'_>,
    ) -> Result<BoxedOutOfCoreFit<LinearClassifier<K>>> {
        let no_target = || Error::MissingColumn { name: "target".into() };
        let classes = shape.classes.cloned().ok_or_else(no_target)?;
        classes.check_several()?;
        let class_weights = class_factors(params.class_weight.as_ref(), &[], &classes, true)?;
        let start = zero_start(shape.n_columns, n_outputs(classes.len()));
        let sgd = OutOfCoreSgd::new(params, shape, start)?;
        Ok(Box::new(OutOfCoreClassifier { sgd, classes, class_weights, kind: PhantomData }))
    }
}

impl<K: Send + 'static> OutOfCoreFit for OutOfCoreClassifier<K> {
    type Model = LinearClassifier<K>;

    fn take(&mut self, part: &Dataset<'_>, rows: &[usize], monitor: &Monitor<'_>) -> Result<()> {
        let (codes, _) = part.class_target()?;
        let targets = SgdTargets::Classes { codes, class_weights: self.class_weights.clone() };
        self.sgd.take(part, targets, rows, monitor)
    }

    fn end_pass(&mut self) -> Result<bool> {
        self.sgd.end_pass()
    }

    fn finish(self: Box<Self>, stopped: Option<Stop>) -> Result<Fitted<LinearClassifier<K>>> {
        let (loss, width) = (self.sgd.options.loss, self.sgd.width);
        let (result, certificate) = self.sgd.finish(stopped)?;
        let t = 1 + result.epochs * certificate.rows;
        let model = LinearClassifier::from_result(result, &self.classes, width, t, loss);
        Ok(Fitted { model, certificate })
    }
}

/// An out-of-core fit of a linear regressor.
struct OutOfCoreRegressor<K> {
    sgd: OutOfCoreSgd,
    /// The weighted column sums, and the sum of the sample weights.
    column_sums: Vec<f64>,
    weight: f64,
    kind: PhantomData<K>,
}

impl<K: Send + 'static> LinearRegressor<K> {
    /// Begins an out-of-core fit.
    pub(crate) fn fit_out_of_core(
        params: SgdSettings,
        shape: &Shape<'_>,
    ) -> Result<BoxedOutOfCoreFit<LinearRegressor<K>>> {
        let sgd = OutOfCoreSgd::new(params, shape, zero_start(shape.n_columns, 1))?;
        let column_sums = vec![0.0; shape.n_columns];
        Ok(Box::new(OutOfCoreRegressor { sgd, column_sums, weight: 0.0, kind: PhantomData }))
    }
}

impl<K: Send + 'static> OutOfCoreFit for OutOfCoreRegressor<K> {
    type Model = LinearRegressor<K>;

    fn take(&mut self, part: &Dataset<'_>, rows: &[usize], monitor: &Monitor<'_>) -> Result<()> {
        let y = part.regression_target()?;
        if self.sgd.in_first_epoch {
            let design = DesignMatrix::by_rows(part.rows(), false);
            for i in rows {
                let weight = part.weights().get(*i).copied().unwrap_or(1.0);
                self.weight += weight;
                let mut add = |j: usize, x: f64| self.column_sums[j] += weight * x;
                match design.row(*i) {
                    RowEntries::Dense(row) => row.iter().enumerate().for_each(|(j, x)| add(j, *x)),
                    RowEntries::Sparse(columns, values) => {
                        columns.iter().zip(values).for_each(|(j, x)| add(*j as usize, *x));
                    }
                }
            }
        }
        self.sgd.take(part, SgdTargets::Regression(y), rows, monitor)
    }

    fn end_pass(&mut self) -> Result<bool> {
        self.sgd.end_pass()
    }

    fn finish(self: Box<Self>, stopped: Option<Stop>) -> Result<Fitted<LinearRegressor<K>>> {
        let (result, certificate) = self.sgd.finish(stopped)?;
        let t = 1 + result.epochs * certificate.rows;
        let totals = TrainingTotals { column_sums: self.column_sums, weight: self.weight, t };
        Ok(Fitted { model: LinearRegressor::from_result(result, totals), certificate })
    }
}
