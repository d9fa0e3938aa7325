//! A stream that was looked at: its texts come as the counts that the look found.

use crate::data::{Column, Kind, Stream, Table, TokenCounts, Values};
use crate::data::{Field, Schema};
use crate::error::{Error, Result};
use std::ops::ControlFlow;

/// A stream, and what is known of some of its columns of text.
pub struct CachedCounts<'s, S> {
    stream: &'s S,
    texts: Vec<(String, TokenCounts)>,
}

impl<'s, S> CachedCounts<'s, S> {
    /// The stream as it is.
    pub fn new(stream: &'s S) -> CachedCounts<'s, S> {
        CachedCounts { stream, texts: Vec::new() }
    }

    /// How many columns of text are known.
    pub fn n_kept(&self) -> usize {
        self.texts.len()
    }

    /// Hands out counts for the texts of a column from now on.
    pub(crate) fn keep(&mut self, name: &str, texts: TokenCounts) {
        self.texts.push((name.to_owned(), texts));
    }

    fn kept(&self, field: &Field) -> Option<&TokenCounts> {
        let named = self.texts.iter().find(|(name, _)| *name == field.name);
        named.filter(|_| field.kind == Kind::Text).map(|(_, texts)| texts)
    }

    /// The table with what is known of its texts; its first row is so far down.
    fn whole(&self, table: Table, schema: &Schema, first: usize) -> Result<Table> {
        let texts = first..first + table.n_rows();
        let mut read = table.into_columns().into_iter();
        let mut columns = Vec::with_capacity(schema.fields.len());
        for field in &schema.fields {
            match self.kept(field) {
                Some(kept) if texts.end <= kept.len() => columns.push(Column {
                    name: field.name.clone(),
                    values: Values::TokenCounts(kept.slice(texts.clone())),
                }),
                // Somebody adds to the file while we read it.
                Some(kept) => {
                    let what = format!("column `{}`, read again", field.name);
                    return Err(Error::Length { what, found: texts.end, expected: kept.len() });
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
        let others = schema.fields.iter().filter(|field| self.kept(field).is_none()).cloned();
        let others = Schema { fields: others.collect() };
        // Without any other column nobody would say how many rows there are.
        if others.fields.is_empty() || others.fields.len() == schema.fields.len() {
            return self.stream.stream(schema, chunk, take);
        }
        let mut first = 0;
        self.stream.stream(&others, chunk, &mut |tables| {
            let mut whole = Vec::with_capacity(tables.len());
            for table in tables {
                let n_rows = table.n_rows();
                whole.push(self.whole(table, schema, first)?);
                first += n_rows;
            }
            take(whole)
        })
    }

    fn has_cached_counts(&self, schema: &Schema) -> bool {
        let mut texts = schema.fields.iter().filter(|field| field.kind == Kind::Text);
        let others = schema.fields.iter().any(|field| self.kept(field).is_none());
        others && !self.texts.is_empty() && texts.all(|field| self.kept(field).is_some())
    }
}
