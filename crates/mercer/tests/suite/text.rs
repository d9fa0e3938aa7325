//! Text columns of tables: streaming, weighting, saving.

use mercer::catalog::Estimator;
use mercer::data::{Classes, Column, Kind, Levels, Stream, Table, Values};
use mercer::data::{Field, Schema};
use mercer::model::Monitor;
use mercer::preprocess::{CategoryEncoding, Features, KnownTerms, Reads, Recipe, Step};
use mercer::text::{Analyzer, Hashing, Idf, Norm, Selection, Sign, Weighting, count_terms};
use mercer::train::{Outcome, Task, Trained, Training, train};
use std::sync::Arc;

const MAILS: [(&str, &str); 6] = [
    ("win a prize now", "spam"),
    ("cheap prize money", "spam"),
    ("win win win money", "spam"),
    ("lunch at noon", "ham"),
    ("notes of the meeting", "ham"),
    ("meeting moved to noon", "ham"),
];

fn table() -> (Table, Schema) {
    let levels = Arc::new(Levels::new(vec!["ham".into(), "spam".into()]));
    let texts = MAILS.iter().map(|m| Some(m.0.to_owned())).collect();
    let codes = MAILS.iter().map(|m| levels.code(m.1)).collect();
    let values = Values::Categorical { codes, levels: Arc::clone(&levels) };
    let column = |name: &str, values| Column { name: name.into(), values };
    let table = Table::new(vec![column("body", Values::Text(texts)), column("label", values)]);
    let fields = vec![Field::new("body", Kind::Text), Field::categorical("label", levels)];
    (table.unwrap(), Schema { fields })
}

fn features(steps: &[&str]) -> Features {
    let (table, schema) = table();
    let recipe = steps.iter().try_fold(Recipe::default(), |recipe, step| recipe.with(step));
    let (features, _) =
        Features::plan_for(&schema, Some("label"), CategoryEncoding::Auto, Reads::Counts).unwrap();
    features.fit(&recipe.unwrap(), &table, &Monitor::quiet()).unwrap()
}

fn trained(steps: &[&str]) -> Trained {
    let classes = Classes::from_names(["ham", "spam"]);
    let training = Training {
        estimator: Estimator::from_id("multinomial-nb").unwrap(),
        features: features(steps),
        task: Task::Classification(&classes),
        n_rows: Some(6),
        n_folds: 2,
        seed: 1,
        recipe: mercer::preprocess::Recipe::default(),
    };
    train(training, &table().0, &Monitor::quiet()).unwrap().trained
}

#[test]
fn streamed_weights_equal_those_in_memory() {
    let texts: Vec<&str> = MAILS.iter().map(|m| m.0).collect();
    let counts = count_terms(&texts, &Analyzer::default(), &Monitor::quiet()).unwrap();
    let idf = Idf::Smooth.weights(counts.document_frequencies(), 6);
    let keep = counts.keep(&Selection::default()).unwrap();
    let (vocabulary, mut rows) = counts.select(&keep);
    Weighting::TF_IDF.apply(&mut rows, &idf);
    let expected = rows.into_sparse().to_dense();

    let features = features(&["text=tf-idf"]);
    let encoded = features.encode(&table().0, None).unwrap();

    assert_eq!(features.names(), vocabulary.terms().collect::<Vec<_>>());
    for (i, row) in expected.outer_iter().enumerate() {
        assert_eq!(encoded.rows().row(i), row.to_vec());
    }
}

#[test]
fn a_loaded_model_classifies_raw_text() {
    for steps in
        [&[][..], &["text=tf-idf", "ngrams=1-2"], &["hash=256"], &["hash=256", "idf=plain"]]
    {
        let model = trained(steps);

        let again = Trained::from_bytes(&model.to_bytes().unwrap()).unwrap();

        assert_eq!(again, model);
        let rows = again.features.encode(&table().0, None).unwrap();
        let classifier = again.fitted.model.as_model();
        let codes = classifier.classifier().unwrap().predict(&rows.rows()).unwrap();
        assert_eq!(codes, [1, 1, 1, 0, 0, 0], "{steps:?}");
    }
}

#[test]
fn a_vocabulary_is_compressed_and_corruption_is_detected() {
    let model = trained(&[]);
    let bytes = model.to_bytes().unwrap();
    let name = b"features.steps.0.text.terms.vocabulary.vocabulary";
    assert!(bytes.windows(name.len()).any(|part| part == name), "the vocabulary is a tensor");

    let mut broken = model;
    let Step::Text(step) = &mut broken.features.steps[0] else { panic!("no text") };
    let KnownTerms::Vocabulary(counts) = &mut Arc::make_mut(step).terms else { panic!("no words") };
    counts.frequencies[0] = 7;

    let refused = Trained::from_bytes(&broken.to_bytes().unwrap()).unwrap_err();
    assert!(refused.to_string().contains("document frequencies are inconsistent"), "{refused}");
}

#[test]
fn invalid_text_steps_are_refused_by_name() {
    for (step, expected_text) in [
        ("ngrams=2-1", "a range like 1-2"),
        ("min-df=0", "a number of documents"),
        ("max-df=1.5", "a fraction like 0.1"),
        ("hash=0", "from 1 to 2147483647"),
        ("hash=2^31", "from 2^0 to 2^30"),
        ("hash-sign=minus", "positive, alternate"),
        ("pattern=(", "regular expression"),
        ("idf=rare", "information-plus-one"),
        ("soup=hot", "stop-words"),
    ] {
        let refused = Recipe::default().with(step).unwrap_err().to_string();
        assert!(refused.contains(expected_text), "{step}: {refused}");
    }
}

#[test]
fn hashed_terms_have_signs_if_requested() {
    let texts: Vec<&str> = MAILS.iter().map(|m| m.0).collect();
    let hashing = Hashing { n_features: 16, sign: Sign::Alternate };
    let mut rows = hashing.count(&texts, &Analyzer::default(), &Monitor::quiet()).unwrap();
    let weighting = Weighting { norm: Norm::L2, ..Weighting::default() };
    weighting.apply(&mut rows, &[]);
    let expected = rows.into_sparse().to_dense();

    let features = features(&["hash=2^4", "hash-sign=alternate", "norm=l2"]);
    let encoded = features.encode(&table().0, None).unwrap();

    assert!(expected.iter().any(|x| *x < 0.0));
    for (i, row) in expected.outer_iter().enumerate() {
        assert_eq!(encoded.rows().row(i), row.to_vec());
    }
}

#[test]
fn invalid_hashing_options_are_refused() {
    let (table, schema) = table();
    for (steps, expected_text) in [
        (&["hash-sign=alternate"][..], "together with `hash=N`"),
        (&["hash=64", "min-df=2"], "without min-df"),
        (&["hash=64", "hash-sign=alternate", "tf=log"], "no logarithm"),
    ] {
        let recipe = steps.iter().try_fold(Recipe::default(), |recipe, step| recipe.with(step));
        let (features, _) =
            Features::plan_for(&schema, Some("label"), CategoryEncoding::Auto, Reads::Counts)
                .unwrap();

        let refused = features.fit(&recipe.unwrap(), &table, &Monitor::quiet()).unwrap_err();

        assert!(refused.to_string().contains(expected_text), "{refused}");
    }
}

/// The mails repeated to `n` rows.
fn many(n: usize) -> Table {
    let (one, _) = table();
    let columns = one.columns().iter().map(|column| {
        let values = match &column.values {
            Values::Text(texts) => Values::Text(texts.iter().cycle().take(n).cloned().collect()),
            Values::Categorical { codes, levels } => Values::Categorical {
                codes: codes.iter().cycle().take(n).copied().collect(),
                levels: Arc::clone(levels),
            },
            other => other.clone(),
        };
        Column { name: column.name.clone(), values }
    });
    Table::new(columns.collect()).unwrap()
}

#[test]
fn out_of_core_learning_does_not_depend_on_threads() {
    let (texts, classes) = (many(5000), Classes::from_names(["ham", "spam"]));
    for id in ["sgd", "perceptron", "passive-aggressive"] {
        let learn = |threads: usize, memory: u64| {
            let training = Training {
                estimator: Estimator::from_id(id).unwrap(),
                features: features(&["hash=256", "hash-sign=alternate", "norm=l2"]),
                task: Task::Classification(&classes),
                n_rows: Some(5000),
                n_folds: 3,
                seed: 1,
                recipe: mercer::preprocess::Recipe::default(),
            };
            let monitor = Monitor::quiet().memory_limit(memory);
            mercer_num::parallel::with_threads(threads, || train(training, &texts, &monitor))
        };

        let (one, two) = (learn(1, 400_000).unwrap(), learn(2, 400_000).unwrap());
        let together = learn(2, 1 << 30).unwrap();

        assert_eq!(one.trained.fitted, two.trained.fitted, "{id}");
        assert_eq!(one.evaluation, two.evaluation, "{id}");
        let how = |outcome: &Outcome| outcome.trained.fitted.certificate.to_string();
        assert!(how(&one).contains("read in blocks"), "{}", how(&one));
        assert!(!how(&together).contains("read in blocks"), "{}", how(&together));
        let accuracy = one.evaluation.unwrap().report().accuracy.value;
        assert_eq!(accuracy, 1.0, "{id}");
        assert_eq!(one.trained.fitted.certificate.rows, 5000);
    }
}

#[test]
fn counts_of_batches_merge_to_the_whole() {
    let (texts, classes) = (many(3000), Classes::from_names(["ham", "spam"]));
    let features = features(&["hash=256"]);
    let estimator = Estimator::from_id("multinomial-nb").unwrap();
    let rows = features.encode(&texts, Some(&classes)).unwrap();
    let whole = estimator.fit(&rows.dataset(&classes).unwrap(), &Monitor::quiet()).unwrap();

    let training = Training {
        estimator,
        features,
        task: Task::Classification(&classes),
        n_rows: Some(3000),
        n_folds: 5,
        seed: 1,
        recipe: mercer::preprocess::Recipe::default(),
    };
    let outcome = train(training, &texts, &Monitor::quiet()).unwrap();

    assert_eq!(outcome.trained.fitted.model, whole.model);
    assert_eq!(outcome.evaluation.unwrap().n_rows(), 3000);
}

#[test]
fn cached_counts_give_the_model_of_a_second_pass() {
    let (texts, classes) = (many(3000), Classes::from_names(["ham", "spam"]));
    let (_, schema) = table();
    let recipe = ["text=tf-idf", "ngrams=1-2", "min-df=2"];
    let recipe = recipe.iter().try_fold(Recipe::default(), |recipe, step| recipe.with(step));
    let recipe = recipe.unwrap();
    for (id, n_folds) in [("linear-svc", 0), ("multinomial-nb", 3), ("sgd", 3)] {
        let learn = |threads: usize, memory: u64| {
            mercer_num::parallel::with_threads(threads, || {
                let monitor = Monitor::quiet().memory_limit(memory);
                let (plan, _) = Features::plan_for(
                    &schema,
                    Some("label"),
                    CategoryEncoding::Auto,
                    Reads::Counts,
                )
                .unwrap();
                let (features, scanned) =
                    plan.fit_and_cache_counts(&recipe, &texts, &monitor).unwrap();
                let training = Training {
                    estimator: Estimator::from_id(id).unwrap(),
                    features,
                    task: Task::Classification(&classes),
                    n_rows: Some(3000),
                    n_folds,
                    seed: 1,
                    recipe: mercer::preprocess::Recipe::default(),
                };
                let outcome = train(training, &scanned, &Monitor::quiet()).unwrap();
                (scanned.n_cached(), outcome.trained.to_bytes().unwrap(), outcome.evaluation)
            })
        };

        let retained = learn(2, 1 << 30);
        let again = learn(2, 400_000);
        let alone = learn(1, 1 << 30);

        assert_eq!((retained.0, again.0, alone.0), (1, 0, 1), "{id}");
        assert!(retained.1 == again.1 && retained.1 == alone.1, "{id}");
        assert_eq!(retained.2, again.2, "{id}");
    }
}

#[test]
fn every_text_column_is_cached_with_missing_values_as_empty() {
    let (levels, n) = (Arc::new(Levels::new(vec!["a".into(), "b".into()])), 200);
    let words = |k: usize| {
        let text = |i: usize| (i % 5 != k).then(|| format!("w{} x{} w{}", i % 7, i % 3, i % 11));
        Values::Text((0..n).map(text).collect())
    };
    let codes = (0..n as u32).map(|i| i % 2).collect();
    let column = |name: &str, values| Column { name: name.into(), values };
    let label = Values::Categorical { codes, levels: Arc::clone(&levels) };
    let numbers = Values::Numeric((0..n).map(|i| (i % 13) as f64).collect());
    let columns = vec![
        column("first", words(1)),
        column("label", label),
        column("size", numbers),
        column("second", words(2)),
    ];
    let rows = Table::new(columns).unwrap();
    let fields = vec![
        Field::new("first", Kind::Text),
        Field::categorical("label", levels),
        Field::new("size", Kind::Numeric),
        Field::new("second", Kind::Text),
    ];
    let classes = Classes::from_names(["a", "b"]);
    let (plan, _) = Features::plan_for(
        &Schema { fields },
        Some("label"),
        CategoryEncoding::Auto,
        Reads::Counts,
    )
    .unwrap();
    let (features, scanned) =
        plan.fit_and_cache_counts(&Recipe::default(), &rows, &Monitor::quiet()).unwrap();
    let encode = |stream: &dyn Fn(Schema) -> Vec<Table>| -> Vec<Vec<f64>> {
        let tables = stream(features.input_schema(Some(&classes)));
        let rows = tables.iter().flat_map(|table| {
            let encoded = features.encode(table, Some(&classes)).unwrap();
            let x = encoded.rows();
            (0..x.n_rows()).map(|i| x.row(i)).collect::<Vec<_>>()
        });
        rows.collect()
    };

    let retained = encode(&|schema| tables_of(&scanned, &schema));
    let read = encode(&|schema| tables_of(&rows, &schema));

    assert_eq!(scanned.n_cached(), 2);
    assert_eq!(retained.len(), n);
    assert_eq!(retained, read);
}

/// The tables of a stream, 64 rows at a time.
fn tables_of<S: Stream>(stream: &S, schema: &Schema) -> Vec<Table>
where
    S::Error: std::fmt::Debug,
{
    let mut all = Vec::new();
    let take = &mut |tables: Vec<Table>| {
        all.extend(tables);
        Ok(std::ops::ControlFlow::Continue(()))
    };
    stream.stream(schema, 64, take).unwrap();
    all
}
