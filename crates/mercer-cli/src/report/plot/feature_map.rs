//! The rows before and after a feature map, as `x → (x, x²)`, with the boundary of the classifier in both spaces.

use super::contour::Point;
use super::decision::{boundaries, is_svm};
use super::rows::{POINTS_PER_AXIS, PlotRows, on_grid, points, range_of, spaced};
use super::style::{GRAY, INK, Stroke, class_points, layout, lines, within};
use crate::failure::{Failure, Result};
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::Scene;
use mercer::data::{Classes, Kind};
use mercer::train::Trained;
use mercer_num::{Matrix, Rows};

/// The size of the points.
const POINT_SIZE: f64 = 3.2;

/// Two panels: the rows over the one or two numeric columns of the model, and over two of the mapped features: the
/// first two, or those named.
pub fn feature_map(
    model: &Trained,
    rows: &PlotRows,
    classes: &Classes,
    named: &[String],
) -> Result<Scene> {
    let Some(map) = &model.features.map else {
        return Err(Failure::Usage(format!(
            "`{}` was trained without a feature map; add one, as in `mercer train rows.csv --model linear-svc \
             --features poly:2`",
            model.estimator.id()
        )));
    };
    let names: Vec<String> = match classes.is_empty() {
        true => vec!["rows".into()],
        false => classes.labels().iter().map(ToString::to_string).collect(),
    };
    let codes = match classes.is_empty() {
        true => vec![0; rows.table.n_rows()],
        false => rows.codes().to_vec(),
    };
    let (before, layout_before) = before(model, rows, &names, &codes)?;
    let (after, layout_after) = after(model, rows, &names, &codes, named)?;
    let layout_after = layout_after.with_title(format!("after {}", map.spec));
    Ok(Figure::new(1, 2)
        .with_plots(vec![before, after])
        .with_layouts(vec![layout_before, layout_after])
        .with_cell_size(520.0, 440.0)
        .render())
}

/// The rows over their own columns.
fn before(
    model: &Trained,
    rows: &PlotRows,
    names: &[String],
    codes: &[u32],
) -> Result<(Vec<Plot>, Layout)> {
    let fields = &model.features.schema.fields;
    if fields.len() > 2 || fields.iter().any(|field| field.kind != Kind::Numeric) {
        return Err(Failure::Usage(format!(
            "the plot shows a model of one or two numeric columns, but this one has {}; train with --use NAME",
            fields.len()
        )));
    }
    let axes = rows.axes(model, &[], fields.len())?;
    if let [axis] = &axes[..] {
        let on_line: Vec<Point> = axis.values.iter().map(|x| (*x, 0.0)).collect();
        let plots = class_points(&on_line, codes, names, POINT_SIZE);
        let layout = layout(&plots, "one column", &axis.name, "");
        return Ok((plots, within(layout, axis.range, Some((-1.0, 1.0)))));
    }
    let [xs, ys] = [0, 1].map(|k| spaced(axes[k].range, POINTS_PER_AXIS));
    let mut plots = Vec::new();
    if let Some(classifier) = model.fitted.model.as_model().classifier() {
        let found = boundaries(&xs, &ys, &|x, y| {
            Ok(classifier.predict(&rows.slice(model, &axes, vec![x, y])?.rows())?)
        })?;
        plots.extend(lines(found, INK, Stroke::Solid, Some("boundary")));
    }
    plots.extend(class_points(&points(&axes), codes, names, POINT_SIZE));
    let layout = layout(&plots, "two columns", &axes[0].name, &axes[1].name);
    Ok((plots, within(layout, axes[0].range, Some(axes[1].range))))
}

/// The rows over two mapped features; with the boundary if the map has no others.
fn after(
    model: &Trained,
    rows: &PlotRows,
    names: &[String],
    codes: &[u32],
    named: &[String],
) -> Result<(Vec<Plot>, Layout)> {
    let features = model.features.names();
    let [a, b] = shown(&features, named)?;
    let mapped = rows.encoded.rows();
    let values: Vec<Point> = (0..mapped.n_rows())
        .map(|i| {
            let row = mapped.row(i);
            (row[a], row[b])
        })
        .collect();
    let [across, up]: [Vec<f64>; 2] = values.iter().copied().unzip::<_, _, _, Vec<_>>().into();
    let (Some(x_range), Some(y_range)) = (range_of(&across), range_of(&up)) else {
        return Err(Failure::Data("the mapped features have no finite value to draw".into()));
    };
    let mut plots = match features.len() {
        2 => boundary_of_features(model, a > b, x_range, y_range)?,
        _ => Vec::new(),
    };
    plots.extend(class_points(&values, codes, names, POINT_SIZE));
    let layout = layout(&plots, "", &features[a], &features[b]);
    Ok((plots, within(layout, x_range, Some(y_range))))
}

/// The indices of the features on the axes.
fn shown(features: &[String], named: &[String]) -> Result<[usize; 2]> {
    let index = |name: &String| {
        features.iter().position(|feature| feature == name).ok_or_else(|| {
            let known = features.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
            Failure::Usage(format!("--axis {name}: no such mapped feature; there are {known}"))
        })
    };
    match named {
        [] if features.len() >= 2 => Ok([0, 1]),
        [a, b] => Ok([index(a)?, index(b)?]),
        _ => Err(Failure::Usage(format!(
            "the plot shows two mapped features; name both with --axis, of {}",
            features.iter().take(20).cloned().collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// The boundary of a classifier of two features, and the edges of the margin of a support vector machine.
fn boundary_of_features(
    model: &Trained,
    exchanged: bool,
    x_range: (f64, f64),
    y_range: (f64, f64),
) -> Result<Vec<Plot>> {
    let able = model.fitted.model.as_model();
    let (xs, ys) = (spaced(x_range, POINTS_PER_AXIS), spaced(y_range, POINTS_PER_AXIS));
    let features = |x: &[f64], y: &[f64]| {
        let (first, second) = if exchanged { (y, x) } else { (x, y) };
        Matrix::from_shape_fn((x.len(), 2), |(i, j)| if j == 0 { first[i] } else { second[i] })
    };
    let two_classes = able.classifier().is_some_and(|model| model.classes().len() == 2);
    if let Some(function) = able.decision_function().filter(|_| two_classes && is_svm(model)) {
        let across: Vec<f64> = ys.iter().flat_map(|_| xs.iter().copied()).collect();
        let up: Vec<f64> = ys.iter().flat_map(|y| xs.iter().map(|_| *y)).collect();
        let decisions = function.decisions(&Rows::from(&features(&across, &up)))?;
        let f = on_grid(&xs, &ys, decisions.column(0).to_vec());
        let edges = [-1.0, 1.0].into_iter().flat_map(|level| f.level_lines(level)).collect();
        let mut plots = lines(f.level_lines(0.0), INK, Stroke::Solid, Some("boundary f = 0"));
        plots.extend(lines(edges, GRAY, Stroke::Dashed, Some("margin f = ±1")));
        return Ok(plots);
    }
    let Some(classifier) = able.classifier() else { return Ok(Vec::new()) };
    let found =
        boundaries(&xs, &ys, &|x, y| Ok(classifier.predict(&Rows::from(&features(&x, &y)))?))?;
    Ok(lines(found, INK, Stroke::Solid, Some("boundary")))
}
