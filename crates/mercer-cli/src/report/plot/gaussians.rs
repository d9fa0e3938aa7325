//! The Gaussians of the classes over two columns: ellipses of equal density and the boundaries.

use super::contour::Point;
use super::decision::boundaries;
use super::rows::{POINTS_PER_AXIS, PlotRows, points, spaced};
use super::style::{INK, Stroke, class_color, class_points, layout, line, lines, within};
use crate::failure::{Failure, Result};
use kuva::plot::{MarkerShape, ScatterPlot};
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use mercer::catalog::AnyModel;
use mercer::data::Classes;
use mercer::train::Trained;
use mercer_num::Matrix;
use ndarray::Axis;

/// The Mahalanobis distances of the ellipses.
const RADII: [f64; 2] = [1.0, 2.0];
/// Points of an ellipse.
const POINTS_PER_ELLIPSE: usize = 120;

/// The ellipses of every class and the boundaries between the classes.
pub fn gaussians(
    model: &Trained,
    rows: &PlotRows,
    classes: &Classes,
    named: &[String],
) -> Result<Scene> {
    let mut axes = rows.axes(model, named, 2)?;
    let ellipses = ellipses(model, rows, &axes)?;
    let of_axis = [|p: &Point| p.0, |p: &Point| p.1];
    for (axis, coordinate) in axes.iter_mut().zip(of_axis) {
        let values = ellipses.iter().flat_map(|(_, points)| points).map(coordinate);
        axis.range =
            values.filter(|x| x.is_finite()).fold(axis.range, |(a, b), x| (a.min(x), b.max(x)));
    }
    let [xs, ys] = [0, 1].map(|k| spaced(axes[k].range, POINTS_PER_AXIS));
    let mut plots = Vec::new();
    if let Some(classifier) = model.fitted.model.as_model().classifier() {
        let found = boundaries(&xs, &ys, &|x, y| {
            let points = rows.slice(model, &axes, vec![x, y])?;
            Ok(classifier.predict(&points.rows())?)
        })?;
        plots.extend(lines(found, INK, Stroke::Solid, Some("boundary")));
    }
    let names: Vec<String> = classes.labels().iter().map(ToString::to_string).collect();
    plots.extend(class_points(&points(&axes), rows.codes(), &names, 2.6));
    let centers: Vec<Point> = ellipses.iter().map(|(_, points)| middle(points)).collect();
    for (c, points) in ellipses {
        plots.push(Plot::Line(line(points, class_color(c), Stroke::Solid)));
    }
    let crosses = ScatterPlot::new().with_data(centers).with_color(INK).with_size(5.0);
    plots.push(Plot::Scatter(crosses.with_marker(MarkerShape::Plus).with_legend("mean")));
    let title = format!("{}: ellipses at Mahalanobis distance 1 and 2", model.estimator.id());
    let layout = layout(&plots, &title, &axes[0].name, &axes[1].name);
    Ok(render_multiple(plots, within(layout, axes[0].range, Some(axes[1].range))))
}

/// The ellipses with the codes of their classes, in the units of the columns.
fn ellipses(
    model: &Trained,
    rows: &PlotRows,
    axes: &[super::rows::Axis],
) -> Result<Vec<(usize, Vec<Point>)>> {
    let (means, covariances) = class_gaussians(&model.fitted.model).ok_or_else(|| {
        model.estimator.unable("be plotted as Gaussians: it has no class covariances")
    })?;
    let (Some(x), Some(y)) = (raw_scale(model, rows, axes, 0), raw_scale(model, rows, axes, 1))
    else {
        return Err(Failure::Usage(
            "the Gaussians are in features that are not the columns of the table; choose another --kind".into(),
        ));
    };
    let (a, b) = (axes[0].index, axes[1].index);
    let mut found = Vec::new();
    for (c, covariance) in covariances.iter().enumerate() {
        let entries = [covariance[[a, a]], covariance[[a, b]], covariance[[b, b]]];
        for radius in RADII {
            let points = ellipse([means[[c, a]], means[[c, b]]], entries, radius).into_iter();
            found.push((c, points.map(|p| (x.raw(p.0), y.raw(p.1))).collect()));
        }
    }
    Ok(found)
}

/// The center of an ellipse, halfway between two opposite points.
fn middle(points: &[Point]) -> Point {
    let (first, opposite) = (points[0], points[POINTS_PER_ELLIPSE / 2]);
    (0.5 * (first.0 + opposite.0), 0.5 * (first.1 + opposite.1))
}

/// Whether the model has a Gaussian per class.
pub fn has_gaussians(model: &Trained) -> bool {
    matches!(
        model.fitted.model,
        AnyModel::GaussianNb(_)
            | AnyModel::LinearDiscriminantAnalysis(_)
            | AnyModel::QuadraticDiscriminantAnalysis(_)
            | AnyModel::RegularizedDiscriminantAnalysis(_)
    )
}

/// The mean and the covariance matrix of every class.
fn class_gaussians(model: &AnyModel) -> Option<(Matrix, Vec<Matrix>)> {
    match model {
        AnyModel::GaussianNb(model) => {
            let diagonal = |v: ndarray::ArrayView1<'_, f64>| Matrix::from_diag(&v);
            Some((model.means.clone(), model.variances.outer_iter().map(diagonal).collect()))
        }
        AnyModel::LinearDiscriminantAnalysis(model) => {
            Some((model.means.clone(), vec![model.covariance.clone(); model.means.nrows()]))
        }
        AnyModel::QuadraticDiscriminantAnalysis(model) => of_classes(&model.gaussians),
        AnyModel::RegularizedDiscriminantAnalysis(model) => of_classes(&model.gaussians),
        _ => None,
    }
}

fn of_classes(gaussians: &mercer::discriminant::ClassGaussians) -> Option<(Matrix, Vec<Matrix>)> {
    let each = gaussians.covariances.axis_iter(Axis(0)).map(|one| one.to_owned());
    Some((gaussians.means.clone(), each.collect()))
}

/// The affine map from a column to its feature.
#[derive(Clone, Copy)]
struct Scale {
    factor: f64,
    offset: f64,
}

impl Scale {
    /// The value of the column for a value of the feature.
    fn raw(self, feature: f64) -> f64 {
        (feature - self.offset) / self.factor
    }
}

/// The map from the column of an axis to its feature, found by encoding its two ends; `None` if the columns are not
/// encoded as one feature each.
fn raw_scale(
    model: &Trained,
    rows: &PlotRows,
    axes: &[super::rows::Axis],
    k: usize,
) -> Option<Scale> {
    if model.features.n_features() != model.features.schema.fields.len() {
        return None;
    }
    let (low, high) = axes[k].range;
    let ends = axes.iter().map(|axis| vec![axis.range.0, axis.range.1]).collect();
    let encoded = rows.slice(model, axes, ends).ok()?;
    let at = |i: usize| encoded.rows().row(i)[axes[k].index];
    let factor = (at(1) - at(0)) / (high - low);
    let scale = Scale { factor, offset: at(0) - factor * low };
    (factor.is_finite() && factor != 0.0).then_some(scale)
}

/// The points at a Mahalanobis distance from the mean: the Cholesky factor of the covariance times a circle.
fn ellipse([x, y]: [f64; 2], [xx, xy, yy]: [f64; 3], radius: f64) -> Vec<Point> {
    let a = xx.max(0.0).sqrt();
    let b = if a > 0.0 { xy / a } else { 0.0 };
    let c = (yy - b * b).max(0.0).sqrt();
    (0..=POINTS_PER_ELLIPSE)
        .map(|k| {
            let angle = std::f64::consts::TAU * k as f64 / POINTS_PER_ELLIPSE as f64;
            let (sin, cos) = angle.sin_cos();
            (x + radius * a * cos, y + radius * (b * cos + c * sin))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_an_ellipse_have_its_mahalanobis_distance() {
        // The inverse of [[2, 0.6], [0.6, 1]] is [[1, -0.6], [-0.6, 2]] / 1.64.
        for (x, y) in ellipse([1.0, -1.0], [2.0, 0.6, 1.0], 2.0) {
            let (dx, dy) = (x - 1.0, y + 1.0);
            let squared = (dx * dx - 1.2 * dx * dy + 2.0 * dy * dy) / 1.64;
            assert!((squared - 4.0).abs() < 1e-12);
        }
    }
}
