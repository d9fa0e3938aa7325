//! Calibration: class probabilities from decision values.
//!
//! - [`CalibrationMap`]: the map of one decision function, fitted to leave-one-out decision values
//! - [`Isotonic`], [`VennAbers`] and Platt's sigmoid: the three kinds of maps
//! - [`Conformal`]: prediction intervals and sets from out-of-fold predictions
//! - `coupling`: one distribution over all classes from several binary decision functions

pub(crate) mod conformal;
pub(crate) mod coupling;
mod isotonic;
pub(crate) mod map;
mod platt;
mod venn_abers;

pub use conformal::{Conformal, Nonconformity};
pub use isotonic::Isotonic;
pub use map::{Calibration, CalibrationMap};
pub use venn_abers::VennAbers;
