//! From a posterior to an action: what it costs to be wrong decides.
//!
//! - [`loss`]: what a wrong answer costs
//! - [`rule`]: the action of least expected loss
//! - [`threshold`]: cut-offs chosen for a wanted rate
//! - [`densities`]: cut-offs for strangers, kept with a model
//! - [`risk`]: what a rule costs on average

pub mod densities;
pub mod loss;
pub mod risk;
pub mod rule;
pub mod threshold;

pub use densities::Densities;
pub use loss::{Costs, RegressionLoss};
pub use risk::{Risk, RiskReport};
pub use rule::{Action, Decision, DecisionRule, minimax, new_priors, reweight};
pub use threshold::{Cut, minimax_threshold, neyman_pearson, outlier_threshold};
