//! The common part of multinomial, complement and Bernoulli naive Bayes: sums of counts by class, smoothing, and
//! scores that are linear in the counts, `score_c(x) = bias_c + Σⱼ xⱼ weight_cj`.
//!
//! `0 · log 0` is zero here: a probability of zero excludes a class only for rows in which the feature occurs.

use super::log_priors;
use crate::data::{Classes, Dataset};
use crate::error::{Error, Result};
use crate::model::{Classifier, OneOrEach};
use crate::stats::{ByClass, Count, Counts, not_a_count, on_cells};
use mercer_num::memory::zeros;
use mercer_num::parallel::prelude::*;
use mercer_num::simd::{add_table_rows, sum};
use mercer_num::{Matrix, Rows, SharedMatrix, SparseView};
use ndarray::{ArrayView2, Axis, ShapeBuilder, Slice};
use serde::{Deserialize, Deserializer};
use std::ops::Range;

/// Rows that one task scores.
const ROWS_PER_TASK: usize = 256;
/// Cells of a table that one task writes: they fit into the L1 cache.
const CELLS_PER_STRIP: usize = 4096;

/// Adds the counts of a batch to those of its classes.
pub(super) fn observe_counts(
    stats: &mut ByClass<Counts>,
    batch: &Dataset<'_>,
    count: Count,
) -> Result<()> {
    stats.push_rows(batch, |batch, group_of_row, class_weights| {
        Counts::of_rows(batch.rows(), group_of_row, batch.weights(), class_weights.len(), count)
    })
}

/// The counts of every class with priors and smoothing: the fields that the models have in common.
pub(super) struct ClassCounts {
    pub classes: Classes,
    pub log_priors: Vec<f64>,
    pub class_weights: Vec<f64>,
    pub counts: SharedMatrix,
    pub alphas: Vec<f64>,
}

impl ClassCounts {
    pub fn of(
        stats: &ByClass<Counts>,
        alpha: &OneOrEach,
        force_alpha: bool,
        class_prior: &[f64],
        fit_prior: bool,
    ) -> Result<ClassCounts> {
        stats.classes().check_several()?;
        let counts = stats.groups().sums;
        let class_weights = stats.weights();
        Ok(ClassCounts {
            classes: stats.classes().clone(),
            alphas: alphas(alpha, force_alpha, counts.ncols())?,
            log_priors: log_priors(class_prior, fit_prior, &class_weights)?,
            class_weights,
            counts,
        })
    }
}

/// The scores, one row per row and one column per class; `weights` has one row per class and is stored
/// [`by_column`].
pub(super) fn linear_scores(
    x: &Rows<'_>,
    bias: &[f64],
    weights: &Matrix,
    count: Count,
) -> Result<Matrix> {
    let n_classes = bias.len();
    let mut out = Matrix::zeros((x.n_rows(), n_classes));
    let table = weights.t();
    let table = table.as_standard_layout();
    let table = table.as_slice().expect("standard layout is contiguous");
    let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
    let scored: Vec<Result<()>> = cells
        .par_chunks_mut(ROWS_PER_TASK * n_classes)
        .enumerate()
        .map(|(k, scores)| {
            let first = k * ROWS_PER_TASK;
            let rows = x.slice(first..first + scores.len() / n_classes);
            let mut score = Scorer::new(bias, table, count);
            let scored = match &rows {
                Rows::Sparse(x) => on_cells(x, count, |x| score.sparse(x, scores)),
                rows => score.dense(rows, scores),
            };
            scored.map_err(|e| e.after_rows(first))
        })
        .collect();
    // The first invalid cell in row order is reported, independent of the threads.
    scored.into_iter().collect::<Result<()>>()?;
    Ok(out)
}

/// Scores rows one by one.
struct Scorer<'a> {
    bias: &'a [f64],
    /// The weights, one row per column of the data, so that those of all classes are contiguous.
    table: &'a [f64],
    count: Count,
    /// The columns of one row with nonzero counts, and the counts.
    columns: Vec<i32>,
    counts: Vec<f64>,
    /// As many ones as the longest row has cells.
    ones: Vec<f64>,
}

impl<'a> Scorer<'a> {
    fn new(bias: &'a [f64], table: &'a [f64], count: Count) -> Self {
        let (columns, counts, ones) = (Vec::new(), Vec::new(), Vec::new());
        Scorer { bias, table, count, columns, counts, ones }
    }

    fn sparse(&mut self, x: &SparseView<'_>, scores: &mut [f64]) -> Result<()> {
        for (i, scores) in scores.chunks_exact_mut(self.bias.len()).enumerate() {
            let (columns, values) = x.row(i);
            self.ones.resize(self.ones.len().max(values.len()), 1.0);
            if let Some(counts) = self.count.as_stored(values, &self.ones) {
                scores.copy_from_slice(self.bias);
                add_table_rows(x.columns_from(i), counts, self.table, scores);
            } else {
                self.score(i, columns.iter().copied().zip(values), scores)?;
            }
        }
        Ok(())
    }

    fn dense(&mut self, x: &Rows<'_>, scores: &mut [f64]) -> Result<()> {
        let Some(block) = x.block(0..x.n_rows()) else { return Ok(()) };
        let rows = block.chunks_exact(x.n_columns().max(1));
        for (i, (row, scores)) in rows.zip(scores.chunks_exact_mut(self.bias.len())).enumerate() {
            self.score(i, (0..).zip(row), scores)?;
        }
        Ok(())
    }

    fn score<'x>(
        &mut self,
        i: usize,
        cells: impl Iterator<Item = (i32, &'x f64)>,
        scores: &mut [f64],
    ) -> Result<()> {
        self.columns.clear();
        self.counts.clear();
        for (j, x) in cells {
            let n = self.count.of(*x).ok_or_else(|| not_a_count(i, j as usize, *x))?;
            if n != 0.0 {
                self.columns.push(j);
                self.counts.push(n);
            }
        }
        scores.copy_from_slice(self.bias);
        add_table_rows(&self.columns, &self.counts, self.table, scores);
        Ok(())
    }
}

/// A table with one row per class in column-major order, so that the values of all classes for a column are
/// contiguous. `fill` writes strips of some columns in parallel; its results are returned in order. The width of a
/// strip depends on the number of classes only, so the result does not depend on the number of threads.
pub(super) fn by_column<T: Send>(
    counts: ArrayView2<'_, f64>,
    fill: impl Fn(&mut Strip<'_>) -> T + Sync,
) -> (Matrix, Vec<T>) {
    let (n_classes, n_columns) = counts.dim();
    let width = (CELLS_PER_STRIP / n_classes.max(1)).max(8);
    let mut table = zeros(n_classes * n_columns);
    let results = table
        .par_chunks_mut(width * n_classes.max(1))
        .enumerate()
        .map(|(k, cells)| {
            let (positive, values) = (&mut vec![0; width + 1], &mut vec![0.0; width + 1]);
            let columns = k * width..k * width + cells.len() / n_classes;
            let counts = counts.slice_axis(Axis(1), Slice::from(columns.clone()));
            fill(&mut Strip { columns, counts, cells, positive, values })
        })
        .collect();
    let table = Matrix::from_shape_vec((n_classes, n_columns).f(), table);
    (table.expect("one cell per class and column"), results)
}

/// Some columns of a table that is being written.
pub(super) struct Strip<'a> {
    /// The range of columns.
    pub columns: Range<usize>,
    /// Their counts, one row per class.
    pub counts: ArrayView2<'a, f64>,
    /// The cells to write, one row per column.
    pub cells: &'a mut [f64],
    positive: &'a mut [usize],
    values: &'a mut [f64],
}

impl Strip<'_> {
    /// The cells of each column in turn.
    pub fn by_column(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.cells.chunks_exact_mut(self.counts.nrows())
    }

    /// Writes all cells as for a count of zero, given the alpha of their column. Columns of equal alpha are
    /// copied; usually all alphas are equal.
    pub fn write_zero_counts(&mut self, alphas: &[f64], zero: impl Fn(f64, &mut [f64])) {
        let n_classes = self.counts.nrows();
        for (k, alpha) in alphas.iter().enumerate() {
            if k > 0 && alphas[k - 1] == *alpha {
                self.cells.copy_within((k - 1) * n_classes..k * n_classes, k * n_classes);
            } else {
                zero(*alpha, &mut self.cells[k * n_classes..(k + 1) * n_classes]);
            }
        }
    }

    /// Overwrites the cells of positive counts; most features occur in few classes. `cells` gets a class, the
    /// columns of its positive counts in the strip and the counts, which it replaces by cells.
    pub fn write_positive_counts(&mut self, cells: impl Fn(usize, &[usize], &mut [f64])) {
        let n_classes = self.counts.nrows();
        for (c, counts) in self.counts.outer_iter().enumerate() {
            let mut found = 0;
            // Every entry is written, but only positive ones advance the index: this avoids mispredicted branches.
            for (k, n) in counts.iter().enumerate() {
                (self.positive[found], self.values[found]) = (k, *n);
                found += usize::from(*n != 0.0);
            }
            let (positive, values) = (&self.positive[..found], &mut self.values[..found]);
            cells(c, positive, values);
            for (k, cell) in positive.iter().zip(values) {
                self.cells[k * n_classes + c] = *cell;
            }
        }
    }
}

/// The total count of every class.
pub(super) fn class_totals(counts: &SharedMatrix) -> Vec<f64> {
    let total = |c| match counts.row(c).to_slice() {
        Some(row) => sum(row),
        None => sum(&counts.row(c).to_vec()),
    };
    (0..counts.nrows()).into_par_iter().map(total).collect()
}

/// `log n − log total`, and `−∞` for a count of zero even if the total is zero.
pub(super) fn log_probability(log_n: f64, log_total: f64) -> f64 {
    if log_n == f64::NEG_INFINITY { log_n } else { log_n - log_total }
}

/// Deserializes a table into the order of [`by_column`].
pub(super) fn read_by_column<'de, D: Deserializer<'de>>(
    d: D,
) -> std::result::Result<Matrix, D::Error> {
    let table = Matrix::deserialize(d)?;
    let (table, _) = by_column(table.view(), |strip| {
        let (n_classes, cells) = (strip.counts.nrows(), &mut *strip.cells);
        for (c, row) in strip.counts.outer_iter().enumerate() {
            cells[c..].iter_mut().step_by(n_classes).zip(row).for_each(|(to, v)| *to = *v);
        }
    });
    Ok(table)
}

/// The alpha of every feature.
fn alphas(alpha: &OneOrEach, force: bool, n_features: usize) -> Result<Vec<f64>> {
    let mut all = match alpha {
        OneOrEach::One(alpha) => vec![*alpha; n_features],
        OneOrEach::Each(alphas) if alphas.len() == n_features => alphas.clone(),
        OneOrEach::Each(alphas) => {
            return Err(Error::Parameter {
                name: "alpha".into(),
                found: format!("a list of {} values", alphas.len()),
                expected: format!("a float, or one float per feature ({n_features})"),
            });
        }
    };
    all.iter_mut().for_each(|a| *a = super::effective_alpha(*a, force));
    Ok(all)
}

/// The counts of one row.
pub(super) fn counts_of_row(model: &dyn Classifier, row: &[f64], count: Count) -> Result<Vec<f64>> {
    model.check_columns(&Rows::from(ndarray::ArrayView1::from(row)))?;
    row.iter()
        .enumerate()
        .map(|(column, x)| count.of(*x).ok_or_else(|| not_a_count(0, column, *x)))
        .collect()
}

/// Refuses an inconsistent model, for one that comes from a file; `is_valid` accepts the entries of the table of
/// log-probabilities, or weights.
pub(super) fn check_counts(
    what: &str,
    classes: usize,
    (log_priors, class_weights): (&[f64], &[f64]),
    alphas: &[f64],
    counts: &SharedMatrix,
    log_probabilities: &Matrix,
    is_valid: impl Fn(f64) -> bool,
) -> Result<()> {
    let (n_classes, width) = counts.dim();
    let fits = n_classes == classes
        && super::are_priors(n_classes, log_priors, class_weights)
        && width > 0
        && alphas.len() == width
        && log_probabilities.dim() == (n_classes, width)
        && counts.iter().chain(alphas).all(|n| n.is_finite() && *n >= 0.0)
        && log_probabilities.iter().all(|p| is_valid(*p));
    if fits { Ok(()) } else { Err(super::inconsistent(what)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn strips_cover_every_column_once() {
        let counts = Matrix::from_shape_fn((3, 5000), |(c, j)| ((j + c) % 4) as f64);

        let (table, columns) = by_column(counts.view(), |strip| {
            strip.write_zero_counts(&vec![0.5; strip.columns.len()], |alpha, cells| {
                cells.fill(alpha)
            });
            strip.write_positive_counts(|c, _, counts| {
                counts.iter_mut().for_each(|n| *n += c as f64)
            });
            strip.columns.len()
        });

        assert!(columns.len() > 1);
        assert_eq!(columns.iter().sum::<usize>(), 5000);
        for ((c, j), cell) in table.indexed_iter() {
            let n = counts[[c, j]];
            assert_eq!(*cell, if n == 0.0 { 0.5 } else { n + c as f64 });
        }
    }

    #[test]
    fn scores_do_not_depend_on_the_memory_order_of_the_weights() {
        let weights = array![[1.0, 2.0, 3.0], [-1.0, 0.5, 0.25]];
        let by_column = read_by_column(serde_json::to_value(&weights).unwrap()).unwrap();
        let x = array![[2.0, 0.0, 1.0]];
        let rows = Rows::from(&x);

        let scores = linear_scores(&rows, &[10.0, 20.0], &by_column, Count::Number).unwrap();

        assert_eq!(by_column, weights);
        assert_eq!(scores, array![[15.0, 18.25]]);
        assert_eq!(linear_scores(&rows, &[10.0, 20.0], &weights, Count::Number).unwrap(), scores);
    }
}
