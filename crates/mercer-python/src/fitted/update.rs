//! New models from a fitted one: more rows, merged fits, fewer rows, decision rules, stored densities.

use super::Fitted;
use super::blocks::vector_in_blocks;
use super::columns::column_descriptions;
use super::fit::with_params;
use super::state::{State, Statistics};
use crate::array::{Batch, Matrix};
use crate::decision;
use crate::error::raised;
use crate::limits::Limits;
use crate::work;
use mercer::Result;
use mercer::decision::Densities;
use mercer::train::Trained;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use std::time::Instant;

impl Fitted {
    /// Adds the rows of `batch`, with the parameters of now.
    pub(super) fn with_rows(
        &self,
        py: Python<'_>,
        params: &str,
        batch: Batch<'_>,
        limits: &Limits,
    ) -> PyResult<Fitted> {
        let estimator = with_params(self.estimator().clone(), params)?;
        let columns = column_descriptions(&estimator, self.features());
        let batch = Batch { columns, ..batch };
        let data = batch.dataset()?;
        let state = work::run_by(py, limits.n_threads, |cancel| {
            let start = Instant::now();
            let mut statistics = Statistics { estimator, ..self.statistics()? };
            let monitor = limits.monitor(cancel);
            let part = statistics.estimator.gather(&data, &monitor)?;
            statistics.stats.merge(&part.stats)?;
            statistics.rows += part.rows;
            statistics.finish(part.stopped, start, &monitor)
        })?;
        Ok(Fitted::of(state))
    }

    pub(super) fn merged(&self, py: Python<'_>, other: &Fitted) -> PyResult<Fitted> {
        let state = work::run(py, |_| match (&self.state, &other.state) {
            (State::Ready(first), State::Ready(second)) => first.merge(second).map(State::ready),
            _ => self.statistics()?.merge(&other.statistics()?),
        })?;
        Ok(Fitted::of(state))
    }

    pub(super) fn without_rows(&self, py: Python<'_>, batch: Batch<'_>) -> PyResult<Fitted> {
        let columns = column_descriptions(self.estimator(), self.features());
        let batch = Batch { columns, ..batch };
        let data = batch.dataset()?;
        let trained = self.trained()?;
        let trained = work::run(py, |cancel| {
            let part = trained.estimator.gather(&data, &Limits::default().monitor(cancel))?;
            trained.forget(&part.stats, part.rows)
        })?;
        Ok(Fitted::of(State::ready(trained)))
    }

    /// With a decision rule, or without one if all options are `None`.
    pub(super) fn with_rule(
        &self,
        cost: Option<PyReadonlyArray2<'_, f64>>,
        reject: Option<f64>,
        old_priors: Option<Vec<f64>>,
        new_priors: Option<Vec<f64>>,
    ) -> PyResult<Fitted> {
        let mut trained = self.trained()?.clone();
        let n_classes = self.classifier()?.classes().len();
        let none = cost.is_none() && reject.is_none() && new_priors.is_none();
        let cost = cost.map(|cost| cost.as_array().to_owned());
        trained.decision = match none {
            true => None,
            false => Some(decision::rule(n_classes, cost, reject, old_priors, new_priors)?),
        };
        if let Some(rule) = &trained.decision {
            rule.check(n_classes).map_err(raised)?;
        }
        Ok(Fitted::of(State::ready(trained)))
    }

    pub(super) fn with_density_quantiles<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Fitted> {
        let model = self.generative()?;
        let rows = x.rows()?;
        let densities = work::run(py, |cancel| {
            vector_in_blocks(&rows, cancel, |block| model.log_density(block))
        })?;
        let mut trained = self.trained()?.clone();
        trained.densities = Some(Densities::of(&densities));
        Ok(Fitted::of(State::ready(trained)))
    }

    /// The sufficient statistics of the fit.
    fn statistics(&self) -> Result<Statistics> {
        match &self.state {
            State::Waiting(statistics, _) => Ok(Statistics::clone(statistics)),
            State::Ready(trained) => {
                let Trained { estimator, features, fitted, stats, .. } = &**trained;
                let unable = || {
                    estimator.unable("add rows to a fit: the model has no sufficient statistics")
                };
                Ok(Statistics {
                    estimator: estimator.clone(),
                    features: features.clone(),
                    stats: stats.clone().ok_or_else(unable)?,
                    rows: fitted.certificate.rows,
                })
            }
        }
    }
}
