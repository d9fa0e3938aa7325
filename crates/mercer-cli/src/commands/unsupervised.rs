//! Rows learned alone: `mercer train` without a target, to recognize strangers, to find clusters or to make
//! new columns, and what is predicted then.

use super::train::{
    Columns, OWN_TARGET, asked_texts, finish, model_path, named, page_path, with_settings,
};
use crate::args::Train;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::{Paths, terminal};
use crate::session::Session;
use mercer::catalog::{Capability, Estimator};
use mercer::preprocess::Recipe;
use mercer::train::{Task, Trained, Training, train};
use mercer_io::{Format, Profile, Source};
use mercer_num::Rows;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// What a row is called.
const NAMES: [&str; 2] = ["outlier", "inlier"];

/// The estimator and why, where it is one that learns from rows alone.
pub(super) fn asked_for(
    args: &Train,
    like: Option<&Trained>,
) -> Result<Option<(Estimator, String)>> {
    let Some((estimator, reason)) = named(args, like)? else { return Ok(None) };
    match estimator.card().is_unsupervised() {
        true => Ok(Some((with_settings(args, estimator)?, reason))),
        false => Ok(None),
    }
}

/// Learns where rows lie, saves and tells.
pub(super) fn train_alone(
    args: &Train,
    (estimator, reason): (Estimator, String),
    like: Option<Trained>,
    source: &Source,
    profile: &Profile,
    session: &Session,
) -> Result<()> {
    let id = estimator.id();
    if args.partly.unlabeled || args.partly.unlabeled_data.is_some() || !args.deciding.is_empty() {
        return Err(Failure::Usage(format!(
            "--unlabeled, --cost, --reject and --prior are about classes, and `{id}` learns from rows alone"
        )));
    }
    // Labels that a file carries, or a column named as the target, have no say.
    let sparse = profile.columns.iter().any(|c| c.kind == mercer::data::Kind::Sparse);
    let carried = sparse || source.format() == Format::Folder;
    let target = args.target.clone().or_else(|| carried.then(|| OWN_TARGET.to_owned()));
    let target = target.filter(|name| profile.columns.iter().any(|c| c.name == *name));
    if let (Some(named), None) = (&args.target, &target) {
        return Err(Failure::Data(format!("{} has no column `{named}`", source.name())));
    }
    if !session.json {
        session.say(&terminal::profile(profile, ""));
    }
    session.say(&format!("{id}: {reason}"));
    if let Some(name) = &target {
        session.say(&format!("not used: `{name}` ({id} learns from rows alone)"));
    }
    let mut recipe =
        args.prepare.iter().try_fold(Recipe::default(), |recipe, step| recipe.with(step))?;
    if let Some(map) = &args.features {
        recipe = recipe.mapped(map)?;
    }
    let bar = session.bar("training");
    let monitor = session.monitor(&bar);
    let features = match like {
        Some(like) => like.features,
        None => {
            let ignore: Vec<String> = args.ignore.iter().cloned().chain(target).collect();
            let texts = asked_texts(&args.reading);
            let columns =
                Columns { ignore: &ignore, only: &args.texts, by: "--text", texts: &texts };
            let card = (estimator.card(), recipe.words);
            let features = columns.plan(profile, None, card, session)?;
            let planned = features.clone();
            let looked = features.fit(&recipe, source, &monitor);
            looked.map_err(|e| input::placed(e, source, || planned.encoded_names()))?
        }
    };
    let judged = estimator.card().can(Capability::OutlierDetector);
    let training = Training {
        estimator,
        features,
        task: Task::Unsupervised,
        n_rows: Some(profile.n_rows),
        // Only of strangers is there a truth to judge by: rows like the others are none.
        n_folds: if judged { args.folds.into() } else { 0 },
        seed: args.seed,
    };
    let features = training.features.clone();
    let outcome = train(training, source, &monitor);
    bar.finish_and_clear();
    if outcome.is_err() || !args.keep_best {
        session.check_interrupt()?;
    }
    let outcome = outcome.map_err(|e| input::placed(e, source, || features.encoded_names()))?;
    let paths = Paths { model: model_path(args), page: page_path(args) };
    finish(args, session, profile, &reason, outcome, paths)
}

/// The names of the columns that are written; `None` for a model that learned a target.
pub(super) fn columns(model: &Trained) -> Option<Vec<String>> {
    let named = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let able = model.fitted.model.as_model();
    if able.outlier_detector().is_some() {
        return named(&["prediction", "score"]);
    }
    if able.clusterer().is_some() {
        return named(&["cluster", "squared_distance"]);
    }
    let map = able.transformer().filter(|_| model.estimator.card().is_unsupervised())?;
    // As Python calls them.
    let class = model.estimator.card().python.rsplit('.').next().unwrap_or_default().to_lowercase();
    let numbered = || (0..map.n_outputs()).map(|k| format!("{class}{k}")).collect();
    Some(map.feature_names_out(&model.features.names()).unwrap_or_else(numbered))
}

/// The columns in a few words.
pub(super) fn in_words(columns: &[String]) -> String {
    match columns {
        [first, .., last] if columns.len() > 4 => {
            format!("{} columns, {first} to {last}", columns.len())
        }
        few => few.join(", "),
    }
}

/// What is said of each row, in the order of the columns.
fn answers(model: &Trained, rows: &Rows<'_>) -> mercer::Result<Vec<Vec<Value>>> {
    let able = model.fitted.model.as_model();
    if let Some(detector) = able.outlier_detector() {
        let said = |score: f64| vec![json!(NAMES[usize::from(score >= 0.0)]), json!(score)];
        return Ok(detector.inlier_scores(rows)?.into_iter().map(said).collect());
    }
    if let Some(clusterer) = able.clusterer() {
        let distances = clusterer.distances(rows)?;
        let nearest = clusterer.assign(rows)?.into_iter().zip(distances.outer_iter());
        return Ok(nearest.map(|(k, row)| vec![json!(k), json!(row[k as usize])]).collect());
    }
    let map = able.transformer().ok_or_else(|| model.estimator.unable("predict"))?;
    let new = map.transform(rows)?;
    Ok(new.outer_iter().map(|row| row.iter().map(|v| json!(v)).collect()).collect())
}

/// A line a row.
pub(super) fn lines(
    model: &Trained,
    columns: &[String],
    rows: &Rows<'_>,
    first_row: usize,
    as_json: bool,
) -> mercer::Result<String> {
    let mut text = String::new();
    for (i, said) in answers(model, rows)?.into_iter().enumerate() {
        if as_json {
            let named = columns.iter().cloned().zip(said);
            let line: Map<String, Value> =
                named.chain([("row".to_owned(), json!(first_row + i + 1))]).collect();
            // Writing to a string cannot fail.
            writeln!(text, "{}", Value::Object(line)).ok();
            continue;
        }
        let cells: Vec<String> = said
            .into_iter()
            .map(|cell| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned))
            .collect();
        text += &cells.join(",");
        text.push('\n');
    }
    Ok(text)
}
