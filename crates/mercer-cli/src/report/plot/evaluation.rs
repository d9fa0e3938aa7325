//! The plots of the HTML report: ROC and precision-recall curves, effects, calibration, residuals, mutual information and class-conditional densities.

use super::COLORS;
use crate::report::ColumnInformation;
use kuva::backend::svg::SvgBackend;
use kuva::plot::{BarPlot, LinePlot, ScatterPlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use mercer::evaluate::{ClassificationReport, Curves, RegressionReport};
use mercer::train::Effect;
use mercer::train::select::LearningPoint;

/// Classes whose curves are drawn, those with the most rows.
const MAX_CURVES: usize = 6;

fn svg(plots: Vec<Plot>, layout: Layout) -> String {
    SvgBackend.render_scene(&render_multiple(plots, layout))
}

/// The curves of the classes with the most rows; of two classes, that of the second.
fn class_curves(report: &ClassificationReport) -> Vec<(String, &Curves)> {
    let mut classes: Vec<usize> = match report.classes.len() {
        2 => vec![1],
        n => (0..n).collect(),
    };
    classes.sort_by_key(|c| std::cmp::Reverse(report.classes[*c].support));
    classes.truncate(MAX_CURVES);
    classes.into_iter().map(|c| (report.classes[c].class.to_string(), &report.curves[c])).collect()
}

/// A line per class, in the unit square.
fn unit_lines(
    lines: Vec<(String, Vec<(f64, f64)>)>,
    diagonal: bool,
    title: &str,
    (x, y): (&str, &str),
) -> String {
    let mut plots: Vec<Plot> = lines
        .into_iter()
        .zip(COLORS.iter().cycle())
        .map(|((name, points), color)| {
            Plot::Line(LinePlot::new().with_data(points).with_color(*color).with_legend(name))
        })
        .collect();
    let corners =
        if diagonal { vec![(0.0, 0.0), (1.0, 1.0)] } else { vec![(0.0, 1.0), (1.0, 0.0)] };
    let color = if diagonal { "#888" } else { "transparent" };
    plots.push(Plot::Line(LinePlot::new().with_data(corners).with_color(color).with_dashed()));
    let layout = Layout::auto_from_plots(&plots)
        .with_title(title)
        .with_x_label(x)
        .with_y_label(y)
        .with_width(520.0)
        .with_height(420.0);
    svg(plots, layout)
}

/// ROC curves: true positive rate against false positive rate, each class against the rest.
pub fn roc(report: &ClassificationReport) -> String {
    let lines = class_curves(report)
        .into_iter()
        .map(|(name, curves)| (format!("{name} (AUC {:.3})", curves.roc_auc), curves.roc.clone()));
    let axes = ("false positive rate", "true positive rate");
    unit_lines(lines.collect(), true, "ROC curve", axes)
}

/// Precision-recall curves, each class against the rest.
pub fn precision_recall(report: &ClassificationReport) -> String {
    let lines = class_curves(report).into_iter().map(|(name, curves)| {
        let name = format!("{name} (AP {:.3})", curves.average_precision);
        (name, curves.precision_recall.clone())
    });
    unit_lines(lines.collect(), false, "Precision-recall curve", ("recall", "precision"))
}

/// The scores of training and held-out rows against the number of training rows.
pub fn learning_curve(points: &[LearningPoint], metric: &str) -> String {
    type Score = fn(&LearningPoint) -> f64;
    let lines: [(&str, Score); 2] = [("training rows", |p| p.train), ("held-out rows", |p| p.test)];
    let line = |((name, score), color): ((&str, Score), &&str)| {
        let data: Vec<(f64, f64)> = points.iter().map(|p| (p.n_rows as f64, score(p))).collect();
        let line = LinePlot::new().with_data(data.clone()).with_color(*color).with_legend(name);
        let dots = ScatterPlot::new().with_data(data).with_color(*color).with_size(4.0);
        [Plot::Line(line), Plot::Scatter(dots)]
    };
    let plots: Vec<Plot> = lines.into_iter().zip(COLORS.iter()).flat_map(line).collect();
    let layout = Layout::auto_from_plots(&plots)
        .with_title("Learning curve")
        .with_x_label("training rows")
        .with_y_label(metric)
        .with_log_x()
        .with_width(520.0)
        .with_height(420.0);
    svg(plots, layout)
}

/// The mean prediction as a function of a column: a line for each class, or bars for levels.
pub fn effect(effect: &Effect) -> String {
    let two = effect.classes.len() == 2;
    let shown: Vec<usize> = match effect.means.first().map_or(0, Vec::len) {
        2 if two => vec![1],
        n => (0..n.min(MAX_CURVES)).collect(),
    };
    let quantity = match effect.classes.as_slice() {
        [] => "mean prediction".to_owned(),
        [_, second] => format!("mean P({second})"),
        _ => "mean probability".to_owned(),
    };
    let plots: Vec<Plot> = if effect.levels.is_empty() {
        let line = |(k, color): (&usize, &&'static str)| {
            let points = effect.values.iter().zip(&effect.means).map(|(x, means)| (*x, means[*k]));
            let line = LinePlot::new().with_data(points.collect::<Vec<_>>()).with_color(*color);
            Plot::Line(match effect.classes.get(*k).filter(|_| !two) {
                Some(class) => line.with_legend(class.clone()),
                None => line,
            })
        };
        shown.iter().zip(COLORS.iter().cycle()).map(line).collect()
    } else {
        let last = shown.last().copied().unwrap_or_default();
        let bars = effect.levels.iter().zip(&effect.means).rev();
        let bars: Vec<(String, f64)> =
            bars.map(|(level, means)| (level.clone(), means[last])).collect();
        vec![Plot::Bar(BarPlot::new().with_bars(bars).with_color(COLORS[0]).with_horizontal(true))]
    };
    let layout = Layout::auto_from_plots(&plots).with_title(effect.column.clone());
    let layout = match effect.levels.is_empty() {
        true => layout.with_x_label(effect.column.clone()).with_y_label(quantity),
        false => layout.with_x_label(match effect.classes.last() {
            Some(class) if !effect.classes.is_empty() => format!("mean P({class})"),
            _ => quantity,
        }),
    };
    svg(plots, layout.with_width(520.0).with_height(340.0))
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
