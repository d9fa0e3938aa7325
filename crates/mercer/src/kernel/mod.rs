//! Kernels: inner products `K(x, z) = φ(x)·φ(z)` of a feature map `φ` that need not be computed.
//!
//! A method that accesses its rows through inner products only can be given a kernel instead. Kernel functions and their
//! Gram matrices come first, then explicit feature maps whose inner products approximate or equal a kernel.

mod additive_chi2;
mod approximation;
mod check;
mod expansion;
mod explanation;
mod expression;
mod fourier;
mod function;
mod landmarks;
mod nystroem;
mod params;
mod polynomial_features;
mod polynomial_sketch;
mod problem;
mod rows;
mod structured_orthogonal;
mod unique_rows;

pub use additive_chi2::{AdditiveChi2Sampler, AdditiveChi2SamplerModel};
pub(crate) use check::{Indefinite, check_square, indefinite, overflow};
pub use check::{KernelReport, check_kernel};
pub(crate) use expansion::Segment;
pub use expansion::{CsrRows, KernelExpansion, Precision};
pub use expression::{Expression, Leaf, Product};
pub use fourier::{Directions, RbfSampler, RbfSamplerModel};
pub use function::{CustomKernel, Function, Gamma, GammaRule, Kernel};
pub use landmarks::LandmarkSelection;
pub(crate) use landmarks::{
    PivotedCholesky, k_means_plus_plus, randomly_pivoted_cholesky, sample_by_weight,
};
pub use nystroem::{Basis, Nystroem, NystroemModel};
pub(crate) use params::{KernelParams, SvmKernelOptions};
pub use polynomial_features::{Degrees, Order, PolynomialFeatures, PolynomialFeaturesModel};
pub use polynomial_sketch::{PolynomialCountSketch, PolynomialCountSketchModel};
pub(crate) use problem::{KernelProblem, gram_matrix};
pub(crate) use rows::column_means;
pub use rows::{KernelRows, Storage, center_of};
pub use structured_orthogonal::HadamardRotation;
pub(crate) use unique_rows::{UniqueRows, duplicate_keys};
