//! What there is after some rows: a model, or a summary of rows that are too few for one.

use mercer::catalog::{AnyStats, Estimator};
use mercer::file;
use mercer::model::Tree;
use mercer::model::{Monitor, Stop};
use mercer::preprocess::Features;
use mercer::train::Trained;
use mercer::{Error, Result};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// What there is after some rows.
pub(super) enum State {
    /// A model.
    Ready(Box<Trained>),
    /// Rows that are too few for one yet, and what is missing.
    Waiting(Box<Learned>, Error),
}

impl State {
    pub fn ready(trained: Trained) -> State {
        State::Ready(Box::new(trained))
    }
}

/// What was learned from rows, before a model is made of it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Learned {
    pub estimator: Estimator,
    pub features: Features,
    pub stats: AnyStats,
    pub rows: u64,
}

impl Learned {
    /// Makes the model, or waits for rows that allow one.
    pub fn finish(
        self,
        stopped: Option<Stop>,
        start: Instant,
        monitor: &Monitor<'_>,
    ) -> Result<State> {
        match self.estimator.finish_within(&self.stats, self.rows, monitor) {
            Ok(mut fitted) => {
                fitted.certificate = fitted.certificate.stopped_by(stopped).since(start);
                let Learned { estimator, features, stats, .. } = self;
                Ok(State::ready(Trained::new(estimator, features, fitted, Some(stats))))
            }
            Err(why @ (Error::OneClass { .. } | Error::ZeroVariance { .. } | Error::NoRows)) => {
                Ok(State::Waiting(Box::new(self), why))
            }
            Err(why) => Err(why),
        }
    }

    pub fn merge(mut self, other: &Learned) -> Result<State> {
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

    /// `None` if the bytes hold something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Result<State>> {
        let learned: Learned = file::from_bytes(bytes).ok()?.into_value().ok()?;
        let checked = learned
            .estimator
            .check()
            .and_then(|()| learned.features.check())
            .and_then(|()| learned.stats.check());
        Some(checked.and_then(|()| learned.finish(None, Instant::now(), &Monitor::quiet())))
    }
}
