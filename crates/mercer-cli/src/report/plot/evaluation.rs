//! The plots of the HTML report: calibration, residuals, mutual information and class-conditional densities.

use super::COLORS;
use crate::report::ColumnInformation;
use kuva::backend::svg::SvgBackend;
use kuva::plot::{BarPlot, LinePlot, ScatterPlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use mercer::evaluate::{ClassificationReport, RegressionReport};

fn svg(plots: Vec<Plot>, layout: Layout) -> String {
    SvgBackend.render_scene(&render_multiple(plots, layout))
}

/// Reliability diagram: accuracy against confidence. The dashed line is perfect calibration.
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

/// Predicted against true values. The dashed line is perfect prediction.
pub fn predictions(report: &RegressionReport) -> String {
    let points = report.points.clone();
    let low = points.iter().map(|p| p.0.min(p.1)).fold(f64::INFINITY, f64::min);
    let high = points.iter().map(|p| p.0.max(p.1)).fold(f64::NEG_INFINITY, f64::max);
    let line = LinePlot::new().with_data(vec![(low, low), (high, high)]);
    let plots = vec![
        Plot::Scatter(ScatterPlot::new().with_data(points).with_color(COLORS[0])),
        Plot::Line(line.with_color("#888").with_dashed()),
    ];
    let layout = Layout::auto_from_plots(&plots)
        .with_title("Predicted against true values")
        .with_x_label("true")
        .with_y_label("predicted")
        .with_width(520.0)
        .with_height(420.0);
    svg(plots, layout)
}

/// Residuals against predictions: a pattern shows structure that the model misses.
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
        .with_y_label("true minus predicted")
        .with_width(520.0)
        .with_height(420.0);
    svg(plots, layout)
}

/// The mutual information of columns and class.
pub fn mutual_information(columns: &[ColumnInformation]) -> String {
    let bars: Vec<(String, f64)> =
        columns.iter().rev().map(|t| (t.column.clone(), t.bits)).collect();
    let plots =
        vec![Plot::Bar(BarPlot::new().with_bars(bars).with_color(COLORS[2]).with_horizontal(true))];
    let layout = Layout::auto_from_plots(&plots)
        .with_title("Mutual information with the class (bits)")
        .with_width(520.0)
        .with_height(420.0);
    svg(plots, layout)
}

/// The class-conditional densities of a column.
pub fn densities(name: &str, classes: Vec<(String, Vec<(f64, f64)>)>) -> String {
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
