//! Gaussian naive Bayes: within a class, every feature is normally distributed.
//!
//! `log p(c, x) = log p(c) + Σⱼ log N(xⱼ; mean_cj, variance_cj)`
//!
//! The sufficient statistics are the weight, means and centered sums of squares of every class, so any split of the
//! rows gives the same model (Chan et al., 1979). A missing value (NaN) has no factor: it is left out of the
//! statistics and of the product.

use super::{each_chunk, log_priors};
use crate::explain::ClassMeans;
use crate::prelude::*;
use crate::stats::{ByClass, Moments, Variance};
use mercer_num::compensated_sum::CompensatedSum;
use mercer_num::parallel;
use mercer_num::random::Random;
use mercer_num::rows::Missing;
use mercer_num::simd::weighted_sq_distances;
use mercer_num::special::normal_log_density;
use std::f64::consts::TAU;

params! {
    /// Gaussian naive Bayes, for real-valued features.
    pub struct GaussianNb {
        ..Priors;
        /// Fraction of the largest feature variance that is added to all variances. Larger values make the
        /// densities wider and more similar.
        var_smoothing: f64 = 1e-9, AtLeast(0.0);
        /// Denominator of the variances: the weight (`population`, maximum likelihood) or the weight minus one
        /// (`sample`, unbiased).
        variance: Variance = Variance::Population, OneOf(Variance::VALUES);
    }
    formula = "argmax_c log P(c) + Σⱼ log N(xⱼ; μ_cj, σ²_cj)";
    lecture = 4;
    attributes = [
        CLASS_COUNT,
        of_field("class_prior_", "log_priors", "exp", PER_CLASS, "Prior probability of each class."),
        field("theta_", "means", PER_CLASS_AND_FEATURE, "Mean `μ` of each feature in each class."),
        field(
            "var_",
            "variances",
            PER_CLASS_AND_FEATURE,
            "Variance `σ²` of each feature in each class, smoothing included.",
        ),
        field("epsilon_", "smoothing", "float", "Value added to all variances."),
    ];
}

/// A normal density for every class (row) and feature (column).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaussianNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The total sample weight of each class.
    pub class_weights: Vec<f64>,
    /// The means.
    pub means: Matrix,
    /// The variances, smoothing included.
    pub variances: Matrix,
    /// The value added to all variances.
    pub smoothing: f64,
}

impl Accumulate for GaussianNb {
    type Stats = ByClass<Moments>;
    type Model = GaussianNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, |batch, group_of_row, class_weights| {
            Moments::of_rows(batch.rows(), group_of_row, batch.weights(), class_weights)
        })
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        stats.classes().check_several()?;
        let groups = stats.groups();
        let pooled = groups.pooled();
        // Computed over all rows: a value per batch would make the model depend on the split.
        let spread = pooled.variances(0.0);
        if let Some(column) = spread.iter().position(|v| !v.is_finite()) {
            return Err(Error::TooLarge { column });
        }
        let largest = spread.iter().copied().fold(0.0, f64::max);
        let smoothing = self.var_smoothing * largest;
        let less = match self.variance {
            Variance::Population => 0.0,
            Variance::Sample => 1.0,
        };
        let mut model = GaussianNbModel {
            classes: stats.classes().clone(),
            log_priors: log_priors(&self.priors, true, &stats.weights())?,
            class_weights: stats.weights(),
            variances: groups.variances(less),
            means: groups.means,
            smoothing,
        };
        model.fill_unobserved(&groups.weights, &pooled, less);
        model.variances += smoothing;
        model.check_densities()?;
        Ok(model)
    }

    /// The mean log-likelihood, and the largest relative change of a variance by smoothing.
    fn certificate(&self, stats: &Self::Stats, model: &Self::Model) -> Certificate {
        let groups = stats.groups();
        let best = groups.variances(0.0);
        let total: f64 = model.class_weights.iter().sum();
        let mut log_likelihood = 0.0;
        let mut moved: f64 = 0.0;
        for (c, weight) in model.class_weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            log_likelihood += weight * model.log_priors[c];
            for j in 0..model.means.ncols() {
                let (w, s, v) =
                    (groups.weights[[c, j]], groups.squares[[c, j]], model.variances[[c, j]]);
                log_likelihood -= 0.5 * (w * (TAU * v).ln() + s / v);
                if w > 0.0 {
                    moved = moved.max((v - best[[c, j]]).abs() / v);
                }
            }
        }
        Certificate::closed_form()
            .objective("mean log likelihood", log_likelihood / total)
            .violation("largest relative change of a variance by smoothing", moved)
    }
}

impl GaussianNbModel {
    /// A column that is missing in all rows of a class gets the density of all classes, so that it favors none; a
    /// column that is missing in all rows gets the standard normal density.
    fn fill_unobserved(&mut self, weights: &Matrix, pooled: &Moments, less: f64) {
        let spread = pooled.variances(less);
        for (c, j) in ndarray::indices(self.means.dim()) {
            if weights[[c, j]] == 0.0 {
                let known = pooled.weights[[0, j]] > 0.0;
                self.means[[c, j]] = if known { pooled.means[[0, j]] } else { 0.0 };
                self.variances[[c, j]] = if known { spread[[0, j]] } else { 1.0 };
            }
        }
    }

    /// Refuses densities with infinite means or variances, or variances of zero.
    fn check_densities(&self) -> Result<()> {
        for ((c, j), v) in self.variances.indexed_iter() {
            if !(v.is_finite() && self.means[[c, j]].is_finite()) {
                return Err(Error::TooLarge { column: j });
            }
            if !(1.0 / v).is_finite() {
                let class = self.classes.labels()[c].to_string();
                return Err(Error::ZeroVariance { column: j, class });
            }
        }
        Ok(())
    }

    fn width(&self) -> usize {
        self.means.ncols()
    }

    /// `log p(c) + Σⱼ log N(mean; mean, variance)`: the scores at the means.
    fn peaks(&self) -> Vec<f64> {
        self.log_priors
            .iter()
            .zip(self.variances.outer_iter())
            .map(|(prior, row)| prior - 0.5 * row.iter().map(|v| (TAU * v).ln()).sum::<f64>())
            .collect()
    }

    /// The score of a row with missing values; fails with the column of an infinite cell.
    fn score_with_missing(
        &self,
        row: &[f64],
        scores: &mut [f64],
    ) -> std::result::Result<(), usize> {
        scores.copy_from_slice(&self.log_priors);
        for (j, x) in row.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
            if x.is_infinite() {
                return Err(j);
            }
            for (c, score) in scores.iter_mut().enumerate() {
                *score += normal_log_density(*x, self.means[[c, j]], self.variances[[c, j]]);
            }
        }
        Ok(())
    }

    fn dense_scores(&self, x: &Rows<'_>, out: &mut Matrix) -> Result<()> {
        let (width, n_classes) = (self.width(), self.classes.len());
        let means = self.means.as_standard_layout();
        let precisions = self.variances.mapv(|v| 1.0 / v);
        let (Some(means), Some(precisions)) = (means.as_slice(), precisions.as_slice()) else {
            return Ok(());
        };
        let peaks = self.peaks();
        let chunk = parallel::chunk_rows(width, parallel::Layout::Dense);
        each_chunk(out, chunk, |first, scores| {
            let n = scores.len() / n_classes;
            let Some(block) = x.block(first..first + n) else { return Ok(()) };
            weighted_sq_distances(&block, width, means, precisions, scores);
            for (i, scores) in scores.chunks_exact_mut(n_classes).enumerate() {
                if scores.iter().all(|d| d.is_finite()) {
                    scores.iter_mut().zip(&peaks).for_each(|(d, peak)| *d = peak - 0.5 * *d);
                    continue;
                }
                let row = &block[i * width..(i + 1) * width];
                self.score_with_missing(row, scores).map_err(|column| Error::NotFinite {
                    row: first + i,
                    column,
                    value: row[column],
                })?;
            }
            Ok(())
        })
    }

    /// The scores of a row of zeros plus the difference of every stored cell; a cell is stored once. A narrow
    /// density far from zero makes both terms huge, so the sums are compensated.
    fn sparse_scores(&self, x: &SparseView<'_>, out: &mut Matrix) -> Result<()> {
        let n_classes = self.classes.len();
        let at_zero: Vec<CompensatedSum> = (self.peaks().iter())
            .zip(self.means.outer_iter().zip(self.variances.outer_iter()))
            .map(|(peak, (m, v))| {
                let mut sum = CompensatedSum::from(*peak);
                m.iter().zip(v).for_each(|(m, v)| sum.add(-0.5 * (m * m * (1.0 / v))));
                sum
            })
            .collect();
        // One row per column of the data, so that the values of all classes are contiguous.
        let means = self.means.t().as_standard_layout().into_owned();
        let precisions = self.variances.t().mapv(|v| 1.0 / v).as_standard_layout().into_owned();
        let chunk = parallel::chunk_rows(self.width(), parallel::Layout::Sparse).min(4096);
        each_chunk(out, chunk, |first, scores| {
            let mut sums = at_zero.clone();
            for (i, scores) in scores.chunks_exact_mut(n_classes).enumerate() {
                sums.copy_from_slice(&at_zero);
                let (columns, values) = x.row(first + i);
                for (j, v) in columns.iter().zip(values) {
                    let j = *j as usize;
                    if v.is_infinite() {
                        return Err(Error::NotFinite { row: first + i, column: j, value: *v });
                    }
                    let densities = means.row(j).into_iter().zip(precisions.row(j));
                    for (sum, (m, p)) in sums.iter_mut().zip(densities) {
                        // Remove the factor of the row of zeros.
                        sum.add(0.5 * (m * m * p));
                        let d = v - m;
                        sum.add(if v.is_nan() { 0.5 * (TAU / p).ln() } else { -0.5 * (d * d * p) });
                    }
                }
                scores.iter_mut().zip(&sums).for_each(|(score, sum)| *score = sum.value());
                if scores.iter().any(|score| score.is_nan()) {
                    // Infinity minus infinity: the dense computation has no such terms.
                    let row = Rows::Sparse(*x).row(first + i);
                    self.score_with_missing(&row, scores).map_err(|column| Error::NotFinite {
                        row: first + i,
                        column,
                        value: row[column],
                    })?;
                }
            }
            Ok(())
        })
    }
}

impl Classifier for GaussianNbModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn log_prior_fallback(&self) -> Option<Vec<f64>> {
        Some(self.log_priors.clone())
    }

    fn n_columns(&self) -> usize {
        self.width()
    }

    fn class_means(&self) -> Option<ClassMeans> {
        Some(ClassMeans::of_moments(self.means.clone(), &self.variances))
    }

    /// The joint log-likelihoods `log p(c, x)`.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let mut out = Matrix::zeros((x.n_rows(), self.classes.len()));
        match x {
            Rows::Sparse(x) => self.sparse_scores(&x.sum_duplicates().view(), &mut out)?,
            _ => self.dense_scores(x, &mut out)?,
        }
        Ok(out)
    }
}

impl Probabilistic for GaussianNbModel {}

impl Generative for GaussianNbModel {
    fn sample(&self, n: usize, given: Option<u32>, random: &mut Random) -> (Matrix, Vec<u32>) {
        super::sample(&self.log_priors, (n, given), self.width(), random, |j, class, random| {
            self.means[[class, j]] + self.variances[[class, j]].sqrt() * random.normal()
        })
    }
}

impl FactorizedLikelihood for GaussianNbModel {
    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    fn log_factors(&self, row: &[f64]) -> Result<Matrix> {
        let x = ndarray::ArrayView1::from(row);
        self.check_columns(&Rows::from(x))?;
        crate::data::check_cells(&Rows::from(x), Missing::Allowed)?;
        Ok(Matrix::from_shape_fn((self.width(), self.classes.len()), |(j, c)| {
            if row[j].is_nan() {
                0.0
            } else {
                normal_log_density(row[j], self.means[[c, j]], self.variances[[c, j]])
            }
        }))
    }

    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String {
        let at = [class as usize, column];
        let density = normal_log_density(value, self.means[at], self.variances[at]).exp();
        format!(
            "N({}; mean {}, variance {}) = {}",
            short(value),
            short(self.means[at]),
            short(self.variances[at]),
            short(density)
        )
    }
}

impl Check for GaussianNbModel {
    fn check(&self) -> Result<()> {
        let (n_classes, width) = self.means.dim();
        let fits = self.classes.len() == n_classes
            && super::are_priors(n_classes, &self.log_priors, &self.class_weights)
            && width >= 1
            && self.variances.dim() == (n_classes, width)
            && self.smoothing.is_finite()
            && self.variances.iter().all(|v| *v > 0.0);
        if !fits {
            return Err(super::inconsistent("Gaussian"));
        }
        self.check_densities().map_err(|e| Error::File(e.to_string()))
    }
}
