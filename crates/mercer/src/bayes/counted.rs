//! What the members of the family that count have in common: scores linear in the counts,
//! `score_c(x) = bias_c + Σⱼ xⱼ weight_cj`, and shares of counts with something added.
//!
//! A count of zero adds nothing, whatever its weight: `0 · log 0` is zero here, so an unsmoothed
//! probability of zero rules a class out only in rows where the word occurs.

use crate::error::{Error, Result};
use crate::model::{Classifier, OneOrEach};
use crate::stats::{Count, not_a_count, on_cells};
use mercer_num::memory::zeros;
use mercer_num::simd::{add_table_rows, sum};
use mercer_num::{Matrix, Rows, SharedMatrix, SparseView};
use ndarray::{ArrayView2, Axis, ShapeBuilder, Slice};
use rayon::prelude::*;
use serde::{Deserialize, Deserializer};
use std::ops::Range;

/// Rows scored by one thread at a time.
const CHUNK: usize = 256;
/// Cells of a table that one thread writes at a time: they fit into the fastest cache.
const STRIP: usize = 4096;

/// One score a row and class; `weights` has one row a class and lies [`by_column`].
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
        .par_chunks_mut(CHUNK * n_classes)
        .enumerate()
        .map(|(k, scores)| {
            let first = k * CHUNK;
            let rows = x.slice(first..first + scores.len() / n_classes);
            let mut score = Scorer::new(bias, table, count);
            let scored = match &rows {
                Rows::Sparse(x) => on_cells(x, count, |x| score.sparse(x, scores)),
                rows => score.dense(rows, scores),
            };
            scored.map_err(|e| e.after_rows(first))
        })
        .collect();
    // The first bad cell in the order of the rows, whichever thread found one first.
    scored.into_iter().collect::<Result<()>>()?;
    Ok(out)
}

/// Scores rows one after the other.
struct Scorer<'a> {
    bias: &'a [f64],
    /// The weights, one row a column of the data, so that a cell finds all classes side by side.
    table: &'a [f64],
    count: Count,
    /// The columns of one row that count, and what they count.
    columns: Vec<i32>,
    counts: Vec<f64>,
    /// As many as the longest row so far has cells.
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

/// A table of one row a class that lies in memory column by column, so that a cell of the data finds
/// its numbers in all classes side by side. It is made strip by strip of some columns; what `fill`
/// answers is handed back in their order. How wide a strip is depends on the number of classes only,
/// so any number of threads gives the same bits.
pub(super) fn by_column<T: Send>(
    counts: ArrayView2<'_, f64>,
    fill: impl Fn(&mut Strip<'_>) -> T + Sync,
) -> (Matrix, Vec<T>) {
    let (n_classes, n_columns) = counts.dim();
    let width = (STRIP / n_classes.max(1)).max(8);
    let mut table = zeros(n_classes * n_columns);
    let answers = table
        .par_chunks_mut(width * n_classes.max(1))
        .enumerate()
        .map_init(
            || (vec![0; width + 1], vec![0.0; width + 1]),
            |(places, numbers), (k, cells)| {
                let columns = k * width..k * width + cells.len() / n_classes;
                let counts = counts.slice_axis(Axis(1), Slice::from(columns.clone()));
                fill(&mut Strip { columns, counts, cells, places, numbers })
            },
        )
        .collect();
    let table = Matrix::from_shape_vec((n_classes, n_columns).f(), table);
    (table.expect("as many cells as asked for"), answers)
}

/// Some columns of a table under way.
pub(super) struct Strip<'a> {
    /// Which columns.
    pub columns: Range<usize>,
    /// Their counts, one row a class.
    pub counts: ArrayView2<'a, f64>,
    /// The cells to be written, one row a column.
    pub cells: &'a mut [f64],
    places: &'a mut [usize],
    numbers: &'a mut [f64],
}

impl Strip<'_> {
    /// The cells of one column after the other.
    pub fn by_column(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.cells.chunks_exact_mut(self.counts.nrows())
    }

    /// Writes cells as they are where nothing was counted, given the alpha of their column. Mostly
    /// all alphas are alike, and then so are the columns.
    pub fn write_blank(&mut self, alphas: &[f64], blank: impl Fn(f64, &mut [f64])) {
        let n_classes = self.counts.nrows();
        for (k, alpha) in alphas.iter().enumerate() {
            if k > 0 && alphas[k - 1] == *alpha {
                self.cells.copy_within((k - 1) * n_classes..k * n_classes, k * n_classes);
            } else {
                blank(*alpha, &mut self.cells[k * n_classes..(k + 1) * n_classes]);
            }
        }
    }

    /// Writes the cells where something was counted: most words occur in few classes. `cells` is
    /// handed a class, some places in the strip and the counts there, which it turns into cells.
    pub fn write_counted(&mut self, cells: impl Fn(usize, &[usize], &mut [f64])) {
        let n_classes = self.counts.nrows();
        for (c, counts) in self.counts.outer_iter().enumerate() {
            let mut found = 0;
            // Writes every place and moves on only from those that stay: no branch to guess wrong.
            for (k, n) in counts.iter().enumerate() {
                (self.places[found], self.numbers[found]) = (k, *n);
                found += usize::from(*n != 0.0);
            }
            let (places, numbers) = (&self.places[..found], &mut self.numbers[..found]);
            cells(c, places, numbers);
            for (k, cell) in places.iter().zip(numbers) {
                self.cells[k * n_classes + c] = *cell;
            }
        }
    }
}

/// The sum of the counts of every class.
pub(super) fn class_totals(counts: &SharedMatrix) -> Vec<f64> {
    let total = |c| match counts.row(c).to_slice() {
        Some(row) => sum(row),
        None => sum(&counts.row(c).to_vec()),
    };
    (0..counts.nrows()).into_par_iter().map(total).collect()
}

/// `log (n / total)`; nothing is no share of nothing.
pub(super) fn log_probability(log_n: f64, log_total: f64) -> f64 {
    if log_n == f64::NEG_INFINITY { log_n } else { log_n - log_total }
}

/// Reads a table that shall lie [`by_column`] after it was in a file.
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
pub(super) fn alphas(alpha: &OneOrEach, force: bool, n_features: usize) -> Result<Vec<f64>> {
    let mut all = match alpha {
        OneOrEach::One(alpha) => vec![*alpha; n_features],
        OneOrEach::Each(alphas) if alphas.len() == n_features => alphas.clone(),
        OneOrEach::Each(alphas) => {
            return Err(Error::Parameter {
                name: "alpha".into(),
                found: format!("{} numbers", alphas.len()),
                expected: format!("one number, or one for each of the {n_features} features"),
            });
        }
    };
    all.iter_mut().for_each(|a| *a = super::forced(*a, force));
    Ok(all)
}

/// The counts of one row, of the model's width.
pub(super) fn counted_row(model: &dyn Classifier, row: &[f64], count: Count) -> Result<Vec<f64>> {
    model.check_columns(&Rows::from(ndarray::ArrayView1::from(row)))?;
    row.iter()
        .enumerate()
        .map(|(column, x)| count.of(*x).ok_or_else(|| not_a_count(0, column, *x)))
        .collect()
}

/// Refuses tables of counts that no rows could have given.
pub(super) fn check_counts(
    what: &str,
    classes: usize,
    per_class: &[&[f64]],
    alphas: &[f64],
    counts: &SharedMatrix,
    log_probabilities: &Matrix,
) -> Result<()> {
    let (n_classes, width) = counts.dim();
    let fits = n_classes >= 2
        && n_classes == classes
        && width > 0
        && per_class.iter().all(|v| v.len() == n_classes)
        && alphas.len() == width
        && log_probabilities.dim() == (n_classes, width)
        && counts.iter().chain(alphas).all(|n| n.is_finite() && *n >= 0.0)
        && log_probabilities.iter().all(|p| !p.is_nan());
    if fits { Ok(()) } else { Err(Error::File(format!("a {what} model that no fit could make"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn strips_cover_every_column_once_and_count_what_is_there() {
        let counts = Matrix::from_shape_fn((3, 5000), |(c, j)| ((j + c) % 4) as f64);

        let (table, columns) = by_column(counts.view(), |strip| {
            strip.write_blank(&vec![0.5; strip.columns.len()], |alpha, cells| cells.fill(alpha));
            strip.write_counted(|c, _, numbers| numbers.iter_mut().for_each(|n| *n += c as f64));
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
    fn a_table_scores_the_same_however_it_lies() {
        let weights = array![[1.0, 2.0, 3.0], [-1.0, 0.5, 0.25]];
        let lying = read_by_column(serde_json::to_value(&weights).unwrap()).unwrap();
        let x = array![[2.0, 0.0, 1.0]];
        let rows = Rows::from(&x);

        let scores = linear_scores(&rows, &[10.0, 20.0], &lying, Count::Number).unwrap();

        assert_eq!(lying, weights);
        assert_eq!(scores, array![[15.0, 18.25]]);
        assert_eq!(linear_scores(&rows, &[10.0, 20.0], &weights, Count::Number).unwrap(), scores);
    }
}
