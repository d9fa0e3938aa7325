//! Rows learned alone, to recognize strangers by: `mercer train` without a target, and what is predicted then.

use super::train::{
    Columns, OWN_TARGET, asked_texts, finish, model_path, named, page_path, with_settings,
};
use crate::args::Train;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::{Paths, terminal};
use crate::session::Session;
use mercer::catalog::{Estimator, Goal, Trained, Training, train};
use mercer::model::Detector;
use mercer::prepare::Recipe;
use mercer_io::{Format, Profile, Source};
use mercer_num::Rows;
use serde_json::json;
use std::fmt::Write as _;

/// What a row is called.
const NAMES: [&str; 2] = ["outlier", "inlier"];

/// The estimator and why, where it is one that learns from rows alone.
pub(super) fn asked_for(
    args: &Train,
    like: Option<&Trained>,
) -> Result<Option<(Estimator, String)>> {
    let Some((estimator, reason)) = named(args, like)? else { return Ok(None) };
    match estimator.card().can("detector") {
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
            let looked = features.look(&recipe, source, &monitor);
            looked.map_err(|e| input::placed(e, source, || planned.cell_names()))?
        }
    };
    let training = Training {
        estimator,
        features,
        goal: Goal::Alone,
        n_rows: Some(profile.n_rows),
        n_folds: args.folds.into(),
        seed: args.seed,
    };
    let features = training.features.clone();
    let outcome = train(training, source, &monitor);
    bar.finish_and_clear();
    if outcome.is_err() || !args.keep_best {
        session.check_interrupt()?;
    }
    let outcome = outcome.map_err(|e| input::placed(e, source, || features.cell_names()))?;
    let paths = Paths { model: model_path(args), page: page_path(args) };
    finish(args, session, profile, &reason, outcome, paths)
}

/// The names of the columns that are written.
pub(super) fn header() -> String {
    "prediction,score\n".to_owned()
}

/// A line a row: whether it is inside, and how far.
pub(super) fn lines(
    model: &dyn Detector,
    rows: &Rows<'_>,
    first_row: usize,
    as_json: bool,
) -> mercer::Result<String> {
    let mut text = String::new();
    for (i, score) in model.inside(rows)?.into_iter().enumerate() {
        let name = NAMES[usize::from(score >= 0.0)];
        // Writing to a string cannot fail.
        match as_json {
            true => {
                let line = json!({"row": first_row + i + 1, "prediction": name, "score": score});
                writeln!(text, "{line}").ok()
            }
            false => writeln!(text, "{name},{}", json!(score)).ok(),
        };
    }
    Ok(text)
}
