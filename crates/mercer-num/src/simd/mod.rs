//! Inner loops, compiled for several instruction sets and chosen once at run time.
//!
//! No multiplication is fused with an addition, and every sum has a fixed order (by column, or in eight lanes that are
//! added in the same way), so every instruction set gives the same bits. The scalar loops in the tests are the
//! specification.

pub mod binary_counts;
pub mod bytes;
pub mod centered_product;
pub mod cosine;
pub mod exp;
pub mod hadamard;
pub mod logistic;
pub mod nonzero;
pub mod packed_rows;
pub mod row_update;
pub mod smo;
pub mod sparse_gram;
pub mod sparse_product;

use multiversion::multiversion;

/// `sums[group of row] += weight · row` over a row-major block.
///
/// `sums` is row-major with one row per group; empty `weights` are ones.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_rows(
    block: &[f64],
    width: usize,
    group_of_row: &[u32],
    weights: &[f64],
    sums: &mut [f64],
) {
    for (i, (row, group)) in block.chunks_exact(width).zip(group_of_row).enumerate() {
        let start = *group as usize * width;
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

/// `squares[group of row] += weight · (row − means[group of row])²` over a row-major block.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_centered_squares(
    block: &[f64],
    width: usize,
    group_of_row: &[u32],
    weights: &[f64],
    means: &[f64],
    squares: &mut [f64],
) {
    for (i, (row, group)) in block.chunks_exact(width).zip(group_of_row).enumerate() {
        let start = *group as usize * width;
        let mean = &means[start..start + width];
        let square = &mut squares[start..start + width];
        if weights.is_empty() {
            for ((s, x), m) in square.iter_mut().zip(row).zip(mean) {
                let d = x - m;
                *s += d * d;
            }
        } else if weights[i] > 0.0 {
            // A row of weight zero is skipped, because its square may be infinite.
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

/// `Σ x`, in eight lanes.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn sum(x: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (blocks, tail) = x.as_chunks::<8>();
    for block in blocks {
        for k in 0..8 {
            lanes[k] += block[k];
        }
    }
    lanes.iter_mut().zip(tail).for_each(|(lane, x)| *lane += x);
    fold(lanes)
}

/// `out += Σₖ values[k] · table[columns[k]]`: rows of a row-major table of the width of `out`, added in their order. A
/// value of zero adds nothing, even if the table has an infinite entry.
///
/// There may be more columns than values: those behind the last value are needed next, and are prefetched.
///
/// # Panics
/// If a column is outside of the table.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_table_rows(columns: &[i32], values: &[f64], table: &[f64], out: &mut [f64]) {
    // The sums of up to 32 columns of the table stay in registers.
    let mut first = 0;
    while first < out.len() {
        first += match out.len() - first {
            32.. => add_block::<32>(columns, values, table, first, out),
            28.. => add_block::<28>(columns, values, table, first, out),
            24.. => add_block::<24>(columns, values, table, first, out),
            20.. => add_block::<20>(columns, values, table, first, out),
            16.. => add_block::<16>(columns, values, table, first, out),
            12.. => add_block::<12>(columns, values, table, first, out),
            8.. => add_block::<8>(columns, values, table, first, out),
            4.. => add_block::<4>(columns, values, table, first, out),
            2.. => add_block::<2>(columns, values, table, first, out),
            _ => add_block::<1>(columns, values, table, first, out),
        };
    }
}

/// The distance, in cells, at which the table is prefetched. Most cells are in cache, so the processor's own window is
/// too short to load the others in time.
const PREFETCH_DISTANCE: usize = 16;

/// Adds to `N` columns from `first` on and returns `N`.
#[inline(always)]
fn add_block<const N: usize>(
    columns: &[i32],
    values: &[f64],
    table: &[f64],
    first: usize,
    out: &mut [f64],
) -> usize {
    let width = out.len();
    let mut sums = [0.0; N];
    sums.copy_from_slice(&out[first..first + N]);
    for (i, (j, v)) in columns.iter().zip(values).enumerate() {
        if let Some(later) = columns.get(i + PREFETCH_DISTANCE) {
            fetch::<N>(table, (*later as usize).wrapping_mul(width).wrapping_add(first));
        }
        if *v != 0.0 {
            let at = *j as usize * width + first;
            let row = &table[at..at + N];
            for k in 0..N {
                sums[k] += v * row[k];
            }
        }
    }
    out[first..first + N].copy_from_slice(&sums);
    N
}

/// Prefetches `N` values of a table; without effect on any result.
#[inline(always)]
fn fetch<const N: usize>(table: &[f64], at: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..N.div_ceil(8) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = table.as_ptr().wrapping_add(at).wrapping_add(8 * line);
        // SAFETY: a prefetch neither reads nor faults for any address, and all x86-64 processors have it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, at);
}

/// `x ← ln x`; see [`ln`].
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn ln_each(x: &mut [f64]) {
    for x in x {
        *x = ln(*x);
    }
}

/// The natural logarithm to within one unit in the last place, with the same bits on every machine.
///
/// `x = 2ᵏ(1 + f)` with `√½ < 1 + f < √2`, and for `s = f / (2 + f)`, `|s| < 0.172`,
/// `ln(1 + f) = 2 atanh s = 2s + ⅔s³ + ⅖s⁵ + …`, whose terms beyond `s²¹` are below half a unit. The
/// leading `2s` is written `f − f²/2 + s f²/2`, in which `f` is exact.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    const ONE: u64 = 1.0f64.to_bits();
    /// About √½.
    const SQRT_HALF: u64 = 0x3fe6_a09e << 32;
    /// Adding this number rounds to an integer in the last bits.
    const ROUNDING_SHIFT: f64 = (1u64 << 52) as f64;
    /// A leading part of ln 2 with so few bits that its multiples are exact, and the rest.
    const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
    /// Scales subnormal numbers to normal ones.
    const SUBNORMAL_SCALE: f64 = (1u64 << 54) as f64;

    let small = x < f64::MIN_POSITIVE;
    let lifted = if small { x * SUBNORMAL_SCALE } else { x };
    let bits = lifted.to_bits().wrapping_add(ONE - SQRT_HALF);
    let k = f64::from_bits(bits >> 52 | ROUNDING_SHIFT.to_bits()) - (ROUNDING_SHIFT + 1023.0);
    let k = if small { k - 54.0 } else { k };
    let f = f64::from_bits((bits & FRACTION).wrapping_add(SQRT_HALF)) - 1.0;
    let s = f / (2.0 + f);
    let (z, half) = (s * s, 0.5 * f * f);
    let w = z * z;
    // Odd and even terms are summed separately: two short dependency chains instead of a long one.
    let odd = 2.0 / 3.0 + w * (2.0 / 7.0 + w * (2.0 / 11.0 + w * (2.0 / 15.0 + w * (2.0 / 19.0))));
    let even = 2.0 / 5.0 + w * (2.0 / 9.0 + w * (2.0 / 13.0 + w * (2.0 / 17.0 + w * (2.0 / 21.0))));
    let series = z * odd + w * even;
    let log = k * LN_2[0] - ((half - (s * (half + series) + k * LN_2[1])) - f);
    let beyond = if x == 0.0 { f64::NEG_INFINITY } else { x + f64::NAN };
    let beyond = if x == f64::INFINITY { x } else { beyond };
    if x > 0.0 && x < f64::INFINITY { log } else { beyond }
}

/// `out[i] = Σⱼ block[i, j] · coefficients[j]` over a row-major block.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn dot_rows(block: &[f64], coefficients: &[f64], out: &mut [f64]) {
    for (row, out) in block.chunks_exact(coefficients.len().max(1)).zip(out) {
        let mut lanes = [0.0; 8];
        let (rows, row_tail) = row.as_chunks::<8>();
        let (parts, part_tail) = coefficients.as_chunks::<8>();
        for (x, c) in rows.iter().zip(parts) {
            for k in 0..8 {
                lanes[k] += x[k] * c[k];
            }
        }
        for (lane, (x, c)) in lanes.iter_mut().zip(row_tail.iter().zip(part_tail)) {
            *lane += x * c;
        }
        *out = fold(lanes);
    }
}

/// The fixed order in which eight lanes are added.
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

    #[test]
    fn logarithms_are_accurate_to_one_unit_in_the_last_place() {
        let mut random = crate::random::Random::new(1);
        let mut x: Vec<f64> = (0..100_000)
            .map(|i| if i % 2 == 0 { random.uniform() * 3.0 } else { f64::from_bits(i << 46 | i) })
            .filter(|x| x.is_finite())
            .collect();
        x.extend([
            1.0,
            f64::MIN_POSITIVE,
            f64::MAX,
            5e-324,
            1.0 + f64::EPSILON,
            1.0 - f64::EPSILON,
        ]);
        let mut logs = x.clone();

        ln_each(&mut logs);

        for (x, log) in x.iter().zip(&logs) {
            assert_eq!(log.to_bits(), ln(*x).to_bits(), "ln {x}");
            let deviation = x.ln().to_bits().abs_diff(log.to_bits());
            assert!(deviation <= 1, "ln {x}: {log}, {deviation} units off");
        }
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert_eq!(ln(f64::INFINITY), f64::INFINITY);
        assert!(ln(-1.0).is_nan() && ln(f64::NEG_INFINITY).is_nan() && ln(f64::NAN).is_nan());
    }

    #[test]
    fn a_table_row_times_zero_adds_nothing() {
        let table = [f64::NEG_INFINITY, 1.0, 2.0, 3.0];
        let mut out = [0.0, 0.5];

        add_table_rows(&[1, 0, 1], &[1.0, 0.0, 2.0], &table, &mut out);

        assert_eq!(out, [6.0, 9.5]);
    }

    proptest! {
        #[test]
        fn sums_and_table_rows_equal_the_scalar_loop_to_the_bit(
            table in numbers(70 * 4),
            values in numbers(20),
            columns in prop::collection::vec(0i32..4, 40),
        ) {
            for width in (1..=70).step_by(3) {
                let mut out = table[..width].to_vec();
                add_table_rows(&columns, &values, &table[..width * 4], &mut out);

                let mut plain = table[..width].to_vec();
                for (j, v) in columns.iter().zip(&values) {
                    for k in 0..width {
                        plain[k] += v * table[*j as usize * width + k];
                    }
                }
                prop_assert_eq!(&out, &plain);
                let mut lanes = [0.0; 8];
                table[..width].iter().enumerate().for_each(|(k, x)| lanes[k % 8] += x);
                prop_assert_eq!(sum(&table[..width]), fold(lanes));
            }
        }

        #[test]
        fn group_sums_and_squares_equal_the_scalar_loop_to_the_bit(
            x in numbers(33 * 10),
            weights in prop::collection::vec(0.0..3.0, 10),
            group_of_row in prop::collection::vec(0u32..3, 10),
        ) {
            for width in WIDTHS {
                let block = &x[..width * 10];
                for weights in [&weights[..], &[]] {
                    let mut sums = vec![0.0; 3 * width];
                    let mut squares = vec![0.0; 3 * width];
                    add_rows(block, width, &group_of_row, weights, &mut sums);
                    add_centered_squares(block, width, &group_of_row, weights, &sums, &mut squares);

                    let mut plain_sums = vec![0.0; 3 * width];
                    for i in 0..10 {
                        for j in 0..width {
                            let w = weights.get(i).copied().unwrap_or(1.0);
                            plain_sums[group_of_row[i] as usize * width + j] += w * block[i * width + j];
                        }
                    }
                    let mut plain_squares = vec![0.0; 3 * width];
                    for i in 0..10 {
                        for j in 0..width {
                            let at = group_of_row[i] as usize * width + j;
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
        fn dot_products_equal_the_scalar_lanes_to_the_bit(
            x in numbers(33 * 4),
            coefficients in numbers(33),
        ) {
            for width in WIDTHS {
                let (block, c) = (&x[..width * 4], &coefficients[..width]);
                let mut out = vec![0.0; 4];
                dot_rows(block, c, &mut out);

                for i in 0..4 {
                    let mut lanes = [0.0; 8];
                    (0..width).for_each(|j| lanes[j % 8] += block[i * width + j] * c[j]);
                    prop_assert_eq!(out[i], fold(lanes));
                }
            }
        }

        #[test]
        fn distances_equal_the_scalar_lanes_to_the_bit(
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
