//! The decision rule of one request: a cost matrix, a reject option and new class priors.

use crate::data::Classes;
use crate::decision::{Costs, DecisionRule, new_priors};
use crate::error::Result;
use crate::train::Trained;

/// How to turn posterior probabilities into decisions. What is not given comes from the rule that is stored in the
/// model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionOptions {
    /// The cost matrix.
    pub costs: Option<Costs>,
    /// The cost of a rejection.
    pub reject: Option<f64>,
    /// New class priors by class code; the other classes share the rest in proportion to their training priors.
    pub priors: Vec<(usize, f64)>,
    /// The class priors of the training data by class code, for models that do not store them.
    pub trained_priors: Vec<(usize, f64)>,
}

impl DecisionOptions {
    /// Whether no option is given.
    pub fn is_empty(&self) -> bool {
        self.costs.is_none() && self.reject.is_none() && self.priors.is_empty()
    }

    /// The decision rule of the options, completed by the rule stored in the model; `None` if there is neither.
    ///
    /// # Errors
    /// If the model has no probabilities or stores no priors, or a cost or a prior is invalid.
    pub fn rule(&self, model: &Trained) -> Result<Option<DecisionRule>> {
        if self.is_empty() {
            return Ok(model.decision.clone());
        }
        let n_classes = decision_classes(model)?.len();
        let zero_one = || DecisionRule::new(Costs::zero_one(n_classes));
        let stored = model.decision.clone().unwrap_or_else(zero_one);
        let mut costs = match &self.costs {
            Some(costs) => costs.clone(),
            None => Costs::new(stored.costs.matrix().clone())?,
        };
        if let Some(reject) = self.reject.or(stored.costs.reject()) {
            costs = costs.with_reject(reject)?;
        }
        let rule = stored.with_costs(costs)?;
        if self.priors.is_empty() {
            return Ok(Some(rule));
        }
        let old = self.training_priors(model, n_classes)?;
        let new = new_priors(&old, &self.priors)?;
        Ok(Some(rule.with_priors(&old, &new)?))
    }

    fn training_priors(&self, model: &Trained, n_classes: usize) -> Result<Vec<f64>> {
        if !self.trained_priors.is_empty() {
            // The classes that are not named share the rest equally.
            let uniform = vec![1.0 / n_classes as f64; n_classes];
            return new_priors(&uniform, &self.trained_priors);
        }
        match model.fitted.model.as_model().factorized_likelihood() {
            Some(factored) => Ok(factored.log_priors().iter().map(|p| p.exp()).collect()),
            None => Err(model.estimator.unable(
                "change its class priors: it does not store those of the training data; give them as well \
                 (`--trained-prior`, or `trained_priors` in a request)",
            )),
        }
    }
}

/// The classes that a decision rule chooses from.
///
/// # Errors
/// [`Error::Unable`](crate::Error::Unable) for models without class probabilities.
pub fn decision_classes(model: &Trained) -> Result<&Classes> {
    match model.fitted.model.as_model().probabilistic() {
        Some(classifier) => Ok(classifier.classes()),
        None => Err(model.estimator.unable("give the probabilities that a decision rule needs")),
    }
}
