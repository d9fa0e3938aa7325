//! Bayes' theorem: from prior and likelihood to posterior.
//!
//! `P(h | e) = P(e | h) P(h) / P(e)`, with `P(e) = Σ P(e | h) P(h)` for exhaustive hypotheses.
//! In odds: `P(a | e) / P(b | e) = P(a) / P(b) · P(e | a) / P(e | b)`.

use super::{check_distribution, check_names, check_probability};
use crate::error::{Error, Result};
use mercer_num::special::log_normalize;
use serde::Serialize;

/// Bayes' theorem with every step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BayesRule {
    /// The hypotheses in order.
    pub hypotheses: Vec<Hypothesis>,
    /// `P(e)`.
    pub evidence: f64,
}

/// The terms of one hypothesis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hypothesis {
    /// Its name.
    pub name: String,
    /// `P(h)`.
    pub prior: f64,
    /// `P(e | h)`.
    pub likelihood: f64,
    /// `P(e, h) = P(e | h) P(h)`.
    pub joint: f64,
    /// `P(h | e)`.
    pub posterior: f64,
}

/// The odds form for two of the hypotheses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Odds {
    /// `P(a) / P(b)`.
    pub prior: f64,
    /// `P(e | a) / P(e | b)`: the strength of the evidence.
    pub bayes_factor: f64,
    /// `P(a | e) / P(b | e)`.
    pub posterior: f64,
}

impl BayesRule {
    /// One hypothesis against its complement, with the probability of the evidence known.
    ///
    /// ```
    /// use mercer::probability::BayesRule;
    /// let meningitis = BayesRule::from_evidence(1.0 / 50_000.0, 0.5, 1.0 / 20.0)?;
    /// assert!((meningitis.hypotheses[0].posterior - 0.0002).abs() < 1e-18);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is not a probability, or the three are inconsistent.
    pub fn from_evidence(prior: f64, likelihood: f64, evidence: f64) -> Result<BayesRule> {
        check_probability(|| "the prior".into(), prior)?;
        check_probability(|| "the likelihood".into(), likelihood)?;
        check_probability(|| "the evidence".into(), evidence)?;
        if evidence == 0.0 {
            return Err(Error::Impossible { what: "the evidence".into() });
        }
        let joint = prior * likelihood;
        // The rest of the evidence must be a probability under the complement.
        let (rest, against) = (evidence - joint, 1.0 - prior);
        let slack = 1e-12 * evidence;
        if rest < -slack || rest > against + slack {
            return Err(Error::Number {
                what: "the evidence".into(),
                value: evidence,
                expected: format!(
                    "between {joint} (prior times likelihood) and {} (that plus the prior of the \
                     complement)",
                    joint + against
                ),
            });
        }
        let rest = rest.clamp(0.0, against);
        let likelihoods = [likelihood, if against > 0.0 { rest / against } else { 0.0 }];
        let names = ["hypothesis".to_owned(), "opposite".to_owned()];
        let joints = [joint, rest];
        let hypotheses = (names.into_iter().zip([prior, against]))
            .zip(likelihoods.into_iter().zip(joints))
            .map(|((name, prior), (likelihood, joint))| Hypothesis {
                name,
                prior,
                likelihood,
                joint,
                posterior: joint / evidence,
            })
            .collect();
        Ok(BayesRule { hypotheses, evidence })
    }

    /// Hypotheses of which exactly one is true.
    ///
    /// # Errors
    /// If the priors do not sum to one, a number is not a probability, or the evidence has probability zero.
    pub fn of(names: &[String], priors: &[f64], likelihoods: &[f64]) -> Result<BayesRule> {
        check_names("hypotheses", names)?;
        for (what, list) in [("the priors", priors), ("the likelihoods", likelihoods)] {
            if list.len() != names.len() {
                return Err(Error::Length {
                    what: what.into(),
                    found: list.len(),
                    expected: names.len(),
                });
            }
        }
        check_distribution("prior", names, priors)?;
        for (name, likelihood) in names.iter().zip(likelihoods) {
            check_probability(|| format!("the likelihood of `{name}`"), *likelihood)?;
        }
        let mut posterior: Vec<f64> =
            priors.iter().zip(likelihoods).map(|(p, l)| p.ln() + l.ln()).collect();
        let log_evidence = log_normalize(&mut posterior);
        if log_evidence == f64::NEG_INFINITY {
            return Err(Error::Impossible { what: "the evidence, under every hypothesis,".into() });
        }
        let hypotheses = (0..names.len())
            .map(|h| Hypothesis {
                name: names[h].clone(),
                prior: priors[h],
                likelihood: likelihoods[h],
                joint: priors[h] * likelihoods[h],
                posterior: posterior[h].exp(),
            })
            .collect();
        Ok(BayesRule { hypotheses, evidence: log_evidence.exp() })
    }

    /// The odds of hypothesis `a` against `b`, by index. Infinite if `b` has probability zero.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn odds(&self, a: usize, b: usize) -> Odds {
        let (a, b) = (&self.hypotheses[a], &self.hypotheses[b]);
        Odds {
            prior: a.prior / b.prior,
            bayes_factor: a.likelihood / b.likelihood,
            posterior: a.joint / b.joint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inconsistent_probabilities_are_refused() {
        // If 0.5 of 0.1 show it, at least 0.05 of all do, and at most 0.95.
        let few = BayesRule::from_evidence(0.1, 0.5, 0.01);
        let many = BayesRule::from_evidence(0.1, 0.5, 0.96);

        assert!(few.unwrap_err().to_string().contains("between 0.05"));
        assert!(matches!(many, Err(Error::Number { .. })));
        assert!(matches!(BayesRule::from_evidence(0.1, 0.0, 0.0), Err(Error::Impossible { .. })));
    }

    #[test]
    fn odds_and_posterior_agree() {
        let names = ["ill".to_owned(), "well".to_owned()];

        let rule = BayesRule::of(&names, &[0.01, 0.99], &[0.9, 0.05]).unwrap();
        let odds = rule.odds(0, 1);

        // 0.009 against 0.0495.
        assert!((rule.evidence - 0.0585).abs() < 1e-15);
        assert!((rule.hypotheses[0].posterior - 0.009 / 0.0585).abs() < 1e-15);
        assert!((odds.bayes_factor - 18.0).abs() < 1e-12);
        assert!((odds.prior * odds.bayes_factor - odds.posterior).abs() < 1e-15);
    }

    #[test]
    fn every_invalid_probability_is_named() {
        let names = ["a".to_owned(), "b".to_owned()];

        let sum = BayesRule::of(&names, &[0.5, 0.6], &[0.1, 0.1]).unwrap_err().to_string();
        let high = BayesRule::of(&names, &[0.5, 0.5], &[0.1, 1.1]).unwrap_err().to_string();
        let none = BayesRule::of(&names, &[0.5, 0.5], &[0.0, 0.0]).unwrap_err().to_string();

        assert!(sum.contains("priors of a, b") && sum.contains("1.1"), "{sum}");
        assert!(high.contains("likelihood of `b`") && high.contains("1.1"), "{high}");
        assert!(none.contains("probability 0"), "{none}");
    }
}
