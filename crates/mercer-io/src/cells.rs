//! Columns while they grow: decoded cells, and tables of exact length made from them.

use crate::column_summary::{Fallible, Fault};
use crate::decoder::{Decoder, FieldDecoder};
use crate::error::{Error, Result, shown};
use crate::number::{self, Number};
use mercer::data::Field;
use mercer::data::{Column, Kind, MISSING, Table, Values, parse_boolean};
use mercer_num::Sparse;
use mercer_num::parallel::prelude::*;
use std::sync::Arc;

/// The decoded cells of a column; mirrors [`Values`], with sparse rows that can grow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cells {
    Numeric(Vec<f64>),
    /// Numbers that are not written plainly.
    Written(Vec<f64>),
    Categorical(Vec<u32>),
    Boolean(Vec<Option<bool>>),
    Text(Vec<Option<String>>),
    Sparse(SparseRows),
}

/// Compressed rows without their width.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SparseRows {
    /// Where each row ends in the other two.
    pub ends: Vec<usize>,
    pub indices: Vec<i32>,
    pub values: Vec<f64>,
}

impl Cells {
    /// An empty column with a capacity.
    pub fn new(field: &Field, n_rows: usize) -> Cells {
        match field.kind {
            Kind::Numeric if !field.notation.is_plain() => {
                Cells::Written(Vec::with_capacity(n_rows))
            }
            Kind::Numeric => Cells::Numeric(Vec::with_capacity(n_rows)),
            Kind::Categorical => Cells::Categorical(Vec::with_capacity(n_rows)),
            Kind::Boolean => Cells::Boolean(Vec::with_capacity(n_rows)),
            Kind::Text => Cells::Text(Vec::with_capacity(n_rows)),
            Kind::Sparse => Cells::Sparse(SparseRows::default()),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Cells::Numeric(v) | Cells::Written(v) => v.len(),
            Cells::Categorical(v) => v.len(),
            Cells::Boolean(v) => v.len(),
            Cells::Text(v) => v.len(),
            Cells::Sparse(v) => v.ends.len(),
        }
    }

    /// Adds a missing cell.
    #[inline]
    pub fn push_missing(&mut self) {
        match self {
            Cells::Numeric(v) | Cells::Written(v) => v.push(f64::NAN),
            Cells::Categorical(v) => v.push(MISSING),
            Cells::Boolean(v) => v.push(None),
            Cells::Text(v) => v.push(None),
            Cells::Sparse(v) => v.ends.push(v.indices.len()),
        }
    }

    /// Adds a cell by its trimmed text; `raw` has the spaces inside the quotes.
    #[inline]
    pub fn push(&mut self, text: &[u8], raw: &[u8], line: u64, to: &FieldDecoder) -> Fallible {
        match self {
            Cells::Numeric(v) => match number::parse(text) {
                Some(value) => v.push(value),
                None => return refuse(text, line, Kind::Numeric),
            },
            Cells::Written(v) => match to.parse(text) {
                Some(value) => v.push(value),
                None => {
                    let (found, notation) = (shown(text), to.field.notation.to_string());
                    return Err(Fault::Notation { line, found, notation }.into());
                }
            },
            Cells::Categorical(v) => v.push(to.code(text)),
            Cells::Boolean(v) => match any_bool(text) {
                Some(value) => v.push(Some(value)),
                None => return refuse(text, line, Kind::Boolean),
            },
            Cells::Text(v) => match String::from_utf8(raw.to_vec()) {
                Ok(value) => v.push(Some(value)),
                Err(_) => return Err(Fault::NotUtf8 { line }.into()),
            },
            Cells::Sparse(_) => return refuse(text, line, Kind::Sparse),
        }
        Ok(())
    }

    /// Adds a number that was scanned; `text` is how it is written.
    #[inline]
    pub fn push_number(
        &mut self,
        number: &Number,
        text: &[u8],
        line: u64,
        to: &FieldDecoder,
    ) -> Fallible {
        let Cells::Numeric(v) = self else { return self.push(text, text, line, to) };
        let value = number.value(text);
        if !value.is_finite() {
            return refuse(text, line, Kind::Numeric);
        }
        v.push(value);
        Ok(())
    }

    /// Moves the cells from `from` on, at most `n`, to the end of this column.
    fn take(&mut self, source: &mut Cells, from: usize, n: usize) {
        let to = source.len().min(from.saturating_add(n));
        match (self, source) {
            (Cells::Numeric(a), Cells::Numeric(b)) | (Cells::Written(a), Cells::Written(b)) => {
                a.extend_from_slice(&b[from..to]);
            }
            (Cells::Categorical(a), Cells::Categorical(b)) => a.extend_from_slice(&b[from..to]),
            (Cells::Boolean(a), Cells::Boolean(b)) => a.extend_from_slice(&b[from..to]),
            (Cells::Text(a), Cells::Text(b)) => a.extend(b[from..to].iter_mut().map(Option::take)),
            (Cells::Sparse(a), Cells::Sparse(b)) => a.take(b, from, to),
            // Blocks of one decoder have the same kinds.
            _ => {}
        }
    }

    fn into_values(self, field: &Field, file: &str) -> Result<Values> {
        Ok(match self {
            Cells::Numeric(v) | Cells::Written(v) => Values::Numeric(v),
            Cells::Categorical(codes) => {
                Values::Categorical { codes, levels: Arc::clone(&field.levels) }
            }
            Cells::Boolean(v) => Values::Boolean(v),
            Cells::Text(v) => Values::Text(v),
            Cells::Sparse(v) => Values::Sparse(v.into_matrix(field.width, file)?),
        })
    }
}

/// The truth value of a cell of a boolean column, in any spelling.
pub(crate) fn any_bool(text: &[u8]) -> Option<bool> {
    std::str::from_utf8(text).ok().and_then(parse_boolean)
}

#[cold]
fn refuse(text: &[u8], line: u64, expected: Kind) -> Fallible {
    Err(Fault::Cell { line, found: shown(text), expected }.into())
}

impl SparseRows {
    fn take(&mut self, source: &SparseRows, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let begin = if from == 0 { 0 } else { source.ends[from - 1] };
        let base = self.indices.len();
        self.ends.extend(source.ends[from..to].iter().map(|end| end - begin + base));
        self.indices.extend_from_slice(&source.indices[begin..source.ends[to - 1]]);
        self.values.extend_from_slice(&source.values[begin..source.ends[to - 1]]);
    }

    fn into_matrix(self, width: usize, file: &str) -> Result<Sparse> {
        let n_rows = self.ends.len();
        let mut offsets = self.ends;
        offsets.insert(0, 0);
        Sparse::try_new((n_rows, width), offsets, self.indices, self.values).map_err(
            |(_, _, _, e)| Error::Damaged {
                file: file.to_owned(),
                format: "svmlight".to_owned(),
                why: e.to_string(),
            },
        )
    }
}

/// Collects blocks of any length into tables of `chunk` rows.
#[derive(Debug)]
pub(crate) struct Chunker<'a> {
    decoder: &'a Decoder<'a>,
    chunk: usize,
    n_pending: usize,
    pending: Vec<Cells>,
}

impl<'a> Chunker<'a> {
    pub fn new(decoder: &'a Decoder<'a>, chunk: usize) -> Chunker<'a> {
        let pending = decoder.fields.iter().map(|f| Cells::new(&f.field, 0)).collect();
        Chunker { decoder, chunk: chunk.max(1), n_pending: 0, pending }
    }

    /// Adds a wave of blocks and returns the complete tables. Columns are independent and are cut in parallel.
    pub fn push(&mut self, blocks: Vec<Vec<Cells>>) -> Result<Vec<Table>> {
        let mut columns: Vec<Vec<Cells>> = self.pending.iter().map(|_| Vec::new()).collect();
        for block in blocks {
            self.n_pending += block.first().map_or(0, Cells::len);
            columns.iter_mut().zip(block).for_each(|(column, cells)| column.push(cells));
        }
        let chunk = self.chunk;
        let full: Vec<Vec<Cells>> = self
            .pending
            .par_iter_mut()
            .zip(columns)
            .zip(&self.decoder.fields)
            .map(|((pending, parts), f)| cut(pending, parts, chunk, &f.field))
            .collect();
        let n_full = full.first().map_or(0, Vec::len);
        self.n_pending -= n_full * chunk.min(self.n_pending);
        self.tables(full, n_full)
    }

    /// The rows that are left.
    pub fn finish(&mut self) -> Result<Option<Table>> {
        if self.n_pending == 0 {
            return Ok(None);
        }
        self.n_pending = 0;
        let rest = std::mem::take(&mut self.pending).into_iter().map(|cells| vec![cells]).collect();
        Ok(self.tables(rest, 1)?.pop())
    }

    fn tables(&self, columns: Vec<Vec<Cells>>, n: usize) -> Result<Vec<Table>> {
        let mut tables: Vec<Vec<Column>> = (0..n).map(|_| Vec::new()).collect();
        for (cells, field_decoder) in columns.into_iter().zip(&self.decoder.fields) {
            for (table, cells) in tables.iter_mut().zip(cells) {
                let values = cells.into_values(&field_decoder.field, self.decoder.file)?;
                table.push(Column { name: field_decoder.field.name.clone(), values });
            }
        }
        tables.into_iter().map(|columns| Ok(Table::new(columns)?)).collect()
    }
}

/// Appends the parts of a column to what is pending; returns the complete chunks.
fn cut(pending: &mut Cells, parts: Vec<Cells>, chunk: usize, field: &Field) -> Vec<Cells> {
    let mut full = Vec::new();
    for mut part in parts {
        let mut from = 0;
        while from < part.len() {
            let room = chunk - pending.len();
            pending.take(&mut part, from, room);
            from = from.saturating_add(room);
            if pending.len() == chunk {
                full.push(std::mem::replace(pending, Cells::new(field, chunk)));
            }
        }
    }
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_any_length_are_cut_to_one() {
        let numbers = |range: std::ops::Range<i32>| Cells::Numeric(range.map(f64::from).collect());
        let field = Field::numeric("x");
        let mut pending = Cells::new(&field, 0);

        let full = cut(&mut pending, vec![numbers(0..5), numbers(5..6), numbers(6..11)], 3, &field);

        assert_eq!(full, [numbers(0..3), numbers(3..6), numbers(6..9)]);
        assert_eq!(pending, numbers(9..11));
    }

    #[test]
    fn sparse_rows_keep_their_offsets() {
        let rows =
            SparseRows { ends: vec![1, 1, 3], indices: vec![4, 0, 2], values: vec![1., 2., 3.] };
        let field = Field::new("x", Kind::Sparse);
        let mut pending = Cells::new(&field, 0);

        let full =
            cut(&mut pending, vec![Cells::Sparse(rows.clone()), Cells::Sparse(rows)], 2, &field);

        let second =
            SparseRows { ends: vec![2, 3], indices: vec![0, 2, 4], values: vec![2., 3., 1.] };
        assert_eq!(full[1], Cells::Sparse(second));
        assert_eq!(full.len(), 3);
    }
}
