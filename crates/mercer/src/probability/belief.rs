//! Belief over hypotheses, updated by one observation after the other.
//!
//! `P(h | e₁ … eₙ) ∝ P(h) Π P(eᵢ | h)`: within a hypothesis the observations are independent. What comes next
//! is foretold by all hypotheses together: `P(next) = Σ P(next | h) P(h | e₁ … eₙ)`.

use super::{check_distribution, check_names, check_probability};
use crate::error::{Error, Result};
use mercer_num::special::{log_normalize, log_sum_exp};
use serde::Serialize;

/// Hypotheses, how much each is believed, and what each expects to be seen.
///
/// ```
/// use mercer::probability::Belief;
///
/// let mut coin = Belief::new(&["fair", "two heads"], &[0.9, 0.1])?
///     .outcome("heads", &[0.5, 1.0])?
///     .outcome("tails", &[0.5, 0.0])?;
/// let told = coin.observe("heads")?;
///
/// assert!((told.posterior[1] - 0.1 / 0.55).abs() < 1e-15);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    hypotheses: Vec<String>,
    log_posterior: Vec<f64>,
    log_evidence: f64,
    outcomes: Vec<String>,
    /// `P(outcome | h)`, one row an outcome.
    likelihoods: Vec<Vec<f64>>,
}

/// What one observation changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Update {
    /// What was seen.
    pub observation: String,
    /// How probable it was by what was believed before.
    pub evidence: f64,
    /// `P(h | everything seen)`, hypothesis by hypothesis.
    pub posterior: Vec<f64>,
    /// `P(next is this)`, outcome by outcome.
    pub predictive: Vec<f64>,
}

impl Belief {
    /// What is believed before anything is seen.
    ///
    /// # Errors
    /// If names repeat or the priors are no probabilities that add up to one.
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

    /// Adds something that can be seen, with its probability under every hypothesis. Outcomes need
    /// not be all there are, nor exclude each other.
    ///
    /// # Errors
    /// If it is there already, or a number is no probability.
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

    /// `P(h | everything seen)`.
    pub fn posterior(&self) -> Vec<f64> {
        self.log_posterior.iter().map(|p| p.exp()).collect()
    }

    /// `log P(everything seen)`.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// `P(next is this)` for every outcome.
    pub fn predictive(&self) -> Vec<f64> {
        let posterior = self.posterior();
        let chance = |row: &Vec<f64>| row.iter().zip(&posterior).map(|(l, p)| l * p).sum();
        self.likelihoods.iter().map(chance).collect()
    }

    /// Sees one of the outcomes.
    ///
    /// # Errors
    /// If it is not among them, or no hypothesis that is still believed allows it; the belief is then
    /// what it was.
    pub fn observe(&mut self, outcome: &str) -> Result<Update> {
        let place =
            self.outcomes.iter().position(|o| o == outcome).ok_or_else(|| Error::UnknownValue {
                variable: "observation".into(),
                value: outcome.to_owned(),
                known: self.outcomes.join(", "),
            })?;
        let likelihoods = self.likelihoods[place].clone();
        self.weigh(outcome, &likelihoods)
    }

    /// Sees something with these probabilities under the hypotheses.
    ///
    /// # Errors
    /// As [`Belief::observe`].
    pub fn weigh(&mut self, observation: &str, likelihoods: &[f64]) -> Result<Update> {
        self.check_likelihoods(observation, likelihoods)?;
        let mut joint: Vec<f64> =
            self.log_posterior.iter().zip(likelihoods).map(|(p, l)| p + l.ln()).collect();
        let evidence = log_sum_exp(&joint);
        if evidence == f64::NEG_INFINITY {
            let what = format!("`{observation}`, by every hypothesis still believed,");
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
    fn impossible_evidence_is_refused_and_changes_nothing() {
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
