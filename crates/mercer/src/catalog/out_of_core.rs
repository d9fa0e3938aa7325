//! Out-of-core fits of any estimator of the catalog.

use super::AnyModel;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::{
    BoxedOutOfCoreFit, BoxedRounds, Fitted, Monitor, OutOfCoreFit, RoundPenalty, RoundPoint,
    RoundProgress, RoundSums, Rounds, Stop,
};

/// A fit over parts of the rows whose model is wrapped as [`AnyModel`].
pub(crate) struct AnyOutOfCoreFit<M> {
    pub parts: BoxedOutOfCoreFit<M>,
    pub wrap: fn(M) -> AnyModel,
}

impl<M: 'static> OutOfCoreFit for AnyOutOfCoreFit<M> {
    type Model = AnyModel;

    fn take(&mut self, part: &Dataset<'_>, rows: &[usize], monitor: &Monitor<'_>) -> Result<()> {
        self.parts.take(part, rows, monitor)
    }

    fn end_pass(&mut self) -> Result<bool> {
        self.parts.end_pass()
    }

    fn finish(self: Box<Self>, stopped: Option<Stop>) -> Result<Fitted<AnyModel>> {
        Ok(self.parts.finish(stopped)?.map(self.wrap))
    }
}

/// A fit by rounds whose model is wrapped as [`AnyModel`].
pub(crate) struct AnyRounds<M> {
    pub rounds: BoxedRounds<M>,
    pub wrap: fn(M) -> AnyModel,
}

impl<M: 'static> Rounds for AnyRounds<M> {
    type Model = AnyModel;

    fn observe(&self, sums: &mut RoundSums, batch: &Dataset<'_>) -> Result<()> {
        self.rounds.observe(sums, batch)
    }

    fn step(&mut self, sums: &RoundSums, rows: u64) -> Result<bool> {
        self.rounds.step(sums, rows)
    }

    fn point(&self) -> Option<RoundPoint> {
        self.rounds.point()
    }

    fn move_to(&mut self, point: &RoundPoint) -> Result<()> {
        self.rounds.move_to(point)
    }

    fn set_penalty(&mut self, penalty: RoundPenalty) {
        self.rounds.set_penalty(penalty);
    }

    fn progress(&self) -> Option<RoundProgress> {
        self.rounds.progress()
    }

    fn finish(self: Box<Self>, stopped: Option<Stop>) -> Result<Fitted<AnyModel>> {
        Ok(self.rounds.finish(stopped)?.map(self.wrap))
    }
}
