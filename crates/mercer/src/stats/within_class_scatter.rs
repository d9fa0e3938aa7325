//! Weight and mean of every group and one pooled scatter matrix, the sufficient statistics of linear discriminant
//! analysis.
//!
//! The scatter of each group around its mean adds up over the groups, so merging adds the matrices and, for every group
//! of both, `δδᵀ wₐw_b / w` (Chan, Golub & LeVeque 1979). Memory grows with the number of classes only by their means.

use super::Grouped;
use super::blocked_scatter::BlockedScatter;
use super::class_scatter::{check_variances, forget_mean, merge_mean};
use super::packed_symmetric;
use super::uncentered_scatter::uncentered_scatter;
use crate::error::{Error, Result};
use mercer_num::parallel::{Layout, chunk_rows};
use mercer_num::rows::Missing;
use mercer_num::{Matrix, Rows};
use serde::{Deserialize, Serialize};

/// Weights and means by group, and the within-group scatter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WithinClassScatter {
    /// `Σ w` of each group.
    pub weights: Vec<f64>,
    /// The weighted means, one row per group; zero for a group without weight.
    pub means: Matrix,
    /// `Σ w (x − m)(x − m)ᵀ` over all rows with the mean `m` of their group: the packed lower triangle.
    pub scatter: Vec<f64>,
}

impl WithinClassScatter {
    /// Summarizes rows; `group_of_row[i]` is the group of row `i`.
    ///
    /// # Errors
    /// If a cell is missing or infinite.
    pub fn of_rows(
        rows: &Rows<'_>,
        group_of_row: &[u32],
        weights: &[f64],
        group_weights: &[f64],
    ) -> Result<WithinClassScatter> {
        let width = rows.n_columns();
        if let Some((means, scatter)) =
            uncentered_scatter(rows, group_of_row, weights, group_weights)
        {
            return Ok(WithinClassScatter { weights: group_weights.to_vec(), means, scatter });
        }
        let mut scatter = BlockedScatter::new(rows, weights);
        let mut order: Vec<usize> = (0..rows.n_rows()).collect();
        order.sort_by_key(|i| group_of_row[*i]);
        let mut means = Matrix::zeros((group_weights.len(), width));
        for group in order.chunk_by(|a, b| group_of_row[*a] == group_of_row[*b]) {
            let mean = scatter.push_group(group);
            means.row_mut(group_of_row[group[0]] as usize).assign(&ndarray::aview1(&mean));
        }
        let square = scatter.finish();
        if means.iter().any(|m| !m.is_finite())
            && let Some((row, column)) = rows.first_invalid_cell(Missing::Refused)
        {
            return Err(Error::NotFinite { row, column, value: rows.get(row, column) });
        }
        let mut scatter = vec![0.0; packed_symmetric::size(width)];
        packed_symmetric::pack(&square, width, &mut scatter);
        Ok(WithinClassScatter { weights: group_weights.to_vec(), means, scatter })
    }
}

impl WithinClassScatter {
    /// Merges the weight and the mean of a group; returns its contribution to the scatter.
    fn merge_means(&mut self, mine: usize, other: &Self, theirs: usize) -> Option<(f64, Vec<f64>)> {
        let factor = merge_mean(
            (&mut self.weights[mine], self.means.row_mut(mine).as_slice_mut()),
            (other.weights[theirs], other.means.row(theirs).to_slice()),
        );
        factor.filter(|(factor, _)| *factor > 0.0)
    }
}

impl Grouped for WithinClassScatter {
    fn empty(n_groups: usize, n_columns: usize) -> Self {
        WithinClassScatter {
            weights: vec![0.0; n_groups],
            means: Matrix::zeros((n_groups, n_columns)),
            scatter: vec![0.0; packed_symmetric::size(n_columns)],
        }
    }

    fn shape(&self) -> (usize, usize) {
        self.means.dim()
    }

    fn merge_shared(&mut self, other: &Self) {
        self.scatter.iter_mut().zip(&other.scatter).for_each(|(s, t)| *s += t);
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        if let Some((factor, delta)) = self.merge_means(mine, other, theirs) {
            packed_symmetric::add_outer(&mut self.scatter, factor, &delta);
        }
    }

    fn merge_groups(&mut self, targets: &[usize], other: &Self) {
        let mut deviation = Vec::new();
        for (theirs, mine) in targets.iter().enumerate() {
            deviation.extend(self.merge_means(*mine, other, theirs));
        }
        packed_symmetric::add_outers(&mut self.scatter, &deviation);
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        let factor = forget_mean(
            (&mut self.weights[mine], self.means.row_mut(mine).as_slice_mut()),
            (other.weights[theirs], other.means.row(theirs).to_slice()),
        )?;
        if let Some((factor, delta)) = factor {
            packed_symmetric::add_outer(&mut self.scatter, -factor, &delta);
        }
        Ok(())
    }

    fn forget_shared(&mut self, other: &Self, before: &Self) -> Result<()> {
        self.scatter.iter_mut().zip(&other.scatter).for_each(|(s, t)| *s -= t);
        check_variances(
            &mut self.scatter,
            &packed_symmetric::diagonal(&before.scatter, self.means.ncols()),
        )
    }

    fn check(&self) -> Result<()> {
        let (n_groups, width) = self.means.dim();
        let fits = self.weights.len() == n_groups
            && (self.scatter.len() == packed_symmetric::size(width))
            && self.means.is_standard_layout()
            && self.weights.iter().all(|w| w.is_finite() && *w >= 0.0)
            && self.means.iter().chain(&self.scatter).all(|v| v.is_finite())
            && packed_symmetric::diagonal(&self.scatter, width).iter().all(|v| *v >= 0.0);
        if fits { Ok(()) } else { Err(Error::File("inconsistent within-class scatter".into())) }
    }

    /// Merging a chunk updates the matrix once per class, so a chunk has many rows.
    fn chunk_rows(n_columns: usize, layout: Layout) -> usize {
        (4 * n_columns.next_power_of_two()).min(4096).max(chunk_rows(n_columns, layout))
    }

    fn bytes(n_classes: usize, n_columns: usize) -> u64 {
        let width = n_columns as u64;
        8 * (width * (width + 1) / 2).saturating_add((width + 1) * n_classes.max(1) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    #[test]
    fn columns_that_are_constant_in_a_group_add_nothing() {
        let mut random = Random::new(2);
        let (n, width) = (700, 12);
        let group_of_row: Vec<u32> = (0..n as u32).map(|i| i % 2).collect();
        // Each group varies in half of the columns and is constant in the others.
        let x = Matrix::from_shape_fn((n, width), |(i, j)| {
            if (j < 6) == (i % 2 == 0) { random.normal() } else { 3.0 * j as f64 }
        });

        let found =
            WithinClassScatter::of_rows(&Rows::from(&x), &group_of_row, &[], &[350.0, 350.0])
                .unwrap();

        let mut expected = Matrix::zeros((width, width));
        for (row, row_group) in x.outer_iter().zip(&group_of_row) {
            let deviation = &row - &found.means.row(*row_group as usize);
            for i in 0..width {
                expected.row_mut(i).scaled_add(deviation[i], &deviation);
            }
        }
        let square = packed_symmetric::square(&found.scatter, width, 1.0);
        assert!(square.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn means_and_scatter_match_their_definitions_for_groups_of_any_size() {
        let mut random = Random::new(4);
        // One group exceeds two panels, one ends within a panel, some have a few rows; all are far from zero.
        let sizes = [1300, 200, 3, 1, 40];
        let group_of_row: Vec<u32> = (sizes.iter().enumerate())
            .flat_map(|(c, n)| std::iter::repeat_n(c as u32, *n))
            .collect();
        let (n, width) = (group_of_row.len(), 5);
        let x = Matrix::from_shape_fn((n, width), |(i, j)| {
            1e6 + f64::from(group_of_row[i]) + if j == 4 { 0.0 } else { random.normal() }
        });
        let weights: Vec<f64> = (0..n).map(|i| f64::from((i % 4) as u32)).collect();
        let mut totals = [0.0; 5];
        group_of_row
            .iter()
            .zip(&weights)
            .for_each(|(row_group, w)| totals[*row_group as usize] += w);
        let mut random_order: Vec<usize> = (0..n).collect();
        random.shuffle(&mut random_order);
        let mixed = x.select(ndarray::Axis(0), &random_order);
        let reordered = |from: &[f64]| random_order.iter().map(|i| from[*i]).collect::<Vec<_>>();
        let mixed_groups: Vec<u32> = random_order.iter().map(|i| group_of_row[*i]).collect();

        for (x, group_of_row, weights) in
            [(&x, &group_of_row, weights.clone()), (&mixed, &mixed_groups, reordered(&weights))]
        {
            let found =
                WithinClassScatter::of_rows(&Rows::from(x), group_of_row, &weights, &totals)
                    .unwrap();

            let mut means = Matrix::zeros((5, width));
            for (i, row) in x.outer_iter().enumerate() {
                let c = group_of_row[i] as usize;
                // Summed around a nearby point to avoid cancellation.
                means.row_mut(c).scaled_add(weights[i] / totals[c].max(1.0), &(&row - 1e6));
            }
            for (mut mean, total) in means.outer_iter_mut().zip(totals) {
                mean += if total > 0.0 { 1e6 } else { 0.0 };
            }
            let mut expected = Matrix::zeros((width, width));
            for (i, row) in x.outer_iter().enumerate() {
                let deviation = &row - &means.row(group_of_row[i] as usize);
                for k in 0..width {
                    expected.row_mut(k).scaled_add(weights[i] * deviation[k], &deviation);
                }
            }
            let square = packed_symmetric::square(&found.scatter, width, 1.0);
            assert!(found.means.iter().zip(&means).all(|(a, b)| (a - b).abs() < 1e-7));
            assert!(square.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4));
            assert_eq!(square[[4, 4]], 0.0);
        }
    }
}
