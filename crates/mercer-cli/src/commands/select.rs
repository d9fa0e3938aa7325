//! The model selection of `mercer train` and `mercer compare`: candidates, rounds and the winner.

use super::columns;
use crate::args::{Compare, Train};
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use mercer::data::{Classes, ColumnProfile, Profile};
use mercer::evaluate::{Evaluation, Metric, Predictions, RegressionEvaluation};
use mercer::preprocess::DroppedColumn;
use mercer::train::select::{
    Candidate, Leaderboard, Round, SelectionOptions, portfolio, select_model,
};
use mercer::train::{ColumnSelection, Outcome, SupervisedTask, Task, Trained};
use mercer_io::Source;
use std::time::Duration;

/// The time for the comparison of candidates, unless the user sets another. Most tables need a few seconds.
const DEFAULT_BUDGET: Duration = Duration::from_secs(60);
/// Folds of the last round for tables of more rows than this; fewer rows have as many as `--folds`.
const MAX_ROWS_OF_MANY_FOLDS: u64 = 1000;
const FEW_FOLDS: usize = 5;

/// Whether the estimator is selected by cross-validation: the user named none, gave no options for one, and allows the
/// time for it.
pub(super) fn is_requested(args: &Train, like: Option<&Trained>) -> bool {
    let named = args.model.is_some() || like.is_some();
    let for_one = !args.settings.is_empty()
        || !args.likelihoods.is_empty()
        || args.features.is_some()
        || args.semi_supervised.unlabeled
        || args.semi_supervised.unlabeled_data.is_some();
    !named && !for_one && args.folds > 1 && args.budget != Some(Duration::ZERO)
}

/// The options of a comparison that commands share.
pub(super) struct Comparison<'a> {
    pub metric: Option<&'a str>,
    pub budget: Option<Duration>,
    pub folds: u16,
    pub seed: u64,
    pub ignore: &'a [String],
    /// The only columns to use, if not empty.
    pub only: &'a [String],
    pub weights: Option<&'a str>,
    pub steps: &'a [String],
    pub unusable: &'a [DroppedColumn],
}

impl<'a> From<&'a Train> for Comparison<'a> {
    fn from(args: &'a Train) -> Self {
        Comparison {
            metric: args.metric.as_deref(),
            budget: args.budget,
            folds: args.folds,
            seed: args.seed,
            ignore: &args.ignore,
            only: &args.texts,
            weights: args.weights.as_deref(),
            steps: &args.prepare,
            unusable: &[],
        }
    }
}

impl<'a> From<&'a Compare> for Comparison<'a> {
    fn from(args: &'a Compare) -> Self {
        Comparison {
            metric: args.metric.as_deref(),
            budget: args.budget,
            folds: args.folds,
            seed: args.seed,
            ignore: &args.ignore,
            only: &args.used,
            weights: args.weights.as_deref(),
            steps: &args.prepare,
            unusable: &[],
        }
    }
}

/// The metric that the user names, or that of the task.
fn metric(name: Option<&str>, task: SupervisedTask) -> Result<Metric> {
    let classes = task == SupervisedTask::Classification;
    let Some(name) = name else {
        return Ok(if classes { Metric::Accuracy } else { Metric::RSquared });
    };
    let metric = Metric::parse(name)?;
    if metric.is_for_classes() == classes {
        return Ok(metric);
    }
    let names = Metric::ALL.iter().filter(|m| m.is_for_classes() == classes);
    let names: Vec<&str> = names.map(|m| m.name()).collect();
    Err(Failure::Usage(format!(
        "--metric {metric}: the task is {task}; choose one of {}",
        names.join(", ")
    )))
}

/// Compares the portfolio of candidates and returns the leaderboard.
pub(super) fn leaderboard(
    asked: &Comparison<'_>,
    (source, profile): (&Source, &Profile),
    target: &ColumnProfile,
    (task, classes): (SupervisedTask, &Classes),
    session: &Session,
) -> Result<Leaderboard> {
    let metric = metric(asked.metric, task)?;
    let task = match task {
        SupervisedTask::Classification => Task::Classification(classes),
        SupervisedTask::Regression => Task::Regression,
    };
    let ignore = columns::left_out(asked.ignore, asked.weights);
    let selection = ColumnSelection { ignore: &ignore, only: asked.only, unusable: asked.unusable };
    let candidates = portfolio(profile, &target.name, task, selection)?;
    let n_folds = usize::from(asked.folds);
    let options = SelectionOptions {
        metric,
        n_folds: if profile.n_rows > MAX_ROWS_OF_MANY_FOLDS {
            n_folds.min(FEW_FOLDS)
        } else {
            n_folds
        },
        seed: asked.seed,
        budget: Some(asked.budget.unwrap_or(DEFAULT_BUDGET)),
        columns: selection,
        weights: asked.weights,
        steps: asked.steps,
    };
    let bar = session.bar("selecting");
    let monitor = session.monitor(&bar);
    session.message(&format!(
        "comparing {} candidates by {metric}, at most {:.0} s (--budget)",
        candidates.len(),
        options.budget.unwrap_or_default().as_secs_f64()
    ));
    let mut on_round = |round: &Round<'_>| bar.suspend(|| session.message(&line(round, metric)));
    let schema = profile.schema();
    let board = select_model(
        candidates,
        &schema,
        profile.n_rows,
        (&target.name, task),
        source,
        &options,
        &monitor,
        &mut on_round,
    );
    bar.finish_and_clear();
    session.check_interrupt()?;
    board.map_err(|e| input::located(e, source, Vec::new))
}

/// A finished round as a line.
fn line(round: &Round<'_>, metric: Metric) -> String {
    let compared = round.rows.iter().filter(|row| row.n_rows == round.n_rows).count();
    let best = round.rows.first().and_then(|row| Some((row.name.as_str(), row.score?)));
    let best = best.map_or_else(
        || "no candidate could be fitted".to_owned(),
        |(name, score)| format!("best {name}: {metric} {score:.4}"),
    );
    format!(
        "  {:5.1} s: {} rows, {} folds, {compared} candidates; {best}",
        round.seconds, round.n_rows, round.n_folds
    )
}

/// The command that trains the winner again.
pub(super) fn command(args: &Train, target: &str, best: &Candidate) -> String {
    let options: Vec<String> = best.options().iter().map(|word| quoted(word)).collect();
    format!("{} {}", command_of_table(args, target), options.join(" "))
}

/// The command that reads the table and its columns as this one does.
pub(super) fn command_of_table(args: &Train, target: &str) -> String {
    let mut words = vec!["mercer".to_owned(), "train".to_owned(), quoted(&args.data)];
    words.extend(["--target".to_owned(), quoted(target)]);
    let repeated =
        [("--text", &args.texts), ("--ignore", &args.ignore), ("--prepare", &args.prepare)];
    for (option, values) in repeated {
        words.extend(values.iter().flat_map(|value| [option.to_owned(), quoted(value)]));
    }
    let text = |name: &String| args.texts.contains(name);
    for (name, of) in args.reading.columns.iter().filter(|(name, _)| !text(name)) {
        words.extend(["--column".to_owned(), quoted(&format!("{name}={of}"))]);
    }
    if args.keep_columns {
        words.push("--keep-columns".to_owned());
    }
    if let Some(weights) = &args.weights {
        words.extend(["--weights".to_owned(), quoted(weights)]);
    }
    words.join(" ")
}

/// A word as a shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./:,+@^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Replaces the scores of a fit by those of the out-of-fold predictions of the comparison.
pub(super) fn set_scores(outcome: &mut Outcome, predictions: &Predictions, classes: &Classes) {
    match predictions {
        Predictions::Classes { truth, predicted, log_proba, .. } => {
            let mut evaluation = Evaluation::new(classes);
            match log_proba {
                Some(log_proba) => evaluation.push(truth, log_proba),
                None => evaluation.push_predictions(truth, predicted, &[]),
            }
            outcome.evaluation = Some(evaluation);
        }
        Predictions::Regression { truth, predicted } => {
            let mut evaluation = RegressionEvaluation::default();
            evaluation.push(truth, predicted);
            outcome.regression = Some(evaluation);
        }
    }
}
