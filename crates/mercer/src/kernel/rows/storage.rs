//! The choice between dense and sparse storage of the rows of a kernel matrix.

use super::binary_rows::are_binary;
use crate::kernel::{Function, Kernel};
use mercer_num::Rows;
use mercer_num::parallel::prelude::*;

/// Rows with fewer columns are always stored densely, unless they are binary.
const MIN_SPARSE_COLUMNS: usize = 32;
/// Rows with more than one nonzero in this many cells are stored densely: a dense matrix product is faster per cell.
const MIN_CELLS_PER_NONZERO: usize = 4;
/// The same two bounds for the kernels of L1 and chi-squared distances, which have no fast sparse product.
const MAX_DENSE_COLUMNS_OF_DISTANCES: usize = 1024;
const MIN_CELLS_PER_NONZERO_OF_DISTANCES: usize = 32;

/// How rows are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// All cells.
    Dense,
    /// The cells that are not zero.
    Sparse,
}

impl Storage {
    /// The storage with the faster kernel values. It depends on the cells only, not on whether the rows come dense
    /// or sparse.
    pub fn of(function: &Function, rows: &Rows<'_>) -> Storage {
        let (n_rows, width) = (rows.n_rows(), rows.n_columns());
        let n_nonzeros = || -> usize {
            let nonzeros = |cells: &[f64]| cells.iter().filter(|v| **v != 0.0).count();
            let dense = |i: usize| nonzeros(&rows.block(i..i + 1).unwrap_or_default());
            match rows {
                Rows::Sparse(x) => x.iter().map(|(_, values)| nonzeros(values)).sum(),
                _ => (0..n_rows).into_par_iter().with_min_len(256).map(dense).sum(),
            }
        };
        let sparse = match &function.kernel {
            Kernel::Precomputed | Kernel::Custom(_) => false,
            // Counting common ones is faster than floating-point sums at any width.
            _ if are_binary(rows) => true,
            Kernel::Composed(formula) => {
                formula.leaves().all(|leaf| Storage::of(&leaf.function(), rows) == Storage::Sparse)
            }
            Kernel::Laplacian | Kernel::Chi2 => {
                matches!(rows, Rows::Sparse(_))
                    && width > MAX_DENSE_COLUMNS_OF_DISTANCES
                    && n_nonzeros() * MIN_CELLS_PER_NONZERO_OF_DISTANCES < n_rows * width
            }
            _ => {
                width >= MIN_SPARSE_COLUMNS
                    && n_nonzeros() * MIN_CELLS_PER_NONZERO <= n_rows * width
            }
        };
        if sparse { Storage::Sparse } else { Storage::Dense }
    }
}

/// The column means to subtract from rows: distances and centered inner products keep more digits around them. Empty
/// for kernels that are not translation invariant and for sparse rows.
pub fn center_of(function: &Function, storage: Storage, rows: &Rows<'_>) -> Vec<f64> {
    if !function.is_translation_invariant() || storage == Storage::Sparse || rows.n_rows() == 0 {
        return Vec::new();
    }
    let indices: Vec<u32> = (0..rows.n_rows() as u32).collect();
    column_means(rows, &indices)
}

/// The column means of the rows at `indices`, rounded; zero for a column whose sum overflows.
pub(crate) fn column_means(rows: &Rows<'_>, indices: &[u32]) -> Vec<f64> {
    let mut sums = vec![0.0; rows.n_columns()];
    for i in indices.iter().map(|i| *i as usize) {
        match rows {
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                columns.iter().zip(values).for_each(|(j, v)| sums[*j as usize] += v);
            }
            _ => {
                let block = rows.block(i..i + 1).unwrap_or_default();
                sums.iter_mut().zip(block.iter()).for_each(|(s, v)| *s += v);
            }
        }
    }
    sums.iter().map(|s| rounded(s / indices.len().max(1) as f64)).collect()
}

/// The first 36 bits of a mean. Any point near the rows will do, and one with few digits is the same for sparse and
/// dense rows, whose sums can differ in the last bits. Single precision would be too coarse: the center of rows at
/// `1e12 ± 1` would be 30,000 spreads away from them.
fn rounded(mean: f64) -> f64 {
    const LAST_BITS: u64 = (1 << 16) - 1;
    if mean.is_finite() { f64::from_bits(mean.to_bits() & !LAST_BITS) } else { 0.0 }
}
