//! The page of a training run: summary, checks, leaderboard, scores, importances, effects, data and the model card.

use super::linear_functions::LinearFunctions;
use super::plot::{self, coefficients, evaluation};
use super::{TrainReport, html};
use crate::failure::{Failure, Result};
use mercer::evaluate::{ClassificationReport, RegressionReport};
use mercer::explain::short;
use mercer::train::Trained;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};

/// Classes of a confusion matrix that is shown with its counts; a larger one is a heat map.
const MAX_COUNTED_CLASSES: usize = 12;
/// Confusions that are listed under a heat map.
const MAX_CONFUSIONS: usize = 15;
/// Columns whose importance is shown.
const MAX_BARS: usize = 20;
/// Coefficients that are listed.
const MAX_COEFFICIENTS: usize = 15;
/// Features whose coefficients are plotted; the names of more do not fit beside each other.
const MAX_PLOTTED_COEFFICIENTS: usize = 6;
/// Columns that are listed.
const MAX_COLUMNS: usize = 300;

/// The page of a training run; `figures` are plots of the model with its training rows, as SVG.
pub fn page(report: &TrainReport, trained: &Trained, figures: Vec<String>) -> Result<String> {
    let mut environment = Environment::new();
    // Names come from the data and are escaped.
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let scores = report.cross_validation.as_ref();
    let functions = LinearFunctions::of(trained);
    let coefficients = functions.as_ref().and_then(|functions| functions.largest(MAX_COEFFICIENTS));
    let coefficients = coefficients.map(|(names, rows)| context! { names, rows });
    let columns: Vec<Value> =
        report.columns.iter().take(MAX_COLUMNS).map(|c| column(report, c)).collect();
    environment
        .render_str(
            include_str!("page.html"),
            context! {
                r => Serde(report),
                certificate => report.certificate.to_string(),
                map => report.feature_map.clone(),
                verdict => verdict(report),
                figures => summary_figures(report),
                curves => scalable(curves(report)),
                has_auc => scores.is_some_and(|s| !s.curves.is_empty()),
                classes => scores.map(classes).unwrap_or_default(),
                small_matrix => scores.is_some_and(|s| s.classes.len() <= MAX_COUNTED_CLASSES),
                confusion => scores.map(confusion),
                confusions => scores.filter(|s| s.classes.len() > 2).map(confusions).unwrap_or_default(),
                regression => report.regression.as_ref().map(regression_scores),
                bars => importance_bars(report),
                importance_metric => report.importance_metric,
                effects => scalable(report.effects.iter().map(evaluation::effect).collect()),
                summary => html::summary(trained),
                coefficients,
                plots => scalable(model_plots(report, trained, figures)),
                columns,
                more_columns => report.columns.len().saturating_sub(MAX_COLUMNS),
                params => report.params.to_string(),
                made_by => trained.made_by.as_str(),
            },
        )
        .map_err(|e| Failure::Resources(format!("the report page: {e}")))
}

/// Plots that shrink with a narrow window: with a view box of their size.
fn scalable(plots: Vec<String>) -> Vec<String> {
    let scaled = |plot: String| {
        let attribute = |name: &str| {
            let rest = plot.split_once(&format!(" {name}=\""))?.1;
            rest.split_once('"').map(|(value, _)| value.to_owned())
        };
        let head = plot.split('>').next().unwrap_or_default();
        match (attribute("width"), attribute("height")) {
            (Some(width), Some(height)) if !head.contains("viewBox") => {
                plot.replacen("<svg ", &format!("<svg viewBox=\"0 0 {width} {height}\" "), 1)
            }
            _ => plot,
        }
    };
    plots.into_iter().map(scaled).collect()
}

fn digits(x: f64) -> String {
    if x.is_nan() { String::new() } else { format!("{x:.4}") }
}

/// What a reader should take away, in one sentence.
fn verdict(report: &TrainReport) -> Option<Value> {
    let sentence = |bad: bool, text: String| Some(context! { bad, text });
    if let Some(scores) = &report.cross_validation {
        let (accuracy, baseline) = (scores.accuracy.value, scores.baseline_accuracy);
        if accuracy <= baseline {
            let text = format!(
                "Not recommended: on held-out rows the model is right in {:.1} %, always predicting the most frequent \
                 class in {:.1} %.",
                100.0 * accuracy,
                100.0 * baseline
            );
            return sentence(true, text);
        }
        let text = format!(
            "On held-out rows the model predicts {} correctly in {:.1} % of the cases (95 % interval {:.1} to {:.1} %); \
             always predicting the most frequent class is right in {:.1} %.",
            report.target,
            100.0 * accuracy,
            100.0 * scores.accuracy.low,
            100.0 * scores.accuracy.high,
            100.0 * baseline
        );
        return sentence(false, text);
    }
    let scores = report.regression.as_ref()?;
    if scores.r_squared <= 0.0 {
        let text = format!(
            "Not recommended: on held-out rows the typical error is {} (RMSE), that of always predicting the mean {}.",
            short(scores.rmse),
            short(scores.baseline_rmse)
        );
        return sentence(true, text);
    }
    let text = format!(
        "On held-out rows the model explains {:.1} % of the variance of {}; the typical error is {} (RMSE), without the \
         model {}.",
        100.0 * scores.r_squared,
        report.target,
        short(scores.rmse),
        short(scores.baseline_rmse)
    );
    sentence(false, text)
}

/// The figures of the summary: value, name and note.
fn summary_figures(report: &TrainReport) -> Vec<Value> {
    let figure = |value: String, name: &str, note: Option<String>| context! { value, name, note };
    let mut figures = Vec::new();
    if let Some(scores) = &report.cross_validation {
        let interval =
            format!("95 % interval {:.4} to {:.4}", scores.accuracy.low, scores.accuracy.high);
        figures.push(figure(digits(scores.accuracy.value), "accuracy", Some(interval)));
        figures.push(figure(
            digits(scores.baseline_accuracy),
            "baseline",
            Some("majority class".into()),
        ));
        figures.push(figure(digits(scores.macro_f1), "macro F1", None));
        if let [_, curves] = scores.curves.as_slice() {
            figures.push(figure(digits(curves.roc_auc), "ROC AUC", None));
        }
        if let (Some(loss), Some(error)) = (scores.log_loss, scores.calibration_error) {
            figures.push(figure(digits(loss), "log loss", None));
            figures.push(figure(digits(error), "calibration error", Some("expected".into())));
        }
    }
    if let Some(scores) = &report.regression {
        figures.push(figure(
            digits(scores.r_squared),
            "R²",
            Some("coefficient of determination".into()),
        ));
        let baseline = format!("baseline (mean) {}", short(scores.baseline_rmse));
        figures.push(figure(short(scores.rmse), "RMSE", Some(baseline)));
        figures.push(figure(short(scores.mae), "mean absolute error", None));
    }
    if let Some(corrected) = report.leaderboard.as_ref().and_then(|board| board.corrected) {
        let metric = report.leaderboard.as_ref().map_or("", |board| board.metric.name());
        let note = Some("corrected for the selection".to_owned());
        figures.push(figure(digits(corrected.score), metric, note));
    }
    figures
}

/// The plots of the held-out predictions.
fn curves(report: &TrainReport) -> Vec<String> {
    let mut plots = Vec::new();
    if let Some(scores) = &report.regression {
        plots.extend([evaluation::predictions(scores), evaluation::residuals(scores)]);
    }
    if let Some(scores) = report.cross_validation.as_ref().filter(|s| s.log_loss.is_some()) {
        if !scores.curves.is_empty() {
            plots.extend([evaluation::roc(scores), evaluation::precision_recall(scores)]);
        }
        plots.push(evaluation::calibration(scores));
    }
    if report.learning_curve.len() > 1 {
        plots.push(evaluation::learning_curve(&report.learning_curve, report.importance_metric));
    }
    plots
}

fn classes(scores: &ClassificationReport) -> Vec<Value> {
    let class = |(c, class): (usize, &mercer::evaluate::ClassReport)| {
        let curves = scores.curves.get(c);
        context! {
            name => class.class.to_string(), precision => digits(class.precision),
            recall => digits(class.recall), f1 => digits(class.f1), rows => class.support,
            roc_auc => curves.map(|curves| digits(curves.roc_auc)),
            average_precision => curves.map(|curves| digits(curves.average_precision)),
        }
    };
    scores.classes.iter().enumerate().map(class).collect()
}

/// The confusion matrix; `fraction` is the fraction of the rows of the true class, for the shade.
fn confusion(scores: &ClassificationReport) -> Vec<Value> {
    let names: Vec<String> = scores.classes.iter().map(|c| c.class.to_string()).collect();
    (scores.classes.iter().zip(&scores.confusion).enumerate())
        .map(|(i, (class, counts))| {
            let cells: Vec<_> = (counts.iter().zip(&names).enumerate())
                .map(|(j, (n, name))| {
                    let fraction = *n as f64 / class.support.max(1) as f64;
                    context! { n => n, name => name, diagonal => i == j, fraction => fraction }
                })
                .collect();
            context! { name => class.class.to_string(), cells }
        })
        .collect()
}

/// The most frequent confusions of two classes.
fn confusions(scores: &ClassificationReport) -> Vec<Value> {
    let mut pairs: Vec<(u64, usize, usize)> = Vec::new();
    for (i, counts) in scores.confusion.iter().enumerate() {
        pairs.extend(
            counts.iter().enumerate().filter(|(j, n)| *j != i && **n > 0).map(|(j, n)| (*n, i, j)),
        );
    }
    pairs.sort_by_key(|(n, i, j)| (std::cmp::Reverse(*n), *i, *j));
    let class = |k: usize| scores.classes[k].class.to_string();
    pairs
        .into_iter()
        .take(MAX_CONFUSIONS)
        .map(|(n, i, j)| {
            let percent = 100.0 * n as f64 / scores.classes[i].support.max(1) as f64;
            context! { truth => class(i), predicted => class(j), n, percent => format!("{percent:.1}") }
        })
        .collect()
}

/// The scores of a regressor.
fn regression_scores(scores: &RegressionReport) -> Value {
    context! {
        r_squared => format!("{:.4}", scores.r_squared), rmse => short(scores.rmse),
        baseline => short(scores.baseline_rmse), mae => short(scores.mae),
        median => short(scores.median_error), largest => short(scores.largest_error),
    }
}

fn importance_bars(report: &TrainReport) -> Vec<Value> {
    let most = report.importances.iter().map(|i| i.mean.abs()).fold(f64::MIN_POSITIVE, f64::max);
    (report.importances.iter().take(MAX_BARS))
        .map(|importance| {
            context! {
                name => importance.column.clone(),
                width => format!("{:.1}", 100.0 * importance.mean.abs() / most),
                negative => importance.mean < 0.0,
                value => format!("{:.4} ± {:.4}", importance.mean, importance.deviation),
            }
        })
        .collect()
}

/// The row of a column: its type, range and remark, or why it is dropped.
fn column(report: &TrainReport, column: &super::ColumnReport) -> Value {
    let dropped = report.dropped.iter().find(|dropped| dropped.column == column.name);
    context! {
        name => column.name.clone(), kind => column.kind.clone(), missing => column.missing,
        range => column.shown_range.clone(), remark => column.remark.clone(),
        dropped => dropped.map(|dropped| dropped.reason.clone()),
    }
}

/// The plots of the model itself: support vectors, mutual information, coefficients, densities.
fn model_plots(report: &TrainReport, trained: &Trained, figures: Vec<String>) -> Vec<String> {
    let mut plots = figures;
    if !report.mutual_information.is_empty() {
        plots.push(evaluation::mutual_information(&report.mutual_information));
    }
    if trained.features.n_features() <= MAX_PLOTTED_COEFFICIENTS {
        plots.extend(coefficients::coefficients(trained).map(|scene| plot::svg(&scene)));
    }
    plots.extend(html::densities(report, trained));
    plots
}
