//! Evaluation of models on held-out rows: metrics with confidence intervals, per class, and calibration.

mod classification;
mod curves;
mod folds;
mod information;
mod metric;
mod regression;
mod regression_summary;
mod splits;

pub use classification::{CalibrationBin, ClassReport, ClassificationReport, Evaluation, Interval};
pub use curves::Curves;
pub use folds::{Folds, stratified_folds};
pub use information::Information;
pub use metric::{Metric, Predictions};
pub use regression::{RegressionEvaluation, RegressionReport};
pub use regression_summary::{Estimate, Summary};
pub use splits::{Split, Splitting};
