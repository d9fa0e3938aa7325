//! Several classifiers in one plot: their posterior probabilities over one column, or their decision boundaries over
//! two.

use super::{COLORS, save};
use crate::failure::Result;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use mercer::data::{Classes, Column, Table, Values};
use mercer::train::Trained;
use mercer_num::Matrix;
use std::path::Path;

/// Points of a curve.
const POINTS_PER_CURVE: usize = 240;
/// Grid points along each axis.
const POINTS_PER_AXIS: usize = 160;

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
    let layout = Layout::auto_from_plots(&plots)
        .with_title(models.iter().map(|m| m.estimator.id()).collect::<Vec<_>>().join(" and "))
        .with_x_label(labels.0)
        .with_y_label(labels.1)
        .with_width(760.0)
        .with_height(480.0);
    save(path, render_multiple(plots, layout))
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

/// Equally spaced values of a range.
fn grid_points((low, high): (f64, f64), n: usize) -> Vec<f64> {
    (0..=n).map(|k| low + (high - low) * k as f64 / n as f64).collect()
}

/// The posterior probabilities of rows; 0 and 1 for a model without probabilities.
fn probabilities(model: &Trained, columns: Vec<Vec<f64>>) -> Result<Matrix> {
    let rows = encoded(model, columns)?;
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

fn encoded(model: &Trained, columns: Vec<Vec<f64>>) -> Result<mercer::preprocess::Encoded> {
    let fields = model.features.schema.fields.iter();
    let columns = fields
        .zip(columns)
        .map(|(field, values)| Column { name: field.name.clone(), values: Values::Numeric(values) })
        .collect();
    Ok(model.features.encode(&Table::new(columns)?, None)?)
}

/// One curve per model, or one per model and class if there are more than two classes; the training rows are drawn
/// below and above the curves.
fn posteriors(models: &[Trained], points: &[Point], classes: &Classes) -> Result<Vec<Plot>> {
    let mut plots = Vec::new();
    let two = classes.len() == 2;
    for (c, label) in classes.labels().iter().enumerate() {
        let height = if two { c as f64 } else { -0.04 * (c as f64 + 1.0) };
        let of_class = points.iter().filter(|(_, code)| *code as usize == c);
        let marks: Vec<(f64, f64)> = of_class.map(|(row, _)| (row[0], height)).collect();
        let color = COLORS[(models.len() * usize::from(two) + c) % COLORS.len()];
        let marks = ScatterPlot::new().with_data(marks).with_color(color).with_size(2.5);
        plots.push(Plot::Scatter(marks.with_marker_opacity(0.5).with_legend(label.to_string())));
    }
    let xs = grid_points(range(points, 0), POINTS_PER_CURVE);
    for (m, model) in models.iter().enumerate() {
        let proba = probabilities(model, vec![xs.clone()])?;
        let shown = if two { 1..2 } else { 0..classes.len() };
        for c in shown {
            let curve: Vec<(f64, f64)> =
                xs.iter().enumerate().map(|(i, x)| (*x, proba[[i, c]])).collect();
            let (color, legend) = match two {
                true => (COLORS[m % COLORS.len()], model.estimator.id().to_owned()),
                false => (
                    COLORS[c % COLORS.len()],
                    format!("{}: {}", model.estimator.id(), classes.labels()[c]),
                ),
            };
            let line = LinePlot::new().with_data(curve).with_color(color).with_legend(legend);
            plots.push(Plot::Line(match m % 3 {
                0 => line,
                1 => line.with_dashed(),
                _ => line.with_dotted(),
            }));
        }
    }
    Ok(plots)
}

/// The training rows by class, and for every model points along its decision boundaries.
fn boundaries(models: &[Trained], points: &[Point], classes: &Classes) -> Result<Vec<Plot>> {
    let mut plots = Vec::new();
    for (c, label) in classes.labels().iter().enumerate() {
        let of_class = points.iter().filter(|(_, code)| *code as usize == c);
        let marks: Vec<(f64, f64)> = of_class.map(|(row, _)| (row[0], row[1])).collect();
        let marks = ScatterPlot::new().with_data(marks).with_color(COLORS[c % COLORS.len()]);
        plots.push(Plot::Scatter(marks.with_size(3.0).with_legend(label.to_string())));
    }
    let (xs, ys) = (
        grid_points(range(points, 0), POINTS_PER_AXIS),
        grid_points(range(points, 1), POINTS_PER_AXIS),
    );
    for (m, model) in models.iter().enumerate() {
        let wide = xs.len();
        let grid = |k: usize| {
            (0..wide * ys.len()).map(|i| if k == 0 { xs[i % wide] } else { ys[i / wide] }).collect()
        };
        let rows = encoded(model, vec![grid(0), grid(1)])?;
        let Some(able) = model.fitted.model.as_model().classifier() else { continue };
        let scores = able.scores(&rows.rows())?;
        let predicted = mercer::model::argmax_rows(&scores);
        let mut dots = Vec::new();
        let mut edge = |a: usize, b: usize| {
            let (one, other) = (predicted[a] as usize, predicted[b] as usize);
            if one == other {
                return;
            }
            // The point between the two grid points where the two scores are equal.
            let (at_a, at_b) =
                (scores[[a, one]] - scores[[a, other]], scores[[b, other]] - scores[[b, one]]);
            let fraction = if at_a + at_b > 0.0 { at_a / (at_a + at_b) } else { 0.5 };
            let fraction = if fraction.is_finite() { fraction } else { 0.5 };
            let along = |from: f64, to: f64| from + fraction * (to - from);
            dots.push((along(xs[a % wide], xs[b % wide]), along(ys[a / wide], ys[b / wide])));
        };
        for i in 0..predicted.len() {
            if i % wide + 1 < wide {
                edge(i, i + 1);
            }
            if i + wide < predicted.len() {
                edge(i, i + wide);
            }
        }
        let color = COLORS[(classes.len() + m) % COLORS.len()];
        let line = ScatterPlot::new().with_data(dots).with_color(color).with_size(1.1);
        plots.push(Plot::Scatter(line.with_legend(model.estimator.id())));
    }
    Ok(plots)
}
