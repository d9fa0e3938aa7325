//! The boundaries of a classifier over two columns, with the margin, support vectors and slacks of a support vector
//! machine; and the margins of the rows for any number of columns.

use super::contour::{Edge, Grid, Point, clipped, nearest, outlines};
use super::rows::{Axis, POINTS_PER_AXIS, PlotRows, on_grid, points, range_of, spaced};
use super::style::{
    GRAY, INK, SLACK, Stroke, class_points, histograms, layout, line, lines, rings, within,
};
use super::support::{is_support, tolerance};
use crate::failure::Result;
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use mercer::data::Classes;
use mercer::train::Trained;
use mercer_num::Matrix;
use std::collections::{BTreeMap, BTreeSet};

/// Bins of the histogram of margins.
const N_BINS: usize = 30;
/// Steps of the search for a boundary between two grid points.
const N_BISECTIONS: usize = 7;

/// The decision boundary over two columns. With two classes and a support vector machine also the edges of its margin,
/// and, if the model has no other columns, the slacks as segments to the edge.
pub fn margin(
    model: &Trained,
    rows: &PlotRows,
    classes: &Classes,
    named: &[String],
) -> Result<Scene> {
    let axes = rows.axes(model, named, 2)?;
    let [xs, ys] = [0, 1].map(|k| spaced(axes[k].range, POINTS_PER_AXIS));
    let able = model.fitted.model.as_model();
    let names: Vec<String> = classes.labels().iter().map(ToString::to_string).collect();
    let mut plots = Vec::new();
    let street = able.decision_function().filter(|_| classes.len() <= 2 && is_svm(model));
    match street {
        Some(function) => {
            let grid_rows = rows.grid(model, &axes)?;
            let decisions = function.decisions(&grid_rows.rows())?.column(0).to_vec();
            let f = on_grid(&xs, &ys, decisions);
            plots.extend(lines(f.level_lines(0.0), INK, Stroke::Solid, Some("boundary f = 0")));
            if classes.len() == 2 {
                let edges =
                    [-1.0, 1.0].into_iter().flat_map(|level| f.level_lines(level)).collect();
                plots.extend(lines(edges, GRAY, Stroke::Dashed, Some("margin f = ±1")));
                if model.features.schema.fields.len() == 2 {
                    let decisions = function.decisions(&rows.encoded.rows())?.column(0).to_vec();
                    plots.extend(slacks(model, rows, &axes, &f, &decisions));
                }
            }
        }
        None => {
            if let Some(classifier) = able.classifier() {
                let found = boundaries(&xs, &ys, &|x, y| {
                    let points = rows.slice(model, &axes, vec![x, y])?;
                    Ok(classifier.predict(&points.rows())?)
                })?;
                plots.extend(lines(found, INK, Stroke::Solid, Some("boundary")));
            }
        }
    }
    let all = points(&axes);
    match names.is_empty() {
        true => plots.extend(class_points(&all, &vec![0; all.len()], &["rows".to_owned()], 3.2)),
        false => plots.extend(class_points(&all, rows.codes(), &names, 3.2)),
    }
    let support = is_support(model, rows)?;
    let ringed: Vec<Point> =
        all.iter().zip(&support).filter(|(_, is)| **is).map(|(p, _)| *p).collect();
    if !ringed.is_empty() {
        let legend = format!("support vectors ({}), ringed", ringed.len());
        plots.push(rings(ringed, &legend));
    }
    let layout = layout(&plots, model.estimator.id(), &axes[0].name, &axes[1].name);
    Ok(render_multiple(plots, within(layout, axes[0].range, Some(axes[1].range))))
}

/// Whether the decision function has a margin at ±1.
pub fn is_svm(model: &Trained) -> bool {
    matches!(model.estimator.id(), "svc" | "nu-svc" | "linear-svc" | "one-class-svm")
}

/// The slack of every row inside its margin, as a segment to the edge of the margin of its class.
fn slacks(
    model: &Trained,
    rows: &PlotRows,
    axes: &[Axis],
    f: &Grid,
    decisions: &[f64],
) -> Vec<Plot> {
    let tolerance = tolerance(model);
    let edges = [f.level_lines(-1.0), f.level_lines(1.0)];
    let gradient = f.affine_gradient();
    let mut segments = Vec::new();
    for (i, point) in points(axes).into_iter().enumerate() {
        let Some(code) = rows.codes().get(i).filter(|code| **code < 2) else { continue };
        let sign = 2.0 * f64::from(*code) - 1.0;
        if 1.0 - sign * decisions[i] <= tolerance {
            continue;
        }
        let end = match gradient {
            // The foot of the perpendicular, also where it lies outside the picture.
            Some((a, b)) => {
                let step = (sign - decisions[i]) / (a * a + b * b);
                Some((point.0 + step * a, point.1 + step * b))
            }
            None => nearest(point, &edges[*code as usize]),
        };
        let inside = end.and_then(|end| clipped((point, end), axes[0].range, axes[1].range));
        segments.extend(inside.map(|(a, b)| vec![a, b]));
    }
    let mut plots = lines(segments, SLACK, Stroke::Solid, Some("slack ξ"));
    for plot in &mut plots {
        if let Plot::Line(line) = plot {
            line.stroke_width = 1.0;
        }
    }
    plots
}

/// The lines between the regions of the classes that `predict` gives to points, as vectors of both coordinates. Where
/// the class changes along an edge of the grid is found by bisection, because the votes of pairs of classes jump.
pub fn boundaries(
    xs: &[f64],
    ys: &[f64],
    predict: &dyn Fn(Vec<f64>, Vec<f64>) -> Result<Vec<u32>>,
) -> Result<Vec<Vec<Point>>> {
    let (wide, high) = (xs.len(), ys.len());
    let across = ys.iter().flat_map(|_| xs.iter().copied()).collect();
    let up = ys.iter().flat_map(|y| xs.iter().map(|_| *y)).collect();
    let codes = predict(across, up)?;
    let code = |i: usize, j: usize| codes[j * wide + i];
    let mut edges = Vec::new();
    for j in 0..high {
        for i in 0..wide {
            let both = [false, true].map(|upright| Edge { i, j, upright });
            edges.extend(both.into_iter().filter(|edge| {
                let (a, b) = edge.end();
                a < wide && b < high && code(i, j) != code(a, b)
            }));
        }
    }
    let mut bounds = vec![(0.0f64, 1.0f64); edges.len()];
    let at = |edge: &Edge, t: f64| {
        let (i, j) = edge.end();
        (xs[edge.i] + t * (xs[i] - xs[edge.i]), ys[edge.j] + t * (ys[j] - ys[edge.j]))
    };
    for _ in 0..if edges.is_empty() { 0 } else { N_BISECTIONS } {
        let middles = edges.iter().zip(&bounds).map(|(edge, (a, b))| at(edge, 0.5 * (a + b)));
        let (x, y): (Vec<f64>, Vec<f64>) = middles.unzip();
        for ((edge, bound), found) in edges.iter().zip(&mut bounds).zip(predict(x, y)?) {
            let middle = 0.5 * (bound.0 + bound.1);
            let same = found == code(edge.i, edge.j);
            *bound = if same { (middle, bound.1) } else { (bound.0, middle) };
        }
    }
    let found = edges.iter().zip(&bounds).map(|(edge, (a, b))| (*edge, at(edge, 0.5 * (a + b))));
    let crossings: BTreeMap<Edge, Point> = found.collect();
    let mut present: Vec<u32> = codes.clone();
    present.sort_unstable();
    present.dedup();
    let (mut lines, mut drawn) = (Vec::new(), BTreeSet::new());
    for c in present {
        let inside = |i: usize, j: usize| code(i, j) == c;
        let crossing = |edge: Edge| crossings[&edge];
        lines.extend(outlines((wide, high), &inside, &|_, _| true, &crossing, &mut drawn));
    }
    Ok(lines)
}

/// Per row and class, the score of the class minus the best other score.
fn margins(scores: &Matrix) -> Matrix {
    let best_other = |i: usize, c: usize| {
        let others = scores.row(i).into_iter().enumerate().filter(|(k, _)| *k != c);
        others.map(|(_, s)| *s).fold(f64::NEG_INFINITY, f64::max)
    };
    Matrix::from_shape_fn(scores.dim(), |(i, c)| scores[[i, c]] - best_other(i, c))
}

/// The decision values of the rows of two classes, or the margins of the rows of more: the score of the true class
/// minus the best other score. Works for any number of columns.
pub fn decision_values(model: &Trained, rows: &PlotRows, classes: &Classes) -> Result<Scene> {
    let able = model.fitted.model.as_model();
    let two = classes.len() == 2;
    let (values, label) = match able.decision_function().filter(|_| two) {
        Some(function) => {
            let decisions = function.decisions(&rows.encoded.rows())?;
            let label = format!("decision value f(x), positive for {}", classes.labels()[1]);
            (decisions.column(0).to_vec(), label)
        }
        None => {
            let classifier =
                able.classifier().ok_or_else(|| model.estimator.unable("be plotted by class"))?;
            let margins = margins(&classifier.scores(&rows.encoded.rows())?);
            let own = rows.codes().iter().enumerate();
            // A row of an unknown class has no margin.
            let own = own.map(|(i, c)| margins.get((i, *c as usize)).copied().unwrap_or(f64::NAN));
            let own = own.collect();
            (own, "score of the true class minus the best other score".to_owned())
        }
    };
    let names: Vec<String> = classes.labels().iter().map(ToString::to_string).collect();
    let range = range_of(&values).unwrap_or((-1.0, 1.0));
    let (mut plots, tallest) = histograms(&values, rows.codes(), &names, range, N_BINS);
    let upright = |x: f64| vec![(x, 0.0), (x, tallest)];
    let boundary = line(upright(0.0), INK, Stroke::Solid);
    plots.push(Plot::Line(boundary.with_legend("boundary")));
    if two && is_svm(model) {
        plots.extend(lines(
            vec![upright(-1.0), upright(1.0)],
            GRAY,
            Stroke::Dashed,
            Some("margin"),
        ));
    }
    let layout = layout(&plots, model.estimator.id(), &label, "rows");
    Ok(render_multiple(plots, layout))
}
