//! Rows laid out for many products with the same cells: `Xv` and `Xᵀr`, for several `v` at once.
//!
//! Weights stand feature by feature, so that a cell meets all of its weights side by side. Dense rows
//! are read once for a product and its transpose, panel by panel, while a panel is in cache, and so are sparse
//! ones of many more cells than weights; others are kept by columns as well. The order of every sum is fixed by the
//! shape of the data.

pub(crate) mod active_rows;
mod gram;
mod rows_and_columns;
mod single_output;

pub(crate) use rows_and_columns::{Column, Lines, RowEntries};

use crate::error::Result;
use crate::model::{Cached, Monitor};
use mercer_num::linalg::{add_matrix_product, add_transposed_product};
use mercer_num::simd::row_update::add_sparse_outer;
use mercer_num::simd::{add_table_rows, dot_rows};
use mercer_num::sparse::CsrMatrix;
use mercer_num::{Rows, SparseView};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Rows of a panel: enough for products at full speed, few enough to stay in cache.
const PANEL: usize = 64;
/// Parts the rows are dealt into at most; each has sums of its own.
const PARTS: usize = 64;

/// Sparse rows are dealt into as many parts as have so many times more cells than weights, and kept by columns where
/// those would be few: the sums of every part have to be made, added and within reach. (At 46 cells a weight, film
/// reviews, by columns took 0.6 of the time.)
const CELLS: usize = 64;
const FEW: usize = 4;
/// The same where there is a single number a row, which is added as fast as it is read: a few parts do from few
/// cells a weight on. (Film reviews: a copy by columns takes as long as ten products.)
const CELLS_OF_ONE: usize = 4;
const PARTS_OF_ONE: usize = 8;

/// The rows, and whether a constant column stands behind the others.
pub(crate) struct DesignMatrix<'a> {
    rows: Rows<'a>,
    /// Parts whose sums are made row by row; none where they are made by columns.
    parts: Option<usize>,
    /// The same for sums of a single number a row.
    parts_of_one: Option<usize>,
    /// Sparse cells, and the sum of their squared numbers a row.
    cells: (f64, f64),
    /// Whether the columns of sparse rows rise.
    rising: bool,
    /// Sparse cells by columns, made when first asked for.
    by_column: Option<Cached<CsrMatrix>>,
    /// Sums of parts that are no longer needed: to get their pages again and again takes longer than to fill them.
    spare: Mutex<Vec<Vec<f64>>>,
    pub intercept: bool,
}

impl<'a> DesignMatrix<'a> {
    /// Lays rows out; sparse ones will be copied by columns.
    ///
    /// # Errors
    /// If the copy would take more memory than allowed.
    pub fn new(
        rows: &Rows<'a>,
        intercept: bool,
        monitor: &Monitor<'_>,
    ) -> Result<DesignMatrix<'a>> {
        let Rows::Sparse(x) = rows else { return Ok(DesignMatrix::by_rows(rows, intercept)) };
        let lengths = x.iter().map(|(columns, _)| columns.len() as f64);
        let cells = lengths.fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
        let bytes = 12 * cells.0 as u64 + 8 * x.n_columns() as u64;
        monitor.reserve("keeping sparse rows by columns", bytes)?;
        let a_weight = cells.0 as usize / (x.n_columns() + 1);
        let parts = Some((a_weight / CELLS).min(PARTS)).filter(|parts| *parts >= FEW);
        let of_one = Some((a_weight / CELLS_OF_ONE).min(PARTS_OF_ONE)).filter(|parts| *parts > 1);
        let (parts_of_one, by_column) = (parts.or(of_one), Some(Cached::default()));
        let rising = x.has_sorted_columns();
        Ok(DesignMatrix {
            rows: *rows,
            parts,
            parts_of_one,
            cells,
            rising,
            by_column,
            spare: Mutex::default(),
            intercept,
        })
    }

    /// Rows that are only scored.
    pub fn by_rows(rows: &Rows<'a>, intercept: bool) -> DesignMatrix<'a> {
        let parts = (!matches!(rows, Rows::Sparse(_))).then_some(PARTS);
        let (parts_of_one, cells, by_column) = (parts, (0.0, 0.0), None);
        DesignMatrix {
            rows: *rows,
            parts,
            parts_of_one,
            cells,
            rising: false,
            by_column,
            spare: Mutex::default(),
            intercept,
        }
    }

    pub fn rows(&self) -> &Rows<'a> {
        &self.rows
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
            (Rows::Sparse(x), Some(made)) => Some(made.get(|| x.transpose()).view()),
            _ => None,
        }
    }

    /// So many zeros, where others stood before if possible.
    fn zeros(&self, n: usize) -> Vec<f64> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(k) = spare.iter().position(|spare| spare.len() == n) else { return vec![0.0; n] };
        let mut zeros = spare.swap_remove(k);
        drop(spare);
        zeros.fill(0.0);
        zeros
    }

    /// Adds sums of parts up, in their order, and keeps their room.
    fn add_up(&self, parts: Vec<Vec<f64>>, out: &mut [f64]) {
        add_up(&parts, out);
        self.keep(parts);
    }

    /// Keeps the room of sums that are no longer needed.
    fn keep(&self, parts: Vec<Vec<f64>>) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).extend(parts);
    }

    /// Parts whose sums of `m` numbers a row are made row by row.
    fn parts(&self, m: usize) -> Option<usize> {
        if m == 1 { self.parts_of_one } else { self.parts }
    }

    /// Rows that one thread takes at a time.
    fn part(&self, m: usize) -> usize {
        let parts = self.parts(m).unwrap_or(PARTS);
        self.n_rows().div_ceil(parts).next_multiple_of(PANEL).max(4 * PANEL)
    }

    /// The scores of all rows: `m` weights a feature in `v`, `m` scores a row in `scores`.
    pub fn scores(&self, v: &[f64], m: usize, scores: &mut [f64]) {
        // No sums to keep apart: as many parts as may be.
        let part = self.n_rows().div_ceil(PARTS).next_multiple_of(PANEL).max(4 * PANEL);
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
    pub fn transpose_product(&self, residuals: &[f64], m: usize, out: &mut [f64]) {
        if self.parts(m).is_none()
            && let Some(columns) = self.by_column()
        {
            sum_columns(&columns, Cow::Borrowed, residuals, m, &mut out[..self.width() * m]);
            self.intercept_transpose_product(residuals, m, out);
            return;
        }
        if let (None, Rows::Sparse(x)) = (self.parts(m), &self.rows) {
            // Rows that were not copied by columns are added one after the other.
            out.fill(0.0);
            for ((columns, values), residuals) in x.iter().zip(residuals.chunks_exact(m)) {
                let n_cells = columns.len().min(values.len());
                add_sparse_outer(&columns[..n_cells], values, residuals, out);
            }
            return self.intercept_transpose_product(residuals, m, out);
        }
        let part = self.part(m);
        let parts = residuals.par_chunks(part * m).enumerate().map(|(k, residuals)| {
            let mut sums = self.zeros(self.n_weights() * m);
            for (p, residuals) in residuals.chunks(PANEL * m).enumerate() {
                let first = k * part + p * PANEL;
                let rows = first..first + residuals.len() / m;
                self.panel_transpose_product(&self.panel(&rows), rows, residuals, m, &mut sums);
            }
            sums
        });
        self.add_up(parts.collect(), out);
    }

    fn panel_transpose_product(
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
                        _ => add_sparse_outer(columns, values, residuals, sums),
                    }
                }
            }
            _ if self.width() > 0 => {
                let sums = &mut sums[..self.width() * m];
                add_transposed_product(block, self.width(), residuals, m, sums);
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

    fn intercept_transpose_product(&self, residuals: &[f64], m: usize, out: &mut [f64]) {
        if !self.intercept {
            return;
        }
        let part = self.part(m);
        let parts = residuals.par_chunks(part * m).map(|residuals| {
            let mut sums = vec![0.0; m];
            for residuals in residuals.chunks_exact(m) {
                sums.iter_mut().zip(residuals).for_each(|(s, r)| *s += r);
            }
            sums
        });
        add_up(&parts.collect::<Vec<_>>(), &mut out[self.width() * m..]);
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
        let part = self.part(m);
        if self.parts(m).is_none() {
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
            return self.transpose_product(&residuals, m, out);
        }
        // Sparse rows are longest in reach where they are few.
        let panel = if self.is_sparse() { PANEL / 4 } else { PANEL };
        let parts = scores.par_chunks_mut(part * m).enumerate().map(|(k, scores)| {
            let mut sums = self.zeros(self.n_weights() * m);
            let mut residuals = vec![0.0; panel * m];
            for (p, scores) in scores.chunks_mut(panel * m).enumerate() {
                let first = k * part + p * panel;
                let rows = first..first + scores.len() / m;
                let block = self.panel(&rows);
                self.panel_scores(&block, rows.clone(), v, m, scores);
                let residuals = &mut residuals[..scores.len()];
                answer(rows.clone(), scores, residuals);
                self.panel_transpose_product(&block, rows, residuals, m, &mut sums);
            }
            sums
        });
        self.add_up(parts.collect(), out);
    }

    /// `Σᵢ rᵢ xᵢⱼ²` for `m` numbers `r` a row: the diagonals of `XᵀRX`.
    pub fn squared_transpose_product(&self, weights: &[f64], m: usize, out: &mut [f64]) {
        if self.parts(m).is_none()
            && let Some(columns) = self.by_column()
        {
            let squares = |cells: &[f64]| cells.iter().map(|x| x * x).collect();
            sum_columns(&columns, squares, weights, m, &mut out[..self.width() * m]);
            return self.intercept_transpose_product(weights, m, out);
        }
        if let (Rows::Sparse(x), 1) = (&self.rows, m) {
            let part = self.part(1);
            let parts = weights.par_chunks(part).enumerate().map(|(k, weights)| {
                let mut sums = self.zeros(self.n_weights());
                for (i, w) in (k * part..).zip(weights) {
                    let (columns, values) = x.row(i);
                    let cells = columns.iter().zip(values);
                    cells.for_each(|(j, v)| sums[*j as usize] += w * (v * v));
                    sums[self.width()..].iter_mut().for_each(|sum| *sum += w);
                }
                sums
            });
            return self.add_up(parts.collect(), out);
        }
        let part = self.part(m);
        let parts = weights.par_chunks(part * m).enumerate().map(|(k, weights)| {
            let mut sums = self.zeros(self.n_weights() * m);
            for (p, weights) in weights.chunks(PANEL * m).enumerate() {
                let first = k * part + p * PANEL;
                let rows = first..first + weights.len() / m;
                if let Rows::Sparse(x) = &self.rows {
                    for (i, weights) in rows.zip(weights.chunks_exact(m)) {
                        let (columns, values) = x.row(i);
                        let squares: Vec<f64> = values.iter().map(|x| x * x).collect();
                        add_sparse_outer(columns, &squares, weights, &mut sums);
                        let constants = sums[self.width() * m..].iter_mut().zip(weights);
                        constants.for_each(|(sum, w)| *sum += w);
                    }
                    continue;
                }
                let mut block = self.panel(&rows);
                block.to_mut().iter_mut().for_each(|x| *x *= *x);
                self.panel_transpose_product(&block, rows, weights, m, &mut sums);
            }
            sums
        });
        self.add_up(parts.collect(), out);
    }

    /// The plain means of the columns.
    pub fn means(&self) -> Vec<f64> {
        let n = self.n_rows();
        let mut means = vec![0.0; self.n_weights()];
        self.transpose_product(&vec![1.0 / n.max(1) as f64; n], 1, &mut means);
        means.truncate(self.width());
        means
    }

    /// The cells of a dense row.
    pub fn dense_row(&self, i: usize) -> Cow<'_, [f64]> {
        self.rows.block(i..i + 1).unwrap_or_default()
    }
}

/// `scores = block · weights`.
pub(crate) fn forward(block: &[f64], width: usize, weights: &[f64], m: usize, scores: &mut [f64]) {
    scores.fill(0.0);
    match m {
        _ if width == 0 => {}
        1 => dot_rows(block, weights, scores),
        _ => add_matrix_product(block, width, weights, m, scores),
    }
}

/// The sums of all parts, in their order.
fn add_up(parts: &[Vec<f64>], out: &mut [f64]) {
    /// Sums that one thread takes at a time.
    const SUMS: usize = 1 << 13;
    out.par_chunks_mut(SUMS).enumerate().for_each(|(k, out)| {
        out.fill(0.0);
        for part in parts {
            out.iter_mut().zip(&part[k * SUMS..]).for_each(|(sum, x)| *sum += x);
        }
    });
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
