//! The calls of the Train screen: what can be fitted, the plan, a run and its progress.

use super::Message;
use super::code::Snippets;
use super::data::{Data, describe_finding};
use super::run::{Fit, Phase, Request, Run, selection, splitting};
use super::session::Session;
use crate::error::{ApiError, ApiResult};
use mercer::catalog::{CATALOG, Capability, Card, Estimator};
use mercer::evaluate::Metric;
use mercer::train::select::{Candidate, DEFAULT_BUDGET, portfolio};
use mercer::train::{SupervisedTask, choose_estimator};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Candidates of a run that are listed.
const MAX_LISTED: usize = 60;

/// `train.options`: the estimators for the task with their parameters, and the metrics.
pub(super) fn options(session: &Session, _message: Message) -> ApiResult<Value> {
    let data = session.data()?;
    let target = data.target()?;
    let fitting = CATALOG.iter().filter(|card| is_for(card, target.task));
    let column = data.profile.column(&target.name);
    let choice = column.map(|column| {
        let choice = choose_estimator(&data.profile, (column, target.task), &[], false);
        json!({"id": choice.estimator.id(), "reason": choice.reason})
    });
    let classes = target.task == SupervisedTask::Classification;
    let metrics = Metric::ALL.iter().filter(|metric| metric.is_for_classes() == classes);
    Ok(json!({
        "task": target.task.to_string(),
        "target": target.name,
        "reason": target.reason,
        "estimators": fitting.map(describe_card).collect::<Vec<_>>(),
        "baseline_choice": choice,
        "metrics": metrics.map(|metric| metric.name()).collect::<Vec<_>>(),
        "metric": default_metric(target.task).name(),
        "folds": splitting(&data).n_folds,
        "budget": DEFAULT_BUDGET.as_secs(),
    }))
}

fn is_for(card: &Card, task: SupervisedTask) -> bool {
    card.can(match task {
        SupervisedTask::Classification => Capability::Classifier,
        SupervisedTask::Regression => Capability::Regressor,
    })
}

fn default_metric(task: SupervisedTask) -> Metric {
    match task {
        SupervisedTask::Classification => Metric::Accuracy,
        SupervisedTask::Regression => Metric::RSquared,
    }
}

fn describe_card(card: &Card) -> Value {
    let defaults = Estimator::from_id(card.id).map(|e| e.params()).unwrap_or_default();
    let params: Vec<Value> = card
        .specs
        .iter()
        .map(|spec| {
            json!({
                "name": spec.name,
                "doc": spec.doc.trim(),
                "type": spec.value_type(),
                "default": defaults.get(spec.name),
            })
        })
        .collect();
    json!({
        "id": card.id,
        "doc": card.doc.trim(),
        "formula": card.formula,
        "python": card.python,
        "learns": card.learns.sentence(),
        "params": params,
    })
}

/// What the page asks to fit: the portfolio without `candidates`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    #[serde(default)]
    candidates: Option<Vec<Asked>>,
    #[serde(default)]
    row: Option<String>,
    #[serde(default)]
    metric: Option<String>,
    /// Seconds.
    #[serde(default)]
    budget: Option<f64>,
}

/// An estimator with parameters; their values are JSON or text, as in `--set`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    model: String,
    #[serde(default)]
    settings: Map<String, Value>,
}

impl Asked {
    fn candidate(self, task: SupervisedTask) -> ApiResult<Candidate> {
        let mut candidate = Candidate::new(&self.model)?;
        if !is_for(candidate.estimator.card(), task) {
            return Err(ApiError::bad(format!("`{}` is not an estimator for {task}", self.model)));
        }
        for (name, value) in self.settings {
            candidate = match value {
                Value::String(text) => candidate.set_from_str(&name, &text)?,
                value => candidate.set(&name, value)?,
            };
        }
        candidate.estimator.check()?;
        Ok(candidate)
    }
}

impl Start {
    fn request(self, data: &Data) -> ApiResult<Request> {
        let task = data.target()?.task;
        let metric = match &self.metric {
            Some(name) => Metric::parse(name)?,
            None => default_metric(task),
        };
        if metric.is_for_classes() != (task == SupervisedTask::Classification) {
            return Err(ApiError::bad(format!("the metric {metric} is not for {task}")));
        }
        let candidates = self.candidates.map(|asked| {
            asked.into_iter().map(|asked| asked.candidate(task)).collect::<ApiResult<Vec<_>>>()
        });
        let budget = match self.budget {
            Some(seconds) if !(0.1..=86_400.0).contains(&seconds) => {
                return Err(ApiError::bad("the budget is between 0.1 seconds and a day"));
            }
            seconds => seconds.map(Duration::from_secs_f64),
        };
        Ok(Request { candidates: candidates.transpose()?, row: self.row, metric, budget })
    }
}

/// `train.plan`: what a run would do.
pub(super) fn plan(session: &Session, message: Message) -> ApiResult<Value> {
    let start: Start = message.parse()?;
    let data = session.data()?;
    let target = data.target()?;
    let request = start.request(&data)?;
    let candidates = match request.candidates {
        Some(candidates) => candidates,
        None => {
            let on = (target.name.as_str(), target.task());
            portfolio(&data.profile.schema(), data.profile.n_rows, on, selection(&data))?
        }
    };
    let dropped: Vec<Value> = match candidates.first() {
        Some(first) => {
            let recipe = first.recipe(&[])?;
            let (schema, name) = (data.profile.schema(), Some(target.name.as_str()));
            let card = first.estimator.card();
            let planned = selection(&data).plan(schema, name, card, recipe.categories)?;
            let of = |(name, reason): &(String, mercer::preprocess::DropReason)| json!({"name": name, "reason": reason.to_string()});
            planned.dropped.iter().map(of).collect()
        }
        None => Vec::new(),
    };
    let n_folds = splitting(&data).n_folds;
    let one = (candidates.len() == 1).then(|| candidates[0].clone());
    Ok(json!({
        "n_candidates": candidates.len(),
        "candidates": candidates.iter().take(MAX_LISTED).map(Candidate::name).collect::<Vec<_>>(),
        "n_folds": n_folds,
        "n_rows": data.rows.table.n_rows(),
        "is_sample": data.rows.is_partial,
        "all_rows": data.profile.n_rows,
        "metric": request.metric.name(),
        "greater_is_better": request.metric.greater_is_better(),
        "dropped": dropped,
        "code": match one {
            Some(candidate) => Snippets::of_candidate(&data, &candidate),
            None => Snippets::of_selection(&data, request.metric, request.budget),
        },
    }))
}

/// `train.start`: starts a run.
pub(super) fn start(session: &Session, message: Message) -> ApiResult<Value> {
    let start: Start = message.parse()?;
    let data = session.data()?;
    let request = start.request(&data)?;
    Run::start(session, data, request)?;
    Ok(json!({}))
}

/// `train.stop`: ends the phase of the run and keeps the best so far.
pub(super) fn stop(session: &Session, _message: Message) -> ApiResult<Value> {
    if let Some(run) = &session.held().run {
        run.stop();
    }
    Ok(json!({}))
}

/// `train.state`: the progress of the run, and its result.
pub(super) fn state(session: &Session, _message: Message) -> ApiResult<Value> {
    let (run, fit) = {
        let held = session.held();
        (held.run.clone(), held.fit.clone())
    };
    let Some(run) = run else { return Ok(json!({"phase": "none"})) };
    let mut answer = progress(&run);
    if answer["phase"] == "done" {
        answer["fit"] = fit.map_or(Value::Null, |fit| describe_fit(&fit));
    }
    Ok(answer)
}

fn progress(run: &Arc<Run>) -> Value {
    let seconds = run.seconds();
    let state = run.state();
    let convergence = state.convergence;
    json!({
        "phase": state.phase.name(),
        "is_running": !matches!(state.phase, Phase::Done | Phase::Failed),
        "seconds": seconds,
        "seconds_left": state.seconds_left(),
        "done": state.progress.map(|p| p.done),
        "total": state.progress.and_then(|p| p.total),
        "fraction": state.progress.and_then(|p| p.fraction()),
        "round": state.round.map(|(rows, folds)| json!({"n_rows": rows, "n_folds": folds})),
        "candidates": state.candidates,
        "n_candidates": state.n_candidates,
        "curve": state.curve,
        "tolerance": convergence.map(|c| c.tolerance).filter(|t| *t > 0.0),
        "n_support_vectors": convergence.map(|c| c.n_support_vectors).filter(|n| *n > 0),
        "plan": state.plan,
        "messages": state.messages,
        "error": state.error,
    })
}

/// The certificate of a fit, its preprocessing and its findings.
fn describe_fit(fit: &Fit) -> Value {
    let trained = &fit.trained;
    let certificate = &trained.fitted.certificate;
    let mut steps = trained.features.summary();
    steps.extend(trained.features.map.as_ref().map(|map| map.description()));
    json!({
        "name": fit.name,
        "estimator": trained.estimator.id(),
        "doc": trained.estimator.card().doc.trim(),
        "formula": trained.estimator.card().formula,
        "seconds": fit.seconds,
        "certificate": {
            "text": certificate.to_string(),
            "status": certificate.status,
            "status_text": certificate.status.to_string(),
            "is_converged": certificate.status.is_converged(),
            "duality_gap": certificate.duality_gap(),
            "objective": certificate.objective.as_ref().map(|m| json!([m.name, m.value])),
            "dual": certificate.dual,
            "violation": certificate.violation.as_ref().map(|m| json!([m.name, m.value])),
            "condition": certificate.condition,
            "iterations": certificate.iterations,
            "rows": certificate.rows,
            "seconds": certificate.seconds,
            "notes": certificate.notes,
            "plan": certificate.plan.as_ref().map(ToString::to_string),
        },
        "steps": steps,
        "n_features": trained.features.n_features(),
        "findings": fit
            .findings
            .iter()
            .map(|finding| describe_finding(&fit.data, finding))
            .collect::<Vec<_>>(),
        "code": Snippets::of_candidate(&fit.data, &fit.candidate),
    })
}
