//! Sums of products of two, three and four centered columns by group, as the shrinkage estimator of Ledoit & Wolf
//! (2004) needs them in addition to the covariance.
//!
//! Around a mean shifted by `u`, a product of powers is a polynomial in `u` whose coefficients are sums of lower order,
//! so these sums are merged exactly.

use super::Grouped;
use super::centered::Centered;
use super::class_scatter::ClassScatter;
use super::packed_symmetric;
use crate::error::{Error, Result};
use mercer_num::linalg::{add_gram, add_transposed_product};
use mercer_num::parallel::Layout;
use mercer_num::{Matrix, Rows};
use serde::{Deserialize, Serialize};

/// The scatter of every group, and sums of third and fourth order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FourthMoments {
    /// Weights, means and scatter matrices.
    pub scatters: ClassScatter,
    /// `Σ w cⱼ² cₖ` with `c = x − mean`: one row per group, row-major in `(j, k)`.
    pub thirds: Matrix,
    /// `Σ w cⱼ² cₖ²`: one row per group, the packed lower triangle.
    pub fourths: Matrix,
}

impl FourthMoments {
    /// Summarizes rows; `group_of_row[i]` is the group of row `i`.
    ///
    /// # Errors
    /// If a cell is missing or infinite.
    pub fn of_rows(
        rows: &Rows<'_>,
        group_of_row: &[u32],
        weights: &[f64],
        group_weights: &[f64],
    ) -> Result<FourthMoments> {
        let width = rows.n_columns();
        let centered = Centered::new(rows, group_of_row, weights, group_weights)?;
        let mut out = FourthMoments::empty(group_weights.len(), width);
        for g in 0..group_weights.len() {
            let indices = (0..group_of_row.len()).filter(|i| group_of_row[*i] as usize == g);
            let mut square = vec![0.0; width * width];
            let mut fourth = vec![0.0; width * width];
            let third = slice(&mut out.thirds, g);
            centered.each_panel(indices, |panel, roots| {
                let mut squares = panel.to_vec();
                for (row, root) in squares.chunks_exact_mut(width).zip(roots) {
                    row.iter_mut().for_each(|c| *c = *c * *c / root);
                }
                add_gram(panel, width, &mut square);
                add_transposed_product(&squares, width, panel, width, third);
                add_gram(&squares, width, &mut fourth);
            });
            packed_symmetric::pack(&square, width, slice(&mut out.scatters.scatters, g));
            packed_symmetric::pack(&fourth, width, slice(&mut out.fourths, g));
        }
        out.scatters.weights = group_weights.to_vec();
        out.scatters.means = centered.means;
        Ok(out)
    }

    /// The sums of a group around its mean minus `u`.
    fn shifted(&self, group: usize, u: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let width = u.len();
        let w = self.scatters.weights[group];
        let s = packed_symmetric::square(self.scatters.scatter(group), width, 1.0);
        let t = self.thirds.row(group);
        let mut second = self.scatters.scatter(group).to_vec();
        packed_symmetric::add_outer(&mut second, w, u);
        let mut third = t.to_vec();
        let mut fourth = self.fourths.row(group).to_vec();
        for j in 0..width {
            for k in 0..width {
                third[j * width + k] +=
                    u[k] * s[[j, j]] + 2.0 * u[j] * s[[j, k]] + w * u[j] * u[j] * u[k];
            }
            for (k, q) in fourth[packed_symmetric::row(j)].iter_mut().enumerate() {
                *q += 2.0 * (u[k] * t[j * width + k] + u[j] * t[k * width + j])
                    + u[k] * u[k] * s[[j, j]]
                    + u[j] * u[j] * s[[k, k]]
                    + 4.0 * u[j] * u[k] * s[[j, k]]
                    + w * u[j] * u[j] * u[k] * u[k];
            }
        }
        (second, third, fourth)
    }

    fn set(&mut self, group: usize, sums: (Vec<f64>, Vec<f64>, Vec<f64>)) {
        slice(&mut self.scatters.scatters, group).copy_from_slice(&sums.0);
        slice(&mut self.thirds, group).copy_from_slice(&sums.1);
        slice(&mut self.fourths, group).copy_from_slice(&sums.2);
    }
}

/// A row of a row-major matrix.
fn slice(m: &mut Matrix, row: usize) -> &mut [f64] {
    let width = m.ncols();
    let cells = m.as_slice_mut().expect("summaries are row-major");
    &mut cells[row * width..(row + 1) * width]
}

fn subtract(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

impl Grouped for FourthMoments {
    fn empty(n_groups: usize, n_columns: usize) -> Self {
        FourthMoments {
            scatters: ClassScatter::empty(n_groups, n_columns),
            thirds: Matrix::zeros((n_groups, n_columns * n_columns)),
            fourths: Matrix::zeros((n_groups, packed_symmetric::size(n_columns))),
        }
    }

    fn shape(&self) -> (usize, usize) {
        self.scatters.shape()
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        let (wa, wb) = (self.scatters.weights[mine], other.scatters.weights[theirs]);
        if wb == 0.0 {
            return;
        }
        let a = self.scatters.means.row(mine).to_vec();
        let b = other.scatters.means.row(theirs).to_vec();
        let mean: Vec<f64> =
            a.iter().zip(&b).map(|(a, b)| a + (b - a) * (wb / (wa + wb))).collect();
        let mut sums = self.shifted(mine, &subtract(&a, &mean));
        let theirs = other.shifted(theirs, &subtract(&b, &mean));
        for (s, t) in [(&mut sums.0, &theirs.0), (&mut sums.1, &theirs.1), (&mut sums.2, &theirs.2)]
        {
            s.iter_mut().zip(t).for_each(|(s, t)| *s += t);
        }
        self.scatters.weights[mine] = wa + wb;
        self.scatters.means.row_mut(mine).assign(&ndarray::ArrayView1::from(&mean));
        self.set(mine, sums);
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        let mean = self.scatters.means.row(mine).to_vec();
        let removed =
            other.shifted(theirs, &subtract(&other.scatters.means.row(theirs).to_vec(), &mean));
        // Around the old mean, the sums of the removed rows are subtracted.
        let third = subtract(&self.thirds.row(mine).to_vec(), &removed.1);
        let fourth = subtract(&self.fourths.row(mine).to_vec(), &removed.2);
        let second = subtract(self.scatters.scatter(mine), &removed.0);
        let left = &mut self.scatters;
        left.forget_group(mine, &other.scatters, theirs)?;
        let around = subtract(&mean, &left.means.row(mine).to_vec());
        let settled = left.scatter(mine).to_vec();
        if left.weights[mine] == 0.0 {
            slice(&mut self.thirds, mine).fill(0.0);
            slice(&mut self.fourths, mine).fill(0.0);
            return Ok(());
        }
        // Around the old mean the first moment of the remaining rows is not zero, so the shift to the new mean has
        // additional terms.
        let width = around.len();
        let w = left.weights[mine];
        let s = packed_symmetric::square(&second, width, 1.0);
        let u = &around;
        let mut moved = (settled, third.clone(), fourth);
        for j in 0..width {
            for k in 0..width {
                moved.1[j * width + k] +=
                    u[k] * s[[j, j]] + 2.0 * u[j] * s[[j, k]] - 2.0 * w * u[j] * u[j] * u[k];
            }
            for (k, q) in moved.2[packed_symmetric::row(j)].iter_mut().enumerate() {
                *q += 2.0 * (u[k] * third[j * width + k] + u[j] * third[k * width + j])
                    + u[k] * u[k] * s[[j, j]]
                    + u[j] * u[j] * s[[k, k]]
                    + 4.0 * u[j] * u[k] * s[[j, k]]
                    - 3.0 * w * u[j] * u[j] * u[k] * u[k];
                if j == k {
                    *q = q.max(0.0);
                }
            }
        }
        self.set(mine, moved);
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let (n_groups, width) = self.shape();
        let fits = self.thirds.dim() == (n_groups, width * width)
            && self.fourths.dim() == (n_groups, packed_symmetric::size(width))
            && self.thirds.is_standard_layout()
            && self.fourths.is_standard_layout()
            && self.thirds.iter().chain(&self.fourths).all(|v| v.is_finite());
        if !fits {
            return Err(Error::File("inconsistent third or fourth moments".into()));
        }
        self.scatters.check()
    }

    fn chunk_rows(n_columns: usize, layout: Layout) -> usize {
        ClassScatter::chunk_rows(n_columns, layout)
    }

    fn bytes(n_classes: usize, n_columns: usize) -> u64 {
        ClassScatter::bytes(n_classes, n_columns).saturating_mul(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    fn near(a: &Matrix, b: &Matrix) {
        assert_eq!(a.dim(), b.dim());
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} and {b}");
        }
    }

    #[test]
    fn parts_merge_to_the_whole_and_can_be_removed() {
        let mut random = Random::new(5);
        let x =
            Matrix::from_shape_fn((40, 3), |(i, j)| random.normal() * (j + 1) as f64 + i as f64);
        let weights: Vec<f64> = (0..40).map(|i| 0.5 + (i % 3) as f64).collect();
        let of = |range: std::ops::Range<usize>| {
            let weights = &weights[range.clone()];
            let total = [weights.iter().sum::<f64>()];
            let rows = Rows::from(&x).slice(range.clone());
            FourthMoments::of_rows(&rows, &vec![0; range.len()], weights, &total).unwrap()
        };
        let (whole, a, b) = (of(0..40), of(0..15), of(15..40));

        let mut merged = a.clone();
        merged.merge_group(0, &b, 0);
        let mut left = merged.clone();
        left.forget_group(0, &b, 0).unwrap();

        for (found, expected) in [(&merged, &whole), (&left, &a)] {
            near(&found.scatters.scatters, &expected.scatters.scatters);
            near(&found.thirds, &expected.thirds);
            near(&found.fourths, &expected.fourths);
        }
    }
}
