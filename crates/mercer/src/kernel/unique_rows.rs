//! Unique rows, in an order that depends on their cells only.
//!
//! Rows sampled from this list do not depend on the order of the data, and a row of weight two is sampled like a row that
//! occurs twice.

use mercer_num::parallel::{self, prelude::*};
use mercer_num::random::splitmix64;
use mercer_num::{Rows, SparseView};

/// Distinct rows.
pub(crate) struct UniqueRows {
    /// The index of the first occurrence of each.
    pub indices: Vec<u32>,
    /// The total weight of all occurrences of each.
    pub weights: Vec<f64>,
    /// A uniform random number in `(0, 1)` for each.
    pub draws: Vec<f64>,
}

impl UniqueRows {
    /// The distinct rows of positive weight; an empty `weights` means ones.
    pub fn of(rows: &Rows<'_>, weights: &[f64], seed: u64) -> UniqueRows {
        let weight = |i: u32| weights.get(i as usize).copied().unwrap_or(1.0);
        let weighted: Vec<u32> = (0..rows.n_rows() as u32).filter(|i| weight(*i) > 0.0).collect();
        let mut keys: Vec<(u128, u32)> =
            weighted.par_iter().map(|i| (key(rows, *i as usize, seed), *i)).collect();
        parallel::sort_unstable_by(&mut keys, Ord::cmp);
        let mut out = UniqueRows { indices: Vec::new(), weights: Vec::new(), draws: Vec::new() };
        // Rows with the same 128-bit hash are equal for all practical purposes.
        for same in keys.chunk_by(|a, b| a.0 == b.0) {
            out.indices.push(same[0].1);
            out.weights.push(same.iter().map(|(_, i)| weight(*i)).sum());
            let bits = (same[0].0 >> 76) as u64;
            out.draws.push((bits as f64 + 0.5) / (1u64 << 52) as f64);
        }
        out
    }
}

/// A 128-bit hash of each row, equal for duplicate rows; empty if there are hardly any duplicates.
pub(crate) fn duplicate_keys(rows: &Rows<'_>, indices: &[u32]) -> Vec<u128> {
    /// At least one row in so many must be a duplicate.
    const MAX_ROWS_PER_DUPLICATE: usize = 50;
    let keys: Vec<u128> = indices.par_iter().map(|i| key(rows, *i as usize, 0)).collect();
    let mut sorted = keys.clone();
    parallel::sort_unstable_by(&mut sorted, Ord::cmp);
    let again = sorted.windows(2).filter(|pair| pair[0] == pair[1]).count();
    if MAX_ROWS_PER_DUPLICATE * again < indices.len() { Vec::new() } else { keys }
}

/// A hash of the nonzero cells, their columns and the seed.
fn key(rows: &Rows<'_>, i: usize, seed: u64) -> u128 {
    let mut halves =
        [splitmix64(seed ^ 0x243f_6a88_85a3_08d3), splitmix64(seed ^ 0x1319_8a2e_0370_7344)];
    let mut add = |j: usize, v: f64| {
        let cell = splitmix64(v.to_bits() ^ splitmix64(j as u64 + 1));
        halves[0] = splitmix64(halves[0] ^ cell);
        halves[1] = splitmix64(halves[1].wrapping_add(cell).rotate_left(23));
    };
    match rows {
        Rows::Sparse(x) => cells(x, i).into_iter().for_each(|(j, v)| add(j, v)),
        _ => {
            let row = rows.block(i..i + 1).unwrap_or_default();
            row.iter().enumerate().filter(|(_, v)| **v != 0.0).for_each(|(j, v)| add(j, *v));
        }
    }
    u128::from(halves[0]) << 64 | u128::from(halves[1])
}

/// The nonzero cells of a sparse row, sorted by column, duplicates summed.
fn cells(x: &SparseView<'_>, i: usize) -> Vec<(usize, f64)> {
    let (columns, values) = x.row(i);
    let mut parts: Vec<(usize, f64)> =
        columns.iter().zip(values).map(|(j, v)| (*j as usize, *v)).collect();
    parts.sort_by_key(|(j, _)| *j);
    let whole = parts.chunk_by(|a, b| a.0 == b.0);
    let whole = whole.map(|parts| (parts[0].0, parts.iter().map(|(_, v)| v).sum()));
    whole.filter(|(_, v)| *v != 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn weights_of_duplicates_add_up_in_any_order() {
        let x = array![[1.0, 2.0], [0.0, -0.0], [1.0, 2.0], [-0.0, 0.0], [2.0, 1.0]];
        let turned = x.select(ndarray::Axis(0), &[4, 3, 2, 1, 0]);

        let found = UniqueRows::of(&Rows::from(&x), &[1.0, 2.0, 0.5, 0.25, 3.0], 7);
        let other = UniqueRows::of(&Rows::from(&turned), &[3.0, 0.25, 0.5, 2.0, 1.0], 7);

        assert_eq!(found.indices.len(), 3);
        assert_eq!(found.weights, other.weights);
        assert_eq!(found.draws, other.draws);
        for (a, b) in found.indices.iter().zip(&other.indices) {
            assert_eq!(x.row(*a as usize), turned.row(*b as usize));
        }
    }
}
