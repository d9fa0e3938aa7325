//! The report as one page with pictures, nothing to fetch.

use super::{TrainReport, plot};
use crate::failure::{Failure, Result};
use mercer::data::{ColumnDescription, Measure};
use mercer::evaluate::{ClassificationReport, RegressionReport};
use mercer::explain::{Explanation, ScoreExplanation, short};
use mercer::text::TextSpan;
use mercer::train::Trained;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};

/// Classes whose counts still fit a page.
const MOST_CLASSES: usize = 30;
/// Columns that get a picture of their curves.
const MOST_CURVES: usize = 6;
const CURVE_POINTS: usize = 200;
/// CategoryEncoding listed under a text.
const MOST_WORDS: usize = 40;

/// The page of a training run.
pub fn page(report: &TrainReport, trained: &Trained) -> Result<String> {
    let mut environment = Environment::new();
    // Names come from the data: they are text, never markup.
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let judged = report.cross_validation.as_ref();
    let digits = |x: f64| format!("{x:.4}");
    let classes: Vec<_> = judged
        .iter()
        .flat_map(|j| &j.classes)
        .map(|c| {
            context! { name => c.class.to_string(), precision => digits(c.precision),
            recall => digits(c.recall), f1 => digits(c.f1), rows => c.support }
        })
        .collect();
    environment
        .render_str(
            include_str!("page.html"),
            context! {
                r => Serde(report),
                certificate => report.certificate.to_string(),
                map => report.map.clone(),
                accuracy => judged.map(|j| digits(j.accuracy.value)),
                interval => judged.map(|j| format!("{:.4} to {:.4}", j.accuracy.low, j.accuracy.high)),
                baseline => judged.map(|j| digits(j.baseline_accuracy)),
                macro_f1 => judged.map(|j| digits(j.macro_f1)),
                log_loss => judged.and_then(|j| j.log_loss).map(digits),
                numbers => report.regression.as_ref().map(figures),
                summary => summary(trained),
                calibration => judged.and_then(|j| j.calibration_error).map(digits),
                classes,
                confusion => judged.filter(|j| j.classes.len() <= MOST_CLASSES).map(confusion),
                pictures => pictures(report, trained),
                params => report.params.to_string(),
                made_by => trained.made_by.as_str(),
            },
        )
        .map_err(|e| Failure::Resources(format!("the report page: {e}")))
}

/// A prediction that was told step by step, as a page shows it.
pub struct Marked {
    classes: Vec<String>,
    /// `P(class | row)`, or the scores of a model without probabilities.
    says: Vec<f64>,
    has_probabilities: bool,
    winner: usize,
    runner_up: usize,
    /// What stands before any column is looked at, and what it is called.
    start: (&'static str, f64),
    /// Name, value and log-odds of the columns, the strongest first.
    contributions: Vec<(String, Option<String>, f64)>,
}

impl Marked {
    /// Of a prior and factors.
    pub fn of(explanation: &Explanation) -> Marked {
        let ranked =
            explanation.ranked_contributions().into_iter().take(MOST_WORDS).map(|factor| {
                let times = factor.level.clone().or_else(|| factor.value.map(short));
                (factor.column.clone(), times, factor.log_odds)
            });
        Marked {
            classes: explanation.classes.iter().map(ToString::to_string).collect(),
            says: explanation.posterior.clone(),
            has_probabilities: true,
            winner: explanation.winner,
            runner_up: explanation.runner_up,
            start: ("prior", explanation.prior_log_odds()),
            contributions: ranked.collect(),
        }
    }

    /// Of a start and terms.
    pub fn of_scores(explanation: &ScoreExplanation) -> Marked {
        let ranked = explanation.ranked_contributions().into_iter().take(MOST_WORDS);
        let has_probabilities = !explanation.posterior.is_empty();
        let says =
            if has_probabilities { &explanation.posterior } else { &explanation.scores }.clone();
        Marked {
            classes: explanation.classes.iter().map(ToString::to_string).collect(),
            says,
            has_probabilities,
            winner: explanation.winner,
            runner_up: explanation.runner_up,
            start: ("intercept", explanation.intercept_log_odds()),
            contributions: ranked
                .map(|term| (term.column.clone(), Some(short(term.value)), term.log_odds))
                .collect(),
        }
    }
}

/// The page of a prediction: its texts with the words that decided marked.
pub fn marked_page(marked: &Marked, texts: &[Vec<TextSpan>]) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let most = (texts.iter().flatten())
        .filter_map(|piece| piece.log_odds)
        .fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
    let piece = |piece: &TextSpan| {
        let strength = piece.log_odds.map(|x| format!("{:.2}", 0.8 * (x.abs() / most).sqrt()));
        context! {
            text => piece.text.as_str(), strength,
            side => if piece.log_odds.unwrap_or(0.0) < 0.0 { "against" } else { "for" },
            log_odds => piece.log_odds.map(|x| format!("{x:+.3}")),
        }
    };
    let texts: Vec<Vec<_>> = texts.iter().map(|text| text.iter().map(piece).collect()).collect();
    let contributions: Vec<_> = (marked.contributions.iter())
        .map(|(name, times, log_odds)| {
            context! { name, times, log_odds => format!("{log_odds:+.3}") }
        })
        .collect();
    let classes: Vec<_> = (marked.classes.iter().zip(&marked.says))
        .map(|(name, p)| context! { name, p => short(*p) })
        .collect();
    environment
        .render_str(
            include_str!("marked.html"),
            context! {
                winner => marked.classes[marked.winner].as_str(),
                runner_up => marked.classes[marked.runner_up].as_str(),
                p => short(marked.says[marked.winner]),
                // Scores of a model without probabilities are no log-odds.
                says => if marked.has_probabilities { "P" } else { "Score" },
                measure => if marked.has_probabilities { "log-odds" } else { "score" },
                heading => if marked.has_probabilities { "Log-odds" } else { "Scores" },
                start => marked.start.0,
                prior => format!("{:+.3}", marked.start.1),
                classes, contributions, texts,
            },
        )
        .map_err(|e| Failure::Resources(format!("the page: {e}")))
}

/// The figures of a predictor of numbers, as words.
fn figures(judged: &RegressionReport) -> minijinja::Value {
    context! {
        r_squared => format!("{:.4}", judged.r_squared), rmse => short(judged.rmse),
        baseline => short(judged.baseline_rmse), mae => short(judged.mae),
        median => short(judged.median_error), largest => short(judged.largest_error),
    }
}

/// The table of coefficients, where there is one.
fn summary(trained: &Trained) -> Option<String> {
    if trained.features.map.as_ref().is_some_and(|map| !map.is_interpretable()) {
        return None;
    }
    let model = trained.fitted.model.as_model().linear_model()?;
    Some(model.summary(&trained.features.names(), 0.95)?.to_string())
}

/// Counts by truth and prediction, with the share of the truth's rows to shade them by.
fn confusion(judged: &ClassificationReport) -> Vec<minijinja::Value> {
    (judged.classes.iter().zip(&judged.confusion))
        .map(|(class, counts)| {
            let cells: Vec<_> = (counts.iter())
                .map(|n| context! { n => n, share => *n as f64 / class.support.max(1) as f64 })
                .collect();
            context! { name => class.class.to_string(), cells }
        })
        .collect()
}

fn pictures(report: &TrainReport, trained: &Trained) -> Vec<String> {
    let mut pictures = Vec::new();
    if let Some(judged) = &report.regression {
        pictures.extend([plot::predicted(judged), plot::residuals(judged)]);
    }
    if let Some(judged) = report.cross_validation.as_ref().filter(|j| j.log_loss.is_some()) {
        pictures.push(plot::calibration(judged));
    }
    if !report.telling.is_empty() {
        pictures.push(plot::telling(&report.telling));
    }
    pictures.extend(curves(report, trained));
    pictures
}

/// The densities of the most telling numeric columns: one factor at a time, the others missing.
fn curves(report: &TrainReport, trained: &Trained) -> Vec<String> {
    let Some(model) = trained.fitted.model.as_model().factorized_likelihood() else {
        return Vec::new();
    };
    let names = trained.features.names();
    let classes: Vec<String> = model.classes().labels().iter().map(ToString::to_string).collect();
    // A word that does not occur is not missing: it occurs zero times.
    let is_word = |c: &ColumnDescription| matches!(c.measure, Measure::TermCount(_));
    let columns = trained.features.descriptions();
    let missing: Vec<f64> =
        columns.iter().map(|c| if is_word(c) { 0.0 } else { f64::NAN }).collect();
    let draw = |column: &str| {
        let j = names.iter().position(|name| name == column)?;
        let (low, high) = report.columns.iter().find(|c| c.name == column)?.range?;
        let margin = 0.1 * (high - low);
        let mut row = missing.clone();
        let mut points = vec![Vec::new(); classes.len()];
        for k in 0..=CURVE_POINTS {
            row[j] = low - margin + (high - low + 2.0 * margin) * k as f64 / CURVE_POINTS as f64;
            let factors = model.log_factors(&row).ok()?;
            points.iter_mut().zip(factors.row(j)).for_each(|(p, f)| p.push((row[j], f.exp())));
        }
        Some(plot::curves(column, classes.iter().cloned().zip(points).collect()))
    };
    report.telling.iter().filter_map(|t| draw(&t.column)).take(MOST_CURVES).collect()
}
