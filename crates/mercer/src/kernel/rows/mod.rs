//! Rows made ready for kernel values by the block.
//!
//! Inner products of a block of rows with a block of others are one matrix product; the function is
//! then put on while the block is in cache. Rows are kept in single or double precision; for kernels
//! that look at differences they are moved to around their mean first, so that single precision
//! keeps the digits that matter. Blocks have fixed sizes, so any number of threads gives the same bits.

mod binary_rows;
mod storage;
mod tile;

pub use storage::{Storage, center_of};

use super::{Function, Kernel};
use binary_rows::MOST as MOST_MARKS;
use mercer_num::linalg::SymmetricMatrix;
use mercer_num::memory::zeros_of;
use mercer_num::{Float, Rows};
use rayon::prelude::*;
use std::ops::Range;
use tile::widened;

/// Rows of a block on the side that is long.
const LONG: usize = 512;
/// Rows of a block on the side that is asked for.
const SHORT: usize = 256;
/// Rows of a strip of a matrix that is symmetric.
const STRIP: usize = 64;
/// Rows of a block of both sides where each value serves twice, and how many sums they are added up in.
const BAND: usize = 192;
const SUMS: usize = 16;
/// Multiplications below which one thread is enough.
const SERIAL: usize = 1 << 21;

/// Rows with a kernel, ready for blocks of its values.
#[derive(Clone, Debug)]
pub struct KernelRows<T> {
    function: Function,
    cells: Cells<T>,
    /// Squared lengths, for the kernels that need them.
    squares: Vec<T>,
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
        /// Whether all cells are ones, few in each row.
        marks: bool,
    },
    /// Kernel values with the rows learned from, and which of those each row is.
    Given {
        width: usize,
        cells: Vec<T>,
        training_indices: Vec<u32>,
    },
}

impl<T: Float> KernelRows<T> {
    /// Some rows of many. `center` is taken off every row that is kept whole, or is empty; `training_indices` says which
    /// row learned from each of them is, for a precomputed kernel.
    ///
    /// # Panics
    /// If a pick is outside of the rows.
    pub fn new(
        function: Function,
        storage: Storage,
        rows: &Rows<'_>,
        indices: &[u32],
        center: &[f64],
        training_indices: &[u32],
    ) -> Self {
        let width = rows.n_columns();
        let written_out = |center: &[f64]| {
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
            _ if function.kernel == Kernel::Precomputed => Cells::Given {
                width,
                cells: written_out(&[]),
                training_indices: training_indices.to_vec(),
            },
            _ if storage == Storage::Sparse => thin(rows, indices),
            _ => Cells::Dense { width, cells: written_out(center) },
        };
        let mut out = KernelRows { function, cells, squares: Vec::new(), n_rows: indices.len() };
        out.squares = (0..out.n_rows).map(|i| T::narrow(out.square(i))).collect();
        out
    }

    /// Some rows of many, made ready in the way these are: rows that are asked about may come in another
    /// storage than those learned from.
    ///
    /// # Panics
    /// If a pick is outside of the rows.
    pub fn matching(&self, rows: &Rows<'_>, indices: &[u32], center: &[f64]) -> Self {
        KernelRows::new(self.function.clone(), self.storage(), rows, indices, center, indices)
    }

    /// All rows.
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

    /// How the rows are kept.
    pub fn storage(&self) -> Storage {
        match self.cells {
            Cells::Sparse { .. } => Storage::Sparse,
            Cells::Dense { .. } | Cells::Given { .. } => Storage::Dense,
        }
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The rows at some training_indices, in that order.
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
            Cells::Given { width, cells, training_indices } => Cells::Given {
                width: *width,
                cells: taken(cells, *width),
                training_indices: indices.iter().map(|i| training_indices[*i as usize]).collect(),
            },
            Cells::Sparse { width, offsets, columns, values, marks } => {
                let mut out = (vec![0], Vec::new(), Vec::new());
                for i in indices {
                    let cells = offsets[*i as usize]..offsets[*i as usize + 1];
                    out.1.extend_from_slice(&columns[cells.clone()]);
                    out.2.extend_from_slice(&values[cells]);
                    out.0.push(out.1.len());
                }
                let (offsets, columns, values) = out;
                Cells::Sparse { width: *width, offsets, columns, values, marks: *marks }
            }
        };
        let squares = indices.iter().map(|i| self.squares[*i as usize]).collect();
        KernelRows { function: self.function.clone(), cells, squares, n_rows: indices.len() }
    }

    /// `K(x, x)` of every row.
    pub fn diagonal(&self) -> Vec<T> {
        (0..self.n_rows).map(|i| T::narrow(self.own(i))).collect()
    }

    fn own(&self, i: usize) -> f64 {
        self.own_of(&self.function, i)
    }

    fn own_of(&self, function: &Function, i: usize) -> f64 {
        let Function { kernel, gamma, coef0, degree } = function;
        let (square, degree) = (self.square(i), *degree);
        match (kernel, &self.cells) {
            (Kernel::Composed(formula), _) => {
                formula.combined(|leaf| self.own_of(&leaf.function(), i))
            }
            (Kernel::Custom(own), Cells::Dense { width, cells }) => {
                let x = widened(row(cells, *width, i));
                own.value(&x, &x)
            }
            (Kernel::Precomputed, Cells::Given { width, cells, training_indices }) => {
                row(cells, *width, i)[training_indices[i] as usize].into()
            }
            (Kernel::Linear, _) => square,
            (Kernel::Poly, _) => (gamma * square + coef0).powi(degree as i32),
            (Kernel::Sigmoid, _) => (gamma * square + coef0).tanh(),
            _ => 1.0,
        }
    }

    fn square(&self, i: usize) -> f64 {
        let sum =
            |cells: &[T]| -> f64 { cells.iter().map(|v| (*v).into()).map(|v: f64| v * v).sum() };
        match &self.cells {
            Cells::Dense { width, cells } => sum(row(cells, *width, i)),
            Cells::Sparse { offsets, values, .. } => sum(&values[offsets[i]..offsets[i + 1]]),
            Cells::Given { .. } => 0.0,
        }
    }

    /// The kernel of some rows with all of `against`: one column of values each.
    ///
    /// # Panics
    /// If there are not as many columns as rows asked for, or they are not as long as `against`.
    pub fn columns(&self, of: &[u32], against: &KernelRows<T>, out: &mut [&mut [T]]) {
        assert_eq!(of.len(), out.len(), "a column each");
        let width = self.width();
        let asked = self.select(of);
        if of.len() * against.n_rows * width.max(8) <= SERIAL {
            for (k, first) in (0..against.n_rows).step_by(LONG).enumerate() {
                let last = (first + LONG).min(against.n_rows);
                let mut parts: Vec<&mut [T]> =
                    out.iter_mut().map(|column| &mut column[first..last]).collect();
                asked.tile(against, k * LONG, &mut parts);
            }
            return;
        }
        // Every column is cut where the blocks end, and the parts of a block go to one thread.
        let n_tiles = against.n_rows.div_ceil(LONG);
        let mut tiles: Vec<Vec<&mut [T]>> =
            (0..n_tiles).map(|_| Vec::with_capacity(of.len())).collect();
        for column in out.iter_mut() {
            assert_eq!(column.len(), against.n_rows, "as long as the rows");
            for (tile, part) in tiles.iter_mut().zip(column.chunks_mut(LONG)) {
                tile.push(part);
            }
        }
        tiles.par_iter_mut().enumerate().for_each(|(k, parts)| {
            asked.tile(against, k * LONG, parts);
        });
    }

    /// The kernel of all rows with those of `against` in a range, row-major, on this thread.
    ///
    /// # Panics
    /// If the lengths do not fit.
    pub fn block(&self, against: &KernelRows<T>, range: Range<usize>, out: &mut [T]) {
        if range.is_empty() {
            return;
        }
        assert_eq!(out.len(), self.n_rows * range.len(), "one value a pair");
        for first in range.clone().step_by(LONG) {
            let last = (first + LONG).min(range.end);
            let training_indices = first - range.start..last - range.start;
            let mut parts: Vec<&mut [T]> = out
                .chunks_exact_mut(range.len())
                .map(|row| &mut row[training_indices.clone()])
                .collect();
            self.tile(against, first, &mut parts);
        }
    }

    /// `Σₖ weights[k] · K(xₖ, z)` over these rows for every row `z` of others, summed in double precision,
    /// on all threads.
    pub fn weighted_sums(&self, weights: &[f64], of: &KernelRows<T>) -> Vec<f64> {
        let mut out = vec![0.0; of.n_rows];
        out.par_chunks_mut(SHORT).enumerate().for_each(|(k, out)| {
            let first = (k * SHORT) as u32;
            let indices: Vec<u32> = (first..first + out.len() as u32).collect();
            let some = of.select(&indices);
            let mut values = vec![T::default(); out.len() * LONG.min(self.n_rows.max(1))];
            for from in (0..self.n_rows).step_by(LONG) {
                let range = from..(from + LONG).min(self.n_rows);
                let values = &mut values[..out.len() * range.len()];
                some.block(self, range.clone(), values);
                for (sum, row) in out.iter_mut().zip(values.chunks_exact(range.len())) {
                    *sum += T::dot(row, &weights[range.clone()]);
                }
            }
        });
        out
    }

    /// `Σₖ weights[k] · K(xₖ, xᵢ)` for every row `xᵢ` itself: each kernel value is worked out once for both of its
    /// rows.
    pub fn symmetric_sums(&self, weights: &[f64]) -> Vec<f64> {
        let n = self.n_rows;
        // Blocks of rows go to a fixed number of sums in turn, so that threads decide nothing.
        let mut parts = vec![vec![0.0; n]; SUMS.min(n.div_ceil(BAND))];
        parts.par_iter_mut().enumerate().for_each(|(k, sums)| {
            let mut values = Vec::new();
            for first in (k * BAND..n).step_by(SUMS * BAND) {
                let last = (first + BAND).min(n);
                let indices: Vec<u32> = (first as u32..last as u32).collect();
                let some = self.select(&indices);
                for from in (0..=first).step_by(BAND) {
                    let range = from..(from + BAND).min(n);
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

    /// The same for several lists of weights, whose kernel values are worked out once.
    pub fn weighted_tables(&self, weights: &[Vec<f64>], of: &KernelRows<T>) -> Vec<Vec<f64>> {
        let k = weights.len().max(1);
        let mut sums = vec![0.0; of.n_rows * k];
        sums.par_chunks_mut(SHORT * k).enumerate().for_each(|(c, sums)| {
            let first = (c * SHORT) as u32;
            let indices: Vec<u32> = (first..first + (sums.len() / k) as u32).collect();
            let some = of.select(&indices);
            let mut values = vec![T::default(); indices.len() * LONG.min(self.n_rows.max(1))];
            for from in (0..self.n_rows).step_by(LONG) {
                let range = from..(from + LONG).min(self.n_rows);
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
            Cells::Dense { width, .. } | Cells::Given { width, .. } => *width,
            Cells::Sparse { width, columns, .. } => {
                (columns.len() / self.n_rows.max(1)).min(*width)
            }
        }
    }

    /// All values among the rows, row-major, on all threads, kept in a precision of the caller's; what stands
    /// above the diagonal is of no meaning.
    pub fn lower_gram<U: Float>(&self) -> Vec<U> {
        let n = self.n_rows;
        let mut out = zeros_of(n * n);
        out.par_chunks_mut(SHORT * n.max(1)).enumerate().for_each(|(k, rows)| {
            let first = k * SHORT;
            self.fill_lower(first..first + rows.len() / n, rows, n);
        });
        out
    }

    /// The same without what has no meaning.
    pub fn half_gram(&self) -> SymmetricMatrix {
        SymmetricMatrix::new(self.n_rows, |rows, cells| {
            let end = rows.end;
            self.fill_lower(rows, cells, end);
        })
    }

    /// Writes the values of some rows, of a length, with all up to the last of them.
    fn fill_lower<U: Float>(&self, rows: Range<usize>, cells: &mut [U], length: usize) {
        let indices: Vec<u32> = (rows.start as u32..rows.end as u32).collect();
        let block = self.select(&indices);
        let mut values = vec![T::default(); indices.len() * LONG];
        for from in (0..rows.end).step_by(LONG) {
            let to = (from + LONG).min(rows.end);
            let mut parts: Vec<&mut [T]> =
                values.chunks_exact_mut(LONG).map(|part| &mut part[..to - from]).collect();
            block.tile(self, from, &mut parts);
            for (row, part) in cells.chunks_exact_mut(length).zip(parts) {
                let cells = row[from..to].iter_mut().zip(part);
                cells.for_each(|(cell, v)| *cell = U::narrow((*v).into()));
            }
        }
    }

    /// The same with both halves.
    pub fn whole_gram(&self) -> Vec<T> {
        let mut out = self.lower_gram();
        mirror(&mut out, self.n_rows);
        out
    }

    /// All values among the rows, row-major, on this thread. Both halves have the same bits.
    pub fn gram(&self) -> Vec<T> {
        let n = self.n_rows;
        let mut out = vec![T::default(); n * n];
        for first in (0..n).step_by(STRIP) {
            let last = (first + STRIP).min(n);
            let indices: Vec<u32> = (first as u32..last as u32).collect();
            let block = self.select(&indices);
            let rows = &mut out[first * n..last * n];
            for from in (0..last).step_by(LONG) {
                let to = (from + LONG).min(last);
                let mut parts: Vec<&mut [T]> =
                    rows.chunks_exact_mut(n).map(|row| &mut row[from..to]).collect();
                block.tile(self, from, &mut parts);
            }
        }
        mirror(&mut out, n);
        out
    }
}

/// Copies what is below the diagonal to above it, square by square, so that both stay in cache.
fn mirror<T: Copy>(cells: &mut [T], n: usize) {
    for first in (0..n).step_by(STRIP) {
        for from in (0..=first).step_by(STRIP) {
            for i in first..(first + STRIP).min(n) {
                for j in from..(from + STRIP).min(i) {
                    cells[j * n + i] = cells[i * n + j];
                }
            }
        }
    }
}

fn row<T>(cells: &[T], width: usize, i: usize) -> &[T] {
    &cells[i * width..(i + 1) * width]
}

/// The cells of some rows that are not zero, by column.
fn thin<T: Float>(rows: &Rows<'_>, indices: &[u32]) -> Cells<T> {
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
    let few = offsets.windows(2).all(|ends| ends[1] - ends[0] <= MOST_MARKS);
    let one: T = T::narrow(1.0);
    let marks = few && values.iter().all(|v| *v == one);
    Cells::Sparse { width: rows.n_columns(), offsets, columns, values, marks }
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
