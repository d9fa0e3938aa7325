//! Bayesian networks learned from samples of a known network.

use crate::cases::{names, repository_file};
use mercer::Error;
use mercer::catalog::Estimator;
use mercer::data::{Column, Levels, Table, Values};
use mercer::model::{Monitor, Progress, Status, Stop};
use mercer::prelude::*;
use mercer::preprocess::Features;
use mercer::probability::network::bif::from_bif;
use mercer::probability::network::inference::{log_evidence, query};
use mercer::probability::network::learn::{
    FamilyCounts, HillClimb, Learner, Observations, ParameterLearning, Score, StructureLearning,
    chow_liu, fit_tables, naive, tree_augmented,
};
use mercer::probability::network::{
    BayesNetwork, Evidence, Network, RandomNetwork, TanNb, Variable,
};
use mercer::train::Trained;
use mercer_num::parallel::with_threads;
use mercer_num::random::Random;
use proptest::prelude::*;
use proptest::test_runner::Config;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// EM never lowers the objective, and its last iteration is a fixed point.
fn increases_to_a_fixed_point(seed: u64, alpha: f64) {
    let shape = RandomNetwork { n_variables: 5, max_states: 3, seed, ..Default::default() };
    let network = shape.draw();
    let data = drawn(&network, 60, 0.25, seed);
    let tables = ParameterLearning { alpha, tolerance: 1e-10, max_rounds: 5000, seed: 1 };

    let learned = fit_tables(&parents_of(&network), &data, &tables, &Monitor::quiet()).unwrap();

    for pair in learned.trace.windows(2) {
        assert!(pair[1] >= pair[0] - 1e-9 * pair[0].abs(), "{:?}", pair);
    }
    let certificate = &learned.fitted.certificate;
    assert_eq!(certificate.iterations as usize, learned.trace.len());
    assert!(certificate.violation.as_ref().unwrap().value < 1e-2);
    // The reported likelihood is that of the rows.
    let mut log_likelihood = 0.0;
    for i in 0..data.n_rows() {
        let mut evidence = Evidence::none();
        for v in (0..5).filter(|v| data.column(*v)[i] != Observations::MISSING) {
            evidence.see(v, data.column(v)[i] as usize);
        }
        log_likelihood += log_evidence(&learned.fitted, &evidence, &Monitor::quiet()).unwrap();
    }
    let claimed = certificate.primal().unwrap();
    assert!((claimed - log_likelihood).abs() < 1e-6, "{} {}", claimed, log_likelihood);
}

#[test]
fn parent_states_that_do_not_occur_do_not_delay_convergence() {
    increases_to_a_fixed_point(802_507_334_239_349_727, 0.0);
}

fn few() -> Config {
    crate::cases::same_cases(32)
}

/// Rows sampled from a network, with a fraction of the cells missing.
fn drawn(network: &Network, n: usize, missing_rate: f64, seed: u64) -> Observations {
    let mut random = Random::new(seed);
    let draws = network.sample(n, &mut random);
    let codes = (0..network.len())
        .map(|v| {
            let code = |d: &Vec<usize>| d[v] as u32;
            let mut column: Vec<u32> = draws.iter().map(code).collect();
            column.iter_mut().for_each(|c| {
                if random.uniform() < missing_rate {
                    *c = Observations::MISSING;
                }
            });
            column
        })
        .collect();
    Observations::new(network.variables().to_vec(), codes).unwrap()
}

fn parents_of(network: &Network) -> Vec<Vec<usize>> {
    (0..network.len()).map(|v| network.parents(v).to_vec()).collect()
}

/// A chain in which every variable mostly equals the one before.
fn chain(n: usize) -> Network {
    let mut builder = Network::builder("chain").variable("x0", ["a", "b", "c"]);
    builder = builder.table("x0", [], &[0.5, 0.3, 0.2]);
    for v in 1..n {
        let before = format!("x{}", v - 1);
        builder = builder.variable(format!("x{v}"), ["a", "b", "c"]).table(
            format!("x{v}"),
            [before.as_str()],
            &[0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.2, 0.1, 0.7],
        );
    }
    builder.build().unwrap()
}

#[test]
fn tables_of_many_samples_are_near_the_true_tables() {
    let network = from_bif(&repository_file("testdata/networks/cancer.bif")).unwrap();
    let data = drawn(&network, 200_000, 0.0, 1);

    let learned =
        fit_tables(&parents_of(&network), &data, &ParameterLearning::default(), &Monitor::quiet())
            .unwrap();

    assert_eq!(learned.fitted.certificate.status, Status::ClosedForm);
    for v in 0..network.len() {
        for (a, b) in learned.fitted.table(v).iter().zip(network.table(v)) {
            assert!((a - b).abs() < 0.02, "{a} and {b}");
        }
    }
}

#[test]
fn tables_are_smoothed_frequencies() {
    let variables =
        ["p", "x"].map(|name| Variable { name: name.into(), states: vec!["0".into(), "1".into()] });
    let data = Observations::new(variables.to_vec(), vec![vec![0, 0, 0], vec![0, 0, 1]]).unwrap();
    let tables = ParameterLearning { alpha: 1.0, ..ParameterLearning::default() };

    let learned = fit_tables(&[vec![], vec![0]], &data, &tables, &Monitor::quiet()).unwrap();

    // (3 + 1) / (3 + 2); (2 + 1) / (3 + 2); no row with parent state 1: uniform.
    assert_eq!(learned.fitted.table(0), [0.8, 0.2]);
    assert_eq!(learned.fitted.table(1), [0.6, 0.4, 0.5, 0.5]);
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn counts_of_parts_merge_to_the_whole(seed in any::<u64>(), cut in 0usize..50) {
        let network = RandomNetwork { n_variables: 6, seed, ..RandomNetwork::default() }.draw();
        let data = drawn(&network, 50, 0.1, seed);
        let rows = |range: std::ops::Range<usize>| {
            let codes = (0..6).map(|v| data.column(v)[range.clone()].to_vec()).collect();
            Observations::new(data.variables().to_vec(), codes).unwrap()
        };
        let count = |data: &Observations| {
            let parents = parents_of(&network);
            let mut counts =
                FamilyCounts::new(data.variables(), &parents, &Monitor::quiet()).unwrap();
            counts.observe(data).unwrap();
            counts
        };

        let mut merged = count(&rows(cut..50));
        merged.merge(&count(&rows(0..cut))).unwrap();

        prop_assert_eq!(merged, count(&data));
    }

    #[test]
    fn em_increases_the_objective_to_a_fixed_point(
        seed in any::<u64>(),
        alpha in prop_oneof![Just(0.0), Just(0.5), Just(1.0)],
    ) {
        increases_to_a_fixed_point(seed, alpha);
    }
}

#[test]
fn values_missing_at_random_hardly_change_the_tables() {
    let network = from_bif(&repository_file("testdata/networks/asia.bif")).unwrap();
    let data = drawn(&network, 20_000, 0.2, 3);

    let learned =
        fit_tables(&parents_of(&network), &data, &ParameterLearning::default(), &Monitor::quiet())
            .unwrap();

    let bronc = network.variable("bronc").unwrap();
    for (a, b) in learned.fitted.table(bronc).iter().zip(network.table(bronc)) {
        assert!((a - b).abs() < 0.03, "{a} and {b}");
    }
    assert_eq!(learned.fitted.certificate.status, Status::Converged);
}

#[test]
fn em_does_not_depend_on_the_number_of_threads() {
    let network = RandomNetwork { n_variables: 6, ..RandomNetwork::default() }.draw();
    let data = drawn(&network, 500, 0.2, 5);
    let run = || {
        let tables = ParameterLearning { max_rounds: 5, ..ParameterLearning::default() };
        fit_tables(&parents_of(&network), &data, &tables, &Monitor::quiet()).unwrap().fitted.model
    };

    let alone = with_threads(1, run);

    assert_eq!(with_threads(2, run), alone);
    assert_eq!(with_threads(5, run), alone);
}

#[test]
fn a_stopped_fit_returns_its_last_iteration_and_is_marked() {
    let network = chain(6);
    let data = drawn(&network, 300, 0.3, 6);
    let flag = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let raise = |at: mercer::model::Progress| {
        flag.store(at.done >= 2, std::sync::atomic::Ordering::Relaxed);
    };
    let monitor = Monitor::quiet().on_progress(raise).cancelled_by(Arc::clone(&flag));
    let tables = ParameterLearning { tolerance: 0.0, ..ParameterLearning::default() };

    let learned = fit_tables(&parents_of(&network), &data, &tables, &monitor).unwrap();
    let stopped = fit_tables(&parents_of(&network), &data, &tables, &monitor);

    assert_eq!(learned.fitted.certificate.stopped(), Some(Stop::Cancelled));
    assert_eq!(learned.trace.len(), 2);
    assert_eq!(stopped.err(), Some(Error::Stopped));
}

#[test]
fn chow_liu_finds_the_chain_for_any_root() {
    let data = drawn(&chain(6), 4000, 0.05, 2);

    let from_first = chow_liu(&data, 0).unwrap();
    let from_middle = chow_liu(&data, 3).unwrap();

    assert_eq!(from_first, [vec![], vec![0], vec![1], vec![2], vec![3], vec![4]]);
    assert_eq!(from_middle, [vec![1], vec![2], vec![3], vec![], vec![3], vec![4]]);
}

#[test]
fn the_search_finds_the_graph_up_to_equivalence() {
    let network = from_bif(&repository_file("testdata/networks/earthquake.bif")).unwrap();
    // More burglaries and earthquakes than in the book, so that they occur in the samples.
    let tables =
        (0..5).map(|v| if v < 2 { vec![0.4, 0.6] } else { network.table(v).to_vec() }).collect();
    let lively =
        Network::new("lively", network.variables().to_vec(), parents_of(&network), tables).unwrap();
    let data = drawn(&lively, 20_000, 0.0, 4);
    for score in [Score::Bic, Score::Bdeu { sample_size: 5.0 }] {
        for tabu in [0, 10] {
            let climb = HillClimb { score, tabu, ..HillClimb::default() };

            let found = climb.run(&data, &Monitor::quiet()).unwrap();

            // The two causes form a v-structure at the alarm, which distinguishes the graph from all others.
            assert_eq!(found.model[2], [0, 1], "{score:?} {tabu}: {:?}", found.model);
            assert_eq!((&found.model[3], &found.model[4]), (&vec![2], &vec![2]));
            let certificate = &found.certificate;
            assert_eq!(certificate.objective.as_ref().unwrap().name, score.name());
        }
    }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn hill_climbing_ends_in_a_local_optimum(seed in any::<u64>()) {
        let network = RandomNetwork { n_variables: 5, max_states: 2, seed, ..Default::default() };
        let data = drawn(&network.draw(), 200, 0.0, seed);
        let climb = HillClimb { max_parents: 2, ..HillClimb::default() };

        let found = climb.run(&data, &Monitor::quiet()).unwrap();

        // BIC: log-likelihood minus half a log n per free parameter.
        let bic = |parents: &[Vec<usize>]| -> Option<f64> {
            let tables = ParameterLearning { alpha: 0.0, ..ParameterLearning::default() };
            let learned = fit_tables(parents, &data, &tables, &Monitor::quiet()).ok()?;
            let free = learned.fitted.n_free_parameters() as f64;
            Some(learned.trace[0] - 0.5 * 200f64.ln() * free)
        };
        let top = bic(&found.model).unwrap();
        let claimed = found.certificate.primal().unwrap();
        prop_assert!((top - claimed).abs() < 1e-8, "{} {}", top, claimed);
        for a in 0..5 {
            for b in (0..5).filter(|b| *b != a) {
                let mut other = found.model.clone();
                if let Some(at) = other[b].iter().position(|p| *p == a) {
                    other[b].remove(at);
                    prop_assert!(bic(&other).is_none_or(|s| s <= top + 1e-6));
                    if other[a].len() < 2 {
                        other[a].push(b);
                    }
                } else if other[b].len() < 2 {
                    other[b].push(a);
                }
                prop_assert!(bic(&other).is_none_or(|s| s <= top + 1e-6));
            }
        }
    }
}

#[test]
fn the_maximum_number_of_parents_is_respected() {
    let network = RandomNetwork { n_variables: 8, max_parents: 3, ..Default::default() }.draw();
    let data = drawn(&network, 3000, 0.0, 9);
    for max_parents in 0..3 {
        let climb = HillClimb { max_parents, tabu: 5, ..HillClimb::default() };

        let found = climb.run(&data, &Monitor::quiet()).unwrap();

        assert!(found.model.iter().all(|p| p.len() <= max_parents));
    }
}

/// A small table with a class, as rows of codes and as observations.
fn classes_and_rows() -> (Matrix, Vec<u32>, Classes, Observations) {
    let network = RandomNetwork { n_variables: 6, max_states: 3, seed: 8, ..Default::default() };
    let network = network.draw();
    let data = drawn(&network, 400, 0.0, 8);
    let x = Matrix::from_shape_fn((400, 5), |(i, j)| f64::from(data.column(j + 1)[i]));
    let classes = Classes::from_names((0..data.size(0)).map(|s| format!("s{s}")));
    (x, data.column(0).to_vec(), classes, data)
}

#[test]
fn a_network_whose_only_parent_is_the_class_is_naive_bayes() {
    let (x, codes, classes, data) = classes_and_rows();
    let rows = Dataset::classes(&x, &codes, &classes).unwrap();
    let bayes = TanNb::new().min_gain(100.0).fit(&rows, &Monitor::quiet()).unwrap();
    let proba = bayes.log_proba(&Rows::from(&x)).unwrap();
    // Naive Bayes does not smooth its priors; the network is given the same.
    let smoothed = fit_tables(
        &naive(&data, 0).unwrap(),
        &data,
        &ParameterLearning::default(),
        &Monitor::quiet(),
    );
    let smoothed = smoothed.unwrap().fitted.model;
    let mut tables: Vec<Vec<f64>> = (0..6).map(|v| smoothed.table(v).to_vec()).collect();
    tables[0] = bayes.log_priors.iter().map(|p| p.exp()).collect();
    let parents = parents_of(&smoothed);
    let network = Network::new("nb", data.variables().to_vec(), parents, tables).unwrap();

    for i in 0..50 {
        let mut evidence = Evidence::none();
        (1..6).for_each(|v| evidence.see(v, data.column(v)[i] as usize));
        let posterior = query(&network, &[0], &evidence, &Monitor::quiet()).unwrap();
        for (c, p) in posterior.probabilities.iter().enumerate() {
            assert!((p - proba[[i, c]].exp()).abs() < 1e-12);
        }
    }
}

#[test]
fn the_estimator_and_the_network_find_the_same_tree() {
    let (x, codes, classes, data) = classes_and_rows();
    let rows = Dataset::classes(&x, &codes, &classes).unwrap();

    let estimator = TanNb::new().fit(&rows, &Monitor::quiet()).unwrap();
    let parents = tree_augmented(&data, 0).unwrap();

    for (j, parent) in estimator.parents.iter().enumerate() {
        let expected: Vec<usize> = [0].into_iter().chain(parent.map(|p| p + 1)).collect();
        assert_eq!(parents[j + 1], expected);
    }
}

#[test]
fn a_search_with_a_class_keeps_its_edges() {
    let (_, _, _, data) = classes_and_rows();
    let climb = HillClimb { class: Some(0), ..HillClimb::default() };

    let learner = Learner {
        structure: StructureLearning::Search(climb),
        parameters: ParameterLearning::default(),
    };
    let learned = learner.learn(&data, &Monitor::quiet()).unwrap();

    assert!(learned.search.is_some());
    assert!((1..6).all(|v| learned.fitted.parents(v).contains(&0)));
    assert!(learned.fitted.parents(0).is_empty());
}

/// Cancels a search after so many steps, and records the progress reports.
struct AfterSteps {
    steps: u64,
    flag: Arc<AtomicBool>,
    seen: Mutex<Vec<Progress>>,
}

impl AfterSteps {
    fn new(steps: u64) -> AfterSteps {
        AfterSteps { steps, flag: Arc::default(), seen: Mutex::default() }
    }

    /// Progress over rows has their number as its total.
    fn monitor(&self, n_rows: u64) -> Monitor<'_> {
        let output = move |at: Progress| {
            if at.total != Some(n_rows) {
                self.seen.lock().unwrap().push(at);
                self.flag.store(at.done >= self.steps, Ordering::Relaxed);
            }
        };
        Monitor::quiet().on_progress(output).cancelled_by(Arc::clone(&self.flag))
    }
}

fn n_edges(parents: &[Vec<usize>]) -> usize {
    parents.iter().map(Vec::len).sum()
}

#[test]
fn a_classifier_with_a_stopped_search_has_the_best_structure_so_far() {
    let (x, codes, classes, _) = classes_and_rows();
    let rows = Dataset::classes(&x, &codes, &classes).unwrap();
    let never = AfterSteps::new(u64::MAX);

    let whole = BayesNetwork::new().fit(&rows, &never.monitor(400)).unwrap();

    let seen = never.seen.into_inner().unwrap();
    let last = seen.last().unwrap();
    assert!(seen.is_sorted_by_key(|at| at.done));
    assert!(seen.iter().all(|at| at.total.is_some_and(|total| at.done <= total)));
    assert_eq!(Some(last.done), last.total);
    assert_eq!(whole.certificate.stopped(), None);
    let n_steps = last.done;
    assert!(n_steps >= 3, "{n_steps} steps are too few to be cut short");
    let mut before = f64::NEG_INFINITY;
    for steps in 1..n_steps {
        let after = AfterSteps::new(steps);

        let cut = BayesNetwork::new().fit(&rows, &after.monitor(400)).unwrap();

        // Every step of hill climbing without a tabu list increases the score, and the first two add an edge each.
        assert!(before < cut.score && cut.score < whole.score, "{steps}: {}", cut.score);
        assert!(steps > 2 || n_edges(&cut.parents) == steps as usize, "{:?}", cut.parents);
        assert_eq!(cut.certificate.stopped(), Some(Stop::Cancelled));
        assert_eq!(cut.certificate.rows, 400);
        assert!(cut.certificate.to_string().starts_with("NOT CONVERGED, interrupted"));
        assert!(cut.predict(&Rows::from(&x)).is_ok());
        before = cut.score;
    }
}

#[test]
fn a_search_past_its_time_limit_ends_within_a_step() {
    let (x, codes, classes, _) = classes_and_rows();
    let rows = Dataset::classes(&x, &codes, &classes).unwrap();
    let limit = Duration::from_millis(300);
    // The first step is reported late.
    let wait = |at: Progress| {
        if at.total != Some(400) {
            std::thread::sleep(limit);
        }
    };
    let monitor = Monitor::quiet().time_limit(limit).on_progress(wait);

    let fitted = BayesNetwork::new().fit(&rows, &monitor).unwrap();

    assert_eq!(n_edges(&fitted.parents), 1);
    assert_eq!(fitted.certificate.stopped(), Some(Stop::Deadline));
    assert!(fitted.certificate.to_string().contains("time limit reached"));
}

#[test]
fn a_model_with_a_stopped_search_can_be_saved() {
    let (x, codes, classes, _) = classes_and_rows();
    let rows = Dataset::classes(&x, &codes, &classes).unwrap();
    let estimator = Estimator::from(BayesNetwork::new());
    let stats = estimator.gather(&rows, &Monitor::quiet()).unwrap().stats;
    let after = AfterSteps::new(1);

    let cut = estimator.finish_within(&stats, 400, &after.monitor(400)).unwrap();
    let whole = estimator.finish(&stats, 400).unwrap();

    assert_eq!(cut.certificate.stopped(), Some(Stop::Cancelled));
    assert_eq!(whole.certificate.stopped(), None);
    assert_ne!(cut.model, whole.model);
    let trained = Trained::new(estimator, Features::plain(names(5)), cut, Some(stats));
    let loaded = Trained::from_bytes(&trained.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.fitted.certificate.stopped(), Some(Stop::Cancelled));
}

#[test]
fn a_network_with_a_stopped_search_has_tables() {
    let (_, _, _, data) = classes_and_rows();
    let structure = StructureLearning::Search(HillClimb::default());
    let learner = Learner { structure, parameters: ParameterLearning::default() };
    let after = AfterSteps::new(2);

    let learned = learner.learn(&data, &after.monitor(0)).unwrap();

    assert_eq!(learned.search.unwrap().stopped(), Some(Stop::Cancelled));
    assert_eq!(learned.fitted.certificate.stopped(), Some(Stop::Cancelled));
    assert_eq!(n_edges(&parents_of(&learned.fitted)), 2);
}

#[test]
fn tables_of_a_file_become_observations() {
    let levels = Arc::new(Levels::new(vec!["cold".into(), "hot".into()]));
    let table = Table::new(vec![
        Column {
            name: "temp".into(),
            values: Values::Categorical { codes: vec![0, 1, u32::MAX], levels },
        },
        Column { name: "dry".into(), values: Values::Boolean(vec![Some(true), None, None]) },
        Column { name: "n".into(), values: Values::Numeric(vec![2.0, f64::NAN, -1.0]) },
    ])
    .unwrap();

    let data = Observations::of_table(&table).unwrap();

    assert_eq!(data.variables()[2].states, ["-1", "2"]);
    assert_eq!(data.column(0), [0, 1, Observations::MISSING]);
    assert_eq!(data.column(1), [1, Observations::MISSING, Observations::MISSING]);
    assert_eq!(data.column(2), [1, Observations::MISSING, 0]);
    let numbers = Values::Numeric((0..300).map(f64::from).collect());
    let wide = Table::new(vec![Column { name: "x".into(), values: numbers }]).unwrap();
    let error = Observations::of_table(&wide).unwrap_err().to_string();
    assert!(error.contains("`x` is numeric with 300 distinct values"), "{error}");
}
