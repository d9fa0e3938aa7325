//! Standardization of the regression target during a fit.
//!
//! The width of the insensitive tube, the bound on dual variables, the step sizes and the initial weights of some
//! estimators are in units of the target. Fitted to `(y - mean) / deviation`, a model f predicts
//! `deviation f(x) + mean`, which is again a model of the same kind: its weights, dual coefficients or last layer are
//! multiplied by the deviation, and the mean is added to the intercept. So predictions, intervals, explanations and
//! coefficients of the stored model are in the original units.

use super::Task;
use super::training::Training;
use crate::catalog::{AnyModel, Capability};
use crate::data::SharedGram;
use crate::error::Result;
use crate::explain::short;
use crate::model::{Fitted, Monitor};
use crate::preprocess::{Encoded, TargetScale};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The mean and the standard deviation of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TargetScaling {
    pub mean: f64,
    pub deviation: f64,
}

impl TargetScaling {
    /// The scaling of some targets; `None` if they are all equal.
    pub fn of(targets: &[f64], weights: &[f64]) -> Option<TargetScaling> {
        let mut sums = TargetSums::default();
        sums.observe(targets, weights);
        sums.scaling()
    }

    /// The standardized targets.
    pub fn standardized(&self, targets: &[f64]) -> Vec<f64> {
        targets.iter().map(|y| (y - self.mean) / self.deviation).collect()
    }

    /// The model in the original units, from one of the standardized target.
    pub fn undo(&self, mut fitted: Fitted<AnyModel>) -> Fitted<AnyModel> {
        fitted.model.rescale_target(self.mean, self.deviation);
        fitted.certificate = fitted.certificate.note(format!(
            "the target was standardized for the fit (mean {}, standard deviation {}); the parameters and the \
             objective refer to the standardized target",
            short(self.mean),
            short(self.deviation)
        ));
        fitted
    }
}

/// Weighted sums of targets, merged by the formula of Chan, Golub & LeVeque (1983).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetSums {
    weight: f64,
    mean: f64,
    squares: f64,
}

impl TargetSums {
    pub fn observe(&mut self, targets: &[f64], weights: &[f64]) {
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let total: f64 = (0..targets.len()).map(weight).sum();
        if total <= 0.0 {
            return;
        }
        let mean = targets.iter().enumerate().map(|(i, y)| weight(i) * y).sum::<f64>() / total;
        let squares: f64 =
            targets.iter().enumerate().map(|(i, y)| weight(i) * (y - mean).powi(2)).sum();
        self.merge(&TargetSums { weight: total, mean, squares });
    }

    /// Adds the sums of other targets.
    pub fn merge(&mut self, other: &TargetSums) {
        if other.weight <= 0.0 {
            return;
        }
        let (n, delta) = (self.weight + other.weight, other.mean - self.mean);
        self.squares += other.squares + delta * delta * self.weight * other.weight / n;
        self.mean += delta * other.weight / n;
        self.weight = n;
    }

    /// Whether targets can have these sums.
    pub fn is_valid(&self) -> bool {
        let sums = [self.weight, self.mean, self.squares];
        sums.iter().all(|x| x.is_finite()) && self.weight >= 0.0 && self.squares >= 0.0
    }

    pub fn scaling(&self) -> Option<TargetScaling> {
        let deviation = (self.squares / self.weight).sqrt();
        (deviation > 0.0 && deviation.is_finite())
            .then_some(TargetScaling { mean: self.mean, deviation })
    }
}

/// What a fit shares with others of the same rows: kernel values, and the model that it starts from.
#[derive(Clone, Copy, Default)]
pub(crate) struct SharedFit<'a> {
    pub gram: Option<&'a SharedGram>,
    pub start: Option<&'a AnyModel>,
}

impl Training<'_> {
    /// Whether fits standardize the target.
    pub(super) fn standardizes_target(&self) -> bool {
        matches!(self.task, Task::Regression)
            && self.recipe.target == TargetScale::Standard
            && self.estimator.card().can(Capability::TargetScaleDependent)
    }

    /// The scaling without the shift, if the model has no intercept that could undo it.
    pub(super) fn undoable(&self, scaling: TargetScaling) -> TargetScaling {
        match self.estimator.params().get("fit_intercept") {
            Some(Value::Bool(false)) => TargetScaling { mean: 0.0, ..scaling },
            _ => scaling,
        }
    }

    /// Fits rows in memory, and the standardized target if the recipe asks for it. The scaling follows from the rows
    /// of this fit alone, so held-out rows have no part in it.
    pub(crate) fn fit_rows(
        &self,
        rows: &Encoded,
        monitor: &Monitor<'_>,
    ) -> Result<(Fitted<AnyModel>, Option<TargetScaling>)> {
        let (fitted, scaling) = self.fit_standardized(rows, SharedFit::default(), monitor)?;
        Ok(match scaling {
            Some(scaling) => (scaling.undo(fitted), Some(scaling)),
            None => (fitted, None),
        })
    }

    /// As [`Training::fit_rows`], without undoing the scaling: the model can be the start of another fit.
    pub(crate) fn fit_standardized(
        &self,
        rows: &Encoded,
        shared: SharedFit<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<(Fitted<AnyModel>, Option<TargetScaling>)> {
        let scaling = match self.standardizes_target() {
            true => TargetScaling::of(&rows.targets, &rows.weights),
            false => None,
        };
        let scaling = scaling.map(|scaling| self.undoable(scaling));
        let targets = scaling.map(|scaling| scaling.standardized(&rows.targets));
        let mut data = match &targets {
            Some(targets) => rows.regression_dataset_of(targets)?,
            None => self.dataset(rows)?,
        };
        if let Some(gram) = shared.gram {
            data = data.with_gram(gram)?;
        }
        let fitted = match shared.start {
            Some(start) => self.estimator.fit_from(start, &data, monitor)?,
            None => self.estimator.fit(&data, monitor)?,
        };
        Ok((fitted, scaling))
    }
}

impl AnyModel {
    /// Changes the model of a regression target `z` to that of `deviation z + mean`. Does nothing for estimators whose
    /// parameters do not depend on the scale of the target.
    fn rescale_target(&mut self, mean: f64, deviation: f64) {
        let scale = |values: &mut [f64]| values.iter_mut().for_each(|v| *v *= deviation);
        let shift = |values: &mut [f64]| values.iter_mut().for_each(|v| *v = *v * deviation + mean);
        match self {
            AnyModel::Svr(model) => model.expansion.rescale_outputs(mean, deviation),
            AnyModel::NuSvr(model) => {
                model.expansion.rescale_outputs(mean, deviation);
                model.epsilon *= deviation;
            }
            AnyModel::KernelRidge(model) => {
                model.expansion.rescale_outputs(mean, deviation);
                model.scale *= deviation * deviation;
                model.leave_one_out_error =
                    model.leave_one_out_error.map(|error| error * deviation * deviation);
            }
            AnyModel::LinearSvr(model) => {
                scale(&mut model.coefficients);
                model.intercept = model.intercept * deviation + mean;
            }
            AnyModel::SgdRegressor(model) => {
                scale(&mut model.coefficients);
                shift(&mut model.intercepts);
                if let Some(last) = &mut model.last {
                    scale(&mut last.last_coefficients);
                    shift(&mut last.last_intercepts);
                }
            }
            AnyModel::PassiveAggressiveRegressor(model) => {
                scale(&mut model.coefficients);
                shift(&mut model.intercepts);
                if let Some(last) = &mut model.last {
                    scale(&mut last.last_coefficients);
                    shift(&mut last.last_intercepts);
                }
            }
            AnyModel::MlpRegressor(model) => {
                if let (Some(weights), Some(intercepts)) =
                    (model.coefs.last_mut(), model.intercepts.last_mut())
                {
                    weights.iter_mut().for_each(|w| *w *= deviation);
                    shift(intercepts);
                }
                model.loss *= deviation * deviation;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_depend_on_the_parts() {
        let y = [3.0, 7.0, 7.0, 19.0];
        let mut parts = TargetSums::default();
        y.chunks(3).for_each(|part| parts.observe(part, &[]));

        // Mean 9, variance (36 + 4 + 4 + 100) / 4.
        let whole = TargetScaling::of(&y, &[]).unwrap();
        assert_eq!(whole, TargetScaling { mean: 9.0, deviation: 6.0 });
        assert!((parts.scaling().unwrap().deviation - 6.0).abs() < 1e-12);
        assert_eq!(whole.standardized(&[9.0, 15.0]), [0.0, 1.0]);
        assert_eq!(TargetScaling::of(&[2.0, 2.0], &[]), None, "a constant target has no scale");
    }
}
