//! Preprocessing: from tables to numeric rows, columns by name, one-hot encoding, recipes.

use mercer::bayes::GaussianNb;
use mercer::data::{Column, Kind, Levels, MISSING, UNSEEN, Values};
use mercer::data::{Field, Schema};
use mercer::prelude::*;
use mercer::preprocess::{CategoryEncoding, DropReason, Features, Recipe, Step};
use mercer::train::{Training, train};
use ndarray::array;
use std::sync::Arc;

fn levels(categories: &[&str]) -> Arc<Levels> {
    Arc::new(Levels::new(categories.iter().map(|w| (*w).to_owned()).collect()))
}

fn numeric(name: &str, values: &[f64]) -> Column {
    Column { name: name.into(), values: Values::Numeric(values.to_vec()) }
}

/// A categorical column with its own levels; an empty string is missing.
fn categories(name: &str, values: &[&str]) -> Column {
    let known: Vec<&str> = values.iter().copied().filter(|w| !w.is_empty()).collect();
    let levels = levels(&known);
    let codes =
        values.iter().map(|w| if w.is_empty() { MISSING } else { levels.code(w) }).collect();
    Column { name: name.into(), values: Values::Categorical { codes, levels } }
}

fn booleans(name: &str, values: &[Option<bool>]) -> Column {
    Column { name: name.into(), values: Values::Boolean(values.to_vec()) }
}

fn table(columns: Vec<Column>) -> Table {
    Table::new(columns).unwrap()
}

/// Age, color, member and a class.
fn schema() -> Schema {
    Schema {
        fields: vec![
            Field::numeric("age"),
            Field::categorical("color", levels(&["blue", "green", "red"])),
            Field::new("member", Kind::Boolean),
            Field::categorical("class", levels(&["no", "yes"])),
        ],
    }
}

fn planned(schema: &Schema, target: Option<&str>) -> Features {
    Features::plan(schema, target, CategoryEncoding::OneHot).unwrap().0
}

fn features() -> Features {
    planned(&schema(), Some("class"))
}

fn columns() -> Vec<Column> {
    vec![
        numeric("age", &[30.0, f64::NAN]),
        categories("color", &["red", "blue"]),
        booleans("member", &[Some(true), None]),
        categories("class", &["yes", "no"]),
    ]
}

/// Cells as text, so that missing values compare equal.
fn cells(rows: &Rows<'_>) -> Vec<String> {
    (0..rows.n_rows()).map(|i| format!("{:?}", rows.row(i))).collect()
}

fn recipe(steps: &[&str]) -> Recipe {
    steps.iter().fold(Recipe::default(), |recipe, step| recipe.with(step).unwrap())
}

#[test]
fn a_table_becomes_rows_and_classes() {
    let classes = Classes::from_names(["no", "yes"]);

    let encoded = features().encode(&table(columns()), Some(&classes)).unwrap();

    assert_eq!(features().names(), ["age", "color=blue", "color=green", "color=red", "member"]);
    assert_eq!(features().origins(), [0, 1, 1, 1, 2]);
    assert_eq!(cells(&encoded.rows()), ["[30.0, 0.0, 0.0, 1.0, 1.0]", "[NaN, 1.0, 0.0, 0.0, NaN]"]);
    assert_eq!(encoded.codes, [1, 0]);
    assert_eq!(encoded.n_unseen, 0);
}

#[test]
fn columns_are_found_by_name_in_any_order_and_others_ignored() {
    let mut shuffled = columns();
    shuffled.reverse();
    shuffled.insert(1, numeric("shoe size", &[41.0, 42.0]));

    let straight = features().encode(&table(columns()), None).unwrap();
    let encoded = features().encode(&table(shuffled), None).unwrap();

    assert_eq!(cells(&encoded.rows()), cells(&straight.rows()));
}

#[test]
fn a_missing_column_is_named() {
    let mut short = columns();
    short.remove(1);

    let error = features().encode(&table(short), None).err().unwrap();

    assert_eq!(error, Error::MissingColumn { name: "color".into() });
    assert_eq!(error.to_string(), "column `color` is not in the data");
}

#[test]
fn a_column_of_another_kind_is_named() {
    let mut wrong = columns();
    wrong[0] = categories("age", &["thirty", "n/a"]);

    let error = features().encode(&table(wrong), None).err().unwrap();

    assert_eq!(error.to_string(), "column `age` is categorical, expected numeric");
}

#[test]
fn an_unseen_category_is_counted_and_treated_as_missing() {
    let mut strange = columns();
    strange[1] = categories("color", &["mauve", ""]);

    let encoded = features().encode(&table(strange), None).unwrap();

    assert_eq!(encoded.n_unseen, 1);
    assert_eq!(cells(&encoded.rows()), ["[30.0, NaN, NaN, NaN, 1.0]", "[NaN, NaN, NaN, NaN, NaN]"]);
}

#[test]
fn a_code_without_a_level_is_unseen() {
    let mut strange = columns();
    strange[1].values =
        Values::Categorical { codes: vec![UNSEEN, 1], levels: levels(&["blue", "red"]) };

    let encoded = features().encode(&table(strange), None).unwrap();

    // Code 1 of these levels is red, which has code 2 in the model.
    assert_eq!(encoded.n_unseen, 1);
    assert_eq!(cells(&encoded.rows())[1], "[NaN, 0.0, 0.0, 1.0, NaN]");
}

#[test]
fn booleans_are_one_zero_or_missing() {
    let features = planned(&Schema { fields: vec![Field::new("b", Kind::Boolean)] }, None);
    let flags = table(vec![booleans("b", &[Some(true), Some(false), None])]);

    let encoded = features.encode(&flags, None).unwrap();

    assert_eq!(cells(&encoded.rows()), ["[1.0]", "[0.0]", "[NaN]"]);
}

#[test]
fn rows_with_a_missing_or_unknown_class_are_refused() {
    let classes = Classes::from_names(["no", "yes"]);
    let with_class = |values: &[&str]| {
        let mut columns = columns();
        columns[3] = categories("class", values);
        features().encode(&table(columns), Some(&classes)).err().unwrap()
    };

    assert_eq!(with_class(&["yes", ""]), Error::MissingTarget { row: 1, column: "class".into() });
    let unknown = Error::UnknownClass { class: "maybe".into(), known: "no, yes".into() };
    assert_eq!(with_class(&["maybe", "no"]), unknown);
}

#[test]
fn classes_of_any_type_are_matched() {
    let one_and_two: [Vec<Label>; 3] = [
        vec![Label::Int(1), Label::Int(2)],
        vec![Label::Float(1.0), Label::Float(2.0)],
        vec![Label::from("1"), Label::from("2")],
    ];
    for labels in one_and_two {
        let classes = Classes::new(labels);
        let mut columns = columns();
        columns[3] = categories("class", &["2", "1"]);

        let encoded = features().encode(&table(columns), Some(&classes)).unwrap();

        assert_eq!(encoded.codes, [1, 0], "{classes:?}");
    }
}

#[test]
fn a_table_without_features_is_refused() {
    let text = Schema { fields: vec![Field::new("review", Kind::Text), Field::numeric("stars")] };

    assert_eq!(
        Features::plan(&text, Some("stars"), CategoryEncoding::Auto),
        Err(Error::NoFeatures)
    );
}

#[test]
fn ignored_columns_are_named_with_the_reason() {
    let schema = Schema {
        fields: vec![
            Field::new("review", Kind::Text),
            Field::numeric("stars"),
            Field::categorical("nothing", levels(&[])),
            Field::categorical("color", levels(&["blue", "red"])),
        ],
    };
    let plan = |categories| {
        let (features, left_out) = Features::plan(&schema, None, categories).unwrap();
        (features.names().join(" "), left_out)
    };
    let out = |name: &str, why| (name.to_owned(), why);

    let mut left_out = vec![out("review", DropReason::Text), out("nothing", DropReason::Empty)];
    assert_eq!(
        plan(CategoryEncoding::OneHot),
        ("stars color=blue color=red".to_owned(), left_out.clone())
    );
    assert_eq!(
        plan(CategoryEncoding::Auto),
        ("stars color=blue color=red".to_owned(), left_out.clone())
    );
    left_out.push(out("color", DropReason::Categorical));
    assert_eq!(plan(CategoryEncoding::Drop), ("stars".to_owned(), left_out));
}

#[test]
fn a_recipe_is_fitted_by_a_pass_over_the_stream() {
    let rows = table(vec![
        numeric("x", &[1.0, f64::NAN, 3.0, 8.0]),
        booleans("b", &[Some(true), Some(false), None, Some(true)]),
        categories("c", &["u", "v", "u", ""]),
    ]);
    let schema = Schema {
        fields: vec![
            Field::numeric("x"),
            Field::new("b", Kind::Boolean),
            Field::categorical("c", levels(&["u", "v"])),
        ],
    };
    let fit_recipe = |steps: &[&str]| {
        let features =
            planned(&schema, None).fit(&recipe(steps), &rows, &Monitor::quiet()).unwrap();
        let first: Vec<f64> = {
            let encoded = features.encode(&rows, None).unwrap();
            (0..4).map(|i| encoded.rows().get(i, 0)).collect()
        };
        (features, first)
    };

    // x: mean 4, median 3, from 1 to 8, variance ((−3)² + (−1)² + 4²) / 3 = 26/3.
    assert_eq!(fit_recipe(&["impute=mean"]).1, [1.0, 4.0, 3.0, 8.0]);
    assert_eq!(fit_recipe(&["impute=median"]).1, [1.0, 3.0, 3.0, 8.0]);
    assert_eq!(fit_recipe(&["impute=-1.5"]).1, [1.0, -1.5, 3.0, 8.0]);
    assert_eq!(fit_recipe(&["impute=1", "scale=min-max"]).1, [0.0, 0.0, 2.0 / 7.0, 1.0]);
    let (_, standard) = fit_recipe(&["impute=mean", "scale=standard"]);
    let spread = (26f64 / 3.0).sqrt();
    for (found, expected) in standard.iter().zip([-3.0, 0.0, -1.0, 4.0]) {
        assert!((found - expected / spread).abs() < 1e-15);
    }
    // Bins from 1 to 8 in two: cut at 4.5; b from 0 to 1 cut at 0.5.
    let (binned, low) = fit_recipe(&["bins=equal-width:2"]);
    assert_eq!(binned.names(), ["x<4.5", "x>=4.5", "b<0.5", "b>=0.5", "c=u", "c=v"]);
    assert_eq!(binned.origins(), [0, 0, 1, 1, 2, 2]);
    assert!(low[1].is_nan());
    assert_eq!([low[0], low[2], low[3]], [1.0, 1.0, 0.0]);
}

#[test]
fn a_pass_over_many_chunks_covers_all_rows() {
    let n = 10_000;
    let values: Vec<f64> = (0..n).map(|i| 1e6 + f64::from(i % 101)).collect();
    let rows = table(vec![numeric("x", &values)]);
    let plan = Features::plain(["x".to_owned()]);

    let features = plan.fit(&recipe(&["scale=standard"]), &rows, &Monitor::quiet()).unwrap();

    let mean = 1e6 + values.iter().map(|v| v - 1e6).sum::<f64>() / f64::from(n);
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / f64::from(n);
    let Step::Numeric(step) = &features.steps[0] else { panic!("a number stays one") };
    let (shift, spread) = step.scale.unwrap();
    assert!((shift / mean - 1.0).abs() < 1e-15);
    assert!((spread / variance.sqrt() - 1.0).abs() < 1e-12);
}

#[test]
fn an_infinite_value_is_named_by_its_row_during_the_pass() {
    let mut values = vec![1.0; 10_000];
    values[9_000] = f64::INFINITY;
    let rows = table(vec![numeric("y", &vec![2.0; 10_000]), numeric("x", &values)]);
    let plan = Features::plain(["y".to_owned(), "x".to_owned()]);

    let error = plan.fit(&recipe(&["impute=mean"]), &rows, &Monitor::quiet()).unwrap_err();

    assert_eq!(error, Error::NotFinite { row: 9_000, column: 1, value: f64::INFINITY });
}

#[test]
fn a_pass_obeys_its_monitor() {
    let rows = table(vec![numeric("x", &vec![1.0; 10_000])]);
    let plan = Features::plain(["x".to_owned()]);
    let late = Monitor::quiet().time_limit(std::time::Duration::ZERO);
    let poor = Monitor::quiet().memory_limit(1000);

    let stopped = plan.clone().fit(&recipe(&["impute=mean"]), &rows, &late);
    let refused = plan.clone().fit(&recipe(&["impute=median"]), &rows, &poor);

    assert_eq!(stopped, Err(Error::Stopped));
    assert!(matches!(refused, Err(Error::Memory { budget: 1000, .. })));
    // A recipe without fitted steps needs no pass, so there is nothing to stop.
    assert_eq!(plan.clone().fit(&Recipe::default(), &rows, &late), Ok(plan));
}

#[test]
fn a_column_without_values_survives_every_recipe() {
    let rows = table(vec![numeric("x", &[f64::NAN; 3]), numeric("y", &[1.0, 2.0, 3.0])]);
    for steps in [
        &["impute=mean"][..],
        &["impute=median", "scale=standard"],
        &["scale=min-max"],
        &["bins=equal-width:3"],
        &["impute=0", "bins=equal-frequency:3"],
    ] {
        let plan = Features::plain(["x".to_owned(), "y".to_owned()]);

        let features = plan.fit(&recipe(steps), &rows, &Monitor::quiet()).unwrap();

        assert_eq!(features.check(), Ok(()));
        let encoded = features.encode(&rows, None).unwrap();
        let width = features.n_features();
        assert_eq!(encoded.rows().n_columns(), width);
        assert!(!encoded.rows().get(0, width - 1).is_nan());
    }
}

#[test]
fn values_near_overflow_give_no_invalid_step() {
    let rows = table(vec![numeric("x", &[-1.7e308, 1.7e308, 0.0])]);
    for steps in [&["bins=equal-width:4"][..], &["scale=min-max"], &["scale=standard"]] {
        let plan = Features::plain(["x".to_owned()]);

        // Either an error or a usable step, never one that cannot be saved.
        if let Ok(features) = plan.fit(&recipe(steps), &rows, &Monitor::quiet()) {
            assert_eq!(features.check(), Ok(()), "{steps:?}: {:?}", features.steps);
        }
    }
}

#[test]
fn a_sparse_column_stays_sparse() {
    let x = crate::cases::sparse(&array![[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]);
    let bundle = Column { name: "features".into(), values: Values::Sparse(x) };
    let mut field = Field::new("features", Kind::Sparse);
    field.width = 3;

    let features = planned(&Schema { fields: vec![field.clone()] }, None);
    let encoded = features.encode(&table(vec![bundle]), None).unwrap();

    assert!(matches!(encoded.rows(), Rows::Sparse(_)));
    assert_eq!(features.names(), ["f1", "f2", "f3"]);
    let beside = Schema { fields: vec![field, Field::numeric("x")] };
    assert!(matches!(
        Features::plan(&beside, None, CategoryEncoding::Auto),
        Err(Error::Kind { .. })
    ));
}

#[test]
fn a_mixed_table_trains_and_predicts_by_name() {
    let species = ["cat", "dog", "cat", "dog", "cat", "dog", "dog", "cat"];
    let rows = table(vec![
        numeric("weight", &[4.0, 20.0, 3.5, 25.0, f64::NAN, 30.0, 18.0, 5.0]),
        categories("sound", &["miau", "wau", "miau", "wau", "miau", "wau", "", "miau"]),
        booleans("barks", &species.map(|s| Some(s == "dog"))),
        categories("species", &species),
    ]);
    let fields = rows
        .columns()
        .iter()
        .map(|column| match &column.values {
            Values::Categorical { levels, .. } => Field::categorical(&column.name, levels.clone()),
            values => Field::new(&column.name, values.kind()),
        })
        .collect();
    let classes = Classes::from_names(["cat", "dog"]);
    let training = Training {
        estimator: GaussianNb::new().into(),
        features: planned(&Schema { fields }, Some("species")),
        task: mercer::train::Task::Classification(&classes),
        n_rows: None,
        n_folds: 2,
        seed: 1,
        recipe: mercer::preprocess::Recipe::default(),
    };

    let outcome = train(training, &rows, &Monitor::quiet()).unwrap();

    assert_eq!(outcome.evaluation.unwrap().n_rows(), 8);
    let features = &outcome.trained.features;
    let other = table(vec![
        categories("sound", &["quak"]),
        numeric("weight", &[4.2]),
        booleans("barks", &[Some(false)]),
    ]);
    let encoded = features.encode(&other, None).unwrap();
    let model = outcome.trained.fitted.model.as_model().classifier().unwrap();
    assert_eq!(encoded.n_unseen, 1);
    assert_eq!(model.predict(&encoded.rows()).unwrap(), [0]);
}
