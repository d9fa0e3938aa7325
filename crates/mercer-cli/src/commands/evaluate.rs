//! `mercer evaluate`: scores a saved model on a table with the target.

use crate::args::Evaluate;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::terminal;
use crate::session::Session;
use mercer::data::Stream;
use mercer::decision::{DecisionRule, Risk, RiskReport};
use mercer::evaluate::{ClassificationReport, Evaluation, RegressionEvaluation};
use mercer::model::chunk_rows;
use mercer::preprocess::Features;
use mercer::train::Trained;
use mercer_num::{Matrix, parallel};
use serde::Serialize;
use std::ops::ControlFlow;

/// The scores of a classifier, and the risk of its decisions if there is a decision rule.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    classification: ClassificationReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<RiskReport>,
}

pub fn run(args: Evaluate, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    check_weights(&args, &model)?;
    if model.fitted.model.as_model().regressor().is_some() {
        return regression(&args, &model, session);
    }
    let classes = input::classes(&model)?;
    let rule = args.decision.rule(&model, session)?;
    // Only weights that the user names are applied, not those of the training data.
    let features = &Features { weights: args.weights.clone(), ..model.features.clone() };
    let source = input::open(&args.data, &args.reading, features.target.as_deref(), session)?;
    let mut evaluation = Evaluation::new(&classes);
    let mut risk = Risk::default();
    let mut n_unseen = 0;
    let chunk = chunk_rows(features.n_features(), features.layout());
    let mut seen = 0;
    source.stream(&features.input_schema(Some(&classes)), chunk, &mut |tables| {
        let scored = parallel::map(tables.len(), |k| {
            let rows = features.encode(&tables[k], Some(&classes))?;
            let able = model.fitted.model.as_model();
            let (mut scores, mut risk) = (Evaluation::new(&classes), Risk::default());
            if let Some(able) = able.probabilistic() {
                let mut log_proba = able.log_proba(&rows.rows())?;
                if let Some(rule) = &rule {
                    risk = decide(rule, &mut log_proba, &rows.codes, &rows.weights)?;
                }
                scores.push_weighted(&rows.codes, &log_proba, &rows.weights);
            } else if let Some(able) = able.classifier() {
                let predicted = able.predict(&rows.rows())?;
                scores.push_predictions(&rows.codes, &predicted, &rows.weights);
            } else {
                return Err(model.estimator.unable("classify"));
            }
            Ok((scores, rows.n_unseen, risk))
        })
        .map_err(|e: mercer::Error| e.after_rows(seen))?;
        for (part, unseen, some) in scored {
            risk.merge(&some);
            evaluation.merge(&part);
            n_unseen += unseen;
        }
        seen += tables.iter().map(|t| t.n_rows()).sum::<usize>();
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    session.check_interrupt()?;
    if n_unseen > 0 {
        session.message(&format!(
            "{n_unseen} cells hold categories that the training data does not; they were ignored"
        ));
    }
    let report = Report { classification: evaluation.report(), decision: risk.report() };
    if session.json {
        return session.print_json(&report);
    }
    terminal::classification(&report.classification)?;
    match &report.decision {
        Some(decision) => terminal::decision(decision),
        None => Ok(()),
    }
}

/// Refuses sample weights that the model reads as a feature or as the target.
fn check_weights(args: &Evaluate, model: &Trained) -> Result<()> {
    let Some(name) = &args.weights else { return Ok(()) };
    let features = &model.features;
    let role = match features.schema.fields.iter().any(|field| field.name == *name) {
        true => "a feature",
        false if features.target.as_ref() == Some(name) => "the target",
        false => return Ok(()),
    };
    Err(Failure::Usage(format!(
        "--weights: column `{name}` is {role} of the model; sample weights need a column of their own"
    )))
}

/// Decides every row, and adjusts its probabilities to the new priors.
fn decide(
    rule: &DecisionRule,
    log_proba: &mut Matrix,
    truth: &[u32],
    weights: &[f64],
) -> mercer::Result<Risk> {
    let mut risk = Risk::default();
    for (i, (mut row, truth)) in log_proba.outer_iter_mut().zip(truth).enumerate() {
        let posterior = row.to_vec();
        let weight = weights.get(i).copied().unwrap_or(1.0);
        let decision = rule.decide(&posterior)?;
        risk.push_weighted(&rule.costs, &decision, Some(*truth as usize), weight);
        row.assign(&ndarray::Array1::from(rule.adjusted(&posterior)?));
    }
    Ok(risk)
}

/// Scores a regressor.
fn regression(args: &Evaluate, model: &Trained, session: &Session) -> Result<()> {
    let features = &Features { weights: args.weights.clone(), ..model.features.clone() };
    let Some(regressor) = model.fitted.model.as_model().regressor() else {
        return Err(model.estimator.unable("predict a regression target").into());
    };
    // Decision options need classes and are refused here.
    args.decision.rule(model, session)?;
    let source = input::open(&args.data, &args.reading, features.target.as_deref(), session)?;
    let mut evaluation = RegressionEvaluation::default();
    let chunk = chunk_rows(features.n_features(), features.layout());
    let mut seen = 0;
    let done = source.stream(&features.regression_schema(), chunk, &mut |tables| {
        let scored = parallel::map(tables.len(), |k| {
            let rows = features.encode_regression(&tables[k])?;
            let predicted = regressor.predict(&rows.rows())?;
            Ok((rows.targets, predicted, rows.weights))
        })
        .map_err(|e: mercer::Error| e.after_rows(seen))?;
        for (truth, predicted, weights) in &scored {
            evaluation.push_weighted(truth, predicted, weights);
        }
        seen += tables.iter().map(|t| t.n_rows()).sum::<usize>();
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    done.map_err(|e| input::located(e, &source, || features.encoded_names()))?;
    session.check_interrupt()?;
    let report = evaluation.report();
    if session.json {
        return session.print_json(&report);
    }
    terminal::regression(&report)
}
