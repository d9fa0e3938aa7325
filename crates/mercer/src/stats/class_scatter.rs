//! Weight, mean and scatter matrix of every group, the sufficient statistics of Gaussians with a covariance per class.
//!
//! Two summaries of a group are merged by the pairwise update of Chan, Golub & LeVeque (1979), `S = Sₐ + S_b + δδᵀ
//! wₐw_b / w` with `δ = m_b − mₐ`.

use super::Grouped;
use super::centered::Centered;
use super::packed_symmetric;
use crate::error::{Error, Result};
use mercer_num::parallel::{Layout, chunk_rows};
use mercer_num::{Matrix, Rows};
use serde::{Deserialize, Serialize};

/// A weight or variance below this fraction of its former value is the rounding error of a subtraction.
const RELATIVE_RESIDUE: f64 = 1e-12;
/// A variance below zero by more than this fraction of its former value shows that the removed rows were not part of
/// the data.
const MAX_NEGATIVE_FRACTION: f64 = 1e-6;

/// Weight, mean and centered scatter of every group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassScatter {
    /// `Σ w`.
    pub weights: Vec<f64>,
    /// The weighted means, one row per group; zero for a group without weight.
    pub means: Matrix,
    /// `Σ w (x − mean)(x − mean)ᵀ`: one row per group, the packed lower triangle.
    pub scatters: Matrix,
}

impl ClassScatter {
    /// Summarizes rows; `group_of_row[i]` is the group of row `i`.
    ///
    /// # Errors
    /// If a cell is missing or infinite.
    pub fn of_rows(
        rows: &Rows<'_>,
        group_of_row: &[u32],
        weights: &[f64],
        group_weights: &[f64],
    ) -> Result<ClassScatter> {
        let width = rows.n_columns();
        let centered = Centered::new(rows, group_of_row, weights, group_weights)?;
        let mut indices = vec![Vec::new(); group_weights.len()];
        group_of_row.iter().enumerate().for_each(|(i, group)| indices[*group as usize].push(i));
        let mut scatters = Matrix::zeros((group_weights.len(), packed_symmetric::size(width)));
        let mut square = vec![0.0; width * width];
        for (indices, mut scatter) in indices.iter().zip(scatters.outer_iter_mut()) {
            // The scatter of a single row is zero.
            if indices.len() > 1 {
                square.fill(0.0);
                centered.add_scatter(indices.iter().copied(), &mut square);
                let scatter = scatter.as_slice_mut().expect("a fresh matrix is contiguous");
                packed_symmetric::pack(&square, width, scatter);
            }
        }
        Ok(ClassScatter { weights: group_weights.to_vec(), means: centered.means, scatters })
    }

    /// The packed lower triangle of a group's scatter.
    pub(crate) fn scatter(&self, group: usize) -> &[f64] {
        let width = self.scatters.ncols();
        let cells = self.scatters.as_slice().expect("summaries are row-major");
        &cells[group * width..(group + 1) * width]
    }

    fn scatter_mut(&mut self, group: usize) -> &mut [f64] {
        let width = self.scatters.ncols();
        let cells = self.scatters.as_slice_mut().expect("summaries are row-major");
        &mut cells[group * width..(group + 1) * width]
    }

    /// The within-group scatter, a packed lower triangle.
    pub(crate) fn within(&self) -> Vec<f64> {
        let mut sum = vec![0.0; self.scatters.ncols()];
        for scatter in self.scatters.outer_iter() {
            sum.iter_mut().zip(scatter).for_each(|(sum, s)| *sum += s);
        }
        sum
    }
}

impl Grouped for ClassScatter {
    fn empty(n_groups: usize, n_columns: usize) -> Self {
        ClassScatter {
            weights: vec![0.0; n_groups],
            means: Matrix::zeros((n_groups, n_columns)),
            scatters: Matrix::zeros((n_groups, packed_symmetric::size(n_columns))),
        }
    }

    fn shape(&self) -> (usize, usize) {
        self.means.dim()
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        let factor = merge_mean(
            (&mut self.weights[mine], self.means.row_mut(mine).as_slice_mut()),
            (other.weights[theirs], other.means.row(theirs).to_slice()),
        );
        let Some((factor, delta)) = factor else { return };
        let scatter = self.scatter_mut(mine);
        scatter.iter_mut().zip(other.scatter(theirs)).for_each(|(s, t)| *s += t);
        packed_symmetric::add_outer(scatter, factor, &delta);
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        let factor = forget_mean(
            (&mut self.weights[mine], self.means.row_mut(mine).as_slice_mut()),
            (other.weights[theirs], other.means.row(theirs).to_slice()),
        )?;
        let nothing_left = self.weights[mine] == 0.0;
        let width = self.means.ncols();
        let scatter = self.scatter_mut(mine);
        let before = packed_symmetric::diagonal(scatter, width);
        if nothing_left {
            scatter.fill(0.0);
            return Ok(());
        }
        scatter.iter_mut().zip(other.scatter(theirs)).for_each(|(s, t)| *s -= t);
        if let Some((factor, delta)) = factor {
            packed_symmetric::add_outer(scatter, -factor, &delta);
        }
        check_variances(scatter, &before)
    }

    fn check(&self) -> Result<()> {
        let (n_groups, width) = self.means.dim();
        let fits = self.weights.len() == n_groups
            && self.scatters.dim() == (n_groups, packed_symmetric::size(width))
            && self.means.is_standard_layout()
            && self.scatters.is_standard_layout()
            && self.weights.iter().all(|w| w.is_finite() && *w >= 0.0)
            && self.means.iter().chain(&self.scatters).all(|v| v.is_finite())
            && (0..n_groups).all(|g| {
                packed_symmetric::diagonal(self.scatter(g), width).iter().all(|v| *v >= 0.0)
            });
        if fits { Ok(()) } else { Err(Error::File("inconsistent scatter matrices".into())) }
    }

    /// A chunk has one matrix per class, so it has many rows.
    fn chunk_rows(n_columns: usize, layout: Layout) -> usize {
        (4 * n_columns.next_power_of_two()).min(4096).max(chunk_rows(n_columns, layout))
    }

    fn bytes(n_classes: usize, n_columns: usize) -> u64 {
        let cells = n_columns as u64 * (n_columns as u64 + 5) / 2;
        cells.saturating_mul(8 * n_classes.max(1) as u64)
    }
}

type Mean<'a> = (&'a mut f64, Option<&'a mut [f64]>);

/// Updates a mean by that of another group; returns `wₐw_b / w` and `δ` if the other has weight.
pub(super) fn merge_mean(
    (weight, mean): Mean<'_>,
    (wb, other): (f64, Option<&[f64]>),
) -> Option<(f64, Vec<f64>)> {
    let (mean, other) = (mean?, other?);
    if wb == 0.0 {
        return None;
    }
    let wa = *weight;
    let w = wa + wb;
    *weight = w;
    let delta: Vec<f64> = other.iter().zip(&*mean).map(|(b, a)| b - a).collect();
    mean.iter_mut().zip(&delta).for_each(|(m, d)| *m += d * (wb / w));
    Some((wa / w * wb, delta))
}

/// The inverse of [`merge_mean`], with the same return value.
pub(super) fn forget_mean(
    (weight, mean): Mean<'_>,
    (wb, other): (f64, Option<&[f64]>),
) -> Result<Option<(f64, Vec<f64>)>> {
    let (Some(mean), Some(other)) = (mean, other) else { return Ok(None) };
    let w = *weight;
    let left = w - wb;
    if left < -RELATIVE_RESIDUE * w.max(wb) {
        return Err(Error::Forget {
            why: format!("a class has weight {w}, which is less than the {wb} to remove"),
        });
    }
    if left <= RELATIVE_RESIDUE * w {
        *weight = 0.0;
        mean.fill(0.0);
        return Ok(None);
    }
    *weight = left;
    mean.iter_mut().zip(other).for_each(|(m, b)| *m += (*m - b) * (wb / left));
    let delta = other.iter().zip(&*mean).map(|(b, m)| b - m).collect();
    Ok(Some((left / w * wb, delta)))
}

/// Refuses variances below zero by more than rounding, and sets those to zero that are a rounding residue.
pub(super) fn check_variances(scatter: &mut [f64], before: &[f64]) -> Result<()> {
    let width = before.len();
    for (j, before) in before.iter().enumerate() {
        let variance = &scatter[packed_symmetric::row(j).end - 1];
        if *variance < -MAX_NEGATIVE_FRACTION * before {
            return Err(Error::Forget {
                why: format!(
                    "column {} would have a negative variance: these rows were not part of the training data",
                    j + 1
                ),
            });
        }
        if *variance <= RELATIVE_RESIDUE * before {
            scatter[packed_symmetric::row(j)].fill(0.0);
            for i in j + 1..width {
                scatter[packed_symmetric::row(i).start + j] = 0.0;
            }
        }
    }
    Ok(())
}
