//! The state of a fit: a model, or the statistics of too few rows for one.

use super::Fitted;
use crate::error::raised;
use mercer::catalog::{AnyStats, Estimator};
use mercer::file;
use mercer::model::{
    Classifier, Clusterer, Generative, Model, Monitor, Regressor, Stop, Transformer, Tree,
};
use mercer::preprocess::Features;
use mercer::train::Trained;
use mercer::{Error, Result};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The state of a fit.
pub(super) enum State {
    /// A model.
    Ready(Box<Trained>),
    /// The statistics of too few rows for a model, and the error that a fit of them gives.
    Waiting(Box<Statistics>, Error),
}

impl State {
    pub fn ready(trained: Trained) -> State {
        State::Ready(Box::new(trained))
    }
}

/// The sufficient statistics of the rows of a fit, with everything that a model is made from.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statistics {
    pub estimator: Estimator,
    pub features: Features,
    pub stats: AnyStats,
    pub rows: u64,
}

impl Statistics {
    /// The model, or the statistics themselves if there are too few rows for one.
    pub fn finish(
        self,
        stopped: Option<Stop>,
        start: Instant,
        monitor: &Monitor<'_>,
    ) -> Result<State> {
        match self.estimator.finish_within(&self.stats, self.rows, monitor) {
            Ok(mut fitted) => {
                fitted.certificate = fitted.certificate.stopped_by(stopped).since(start);
                let Statistics { estimator, features, stats, .. } = self;
                Ok(State::ready(Trained::new(estimator, features, fitted, Some(stats))))
            }
            Err(why @ (Error::OneClass { .. } | Error::ZeroVariance { .. } | Error::NoRows)) => {
                Ok(State::Waiting(Box::new(self), why))
            }
            Err(why) => Err(why),
        }
    }

    pub fn merge(mut self, other: &Statistics) -> Result<State> {
        if self.estimator != other.estimator || self.features != other.features {
            return Err(Error::Merge { why: "the parameters or columns differ".into() });
        }
        self.stats.merge(&other.stats)?;
        self.rows += other.rows;
        self.finish(None, Instant::now(), &Monitor::quiet())
    }

    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        file::to_bytes(Tree::of(self).map_err(|e| Error::File(e.to_string()))?)
    }

    /// `None` if the bytes are not those of statistics.
    pub fn from_bytes(bytes: &[u8]) -> Option<Result<State>> {
        let statistics: Statistics = file::from_bytes(bytes).ok()?.into_value().ok()?;
        let checked = statistics
            .estimator
            .check()
            .and_then(|()| statistics.features.check())
            .and_then(|()| statistics.stats.check());
        Some(checked.and_then(|()| statistics.finish(None, Instant::now(), &Monitor::quiet())))
    }
}

/// The parts of the state, and the capabilities of the model.
impl Fitted {
    /// A trained model.
    pub(crate) fn of_trained(trained: Trained) -> Fitted {
        Fitted::of(State::ready(trained))
    }

    pub(super) fn of(state: State) -> Fitted {
        Fitted { state, interrupt: std::sync::Mutex::default() }
    }

    /// The model, or the reason why there is none yet.
    pub(super) fn trained(&self) -> PyResult<&Trained> {
        match &self.state {
            State::Ready(trained) => Ok(trained),
            State::Waiting(_, why) => Err(raised(why.clone())),
        }
    }

    pub(super) fn estimator(&self) -> &Estimator {
        match &self.state {
            State::Ready(trained) => &trained.estimator,
            State::Waiting(statistics, _) => &statistics.estimator,
        }
    }

    pub(super) fn features(&self) -> &Features {
        match &self.state {
            State::Ready(trained) => &trained.features,
            State::Waiting(statistics, _) => &statistics.features,
        }
    }

    pub(super) fn model(&self) -> PyResult<&dyn Model> {
        Ok(self.trained()?.fitted.model.as_model())
    }

    pub(super) fn classifier(&self) -> PyResult<&dyn Classifier> {
        self.model()?.classifier().ok_or_else(|| self.unable("classify"))
    }

    pub(super) fn generative(&self) -> PyResult<&dyn Generative> {
        self.model()?.generative().ok_or_else(|| self.unable("compute densities"))
    }

    pub(super) fn transformer(&self) -> PyResult<&dyn Transformer> {
        self.model()?.transformer().ok_or_else(|| self.unable("transform rows"))
    }

    pub(super) fn clusterer(&self) -> PyResult<&dyn Clusterer> {
        self.model()?.clusterer().ok_or_else(|| self.unable("find clusters"))
    }

    pub(super) fn regressor(&self) -> PyResult<&dyn Regressor> {
        self.model()?.regressor().ok_or_else(|| self.unable("predict regression targets"))
    }

    /// The error for an operation that the model does not support.
    pub(super) fn unable(&self, operation: &str) -> PyErr {
        raised(self.estimator().unable(operation))
    }
}
