//! Rows with what is to be learned about them.

use crate::data::Classes;
use crate::error::{Error, Result};
use mercer_num::Rows;
use mercer_num::parallel::Layout;
use mercer_num::rows::Missing;
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Borrowed rows, their target and their weights; lengths and numbers are checked when it is made.
#[derive(Clone, Debug)]
pub struct Dataset<'a> {
    rows: Rows<'a>,
    target: Target<'a>,
    weights: Option<&'a [f64]>,
    columns: &'a [ColumnDescription],
}

/// A column's name and what its numbers stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDescription {
    /// What users call it.
    pub name: String,
    /// What its numbers stand for.
    pub measure: Measure,
}

/// What the numbers of a column stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// A quantity.
    Numeric,
    /// The place of a value in a list of so many; larger ones stand for values not in the list.
    Categorical(usize),
    /// How often a word of a text occurs; the words of one text have one number.
    TermCount(usize),
}

/// What the rows are about.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A class code a row.
    Classes {
        /// Codes into `classes`.
        codes: &'a [u32],
        /// What the codes stand for.
        classes: &'a Classes,
    },
    /// A number a row.
    Regression(&'a [f64]),
    /// Several numbers a row.
    MultiOutput {
        /// A row of numbers a row.
        cells: &'a [f64],
        /// How many numbers a row has.
        width: usize,
    },
    /// Nothing is known.
    None,
}

impl<'a> Dataset<'a> {
    /// Rows of known classes. NaN is a missing value, for the estimators that take it.
    ///
    /// # Errors
    /// If lengths differ, a code stands for no class, or sparse rows are stored by columns.
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
        })
    }

    /// Rows with a number each.
    ///
    /// # Errors
    /// If lengths differ or a number is not finite.
    pub fn regression(rows: impl Into<Rows<'a>>, target: &'a [f64]) -> Result<Dataset<'a>> {
        let rows = rows.into();
        check_storage(&rows)?;
        check_length("the target", target.len(), rows.n_rows())?;
        if let Some(row) = target.iter().position(|y| !y.is_finite()) {
            return Err(Error::NotFinite { row, column: rows.n_columns(), value: target[row] });
        }
        Ok(Dataset { rows, target: Target::Regression(target), weights: None, columns: &[] })
    }

    /// Rows with several numbers each: a row of the table each.
    ///
    /// # Errors
    /// If lengths differ, a number is not finite, or the table has no columns or is not stored by rows.
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
                ("no numbers in a row, or not by rows", "a table stored by rows");
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
        })
    }

    /// Rows alone.
    pub fn unlabeled(rows: impl Into<Rows<'a>>) -> Dataset<'a> {
        Dataset { rows: rows.into(), target: Target::None, weights: None, columns: &[] }
    }

    /// The same rows, counted `weights[i]` times each.
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
    /// If there are not as many as columns.
    pub fn with_descriptions(self, columns: &'a [ColumnDescription]) -> Result<Dataset<'a>> {
        check_length("the description of the columns", columns.len(), self.rows.n_columns())?;
        Ok(Dataset { columns, ..self })
    }

    /// What is known about the columns; empty where nobody said.
    pub fn columns(&self) -> &'a [ColumnDescription] {
        self.columns
    }

    /// What the columns hold; numbers where nobody said.
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

    /// What is to be learned.
    pub fn target(&self) -> Target<'a> {
        self.target
    }

    /// The weights, empty where every row counts once.
    pub fn weights(&self) -> &'a [f64] {
        self.weights.unwrap_or(&[])
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    /// How many columns there are.
    pub fn n_columns(&self) -> usize {
        self.rows.n_columns()
    }

    /// How the rows lie in memory.
    pub fn layout(&self) -> Layout {
        match self.rows {
            Rows::Sparse(_) => Layout::Sparse,
            _ => Layout::Dense,
        }
    }

    /// The rows of a range.
    ///
    /// # Panics
    /// If the range leaves the data.
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
        }
    }

    /// The class codes and the classes.
    ///
    /// # Errors
    /// If the target is something else.
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

    /// The number to be learned of every row.
    ///
    /// # Errors
    /// If the target is something else.
    pub fn regression_target(&self) -> Result<&'a [f64]> {
        match self.regression_targets()? {
            (y, 1) => Ok(y),
            (_, width) => Err(Error::Kind {
                column: "target".into(),
                found: format!("{width} numbers a row"),
                expected: "one number; fit a model for each".into(),
            }),
        }
    }

    /// The numbers to be learned, row by row, and how many a row has.
    ///
    /// # Errors
    /// If the target is something else.
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

    /// Refuses cells that cannot be computed with.
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

/// Refuses cells that cannot be computed with.
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
