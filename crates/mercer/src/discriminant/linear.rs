//! Linear discriminant analysis: Gaussian classes with one shared covariance, so decision boundaries are hyperplanes.
//!
//! `score_c(x) = log p(c) − ½ ‖m_c − m‖² + (x − m)ᵀ Σ⁻¹ (m_c − m)`, with `m` the prior-weighted mean of the class means and
//! Mahalanobis norms; the softmax of the scores is the posterior. Fisher's projection has the directions that maximize
//! the variance between classes relative to that within classes (Fisher 1936; Rao 1948).
//!
//! The sufficient statistics are the weight and mean of each class and one scatter matrix within classes, so that the
//! memory is independent of the number of classes but for the means.

use super::class_covariances::{
    ClassCovariances, check_range, divisor, estimated_covariance, fill_unobserved_classes,
};
use super::null_space::first_columns;
use super::row_blocks::{ROWS_PER_BLOCK, all_finite, reset_overflow, score_blocks, write_argmax};
use super::shrinkage::{Shrinkage, mean_variance, towards_identity};
use super::whitening::{NullSpace, Whitening};
use crate::explain::ClassMeans;
use crate::model::Cached;
use crate::prelude::*;
use crate::stats::{Variance, WithinClassScatter, drawn_classes, log_priors, packed_symmetric};
use mercer_num::linalg::Svd;
use mercer_num::random::Random;
use mercer_num::simd::centered_product::{ColumnStrips, add_centered_times};
use ndarray::{ArrayView2, Axis};
use std::f64::consts::TAU;

/// Cells of one block of rows.
const CELLS_PER_BLOCK: usize = 1 << 15;

choice! {
    /// The solvers of scikit-learn; all give the same model here.
    pub enum LdaSolver {
        /// Singular value decomposition.
        Svd = "svd",
        /// Least squares.
        Lsqr = "lsqr",
        /// Eigendecomposition.
        Eigen = "eigen",
    }
}

params! {
    /// Linear discriminant analysis: Gaussian classes with one covariance, and Fisher's projection.
    pub struct LinearDiscriminantAnalysis {
        /// Accepted for compatibility with scikit-learn; all values give the same model. The factorization is
        /// chosen by the condition number of the covariance.
        solver: LdaSolver = LdaSolver::Svd, OneOf(LdaSolver::VALUES);
        /// Shrinkage intensity: the weight of a multiple of the identity in the covariance, between 0 and 1. `auto`
        /// estimates it by Ledoit and Wolf, `oas` by oracle approximating shrinkage, for each class; `None` does
        /// not shrink. Larger values shrink correlations more.
        shrinkage: Shrinkage = Shrinkage::Nothing, Between(0.0, 1.0);
        ..Priors;
        /// Number of columns of `transform`. `None` uses the number of classes less one, at most the number of
        /// columns.
        n_components: Option<usize> = None, AtLeast(1.0);
        /// Accepted for compatibility with scikit-learn; the covariance is stored in any case.
        store_covariance: bool = false, Any;
        /// Directions with a standard deviation of at most `tol`, relative to those of the columns, are dropped as
        /// the null space of the covariance.
        tol: f64 = 1e-4, AtLeast(0.0);
        /// Divisor of the scatter matrix: the total weight (`population`) or the total weight less the number of
        /// classes (`sample`).
        variance: Variance = Variance::Population, OneOf(Variance::VALUES);
    }
    formula = "argmax_c log P(c) − ½ (x − μ_c)ᵀ Σ⁻¹ (x − μ_c)";
    lecture = 8;
    attributes = [
        PRIORS,
        MEANS,
        own(
            "covariance_",
            "ndarray of shape (n_features, n_features)",
            "Covariance `Σ` within classes, shrinkage included.",
        ),
        of_field(
            "coef_",
            "coefficients",
            "class_contrast",
            "ndarray of shape (1, n_features) or (n_classes, n_features)",
            "Weights of the class scores; for two classes their difference.",
        ),
        of_field(
            "intercept_",
            "intercepts",
            "class_contrast_of_intercepts",
            "ndarray of shape (1,) or (n_classes,)",
            "Intercept of each row of `coef_`.",
        ),
        of_field("xbar_", "center", "ravel", PER_FEATURE, "Mean of the class means, weighted by the priors."),
        field(
            "scalings_",
            "axes",
            "ndarray of shape (n_features, n_components)",
            "Directions of the projection of `transform`.",
        ),
        of_field(
            "explained_variance_ratio_",
            "explained_variance_ratio",
            "ravel",
            "ndarray of shape (n_components,)",
            "Fraction of the variance between classes along each direction.",
        ),
        of_field("rank_", "rank", "integer", "int", "Numerical rank of the covariance."),
    ];
    sklearn {
        positional: &[
            "solver",
            "shrinkage",
            "priors",
            "n_components",
            "store_covariance",
            "tol",
            "covariance_estimator",
        ],
        extra: &[COVARIANCE_ESTIMATOR],
    }
}

/// The class means and the shared covariance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearDiscriminantAnalysisModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The weight of the rows of each class.
    pub class_weights: Vec<f64>,
    /// The class means, one row per class.
    pub means: Matrix,
    /// The covariance within classes, shrinkage included.
    pub covariance: Matrix,
    /// Maximum number of columns of the projection.
    pub n_components: usize,
    /// Relative standard deviation up to which a direction belongs to the null space.
    pub tol: f64,
    #[serde(skip)]
    rule: Cached<Option<Box<DecisionRule>>>,
}

/// What is derived from the means and the covariance.
#[derive(Clone, Debug)]
struct DecisionRule {
    whitening: Whitening,
    /// The prior-weighted mean of the class means.
    center: Vec<f64>,
    /// `Σ⁻¹ (m_c − center)`, one row per class.
    coefficients: Matrix,
    /// `log p(c) − ½ ‖m_c − center‖²`.
    offsets: Vec<f64>,
    /// The origin of scores: zero if the center is close to it, else the center.
    origin: Vec<f64>,
    /// The scores at the origin.
    scores_at_origin: Vec<f64>,
    /// Fisher's axes, one per column.
    axes: Matrix,
    /// The fraction of the variance between classes along each axis.
    explained_variance_ratio: Vec<f64>,
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
        let log_priors = log_priors(&self.priors, true, &class_weights)?;
        let total: f64 = class_weights.iter().sum();
        let n_observed = class_weights.iter().filter(|w| **w > 0.0).count() as f64;
        let factor = divisor(self.variance, total, n_observed);
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
        fill_unobserved_classes(&class_weights, &mut means);
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

    /// The dimension of the null space, and the condition number in its complement.
    fn certificate(&self, _stats: &Self::Stats, model: &Self::Model) -> Certificate {
        let whitening = &model.rule().whitening;
        let missing = model.means.ncols() - whitening.rank;
        Certificate::closed_form()
            .violation("null directions of the within-class scatter, dropped", missing as f64)
            .condition(whitening.condition)
    }
}

impl LinearDiscriminantAnalysisModel {
    /// The rank of the covariance within classes.
    pub fn rank(&self) -> usize {
        self.rule().whitening.rank
    }

    /// `Σ⁻¹ (m_c − m)`, one row per class: the change of the scores per unit of each column.
    pub fn coefficients(&self) -> &Matrix {
        &self.rule().coefficients
    }

    /// The scores of a row of zeros.
    pub fn intercepts(&self) -> Vec<f64> {
        self.rule().scores_of_zero()
    }

    /// Fisher's axes, one per column. Centered rows times the axes have unit variance within classes, and the
    /// variance between classes decreases from axis to axis.
    pub fn axes(&self) -> &Matrix {
        &self.rule().axes
    }

    fn rule(&self) -> &DecisionRule {
        self.rule
            .get(|| self.derive_rule().map(Box::new))
            .as_ref()
            .expect("checked when the model was made")
    }

    fn check_rule(&self) -> Result<()> {
        match self.rule.get(|| self.derive_rule().map(Box::new)) {
            Some(_) => Ok(()),
            None => Err(Error::TooLarge { column: 0 }),
        }
    }

    fn derive_rule(&self) -> Option<DecisionRule> {
        let (n_classes, width) = self.means.dim();
        let mut center = ndarray::Array1::zeros(width);
        for (prior, mean) in self.log_priors.iter().zip(self.means.outer_iter()) {
            center.scaled_add(prior.exp(), &mean);
        }
        let center = center.to_vec();
        let whitening =
            Whitening::of(self.covariance.view(), &center, self.tol, NullSpace::Dropped)?;
        let mut centered = self.means.clone();
        centered.outer_iter_mut().for_each(|mut m| m -= &ndarray::ArrayView1::from(&center));
        let turned = centered.t().as_standard_layout().into_owned().into_raw_vec_and_offset().0;
        let whitened = whitening.whiten(&turned, n_classes);
        let matrix = |cells: Vec<f64>, rows: usize, columns: usize| {
            Matrix::from_shape_vec((rows, columns), cells).expect("one cell a row and column")
        };
        let coefficients =
            matrix(whitening.whiten_transposed(&whitened, n_classes), width, n_classes);
        let whitened = matrix(whitened, whitening.size(), n_classes);
        let offsets = (self.log_priors.iter().zip(whitened.columns()))
            .map(|(prior, mean)| prior - 0.5 * mean.iter().map(|v| v * v).sum::<f64>())
            .collect();
        let (axes, explained_variance_ratio) = self.discriminant_axes(&whitening, &whitened)?;
        let coefficients = coefficients.t().as_standard_layout().into_owned();
        let finite = coefficients.iter().all(|v| v.is_finite());
        let (origin, scores_at_origin) = (center.clone(), Vec::clone(&offsets));
        let mut rule = DecisionRule {
            whitening,
            center,
            coefficients,
            offsets,
            origin,
            scores_at_origin,
            axes,
            explained_variance_ratio,
        };
        if rule.center_is_near_zero(&self.covariance) {
            (rule.origin, rule.scores_at_origin) = (vec![0.0; width], rule.scores_of_zero());
        }
        finite.then_some(rule)
    }

    /// The axes of largest variance between the class means, weighted by the priors.
    fn discriminant_axes(
        &self,
        whitening: &Whitening,
        whitened: &Matrix,
    ) -> Option<(Matrix, Vec<f64>)> {
        let mut weighted = whitened.clone();
        for (prior, mut column) in self.log_priors.iter().zip(weighted.columns_mut()) {
            column *= (0.5 * prior).exp();
        }
        let svd = Svd::of(weighted.view())?;
        let total: f64 = svd.values.iter().map(|v| v * v).sum();
        let largest = svd.values.first().copied().unwrap_or(0.0);
        let explained_variance_ratio = (svd.values.iter().take(self.n_components))
            .map(|v| if total > 0.0 { v * v / total } else { 0.0 })
            .collect();
        let n_axes = svd.values.iter().filter(|v| **v > self.tol * largest).count();
        let directions = first_columns(&svd.u, n_axes).as_standard_layout().into_owned();
        if n_axes == 0 {
            return Some((Matrix::zeros((self.means.ncols(), 0)), explained_variance_ratio));
        }
        let cells = whitening.whiten_transposed(directions.as_slice()?, n_axes);
        let mut axes = Matrix::from_shape_vec((self.means.ncols(), n_axes), cells).ok()?;
        // The sign of an axis is arbitrary: its largest entry is made positive.
        for mut axis in axes.columns_mut() {
            let largest = axis.iter().fold(0.0, |a: f64, v| if v.abs() > a.abs() { *v } else { a });
            if largest < 0.0 {
                axis.mapv_inplace(|v| -v);
            }
        }
        Some((axes, explained_variance_ratio))
    }

    /// The coefficients in the layout of the products: one row per column of the data, one column per class.
    fn weights(&self) -> ColumnStrips {
        let coefficients = &self.rule().coefficients;
        ColumnStrips::new(coefficients.ncols(), coefficients.nrows(), |j, c| coefficients[[c, j]])
    }

    /// Rows of one block.
    fn rows_per_block(&self) -> usize {
        (CELLS_PER_BLOCK / self.n_columns().max(1)).clamp(32, 1024).next_multiple_of(3)
    }

    /// Writes the scores of a row-major block; says whether they are finite, and so all cells.
    fn write_scores(&self, block: &[f64], weights: &ColumnStrips, scores: &mut [f64]) -> bool {
        let DecisionRule { origin, scores_at_origin, .. } = self.rule();
        scores
            .chunks_exact_mut(scores_at_origin.len())
            .for_each(|row| row.copy_from_slice(scores_at_origin));
        add_centered_times(block, origin, weights, scores);
        let finite = all_finite(scores);
        if !finite {
            scores.chunks_exact_mut(scores_at_origin.len()).for_each(reset_overflow);
        }
        finite
    }

    /// `log N(x; center, Σ)` of each row: the term that the scores of all classes omit.
    fn log_reference_density(&self, x: &Rows<'_>) -> Result<Matrix> {
        let rule = self.rule();
        let peak =
            -0.5 * (rule.whitening.log_determinant + rule.whitening.dimension as f64 * TAU.ln());
        score_blocks(x, ROWS_PER_BLOCK, 1, |block, answers| {
            let distances = rule.whitening.distances(block, &rule.center);
            answers.iter_mut().zip(distances).for_each(|(a, d)| *a = peak - 0.5 * d);
            all_finite(block)
        })
    }
}

impl DecisionRule {
    /// The scores of a row of zeros.
    fn scores_of_zero(&self) -> Vec<f64> {
        (self.coefficients.outer_iter().zip(&self.offsets))
            .map(|(row, offset)| {
                offset - row.iter().zip(&self.center).map(|(a, b)| a * b).sum::<f64>()
            })
            .collect()
    }

    /// Whether uncentered scores lose at most three digits to cancellation: for every class, the terms of the center
    /// are at most `MAX_RATIO` times those of one standard deviation of every column.
    fn center_is_near_zero(&self, covariance: &Matrix) -> bool {
        const MAX_RATIO: f64 = 1024.0;
        self.coefficients.outer_iter().all(|row| {
            let terms = row.iter().zip(&self.center).zip(covariance.diag());
            let (far, wide) = terms.fold((0.0, 0.0), |(far, wide), ((w, m), variance)| {
                (far + (w * m).abs(), wide + w.abs() * variance.sqrt())
            });
            far <= MAX_RATIO * wide
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

    /// The linear scores: `log p(c | x)` up to a term that all classes share.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let weights = self.weights();
        score_blocks(x, self.rows_per_block(), self.classes.len(), |block, scores| {
            self.write_scores(block, &weights, scores)
        })
    }

    /// The argmax of the same scores, which are not stored.
    fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        self.check_columns(x)?;
        let weights = self.weights();
        let n_classes = self.classes.len();
        let codes = score_blocks(x, self.rows_per_block(), 1, |block, codes| {
            let mut scores = vec![0.0; codes.len() * n_classes];
            let finite = self.write_scores(block, &weights, &mut scores);
            write_argmax(&scores, codes);
            finite
        })?;
        Ok(codes.iter().map(|code| *code as u32).collect())
    }
}

impl Probabilistic for LinearDiscriminantAnalysisModel {}

impl Generative for LinearDiscriminantAnalysisModel {
    fn log_joint(&self, x: &Rows<'_>) -> Result<Matrix> {
        let mut joint = self.scores(x)?;
        joint += &self.log_reference_density(x)?;
        Ok(joint)
    }

    fn sample(&self, n: usize, given: Option<u32>, random: &mut Random) -> (Matrix, Vec<u32>) {
        let whitening = &self.rule().whitening;
        let codes = drawn_classes(&self.log_priors, n, given, random);
        let mut rows =
            self.means.select(Axis(0), &codes.iter().map(|c| *c as usize).collect::<Vec<_>>());
        for mut row in rows.outer_iter_mut() {
            let z: Vec<f64> = (0..whitening.size()).map(|_| random.normal()).collect();
            row.iter_mut().zip(whitening.unwhiten(&z)).for_each(|(x, d)| *x += d);
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

    /// Fisher's projection: the coordinates of rows along the discriminant axes.
    fn transform(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let axes = first_columns(&self.rule().axes, self.n_outputs());
        let weights = ColumnStrips::new(axes.nrows(), axes.ncols(), |j, k| axes[[j, k]]);
        score_blocks(x, self.rows_per_block(), axes.ncols(), |block, answers| {
            add_centered_times(block, &self.rule().center, &weights, answers);
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
        let whitening = &self.rule().whitening;
        score_blocks(x, ROWS_PER_BLOCK, self.classes.len(), |block, answers| {
            for (c, mean) in self.means.outer_iter().enumerate() {
                let distances =
                    whitening.distances(block, mean.to_slice().expect("means are row-major"));
                let column = answers.iter_mut().skip(c).step_by(self.classes.len());
                column.zip(distances).for_each(|(a, d)| *a = d);
            }
            all_finite(block)
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
            "explained_variance_ratio" => list(&rule.explained_variance_ratio),
            "rank" => list(&[rule.whitening.rank as f64]),
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
            return Err(Error::File("linear discriminant with inconsistent fields".into()));
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
    fn the_projection_whitens_within_classes() {
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
    fn more_columns_than_rows_and_constant_columns_have_a_rank() {
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
