//! How good a model is: on held-out rows, with intervals, by class, calibrated or not.

mod classification;
mod folds;
mod information;
mod regression;
mod regression_summary;

pub use classification::{CalibrationBin, ClassReport, ClassificationReport, Evaluation, Interval};
pub use folds::{Folds, stratified_folds};
pub use information::Information;
pub use regression::{RegressionEvaluation, RegressionReport};
pub use regression_summary::{Estimate, Summary};
