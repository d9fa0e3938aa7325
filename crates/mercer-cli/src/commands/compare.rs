//! `mercer compare`: several estimators on the same cross-validation folds, and a plot of their posterior
//! probabilities or decision boundaries.

use super::columns::{check_weights, left_out, plan, unusable};
use super::select;
use super::train::{recipe, target_column, target_failure};
use crate::args::Compare;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::plot::model_comparison;
use crate::report::terminal;
use crate::session::Session;
use mercer::catalog::{Capability, Estimator};
use mercer::data::{Classes, Kind, Profile, Stream, Table, Values};
use mercer::evaluate::{ClassificationReport, RegressionReport};
use mercer::model::{Certificate, chunk_rows};
use mercer::preprocess::DroppedColumn;
use mercer::train::select::Candidate;
use mercer::train::{
    ColumnSelection, SupervisedTask, Task, Trained, Training, check_regression_target,
    classes_of_target, train,
};
use mercer_io::Source;
use serde::Serialize;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Compares the candidates of the portfolio, or named ones on other folds than plain ones, and prints the leaderboard.
fn compare_on_folds(
    args: &Compare,
    named: Option<Vec<Candidate>>,
    session: &Session,
) -> Result<()> {
    let source = input::open(&args.data, &args.reading, args.target.as_deref(), session)?;
    let profile = input::profile(&source, session)?;
    let target = target_column(args.target.as_deref(), &source, &profile)?;
    check_weights(args.weights.as_deref(), Some(&target.name), &profile)?;
    let regressor = |c: &Candidate| c.estimator.card().can(Capability::Regressor);
    let of_named = named.as_ref().and_then(|all| all.first()).map(|first| match regressor(first) {
        true => SupervisedTask::Regression,
        false => SupervisedTask::Classification,
    });
    let task = args.task.or(of_named).unwrap_or_else(|| SupervisedTask::infer(target));
    session.message(&format!("task: {task} ({})", task.reason(target)));
    let classes = match task {
        SupervisedTask::Regression => {
            check_regression_target(target, "the portfolio").map(|()| Classes::default())
        }
        SupervisedTask::Classification => classes_of_target(target, false),
    }
    .map_err(|e| target_failure(e, &source))?;
    let rows = (&source, &profile);
    let except = left_out(&args.ignore, args.weights.as_deref());
    let unusable = unusable(&profile, Some(&target.name), &except, &source, session)?;
    let asked = select::Comparison { unusable: &unusable, ..args.into() };
    let board = select::leaderboard(&asked, named, rows, target, (task, &classes), session)?;
    if session.json {
        return session.print_json(&board);
    }
    writeln!(io::stdout(), "{}", terminal::leaderboard(&board))?;
    Ok(())
}

/// Rows of a plot.
const MAX_POINTS: usize = 5000;

/// The scores of one estimator.
#[derive(Serialize)]
pub struct Compared {
    pub model: &'static str,
    pub cross_validation: Option<ClassificationReport>,
    pub regression: Option<RegressionReport>,
    pub certificate: Certificate,
    pub seconds: f64,
}

pub fn run(args: Compare, session: &Session) -> Result<()> {
    args.plot.as_deref().map_or(Ok(()), |path| session.check_output(path))?;
    if args.models.is_empty() {
        return compare_on_folds(&args, None, session);
    }
    let estimators = estimators(&args)?;
    if args.split.is_special() {
        let candidate = |estimator: &Estimator| select::candidate(&args, estimator);
        let named = estimators.iter().map(candidate).collect::<Result<Vec<_>>>()?;
        return compare_on_folds(&args, Some(named), session);
    }
    let regression = estimators[0].card().can(Capability::Regressor);
    let source = input::open(&args.data, &args.reading, args.target.as_deref(), session)?;
    let profile = input::profile(&source, session)?;
    let target = target_column(args.target.as_deref(), &source, &profile)?;
    check_weights(args.weights.as_deref(), Some(&target.name), &profile)?;
    let classes = match regression {
        true => check_regression_target(target, estimators[0].id()).map(|()| Classes::default()),
        false => classes_of_target(target, false),
    }
    .map_err(|e| target_failure(e, &source))?;
    let except = left_out(&args.ignore, args.weights.as_deref());
    let unusable = unusable(&profile, Some(&target.name), &except, &source, session)?;
    let (mut rows, mut models) = (Vec::new(), Vec::new());
    for estimator in estimators {
        let on = (&source, &profile, unusable.as_slice());
        let (scores, model) = fit(&args, estimator, on, &target.name, &classes, session)?;
        rows.push(scores);
        models.push(model);
    }
    if let Some(path) = &args.plot {
        let points = points(&models[0], &source, &classes, session)?;
        model_comparison::save_comparison(path, &models, &points, &classes)?;
        session.message(&format!("saved {}", path.display()));
    }
    if session.json {
        return session.print_json(&rows);
    }
    terminal::compared(&rows)
}

/// The estimators with their parameters: all classifiers, or all regressors.
fn estimators(args: &Compare) -> Result<Vec<Estimator>> {
    let mut estimators = Vec::new();
    for id in &args.models {
        let mut estimator = Estimator::from_id(id.trim())?;
        if estimator.card().is_unsupervised() {
            return Err(Failure::Usage(format!(
                "`{}` is unsupervised; only classifiers and regressors can be compared",
                estimator.id()
            )));
        }
        for (key, value) in &args.settings {
            if let Some(name) = key.strip_prefix(estimator.id()).and_then(|k| k.strip_prefix('.')) {
                estimator = estimator.set_from_str(name, value)?;
            }
        }
        estimators.push(estimator);
    }
    let known = |key: &str| {
        let of = |e: &Estimator| key.strip_prefix(e.id()).is_some_and(|k| k.starts_with('.'));
        estimators.iter().any(of)
    };
    if let Some((key, value)) = args.settings.iter().find(|(key, _)| !known(key)) {
        return Err(Failure::Usage(format!(
            "--set {key}={value}: prefix the parameter with an estimator, as in --set {}.{key}={value}",
            args.models[0]
        )));
    }
    let regressor = |e: &Estimator| e.card().can(Capability::Regressor);
    if estimators.iter().any(|e| regressor(e) != regressor(&estimators[0])) {
        return Err(Failure::Usage(
            "some of the estimators are classifiers and some are regressors; compare one kind"
                .into(),
        ));
    }
    Ok(estimators)
}

/// Fits an estimator and scores it by cross-validation.
fn fit(
    args: &Compare,
    estimator: Estimator,
    (source, profile, unusable): (&Source, &Profile, &[DroppedColumn]),
    target: &str,
    classes: &Classes,
    session: &Session,
) -> Result<(Compared, Trained)> {
    let card = estimator.card();
    let recipe = recipe(&estimator, &args.prepare, None, false)?;
    let ignore = left_out(&args.ignore, args.weights.as_deref());
    let selection = ColumnSelection { ignore: &ignore, only: &args.used, unusable };
    let card_and_encoding = (card, recipe.categories);
    let mut features = plan(selection, "--use", profile, Some(target), card_and_encoding, session)?;
    features.weights = args.weights.clone();
    let bar = session.bar(card.id);
    let monitor = session.monitor(&bar);
    let (features, rows) = features.fit_and_cache_counts(&recipe, source, &monitor)?;
    let planned = features.clone();
    let training = Training {
        estimator,
        features,
        task: if card.can(Capability::Regressor) {
            Task::Regression
        } else {
            Task::Classification(classes)
        },
        n_rows: Some(profile.n_rows),
        n_folds: args.folds.into(),
        seed: args.seed,
        recipe,
    };
    let outcome = train(training, &rows, &monitor);
    bar.finish_and_clear();
    session.check_interrupt()?;
    let outcome = outcome.map_err(|e| input::located(e, source, || planned.names()))?;
    let certificate = outcome.trained.fitted.certificate.clone();
    let compared = Compared {
        model: card.id,
        cross_validation: outcome.evaluation.as_ref().map(|e| e.report()),
        regression: outcome.regression.as_ref().map(|e| e.report()),
        seconds: certificate.seconds,
        certificate,
    };
    Ok((compared, outcome.trained))
}

/// The rows of the plot: their numeric columns and class codes.
fn points(
    model: &Trained,
    source: &Source,
    classes: &Classes,
    session: &Session,
) -> Result<Vec<(Vec<f64>, u32)>> {
    let features = &model.features;
    let plottable = features.schema.fields.iter().all(|f| f.kind == Kind::Numeric)
        && (1..=2).contains(&features.schema.fields.len())
        && !classes.is_empty();
    if !plottable {
        return Err(Failure::Usage(
            "--plot needs a classifier and one or two numeric columns; select them with --use"
                .into(),
        ));
    }
    let names: Vec<&str> = features.schema.fields.iter().map(|f| f.name.as_str()).collect();
    let mut points = Vec::new();
    let chunk = chunk_rows(features.n_features(), features.layout());
    let mut gather = |table: &Table| -> mercer::Result<()> {
        let codes = features.encode(table, Some(classes))?.codes;
        let values = |name: &&str| match &table.column(name)?.values {
            Values::Numeric(values) => Some(values.as_slice()),
            _ => None,
        };
        let columns: Vec<&[f64]> = names.iter().filter_map(values).collect();
        for (i, code) in codes.iter().enumerate() {
            let row: Vec<f64> = columns.iter().map(|column| column[i]).collect();
            if points.len() < MAX_POINTS && row.iter().all(|x| x.is_finite()) {
                points.push((row, *code));
            }
        }
        Ok(())
    };
    source.stream(&features.input_schema(Some(classes)), chunk, &mut |tables| {
        tables.iter().try_for_each(&mut gather)?;
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    session.check_interrupt()?;
    Ok(points)
}
