//! Sequential Bayesian updating of a distribution over hypotheses.
//!
//! `P(h | e₁ … eₙ) ∝ P(h) Π P(eᵢ | h)`: observations are conditionally independent given the hypothesis. The posterior
//! predictive distribution averages over all hypotheses: `P(next) = Σ P(next | h) P(h | e₁ … eₙ)`.

use super::{check_distribution, check_names, check_probability};
use crate::error::{Error, Result};
use mercer_num::special::{log_normalize, log_sum_exp};
use serde::Serialize;

/// A posterior over hypotheses, and the likelihoods of outcomes under each.
///
/// ```
/// use mercer::probability::Belief;
///
/// let mut coin = Belief::new(&["fair", "two heads"], &[0.9, 0.1])?
///     .outcome("heads", &[0.5, 1.0])?
///     .outcome("tails", &[0.5, 0.0])?;
/// let update = coin.observe("heads")?;
///
/// assert!((update.posterior[1] - 0.1 / 0.55).abs() < 1e-15);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    hypotheses: Vec<String>,
    log_posterior: Vec<f64>,
    log_evidence: f64,
    outcomes: Vec<String>,
    /// `P(outcome | h)`, one row per outcome.
    likelihoods: Vec<Vec<f64>>,
}

/// The result of one observation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Update {
    /// The observation.
    pub observation: String,
    /// Its probability under the previous posterior.
    pub evidence: f64,
    /// `P(h | all observations)` for every hypothesis.
    pub posterior: Vec<f64>,
    /// The posterior predictive probability of every outcome.
    pub predictive: Vec<f64>,
}

impl Belief {
    /// The prior.
    ///
    /// # Errors
    /// If names are repeated, or the priors are not probabilities that sum to one.
    pub fn new<S: AsRef<str>>(hypotheses: &[S], priors: &[f64]) -> Result<Belief> {
        let hypotheses: Vec<String> = hypotheses.iter().map(|h| h.as_ref().to_owned()).collect();
        check_names("hypotheses", &hypotheses)?;
        if priors.len() != hypotheses.len() {
            return Err(Error::Length {
                what: "the priors".into(),
                found: priors.len(),
                expected: hypotheses.len(),
            });
        }
        check_distribution("prior", &hypotheses, priors)?;
        let mut log_posterior: Vec<f64> = priors.iter().map(|p| p.ln()).collect();
        log_normalize(&mut log_posterior);
        Ok(Belief {
            hypotheses,
            log_posterior,
            log_evidence: 0.0,
            outcomes: Vec::new(),
            likelihoods: Vec::new(),
        })
    }

    /// Adds an outcome with its likelihood under every hypothesis. Outcomes need be neither exhaustive nor exclusive.
    ///
    /// # Errors
    /// If it is repeated, or a likelihood is not a probability.
    pub fn outcome(mut self, name: &str, likelihoods: &[f64]) -> Result<Belief> {
        self.check_likelihoods(name, likelihoods)?;
        self.outcomes.push(name.to_owned());
        check_names("outcomes", &self.outcomes)?;
        self.likelihoods.push(likelihoods.to_vec());
        Ok(self)
    }

    /// The hypotheses in order.
    pub fn hypotheses(&self) -> &[String] {
        &self.hypotheses
    }

    /// The outcomes in order.
    pub fn outcomes(&self) -> &[String] {
        &self.outcomes
    }

    /// `P(h | all observations)`.
    pub fn posterior(&self) -> Vec<f64> {
        self.log_posterior.iter().map(|p| p.exp()).collect()
    }

    /// `log P(all observations)`.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// The posterior predictive probability of every outcome.
    pub fn predictive(&self) -> Vec<f64> {
        let posterior = self.posterior();
        let probability = |row: &Vec<f64>| row.iter().zip(&posterior).map(|(l, p)| l * p).sum();
        self.likelihoods.iter().map(probability).collect()
    }

    /// Updates the posterior by one of the outcomes.
    ///
    /// # Errors
    /// If it is unknown, or has probability zero under every remaining hypothesis; the posterior is then unchanged.
    pub fn observe(&mut self, outcome: &str) -> Result<Update> {
        let index =
            self.outcomes.iter().position(|o| o == outcome).ok_or_else(|| Error::UnknownValue {
                variable: "observation".into(),
                value: outcome.to_owned(),
                known: self.outcomes.join(", "),
            })?;
        let likelihoods = self.likelihoods[index].clone();
        self.weigh(outcome, &likelihoods)
    }

    /// Updates the posterior by an observation with these likelihoods.
    ///
    /// # Errors
    /// As [`Belief::observe`].
    pub fn weigh(&mut self, observation: &str, likelihoods: &[f64]) -> Result<Update> {
        self.check_likelihoods(observation, likelihoods)?;
        let mut joint: Vec<f64> =
            self.log_posterior.iter().zip(likelihoods).map(|(p, l)| p + l.ln()).collect();
        let evidence = log_sum_exp(&joint);
        if evidence == f64::NEG_INFINITY {
            let what = format!("`{observation}`, under every remaining hypothesis,");
            return Err(Error::Impossible { what });
        }
        log_normalize(&mut joint);
        self.log_posterior = joint;
        self.log_evidence += evidence;
        Ok(Update {
            observation: observation.to_owned(),
            evidence: evidence.exp(),
            posterior: self.posterior(),
            predictive: self.predictive(),
        })
    }

    fn check_likelihoods(&self, name: &str, likelihoods: &[f64]) -> Result<()> {
        if likelihoods.len() != self.hypotheses.len() {
            return Err(Error::Length {
                what: format!("the likelihoods of `{name}`"),
                found: likelihoods.len(),
                expected: self.hypotheses.len(),
            });
        }
        for (h, l) in self.hypotheses.iter().zip(likelihoods) {
            check_probability(|| format!("the likelihood of `{name}` under `{h}`"), *l)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bags() -> Belief {
        Belief::new(&["h1", "h2", "h3", "h4", "h5"], &[0.1, 0.2, 0.4, 0.2, 0.1])
            .unwrap()
            .outcome("lime", &[0.0, 0.25, 0.5, 0.75, 1.0])
            .unwrap()
            .outcome("cherry", &[1.0, 0.75, 0.5, 0.25, 0.0])
            .unwrap()
    }

    #[test]
    fn evidence_of_probability_zero_is_refused_and_changes_nothing() {
        let mut bags = bags();
        bags.observe("lime").unwrap();
        bags.observe("cherry").unwrap();
        let before = bags.clone();

        // A lime excludes the first bag, a cherry the last.
        let refused = bags.weigh("only the last bag", &[1.0, 0.0, 0.0, 0.0, 1.0]);

        assert!(refused.unwrap_err().to_string().contains("only the last bag"));
        assert_eq!(bags, before);
    }

    #[test]
    fn a_million_observations_do_not_underflow() {
        let mut bags = bags();

        for _ in 0..500_000 {
            bags.observe("lime").unwrap();
            bags.observe("cherry").unwrap();
        }

        assert!((bags.posterior()[2] - 1.0).abs() < 1e-9);
        // Nearly all weight is on the third bag: 0.4 · 0.5^1000000.
        assert!((bags.log_evidence() - (0.4f64.ln() + 1e6 * 0.5f64.ln())).abs() < 1e-3);
    }
}
