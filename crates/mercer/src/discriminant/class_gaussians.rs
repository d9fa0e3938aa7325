//! One Gaussian per class, each with its own covariance.
//!
//! A singular covariance (few rows, or collinear columns) still gives a proper density, where the estimator allows one:
//! the variance along its null space is set to `tol²`, relative to the variances of the columns. This is the limit of adding a vanishing multiple of
//! the identity, without its arbitrary unit. The rank counts the directions outside of the null space.

use super::pruned_argmax::{self, PrunedArgmax};
use super::row_blocks::{ROWS_PER_BLOCK, all_finite, reset_overflow, score_blocks, write_argmax};
use super::whitening::{DIRECTIONS_PER_BLOCK, NullSpace, Whitening};
use crate::model::Cached;
use crate::prelude::*;
use crate::stats::drawn_classes;
use mercer_num::parallel;
use mercer_num::random::Random;
use ndarray::{Array3, ArrayView2, Axis};
use std::borrow::Cow;
use std::convert::Infallible;
use std::f64::consts::TAU;

/// Means and covariances of the classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassGaussians {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The weight of the rows of each class.
    pub class_weights: Vec<f64>,
    /// The class means, one row per class.
    pub means: Matrix,
    /// The covariances, one matrix per class.
    pub covariances: Array3<f64>,
    /// The variances that scale columns which are constant within a class.
    pub units: Vec<f64>,
    /// Relative standard deviation up to which a direction belongs to the null space.
    pub tol: f64,
    #[serde(skip)]
    ready: Cached<Option<PreparedGaussians>>,
}

/// The Gaussians, prepared for Mahalanobis distances.
#[derive(Debug)]
struct PreparedGaussians {
    /// The order of the columns in sums.
    order: Vec<usize>,
    /// The class means in that order.
    means: Matrix,
    whitenings: Vec<Whitening>,
}

impl PreparedGaussians {
    /// The cells of rows, row-major, in the order of distances.
    fn ordered<'a>(&self, block: &'a [f64]) -> Cow<'a, [f64]> {
        if self.order.is_sorted() {
            return block.into();
        }
        let width = self.order.len();
        let mut out = Vec::with_capacity(block.len());
        block.chunks_exact(width).for_each(|row| out.extend(self.order.iter().map(|j| row[*j])));
        out.into()
    }

    fn class_means(&self) -> impl Iterator<Item = (&Whitening, &[f64])> {
        let means = self.means.outer_iter();
        self.whitenings.iter().zip(means.map(|m| m.to_slice().expect("means are row-major")))
    }
}

impl ClassGaussians {
    /// Assembles the fitted parts.
    ///
    /// # Errors
    /// If a mean or a covariance overflowed.
    pub(super) fn new(
        classes: Classes,
        (log_priors, class_weights): (Vec<f64>, Vec<f64>),
        means: Matrix,
        covariances: Array3<f64>,
        units: Vec<f64>,
        tol: f64,
    ) -> Result<ClassGaussians> {
        let ready = Cached::default();
        let gaussians = ClassGaussians {
            classes,
            log_priors,
            class_weights,
            means,
            covariances,
            units,
            tol,
            ready,
        };
        let variances: Vec<f64> = (0..gaussians.means.ncols())
            .map(|j| gaussians.covariances.outer_iter().map(|c| c[[j, j]]).sum())
            .collect();
        super::class_covariances::check_range(&gaussians.means, &variances)?;
        gaussians.check_whitenings()?;
        Ok(gaussians)
    }

    /// The rank of the covariance of each class.
    pub fn ranks(&self) -> Vec<usize> {
        self.whitenings().iter().map(|whitening| whitening.rank).collect()
    }

    /// Refuses a class with rows whose covariance is singular.
    ///
    /// # Errors
    /// [`Error::SingularCovariance`] for the first such class.
    pub(super) fn check_full_rank(&self) -> Result<()> {
        let n_columns = self.means.ncols();
        let classes = self.classes.labels().iter().zip(self.ranks()).zip(&self.class_weights);
        for ((class, rank), rows) in classes.filter(|(_, weight)| **weight > 0.0) {
            if rank < n_columns {
                let (class, rows) = (class.to_string(), *rows);
                return Err(Error::SingularCovariance { class, rank, n_columns, rows });
            }
        }
        Ok(())
    }

    fn prepared(&self) -> &PreparedGaussians {
        self.ready.get(|| self.prepare()).as_ref().expect("checked when the model was made")
    }

    fn whitenings(&self) -> &[Whitening] {
        &self.prepared().whitenings
    }

    fn prepare(&self) -> Option<PreparedGaussians> {
        let order = self.order();
        let means = self.means.select(Axis(1), &order).as_standard_layout().into_owned();
        let units: Vec<f64> = order.iter().map(|j| self.units[*j]).collect();
        let Ok(whitenings) = parallel::map(self.classes.len(), |c| {
            let own = self.covariances.index_axis(Axis(0), c);
            let covariance = own.select(Axis(0), &order).select(Axis(1), &order);
            let null_vectors = NullSpace::Floored(&units);
            let mean = means.row(c).to_vec();
            Ok::<_, Infallible>(Whitening::of(covariance.view(), &mean, self.tol, null_vectors))
        });
        let whitenings = whitenings.into_iter().collect::<Option<_>>()?;
        Some(PreparedGaussians { order, means, whitenings })
    }

    /// The order of columns in distances. For many columns, those with the largest ratio of variance between to within
    /// classes come first: partial sums over them exclude most classes from the argmax.
    fn order(&self) -> Vec<usize> {
        let width = self.means.ncols();
        let mut order: Vec<usize> = (0..width).collect();
        if width > 2 * DIRECTIONS_PER_BLOCK {
            let centered = |j: usize| {
                let inner: f64 = self.covariances.outer_iter().map(|c| c[[j, j]]).sum();
                self.means.column(j).var(0.0) / inner.max(f64::MIN_POSITIVE)
            };
            let centered: Vec<f64> = (0..width).map(centered).collect();
            order.sort_by(|a, b| centered[*b].total_cmp(&centered[*a]));
        }
        order
    }

    fn check_whitenings(&self) -> Result<()> {
        match self.ready.get(|| self.prepare()) {
            Some(_) => Ok(()),
            None => Err(Error::TooLarge { column: 0 }),
        }
    }

    /// `log p(c) − ½ log det Σ_c`: the scores at the centers.
    fn peak_scores(&self) -> Vec<f64> {
        let whitenings = self.whitenings().iter();
        whitenings
            .zip(&self.log_priors)
            .map(|(whitening, p)| p - 0.5 * whitening.log_determinant)
            .collect()
    }

    pub(super) fn distances(&self, x: &Rows<'_>) -> Result<Matrix> {
        score_blocks(x, ROWS_PER_BLOCK, self.classes.len(), |block, answers| {
            self.write_distances(block, answers);
            all_finite(block)
        })
    }

    /// Writes the squared Mahalanobis distances of a row-major block from every class mean.
    fn write_distances(&self, block: &[f64], answers: &mut [f64]) {
        let prepared = self.prepared();
        let block = prepared.ordered(block);
        for (c, (whitening, mean)) in prepared.class_means().enumerate() {
            let distances = whitening.distances(&block, mean);
            let column = answers.iter_mut().skip(c).step_by(self.classes.len());
            column.zip(distances).for_each(|(a, d)| *a = d);
        }
    }

    /// Writes `log p(c) − ½ (log det Σ_c + distance)` of a row-major block.
    fn write_scores(&self, peak_scores: &[f64], block: &[f64], scores: &mut [f64]) {
        self.write_distances(block, scores);
        for row in scores.chunks_exact_mut(peak_scores.len()) {
            row.iter_mut().zip(peak_scores).for_each(|(s, peak)| *s = peak - 0.5 * *s);
        }
        if !all_finite(scores) {
            scores.chunks_exact_mut(peak_scores.len()).for_each(reset_overflow);
        }
    }

    /// The scores of every row and class.
    pub(super) fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        let peak_scores = self.peak_scores();
        score_blocks(x, ROWS_PER_BLOCK, peak_scores.len(), |block, scores| {
            self.write_scores(&peak_scores, block, scores);
            all_finite(block)
        })
    }

    /// The class with the highest score of every row. For many columns, a class is pruned as soon as a partial sum
    /// excludes it.
    pub(super) fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        let (prepared, peak_scores) = (self.prepared(), self.peak_scores());
        let codes = if self.means.ncols() <= 2 * DIRECTIONS_PER_BLOCK {
            score_blocks(x, ROWS_PER_BLOCK, 1, |block, codes| {
                let mut scores = vec![0.0; codes.len() * peak_scores.len()];
                self.write_scores(&peak_scores, block, &mut scores);
                write_argmax(&scores, codes);
                all_finite(block)
            })?
        } else {
            let search = PrunedArgmax {
                classes: prepared.class_means().collect(),
                peak_scores: &peak_scores,
            };
            score_blocks(x, pruned_argmax::ROWS_PER_BLOCK, 1, |block, codes| {
                search.run(&prepared.ordered(block), codes);
                all_finite(block)
            })?
        };
        Ok(codes.iter().map(|code| *code as u32).collect())
    }

    pub(super) fn log_joint(&self, x: &Rows<'_>) -> Result<Matrix> {
        Ok(self.scores(x)? - 0.5 * self.means.ncols() as f64 * TAU.ln())
    }

    pub(super) fn sample(
        &self,
        n: usize,
        given: Option<u32>,
        random: &mut Random,
    ) -> (Matrix, Vec<u32>) {
        let codes = drawn_classes(&self.log_priors, n, given, random);
        let indices: Vec<usize> = codes.iter().map(|c| *c as usize).collect();
        let mut rows = self.means.select(Axis(0), &indices);
        for (mut row, c) in rows.outer_iter_mut().zip(indices) {
            let PreparedGaussians { order, whitenings, .. } = self.prepared();
            let z: Vec<f64> = (0..whitenings[c].size()).map(|_| random.normal()).collect();
            order.iter().zip(whitenings[c].unwhiten(&z)).for_each(|(j, d)| row[*j] += d);
        }
        (rows, codes)
    }

    /// The terms of the columns: a squared distance is the sum `Σⱼ (x − m)ⱼ [Σ⁻¹ (x − m)]ⱼ`.
    pub(super) fn terms(&self, row: &[f64]) -> (Vec<f64>, Matrix) {
        let mut terms = Matrix::zeros((row.len(), self.classes.len()));
        let prepared = self.prepared();
        let row = prepared.ordered(row);
        for (c, (whitening, mean)) in prepared.class_means().enumerate() {
            let difference: Vec<f64> = row.iter().zip(mean).map(|(x, m)| x - m).collect();
            let solved = whitening.solve(&difference);
            for (j, (d, s)) in prepared.order.iter().zip(difference.iter().zip(solved)) {
                terms[[*j, c]] = -0.5 * d * s;
            }
        }
        (self.peak_scores(), terms)
    }

    pub(super) fn derived(&self, name: &str) -> Option<Matrix> {
        let list =
            |v: Vec<f64>| ArrayView2::from_shape((1, v.len()), &v).ok().map(|v| v.to_owned());
        let whitenings = self.whitenings().iter();
        match name {
            "ranks" => list(whitenings.map(|whitening| whitening.rank as f64).collect()),
            "log_determinants" => {
                list(whitenings.map(|whitening| whitening.log_determinant).collect())
            }
            _ => None,
        }
    }

    /// The total dimension of the null spaces, and the largest condition number.
    pub(super) fn certificate(&self) -> Certificate {
        let seen = |c: usize| self.class_weights[c] > 0.0;
        let whitenings = || self.whitenings().iter().enumerate().filter(|(c, _)| seen(*c));
        let missing: usize =
            whitenings().map(|(_, whitening)| self.means.ncols() - whitening.rank).sum();
        Certificate::closed_form()
            .violation("null directions of class covariances, regularized", missing as f64)
            .condition(whitenings().map(|(_, whitening)| whitening.condition).fold(1.0, f64::max))
    }

    pub(super) fn check(&self) -> Result<()> {
        let (n_classes, width) = self.means.dim();
        let total: f64 = self.log_priors.iter().map(|p| p.exp()).sum();
        let fits = self.classes.len() == n_classes
            && n_classes >= 2
            && width >= 1
            && self.log_priors.len() == n_classes
            && self.class_weights.len() == n_classes
            && self.covariances.dim() == (n_classes, width, width)
            && self.units.len() == width
            && self.means.is_standard_layout()
            && (total - 1.0).abs() < 1e-6
            && self.class_weights.iter().all(|w| w.is_finite() && *w >= 0.0)
            && self.tol.is_finite()
            && self.tol >= 0.0
            && self.units.iter().all(|v| v.is_finite() && *v > 0.0)
            && self.means.iter().chain(&self.covariances).all(|v| v.is_finite())
            && self
                .covariances
                .outer_iter()
                .all(|c| c == c.t() && c.diag().iter().all(|v| *v >= 0.0));
        if !fits {
            return Err(Error::File("Gaussian classes with inconsistent fields".into()));
        }
        self.check_whitenings().map_err(|e| Error::File(e.to_string()))
    }
}

/// Implements the capabilities of a model by those of its [`ClassGaussians`].
macro_rules! delegate_to_gaussians {
    ($Model:ident) => {
        impl Classifier for $Model {
            fn classes(&self) -> &Classes {
                &self.gaussians.classes
            }

            fn n_columns(&self) -> usize {
                self.gaussians.means.ncols()
            }

            fn class_means(&self) -> Option<$crate::explain::ClassMeans> {
                let gaussians = &self.gaussians;
                let (n_classes, width) = gaussians.means.dim();
                let deviation =
                    |c: usize, j: usize| gaussians.covariances[[c, j, j]].max(0.0).sqrt();
                Some($crate::explain::ClassMeans::of_columns(n_classes, width, |c, j| {
                    (gaussians.means[[c, j]], deviation(c, j))
                }))
            }

            /// `log p(c) − ½ (log det Σ_c + distance)`.
            fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
                self.check_columns(x)?;
                self.gaussians.scores(x)
            }

            fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
                self.check_columns(x)?;
                self.gaussians.predict(x)
            }
        }

        impl Probabilistic for $Model {}

        impl Generative for $Model {
            fn log_joint(&self, x: &Rows<'_>) -> Result<Matrix> {
                self.check_columns(x)?;
                self.gaussians.log_joint(x)
            }

            fn sample(
                &self,
                n: usize,
                given: Option<u32>,
                random: &mut Random,
            ) -> (Matrix, Vec<u32>) {
                self.gaussians.sample(n, given, random)
            }
        }

        impl AdditiveScores for $Model {
            fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
                self.scores(&Rows::from(ndarray::ArrayView1::from(row)))?;
                Ok(self.gaussians.terms(row))
            }
        }

        impl Discriminant for $Model {
            fn distances(&self, x: &Rows<'_>) -> Result<Matrix> {
                self.check_columns(x)?;
                self.gaussians.distances(x)
            }

            fn derived_names(&self) -> &'static [&'static str] {
                &["ranks", "log_determinants"]
            }

            fn derived(&self, name: &str) -> Option<Matrix> {
                self.gaussians.derived(name)
            }
        }
    };
}

pub(super) use delegate_to_gaussians;
