//! Kernels of binary rows.
//!
//! The kernel of two binary rows depends on a small integer: the number of common ones (`x·z`) or of columns in which
//! the rows differ (`‖x − z‖²`). The integer is counted exactly in bytes, and the kernel value comes from a table of the
//! 256 possible ones. The values have the same bits as sums in floating point.

use super::tile::apply_kernel;
use crate::kernel::{Function, Kernel};
use mercer_num::simd::binary_counts::{INTERLEAVED_ROWS, count_common_ones, values_of_counts};
use mercer_num::{Float, Rows};

/// With at most this many ones per row, the number of differing columns fits into a byte.
pub(super) const MAX_ONES_PER_ROW: usize = 127;
/// Rows counted before their kernel values are looked up: the counts stay in the L1 cache.
const ROWS_PER_BLOCK: usize = 64;

/// Whether all cells are 0 or 1, with at most [`MAX_ONES_PER_ROW`] ones per row.
pub(super) fn are_binary(rows: &Rows<'_>) -> bool {
    let binary = |cells: &[f64]| {
        let mut ones = 0;
        cells.iter().all(|v| {
            ones += usize::from(*v == 1.0);
            *v == 0.0 || *v == 1.0
        }) && ones <= MAX_ONES_PER_ROW
    };
    match rows {
        Rows::Sparse(x) => x.sum_duplicates().view().iter().all(|(_, values)| binary(values)),
        _ => (0..rows.n_rows()).all(|i| binary(&rows.block(i..i + 1).unwrap_or_default())),
    }
}

/// Binary rows: the columns of the ones, and where each row begins and ends among them.
#[derive(Clone, Copy)]
pub(super) struct BinaryRows<'a> {
    pub offsets: &'a [usize],
    pub columns: &'a [i32],
}

impl BinaryRows<'_> {
    fn ones(&self, i: usize) -> u8 {
        u8::try_from(self.offsets[i + 1] - self.offsets[i])
            .expect("at most MAX_ONES_PER_ROW ones per row")
    }
}

/// Which columns of two binary rows a kernel depends on.
#[derive(Clone, Copy, PartialEq)]
enum CountedColumns {
    Shared,
    Different,
}

impl CountedColumns {
    fn by(kernel: &Kernel) -> CountedColumns {
        match kernel {
            Kernel::Rbf | Kernel::Laplacian | Kernel::Chi2 => CountedColumns::Different,
            _ => CountedColumns::Shared,
        }
    }
}

/// The kernel of binary rows with others. `parts` holds one slice per row, as long as there are other rows.
pub(super) fn binary_tile<T: Float>(
    function: &Function,
    width: usize,
    rows: BinaryRows<'_>,
    others: BinaryRows<'_>,
    parts: &mut [&mut [T]],
) {
    let counted = CountedColumns::by(&function.kernel);
    let values = values_of(function);
    // Common ones are counted up from 0; differing columns are counted down by 2 per common one, from the number
    // of ones of both rows.
    let (increment, ones): (u8, fn(&BinaryRows<'_>, usize) -> u8) = match counted {
        CountedColumns::Shared => (1, |_, _| 0),
        CountedColumns::Different => (0u8.wrapping_sub(2), |rows, i| rows.ones(i)),
    };
    let n = others.offsets.len() - 1;
    // Only the columns that occur are written and cleared again.
    let mut table = vec![[0; INTERLEAVED_ROWS]; width];
    let (mut initial_counts, mut counts) =
        ([0; INTERLEAVED_ROWS], [[0; INTERLEAVED_ROWS]; ROWS_PER_BLOCK]);
    for (b, parts) in parts.chunks_mut(INTERLEAVED_ROWS).enumerate() {
        let from = b * INTERLEAVED_ROWS;
        let cells = |k: usize| &rows.columns[rows.offsets[k]..rows.offsets[k + 1]];
        for k in 0..parts.len() {
            initial_counts[k] = ones(&rows, from + k);
            cells(from + k).iter().for_each(|j| table[*j as usize][k] = increment);
        }
        for first in (0..n).step_by(ROWS_PER_BLOCK) {
            let last = (first + ROWS_PER_BLOCK).min(n);
            let counts = &mut counts[..last - first];
            for (i, counts) in counts.iter_mut().enumerate() {
                let own = ones(&others, first + i);
                *counts = initial_counts.map(|start| start.wrapping_add(own));
            }
            count_common_ones(&others.offsets[first..=last], others.columns, &table, counts);
            for (k, part) in parts.iter_mut().enumerate() {
                values_of_counts(counts, k, &values, &mut part[first..last]);
            }
        }
        for k in 0..parts.len() {
            cells(from + k).iter().for_each(|j| table[*j as usize] = [0; INTERLEAVED_ROWS]);
        }
    }
}

/// The kernel values of all counts, computed as they are from inner products and squared norms.
fn values_of<T: Float>(function: &Function) -> [T; 256] {
    let counts: [T; 256] = std::array::from_fn(|k| T::narrow(k as f64));
    let (zeros, mut out) = ([T::default(); 256], [T::default(); 256]);
    let (dots, squares) = match function.kernel {
        Kernel::Rbf => (&zeros, &counts),
        _ => (&counts, &zeros),
    };
    apply_kernel(function, dots, T::default(), squares, &mut out);
    out
}
