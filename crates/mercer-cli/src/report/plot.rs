//! Pictures as SVG, and as PNG where a file is to be one.

use crate::failure::{Failure, Result};
use kuva::backend::png::PngBackend;
use kuva::backend::svg::SvgBackend;
use kuva::plot::{BarPlot, LinePlot, ScatterPlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};
use mercer::evaluate::{ClassificationReport, RegressionReport};
use std::path::Path;

use super::Telling;

pub const COLORS: [&str; 8] =
    ["#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#64b5cd"];

fn svg(plots: Vec<Plot>, layout: Layout) -> String {
    SvgBackend.render_scene(&render_multiple(plots, layout))
}

/// Confidence against accuracy; the dashed line is perfect calibration.
pub fn calibration(report: &ClassificationReport) -> String {
    let points: Vec<(f64, f64)> =
        report.calibration.iter().map(|bin| (bin.confidence, bin.accuracy)).collect();
    let plots = vec![
        Plot::Line(
            LinePlot::new()
                .with_data(vec![(0.0, 0.0), (1.0, 1.0)])
                .with_color("#888")
                .with_dashed(),
        ),
        Plot::Line(LinePlot::new().with_data(points.clone()).with_color(COLORS[0])),
        Plot::Scatter(ScatterPlot::new().with_data(points).with_color(COLORS[0])),
    ];
    let layout = Layout::auto_from_plots(&plots)
        .with_title("Calibration")
        .with_x_label("confidence")
        .with_y_label("accuracy")
        .with_width(520.0)
        .with_height(420.0);
    svg(plots, layout)
}

/// Predicted against true numbers; on the dashed line they are equal.
pub fn predicted(report: &RegressionReport) -> String {
    let points = report.points.clone();
    let low = points.iter().map(|p| p.0.min(p.1)).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|p| p.0.max(p.1)).fold(f64::NEG_INFINITY, f64::max);
    let line = LinePlot::new().with_data(vec![(low, low), (high, high)]);
    let plots = vec![
        Plot::Scatter(ScatterPlot::new().with_data(points).with_color(COLORS[0])),
        Plot::Line(line.with_color("#888").with_dashed()),
    ];
    let layout = Layout::auto_from_plots(&plots)
        .with_title("Predicted against true")
        .with_x_label("true")
        .with_y_label("predicted")
        .with_width(520.0)
        .with_height(420.0);
    svg(plots, layout)
}

/// What is left over, against the prediction: a shape in it is something the model misses.
pub fn residuals(report: &RegressionReport) -> String {
    let points: Vec<(f64, f64)> = report.points.iter().map(|(y, p)| (*p, y - p)).collect();
    let low = points.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    let line = LinePlot::new().with_data(vec![(low, 0.0), (high, 0.0)]);
    let plots = vec![
        Plot::Scatter(ScatterPlot::new().with_data(points).with_color(COLORS[1])),
        Plot::Line(line.with_color("#888").with_dashed()),
    ];
    let layout = Layout::auto_from_plots(&plots)
        .with_title("Residuals")
        .with_x_label("predicted")
        .with_y_label("true less predicted")
        .with_width(520.0)
        .with_height(420.0);
    svg(plots, layout)
}

/// What each column tells about the class.
pub fn telling(columns: &[Telling]) -> String {
    let bars: Vec<(String, f64)> =
        columns.iter().rev().map(|t| (t.column.clone(), t.bits)).collect();
    let plots =
        vec![Plot::Bar(BarPlot::new().with_bars(bars).with_color(COLORS[2]).with_horizontal(true))];
    let layout = Layout::auto_from_plots(&plots)
        .with_title("Bits a column tells about the class")
        .with_width(520.0)
        .with_height(420.0);
    svg(plots, layout)
}

/// One curve a class.
pub fn curves(name: &str, classes: Vec<(String, Vec<(f64, f64)>)>) -> String {
    let plots: Vec<Plot> = classes
        .into_iter()
        .zip(COLORS.iter().cycle())
        .map(|((class, points), color)| {
            Plot::Line(LinePlot::new().with_data(points).with_color(*color).with_legend(class))
        })
        .collect();
    let layout = Layout::auto_from_plots(&plots)
        .with_title(format!("p({name} | class)"))
        .with_width(520.0)
        .with_height(360.0);
    svg(plots, layout)
}

/// A line with its name.
pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Saves belief over time; the name of the file says whether as SVG or PNG.
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
        .with_title("Belief over time")
        .with_x_label("observations")
        .with_y_label("posterior probability")
        .with_width(720.0)
        .with_height(420.0);
    save(path, render_multiple(plots, layout))
}

/// Saves a picture; the name of the file says as what.
pub fn save(path: &Path, scene: Scene) -> Result<()> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let bytes = match ending.to_ascii_lowercase().as_str() {
        "svg" => SvgBackend.render_scene(&scene).into_bytes(),
        "html" => {
            let picture = SvgBackend.render_scene(&scene);
            format!("<!doctype html>\n<meta charset=\"utf-8\">\n{picture}\n").into_bytes()
        }
        "png" => PngBackend::new()
            .render_scene(&scene)
            .map_err(|e| Failure::Resources(format!("{}: {e}", path.display())))?,
        _ => {
            let why = "a picture is .svg, .png or .html";
            return Err(Failure::Usage(format!("--plot {}: {why}", path.display())));
        }
    };
    Ok(mercer::file::save(path, &bytes)?)
}
