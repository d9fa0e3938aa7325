//! Gaussian discriminants: within a class, the rows are a cloud with a center and a shape.
//!
//! `log p(c, x) = log p(c) + log N(x; m_c, Σ_c)`; the members of the family differ in what they take
//! `Σ_c` to be: one for all classes (linear), one each (quadratic), or something between
//! (regularized).

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
