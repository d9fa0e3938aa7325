//! Gaussian discriminant analysis: the rows of each class have a multivariate normal distribution.
//!
//! `log p(c, x) = log p(c) + log N(x; m_c, Σ_c)`. The estimators differ in the covariance `Σ_c`: shared by all classes
//! (linear), one per class (quadratic), or shrunk between the two (regularized).

mod class_covariances;
mod class_gaussians;
mod linear;
mod null_space;
mod pruned_argmax;
mod quadratic;
mod regularized;
mod row_blocks;
mod shrinkage;
mod whitening;

pub use class_covariances::ClassCovariances;
pub use class_gaussians::ClassGaussians;
pub use linear::{LdaSolver, LinearDiscriminantAnalysis, LinearDiscriminantAnalysisModel};
pub use quadratic::{QdaSolver, QuadraticDiscriminantAnalysis, QuadraticDiscriminantAnalysisModel};
pub use regularized::{
    Auto, RegularizedDiscriminantAnalysis, RegularizedDiscriminantAnalysisModel, ShrinkageAmount,
    Strategy,
};
pub use shrinkage::{Estimated, Shrinkage};
