//! Rows laid out for many products with the same cells: `Xv` and `Xᵀr`, for several `v` at once.
//!
//! Weights stand feature by feature, so that a cell meets all of its weights side by side. Dense rows
//! are read once for a product and its transpose, panel by panel, while a panel is in cache, and so are sparse
//! ones of many more cells than weights; others are kept by columns as well. The order of every sum is fixed by the
//! shape of the data.

use crate::error::Result;
use crate::model::{Cached, Monitor};
use mercer_num::linalg::{add_gram, add_product, add_times};
use mercer_num::outer::add_outer_at;
use mercer_num::parallel;
use mercer_num::simd::{add_table_rows, dot_rows};
use mercer_num::sparse::{Whole, WholeRows};
use mercer_num::{Matrix, Rows, SparseView};
use rayon::prelude::*;
use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Range;

/// Rows of a panel: enough for products at full speed, few enough to stay in cache.
const PANEL: usize = 64;
/// Parts the rows are dealt into at most; each has sums of its own.
const PARTS: usize = 64;

/// Sparse rows are dealt into as many parts as have so many times more cells than weights, and kept by columns where
/// those would be few: the sums of every part have to be made, added and within reach. (At 46 cells a weight, film
/// reviews, by columns took 0.6 of the time.)
const CELLS: usize = 64;
const FEW: usize = 4;

/// The rows, and whether a constant column stands behind the others.
pub(crate) struct Design<'a> {
    rows: Rows<'a>,
    /// Parts whose sums are made row by row; none where they are made by columns.
    parts: Option<usize>,
    /// Sparse cells by columns, made when first asked for.
    by_column: Option<Cached<WholeRows>>,
    pub intercept: bool,
}

impl<'a> Design<'a> {
    /// Lays rows out; sparse ones will be copied by columns.
    ///
    /// # Errors
    /// If the copy would take more memory than allowed.
    pub fn new(rows: &Rows<'a>, intercept: bool, monitor: &Monitor<'_>) -> Result<Design<'a>> {
        let (parts, by_column) = match rows {
            Rows::Sparse(x) => {
                let n_cells: usize = x.iter().map(|(columns, _)| columns.len()).sum();
                let bytes = 12 * n_cells as u64 + 8 * x.n_columns() as u64;
                monitor.reserve("keeping sparse rows by columns", bytes)?;
                let parts = (n_cells / (CELLS * (x.n_columns() + 1))).min(PARTS);
                (Some(parts).filter(|parts| *parts >= FEW), Some(Cached::default()))
            }
            _ => (Some(PARTS), None),
        };
        Ok(Design { rows: *rows, parts, by_column, intercept })
    }

    /// Rows that are only scored.
    pub fn reading(rows: &Rows<'a>, intercept: bool) -> Design<'a> {
        let parts = (!matches!(rows, Rows::Sparse(_))).then_some(PARTS);
        Design { rows: *rows, parts, by_column: None, intercept }
    }

    pub fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    /// Columns without the constant one.
    pub fn width(&self) -> usize {
        self.rows.n_columns()
    }

    /// Columns with the constant one.
    pub fn n_weights(&self) -> usize {
        self.width() + usize::from(self.intercept)
    }

    pub fn is_sparse(&self) -> bool {
        matches!(self.rows, Rows::Sparse(_))
    }

    /// Sparse cells by columns.
    fn by_column(&self) -> Option<SparseView<'_>> {
        match (&self.rows, &self.by_column) {
            (Rows::Sparse(x), Some(made)) => Some(made.get(|| x.by_columns()).view()),
            _ => None,
        }
    }

    /// Rows that one thread takes at a time.
    fn part(&self) -> usize {
        let parts = self.parts.unwrap_or(PARTS);
        self.n_rows().div_ceil(parts).next_multiple_of(PANEL).max(4 * PANEL)
    }

    /// The scores of all rows: `m` weights a feature in `v`, `m` scores a row in `scores`.
    pub fn scores(&self, v: &[f64], m: usize, scores: &mut [f64]) {
        let part = self.part();
        scores.par_chunks_mut(part * m).enumerate().for_each(|(k, scores)| {
            for (p, scores) in scores.chunks_mut(PANEL * m).enumerate() {
                let first = k * part + p * PANEL;
                let rows = first..first + scores.len() / m;
                self.panel_scores(&self.panel(&rows), rows, v, m, scores);
            }
        });
    }

    /// The cells of dense rows.
    fn panel(&self, rows: &Range<usize>) -> Cow<'_, [f64]> {
        self.rows.block(rows.clone()).unwrap_or_default()
    }

    fn panel_scores(
        &self,
        block: &[f64],
        rows: Range<usize>,
        v: &[f64],
        m: usize,
        scores: &mut [f64],
    ) {
        let (weights, constant) = v.split_at(self.width() * m);
        match &self.rows {
            Rows::Sparse(x) if m == 1 => {
                rows.zip(scores.iter_mut()).for_each(|(i, z)| *z = x.dot(i, weights));
            }
            Rows::Sparse(x) => {
                scores.fill(0.0);
                for (i, scores) in rows.zip(scores.chunks_exact_mut(m)) {
                    let (columns, values) = x.row(i);
                    add_table_rows(columns, values, weights, scores);
                }
            }
            _ => forward(block, self.width(), weights, m, scores),
        }
        if self.intercept {
            for scores in scores.chunks_exact_mut(m) {
                scores.iter_mut().zip(constant).for_each(|(z, b)| *z += b);
            }
        }
    }

    /// `Xᵀr` for `m` numbers a row in `residuals`, `m` sums a feature in `out`.
    pub fn back(&self, residuals: &[f64], m: usize, out: &mut [f64]) {
        if let (None, Some(columns)) = (self.parts, self.by_column()) {
            sum_columns(&columns, Cow::Borrowed, residuals, m, &mut out[..self.width() * m]);
            self.constant_back(residuals, m, out);
            return;
        }
        if let (None, Rows::Sparse(x)) = (self.parts, &self.rows) {
            // Rows that were not copied by columns are added one after the other.
            out.fill(0.0);
            for ((columns, values), residuals) in x.iter().zip(residuals.chunks_exact(m)) {
                let n_cells = columns.len().min(values.len());
                add_outer_at(&columns[..n_cells], values, residuals, out);
            }
            return self.constant_back(residuals, m, out);
        }
        let part = self.part();
        let parts = residuals.par_chunks(part * m).enumerate().map(|(k, residuals)| {
            let mut sums = vec![0.0; self.n_weights() * m];
            for (p, residuals) in residuals.chunks(PANEL * m).enumerate() {
                let first = k * part + p * PANEL;
                let rows = first..first + residuals.len() / m;
                self.panel_back(&self.panel(&rows), rows, residuals, m, &mut sums);
            }
            sums
        });
        add_up(parts.collect(), out);
    }

    fn panel_back(
        &self,
        block: &[f64],
        rows: Range<usize>,
        residuals: &[f64],
        m: usize,
        sums: &mut [f64],
    ) {
        match &self.rows {
            Rows::Sparse(x) => {
                for (i, residuals) in rows.zip(residuals.chunks_exact(m)) {
                    let (columns, values) = x.row(i);
                    match residuals {
                        // Rows that neither push nor curve are many, near the optimum.
                        [0.0] => {}
                        [r] => x.add_to(i, *r, &mut sums[..self.width()]),
                        _ => add_outer_at(columns, values, residuals, sums),
                    }
                }
            }
            _ if self.width() > 0 => {
                let sums = &mut sums[..self.width() * m];
                add_product(block, self.width(), residuals, m, sums);
            }
            _ => {}
        }
        if self.intercept {
            let sums = &mut sums[self.width() * m..];
            for residuals in residuals.chunks_exact(m) {
                sums.iter_mut().zip(residuals).for_each(|(s, r)| *s += r);
            }
        }
    }

    fn constant_back(&self, residuals: &[f64], m: usize, out: &mut [f64]) {
        if !self.intercept {
            return;
        }
        let part = self.part();
        let parts = residuals.par_chunks(part * m).map(|residuals| {
            let mut sums = vec![0.0; m];
            for residuals in residuals.chunks_exact(m) {
                sums.iter_mut().zip(residuals).for_each(|(s, r)| *s += r);
            }
            sums
        });
        add_up(parts.collect(), &mut out[self.width() * m..]);
    }

    /// There and back in one reading of the rows: fills `scores` with the scores of `v`, asks `answer`
    /// for what stands in their place, and leaves `Xᵀ` of that in `out`.
    pub fn round_trip(
        &self,
        v: &[f64],
        m: usize,
        scores: &mut [f64],
        answer: impl Fn(Range<usize>, &[f64], &mut [f64]) + Sync,
        out: &mut [f64],
    ) {
        let part = self.part();
        if self.parts.is_none() {
            self.scores(v, m, scores);
            let mut residuals = vec![0.0; scores.len()];
            residuals
                .par_chunks_mut(part * m)
                .zip(scores.par_chunks(part * m))
                .enumerate()
                .for_each(|(k, (residuals, scores))| {
                    let first = k * part;
                    answer(first..first + scores.len() / m, scores, residuals);
                });
            return self.back(&residuals, m, out);
        }
        let parts = scores.par_chunks_mut(part * m).enumerate().map(|(k, scores)| {
            let mut sums = vec![0.0; self.n_weights() * m];
            let mut residuals = vec![0.0; PANEL * m];
            for (p, scores) in scores.chunks_mut(PANEL * m).enumerate() {
                let first = k * part + p * PANEL;
                let rows = first..first + scores.len() / m;
                let block = self.panel(&rows);
                self.panel_scores(&block, rows.clone(), v, m, scores);
                let residuals = &mut residuals[..scores.len()];
                answer(rows.clone(), scores, residuals);
                self.panel_back(&block, rows, residuals, m, &mut sums);
            }
            sums
        });
        add_up(parts.collect(), out);
    }

    /// `Σᵢ rᵢ xᵢⱼ²` for `m` numbers `r` a row: the diagonals of `XᵀRX`.
    pub fn squares_back(&self, weights: &[f64], m: usize, out: &mut [f64]) {
        if let (None, Some(columns)) = (self.parts, self.by_column()) {
            let squares = |cells: &[f64]| cells.iter().map(|x| x * x).collect();
            sum_columns(&columns, squares, weights, m, &mut out[..self.width() * m]);
            return self.constant_back(weights, m, out);
        }
        let part = self.part();
        let parts = weights.par_chunks(part * m).enumerate().map(|(k, weights)| {
            let mut sums = vec![0.0; self.n_weights() * m];
            for (p, weights) in weights.chunks(PANEL * m).enumerate() {
                let first = k * part + p * PANEL;
                let rows = first..first + weights.len() / m;
                if let Rows::Sparse(x) = &self.rows {
                    for (i, weights) in rows.zip(weights.chunks_exact(m)) {
                        let (columns, values) = x.row(i);
                        let squares: Vec<f64> = values.iter().map(|x| x * x).collect();
                        add_outer_at(columns, &squares, weights, &mut sums);
                        let constants = sums[self.width() * m..].iter_mut().zip(weights);
                        constants.for_each(|(sum, w)| *sum += w);
                    }
                    continue;
                }
                let mut block = self.panel(&rows);
                block.to_mut().iter_mut().for_each(|x| *x *= *x);
                self.panel_back(&block, rows, weights, m, &mut sums);
            }
            sums
        });
        add_up(parts.collect(), out);
    }

    /// The plain means of the columns.
    pub fn means(&self) -> Vec<f64> {
        let n = self.n_rows();
        let mut means = vec![0.0; self.n_weights()];
        self.back(&vec![1.0 / n.max(1) as f64; n], 1, &mut means);
        means.truncate(self.width());
        means
    }

    /// The cells of a dense row.
    pub fn dense_row(&self, i: usize) -> Cow<'_, [f64]> {
        self.rows.block(i..i + 1).unwrap_or_default()
    }

    /// What the cross-products of sparse rows cost, in products with all rows.
    pub fn gram_cost(&self) -> f64 {
        let Rows::Sparse(x) = &self.rows else { return f64::INFINITY };
        let cells = x.iter().map(|(columns, _)| columns.len() as f64);
        let (sum, squares) = cells.fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
        squares / (4.0 * sum)
    }

    /// Adds the weighted cross-products of some sparse rows to a lower triangle.
    fn add_sparse_gram(&self, rows: Range<usize>, weights: &[f64], into: &mut [f64]) {
        let Rows::Sparse(x) = &self.rows else { return };
        let width = self.width();
        for (i, weight) in rows.clone().zip(&weights[rows]).filter(|(_, w)| **w != 0.0) {
            let (columns, values) = x.row(i);
            if columns.is_sorted_by(|a, b| a < b) {
                for (k, (j, v)) in columns.iter().zip(values).enumerate() {
                    let times = weight * v;
                    let line = &mut into[*j as usize * width..][..width];
                    for (other, v) in columns[..=k].iter().zip(values) {
                        line[*other as usize] += times * v;
                    }
                }
                continue;
            }
            for (k, (j, v)) in columns.iter().zip(values).enumerate() {
                let times = weight * v;
                for (other, v) in columns[..k].iter().zip(values) {
                    let (low, high) = (*j.min(other) as usize, *j.max(other) as usize);
                    // Two parts of one cell meet twice in its square.
                    let twice = if low == high { 2.0 } else { 1.0 };
                    into[high * width + low] += twice * times * v;
                }
                into[*j as usize * (width + 1)] += times * v;
            }
        }
    }

    /// The weighted means of the columns, and the cross-products around them if there is a constant
    /// column, around zero otherwise.
    pub fn centered_gram(&self, weights: impl Fn(usize) -> f64 + Sync) -> (Vec<f64>, Matrix) {
        let width = self.width();
        let weighted: Vec<f64> = (0..self.n_rows()).map(&weights).collect();
        let total: f64 = weighted.iter().sum();
        let mut means = vec![0.0; self.n_weights()];
        if self.intercept {
            self.back(&weighted, 1, &mut means);
            means.iter_mut().for_each(|x| *x /= total);
        }
        means.truncate(width);
        let part = match &self.rows {
            // Every part has a square of its own, which has to be made and added: few where that takes longer than
            // to fill it.
            Rows::Sparse(x) => {
                let cells = |i: usize| x.row(i).0.len() as f64;
                let counted = (0..self.n_rows()).filter(|i| weighted[*i] != 0.0);
                let visits: f64 = counted.map(|i| 0.5 * cells(i) * cells(i)).sum();
                let parts = (visits / (4.0 * (width * width) as f64)).clamp(2.0, 16.0);
                self.n_rows().div_ceil((parts as usize).max(1)).max(1)
            }
            _ => self.part(),
        };
        let leaf = |k: usize| {
            let mut sum = vec![0.0; width * width];
            let rows = k * part..((k + 1) * part).min(self.n_rows());
            if self.is_sparse() {
                self.add_sparse_gram(rows, &weighted, &mut sum);
                return Ok(sum);
            }
            for first in rows.clone().step_by(4 * PANEL) {
                let rows = first..(first + 4 * PANEL).min(rows.end);
                let mut block = self.rows.block(rows.clone()).unwrap_or_default();
                for (i, row) in rows.zip(block.to_mut().chunks_exact_mut(width.max(1))) {
                    let root = weighted[i].sqrt();
                    row.iter_mut().zip(&means).for_each(|(x, mean)| *x = (*x - mean) * root);
                }
                add_gram(&block, width, &mut sum);
            }
            Ok::<_, Infallible>(sum)
        };
        let add = |a: &mut Vec<f64>, b: &Vec<f64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            Ok(())
        };
        let Ok((sum, _)) = parallel::reduce(self.n_rows().div_ceil(part), leaf, add, |_| true);
        let sum = sum.unwrap_or_else(|| vec![0.0; width * width]);
        let mut gram = Matrix::from_shape_vec((width, width), sum).expect("a square of the width");
        if self.is_sparse() {
            for (mut row, mean) in gram.outer_iter_mut().zip(&means) {
                row.scaled_add(-total * mean, &ndarray::ArrayView1::from(&means));
            }
        }
        (means, gram)
    }
}

/// `scores = block · weights`.
fn forward(block: &[f64], width: usize, weights: &[f64], m: usize, scores: &mut [f64]) {
    scores.fill(0.0);
    match m {
        _ if width == 0 => {}
        1 => dot_rows(block, weights, scores),
        _ => add_times(block, width, weights, m, scores),
    }
}

/// The sums of all parts, in their order.
fn add_up(parts: Vec<Vec<f64>>, out: &mut [f64]) {
    out.fill(0.0);
    for part in parts {
        out.iter_mut().zip(&part).for_each(|(sum, x)| *sum += x);
    }
}

/// `m` sums a column: of its cells, or of what is made of them, times the numbers of their rows.
fn sum_columns<'c>(
    columns: &SparseView<'c>,
    made: impl Fn(&'c [f64]) -> Cow<'c, [f64]> + Sync,
    residuals: &[f64],
    m: usize,
    out: &mut [f64],
) {
    // Columns that one thread takes at a time.
    let some = (columns.n_rows() / PARTS).clamp(1, 1024);
    out.par_chunks_mut(some * m).enumerate().for_each(|(k, out)| {
        for (j, out) in (k * some..).zip(out.chunks_exact_mut(m)) {
            let (rows, cells) = columns.row(j);
            out.fill(0.0);
            match (made(cells), m) {
                (Cow::Borrowed(_), 1) => out[0] = columns.dot(j, residuals),
                (cells, _) => add_table_rows(rows, &cells, residuals, out),
            }
        }
    });
}

/// The cells of one row.
pub(crate) enum RowCells<'a> {
    Sparse(&'a [i32], &'a [f64]),
    Dense(Cow<'a, [f64]>),
}

impl<'a> Design<'a> {
    /// A row, without the constant.
    pub fn row(&self, i: usize) -> RowCells<'a> {
        match &self.rows {
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                RowCells::Sparse(columns, &values[..columns.len().min(values.len())])
            }
            rows => RowCells::Dense(rows.block(i..i + 1).unwrap_or_default()),
        }
    }

    /// `‖x‖²` of every row, without the constant.
    pub fn squared_lengths(&self) -> Vec<f64> {
        let length = |i| match self.row(i) {
            RowCells::Dense(row) => row.iter().map(|x| x * x).sum(),
            RowCells::Sparse(columns, values) if columns.is_sorted_by(|a, b| a < b) => {
                values.iter().map(|x| x * x).sum()
            }
            // A cell may be stored in parts, which only together have a square.
            RowCells::Sparse(columns, values) => {
                let mut cells: Vec<(i32, f64)> =
                    columns.iter().copied().zip(values.iter().copied()).collect();
                cells.sort_by_key(|(j, _)| *j);
                let parts = cells.chunk_by(|a, b| a.0 == b.0);
                parts.map(|part| part.iter().map(|(_, x)| x).sum::<f64>().powi(2)).sum()
            }
        };
        (0..self.n_rows()).into_par_iter().with_min_len(PANEL).map(length).collect()
    }
}

/// Rows to be visited one by one.
pub(crate) enum Lines<'a> {
    Thin(Whole<'a>),
    Dense(Rows<'a>),
}

impl<'a> Design<'a> {
    /// The rows without the constant; dense ones with few cells that are not zero are kept as those.
    pub fn lines(&self) -> Lines<'a> {
        /// The share of cells up to which it is faster to look at those that are not zero.
        const THIN: f64 = 0.25;
        match self.rows {
            Rows::Sparse(x) => Lines::Thin(x.whole()),
            rows => match WholeRows::of_dense(&rows, THIN) {
                Some(thin) => Lines::Thin(Whole::Owned(thin)),
                None => Lines::Dense(rows),
            },
        }
    }
}

/// The cells of one column.
pub(crate) enum Column<'a> {
    Sparse(&'a [i32], &'a [f64]),
    Dense(Vec<f64>),
    Constant,
}

impl Design<'_> {
    /// Some columns; the one behind the last is the constant.
    pub fn columns(&self, which: &[usize]) -> Vec<Column<'_>> {
        let by_column = self.by_column();
        which
            .par_iter()
            .map(|j| match by_column {
                _ if *j >= self.width() => Column::Constant,
                Some(columns) => {
                    let (rows, values) = columns.row(*j);
                    Column::Sparse(rows, values)
                }
                None => Column::Dense((0..self.n_rows()).map(|i| self.rows.get(i, *j)).collect()),
            })
            .collect()
    }
}

impl Column<'_> {
    /// Visits the cells that are not zero by themselves: row and value.
    #[inline]
    pub fn each(&self, n_rows: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Column::Sparse(rows, values) => {
                rows.iter().zip(*values).for_each(|(i, x)| visit(*i as usize, *x));
            }
            Column::Dense(values) => values.iter().enumerate().for_each(|(i, x)| visit(i, *x)),
            Column::Constant => (0..n_rows).for_each(|i| visit(i, 1.0)),
        }
    }
}
