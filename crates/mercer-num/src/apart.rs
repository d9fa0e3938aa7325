//! Rows seen from a center, multiplied by a table of a few columns: `(x − center) · table`.
//!
//! A product of matrices packs both sides and wants the differences written out first. Here rows stay where
//! they lie and are read once; sums of three rows by up to twelve columns stay in registers. Every sum runs over
//! the columns of the rows in their order, so a row has the same bits alone and in company, on every
//! instruction set.

use multiversion::multiversion;
use std::ops::Range;

/// Rows that go through a strip together. A product and its sum are two operations here, so three rows by
/// twelve columns are what fits into sixteen registers.
const ROWS: usize = 3;
/// Columns of a table whose sums stay in registers.
const STRIP: usize = 12;
/// Rows whose squares are summed together.
const SQUARED: usize = 4;

/// A table in the order in which [`add_apart_times`] reads it: strips of twelve columns, the last of them
/// filled up with zeros to whole vectors.
#[derive(Clone, Debug)]
pub struct Strips {
    outputs: usize,
    cells: Vec<f64>,
}

impl Strips {
    /// The table of so many rows and columns whose cell in row `j` and column `k` is `cell(j, k)`.
    pub fn new(width: usize, outputs: usize, cell: impl Fn(usize, usize) -> f64) -> Strips {
        let padded = outputs.next_multiple_of(4);
        let mut cells = Vec::with_capacity(width * padded);
        for first in (0..padded).step_by(STRIP) {
            for j in 0..width {
                let columns = first..padded.min(first + STRIP);
                cells.extend(columns.map(|k| if k < outputs { cell(j, k) } else { 0.0 }));
            }
        }
        Strips { outputs, cells }
    }
}

/// `out += (block − center) · table`: a row of `out` for each of the row-major `block`; the table has one row for
/// each of its columns.
///
/// # Panics
/// If the lengths do not fit.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_apart_times(block: &[f64], center: &[f64], table: &Strips, out: &mut [f64]) {
    let (width, outputs) = (center.len(), table.outputs);
    if width == 0 || out.is_empty() {
        return;
    }
    assert_eq!(out.len() * width, block.len() * outputs, "an answer for every row and column");
    assert_eq!(table.cells.len(), width * outputs.next_multiple_of(4), "a row for every column");
    let mut rows = block.chunks_exact(ROWS * width);
    let mut answers = out.chunks_exact_mut(ROWS * outputs);
    for (rows, out) in rows.by_ref().zip(answers.by_ref()) {
        add_tile::<ROWS>(rows, center, table, out);
    }
    let rest = rows.remainder().chunks_exact(width);
    for (row, out) in rest.zip(answers.into_remainder().chunks_exact_mut(outputs)) {
        add_tile::<1>(row, center, table, out);
    }
}

#[inline(always)]
fn add_tile<const R: usize>(rows: &[f64], center: &[f64], table: &Strips, out: &mut [f64]) {
    for (k, strip) in table.cells.chunks(STRIP * center.len()).enumerate() {
        let columns = k * STRIP..table.outputs.min((k + 1) * STRIP);
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
        // A whole strip is copied in a few instructions, where a length known only now takes a call.
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

/// `sums += (rows − center) · table[.., first..first + N]`.
#[inline(always)]
fn sum_products<const R: usize, const N: usize>(
    rows: &[f64],
    center: &[f64],
    table: &[f64],
    outputs: usize,
    first: usize,
    sums: &mut [[f64; N]; R],
) {
    let width = center.len();
    let rows: [&[f64]; R] = std::array::from_fn(|r| &rows[r * width..(r + 1) * width]);
    for (j, (m, weights)) in center.iter().zip(table.chunks_exact(outputs)).enumerate() {
        let weights = &weights[first..first + N];
        for r in 0..R {
            let apart = rows[r][j] - m;
            for k in 0..N {
                sums[r][k] += apart * weights[k];
            }
        }
    }
}

/// `out[i] += ‖(block[i] − center) · table‖²`, without the products being written.
///
/// # Panics
/// If the lengths do not fit.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_apart_squares(block: &[f64], center: &[f64], table: &[f64], out: &mut [f64]) {
    let width = center.len();
    if width == 0 || out.is_empty() || table.is_empty() {
        return;
    }
    assert_eq!(block.len(), width * out.len(), "an answer for every row");
    let mut rows = block.chunks_exact(SQUARED * width);
    let mut answers = out.chunks_exact_mut(SQUARED);
    for (rows, out) in rows.by_ref().zip(answers.by_ref()) {
        square_tile::<SQUARED>(rows, center, table, out);
    }
    for (row, out) in rows.remainder().chunks_exact(width).zip(answers.into_remainder()) {
        square_tile::<1>(row, center, table, std::slice::from_mut(out));
    }
}

#[inline(always)]
fn square_tile<const R: usize>(rows: &[f64], center: &[f64], table: &[f64], out: &mut [f64]) {
    let outputs = table.len() / center.len();
    let mut first = 0;
    while first < outputs {
        first += match outputs - first {
            8.. => add_squares::<R, 8>(rows, center, table, outputs, first, out),
            4.. => add_squares::<R, 4>(rows, center, table, outputs, first, out),
            2.. => add_squares::<R, 2>(rows, center, table, outputs, first, out),
            _ => add_squares::<R, 1>(rows, center, table, outputs, first, out),
        };
    }
}

#[inline(always)]
fn add_squares<const R: usize, const N: usize>(
    rows: &[f64],
    center: &[f64],
    table: &[f64],
    outputs: usize,
    first: usize,
    out: &mut [f64],
) -> usize {
    let mut sums = [[0.0; N]; R];
    sum_products(rows, center, table, outputs, first, &mut sums);
    for (sums, out) in sums.iter().zip(out) {
        *out += sums.iter().map(|s| s * s).sum::<f64>();
    }
    N
}

/// `sums += weight · row`, and marks in `changes` the columns in which the row has other bits than `first`.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_and_compare(
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
pub fn write_apart(x: &[f64], center: &[f64], scale: f64, out: &mut [f64]) {
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
        fn products_and_squares_equal_the_plain_loops_to_the_bit(
            cells in prop::collection::vec(-1e3..1e3, 7 * 9),
            center in prop::collection::vec(-1e3..1e3, 9),
            numbers in prop::collection::vec(-1e3..1e3, 9 * 31),
        ) {
            for outputs in [1, 2, 3, 7, 12, 26, 31] {
                let table = &numbers[..9 * outputs];
                let mut products = numbers[..7 * outputs].to_vec();
                let mut squares = vec![0.5; 7];
                let strips = Strips::new(9, outputs, |j, k| table[j * outputs + k]);
                add_apart_times(&cells, &center, &strips, &mut products);
                add_apart_squares(&cells, &center, table, &mut squares);

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
    fn a_row_in_company_has_the_squares_it_has_alone() {
        let cells: Vec<f64> = (0..5 * 3).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let table: Vec<f64> = (0..3 * 11).map(|i| (f64::from(i) * 1.3).cos()).collect();
        let mut together = [0.0; 5];
        add_apart_squares(&cells, &[0.1, 0.2, 0.3], &table, &mut together);

        for (row, expected) in cells.chunks(3).zip(together) {
            let mut alone = [0.0];
            add_apart_squares(row, &[0.1, 0.2, 0.3], &table, &mut alone);
            assert_eq!(alone, [expected]);
        }
    }

    #[test]
    fn columns_that_change_are_marked() {
        let (mut sums, mut changes) = ([1.0, 0.0, 0.0], [0; 3]);

        add_and_compare(&[2.0, 5.0, 0.0], 0.5, &[2.0, 4.0, 0.0], &mut sums, &mut changes);
        let mut out = [0.0; 3];
        write_apart(&[2.0, 5.0, 0.0], &sums, 2.0, &mut out);

        assert_eq!(sums, [2.0, 2.5, 0.0]);
        assert_eq!(changes.map(|c| c != 0), [false, true, false]);
        assert_eq!(out, [0.0, 5.0, 0.0]);
    }
}
