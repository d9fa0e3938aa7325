//! Model files with a valid checksum and arbitrary content: every estimator's file is changed in its structure
//! (numbers, shapes, lengths, types, names), its checksum is made again, and it is loaded and used. It is refused, or
//! everything that users do with a model works: nothing hangs, panics or allocates more than the file accounts for, and
//! no prediction is NaN.

use crate::cases::{Case, Shape, names, sparse, trained};
use crate::formats::{LARGEST, Parts, Tensor, model, rows, savable};
use mercer::catalog::{CATALOG, Capability, Estimator};
use mercer::data::{Column, Values};
use mercer::explain;
use mercer::model::Model;
use mercer::prelude::*;
use mercer::preprocess::Recipe;
use mercer::train::{ColumnSelection, Task, Trained, Training, recipe_for, train};
use mercer_num::random::Random;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Mutations of each file in `make test`; `MERCER_MUTATIONS` asks for more, and for others.
const MUTATIONS: u64 = 1000;
/// A mutation that takes longer than this hangs.
const HANG: Duration = Duration::from_secs(120);

/// A saved model to be changed.
struct Kind {
    name: String,
    bytes: Vec<u8>,
    parts: Parts,
}

impl Kind {
    fn new(name: impl Into<String>, trained: &Trained) -> Kind {
        let bytes = trained.to_bytes().unwrap();
        Kind { name: name.into(), parts: Parts::of(&bytes), bytes }
    }
}

/// One file of every estimator, and of what a file may hold besides: preprocessing of every kind of column, text,
/// feature maps, calibration, a decision rule, statistics that hold rows.
fn kinds() -> Vec<Kind> {
    let shape = Shape {
        n_rows: 14,
        n_columns: 3,
        n_classes: 2,
        with_missing: false,
        weighted: false,
        seed: 5,
    };
    let mut kinds = Vec::new();
    for card in CATALOG {
        let case = Case::new(card, shape);
        kinds.push(Kind::new(card.id, &trained(card, &case.data(card)).unwrap()));
    }
    for card in savable() {
        kinds.push(Kind::new(format!("{} of a table", card.id), &model(card)));
    }
    for (id, name, value) in [
        ("svc", "probability", "true"),
        ("svc", "kernel", "rbf(gamma=0.1)+2*linear"),
        ("linear-svc", "probability", "true"),
        ("nystroem", "landmarks", "pivoted-cholesky"),
        ("rbf-sampler", "directions", "orthogonal"),
        ("polynomial-features", "interaction_only", "true"),
    ] {
        let Ok(estimator) = Estimator::from_id(id).unwrap().set_from_str(name, value) else {
            panic!("{id} has no {name}={value}");
        };
        let case = Case::new(estimator.card(), shape);
        let data = case.data(estimator.card());
        let fitted = estimator.fit(&data, &Monitor::quiet()).unwrap();
        let features = mercer::preprocess::Features::plain(names(3));
        kinds.push(Kind::new(
            format!("{id} with {name}={value}"),
            &Trained::new(estimator, features, fitted, None),
        ));
    }
    for (id, steps) in [
        ("logistic", &[][..]),
        ("multinomial-nb", &[]),
        ("mixed-nb", &[]),
        ("lda", &["features=rff:4"]),
        ("kernel-ridge", &["scale=robust", "power=yeo-johnson"]),
    ] {
        kinds.push(Kind::new(format!("{id} of texts"), &trained_on_texts(id, steps)));
    }
    kinds
}

/// A table with texts beside the columns of [`rows`].
fn texts() -> Table {
    let texts = ["a cat", "the cat sat", "dogs bark", "a dog", "", "bark bark"];
    let texts = texts.iter().map(|t| (!t.is_empty()).then(|| (*t).to_owned())).collect();
    let amounts = vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let mut columns = rows().columns().to_vec();
    columns.push(Column { name: "review".into(), values: Values::Text(texts) });
    columns.push(Column { name: "amount".into(), values: Values::Numeric(amounts) });
    Table::new(columns).unwrap()
}

fn trained_on_texts(id: &str, steps: &[&str]) -> Trained {
    let table = texts();
    let estimator = Estimator::from_id(id).unwrap();
    let card = estimator.card();
    let (target, other) = match card.can(Capability::Regressor) {
        true => ("amount", "class"),
        false => ("class", "amount"),
    };
    let with = |recipe: Recipe, step: &&str| match step.strip_prefix("features=") {
        Some(map) => recipe.mapped(map).unwrap(),
        None => recipe.with(step).unwrap(),
    };
    let recipe = steps.iter().fold(Recipe::default(), with);
    let recipe = recipe_for(&estimator, recipe).unwrap();
    let ignore = [other.to_owned()];
    let schema = crate::tables::schema(&table);
    let selection = ColumnSelection { ignore: &ignore, only: &[], unusable: &[] };
    let selected = selection.plan(schema, Some(target), card, recipe.categories).unwrap();
    let features = selected.features.fit(&recipe, &table, &Monitor::quiet()).unwrap();
    let classes = Classes::from_names(["no", "yes"]);
    let task = match card.can(Capability::Regressor) {
        true => Task::Regression,
        false => Task::Classification(&classes),
    };
    let training =
        Training { estimator, features, task, n_rows: None, n_folds: 0, seed: 1, recipe };
    train(training, &table, &Monitor::quiet()).unwrap().trained
}

// --------------------------------------------------------------------------------- the mutator

/// Changes a number a little, or to a value that a hostile file could have.
fn changed_number(x: f64, random: &mut Random) -> f64 {
    let odd = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        1e155,
        1e-155,
        4_294_967_296.0,
        9e15,
        1e19,
    ];
    match random.below(8) {
        0 => -x,
        1 => x + 1.0,
        2 => x - 1.0,
        3 => x * 1e8,
        _ => odd[random.below(odd.len())],
    }
}

fn changed_integer(n: i64, random: &mut Random) -> i64 {
    let odd = [0, 1, -1, 2, 3, 255, 1 << 16, 1 << 31, 1 << 32, 1 << 53, i64::MAX, i64::MIN];
    match random.below(6) {
        0 => n.wrapping_add(1),
        1 => n.wrapping_sub(1),
        2 => n.wrapping_mul(2),
        _ => odd[random.below(odd.len())],
    }
}

/// A value of another type, or one that names something else.
fn odd_value(random: &mut Random) -> Value {
    let odd = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(1e308),
        json!(-0.5),
        json!(""),
        json!("yes"),
        json!("numeric"),
        json!("a much longer string that names nothing at all"),
        json!([]),
        json!([0.0]),
        json!([1, 2, 3]),
        json!({}),
        json!({"v": 1, "dim": [4_294_967_296u64, 4_294_967_296u64], "data": []}),
    ];
    odd[random.below(odd.len())].clone()
}

/// The strings of a description: names, variants and references, to be put in the place of each other.
fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, out)),
        _ => {}
    }
}

/// Changes one value of a description, at any depth.
fn change_value(value: &mut Value, words: &[String], random: &mut Random) {
    match value {
        Value::Object(fields) if !fields.is_empty() && random.below(12) > 0 => {
            let name = fields.keys().nth(random.below(fields.len())).unwrap().clone();
            match random.below(16) {
                0 => drop(fields.remove(&name)),
                1 => {
                    let moved = fields.remove(&name).unwrap();
                    fields.insert(format!("{name}s"), moved);
                }
                _ => change_value(&mut fields[&name], words, random),
            }
        }
        Value::Array(items) if !items.is_empty() && random.below(12) > 0 => {
            let index = random.below(items.len());
            match random.below(10) {
                0 => drop(items.remove(index)),
                1 => items.push(items[index].clone()),
                2 => items.reverse(),
                3 => items.clear(),
                _ => change_value(&mut items[index], words, random),
            }
        }
        Value::Number(number) if random.below(4) > 0 => {
            *value = match number.as_i64() {
                Some(n) => json!(changed_integer(n, random)),
                None => json!(changed_number(number.as_f64().unwrap_or(0.0), random)),
            };
        }
        Value::String(text) if random.below(4) > 0 && !words.is_empty() => {
            text.clone_from(&words[random.below(words.len())]);
        }
        Value::Bool(flag) if random.below(4) > 0 => *flag = !*flag,
        other => *other = odd_value(random),
    }
}

/// Changes one tensor: a cell, all cells, the shape, the length with matching bytes, the type, its presence.
fn change_tensor(tensors: &mut BTreeMap<String, Tensor>, random: &mut Random) {
    let Some(name) = tensors.keys().nth(random.below(tensors.len().max(1))).cloned() else {
        return;
    };
    let mut tensor = tensors.remove(&name).unwrap();
    let n_cells = tensor.bytes.len() / 8;
    match random.below(16) {
        0 => tensor.shape.reverse(),
        1 => tensor.shape = vec![tensor.bytes.len() as u64 / 8],
        2 => tensor.shape.push(1),
        3 => {
            let n = random.below(5) as u64;
            let width: u64 = tensor.shape.iter().skip(1).product::<u64>().min(64);
            if let Some(first) = tensor.shape.first_mut() {
                *first = n;
                tensor.bytes.resize((8 * n * width) as usize, 0);
            }
        }
        4 => tensor.shape = vec![u64::from(u32::MAX), u64::from(u32::MAX), 8],
        5 => tensor.dtype = ["F64", "I64", "F32", "U8", "BOOL"][random.below(5)].to_owned(),
        6 => return,
        7 => tensor.bytes.fill(0),
        8 => tensor.bytes.fill(0xff),
        9 => {
            // The bytes of another tensor of the same length.
            let same = |t: &&Tensor| t.bytes.len() == tensor.bytes.len();
            if let Some(other) = tensors.values().find(same) {
                tensor.bytes = other.bytes.clone();
            }
        }
        _ if n_cells > 0 => {
            let cell = 8 * random.below(n_cells);
            let word: [u8; 8] = tensor.bytes[cell..cell + 8].try_into().unwrap();
            let word = match tensor.dtype.as_str() {
                "I64" => changed_integer(i64::from_le_bytes(word), random).to_le_bytes(),
                _ => changed_number(f64::from_le_bytes(word), random).to_le_bytes(),
            };
            tensor.bytes[cell..cell + 8].copy_from_slice(&word);
        }
        _ => {}
    }
    tensors.insert(name, tensor);
}

/// A file with one to three changes of its structure and a matching checksum; one file in eight is damaged in its raw
/// bytes instead.
fn mutated(kind: &Kind, words: &[String], random: &mut Random) -> Vec<u8> {
    let n_changes = 1 + random.below(3);
    if random.below(8) > 0 {
        let mut parts = kind.parts.clone();
        for _ in 0..n_changes {
            match random.below(2) {
                0 => change_value(&mut parts.description, words, random),
                _ => change_tensor(&mut parts.tensors, random),
            }
        }
        return parts.with_checksum();
    }
    let mut bytes = kind.bytes.clone();
    for _ in 0..n_changes {
        let index = random.below(bytes.len().max(1));
        match random.below(6) {
            0 => bytes.truncate(index),
            1 => bytes.insert(index, random.below(256) as u8),
            2 if index < bytes.len() => drop(bytes.remove(index)),
            3 if bytes.len() >= 8 => {
                bytes[..8].copy_from_slice(&(random.below(1 << 40) as u64).to_le_bytes());
            }
            _ if index < bytes.len() => bytes[index] = random.below(256) as u8,
            _ => {}
        }
    }
    bytes
}

// ------------------------------------------------------------------------------------- the use

/// Everything that users do with a model.
fn use_model(trained: &Trained) {
    let model = trained.fitted.model.as_model();
    let _ = trained.features.names();
    let _ = trained.fitted.certificate.to_string();
    let _ = trained.to_bytes();
    let _ = trained.merge(trained);
    if let Some(stats) = &trained.stats {
        let _ = trained.forget(stats, 1);
    }
    if let Some(densities) = &trained.densities {
        let _ = densities.threshold(0.1);
    }
    let width = trained.features.n_features();
    let zeros = Matrix::zeros((2, width));
    let ones = Matrix::from_elem((2, width), 1.0);
    let csr = sparse(&ones);
    let encoded = trained.features.encode(&texts(), None);
    let encoded = encoded.as_ref().map(|encoded| encoded.rows());
    for rows in [Rows::from(&zeros), Rows::from(&csr)].into_iter().chain(encoded) {
        predict(model, &rows);
        explain_row(model, trained, &rows.row(0));
    }
    let _ = model.cross_validated().map(|model| model.candidates());
    let _ = model.classifier().and_then(|model| model.class_means());
    if let Some(model) = model.generative() {
        let _ = model.sample(2, None, &mut Random::new(1));
    }
}

/// Predictions of every kind: an error, or numbers. Logarithms of probabilities and scores of classes without rows may be
/// `−∞`.
fn predict(model: &dyn Model, rows: &Rows<'_>) {
    if let Some(model) = model.classifier() {
        let _ = model.predict(rows);
    }
    if let Some(model) = model.probabilistic()
        && let Ok(p) = model.log_proba(rows)
    {
        assert!(p.iter().all(|p| !p.is_nan() && *p <= 1e-6), "log probabilities {p}");
    }
    if let Some(model) = model.generative() {
        let _ = model.log_density(rows);
    }
    if let Some(model) = model.regressor()
        && let Ok(y) = model.predict_many(rows)
    {
        assert!(y.iter().all(|y| y.is_finite()), "predictions {y}");
    }
    if let Some(model) = model.outlier_detector()
        && let Ok(scores) = model.inlier_scores(rows)
    {
        assert!(scores.iter().all(|s| s.is_finite()), "scores {scores:?}");
    }
    if let Some(model) = model.decision_function()
        && let Ok(decisions) = model.decisions(rows)
    {
        assert!(decisions.iter().all(|s| *s < f64::INFINITY), "decision values {decisions}");
    }
    if let Some(model) = model.clusterer()
        && let Ok(distances) = model.distances(rows)
    {
        assert!(distances.iter().all(|d| !d.is_nan()), "distances {distances}");
        let _ = model.assign(rows);
    }
    if let Some(model) = model.discriminant() {
        let _ = model.distances(rows);
        for name in model.derived_names() {
            let _ = model.derived(name);
        }
    }
    if let Some(model) = model.transformer()
        && let Ok(new) = model.transform(rows)
    {
        assert!(new.iter().all(|v| !v.is_nan()), "transformed rows {new}");
        let _ = model.inverse(&Rows::from(&new));
        let _ = model.feature_names_out(&names(model.n_inputs()));
    }
}

fn explain_row(model: &dyn Model, trained: &Trained, row: &[f64]) {
    let names = names(trained.features.n_features());
    if let Some(model) = model.factorized_likelihood() {
        let _ = explain::explain(model, row, &names);
        let _ = model.n_parameters();
        let _ = model.n_joint_parameters();
    }
    if let Some(able) = model.support_vectors() {
        let _ = able.support_terms(row);
    }
    if model.additive_scores().is_some() {
        let _ = explain::explain_scores(model, row, &names);
    }
    if let Some(model) = model.linear_model() {
        let _ = model.terms();
        let _ = model.summary(&names, 0.95);
    }
}

// ------------------------------------------------------------------------------------- the law

/// Loads and uses a mutated file; the reason if that goes wrong.
fn tried(file: &[u8]) -> std::result::Result<bool, String> {
    LARGEST.set(0);
    let loaded = catch_unwind(AssertUnwindSafe(|| Trained::from_bytes(file)));
    let largest = LARGEST.get();
    if largest > 4 * file.len() + (1 << 20) {
        return Err(format!("loading allocates {largest} bytes for a file of {}", file.len()));
    }
    match loaded {
        Err(_) => Err("loading panics".into()),
        Ok(Err(Error::File(_))) => Ok(false),
        Ok(Err(error)) => Err(format!("an error of the wrong kind: {error:?}")),
        Ok(Ok(trained)) => match catch_unwind(AssertUnwindSafe(|| use_model(&trained))) {
            Ok(()) => Ok(true),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
                Err(format!("using panics: {}", text.unwrap_or_default()))
            }
        },
    }
}

#[test]
fn mutated_files_of_every_kind_are_refused_or_usable() {
    let kinds = kinds();
    assert!(kinds.len() >= CATALOG.len() + 12, "{} kinds", kinds.len());
    let asked = std::env::var("MERCER_MUTATIONS").ok().and_then(|n| n.parse::<u64>().ok());
    let per_kind = asked.map_or(MUTATIONS, |n| n.div_ceil(kinds.len() as u64));
    let seed = asked.map_or(20_000, |n| 7 * n);
    let (n_kinds, steps) = (kinds.len(), Arc::new(AtomicU64::new(0)));
    let now = Arc::new(Mutex::new(String::new()));
    let (counted, current) = (Arc::clone(&steps), Arc::clone(&now));
    let worker = std::thread::spawn(move || {
        let (mut accepted, mut failures) = (0, Vec::new());
        for (k, kind) in kinds.iter().enumerate() {
            let mut words = Vec::new();
            strings(&kind.parts.description, &mut words);
            for m in 0..per_kind {
                let mut random = Random::new(seed + (k as u64) * 1_000_003 + m);
                let file = mutated(kind, &words, &mut random);
                *current.lock().unwrap() = format!("{}, mutation {m}", kind.name);
                match tried(&file) {
                    Ok(ok) => accepted += u64::from(ok),
                    Err(why) => failures.push(format!("{}, mutation {m}: {why}", kind.name)),
                }
                counted.fetch_add(1, Ordering::Relaxed);
            }
        }
        (accepted, failures)
    });
    let (mut seen, mut since) = (0, Instant::now());
    while !worker.is_finished() {
        std::thread::sleep(Duration::from_millis(50));
        let steps = steps.load(Ordering::Relaxed);
        if steps > seen {
            (seen, since) = (steps, Instant::now());
        }
        assert!(since.elapsed() < HANG, "hangs: {}", now.lock().unwrap());
    }
    let (accepted, failures) = worker.join().unwrap();
    let n = per_kind * n_kinds as u64;
    println!("promise 6: {n} mutated model files of {n_kinds} kinds, {} failures", failures.len());
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(steps.load(Ordering::Relaxed), n);
    // Changed names and numbers are valid models too; most changes are not.
    assert!(n / 50 < accepted && accepted < n / 2, "{accepted} of {n} accepted");
}
