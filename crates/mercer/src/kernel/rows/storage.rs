//! How rows are kept for kernel values.

use super::binary_rows::are_marks;
use crate::kernel::{Function, Kernel};
use mercer_num::Rows;
use rayon::prelude::*;

/// Rows of fewer columns are always written out.
const NARROW: usize = 32;
/// So are rows of which at least one cell in so many is not zero: a product of blocks is faster by cell.
const THIN: usize = 4;
/// Where differences are summed up instead, sparse rows are written out up to so many columns, or where at least
/// one cell in so many is there.
const NARROW_DIFFERENCES: usize = 1024;
const THIN_DIFFERENCES: usize = 32;

/// How rows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// All cells.
    Dense,
    /// The cells that are not zero.
    Sparse,
}

impl Storage {
    /// The one that gives kernel values of some rows sooner. Sparse and dense rows of the same cells are kept
    /// in the same way.
    pub fn of(function: &Function, rows: &Rows<'_>) -> Storage {
        let (n_rows, width) = (rows.n_rows(), rows.n_columns());
        let there = || -> usize {
            let here = |cells: &[f64]| cells.iter().filter(|v| **v != 0.0).count();
            let dense = |i: usize| here(&rows.block(i..i + 1).unwrap_or_default());
            match rows {
                Rows::Sparse(x) => x.iter().map(|(_, values)| here(values)).sum(),
                _ => (0..n_rows).into_par_iter().with_min_len(256).map(dense).sum(),
            }
        };
        let thin = match &function.kernel {
            Kernel::Precomputed | Kernel::Custom(_) => false,
            // What two rows of marks have in common is counted faster than any sum, however narrow they are.
            _ if are_marks(rows) => true,
            Kernel::Composed(formula) => {
                formula.leaves().all(|leaf| Storage::of(&leaf.function(), rows) == Storage::Sparse)
            }
            Kernel::Laplacian | Kernel::Chi2 => {
                matches!(rows, Rows::Sparse(_))
                    && width > NARROW_DIFFERENCES
                    && there() * THIN_DIFFERENCES < n_rows * width
            }
            _ => width >= NARROW && there() * THIN <= n_rows * width,
        };
        if thin { Storage::Sparse } else { Storage::Dense }
    }
}

/// The means of some rows, where the kernel looks at differences and the rows are kept whole: what
/// single precision should be taken around. Empty elsewhere.
pub fn center_of(function: &Function, storage: Storage, rows: &Rows<'_>) -> Vec<f64> {
    if function.kernel != Kernel::Rbf || storage == Storage::Sparse || rows.n_rows() == 0 {
        return Vec::new();
    }
    let mut sums = vec![0.0; rows.n_columns()];
    for i in 0..rows.n_rows() {
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
    // Any point near the rows does; a short one makes sparse and dense rows agree to the bit.
    sums.iter().map(|s| f64::from((s / rows.n_rows() as f64) as f32)).collect()
}
