//! Encodes a table as the rows of an estimator.

use super::Encoded;
use super::encoded::{Encoder, OwnedRows, Unknown};
use super::features::{Features, Step, is_text, n_codes};
use super::numeric::NumericStep;
use super::one_hot::{Indicator, OneHotStep};
use crate::data::{Classes, Column, Field, Levels, MISSING, Table, UNSEEN, Values};
use crate::error::{Error, Result};
use mercer_num::parallel::Layout;
use mercer_num::{Matrix, Rows, Sparse};
use ndarray::{ArrayViewMut2, Axis, Slice};
use std::sync::Arc;

/// Rows that are written together, so that they stay in cache while one column after the other is written.
const ROWS_PER_TILE: usize = 256;

impl Features {
    /// Encodes a table that was read with [`Features::input_schema`].
    ///
    /// # Errors
    /// If a column is missing or of another kind, or a row has no class or an unknown one.
    pub fn encode(&self, table: &Table, classes: Option<&Classes>) -> Result<Encoded> {
        Encoder::new(self).encode(table, classes)
    }

    /// As [`Features::encode`]; unlabeled rows have the code
    /// [`UNLABELED`](super::UNLABELED).
    ///
    /// # Errors
    /// If a column is missing or of another kind, or a row has an unknown class.
    pub fn encode_semi_supervised(&self, table: &Table, classes: &Classes) -> Result<Encoded> {
        Encoder::new(self).encode_semi_supervised(table, classes)
    }

    /// Encodes a table that was read with [`Features::regression_schema`].
    ///
    /// # Errors
    /// If a column is missing or of another kind, or a row has no target.
    pub fn encode_regression(&self, table: &Table) -> Result<Encoded> {
        Encoder::new(self).encode_regression(table)
    }

    /// The features of a table, and what the model does not know.
    pub(crate) fn rows(&self, table: &Table) -> Result<(OwnedRows, Unknown)> {
        let columns = table.columns_of(&self.schema)?;
        let (rows, unknown) = self.encoded_columns(table.n_rows(), &columns)?;
        let Some(map) = &self.map else { return Ok((rows, unknown)) };
        let sparse = match &rows {
            OwnedRows::Sparse(x) => map.sparse(&Rows::from(x))?,
            OwnedRows::Dense(_) => None,
        };
        let rows = match (sparse, &rows) {
            (Some(sparse), _) => OwnedRows::Sparse(sparse),
            (None, OwnedRows::Sparse(x)) => OwnedRows::Dense(map.dense(&Rows::from(x))?),
            (None, OwnedRows::Dense(x)) => OwnedRows::Dense(map.dense(&Rows::from(x))?),
        };
        Ok((rows, unknown))
    }

    /// The encoded columns before the kernel map, and what the model does not know.
    fn encoded_columns(&self, n_rows: usize, columns: &[&Column]) -> Result<(OwnedRows, Unknown)> {
        if let [column] = columns
            && let Values::Sparse(x) = &column.values
        {
            return Ok((OwnedRows::Sparse(x.clone()), Unknown::default()));
        }
        let head: usize =
            self.widths().zip(&self.steps).filter(|(_, s)| !is_text(s)).map(|(w, _)| w).sum();
        let mut rows = Matrix::zeros((n_rows, head));
        let n_categories = self.write(columns, &mut rows.view_mut());
        if !self.steps.iter().any(is_text) {
            return Ok((OwnedRows::Dense(rows), Unknown { n_categories, n_tokens: 0 }));
        }
        let (rows, n_tokens) = self.append_text(columns, &rows)?;
        if self.dense_text {
            let rows = OwnedRows::Dense(rows.to_dense());
            return Ok((rows, Unknown { n_categories, n_tokens }));
        }
        Ok((OwnedRows::Sparse(rows), Unknown { n_categories, n_tokens }))
    }

    /// CSR rows: the columns of `head`, then those of the text columns; and the number of unknown tokens.
    fn append_text(&self, columns: &[&Column], head: &Matrix) -> Result<(Sparse, u64)> {
        let (mut texts, mut n_unknown) = (Vec::new(), 0);
        for (column, step) in columns.iter().zip(&self.steps) {
            match (&column.values, step) {
                (Values::Text(values), Step::Text(step)) => {
                    let (rows, unknown) = step.rows(values)?;
                    texts.push(rows);
                    n_unknown += unknown;
                }
                (Values::TokenCounts(values), Step::Text(step)) => {
                    texts.push(step.rows_of_counted(values)?);
                }
                _ => {}
            }
        }
        if let [_] = texts.as_slice()
            && head.ncols() == 0
        {
            return Ok((texts.remove(0).into_sparse(), n_unknown));
        }
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for (i, row) in head.outer_iter().enumerate() {
            for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                indices.push(j as i32);
                values.push(*x);
            }
            let mut at = head.ncols() as i32;
            for rows in &texts {
                let cells = rows.starts[i]..rows.starts[i + 1];
                indices.extend(rows.columns[cells.clone()].iter().map(|j| at + j));
                values.extend_from_slice(&rows.values[cells]);
                at += rows.n_columns as i32;
            }
            starts.push(indices.len());
        }
        let rows = Sparse::new((head.nrows(), self.n_encoded()), starts, indices, values);
        Ok((rows, n_unknown))
    }

    /// Writes the dense features of a table into a matrix and counts the cells with an unknown category.
    ///
    /// # Errors
    /// If a column is missing or of another kind, or `out` has another shape.
    pub fn encode_into(&self, table: &Table, out: &mut ArrayViewMut2<'_, f64>) -> Result<u64> {
        let columns = table.columns_of(&self.schema)?;
        let expected = (table.n_rows(), self.n_features());
        if out.dim() != expected || self.layout() == Layout::Sparse {
            return Err(Error::Columns { found: out.ncols(), expected: expected.1 });
        }
        if self.map.is_some() || self.dense_text {
            let (rows, unknown) = self.rows(table)?;
            if let OwnedRows::Dense(x) = &rows {
                out.assign(x);
            }
            return Ok(unknown.n_categories);
        }
        Ok(self.write(&columns, out))
    }

    fn write(&self, columns: &[&Column], out: &mut ArrayViewMut2<'_, f64>) -> u64 {
        let mut n_unseen = 0;
        for (k, mut tile) in out.axis_chunks_iter_mut(Axis(0), ROWS_PER_TILE).enumerate() {
            let mut at = 0;
            let fields = columns.iter().zip(&self.schema.fields);
            for ((column, field), (step, width)) in fields.zip(self.steps.iter().zip(self.widths()))
            {
                if is_text(step) {
                    continue;
                }
                let mut out = tile.slice_axis_mut(Axis(1), Slice::from(at..at + width));
                n_unseen += write_column(&column.values, k * ROWS_PER_TILE, field, step, &mut out);
                at += width;
            }
        }
        n_unseen
    }
}

/// Writes the features of a column from row `first` on and counts the cells with unknown categories.
fn write_column(
    values: &Values,
    first: usize,
    field: &Field,
    step: &Step,
    out: &mut ArrayViewMut2<'_, f64>,
) -> u64 {
    match (values, step) {
        (Values::Numeric(x), Step::Numeric(step)) if *step == NumericStep::default() => {
            out.column_mut(0).iter_mut().zip(&x[first..]).for_each(|(to, x)| *to = *x);
        }
        (Values::Numeric(x), Step::Numeric(step)) => {
            each_row(out, |i, cells| step.write(x[first + i], cells));
        }
        (Values::Numeric(x), Step::Date(step)) => {
            each_row(out, |i, cells| step.write(x[first + i], cells));
        }
        (Values::Boolean(x), Step::Numeric(step)) => {
            each_row(out, |i, cells| step.write(x[first + i].map_or(f64::NAN, f64::from), cells));
        }
        (Values::Boolean(x), Step::Code) => {
            each_row(out, |i, cells| cells[0] = x[first + i].map_or(f64::NAN, f64::from));
        }
        (Values::Categorical { codes, levels }, Step::OneHot(step)) => {
            let to = translation(levels, &field.levels);
            return write_one_hot(&codes[first..], &to, (step, &field.levels), out);
        }
        (Values::Categorical { codes, levels }, Step::Code) => {
            let to = translation(levels, &field.levels);
            return write_codes(&codes[first..], &to, n_codes(field), out);
        }
        _ => out.fill(f64::NAN),
    }
    0
}

/// The codes of the levels of a table among those of the model; empty if they are equal.
pub(super) fn translation(from: &Arc<Levels>, to: &Arc<Levels>) -> Vec<u32> {
    if Arc::ptr_eq(from, to) || from == to {
        return Vec::new();
    }
    from.names().iter().map(|level| to.code(level)).collect()
}

fn write_one_hot(
    codes: &[u32],
    translation: &[u32],
    (step, levels): (&OneHotStep, &Levels),
    out: &mut ArrayViewMut2<'_, f64>,
) -> u64 {
    let unknown = if step.missing_as_zeros { 0.0 } else { f64::NAN };
    let mut n_unseen = 0;
    each_row(out, |i, cells| {
        let code = translation.get(codes[i] as usize).copied().unwrap_or(codes[i]);
        n_unseen += u64::from(code == UNSEEN);
        match step.indicator(code, levels) {
            Indicator::At(k) => {
                cells.fill(0.0);
                cells[k] = 1.0;
            }
            Indicator::Unknown => cells.fill(unknown),
        }
    });
    n_unseen
}

/// Writes codes; an unknown category has the number of levels as its code.
fn write_codes(
    codes: &[u32],
    translation: &[u32],
    n_codes: usize,
    out: &mut ArrayViewMut2<'_, f64>,
) -> u64 {
    let mut n_unseen = 0;
    for (to, code) in out.column_mut(0).iter_mut().zip(codes) {
        let code = translation.get(*code as usize).copied().unwrap_or(*code);
        n_unseen += u64::from(code == UNSEEN);
        *to = match code {
            MISSING => f64::NAN,
            UNSEEN => n_codes as f64,
            code => f64::from(code),
        };
    }
    n_unseen
}

fn each_row(out: &mut ArrayViewMut2<'_, f64>, mut write: impl FnMut(usize, &mut [f64])) {
    let mut cells = vec![0.0; out.ncols()];
    for (i, mut row) in out.outer_iter_mut().enumerate() {
        write(i, &mut cells);
        row.iter_mut().zip(&cells).for_each(|(to, from)| *to = *from);
    }
}
