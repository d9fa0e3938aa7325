//! The summary discriminants learn from, and the covariances of the classes it gives.

use super::shrinkage::{
    Estimated, Shrinkage, ledoit_wolf, mean_variance, oas_shrinkage, towards_identity,
};
use crate::bayes::Variance;
use crate::prelude::*;
use crate::stats::{ByClass, ClassScatter, FourthMoments, Grouped, packed_symmetric};
use mercer_num::parallel::Layout;

/// A plain summary by class, or one with fourth powers where the shrinkage is to be estimated: the
/// way of learning decides which is filled, and the other stays empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "G: Grouped")]
pub struct ClassCovariances<G> {
    /// What a covariance needs.
    pub plain: ByClass<G>,
    /// What estimating a shrinkage needs.
    pub fourths: ByClass<FourthMoments>,
}

impl<G: Grouped> ClassCovariances<G> {
    /// Adds rows to the side that the shrinkage asks for.
    pub(super) fn push_rows(
        &mut self,
        batch: &Dataset<'_>,
        shrinkage: Shrinkage,
        summarize: impl FnOnce(&Rows<'_>, &[u32], &[f64], &[f64]) -> Result<G>,
    ) -> Result<()> {
        match shrinkage {
            Shrinkage::Estimated(_) => self.fourths.push_rows(batch, |batch, slots, weights| {
                FourthMoments::of_rows(batch.rows(), slots, batch.weights(), weights)
            }),
            _ => self.plain.push_rows(batch, |batch, slots, weights| {
                summarize(batch.rows(), slots, batch.weights(), weights)
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

/// What a scatter of rows of some weight, around `n_means` means, is multiplied by.
pub(super) fn divisor(variance: Variance, weight: f64, n_means: f64) -> f64 {
    let less = match variance {
        Variance::Population => 0.0,
        Variance::Sample => n_means,
    };
    if weight > less { 1.0 / (weight - less) } else { 0.0 }
}

/// The covariance of a class, shrunk as the rows ask for.
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

/// Weights, means and scatters, as a class that was never shown has them too: the mean of all rows
/// and the scatter within classes, which favor none.
pub(super) fn fill_unseen(weights: &[f64], means: &mut Matrix) {
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

/// Refuses means and variances that left the range of a double.
pub(super) fn check_range(means: &Matrix, variances: &[f64]) -> Result<()> {
    let bad = variances.iter().position(|v| !v.is_finite()).or_else(|| {
        means.indexed_iter().find(|(_, m)| !m.is_finite()).map(|((_, column), _)| column)
    });
    bad.map_or(Ok(()), |column| Err(Error::TooLarge { column }))
}

/// `log P(class)`: the given priors or the shares of the weights.
pub(super) fn log_priors(priors: &[f64], weights: &[f64]) -> Result<Vec<f64>> {
    if !priors.is_empty() && priors.len() != weights.len() {
        return Err(Error::Parameter {
            name: "priors".into(),
            found: format!("{} numbers", priors.len()),
            expected: format!("one number for each of the {} classes", weights.len()),
        });
    }
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Err(Error::NoRows);
    }
    Ok(match priors {
        [] => weights.iter().map(|w| (w / total).ln()).collect(),
        priors => priors.iter().map(|p| p.ln()).collect(),
    })
}

/// Variances of the columns over all rows: the unit of a class in which a column does not vary.
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
            // A column that is constant over all rows has no unit, and needs none.
            let rounding = 1e-26 * center * center;
            Some(s / total + between).filter(|v| *v > rounding).unwrap_or(1.0)
        })
        .collect()
}
