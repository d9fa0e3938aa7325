//! The numbers under Mercer: no word of learning in here.
//!
//! - [`rows`]: one borrowed view of a feature matrix, dense or sparse
//! - [`sparse`]: compressed rows, borrowed, in any order
//! - [`packed`]: the same in less room, for solvers that read them many times
//! - [`parallel`]: sums over rows that give the same bits on one thread or many
//! - [`linalg`]: products and factorizations of dense matrices
//! - [`double`]: numbers of twice a double's precision
//! - [`simd`]: inner loops, chosen once at run time, that agree with their scalar twin to the bit
//! - [`mod@exp`], [`cosine`], [`sweep`]: exponentials, cosines, kernel values, and the loops of quadratic
//!   solvers
//! - [`log_odds`]: probabilities and losses of two classes
//! - [`apart`]: rows seen from a center, times a table
//! - [`marks`]: what rows of ones and zeros share, counted
//! - [`thin`], [`thin_gram`]: products of rows that are mostly zeros, with a table and with each other
//! - [`float`]: single and double precision behind one name
//! - [`fourier`]: convolutions around a ring
//! - [`memory`]: large tables on large pages
//! - [`sum`]: sums that keep what rounding drops
//! - [`special`]: `log_sum_exp` and friends
//! - [`mod@bytes`]: where bytes stand in a text
//! - [`random`]: portable random streams

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
