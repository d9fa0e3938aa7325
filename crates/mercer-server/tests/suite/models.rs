//! Models for the tests, trained on the tables of the repository.

use mercer::catalog::{Capability, Estimator};
use mercer::prelude::*;
use mercer::preprocess::Recipe;
use mercer::train::{
    ColumnSelection, Task, Trained, Training, classes_of_target, recipe_for, train,
};
use mercer_io::{Options, Source};
use std::path::{Path, PathBuf};

/// A table of the repository.
pub fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data").join(name)
}

/// A model of a table, with the default preprocessing of the estimator.
pub fn trained(id: &str, table: &str, target: Option<&str>, ignore: &[&str]) -> Trained {
    let mut estimator = Estimator::from_id(id).unwrap();
    if id == "qda" {
        // One-hot encoded columns are collinear within a class.
        estimator = estimator.set_from_str("reg_param", "0.1").unwrap();
    }
    let options = Options { target: target.map(str::to_owned), ..Options::default() };
    let source = Source::open(example(table).to_str().unwrap(), &options).unwrap();
    let profile = source.profile(&|_, _| true).unwrap();
    let recipe = recipe_for(&estimator, Recipe::default()).unwrap();
    let ignore: Vec<String> = ignore.iter().map(|name| (*name).to_owned()).collect();
    let selection = ColumnSelection { ignore: &ignore, only: &[], unusable: &[] };
    let card = estimator.card();
    let planned = selection.plan(profile.schema(), target, card, recipe.categories).unwrap();
    let features = planned.features.fit(&recipe, &source, &Monitor::quiet()).unwrap();
    let classifies = card.can(Capability::Classifier);
    let classes = match target {
        Some(target) if classifies => {
            classes_of_target(profile.column(target).unwrap(), false).unwrap()
        }
        _ => Classes::default(),
    };
    let task = match target {
        Some(_) if classifies => Task::Classification(&classes),
        Some(_) => Task::Regression,
        None => Task::Unsupervised,
    };
    let n_folds = if card.can(Capability::Generative) { 3 } else { 0 };
    let training = Training { estimator, features, task, n_rows: None, n_folds, seed: 1, recipe };
    train(training, &source, &Monitor::quiet()).unwrap().trained
}

/// A model of numbers, categories and missing values, with a density.
pub fn penguins() -> Trained {
    trained("mixed-nb", "penguins.csv", Some("species"), &[])
}

/// A linear classifier of four numbers.
pub fn iris() -> Trained {
    trained("logistic", "iris.csv", Some("species"), &[])
}
