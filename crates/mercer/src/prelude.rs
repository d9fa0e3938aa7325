//! What users and the estimators themselves bring in with one line.

pub use crate::data::{Classes, Dataset, Label, Table, Target};
pub use crate::error::{Error, Result};
pub use crate::explain::short;
pub use crate::model::{
    Accumulate, AdditiveScores, Certificate, Check, Classifier, Clusterer, DecisionFunction,
    Discriminant, FactorizedLikelihood, Fit, Fitted, Generative, LinearModel, Model, Monitor,
    OutlierDetector, Params, Probabilistic, Regressor, Statistics, SupportVectors, Transformer,
};
pub(crate) use crate::model::{FitIntercept, Priors, RandomState};
pub use crate::{choice, params};
pub use mercer_num::{Matrix, Rows, Sparse, SparseView};
pub use serde::{Deserialize, Serialize};
