//! Kernels: inner products in spaces nobody writes down.
//!
//! `K(x, z) = φ(x)·φ(z)` for some map `φ`, computed without it. A machine that looks at its rows only
//! through inner products can be given a kernel instead.

mod additive_chi2;
mod centers;
mod check;
mod distinct;
mod expression;
mod fourier;
mod function;
mod ground;
mod k_means;
mod machine;
mod nystroem;
mod polynomial_features;
mod polynomial_sketch;
mod rows;
mod told;
mod turns;

pub use additive_chi2::{AdditiveChi2Sampler, AdditiveChi2SamplerModel};
pub(crate) use centers::{Pivots, drawn_by_weight, pivoted};
pub(crate) use check::check_square;
pub use check::{KernelReport, check_kernel};
pub(crate) use distinct::{Distinct, keys_of_twins};
pub use expression::{Expression, Leaf, Product};
pub use fourier::{Directions, RbfSampler, RbfSamplerModel};
pub use function::{Function, Gamma, GammaRule, Kernel, OwnKernel};
pub(crate) use ground::Ground;
pub(crate) use machine::Segment;
pub use machine::{Machine, Precision, ThinRows};
pub use nystroem::{Basis, Centers, Nystroem, NystroemModel};
pub use polynomial_features::{Degrees, Order, PolynomialFeatures, PolynomialFeaturesModel};
pub use polynomial_sketch::{PolynomialCountSketch, PolynomialCountSketchModel};
pub use rows::{KernelRows, Storage, center_of};
pub use turns::Turns;
