//! What users and the estimators themselves bring in with one line.

pub use crate::data::{Classes, Dataset, Label, Table, Target};
pub use crate::error::{Error, Result};
pub use crate::explain::short;
pub use crate::model::{
    Accumulate, LinearModel, Certificate, Check, Classifier, Clusterer, DecisionFunction, OutlierDetector,
    Discriminant, FactorizedLikelihood, Fit, Fitted, Generative, Model, Monitor, Params, Probabilistic,
    Regressor, Rounds, Statistics, AdditiveScores, SupportVectors, Transformer,
};
pub(crate) use crate::model::{FitIntercept, Priors, RandomState};
pub use crate::{choice, params};
pub use mercer_num::{Matrix, Rows, Sparse, SparseView};
pub use serde::{Deserialize, Serialize};
