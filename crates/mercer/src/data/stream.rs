//! Out-of-core data: tables that are read in chunks, as often as needed.

use super::Schema;
use crate::data::Table;
use crate::error::{Error, Result};
use std::ops::ControlFlow;

/// A source of tables that can be read several times without holding all rows in memory.
pub trait Stream {
    /// The error of reading.
    type Error: From<Error>;

    /// Reads all rows once, in order, as tables of exactly `chunk` rows; only the last may have fewer. Each call
    /// receives several consecutive tables, so that they can be processed on all threads.
    ///
    /// # Errors
    /// An error of reading or of the callback.
    fn stream(
        &self,
        schema: &Schema,
        chunk: usize,
        take: &mut dyn FnMut(Vec<Table>) -> std::result::Result<ControlFlow<()>, Self::Error>,
    ) -> std::result::Result<(), Self::Error>;

    /// Whether a table of all rows fits into the memory that is held anyway, because only the term counts of its texts
    /// are needed.
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

/// Some rows of a table, in the order of their indices: the rows of a cross-validation fold, or those of all others.
#[derive(Clone, Copy, Debug)]
pub struct SelectedRows<'a> {
    /// The table.
    pub table: &'a Table,
    /// The indices of the rows.
    pub rows: &'a [usize],
}

impl Stream for SelectedRows<'_> {
    type Error = Error;

    fn stream(
        &self,
        schema: &Schema,
        chunk: usize,
        take: &mut dyn FnMut(Vec<Table>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        for rows in self.rows.chunks(chunk.max(1)) {
            if take(vec![self.table.rows_at(rows)?.select(schema)?])?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
