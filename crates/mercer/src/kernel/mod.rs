//! Kernels: inner products in spaces nobody writes down.
//!
//! `K(x, z) = φ(x)·φ(z)` for some map `φ`, computed without it. A machine that looks at its rows only
//! through inner products can be given a kernel instead.

mod check;
mod function;
mod machine;
mod rows;

pub(crate) use check::check_square;
pub use check::{KernelReport, check_kernel};
pub use function::{Function, Gamma, GammaRule, Kernel};
pub(crate) use machine::Segment;
pub use machine::{Machine, Precision, ThinRows};
pub use rows::{KernelRows, center_of};
