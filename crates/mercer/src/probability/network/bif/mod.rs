//! The Bayesian network interchange format BIF (Cozman, 1998).
//!
//! ```text
//! network rain { }
//! variable rain { type discrete [ 2 ] { yes, no }; }
//! variable wet { type discrete [ 2 ] { yes, no }; }
//! probability ( rain ) { table 0.2, 0.8; }
//! probability ( wet | rain ) { (yes) 0.9, 0.1; default 0.05, 0.95; }
//! ```
//!
//! The reader accepts quoted and bare names, comments, `table`, rows by the states of the parents and `default`;
//! properties are skipped. A row may differ from a sum of one by a hundredth, because of rounded numbers, and is then
//! normalized. Written networks are read back to the bit.

mod lexer;
mod read;
mod write;

pub use read::from_bif;
pub use write::to_bif;
