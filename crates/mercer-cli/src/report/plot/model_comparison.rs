//! Several classifiers in one plot: their posterior probabilities over one column, or their decision boundaries over
//! two.

use super::rows::{POINTS_PER_AXIS, POINTS_PER_CURVE, PlotRows, spaced};
use super::style::{Stroke, class_color, class_points, layout, line, lines, model_color, within};
use super::{decision, save};
use crate::failure::Result;
use kuva::plot::ScatterPlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use mercer::data::{Classes, Column, Table, Values};
use mercer::preprocess::Encoded;
use mercer::train::Trained;
use mercer_num::Matrix;
use std::path::Path;

/// A row and the code of its class.
type Point = (Vec<f64>, u32);

/// Saves the plot of models with one or two numeric columns.
pub fn save_comparison(
    path: &Path,
    models: &[Trained],
    points: &[Point],
    classes: &Classes,
) -> Result<()> {
    let names: Vec<String> =
        models[0].features.schema.fields.iter().map(|field| field.name.clone()).collect();
    let (plots, labels) = match names.as_slice() {
        [x] => (posteriors(models, points, classes)?, (x.clone(), probability_of(classes))),
        [x, y, ..] => (boundaries(models, points, classes)?, (x.clone(), y.clone())),
        [] => return Ok(()),
    };
    let vertical = match names.len() {
        1 => probability_range(classes),
        _ => range(points, 1),
    };
    let layout = Layout::auto_from_plots(&plots)
        .with_title(models.iter().map(|m| m.estimator.id()).collect::<Vec<_>>().join(" and "))
        .with_x_label(labels.0)
        .with_y_label(labels.1)
        .with_width(760.0)
        .with_height(480.0);
    save(path, render_multiple(plots, within(layout, range(points, 0), Some(vertical))))
}

/// The range of the vertical axis: probabilities, and the rows at 0 and 1 or below.
fn probability_range(classes: &Classes) -> (f64, f64) {
    let lowest = if classes.len() == 2 { 0.0 } else { -0.04 * classes.len() as f64 };
    (lowest - 0.04, 1.04)
}

/// The label of the vertical axis.
fn probability_of(classes: &Classes) -> String {
    match classes.labels() {
        [_, second] => format!("P({second})"),
        _ => "P(class)".to_owned(),
    }
}

/// The range of a coordinate, with a margin.
fn range(points: &[Point], k: usize) -> (f64, f64) {
    let values = || points.iter().map(|(row, _)| row[k]);
    let (low, high) =
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let margin = 0.05 * (high - low).max(1e-9 * high.abs()).max(f64::MIN_POSITIVE);
    (low - margin, high + margin)
}

/// The posterior probabilities of rows; 0 and 1 for a model without probabilities.
fn probabilities(model: &Trained, rows: &Encoded) -> Result<Matrix> {
    let able = model.fitted.model.as_model();
    if let Some(able) = able.probabilistic() {
        return Ok(able.log_proba(&rows.rows())?.mapv(f64::exp));
    }
    let Some(able) = able.classifier() else { return Ok(Matrix::zeros((0, 0))) };
    let codes = able.predict(&rows.rows())?;
    let n_classes = able.classes().len();
    Ok(Matrix::from_shape_fn((codes.len(), n_classes), |(i, c)| {
        f64::from(u8::from(codes[i] as usize == c))
    }))
}

fn encoded(model: &Trained, columns: Vec<Vec<f64>>) -> Result<Encoded> {
    let fields = model.features.schema.fields.iter();
    let columns = fields
        .zip(columns)
        .map(|(field, values)| Column { name: field.name.clone(), values: Values::Numeric(values) })
        .collect();
    Ok(model.features.encode(&Table::new(columns)?, None)?)
}

/// The posterior probabilities of one model over one column; other columns are fixed at their mean.
pub fn posterior(
    model: &Trained,
    rows: &PlotRows,
    classes: &Classes,
    named: &[String],
) -> Result<Scene> {
    if classes.is_empty() {
        return Err(model.estimator.unable("be plotted by posterior probabilities").into());
    }
    let axis = rows.axes(model, named, 1)?.remove(0);
    let finite = axis.values.iter().zip(rows.codes()).filter(|(x, _)| x.is_finite());
    let points: Vec<Point> = finite.map(|(x, code)| (vec![*x], *code)).collect();
    let xs = spaced(range(&points, 0), POINTS_PER_CURVE);
    let slice = rows.slice(model, std::slice::from_ref(&axis), vec![xs.clone()])?;
    let proba = probabilities(model, &slice)?;
    let plots = curves(&[(model, proba)], &xs, &points, classes);
    let layout = layout(&plots, model.estimator.id(), &axis.name, &probability_of(classes));
    Ok(render_multiple(plots, within(layout, range(&points, 0), Some(probability_range(classes)))))
}

/// One curve per model, or one per model and class if there are more than two classes; the training rows are drawn
/// below and above the curves.
fn posteriors(models: &[Trained], points: &[Point], classes: &Classes) -> Result<Vec<Plot>> {
    let xs = spaced(range(points, 0), POINTS_PER_CURVE);
    let mut found = Vec::new();
    for model in models {
        found.push((model, probabilities(model, &encoded(model, vec![xs.clone()])?)?));
    }
    Ok(curves(&found, &xs, points, classes))
}

fn curves(
    models: &[(&Trained, Matrix)],
    xs: &[f64],
    points: &[Point],
    classes: &Classes,
) -> Vec<Plot> {
    let mut plots = Vec::new();
    let two = classes.len() == 2;
    for (c, label) in classes.labels().iter().enumerate() {
        let height = if two { c as f64 } else { -0.04 * (c as f64 + 1.0) };
        let of_class = points.iter().filter(|(_, code)| *code as usize == c);
        let marks: Vec<(f64, f64)> = of_class.map(|(row, _)| (row[0], height)).collect();
        let marks = ScatterPlot::new().with_data(marks).with_color(class_color(c)).with_size(2.5);
        plots.push(Plot::Scatter(marks.with_marker_opacity(0.5).with_legend(label.to_string())));
    }
    for (m, (model, proba)) in models.iter().enumerate() {
        let shown = if two { 1..2 } else { 0..classes.len() };
        for c in shown {
            let curve: Vec<(f64, f64)> =
                xs.iter().enumerate().map(|(i, x)| (*x, proba[[i, c]])).collect();
            // The curve of the only class shown has the color of its model, others the color of their class.
            let (color, legend) = match two {
                true => (model_color(m), model.estimator.id().to_owned()),
                false => {
                    (class_color(c), format!("{}: {}", model.estimator.id(), classes.labels()[c]))
                }
            };
            let curve = line(curve, color, Stroke::of_model(m));
            plots.push(Plot::Line(curve.with_legend(legend)));
        }
    }
    plots
}

/// The training rows by class, and the decision boundaries of every model.
fn boundaries(models: &[Trained], points: &[Point], classes: &Classes) -> Result<Vec<Plot>> {
    let names: Vec<String> = classes.labels().iter().map(ToString::to_string).collect();
    let marks: Vec<(f64, f64)> = points.iter().map(|(row, _)| (row[0], row[1])).collect();
    let codes: Vec<u32> = points.iter().map(|(_, code)| *code).collect();
    let mut plots = class_points(&marks, &codes, &names, 3.0);
    let xs = spaced(range(points, 0), POINTS_PER_AXIS);
    let ys = spaced(range(points, 1), POINTS_PER_AXIS);
    for (m, model) in models.iter().enumerate() {
        let Some(able) = model.fitted.model.as_model().classifier() else { continue };
        let found = decision::boundaries(&xs, &ys, &|x, y| {
            Ok(able.predict(&encoded(model, vec![x, y])?.rows())?)
        })?;
        let legend = Some(model.estimator.id());
        plots.extend(lines(found, model_color(m), Stroke::of_model(m), legend));
    }
    Ok(plots)
}
