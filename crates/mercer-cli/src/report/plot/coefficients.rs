//! The coefficients of a linear model as bars.

use super::style::{COLORS, class_color};
use kuva::plot::BarPlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use mercer::train::Trained;
use mercer_num::Matrix;

/// Features that are drawn, those with the largest coefficients.
const MAX_FEATURES: usize = 20;

/// The coefficients of the features with the largest ones; for more than two classes, a bar per class. `None` if the
/// model is not linear in features with a meaning.
pub fn coefficients(model: &Trained) -> Option<Scene> {
    if model.features.map.as_ref().is_some_and(|map| !map.is_interpretable()) {
        return None;
    }
    let rows = by_output(model)?;
    let names = model.features.names();
    if rows.iter().any(|row| row.len() != names.len()) {
        return None;
    }
    let largest = |j: usize| rows.iter().map(|row| row[j].abs()).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..names.len()).filter(|j| largest(*j) > 0.0).collect();
    order.sort_by(|a, b| largest(*b).total_cmp(&largest(*a)));
    order.truncate(MAX_FEATURES);
    if order.is_empty() {
        return None;
    }
    let classes: Vec<String> = (model.fitted.model.as_model().classifier())
        .map_or_else(Vec::new, |m| m.classes().labels().iter().map(ToString::to_string).collect());
    let bars = match rows.as_slice() {
        [only] => {
            // Horizontal bars are drawn from below.
            let bars = order.iter().rev().map(|j| (names[*j].clone(), only[*j]));
            BarPlot::new()
                .with_bars(bars.collect::<Vec<_>>())
                .with_color(COLORS[0])
                .with_horizontal(true)
        }
        several => {
            let groups = order.iter().take(8).fold(BarPlot::new(), |plot, j| {
                let values = several.iter().enumerate().map(|(c, row)| (row[*j], class_color(c)));
                plot.with_group(names[*j].clone(), values)
            });
            groups.with_legend(classes.iter().map(String::as_str).collect())
        }
    };
    let single = rows.len() == 1;
    let plots = vec![Plot::Bar(bars)];
    let title = match classes.as_slice() {
        [_, second] => format!("Coefficients of the score of {second}"),
        _ => "Coefficients".to_owned(),
    };
    let height = if single { 120.0 + 22.0 * order.len() as f64 } else { 420.0 };
    let layout = Layout::auto_from_plots(&plots)
        .with_title(title)
        .with_width(if single { 620.0 } else { 820.0 })
        .with_height(height.max(260.0));
    Some(render_multiple(plots, layout))
}

/// The coefficients of each output: one row for a regressor and for two classes, else a row per class.
fn by_output(model: &Trained) -> Option<Vec<Vec<f64>>> {
    let able = model.fitted.model.as_model();
    if let Some(linear) = able.linear_model() {
        return Some(vec![linear.terms().coefficients.to_vec()]);
    }
    if let Some(matrix) = able.discriminant().and_then(|m| m.derived("coefficients")) {
        return Some(contrast(matrix.outer_iter().map(|row| row.to_vec()).collect()));
    }
    able.additive_scores()?;
    let matrix = model.fitted.model.fields().get("coefficients")?.clone();
    let matrix: Matrix = matrix.into_value().ok()?;
    let rows: Vec<Vec<f64>> = matrix.outer_iter().map(|row| row.to_vec()).collect();
    (!rows.is_empty()).then(|| contrast(rows))
}

/// For two classes, the coefficients of the second minus those of the first.
fn contrast(rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    match rows.as_slice() {
        [first, second] => vec![second.iter().zip(first).map(|(b, a)| b - a).collect()],
        _ => rows,
    }
}
