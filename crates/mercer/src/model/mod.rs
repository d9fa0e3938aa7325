//! Estimators and models: parameters, fitting, certificates, and the capabilities of fitted models.

mod cached;
mod capability;
mod certificate;
mod finite;
mod fit;
mod monitor;
mod params;
mod plan;
mod rounds;
pub mod tree;

pub use cached::Cached;
pub use capability::{
    AdditiveScores, Candidate, Candidates, Check, Classifier, Clusterer, CrossValidated,
    DecisionFunction, Discriminant, FactorizedLikelihood, Generative, LinearModel, Model,
    OutlierDetector, Probabilistic, Regressor, SupportVectors, Transformer, argmax_rows,
    check_scores, log_posterior, most_probable, n_impossible,
};
pub(crate) use capability::{is_impossible, normalize_row};
pub use certificate::{Certificate, Fitted, Measured, Status};
pub(crate) use finite::{check_not_nan, check_predictions};
pub use fit::{
    Accumulate, BoxedOutOfCoreFit, Fit, Gathered, OutOfCoreFit, Shape, Statistics, gather,
};
pub use monitor::{Convergence, Monitor, Progress, Stop};
pub(crate) use params::{AlphaParam, FitIntercept, ForceAlpha, PriorParams, Priors, RandomState};
pub use params::{Attribute, OneOrEach, ParamValue, Params, Rule, Sklearn, Spec, set, shown};
pub use params::{attributes, sklearn};
pub use plan::Plan;
pub use rounds::{
    BoxedRounds, ByRounds, RoundPenalty, RoundPoint, RoundProgress, RoundSums, Rounds,
    fit_by_rounds,
};
pub use tree::Tree;

/// The number of rows per chunk, for callers that split the rows themselves.
pub use mercer_num::parallel::chunk_rows;
