//! Counts of common ones of binary rows, in bytes, for many pairs of rows at a time.
//!
//! Integer arithmetic is exact, so every instruction set gives the same result.

use multiversion::multiversion;

/// Rows that are interleaved in a table.
pub const INTERLEAVED_ROWS: usize = 64;

/// For each row, adds the lines of a table at the columns of its ones to its counts. `offsets` has the start of the
/// ones of each row and the end of the last. Counts wrap around at 256.
///
/// # Panics
/// If the numbers of counts and rows differ, or a column is outside of the table.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512bw", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn count_common_ones(
    offsets: &[usize],
    columns: &[i32],
    table: &[[u8; INTERLEAVED_ROWS]],
    counts: &mut [[u8; INTERLEAVED_ROWS]],
) {
    assert_eq!(offsets.len(), counts.len() + 1, "one row of counts per row");
    for (ends, counts) in offsets.windows(2).zip(counts) {
        let mut sums = *counts;
        for j in &columns[ends[0]..ends[1]] {
            let line = &table[*j as usize];
            for k in 0..INTERLEAVED_ROWS {
                sums[k] = sums[k].wrapping_add(line[k]);
            }
        }
        *counts = sums;
    }
}

/// Values that are gathered before they are written.
const VALUES_PER_GATHER: usize = 64;

/// The values that belong to the counts of all rows with one of the interleaved rows.
///
/// They are gathered first and written contiguously: scattered single writes would fill the processor's store buffer
/// with partly written cache lines.
pub fn values_of_counts<T: Copy + Default>(
    counts: &[[u8; INTERLEAVED_ROWS]],
    side: usize,
    values: &[T; 256],
    out: &mut [T],
) {
    let mut gathered = [T::default(); VALUES_PER_GATHER];
    for (out, counts) in out.chunks_mut(VALUES_PER_GATHER).zip(counts.chunks(VALUES_PER_GATHER)) {
        for (value, counts) in gathered.iter_mut().zip(counts) {
            *value = values[usize::from(counts[side])];
        }
        out.copy_from_slice(&gathered[..out.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_ones_are_counted_for_every_pair() {
        // Row i has the multiples of i + 1, the others those of k + 2.
        let (n, width) = (5, 60);
        let mut table = vec![[0; INTERLEAVED_ROWS]; width];
        for (j, line) in table.iter_mut().enumerate() {
            (0..INTERLEAVED_ROWS).for_each(|k| line[k] = u8::from(j % (k + 2) == 0));
        }
        let (mut offsets, mut columns) = (vec![1], vec![7]);
        for i in 0..n {
            columns.extend((0..width as i32).filter(|j| j % (i + 1) == 0));
            offsets.push(columns.len());
        }
        let mut counts = [[3; INTERLEAVED_ROWS]; 5];

        count_common_ones(&offsets, &columns, &table, &mut counts);

        let values: [f32; 256] = std::array::from_fn(|k| 0.5 * k as f32);
        for k in 0..INTERLEAVED_ROWS {
            let mut found = [0.0; 5];
            values_of_counts(&counts, k, &values, &mut found);
            for (i, found) in found.into_iter().enumerate() {
                let shared = (0..width).filter(|j| j % (i + 1) == 0 && j % (k + 2) == 0).count();
                assert_eq!(found, 0.5 * (shared + 3) as f32);
            }
        }
    }
}
