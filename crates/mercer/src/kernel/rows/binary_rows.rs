//! Kernels of rows of ones and zeros.
//!
//! Of two such rows every kernel sees a small whole number only: how many ones they share (`x·z`), or in how many
//! columns they differ (`‖x − z‖²`). Those are counted in bytes, exactly, and the kernel is looked up among the 256
//! values it can have. They are the values that sums in floating point come to, to the last bit.

use super::tile::put_on;
use crate::kernel::{Function, Kernel};
use mercer_num::simd::binary_counts::{INTERLEAVED_ROWS, count_common_ones, values_of_counts};
use mercer_num::{Float, Rows};

/// Ones a row may have: two rows then differ in fewer columns than a byte counts.
pub(super) const MOST: usize = 127;
/// Rows counted before their values are looked up, all of them in the innermost cache.
const ROWS: usize = 64;

/// Whether all cells are ones and zeros, with few ones in a row.
pub(super) fn are_marks(rows: &Rows<'_>) -> bool {
    let marks = |cells: &[f64]| {
        let mut ones = 0;
        cells.iter().all(|v| {
            ones += usize::from(*v == 1.0);
            *v == 0.0 || *v == 1.0
        }) && ones <= MOST
    };
    match rows {
        Rows::Sparse(x) => x.sum_duplicates().view().iter().all(|(_, values)| marks(values)),
        _ => (0..rows.n_rows()).all(|i| marks(&rows.block(i..i + 1).unwrap_or_default())),
    }
}

/// Rows of marks: where the ones of each begin and end, and their columns.
#[derive(Clone, Copy)]
pub(super) struct BinaryRows<'a> {
    pub offsets: &'a [usize],
    pub columns: &'a [i32],
}

impl BinaryRows<'_> {
    fn ones(&self, i: usize) -> u8 {
        u8::try_from(self.offsets[i + 1] - self.offsets[i]).expect("rows of few marks")
    }
}

/// What a kernel counts of two rows.
#[derive(Clone, Copy, PartialEq)]
enum Counted {
    Shared,
    Different,
}

impl Counted {
    fn by(kernel: &Kernel) -> Counted {
        match kernel {
            Kernel::Rbf | Kernel::Laplacian | Kernel::Chi2 => Counted::Different,
            _ => Counted::Shared,
        }
    }
}

/// The kernel of some rows of marks, all of `asked`, with others: a part each, as long as there are others.
pub(super) fn marks_tile<T: Float>(
    function: &Function,
    width: usize,
    asked: BinaryRows<'_>,
    others: BinaryRows<'_>,
    parts: &mut [&mut [T]],
) {
    let counted = Counted::by(&function.kernel);
    let values = values_of(function);
    // A shared column counts one; or the rows differ in two columns fewer than they have ones.
    let (mark, ones): (u8, fn(&BinaryRows<'_>, usize) -> u8) = match counted {
        Counted::Shared => (1, |_, _| 0),
        Counted::Different => (0u8.wrapping_sub(2), |marks, i| marks.ones(i)),
    };
    let n = others.offsets.len() - 1;
    // Of a wide table only the columns that occur are ever touched.
    let mut table = vec![[0; INTERLEAVED_ROWS]; width];
    let (mut starts, mut counts) = ([0; INTERLEAVED_ROWS], [[0; INTERLEAVED_ROWS]; ROWS]);
    for (b, parts) in parts.chunks_mut(INTERLEAVED_ROWS).enumerate() {
        let from = b * INTERLEAVED_ROWS;
        let cells = |k: usize| &asked.columns[asked.offsets[k]..asked.offsets[k + 1]];
        for k in 0..parts.len() {
            starts[k] = ones(&asked, from + k);
            cells(from + k).iter().for_each(|j| table[*j as usize][k] = mark);
        }
        for first in (0..n).step_by(ROWS) {
            let last = (first + ROWS).min(n);
            let counts = &mut counts[..last - first];
            for (i, counts) in counts.iter_mut().enumerate() {
                let own = ones(&others, first + i);
                *counts = starts.map(|start| start.wrapping_add(own));
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

/// The values of a kernel for all counts, worked out as they are from inner products and squared lengths.
fn values_of<T: Float>(function: &Function) -> [T; 256] {
    let counts: [T; 256] = std::array::from_fn(|k| T::narrow(k as f64));
    let (zeros, mut out) = ([T::default(); 256], [T::default(); 256]);
    let (dots, squares) = match function.kernel {
        Kernel::Rbf => (&zeros, &counts),
        _ => (&counts, &zeros),
    };
    put_on(function, dots, T::default(), squares, &mut out);
    out
}
