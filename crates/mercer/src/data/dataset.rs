//! Datasets: numeric rows with an optional target and sample weights.

use crate::data::{Classes, SharedGram};
use crate::error::{Error, Result};
use mercer_num::Rows;
use mercer_num::parallel::Layout;
use mercer_num::rows::Missing;
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Borrowed rows, their target and their sample weights. Lengths and values are checked on construction.
#[derive(Clone, Debug)]
pub struct Dataset<'a> {
    rows: Rows<'a>,
    target: Target<'a>,
    weights: Option<&'a [f64]>,
    columns: &'a [ColumnDescription],
    gram: Option<&'a SharedGram>,
}

/// The name of a column and the kind of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDescription {
    /// The name.
    pub name: String,
    /// The kind of its values.
    pub measure: Measure,
}

/// The kind of the values of a numeric column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// A numeric variable.
    Numeric,
    /// The code of a category, out of so many; larger codes are categories that do not occur in the training data.
    Categorical(usize),
    /// The count of a term in a text; all terms of one text column have the same index.
    TermCount(usize),
}

/// The target of the rows.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// One class code per row.
    Classes {
        /// Indices into `classes`.
        codes: &'a [u32],
        /// The classes.
        classes: &'a Classes,
    },
    /// One regression target per row.
    Regression(&'a [f64]),
    /// Several regression targets per row.
    MultiOutput {
        /// The targets, row-major.
        cells: &'a [f64],
        /// The number of targets.
        width: usize,
    },
    /// No target.
    None,
}

impl<'a> Dataset<'a> {
    /// Rows with class labels. NaN is a missing value, which some estimators accept.
    ///
    /// # Errors
    /// If lengths differ, a code exceeds the classes, or sparse rows are stored by columns.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// let x = ndarray::array![[1.0], [2.0]];
    /// let classes = Classes::from_names(["no", "yes"]);
    /// let data = Dataset::classes(&x, &[0, 1], &classes)?;
    /// assert_eq!(data.n_rows(), 2);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn classes(
        rows: impl Into<Rows<'a>>,
        codes: &'a [u32],
        classes: &'a Classes,
    ) -> Result<Dataset<'a>> {
        let rows = rows.into();
        check_storage(&rows)?;
        check_length("the target", codes.len(), rows.n_rows())?;
        if let Some(code) = codes.iter().find(|c| **c as usize >= classes.len()) {
            return Err(Error::UnknownClass {
                class: format!("code {code}"),
                known: format!("0 to {}", classes.len().saturating_sub(1)),
            });
        }
        Ok(Dataset {
            rows,
            target: Target::Classes { codes, classes },
            weights: None,
            columns: &[],
            gram: None,
        })
    }

    /// Rows with one regression target each.
    ///
    /// # Errors
    /// If lengths differ or a target is not finite.
    pub fn regression(rows: impl Into<Rows<'a>>, target: &'a [f64]) -> Result<Dataset<'a>> {
        let rows = rows.into();
        check_storage(&rows)?;
        check_length("the target", target.len(), rows.n_rows())?;
        if let Some(row) = target.iter().position(|y| !y.is_finite()) {
            return Err(Error::NotFinite { row, column: rows.n_columns(), value: target[row] });
        }
        let target = Target::Regression(target);
        Ok(Dataset { rows, target, weights: None, columns: &[], gram: None })
    }

    /// Rows with several regression targets each: one row of the table per row.
    ///
    /// # Errors
    /// If lengths differ, a target is not finite, or the table has no columns or is not row-major.
    pub fn multi_output(
        rows: impl Into<Rows<'a>>,
        target: ArrayView2<'a, f64>,
    ) -> Result<Dataset<'a>> {
        let rows = rows.into();
        check_storage(&rows)?;
        check_length("the target", target.nrows(), rows.n_rows())?;
        let width = target.ncols();
        let Some(cells) = target.to_slice().filter(|_| width > 0) else {
            let (found, expected) =
                ("a table without columns or not row-major", "a row-major table");
            let column = "target".into();
            return Err(Error::Kind { column, found: found.into(), expected: expected.into() });
        };
        if let Some(at) = cells.iter().position(|y| !y.is_finite()) {
            let (row, column) = (at / width, rows.n_columns() + at % width);
            return Err(Error::NotFinite { row, column, value: cells[at] });
        }
        Ok(Dataset {
            rows,
            target: Target::MultiOutput { cells, width },
            weights: None,
            columns: &[],
            gram: None,
        })
    }

    /// Rows without a target.
    pub fn unlabeled(rows: impl Into<Rows<'a>>) -> Dataset<'a> {
        let rows = rows.into();
        Dataset { rows, target: Target::None, weights: None, columns: &[], gram: None }
    }

    /// The same rows with sample weights.
    ///
    /// # Errors
    /// If the length differs or a weight is negative or not finite.
    pub fn weighted(self, weights: &'a [f64]) -> Result<Dataset<'a>> {
        check_length("the weights", weights.len(), self.rows.n_rows())?;
        if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            return Err(Error::Weight { row, value: weights[row] });
        }
        Ok(Dataset { weights: Some(weights), ..self })
    }

    /// The same rows with a description of every column.
    ///
    /// # Errors
    /// Unless there is one description per column.
    pub fn with_descriptions(self, columns: &'a [ColumnDescription]) -> Result<Dataset<'a>> {
        check_length("the description of the columns", columns.len(), self.rows.n_columns())?;
        Ok(Dataset { columns, ..self })
    }

    /// The same rows with their kernel values, which kernel methods then look up.
    ///
    /// # Errors
    /// Unless the matrix has one index per row.
    pub fn with_gram(self, gram: &'a SharedGram) -> Result<Dataset<'a>> {
        check_length("the kernel matrix", gram.train.len(), self.rows.n_rows())?;
        Ok(Dataset { gram: Some(gram), ..self })
    }

    /// The kernel values of the rows, if they are known.
    pub fn gram(&self) -> Option<&'a SharedGram> {
        self.gram
    }

    /// The descriptions of the columns; empty if there are none.
    pub fn columns(&self) -> &'a [ColumnDescription] {
        self.columns
    }

    /// The kinds of the columns; numeric if there are no descriptions.
    pub fn measures(&self) -> Vec<Measure> {
        match self.columns {
            [] => vec![Measure::Numeric; self.n_columns()],
            columns => columns.iter().map(|c| c.measure).collect(),
        }
    }

    /// The features.
    pub fn rows(&self) -> &Rows<'a> {
        &self.rows
    }

    /// The target.
    pub fn target(&self) -> Target<'a> {
        self.target
    }

    /// The sample weights; empty if all are one.
    pub fn weights(&self) -> &'a [f64] {
        self.weights.unwrap_or(&[])
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.rows.n_columns()
    }

    /// The memory layout of the rows.
    pub fn layout(&self) -> Layout {
        match self.rows {
            Rows::Sparse(_) => Layout::Sparse,
            _ => Layout::Dense,
        }
    }

    /// The rows of a range.
    ///
    /// # Panics
    /// If the range exceeds the data.
    pub fn slice(&self, range: Range<usize>) -> Dataset<'a> {
        Dataset {
            rows: self.rows.slice(range.clone()),
            target: match self.target {
                Target::Classes { codes, classes } => {
                    Target::Classes { codes: &codes[range.clone()], classes }
                }
                Target::Regression(y) => Target::Regression(&y[range.clone()]),
                Target::MultiOutput { cells, width } => Target::MultiOutput {
                    cells: &cells[range.start * width..range.end * width],
                    width,
                },
                Target::None => Target::None,
            },
            weights: self.weights.map(|w| &w[range]),
            columns: self.columns,
            // The indices of the matrix belong to all rows.
            gram: None,
        }
    }

    /// The class codes and the classes.
    ///
    /// # Errors
    /// If the target is not a class.
    pub fn class_target(&self) -> Result<(&'a [u32], &'a Classes)> {
        match self.target {
            Target::Classes { codes, classes } => Ok((codes, classes)),
            Target::Regression(_) | Target::MultiOutput { .. } => Err(Error::Kind {
                column: "target".into(),
                found: "numeric".into(),
                expected: "a class".into(),
            }),
            Target::None => Err(Error::MissingColumn { name: "target".into() }),
        }
    }

    /// The regression target of every row.
    ///
    /// # Errors
    /// If the target is not numeric, or there are several.
    pub fn regression_target(&self) -> Result<&'a [f64]> {
        match self.regression_targets()? {
            (y, 1) => Ok(y),
            (_, width) => Err(Error::Kind {
                column: "target".into(),
                found: format!("{width} targets"),
                expected: "one target; fit one model per target".into(),
            }),
        }
    }

    /// The regression targets, row-major, and their number per row.
    ///
    /// # Errors
    /// If the target is not numeric.
    pub fn regression_targets(&self) -> Result<(&'a [f64], usize)> {
        match self.target {
            Target::Regression(y) => Ok((y, 1)),
            Target::MultiOutput { cells, width } => Ok((cells, width)),
            Target::Classes { .. } => Err(Error::Kind {
                column: "target".into(),
                found: "a class".into(),
                expected: "numeric".into(),
            }),
            Target::None => Err(Error::MissingColumn { name: "target".into() }),
        }
    }

    /// Refuses infinite cells, and missing ones unless they are allowed.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the first such cell.
    pub fn check_cells(&self, missing: Missing) -> Result<()> {
        check_cells(&self.rows, missing)
    }
}

/// Refuses sparse rows that are stored by columns.
///
/// # Errors
/// [`Error::ByColumns`].
pub fn check_storage(rows: &Rows<'_>) -> Result<()> {
    match rows {
        Rows::Sparse(x) if !x.is_csr() => Err(Error::ByColumns),
        _ => Ok(()),
    }
}

/// Refuses infinite cells, and missing ones unless they are allowed.
///
/// # Errors
/// [`Error::NotFinite`] with the first such cell.
pub fn check_cells(rows: &Rows<'_>, missing: Missing) -> Result<()> {
    match rows.first_invalid_cell(missing) {
        Some((row, column)) => Err(Error::NotFinite { row, column, value: rows.get(row, column) }),
        None => Ok(()),
    }
}

fn check_length(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        Ok(())
    } else {
        Err(Error::Length { what: what.to_owned(), found, expected })
    }
}
