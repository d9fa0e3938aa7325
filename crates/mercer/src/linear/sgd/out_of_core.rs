//! Rows that come in parts, pass after pass: for rows that are too many to be held together.
//!
//! The steps are those of `descent.rs`, in the order of the parts; where rows are shuffled, they are within
//! each part. A pass is judged by the losses that its rows had when they came.

use super::descent::{Aims, Descent, Ended, SgdOptions, Start};
use super::linear_classifier::{LinearClassifier, at_zero, factors, outputs};
use super::linear_regressor::{At, LinearRegressor};
use super::rows::Asked;
use crate::data::ClassWeight;
use crate::data::design_matrix::{DesignMatrix, RowCells};
use crate::model::{BoxedParts, Certificate, InParts, Shape, Stop};
use crate::prelude::*;
use std::marker::PhantomData;
use std::time::Instant;

/// Steps under way over parts.
struct Walk {
    asked: Asked,
    plan: SgdOptions,
    descent: Descent,
    n_planes: usize,
    width: usize,
    /// Rows of the first pass.
    n_rows: u64,
    in_first_pass: bool,
    /// Whether a pass is under way.
    walks: bool,
    began: Instant,
}

impl Walk {
    fn new(asked: Asked, shape: &Shape<'_>, start: Start) -> Result<Walk> {
        if shape.n_columns == 0 {
            return Err(Error::NoFeatures);
        }
        let plan = asked.plan_in_parts(shape.layout)?;
        Ok(Walk {
            n_planes: start.now.constants.len(),
            descent: Descent::new(&plan, start),
            asked,
            plan,
            width: shape.n_columns,
            n_rows: 0,
            in_first_pass: true,
            walks: false,
            began: Instant::now(),
        })
    }

    fn take<'a>(
        &mut self,
        part: &Dataset<'a>,
        aims: Aims<'a>,
        rows: &[usize],
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        if part.n_columns() != self.width {
            return Err(Error::Columns { found: part.n_columns(), expected: self.width });
        }
        if !std::mem::replace(&mut self.walks, true) {
            self.descent.begin_pass();
        }
        let ground = self.asked.ground(part, aims, self.n_planes, monitor)?;
        self.n_rows += if self.in_first_pass { rows.len() as u64 } else { 0 };
        // Whoever brings the rows asks the monitor too, and ends.
        self.descent.look_at(&self.plan, &ground, &mut rows.to_vec(), monitor);
        Ok(())
    }

    fn end_pass(&mut self) -> Result<bool> {
        if self.n_rows == 0 {
            return Err(Error::NoRows);
        }
        (self.in_first_pass, self.walks) = (false, false);
        self.descent.end_pass(&self.plan, None, None)?;
        Ok(self.descent.goes_on(&self.plan))
    }

    fn finish(mut self, stopped: Option<Stop>) -> Result<(Ended, Certificate)> {
        if self.n_rows == 0 {
            return Err(if stopped.is_some() { Error::Stopped } else { Error::NoRows });
        }
        if self.walks {
            self.descent.end_pass(&self.plan, None, stopped)?;
        }
        let ended = self.descent.finish(stopped);
        let converged = self.plan.tol.is_none() || ended.settled || self.plan.passes <= 1;
        let objective = if self.plan.loss.counts_mistakes() {
            ("mistakes in the last epoch", ended.mistakes.iter().sum::<u64>() as f64)
        } else if self.plan.pace.rate.by_row() {
            ("mean loss of the last epoch", ended.value)
        } else {
            ("penalized mean loss of the last epoch", ended.value)
        };
        let certificate = Certificate::iterative(converged, stopped)
            .objective(objective.0, objective.1)
            .note(format!("{} updates", ended.updates.iter().sum::<u64>()))
            .note("rows were read in blocks, in the order of the file")
            .rows(self.n_rows)
            .iterations(ended.passes)
            .since(self.began);
        Ok((ended, certificate))
    }
}

/// Planes between classes whose rows come in parts.
struct ClassifierParts<K> {
    walk: Walk,
    classes: Classes,
    factors: Vec<f64>,
    kind: PhantomData<K>,
}

/// Begins planes between classes.
pub(crate) fn of_classes<K: Send + 'static>(
    asked: Asked,
    class_weight: Option<&ClassWeight>,
    shape: &Shape<'_>,
) -> Result<BoxedParts<LinearClassifier<K>>> {
    let no_target = || Error::MissingColumn { name: "target".into() };
    let classes = shape.classes.cloned().ok_or_else(no_target)?;
    classes.check_several()?;
    let factors = factors(class_weight, &[], &classes, true)?;
    let start = at_zero(shape.n_columns, outputs(classes.len()));
    let walk = Walk::new(asked, shape, start)?;
    Ok(Box::new(ClassifierParts { walk, classes, factors, kind: PhantomData }))
}

impl<K: Send + 'static> InParts for ClassifierParts<K> {
    type Model = LinearClassifier<K>;

    fn take(&mut self, part: &Dataset<'_>, rows: &[usize], monitor: &Monitor<'_>) -> Result<()> {
        let (codes, _) = part.class_target()?;
        let aims = Aims::Classes { codes, factors: self.factors.clone() };
        self.walk.take(part, aims, rows, monitor)
    }

    fn end_pass(&mut self) -> Result<bool> {
        self.walk.end_pass()
    }

    fn finish(self: Box<Self>, stopped: Option<Stop>) -> Result<Fitted<LinearClassifier<K>>> {
        let (loss, width) = (self.walk.plan.loss, self.walk.width);
        let (ended, certificate) = self.walk.finish(stopped)?;
        let t = 1 + ended.passes * certificate.rows;
        let model = LinearClassifier::of(ended, &self.classes, width, t, loss);
        Ok(Fitted { model, certificate })
    }
}

/// A plane through numbers whose rows come in parts.
struct RegressorParts<K> {
    walk: Walk,
    /// The weighted sums of the columns, and the weight.
    sums: Vec<f64>,
    weight: f64,
    kind: PhantomData<K>,
}

/// Begins a plane through numbers.
pub(crate) fn of_numbers<K: Send + 'static>(
    asked: Asked,
    shape: &Shape<'_>,
) -> Result<BoxedParts<LinearRegressor<K>>> {
    let walk = Walk::new(asked, shape, at_zero(shape.n_columns, 1))?;
    let sums = vec![0.0; shape.n_columns];
    Ok(Box::new(RegressorParts { walk, sums, weight: 0.0, kind: PhantomData }))
}

impl<K: Send + 'static> InParts for RegressorParts<K> {
    type Model = LinearRegressor<K>;

    fn take(&mut self, part: &Dataset<'_>, rows: &[usize], monitor: &Monitor<'_>) -> Result<()> {
        let y = part.number_target()?;
        if self.walk.in_first_pass {
            let design = DesignMatrix::reading(part.rows(), false);
            for i in rows {
                let weight = part.weights().get(*i).copied().unwrap_or(1.0);
                self.weight += weight;
                let mut add = |j: usize, x: f64| self.sums[j] += weight * x;
                match design.row(*i) {
                    RowCells::Dense(row) => row.iter().enumerate().for_each(|(j, x)| add(j, *x)),
                    RowCells::Sparse(columns, values) => {
                        columns.iter().zip(values).for_each(|(j, x)| add(*j as usize, *x));
                    }
                }
            }
        }
        self.walk.take(part, Aims::Numbers(y), rows, monitor)
    }

    fn end_pass(&mut self) -> Result<bool> {
        self.walk.end_pass()
    }

    fn finish(self: Box<Self>, stopped: Option<Stop>) -> Result<Fitted<LinearRegressor<K>>> {
        let (ended, certificate) = self.walk.finish(stopped)?;
        let t = 1 + ended.passes * certificate.rows;
        let at = At { sums: self.sums, weight: self.weight, t };
        Ok(Fitted { model: LinearRegressor::of(ended, at), certificate })
    }
}
