//! One tile of the kernel matrix: inner products or distances of two blocks of rows, then the kernel function.

use super::binary_rows::{BinaryRows, binary_tile};
use super::{Cells, KernelRows, TILE_COLUMNS, TILE_ROWS, row};
use crate::kernel::{CustomKernel, Expression, Function, Kernel, Product};
use mercer_num::Float;
use mercer_num::simd::exp::DISTANCE_LANES;
use mercer_num::simd::smo::SPARSE_DOT_ROWS;

/// Rows in compressed sparse row storage.
#[derive(Clone, Copy)]
struct SparseRows<'a, T> {
    offsets: &'a [usize],
    columns: &'a [i32],
    values: &'a [T],
}

impl<T: Float> KernelRows<T> {
    /// The kernel of these rows with the rows of `against` from `first` on, as many as the parts are long. `parts`
    /// holds one slice per row of `self`.
    pub(super) fn tile(&self, against: &KernelRows<T>, first: usize, parts: &mut [&mut [T]]) {
        if let (Cells::Shared { gram, indices }, Cells::Shared { indices: others, .. }) =
            (&self.cells, &against.cells)
        {
            for (row, part) in indices.iter().zip(parts) {
                let columns = &others[first..first + part.len()];
                gram.matrix.for_each(*row, columns, |k, value| part[k] = T::narrow(value));
            }
            return;
        }
        match &self.function.kernel {
            Kernel::Composed(formula) => self.composed_tile(formula, against, first, parts),
            _ => self.tile_of(&self.function, against, first, parts),
        }
    }

    /// The tile of a kernel expression: the sum of products of the tiles of its kernels.
    fn composed_tile(
        &self,
        formula: &Expression,
        against: &KernelRows<T>,
        first: usize,
        parts: &mut [&mut [T]],
    ) {
        let Some(n) = parts.first().map(|part| part.len()) else { return };
        let mut values = vec![T::default(); parts.len() * n];
        let mut product = vec![0.0; parts.len() * n];
        let mut sums = vec![0.0; parts.len() * n];
        for Product { factor, kernels } in &formula.products {
            product.fill(*factor);
            for leaf in kernels {
                let mut rows: Vec<&mut [T]> = values.chunks_exact_mut(n).collect();
                self.tile_of(&leaf.function(), against, first, &mut rows);
                product.iter_mut().zip(&values).for_each(|(p, v)| *p *= (*v).into());
            }
            sums.iter_mut().zip(&product).for_each(|(sum, p)| *sum += p);
        }
        for (part, sums) in parts.iter_mut().zip(sums.chunks_exact(n)) {
            part.iter_mut().zip(sums).for_each(|(to, sum)| *to = T::narrow(*sum));
        }
    }

    /// The tile of one kernel function, by the storage of the rows.
    fn tile_of(
        &self,
        function: &Function,
        against: &KernelRows<T>,
        first: usize,
        parts: &mut [&mut [T]],
    ) {
        let Some(n) = parts.first().map(|part| part.len()) else { return };
        let squares = &against.squared_norms[first..first + n];
        match (&self.cells, &against.cells) {
            (Cells::Dense { width, cells }, Cells::Dense { cells: others, .. }) => {
                let others = &others[first * width..(first + n) * width];
                match &function.kernel {
                    Kernel::Custom(custom) => {
                        custom_tile(custom.as_ref(), cells, others, *width, parts);
                    }
                    Kernel::Laplacian | Kernel::Chi2 => {
                        distance_tile(function, (cells, others), *width, parts);
                    }
                    _ => self.dense_tile(function, (cells, others), *width, squares, parts),
                }
            }
            (
                Cells::Sparse { width, offsets, columns, binary: true, .. },
                Cells::Sparse { offsets: ends, columns: others, binary: true, .. },
            ) => {
                let rows = BinaryRows { offsets, columns };
                let others = BinaryRows { offsets: &ends[first..=first + n], columns: others };
                binary_tile(function, *width, rows, others, parts);
            }
            (
                Cells::Sparse { width, offsets, columns, values, .. },
                Cells::Sparse { offsets: ends, columns: others, values: with, .. },
            ) => {
                let rows = SparseRows { offsets, columns, values };
                let offsets = &ends[first..first + n + 1];
                let others = SparseRows { offsets, columns: others, values: with };
                match function.kernel {
                    Kernel::Laplacian | Kernel::Chi2 => {
                        self.sparse_distance_tile(function, (rows, others), *width, squares, parts);
                    }
                    _ => self.sparse_tile(function, (rows, others), *width, squares, parts),
                }
            }
            (
                Cells::Precomputed { width, cells, .. },
                Cells::Precomputed { training_indices, .. },
            ) => {
                let indices = &training_indices[first..first + n];
                for (k, part) in parts.iter_mut().enumerate() {
                    let values = row(cells, *width, k);
                    part.iter_mut().zip(indices).for_each(|(v, j)| *v = values[*j as usize]);
                }
            }
            _ => unreachable!("both blocks of rows have the same storage"),
        }
    }

    /// Dense rows: one matrix product of inner products per block, then the kernel function.
    fn dense_tile(
        &self,
        function: &Function,
        (cells, others): (&[T], &[T]),
        width: usize,
        squares: &[T],
        parts: &mut [&mut [T]],
    ) {
        let n = squares.len();
        T::scratch(TILE_ROWS * TILE_COLUMNS, |dots| {
            for (b, parts) in parts.chunks_mut(TILE_ROWS).enumerate() {
                let from = b * TILE_ROWS;
                let block = &cells[from * width..(from + parts.len()) * width];
                let dots = &mut dots[..parts.len() * n];
                if width == 0 {
                    dots.fill(T::default());
                }
                T::dot_products(block, others, width, dots);
                for (k, part) in parts.iter_mut().enumerate() {
                    let own = self.squared_norms[from + k];
                    apply_kernel(function, &dots[k * n..(k + 1) * n], own, squares, part);
                }
            }
        });
    }

    /// Sparse rows, kernels of inner products. A few rows are scattered into a dense table at a time; the rows of
    /// the other block are then multiplied with all of them in one pass over their nonzeros.
    fn sparse_tile(
        &self,
        function: &Function,
        (rows, others): (SparseRows<'_, T>, SparseRows<'_, T>),
        width: usize,
        squares: &[T],
        parts: &mut [&mut [T]],
    ) {
        let n = squares.len();
        let SparseRows { offsets, columns, values } = rows;
        // Only the columns that occur are written and cleared again: a wide table costs its allocation only.
        let mut table = vec![T::default(); SPARSE_DOT_ROWS * width];
        T::scratch(SPARSE_DOT_ROWS * n, |dots| {
            for (b, parts) in parts.chunks_mut(SPARSE_DOT_ROWS).enumerate() {
                let from = b * SPARSE_DOT_ROWS;
                let cells = offsets[from]..offsets[from + parts.len()];
                for k in 0..parts.len() {
                    for at in offsets[from + k]..offsets[from + k + 1] {
                        table[columns[at] as usize * SPARSE_DOT_ROWS + k] = values[at];
                    }
                }
                T::sparse_dots(others.offsets, others.columns, others.values, &table, dots);
                for (k, part) in parts.iter_mut().enumerate() {
                    let own = self.squared_norms[from + k];
                    apply_kernel(function, &dots[k * n..(k + 1) * n], own, squares, part);
                }
                for j in &columns[cells] {
                    let line = *j as usize * SPARSE_DOT_ROWS;
                    table[line..line + SPARSE_DOT_ROWS].fill(T::default());
                }
            }
        });
    }

    /// Sparse rows, kernels of L1 and chi-squared distances.
    fn sparse_distance_tile(
        &self,
        function: &Function,
        (rows, others): (SparseRows<'_, T>, SparseRows<'_, T>),
        width: usize,
        squares: &[T],
        parts: &mut [&mut [T]],
    ) {
        let SparseRows { offsets, columns, values } = rows;
        let mut scattered = vec![T::default(); width];
        let mut distances = vec![T::default(); squares.len()];
        for (k, part) in parts.iter_mut().enumerate() {
            let own = offsets[k]..offsets[k + 1];
            for (j, v) in columns[own.clone()].iter().zip(&values[own.clone()]) {
                scattered[*j as usize] = *v;
            }
            let norm: f64 = values[own.clone()].iter().map(|v| (*v).into()).map(f64::abs).sum();
            for (i, distance) in distances.iter_mut().enumerate() {
                let cells = others.offsets[i]..others.offsets[i + 1];
                let cells = others.columns[cells.clone()].iter().zip(&others.values[cells]);
                let cells = cells.map(|(j, v)| (scattered[*j as usize].into(), (*v).into()));
                *distance = T::narrow(sparse_distance(function, cells, norm));
            }
            apply_kernel(function, &distances, self.squared_norms[k], squares, part);
            columns[own].iter().for_each(|j| scattered[*j as usize] = T::default());
        }
    }
}

/// A user-defined kernel, pair by pair in double precision.
fn custom_tile<T: Float>(
    kernel: &dyn CustomKernel,
    cells: &[T],
    others: &[T],
    width: usize,
    parts: &mut [&mut [T]],
) {
    let n = parts.first().map_or(0, |part| part.len());
    let others: Vec<Vec<f64>> = (0..n).map(|i| widened(row(others, width, i))).collect();
    for (k, part) in parts.iter_mut().enumerate() {
        let x = widened(row(cells, width, k));
        let values = others.iter().map(|z| T::narrow(kernel.value(&x, z)));
        part.iter_mut().zip(values).for_each(|(to, v)| *to = v);
    }
}

/// The distance of a row from a sparse one, from pairs of cells at the nonzeros of the latter. `norm` is the
/// distance of the row from zero: columns where only the row is nonzero contribute to it already.
fn sparse_distance(function: &Function, cells: impl Iterator<Item = (f64, f64)>, norm: f64) -> f64 {
    match function.kernel {
        Kernel::Chi2 => {
            let term = |(a, b): (f64, f64)| {
                if a + b > 0.0 { (a - b) * (a - b) / (a + b) - a } else { 0.0 }
            };
            norm + cells.map(term).sum::<f64>()
        }
        _ => norm + cells.map(|(a, b)| (a - b).abs() - a.abs()).sum::<f64>(),
    }
}

/// The kernels `exp(−gamma · distance)` of dense rows. A few of the others at a time are stored by columns, so that their
/// distances from a row are summed side by side.
fn distance_tile<T: Float>(
    function: &Function,
    (cells, others): (&[T], &[T]),
    width: usize,
    parts: &mut [&mut [T]],
) {
    let distances = match function.kernel {
        Kernel::Chi2 => T::chi_squared_distances,
        _ => T::l1_distances,
    };
    let mut columns = vec![[T::default(); DISTANCE_LANES]; width];
    let n = parts.first().map_or(0, |part| part.len());
    for first in (0..n).step_by(DISTANCE_LANES) {
        let last = (first + DISTANCE_LANES).min(n);
        for i in first..last {
            let cells = columns.iter_mut().zip(row(others, width, i));
            cells.for_each(|(column, cell)| column[i - first] = *cell);
        }
        for (k, part) in parts.iter_mut().enumerate() {
            distances(row(cells, width, k), &columns, &mut part[first..last]);
        }
    }
    for part in parts {
        part.iter_mut().for_each(|value| *value = T::narrow(-function.gamma * (*value).into()));
        T::exp_each(part);
    }
}

/// The kernel function of inner products (of distances for `laplacian` and `chi2`). `own` and `squares` are the
/// squared norms of the row and of the others.
pub(super) fn apply_kernel<T: Float>(
    function: &Function,
    dots: &[T],
    own: T,
    squares: &[T],
    out: &mut [T],
) {
    let Function { kernel, gamma, coef0, degree } = function;
    let (gamma, coef0) = (*gamma, *coef0);
    match kernel {
        Kernel::Rbf => T::gaussian_kernel(dots, own, squares, gamma, out),
        Kernel::Poly => T::polynomial_kernel(dots, gamma, coef0, *degree as u32, out),
        Kernel::Sigmoid => T::sigmoid_kernel(dots, gamma, coef0, out),
        Kernel::Laplacian | Kernel::Chi2 => {
            let powers = out.iter_mut().zip(dots);
            powers.for_each(|(out, sum)| *out = T::narrow(-gamma * (*sum).into()));
            T::exp_each(out);
        }
        Kernel::Linear | Kernel::Precomputed | Kernel::Composed(_) | Kernel::Custom(_) => {
            out.copy_from_slice(dots);
        }
    }
}

pub(super) fn widened<T: Float>(row: &[T]) -> Vec<f64> {
    row.iter().map(|v| (*v).into()).collect()
}
