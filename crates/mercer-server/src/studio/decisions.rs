//! Decisions: costs, rejection and priors over the held-out predictions of a candidate.
//!
//! The rule of least expected cost is applied to the posterior of every held-out row; the cost is then counted with the
//! true classes. Where priors differ from those of the table, rows are weighted by `new prior / old prior` of their
//! class, so that all figures are those of the new population.

use super::board::Board;
use super::run::Fit;
use super::{Message, Session};
use crate::error::{ApiError, ApiResult};
use mercer::data::Classes;
use mercer::decision::{Action, Costs, DecisionRule, Risk};
use mercer::evaluate::{Evaluation, Predictions};
use mercer::predict::DecisionOptions;
use mercer::prelude::Matrix;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Thresholds on the curve of costs.
const N_THRESHOLDS: usize = 201;
/// Points of a drawn curve.
const MAX_CURVE_POINTS: usize = 400;
/// Classes whose costs are set one by one.
const MAX_CLASSES: usize = 12;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionMessage {
    /// The candidate; the fitted one, or else the best, by default.
    #[serde(default)]
    name: Option<String>,
    /// One row per true class, one column per predicted class; 0-1 loss by default.
    #[serde(default)]
    costs: Option<Vec<Vec<f64>>>,
    /// The cost of a rejection.
    #[serde(default)]
    reject: Option<f64>,
    /// The weights of the priors, one per class; the frequencies of the table by default.
    #[serde(default)]
    priors: Option<Vec<f64>>,
    /// The class of the curves; the second by default.
    #[serde(default)]
    positive: Option<usize>,
}

/// The held-out predictions of a classifier.
struct HeldOut<'a> {
    truth: &'a [u32],
    log_proba: &'a Matrix,
    weights: &'a [f64],
    classes: &'a Classes,
}

/// `decisions`: the costs of a decision rule on held-out rows.
pub(super) fn describe(session: &Session, message: Message) -> ApiResult<Value> {
    let message: DecisionMessage = message.parse()?;
    let board = session.board()?;
    let fit = session.held().fit.clone();
    let name = candidate(&message, &board, fit.as_deref())?;
    let row = board.row(&name)?;
    let held_out = held_out(&board, &name)?;
    let mut answer = held_out.answer(&message)?;
    answer["name"] = json!(name);
    answer["candidates"] = json!(
        board
            .board
            .rows
            .iter()
            .filter(|row| has_probabilities(row.predictions.as_ref()))
            .map(|row| &row.name)
            .collect::<Vec<_>>()
    );
    answer["can_store"] = json!(fit.is_some_and(|fit| fit.name == row.name));
    Ok(answer)
}

/// `decisions.store`: stores the rule in the fitted model.
pub(super) fn store(session: &Session, message: Message) -> ApiResult<Value> {
    let message: DecisionMessage = message.parse()?;
    let board = session.board()?;
    let fit = session.fit()?;
    let held_out = held_out(&board, &fit.name)?;
    let old = held_out.frequencies();
    let named = |p: Vec<f64>| p.into_iter().enumerate().collect();
    let options = DecisionOptions {
        costs: Some(held_out.costs(&message)?),
        reject: message.reject,
        priors: held_out.priors(&message)?.map(named).unwrap_or_default(),
        trained_priors: old.into_iter().enumerate().collect(),
    };
    let mut trained = fit.trained.clone();
    trained.decision = None;
    trained.decision = options.rule(&trained)?;
    let stored = Fit {
        data: Arc::clone(&fit.data),
        name: fit.name.clone(),
        candidate: fit.candidate.clone(),
        findings: fit.findings.clone(),
        seconds: fit.seconds,
        trained,
    };
    session.held().fit = Some(Arc::new(stored));
    Ok(json!({"name": fit.name, "stored": true}))
}

fn has_probabilities(predictions: Option<&Predictions>) -> bool {
    matches!(predictions, Some(Predictions::Classes { log_proba: Some(_), .. }))
}

/// The candidate of a message.
fn candidate(message: &DecisionMessage, board: &Board, fit: Option<&Fit>) -> ApiResult<String> {
    if let Some(name) = &message.name {
        return Ok(name.clone());
    }
    let rows = &board.board.rows;
    let of_fit = rows.iter().find(|row| fit.is_some_and(|fit| fit.name == row.name));
    let usable =
        of_fit.into_iter().chain(rows).find(|row| has_probabilities(row.predictions.as_ref()));
    usable.map(|row| row.name.clone()).ok_or_else(|| {
        ApiError::new(
            409,
            "no candidate predicts probabilities of classes; compare classifiers that do",
        )
    })
}

fn held_out<'a>(board: &'a Board, name: &str) -> ApiResult<HeldOut<'a>> {
    let row = board.row(name)?;
    let classes = &board.data.target()?.classes;
    match board.predictions(row)? {
        Predictions::Classes { truth, log_proba: Some(log_proba), weights, .. } => {
            Ok(HeldOut { truth, log_proba, weights, classes })
        }
        _ => Err(ApiError::bad(format!("`{name}` predicts no probabilities of classes"))),
    }
}

impl HeldOut<'_> {
    fn n_classes(&self) -> usize {
        self.log_proba.ncols()
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// The frequencies of the classes among the held-out rows.
    fn frequencies(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.n_classes()];
        self.truth.iter().enumerate().for_each(|(i, c)| counts[*c as usize] += self.weight(i));
        let total: f64 = counts.iter().sum();
        counts.iter().map(|n| n / total.max(f64::MIN_POSITIVE)).collect()
    }

    fn costs(&self, message: &DecisionMessage) -> ApiResult<Costs> {
        let n = self.n_classes();
        let costs = match &message.costs {
            None => Costs::zero_one(n),
            Some(rows) => {
                if rows.len() != n || rows.iter().any(|row| row.len() != n) {
                    return Err(ApiError::bad(format!(
                        "costs: expected {n} rows of {n} numbers, one row per true class"
                    )));
                }
                Costs::new(Matrix::from_shape_fn((n, n), |(c, a)| rows[c][a]))?
            }
        };
        Ok(match message.reject {
            Some(cost) => costs.with_reject(cost)?,
            None => costs,
        })
    }

    /// The new priors, if there are any.
    fn priors(&self, message: &DecisionMessage) -> ApiResult<Option<Vec<f64>>> {
        let Some(weights) = &message.priors else { return Ok(None) };
        let sum: f64 = weights.iter().sum();
        let valid = weights.iter().all(|w| w.is_finite() && *w >= 0.0) && sum > 0.0;
        if weights.len() != self.n_classes() || !valid || !sum.is_finite() {
            return Err(ApiError::bad(format!(
                "priors: expected {} weights of at least 0, one per class, not all zero",
                self.n_classes()
            )));
        }
        Ok(Some(weights.iter().map(|w| w / sum).collect()))
    }

    fn answer(&self, message: &DecisionMessage) -> ApiResult<Value> {
        let n = self.n_classes();
        if n > MAX_CLASSES {
            return Err(ApiError::bad(format!(
                "the target has {n} classes; costs are set by hand for at most {MAX_CLASSES}"
            )));
        }
        let old = self.frequencies();
        let priors = self.priors(message)?;
        let new = priors.as_ref().unwrap_or(&old);
        let mut rule = DecisionRule::new(self.costs(message)?);
        if priors.is_some() {
            rule = rule.with_priors(&old, new)?;
        }
        let row_weights: Vec<f64> = (0..self.truth.len())
            .map(|i| {
                let c = self.truth[i] as usize;
                self.weight(i) * if old[c] > 0.0 { new[c] / old[c] } else { 0.0 }
            })
            .collect();
        let chosen = self.apply(&rule, &rule.costs, &row_weights)?;
        // What the most probable class costs, without a rule.
        let most_probable = DecisionRule::new(Costs::zero_one(n));
        let plain = self.apply(&most_probable, &rule.costs, &row_weights)?;
        let positive = message.positive.unwrap_or(1).min(n - 1);
        let mut answer = json!({
            "classes": self.classes.labels().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "n_rows": self.truth.len(),
            "frequencies": old,
            "priors": new,
            "costs": rule.costs.matrix().outer_iter().map(|row| row.to_vec()).collect::<Vec<_>>(),
            "threshold": rule.costs.threshold(),
            "rule": chosen.value(),
            "most_probable": plain.value(),
            "positive": positive,
            "operating_point": chosen.operating_point(positive),
            "most_probable_point": plain.operating_point(positive),
        });
        self.add_curves(&mut answer, positive, &row_weights);
        if n == 2 {
            answer["cost_curve"] = json!(self.cost_curve(&rule, &row_weights)?);
        }
        Ok(answer)
    }

    /// The decisions of a rule for all rows, counted with some costs.
    fn apply(&self, rule: &DecisionRule, costs: &Costs, weights: &[f64]) -> ApiResult<Applied> {
        let n = self.n_classes();
        let mut risk = Risk::default();
        let mut confusion = Matrix::zeros((n, n + 1));
        for (i, row) in self.log_proba.outer_iter().enumerate() {
            let (truth, decision) = (self.truth[i] as usize, rule.decide(&row.to_vec())?);
            let column = match decision.action {
                Action::Class(c) => c,
                Action::Reject => n,
            };
            confusion[[truth, column]] += weights[i];
            risk.push_weighted(costs, &decision, Some(truth), weights[i]);
        }
        let report = risk.report().ok_or_else(|| ApiError::bad("there are no held-out rows"))?;
        Ok(Applied { report: json!(report), confusion })
    }

    /// ROC and precision-recall curve of the positive class, and the reliability diagram.
    fn add_curves(&self, answer: &mut Value, positive: usize, weights: &[f64]) {
        let mut evaluation = Evaluation::new(self.classes);
        evaluation.push_weighted(self.truth, self.log_proba, weights);
        let report = evaluation.report();
        answer["calibration"] = json!(report.calibration);
        answer["calibration_error"] = json!(report.calibration_error);
        if let Some(curves) = report.curves.get(positive) {
            answer["roc"] = json!(thinned(&curves.roc));
            answer["precision_recall"] = json!(thinned(&curves.precision_recall));
            answer["roc_auc"] = json!(curves.roc_auc);
            answer["average_precision"] = json!(curves.average_precision);
        }
    }

    /// The mean cost if the second of two classes is predicted from each probability on, after the change of priors.
    fn cost_curve(&self, rule: &DecisionRule, weights: &[f64]) -> ApiResult<Vec<(f64, f64)>> {
        let mut rows = Vec::with_capacity(self.truth.len());
        for (i, row) in self.log_proba.outer_iter().enumerate() {
            let log_posterior = rule.adjusted(&row.to_vec())?;
            rows.push((log_posterior[1].exp(), self.truth[i] as usize, weights[i]));
        }
        let total: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let at = |k: usize| {
            let threshold = k as f64 / (N_THRESHOLDS - 1) as f64;
            let cost: f64 = rows
                .iter()
                .map(|(p, truth, w)| w * rule.costs.cost(*truth, usize::from(*p >= threshold)))
                .sum();
            (threshold, cost / total)
        };
        Ok((0..N_THRESHOLDS).map(at).collect())
    }
}

/// The counted decisions of a rule.
struct Applied {
    report: Value,
    /// One row per true class, one column per predicted class, and the rejections.
    confusion: Matrix,
}

impl Applied {
    fn value(&self) -> Value {
        let confusion: Vec<Vec<f64>> =
            self.confusion.outer_iter().map(|row| row.to_vec()).collect();
        json!({"risk": self.report, "confusion": confusion})
    }

    /// False positive rate, true positive rate (recall) and precision of a class; a rejection is no alarm.
    fn operating_point(&self, positive: usize) -> Value {
        let alarms = self.confusion.column(positive);
        let own: f64 = self.confusion.row(positive).sum();
        let others = self.confusion.sum() - own;
        let (hits, all) = (alarms[positive], alarms.sum());
        let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
        json!({
            "false_positive_rate": ratio(all - hits, others),
            "recall": ratio(hits, own),
            "precision": ratio(hits, all),
        })
    }
}

/// An even subset of the points of a curve, with its ends.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let step = points.len().div_ceil(MAX_CURVE_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    points
        .iter()
        .enumerate()
        .filter(|(k, _)| k % step == 0 || *k == last)
        .map(|(_, p)| *p)
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn message(value: Value) -> DecisionMessage {
        serde_json::from_value(value).unwrap()
    }

    /// Four rows with P(sick) of 0.1, 0.3, 0.6 and 0.9; the second and the fourth are sick.
    fn answer(value: Value) -> ApiResult<Value> {
        let sick = [0.1, 0.3, 0.6, 0.9];
        let log_proba = Matrix::from_shape_fn((4, 2), |(i, c)| {
            if c == 1 { f64::ln(sick[i]) } else { f64::ln(1.0 - sick[i]) }
        });
        let classes = Classes::from_names(["healthy", "sick"]);
        let truth = [0, 1, 0, 1];
        let held =
            HeldOut { truth: &truth, log_proba: &log_proba, weights: &[], classes: &classes };
        held.answer(&message(value))
    }

    #[test]
    fn costs_move_the_threshold() {
        // A miss costs ten false alarms: the threshold is 1/11, and all four rows are called sick.
        let found = answer(json!({"costs": [[0.0, 1.0], [10.0, 0.0]]})).unwrap();

        assert!((found["threshold"].as_f64().unwrap() - 1.0 / 11.0).abs() < 1e-12);
        assert_eq!(found["rule"]["confusion"], json!([[0.0, 2.0, 0.0], [0.0, 2.0, 0.0]]));
        // Two false alarms in four rows cost 2/4; the most probable class misses one and alarms once: 11/4.
        assert!((found["rule"]["risk"]["empirical_risk"].as_f64().unwrap() - 0.5).abs() < 1e-12);
        let plain = &found["most_probable"]["risk"]["empirical_risk"];
        assert!((plain.as_f64().unwrap() - 2.75).abs() < 1e-12);
        let point = &found["operating_point"];
        assert_eq!((&point["recall"], &point["precision"]), (&json!(1.0), &json!(0.5)));
        // At the threshold 0.5 the curve is the cost of the most probable class.
        assert_eq!(found["cost_curve"][100], json!([0.5, 2.75]));
    }

    #[test]
    fn a_cheap_rejection_leaves_out_what_is_uncertain() {
        let found = answer(json!({"reject": 0.2})).unwrap();

        // Expected errors are 0.1, 0.3, 0.4 and 0.1: the second and the third row are rejected.
        assert_eq!(found["rule"]["confusion"], json!([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]));
        assert!((found["rule"]["risk"]["empirical_risk"].as_f64().unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(found["rule"]["risk"]["rejected_fraction"], 0.5);
    }

    #[test]
    fn new_priors_change_posteriors_and_weights() {
        let found = answer(json!({"priors": [1.0, 3.0]})).unwrap();

        // P(sick) = 0.3 becomes 0.3·1.5 / (0.3·1.5 + 0.7·0.5) = 0.5625, so that three rows are called sick.
        assert_eq!(found["rule"]["confusion"], json!([[0.5, 0.5, 0.0], [0.0, 3.0, 0.0]]));
        assert_eq!(found["priors"], json!([0.25, 0.75]));
    }

    #[test]
    fn bad_rules_are_refused() {
        for bad in [
            json!({"costs": [[0.0]]}),
            json!({"costs": [[0.0, 1.0], [1.0]]}),
            json!({"priors": [1.0]}),
            json!({"priors": [0.0, 0.0]}),
            json!({"priors": [-1.0, 2.0]}),
        ] {
            assert!(answer(bad.clone()).is_err(), "{bad}");
        }
        assert!(serde_json::from_value::<DecisionMessage>(json!({"cost": 1})).is_err());
        assert_eq!(answer(json!({"positive": 99})).unwrap()["positive"], 1);
    }
}
