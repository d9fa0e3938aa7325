//! A stream whose text columns are replaced by their cached token counts.

use crate::data::{Column, Kind, Stream, Table, TokenCounts, Values};
use crate::data::{Field, Schema};
use crate::error::{Error, Result};
use std::ops::ControlFlow;

/// A stream, and the token counts of some of its text columns.
pub struct CachedCounts<'s, S> {
    stream: &'s S,
    texts: Vec<(String, TokenCounts)>,
}

impl<'s, S> CachedCounts<'s, S> {
    /// The stream without cached counts.
    pub fn new(stream: &'s S) -> CachedCounts<'s, S> {
        CachedCounts { stream, texts: Vec::new() }
    }

    /// The number of text columns with cached counts.
    pub fn n_cached(&self) -> usize {
        self.texts.len()
    }

    /// Caches the token counts of a column.
    pub(crate) fn insert(&mut self, name: &str, texts: TokenCounts) {
        self.texts.push((name.to_owned(), texts));
    }

    fn cached(&self, field: &Field) -> Option<&TokenCounts> {
        let named = self.texts.iter().find(|(name, _)| *name == field.name);
        named.filter(|_| field.kind == Kind::Text).map(|(_, texts)| texts)
    }

    /// The table with the cached counts of its text columns; `first` is the index of its first row.
    fn complete(&self, table: Table, schema: &Schema, first: usize) -> Result<Table> {
        let texts = first..first + table.n_rows();
        let mut read = table.into_columns().into_iter();
        let mut columns = Vec::with_capacity(schema.fields.len());
        for field in &schema.fields {
            match self.cached(field) {
                Some(counts) if texts.end <= counts.len() => columns.push(Column {
                    name: field.name.clone(),
                    values: Values::TokenCounts(counts.slice(texts.clone())),
                }),
                // The file has grown since the first pass.
                Some(counts) => {
                    let what = format!("column `{}` in the second pass", field.name);
                    return Err(Error::Length { what, found: texts.end, expected: counts.len() });
                }
                None => columns.extend(read.next()),
            }
        }
        Table::new(columns)
    }
}

impl<S: Stream> Stream for CachedCounts<'_, S> {
    type Error = S::Error;

    fn stream(
        &self,
        schema: &Schema,
        chunk: usize,
        take: &mut dyn FnMut(Vec<Table>) -> std::result::Result<ControlFlow<()>, S::Error>,
    ) -> std::result::Result<(), S::Error> {
        let others = schema.fields.iter().filter(|field| self.cached(field).is_none()).cloned();
        let others = Schema { fields: others.collect() };
        // The number of rows comes from the other columns; without any, the stream is read again.
        if others.fields.is_empty() || others.fields.len() == schema.fields.len() {
            return self.stream.stream(schema, chunk, take);
        }
        let mut first = 0;
        self.stream.stream(&others, chunk, &mut |tables| {
            let mut complete = Vec::with_capacity(tables.len());
            for table in tables {
                let n_rows = table.n_rows();
                complete.push(self.complete(table, schema, first)?);
                first += n_rows;
            }
            take(complete)
        })
    }

    fn has_cached_counts(&self, schema: &Schema) -> bool {
        let mut texts = schema.fields.iter().filter(|field| field.kind == Kind::Text);
        let others = schema.fields.iter().any(|field| self.cached(field).is_none());
        others && !self.texts.is_empty() && texts.all(|field| self.cached(field).is_some())
    }
}
