//! Kernels: inner products in spaces nobody writes down.
//!
//! `K(x, z) = φ(x)·φ(z)` for some map `φ`, computed without it. A expansion that looks at its rows only
//! through inner products can be given a kernel instead.

mod additive_chi2;
mod check;
mod contributions;
mod expansion;
mod expression;
mod fourier;
mod function;
mod k_means;
mod landmarks;
mod nystroem;
mod polynomial_features;
mod polynomial_sketch;
mod problem;
mod rows;
mod structured_orthogonal;
mod unique_rows;

pub use additive_chi2::{AdditiveChi2Sampler, AdditiveChi2SamplerModel};
pub(crate) use check::check_square;
pub use check::{KernelReport, check_kernel};
pub(crate) use expansion::Segment;
pub use expansion::{CsrRows, KernelExpansion, Precision};
pub use expression::{Expression, Leaf, Product};
pub use fourier::{Directions, RbfSampler, RbfSamplerModel};
pub use function::{CustomKernel, Function, Gamma, GammaRule, Kernel};
pub(crate) use landmarks::{PivotedCholesky, randomly_pivoted_cholesky, sample_by_weight};
pub use nystroem::{Basis, LandmarkSelection, Nystroem, NystroemModel};
pub use polynomial_features::{Degrees, Order, PolynomialFeatures, PolynomialFeaturesModel};
pub use polynomial_sketch::{PolynomialCountSketch, PolynomialCountSketchModel};
pub(crate) use problem::KernelProblem;
pub use rows::{KernelRows, Storage, center_of};
pub use structured_orthogonal::HadamardRotation;
pub(crate) use unique_rows::{UniqueRows, duplicate_keys};
