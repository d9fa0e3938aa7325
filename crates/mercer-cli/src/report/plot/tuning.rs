//! The scores of a hyperparameter search: a heat map over two hyperparameters, or a path over one.

use super::save;
use super::style::{COLORS, INK, Stroke, layout, line};
use crate::failure::{Failure, Result};
use kuva::plot::{Heatmap, ScatterPlot};
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use mercer::train::tune::{TunedSetting, Tuning};
use serde_json::Value;
use std::path::Path;

/// Plots a search and saves the plot.
pub fn save_tuning(path: &Path, tuning: &Tuning) -> Result<()> {
    save(path, scene(tuning)?)
}

/// The hyperparameters that vary, with their distinct values in order.
fn varying(tuning: &Tuning) -> Vec<(usize, Vec<Value>)> {
    let n = tuning.settings.first().map_or(0, |s| s.settings.len());
    let values = |k: usize| {
        let mut values: Vec<Value> = Vec::new();
        for setting in &tuning.settings {
            let value = &setting.settings[k].1;
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        values
    };
    let axes = (0..n).map(|k| (k, values(k)));
    axes.filter(|(_, values)| values.len() > 1).collect()
}

/// A heat map of the first two numeric hyperparameters with the best score over the others; a path if only one varies, or
/// if the settings were drawn at random.
fn scene(tuning: &Tuning) -> Result<Scene> {
    let mut axes = varying(tuning);
    axes.sort_by_key(|(_, values)| values.iter().any(|value| value.as_f64().is_none()));
    let names: Vec<String> = match tuning.settings.first() {
        Some(first) => first.settings.iter().map(|(name, _)| name.clone()).collect(),
        None => Vec::new(),
    };
    let is_grid = |a: &[Value], b: &[Value]| a.len() * b.len() <= tuning.settings.len();
    match axes.as_slice() {
        [(y, ys), (x, xs), ..] if is_grid(xs, ys) => {
            Ok(heat_map(tuning, (&names[*x], *x, xs), (&names[*y], *y, ys)))
        }
        [(x, xs), ..] => path(tuning, &names[*x], *x, xs),
        [] => Err(Failure::Usage(
            "--plot: no hyperparameter varies; give two or more values with --grid".into(),
        )),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The best score of the settings with some values.
fn best_score(tuning: &Tuning, is_in: impl Fn(&TunedSetting) -> bool) -> Option<f64> {
    let scores = tuning.settings.iter().filter(|s| is_in(s)).filter_map(|s| s.score);
    match tuning.metric.greater_is_better() {
        true => scores.reduce(f64::max),
        false => scores.reduce(f64::min),
    }
}

type HeatAxis<'a> = (&'a str, usize, &'a [Value]);

fn heat_map(tuning: &Tuning, (x, at_x, xs): HeatAxis<'_>, (y, at_y, ys): HeatAxis<'_>) -> Scene {
    let score = |a: &Value, b: &Value| {
        best_score(tuning, |s| s.settings[at_y].1 == *a && s.settings[at_x].1 == *b)
            .unwrap_or(f64::NAN)
    };
    let known: Vec<f64> = tuning.settings.iter().filter_map(|s| s.score).collect();
    // A setting without a score has the color of the worst one.
    let worst = match tuning.metric.greater_is_better() {
        true => known.iter().copied().fold(f64::INFINITY, f64::min),
        false => known.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    };
    let cells: Vec<Vec<f64>> = ys
        .iter()
        .map(|a| {
            let scores = xs.iter().map(|b| score(a, b));
            scores.map(|s| if s.is_nan() { worst } else { s }).collect()
        })
        .collect();
    let labels = |values: &[Value]| values.iter().map(text).collect::<Vec<String>>();
    let map = Heatmap::new().with_data(cells).with_labels(labels(ys), labels(xs)).with_values();
    let plots = vec![Plot::Heatmap(map.with_legend(tuning.metric.name()))];
    let title = format!("{}: {} by {y} and {x}", tuning.model, tuning.metric);
    let layout =
        layout(&plots, &title, x, y).with_x_categories(labels(xs)).with_y_categories(labels(ys));
    render_multiple(plots, layout)
}

/// The best score at every value of one hyperparameter, on a logarithmic axis if the values are positive.
fn path(tuning: &Tuning, name: &str, at: usize, values: &[Value]) -> Result<Scene> {
    let numbers: Option<Vec<f64>> = values.iter().map(Value::as_f64).collect();
    let Some(numbers) = numbers else {
        return Err(Failure::Usage(format!(
            "--plot: `{name}` has no numeric values; give two hyperparameters with --grid"
        )));
    };
    let is_log = numbers.iter().all(|v| *v > 0.0);
    let shown = |v: f64| if is_log { v.log10() } else { v };
    let score = |k: usize| best_score(tuning, |s| s.settings[at].1 == values[k]);
    let points: Vec<(f64, f64)> =
        (0..values.len()).filter_map(|k| Some((shown(numbers[k]), score(k)?))).collect();
    let folds: Vec<(f64, f64)> = tuning
        .settings
        .iter()
        .filter_map(|s| Some((shown(s.settings[at].1.as_f64()?), s)))
        .flat_map(|(x, s)| s.fold_scores.iter().map(move |score| (x, *score)))
        .collect();
    let mut plots = Vec::new();
    if !folds.is_empty() {
        let dots = ScatterPlot::new().with_data(folds).with_color(COLORS[0]).with_size(3.0);
        plots.push(Plot::Scatter(dots.with_marker_opacity(0.5).with_legend("folds")));
    }
    plots.push(Plot::Line(line(points, INK, Stroke::Solid).with_legend(tuning.metric.name())));
    let label = if is_log { format!("log10({name})") } else { name.to_owned() };
    let title = format!("{}: {} by {name}", tuning.model, tuning.metric);
    let layout = layout(&plots, &title, &label, tuning.metric.name());
    Ok(render_multiple(plots, layout))
}
