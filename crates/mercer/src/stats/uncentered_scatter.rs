//! The within-group scatter of sparse rows from uncentered products.
//!
//! `Σ w (x − m)(x − m)ᵀ = Σ w x xᵀ − Σ W m mᵀ`, where the last sum runs over the groups. The products of nonzero cells
//! are few. The difference cancels for columns whose mean is large compared to their standard deviation, so it is used
//! only if it loses little more than one digit.

use super::blocked_scatter::Cells;
use super::packed_symmetric;
use mercer_num::simd::nonzero::BLOCK_CELLS;
use mercer_num::simd::sparse_gram::BlockSparseRows;
use mercer_num::{Matrix, Rows};

/// With fewer columns, dense products are faster.
const MIN_COLUMNS: usize = 64;
/// Minimum average number of rows per group: the mean of a group costs as much as several rows.
const MIN_ROWS_PER_GROUP: usize = 16;
/// Rows that are sampled for their density.
const SAMPLED_ROWS: usize = 256;
const MIN_CELLS_PER_NONZERO: usize = 3;
/// Maximum ratio of the raw squares of a column to its scatter.
const MAX_RAW_TO_CENTERED: f64 = 16.0;

/// The means, one row per group, and the lower triangle of the scatter; `None` if the rows are not suitable.
pub(super) fn uncentered_scatter(
    rows: &Rows<'_>,
    group_of_row: &[u32],
    weights: &[f64],
    group_weights: &[f64],
) -> Option<(Matrix, Vec<f64>)> {
    let (n, width, n_groups) = (rows.n_rows(), rows.n_columns(), group_weights.len());
    if width < MIN_COLUMNS || n_groups * MIN_ROWS_PER_GROUP > n {
        return None;
    }
    let cells = Cells::of(rows);
    let n_blocks = width.div_ceil(BLOCK_CELLS);
    let mut sums = vec![[0.0; BLOCK_CELLS]; n_groups * n_blocks];
    let mut squares = vec![[0.0; BLOCK_CELLS]; n_blocks];
    let mut sparse = BlockSparseRows::default();
    for (i, group) in group_of_row.iter().enumerate() {
        let w = weights.get(i).copied().unwrap_or(1.0);
        let (indices, found) = sparse.push(&cells.row(width, i), w);
        let sums = &mut sums[*group as usize * n_blocks..][..n_blocks];
        for (at, four) in indices.iter().zip(found) {
            let (sums, squares) = (&mut sums[*at as usize], &mut squares[*at as usize]);
            for k in 0..BLOCK_CELLS {
                let weighted = w * four[k];
                sums[k] += weighted;
                squares[k] += weighted * four[k];
            }
        }
        let seen = i + 1;
        if (seen == n || seen.is_multiple_of(SAMPLED_ROWS))
            && sparse.n_blocks() * MIN_CELLS_PER_NONZERO > seen * n_blocks
        {
            return None;
        }
    }
    let (sums, mut left) = (sums.as_flattened(), squares.clone());
    let left = left.as_flattened_mut();
    let mut means = Matrix::zeros((n_groups, width));
    let mut centers = Vec::with_capacity(n_groups);
    for ((mut mean, sums), weight) in
        means.outer_iter_mut().zip(sums.chunks_exact(n_blocks * BLOCK_CELLS)).zip(group_weights)
    {
        // The mean of a group of weight zero is zero, unless a cell is not finite.
        let by = if *weight > 0.0 { *weight } else { 1.0 };
        mean.iter_mut().zip(sums).for_each(|(m, sum)| *m = sum / by);
        left.iter_mut().zip(&mean).for_each(|(left, m)| *left -= weight * m * m);
        centers.push((-weight, mean.to_vec()));
    }
    // The comparison is false for NaN.
    let near = |(left, square): (&f64, &f64)| *square <= MAX_RAW_TO_CENTERED * left;
    if !left.iter().zip(squares.as_flattened()).all(near) {
        return None;
    }
    let mut scatter = sparse.gram(width);
    packed_symmetric::add_outers(&mut scatter, &centers);
    Some((means, scatter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::WithinClassScatter;
    use mercer_num::random::Random;
    use mercer_num::sparse::CsrMatrix;

    const WIDTH: usize = 70;

    /// Rows of three groups with one nonzero cell in ten.
    fn rows(n: usize) -> (Matrix, Vec<u32>, Vec<f64>) {
        let mut random = Random::new(8);
        let group_of_row: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
        let x = Matrix::from_shape_fn((n, WIDTH), |(i, j)| match random.uniform() < 0.1 {
            true => random.normal() + f64::from(group_of_row[i]) + (j % 5) as f64,
            false => 0.0,
        });
        (x, group_of_row, (0..n).map(|i| (i % 4) as f64).collect())
    }

    fn totals(group_of_row: &[u32], weights: &[f64]) -> Vec<f64> {
        let mut totals = vec![0.0; 3];
        group_of_row.iter().zip(weights).for_each(|(group, w)| totals[*group as usize] += w);
        totals
    }

    /// The scatter by its definition.
    fn expected(x: &Matrix, group_of_row: &[u32], weights: &[f64], means: &Matrix) -> Matrix {
        let mut scatter = Matrix::zeros((WIDTH, WIDTH));
        for ((row, group), w) in x.outer_iter().zip(group_of_row).zip(weights) {
            let deviation = &row - &means.row(*group as usize);
            for i in 0..WIDTH {
                scatter.row_mut(i).scaled_add(w * deviation[i], &deviation);
            }
        }
        scatter
    }

    #[test]
    fn uncentered_scatter_matches_the_definition() {
        let (x, group_of_row, weights) = rows(700);
        let totals = totals(&group_of_row, &weights);

        let (means, scatter) =
            uncentered_scatter(&Rows::from(&x), &group_of_row, &weights, &totals).unwrap();

        for (group, mean) in means.outer_iter().enumerate() {
            let of_group = || (0..700).filter(|i| group_of_row[*i] as usize == group);
            for (j, mean) in mean.iter().enumerate() {
                let sum: f64 = of_group().map(|i| weights[i] * x[[i, j]]).sum();
                assert!((mean - sum / totals[group]).abs() < 1e-12);
            }
        }
        let expected = expected(&x, &group_of_row, &weights, &means);
        let square = packed_symmetric::square(&scatter, WIDTH, 1.0);
        assert!(square.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9));
        // The result for sparse rows is bit-identical.
        let sparse = CsrMatrix::from_dense(&Rows::from(&x), 1.0).unwrap();
        let sparse =
            uncentered_scatter(&Rows::Sparse(sparse.view()), &group_of_row, &weights, &totals)
                .unwrap();
        assert_eq!(sparse, (means, scatter));
    }

    #[test]
    fn rows_far_from_zero_dense_or_of_many_groups_are_not_suitable() {
        let (x, group_of_row, weights) = rows(700);
        let totals = totals(&group_of_row, &weights);
        let left = |x: &Matrix, group_of_row: &[u32], totals: &[f64]| {
            uncentered_scatter(&Rows::from(x), group_of_row, &weights, totals).is_none()
        };
        let mut still = x.clone();
        still.column_mut(7).fill(0.1);
        let mut bad = x.clone();
        bad[[400, 3]] = f64::NAN;

        assert!(!left(&x, &group_of_row, &totals));
        assert!(left(&still, &group_of_row, &totals) && left(&bad, &group_of_row, &totals));
        assert!(left(&(&x + 1.0), &group_of_row, &totals));
        assert!(left(&x, &group_of_row, &vec![1.0; 50]));
        // A constant column has a scatter of zero.
        let found =
            WithinClassScatter::of_rows(&Rows::from(&still), &group_of_row, &weights, &totals)
                .unwrap();
        assert_eq!(packed_symmetric::diagonal(&found.scatter, WIDTH)[7], 0.0);
        assert!(
            WithinClassScatter::of_rows(&Rows::from(&bad), &group_of_row, &weights, &totals)
                .is_err()
        );
    }
}
