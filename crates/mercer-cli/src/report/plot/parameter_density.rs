//! Prior and posterior densities of a parameter.

use super::rows::spaced;
use super::style::{Stroke, class_color, layout, line};
use kuva::render::figure::Figure;
use kuva::render::plots::Plot;
use kuva::render::render::Scene;
use mercer::explain::short;
use mercer::probability::conjugate::Interval;

/// Points of a density.
const POINTS_PER_CURVE: usize = 400;

/// A parameter with the densities of its prior and of its posterior.
pub struct Parameter<'a> {
    pub name: String,
    pub prior: Box<dyn Fn(f64) -> f64 + 'a>,
    pub posterior: Box<dyn Fn(f64) -> f64 + 'a>,
    /// The credible interval, filled under the posterior.
    pub interval: Interval,
}

/// Parameters over one axis.
pub struct Panel<'a> {
    pub axis: String,
    pub range: (f64, f64),
    pub parameters: Vec<Parameter<'a>>,
}

/// One panel per axis: posteriors as solid lines with their credible intervals filled, priors dashed.
pub fn densities(panels: &[Panel<'_>]) -> Scene {
    let (plots, layouts): (Vec<_>, Vec<_>) = panels
        .iter()
        .map(|panel| {
            let plots: Vec<Plot> = (panel.parameters.iter().enumerate())
                .flat_map(|(k, parameter)| curves(panel, parameter, class_color(k)))
                .collect();
            let layout = layout(&plots, "Prior and posterior", &panel.axis, "density");
            (plots, layout)
        })
        .unzip();
    Figure::new(1, plots.len().max(1))
        .with_plots(plots)
        .with_layouts(layouts)
        .with_cell_size(620.0, 420.0)
        .render()
}

fn curves(panel: &Panel<'_>, parameter: &Parameter<'_>, color: &str) -> Vec<Plot> {
    // A density may be infinite at the end of its support; the curve ends before.
    let curve = |density: &dyn Fn(f64) -> f64, range: (f64, f64)| -> Vec<(f64, f64)> {
        let points = spaced(range, POINTS_PER_CURVE).into_iter().map(|x| (x, density(x)));
        points.filter(|(_, y)| y.is_finite()).collect()
    };
    let name = |which: &str| match parameter.name.is_empty() {
        true => which.to_owned(),
        false => format!("{} of {}", which, parameter.name),
    };
    let Interval { level, low, high } = parameter.interval;
    let within = (low.max(panel.range.0), high.min(panel.range.1));
    let filled = line(curve(&parameter.posterior, within), color, Stroke::Solid)
        .with_fill()
        .with_fill_opacity(0.25)
        .with_stroke_width(0.5)
        .with_legend(format!("{} % credible interval", short(100.0 * level)));
    vec![
        Plot::Line(filled),
        Plot::Line(
            line(curve(&parameter.posterior, panel.range), color, Stroke::Solid)
                .with_legend(name("posterior")),
        ),
        Plot::Line(
            line(curve(&parameter.prior, panel.range), color, Stroke::Dashed)
                .with_legend(name("prior")),
        ),
    ]
}
