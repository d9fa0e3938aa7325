//! Linear discriminant analysis: all classes have the same covariance, so borders are planes.
//!
//! `score_c(x) = log p(c) − ½ ‖m_c − m‖² + (x − m)ᵀ Σ⁻¹ (m_c − m)`, with `m` the mean of the centers
//! and lengths measured by `Σ`; the softmax of the scores is the posterior. The same geometry, turned
//! so that the centers spread most along the first axis, is Fisher's projection (Fisher 1936; Rao
//! 1948).
//!
//! Fitting needs each class's weight and mean and one scatter matrix within classes, so twenty
//! thousand classes need no more than one square.

use super::class_covariances::{
    ClassCovariances, check_range, divisor, estimated_covariance, fill_unseen, log_priors,
};
use super::null_space::first_columns;
use super::row_blocks::{PANEL, all_finite, by_panels, tame, write_winners};
use super::shrinkage::{Shrinkage, mean_variance, towards_identity};
use super::whitening::{Thin, Whitening};
use crate::bayes::Variance;
use crate::explain::ClassMeans;
use crate::model::Cached;
use crate::prelude::*;
use crate::stats::{WithinClassScatter, packed_symmetric};
use mercer_num::linalg::Svd;
use mercer_num::random::Random;
use mercer_num::simd::centered_product::{ColumnStrips, add_centered_times};
use ndarray::{ArrayView2, Axis};
use std::f64::consts::TAU;

/// Cells that are looked at together.
const CELLS: usize = 1 << 15;

choice! {
    /// Scikit-learn's names for ways to the same rule.
    pub enum LdaSolver {
        /// By singular values.
        Svd = "svd",
        /// By least squares.
        Lsqr = "lsqr",
        /// By eigenvalues.
        Eigen = "eigen",
    }
}

params! {
    /// Linear discriminant analysis: Gaussian classes with one covariance, and Fisher's projection.
    pub struct LinearDiscriminantAnalysis {
        /// Scikit-learn's name of a way to compute; every one leads to the same numbers here, and
        /// the condition of the covariance decides how they are found.
        solver: LdaSolver = LdaSolver::Svd, OneOf(LdaSolver::WORDS);
        /// Share of a multiple of the identity in the covariance; `auto` takes Ledoit and Wolf's,
        /// `oas` the oracle approximating one, class by class. Larger values trust the columns'
        /// correlations less.
        shrinkage: Shrinkage = Shrinkage::Nothing, Between(0.0, 1.0);
        /// Class priors in class order; empty takes the shares seen in the data.
        priors: Vec<f64> = Vec::new(), Simplex;
        /// How many axes `transform` has; by default one fewer than there are classes, or as many
        /// as there are columns.
        n_components: Option<usize> = None, AtLeast(1.0);
        /// For code written for scikit-learn: the covariance is the model itself, so it is kept
        /// either way.
        store_covariance: bool = false, Any;
        /// A direction whose standard deviation, in units of the columns' own, is at most this is
        /// left out.
        tol: f64 = 1e-4, AtLeast(0.0);
        /// Whether the scatter is divided by the weight (`population`) or by the weight less the
        /// number of classes (`sample`).
        variance: Variance = Variance::Population, OneOf(Variance::WORDS);
    }
}

/// A center for every class and one covariance for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearDiscriminantAnalysisModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The weight of the rows of each class.
    pub class_weights: Vec<f64>,
    /// The centers, one row a class.
    pub means: Matrix,
    /// The covariance within classes, shrinkage included.
    pub covariance: Matrix,
    /// How many axes the projection has at most.
    pub n_components: usize,
    /// Below this, a direction has no spread.
    pub tol: f64,
    #[serde(skip)]
    rule: Cached<Option<Box<Rule>>>,
}

/// What follows from centers and covariance.
#[derive(Clone, Debug)]
struct Rule {
    root: Whitening,
    /// The mean of the centers, each as likely as its class.
    center: Vec<f64>,
    /// `Σ⁻¹ (m_c − center)`, one row a class.
    coefficients: Matrix,
    /// `log p(c) − ½ ‖m_c − center‖²`.
    offsets: Vec<f64>,
    /// Where rows are seen from: zero where the center is not far from it, else the center.
    origin: Vec<f64>,
    /// The scores there.
    starts: Vec<f64>,
    /// Fisher's axes, one a column.
    axes: Matrix,
    /// The share of each axis in the spread of the centers.
    ratios: Vec<f64>,
}

impl Accumulate for LinearDiscriminantAnalysis {
    type Stats = ClassCovariances<WithinClassScatter>;
    type Model = LinearDiscriminantAnalysisModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, self.shrinkage, WithinClassScatter::of_rows)
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        let (classes, class_weights) = match self.shrinkage {
            Shrinkage::Estimated(_) => (stats.fourths.classes(), stats.fourths.weights()),
            _ => (stats.plain.classes(), stats.plain.weights()),
        };
        classes.check_several()?;
        let log_priors = log_priors(&self.priors, &class_weights)?;
        let total: f64 = class_weights.iter().sum();
        let n_seen = class_weights.iter().filter(|w| **w > 0.0).count() as f64;
        let factor = divisor(self.variance, total, n_seen);
        let (mut means, covariance) = match self.shrinkage {
            Shrinkage::Estimated(by) => {
                let groups = stats.fourths.groups();
                let width = groups.scatters.means.ncols();
                let mut covariance = Matrix::zeros((width, width));
                for (c, prior) in log_priors.iter().enumerate() {
                    covariance.scaled_add(prior.exp(), &estimated_covariance(&groups, c, by));
                }
                (groups.scatters.means, covariance * (factor * total))
            }
            shrinkage => {
                let groups = stats.plain.groups();
                let width = groups.means.ncols();
                let mut covariance = packed_symmetric::square(&groups.scatter, width, factor);
                if let Shrinkage::Fixed(amount) = shrinkage {
                    let unit = mean_variance(&covariance);
                    towards_identity(&mut covariance, amount, unit);
                }
                (groups.means, covariance)
            }
        };
        fill_unseen(&class_weights, &mut means);
        check_range(&means, &covariance.diag().to_vec())?;
        let most = (classes.len() - 1).min(means.ncols());
        let n_components = self.n_components.unwrap_or(most);
        if n_components > most {
            return Err(Error::Parameter {
                name: "n_components".into(),
                found: n_components.to_string(),
                expected: format!("at most {most}, for {} classes", classes.len()),
            });
        }
        let model = LinearDiscriminantAnalysisModel {
            classes: classes.clone(),
            log_priors,
            class_weights,
            means,
            covariance,
            n_components,
            tol: self.tol,
            rule: Cached::default(),
        };
        model.check_rule()?;
        Ok(model)
    }

    /// How many directions have no spread, and how much rounding is magnified in the others.
    fn certificate(&self, _stats: &Self::Stats, model: &Self::Model) -> Certificate {
        let root = &model.rule().root;
        let missing = model.means.ncols() - root.rank;
        Certificate::closed_form()
            .violation("null directions of the within-class scatter, dropped", missing as f64)
            .condition(root.condition)
    }
}

impl LinearDiscriminantAnalysisModel {
    /// How many directions have a spread within classes.
    pub fn rank(&self) -> usize {
        self.rule().root.rank
    }

    /// `Σ⁻¹ (m_c − m)`, one row a class: what a unit of each column adds to the scores.
    pub fn coefficients(&self) -> &Matrix {
        &self.rule().coefficients
    }

    /// The scores of a row of zeros.
    pub fn intercepts(&self) -> Vec<f64> {
        self.rule().scores_of_zero()
    }

    /// Fisher's axes, one a column: rows less the mean of the centers, times these, spread by one
    /// within classes and most between them along the first.
    pub fn axes(&self) -> &Matrix {
        &self.rule().axes
    }

    fn rule(&self) -> &Rule {
        self.rule
            .get(|| self.make_rule().map(Box::new))
            .as_ref()
            .expect("checked when the model was made")
    }

    fn check_rule(&self) -> Result<()> {
        match self.rule.get(|| self.make_rule().map(Box::new)) {
            Some(_) => Ok(()),
            None => Err(Error::TooLarge { column: 0 }),
        }
    }

    fn make_rule(&self) -> Option<Rule> {
        let (n_classes, width) = self.means.dim();
        let mut center = ndarray::Array1::zeros(width);
        for (prior, mean) in self.log_priors.iter().zip(self.means.outer_iter()) {
            center.scaled_add(prior.exp(), &mean);
        }
        let center = center.to_vec();
        let root = Whitening::of(self.covariance.view(), &center, self.tol, Thin::Dropped)?;
        let mut centered = self.means.clone();
        centered.outer_iter_mut().for_each(|mut m| m -= &ndarray::ArrayView1::from(&center));
        let turned = centered.t().as_standard_layout().into_owned().into_raw_vec_and_offset().0;
        let whitened = root.whiten(&turned, n_classes);
        let matrix = |cells: Vec<f64>, rows: usize, columns: usize| {
            Matrix::from_shape_vec((rows, columns), cells).expect("one cell a row and column")
        };
        let coefficients = matrix(root.pull(&whitened, n_classes), width, n_classes);
        let whitened = matrix(whitened, root.size(), n_classes);
        let offsets = (self.log_priors.iter().zip(whitened.columns()))
            .map(|(prior, mean)| prior - 0.5 * mean.iter().map(|v| v * v).sum::<f64>())
            .collect();
        let (axes, ratios) = self.fisher(&root, &whitened)?;
        let coefficients = coefficients.t().as_standard_layout().into_owned();
        let finite = coefficients.iter().all(|v| v.is_finite());
        let (origin, starts) = (center.clone(), Vec::clone(&offsets));
        let mut rule = Rule { root, center, coefficients, offsets, origin, starts, axes, ratios };
        if rule.center_is_near_zero(&self.covariance) {
            (rule.origin, rule.starts) = (vec![0.0; width], rule.scores_of_zero());
        }
        finite.then_some(rule)
    }

    /// The axes along which the centers, each as heavy as its class is likely, spread most.
    fn fisher(&self, root: &Whitening, whitened: &Matrix) -> Option<(Matrix, Vec<f64>)> {
        let mut weighted = whitened.clone();
        for (prior, mut column) in self.log_priors.iter().zip(weighted.columns_mut()) {
            column *= (0.5 * prior).exp();
        }
        let svd = Svd::of(weighted.view())?;
        let total: f64 = svd.values.iter().map(|v| v * v).sum();
        let largest = svd.values.first().copied().unwrap_or(0.0);
        let ratios = (svd.values.iter().take(self.n_components))
            .map(|v| if total > 0.0 { v * v / total } else { 0.0 })
            .collect();
        let n_axes = svd.values.iter().filter(|v| **v > self.tol * largest).count();
        let directions = first_columns(&svd.u, n_axes).as_standard_layout().into_owned();
        if n_axes == 0 {
            return Some((Matrix::zeros((self.means.ncols(), 0)), ratios));
        }
        let cells = root.pull(directions.as_slice()?, n_axes);
        let mut axes = Matrix::from_shape_vec((self.means.ncols(), n_axes), cells).ok()?;
        // The sign of an axis is free: its largest entry points up.
        for mut axis in axes.columns_mut() {
            let largest = axis.iter().fold(0.0, |a: f64, v| if v.abs() > a.abs() { *v } else { a });
            if largest < 0.0 {
                axis.mapv_inplace(|v| -v);
            }
        }
        Some((axes, ratios))
    }

    /// The coefficients as products read them: a row a column, a column a class.
    fn weights(&self) -> ColumnStrips {
        let coefficients = &self.rule().coefficients;
        ColumnStrips::new(coefficients.ncols(), coefficients.nrows(), |j, c| coefficients[[c, j]])
    }

    /// Rows that are looked at together.
    fn panel_rows(&self) -> usize {
        (CELLS / self.n_columns().max(1)).clamp(32, 1024).next_multiple_of(3)
    }

    /// Writes the scores of a row-major panel; says whether they are finite, and so all cells.
    fn write_scores(&self, panel: &[f64], weights: &ColumnStrips, scores: &mut [f64]) -> bool {
        let Rule { origin, starts, .. } = self.rule();
        scores.chunks_exact_mut(starts.len()).for_each(|row| row.copy_from_slice(starts));
        add_centered_times(panel, origin, weights, scores);
        let finite = all_finite(scores);
        if !finite {
            scores.chunks_exact_mut(starts.len()).for_each(tame);
        }
        finite
    }

    /// `log N(x; center, Σ)` of each row: what all scores leave out.
    fn common(&self, x: &Rows<'_>) -> Result<Matrix> {
        let rule = self.rule();
        let peak = -0.5 * (rule.root.log_determinant + rule.root.dimension as f64 * TAU.ln());
        by_panels(x, PANEL, 1, |panel, answers| {
            let distances = rule.root.distances(panel, &rule.center);
            answers.iter_mut().zip(distances).for_each(|(a, d)| *a = peak - 0.5 * d);
            all_finite(panel)
        })
    }
}

impl Rule {
    /// The scores of a row of zeros.
    fn scores_of_zero(&self) -> Vec<f64> {
        (self.coefficients.outer_iter().zip(&self.offsets))
            .map(|(row, offset)| {
                offset - row.iter().zip(&self.center).map(|(a, b)| a * b).sum::<f64>()
            })
            .collect()
    }

    /// Whether seeing rows from zero costs no more than the last three digits: for every class, what the center
    /// adds to the score, term by term, is at most so many times what a deviation of every column adds.
    fn center_is_near_zero(&self, covariance: &Matrix) -> bool {
        const NEAR: f64 = 1024.0;
        self.coefficients.outer_iter().all(|row| {
            let terms = row.iter().zip(&self.center).zip(covariance.diag());
            let (far, wide) = terms.fold((0.0, 0.0), |(far, wide), ((w, m), variance)| {
                (far + (w * m).abs(), wide + w.abs() * variance.sqrt())
            });
            far <= NEAR * wide
        })
    }
}

impl Classifier for LinearDiscriminantAnalysisModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.means.ncols()
    }

    fn class_means(&self) -> Option<ClassMeans> {
        let deviation = |j: usize| self.covariance[[j, j]].max(0.0).sqrt();
        let (n_classes, width) = self.means.dim();
        let moments = |c, j| (self.means[[c, j]], deviation(j));
        Some(ClassMeans::of_columns(n_classes, width, moments))
    }

    /// The linear scores: `log p(c | x)` up to what all classes have in common.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let weights = self.weights();
        by_panels(x, self.panel_rows(), self.classes.len(), |panel, scores| {
            self.write_scores(panel, &weights, scores)
        })
    }

    /// By the same scores, which are seen while they are in cache and not kept.
    fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        self.check_columns(x)?;
        let weights = self.weights();
        let n_classes = self.classes.len();
        let codes = by_panels(x, self.panel_rows(), 1, |panel, codes| {
            let mut scores = vec![0.0; codes.len() * n_classes];
            let finite = self.write_scores(panel, &weights, &mut scores);
            write_winners(&scores, codes);
            finite
        })?;
        Ok(codes.iter().map(|code| *code as u32).collect())
    }
}

impl Probabilistic for LinearDiscriminantAnalysisModel {}

impl Generative for LinearDiscriminantAnalysisModel {
    fn log_joint(&self, x: &Rows<'_>) -> Result<Matrix> {
        let mut joint = self.scores(x)?;
        joint += &self.common(x)?;
        Ok(joint)
    }

    fn sample(&self, n: usize, random: &mut Random) -> (Matrix, Vec<u32>) {
        let root = &self.rule().root;
        let priors: Vec<f64> = self.log_priors.iter().map(|p| p.exp()).collect();
        let codes: Vec<u32> = (0..n).map(|_| random.choice(&priors) as u32).collect();
        let mut rows =
            self.means.select(Axis(0), &codes.iter().map(|c| *c as usize).collect::<Vec<_>>());
        for mut row in rows.outer_iter_mut() {
            let z: Vec<f64> = (0..root.size()).map(|_| random.normal()).collect();
            row.iter_mut().zip(root.stretch(&z)).for_each(|(x, d)| *x += d);
        }
        (rows, codes)
    }
}

impl Transformer for LinearDiscriminantAnalysisModel {
    fn n_inputs(&self) -> usize {
        self.n_columns()
    }

    fn n_outputs(&self) -> usize {
        self.n_components.min(self.rule().axes.ncols())
    }

    /// Fisher's projection: rows along the axes that tell classes apart.
    fn transform(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let axes = first_columns(&self.rule().axes, self.n_outputs());
        let weights = ColumnStrips::new(axes.nrows(), axes.ncols(), |j, k| axes[[j, k]]);
        by_panels(x, self.panel_rows(), axes.ncols(), |panel, answers| {
            add_centered_times(panel, &self.rule().center, &weights, answers);
            all_finite(answers)
        })
    }
}

impl AdditiveScores for LinearDiscriminantAnalysisModel {
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.scores(&Rows::from(ndarray::ArrayView1::from(row)))?;
        let rule = self.rule();
        let terms = Matrix::from_shape_fn((row.len(), self.classes.len()), |(j, c)| {
            rule.coefficients[[c, j]] * (row[j] - rule.center[j])
        });
        Ok((rule.offsets.clone(), terms))
    }
}

impl Discriminant for LinearDiscriminantAnalysisModel {
    fn distances(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let root = &self.rule().root;
        by_panels(x, PANEL, self.classes.len(), |panel, answers| {
            for (c, mean) in self.means.outer_iter().enumerate() {
                let distances =
                    root.distances(panel, mean.to_slice().expect("means are row-major"));
                let column = answers.iter_mut().skip(c).step_by(self.classes.len());
                column.zip(distances).for_each(|(a, d)| *a = d);
            }
            all_finite(panel)
        })
    }

    fn derived_names(&self) -> &'static [&'static str] {
        &["coefficients", "intercepts", "center", "axes", "explained_variance_ratio", "rank"]
    }

    fn derived(&self, name: &str) -> Option<Matrix> {
        let rule = self.rule();
        let list = |values: &[f64]| {
            ArrayView2::from_shape((1, values.len()), values).ok().map(|v| v.to_owned())
        };
        match name {
            "coefficients" => Some(rule.coefficients.clone()),
            "intercepts" => list(&self.intercepts()),
            "center" => list(&rule.center),
            "axes" => Some(rule.axes.clone()),
            "explained_variance_ratio" => list(&rule.ratios),
            "rank" => list(&[rule.root.rank as f64]),
            _ => None,
        }
    }
}

impl Check for LinearDiscriminantAnalysisModel {
    fn check(&self) -> Result<()> {
        let (n_classes, width) = self.means.dim();
        let total: f64 = self.log_priors.iter().map(|p| p.exp()).sum();
        let fits = self.classes.len() == n_classes
            && n_classes >= 2
            && width >= 1
            && self.log_priors.len() == n_classes
            && self.class_weights.len() == n_classes
            && self.covariance.dim() == (width, width)
            && self.means.is_standard_layout()
            && (1..=(n_classes - 1).min(width)).contains(&self.n_components)
            && (total - 1.0).abs() < 1e-6
            && self.class_weights.iter().all(|w| w.is_finite() && *w >= 0.0)
            && self.tol.is_finite()
            && self.tol >= 0.0
            && self.means.iter().chain(&self.covariance).all(|v| v.is_finite())
            && self.covariance == self.covariance.t()
            && self.covariance.diag().iter().all(|v| *v >= 0.0);
        if !fits {
            return Err(Error::File("a linear discriminant that no fit could make".into()));
        }
        self.check_rule().map_err(|e| Error::File(e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn fit(
        params: &LinearDiscriminantAnalysis,
        x: &Matrix,
        codes: &[u32],
        n_classes: usize,
    ) -> LinearDiscriminantAnalysisModel {
        let classes = Classes::from_names((0..n_classes).map(|c| format!("class {c}")));
        let data = Dataset::classes(x, codes, &classes).unwrap();
        params.fit(&data, &Monitor::quiet()).unwrap().model
    }

    #[test]
    fn one_column_by_hand() {
        // Class 0 at 1 and 3, class 1 at 6 and 8: centers 2 and 7, variance 1.
        let x = array![[1.0], [3.0], [6.0], [8.0]];

        let model = fit(&LinearDiscriminantAnalysis::new(), &x, &[0, 0, 1, 1], 2);
        let unbiased = LinearDiscriminantAnalysis::new().variance(Variance::Sample);
        let unbiased = fit(&unbiased, &x, &[0, 0, 1, 1], 2);

        assert_eq!(model.covariance, array![[1.0]]);
        assert_eq!(unbiased.covariance, array![[2.0]]);
        assert_eq!(model.coefficients(), array![[-2.5], [2.5]]);
        // The two-class form: (7 − 2) x > (49 − 4) / 2, that is x > 4.5.
        let scores = model.scores(&Rows::from(&array![[4.5], [4.6]])).unwrap();
        assert!((scores[[0, 0]] - scores[[0, 1]]).abs() < 1e-14);
        assert!(scores[[1, 1]] > scores[[1, 0]]);
        assert_eq!(model.distances(&Rows::from(&array![[4.0]])).unwrap(), array![[4.0, 9.0]]);
    }

    #[test]
    fn the_projection_whitens_within_and_parts_the_centers() {
        let mut random = Random::new(3);
        let codes: Vec<u32> = (0..300).map(|i| i % 3).collect();
        let x = Matrix::from_shape_fn((300, 4), |(i, j)| {
            f64::from(codes[i]) * (j as f64 - 1.0) + random.normal() * (1 + j) as f64
        });

        let model = fit(&LinearDiscriminantAnalysis::new(), &x, &codes, 3);
        let projected = model.transform(&Rows::from(&x)).unwrap();
        let again = fit(&LinearDiscriminantAnalysis::new(), &projected, &codes, 3);

        assert_eq!(projected.dim(), (300, 2));
        for ((i, j), v) in again.covariance.indexed_iter() {
            assert!((v - if i == j { 1.0 } else { 0.0 }).abs() < 1e-9);
        }
        let (a, b) = (
            model.log_proba(&Rows::from(&x)).unwrap(),
            again.log_proba(&Rows::from(&projected)).unwrap(),
        );
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn more_columns_than_rows_and_constant_ones_have_an_answer_and_a_rank() {
        let x = array![
            [1.0, 5.0, 2.0, 4.0, 0.1],
            [2.0, 5.0, 1.0, 3.0, 0.1],
            [7.0, 5.0, 9.0, 1.0, 0.1],
            [8.0, 5.0, 7.0, 1.5, 0.1]
        ];

        let model = fit(&LinearDiscriminantAnalysis::new(), &x, &[0, 0, 1, 1], 2);

        assert_eq!(model.rank(), 2);
        let log_proba = model.log_proba(&Rows::from(&x)).unwrap();
        assert!(log_proba.iter().all(|p| p.is_finite()));
        assert_eq!(model.predict(&Rows::from(&x)).unwrap(), [0, 0, 1, 1]);
    }
}
