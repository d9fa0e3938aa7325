//! Gram matrices in double-double precision by error-free slicing.
//!
//! Each column is split into slices of 22 bits (Ozaki, Ogita, Oishi & Rump 2012). The product of two slices, summed
//! over a panel of 256 rows, needs at most 52 bits, so that the double-precision product of the slice matrices is exact
//! in any order of summation. Only the sum over panels is rounded, at 2⁻¹⁰⁴.

use super::product::{add_gram, add_transposed_product};
use crate::double_double::{DoubleDouble, add_doubles};

/// Rows for which sums of slice products fit into a double: `2⁸ · 2²² · 2²² = 2⁵²`.
const ROWS_PER_PANEL: usize = 256;
/// Bits of a slice.
const BITS_PER_SLICE: i32 = 22;
/// Slices of a column: 66 bits below its largest value.
const N_SLICES: usize = 3;

/// `(high, low) += blockᵀ · diag(weights) · block` for a row-major block, on this thread; empty weights are ones. Only
/// the lower triangles of the row-major sums are meaningful.
///
/// # Panics
/// If the lengths do not match the width.
pub fn add_double_double_gram(
    block: &[f64],
    width: usize,
    weights: &[f64],
    high: &mut [f64],
    low: &mut [f64],
) {
    assert_eq!((high.len(), low.len()), (width * width, width * width), "square sums");
    let mut products = vec![0.0; width * width];
    for (k, panel) in block.chunks(ROWS_PER_PANEL * width.max(1)).enumerate() {
        let x = slices(panel, width);
        let mut add = |products: &mut [f64]| {
            add_doubles(high, low, products);
            products.fill(0.0);
        };
        if weights.is_empty() {
            for p in 0..N_SLICES {
                add_gram(&x[p], width, &mut products);
                add(&mut products);
                for q in p + 1..N_SLICES {
                    add_transposed_product(&x[p], width, &x[q], width, &mut products);
                    fold_transpose(&mut products, width);
                    add(&mut products);
                }
            }
        } else {
            let y = weighted_slices(panel, width, &weights[k * ROWS_PER_PANEL..]);
            for (p, x) in x.iter().enumerate() {
                // The omitted products are below the last bit of the sum.
                for y in y.iter().take(y.len() - p.saturating_sub(1)) {
                    add_transposed_product(x, width, y, width, &mut products);
                    add(&mut products);
                }
            }
        }
    }
}

/// `A + Aᵀ` in the lower triangle; the diagonal is doubled.
fn fold_transpose(a: &mut [f64], width: usize) {
    for i in 0..width {
        for j in 0..=i {
            a[i * width + j] += a[j * width + i];
        }
    }
}

/// The leading, middle and trailing bits of every cell, relative to the largest of its column.
fn slices(block: &[f64], width: usize) -> Vec<Vec<f64>> {
    let mut rest = block.to_vec();
    cut(&mut rest, width)
}

/// The slices of `weight · row`, and the remainder.
fn weighted_slices(block: &[f64], width: usize, weights: &[f64]) -> Vec<Vec<f64>> {
    let mut rest = Vec::with_capacity(block.len());
    let mut beyond = Vec::with_capacity(block.len());
    for (row, w) in block.chunks_exact(width).zip(weights) {
        for x in row {
            let product = DoubleDouble::product(*w, *x);
            rest.push(product.high);
            beyond.push(product.low);
        }
    }
    let mut out = cut(&mut rest, width);
    beyond.iter_mut().zip(&rest).for_each(|(b, r)| *b += r);
    out.push(beyond);
    out
}

/// Splits off slices; `rest` receives the remainder.
fn cut(rest: &mut [f64], width: usize) -> Vec<Vec<f64>> {
    let mut largest = vec![0.0f64; width];
    for row in rest.chunks_exact(width) {
        largest.iter_mut().zip(row).for_each(|(l, x)| *l = l.max(x.abs()));
    }
    (1..=N_SLICES as i32)
        .map(|k| {
            // Adding and subtracting 1.5 · 2^(52 + e − 22 k) rounds to multiples of 2^(e − 22 k).
            let shifts: Vec<f64> = largest
                .iter()
                .map(|l| {
                    if *l > 0.0 {
                        1.5 * 2f64.powi(52 + exponent(*l) - BITS_PER_SLICE * k)
                    } else {
                        0.0
                    }
                })
                .collect();
            let mut slice = vec![0.0; rest.len()];
            for (row, out) in rest.chunks_exact_mut(width).zip(slice.chunks_exact_mut(width)) {
                for ((x, out), shift) in row.iter_mut().zip(out).zip(&shifts) {
                    *out = (*x + shift) - shift;
                    *x -= *out;
                }
            }
            slice
        })
        .collect()
}

/// The smallest `e` with `x < 2^e`, for positive `x`.
fn exponent(x: f64) -> i32 {
    let bits = (x.to_bits() >> 52) as i32 & 0x7ff;
    // Subnormal numbers have the smallest exponent.
    bits.max(1) - 1022
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::tests::normal;

    /// The sum in double-double arithmetic.
    fn reference(x: &crate::Matrix, weights: &[f64]) -> Vec<DoubleDouble> {
        let d = x.ncols();
        let mut sums = vec![DoubleDouble::ZERO; d * d];
        for (k, row) in x.outer_iter().enumerate() {
            let w = weights.get(k).copied().unwrap_or(1.0);
            for i in 0..d {
                for j in 0..=i {
                    let term = DoubleDouble::product(w, row[i]) * DoubleDouble::from(row[j]);
                    sums[i * d + j] = sums[i * d + j] + term;
                }
            }
        }
        sums
    }

    #[test]
    fn sums_agree_with_double_double_arithmetic_to_28_digits() {
        for (n, d) in [(1, 1), (5, 3), (257, 8), (700, 20)] {
            // Columns of very different magnitude, and cells of different magnitude within one column.
            let mut x = normal(n, d, 1);
            for ((i, j), v) in x.indexed_iter_mut() {
                *v =
                    (*v + 3.0) * 10f64.powi(3 * j as i32 - 9) * if i % 7 == 0 { 1e-6 } else { 1.0 };
            }
            let some: Vec<f64> = (0..n).map(|i| 0.1 + i as f64 / 3.0).collect();
            for weights in [&[][..], &some] {
                let (mut high, mut low) = (vec![0.0; d * d], vec![0.0; d * d]);
                add_double_double_gram(x.as_slice().unwrap(), d, weights, &mut high, &mut low);

                let expected = reference(&x, weights);
                for i in 0..d {
                    for j in 0..=i {
                        let at = i * d + j;
                        let found = DoubleDouble { high: high[at], low: low[at] };
                        let scale = (expected[i * d + i].high * expected[j * d + j].high).sqrt();
                        let off = (found - expected[at]).value().abs();
                        assert!(off <= 1e-19 * scale, "{off} of {scale}");
                        if i % 7 != 0 || n < 8 {
                            assert!(off <= 1e-27 * scale.max(1e-300) * 1e8);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn sums_of_integers_are_exact() {
        // Σ i², Σ i⁵ and Σ i⁸ for i = 1..=1000, the last beyond a double.
        let block: Vec<f64> =
            (1..=1000).flat_map(|i| [f64::from(i), f64::from(i).powi(4)]).collect();
        let (mut high, mut low) = (vec![0.0; 4], vec![0.0; 4]);

        add_double_double_gram(&block, 2, &[], &mut high, &mut low);

        let exact = |power: u32| (1..=1000u128).map(|i| i.pow(power)).sum::<u128>();
        let found = |at: usize| high[at] as i128 as u128 as i128 + low[at] as i128;
        assert_eq!(found(0), exact(2) as i128);
        assert_eq!(found(2), exact(5) as i128);
        assert_eq!(found(3), exact(8) as i128);
    }
}
