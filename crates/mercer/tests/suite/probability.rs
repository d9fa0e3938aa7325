//! Joint tables, Bayes' theorem, sequential updating and conjugate priors: laws, and reference values of scipy
//! (`testdata/golden/make_probability.py`).

use crate::cases::repository_file;
use mercer::data::{Column, Levels, MISSING, Values};
use mercer::prelude::*;
use mercer::probability::conjugate::{Beta, Gamma, Interval, NormalInverseGamma, NormalMean};
use mercer::probability::{Belief, Event, JointTable, Variable};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::Arc;

fn golden(name: &str) -> Vec<Value> {
    let golden: Value =
        serde_json::from_str(&repository_file("testdata/golden/probability.json")).unwrap();
    assert!(golden["source"].as_str().unwrap().starts_with("scipy"));
    golden[name].as_array().unwrap().clone()
}

fn values(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).unwrap()
}

#[track_caller]
fn close(found: f64, golden: &Value, tolerance: f64) {
    let golden = golden.as_f64().unwrap();
    assert!((found - golden).abs() <= tolerance * golden.abs(), "{found:e}, golden {golden:e}");
}

#[track_caller]
fn ends(found: Interval, golden: &Value) {
    close(found.low, &golden[0], 1e-10);
    close(found.high, &golden[1], 1e-10);
}

/// Variables a, b, c of the given sizes, with values 0, 1, ….
fn variables(sizes: &[usize]) -> Vec<Variable> {
    ["a", "b", "c"]
        .iter()
        .zip(sizes)
        .map(|(name, k)| Variable::new(*name, (0..*k).map(|v| v.to_string())))
        .collect()
}

#[test]
fn tests_of_independence_equal_scipy() {
    for case in golden("independence") {
        // Strata first, then rows, then columns.
        let flat =
            |v: &Value| -> Vec<f64> { v.as_array().unwrap().iter().flat_map(values).collect() };
        let counts = &case["counts"];
        let (table, given): (JointTable, &[&str]) = if counts[0][0].is_array() {
            let cells: Vec<f64> = counts.as_array().unwrap().iter().flat_map(flat).collect();
            (JointTable::from_counts(variables(&[3, 2, 2]), cells).unwrap(), &["a"])
        } else {
            let width = counts[0].as_array().unwrap().len();
            let mut two = variables(&[2, width]);
            two[0].name = "b".into();
            two[1].name = "c".into();
            (JointTable::from_counts(two, flat(counts)).unwrap(), &[])
        };

        let test = table.test_independence("b", "c", given).unwrap();

        close(test.g, &case["g"], 1e-12);
        close(test.chi_squared, &case["chi_squared"], 1e-12);
        close(test.p_value_g, &case["p_value_g"], 1e-11);
        close(test.p_value_chi_squared, &case["p_value_chi_squared"], 1e-11);
        assert_eq!(test.degrees, case["degrees"].as_u64().unwrap());
        let bits = table.mutual_information("b", "c", given).unwrap();
        assert!((2.0 * table.total() * bits * 2f64.ln() / test.g - 1.0).abs() < 1e-12);
    }
}

#[test]
fn beta_posteriors_equal_scipy() {
    for case in golden("beta") {
        let (prior, data) = (values(&case["prior"]), values(&case["data"]));

        let posterior = Beta::new(prior[0], prior[1]).unwrap().updated(data[0], data[1]).unwrap();

        close(posterior.mean(), &case["mean"], 1e-14);
        close(posterior.variance(), &case["variance"], 1e-13);
        ends(posterior.interval(case["level"].as_f64().unwrap()).unwrap(), &case["interval"]);
        for k in 0..10 {
            let found = posterior.ln_predictive(k as f64, 9.0).unwrap();
            close(found, &case["ln_predictive"][k], 1e-10);
        }
    }
}

#[test]
fn gamma_posteriors_equal_scipy() {
    for case in golden("gamma") {
        let (prior, data) = (values(&case["prior"]), values(&case["data"]));

        let posterior = Gamma::new(prior[0], prior[1]).unwrap().updated(data[0], data[1]).unwrap();

        close(posterior.mean(), &case["mean"], 1e-14);
        ends(posterior.interval(case["level"].as_f64().unwrap()).unwrap(), &case["interval"]);
        for k in 0..10 {
            let found = posterior.ln_predictive(k as f64, 1.0).unwrap();
            close(found, &case["ln_predictive"][k], 1e-10);
        }
    }
}

#[test]
fn normal_posteriors_equal_scipy() {
    for case in golden("normal") {
        let p = values(&case["prior"]);
        let level = case["level"].as_f64().unwrap();

        let prior = NormalInverseGamma::new(p[0], p[1], p[2], p[3]).unwrap();
        let posterior = prior.updated(&values(&case["values"])).unwrap();

        ends(posterior.mean_interval(level).unwrap(), &case["mean_interval"]);
        ends(posterior.variance_interval(level).unwrap(), &case["variance_interval"]);
        ends(posterior.predictive_interval(level).unwrap(), &case["predictive_interval"]);
        for (k, x) in values(&case["at"]).into_iter().enumerate() {
            close(posterior.ln_predictive(x), &case["ln_predictive"][k], 1e-10);
        }
    }
}

#[test]
fn rows_with_missing_values_are_not_counted() {
    let levels = Arc::new(Levels::new(vec!["no".into(), "yes".into()]));
    let codes = vec![1, 1, 0, MISSING, 1];
    let table = Table::new(vec![
        Column { name: "w".into(), values: Values::Categorical { codes, levels } },
        Column {
            name: "b".into(),
            values: Values::Boolean(vec![Some(true), Some(false), Some(true), Some(true), None]),
        },
        Column { name: "x".into(), values: Values::Numeric(vec![2.0, 1.0, 2.0, 1.0, 2.0]) },
        Column { name: "t".into(), values: Values::Text(vec![None; 5]) },
    ])
    .unwrap();

    let (joint, skipped) = JointTable::from_table(&table, &["w", "b"], None).unwrap();
    let (weighted, _) = JointTable::from_table(&table, &["w"], Some("x")).unwrap();

    assert_eq!((joint.cells(), skipped), (&[0.0, 1.0, 1.0, 1.0][..], 2));
    assert_eq!(weighted.cells(), [2.0, 5.0]);
    let refused = |columns: &[&str]| JointTable::from_table(&table, columns, None).unwrap_err();
    assert!(refused(&["gone"]).to_string().contains("`gone` is not in the data"));
    assert!(refused(&["t"]).to_string().contains("`t` is text"));
    assert!(refused(&[]).to_string().contains("at least one"));
}

#[test]
fn invalid_tables_are_refused_with_the_cell_or_name() {
    let two = || variables(&[2, 2]);
    let negative = JointTable::from_counts(two(), vec![1.0, 2.0, -3.0, 4.0]).unwrap_err();
    let sum = JointTable::from_probabilities(two(), vec![0.1, 0.2, 0.3, 0.3]).unwrap_err();
    let few = JointTable::from_counts(two(), vec![1.0]).unwrap_err();
    let zero = JointTable::from_counts(two(), vec![0.0; 4]).unwrap_err();
    let table = JointTable::from_counts(two(), vec![1.0, 2.0, 0.0, 0.0]).unwrap();

    assert!(negative.to_string().contains("a=1, b=0") && negative.to_string().contains("-3"));
    assert!(sum.to_string().contains("0.9"));
    assert!(few.to_string().contains('4'));
    assert!(zero.to_string().contains("above 0"));
    let ask =
        |event: &str| table.probability(&Event::parse(event).unwrap()).unwrap_err().to_string();
    assert!(ask("d=1").contains("`a`, `b`"));
    assert!(ask("a=7").contains("`0`, `1`"));
    let given = table.conditional(&Event::is("b", "0"), &Event::is("a", "1")).unwrap_err();
    assert!(given.to_string().contains("a=1"), "{given}");
    assert!(table.given(&Event::is("a", "1")).is_err());
    assert!(Event::parse("hot").is_err());
    assert!(table.entropy(&["a", "a"]).unwrap_err().to_string().contains("`a` twice"));
    let many: Vec<Variable> = (0..40).map(|i| Variable::new(format!("v{i}"), ["0", "1"])).collect();
    assert!(matches!(JointTable::from_counts(many, vec![]), Err(Error::Memory { .. })));
}

fn tables() -> impl Strategy<Value = JointTable> {
    (1usize..4, 1usize..4, 1usize..4).prop_flat_map(|(a, b, c)| {
        proptest::collection::vec(0u32..20, a * b * c).prop_filter_map("empty", move |counts| {
            let cells: Vec<f64> = counts.iter().map(|n| f64::from(*n)).collect();
            JointTable::from_counts(variables(&[a, b, c]), cells).ok()
        })
    })
}

proptest! {
    #[test]
    fn marginals_keep_the_total_and_conditionals_sum_to_one(table in tables()) {
        let sides = table.marginal(&["c", "a"]).unwrap();

        prop_assert_eq!(sides.cells().iter().sum::<f64>(), table.total());
        let again = sides.marginal(&["a"]).unwrap();
        let direct = table.marginal(&["a"]).unwrap();
        prop_assert_eq!(again.cells(), direct.cells());
        for value in &table.variables()[1].values {
            let Ok(given) = table.given(&Event::is("b", value)) else { continue };
            let total: f64 = (0..given.cells().len()).map(|k| given.probability_of_cell(k).value()).sum();
            prop_assert!((total - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn chain_rule_and_total_probability_give_the_probability(table in tables()) {
        let event = Event::is("c", "0").and(&Event::is("a", "0")).and(&Event::is("b", "0"));

        let chain = table.chain_rule(&event).unwrap();
        let total = table.total_probability(&event, "b").unwrap();

        let product: f64 = chain.steps.iter().map(|s| s.probability.value()).product();
        prop_assert!((product - chain.probability.value()).abs() < 1e-12);
        let sum: f64 =
            total.terms.iter().map(|t| t.conditional.value() * t.weight.value()).sum();
        prop_assert!((sum - total.probability.value()).abs() < 1e-12);
    }

    #[test]
    fn information_is_a_difference_of_entropies(table in tables()) {
        let h = |names: &[&str]| table.entropy(names).unwrap();

        let information = table.mutual_information("a", "b", &[]).unwrap();
        let conditional = table.mutual_information("a", "b", &["c"]).unwrap();

        prop_assert!((information - (h(&["a"]) + h(&["b"]) - h(&["a", "b"]))).abs() < 1e-10);
        let expected = h(&["a", "c"]) + h(&["b", "c"]) - h(&["a", "b", "c"]) - h(&["c"]);
        prop_assert!((conditional - expected).abs() < 1e-10);
        prop_assert!(information >= 0.0 && conditional >= 0.0);
        let test = table.test_independence("a", "b", &["c"]).unwrap();
        prop_assert!((0.0..=1.0).contains(&test.p_value_g));
    }

    #[test]
    fn products_of_marginals_are_independent(
        a in proptest::collection::vec(1u32..9, 2..4),
        b in proptest::collection::vec(1u32..9, 2..4),
    ) {
        let cells = a.iter().flat_map(|x| b.iter().map(move |y| f64::from(x * y))).collect();
        let table = JointTable::from_counts(variables(&[a.len(), b.len()]), cells).unwrap();

        let test = table.test_independence("a", "b", &[]).unwrap();

        prop_assert!(table.independent("a", "b", &[]).unwrap());
        prop_assert!(test.p_value_chi_squared > 0.999);
        prop_assert!(table.covariance("a", "b").unwrap().value().abs() < 1e-12);
        let free = table.free_parameters();
        prop_assert_eq!(free.independent as usize, a.len() + b.len() - 2);
    }

    #[test]
    fn the_order_of_observations_does_not_matter(
        weights in proptest::collection::vec(1u32..9, 3),
        seen in proptest::collection::vec(0usize..2, 1..20),
    ) {
        let total: f64 = weights.iter().map(|w| f64::from(*w)).sum();
        let priors: Vec<f64> = weights.iter().map(|w| f64::from(*w) / total).collect();
        let start = Belief::new(&["x", "y", "z"], &priors).unwrap()
            .outcome("0", &[0.2, 0.5, 0.9]).unwrap()
            .outcome("1", &[0.8, 0.5, 0.1]).unwrap();

        let (mut forth, mut back) = (start.clone(), start);
        seen.iter().for_each(|o| { forth.observe(&o.to_string()).unwrap(); });
        seen.iter().rev().for_each(|o| { back.observe(&o.to_string()).unwrap(); });

        for (a, b) in forth.posterior().iter().zip(back.posterior()) {
            prop_assert!((a - b).abs() < 1e-12);
        }
        prop_assert!((forth.predictive().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

/// The integral by the trapezoidal rule.
fn integral(density: impl Fn(f64) -> f64, (low, high): (f64, f64)) -> f64 {
    const STEPS: usize = 20_000;
    let width = (high - low) / STEPS as f64;
    let inner: f64 = (1..STEPS).map(|k| density(low + k as f64 * width)).sum();
    width * (inner + 0.5 * (density(low) + density(high)))
}

#[test]
fn densities_of_conjugate_posteriors_integrate_to_one() {
    let beta = Beta::new(2.5, 4.0).unwrap();
    let gamma = Gamma::new(3.2, 2.0).unwrap();
    let mean = NormalMean::new(3.0, 0.25, 1.0).unwrap();
    let both = NormalInverseGamma::new(1.0, 4.0, 6.0, 3.0).unwrap();

    let areas = [
        integral(|p| beta.ln_density(p).exp(), (0.0, 1.0)),
        integral(|x| gamma.ln_density(x).exp(), (0.0, 30.0)),
        integral(|x| mean.ln_density(x).exp(), (-3.0, 9.0)),
        integral(|x| both.mean_ln_density(x).exp(), (-20.0, 22.0)),
        integral(|v| both.variance_ln_density(v).exp(), (0.0, 60.0)),
    ];

    areas.iter().for_each(|area| assert!((area - 1.0).abs() < 1e-5, "{areas:?}"));
}

#[test]
fn the_uniform_prior_has_density_one_up_to_its_ends() {
    let uniform = Beta::new(1.0, 1.0).unwrap();

    assert_eq!([0.0, 0.3, 1.0].map(|p| uniform.ln_density(p)), [0.0; 3]);
    assert_eq!(uniform.ln_density(1.1), f64::NEG_INFINITY);
}
