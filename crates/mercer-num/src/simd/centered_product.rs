//! Products of centered rows with a table of a few columns: `(x − center) · table`.
//!
//! A general matrix product packs both operands and needs the differences in memory. Here rows are read once in place;
//! the sums of three rows by up to twelve columns stay in registers. Every sum runs over the columns of a row in their
//! order, so that a row has the same bits in blocks of any size and on every instruction set. Wide rows that are not
//! centered are processed one at a time, and blocks of four zeros are skipped.

use super::nonzero::{MAX_BLOCKS, MAX_CELLS, nonzero_block_indices};
use crate::memory::prefetch_line;
use multiversion::multiversion;
use std::ops::Range;

/// Rows that are multiplied with a strip at once. A product and its sum are two operations here, so three rows by
/// twelve columns fill the sixteen registers.
const ROWS_PER_TILE: usize = 3;
/// Columns of a table whose sums stay in registers.
const STRIP_COLUMNS: usize = 12;
/// In narrower rows, the search for zeros takes as long as skipping them saves.
const MIN_ZERO_SKIPPING_COLUMNS: usize = 64;
/// Rows whose squared norms are computed at once.
const ROWS_PER_NORM_TILE: usize = 4;

/// A table in the order in which [`add_centered_times`] reads it: strips of twelve columns, the last padded with zeros
/// to whole vectors.
#[derive(Clone, Debug)]
pub struct ColumnStrips {
    outputs: usize,
    cells: Vec<f64>,
}

impl ColumnStrips {
    /// The table of `width` rows and `outputs` columns with `cell(j, k)` in row `j` and column `k`.
    pub fn new(width: usize, outputs: usize, cell: impl Fn(usize, usize) -> f64) -> ColumnStrips {
        let padded = outputs.next_multiple_of(4);
        let mut cells = Vec::with_capacity(width * padded);
        for first in (0..padded).step_by(STRIP_COLUMNS) {
            for j in 0..width {
                let columns = first..padded.min(first + STRIP_COLUMNS);
                cells.extend(columns.map(|k| if k < outputs { cell(j, k) } else { 0.0 }));
            }
        }
        ColumnStrips { outputs, cells }
    }
}

/// `out += (block − center) · table` for a row-major `block`; the table has one row per column of the block.
///
/// # Panics
/// If the lengths do not match.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_centered_times(block: &[f64], center: &[f64], table: &ColumnStrips, out: &mut [f64]) {
    let (width, outputs) = (center.len(), table.outputs);
    if width == 0 || out.is_empty() {
        return;
    }
    assert_eq!(out.len() * width, block.len() * outputs, "one result per row and column");
    assert_eq!(table.cells.len(), width * outputs.next_multiple_of(4), "one row per column");
    if width >= MIN_ZERO_SKIPPING_COLUMNS && center.iter().all(|m| *m == 0.0) {
        for (i, out) in out.chunks_exact_mut(outputs).enumerate() {
            add_sparse_row(&block[i * width..], width, table, out);
        }
        return;
    }
    let mut rows = block.chunks_exact(ROWS_PER_TILE * width);
    let mut answers = out.chunks_exact_mut(ROWS_PER_TILE * outputs);
    for (rows, out) in rows.by_ref().zip(answers.by_ref()) {
        add_tile::<ROWS_PER_TILE>(rows, center, table, out);
    }
    let rest = rows.remainder().chunks_exact(width);
    for (row, out) in rest.zip(answers.into_remainder().chunks_exact_mut(outputs)) {
        add_tile::<1>(row, center, table, out);
    }
}

#[inline(always)]
fn add_tile<const R: usize>(rows: &[f64], center: &[f64], table: &ColumnStrips, out: &mut [f64]) {
    for (k, strip) in table.cells.chunks(STRIP_COLUMNS * center.len()).enumerate() {
        let columns = k * STRIP_COLUMNS..table.outputs.min((k + 1) * STRIP_COLUMNS);
        match columns.len() {
            9.. => add_strip::<R, 12>(rows, center, strip, columns, table.outputs, out),
            5.. => add_strip::<R, 8>(rows, center, strip, columns, table.outputs, out),
            _ => add_strip::<R, 4>(rows, center, strip, columns, table.outputs, out),
        }
    }
}

#[inline(always)]
fn add_strip<const R: usize, const N: usize>(
    rows: &[f64],
    center: &[f64],
    strip: &[f64],
    columns: Range<usize>,
    outputs: usize,
    out: &mut [f64],
) {
    let mut sums = [[0.0; N]; R];
    for (sums, out) in sums.iter_mut().zip(out.chunks_exact(outputs)) {
        let out = &out[columns.clone()];
        // A full strip is copied by a few instructions; a variable length needs a call.
        match out.first_chunk() {
            Some(whole) => *sums = *whole,
            None => sums.iter_mut().zip(out).for_each(|(sum, out)| *sum = *out),
        }
    }
    sum_products(rows, center, strip, N, 0, &mut sums);
    for (sums, out) in sums.iter().zip(out.chunks_exact_mut(outputs)) {
        let out = &mut out[columns.clone()];
        match out.first_chunk_mut() {
            Some(whole) => *whole = *sums,
            None => out.iter_mut().zip(sums).for_each(|(out, sum)| *out = *sum),
        }
    }
}

/// `sums += (rows − center) · table[.., first..first + N]`, over as many columns of the `R` rows as the center has.
#[inline(always)]
fn sum_products<const R: usize, const N: usize>(
    rows: &[f64],
    center: &[f64],
    table: &[f64],
    outputs: usize,
    first: usize,
    sums: &mut [[f64; N]; R],
) {
    let width = rows.len() / R;
    let rows: [&[f64]; R] = std::array::from_fn(|r| &rows[r * width..r * width + center.len()]);
    for (j, (m, weights)) in center.iter().zip(table.chunks_exact(outputs)).enumerate() {
        let weights = &weights[first..first + N];
        for r in 0..R {
            let deviation = rows[r][j] - m;
            for k in 0..N {
                sums[r][k] += deviation * weights[k];
            }
        }
    }
}

/// `out += row · table` for the first row of a block, without blocks of four zeros. The nonzero blocks are located
/// first, so that the sums stay in registers.
#[inline(always)]
fn add_sparse_row(block: &[f64], width: usize, table: &ColumnStrips, out: &mut [f64]) {
    let mut blocks = [0; MAX_BLOCKS];
    for first in (0..width).step_by(MAX_CELLS) {
        let (cells, behind) = block[first..].split_at(MAX_CELLS.min(width - first));
        let n = nonzero_block_indices(cells, &mut blocks);
        let blocks = &blocks[..n];
        let strips = table.cells.chunks(STRIP_COLUMNS * width).zip(out.chunks_mut(STRIP_COLUMNS));
        for (strip, out) in strips {
            match out.len() {
                9.. => add_sparse_strip::<12>(cells, behind, blocks, &strip[first * 12..], out),
                5.. => add_sparse_strip::<8>(cells, behind, blocks, &strip[first * 8..], out),
                _ => add_sparse_strip::<4>(cells, behind, blocks, &strip[first * 4..], out),
            }
        }
    }
}

/// Even and odd blocks are summed separately, so that additions are independent. The following cells are prefetched
/// meanwhile, a few with every block: all at once would delay the sums.
#[inline(always)]
fn add_sparse_strip<const N: usize>(
    cells: &[f64],
    behind: &[f64],
    blocks: &[u16],
    strip: &[f64],
    out: &mut [f64],
) {
    let (fours, rest) = cells.as_chunks::<4>();
    let (weights, _) = strip.as_chunks::<N>();
    let (by_fours, _) = weights.as_chunks::<4>();
    let [mut even, mut odd] = [[0.0; N]; 2];
    for (n, at) in blocks.iter().enumerate() {
        // Sixteen cells per block: two cache lines.
        prefetch_line(behind, n << 4);
        prefetch_line(behind, n << 4 | 8);
        let ([a, b, c, d], weights) = (fours[*at as usize], &by_fours[*at as usize]);
        for k in 0..N {
            even[k] += a * weights[0][k];
            odd[k] += b * weights[1][k];
        }
        for k in 0..N {
            even[k] += c * weights[2][k];
            odd[k] += d * weights[3][k];
        }
    }
    for (x, weights) in rest.iter().zip(&weights[cells.len() - rest.len()..]) {
        for k in 0..N {
            even[k] += x * weights[k];
        }
    }
    for (out, (even, odd)) in out.iter_mut().zip(even.iter().zip(&odd)) {
        *out += even + odd;
    }
}

/// `out[i] += ‖(block[i] − center) · table‖²`, without storing the products.
///
/// # Panics
/// If the lengths do not match.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_centered_squared_norms(block: &[f64], center: &[f64], table: &[f64], out: &mut [f64]) {
    let width = center.len();
    if width == 0 || out.is_empty() || table.is_empty() {
        return;
    }
    assert_eq!(block.len(), width * out.len(), "one result per row");
    let outputs = table.len() / width;
    let mut first = 0;
    while first < outputs {
        first += match outputs - first {
            8.. => add_squares_along::<8>(block, center, table, first, out),
            4.. => add_squares_along::<4>(block, center, table, first, out),
            2.. => add_squares_along::<2>(block, center, table, first, out),
            _ => add_squares_along::<1>(block, center, table, first, out),
        };
    }
}

/// Adds the squares along `N` columns of the table and returns `N`. The last rows of the first columns of a triangle
/// are zero and are not read.
#[inline(always)]
fn add_squares_along<const N: usize>(
    block: &[f64],
    center: &[f64],
    table: &[f64],
    first: usize,
    out: &mut [f64],
) -> usize {
    let (width, outputs) = (center.len(), table.len() / center.len());
    let line = |j: usize| &table[j * outputs + first..j * outputs + first + N];
    let read = (0..width).rposition(|j| line(j).iter().any(|v| *v != 0.0)).map_or(0, |j| j + 1);
    let (center, table) = (&center[..read], &table[..read * outputs]);
    let mut rows = block.chunks_exact(ROWS_PER_NORM_TILE * width);
    let mut answers = out.chunks_exact_mut(ROWS_PER_NORM_TILE);
    for (rows, out) in rows.by_ref().zip(answers.by_ref()) {
        add_squares::<ROWS_PER_NORM_TILE, N>(rows, center, table, outputs, first, out);
    }
    for (row, out) in rows.remainder().chunks_exact(width).zip(answers.into_remainder()) {
        add_squares::<1, N>(row, center, table, outputs, first, std::slice::from_mut(out));
    }
    N
}

#[inline(always)]
fn add_squares<const R: usize, const N: usize>(
    rows: &[f64],
    center: &[f64],
    table: &[f64],
    outputs: usize,
    first: usize,
    out: &mut [f64],
) {
    let mut sums = [[0.0; N]; R];
    sum_products(rows, center, table, outputs, first, &mut sums);
    for (sums, out) in sums.iter().zip(out) {
        *out += sums.iter().map(|s| s * s).sum::<f64>();
    }
}

/// `sums += weight · row`; records in `changes` the columns in which the row differs in its bits from `first`.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_and_mark_changes(
    row: &[f64],
    weight: f64,
    first: &[f64],
    sums: &mut [f64],
    changes: &mut [u64],
) {
    let cells = row.iter().zip(first).zip(sums.iter_mut().zip(changes));
    for ((x, f), (sum, change)) in cells {
        *sum += weight * x;
        *change |= x.to_bits() ^ f.to_bits();
    }
}

/// `out = (x − center) · scale`, cell by cell.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn write_centered(x: &[f64], center: &[f64], scale: f64, out: &mut [f64]) {
    for (out, (x, m)) in out.iter_mut().zip(x.iter().zip(center)) {
        *out = (x - m) * scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_and_squares_equal_the_scalar_loops_to_the_bit(
            cells in prop::collection::vec(-1e3..1e3, 7 * 9),
            center in prop::collection::vec(-1e3..1e3, 9),
            numbers in prop::collection::vec(-1e3..1e3, 9 * 31),
        ) {
            for outputs in [1, 2, 3, 7, 12, 26, 31] {
                let table = &numbers[..9 * outputs];
                let mut products = numbers[..7 * outputs].to_vec();
                let mut squares = vec![0.5; 7];
                let strips = ColumnStrips::new(9, outputs, |j, k| table[j * outputs + k]);
                add_centered_times(&cells, &center, &strips, &mut products);
                add_centered_squared_norms(&cells, &center, table, &mut squares);

                for i in 0..7 {
                    let sum = |start: f64, k: usize| (0..9).fold(start, |sum, j| {
                        sum + (cells[i * 9 + j] - center[j]) * table[j * outputs + k]
                    });
                    for k in 0..outputs {
                        prop_assert_eq!(products[i * outputs + k], sum(numbers[i * outputs + k], k));
                    }
                    let expected: f64 = 0.5 + (0..outputs).map(|k| sum(0.0, k).powi(2)).sum::<f64>();
                    prop_assert!((squares[i] - expected).abs() <= 1e-12 * expected);
                }
            }
        }
    }

    #[test]
    fn skipped_zeros_do_not_change_the_result() {
        for width in [3, MIN_ZERO_SKIPPING_COLUMNS, MIN_ZERO_SKIPPING_COLUMNS + 23, MAX_CELLS + 9] {
            let cell = |i: usize| if i % 11 < 7 { 0.0 } else { (i as f64).sin() };
            let cells: Vec<f64> = (0..5 * width).map(cell).collect();
            for outputs in [1, 5, 10, 26] {
                let weight = |j: usize, k: usize| ((j * outputs + k) as f64).cos();
                let mut found = vec![0.25; 5 * outputs];
                let strips = ColumnStrips::new(width, outputs, weight);
                add_centered_times(&cells, &vec![0.0; width], &strips, &mut found);

                for (row, found) in cells.chunks(width).zip(found.chunks(outputs)) {
                    for (k, found) in found.iter().enumerate() {
                        let cells = row.iter().enumerate();
                        let plain = cells.fold(0.25, |sum, (j, x)| sum + x * weight(j, k));
                        assert!((found - plain).abs() < 1e-12, "{found} for {plain}");
                    }
                }
                let mut alone = vec![0.25; outputs];
                add_centered_times(
                    &cells[width..2 * width],
                    &vec![0.0; width],
                    &strips,
                    &mut alone,
                );
                assert_eq!(alone, found[outputs..2 * outputs]);
            }
        }
    }

    #[test]
    fn squared_norms_do_not_depend_on_the_block_size() {
        let cells: Vec<f64> = (0..5 * 3).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let table: Vec<f64> = (0..3 * 11).map(|i| (f64::from(i) * 1.3).cos()).collect();
        let mut together = [0.0; 5];
        add_centered_squared_norms(&cells, &[0.1, 0.2, 0.3], &table, &mut together);

        for (row, expected) in cells.chunks(3).zip(together) {
            let mut alone = [0.0];
            add_centered_squared_norms(row, &[0.1, 0.2, 0.3], &table, &mut alone);
            assert_eq!(alone, [expected]);
        }
    }

    #[test]
    fn squared_norms_for_a_triangle_equal_those_of_the_full_matrix() {
        let (n, width) = (6, 19);
        let cells: Vec<f64> = (0..n * width).map(|i| (i as f64 * 0.7).sin()).collect();
        let center: Vec<f64> = (0..width).map(|i| (i as f64 * 0.3).cos()).collect();
        let cell = |j: usize, k: usize| if j <= k { ((3 * j + k) as f64).cos() } else { 0.0 };
        let table: Vec<f64> = (0..width * width).map(|i| cell(i / width, i % width)).collect();
        let mut found = vec![0.0; n];

        add_centered_squared_norms(&cells, &center, &table, &mut found);

        for (row, found) in cells.chunks(width).zip(found) {
            let along = |k: usize| (0..=k).map(|j| (row[j] - center[j]) * cell(j, k)).sum::<f64>();
            let plain: f64 = (0..width).map(|k| along(k).powi(2)).sum();
            assert!((found - plain).abs() < 1e-12 * plain, "{found} for {plain}");
        }
    }

    #[test]
    fn varying_columns_are_recorded() {
        let (mut sums, mut changes) = ([1.0, 0.0, 0.0], [0; 3]);

        add_and_mark_changes(&[2.0, 5.0, 0.0], 0.5, &[2.0, 4.0, 0.0], &mut sums, &mut changes);
        let mut out = [0.0; 3];
        write_centered(&[2.0, 5.0, 0.0], &sums, 2.0, &mut out);

        assert_eq!(sums, [2.0, 2.5, 0.0]);
        assert_eq!(changes.map(|c| c != 0), [false, true, false]);
        assert_eq!(out, [0.0, 5.0, 0.0]);
    }
}
