//! A Gaussian for every class, each with a covariance of its own.
//!
//! A class whose rows do not spread in every direction (too few of them, or columns that say the
//! same) still gets a proper density: the missing directions are taken to be as wide as `tol`, in
//! units of the columns' own spread. This is what adding ever less of an identity would lead to,
//! without its arbitrary unit; the rank says how many directions were really seen.

use super::pruned_argmax::{self, PrunedArgmax};
use super::row_blocks::{PANEL, all_finite, by_panels, tame, write_winners};
use super::whitening::{BLOCK, Thin, Whitening};
use crate::model::Cached;
use crate::prelude::*;
use mercer_num::parallel;
use mercer_num::random::Random;
use ndarray::{Array3, ArrayView2, Axis};
use std::borrow::Cow;
use std::convert::Infallible;
use std::f64::consts::TAU;

/// LandmarkSelection and shapes of the classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassGaussians {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The weight of the rows of each class.
    pub class_weights: Vec<f64>,
    /// The centers, one row a class.
    pub means: Matrix,
    /// The covariances, one square a class.
    pub covariances: Array3<f64>,
    /// The variance that is one unit for a class in which a column does not vary.
    pub units: Vec<f64>,
    /// Below this, a direction has no spread.
    pub tol: f64,
    #[serde(skip)]
    ready: Cached<Option<Ready>>,
}

/// The Gaussians made ready for distances.
#[derive(Debug)]
struct Ready {
    /// The columns in the order that distances are summed up in.
    order: Vec<usize>,
    /// The centers in that order.
    means: Matrix,
    roots: Vec<Whitening>,
}

impl Ready {
    /// The cells of rows, row-major, in the order of distances.
    fn ordered<'a>(&self, panel: &'a [f64]) -> Cow<'a, [f64]> {
        if self.order.is_sorted() {
            return panel.into();
        }
        let width = self.order.len();
        let mut out = Vec::with_capacity(panel.len());
        panel.chunks_exact(width).for_each(|row| out.extend(self.order.iter().map(|j| row[*j])));
        out.into()
    }

    fn centers(&self) -> impl Iterator<Item = (&Whitening, &[f64])> {
        let means = self.means.outer_iter();
        self.roots.iter().zip(means.map(|m| m.to_slice().expect("means are row-major")))
    }
}

impl ClassGaussians {
    /// Puts the parts together.
    ///
    /// # Errors
    /// If numbers left the range of a double.
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
        gaussians.check_roots()?;
        Ok(gaussians)
    }

    /// How many directions each class's rows spread in.
    pub fn ranks(&self) -> Vec<usize> {
        self.roots().iter().map(|root| root.rank).collect()
    }

    fn ready(&self) -> &Ready {
        self.ready.get(|| self.make_ready()).as_ref().expect("checked when the model was made")
    }

    fn roots(&self) -> &[Whitening] {
        &self.ready().roots
    }

    fn make_ready(&self) -> Option<Ready> {
        let order = self.order();
        let means = self.means.select(Axis(1), &order).as_standard_layout().into_owned();
        let units: Vec<f64> = order.iter().map(|j| self.units[*j]).collect();
        let Ok(roots) = parallel::map(self.classes.len(), |c| {
            let own = self.covariances.index_axis(Axis(0), c);
            let covariance = own.select(Axis(0), &order).select(Axis(1), &order);
            let thin = Thin::Widened(&units);
            let mean = means.row(c).to_vec();
            Ok::<_, Infallible>(Whitening::of(covariance.view(), &mean, self.tol, thin))
        });
        let roots = roots.into_iter().collect::<Option<_>>()?;
        Some(Ready { order, means, roots })
    }

    /// The columns as they are or, where they are many, those first in which the centers lie farthest
    /// apart: what they add up to tells most classes from the winner.
    fn order(&self) -> Vec<usize> {
        let width = self.means.ncols();
        let mut order: Vec<usize> = (0..width).collect();
        if width > 2 * BLOCK {
            let apart = |j: usize| {
                let inner: f64 = self.covariances.outer_iter().map(|c| c[[j, j]]).sum();
                self.means.column(j).var(0.0) / inner.max(f64::MIN_POSITIVE)
            };
            let apart: Vec<f64> = (0..width).map(apart).collect();
            order.sort_by(|a, b| apart[*b].total_cmp(&apart[*a]));
        }
        order
    }

    fn check_roots(&self) -> Result<()> {
        match self.ready.get(|| self.make_ready()) {
            Some(_) => Ok(()),
            None => Err(Error::TooLarge { column: 0 }),
        }
    }

    /// `log p(c) − ½ log det Σ_c`: the scores at the centers.
    fn peaks(&self) -> Vec<f64> {
        let roots = self.roots().iter();
        roots.zip(&self.log_priors).map(|(root, p)| p - 0.5 * root.log_determinant).collect()
    }

    pub(super) fn distances(&self, x: &Rows<'_>) -> Result<Matrix> {
        by_panels(x, PANEL, self.classes.len(), |panel, answers| {
            self.write_distances(panel, answers);
            all_finite(panel)
        })
    }

    /// Writes the distances of a row-major panel from every center.
    fn write_distances(&self, panel: &[f64], answers: &mut [f64]) {
        let ready = self.ready();
        let panel = ready.ordered(panel);
        for (c, (root, mean)) in ready.centers().enumerate() {
            let distances = root.distances(&panel, mean);
            let column = answers.iter_mut().skip(c).step_by(self.classes.len());
            column.zip(distances).for_each(|(a, d)| *a = d);
        }
    }

    /// Writes `log p(c) − ½ (log det Σ_c + distance)` of a row-major panel.
    fn write_scores(&self, peaks: &[f64], panel: &[f64], scores: &mut [f64]) {
        self.write_distances(panel, scores);
        for row in scores.chunks_exact_mut(peaks.len()) {
            row.iter_mut().zip(peaks).for_each(|(s, peak)| *s = peak - 0.5 * *s);
        }
        if !all_finite(scores) {
            scores.chunks_exact_mut(peaks.len()).for_each(tame);
        }
    }

    /// The scores of every row and class.
    pub(super) fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        let peaks = self.peaks();
        by_panels(x, PANEL, peaks.len(), |panel, scores| {
            self.write_scores(&peaks, panel, scores);
            all_finite(panel)
        })
    }

    /// The class of the highest score of every row. Where columns are many, a class is dropped from the
    /// race as soon as it can no longer win.
    pub(super) fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        let (ready, peaks) = (self.ready(), self.peaks());
        let codes = if self.means.ncols() <= 2 * BLOCK {
            by_panels(x, PANEL, 1, |panel, codes| {
                let mut scores = vec![0.0; codes.len() * peaks.len()];
                self.write_scores(&peaks, panel, &mut scores);
                write_winners(&scores, codes);
                all_finite(panel)
            })?
        } else {
            let race = PrunedArgmax { classes: ready.centers().collect(), peaks: &peaks };
            by_panels(x, pruned_argmax::PANEL, 1, |panel, codes| {
                race.run(&ready.ordered(panel), codes);
                all_finite(panel)
            })?
        };
        Ok(codes.iter().map(|code| *code as u32).collect())
    }

    pub(super) fn log_joint(&self, x: &Rows<'_>) -> Result<Matrix> {
        Ok(self.scores(x)? - 0.5 * self.means.ncols() as f64 * TAU.ln())
    }

    pub(super) fn sample(&self, n: usize, random: &mut Random) -> (Matrix, Vec<u32>) {
        let priors: Vec<f64> = self.log_priors.iter().map(|p| p.exp()).collect();
        let codes: Vec<u32> = (0..n).map(|_| random.choice(&priors) as u32).collect();
        let places: Vec<usize> = codes.iter().map(|c| *c as usize).collect();
        let mut rows = self.means.select(Axis(0), &places);
        for (mut row, c) in rows.outer_iter_mut().zip(places) {
            let Ready { order, roots, .. } = self.ready();
            let z: Vec<f64> = (0..roots[c].size()).map(|_| random.normal()).collect();
            order.iter().zip(roots[c].stretch(&z)).for_each(|(j, d)| row[*j] += d);
        }
        (rows, codes)
    }

    /// A distance is a sum over columns, `Σⱼ (x − m)ⱼ [Σ⁻¹ (x − m)]ⱼ`, so each has its say.
    pub(super) fn terms(&self, row: &[f64]) -> (Vec<f64>, Matrix) {
        let mut terms = Matrix::zeros((row.len(), self.classes.len()));
        let ready = self.ready();
        let row = ready.ordered(row);
        for (c, (root, mean)) in ready.centers().enumerate() {
            let difference: Vec<f64> = row.iter().zip(mean).map(|(x, m)| x - m).collect();
            let solved = root.solve(&difference);
            for (j, (d, s)) in ready.order.iter().zip(difference.iter().zip(solved)) {
                terms[[*j, c]] = -0.5 * d * s;
            }
        }
        (self.peaks(), terms)
    }

    pub(super) fn derived(&self, name: &str) -> Option<Matrix> {
        let list =
            |v: Vec<f64>| ArrayView2::from_shape((1, v.len()), &v).ok().map(|v| v.to_owned());
        let roots = self.roots().iter();
        match name {
            "ranks" => list(roots.map(|root| root.rank as f64).collect()),
            "log_determinants" => list(roots.map(|root| root.log_determinant).collect()),
            _ => None,
        }
    }

    /// How many directions are missing in all classes together, and how much rounding is magnified.
    pub(super) fn certificate(&self) -> Certificate {
        let seen = |c: usize| self.class_weights[c] > 0.0;
        let roots = || self.roots().iter().enumerate().filter(|(c, _)| seen(*c));
        let missing: usize = roots().map(|(_, root)| self.means.ncols() - root.rank).sum();
        Certificate::closed_form()
            .violation("null directions of class covariances, regularized", missing as f64)
            .condition(roots().map(|(_, root)| root.condition).fold(1.0, f64::max))
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
            return Err(Error::File("Gaussian classes that no fit could make".into()));
        }
        self.check_roots().map_err(|e| Error::File(e.to_string()))
    }
}

/// Writes what a model of [`ClassGaussians`] can do: everything is theirs.
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

            fn sample(&self, n: usize, random: &mut Random) -> (Matrix, Vec<u32>) {
                self.gaussians.sample(n, random)
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
