//! Regularized discriminant analysis: Gaussian classes whose covariances are shrunk towards a simpler matrix.
//!
//! - `identity`: `(1 − λ) Σ_c + λ I`
//! - `diagonal`: `(1 − λ) Σ_c + λ diag Σ_c`; at `λ = 1` the columns are independent and this is
//!   Gaussian naive Bayes
//! - `friedman`: `Σ_c(α) = ((1 − α) S_c + α S) / ((1 − α) w_c + α w)`, from quadratic (`α = 0`) to
//!   linear (`α = 1`), then `(1 − γ) Σ_c(α) + γ (trace Σ_c(α) / d) I` (Friedman 1989)
//!
//! `λ` can be estimated from the sufficient statistics: the leave-one-out likelihood of a row follows from a rank-one
//! downdate of the covariance of its class, and with every row's distance replaced by the mean distance of the class it
//! depends on eigenvalues only (Theiler 2012, "The incredible shrinking covariance estimator").

use super::class_covariances::{divisor, fill_unobserved_classes, units};
use super::class_gaussians::{ClassGaussians, delegate_to_gaussians};
use super::quadratic::own_covariances;
use super::shrinkage::{mean_variance, towards_identity};
use crate::model::{ParamValue, Rule};
use crate::prelude::*;
use crate::stats::{ByClass, ClassScatter, Variance, log_priors, packed_symmetric};
use mercer_num::linalg::SymmetricEigen;
use mercer_num::random::Random;
use ndarray::{Array3, Axis};

/// The grid of intensities; its best is nearly as good as the optimum.
const SHRINKAGE_GRID: [f64; 22] = [
    0.0, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5,
    0.6, 0.7, 0.8, 0.9, 1.0,
];

choice! {
    /// The shrinkage target of the covariances.
    pub enum Strategy {
        /// The identity, in the units of the columns.
        Identity = "identity",
        /// The diagonal of the covariance.
        Diagonal = "diagonal",
        /// The pooled covariance, then a multiple of the identity.
        Friedman = "friedman",
    }
}

choice! {
    /// A shrinkage to be found.
    pub enum Auto {
        /// By leaving one row out.
        LeaveOneOut = "auto",
    }
}

/// A shrinkage, or the wish to have it found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ShrinkageAmount {
    /// This much.
    Fixed(f64),
    /// As much as predicts left-out rows best.
    Auto(Auto),
}

impl ShrinkageAmount {
    /// As much as predicts left-out rows best.
    pub const AUTO: ShrinkageAmount = ShrinkageAmount::Auto(Auto::LeaveOneOut);
}

impl From<f64> for ShrinkageAmount {
    fn from(shrinkage: f64) -> Self {
        ShrinkageAmount::Fixed(shrinkage)
    }
}

impl ParamValue for ShrinkageAmount {
    const TYPE: &'static str = "float or \"auto\"";

    fn obeys(&self, rule: Rule) -> bool {
        match self {
            ShrinkageAmount::Fixed(shrinkage) => shrinkage.obeys(rule),
            ShrinkageAmount::Auto(_) => true,
        }
    }
}

params! {
    /// Regularized discriminant analysis: Gaussian classes with covariances shrunk towards a simpler matrix.
    pub struct RegularizedDiscriminantAnalysis {
        /// Shrinkage target of the class covariances: the `identity`, the `diagonal` of the covariance, or, after
        /// Friedman, the pooled covariance (`alpha`) and then a multiple of the identity (`gamma`).
        strategy: Strategy = Strategy::Diagonal, OneOf(Strategy::VALUES);
        /// Shrinkage intensity: the weight of the identity or diagonal, between 0 and 1. `auto` maximizes the
        /// leave-one-out likelihood. Unused by the strategy `friedman`.
        reg_param: ShrinkageAmount = ShrinkageAmount::AUTO, Between(0.0, 1.0);
        /// Weight of the pooled covariance in Friedman's estimate: 0 is quadratic, 1 linear discriminant analysis.
        /// Used by the strategy `friedman` only.
        alpha: f64 = 0.5, Between(0.0, 1.0);
        /// Weight of the multiple of the identity with the same trace in Friedman's estimate. Used by the strategy
        /// `friedman` only.
        gamma: f64 = 0.1, Between(0.0, 1.0);
        ..Priors;
        /// Smallest standard deviation of a direction, relative to those of the columns within the class. Directions
        /// with a smaller one are set to it.
        tol: f64 = 1e-4, AtLeast(0.0);
        /// Divisor of the scatter matrix of a class: its weight (`population`) or its weight less one (`sample`).
        variance: Variance = Variance::Population, OneOf(Variance::VALUES);
    }
    formula = "argmax_c log P(c) − ½ log det S_c − ½ (x − μ_c)ᵀ S_c⁻¹ (x − μ_c),  S_c = (1 − λ) Σ_c + λ diag Σ_c";
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
        own(
            "shrinkage_",
            "float or None",
            "Shrinkage intensity `λ`, given or estimated; `None` for the strategy `friedman`.",
        ),
    ];
}

/// One Gaussian per class, with a shrunk covariance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegularizedDiscriminantAnalysisModel {
    /// The Gaussians.
    pub gaussians: ClassGaussians,
    /// The shrinkage of identity or diagonal, given or found; `None` for Friedman's form.
    pub shrinkage: Option<f64>,
}

impl Accumulate for RegularizedDiscriminantAnalysis {
    type Stats = ByClass<ClassScatter>;
    type Model = RegularizedDiscriminantAnalysisModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, |batch, group_of_row, weights| {
            ClassScatter::of_rows(batch.rows(), group_of_row, batch.weights(), weights)
        })
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        stats.classes().check_several()?;
        let class_weights = stats.weights();
        let priors = (log_priors(&self.priors, true, &class_weights)?, class_weights.clone());
        let groups = stats.groups();
        let mut means = groups.means.clone();
        fill_unobserved_classes(&class_weights, &mut means);
        let units = units(&groups, &means);
        let (covariances, shrinkage) = match (self.strategy, self.reg_param) {
            (Strategy::Friedman, _) => (self.friedman(&groups), None),
            (_, ShrinkageAmount::Fixed(shrinkage)) => {
                (self.shrunk_covariances(&groups, shrinkage), Some(shrinkage))
            }
            (_, ShrinkageAmount::Auto(_)) => {
                let shrinkage = self.likeliest_shrinkage(&groups, &units);
                (self.shrunk_covariances(&groups, shrinkage), Some(shrinkage))
            }
        };
        let classes = stats.classes().clone();
        let gaussians = ClassGaussians::new(classes, priors, means, covariances, units, self.tol)?;
        Ok(RegularizedDiscriminantAnalysisModel { gaussians, shrinkage })
    }

    fn certificate(&self, _stats: &Self::Stats, model: &Self::Model) -> Certificate {
        model.gaussians.certificate()
    }
}

impl RegularizedDiscriminantAnalysis {
    fn shrunk_covariances(&self, groups: &ClassScatter, shrinkage: f64) -> Array3<f64> {
        let mut all = own_covariances(groups, self.variance);
        for mut covariance in all.outer_iter_mut() {
            let target = match self.strategy {
                Strategy::Diagonal => covariance.diag().to_owned(),
                _ => ndarray::Array1::ones(covariance.nrows()),
            };
            covariance.mapv_inplace(|v| v * (1.0 - shrinkage));
            let mut diagonal = covariance.diag_mut();
            diagonal.scaled_add(shrinkage, &target);
        }
        all
    }

    fn friedman(&self, groups: &ClassScatter) -> Array3<f64> {
        let (n_classes, width) = groups.means.dim();
        let total: f64 = groups.weights.iter().sum();
        let n_observed = groups.weights.iter().filter(|w| **w > 0.0).count() as f64;
        let within = packed_symmetric::square(&groups.within(), width, self.alpha);
        let mut all = Array3::zeros((n_classes, width, width));
        for (c, w) in groups.weights.iter().enumerate() {
            let mut covariance =
                packed_symmetric::square(groups.scatter(c), width, 1.0 - self.alpha);
            covariance += &within;
            let weight = (1.0 - self.alpha) * w + self.alpha * total;
            // Sums around as many means as the two parts have, in the same shares.
            let n_means = (1.0 - self.alpha) + self.alpha * n_observed;
            covariance *= divisor(self.variance, weight, n_means);
            let unit = mean_variance(&covariance);
            towards_identity(&mut covariance, self.gamma, unit);
            all.index_axis_mut(Axis(0), c).assign(&covariance);
        }
        all
    }

    /// The shrinkage under which rows are likeliest given all others of their class, summed over
    /// classes. Ties go to the smallest.
    fn likeliest_shrinkage(&self, groups: &ClassScatter, units: &[f64]) -> f64 {
        let mut sums = [0.0; SHRINKAGE_GRID.len()];
        for (c, weight) in groups.weights.iter().enumerate().filter(|(_, w)| **w > 1.0) {
            let spreads = self.spreads(groups, c, units);
            for (sum, shrinkage) in sums.iter_mut().zip(SHRINKAGE_GRID) {
                *sum += weight * leave_one_out_deviance(&spreads, *weight, shrinkage, self.tol);
            }
        }
        let mut best = SHRINKAGE_GRID.len() - 1;
        for k in (0..SHRINKAGE_GRID.len()).rev() {
            if sums[k] <= sums[best] {
                best = k;
            }
        }
        SHRINKAGE_GRID[best]
    }

    /// The eigenvalues of a class's covariance, in units of what it is pulled towards. Columns
    /// that do not vary have no say.
    fn spreads(&self, groups: &ClassScatter, class: usize, units: &[f64]) -> Vec<f64> {
        let width = groups.means.ncols();
        let factor = 1.0 / groups.weights[class];
        let covariance = packed_symmetric::square(groups.scatter(class), width, factor);
        let varying: Vec<usize> = (0..width)
            .filter(|j| covariance[[*j, *j]] > self.tol.powi(4).max(1e-26) * units[*j])
            .collect();
        if varying.is_empty() {
            return Vec::new();
        }
        let unit = |j: usize| match self.strategy {
            Strategy::Diagonal => covariance[[j, j]].sqrt(),
            _ => 1.0,
        };
        let scaled = Matrix::from_shape_fn((varying.len(), varying.len()), |(a, b)| {
            let (a, b) = (varying[a], varying[b]);
            covariance[[a, b]] / unit(a) / unit(b)
        });
        SymmetricEigen::of(scaled.view()).map(|eigen| eigen.values).unwrap_or_default()
    }
}

/// Minus twice the mean log-likelihood of a row given the others of its class, up to a constant:
/// `log det Gᵢ + distanceᵢ` where `Gᵢ = G − β cᵢcᵢᵀ` has lost the row, and `cᵢᵀG⁻¹cᵢ` is taken to be
/// its mean over the class (Theiler 2012, equation 27).
fn leave_one_out_deviance(spreads: &[f64], weight: f64, shrinkage: f64, tol: f64) -> f64 {
    let grown = weight / (weight - 1.0);
    let floor = (tol * tol).max(f64::EPSILON);
    let shrunk: Vec<f64> = spreads
        .iter()
        .map(|e| ((1.0 - shrinkage) * e.max(0.0) * grown + shrinkage).max(floor))
        .collect();
    let mean_distance: f64 = spreads.iter().zip(&shrunk).map(|(e, g)| e.max(0.0) / g).sum();
    let lost = 1.0 - (1.0 - shrinkage) * grown / (weight - 1.0) * mean_distance;
    if lost <= 1e-9 {
        return f64::INFINITY;
    }
    let log_determinant: f64 = shrunk.iter().map(|g| g.ln()).sum();
    log_determinant + lost.ln() + grown * grown * mean_distance / lost
}

delegate_to_gaussians!(RegularizedDiscriminantAnalysisModel);

impl Check for RegularizedDiscriminantAnalysisModel {
    fn check(&self) -> Result<()> {
        if self.shrinkage.is_some_and(|shrinkage| !(0.0..=1.0).contains(&shrinkage)) {
            return Err(Error::File("a shrinkage outside 0 to 1".into()));
        }
        self.gaussians.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bayes::GaussianNb;
    use crate::discriminant::{LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis};

    /// Correlated columns of different spread, by class.
    fn rows(n: usize, width: usize) -> (Matrix, Vec<u32>, Classes) {
        let mut random = Random::new(17);
        let codes: Vec<u32> = (0..n).map(|i| (i % 3) as u32).collect();
        let mut x = Matrix::zeros((n, width));
        for (mut row, c) in x.outer_iter_mut().zip(&codes) {
            let shared = random.normal();
            for (j, v) in row.iter_mut().enumerate() {
                let spread = 1.0 + f64::from(*c) * 0.5;
                *v = spread * (shared + random.normal() * (1 + j) as f64) + f64::from(*c) * 2.0;
            }
        }
        (x, codes, Classes::from_names(["a", "b", "c"]))
    }

    fn assert_same(a: &dyn Probabilistic, b: &dyn Probabilistic, x: &Matrix) {
        let (a, b) = (a.log_proba(&Rows::from(x)).unwrap(), b.log_proba(&Rows::from(x)).unwrap());
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() <= 1e-10 * a.abs().max(1.0), "{a} and {b}");
        }
    }

    #[test]
    fn all_diagonal_is_gaussian_naive_bayes() {
        let (x, codes, classes) = rows(90, 4);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let rda = RegularizedDiscriminantAnalysis::new().reg_param(1.0.into());
        for variance in [Variance::Population, Variance::Sample] {
            let bayes = GaussianNb::new().var_smoothing(0.0).variance(variance);

            let rda = rda.clone().variance(variance).fit(&data, &Monitor::quiet()).unwrap();
            let bayes = bayes.fit(&data, &Monitor::quiet()).unwrap();

            assert_same(&rda.model, &bayes.model, &x);
            let (a, b) = (rda.log_density(&Rows::from(&x)), bayes.log_density(&Rows::from(&x)));
            assert!(a.unwrap().iter().zip(b.unwrap()).all(|(a, b)| (a - b).abs() < 1e-10));
        }
    }

    #[test]
    fn the_ends_are_linear_and_quadratic() {
        let (x, codes, classes) = rows(90, 4);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let quiet = Monitor::quiet();
        let friedman =
            RegularizedDiscriminantAnalysis::new().strategy(Strategy::Friedman).gamma(0.0);

        for variance in [Variance::Population, Variance::Sample] {
            let friedman = friedman.clone().variance(variance);
            let linear = LinearDiscriminantAnalysis::new().variance(variance);
            let linear = linear.fit(&data, &quiet).unwrap();
            let quadratic = QuadraticDiscriminantAnalysis::new().variance(variance);
            let quadratic = quadratic.fit(&data, &quiet).unwrap();

            assert_same(
                &friedman.clone().alpha(1.0).fit(&data, &quiet).unwrap().model,
                &linear.model,
                &x,
            );
            assert_same(
                &friedman.alpha(0.0).fit(&data, &quiet).unwrap().model,
                &quadratic.model,
                &x,
            );
            let plain = RegularizedDiscriminantAnalysis::new().variance(variance);
            let plain = plain.reg_param(0.0.into()).fit(&data, &quiet).unwrap();
            assert_same(&plain.model, &quadratic.model, &x);
        }
    }

    #[test]
    fn the_identity_is_scikit_learns_reg_param() {
        let (x, codes, classes) = rows(20, 12);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let rda = RegularizedDiscriminantAnalysis::new().strategy(Strategy::Identity);

        let rda = rda.reg_param(0.3.into()).fit(&data, &Monitor::quiet()).unwrap();
        let qda = QuadraticDiscriminantAnalysis::new().reg_param(0.3);
        let qda = qda.fit(&data, &Monitor::quiet()).unwrap();

        assert_same(&rda.model, &qda.model, &x);
    }

    /// The deviance of left-out rows, row by row, by fitting without each.
    fn by_refitting(x: &Matrix, shrinkage: f64) -> f64 {
        let n = x.nrows();
        let classes = Classes::from_names(["a", "b"]);
        let rda = RegularizedDiscriminantAnalysis::new().reg_param(shrinkage.into());
        let total: f64 = (0..n)
            .map(|i| {
                let others: Vec<usize> = (0..n).filter(|k| *k != i).collect();
                let rows = x.select(Axis(0), &others);
                let codes = vec![0; n - 1];
                let data = Dataset::classes(&rows, &codes, &classes).unwrap();
                let model = rda.fit(&data, &Monitor::quiet()).unwrap();
                let row = x.select(Axis(0), &[i]);
                -2.0 * model.scores(&Rows::from(&row)).unwrap()[[0, 0]]
            })
            .sum();
        total / n as f64
    }

    #[test]
    fn the_share_found_is_nearly_as_good_as_trying_them_all() {
        for (n, width) in [(45, 3), (36, 9), (30, 14)] {
            let (x, codes, classes) = rows(n, width);
            let data = Dataset::classes(&x, &codes, &classes).unwrap();
            let class = |c: u32| {
                let indices: Vec<usize> = (0..n).filter(|i| codes[*i] == c).collect();
                x.select(Axis(0), &indices)
            };
            let deviance =
                |shrinkage: f64| (0..3).map(|c| by_refitting(&class(c), shrinkage)).sum::<f64>();

            let found =
                RegularizedDiscriminantAnalysis::new().fit(&data, &Monitor::quiet()).unwrap();

            let found = deviance(found.shrinkage.unwrap());
            let best = SHRINKAGE_GRID
                .iter()
                .map(|shrinkage| deviance(*shrinkage))
                .fold(f64::INFINITY, f64::min);
            // Two hundredths of a nat a column.
            assert!(found <= best + 0.04 * width as f64, "{found} and {best} at {n} x {width}");
        }
    }
}
