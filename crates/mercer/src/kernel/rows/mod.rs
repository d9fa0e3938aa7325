//! Rows prepared for the computation of kernel matrices, tile by tile.
//!
//! The inner products of two blocks of rows are one matrix product; the kernel function is applied while the tile is
//! in cache. Rows are stored in single or double precision; for translation-invariant kernels they are centered first,
//! so that single precision retains the digits of their differences. Tiles have fixed sizes, so any number of threads
//! gives the same bits.

mod binary_rows;
mod columns;
mod storage;
mod tile;

pub(crate) use storage::column_means;
pub use storage::{Storage, center_of};

use super::{Function, Kernel};
use crate::data::SharedGram;
use crate::model::Monitor;
use binary_rows::MAX_ONES_PER_ROW;
use mercer_num::linalg::SymmetricMatrix;
use mercer_num::memory::zeros_of;
use mercer_num::parallel::prelude::*;
use mercer_num::{Float, Rows};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use tile::widened;

/// Columns of one tile of the kernel matrix.
const TILE_COLUMNS: usize = 512;
/// Rows of one tile.
const TILE_ROWS: usize = 256;
/// Rows of one tile of a Gram matrix whose lower triangle alone is computed.
const SYMMETRIC_TILE_ROWS: usize = 64;
/// Rows and columns of a tile that is multiplied from both sides, and the number of partial sums: fixed, so that the
/// result does not depend on the number of threads.
const MIRRORED_TILE_ROWS: usize = 192;
const MIRRORED_SUMS: usize = 16;
/// Products up to this many multiplications run on one thread.
const MAX_SERIAL_PRODUCTS: usize = 1 << 21;

/// Rows with a kernel function, prepared for tiles of their kernel matrix.
#[derive(Clone, Debug)]
pub struct KernelRows<T> {
    function: Function,
    cells: Cells<T>,
    /// `‖x‖²` of every row; zero for a precomputed kernel.
    squared_norms: Vec<T>,
    n_rows: usize,
}

#[derive(Clone, Debug)]
enum Cells<T> {
    Dense {
        width: usize,
        cells: Vec<T>,
    },
    Sparse {
        width: usize,
        offsets: Vec<usize>,
        columns: Vec<i32>,
        values: Vec<T>,
        /// Whether all stored values are one, with few of them per row.
        binary: bool,
    },
    /// Kernel values with all training rows, and the index of each row among the training rows.
    Precomputed {
        width: usize,
        cells: Vec<T>,
        training_indices: Vec<u32>,
    },
    /// A kernel matrix that several fits share, and the index in it of every row.
    Shared {
        gram: SharedGram,
        indices: Vec<u32>,
    },
}

impl<T: Float> KernelRows<T> {
    /// The rows at `indices`. `center` is subtracted from rows in dense storage unless it is empty. For a precomputed
    /// kernel, `training_indices` are the indices of the rows among the training rows.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn new(
        function: Function,
        storage: Storage,
        rows: &Rows<'_>,
        indices: &[u32],
        center: &[f64],
        training_indices: &[u32],
    ) -> Self {
        let width = rows.n_columns();
        let dense_cells = |center: &[f64]| {
            let mut cells = vec![T::default(); indices.len() * width];
            let chunk = 256 * width.max(1);
            cells.par_chunks_mut(chunk).zip(indices.par_chunks(256)).for_each(
                |(cells, indices)| {
                    for (out, i) in cells.chunks_exact_mut(width.max(1)).zip(indices) {
                        write_row(rows, *i as usize, center, out);
                    }
                },
            );
            cells
        };
        let cells = match rows {
            _ if function.kernel == Kernel::Precomputed => Cells::Precomputed {
                width,
                cells: dense_cells(&[]),
                training_indices: training_indices.to_vec(),
            },
            _ if storage == Storage::Sparse => sparse_cells(rows, indices),
            _ => Cells::Dense { width, cells: dense_cells(center) },
        };
        let mut out =
            KernelRows { function, cells, squared_norms: Vec::new(), n_rows: indices.len() };
        out.squared_norms = (0..out.n_rows).map(|i| T::narrow(out.squared_norm(i))).collect();
        out
    }

    /// The rows with some indices in a shared kernel matrix.
    pub(crate) fn shared(function: Function, gram: SharedGram, indices: Vec<u32>) -> Self {
        let n_rows = indices.len();
        let squared_norms = vec![T::default(); n_rows];
        KernelRows { function, cells: Cells::Shared { gram, indices }, squared_norms, n_rows }
    }

    /// The rows at `indices`, prepared with the kernel and the storage of `self`: new rows may come in another
    /// storage than the training rows.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn matching(&self, rows: &Rows<'_>, indices: &[u32], center: &[f64]) -> Self {
        if let Cells::Shared { gram, .. } = &self.cells {
            let indices = indices.iter().map(|i| gram.test[*i as usize]).collect();
            return KernelRows::shared(self.function.clone(), gram.clone(), indices);
        }
        KernelRows::new(self.function.clone(), self.storage(), rows, indices, center, indices)
    }

    /// All rows, prepared; see [`KernelRows::new`].
    pub fn all(
        function: Function,
        storage: Storage,
        rows: &Rows<'_>,
        center: &[f64],
        training_indices: &[u32],
    ) -> Self {
        let indices: Vec<u32> = (0..rows.n_rows() as u32).collect();
        KernelRows::new(function, storage, rows, &indices, center, training_indices)
    }

    /// How the rows are stored.
    pub fn storage(&self) -> Storage {
        match self.cells {
            Cells::Sparse { .. } => Storage::Sparse,
            Cells::Dense { .. } | Cells::Precomputed { .. } | Cells::Shared { .. } => {
                Storage::Dense
            }
        }
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The rows at `indices`, in that order.
    #[must_use]
    pub fn select(&self, indices: &[u32]) -> Self {
        let taken = |cells: &[T], width: usize| -> Vec<T> {
            let mut out = Vec::with_capacity(indices.len() * width);
            indices.iter().for_each(|i| out.extend_from_slice(row(cells, width, *i as usize)));
            out
        };
        let cells = match &self.cells {
            Cells::Dense { width, cells } => {
                Cells::Dense { width: *width, cells: taken(cells, *width) }
            }
            Cells::Precomputed { width, cells, training_indices } => Cells::Precomputed {
                width: *width,
                cells: taken(cells, *width),
                training_indices: indices.iter().map(|i| training_indices[*i as usize]).collect(),
            },
            Cells::Shared { gram, indices: all } => Cells::Shared {
                gram: gram.clone(),
                indices: indices.iter().map(|i| all[*i as usize]).collect(),
            },
            Cells::Sparse { width, offsets, columns, values, binary } => {
                let mut out = (vec![0], Vec::new(), Vec::new());
                for i in indices {
                    let cells = offsets[*i as usize]..offsets[*i as usize + 1];
                    out.1.extend_from_slice(&columns[cells.clone()]);
                    out.2.extend_from_slice(&values[cells]);
                    out.0.push(out.1.len());
                }
                let (offsets, columns, values) = out;
                Cells::Sparse { width: *width, offsets, columns, values, binary: *binary }
            }
        };
        let squared_norms = indices.iter().map(|i| self.squared_norms[*i as usize]).collect();
        KernelRows { function: self.function.clone(), cells, squared_norms, n_rows: indices.len() }
    }

    /// `K(x, x)` of every row.
    pub fn diagonal(&self) -> Vec<T> {
        (0..self.n_rows).map(|i| T::narrow(self.diagonal_value(i))).collect()
    }

    /// An estimate of the largest rounding error of a kernel value in double precision: that of the largest value, and
    /// for `rbf` that of the squared distances in its exponent, which are differences of squared norms.
    pub fn value_rounding(&self) -> f64 {
        /// In units of the machine epsilon.
        const ROUNDING: f64 = 8.0 * f64::EPSILON;
        let largest = (0..self.n_rows).map(|i| self.diagonal_value(i).abs()).fold(0.0, f64::max);
        let norm = self.squared_norms.iter().map(|s| (*s).into()).fold(0.0, f64::max);
        ROUNDING * largest * rounding_growth(&self.function, norm)
    }

    fn diagonal_value(&self, i: usize) -> f64 {
        self.diagonal_value_of(&self.function, i)
    }

    fn diagonal_value_of(&self, function: &Function, i: usize) -> f64 {
        let Function { kernel, gamma, coef0, degree } = function;
        let (square, degree) = (self.squared_norm(i), *degree);
        match (kernel, &self.cells) {
            (_, Cells::Shared { gram, indices }) => gram.matrix.value(indices[i], indices[i]),
            (Kernel::Composed(formula), _) => {
                formula.combined(|leaf| self.diagonal_value_of(&leaf.function(), i))
            }
            (Kernel::Custom(own), Cells::Dense { width, cells }) => {
                let x = widened(row(cells, *width, i));
                own.value(&x, &x)
            }
            (Kernel::Precomputed, Cells::Precomputed { width, cells, training_indices }) => {
                row(cells, *width, i)[training_indices[i] as usize].into()
            }
            (Kernel::Linear, _) => square,
            (Kernel::Poly, _) => (gamma * square + coef0).powi(degree as i32),
            (Kernel::Sigmoid, _) => (gamma * square + coef0).tanh(),
            _ => 1.0,
        }
    }

    fn squared_norm(&self, i: usize) -> f64 {
        let sum =
            |cells: &[T]| -> f64 { cells.iter().map(|v| (*v).into()).map(|v: f64| v * v).sum() };
        match &self.cells {
            Cells::Dense { width, cells } => sum(row(cells, *width, i)),
            Cells::Sparse { offsets, values, .. } => sum(&values[offsets[i]..offsets[i + 1]]),
            Cells::Precomputed { .. } | Cells::Shared { .. } => 0.0,
        }
    }

    /// The kernel of the rows at `of` with all rows of `against`: one column of values for each row.
    ///
    /// # Panics
    /// If `out` does not have one column per row, each as long as `against`.
    pub fn columns(&self, of: &[u32], against: &KernelRows<T>, out: &mut [&mut [T]]) {
        assert_eq!(of.len(), out.len(), "one column per row");
        let width = self.width();
        let selected = self.select(of);
        if of.len() * against.n_rows * width.max(8) <= MAX_SERIAL_PRODUCTS {
            for (k, first) in (0..against.n_rows).step_by(TILE_COLUMNS).enumerate() {
                let last = (first + TILE_COLUMNS).min(against.n_rows);
                let mut parts: Vec<&mut [T]> =
                    out.iter_mut().map(|column| &mut column[first..last]).collect();
                selected.tile(against, k * TILE_COLUMNS, &mut parts);
            }
            return;
        }
        // Each column is split at the tile boundaries; the parts of one tile go to one thread.
        let n_tiles = against.n_rows.div_ceil(TILE_COLUMNS);
        let mut tiles: Vec<Vec<&mut [T]>> =
            (0..n_tiles).map(|_| Vec::with_capacity(of.len())).collect();
        for column in out.iter_mut() {
            assert_eq!(column.len(), against.n_rows, "columns as long as the rows");
            for (tile, part) in tiles.iter_mut().zip(column.chunks_mut(TILE_COLUMNS)) {
                tile.push(part);
            }
        }
        tiles.par_iter_mut().enumerate().for_each(|(k, parts)| {
            selected.tile(against, k * TILE_COLUMNS, parts);
        });
    }

    /// The kernel of all rows with the rows of `against` in `range`, row-major, on the current thread.
    ///
    /// # Panics
    /// If `out` does not have one value per pair.
    pub fn block(&self, against: &KernelRows<T>, range: Range<usize>, out: &mut [T]) {
        if range.is_empty() {
            return;
        }
        assert_eq!(out.len(), self.n_rows * range.len(), "one value per pair");
        for first in range.clone().step_by(TILE_COLUMNS) {
            let last = (first + TILE_COLUMNS).min(range.end);
            let columns = first - range.start..last - range.start;
            let mut parts: Vec<&mut [T]> =
                out.chunks_exact_mut(range.len()).map(|row| &mut row[columns.clone()]).collect();
            self.tile(against, first, &mut parts);
        }
    }

    /// `Kᵀ w`: `Σₖ weights[k] · K(xₖ, z)` for every row `z` of `of`, accumulated in double precision on all threads.
    pub fn weighted_sums(&self, weights: &[f64], of: &KernelRows<T>) -> Vec<f64> {
        let mut out = vec![0.0; of.n_rows];
        out.par_chunks_mut(TILE_ROWS).enumerate().for_each(|(k, out)| {
            let first = (k * TILE_ROWS) as u32;
            let indices: Vec<u32> = (first..first + out.len() as u32).collect();
            let some = of.select(&indices);
            let mut values = vec![T::default(); out.len() * TILE_COLUMNS.min(self.n_rows.max(1))];
            for from in (0..self.n_rows).step_by(TILE_COLUMNS) {
                let range = from..(from + TILE_COLUMNS).min(self.n_rows);
                let values = &mut values[..out.len() * range.len()];
                some.block(self, range.clone(), values);
                for (sum, row) in out.iter_mut().zip(values.chunks_exact(range.len())) {
                    *sum += T::dot(row, &weights[range.clone()]);
                }
            }
        });
        out
    }

    /// `K w` with the symmetric Gram matrix of these rows: every kernel value is computed once and used for both of
    /// its rows.
    pub fn symmetric_sums(&self, weights: &[f64]) -> Vec<f64> {
        let n = self.n_rows;
        // Blocks of rows are assigned to a fixed number of partial sums, whatever the number of threads.
        let mut parts = vec![vec![0.0; n]; MIRRORED_SUMS.min(n.div_ceil(MIRRORED_TILE_ROWS))];
        parts.par_iter_mut().enumerate().for_each(|(k, sums)| {
            let mut values = Vec::new();
            for first in (k * MIRRORED_TILE_ROWS..n).step_by(MIRRORED_SUMS * MIRRORED_TILE_ROWS) {
                let last = (first + MIRRORED_TILE_ROWS).min(n);
                let indices: Vec<u32> = (first as u32..last as u32).collect();
                let some = self.select(&indices);
                for from in (0..=first).step_by(MIRRORED_TILE_ROWS) {
                    let range = from..(from + MIRRORED_TILE_ROWS).min(n);
                    values.resize(indices.len() * range.len(), T::default());
                    some.block(self, range.clone(), &mut values);
                    let rows: Vec<&[T]> = values.chunks_exact(range.len()).collect();
                    for (i, row) in rows.iter().enumerate() {
                        sums[first + i] += T::dot(row, &weights[range.clone()]);
                    }
                    if from < first {
                        T::add_columns(&rows, &weights[first..last], 0, &mut sums[range]);
                    }
                }
            }
        });
        let mut out = vec![0.0; n];
        for part in &parts {
            out.iter_mut().zip(part).for_each(|(out, v)| *out += v);
        }
        out
    }

    /// [`KernelRows::weighted_sums`] for several weight vectors at once: each kernel value is computed once.
    pub fn weighted_tables(&self, weights: &[Vec<f64>], of: &KernelRows<T>) -> Vec<Vec<f64>> {
        let k = weights.len().max(1);
        let mut sums = vec![0.0; of.n_rows * k];
        sums.par_chunks_mut(TILE_ROWS * k).enumerate().for_each(|(c, sums)| {
            let first = (c * TILE_ROWS) as u32;
            let indices: Vec<u32> = (first..first + (sums.len() / k) as u32).collect();
            let some = of.select(&indices);
            let mut values =
                vec![T::default(); indices.len() * TILE_COLUMNS.min(self.n_rows.max(1))];
            for from in (0..self.n_rows).step_by(TILE_COLUMNS) {
                let range = from..(from + TILE_COLUMNS).min(self.n_rows);
                let values = &mut values[..indices.len() * range.len()];
                some.block(self, range.clone(), values);
                for (sums, row) in sums.chunks_exact_mut(k).zip(values.chunks_exact(range.len())) {
                    for (sum, weights) in sums.iter_mut().zip(weights) {
                        *sum += T::dot(row, &weights[range.clone()]);
                    }
                }
            }
        });
        (0..weights.len()).map(|j| sums.iter().skip(j).step_by(k).copied().collect()).collect()
    }

    fn width(&self) -> usize {
        match &self.cells {
            Cells::Dense { width, .. } | Cells::Precomputed { width, .. } => *width,
            Cells::Shared { .. } => 1,
            Cells::Sparse { width, columns, .. } => {
                (columns.len() / self.n_rows.max(1)).min(*width)
            }
        }
    }

    /// The lower triangle of the Gram matrix, row-major with full rows, on all threads, stored in the precision `U`.
    /// Cells above the diagonal are unspecified. `None` if the monitor stops it.
    pub fn lower_gram<U: Float>(&self, monitor: &Monitor<'_>) -> Option<Vec<U>> {
        let n = self.n_rows;
        let mut out = zeros_of(n * n);
        out.par_chunks_mut(TILE_ROWS * n.max(1))
            .enumerate()
            .try_for_each(|(k, rows)| {
                let first = k * TILE_ROWS;
                monitor.stop().is_none().then(|| {
                    self.fill_lower(first..first + rows.len() / n, rows, n);
                })
            })
            .map(|()| out)
    }

    /// The lower triangle of the Gram matrix alone, in packed storage. `None` if the monitor stops it.
    pub fn half_gram(&self, monitor: &Monitor<'_>) -> Option<SymmetricMatrix> {
        let stopped = AtomicBool::new(false);
        let matrix = SymmetricMatrix::new(self.n_rows, |rows, cells| {
            if stopped.load(Ordering::Relaxed) || monitor.stop().is_some() {
                stopped.store(true, Ordering::Relaxed);
                return;
            }
            let end = rows.end;
            self.fill_lower(rows, cells, end);
        });
        (!stopped.into_inner()).then_some(matrix)
    }

    /// Writes the kernel values of a range of rows with all rows up to its end; `length` is the stride of `cells`.
    fn fill_lower<U: Float>(&self, rows: Range<usize>, cells: &mut [U], length: usize) {
        let indices: Vec<u32> = (rows.start as u32..rows.end as u32).collect();
        let block = self.select(&indices);
        let mut values = vec![T::default(); indices.len() * TILE_COLUMNS];
        for from in (0..rows.end).step_by(TILE_COLUMNS) {
            let to = (from + TILE_COLUMNS).min(rows.end);
            let mut parts: Vec<&mut [T]> =
                values.chunks_exact_mut(TILE_COLUMNS).map(|part| &mut part[..to - from]).collect();
            block.tile(self, from, &mut parts);
            for (row, part) in cells.chunks_exact_mut(length).zip(parts) {
                let cells = row[from..to].iter_mut().zip(part);
                cells.for_each(|(cell, v)| *cell = U::narrow((*v).into()));
            }
        }
    }

    /// The full Gram matrix, row-major, on all threads. `None` if the monitor stops it.
    pub fn whole_gram(&self, monitor: &Monitor<'_>) -> Option<Vec<T>> {
        let mut out = self.lower_gram(monitor)?;
        mirror(&mut out, self.n_rows);
        Some(out)
    }

    /// The full Gram matrix, row-major, on the current thread. It is symmetric to the last bit.
    pub fn gram(&self) -> Vec<T> {
        let n = self.n_rows;
        let mut out = vec![T::default(); n * n];
        for first in (0..n).step_by(SYMMETRIC_TILE_ROWS) {
            let last = (first + SYMMETRIC_TILE_ROWS).min(n);
            let indices: Vec<u32> = (first as u32..last as u32).collect();
            let block = self.select(&indices);
            let rows = &mut out[first * n..last * n];
            for from in (0..last).step_by(TILE_COLUMNS) {
                let to = (from + TILE_COLUMNS).min(last);
                let mut parts: Vec<&mut [T]> =
                    rows.chunks_exact_mut(n).map(|row| &mut row[from..to]).collect();
                block.tile(self, from, &mut parts);
            }
        }
        mirror(&mut out, n);
        out
    }
}

/// Copies the lower triangle to the upper, tile by tile, so that both tiles stay in cache.
fn mirror<T: Copy>(cells: &mut [T], n: usize) {
    for first in (0..n).step_by(SYMMETRIC_TILE_ROWS) {
        for from in (0..=first).step_by(SYMMETRIC_TILE_ROWS) {
            for i in first..(first + SYMMETRIC_TILE_ROWS).min(n) {
                for j in from..(from + SYMMETRIC_TILE_ROWS).min(i) {
                    cells[j * n + i] = cells[i * n + j];
                }
            }
        }
    }
}

/// How much a kernel magnifies the relative rounding error of inner products of rows with the squared norm `norm`.
fn rounding_growth(function: &Function, norm: f64) -> f64 {
    match &function.kernel {
        Kernel::Rbf => 1.0 + function.gamma * norm,
        Kernel::Poly => function.degree.max(1) as f64,
        Kernel::Composed(formula) => formula
            .leaves()
            .map(|leaf| rounding_growth(&leaf.function(), norm))
            .fold(1.0, |product, growth| product + growth - 1.0),
        _ => 1.0,
    }
}

fn row<T>(cells: &[T], width: usize, i: usize) -> &[T] {
    &cells[i * width..(i + 1) * width]
}

/// The nonzeros of the rows at `indices`, sorted by column.
fn sparse_cells<T: Float>(rows: &Rows<'_>, indices: &[u32]) -> Cells<T> {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut row = |cells: &mut dyn Iterator<Item = (i32, f64)>| {
        let first = columns.len();
        for (j, v) in cells.filter(|(_, v)| *v != 0.0) {
            columns.push(j);
            values.push(T::narrow(v));
        }
        debug_assert!(columns[first..].is_sorted());
        offsets.push(columns.len());
    };
    match rows {
        Rows::Sparse(x) => {
            let x = x.sum_duplicates();
            for i in indices {
                let (columns, values) = x.view().row(*i as usize);
                row(&mut columns.iter().copied().zip(values.iter().copied()));
            }
        }
        _ => indices.iter().for_each(|i| {
            let at = *i as usize;
            let cells = rows.block(at..at + 1).unwrap_or_default();
            row(&mut (0..).zip(cells.iter().copied()));
        }),
    }
    let few = offsets.windows(2).all(|ends| ends[1] - ends[0] <= MAX_ONES_PER_ROW);
    let one: T = T::narrow(1.0);
    let binary = few && values.iter().all(|v| *v == one);
    Cells::Sparse { width: rows.n_columns(), offsets, columns, values, binary }
}

fn write_row<T: Float>(rows: &Rows<'_>, i: usize, center: &[f64], out: &mut [T]) {
    let row = match rows.block(i..i + 1) {
        Some(row) => row,
        None => rows.row(i).into(),
    };
    match center {
        [] => out.iter_mut().zip(row.iter()).for_each(|(out, x)| *out = T::narrow(*x)),
        center => {
            let cells = row.iter().zip(center);
            out.iter_mut().zip(cells).for_each(|(out, (x, c))| *out = T::narrow(x - c));
        }
    }
}

#[cfg(test)]
mod tests;
