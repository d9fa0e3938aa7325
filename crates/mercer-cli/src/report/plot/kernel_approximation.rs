//! A feature map against the kernel that it approximates, and its error against the number of features.

use super::contour::Point;
use super::rows::{PlotRows, spaced};
use super::style::{COLORS, GRAY, INK, Stroke, class_color, layout, line};
use crate::failure::{Failure, Result};
use kuva::plot::ScatterPlot;
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use mercer::catalog::AnyModel;
use mercer::explain::short;
use mercer::kernel::{Function, Gamma, Kernel, Nystroem, RbfSampler};
use mercer::prelude::*;
use mercer::preprocess::{Features, FittedFeatureMap};
use mercer::train::Trained;
use mercer_num::{Matrix, Rows};

/// Rows whose pairs are drawn.
const MAX_ROWS: usize = 60;
/// Rows that approximations are refitted to and compared on.
const MAX_REFITTED_ROWS: usize = 300;
/// The numbers of features at which the error is measured.
const N_FEATURES: [usize; 6] = [5, 10, 30, 100, 300, 1000];
/// Random seeds over which the error is averaged.
const N_SEEDS: usize = 5;
/// Points of the curve of the kernel.
const POINTS_PER_CURVE: usize = 200;

/// The kernel that the feature map of a model approximates; `None` without such a map.
pub fn kernel(model: &Trained) -> Option<Function> {
    match (&model.fitted.model, model.features.map.as_ref().map(|map| &map.map)) {
        (AnyModel::RbfSampler(map), _) => Some(Function::rbf(map.gamma)),
        (AnyModel::Nystroem(map), _) => Some(map.expansion.function.clone()),
        (_, Some(FittedFeatureMap::Rff(map))) => Some(Function::rbf(map.gamma)),
        (_, Some(FittedFeatureMap::Nystroem(map))) => Some(map.expansion.function.clone()),
        _ => None,
    }
}

/// Inner products of features against the RBF kernel over the distance of two rows; against the value of any other
/// kernel.
pub fn kernel_approximation(model: &Trained, rows: &PlotRows) -> Result<Scene> {
    let function = kernel_or_error(model)?;
    let (inputs, features) = mapped(model, rows)?;
    let radial = matches!(function.kernel, Kernel::Rbf);
    let (mut points, mut squares) = (Vec::new(), 0.0);
    for (i, a) in inputs.outer_iter().enumerate() {
        for (j, b) in inputs.outer_iter().enumerate().take(i) {
            let exact = function.value(&a.to_vec(), &b.to_vec());
            let approximate = features.row(i).dot(&features.row(j));
            let distance = a.iter().zip(b).map(|(x, z)| (x - z) * (x - z)).sum::<f64>().sqrt();
            squares += (approximate - exact) * (approximate - exact);
            points.push((if radial { distance } else { exact }, approximate));
        }
    }
    if points.is_empty() {
        return Err(Failure::Data(
            "the plot compares pairs of rows, but there are fewer than two rows".into(),
        ));
    }
    let error = (squares / points.len() as f64).sqrt();
    let low = points.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    let curve = |x: f64| if radial { function.value(&[x], &[0.0]) } else { x };
    let range = if radial { (0.0, high) } else { (low, high) };
    let exact = spaced(range, POINTS_PER_CURVE).into_iter().map(|x| (x, curve(x))).collect();
    let marks = ScatterPlot::new().with_data(points).with_color(COLORS[0]).with_size(2.0);
    let legend = format!("{} features (error {})", features.ncols(), short(error));
    let plots = vec![
        Plot::Scatter(marks.with_marker_opacity(0.5).with_legend(legend)),
        Plot::Line(line(exact, INK, Stroke::Solid).with_legend("exact kernel")),
    ];
    let x = if radial { "distance of two rows" } else { "kernel value of two rows" };
    let name = model.features.map.as_ref().map_or(model.estimator.id(), |map| map.spec.as_str());
    let layout =
        layout(&plots, &format!("{name} against its kernel"), x, "inner product of the features");
    Ok(render_multiple(plots, layout))
}

fn kernel_or_error(model: &Trained) -> Result<Function> {
    kernel(model).ok_or_else(|| {
        Failure::Usage(format!(
            "`{}` has no feature map that approximates a kernel; train rbf-sampler or nystroem, or any model \
             with --features",
            model.estimator.id()
        ))
    })
}

/// The root mean square error of random Fourier features (for the RBF kernel) and of Nyström features, refitted to the
/// rows with growing numbers of features. That of random Fourier features falls as `1/√M`.
pub fn approximation_error(model: &Trained, rows: &PlotRows) -> Result<Scene> {
    let function = kernel_or_error(model)?;
    let before = Features { map: None, ..model.features.clone() };
    let inputs = first_rows(&before.encode(&rows.table, None)?.rows(), MAX_REFITTED_ROWS);
    let n = inputs.nrows();
    let vectors: Vec<Vec<f64>> = inputs.outer_iter().map(|row| row.to_vec()).collect();
    let exact = Matrix::from_shape_fn((n, n), |(i, j)| function.value(&vectors[i], &vectors[j]));
    let rms = |features: &Matrix| {
        let difference = features.dot(&features.t()) - &exact;
        (difference.iter().map(|d| d * d).sum::<f64>() / (n * n) as f64).sqrt()
    };
    let data = Dataset::unlabeled(Rows::from(&inputs));
    let gamma = Gamma::Number(function.gamma);
    let fourier = |m: usize, seed: usize| -> Result<Matrix> {
        let map = RbfSampler::new().gamma(gamma).n_components(m).random_state(seed);
        Ok(map.fit(&data, &Monitor::quiet())?.transform(data.rows())?)
    };
    let nystroem = |m: usize, seed: usize| -> Result<Matrix> {
        let mut map = Nystroem::new().n_components(m).random_state(seed);
        (map.kernel, map.gamma) = (function.kernel.clone(), Some(gamma));
        (map.coef0, map.degree) = (function.coef0, function.degree);
        Ok(map.fit(&data, &Monitor::quiet())?.transform(data.rows())?)
    };
    let curve = |fit: &dyn Fn(usize, usize) -> Result<Matrix>, most: usize| -> Result<Vec<Point>> {
        let sizes = N_FEATURES.iter().filter(|m| **m <= most);
        sizes
            .map(|m| {
                let errors = (0..N_SEEDS).map(|seed| Ok(rms(&fit(*m, seed)?)));
                let total = errors.sum::<Result<f64>>()?;
                // A logarithmic axis has no zero, which an exact approximation reaches up to rounding.
                Ok((*m as f64, (total / N_SEEDS as f64).max(f64::EPSILON)))
            })
            .collect()
    };
    let mut plots = Vec::new();
    if matches!(function.kernel, Kernel::Rbf) {
        let errors = curve(&fourier, usize::MAX)?;
        let (first, error) = errors[0];
        let slope = errors.iter().map(|(m, _)| (*m, error * (first / m).sqrt())).collect();
        plots.push(Plot::Line(line(slope, GRAY, Stroke::Dashed).with_legend("∝ 1/√M")));
        let drawn = line(errors, class_color(0), Stroke::Solid);
        plots.push(Plot::Line(drawn.with_legend("random Fourier features")));
    }
    let drawn = line(curve(&nystroem, n)?, class_color(1), Stroke::Solid);
    plots.push(Plot::Line(drawn.with_legend("Nyström features")));
    let (x, y) = ("number of features M", "root mean square error");
    let title = format!("Approximation of the {} kernel", function.kernel);
    let layout = layout(&plots, &title, x, y).with_log_scale();
    Ok(render_multiple(plots, layout))
}

/// The first rows before and after the feature map.
fn mapped(model: &Trained, rows: &PlotRows) -> Result<(Matrix, Matrix)> {
    let Some(map) = &model.features.map else {
        let inputs = first_rows(&rows.encoded.rows(), MAX_ROWS);
        let Some(transformer) = model.fitted.model.as_model().transformer() else {
            return Err(model.estimator.unable("transform rows").into());
        };
        let features = transformer.transform(&Rows::from(&inputs))?;
        return Ok((inputs, features));
    };
    let before = Features { map: None, ..model.features.clone() };
    let inputs = first_rows(&before.encode(&rows.table, None)?.rows(), MAX_ROWS);
    let features = map.dense(&Rows::from(&inputs))?;
    Ok((inputs, features))
}

fn first_rows(rows: &Rows<'_>, most: usize) -> Matrix {
    let n = rows.n_rows().min(most);
    let mut first = Matrix::zeros((n, rows.n_columns()));
    for i in 0..n {
        first.row_mut(i).assign(&ndarray::Array1::from(rows.row(i)));
    }
    first
}
