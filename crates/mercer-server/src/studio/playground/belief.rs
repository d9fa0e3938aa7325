//! Sequential updating of a belief over hypotheses: which bag of candies is it, after each candy drawn?

use super::plane::read;
use crate::error::{ApiError, ApiResult};
use mercer::probability::{BayesRule, Belief};
use serde::Deserialize;
use serde_json::{Value, json};

/// Hypotheses, outcomes and observations of a message.
const MAX_HYPOTHESES: usize = 20;
const MAX_OUTCOMES: usize = 10;
const MAX_OBSERVATIONS: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeliefMessage {
    hypotheses: Vec<String>,
    priors: Vec<f64>,
    outcomes: Vec<Outcome>,
    /// The names of the observed outcomes in order.
    #[serde(default)]
    observed: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    name: String,
    /// `P(outcome | hypothesis)`, one per hypothesis.
    likelihoods: Vec<f64>,
}

/// The posterior after each observation, and the terms of Bayes' theorem for the last one.
///
/// # Errors
/// If the message is not understood, or probabilities are not valid.
pub(crate) fn update_belief(message: Value) -> ApiResult<Value> {
    let message: BeliefMessage = read(message)?;
    for (what, found, most) in [
        ("hypotheses", message.hypotheses.len(), MAX_HYPOTHESES),
        ("outcomes", message.outcomes.len(), MAX_OUTCOMES),
        ("observed", message.observed.len(), MAX_OBSERVATIONS),
    ] {
        if found > most {
            return Err(ApiError::bad(format!("{what}: found {found}, expected at most {most}")));
        }
    }
    let mut belief = Belief::new(&message.hypotheses, &message.priors)?;
    for outcome in &message.outcomes {
        belief = belief.outcome(&outcome.name, &outcome.likelihoods)?;
    }
    let mut steps =
        vec![json!({"posterior": belief.posterior(), "predictive": belief.predictive()})];
    let mut terms = Value::Null;
    for name in &message.observed {
        let before = belief.posterior();
        let update = belief.observe(name)?;
        let outcome = message.outcomes.iter().find(|outcome| outcome.name == *name);
        if let Some(outcome) = outcome {
            let rule = BayesRule::of(&message.hypotheses, &before, &outcome.likelihoods)?;
            terms = serde_json::to_value(rule).map_err(|_| ApiError::internal())?;
        }
        steps.push(serde_json::to_value(update).map_err(|_| ApiError::internal())?);
    }
    Ok(json!({
        "hypotheses": belief.hypotheses(),
        "outcomes": belief.outcomes(),
        "steps": steps,
        "last": terms,
        "log_evidence": belief.log_evidence(),
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn candy(observed: &[&str]) -> Value {
        json!({
            "hypotheses": ["h1", "h2", "h3", "h4", "h5"],
            "priors": [0.1, 0.2, 0.4, 0.2, 0.1],
            "outcomes": [
                {"name": "cherry", "likelihoods": [1.0, 0.75, 0.5, 0.25, 0.0]},
                {"name": "lime", "likelihoods": [0.0, 0.25, 0.5, 0.75, 1.0]},
            ],
            "observed": observed,
        })
    }

    #[test]
    fn candy_bags_after_one_lime() {
        let answer = update_belief(candy(&["lime"])).unwrap();

        // The lecture: posterior 0, .1, .4, .3, .2 and P(next is lime) = 0.65.
        let step = &answer["steps"][1];
        let expected = [0.0, 0.1, 0.4, 0.3, 0.2];
        for (h, p) in expected.iter().enumerate() {
            assert!((step["posterior"][h].as_f64().unwrap() - p).abs() < 1e-12);
        }
        assert!((step["predictive"][1].as_f64().unwrap() - 0.65).abs() < 1e-12);
        assert!((step["evidence"].as_f64().unwrap() - 0.5).abs() < 1e-12);
        let last = &answer["last"]["hypotheses"][3];
        assert!((last["joint"].as_f64().unwrap() - 0.15).abs() < 1e-12);
        assert_eq!(answer["steps"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn impossible_observations_and_bad_messages_are_refused() {
        let refused = |message: Value| update_belief(message).unwrap_err().message;

        // After a lime h1 is impossible, after a cherry h5; nothing else is excluded.
        assert!(update_belief(candy(&["lime", "cherry"])).is_ok());
        assert!(refused(candy(&["grape"])).contains("grape"));
        assert!(refused(candy(&vec!["lime"; 501])).contains("at most 500"));
        let mut wrong = candy(&[]);
        wrong["priors"] = json!([0.5, 0.5]);
        assert!(!refused(wrong.clone()).is_empty());
        wrong["priors"] = json!([0.5, 0.5, 0.5, 0.5, 0.5]);
        assert!(!refused(wrong).is_empty());
        let mut certain = candy(&["lime"]);
        certain["priors"] = json!([1.0, 0.0, 0.0, 0.0, 0.0]);
        assert!(refused(certain).contains("probability 0"));
    }
}
