//! Over- and underfitting: the score on training rows against the cross-validated score.

use super::{Check, Finding, FitFacts, Remedy};
use crate::catalog::AnyModel;
use crate::data::{Table, Values};
use crate::error::Result;
use crate::train::Trained;

/// Training rows are predicted better than held-out ones by more than this, in accuracy or R².
const MAX_DIFFERENCE: f64 = 0.1;
/// Of what the baseline leaves, a fit explains less than this on the training rows.
const MIN_EXPLAINED: f64 = 0.05;

pub(super) fn check(facts: &FitFacts<'_>) -> Option<Finding> {
    let rows = facts.rows?;
    let (name, held_out, baseline) = match (facts.classification, facts.regression) {
        (Some(scores), _) => ("accuracy", scores.accuracy.value, scores.baseline_accuracy),
        (_, Some(scores)) => ("R²", scores.r_squared, 0.0),
        _ => return None,
    };
    let training = training_score(facts.trained, rows).ok()??;
    if training - held_out > MAX_DIFFERENCE {
        let figure =
            format!("{name} {training:.4} on training rows, {held_out:.4} on held-out rows");
        return Some(Finding::new(Check::Overfitting, figure, regularized(facts.trained)));
    }
    let explained = (training - baseline) / (1.0 - baseline).max(f64::MIN_POSITIVE);
    if explained < MIN_EXPLAINED {
        let figure =
            format!("{name} {training:.4} on the training rows themselves, baseline {baseline:.4}");
        let advice = "the model is too simple or the columns tell little; compare more flexible ones for longer";
        let remedy = Remedy::new(advice).option("--budget", "5m");
        return Some(Finding::new(Check::Underfitting, figure, remedy));
    }
    None
}

/// The remedy for an overfitted estimator: a stronger regularization, if it has a parameter for it.
fn regularized(trained: &Trained) -> Remedy {
    let params = trained.estimator.params();
    let stronger = |name: &str, factor: f64| {
        let value = params.get(name)?.as_f64()? * factor;
        Some((trained.estimator.id(), format!("{name}={value}")))
    };
    match stronger("C", 0.1).or_else(|| stronger("alpha", 10.0)) {
        Some((id, setting)) => Remedy::new("more rows, fewer columns or a stronger regularization")
            .option("--model", id)
            .option("--set", setting),
        None => {
            Remedy::new("more rows, fewer columns or another estimator; compare them for longer")
                .option("--budget", "5m")
        }
    }
}

/// Accuracy or R² of a model on some of its training rows.
fn training_score(trained: &Trained, rows: &Table) -> Result<Option<f64>> {
    let Some(target) = trained.features.target.as_deref().and_then(|name| rows.column(name)) else {
        return Ok(None);
    };
    let encoded = trained.features.encode(rows, None)?;
    let model: &AnyModel = &trained.fitted.model;
    let x = encoded.rows();
    Ok(match (&target.values, model.as_model().classifier(), model.as_model().regressor()) {
        (Values::Categorical { codes, levels }, Some(classifier), _) => {
            let labels = classifier.classes().labels();
            let predicted = classifier.predict(&x)?;
            let is_correct = |(c, i): (&u32, usize)| {
                levels.name(codes[i]).is_some_and(|level| labels[*c as usize].to_string() == level)
            };
            let n = predicted.iter().zip(0..).filter(|(c, i)| is_correct((c, *i))).count();
            Some(n as f64 / predicted.len().max(1) as f64)
        }
        (Values::Numeric(y), _, Some(regressor)) => {
            let predicted = regressor.predict(&x)?;
            let mean = y.iter().sum::<f64>() / y.len().max(1) as f64;
            let residual: f64 = y.iter().zip(&predicted).map(|(y, p)| (y - p).powi(2)).sum();
            let total: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
            (total > 0.0).then(|| 1.0 - residual / total)
        }
        _ => None,
    })
}
