//! Inner loops, compiled for several instruction sets and chosen once at run time.
//!
//! None of them fuses a multiplication with an addition, and every sum has a fixed order (by column,
//! or in eight lanes that are folded the same way), so every instruction set gives the same bits.
//! The plain loops in the tests are the specification.

use multiversion::multiversion;

/// `sums[slot of row] += weight · row` over a row-major block.
///
/// `sums` is row-major with one row a slot; `weights` empty means one everywhere.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_rows(block: &[f64], width: usize, slots: &[u32], weights: &[f64], sums: &mut [f64]) {
    for (i, (row, slot)) in block.chunks_exact(width).zip(slots).enumerate() {
        let start = *slot as usize * width;
        let sum = &mut sums[start..start + width];
        if weights.is_empty() {
            for (s, x) in sum.iter_mut().zip(row) {
                *s += x;
            }
        } else {
            let w = weights[i];
            for (s, x) in sum.iter_mut().zip(row) {
                *s += w * x;
            }
        }
    }
}

/// `squares[slot of row] += weight · (row − means[slot of row])²` over a row-major block.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_centered_squares(
    block: &[f64],
    width: usize,
    slots: &[u32],
    weights: &[f64],
    means: &[f64],
    squares: &mut [f64],
) {
    for (i, (row, slot)) in block.chunks_exact(width).zip(slots).enumerate() {
        let start = *slot as usize * width;
        let mean = &means[start..start + width];
        let square = &mut squares[start..start + width];
        if weights.is_empty() {
            for ((s, x), m) in square.iter_mut().zip(row).zip(mean) {
                let d = x - m;
                *s += d * d;
            }
        } else if weights[i] > 0.0 {
            // A row that weighs nothing says nothing, even where its square is infinite.
            let w = weights[i];
            for ((s, x), m) in square.iter_mut().zip(row).zip(mean) {
                let d = x - m;
                *s += w * (d * d);
            }
        }
    }
}

/// `out[i, c] = Σⱼ precisions[c, j] · (block[i, j] − means[c, j])²`, all row-major.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn weighted_sq_distances(
    block: &[f64],
    width: usize,
    means: &[f64],
    precisions: &[f64],
    out: &mut [f64],
) {
    let n_classes = means.len() / width;
    for (row, distances) in block.chunks_exact(width).zip(out.chunks_exact_mut(n_classes)) {
        let classes = means.chunks_exact(width).zip(precisions.chunks_exact(width));
        for (distance, (mean, precision)) in distances.iter_mut().zip(classes) {
            *distance = weighted_sq_distance(row, mean, precision);
        }
    }
}

#[inline(always)]
fn weighted_sq_distance(row: &[f64], mean: &[f64], precision: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (rows, row_tail) = row.as_chunks::<8>();
    let (means, mean_tail) = mean.as_chunks::<8>();
    let (precisions, precision_tail) = precision.as_chunks::<8>();
    for ((x, m), p) in rows.iter().zip(means).zip(precisions) {
        for k in 0..8 {
            let d = x[k] - m[k];
            lanes[k] += p[k] * (d * d);
        }
    }
    let tail = row_tail.iter().zip(mean_tail).zip(precision_tail);
    for (lane, ((x, m), p)) in lanes.iter_mut().zip(tail) {
        let d = x - m;
        *lane += p * (d * d);
    }
    fold(lanes)
}

/// The one order in which eight lanes are added.
#[inline(always)]
fn fold(l: [f64; 8]) -> f64 {
    ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WIDTHS: [usize; 6] = [1, 3, 7, 8, 9, 33];

    fn numbers(n: usize) -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-1e3..1e3, n)
    }

    proptest! {
        #[test]
        fn sums_and_squares_equal_the_plain_loop_to_the_bit(
            x in numbers(33 * 10),
            weights in prop::collection::vec(0.0..3.0, 10),
            slots in prop::collection::vec(0u32..3, 10),
        ) {
            for width in WIDTHS {
                let block = &x[..width * 10];
                for weights in [&weights[..], &[]] {
                    let mut sums = vec![0.0; 3 * width];
                    let mut squares = vec![0.0; 3 * width];
                    add_rows(block, width, &slots, weights, &mut sums);
                    add_centered_squares(block, width, &slots, weights, &sums, &mut squares);

                    let mut plain_sums = vec![0.0; 3 * width];
                    for i in 0..10 {
                        for j in 0..width {
                            let w = weights.get(i).copied().unwrap_or(1.0);
                            plain_sums[slots[i] as usize * width + j] += w * block[i * width + j];
                        }
                    }
                    let mut plain_squares = vec![0.0; 3 * width];
                    for i in 0..10 {
                        for j in 0..width {
                            let at = slots[i] as usize * width + j;
                            let d = block[i * width + j] - plain_sums[at];
                            plain_squares[at] += weights.get(i).copied().unwrap_or(1.0) * (d * d);
                        }
                    }
                    prop_assert_eq!(&sums, &plain_sums);
                    prop_assert_eq!(&squares, &plain_squares);
                }
            }
        }

        #[test]
        fn distances_equal_the_plain_lanes_to_the_bit(
            x in numbers(33 * 4),
            means in numbers(33 * 2),
            precisions in prop::collection::vec(0.0..10.0, 33 * 2),
        ) {
            for width in WIDTHS {
                let (block, m, p) = (&x[..width * 4], &means[..width * 2], &precisions[..width * 2]);
                let mut out = vec![0.0; 8];
                weighted_sq_distances(block, width, m, p, &mut out);

                for i in 0..4 {
                    for c in 0..2 {
                        let mut lanes = [0.0; 8];
                        for j in 0..width {
                            let d = block[i * width + j] - m[c * width + j];
                            lanes[j % 8] += p[c * width + j] * (d * d);
                        }
                        prop_assert_eq!(out[i * 2 + c], fold(lanes));
                    }
                }
            }
        }
    }
}
