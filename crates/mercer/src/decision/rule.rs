//! The Bayes decision rule: the action of least expected loss under the posterior.
//!
//! `a(x) = argmin_a Σ_c L(c, a) P(c | x)`; with 0-1 loss that is the most probable class.

use super::Costs;
use crate::error::{Error, Result};
use crate::probability::check_probability;
use mercer_num::Matrix;
use mercer_num::special::log_normalize;
use serde::{Deserialize, Serialize};

/// The action of a decision rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Predict this class.
    Class(usize),
    /// Reject: predict no class.
    Reject,
}

/// A decision and its expected loss.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// The action.
    pub action: Action,
    /// Its expected loss.
    pub risk: f64,
    /// The expected loss of predicting each class.
    pub risks: Vec<f64>,
}

/// A loss matrix, and the class priors at prediction time, if they differ from those of the training data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecisionRule {
    /// The loss matrix.
    pub costs: Costs,
    /// Added to a log-posterior: `log new prior − log old prior`; empty if the priors are unchanged.
    shift: Vec<f64>,
}

impl DecisionRule {
    /// A rule with a loss matrix.
    pub fn new(costs: Costs) -> DecisionRule {
        DecisionRule { costs, shift: Vec::new() }
    }

    /// The same rule for class priors that differ from those of the training data (prior shift).
    ///
    /// # Errors
    /// If there is not one prior per class, the priors do not sum to one, or a class without training rows has a
    /// positive prior.
    pub fn with_priors(mut self, old: &[f64], new: &[f64]) -> Result<DecisionRule> {
        let k = self.costs.n_classes();
        self.shift = shift(k, old, new)?;
        Ok(self)
    }

    /// Added to a log-posterior for the new priors; empty if the priors are unchanged.
    pub fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// The same rule with another loss matrix.
    ///
    /// # Errors
    /// If the matrix has another number of classes.
    pub fn with_costs(self, costs: Costs) -> Result<DecisionRule> {
        let (found, expected) = (costs.n_classes(), self.costs.n_classes());
        if found != expected {
            return Err(Error::Length { what: "the costs".into(), found, expected });
        }
        Ok(DecisionRule { costs, ..self })
    }

    /// The same rule for a model with updated priors: the priors at prediction time stay the same.
    pub fn with_model_priors(
        mut self,
        old_log_priors: &[f64],
        new_log_priors: &[f64],
    ) -> DecisionRule {
        let priors = old_log_priors.iter().zip(new_log_priors);
        for (shift, (old, new)) in self.shift.iter_mut().zip(priors) {
            let updated = *shift + old - new;
            // NaN: the class has no rows before and after.
            *shift = if updated.is_nan() { *shift } else { updated };
        }
        self
    }

    /// Refuses a rule for another number of classes, for one that comes from a file.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn check(&self, n_classes: usize) -> Result<()> {
        let fits = Costs::new(self.costs.matrix().clone()).is_ok()
            && self.costs.n_classes() == n_classes
            && self.costs.reject().is_none_or(f64::is_finite)
            && (self.shift.is_empty() || self.shift.len() == n_classes)
            && self.shift.iter().all(|s| !s.is_nan() && *s < f64::INFINITY);
        if fits {
            Ok(())
        } else {
            Err(Error::File(
                "the decision rule has another number of classes than the model".into(),
            ))
        }
    }

    /// The log-posterior under the new priors.
    ///
    /// # Errors
    /// If there is not one number per class.
    pub fn adjusted(&self, log_posterior: &[f64]) -> Result<Vec<f64>> {
        let expected = self.costs.n_classes().max(1);
        if log_posterior.len() != expected {
            let found = log_posterior.len();
            return Err(Error::Length { what: "the posterior".into(), found, expected });
        }
        let mut log = log_posterior.to_vec();
        if !self.shift.is_empty() {
            log.iter_mut().zip(&self.shift).for_each(|(p, s)| *p += s);
            log_normalize(&mut log);
        }
        Ok(log)
    }

    /// The decision for a row with this log-posterior. Ties go to the first class, and to a class over a
    /// rejection.
    ///
    /// # Errors
    /// If there is not one number per class.
    pub fn decide(&self, log_posterior: &[f64]) -> Result<Decision> {
        let posterior: Vec<f64> = self.adjusted(log_posterior)?.iter().map(|p| p.exp()).collect();
        let expected = |action: usize| -> f64 {
            posterior.iter().enumerate().map(|(c, p)| p * self.costs.cost(c, action)).sum()
        };
        let risks: Vec<f64> = (0..posterior.len()).map(expected).collect();
        let best = first_minimum(&risks);
        Ok(match self.costs.reject() {
            Some(cost) if cost < risks[best] => {
                Decision { action: Action::Reject, risk: cost, risks }
            }
            _ => Decision { action: Action::Class(best), risk: risks[best], risks },
        })
    }
}

/// The posterior under other priors: `P'(c | x) ∝ P(c | x) P'(c) / P(c)` (Saerens, Latinne and
/// Decaestecker, 2002).
///
/// # Errors
/// As [`DecisionRule::with_priors`].
pub fn reweight(log_posterior: &mut [f64], old: &[f64], new: &[f64]) -> Result<()> {
    let shift = shift(log_posterior.len(), old, new)?;
    log_posterior.iter_mut().zip(shift).for_each(|(p, s)| *p += s);
    log_normalize(log_posterior);
    Ok(())
}

fn shift(n_classes: usize, old: &[f64], new: &[f64]) -> Result<Vec<f64>> {
    for (what, priors) in [("the old priors", old), ("the new priors", new)] {
        if priors.len() != n_classes {
            return Err(Error::Length {
                what: what.into(),
                found: priors.len(),
                expected: n_classes,
            });
        }
        for (c, p) in priors.iter().enumerate() {
            check_probability(|| format!("{what}: that of class {}", c + 1), *p)?;
        }
        let sum: f64 = priors.iter().sum();
        if (sum - 1.0).abs() > crate::probability::SUM_TOLERANCE {
            return Err(Error::NotOne { what: what.into(), sum });
        }
    }
    old.iter()
        .zip(new)
        .enumerate()
        .map(|(c, (old, new))| match (*old > 0.0, *new > 0.0) {
            (true, _) => Ok(new.ln() - old.ln()),
            (false, false) => Ok(0.0),
            (false, true) => Err(Error::Number {
                what: format!("the new prior of class {}, which has no training rows,", c + 1),
                value: *new,
                expected: "0".into(),
            }),
        })
        .collect()
}

/// Completes some new priors: the other classes divide the rest in proportion to their old priors.
///
/// ```
/// let new = mercer::decision::new_priors(&[0.5, 0.3, 0.2], &[(0, 0.8)])?;
/// assert!((new[1] - 0.12).abs() < 1e-15 && (new[2] - 0.08).abs() < 1e-15);
/// # Ok::<(), mercer::Error>(())
/// ```
///
/// # Errors
/// If a given prior is not a probability, a class is given twice or does not exist, or the given priors sum to
/// more than one.
pub fn new_priors(old: &[f64], given: &[(usize, f64)]) -> Result<Vec<f64>> {
    let mut new: Vec<Option<f64>> = vec![None; old.len()];
    for (c, p) in given {
        check_probability(|| format!("the prior of class {}", c + 1), *p)?;
        match new.get_mut(*c) {
            Some(prior @ None) => *prior = Some(*p),
            _ => {
                return Err(Error::Parameter {
                    name: "prior".into(),
                    found: format!("class {}, given twice or unknown", c + 1),
                    expected: format!("each of the {} classes at most once", old.len()),
                });
            }
        }
    }
    let taken: f64 = new.iter().flatten().sum();
    let others: f64 = old.iter().zip(&new).filter(|(_, n)| n.is_none()).map(|(o, _)| o).sum();
    let rest = 1.0 - taken;
    if rest < -crate::probability::SUM_TOLERANCE
        || (others <= 0.0 && rest > crate::probability::SUM_TOLERANCE)
    {
        return Err(Error::NotOne { what: "the new priors".into(), sum: taken });
    }
    let rest = rest.max(0.0);
    let filled = |(o, n): (&f64, Option<f64>)| n.unwrap_or_else(|| o / others * rest);
    Ok(old.iter().zip(new).map(filled).collect())
}

/// The minimax action: the one whose largest loss is smallest. `costs` has one row per true class and one column
/// per action. Ties go to the first.
///
/// # Errors
/// If there are no actions.
pub fn minimax(costs: &Matrix) -> Result<usize> {
    if costs.is_empty() {
        return Err(Error::NoRows);
    }
    let worst: Vec<f64> = costs
        .columns()
        .into_iter()
        .map(|losses| losses.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        .collect();
    Ok(first_minimum(&worst))
}

fn first_minimum(x: &[f64]) -> usize {
    let mut best = 0;
    for (i, v) in x.iter().enumerate() {
        if *v < x[best] {
            best = i;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::special::argmax;
    use ndarray::array;
    use proptest::prelude::*;

    fn logs(p: &[f64]) -> Vec<f64> {
        p.iter().map(|p| p.ln()).collect()
    }

    #[test]
    fn a_large_loss_outweighs_a_probable_class() {
        let rule = DecisionRule::new(Costs::new(array![[0.0, 1.0], [10.0, 0.0]]).unwrap());

        let decision = rule.decide(&logs(&[0.85, 0.15])).unwrap();

        // Predicting the first class has expected loss 10 · 0.15, the second 1 · 0.85.
        assert_eq!(decision.action, Action::Class(1));
        assert!((decision.risks[0] - 1.5).abs() < 1e-15 && (decision.risk - 0.85).abs() < 1e-15);
    }

    #[test]
    fn an_uncertain_row_is_rejected() {
        let rule = DecisionRule::new(Costs::zero_one(2).with_reject(0.2).unwrap());

        assert_eq!(rule.decide(&logs(&[0.7, 0.3])).unwrap().action, Action::Reject);
        assert_eq!(rule.decide(&logs(&[0.1, 0.9])).unwrap().action, Action::Class(1));
        // Equal expected loss: a class is preferred over a rejection.
        let even = DecisionRule::new(Costs::zero_one(2).with_reject(0.5).unwrap());
        assert_eq!(even.decide(&logs(&[0.5, 0.5])).unwrap().action, Action::Class(0));
    }

    #[test]
    fn reweighted_posteriors_equal_those_of_a_model_with_the_new_priors() {
        // Likelihoods 0.2 and 0.6; once with priors 1/2, once with 0.9 and 0.1.
        let mut posterior = logs(&[0.1 / 0.4, 0.3 / 0.4]);

        reweight(&mut posterior, &[0.5, 0.5], &[0.9, 0.1]).unwrap();

        assert!((posterior[0].exp() - 0.18 / 0.24).abs() < 1e-15);
        assert!(reweight(&mut posterior, &[1.0, 0.0], &[0.9, 0.1]).is_err());
        assert!(reweight(&mut posterior, &[0.5, 0.5], &[0.9, 0.2]).is_err());
        assert!(new_priors(&[0.5, 0.5], &[(0, 0.7), (1, 0.7)]).is_err());
        assert!(new_priors(&[0.5, 0.5], &[(2, 0.7)]).is_err());
    }

    #[test]
    fn prediction_priors_survive_an_update_of_the_model() {
        let rule = |old: &[f64]| {
            DecisionRule::new(Costs::zero_one(2)).with_priors(old, &[0.9, 0.1]).unwrap()
        };

        let updated = rule(&[0.5, 0.5]).with_model_priors(&logs(&[0.5, 0.5]), &logs(&[0.2, 0.8]));

        let expected = rule(&[0.2, 0.8]);
        assert!(updated.shift().iter().zip(expected.shift()).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!(updated.check(2).is_ok() && updated.check(3).is_err());
    }

    #[test]
    fn minimax_minimizes_the_largest_loss() {
        // Rain or sun; umbrella, coat or nothing.
        let costs = array![[1.0, 2.0, 9.0], [3.0, 2.5, 0.0]];

        assert_eq!(minimax(&costs).unwrap(), 1);
        assert!(minimax(&Matrix::zeros((0, 0))).is_err());
    }

    proptest! {
        #[test]
        fn zero_one_loss_predicts_the_most_probable_class(
            weights in proptest::collection::vec(1u32..1000, 2..6),
        ) {
            let total: f64 = weights.iter().map(|w| f64::from(*w)).sum();
            let posterior: Vec<f64> = weights.iter().map(|w| f64::from(*w) / total).collect();
            let rule = DecisionRule::new(Costs::zero_one(posterior.len()));

            let decision = rule.decide(&logs(&posterior)).unwrap();

            let best = argmax(&posterior);
            prop_assert!((decision.risk - (1.0 - posterior[best])).abs() < 1e-12);
            let Action::Class(answer) = decision.action else { panic!("no reject option") };
            prop_assert!((posterior[answer] - posterior[best]).abs() < 1e-12);
        }
    }
}
