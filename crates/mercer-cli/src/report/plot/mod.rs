//! Plots as SVG and PNG.

pub mod class_distributions;
pub mod coefficients;
pub mod contour;
mod dashes;
pub mod decision;
pub mod evaluation;
pub mod feature_map;
pub mod gaussians;
pub mod kernel_approximation;
pub mod model_comparison;
pub mod parameter_density;
pub mod projection;
pub mod rows;
pub mod style;
pub mod support;
pub mod tube;
pub mod tuning;

use crate::failure::{Failure, Result};
use kuva::backend::png::PngBackend;
use kuva::backend::svg::SvgBackend;
use kuva::plot::LinePlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use std::path::Path;

pub use style::COLORS;

/// A named curve.
pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Plots the posterior of every hypothesis and the predictive probabilities over a sequence of observations, and saves
/// the plot.
pub fn save_belief(path: &Path, posteriors: Vec<Curve>, predictions: Vec<Curve>) -> Result<()> {
    let mut plots: Vec<Plot> = posteriors
        .into_iter()
        .zip(COLORS.iter().cycle())
        .map(|(curve, color)| {
            let line = LinePlot::new().with_data(curve.points).with_color(*color);
            Plot::Line(line.with_legend(curve.name))
        })
        .collect();
    plots.extend(predictions.into_iter().enumerate().map(|(k, curve)| {
        let stroke = style::Stroke::of_model(k + 1);
        let line = style::line(curve.points, style::model_color(k), stroke);
        Plot::Line(line.with_legend(curve.name))
    }));
    let layout = Layout::auto_from_plots(&plots)
        .with_title("Posterior and predictive probabilities")
        .with_x_label("observations")
        .with_y_label("probability")
        .with_width(720.0)
        .with_height(420.0);
    save(path, render_multiple(plots, layout))
}

/// A plot as SVG.
pub fn svg(scene: &Scene) -> String {
    SvgBackend.render_scene(scene)
}

/// Saves a plot in the format of the file extension.
pub fn save(path: &Path, scene: Scene) -> Result<()> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let bytes = match ending.to_ascii_lowercase().as_str() {
        "svg" => SvgBackend.render_scene(&scene).into_bytes(),
        "html" => {
            let svg = SvgBackend.render_scene(&scene);
            format!("<!doctype html>\n<meta charset=\"utf-8\">\n{svg}\n").into_bytes()
        }
        "png" => PngBackend::new()
            .render_scene(&dashes::split_dashes(scene))
            .map_err(|e| Failure::Resources(format!("{}: {e}", path.display())))?,
        _ => {
            let why = "expected a file name with .svg, .png or .html";
            return Err(Failure::Usage(format!("{}: {why}", path.display())));
        }
    };
    Ok(mercer::file::save(path, &bytes)?)
}
