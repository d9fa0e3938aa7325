//! Encoded rows with their classes or regression targets.

use super::Features;
use crate::data::{Classes, ColumnDescription, Dataset, Label, MISSING, Measure, Table, Values};
use crate::error::{Error, Result};
use mercer_num::parallel::prelude::*;
use mercer_num::{Matrix, Rows, Sparse};
use ndarray::Axis;
use std::sync::Arc;

/// The class code of an unlabeled row.
pub const UNLABELED: u32 = u32::MAX;

/// The encoded rows of a table.
pub struct Encoded {
    rows: OwnedRows,
    /// Class codes; empty without a target.
    pub codes: Vec<u32>,
    /// Regression targets; empty without them.
    pub targets: Vec<f64>,
    /// Sample weights; empty if all are one.
    pub weights: Vec<f64>,
    /// The number of cells with a category that the model does not know.
    pub n_unseen: u64,
    /// The number of tokens of texts that are not in the vocabulary of the model.
    pub n_unknown_tokens: u64,
    columns: Arc<[ColumnDescription]>,
}

/// The number of values that the model does not know.
#[derive(Clone, Copy, Default)]
pub(crate) struct Unknown {
    /// Cells with an unknown category.
    pub n_categories: u64,
    /// Tokens that are not in the vocabulary.
    pub n_tokens: u64,
}

/// Dense or sparse rows.
pub(crate) enum OwnedRows {
    Dense(Matrix),
    Sparse(Sparse),
}

impl Encoded {
    /// The features.
    pub fn rows(&self) -> Rows<'_> {
        match &self.rows {
            OwnedRows::Dense(x) => Rows::from(x),
            OwnedRows::Sparse(x) => Rows::from(x),
        }
    }

    /// The size of the features in bytes.
    pub fn n_bytes(&self) -> u64 {
        match &self.rows {
            OwnedRows::Dense(x) => 8 * x.len() as u64,
            OwnedRows::Sparse(x) => (12 * x.nnz() + 8 * x.rows()) as u64,
        }
    }

    /// The features with their classes.
    ///
    /// # Errors
    /// If the rows have no classes.
    pub fn dataset<'a>(&'a self, classes: &'a Classes) -> Result<Dataset<'a>> {
        self.weighted(Dataset::classes(self.rows(), &self.codes, classes)?)
    }

    /// The features without a target.
    ///
    /// # Errors
    /// If a sample weight is negative or not finite.
    pub fn unlabeled(&self) -> Result<Dataset<'_>> {
        self.weighted(Dataset::unlabeled(self.rows()))
    }

    /// The features with their regression targets.
    ///
    /// # Errors
    /// If the rows have no regression targets.
    pub fn regression_dataset(&self) -> Result<Dataset<'_>> {
        self.weighted(Dataset::regression(self.rows(), &self.targets)?)
    }

    /// The features with other regression targets than their own.
    ///
    /// # Errors
    /// If there is not one target per row.
    pub fn regression_dataset_of<'a>(&'a self, targets: &'a [f64]) -> Result<Dataset<'a>> {
        self.weighted(Dataset::regression(self.rows(), targets)?)
    }

    /// The rows with other features in place of the first `n_replaced`.
    pub(crate) fn with_first_features(
        &self,
        first: &Matrix,
        n_replaced: usize,
        columns: Arc<[ColumnDescription]>,
    ) -> Encoded {
        let rows = match &self.rows {
            OwnedRows::Dense(x) => {
                let rest = x.slice_axis(Axis(1), (n_replaced..).into());
                OwnedRows::Dense(ndarray::concatenate![Axis(1), first.view(), rest])
            }
            OwnedRows::Sparse(x) => {
                let width = first.ncols() + x.cols() - n_replaced;
                let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
                for (row, old) in first.outer_iter().zip(x.outer_iterator()) {
                    for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                        indices.push(j as i32);
                        values.push(*x);
                    }
                    for (j, value) in old.iter().filter(|(j, _)| *j >= n_replaced) {
                        indices.push((j - n_replaced + first.ncols()) as i32);
                        values.push(*value);
                    }
                    starts.push(indices.len());
                }
                OwnedRows::Sparse(Sparse::new((first.nrows(), width), starts, indices, values))
            }
        };
        Encoded {
            rows,
            codes: self.codes.clone(),
            targets: self.targets.clone(),
            weights: self.weights.clone(),
            n_unseen: 0,
            n_unknown_tokens: 0,
            columns,
        }
    }

    /// The dataset with the sample weights and the descriptions of the columns.
    fn weighted<'a>(&'a self, data: Dataset<'a>) -> Result<Dataset<'a>> {
        let data = if self.weights.is_empty() { data } else { data.weighted(&self.weights)? };
        data.with_descriptions(&self.columns)
    }

    /// Concatenates parts; `None` if there are none.
    pub fn join(mut parts: Vec<Encoded>) -> Option<Encoded> {
        if parts.len() == 1 {
            return parts.pop();
        }
        let columns = Arc::clone(&parts.first()?.columns);
        let codes = parts.iter().flat_map(|part| part.codes.iter().copied()).collect();
        let targets = parts.iter().flat_map(|part| part.targets.iter().copied()).collect();
        let weights = parts.iter().flat_map(|part| part.weights.iter().copied()).collect();
        let n_unseen = parts.iter().map(|part| part.n_unseen).sum();
        let n_unknown_tokens = parts.iter().map(|part| part.n_unknown_tokens).sum();
        let n_rows = parts.iter().map(|part| part.rows().n_rows()).sum();
        let width = parts.first()?.rows().n_columns();
        let sparse = parts.iter().any(|part| matches!(part.rows, OwnedRows::Sparse(_)));
        let rows = if sparse {
            let sparse = parts.iter().filter_map(|part| match &part.rows {
                OwnedRows::Sparse(x) => Some(x),
                OwnedRows::Dense(_) => None,
            });
            OwnedRows::Sparse(stacked(&sparse.collect::<Vec<_>>(), width))
        } else {
            let mut cells = Vec::with_capacity(n_rows * width);
            for part in parts {
                if let OwnedRows::Dense(x) = part.rows {
                    cells.extend(x.iter());
                }
            }
            OwnedRows::Dense(Matrix::from_shape_vec((n_rows, width), cells).ok()?)
        };
        Some(Encoded { rows, codes, targets, weights, n_unseen, n_unknown_tokens, columns })
    }

    /// A copy of a matrix with its class codes or regression targets, without preprocessing.
    pub fn of_matrix(rows: &Rows<'_>, codes: Vec<u32>, targets: Vec<f64>) -> Encoded {
        let (n, width) = (rows.n_rows(), rows.n_columns());
        let rows = match rows {
            Rows::Sparse(x) => {
                let x = x.sum_duplicates();
                let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
                for i in 0..n {
                    let view = x.view();
                    let (at, cells) = view.row(i);
                    columns.extend_from_slice(at);
                    values.extend_from_slice(cells);
                    offsets.push(columns.len());
                }
                OwnedRows::Sparse(Sparse::new((n, width), offsets, columns, values))
            }
            rows => {
                let cells = (0..n).flat_map(|i| rows.row(i)).collect();
                OwnedRows::Dense(
                    Matrix::from_shape_vec((n, width), cells).expect("one cell per column"),
                )
            }
        };
        let numeric =
            |j: usize| ColumnDescription { name: format!("x{j}"), measure: Measure::Numeric };
        let (weights, columns) = (Vec::new(), (0..width).map(numeric).collect());
        Encoded { rows, codes, targets, weights, n_unseen: 0, n_unknown_tokens: 0, columns }
    }

    /// A copy of the rows at some indices.
    pub fn select(&self, indices: &[usize]) -> Encoded {
        let rows = match &self.rows {
            OwnedRows::Dense(x) => OwnedRows::Dense(x.select(Axis(0), indices)),
            OwnedRows::Sparse(x) => {
                let n_cells =
                    indices.iter().filter_map(|i| x.outer_view(*i)).map(|row| row.nnz()).sum();
                let (mut offsets, mut columns, mut values) =
                    (vec![0], Vec::with_capacity(n_cells), Vec::with_capacity(n_cells));
                for row in indices.iter().filter_map(|i| x.outer_view(*i)) {
                    columns.extend_from_slice(row.indices());
                    values.extend_from_slice(row.data());
                    offsets.push(columns.len());
                }
                OwnedRows::Sparse(Sparse::new(
                    (offsets.len() - 1, x.cols()),
                    offsets,
                    columns,
                    values,
                ))
            }
        };
        let codes = indices.iter().filter_map(|i| self.codes.get(*i)).copied().collect();
        let targets = indices.iter().filter_map(|i| self.targets.get(*i)).copied().collect();
        let weights = indices.iter().filter_map(|i| self.weights.get(*i)).copied().collect();
        let columns = Arc::clone(&self.columns);
        Encoded { rows, codes, targets, weights, n_unseen: 0, n_unknown_tokens: 0, columns }
    }
}

/// Stacks sparse rows. Touching new memory takes longer than the copy, so it is done on all threads.
fn stacked(parts: &[&Sparse], width: usize) -> Sparse {
    let n_cells = parts.iter().map(|x| x.nnz()).sum();
    let (mut columns, mut values) = (vec![0; n_cells], vec![0.0; n_cells]);
    let (mut columns_left, mut values_left) = (columns.as_mut_slice(), values.as_mut_slice());
    let mut offsets = vec![0];
    let mut copies = Vec::with_capacity(parts.len());
    for x in parts {
        let before = offsets[offsets.len() - 1];
        let ends = x.indptr().into_raw_storage().iter().skip(1);
        offsets.extend(ends.map(|end| before + end));
        let (some_columns, more_columns) = columns_left.split_at_mut(x.nnz());
        let (some_values, more_values) = values_left.split_at_mut(x.nnz());
        copies.push((some_columns, some_values, x));
        (columns_left, values_left) = (more_columns, more_values);
    }
    copies.into_par_iter().for_each(|(columns, values, x)| {
        columns.copy_from_slice(x.indices());
        values.copy_from_slice(x.data());
    });
    Sparse::new((offsets.len() - 1, width), offsets, columns, values)
}

/// Makes rows of many tables: what is the same for all of them is worked out once.
pub struct Encoder<'a> {
    features: &'a Features,
    columns: Arc<[ColumnDescription]>,
}

impl<'a> Encoder<'a> {
    /// Makes rows as these features say.
    pub fn new(features: &'a Features) -> Encoder<'a> {
        Encoder { features, columns: features.descriptions() }
    }

    /// As [`Features::encode`].
    ///
    /// # Errors
    /// If columns do not fit, or a row has no class or an unknown one.
    pub fn encode(&self, table: &Table, classes: Option<&Classes>) -> Result<Encoded> {
        let codes = match (&self.features.target, classes) {
            (Some(target), Some(classes)) => {
                let codes = class_codes(table, target, classes)?;
                if let Some(row) = codes.iter().position(|code| *code == UNLABELED) {
                    return Err(Error::MissingTarget { row, column: target.clone() });
                }
                codes
            }
            _ => Vec::new(),
        };
        self.with_codes(table, codes)
    }

    /// As [`Features::encode_semi_supervised`].
    ///
    /// # Errors
    /// If columns do not fit, or a row has an unknown class.
    pub fn encode_semi_supervised(&self, table: &Table, classes: &Classes) -> Result<Encoded> {
        let codes = match &self.features.target {
            Some(target) => class_codes(table, target, classes)?,
            None => vec![UNLABELED; table.n_rows()],
        };
        self.with_codes(table, codes)
    }

    /// As [`Features::encode_regression`].
    ///
    /// # Errors
    /// If columns do not fit, or a row has no number.
    pub fn encode_regression(&self, table: &Table) -> Result<Encoded> {
        let targets = match &self.features.target {
            Some(target) => regression_targets(table, target)?,
            None => return Err(Error::MissingColumn { name: "target".into() }),
        };
        Ok(Encoded { targets, ..self.with_codes(table, Vec::new())? })
    }

    fn with_codes(&self, table: &Table, codes: Vec<u32>) -> Result<Encoded> {
        let (rows, unknown) = self.features.rows(table)?;
        Ok(Encoded {
            rows,
            codes,
            targets: Vec::new(),
            weights: sample_weights(table, self.features)?,
            n_unseen: unknown.n_categories,
            n_unknown_tokens: unknown.n_tokens,
            columns: Arc::clone(&self.columns),
        })
    }
}

/// The sample weights of a table; none if the features name no column, or the table was read without it, as for
/// predictions.
pub(super) fn sample_weights(table: &Table, features: &Features) -> Result<Vec<f64>> {
    let Some(column) = features.weights.as_ref().and_then(|name| table.column(name)) else {
        return Ok(Vec::new());
    };
    let Values::Numeric(weights) = &column.values else {
        return Err(Error::Kind {
            column: column.name.clone(),
            found: column.values.kind().to_string(),
            expected: "numeric sample weights".into(),
        });
    };
    match weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        Some(row) => Err(Error::Weight { row, value: weights[row] }),
        None => Ok(weights.clone()),
    }
}

/// The class code of every row, [`UNLABELED`] if the class is missing.
fn class_codes(table: &Table, target: &str, classes: &Classes) -> Result<Vec<u32>> {
    let column =
        table.column(target).ok_or_else(|| Error::MissingColumn { name: target.to_owned() })?;
    let Values::Categorical { codes, levels } = &column.values else {
        return Err(Error::Kind {
            column: target.to_owned(),
            found: column.values.kind().to_string(),
            expected: "a class".into(),
        });
    };
    let of_level: Vec<Option<u32>> =
        levels.names().iter().map(|level| class_of(level, classes)).collect();
    codes
        .iter()
        .enumerate()
        .map(|(row, code)| match of_level.get(*code as usize) {
            Some(Some(class)) => Ok(*class),
            None if *code == MISSING => Ok(UNLABELED),
            _ => Err(Error::UnknownClass {
                class: levels
                    .name(*code)
                    .map_or_else(|| format!("in row {}", row + 1), str::to_owned),
                known: known(classes),
            }),
        })
        .collect()
}

/// The regression target of every row.
fn regression_targets(table: &Table, target: &str) -> Result<Vec<f64>> {
    let column =
        table.column(target).ok_or_else(|| Error::MissingColumn { name: target.to_owned() })?;
    let Values::Numeric(y) = &column.values else {
        return Err(Error::Kind {
            column: target.to_owned(),
            found: column.values.kind().to_string(),
            expected: "numeric".into(),
        });
    };
    match y.iter().position(|y| y.is_nan()) {
        Some(row) => Err(Error::MissingTarget { row, column: target.to_owned() }),
        None => Ok(y.clone()),
    }
}

/// The code of a level among the classes: by its parsed label, or by its text.
fn class_of(level: &str, classes: &Classes) -> Option<u32> {
    let written = || classes.labels().iter().position(|label| label.to_string() == level);
    classes.code(&Label::parse(level)).or_else(|| written().map(|c| c as u32))
}

fn known(classes: &Classes) -> String {
    classes.labels().iter().map(Label::to_string).collect::<Vec<_>>().join(", ")
}
