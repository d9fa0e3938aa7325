//! `mercer tune`: the cross-validated scores of the settings of an estimator.

use super::columns::{check_weights, left_out, unusable};
use super::select::{metric, quoted, require_column};
use super::train::{target_column, target_failure};
use crate::args::{SearchKind, Tune};
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::plot::tuning::save_tuning;
use crate::report::tuning::tuning as describe;
use crate::session::Session;
use mercer::catalog::{Capability, Estimator};
use mercer::data::Classes;
use mercer::train::select::Candidate;
use mercer::train::tune::{Grid, Search, TuneOptions, Tuning, tune};
use mercer::train::{
    ColumnSelection, SupervisedTask, Task, check_regression_target, classes_of_target,
};
use serde_json::json;
use std::io::{self, Write};

pub fn run(args: Tune, session: &Session) -> Result<()> {
    args.plot.as_deref().map_or(Ok(()), |path| session.check_output(path))?;
    let (base, grid) = base_and_grid(&args)?;
    let task = task(&args, &base.estimator)?;
    let source = input::open(&args.data, &args.reading, args.target.as_deref(), session)?;
    let profile = input::profile(&source, session)?;
    let target = target_column(args.target.as_deref(), &source, &profile)?;
    check_weights(args.weights.as_deref(), Some(&target.name), &profile)?;
    for (flag, name) in [("--group", &args.split.group), ("--time", &args.split.time)] {
        require_column(flag, name.as_deref(), &target.name, &profile)?;
    }
    let classes = match task {
        SupervisedTask::Regression => {
            check_regression_target(target, base.estimator.id()).map(|()| Classes::default())
        }
        SupervisedTask::Classification => classes_of_target(target, false),
    }
    .map_err(|e| target_failure(e, &source))?;
    let mut ignore = left_out(&args.ignore, args.weights.as_deref());
    ignore.extend(args.split.group.clone());
    let unusable = unusable(&profile, Some(&target.name), &ignore, &source, session)?;
    let n_settings = match args.search {
        SearchKind::Random => args.trials as usize,
        _ => grid.n_settings(),
    };
    let given = args.folds.is_some() || args.split.is_special();
    let splitting = args.split.splitting(args.folds.unwrap_or(5).into(), args.seed);
    let options = TuneOptions {
        search: match args.search {
            SearchKind::Grid => Search::Grid,
            SearchKind::Random => Search::Random(n_settings),
            SearchKind::Halving => Search::Halving,
        },
        metric: metric(args.metric.as_deref(), task)?,
        splitting: given.then_some(splitting),
        seed: args.seed,
        group: args.split.group.as_deref(),
        time: args.split.time.as_deref(),
        prune: !args.no_prune,
        budget: args.budget,
        columns: ColumnSelection { ignore: &ignore, only: &args.used, unusable: &unusable },
        weights: args.weights.as_deref(),
    };
    let axes: Vec<&str> = grid.axes.iter().map(|axis| axis.name.as_str()).collect();
    session.message(&format!(
        "tuning {} by {}: {n_settings} settings of {}",
        base.estimator.id(),
        options.metric,
        axes.join(", ")
    ));
    let bar = session.bar("tuning");
    let monitor = session.monitor(&bar);
    let of_task = match task {
        SupervisedTask::Classification => Task::Classification(&classes),
        SupervisedTask::Regression => Task::Regression,
    };
    let (schema, on) = (profile.schema(), (target.name.as_str(), of_task));
    let tuning = tune(&base, &grid, &schema, profile.n_rows, on, &source, &options, &monitor);
    bar.finish_and_clear();
    let tuning = tuning.map_err(|e| match e {
        mercer_io::Error::Core(mercer::Error::Stopped) if !session.interrupted() => {
            Failure::Resources(
                "the time ended before any setting was scored; raise --budget or --time-limit"
                    .into(),
            )
        }
        e => input::located(e, &source, Vec::new),
    })?;
    report(&args, &target.name, &tuning, session)
}

/// Prints the settings, saves the plot, and fails afterwards if Ctrl-C ended the search.
fn report(args: &Tune, target: &str, tuning: &Tuning, session: &Session) -> Result<()> {
    if let Some(path) = &args.plot {
        save_tuning(path, tuning)?;
        session.message(&format!("saved {}", path.display()));
    }
    let command = tuning.best().map(|best| command(args, target, &best.candidate));
    if session.json {
        let mut value = serde_json::to_value(tuning)?;
        value["command"] = json!(command);
        value["best"] = value["settings"].get(0).cloned().unwrap_or_default();
        session.print_json(&value)?;
    } else {
        writeln!(io::stdout(), "{}", describe(tuning, command.as_deref()))?;
    }
    session.check_interrupt()
}

/// The estimator with the parameters that all settings share, and the values of the others.
fn base_and_grid(args: &Tune) -> Result<(Candidate, Grid)> {
    let estimator = Estimator::from_id(&args.model)?;
    if estimator.card().is_unsupervised() {
        return Err(Failure::Usage(format!(
            "`{}` is unsupervised; there is no target to tune it by",
            estimator.id()
        )));
    }
    let mut base = Candidate::new(estimator.id())?;
    for (name, text) in &args.settings {
        if args.grid.iter().any(|(known, _)| known == name) {
            return Err(Failure::Usage(format!("`{name}` is in --set and in --grid; remove one")));
        }
        base = base.set_from_str(name, text)?;
    }
    base = args.prepare.iter().fold(base, |base, step| base.step(step));
    if let Some(map) = &args.features {
        base = base.mapped(map);
    }
    let set: Vec<String> = args.settings.iter().map(|(name, _)| name.clone()).collect();
    let grid = match args.grid.is_empty() {
        true => Grid::default_for(&base.estimator, &set)?,
        false => Grid::parse(&base.estimator, &args.grid)?,
    };
    Ok((base, grid))
}

fn task(args: &Tune, estimator: &Estimator) -> Result<SupervisedTask> {
    let own = match estimator.card().can(Capability::Regressor) {
        true => SupervisedTask::Regression,
        false => SupervisedTask::Classification,
    };
    match args.task {
        Some(asked) if asked != own => Err(Failure::Usage(format!(
            "--task {asked}: `{}` is for {own}; choose another --model",
            estimator.id()
        ))),
        _ => Ok(own),
    }
}

/// The command that trains the best setting.
fn command(args: &Tune, target: &str, best: &Candidate) -> String {
    let mut words = vec!["mercer".to_owned(), "train".to_owned(), quoted(&args.data)];
    words.extend(["--target".to_owned(), quoted(target)]);
    words.extend(best.options().iter().map(|word| quoted(word)));
    for (name, kind) in &args.reading.columns {
        words.extend(["--column".to_owned(), quoted(&format!("{name}={kind}"))]);
    }
    words.extend(args.ignore.iter().flat_map(|name| ["--ignore".to_owned(), quoted(name)]));
    if let Some(weights) = &args.weights {
        words.extend(["--weights".to_owned(), quoted(weights)]);
    }
    words.extend(args.split.words().iter().map(|word| quoted(word)));
    words.join(" ")
}
