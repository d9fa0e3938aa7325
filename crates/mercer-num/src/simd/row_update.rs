//! Products and rank-one updates of a weight table by one row at a time; the table has one line per column of the row.

use super::dot_rows;
use multiversion::multiversion;

/// `out[k] = Σⱼ row[j] · table[j, k]`.
pub fn row_times_table(row: &[f64], table: &[f64], out: &mut [f64]) {
    if let [_] = out {
        dot_rows(row, table, out);
    } else {
        out.fill(0.0);
        add_dots(row, table, out);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
fn add_dots(row: &[f64], table: &[f64], out: &mut [f64]) {
    for (x, weights) in row.iter().zip(table.chunks_exact(out.len().max(1))) {
        out.iter_mut().zip(weights).for_each(|(out, w)| *out += x * w);
    }
}

/// `table[j, k] += row[j] · shares[k]`.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_outer(row: &[f64], shares: &[f64], table: &mut [f64]) {
    if let [share] = shares {
        table.iter_mut().zip(row).for_each(|(w, x)| *w += share * x);
        return;
    }
    for (x, weights) in row.iter().zip(table.chunks_exact_mut(shares.len().max(1))) {
        weights.iter_mut().zip(shares).for_each(|(w, share)| *w += x * share);
    }
}

/// `table[columns[c], k] += values[c] · shares[k]`; a column may come more than once.
///
/// # Panics
/// If a column is outside of the table.
pub fn add_sparse_outer(columns: &[i32], values: &[f64], shares: &[f64], table: &mut [f64]) {
    let width = shares.len();
    for (j, x) in columns.iter().zip(values) {
        let first = *j as usize * width;
        let weights = &mut table[first..first + width];
        weights.iter_mut().zip(shares).for_each(|(w, share)| *w += x * share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_meets_every_column_of_the_table() {
        let row = [1.0, 2.0, -3.0];
        let table = [1.0, 10.0, 2.0, 20.0, 3.0, 30.0];
        let (mut one, mut two) = ([9.0], [9.0; 2]);

        row_times_table(&row, &[1.0, 2.0, 3.0], &mut one);
        row_times_table(&row, &table, &mut two);

        assert_eq!((one, two), ([-4.0], [-4.0, -40.0]));
    }

    #[test]
    fn sparse_rows_add_what_their_dense_selves_add() {
        for shares in [vec![0.5], vec![0.5, -2.0, 4.0]] {
            let mut dense = vec![1.0; 4 * shares.len()];
            let mut sparse = dense.clone();

            add_outer(&[0.0, 3.0, 0.0, 5.0], &shares, &mut dense);
            add_sparse_outer(&[3, 1, 3], &[7.0, 3.0, -2.0], &shares, &mut sparse);

            assert_eq!(sparse, dense);
        }
    }
}
