//! Rows that come in batches and can be read again.

use super::Schema;
use crate::data::Table;
use crate::error::{Error, Result};
use std::ops::ControlFlow;

/// Something to read tables from, more than once, without holding it all.
pub trait Stream {
    /// What reading can fail with.
    type Error: From<Error>;

    /// Reads everything once, in order, as tables of exactly `chunk` rows; only the last may be
    /// shorter. They come in waves of consecutive tables, so that the taker can use all threads.
    ///
    /// # Errors
    /// What reading or taking failed with.
    fn stream(
        &self,
        schema: &Schema,
        chunk: usize,
        take: &mut dyn FnMut(Vec<Table>) -> std::result::Result<ControlFlow<()>, Self::Error>,
    ) -> std::result::Result<(), Self::Error>;

    /// Whether a table of all rows takes no more memory than what is held anyway, its texts being counted.
    fn has_cached_counts(&self, _schema: &Schema) -> bool {
        false
    }
}

impl Stream for Table {
    type Error = Error;

    fn stream(
        &self,
        schema: &Schema,
        chunk: usize,
        take: &mut dyn FnMut(Vec<Table>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut rest = self.select(schema)?;
        while rest.n_rows() > 0 {
            let batch = rest.take_front(chunk.min(rest.n_rows()));
            if take(vec![batch])?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
