//! Shrinkage of a covariance towards a multiple of the identity.

use crate::model::{ParamValue, Rule};
use mercer_num::Matrix;
use serde::{Deserialize, Serialize};

crate::choice! {
    /// An estimator of the shrinkage intensity.
    pub enum Estimated {
        /// Ledoit and Wolf (2004), on standardized columns.
        LedoitWolf = "auto",
        /// Oracle approximating shrinkage: Chen, Wiesel, Eldar and Hero (2010).
        Oas = "oas",
    }
}

/// The shrinkage intensity: the weight of `(tr Σ / d) I` in a covariance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Shrinkage {
    /// No shrinkage.
    Nothing,
    /// A given intensity.
    Fixed(f64),
    /// Estimated from the rows of each class.
    Estimated(Estimated),
}

impl ParamValue for Shrinkage {
    const TYPE: &'static str = "float, \"auto\", \"oas\" or None";

    fn obeys(&self, rule: Rule) -> bool {
        match self {
            Shrinkage::Fixed(shrinkage) => shrinkage.obeys(rule),
            Shrinkage::Nothing | Shrinkage::Estimated(_) => true,
        }
    }
}

impl From<f64> for Shrinkage {
    fn from(shrinkage: f64) -> Self {
        Shrinkage::Fixed(shrinkage)
    }
}

/// `(1 − shrinkage) Σ + shrinkage · unit · I`.
pub(super) fn towards_identity(covariance: &mut Matrix, shrinkage: f64, unit: f64) {
    covariance.mapv_inplace(|v| v * (1.0 - shrinkage));
    covariance.diag_mut().mapv_inplace(|v| v + shrinkage * unit);
}

/// The mean variance of a column.
pub(super) fn mean_variance(covariance: &Matrix) -> f64 {
    covariance.diag().sum() / covariance.nrows().max(1) as f64
}

/// The intensity of oracle approximating shrinkage, for a covariance of rows of a total weight (Chen et al. 2010).
pub(super) fn oas_shrinkage(covariance: &Matrix, weight: f64) -> f64 {
    let width = covariance.nrows() as f64;
    if covariance.nrows() == 1 {
        return 0.0;
    }
    let mean_square = covariance.iter().map(|v| v * v).sum::<f64>() / (width * width);
    let mu = mean_variance(covariance);
    let gap = (weight + 1.0) * (mean_square - mu * mu / width);
    if gap > 0.0 { ((mean_square + mu * mu) / gap).min(1.0) } else { 1.0 }
}

/// Shrinks the covariance of standardized columns by the intensity of Ledoit and Wolf (2004, lemma 3.2). `fourths` are
/// the sums `Σ w cⱼ² cₖ²` over rows of a total weight.
pub(super) fn ledoit_wolf(covariance: &mut Matrix, fourths: &Matrix, weight: f64) {
    let width = covariance.nrows();
    if width < 2 || weight == 0.0 {
        return;
    }
    let scales: Vec<f64> =
        covariance.diag().iter().map(|v| if *v > 0.0 { v.sqrt() } else { 1.0 }).collect();
    for ((j, k), v) in covariance.indexed_iter_mut() {
        *v /= scales[j] * scales[k];
    }
    let d = width as f64;
    let mu = mean_variance(covariance);
    let squares: f64 = covariance.iter().map(|v| v * v).sum();
    let fourth: f64 = fourths
        .indexed_iter()
        .map(|((j, k), q)| q / (scales[j] * scales[j] * scales[k] * scales[k]))
        .sum();
    // The squared distance of the covariance from a multiple of the identity, and its sampling variance.
    let distance = (squares - d * mu * mu) / d;
    let sampling_variance = ((fourth / weight - squares) / (d * weight)).min(distance);
    let shrinkage = if sampling_variance > 0.0 { sampling_variance / distance } else { 0.0 };
    towards_identity(covariance, shrinkage, mu);
    for ((j, k), v) in covariance.indexed_iter_mut() {
        *v *= scales[j] * scales[k];
    }
}
