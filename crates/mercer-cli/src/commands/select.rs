//! The model selection of `mercer train` and `mercer compare`: candidates, rounds and the winner.

use super::columns;
use crate::args::{Compare, FoldOptions, Train};
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use mercer::catalog::Estimator;
use mercer::data::{Classes, ColumnProfile, Profile};
use mercer::evaluate::Metric;
use mercer::preprocess::DroppedColumn;
use mercer::train::select::{
    Candidate, DEFAULT_BUDGET, Leaderboard, Round, SelectionOptions, portfolio, portfolio_folds,
    select_model,
};
use mercer::train::{ColumnSelection, SupervisedTask, Task, Trained};
use mercer_io::Source;
use std::time::Duration;

pub(super) use mercer::train::select::shell_word as quoted;

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
    pub split: &'a FoldOptions,
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
            split: &args.split,
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
            split: &args.split,
            ignore: &args.ignore,
            only: &args.used,
            weights: args.weights.as_deref(),
            steps: &args.prepare,
            unusable: &[],
        }
    }
}

/// A named estimator of `mercer compare` as a candidate.
pub(super) fn candidate(args: &Compare, estimator: &Estimator) -> Result<Candidate> {
    let prefix = format!("{}.", estimator.id());
    let own = args.settings.iter().filter_map(|(k, v)| Some((k.strip_prefix(&prefix)?, v)));
    own.into_iter().try_fold(Candidate::new(estimator.id())?, |candidate, (name, text)| {
        Ok(candidate.set_from_str(name, text)?)
    })
}

/// The metric that the user names, or that of the task.
pub(super) fn metric(name: Option<&str>, task: SupervisedTask) -> Result<Metric> {
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

/// Compares candidates, those of the portfolio if none are given, and returns the leaderboard.
pub(super) fn leaderboard(
    asked: &Comparison<'_>,
    candidates: Option<Vec<Candidate>>,
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
    for (flag, name) in [("--group", &asked.split.group), ("--time", &asked.split.time)] {
        require_column(flag, name.as_deref(), &target.name, profile)?;
    }
    let mut ignore = columns::left_out(asked.ignore, asked.weights);
    ignore.extend(asked.split.group.clone());
    let selection = ColumnSelection { ignore: &ignore, only: asked.only, unusable: asked.unusable };
    // Candidates that the user names are all compared on all rows, without the budget of the portfolio.
    let is_portfolio = candidates.is_none();
    let candidates = match candidates {
        Some(candidates) => candidates,
        None => portfolio(&profile.schema(), profile.n_rows, (&target.name, task), selection)?,
    };
    let n_folds = usize::from(asked.folds);
    let n_folds = if is_portfolio { portfolio_folds(profile.n_rows, n_folds) } else { n_folds };
    let options = SelectionOptions {
        metric,
        splitting: asked.split.splitting(n_folds, asked.seed),
        group: asked.split.group.as_deref(),
        time: asked.split.time.as_deref(),
        budget: asked.budget.or(is_portfolio.then_some(DEFAULT_BUDGET)),
        columns: selection,
        weights: asked.weights,
        steps: asked.steps,
    };
    let bar = session.bar("selecting");
    let monitor = session.monitor(&bar);
    let limit = options.budget.map_or_else(String::new, |budget| {
        format!(", at most {:.0} s (--budget)", budget.as_secs_f64())
    });
    session.message(&match candidates.as_slice() {
        [one] => format!("scoring {} by {metric} on {}", one.name(), options.describe_splits()),
        all => format!("comparing {} candidates by {metric}{limit}", all.len()),
    });
    let mut on_round = |round: &Round<'_>| {
        if round.is_finished {
            bar.suspend(|| session.message(&line(round, metric)));
        }
    };
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
    format!("{} {}", command_of_table(args, target), best.command_options())
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
    words.extend(args.split.words().iter().map(|word| quoted(word)));
    words.join(" ")
}

/// Refuses a column that decides about folds but does not exist, has missing values or is the target.
pub(super) fn require_column(
    flag: &str,
    name: Option<&str>,
    target: &str,
    profile: &Profile,
) -> Result<()> {
    let Some(name) = name else { return Ok(()) };
    let Some(column) = profile.column(name) else {
        let names: Vec<&str> = profile.columns.iter().map(|c| c.name.as_str()).collect();
        let known = names.join(", ");
        return Err(Failure::Usage(format!("{flag}: no column `{name}`; the columns are {known}")));
    };
    if name == target {
        return Err(Failure::Usage(format!("{flag}: `{name}` is the target column")));
    }
    match column.first_missing_line {
        Some(line) => Err(Failure::Data(format!(
            "{flag}: column `{name}` has no value in {} rows, first in line {line}; fill in the values or remove these \
             rows",
            column.n_missing
        ))),
        None => Ok(()),
    }
}
