//! Calibration: probabilities from decision values.

pub(crate) mod coupling;
mod isotonic;
pub(crate) mod map;
mod platt;
mod venn_abers;

pub use isotonic::Isotonic;
pub use map::{Calibration, CalibrationMap};
pub use venn_abers::VennAbers;
