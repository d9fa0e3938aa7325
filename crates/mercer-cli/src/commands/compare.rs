//! `mercer compare`: several estimators on the same folds, and their posteriors or borders in one picture.

use super::train::{
    Columns, asked_texts, check_numbers, find_classes, find_target, recipe_for, refuse_alone,
};
use crate::args::Compare;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::{model_comparison, terminal};
use crate::session::Session;
use mercer::catalog::{Capability, Estimator};
use mercer::data::{Classes, Kind, Stream, Table, Values};
use mercer::evaluate::{ClassificationReport, RegressionReport};
use mercer::model::{Certificate, chunk_rows};
use mercer::train::{Task, Trained, Training, train};
use mercer_io::{Profile, Source};
use serde::Serialize;
use std::ops::ControlFlow;

/// Rows of a picture.
const MOST_POINTS: usize = 5000;

/// How one estimator did.
#[derive(Serialize)]
pub struct Compared {
    pub model: &'static str,
    pub cross_validation: Option<ClassificationReport>,
    pub regression: Option<RegressionReport>,
    pub certificate: Certificate,
    pub seconds: f64,
}

pub fn run(args: Compare, session: &Session) -> Result<()> {
    let estimators = estimators(&args)?;
    let numbers = estimators[0].card().can(Capability::Regressor);
    let source = input::open(&args.data, &args.reading, args.target.as_deref(), session)?;
    let profile = input::profile(&source, session)?;
    let target = find_target(args.target.clone(), &source, &profile)?;
    let classes = match numbers {
        true => {
            check_numbers(target, &source, estimators[0].id())?;
            Classes::default()
        }
        false => find_classes(target, &source, None, false)?,
    };
    let (mut rows, mut models) = (Vec::new(), Vec::new());
    for estimator in estimators {
        let learned =
            learn(&args, estimator, (&source, &profile), &target.name, &classes, session)?;
        rows.push(learned.0);
        models.push(learned.1);
    }
    if let Some(path) = &args.plot {
        let points = points(&models[0], &source, &classes, session)?;
        model_comparison::save_compared(path, &models, &points, &classes)?;
        session.say(&format!("saved {}", path.display()));
    }
    if session.json {
        return session.print_json(&rows);
    }
    terminal::compared(&rows)
}

/// The estimators with their parameters: all for classes, or all for numbers.
fn estimators(args: &Compare) -> Result<Vec<Estimator>> {
    let mut estimators = Vec::new();
    for id in &args.models {
        let mut estimator = Estimator::from_id(id.trim())?;
        refuse_alone(estimator.card())?;
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
            "--set {key}={value}: begin with one of the estimators, as in --set {}.{key}={value}",
            args.models[0]
        )));
    }
    if estimators
        .iter()
        .any(|e| !e.card().can(Capability::Regressor) && !e.card().can(Capability::Classifier))
    {
        return Err(Failure::Usage(
            "only estimators for classes or numbers can be compared".into(),
        ));
    }
    let numbers = |e: &Estimator| e.card().can(Capability::Regressor);
    if estimators.iter().any(|e| numbers(e) != numbers(&estimators[0])) {
        return Err(Failure::Usage(
            "some of the estimators learn classes and some learn numbers; compare like with like"
                .into(),
        ));
    }
    Ok(estimators)
}

/// Learns and judges one of them.
fn learn(
    args: &Compare,
    estimator: Estimator,
    (source, profile): (&Source, &Profile),
    target: &str,
    classes: &Classes,
    session: &Session,
) -> Result<(Compared, Trained)> {
    let card = estimator.card();
    let recipe = recipe_for(card, &args.prepare)?;
    let texts = asked_texts(&args.reading);
    let columns = Columns { ignore: &args.ignore, only: &args.used, by: "--use", texts: &texts };
    let features = columns.plan(profile, Some(target), (card, recipe.words), session)?;
    let bar = session.bar(card.id);
    let monitor = session.monitor(&bar);
    let (features, looked) = features.fit_and_cache_counts(&recipe, source, &monitor)?;
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
    };
    let outcome = train(training, &looked, &monitor);
    bar.finish_and_clear();
    session.check_interrupt()?;
    let outcome = outcome.map_err(|e| input::placed(e, source, || planned.names()))?;
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

/// The rows of the picture: their columns as the table has them, and the codes of their classes.
fn points(
    model: &Trained,
    source: &Source,
    classes: &Classes,
    session: &Session,
) -> Result<Vec<(Vec<f64>, u32)>> {
    let features = &model.features;
    let drawable = features.schema.fields.iter().all(|f| f.kind == Kind::Numeric)
        && (1..=2).contains(&features.schema.fields.len())
        && !classes.is_empty();
    if !drawable {
        return Err(Failure::Usage(
            "--plot draws classes over one or two columns of numbers; name them with --use".into(),
        ));
    }
    let names: Vec<&str> = features.schema.fields.iter().map(|f| f.name.as_str()).collect();
    let mut points = Vec::new();
    let chunk = chunk_rows(features.n_features(), features.layout());
    let mut gather = |table: &Table| -> mercer::Result<()> {
        let codes = features.encode(table, Some(classes))?.codes;
        let numbers = |name: &&str| match &table.column(name)?.values {
            Values::Numeric(numbers) => Some(numbers.as_slice()),
            _ => None,
        };
        let columns: Vec<&[f64]> = names.iter().filter_map(numbers).collect();
        for (i, code) in codes.iter().enumerate() {
            let row: Vec<f64> = columns.iter().map(|column| column[i]).collect();
            if points.len() < MOST_POINTS && row.iter().all(|x| x.is_finite()) {
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
