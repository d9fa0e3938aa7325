//! Bayesian networks against enumeration of the joint distribution, and against published values.

use crate::cases::repository_file;
use mercer::model::Monitor;
use mercer::probability::network::bif::{from_bif, to_bif};
use mercer::probability::network::inference::{
    JunctionTree, log_evidence, most_probable_explanation, query,
};
use mercer::probability::network::{
    Evidence, Network, RandomNetwork, Separation, Variable, d_separation, reachable,
};
use mercer::{Error, Result};
use mercer_num::random::Random;
use proptest::prelude::*;
use proptest::test_runner::Config;

const EXACT: f64 = 1e-12;

fn few_cases() -> Config {
    crate::cases::same_cases(128)
}

/// Networks small enough to enumerate the joint distribution.
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

fn separated(separation: &Separation) -> bool {
    matches!(separation, Separation::Separated { .. })
}

fn total(cells: &[(Vec<usize>, f64)]) -> f64 {
    cells.iter().map(|(_, p)| p).sum()
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn variable_elimination_equals_enumeration(network in small_networks(), seed in any::<u64>()) {
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
    fn the_junction_tree_equals_enumeration(
        network in small_networks(),
        seed in any::<u64>(),
    ) {
        let tree = JunctionTree::new(&network, &Monitor::quiet()).unwrap();
        for rotate in 0..3 {
            let evidence = some_evidence(&network, seed ^ rotate);
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
    fn the_most_probable_explanation_is_the_largest_cell(network in small_networks(), seed in any::<u64>()) {
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
    fn elimination_and_junction_tree_agree_on_large_networks(seed in any::<u64>()) {
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

/// A class with many features: the first half supports one class, the second the other.
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
fn long_products_do_not_underflow() {
    // 0.2^1000 underflows a double; the two halves cancel and leave the prior.
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
fn evidence_of_probability_zero_is_reported() {
    let network = Network::builder("n")
        .variable("rain", ["yes", "no"])
        .variable("wet", ["yes", "no"])
        .table("rain", [], &[0.2, 0.8])
        .table("wet", ["rain"], &[0.9, 0.1, 0.0, 1.0])
        .build()
        .unwrap();
    let evidence = network.evidence([("rain", "no"), ("wet", "yes")]).unwrap();
    let expected = "the evidence rain=no, wet=yes has probability 0, so the conditional probability is undefined";

    let separation = |error: Error| assert_eq!(error.to_string(), expected);

    separation(query(&network, &[0], &evidence, &Monitor::quiet()).unwrap_err());
    separation(most_probable_explanation(&network, &evidence, &Monitor::quiet()).unwrap_err());
    let tree = JunctionTree::new(&network, &Monitor::quiet()).unwrap();
    separation(tree.calibrate(&evidence).unwrap_err());
    let log = log_evidence(&network, &evidence, &Monitor::quiet()).unwrap();
    assert_eq!(log, f64::NEG_INFINITY);
}

#[test]
fn tables_beyond_the_memory_budget_are_refused_in_advance() {
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
fn queries_of_unknown_variables_are_refused() {
    let network = witnesses(1);
    let mut unknown = Evidence::none();
    unknown.see(0, 2);

    assert!(query(&network, &[2], &Evidence::none(), &Monitor::quiet()).is_err());
    assert!(query(&network, &[0, 0], &Evidence::none(), &Monitor::quiet()).is_err());
    assert!(query(&network, &[0], &unknown, &Monitor::quiet()).is_err());
}

// ------------------------------------------------------------------------------- published values

fn published(name: &str) -> Network {
    from_bif(&repository_file(&format!("testdata/networks/{name}.bif"))).unwrap()
}

fn posterior(network: &Network, of: &str, evidence: &[(&str, &str)]) -> Vec<f64> {
    let evidence = network.evidence(evidence.iter().copied()).unwrap();
    let of = network.variable(of).unwrap();
    query(network, &[of], &evidence, &Monitor::quiet()).unwrap().probabilities
}

#[test]
fn the_burglar_alarm_matches_the_textbook() {
    let network = published("earthquake");

    let burglary = posterior(&network, "Burglary", &[("JohnCalls", "true"), ("MaryCalls", "true")]);

    // Russell & Norvig, section 14.4: <0.284, 0.716>.
    assert!((burglary[0] - 0.284_171_835_364_393).abs() < 1e-12, "{burglary:?}");
    assert_eq!(network.n_free_parameters(), 10);
    // Section 14.2: john, mary, alarm, neither burglary nor earthquake.
    let joint = network.log_joint(&[1, 1, 0, 0, 0]).exp();
    assert!((joint - 0.9 * 0.7 * 0.001 * 0.999 * 0.998).abs() < 1e-15);
}

#[test]
fn the_chest_clinic_matches_the_paper() {
    let network = published("asia");

    // Lauritzen & Spiegelhalter: the marginals without evidence.
    for (of, evidence, expected) in [
        ("tub", &[][..], 0.0104),
        ("lung", &[], 0.055),
        ("bronc", &[], 0.45),
        ("either", &[], 0.0648),
        ("xray", &[], 0.1103),
        ("dysp", &[], 0.436),
        // 0.05 · 0.98 / (0.98 (1 − 0.95 · 0.945) + 0.05 · 0.95 · 0.945)
        ("tub", &[("asia", "yes"), ("xray", "yes")], 0.049 / 0.145_092_5),
    ] {
        let found = posterior(&network, of, evidence)[0];
        assert!((found - expected).abs() < 5.1e-5, "{of}: {found} and {expected}");
    }
}

#[test]
fn published_networks_equal_enumeration() {
    for name in ["earthquake", "asia", "cancer"] {
        let network = published(name);
        let cells = joint(&network);
        let tree = JunctionTree::new(&network, &Monitor::quiet()).unwrap();
        for observed in 0..network.len() {
            for state in 0..2 {
                let mut evidence = Evidence::none();
                evidence.see(observed, state);
                let calibrated = tree.calibrate(&evidence).unwrap();
                let p = |v: usize, s: usize| -> f64 {
                    let those = cells.iter().filter(|(x, _)| x[observed] == state && x[v] == s);
                    those.map(|(_, p)| p).sum()
                };
                let total = p(observed, state);
                for v in 0..network.len() {
                    let by_tree = calibrated.marginal(v).unwrap()[0];
                    let by_elimination =
                        query(&network, &[v], &evidence, &Monitor::quiet()).unwrap();
                    assert!((by_tree - p(v, 0) / total).abs() < EXACT);
                    assert!((by_elimination.probabilities[0] - p(v, 0) / total).abs() < EXACT);
                }
            }
        }
    }
}

// ----------------------------------------------------------------------------------- BIF

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn a_written_network_is_read_back_to_the_bit(
        network in small_networks(),
        names in prop::collection::hash_set(".{0,8}", 40),
    ) {
        let mut names = names.into_iter();
        let mut next = || names.next().unwrap_or_default();
        let variables: Vec<Variable> = (0..network.len()).map(|v| Variable {
            name: next(),
            states: (0..network.size(v)).map(|_| next()).collect(),
        }).collect();
        let parents = (0..network.len()).map(|v| network.parents(v).to_vec()).collect();
        let tables = (0..network.len()).map(|v| network.table(v).to_vec()).collect();
        let network = Network::new(next(), variables, parents, tables).unwrap();

        prop_assert_eq!(from_bif(&to_bif(&network)), Ok(network));
    }

    #[test]
    fn corrupt_text_never_panics(
        which in 0usize..3,
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0u8..5, any::<char>()), 1..6),
    ) {
        let name = ["earthquake", "asia", "cancer"][which];
        let mut text: Vec<char> =
            repository_file(&format!("testdata/networks/{name}.bif")).chars().collect();
        for (at, how, with) in damage {
            // A position in an empty text is its end.
            text.push(' ');
            let at = at.index(text.len());
            match how {
                0 => { text.remove(at); }
                1 => text.insert(at, with),
                2 => text[at] = with,
                3 => text.truncate(at.max(1)),
                _ => text[at] = ['{', '}', '(', ')', ';', ',', '|', '"', '9', '-'][with as usize % 10],
            }
        }
        let text: String = text.into_iter().collect();

        if let Ok(network) = from_bif(&text) {
            prop_assert_eq!(network.check(), Ok(()));
            prop_assert_eq!(from_bif(&to_bif(&network)), Ok(network));
        }
    }
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    let coin = "network n { }\nvariable c { type discrete [ 2 ] { a, b }; }\n";
    let separation = |rest: &str| from_bif(&format!("{coin}{rest}")).unwrap_err().to_string();

    for (text, expected) in [
        (
            "probability ( c ) {\n table 0.5, 0.6;\n}",
            "line 4: found numbers that sum to 1.1, expected a sum of 1",
        ),
        ("probability ( c ) {\n table 0.5;\n}", "line 5: found 1 numbers, expected 2"),
        (
            "probability ( c ) {\n table 0.5, x;\n}",
            "line 4: found `x`, expected a probability from 0 to 1",
        ),
        ("probability ( d ) { }", "line 3: found `d`, expected the name of a variable"),
        ("probability ( c ) { }", "line 3: found `}`, expected a row for ()"),
        ("", "line 3: found the end of the text, expected `probability` of `c`"),
        ("cpt c", "line 3: found `cpt`, expected `network`, `variable` or `probability`"),
        ("/* ", "line 3: found a comment without end, expected `*/`"),
        (
            "variable d { type discrete [ 3 ] { a, b }; }",
            "line 3: found 2 states, expected a list of 3 states",
        ),
    ] {
        assert_eq!(separation(text), expected);
    }
}

#[test]
fn equivalent_syntax_is_read() {
    let network = from_bif(
        r#"network "family out" { property version 1 ; property "author {x}" ; }
        /* tables may come first,
           and the variable itself rotations slowest in them */
        probability ( light "out" ) { table 0.6 0.05 0.4 0.95; property seen ; }
        probability ( "out" ) { table 0.15 0.85; } // no commas
        variable "out" { type discrete[2] { "true" "false" }; property position = (1, 2); }
        variable light { type discrete[2] { on, off }; }"#,
    )
    .unwrap();

    assert_eq!(network.name(), "family out");
    assert_eq!(network.parents(1), [0]);
    assert_eq!(network.table(1), [0.6, 0.4, 0.05, 0.95]);
}

// ----------------------------------------------------------------------------- d-separation

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn d_separated_variables_are_independent(
        network in small_networks(),
        seed in any::<u64>(),
    ) {
        let n = network.len();
        prop_assume!(n >= 2);
        let mut random = Random::new(seed);
        let (a, b) = (random.below(n), random.below(n));
        prop_assume!(a != b);
        let given: Vec<usize> =
            (0..n).filter(|v| *v != a && *v != b && random.uniform() < 0.3).collect();
        let cells = joint(&network);
        // The largest difference between P(a, b | given) and the product of its marginals.
        let mut sums: std::collections::BTreeMap<Vec<usize>, [Vec<f64>; 3]> = Default::default();
        let (ka, kb) = (network.size(a), network.size(b));
        for (x, p) in &cells {
            let key = given.iter().map(|v| x[*v]).collect();
            let empty = || [vec![0.0; ka * kb], vec![0.0; ka], vec![0.0; kb]];
            let [ab, pa, pb] = sums.entry(key).or_insert_with(empty);
            ab[x[a] * kb + x[b]] += p;
            pa[x[a]] += p;
            pb[x[b]] += p;
        }
        let mut largest: f64 = 0.0;
        for [ab, pa, pb] in sums.values() {
            let total: f64 = pa.iter().sum();
            if total > 1e-12 {
                for (at, p) in ab.iter().enumerate() {
                    let product = pa[at / kb] * pb[at % kb] / total;
                    largest = largest.max((p - product).abs() / total);
                }
            }
        }

        let separation = d_separation(&network, a, b, &given).unwrap();
        let back = d_separation(&network, b, a, &given).unwrap();

        match &separation {
            Separation::Separated { blocked } => {
                prop_assert!(largest < 1e-9, "{}", largest);
                prop_assert!(separated(&back));
                for path in blocked {
                    prop_assert_eq!((path.path[0], path.path[path.path.len() - 1]), (a, b));
                    prop_assert!(path.path.contains(&path.at));
                }
            }
            Separation::Connected { path } => {
                prop_assert_eq!((path[0], path[path.len() - 1]), (a, b));
                for pair in path.windows(2) {
                    let joined = network.parents(pair[0]).contains(&pair[1])
                        || network.parents(pair[1]).contains(&pair[0]);
                    prop_assert!(joined);
                }
                // Random tables almost never make dependent variables independent, but zeros can.
                let full = (0..n).all(|v| network.table(v).iter().all(|p| *p > 0.0));
                prop_assert!(largest > 1e-13 || !full, "{}", largest);
            }
        }
        let reached = reachable(&network, a, &given).unwrap();
        prop_assert_eq!(reached.contains(&b), !separated(&separation));
    }
}
