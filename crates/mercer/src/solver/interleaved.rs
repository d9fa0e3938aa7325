//! Vector operations (BLAS level 1) on `m` interleaved vectors: entry `j` belongs to vector `j mod m`.
//!
//! Sums are made in blocks of a fixed length, so that any number of threads gives the same bits.

use mercer_num::parallel::prelude::*;

/// Entries that one task handles.
const ENTRIES_PER_BLOCK: usize = 1 << 14;

/// The inner product of every vector of `a` with that of `b`.
pub(crate) fn dots(a: &[f64], b: &[f64], m: usize) -> Vec<f64> {
    let block = ENTRIES_PER_BLOCK.next_multiple_of(m);
    let blocks: Vec<Vec<f64>> = a
        .par_chunks(block)
        .zip(b.par_chunks(block))
        .map(|(a, b)| {
            if m == 1 {
                return vec![dot(a, b)];
            }
            let mut sums = vec![0.0; m];
            for (a, b) in a.chunks_exact(m).zip(b.chunks_exact(m)) {
                sums.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
            }
            sums
        })
        .collect();
    let mut sums = vec![0.0; m];
    for block in blocks {
        sums.iter_mut().zip(block).for_each(|(sum, x)| *sum += x);
    }
    sums
}

/// `y += a x`, with one factor `a` per vector.
pub(crate) fn add_scaled(a: &[f64], x: &[f64], y: &mut [f64]) {
    let m = a.len();
    let block = ENTRIES_PER_BLOCK.next_multiple_of(m);
    y.par_chunks_mut(block).zip(x.par_chunks(block)).for_each(|(y, x)| {
        if let [a] = a {
            return y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
        }
        for (y, x) in y.chunks_exact_mut(m).zip(x.chunks_exact(m)) {
            y.iter_mut().zip(a).zip(x).for_each(|((y, a), x)| *y += a * x);
        }
    });
}

/// `x = a x`, with one factor `a` per vector.
pub(crate) fn scale(a: &[f64], x: &mut [f64]) {
    for x in x.chunks_exact_mut(a.len()) {
        x.iter_mut().zip(a).for_each(|(x, a)| *x *= a);
    }
}

/// `aᵀb` of two vectors that are not interleaved, summed in order.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
