//! Bayes decision theory: from a posterior to the action of least expected loss.
//!
//! - [`loss`]: the loss matrix and regression losses
//! - [`rule`]: the Bayes decision rule with a reject option
//! - [`threshold`]: thresholds chosen by error rates
//! - [`outliers`]: thresholds on the log-density
//! - [`risk`]: expected and empirical risk, Bayes risk

pub mod loss;
pub mod outliers;
pub mod risk;
pub mod rule;
pub mod threshold;

pub use loss::{Costs, RegressionLoss};
pub use outliers::{Densities, outlier_threshold};
pub use risk::{Risk, RiskReport};
pub use rule::{Action, Decision, DecisionRule, minimax, new_priors, reweight};
pub use threshold::{OperatingPoint, minimax_threshold, neyman_pearson};
