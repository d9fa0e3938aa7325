//! The sufficient statistics of discriminant analysis, and the class covariances they give.

use super::shrinkage::{
    Estimated, Shrinkage, ledoit_wolf, mean_variance, oas_shrinkage, towards_identity,
};
use crate::prelude::*;
use crate::stats::{ByClass, ClassScatter, FourthMoments, Grouped, Variance, packed_symmetric};
use mercer_num::parallel::Layout;

/// Second moments by class, or second and fourth moments if the shrinkage is estimated. The estimator's parameters
/// decide which of the two is filled; the other stays empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "G: Grouped")]
pub struct ClassCovariances<G> {
    /// Moments of order two.
    pub plain: ByClass<G>,
    /// Moments of order two and four.
    pub fourths: ByClass<FourthMoments>,
}

impl<G: Grouped> ClassCovariances<G> {
    /// Adds rows to the statistics that the shrinkage needs.
    pub(super) fn push_rows(
        &mut self,
        batch: &Dataset<'_>,
        shrinkage: Shrinkage,
        summarize: impl FnOnce(&Rows<'_>, &[u32], &[f64], &[f64]) -> Result<G>,
    ) -> Result<()> {
        match shrinkage {
            Shrinkage::Estimated(_) => {
                self.fourths.push_rows(batch, |batch, group_of_row, weights| {
                    FourthMoments::of_rows(batch.rows(), group_of_row, batch.weights(), weights)
                })
            }
            _ => self.plain.push_rows(batch, |batch, group_of_row, weights| {
                summarize(batch.rows(), group_of_row, batch.weights(), weights)
            }),
        }
    }
}

impl<G: Grouped> Statistics for ClassCovariances<G> {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.plain.merge(&other.plain)?;
        self.fourths.merge(&other.fourths)
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        let mut left = self.clone();
        left.plain.forget(&other.plain)?;
        left.fourths.forget(&other.fourths)?;
        *self = left;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        self.plain.check()?;
        self.fourths.check()
    }

    fn chunk_rows(n_columns: usize, layout: Layout) -> usize {
        G::chunk_rows(n_columns, layout)
    }

    fn bytes(n_classes: usize, n_columns: usize) -> u64 {
        G::bytes(n_classes, n_columns)
    }
}

/// The factor from the scatter of rows of a total weight, around `n_means` means, to their covariance.
pub(super) fn divisor(variance: Variance, weight: f64, n_means: f64) -> f64 {
    let less = match variance {
        Variance::Population => 0.0,
        Variance::Sample => n_means,
    };
    if weight > less { 1.0 / (weight - less) } else { 0.0 }
}

/// The covariance of a class with estimated shrinkage.
pub(super) fn estimated_covariance(groups: &FourthMoments, class: usize, by: Estimated) -> Matrix {
    let weight = groups.scatters.weights[class];
    let width = groups.scatters.means.ncols();
    let factor = divisor(Variance::Population, weight, 1.0);
    let mut covariance = packed_symmetric::square(groups.scatters.scatter(class), width, factor);
    match by {
        Estimated::LedoitWolf => {
            let fourths = packed_symmetric::square(
                groups.fourths.row(class).to_slice().expect("summaries are row-major"),
                width,
                1.0,
            );
            ledoit_wolf(&mut covariance, &fourths, weight);
        }
        Estimated::Oas => {
            let (shrinkage, unit) =
                (oas_shrinkage(&covariance, weight), mean_variance(&covariance));
            towards_identity(&mut covariance, shrinkage, unit);
        }
    }
    covariance
}

/// Sets the mean of classes without rows to the mean of all rows, which favors no class.
pub(super) fn fill_unobserved_classes(weights: &[f64], means: &mut Matrix) {
    let total: f64 = weights.iter().sum();
    let mut center = ndarray::Array1::zeros(means.ncols());
    for (w, mean) in weights.iter().zip(means.outer_iter()) {
        center.scaled_add(w / total, &mean);
    }
    for (w, mut mean) in weights.iter().zip(means.outer_iter_mut()) {
        if *w == 0.0 {
            mean.assign(&center);
        }
    }
}

/// Refuses means and variances that overflowed.
pub(super) fn check_range(means: &Matrix, variances: &[f64]) -> Result<()> {
    let bad = variances.iter().position(|v| !v.is_finite()).or_else(|| {
        means.indexed_iter().find(|(_, m)| !m.is_finite()).map(|((_, column), _)| column)
    });
    bad.map_or(Ok(()), |column| Err(Error::TooLarge { column }))
}

/// Variances of the columns over all rows: the scale of a column that is constant within a class.
pub(super) fn units(groups: &ClassScatter, means: &Matrix) -> Vec<f64> {
    let total: f64 = groups.weights.iter().sum();
    let within = packed_symmetric::diagonal(&groups.within(), means.ncols());
    within
        .iter()
        .enumerate()
        .map(|(j, s)| {
            let weighted = |f: &dyn Fn(f64) -> f64| -> f64 {
                groups.weights.iter().zip(means.column(j)).map(|(w, m)| w / total * f(*m)).sum()
            };
            let center = weighted(&|m| m);
            let between = weighted(&|m| (m - center) * (m - center));
            // A column that is constant over all rows has no scale; any will do.
            let rounding = 1e-26 * center * center;
            Some(s / total + between).filter(|v| *v > rounding).unwrap_or(1.0)
        })
        .collect()
}
