//! Preprocessing by capability: every estimator of the catalog trains and predicts on every kind of table without
//! options, and the statistics of held-out rows have no part in their own encoding.

use mercer::catalog::{CATALOG, Capability, Card, Estimator, Input};
use mercer::data::{Column, Field, Kind, Levels, MISSING, Schema, UNSEEN, Values};
use mercer::evaluate::Folds;
use mercer::prelude::*;
use mercer::preprocess::{Features, Recipe, Step};
use mercer::train::{ColumnSelection, Outcome, Task, Trained, Training, recipe_for, train};
use std::sync::Arc;

const N: usize = 90;

fn column(name: &str, values: Values) -> Column {
    Column { name: name.into(), values }
}

/// A column with missing values.
fn numeric(name: &str, value: impl Fn(usize) -> f64) -> Column {
    column(name, Values::Numeric((0..N).map(value).collect()))
}

/// An empty string is missing.
fn categorical(name: &str, level: impl Fn(usize) -> String) -> Column {
    let cells: Vec<String> = (0..N).map(level).collect();
    let known = cells.iter().filter(|cell| !cell.is_empty()).cloned().collect();
    let levels = Arc::new(Levels::new(known));
    let code = |cell: &String| if cell.is_empty() { MISSING } else { levels.code(cell) };
    let codes = cells.iter().map(code).collect();
    column(name, Values::Categorical { codes, levels })
}

/// A number in [-1, 1] that looks random.
fn noise(i: usize, k: usize) -> f64 {
    ((i * 37 + k * 101 + (i * i + 7 * k) % 23) % 41) as f64 / 20.0 - 1.0
}

fn class(i: usize) -> usize {
    i % 3
}

fn targets() -> Vec<Column> {
    vec![
        categorical("class", |i| ["red", "green", "blue"][class(i)].to_owned()),
        numeric("amount", |i| 1000.0 + 250.0 * class(i) as f64 + 20.0 * noise(i, 9)),
    ]
}

/// Numeric columns of different scales with missing values, categories with missing values, a boolean.
fn mixed() -> Vec<Column> {
    let missing = |i: usize, x: f64| if i % 13 == 5 { f64::NAN } else { x };
    vec![
        numeric("length", |i| missing(i, 40.0 + 5.0 * class(i) as f64 + noise(i, 0))),
        numeric("mass", |i| 4000.0 - 300.0 * class(i) as f64 + 100.0 * noise(i, 1)),
        numeric("offset", |i| class(i) as f64 - 1.0 + noise(i, 2)),
        categorical("island", |i| {
            if i % 17 == 3 { String::new() } else { ["a", "b"][(i / 3 + i % 2) % 2].to_owned() }
        }),
        column(
            "tagged",
            Values::Boolean((0..N).map(|i| (i % 19 != 4).then_some(noise(i, 3) > 0.0)).collect()),
        ),
        // One level per row and many rare ones: bounded by grouping.
        categorical("ring", |i| format!("ring {}", if i % 2 == 0 { i } else { class(i) })),
    ]
}

fn categories_only() -> Vec<Column> {
    vec![
        categorical("sky", |i| ["sunny", "rainy", "cloudy"][(class(i) + i / 20) % 3].to_owned()),
        categorical("wind", |i| {
            if i % 11 == 2 { String::new() } else { ["weak", "strong"][i % 2].to_owned() }
        }),
    ]
}

fn texts() -> Vec<Column> {
    let words = [["cat", "purr", "milk"], ["dog", "bark", "bone"], ["bird", "sing", "seed"]];
    let text = |i: usize| {
        let w = words[class(i)];
        (i % 23 != 7)
            .then(|| format!("the {} will {} for {} {}", w[i % 3], w[(i + 1) % 3], w[0], i % 5))
    };
    vec![column("review", Values::Text((0..N).map(text).collect()))]
}

fn numbers() -> Vec<Column> {
    (0..4).map(|k| numeric(&format!("x{k}"), |i| (class(i) * k) as f64 + noise(i, k))).collect()
}

fn text_and_numbers() -> Vec<Column> {
    [mixed().into_iter().take(4).collect(), texts()].concat()
}

pub fn schema(table: &Table) -> Schema {
    let field = |column: &Column| match &column.values {
        Values::Categorical { levels, .. } => Field::categorical(&column.name, levels.clone()),
        values => Field::new(&column.name, values.kind()),
    };
    Schema { fields: table.columns().iter().map(field).collect() }
}

/// The target of an estimator, which is dropped from the features along with the other target.
fn target(card: &Card) -> Option<&'static str> {
    match card {
        card if card.can(Capability::Classifier) => Some("class"),
        card if card.can(Capability::Regressor) => Some("amount"),
        _ => None,
    }
}

fn trained(id: &str, table: &Table, steps: &[&str], n_folds: usize) -> mercer::Result<Outcome> {
    trained_with(Estimator::from_id(id)?, table, steps, n_folds)
}

fn trained_with(
    estimator: Estimator,
    table: &Table,
    steps: &[&str],
    n_folds: usize,
) -> mercer::Result<Outcome> {
    let card = estimator.card();
    let recipe = steps.iter().try_fold(Recipe::default(), |recipe, step| recipe.with(step))?;
    let recipe = recipe_for(&estimator, recipe)?;
    let target = target(card);
    let ignore: Vec<String> = ["class", "amount"]
        .into_iter()
        .filter(|name| Some(*name) != target)
        .map(str::to_owned)
        .collect();
    let selection = ColumnSelection { ignore: &ignore, ..ColumnSelection::default() };
    let selected = selection.plan(schema(table), target, card, recipe.categories)?;
    let features = selected.features.fit(&recipe, table, &Monitor::quiet())?;
    let classes = Classes::from_names(["blue", "green", "red"]);
    let task = match target {
        Some("class") => Task::Classification(&classes),
        Some(_) => Task::Regression,
        None => Task::Unsupervised,
    };
    let training = Training { estimator, features, task, n_rows: None, n_folds, seed: 1, recipe };
    train(training, table, &Monitor::quiet())
}

/// Rows that training has not seen: missing values everywhere, unseen categories, values outside the range.
fn new_rows(table: &Table) -> Table {
    let columns = table.columns().iter().map(|c| {
        let values = match &c.values {
            Values::Numeric(_) => Values::Numeric(vec![f64::NAN, -1e4, 1e4]),
            Values::Categorical { levels, .. } => {
                Values::Categorical { codes: vec![MISSING, UNSEEN, 0], levels: levels.clone() }
            }
            Values::Boolean(_) => Values::Boolean(vec![None, Some(true), Some(false)]),
            Values::Text(_) => {
                Values::Text(vec![None, Some("unheard of".into()), Some("the cat".into())])
            }
            values => values.clone(),
        };
        column(&c.name, values)
    });
    Table::new(columns.collect()).unwrap()
}

/// The number of predictions, which are finite.
fn n_predictions(outcome: &Outcome, table: &Table) -> mercer::Result<usize> {
    let encoded = outcome.trained.features.encode(table, None)?;
    let (rows, model) = (encoded.rows(), outcome.trained.fitted.model.as_model());
    if let Some(model) = model.classifier() {
        return Ok(model.predict(&rows)?.len());
    }
    if let Some(model) = model.regressor() {
        let predicted = model.predict(&rows)?;
        assert!(predicted.iter().all(|y| y.is_finite()), "{predicted:?}");
        return Ok(predicted.len());
    }
    if let Some(model) = model.outlier_detector() {
        return Ok(model.inlier_scores(&rows)?.len());
    }
    if let Some(model) = model.clusterer() {
        return Ok(model.assign(&rows)?.len());
    }
    Ok(model.transformer().unwrap().transform(&rows)?.nrows())
}

#[test]
fn every_estimator_trains_and_predicts_on_every_table() {
    let tables = [
        ("mixed", mixed()),
        ("categories", categories_only()),
        ("texts", texts()),
        ("numbers", numbers()),
        ("text and numbers", text_and_numbers()),
    ];
    let (mut n_cases, mut n_singular, mut failures) = (0, 0, Vec::new());
    for (name, columns) in tables {
        let table = Table::new([columns, targets()].concat()).unwrap();
        for card in CATALOG {
            n_cases += 1;
            let outcome = match trained(card.id, &table, &[], 0) {
                // One-hot columns are collinear, which quadratic discriminant analysis refuses; the remedy works.
                Err(Error::SingularCovariance { .. }) => {
                    n_singular += 1;
                    let qda = Estimator::from_id(card.id).unwrap().set_from_str("reg_param", "0.1");
                    trained_with(qda.unwrap(), &table, &[], 0)
                }
                outcome => outcome,
            };
            let outcome = outcome.and_then(|outcome| {
                let seen = n_predictions(&outcome, &table)?;
                Ok((seen, n_predictions(&outcome, &new_rows(&table))?))
            });
            // Equal rows of both classes leave no margin at nu = 0.5, which is refused with the remedy.
            let no_margin = (card.id, name) == ("nu-svc", "categories") && outcome.is_err();
            if !no_margin && !matches!(outcome, Ok((N, 3))) {
                failures.push(format!("{} on {name}: {outcome:?}", card.id));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!((n_cases, n_singular), (5 * CATALOG.len(), 4));
}

/// The scores of a classifier (accuracy) or regressor (R²) on the mixed table.
fn score(id: &str, columns: Vec<Column>, steps: &[&str]) -> f64 {
    let table = Table::new([columns, targets()].concat()).unwrap();
    let outcome = trained(id, &table, steps, 5).unwrap();
    match (&outcome.evaluation, &outcome.regression) {
        (Some(scores), _) => scores.report().accuracy.value,
        (_, Some(scores)) => scores.report().r_squared,
        _ => panic!("{id}: no scores"),
    }
}

#[test]
fn scaling_decides_where_the_model_depends_on_it() {
    // The column `mass` is a hundred times wider than the others.
    for id in ["svc", "nu-svc", "logistic", "linear-svc", "mlp", "sgd", "kernel-perceptron"] {
        let scaled = score(id, mixed(), &[]);
        assert!(scaled >= 0.95, "{id}: {scaled}");
    }
    assert!(score("svc", mixed(), &["scale=none"]) <= score("svc", mixed(), &[]));
}

#[test]
fn the_target_is_standardized_and_predictions_are_in_its_units() {
    for id in ["svr", "nu-svr", "linear-svr", "kernel-ridge", "mlp-regressor", "sgd-regressor"] {
        let r2 = score(id, numbers(), &[]);
        assert!(r2 > 0.8, "{id}: {r2}");
    }
    assert!(score("svr", numbers(), &["target=none"]) < 0.5, "C bounds the function in units of y");
}

#[test]
fn a_standardized_target_changes_the_units_only() {
    // Ridge regression with a kernel is linear in the target: without a shift of the target, the fit of y and that of
    // y / deviation differ by the factor alone.
    let table = Table::new([numbers(), targets()].concat()).unwrap();
    let deviation = |outcome: &Outcome| outcome.trained.features.target_scale.unwrap().1;

    let svr = trained("svr", &table, &[], 0).unwrap();
    let again = Trained::from_bytes(&svr.trained.to_bytes().unwrap()).unwrap();

    assert!(deviation(&svr) > 200.0 && deviation(&svr) < 210.0, "{}", deviation(&svr));
    assert_eq!(again.features.target_scale, svr.trained.features.target_scale);
    assert!(svr.trained.fitted.certificate.to_string().contains("standardized"));
}

#[test]
fn steps_of_a_fold_are_fitted_without_its_rows() {
    // An outlier that changes means and scales: its own fold must not know it.
    let outlier = numeric("x", |i| if i == 7 { 1e3 } else { class(i) as f64 + noise(i, 0) });
    let table = Table::new([vec![outlier], mixed(), texts(), targets()].concat()).unwrap();
    let outcome = trained("svr", &table, &[], 3).unwrap();

    // The same by hand: everything but the vocabulary is fitted to the rows of the other folds.
    let estimator = Estimator::from_id("svr").unwrap();
    let recipe = recipe_for(&estimator, Recipe::default()).unwrap();
    let mut squares = 0.0;
    let folds = Folds::new(3, 1, 1).split(&[0; N]);
    for held_out in &folds {
        let others: Vec<usize> = (0..N).filter(|i| !held_out.contains(i)).collect();
        let (training_rows, held_out) =
            (table.rows_at(&others).unwrap(), table.rows_at(held_out).unwrap());
        let all = &outcome.trained.features;
        let mut features = all.clone().fit(&recipe, &training_rows, &Monitor::quiet()).unwrap();
        let last = features.steps.len() - 1;
        features.steps[last] = all.steps[last].clone();
        let encoded = features.encode_regression(&training_rows).unwrap();
        let y = &encoded.targets;
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        let variance = y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / y.len() as f64;
        let scaled: Vec<f64> = y.iter().map(|y| (y - mean) / variance.sqrt()).collect();
        let data = encoded.regression_dataset_of(&scaled).unwrap();
        let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();
        let held_out = features.encode_regression(&held_out).unwrap();
        let predicted = fitted.as_model().regressor().unwrap().predict(&held_out.rows()).unwrap();
        for (f, y) in predicted.iter().zip(&held_out.targets) {
            squares += (f * variance.sqrt() + mean - y).powi(2);
        }
    }
    let by_hand = (squares / N as f64).sqrt();

    let rmse = outcome.regression.unwrap().report().rmse;
    // Both fits stop at the tolerance of the dual variables.
    assert!((rmse / by_hand - 1.0).abs() < 1e-6, "{rmse} and {by_hand}");
}

#[test]
fn recipes_follow_the_card_and_can_be_overridden() {
    let of = |id: &str, steps: &[&str]| -> Features {
        let table = Table::new([mixed(), targets()].concat()).unwrap();
        trained(id, &table, steps, 0).unwrap().trained.features
    };
    let numeric_step = |features: &Features, name: &str| {
        let k = features.schema.fields.iter().position(|f| f.name == name).unwrap();
        match &features.steps[k] {
            Step::Numeric(step) => step.clone(),
            step => panic!("{step:?}"),
        }
    };

    let svc = of("svc", &[]);
    let length = numeric_step(&svc, "length");
    assert!(length.indicator && length.fill.is_some() && length.scale.is_some());
    assert!(!numeric_step(&svc, "mass").indicator, "no missing values in training");
    assert!(svc.names().contains(&"length=(missing)".to_owned()));
    assert!(svc.names().contains(&"ring=(other)".to_owned()), "{:?}", svc.names());

    let ols = of("ols", &[]);
    assert_eq!(
        numeric_step(&ols, "length").scale,
        None,
        "least squares do not depend on the scale"
    );
    let bare = of("svc", &["scale=none", "missing=none", "impute=most-frequent"]);
    assert_eq!(numeric_step(&bare, "length").scale, None);
    assert!(!numeric_step(&bare, "length").indicator);
    let robust = of("svc", &["scale=robust"]);
    assert_ne!(numeric_step(&robust, "mass").scale, numeric_step(&svc, "mass").scale);
    let power = of("logistic", &["power=yeo-johnson"]);
    assert!(numeric_step(&power, "mass").power.is_some());

    // Counts: a column with negative values is discretized, others are read as they are.
    let counts = of("multinomial-nb", &[]);
    assert!(numeric_step(&counts, "offset").cuts.is_some());
    assert!(numeric_step(&counts, "mass").cuts.is_none());
    // Gaussian naive Bayes leaves missing values out of the likelihood.
    let gaussian = of("gaussian-nb", &[]);
    assert_eq!(numeric_step(&gaussian, "length").fill, None);
    assert!(gaussian.schema.fields.iter().all(|f| f.kind != Kind::Categorical));
    assert!(of("gaussian-nb", &["categories=one-hot"]).names().contains(&"island=a".to_owned()));
}

#[test]
fn missing_values_that_stay_are_refused_with_a_remedy_that_works() {
    let table = Table::new([mixed(), targets()].concat()).unwrap();

    let refused = trained("logistic", &table, &["impute=none"], 0).err().unwrap().to_string();

    assert!(refused.contains("missing"), "{refused}");
    assert!(trained("logistic", &table, &["impute=mean"], 0).is_ok());
    assert!(CATALOG.iter().any(|card| card.accepts(Input::MissingValues)));
}
