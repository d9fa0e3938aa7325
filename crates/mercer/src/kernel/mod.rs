//! Kernels: inner products in spaces nobody writes down.
//!
//! `K(x, z) = φ(x)·φ(z)` for some map `φ`, computed without it. A machine that looks at its rows only
//! through inner products can be given a kernel instead.

mod check;
mod function;
mod rows;

pub(crate) use check::check_square;
pub use check::{KernelReport, check_kernel};
pub use function::{Function, Gamma, GammaRule, Kernel};
pub use rows::{KernelRows, Storage, center_of};
