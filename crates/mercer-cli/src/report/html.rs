//! Parts of self-contained HTML pages, and the page of the explanation of a text.

use super::TrainReport;
use super::plot::evaluation;
use crate::failure::{Failure, Result};
use mercer::data::{ColumnDescription, Measure};
use mercer::explain::{Explanation, ScoreExplanation, short};
use mercer::text::TextSpan;
use mercer::train::Trained;
use minijinja::{AutoEscape, Environment, context};

/// Columns whose densities are plotted.
const MAX_DENSITY_PLOTS: usize = 6;
const POINTS_PER_CURVE: usize = 200;
/// Terms that are listed under a text.
const MAX_TERMS: usize = 40;

/// The explanation of a prediction, as a page shows it.
pub struct Highlighted {
    classes: Vec<String>,
    /// `P(class | row)`, or the scores of a model without probabilities.
    probabilities: Vec<f64>,
    has_probabilities: bool,
    winner: usize,
    runner_up: usize,
    /// The contribution before any feature, and its name: prior or intercept.
    start: (&'static str, f64),
    /// Name, value and log-odds of the features, the largest first.
    contributions: Vec<(String, Option<String>, f64)>,
}

impl Highlighted {
    /// The explanation of a model with a factorized likelihood.
    pub fn of(explanation: &Explanation) -> Highlighted {
        let ranked = explanation.ranked_contributions().into_iter().take(MAX_TERMS).map(|factor| {
            let value = factor.level.clone().or_else(|| factor.value.map(short));
            (factor.column.clone(), value, factor.log_odds)
        });
        Highlighted {
            classes: explanation.classes.iter().map(ToString::to_string).collect(),
            probabilities: explanation.posterior.clone(),
            has_probabilities: true,
            winner: explanation.winner,
            runner_up: explanation.runner_up,
            start: ("prior", explanation.prior_log_odds()),
            contributions: ranked.collect(),
        }
    }

    /// The explanation of a model with additive scores.
    pub fn of_scores(explanation: &ScoreExplanation) -> Highlighted {
        let ranked = explanation.ranked_contributions().into_iter().take(MAX_TERMS);
        let has_probabilities = !explanation.posterior.is_empty();
        let probabilities =
            if has_probabilities { &explanation.posterior } else { &explanation.scores }.clone();
        Highlighted {
            classes: explanation.classes.iter().map(ToString::to_string).collect(),
            probabilities,
            has_probabilities,
            winner: explanation.winner,
            runner_up: explanation.runner_up,
            start: ("intercept", explanation.intercept_contribution()),
            contributions: ranked
                .map(|term| {
                    let value = short(term.original.unwrap_or(term.value));
                    (term.column.clone(), Some(value), term.contribution)
                })
                .collect(),
        }
    }
}

/// The page of a prediction: its texts with the terms highlighted by their contribution.
pub fn highlighted_page(explained: &Highlighted, texts: &[Vec<TextSpan>]) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let most = (texts.iter().flatten())
        .filter_map(|span| span.log_odds)
        .fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
    let span = |span: &TextSpan| {
        let strength = span.log_odds.map(|x| format!("{:.2}", 0.8 * (x.abs() / most).sqrt()));
        context! {
            text => span.text.as_str(), strength,
            side => if span.log_odds.unwrap_or(0.0) < 0.0 { "against" } else { "for" },
            log_odds => span.log_odds.map(|x| format!("{x:+.3}")),
        }
    };
    let texts: Vec<Vec<_>> = texts.iter().map(|text| text.iter().map(span).collect()).collect();
    let contributions: Vec<_> = (explained.contributions.iter())
        .map(|(name, value, log_odds)| {
            context! { name, value, log_odds => format!("{log_odds:+.3}") }
        })
        .collect();
    let classes: Vec<_> = (explained.classes.iter().zip(&explained.probabilities))
        .map(|(name, p)| context! { name, p => short(*p) })
        .collect();
    environment
        .render_str(
            include_str!("highlighted.html"),
            context! {
                winner => explained.classes[explained.winner].as_str(),
                runner_up => explained.classes[explained.runner_up].as_str(),
                p => short(explained.probabilities[explained.winner]),
                // The scores of a model without probabilities are not log-odds.
                quantity => if explained.has_probabilities { "P" } else { "Score" },
                measure => if explained.has_probabilities { "log-odds" } else { "score" },
                heading => if explained.has_probabilities { "Log-odds" } else { "Scores" },
                start => explained.start.0,
                prior => format!("{:+.3}", explained.start.1),
                classes, contributions, texts,
            },
        )
        .map_err(|e| Failure::Resources(format!("the page: {e}")))
}

/// The table of coefficients, if the model has one.
pub fn summary(trained: &Trained) -> Option<String> {
    if trained.features.map.as_ref().is_some_and(|map| !map.is_interpretable()) {
        return None;
    }
    let model = trained.fitted.model.as_model().linear_model()?;
    Some(model.summary(&trained.features.names(), 0.95)?.to_string())
}

/// The class-conditional densities of the most informative numeric columns; all other columns are missing.
pub fn densities(report: &TrainReport, trained: &Trained) -> Vec<String> {
    let Some(model) = trained.fitted.model.as_model().factorized_likelihood() else {
        return Vec::new();
    };
    let names = trained.features.names();
    let classes: Vec<String> = model.classes().labels().iter().map(ToString::to_string).collect();
    // The count of an absent term is zero, not missing.
    let is_term = |c: &ColumnDescription| matches!(c.measure, Measure::TermCount(_));
    let columns = trained.features.descriptions();
    let missing: Vec<f64> =
        columns.iter().map(|c| if is_term(c) { 0.0 } else { f64::NAN }).collect();
    let draw = |column: &str| {
        let j = names.iter().position(|name| name == column)?;
        let (low, high) = report.columns.iter().find(|c| c.name == column)?.range?;
        // Outside the range of the data there is nothing to support a curve.
        let mut row = missing.clone();
        let mut points = vec![Vec::new(); classes.len()];
        for k in 0..=POINTS_PER_CURVE {
            row[j] = low + (high - low) * k as f64 / POINTS_PER_CURVE as f64;
            let factors = model.log_factors(&row).ok()?;
            points.iter_mut().zip(factors.row(j)).for_each(|(p, f)| p.push((row[j], f.exp())));
        }
        Some(evaluation::densities(column, classes.iter().cloned().zip(points).collect()))
    };
    report
        .mutual_information
        .iter()
        .filter_map(|t| draw(&t.column))
        .take(MAX_DENSITY_PLOTS)
        .collect()
}
