//! The design matrix `X` of a linear model, for repeated products `Xv` and `Xᵀr` with several vectors at once.
//!
//! The `m` weights of a feature are adjacent, so that an entry of `X` is multiplied with all of them at once. Dense rows
//! are read once for a product and its transpose, panel by panel, while a panel is in cache, and so are sparse rows with
//! many more entries than weights; other sparse rows are stored by columns as well. The order of every sum depends on the
//! shape of the data only, not on the number of threads.

pub(crate) mod active_rows;
mod gram;
mod rows_and_columns;
mod single_output;

pub(crate) use rows_and_columns::{Column, RowAccess, RowEntries};

use crate::error::Result;
use crate::model::{Cached, Monitor};
use mercer_num::linalg::{add_matrix_product, add_transposed_product};
use mercer_num::parallel::prelude::*;
use mercer_num::simd::row_update::add_sparse_outer;
use mercer_num::simd::{add_table_rows, dot_rows};
use mercer_num::sparse::CsrMatrix;
use mercer_num::{Rows, SparseView};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Rows per panel: enough for fast matrix products, few enough to stay in cache.
const ROWS_PER_PANEL: usize = 64;
/// Blocks of rows at most; each has its own sums.
const MAX_BLOCKS: usize = 64;

/// Sparse rows are summed in as many blocks as have so many times more entries than weights, and by columns if that gives
/// too few blocks: the sums of every block have to be cleared, added and held in cache. (With 46 entries per weight, the
/// film reviews took 0.6 of the time by columns.)
const MIN_ENTRIES_PER_WEIGHT: usize = 64;
const MIN_BLOCKS: usize = 4;
/// The same for a single vector, whose entries are added as fast as they are read: a few blocks pay off with few entries
/// per weight. (Film reviews: the transposition takes as long as ten products.)
const MIN_ENTRIES_PER_WEIGHT_SINGLE: usize = 4;
const MAX_BLOCKS_SINGLE: usize = 8;

/// The rows, and whether a column of ones for the intercept follows the others.
pub(crate) struct DesignMatrix<'a> {
    rows: Rows<'a>,
    /// Blocks of rows that are summed row by row; `None` where sums are computed by columns.
    row_blocks: Option<usize>,
    /// The same for a single vector.
    single_blocks: Option<usize>,
    /// The number of sparse entries, and the sum of its squares over the rows.
    entries: (f64, f64),
    /// Whether the columns of every sparse row are strictly ascending.
    has_sorted_columns: bool,
    /// The sparse entries by columns, computed on first use.
    transposed: Option<Cached<CsrMatrix>>,
    /// Sums of blocks for reuse: allocating their pages again and again takes longer than filling them.
    buffers: Mutex<Vec<Vec<f64>>>,
    pub intercept: bool,
}

impl<'a> DesignMatrix<'a> {
    /// Prepares rows for products; sparse ones are transposed on first use.
    ///
    /// # Errors
    /// If the transposed copy would exceed the memory limit.
    pub fn new(
        rows: &Rows<'a>,
        intercept: bool,
        monitor: &Monitor<'_>,
    ) -> Result<DesignMatrix<'a>> {
        let Rows::Sparse(x) = rows else { return Ok(DesignMatrix::by_rows(rows, intercept)) };
        let lengths = x.iter().map(|(columns, _)| columns.len() as f64);
        let entries = lengths.fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
        let bytes = 12 * entries.0 as u64 + 8 * x.n_columns() as u64;
        monitor.reserve("transposing sparse rows", bytes)?;
        let per_weight = entries.0 as usize / (x.n_columns() + 1);
        let row_blocks = Some((per_weight / MIN_ENTRIES_PER_WEIGHT).min(MAX_BLOCKS))
            .filter(|blocks| *blocks >= MIN_BLOCKS);
        let single = Some((per_weight / MIN_ENTRIES_PER_WEIGHT_SINGLE).min(MAX_BLOCKS_SINGLE))
            .filter(|blocks| *blocks > 1);
        let (single_blocks, transposed) = (row_blocks.or(single), Some(Cached::default()));
        let has_sorted_columns = x.has_sorted_columns();
        Ok(DesignMatrix {
            rows: *rows,
            row_blocks,
            single_blocks,
            entries,
            has_sorted_columns,
            transposed,
            buffers: Mutex::default(),
            intercept,
        })
    }

    /// Rows without a transposed copy, for scores and single passes.
    pub fn by_rows(rows: &Rows<'a>, intercept: bool) -> DesignMatrix<'a> {
        let row_blocks = (!matches!(rows, Rows::Sparse(_))).then_some(MAX_BLOCKS);
        let (single_blocks, entries, transposed) = (row_blocks, (0.0, 0.0), None);
        DesignMatrix {
            rows: *rows,
            row_blocks,
            single_blocks,
            entries,
            has_sorted_columns: false,
            transposed,
            buffers: Mutex::default(),
            intercept,
        }
    }

    pub fn rows(&self) -> &Rows<'a> {
        &self.rows
    }

    pub fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    /// Columns without the intercept.
    pub fn width(&self) -> usize {
        self.rows.n_columns()
    }

    /// Columns with the intercept.
    pub fn n_weights(&self) -> usize {
        self.width() + usize::from(self.intercept)
    }

    pub fn is_sparse(&self) -> bool {
        matches!(self.rows, Rows::Sparse(_))
    }

    /// The sparse entries by columns.
    fn transposed(&self) -> Option<SparseView<'_>> {
        match (&self.rows, &self.transposed) {
            (Rows::Sparse(x), Some(columns)) => Some(columns.get(|| x.transpose()).view()),
            _ => None,
        }
    }

    /// A vector of zeros, in a recycled buffer if there is one.
    fn zeroed_buffer(&self, n: usize) -> Vec<f64> {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(k) = buffers.iter().position(|buffer| buffer.len() == n) else {
            return vec![0.0; n];
        };
        let mut zeros = buffers.swap_remove(k);
        drop(buffers);
        zeros.fill(0.0);
        zeros
    }

    /// Adds the sums of all blocks, in their order, and recycles their buffers.
    fn sum_blocks(&self, blocks: Vec<Vec<f64>>, out: &mut [f64]) {
        sum_blocks(&blocks, out);
        self.recycle(blocks);
    }

    /// Keeps buffers for reuse.
    fn recycle(&self, blocks: Vec<Vec<f64>>) {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).extend(blocks);
    }

    /// Blocks of rows that are summed row by row, for `m` vectors.
    fn n_blocks(&self, m: usize) -> Option<usize> {
        if m == 1 { self.single_blocks } else { self.row_blocks }
    }

    /// Rows per block, for `m` vectors.
    fn rows_per_block(&self, m: usize) -> usize {
        let n_blocks = self.n_blocks(m).unwrap_or(MAX_BLOCKS);
        self.n_rows().div_ceil(n_blocks).next_multiple_of(ROWS_PER_PANEL).max(4 * ROWS_PER_PANEL)
    }

    /// `Xv`, the scores of all rows: `m` weights per feature in `v`, `m` scores per row in `scores`.
    pub fn scores(&self, v: &[f64], m: usize, scores: &mut [f64]) {
        // Scores need no sums over rows: as many blocks as possible.
        let block_rows = self
            .n_rows()
            .div_ceil(MAX_BLOCKS)
            .next_multiple_of(ROWS_PER_PANEL)
            .max(4 * ROWS_PER_PANEL);
        scores.par_chunks_mut(block_rows * m).enumerate().for_each(|(k, scores)| {
            for (p, scores) in scores.chunks_mut(ROWS_PER_PANEL * m).enumerate() {
                let first = k * block_rows + p * ROWS_PER_PANEL;
                let rows = first..first + scores.len() / m;
                self.panel_scores(&self.panel(&rows), rows, v, m, scores);
            }
        });
    }

    /// The entries of dense rows.
    fn panel(&self, rows: &Range<usize>) -> Cow<'_, [f64]> {
        self.rows.block(rows.clone()).unwrap_or_default()
    }

    fn panel_scores(
        &self,
        panel: &[f64],
        rows: Range<usize>,
        v: &[f64],
        m: usize,
        scores: &mut [f64],
    ) {
        let (weights, intercept) = v.split_at(self.width() * m);
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
            _ => panel_times_weights(panel, self.width(), weights, m, scores),
        }
        if self.intercept {
            for scores in scores.chunks_exact_mut(m) {
                scores.iter_mut().zip(intercept).for_each(|(z, b)| *z += b);
            }
        }
    }

    /// `Xᵀr`: `m` entries per row in `residuals`, `m` sums per feature in `out`.
    pub fn transpose_product(&self, residuals: &[f64], m: usize, out: &mut [f64]) {
        if self.n_blocks(m).is_none()
            && let Some(columns) = self.transposed()
        {
            sum_columns(&columns, Cow::Borrowed, residuals, m, &mut out[..self.width() * m]);
            self.intercept_transpose_product(residuals, m, out);
            return;
        }
        if let (None, Rows::Sparse(x)) = (self.n_blocks(m), &self.rows) {
            // Rows without a transposed copy are added one after the other.
            out.fill(0.0);
            for ((columns, values), residuals) in x.iter().zip(residuals.chunks_exact(m)) {
                let n_entries = columns.len().min(values.len());
                add_sparse_outer(&columns[..n_entries], values, residuals, out);
            }
            return self.intercept_transpose_product(residuals, m, out);
        }
        let block_rows = self.rows_per_block(m);
        let blocks = residuals.par_chunks(block_rows * m).enumerate().map(|(k, residuals)| {
            let mut sums = self.zeroed_buffer(self.n_weights() * m);
            for (p, residuals) in residuals.chunks(ROWS_PER_PANEL * m).enumerate() {
                let first = k * block_rows + p * ROWS_PER_PANEL;
                let rows = first..first + residuals.len() / m;
                self.panel_transpose_product(&self.panel(&rows), rows, residuals, m, &mut sums);
            }
            sums
        });
        self.sum_blocks(blocks.collect(), out);
    }

    fn panel_transpose_product(
        &self,
        panel: &[f64],
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
                        // Close to the optimum most rows have no gradient and no curvature.
                        [0.0] => {}
                        [r] => x.add_to(i, *r, &mut sums[..self.width()]),
                        _ => add_sparse_outer(columns, values, residuals, sums),
                    }
                }
            }
            _ if self.width() > 0 => {
                let sums = &mut sums[..self.width() * m];
                add_transposed_product(panel, self.width(), residuals, m, sums);
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
        let block_rows = self.rows_per_block(m);
        let blocks = residuals.par_chunks(block_rows * m).map(|residuals| {
            let mut sums = vec![0.0; m];
            for residuals in residuals.chunks_exact(m) {
                sums.iter_mut().zip(residuals).for_each(|(s, r)| *s += r);
            }
            sums
        });
        sum_blocks(&blocks.collect::<Vec<_>>(), &mut out[self.width() * m..]);
    }

    /// `out = Xᵀ g(Xv)` in one reading of the rows: writes `Xv` to `scores`; `map` computes `g` for a range of rows.
    pub fn product_and_transpose(
        &self,
        v: &[f64],
        m: usize,
        scores: &mut [f64],
        map: impl Fn(Range<usize>, &[f64], &mut [f64]) + Sync,
        out: &mut [f64],
    ) {
        let block_rows = self.rows_per_block(m);
        if self.n_blocks(m).is_none() {
            self.scores(v, m, scores);
            let mut residuals = vec![0.0; scores.len()];
            residuals
                .par_chunks_mut(block_rows * m)
                .zip(scores.par_chunks(block_rows * m))
                .enumerate()
                .for_each(|(k, (residuals, scores))| {
                    let first = k * block_rows;
                    map(first..first + scores.len() / m, scores, residuals);
                });
            return self.transpose_product(&residuals, m, out);
        }
        // Sparse rows stay in cache in smaller panels.
        let rows_per_panel = if self.is_sparse() { ROWS_PER_PANEL / 4 } else { ROWS_PER_PANEL };
        let blocks = scores.par_chunks_mut(block_rows * m).enumerate().map(|(k, scores)| {
            let mut sums = self.zeroed_buffer(self.n_weights() * m);
            let mut residuals = vec![0.0; rows_per_panel * m];
            for (p, scores) in scores.chunks_mut(rows_per_panel * m).enumerate() {
                let first = k * block_rows + p * rows_per_panel;
                let rows = first..first + scores.len() / m;
                let panel = self.panel(&rows);
                self.panel_scores(&panel, rows.clone(), v, m, scores);
                let residuals = &mut residuals[..scores.len()];
                map(rows.clone(), scores, residuals);
                self.panel_transpose_product(&panel, rows, residuals, m, &mut sums);
            }
            sums
        });
        self.sum_blocks(blocks.collect(), out);
    }

    /// `Σᵢ rᵢ xᵢⱼ²` for `m` entries of `r` per row: the diagonals of `XᵀRX`.
    pub fn squared_transpose_product(&self, weights: &[f64], m: usize, out: &mut [f64]) {
        if self.n_blocks(m).is_none()
            && let Some(columns) = self.transposed()
        {
            let squares = |entries: &[f64]| entries.iter().map(|x| x * x).collect();
            sum_columns(&columns, squares, weights, m, &mut out[..self.width() * m]);
            return self.intercept_transpose_product(weights, m, out);
        }
        if let (Rows::Sparse(x), 1) = (&self.rows, m) {
            let block_rows = self.rows_per_block(1);
            let blocks = weights.par_chunks(block_rows).enumerate().map(|(k, weights)| {
                let mut sums = self.zeroed_buffer(self.n_weights());
                for (i, w) in (k * block_rows..).zip(weights) {
                    let (columns, values) = x.row(i);
                    let entries = columns.iter().zip(values);
                    entries.for_each(|(j, v)| sums[*j as usize] += w * (v * v));
                    sums[self.width()..].iter_mut().for_each(|sum| *sum += w);
                }
                sums
            });
            return self.sum_blocks(blocks.collect(), out);
        }
        let block_rows = self.rows_per_block(m);
        let blocks = weights.par_chunks(block_rows * m).enumerate().map(|(k, weights)| {
            let mut sums = self.zeroed_buffer(self.n_weights() * m);
            for (p, weights) in weights.chunks(ROWS_PER_PANEL * m).enumerate() {
                let first = k * block_rows + p * ROWS_PER_PANEL;
                let rows = first..first + weights.len() / m;
                if let Rows::Sparse(x) = &self.rows {
                    for (i, weights) in rows.zip(weights.chunks_exact(m)) {
                        let (columns, values) = x.row(i);
                        let squares: Vec<f64> = values.iter().map(|x| x * x).collect();
                        add_sparse_outer(columns, &squares, weights, &mut sums);
                        let intercepts = sums[self.width() * m..].iter_mut().zip(weights);
                        intercepts.for_each(|(sum, w)| *sum += w);
                    }
                    continue;
                }
                let mut panel = self.panel(&rows);
                panel.to_mut().iter_mut().for_each(|x| *x *= *x);
                self.panel_transpose_product(&panel, rows, weights, m, &mut sums);
            }
            sums
        });
        self.sum_blocks(blocks.collect(), out);
    }

    /// The unweighted means of the columns.
    pub fn means(&self) -> Vec<f64> {
        let n = self.n_rows();
        let mut means = vec![0.0; self.n_weights()];
        self.transpose_product(&vec![1.0 / n.max(1) as f64; n], 1, &mut means);
        means.truncate(self.width());
        means
    }

    /// The entries of a dense row.
    pub fn dense_row(&self, i: usize) -> Cow<'_, [f64]> {
        self.rows.block(i..i + 1).unwrap_or_default()
    }
}

/// `scores = panel · weights`.
pub(crate) fn panel_times_weights(
    panel: &[f64],
    width: usize,
    weights: &[f64],
    m: usize,
    scores: &mut [f64],
) {
    scores.fill(0.0);
    match m {
        _ if width == 0 => {}
        1 => dot_rows(panel, weights, scores),
        _ => add_matrix_product(panel, width, weights, m, scores),
    }
}

/// The sums of all blocks, in their order.
fn sum_blocks(blocks: &[Vec<f64>], out: &mut [f64]) {
    /// Sums per task.
    const SUMS_PER_TASK: usize = 1 << 13;
    out.par_chunks_mut(SUMS_PER_TASK).enumerate().for_each(|(k, out)| {
        out.fill(0.0);
        for block in blocks {
            out.iter_mut().zip(&block[k * SUMS_PER_TASK..]).for_each(|(sum, x)| *sum += x);
        }
    });
}

/// `m` sums per column: of its entries, transformed by `transform`, times the entries of `residuals`.
fn sum_columns<'c>(
    columns: &SparseView<'c>,
    transform: impl Fn(&'c [f64]) -> Cow<'c, [f64]> + Sync,
    residuals: &[f64],
    m: usize,
    out: &mut [f64],
) {
    // Columns per task.
    let columns_per_task = (columns.n_rows() / MAX_BLOCKS).clamp(1, 1024);
    out.par_chunks_mut(columns_per_task * m).enumerate().for_each(|(k, out)| {
        for (j, out) in (k * columns_per_task..).zip(out.chunks_exact_mut(m)) {
            let (rows, entries) = columns.row(j);
            out.fill(0.0);
            match (transform(entries), m) {
                (Cow::Borrowed(_), 1) => out[0] = columns.dot(j, residuals),
                (entries, _) => add_table_rows(rows, &entries, residuals, out),
            }
        }
    });
}
