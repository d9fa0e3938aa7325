//! The function of a regressor over one column, with the ε-tube, support vectors and slacks of support vector
//! regression.

use super::rows::{POINTS_PER_CURVE, PlotRows, range_of, spaced};
use super::style::{COLORS, GRAY, INK, SLACK, Stroke, layout, line, lines, rings, within};
use super::support::{deviation, epsilon, is_support, tolerance};
use crate::failure::Result;
use kuva::plot::ScatterPlot;
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use mercer::data::Kind;
use mercer::train::Trained;

/// The function over one column; over the prediction itself if the model has several columns and none is named, where
/// the tube is the band around the diagonal.
pub fn tube(model: &Trained, rows: &PlotRows, named: &[String]) -> Result<Scene> {
    let able = model.fitted.model.as_model();
    let Some(regressor) = able.regressor() else {
        return Err(model.estimator.unable("be plotted as a function: it is no regressor").into());
    };
    let targets = &rows.encoded.targets;
    let predicted = regressor.predict(&rows.encoded.rows())?;
    let fields = &model.features.schema.fields;
    let one = fields.len() == 1 && fields[0].kind == Kind::Numeric;
    let (x, curve, label) = if one || !named.is_empty() {
        let axis = rows.axes(model, named, 1)?.remove(0);
        let xs = spaced(axis.range, POINTS_PER_CURVE);
        let (label, values) = (axis.name.clone(), axis.values.clone());
        let slice = rows.slice(model, std::slice::from_ref(&axis), vec![xs.clone()])?;
        let function = regressor.predict(&slice.rows())?;
        (values, xs.into_iter().zip(function).collect::<Vec<_>>(), label)
    } else {
        let range = range_of(&predicted).unwrap_or((0.0, 1.0));
        let diagonal = spaced(range, 1).into_iter().map(|f| (f, f)).collect();
        (predicted.clone(), diagonal, "prediction f(x)".to_owned())
    };
    let shown = (curve[0].0, curve[curve.len() - 1].0);
    let mut plots = Vec::new();
    let half = epsilon(model);
    if let Some(half) = half.filter(|half| *half > 0.0) {
        let shifted = |by: f64| curve.iter().map(|(x, f)| (*x, f + by)).collect::<Vec<_>>();
        let legend = format!("tube f ± {}", mercer::explain::short(half));
        plots.extend(lines(
            vec![shifted(-half), shifted(half)],
            GRAY,
            Stroke::Dashed,
            Some(&legend),
        ));
    }
    plots.push(Plot::Line(line(curve, INK, Stroke::Solid).with_legend("f(x)")));
    // Over one column of several the curve is not the prediction of the rows, so that slacks would end nowhere.
    if let Some(half) = half.filter(|_| one || named.is_empty()) {
        plots.extend(slacks(model, &x, targets, &predicted, half));
    }
    let points: Vec<(f64, f64)> = x.iter().copied().zip(targets.iter().copied()).collect();
    let marks = ScatterPlot::new().with_data(points.clone()).with_color(COLORS[0]).with_size(3.0);
    plots.push(Plot::Scatter(marks.with_marker_opacity(0.8).with_legend("rows")));
    let support = is_support(model, rows)?;
    let ringed: Vec<_> =
        points.into_iter().zip(support).filter(|(_, is)| *is).map(|(p, _)| p).collect();
    if !ringed.is_empty() {
        let legend = format!("support vectors ({}), ringed", ringed.len());
        plots.push(rings(ringed, &legend));
    }
    let target = model.features.target.as_deref().unwrap_or("target");
    let layout = layout(&plots, model.estimator.id(), &label, target);
    Ok(render_multiple(plots, within(layout, shown, None)))
}

/// The distance of every row outside the tube from its edge.
fn slacks(model: &Trained, x: &[f64], targets: &[f64], predicted: &[f64], half: f64) -> Vec<Plot> {
    let rounding = tolerance(model) * deviation(targets);
    let outside = x.iter().zip(targets).zip(predicted).filter_map(|((x, y), f)| {
        let slack = (y - f).abs() - half;
        (slack > rounding).then(|| vec![(*x, *y), (*x, y - (y - f).signum() * slack)])
    });
    let mut plots = lines(outside.collect(), SLACK, Stroke::Solid, Some("slack ξ"));
    for plot in &mut plots {
        if let Plot::Line(line) = plot {
            line.stroke_width = 1.0;
        }
    }
    plots
}
