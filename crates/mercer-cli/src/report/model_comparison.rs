//! Several models in one picture: their posteriors over one column, or their borders in a plane of two.

use super::plot::{COLORS, save};
use crate::failure::Result;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use mercer::data::{Classes, Column, Table, Values};
use mercer::train::Trained;
use mercer_num::Matrix;
use std::path::Path;

/// Steps along a curve.
const STEPS: usize = 240;
/// Steps along each side of a plane.
const SIDE: usize = 160;

/// A row and the code of its class.
type Point = (Vec<f64>, u32);

/// Saves the picture; rows have one number or two.
pub fn save_compared(
    path: &Path,
    models: &[Trained],
    points: &[Point],
    classes: &Classes,
) -> Result<()> {
    let names: Vec<String> =
        models[0].features.schema.fields.iter().map(|field| field.name.clone()).collect();
    let (plots, labels) = match names.as_slice() {
        [x] => (posteriors(models, points, classes)?, (x.clone(), probability_of(classes))),
        [x, y, ..] => (borders(models, points, classes)?, (x.clone(), y.clone())),
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

/// What the curves are of.
fn probability_of(classes: &Classes) -> String {
    match classes.labels() {
        [_, second] => format!("P({second})"),
        _ => "P(class)".to_owned(),
    }
}

/// The smallest and the largest value of a coordinate, with some room around.
fn range(points: &[Point], k: usize) -> (f64, f64) {
    let values = || points.iter().map(|(row, _)| row[k]);
    let (low, high) =
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let room = 0.05 * (high - low).max(1e-9 * high.abs()).max(f64::MIN_POSITIVE);
    (low - room, high + room)
}

/// Numbers from the one end to the other.
fn steps((low, high): (f64, f64), n: usize) -> Vec<f64> {
    (0..=n).map(|k| low + (high - low) * k as f64 / n as f64).collect()
}

/// What a model says about rows as a table has them: probabilities, or where it has none, certainty.
fn proba(model: &Trained, columns: Vec<Vec<f64>>) -> Result<Matrix> {
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

/// One curve a model, or, where there are more than two classes, one a model and class; the rows lie below
/// and above at their class.
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
    let xs = steps(range(points, 0), STEPS);
    for (m, model) in models.iter().enumerate() {
        let proba = proba(model, vec![xs.clone()])?;
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

/// The rows by class, and for every model dots along the borders between its answers.
fn borders(models: &[Trained], points: &[Point], classes: &Classes) -> Result<Vec<Plot>> {
    let mut plots = Vec::new();
    for (c, label) in classes.labels().iter().enumerate() {
        let of_class = points.iter().filter(|(_, code)| *code as usize == c);
        let marks: Vec<(f64, f64)> = of_class.map(|(row, _)| (row[0], row[1])).collect();
        let marks = ScatterPlot::new().with_data(marks).with_color(COLORS[c % COLORS.len()]);
        plots.push(Plot::Scatter(marks.with_size(3.0).with_legend(label.to_string())));
    }
    let (xs, ys) = (steps(range(points, 0), SIDE), steps(range(points, 1), SIDE));
    for (m, model) in models.iter().enumerate() {
        let wide = xs.len();
        let grid = |k: usize| {
            (0..wide * ys.len()).map(|i| if k == 0 { xs[i % wide] } else { ys[i / wide] }).collect()
        };
        let rows = encoded(model, vec![grid(0), grid(1)])?;
        let Some(able) = model.fitted.model.as_model().classifier() else { continue };
        let scores = able.scores(&rows.rows())?;
        let winners = mercer::model::argmax_rows(&scores);
        let mut dots = Vec::new();
        let mut edge = |a: usize, b: usize| {
            let (one, other) = (winners[a] as usize, winners[b] as usize);
            if one == other {
                return;
            }
            // Where the two are equal on the way from one place to the other.
            let (at_a, at_b) =
                (scores[[a, one]] - scores[[a, other]], scores[[b, other]] - scores[[b, one]]);
            let share = if at_a + at_b > 0.0 { at_a / (at_a + at_b) } else { 0.5 };
            let share = if share.is_finite() { share } else { 0.5 };
            let along = |from: f64, to: f64| from + share * (to - from);
            dots.push((along(xs[a % wide], xs[b % wide]), along(ys[a / wide], ys[b / wide])));
        };
        for i in 0..winners.len() {
            if i % wide + 1 < wide {
                edge(i, i + 1);
            }
            if i + wide < winners.len() {
                edge(i, i + wide);
            }
        }
        let color = COLORS[(classes.len() + m) % COLORS.len()];
        let line = ScatterPlot::new().with_data(dots).with_color(color).with_size(1.1);
        plots.push(Plot::Scatter(line.with_legend(model.estimator.id())));
    }
    Ok(plots)
}
