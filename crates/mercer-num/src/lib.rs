//! Numerical foundations of Mercer.
//!
//! - [`rows`]: a borrowed view of a feature matrix, dense or sparse
//! - [`sparse`]: compressed sparse rows (CSR), borrowed or owned
//! - [`parallel`]: reductions over rows with the same bits on any number of threads
//! - [`linalg`]: matrix products, factorizations and eigenvalues
//! - [`simd`]: inner loops, compiled for several instruction sets and chosen at run time
//! - [`double_double`]: double-double arithmetic
//! - [`compensated_sum`]: compensated summation
//! - [`float`]: single and double precision behind one trait
//! - [`fourier`]: circular convolution by the fast Fourier transform
//! - [`memory`]: huge pages and prefetching
//! - [`special`]: special functions, distribution functions and quantiles
//! - [`random`]: portable random number streams

pub mod compensated_sum;
pub mod double_double;
pub mod float;
pub mod fourier;
pub mod linalg;
pub mod memory;
pub mod parallel;
pub mod random;
pub mod rows;
pub mod simd;
pub mod sparse;
pub mod special;

pub use float::Float;
pub use rows::{Matrix, Rows, SharedMatrix, Sparse};
pub use sparse::SparseView;
