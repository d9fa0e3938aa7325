//! The BIF format, in which the field exchanges its networks (Cozman, 1998).
//!
//! ```text
//! network rain { }
//! variable rain { type discrete [ 2 ] { yes, no }; }
//! variable wet { type discrete [ 2 ] { yes, no }; }
//! probability ( rain ) { table 0.2, 0.8; }
//! probability ( wet | rain ) { (yes) 0.9, 0.1; default 0.05, 0.95; }
//! ```
//!
//! Reading takes names in quotes or bare, comments, `table`, rows by the states of the parents and
//! `default`; properties are skipped. Numbers printed with few digits may miss one by a hundredth a row
//! and are scaled to one. What was written is read back to the bit.

mod lexer;
mod read;
mod write;

pub use read::from_bif;
pub use write::to_bif;
