//! The scatter of groups of rows that are mostly zeros, seen from zero.
//!
//! `Σ w (x − m)(x − m)ᵀ = Σ w x xᵀ − Σ W m mᵀ`, the last sum over the groups, and the products of what is not zero
//! are few. The difference loses digits where columns stand far from zero for their spread, so it is taken only where
//! it loses little more than one.

use super::blocked_scatter::Cells;
use super::packed_symmetric;
use mercer_num::simd::nonzero::BLOCK_CELLS;
use mercer_num::simd::sparse_gram::BlockSparseRows;
use mercer_num::{Matrix, Rows};

/// Narrower rows are faster as they are.
const NARROWEST: usize = 64;
/// Rows that a group has on average at least: its mean costs as much as some of them.
const FEWEST: usize = 16;
/// Rows after which it is known whether they are mostly zeros: at most one place in so many is not.
const LOOK: usize = 256;
const SHARE: usize = 3;
/// How many times its scatter the squares of a column may be.
const NEAR: f64 = 16.0;

/// The means, one row a group, and the lower triangle of the scatter; `None` where others know better.
pub(super) fn scatter_from_zero(
    rows: &Rows<'_>,
    slots: &[u32],
    weights: &[f64],
    group_weights: &[f64],
) -> Option<(Matrix, Vec<f64>)> {
    let (n, width, n_groups) = (rows.n_rows(), rows.n_columns(), group_weights.len());
    if width < NARROWEST || n_groups * FEWEST > n {
        return None;
    }
    let cells = Cells::of(rows);
    let n_blocks = width.div_ceil(BLOCK_CELLS);
    let mut sums = vec![[0.0; BLOCK_CELLS]; n_groups * n_blocks];
    let mut squares = vec![[0.0; BLOCK_CELLS]; n_blocks];
    let mut thin = BlockSparseRows::default();
    for (i, slot) in slots.iter().enumerate() {
        let w = weights.get(i).copied().unwrap_or(1.0);
        let (places, found) = thin.push(&cells.row(width, i), w);
        let sums = &mut sums[*slot as usize * n_blocks..][..n_blocks];
        for (at, four) in places.iter().zip(found) {
            let (sums, squares) = (&mut sums[*at as usize], &mut squares[*at as usize]);
            for k in 0..BLOCK_CELLS {
                let weighted = w * four[k];
                sums[k] += weighted;
                squares[k] += weighted * four[k];
            }
        }
        let seen = i + 1;
        if (seen == n || seen.is_multiple_of(LOOK)) && thin.n_blocks() * SHARE > seen * n_blocks {
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
        // Without weight the mean is zero, unless a cell was not a number.
        let by = if *weight > 0.0 { *weight } else { 1.0 };
        mean.iter_mut().zip(sums).for_each(|(m, sum)| *m = sum / by);
        left.iter_mut().zip(&mean).for_each(|(left, m)| *left -= weight * m * m);
        centers.push((-weight, mean.to_vec()));
    }
    // A cell that is not a number is near to nothing.
    let near = |(left, square): (&f64, &f64)| *square <= NEAR * left;
    if !left.iter().zip(squares.as_flattened()).all(near) {
        return None;
    }
    let mut scatter = thin.gram(width);
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

    /// Rows of three groups of which one cell in ten is not zero.
    fn rows(n: usize) -> (Matrix, Vec<u32>, Vec<f64>) {
        let mut random = Random::new(8);
        let slots: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
        let x = Matrix::from_shape_fn((n, WIDTH), |(i, j)| match random.uniform() < 0.1 {
            true => random.normal() + f64::from(slots[i]) + (j % 5) as f64,
            false => 0.0,
        });
        (x, slots, (0..n).map(|i| (i % 4) as f64).collect())
    }

    fn totals(slots: &[u32], weights: &[f64]) -> Vec<f64> {
        let mut totals = vec![0.0; 3];
        slots.iter().zip(weights).for_each(|(slot, w)| totals[*slot as usize] += w);
        totals
    }

    /// The scatter by its formula.
    fn expected(x: &Matrix, slots: &[u32], weights: &[f64], means: &Matrix) -> Matrix {
        let mut scatter = Matrix::zeros((WIDTH, WIDTH));
        for ((row, slot), w) in x.outer_iter().zip(slots).zip(weights) {
            let apart = &row - &means.row(*slot as usize);
            for i in 0..WIDTH {
                scatter.row_mut(i).scaled_add(w * apart[i], &apart);
            }
        }
        scatter
    }

    #[test]
    fn seen_from_zero_the_scatter_is_the_same() {
        let (x, slots, weights) = rows(700);
        let totals = totals(&slots, &weights);

        let (means, scatter) =
            scatter_from_zero(&Rows::from(&x), &slots, &weights, &totals).unwrap();

        for (slot, mean) in means.outer_iter().enumerate() {
            let of_slot = || (0..700).filter(|i| slots[*i] as usize == slot);
            for (j, mean) in mean.iter().enumerate() {
                let sum: f64 = of_slot().map(|i| weights[i] * x[[i, j]]).sum();
                assert!((mean - sum / totals[slot]).abs() < 1e-12);
            }
        }
        let expected = expected(&x, &slots, &weights, &means);
        let square = packed_symmetric::square(&scatter, WIDTH, 1.0);
        assert!(square.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9));
        // Sparse rows have the same bits.
        let thin = CsrMatrix::from_dense(&Rows::from(&x), 1.0).unwrap();
        let sparse =
            scatter_from_zero(&Rows::Sparse(thin.view()), &slots, &weights, &totals).unwrap();
        assert_eq!(sparse, (means, scatter));
    }

    #[test]
    fn rows_far_from_zero_full_of_numbers_or_of_many_groups_are_left_to_others() {
        let (x, slots, weights) = rows(700);
        let totals = totals(&slots, &weights);
        let left = |x: &Matrix, slots: &[u32], totals: &[f64]| {
            scatter_from_zero(&Rows::from(x), slots, &weights, totals).is_none()
        };
        let mut still = x.clone();
        still.column_mut(7).fill(0.1);
        let mut bad = x.clone();
        bad[[400, 3]] = f64::NAN;

        assert!(!left(&x, &slots, &totals));
        assert!(left(&still, &slots, &totals) && left(&bad, &slots, &totals));
        assert!(left(&(&x + 1.0), &slots, &totals));
        assert!(left(&x, &slots, &vec![1.0; 50]));
        // A column that stands still is still found to.
        let found =
            WithinClassScatter::of_rows(&Rows::from(&still), &slots, &weights, &totals).unwrap();
        assert_eq!(packed_symmetric::diagonal(&found.scatter, WIDTH)[7], 0.0);
        assert!(WithinClassScatter::of_rows(&Rows::from(&bad), &slots, &weights, &totals).is_err());
    }
}
