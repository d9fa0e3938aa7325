//! Bayesian networks against the joint written out cell by cell, and against published numbers.

use mercer::model::Monitor;
use mercer::probability::network::inference::{
    JunctionTree, log_evidence, most_probable_explanation, query,
};
use mercer::probability::network::{Evidence, Network, RandomNetwork};
use mercer::{Error, Result};
use mercer_num::random::Random;
use proptest::prelude::*;
use proptest::test_runner::Config;

const EXACT: f64 = 1e-12;

fn some() -> Config {
    Config { cases: 128, failure_persistence: None, ..Config::default() }
}

/// Networks small enough to write the joint out.
fn small_networks() -> impl Strategy<Value = Network> {
    (1usize..8, 0usize..4, 1usize..8, 2usize..4, prop_oneof![Just(0.0), Just(0.3)], any::<u64>())
        .prop_map(|(n_variables, max_parents, reach, max_states, zeros, seed)| {
            RandomNetwork { n_variables, max_parents, reach, max_states, zeros, seed }.draw()
        })
}

/// Every configuration with its probability.
fn joint(network: &Network) -> Vec<(Vec<usize>, f64)> {
    let mut all = vec![(vec![0; network.len()], 0.0)];
    for v in 0..network.len() {
        all = all
            .into_iter()
            .flat_map(|(states, p)| {
                (0..network.size(v)).map(move |s| {
                    let mut states = states.clone();
                    states[v] = s;
                    (states, p)
                })
            })
            .collect();
    }
    all.iter_mut().for_each(|(states, p)| *p = network.log_joint(states).exp());
    all
}

/// The configurations that agree with the evidence.
fn agreeing(network: &Network, evidence: &Evidence) -> Vec<(Vec<usize>, f64)> {
    let mut all = joint(network);
    all.retain(|(states, _)| evidence.iter().all(|(v, s)| states[v] == s));
    all
}

fn some_evidence(network: &Network, seed: u64) -> Evidence {
    let mut random = Random::new(seed);
    let mut evidence = Evidence::none();
    for v in 0..network.len() {
        if random.uniform() < 0.35 {
            evidence.see(v, random.below(network.size(v)));
        }
    }
    evidence
}

fn impossible<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::Impossible { .. }))
}

fn total(cells: &[(Vec<usize>, f64)]) -> f64 {
    cells.iter().map(|(_, p)| p).sum()
}

proptest! {
    #![proptest_config(some())]

    #[test]
    fn elimination_equals_the_joint_written_out(network in small_networks(), seed in any::<u64>()) {
        let evidence = some_evidence(&network, seed);
        let mut random = Random::new(seed ^ 1);
        let mut of: Vec<usize> = (0..network.len()).filter(|_| random.uniform() < 0.4).collect();
        random.shuffle(&mut of);
        let cells = agreeing(&network, &evidence);
        let p_evidence = total(&cells);

        let posterior = query(&network, &of, &evidence, &Monitor::quiet());

        if p_evidence == 0.0 {
            prop_assert!(impossible(&posterior));
            return Ok(());
        }
        let posterior = posterior.unwrap();
        prop_assert!((posterior.log_evidence.exp() - p_evidence).abs() < EXACT);
        let mut expected = vec![0.0; posterior.probabilities.len()];
        for (states, p) in &cells {
            let at = of.iter().fold(0, |at, v| at * network.size(*v) + states[*v]);
            expected[at] += p / p_evidence;
        }
        for (found, expected) in posterior.probabilities.iter().zip(&expected) {
            prop_assert!((found - expected).abs() < EXACT, "{} and {}", found, expected);
        }
    }

    #[test]
    fn the_junction_tree_equals_the_joint_written_out(
        network in small_networks(),
        seed in any::<u64>(),
    ) {
        let tree = JunctionTree::new(&network, &Monitor::quiet()).unwrap();
        for turn in 0..3 {
            let evidence = some_evidence(&network, seed ^ turn);
            let cells = agreeing(&network, &evidence);
            let p_evidence = total(&cells);

            let calibrated = tree.calibrate(&evidence);

            if p_evidence == 0.0 {
                prop_assert!(impossible(&calibrated));
                continue;
            }
            let calibrated = calibrated.unwrap();
            prop_assert!((calibrated.log_evidence().exp() - p_evidence).abs() < EXACT);
            for (v, marginal) in calibrated.marginals().iter().enumerate() {
                for (s, found) in marginal.iter().enumerate() {
                    let those = cells.iter().filter(|(states, _)| states[v] == s);
                    let expected = those.map(|(_, p)| p).sum::<f64>() / p_evidence;
                    prop_assert!((found - expected).abs() < EXACT, "{} and {}", found, expected);
                }
                prop_assert_eq!(&calibrated.marginal(v).unwrap(), marginal);
            }
        }
    }

    #[test]
    fn the_explanation_is_the_largest_cell(network in small_networks(), seed in any::<u64>()) {
        let evidence = some_evidence(&network, seed);
        let cells = agreeing(&network, &evidence);
        let largest = cells.iter().map(|(_, p)| *p).fold(0.0, f64::max);

        let found = most_probable_explanation(&network, &evidence, &Monitor::quiet());

        if largest == 0.0 {
            prop_assert!(impossible(&found));
            return Ok(());
        }
        let found = found.unwrap();
        prop_assert!((found.log_probability - largest.ln()).abs() < EXACT);
        prop_assert!((network.log_joint(&found.states) - largest.ln()).abs() < EXACT);
        prop_assert!(evidence.iter().all(|(v, s)| found.states[v] == s));
    }

    #[test]
    fn both_ways_agree_on_networks_too_large_to_write_out(seed in any::<u64>()) {
        let network = RandomNetwork { n_variables: 40, seed, ..RandomNetwork::default() }.draw();
        let draw = network.sample(1, &mut Random::new(seed)).remove(0);
        let mut evidence = Evidence::none();
        (0..40).step_by(3).for_each(|v| evidence.see(v, draw[v]));
        let tree = JunctionTree::new(&network, &Monitor::quiet()).unwrap();

        let calibrated = tree.calibrate(&evidence).unwrap();

        for v in (0..40).step_by(7) {
            let posterior = query(&network, &[v], &evidence, &Monitor::quiet()).unwrap();
            prop_assert!((posterior.log_evidence - calibrated.log_evidence()).abs() < 1e-10);
            let marginal = calibrated.marginal(v).unwrap();
            for (a, b) in posterior.probabilities.iter().zip(marginal) {
                prop_assert!((a - b).abs() < EXACT, "{} and {}", a, b);
            }
        }
    }
}

/// A class with many witnesses: the first half speaks for one class, the second for the other.
fn witnesses(n: usize) -> Network {
    let mut builder =
        Network::builder("witnesses").variable("c", ["a", "b"]).table("c", [], &[0.25, 0.75]);
    for i in 0..n {
        let p = if i < n / 2 { [0.9, 0.1, 0.2, 0.8] } else { [0.2, 0.8, 0.9, 0.1] };
        builder =
            builder.variable(format!("x{i}"), ["yes", "no"]).table(format!("x{i}"), ["c"], &p);
    }
    builder.build().unwrap()
}

#[test]
fn nothing_underflows() {
    // 0.2^1000 is no double; the two halves cancel and leave the prior.
    let network = witnesses(2000);
    let mut evidence = Evidence::none();
    (1..=2000).for_each(|v| evidence.see(v, 0));

    let posterior = query(&network, &[0], &evidence, &Monitor::quiet()).unwrap();
    let tree = JunctionTree::new(&network, &Monitor::quiet()).unwrap();
    let calibrated = tree.calibrate(&evidence).unwrap();
    let best = most_probable_explanation(&network, &evidence, &Monitor::quiet()).unwrap();

    let expected = 1000.0 * (0.9f64.ln() + 0.2f64.ln());
    for found in [posterior.probabilities, calibrated.marginal(0).unwrap()] {
        assert!((found[0] - 0.25).abs() < 1e-9, "{found:?}");
    }
    for found in [posterior.log_evidence, calibrated.log_evidence()] {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} and {expected}");
    }
    assert_eq!(best.states[0], 1);
    assert!((best.log_probability - (expected + 0.75f64.ln())).abs() < 1e-8);
}

#[test]
fn evidence_that_cannot_happen_is_named() {
    let network = Network::builder("n")
        .variable("rain", ["yes", "no"])
        .variable("wet", ["yes", "no"])
        .table("rain", [], &[0.2, 0.8])
        .table("wet", ["rain"], &[0.9, 0.1, 0.0, 1.0])
        .build()
        .unwrap();
    let evidence = network.evidence([("rain", "no"), ("wet", "yes")]).unwrap();
    let expected = "the evidence cannot happen: P(rain=no, wet=yes) is 0";

    let told = |error: Error| assert_eq!(error.to_string(), expected);

    told(query(&network, &[0], &evidence, &Monitor::quiet()).unwrap_err());
    told(most_probable_explanation(&network, &evidence, &Monitor::quiet()).unwrap_err());
    let tree = JunctionTree::new(&network, &Monitor::quiet()).unwrap();
    told(tree.calibrate(&evidence).unwrap_err());
    let log = log_evidence(&network, &evidence, &Monitor::quiet()).unwrap();
    assert_eq!(log, f64::NEG_INFINITY);
}

#[test]
fn tables_too_large_are_refused_before_they_are_made() {
    // A grid of 40 x 40 has cliques of about 40 variables.
    let n = 40;
    let name = |i: usize, j: usize| format!("{i}.{j}");
    let mut builder = Network::builder("grid");
    for i in 0..n {
        for j in 0..n {
            let mut parents = Vec::new();
            if i > 0 {
                parents.push(name(i - 1, j));
            }
            if j > 0 {
                parents.push(name(i, j - 1));
            }
            let table = vec![0.5; 2 << parents.len()];
            builder = builder.variable(name(i, j), ["0", "1"]).table(
                name(i, j),
                parents.iter().map(String::as_str),
                &table,
            );
        }
    }
    let network = builder.build().unwrap();
    let refused = |result: Result<()>| match result {
        Err(Error::Memory { needed, budget, .. }) => assert!(needed > budget),
        other => panic!("{other:?}"),
    };

    refused(JunctionTree::new(&network, &Monitor::quiet()).map(|_| ()));
    refused(query(&network, &[n * n - 1], &Evidence::none(), &Monitor::quiet()).map(|_| ()));
    refused(most_probable_explanation(&network, &Evidence::none(), &Monitor::quiet()).map(|_| ()));
    let tight = Monitor::quiet().memory_limit(100);
    refused(JunctionTree::new(&witnesses(9), &tight).map(|_| ()));
}

#[test]
fn questions_about_strangers_are_refused() {
    let network = witnesses(1);
    let mut stranger = Evidence::none();
    stranger.see(0, 2);

    assert!(query(&network, &[2], &Evidence::none(), &Monitor::quiet()).is_err());
    assert!(query(&network, &[0, 0], &Evidence::none(), &Monitor::quiet()).is_err());
    assert!(query(&network, &[0], &stranger, &Monitor::quiet()).is_err());
}
