//! Colors, markers and layouts that all plots share.

use super::contour::Point;
use kuva::plot::{LinePlot, MarkerShape, ScatterPlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

/// The colors of the classes, in order: the palette of Okabe and Ito (2008), which readers with any color vision can
/// distinguish. The Python package has the same.
pub const COLORS: [&str; 8] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#5B5EA6"];
/// The colors of models, none of which is the color of a class.
pub const MODEL_COLORS: [&str; 4] = ["#222222", "#7a7a7a", "#a0522d", "#6a3d9a"];
/// Boundaries and functions.
pub const INK: &str = "#222222";
/// Edges of the margin and of the tube.
pub const GRAY: &str = "#8a8a8a";
/// Slacks.
pub const SLACK: &str = "#c00000";
/// The markers of the classes, a second cue besides the color.
const MARKERS: [MarkerShape; 4] =
    [MarkerShape::Circle, MarkerShape::Square, MarkerShape::Triangle, MarkerShape::Diamond];

/// The color of a class.
pub fn class_color(c: usize) -> &'static str {
    COLORS[c % COLORS.len()]
}

/// The color of a model.
pub fn model_color(m: usize) -> &'static str {
    MODEL_COLORS[m % MODEL_COLORS.len()]
}

/// How a line is drawn.
#[derive(Clone, Copy)]
pub enum Stroke {
    Solid,
    Dashed,
    Dotted,
}

impl Stroke {
    /// The stroke of the model with this index.
    pub fn of_model(m: usize) -> Stroke {
        [Stroke::Solid, Stroke::Dashed, Stroke::Dotted][m % 3]
    }
}

/// A line.
pub fn line(points: Vec<Point>, color: &str, stroke: Stroke) -> LinePlot {
    let line = LinePlot::new().with_data(points).with_color(color);
    match stroke {
        Stroke::Solid => line,
        Stroke::Dashed => line.with_dashed(),
        Stroke::Dotted => line.with_dotted(),
    }
}

/// Several lines with one entry in the legend.
pub fn lines(all: Vec<Vec<Point>>, color: &str, stroke: Stroke, legend: Option<&str>) -> Vec<Plot> {
    let mut plots = Vec::new();
    for (k, points) in all.into_iter().enumerate() {
        let one = line(points, color, stroke);
        let legend = legend.filter(|_| k == 0);
        plots.push(Plot::Line(match legend {
            Some(text) => one.with_legend(text),
            None => one,
        }));
    }
    plots
}

/// The rows of every class in its color and with its marker.
pub fn class_points(points: &[Point], codes: &[u32], classes: &[String], size: f64) -> Vec<Plot> {
    let of = |c: usize| {
        let own = points
            .iter()
            .zip(codes)
            .filter(|(p, code)| **code as usize == c && p.0.is_finite() && p.1.is_finite());
        own.map(|(p, _)| *p).collect::<Vec<Point>>()
    };
    (classes.iter().enumerate())
        .map(|(c, name)| {
            let marks = ScatterPlot::new().with_data(of(c)).with_color(class_color(c));
            let marks = marks.with_marker(MARKERS[c % MARKERS.len()]).with_size(size);
            Plot::Scatter(marks.with_marker_opacity(0.85).with_legend(name.as_str()))
        })
        .collect()
}

/// Rings around points, as for support vectors.
pub fn rings(points: Vec<Point>, legend: &str) -> Plot {
    let rings = ScatterPlot::new().with_data(points).with_color(INK).with_size(6.5);
    let rings = rings.with_marker_opacity(0.0).with_marker_stroke_width(1.1);
    Plot::Scatter(rings.with_legend(legend))
}

/// A layout with labels, of the size of a figure.
pub fn layout(plots: &[Plot], title: &str, x: &str, y: &str) -> Layout {
    Layout::auto_from_plots(plots)
        .with_title(title)
        .with_x_label(x)
        .with_y_label(y)
        .with_width(760.0)
        .with_height(480.0)
}

/// The layout with exactly this range of the horizontal axis, and of the vertical one.
pub fn within(layout: Layout, x: (f64, f64), y: Option<(f64, f64)>) -> Layout {
    let layout = layout.with_x_axis_min(x.0).with_x_axis_max(x.1);
    match y {
        Some((low, high)) => layout.with_y_axis_min(low).with_y_axis_max(high),
        None => layout,
    }
}

/// A histogram per class over one range, and the largest count.
pub fn histograms(
    values: &[f64],
    codes: &[u32],
    classes: &[String],
    (low, high): (f64, f64),
    n_bins: usize,
) -> (Vec<Plot>, f64) {
    let width = ((high - low) / n_bins as f64).max(f64::MIN_POSITIVE);
    let (mut plots, mut tallest) = (Vec::new(), 0.0f64);
    for (c, name) in classes.iter().enumerate() {
        let mut counts = vec![0.0; n_bins];
        for (value, _) in values.iter().zip(codes).filter(|(_, code)| **code as usize == c) {
            counts[(((value - low) / width) as usize).min(n_bins - 1)] += 1.0;
        }
        tallest = counts.iter().copied().fold(tallest, f64::max);
        // The outline of the bars, filled, so that the bars of other classes stay visible behind it.
        let edge = |k: usize| low + k as f64 * width;
        let tops = counts.iter().enumerate().flat_map(|(k, n)| [(edge(k), *n), (edge(k + 1), *n)]);
        let outline = [(low, 0.0)].into_iter().chain(tops).chain([(edge(n_bins), 0.0)]);
        let bars = line(outline.collect(), class_color(c), Stroke::Solid);
        let bars = bars.with_fill().with_fill_opacity(0.3).with_stroke_width(1.2);
        plots.push(Plot::Line(bars.with_legend(name.as_str())));
    }
    (plots, tallest)
}
