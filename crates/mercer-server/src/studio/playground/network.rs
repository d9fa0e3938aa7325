//! The belief network: exact beliefs given evidence, the sums behind them, and d-separation.
//!
//! A network comes as BIF text. Beliefs are the marginals of a junction tree. For a queried variable the answer shows
//! the sum `P(q, e) = Σ_h P(q, e, h)` over the hidden variables, term by term as long as there are few.

use super::plane::read;
use crate::error::{ApiError, ApiResult};
use mercer::model::Monitor;
use mercer::probability::network::inference::{JunctionTree, most_probable_explanation};
use mercer::probability::network::{Block, Evidence, Network, Separation, bif, d_separation};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Bytes of the text, variables, and bytes of the tables of inference.
const MAX_BYTES: usize = 1 << 18;
const MAX_VARIABLES: usize = 200;
const MAX_MEMORY: u64 = 256 << 20;
/// Terms of a sum that are computed one by one, and that are shown.
const MAX_TERMS: usize = 4096;
const SHOWN_TERMS: usize = 6;
/// Cells of a conditional probability table that are sent.
const MAX_TABLE_CELLS: usize = 256;
/// Passes that improve the order within layers.
const SWEEPS: usize = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworkMessage {
    /// The network in the BIF format.
    bif: String,
    /// The observed states by variable.
    #[serde(default)]
    evidence: BTreeMap<String, String>,
    /// The variable whose sums are shown.
    query: Option<String>,
    /// Two variables whose d-separation by the evidence is asked for.
    separation: Option<[String; 2]>,
}

/// The beliefs of a network.
///
/// # Errors
/// If the message or the network is not understood, or the evidence has probability zero.
pub(crate) fn network_beliefs(message: Value) -> ApiResult<Value> {
    let message: NetworkMessage = read(message)?;
    if message.bif.len() > MAX_BYTES {
        return Err(ApiError::large(format!("a network has at most {MAX_BYTES} bytes")));
    }
    let network = bif::from_bif(&message.bif)?;
    if !(1..=MAX_VARIABLES).contains(&network.len()) {
        return Err(ApiError::bad(format!(
            "the network has {} variables, expected 1 to {MAX_VARIABLES}",
            network.len()
        )));
    }
    let evidence =
        network.evidence(message.evidence.iter().map(|(v, s)| (v.as_str(), s.as_str())))?;
    let monitor = Monitor::quiet().memory_limit(MAX_MEMORY);
    let tree = JunctionTree::new(&network, &monitor)?;
    let priors = tree.calibrate(&Evidence::none())?.marginals();
    let calibrated = tree.calibrate(&evidence)?;
    let beliefs = calibrated.marginals();
    let log_evidence = calibrated.log_evidence();
    let explanation = most_probable_explanation(&network, &evidence, &monitor)?;
    let query = message.query.map(|name| network.variable(&name)).transpose()?;
    let sums = query.map(|q| sums(&network, &evidence, q, &beliefs[q], log_evidence.exp()));
    let separation = message.separation.map(|pair| separation(&network, &evidence, &pair));
    Ok(json!({
        "name": network.name(),
        "variables": variables(&network, &evidence, &priors, &beliefs),
        "n_parameters": network.n_free_parameters(),
        "probability_of_evidence": log_evidence.exp(),
        "explanation": {
            "states": explanation.states,
            "probability": (explanation.log_probability - log_evidence).exp(),
        },
        "sums": sums,
        "separation": separation.transpose()?,
    }))
}

/// The variables with their tables, beliefs and places in the drawing.
fn variables(
    network: &Network,
    evidence: &Evidence,
    priors: &[Vec<f64>],
    beliefs: &[Vec<f64>],
) -> Vec<Value> {
    let places = layout(network);
    let variable = |v: usize| {
        let table = network.table(v);
        let rows = (0..network.n_rows(v)).map(|row| network.row_states(v, row));
        json!({
            "name": network.variables()[v].name,
            "states": network.variables()[v].states,
            "parents": network.parents(v),
            "observed": evidence.state(v),
            "prior": priors[v],
            "belief": beliefs[v],
            "layer": places[v].0,
            "order": places[v].1,
            "table": (table.len() <= MAX_TABLE_CELLS).then(|| table.to_vec()),
            "rows": (table.len() <= MAX_TABLE_CELLS).then(|| rows.collect::<Vec<_>>()),
        })
    };
    (0..network.len()).map(variable).collect()
}

/// The layer of each variable, below those of its parents, and its place within the layer.
fn layout(network: &Network) -> Vec<(usize, usize)> {
    let mut layer = vec![0; network.len()];
    for v in network.topological_order() {
        layer[v] = network.parents(v).iter().map(|p| layer[*p] + 1).max().unwrap_or(0);
    }
    let n_layers = layer.iter().max().map_or(0, |last| last + 1);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); n_layers];
    (0..network.len()).for_each(|v| layers[layer[v]].push(v));
    let mut neighbors: Vec<Vec<usize>> = vec![Vec::new(); network.len()];
    for v in 0..network.len() {
        for p in network.parents(v) {
            neighbors[v].push(*p);
            neighbors[*p].push(v);
        }
    }
    // Every variable moves to the mean place of its neighbors; places are fractions of the width.
    let mut place = vec![0.5; network.len()];
    for _ in 0..SWEEPS {
        for layer in &mut layers {
            let mean = |v: &usize| match neighbors[*v].len() {
                0 => place[*v],
                n => neighbors[*v].iter().map(|u| place[*u]).sum::<f64>() / n as f64,
            };
            let mut keyed: Vec<(f64, usize)> = layer.iter().map(|v| (mean(v), *v)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            let n = keyed.len() as f64;
            for (k, (_, v)) in keyed.iter().enumerate() {
                (layer[k], place[*v]) = (*v, (k as f64 + 0.5) / n);
            }
        }
    }
    let mut places = vec![(0, 0); network.len()];
    for (l, layer) in layers.iter().enumerate() {
        layer.iter().enumerate().for_each(|(k, v)| places[*v] = (l, k));
    }
    places
}

/// The terms of `P(q, e) = Σ_h P(q, e, h)` for every state of `q`, the largest first.
fn sums(
    network: &Network,
    evidence: &Evidence,
    query: usize,
    belief: &[f64],
    probability_of_evidence: f64,
) -> Value {
    let is_hidden = |v: &usize| *v != query && evidence.state(*v).is_none();
    let hidden: Vec<usize> = (0..network.len()).filter(is_hidden).collect();
    let n_terms = hidden.iter().try_fold(1usize, |n, v| n.checked_mul(network.size(*v)));
    let few = n_terms.is_some_and(|n| n <= MAX_TERMS);
    let of_state = |s: usize| {
        let is_possible = evidence.state(query).is_none_or(|seen| seen == s);
        let joint = belief[s] * probability_of_evidence;
        let terms = (few && is_possible).then(|| {
            let mut terms = terms(network, evidence, &hidden, (query, s));
            terms.sort_by(|a, b| b.1.total_cmp(&a.1));
            let shown = terms.iter().take(SHOWN_TERMS);
            shown.map(|(states, p)| json!({"states": states, "probability": p})).collect::<Vec<_>>()
        });
        json!({"state": s, "joint": joint, "posterior": belief[s], "terms": terms})
    };
    json!({
        "query": query,
        "hidden": hidden,
        "n_terms": n_terms,
        "evidence": probability_of_evidence,
        "states": (0..network.size(query)).map(of_state).collect::<Vec<_>>(),
    })
}

/// The states of the hidden variables and the probability of every term.
fn terms(
    network: &Network,
    evidence: &Evidence,
    hidden: &[usize],
    (query, state): (usize, usize),
) -> Vec<(Vec<usize>, f64)> {
    let mut all: Vec<usize> = (0..network.len()).map(|v| evidence.state(v).unwrap_or(0)).collect();
    all[query] = state;
    let n_terms = hidden.iter().map(|v| network.size(*v)).product();
    let term = |mut k: usize| {
        let mut states = all.clone();
        for v in hidden.iter().rev() {
            (states[*v], k) = (k % network.size(*v), k / network.size(*v));
        }
        let probability = network.log_joint(&states).exp();
        (hidden.iter().map(|v| states[*v]).collect(), probability)
    };
    (0..n_terms).map(term).collect()
}

/// Whether the evidence d-separates two variables, and why.
fn separation(network: &Network, evidence: &Evidence, pair: &[String; 2]) -> ApiResult<Value> {
    let [a, b] = [network.variable(&pair[0])?, network.variable(&pair[1])?];
    let given: Vec<usize> = evidence.iter().map(|(v, _)| v).collect();
    Ok(match d_separation(network, a, b, &given)? {
        Separation::Connected { path } => json!({"separated": false, "path": path}),
        Separation::Separated { blocked } => {
            let path = |blocked: &mercer::probability::network::BlockedPath| {
                let why = match blocked.why {
                    Block::Seen => "observed",
                    Block::Collider => "collider",
                };
                json!({"path": blocked.path, "at": blocked.at, "why": why})
            };
            json!({"separated": true, "blocked": blocked.iter().map(path).collect::<Vec<_>>()})
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const ALARM: &str = include_str!("../../../../../testdata/networks/earthquake.bif");

    fn beliefs(evidence: Value) -> Value {
        let message = json!({"bif": ALARM, "evidence": evidence, "query": "Burglary"});
        network_beliefs(message).unwrap()
    }

    fn belief_of(answer: &Value, name: &str) -> f64 {
        let variables = answer["variables"].as_array().unwrap();
        let variable = variables.iter().find(|v| v["name"] == name).unwrap();
        let state = variable["states"].as_array().unwrap().iter().position(|s| *s == "true");
        variable["belief"][state.unwrap()].as_f64().unwrap()
    }

    #[test]
    fn the_terms_of_a_sum_add_up_to_the_joint_probability() {
        let answer = beliefs(json!({"JohnCalls": "true", "MaryCalls": "true"}));

        let sums = &answer["sums"];
        // Alarm and earthquake are hidden: four terms for each state of the query.
        assert_eq!(sums["n_terms"], 4);
        let mut total = 0.0;
        for state in sums["states"].as_array().unwrap() {
            let terms = state["terms"].as_array().unwrap();
            let sum: f64 = terms.iter().map(|t| t["probability"].as_f64().unwrap()).sum();
            assert!((sum - state["joint"].as_f64().unwrap()).abs() < 1e-15);
            total += sum;
        }
        assert!((total - answer["probability_of_evidence"].as_f64().unwrap()).abs() < 1e-15);
        let posterior = sums["states"][0]["posterior"].as_f64().unwrap();
        assert!((belief_of(&answer, "Burglary") - posterior).abs() < 1e-15);
        // Russell & Norvig: 0.284.
        assert!((posterior - 0.284).abs() < 5e-4);
    }

    #[test]
    fn evidence_for_one_cause_lowers_the_other() {
        let alarm = beliefs(json!({"Alarm": "true"}));
        let both = beliefs(json!({"Alarm": "true", "Earthquake": "true"}));

        assert!(belief_of(&both, "Burglary") < belief_of(&alarm, "Burglary"));
        assert_eq!(belief_of(&both, "Alarm"), 1.0);
    }

    #[test]
    fn d_separation_names_what_blocks() {
        let ask = |evidence: Value| {
            let pair = ["Burglary", "Earthquake"];
            let message = json!({"bif": ALARM, "evidence": evidence, "separation": pair});
            network_beliefs(message).unwrap()["separation"].clone()
        };

        let before = ask(json!({}));
        assert_eq!(before["separated"], true);
        assert_eq!(before["blocked"][0]["why"], "collider");
        // A call is a descendant of the collider.
        assert_eq!(ask(json!({"JohnCalls": "true"}))["separated"], false);
    }

    #[test]
    fn variables_lie_below_their_parents() {
        let answer = beliefs(json!({}));
        let variables = answer["variables"].as_array().unwrap();

        for variable in variables {
            for parent in variable["parents"].as_array().unwrap() {
                let parent = &variables[parent.as_u64().unwrap() as usize];
                assert!(parent["layer"].as_u64() < variable["layer"].as_u64());
            }
        }
        assert_eq!(answer["explanation"]["states"].as_array().unwrap().len(), 5);
    }

    #[test]
    fn bad_networks_are_refused() {
        let refused = |message: Value| network_beliefs(message).unwrap_err().message;

        assert!(!refused(json!({"bif": ""})).is_empty());
        assert!(!refused(json!({"bif": "network x {"})).is_empty());
        assert!(refused(json!({"bif": "x".repeat(MAX_BYTES + 1)})).contains("bytes"));
        let with = |field: &str, value: Value| {
            let mut message = json!({"bif": ALARM});
            message[field] = value;
            message
        };
        assert!(refused(with("evidence", json!({"Alarm": "Maybe"}))).contains("Maybe"));
        assert!(refused(with("evidence", json!({"Nobody": "true"}))).contains("Nobody"));
        assert!(refused(with("query", json!("Nobody"))).contains("Nobody"));
        assert!(!refused(with("separation", json!(["Alarm", "Alarm"]))).is_empty());
    }
}
