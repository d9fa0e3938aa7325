//! Quadratic discriminant analysis: Gaussian classes with one covariance each, so decision boundaries are quadratic.
//!
//! `score_c(x) = log p(c) − ½ log det Σ_c − ½ (x − m_c)ᵀ Σ_c⁻¹ (x − m_c)`
//!
//! The sufficient statistics are the weight, mean and scatter matrix of each class.

use super::class_covariances::{
    ClassCovariances, divisor, estimated_covariance, fill_unobserved_classes, units,
};
use super::class_gaussians::{ClassGaussians, delegate_to_gaussians};
use super::shrinkage::{Shrinkage, mean_variance, towards_identity};
use crate::prelude::*;
use crate::stats::{ClassScatter, Variance, log_priors, packed_symmetric};
use mercer_num::random::Random;
use ndarray::{Array3, Axis};

choice! {
    /// The solvers of scikit-learn; both give the same model here.
    pub enum QdaSolver {
        /// Singular value decomposition.
        Svd = "svd",
        /// Eigendecomposition.
        Eigen = "eigen",
    }
}

params! {
    /// Quadratic discriminant analysis: Gaussian classes, each with a covariance of its own.
    pub struct QuadraticDiscriminantAnalysis {
        /// Accepted for compatibility with scikit-learn; both values give the same model. The factorization is chosen
        /// by the condition number of the covariances.
        solver: QdaSolver = QdaSolver::Svd, OneOf(QdaSolver::VALUES);
        /// Shrinkage intensity: the weight of a multiple of the identity in each covariance, between 0 and 1. `auto`
        /// estimates it by Ledoit and Wolf, `oas` by oracle approximating shrinkage, for each class; `None` does
        /// not shrink. Larger values shrink correlations more.
        shrinkage: Shrinkage = Shrinkage::Nothing, Between(0.0, 1.0);
        ..Priors;
        /// Regularization: each covariance becomes `(1 - reg_param) * covariance + reg_param * identity`, which depends
        /// on the units of the columns. Larger values make the class distributions more spherical.
        reg_param: f64 = 0.0, Between(0.0, 1.0);
        /// Accepted for compatibility with scikit-learn; the covariances are stored in any case.
        store_covariance: bool = false, Any;
        /// Smallest standard deviation of a direction, relative to those of the columns within the class. A class with
        /// a direction below it has a singular covariance and is refused; raise `reg_param` then.
        tol: f64 = 1e-4, AtLeast(0.0);
        /// Divisor of the scatter matrix of a class: its weight (`population`) or its weight less one (`sample`).
        variance: Variance = Variance::Population, OneOf(Variance::VALUES);
    }
    formula = "argmax_c log P(c) − ½ log det Σ_c − ½ (x − μ_c)ᵀ Σ_c⁻¹ (x − μ_c)";
    lecture = 8;
    attributes = [
        PRIORS,
        MEANS,
        of_field(
            "covariance_",
            "covariances",
            "list_of",
            "list of ndarray of shape (n_features, n_features)",
            "Covariance `Σ_c` of each class.",
        ),
        of_field("ranks_", "ranks", "integers", PER_CLASS, "Numerical rank of each covariance."),
        of_field(
            "log_determinants_",
            "log_determinants",
            "ravel",
            PER_CLASS,
            "Logarithm of the determinant of each covariance.",
        ),
    ];
    sklearn {
        extra: &[COVARIANCE_ESTIMATOR],
    }
}

/// One Gaussian per class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuadraticDiscriminantAnalysisModel {
    /// The Gaussians.
    pub gaussians: ClassGaussians,
}

impl Accumulate for QuadraticDiscriminantAnalysis {
    type Stats = ClassCovariances<ClassScatter>;
    type Model = QuadraticDiscriminantAnalysisModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, self.shrinkage, ClassScatter::of_rows)
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        let (classes, class_weights) = match self.shrinkage {
            Shrinkage::Estimated(_) => (stats.fourths.classes(), stats.fourths.weights()),
            _ => (stats.plain.classes(), stats.plain.weights()),
        };
        classes.check_several()?;
        let priors = (log_priors(&self.priors, true, &class_weights)?, class_weights.clone());
        let (groups, mut covariances) = match self.shrinkage {
            Shrinkage::Estimated(by) => {
                let groups = stats.fourths.groups();
                let mut all = own_covariances(&groups.scatters, Variance::Population);
                for (c, w) in class_weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                    let unbiased = divisor(self.variance, *w, 1.0) * w;
                    let covariance = estimated_covariance(&groups, c, by) * unbiased;
                    all.index_axis_mut(Axis(0), c).assign(&covariance);
                }
                (groups.scatters, all)
            }
            shrinkage => {
                let groups = stats.plain.groups();
                let mut all = own_covariances(&groups, self.variance);
                if let Shrinkage::Fixed(amount) = shrinkage {
                    for mut covariance in all.outer_iter_mut() {
                        let mut shrunk = covariance.to_owned();
                        let unit = mean_variance(&shrunk);
                        towards_identity(&mut shrunk, amount, unit);
                        covariance.assign(&shrunk);
                    }
                }
                (groups, all)
            }
        };
        if self.reg_param > 0.0 {
            covariances.mapv_inplace(|v| v * (1.0 - self.reg_param));
            for mut covariance in covariances.outer_iter_mut() {
                covariance.diag_mut().mapv_inplace(|v| v + self.reg_param);
            }
        }
        let mut means = groups.means.clone();
        fill_unobserved_classes(&class_weights, &mut means);
        let units = units(&groups, &means);
        let gaussians =
            ClassGaussians::new(classes.clone(), priors, means, covariances, units, self.tol)?;
        gaussians.check_full_rank()?;
        Ok(QuadraticDiscriminantAnalysisModel { gaussians })
    }

    fn certificate(&self, _stats: &Self::Stats, model: &Self::Model) -> Certificate {
        model.gaussians.certificate()
    }
}

/// The covariance of each class; the pooled covariance within classes for a class without rows.
pub(super) fn own_covariances(groups: &ClassScatter, variance: Variance) -> Array3<f64> {
    let (n_classes, width) = groups.means.dim();
    let total: f64 = groups.weights.iter().sum();
    let mut all = Array3::zeros((n_classes, width, width));
    for (c, w) in groups.weights.iter().enumerate() {
        let covariance = if *w > 0.0 {
            packed_symmetric::square(groups.scatter(c), width, divisor(variance, *w, 1.0))
        } else {
            packed_symmetric::square(&groups.within(), width, 1.0 / total)
        };
        all.index_axis_mut(Axis(0), c).assign(&covariance);
    }
    all
}

delegate_to_gaussians!(QuadraticDiscriminantAnalysisModel);

impl Check for QuadraticDiscriminantAnalysisModel {
    fn check(&self) -> Result<()> {
        self.gaussians.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn fit(params: &QuadraticDiscriminantAnalysis, x: &Matrix, codes: &[u32]) -> ClassGaussians {
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(x, codes, &classes).unwrap();
        params.fit(&data, &Monitor::quiet()).unwrap().model.gaussians
    }

    #[test]
    fn two_classes_by_hand() {
        // Class a: center (1, 1), variances 1 and 4, no correlation; class b twice as wide.
        let x = array![
            [0.0, -1.0],
            [0.0, 3.0],
            [2.0, -1.0],
            [2.0, 3.0],
            [8.0, 6.0],
            [8.0, 14.0],
            [12.0, 6.0],
            [12.0, 14.0]
        ];
        let codes = [0, 0, 0, 0, 1, 1, 1, 1];

        let gaussians = fit(&QuadraticDiscriminantAnalysis::new(), &x, &codes);
        let unbiased = QuadraticDiscriminantAnalysis::new().variance(Variance::Sample);
        let unbiased = fit(&unbiased, &x, &codes);

        let square = |c: usize| gaussians.covariances.index_axis(Axis(0), c).to_owned();
        assert_eq!(square(0), array![[1.0, 0.0], [0.0, 4.0]]);
        assert_eq!(square(1), array![[4.0, 0.0], [0.0, 16.0]]);
        assert!((unbiased.covariances[[0, 0, 0]] - 4.0 / 3.0).abs() < 1e-15);
        // At (3, 1): distance 4 from a; from b 49/4 + 81/16.
        let scores = gaussians.scores(&Rows::from(&array![[3.0, 1.0]])).unwrap();
        let expected =
            [0.5f64.ln() - 0.5 * 4f64.ln() - 2.0, 0.5f64.ln() - 0.5 * 64f64.ln() - 0.5 * 17.3125];
        assert!((scores[[0, 0]] - expected[0]).abs() < 1e-14);
        assert!((scores[[0, 1]] - expected[1]).abs() < 1e-14);
    }

    #[test]
    fn a_singular_class_is_refused_with_its_rank_unless_it_is_regularized() {
        // Class a is one row; class b lies on a line, and its third column never varies.
        let x = array![[1.0, 2.0, 3.0], [4.0, 4.0, 0.1], [5.0, 5.0, 0.1], [7.0, 7.0, 0.1]];
        let classes = Classes::from_names(["a", "b"]);
        let refusal = |rows: &Matrix, codes: &[u32], params: &QuadraticDiscriminantAnalysis| {
            let data = Dataset::classes(rows, codes, &classes).unwrap();
            params.fit(&data, &Monitor::quiet()).unwrap_err()
        };
        let singular = |class: &str, rank, rows| Error::SingularCovariance {
            class: class.into(),
            rank,
            n_columns: 3,
            rows,
        };
        let plain = QuadraticDiscriminantAnalysis::new();

        assert_eq!(refusal(&x, &[0, 1, 1, 1], &plain), singular("a", 0, 1.0));
        assert_eq!(refusal(&x, &[0, 0, 1, 1], &plain), singular("a", 1, 2.0));
        let five = array![
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [1.0, 1.0, 1.0],
            [4.0, 4.0, 0.1],
            [5.0, 5.0, 0.1],
            [7.0, 7.0, 0.1]
        ];
        let codes = [0, 0, 0, 0, 1, 1, 1];
        assert_eq!(refusal(&five, &codes, &plain), singular("b", 1, 3.0));
        let message = refusal(&five, &codes, &plain).to_string();
        assert!(message.contains("class `b`") && message.contains("reg_param"), "{message}");
        // Shrinking a class without any spread leaves it without one; `reg_param` does not.
        let shrunk = plain.clone().shrinkage(Shrinkage::Fixed(0.5));
        assert_eq!(refusal(&x, &[0, 1, 1, 1], &shrunk), singular("a", 0, 1.0));

        for params in [plain.clone().reg_param(0.1), plain.reg_param(1e-3)] {
            let gaussians = fit(&params, &x, &[0, 1, 1, 1]);
            assert_eq!(gaussians.ranks(), [3, 3]);
            let scores = gaussians.scores(&Rows::from(&x)).unwrap();
            assert_eq!(mercer_winners(&scores), [0, 1, 1, 1]);
        }
    }

    fn mercer_winners(scores: &Matrix) -> Vec<u32> {
        crate::model::argmax_rows(scores)
    }

    #[test]
    fn more_columns_than_rows_work_with_regularization() {
        let mut random = Random::new(1);
        let codes: Vec<u32> = (0..12).map(|i| i % 2).collect();
        let x =
            Matrix::from_shape_fn((12, 30), |(i, _)| random.normal() + 2.0 * f64::from(codes[i]));

        let gaussians = fit(&QuadraticDiscriminantAnalysis::new().reg_param(0.5), &x, &codes);

        assert_eq!(gaussians.ranks(), [30, 30]);
        assert_eq!(mercer_winners(&gaussians.scores(&Rows::from(&x)).unwrap()), codes);
    }
}
