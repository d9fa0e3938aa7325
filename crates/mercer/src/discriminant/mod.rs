//! Gaussian discriminants: within a class, the rows are a cloud with a center and a shape.
//!
//! `log p(c, x) = log p(c) + log N(x; m_c, Σ_c)`; the members of the family differ in what they take
//! `Σ_c` to be: one for all classes (linear), one each (quadratic), or something between
//! (regularized).

mod linear;
mod normals;
mod panels;
mod quadratic;
mod regularized;
mod root;
mod shrinkage;
mod summary;
mod thin_directions;
mod winner;

pub use linear::{LdaSolver, LinearDiscriminantAnalysis, LinearDiscriminantAnalysisModel};
pub use normals::Normals;
pub use quadratic::{QdaSolver, QuadraticDiscriminantAnalysis, QuadraticDiscriminantAnalysisModel};
pub use regularized::{
    Amount, Auto, RegularizedDiscriminantAnalysis, RegularizedDiscriminantAnalysisModel, Strategy,
};
pub use shrinkage::{Estimated, Shrinkage};
pub use summary::Summary;
