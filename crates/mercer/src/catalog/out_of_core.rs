//! Out-of-core fits of any estimator of the catalog.

use super::AnyModel;
use crate::data::Dataset;
use crate::error::Result;
use crate::model::{BoxedParts, Fitted, InParts, Monitor, Stop};

/// A fit over parts of the rows whose model is wrapped as [`AnyModel`].
pub(crate) struct AnyParts<M> {
    pub parts: BoxedParts<M>,
    pub wrap: fn(M) -> AnyModel,
}

impl<M: 'static> InParts for AnyParts<M> {
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
