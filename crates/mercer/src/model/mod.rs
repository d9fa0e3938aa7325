//! What an estimator is: parameters, a way to learn, a proof, and what the fitted thing can do.

mod capability;
mod certificate;
mod fit;
mod monitor;
mod params;

pub use capability::{
    Check, Classifier, Factored, Generative, Model, Probabilistic, Regressor, Transformer, winners,
};
pub use certificate::{Certificate, Fitted, Method, Proof};
pub use fit::{Accumulate, Fit, Gathered, Rounds, Statistics, Step, chunk_rows, gather, summarize};
pub use monitor::{Monitor, Progress, Stop};
pub use params::{OneOrEach, ParamValue, Params, Rule, Spec, set};
