//! Plots as SVG and PNG.

pub mod class_distributions;
pub mod evaluation;
pub mod model_comparison;

use crate::failure::{Failure, Result};
use kuva::backend::png::PngBackend;
use kuva::backend::svg::SvgBackend;
use kuva::plot::LinePlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use std::path::Path;

/// The colors of the classes, in order.
pub const COLORS: [&str; 8] =
    ["#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#64b5cd"];

/// A named curve.
pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Plots posterior probabilities over a sequence of observations and saves the plot.
pub fn save_belief(path: &Path, curves: Vec<Curve>) -> Result<()> {
    let plots: Vec<Plot> = curves
        .into_iter()
        .zip(COLORS.iter().cycle())
        .map(|(curve, color)| {
            let line = LinePlot::new().with_data(curve.points).with_color(*color);
            Plot::Line(line.with_legend(curve.name))
        })
        .collect();
    let layout = Layout::auto_from_plots(&plots)
        .with_title("Posterior probabilities")
        .with_x_label("observations")
        .with_y_label("posterior probability")
        .with_width(720.0)
        .with_height(420.0);
    save(path, render_multiple(plots, layout))
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
            .render_scene(&scene)
            .map_err(|e| Failure::Resources(format!("{}: {e}", path.display())))?,
        _ => {
            let why = "expected a file name with .svg, .png or .html";
            return Err(Failure::Usage(format!("--plot {}: {why}", path.display())));
        }
    };
    Ok(mercer::file::save(path, &bytes)?)
}
