//! Prediction: from a table and a trained model to predictions, decisions and explanations, once for every interface.
//!
//! - [`PredictOptions`]: what to compute besides the prediction
//! - [`Predictions`]: the predictions of a table, one entry per row
//! - [`DecisionOptions`]: the costs, the reject option and the class priors of one request
//! - [`PredictionWriter`]: the predictions as CSV or as JSON lines
//! - [`RowToExplain`]: one row, and the contribution of every feature to its prediction

mod decision_options;
mod explain_row;
mod lines;
mod predictions;
mod unsupervised;

pub use decision_options::{DecisionOptions, decision_classes};
pub use explain_row::{RowExplanation, RowText, RowToExplain, check_explainable};
pub use lines::{LineFormat, PredictionWriter, csv_field, outlier_name};
pub use predictions::{PredictOptions, Predicted, Predictions};
pub use unsupervised::output_columns;
