//! Likelihoods of mixed naive Bayes against their definitions and reference implementations, mixed tables, unknown
//! categories, learned weights.

use crate::cases::repository_file;
use mercer::bayes::likelihood::{Likelihood, Unseen};
use mercer::bayes::{CategoricalNb, Estimate, Family, Likelihoods, MixedNb, MixedNbModel, Weights};
use mercer::catalog::Estimator;
use mercer::data::{Column, ColumnDescription, Levels, Measure, Values};
use mercer::data::{Field, Schema};
use mercer::prelude::*;
use mercer::preprocess::{CategoryEncoding, Features, Reads, Recipe};
use mercer::train::{Task, Training, train};
use mercer_num::random::Random;
use ndarray::aview1;
use std::sync::Arc;

fn classes() -> Classes {
    Classes::from_names(["a", "b"])
}

/// One numeric column, the first half of one class and the second of another.
fn fit_column(values: &[f64], family: Family) -> MixedNbModel {
    let x = Matrix::from_shape_vec((values.len(), 1), values.to_vec()).unwrap();
    let codes: Vec<u32> = (0..values.len()).map(|i| (2 * i / values.len()) as u32).collect();
    let classes = classes();
    let data = Dataset::classes(&x, &codes, &classes).unwrap();
    let nb = MixedNb::new().likelihood(Likelihoods::One(family));
    nb.fit(&data, &Monitor::quiet()).unwrap().model
}

#[test]
fn entropy_cuts_of_iris_match_the_r_package_discretization() {
    // mdlp(iris)$cutp: 5.55 6.15 | 2.95 3.35 | 2.45 4.75 | 0.80 1.75
    let text = repository_file("examples/data/iris.csv");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|l| l.split(',').collect()).collect();
    let names: Vec<&str> = rows.iter().map(|r| r[4]).collect();
    let classes = Classes::from_names(names.iter());
    let codes: Vec<u32> = names.iter().map(|n| classes.code(&Label::from(*n)).unwrap()).collect();
    let x = Matrix::from_shape_fn((rows.len(), 4), |(i, j)| rows[i][j].parse().unwrap());
    let data = Dataset::classes(&x, &codes, &classes).unwrap();

    let nb = MixedNb::new().likelihood(Likelihoods::One(Family::Entropy));
    let model = nb.fit(&data, &Monitor::quiet()).unwrap().model;

    let expected = [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.80, 1.75]];
    for (likelihood, expected) in model.likelihoods.iter().zip(expected) {
        let Likelihood::Histogram(bins) = likelihood else { panic!("{likelihood:?}") };
        assert_eq!(bins.cuts.len(), 2, "{:?}", bins.cuts);
        assert!(bins.cuts.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

#[test]
fn the_grid_approximates_the_kernel_density() {
    let mut random = Random::new(5);
    let values: Vec<f64> = (0..400).map(|_| 3.0 + 2.0 * random.normal()).collect();
    let model = fit_column(&values, Family::Kernel);
    let Likelihood::Kernel(kernel) = &model.likelihoods[0] else { panic!() };

    let (h, rows) = (kernel.bandwidths[0], &values[..200]);
    for x in [-4.0, -1.0, 2.0, 3.3, 6.0, 8.0] {
        let kernels: f64 = rows.iter().map(|v| (-0.5 * ((x - v) / h).powi(2)).exp()).sum();
        let exact = (kernels / (200.0 * h * std::f64::consts::TAU.sqrt())).ln();
        let grid = model.log_factors(&[x]).unwrap()[[0, 0]];
        assert!((grid - exact).abs() < 0.05, "{x}: {grid} and {exact}");
    }
    // Silverman's rule on 200 rows of standard deviation 2.
    assert!((h - 0.9 * 2.0 * 200f64.powf(-0.2)).abs() < 0.15, "{h}");
    // Far outside the grid, both log-densities are finite and decrease.
    let far = model.log_factors(&[1e6]).unwrap();
    assert!(far.iter().all(|p| p.is_finite() && *p < -1e6), "{far}");
}

#[test]
fn the_generating_family_is_selected() {
    let mut random = Random::new(8);
    let mut draw = |f: &dyn Fn(&mut Random) -> f64| -> Vec<f64> {
        (0..2000).map(|_| f(&mut random)).collect()
    };
    let normal = draw(&|r| 10.0 + 3.0 * r.normal());
    let waiting = draw(&|r| -2.0 * (1.0 - r.uniform()).ln());
    let rare = draw(&|r| {
        let (mut k, mut p) = (0.0, r.uniform());
        while p > (-0.7f64).exp() {
            p *= r.uniform();
            k += 1.0;
        }
        k
    });
    let two_peaks = draw(&|r| if r.uniform() < 0.5 { -5.0 } else { 5.0 } + 0.5 * r.normal());

    let chosen = |values: &[f64]| fit_column(values, Family::Auto).likelihoods[0].name();

    assert_eq!(chosen(&normal), "gaussian");
    assert_eq!(chosen(&waiting), "exponential");
    assert_eq!(chosen(&rare), "poisson");
    assert!(["kernel", "histogram"].contains(&chosen(&two_peaks)));
}

#[test]
fn unknown_categories_follow_the_parameter() {
    let x = ndarray::array![[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 0.0]];
    let classes = classes();
    let data = Dataset::classes(&x, &[0, 0, 1, 1, 1], &classes).unwrap();
    let fit = |unseen| CategoricalNb::new().unseen(unseen).fit(&data, &Monitor::quiet()).unwrap();
    let scores = |unseen, row: [f64; 2]| fit(unseen).scores(&Rows::from(aview1(&row)));
    let new = [7.0, 1.0];

    let missing = scores(Unseen::Ignore, [f64::NAN, 1.0]).unwrap();
    assert_eq!(scores(Unseen::Ignore, new).unwrap(), missing);
    // A count of 0 among 2 and 3 rows, Laplace smoothing over two categories.
    let other = scores(Unseen::Other, new).unwrap();
    assert!((other[[0, 0]] - missing[[0, 0]] - (1.0f64 / 4.0).ln()).abs() < 1e-12);
    assert!((other[[0, 1]] - missing[[0, 1]] - (1.0f64 / 5.0).ln()).abs() < 1e-12);
    let refused = scores(Unseen::Error, new).unwrap_err();
    assert_eq!(refused, Error::UnseenCategory { row: 0, column: 0, value: 7.0 });
}

#[test]
fn likelihoods_by_column_name_are_validated() {
    let described = |name: &str, measure| ColumnDescription { name: name.into(), measure };
    let columns = [described("word", Measure::Categorical(2)), described("size", Measure::Numeric)];
    let x = ndarray::array![[0.0, 1.0], [1.0, 2.0], [0.0, 3.0], [1.0, -4.0]];
    let classes = classes();
    let data =
        Dataset::classes(&x, &[0, 0, 1, 1], &classes).unwrap().with_descriptions(&columns).unwrap();
    let fit = |name: &str, family| {
        let by_name = [(name.to_owned(), family)].into();
        MixedNb::new().likelihood(Likelihoods::ByName(by_name)).fit(&data, &Monitor::quiet())
    };

    assert_eq!(fit("size", Family::Split).unwrap().likelihoods[1].name(), "histogram");
    for (name, family) in [
        ("sise", Family::Gaussian),
        ("word", Family::Gaussian),
        ("size", Family::Poisson),
        ("size", Family::Categorical),
    ] {
        let refused = fit(name, family).unwrap_err().to_string();
        assert!(refused.contains(name), "{refused}");
    }
}

/// A table with a numeric, a categorical, a boolean and a text column.
fn table() -> Table {
    let mails = [
        ("win a prize now", 1.0, "net", true),
        ("cheap prize money", 9.0, "net", true),
        ("win win win money", 8.0, "com", true),
        ("lunch at noon", 2.0, "org", false),
        ("notes of the meeting", 3.0, "org", false),
        ("meeting moved to noon", 1.5, "com", false),
    ];
    let levels =
        |words: &[&str]| Arc::new(Levels::new(words.iter().map(|w| (*w).into()).collect()));
    let (domains, labels) = (levels(&["com", "net", "org"]), levels(&["ham", "spam"]));
    let column = |name: &str, values| Column { name: name.into(), values };
    Table::new(vec![
        column("body", Values::Text(mails.iter().map(|m| Some(m.0.to_owned())).collect())),
        column("size", Values::Numeric(mails.iter().map(|m| m.1).collect())),
        column(
            "domain",
            Values::Categorical {
                codes: mails.iter().map(|m| domains.code(m.2)).collect(),
                levels: Arc::clone(&domains),
            },
        ),
        column("urgent", Values::Boolean(mails.iter().map(|m| Some(m.3)).collect())),
        column(
            "label",
            Values::Categorical {
                codes: mails.iter().map(|m| u32::from(m.3)).collect(),
                levels: labels,
            },
        ),
    ])
    .unwrap()
}

#[test]
fn a_mixed_table_trains_and_is_explained_with_its_levels() {
    let table = table();
    let kinds = |c: &Column| match &c.values {
        Values::Categorical { levels, .. } => Field::categorical(&c.name, Arc::clone(levels)),
        other => Field::new(&c.name, other.kind()),
    };
    let schema = Schema { fields: table.columns().iter().map(kinds).collect() };
    let (features, left_out) =
        Features::plan_for(&schema, Some("label"), CategoryEncoding::Auto, Reads::Mixed).unwrap();
    assert_eq!(left_out, []);
    let features = features.fit(&Recipe::default(), &table, &Monitor::quiet()).unwrap();
    let classes = Classes::from_names(["ham", "spam"]);

    let training = Training {
        estimator: Estimator::from_id("mixed-nb").unwrap(),
        features,
        task: Task::Classification(&classes),
        n_rows: Some(6),
        n_folds: 3,
        seed: 1,
        recipe: mercer::preprocess::Recipe::default(),
    };
    let outcome = train(training, &table, &Monitor::quiet()).unwrap();

    let trained = outcome.trained;
    let rows = trained.features.encode(&table, None).unwrap();
    let model = trained.fitted.model.as_model();
    assert_eq!(model.classifier().unwrap().predict(&rows.rows()).unwrap(), [1, 1, 1, 0, 0, 0]);
    let names = trained.features.names();
    let explanation = mercer::explain::explain(
        model.factorized_likelihood().unwrap(),
        &rows.rows().row(2),
        &names,
    )
    .unwrap()
    .with_levels(|j, x| trained.features.category(j, x));
    let factor = |name: &str| explanation.factors.iter().find(|f| f.column == name).unwrap();
    assert_eq!(factor("domain").level.as_deref(), Some("com"));
    assert_eq!(factor("urgent").level.as_deref(), Some("true"));
    // Ten tokens of spam, four of them "win".
    assert!(factor("win").formulas[1].starts_with("((4 + 1) / (10 + "), "{:?}", factor("win"));
    let bytes = trained.to_bytes().unwrap();
    assert_eq!(mercer::train::Trained::from_bytes(&bytes).unwrap(), trained);
}

#[test]
fn held_out_smoothing_depends_on_the_column() {
    let n = 40;
    let described = |name: &str, k| ColumnDescription {
        name: name.to_owned(),
        measure: Measure::Categorical(k),
    };
    let columns = [described("informative", 2), described("all different", n)];
    // The first column determines the class, the second has unique values.
    let x = Matrix::from_shape_fn((n, 2), |(i, j)| if j == 0 { (i % 2) as f64 } else { i as f64 });
    let y: Vec<u32> = (0..n as u32).map(|i| i % 2).collect();
    let classes = classes();
    let data = Dataset::classes(&x, &y, &classes).unwrap().with_descriptions(&columns).unwrap();

    let model = MixedNb::new().estimate(Estimate::HeldOut).fit(&data, &Monitor::quiet()).unwrap();
    let factors = model.log_factors(&[0.0, 0.0]).unwrap().mapv(f64::exp);

    // 20 rows of a class: (0 + 1e-6) / (20 + 2e-6), and (1 + 1) / (20 + 40).
    assert!((factors[[0, 1]] - 1e-6 / (20.0 + 2e-6)).abs() < 1e-12, "{factors}");
    assert!((factors[[1, 0]] - 2.0 / 60.0).abs() < 1e-12, "{factors}");
}

/// Rows of two classes with one informative column repeated four times, a less informative one, and a numeric column;
/// some values are missing.
fn redundant(n: usize, seed: u64) -> (Matrix, Vec<u32>, Vec<ColumnDescription>) {
    let mut random = Random::new(seed);
    let mut x = Matrix::zeros((n, 6));
    let codes: Vec<u32> = (0..n).map(|_| random.below(2) as u32).collect();
    for (mut row, code) in x.outer_iter_mut().zip(&codes) {
        let noisy = |right: f64, random: &mut Random| {
            f64::from(if random.uniform() < right { *code } else { 1 - *code })
        };
        let copy = noisy(0.75, &mut random);
        (0..4).for_each(|j| row[j] = copy);
        row[4] = noisy(0.7, &mut random);
        row[5] = random.normal() + 0.8 * f64::from(*code);
        if random.uniform() < 0.1 {
            row[4] = f64::NAN;
        }
    }
    let described = |j: usize| ColumnDescription {
        name: format!("x{j}"),
        measure: if j == 5 { Measure::Numeric } else { Measure::Categorical(2) },
    };
    (x, codes, (0..6).map(described).collect())
}

#[test]
fn learned_weights_count_redundant_columns_once() {
    let (x, codes, columns) = redundant(2000, 3);
    let (new, answers, _) = redundant(2000, 4);
    let classes = classes();
    let data = Dataset::classes(&x, &codes, &classes).unwrap().with_descriptions(&columns).unwrap();
    let fit = |weights| MixedNb::new().weights(weights).fit(&data, &Monitor::quiet()).unwrap();

    let (equal, learned) = (fit(Weights::Equal), fit(Weights::Learned));

    let sum: f64 = learned.weights[..4].iter().sum();
    assert!((sum - 1.0).abs() < 0.25, "{:?}", learned.weights);
    assert!((learned.weights[4] - 1.0).abs() < 0.4, "{:?}", learned.weights);
    let log_loss = |model: &MixedNbModel| {
        let log_proba = model.log_proba(&Rows::from(&new)).unwrap();
        answers.iter().enumerate().map(|(i, c)| -log_proba[[i, *c as usize]]).sum::<f64>()
    };
    assert!(log_loss(&learned) < 0.8 * log_loss(&equal));
    // The certificate bounds what any other weights could gain.
    let certificate = &learned.certificate;
    assert!(certificate.duality_gap().unwrap() < 1e-6 * certificate.primal().unwrap());
    assert!(equal.weights.is_empty() && equal.certificate.objective.is_none());
    // The density does not use the weights.
    let density = |model: &MixedNbModel| model.log_density(&Rows::from(&new)).unwrap();
    assert_eq!(density(&learned), density(&equal));
}

#[test]
fn weighted_factors_sum_to_the_scores_and_are_in_the_formula() {
    let (x, codes, columns) = redundant(300, 5);
    let classes = classes();
    let data = Dataset::classes(&x, &codes, &classes).unwrap().with_descriptions(&columns).unwrap();
    let nb = MixedNb::new().weights(Weights::Learned);
    let model = nb.fit(&data, &Monitor::quiet()).unwrap().model;

    let row = [1.0, 0.0, 1.0, 1.0, f64::NAN, 0.3];
    let factors = model.log_factors(&row).unwrap();
    let scores = model.scores(&Rows::from(aview1(&row))).unwrap();

    for c in 0..2 {
        let sum = model.log_priors[c] + factors.column(c).sum();
        assert!((sum - scores[[0, c]]).abs() < 1e-12);
    }
    let formula = model.factor_formula(0, 1, 1.0);
    let Likelihood::Categorical(categorical) = &model.likelihoods[0] else { panic!() };
    let power = (model.weights[0] * categorical.log_probabilities[[1, 1]]).exp();
    assert!(formula.starts_with('(') && formula.contains(")^"), "{formula}");
    assert!(formula.ends_with(&format!("= {}", short(power))), "{formula}");
}

#[test]
fn learned_weights_are_the_same_from_any_split_of_the_rows() {
    // More rows than the statistics store.
    let (x, codes, columns) = redundant(9000, 6);
    let classes = classes();
    let data = Dataset::classes(&x, &codes, &classes).unwrap().with_descriptions(&columns).unwrap();
    let nb = MixedNb::new().weights(Weights::Learned);
    let whole = nb.fit(&data, &Monitor::quiet()).unwrap();

    let mut stats = Default::default();
    for range in [0..1000, 1000..1001, 1001..9000] {
        let mut part = Default::default();
        nb.observe(&mut part, &data.slice(range)).unwrap();
        Statistics::merge(&mut stats, &part).unwrap();
    }
    let parts = nb.finish(&stats).unwrap();

    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
    assert!(whole.weights.iter().zip(&parts.weights).all(near));
    assert!(stats.holds_rows());
    let mut plain = Default::default();
    MixedNb::new().observe(&mut plain, &data).unwrap();
    assert!(!Statistics::holds_rows(&plain));
}

#[test]
fn all_terms_of_a_text_have_the_same_weight() {
    let mut random = Random::new(7);
    // A boolean column, and a text of three terms of which the first two always occur together.
    let n = 400;
    let codes: Vec<u32> = (0..n).map(|_| random.below(2) as u32).collect();
    let mut x = Matrix::zeros((n, 4));
    for (mut row, code) in x.outer_iter_mut().zip(&codes) {
        let right = |p: f64, random: &mut Random| (random.uniform() < p) == (*code == 1);
        row[0] = f64::from(u8::from(right(0.7, &mut random)));
        let word = f64::from(u8::from(right(0.75, &mut random)));
        (row[1], row[2], row[3]) = (word, word, 1.0);
    }
    let described = |j: usize| ColumnDescription {
        name: format!("x{j}"),
        measure: if j == 0 { Measure::Categorical(2) } else { Measure::TermCount(0) },
    };
    let columns: Vec<ColumnDescription> = (0..4).map(described).collect();
    let classes = classes();
    let data = Dataset::classes(&x, &codes, &classes).unwrap().with_descriptions(&columns).unwrap();

    let nb = MixedNb::new().weights(Weights::Learned);
    let model = nb.fit(&data, &Monitor::quiet()).unwrap().model;

    assert_eq!(model.weights.len(), 2);
    let row = [1.0, 1.0, 1.0, 1.0];
    let factors = model.log_factors(&row).unwrap();
    let plain = MixedNbModel { weights: Vec::new(), ..model.clone() };
    let bare = plain.log_factors(&row).unwrap();
    for j in 1..4 {
        assert!((factors[[j, 0]] - model.weights[1] * bare[[j, 0]]).abs() < 1e-12);
    }
    let sum = model.log_priors[1] + factors.column(1).sum();
    assert!((sum - model.scores(&Rows::from(aview1(&row))).unwrap()[[0, 1]]).abs() < 1e-12);
}
