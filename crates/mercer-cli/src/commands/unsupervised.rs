//! Unsupervised training: outlier detection, clustering and transformations.

use super::columns::{check_weights, left_out, plan, unusable};
use super::train::{Findings, finish, fold_recipe, named, recipe, show_steps, with_settings};
use crate::args::Train;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::terminal;
use crate::session::Session;
use mercer::catalog::Capability;
use mercer::data::Profile;
use mercer::train::{Choice, ColumnSelection, Task, Trained, Training, train};
use mercer_io::Source;

/// The estimator that the user names, if it is unsupervised.
pub(super) fn requested(args: &Train, like: Option<&Trained>) -> Result<Option<Choice>> {
    let Some(Choice { estimator, reason }) = named(args, like)? else { return Ok(None) };
    match estimator.card().is_unsupervised() {
        true => Ok(Some(Choice { estimator: with_settings(args, estimator)?, reason })),
        false => Ok(None),
    }
}

/// Fits an unsupervised estimator, saves the model and reports.
pub(super) fn train_unsupervised(
    args: &Train,
    Choice { estimator, reason }: Choice,
    like: Option<Trained>,
    source: &Source,
    profile: &Profile,
    session: &Session,
) -> Result<()> {
    let id = estimator.id();
    let semi_supervised = &args.semi_supervised;
    if semi_supervised.unlabeled
        || semi_supervised.unlabeled_data.is_some()
        || !args.decision.is_empty()
    {
        return Err(Failure::Usage(format!(
            "--unlabeled, --cost, --reject and --prior need a classifier; `{id}` is unsupervised"
        )));
    }
    let target = unused_target(args, source, profile)?;
    check_weights(args.weights.as_deref(), None, profile)?;
    if !session.json {
        session.message(&terminal::profile(profile, ""));
    }
    session.message(&format!("estimator: {id} ({reason})"));
    if let Some(name) = &target {
        session.message(&format!("dropped columns: `{name}` ({id} is unsupervised)"));
    }
    let recipe = recipe(&estimator, &args.prepare, args.features.as_deref(), args.append)?;
    let bar = session.bar("training");
    let monitor = session.monitor(&bar);
    let is_like = like.is_some();
    let features = match like {
        Some(like) => like.features,
        None => {
            let mut ignore = left_out(&args.ignore, args.weights.as_deref());
            let unusable = match args.keep_columns {
                true => Vec::new(),
                false => unusable(profile, target.as_deref(), &ignore, source, session)?,
            };
            ignore.extend(target);
            let selection =
                ColumnSelection { ignore: &ignore, only: &args.texts, unusable: &unusable };
            let card = (estimator.card(), recipe.categories);
            let mut planned = plan(selection, "--text", profile, None, card, session)?;
            planned.weights = args.weights.clone();
            let fitted = planned.clone().fit(&recipe, source, &monitor);
            fitted.map_err(|e| input::located(e, source, || planned.encoded_names()))?
        }
    };
    show_steps(&features, session);
    // Only outlier detectors have held-out scores: the fraction of outliers.
    let detects = estimator.card().can(Capability::OutlierDetector);
    let training = Training {
        estimator,
        features: features.clone(),
        task: Task::Unsupervised,
        n_rows: Some(profile.n_rows),
        n_folds: if detects { args.folds.into() } else { 0 },
        seed: args.seed,
        recipe: fold_recipe(recipe, is_like),
    };
    let outcome = train(training, source, &monitor);
    bar.finish_and_clear();
    if outcome.is_err() || !args.keep_best {
        session.check_interrupt()?;
    }
    let outcome = outcome.map_err(|e| input::located(e, source, || features.encoded_names()))?;
    finish(args, session, profile, (&reason, None), Findings::default(), outcome, Vec::new())
}

/// The target column that is not used: the one that the user names, or the labels that the format carries.
fn unused_target(args: &Train, source: &Source, profile: &Profile) -> Result<Option<String>> {
    let target = args.target.as_deref().or(source.label_column());
    let target = target.filter(|name| profile.column(name).is_some());
    match (&args.target, target) {
        (Some(name), None) => {
            Err(Failure::Data(format!("{} has no column `{name}`", source.name())))
        }
        (_, target) => Ok(target.map(str::to_owned)),
    }
}

/// A short list of the columns.
pub(super) fn summarized(columns: &[String]) -> String {
    match columns {
        [first, .., last] if columns.len() > 4 => {
            format!("{} columns, {first} to {last}", columns.len())
        }
        few => few.join(", "),
    }
}
