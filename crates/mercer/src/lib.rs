//! Classical probabilistic and maximum-margin learners: certified, deterministic, explained.
//!
//! The modules are the course, in the order of the data:
//!
//! - [`probability`]: tables, Bayes' rule, belief, parameters
//! - [`data`]: tables, rows, classes
//! - [`preprocess`]: from a table to features
//! - [`stats`]: what can be added
//! - [`model`]: what an estimator is, and what a fitted one can do
//! - [`probability`]: reasoning with probabilities; Bayesian networks
//! - [`decision`]: from a posterior to an action
//! - [`bayes`]: naive Bayes
//! - [`discriminant`]: Gaussian classes
//! - [`linear`]: least squares and ridge regression
//! - [`kernel`]: inner products in spaces nobody writes down
//! - [`svm`]: support vector machines
//! - [`kernelized`]: ridge regression and principal components in the space of a kernel
//! - [`neural`]: layers of weighted sums
//! - [`solver`]: what can be minimized
//! - [`text`]: from texts to counts of words
//! - [`evaluate`]: how good a model is
//! - [`explain`]: predictions told step by step
//! - [`catalog`]: the one list of estimators, training from streams, model files
//!
//! Learning is [`model::Fit::fit`]: parameters in, a model with its certificate out.
//!
//! ```
//! use mercer::bayes::GaussianNb;
//! use mercer::prelude::*;
//!
//! let x = ndarray::array![[1.0], [2.0], [8.0], [9.0]];
//! let classes = Classes::from_names(["low", "high"]);
//! let data = Dataset::classes(&x, &[1, 1, 0, 0], &classes)?;
//!
//! let model = GaussianNb::new().fit(&data, &Monitor::quiet())?;
//!
//! assert_eq!(model.predict(&Rows::from(&x))?, [1, 1, 0, 0]);
//! # Ok::<(), mercer::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod bayes;
pub mod calibrate;
pub mod catalog;
pub mod data;
pub mod decision;
pub mod discriminant;
pub mod error;
pub mod evaluate;
pub mod explain;
pub mod file;
pub mod kernel;
pub mod kernelized;
pub mod linear;
pub mod model;
pub mod neural;
pub mod prelude;
pub mod preprocess;
pub mod probability;
pub mod solver;
pub mod stats;
pub mod svm;
pub mod text;
pub mod train;

pub use error::{Error, Result};

/// The README and the lectures are tests.
#[cfg(doctest)]
mod texts {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/lectures/01-probability-tables-and-belief-updating.md")]
    struct ProbabilityTables;
    #[doc = include_str!("../../../docs/lectures/02-bayes-decision-theory.md")]
    struct BayesDecisionTheory;
    #[doc = include_str!("../../../docs/lectures/03-bayesian-networks.md")]
    struct BayesianNetworks;
    #[doc = include_str!("../../../docs/lectures/04-gaussian-naive-bayes.md")]
    struct GaussianNaiveBayes;
    #[doc = include_str!("../../../docs/lectures/05-multinomial-bernoulli-categorical-naive-bayes.md")]
    struct DiscreteNaiveBayes;
    #[doc = include_str!("../../../docs/lectures/06-naive-bayes-for-mixed-tables.md")]
    struct MixedNaiveBayes;
    #[doc = include_str!("../../../docs/lectures/07-text-features.md")]
    struct TextFeatures;
    #[doc = include_str!("../../../docs/lectures/08-gaussian-discriminant-analysis.md")]
    struct GaussianDiscriminantAnalysis;
    #[doc = include_str!("../../../docs/lectures/09-least-squares-and-ridge-regression.md")]
    struct LeastSquaresAndRidgeRegression;
    #[doc = include_str!("../../../docs/lectures/10-logistic-regression.md")]
    struct LogisticRegression;
    #[doc = include_str!("../../../docs/lectures/11-linear-support-vector-machines.md")]
    struct LinearSupportVectorMachines;
    #[doc = include_str!("../../../docs/lectures/12-support-vector-machines-and-kernels.md")]
    struct SupportVectorMachinesAndKernels;
    #[doc = include_str!("../../../docs/lectures/13-kernel-approximation.md")]
    struct KernelApproximation;
    #[doc = include_str!("../../../docs/lectures/14-stochastic-gradient-descent-and-the-perceptron.md")]
    struct StochasticGradientDescent;
}
