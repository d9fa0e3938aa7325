//! Classical machine learning: probabilistic models, linear models, support vector machines and kernel methods, with a
//! certificate of optimality for every fit, deterministic results and explained predictions.
//!
//! The chapters, in the order of the course (`docs/lectures`):
//!
//! - [`probability`]: probability tables, Bayes' theorem, conjugate priors, the multivariate normal; Bayesian networks
//! - [`decision`]: Bayes decision theory: loss, risk, reject option, thresholds, outliers
//! - [`bayes`]: naive Bayes
//! - [`text`]: tokenization, vocabularies, term weights, feature hashing
//! - [`discriminant`]: Gaussian discriminant analysis
//! - [`linear`]: least squares, ridge and logistic regression, linear support vector machines, stochastic gradient descent
//! - [`svm`]: support vector machines with kernels
//! - [`kernel`]: kernel functions and kernel approximation
//! - [`kernelized`]: kernel ridge regression, kernel PCA, kernel k-means, the kernel perceptron
//! - [`neural`]: multilayer perceptrons
//! - [`calibrate`]: calibrated probabilities: Platt scaling, isotonic regression, Venn-Abers, pairwise coupling
//!
//! The layers below and above them:
//!
//! - [`data`]: tables, rows, labels, schemas, class weights
//! - [`stats`]: mergeable sufficient statistics
//! - [`solver`]: optimization: Newton-CG, L-BFGS, coordinate descent, SMO, augmented Lagrangian
//! - [`model`]: the traits of estimators and models, parameters, certificates, progress and limits
//! - [`evaluate`]: cross-validation folds and metrics
//! - [`explain`]: explanations of single predictions
//! - [`preprocess`]: from a table to a feature matrix: imputation, encoding, scaling, feature maps
//! - [`catalog`]: the list of estimators and the enums generated from it
//! - [`train`]: training and cross-validation from streams, out-of-core, semi-supervised
//! - [`predict`]: predictions, decisions and explanations of tables by a trained model
//! - [`mod@file`]: the model file
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
pub mod predict;
pub mod prelude;
pub mod preprocess;
pub mod probability;
pub mod solver;
pub mod stats;
pub mod svm;
pub mod text;
pub mod train;

pub use error::{Error, Result};

/// The Rust examples of the README and of the lectures are tests.
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
    #[doc = include_str!("../../../docs/lectures/15-neural-networks.md")]
    struct NeuralNetworks;
}
