//! Products and rank-one updates of a weight table by one row at a time; the table has one row per column of the data.

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

/// `table[j, k] += row[j] · coefficients[k]`.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
pub fn add_outer(row: &[f64], coefficients: &[f64], table: &mut [f64]) {
    if let [coefficient] = coefficients {
        table.iter_mut().zip(row).for_each(|(w, x)| *w += coefficient * x);
        return;
    }
    for (x, weights) in row.iter().zip(table.chunks_exact_mut(coefficients.len().max(1))) {
        weights.iter_mut().zip(coefficients).for_each(|(w, coefficient)| *w += x * coefficient);
    }
}

/// `table[columns[c], k] += values[c] · coefficients[k]`; a column may occur more than once.
///
/// # Panics
/// If a column is outside of the table.
pub fn add_sparse_outer(columns: &[i32], values: &[f64], coefficients: &[f64], table: &mut [f64]) {
    let width = coefficients.len();
    for (j, x) in columns.iter().zip(values) {
        let first = *j as usize * width;
        let weights = &mut table[first..first + width];
        weights.iter_mut().zip(coefficients).for_each(|(w, coefficient)| *w += x * coefficient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_with_the_table_match_the_definition() {
        let row = [1.0, 2.0, -3.0];
        let table = [1.0, 10.0, 2.0, 20.0, 3.0, 30.0];
        let (mut one, mut two) = ([9.0], [9.0; 2]);

        row_times_table(&row, &[1.0, 2.0, 3.0], &mut one);
        row_times_table(&row, &table, &mut two);

        assert_eq!((one, two), ([-4.0], [-4.0, -40.0]));
    }

    #[test]
    fn sparse_updates_equal_dense_ones() {
        for coefficients in [vec![0.5], vec![0.5, -2.0, 4.0]] {
            let mut dense = vec![1.0; 4 * coefficients.len()];
            let mut sparse = dense.clone();

            add_outer(&[0.0, 3.0, 0.0, 5.0], &coefficients, &mut dense);
            add_sparse_outer(&[3, 1, 3], &[7.0, 3.0, -2.0], &coefficients, &mut sparse);

            assert_eq!(sparse, dense);
        }
    }
}
