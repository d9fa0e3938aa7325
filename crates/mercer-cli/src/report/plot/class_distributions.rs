//! Plots of class-conditional distributions: densities and probabilities per column, or class means as images.

use super::COLORS;
use crate::failure::{Failure, Result};
use kuva::plot::{BarPlot, LinePlot};
use kuva::render::color::Color;
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, Scene, TextAnchor};
use mercer::catalog::Input;
use mercer::data::{Measure, Table, Values};
use mercer::explain::{self, ClassMeans, Distributions, normal_points, short};
use mercer::train::Trained;
use mercer_num::Matrix;
use mercer_num::special::normal_log_density;

/// Columns of one plot.
const MAX_COLUMNS: usize = 60;
/// Levels of a column that are plotted as bars.
const MAX_BARS: usize = 30;
const PANELS_ACROSS: usize = 3;
/// The larger side of an image, the margins and the space for labels, in pixels.
const IMAGE_SIDE: f64 = 168.0;
const MARGIN: f64 = 16.0;
const LABEL_WIDTH: f64 = 130.0;
const HEADER_HEIGHT: f64 = 30.0;

/// The mean, the standard deviation and both in color, or the probabilities, of every class as images.
pub fn images(model: &Trained, (rows, columns): (usize, usize)) -> Result<Scene> {
    let means = class_means(model)?;
    let width = means.centers.ncols();
    if rows * columns != width {
        let hint = match model.features.dropped.len() {
            0 => String::new(),
            n => {
                format!("; training dropped {n} columns, `mercer train --keep-columns` keeps them")
            }
        };
        return Err(Failure::Usage(format!(
            "--image {rows}x{columns} has {} pixels, but the model has {width} columns{hint}",
            rows * columns
        )));
    }
    let centers = (means.what.name(), &means.centers);
    let deviations = means.deviations.as_ref().map(|d| ("standard deviation", d));
    let shown: Vec<(&str, &Matrix)> = [Some(centers), deviations].into_iter().flatten().collect();
    let pixel = IMAGE_SIDE / rows.max(columns) as f64;
    let (high, wide) = (pixel * rows as f64, pixel * columns as f64);
    let names = class_names(model);
    let composite = means.composite();
    let n_images = shown.len() + usize::from(composite.is_some());
    let mut scene = Scene::new(
        LABEL_WIDTH + n_images as f64 * (wide + MARGIN) + MARGIN,
        HEADER_HEIGHT + names.len() as f64 * (high + MARGIN) + MARGIN,
    );
    for (k, (title, numbers)) in shown.iter().enumerate() {
        let left = LABEL_WIDTH + k as f64 * (wide + MARGIN);
        scene.elements.push(label(left + 0.5 * wide, 20.0, title, TextAnchor::Middle));
        // One gray scale for all classes, so that they can be compared.
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let range = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low;
        for (c, row) in numbers.outer_iter().enumerate() {
            let top = HEADER_HEIGHT + c as f64 * (high + MARGIN);
            let gray = |at: usize| {
                let fraction = if range > 0.0 { (row[at] - low) / range } else { 0.0 };
                [(255.0 - 255.0 * fraction).round() as u8; 3]
            };
            push_image(&mut scene, (rows, columns), (left, top), pixel, gray);
        }
    }
    if let Some(composite) = composite {
        // The mean in red and blue, the standard deviation in green.
        let left = LABEL_WIDTH + shown.len() as f64 * (wide + MARGIN);
        scene.elements.push(label(left + 0.5 * wide, 20.0, "both", TextAnchor::Middle));
        for (c, image) in composite.outer_iter().enumerate() {
            let top = HEADER_HEIGHT + c as f64 * (high + MARGIN);
            let color = |at: usize| [0, 1, 2].map(|channel| image[[at, channel]]);
            push_image(&mut scene, (rows, columns), (left, top), pixel, color);
        }
    }
    let priors = priors(model);
    for (c, name) in names.iter().enumerate() {
        let y = HEADER_HEIGHT + c as f64 * (high + MARGIN) + 0.5 * high;
        scene.elements.push(label(MARGIN, y, name, TextAnchor::Start));
        if let Some(prior) = priors.get(c) {
            let text = format!("P = {}", short(*prior));
            scene.elements.push(label(MARGIN, y + 18.0, &text, TextAnchor::Start));
        }
    }
    Ok(scene)
}

/// One panel per column: a density per class of a numeric column, or a probability per class and level. Curves stay
/// within the range of the column in `rows`, if there are rows.
pub fn distributions(model: &Trained, columns: &[String], rows: Option<&Table>) -> Result<Scene> {
    let names = model.features.names();
    let chosen: Vec<usize> = match columns {
        [] => (0..names.len()).collect(),
        some => some.iter().map(|name| column_index(&names, name)).collect::<Result<_>>()?,
    };
    if chosen.len() > MAX_COLUMNS {
        return Err(Failure::Usage(format!(
            "{} columns are too many for one plot; select some with --column, or add --image ROWSxCOLUMNS \
             if they are pixels",
            chosen.len()
        )));
    }
    let means = class_means(model)?;
    let factorized = model.fitted.model.as_model().factorized_likelihood();
    let mut panels = Vec::new();
    for j in chosen {
        let moments = |c: usize| {
            (means.centers[[c, j]], means.deviations.as_ref().map_or(1.0, |d| d[[c, j]]))
        };
        let drawn = match factorized {
            Some(model_of_columns) => {
                explain::distributions(model_of_columns, j, &missing_row(model), moments)?
            }
            // Without a factorized likelihood, the marginal densities are Gaussian.
            None => Distributions::Densities(
                (0..means.centers.nrows()).map(|c| normal_curve(moments(c))).collect(),
            ),
        };
        let plots = match drawn {
            Distributions::Densities(mut curves) => {
                if let Some(range) = rows.and_then(|table| observed_range(table, &names[j])) {
                    curves.iter_mut().for_each(|curve| *curve = clipped(curve, range));
                }
                lines(model, curves)
            }
            Distributions::Masses { values, probabilities } if values.len() <= MAX_BARS => {
                let name = |x: &f64| model.features.category(j, *x).unwrap_or_else(|| short(*x));
                bars(model, &values.iter().map(name).collect::<Vec<_>>(), &probabilities)
            }
            Distributions::Masses { values, probabilities } => {
                let curve = |p: Vec<f64>| values.iter().copied().zip(p).collect();
                lines(model, probabilities.into_iter().map(curve).collect())
            }
            Distributions::Outcome(p) => {
                let probabilities: Vec<Vec<f64>> = p.into_iter().map(|p| vec![p]).collect();
                bars(model, &[names[j].clone()], &probabilities)
            }
        };
        let title = format!("p({} | class)", names[j]);
        let layout = Layout::auto_from_plots(&plots).with_title(title);
        panels.push((plots, layout));
    }
    let across = PANELS_ACROSS.min(panels.len().max(1));
    let (plots, layouts) = panels.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
    let down = plots.len().div_ceil(across).max(1);
    Ok(Figure::new(down, across)
        .with_plots(plots)
        .with_layouts(layouts)
        .with_cell_size(430.0, 300.0)
        .render())
}

/// A row of missing values; terms have the count zero, which is not missing.
fn missing_row(model: &Trained) -> Vec<f64> {
    let is_term = |m: &Measure| matches!(m, Measure::TermCount(_));
    let accepts_missing = model.estimator.card().accepts(Input::MissingValues);
    let columns = model.features.descriptions();
    columns
        .iter()
        .map(|c| if is_term(&c.measure) || !accepts_missing { 0.0 } else { f64::NAN })
        .collect()
}

/// The range of the finite values of a numeric column.
fn observed_range(table: &Table, name: &str) -> Option<(f64, f64)> {
    let Values::Numeric(values) = &table.column(name)?.values else { return None };
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let low = finite().fold(f64::INFINITY, f64::min);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    (low < high).then_some((low, high))
}

/// The part of a curve within a range, interpolated at its ends.
fn clipped(curve: &[(f64, f64)], (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let mut inside = Vec::new();
    for ends in curve.windows(2) {
        let [(a, p), (b, q)] = [ends[0], ends[1]];
        if b < low || a > high {
            continue;
        }
        // A vertical segment, as at the edge of a bin, keeps both of its ends.
        let at = |x: f64| if x == b { q } else { p + (q - p) * (x - a) / (b - a) };
        let (start, end) = (a.max(low), b.min(high));
        if inside.is_empty() {
            inside.push((start, if start == a { p } else { at(start) }));
        }
        inside.push((end, at(end)));
    }
    inside
}

/// One line per class.
fn lines(model: &Trained, curves: Vec<Vec<(f64, f64)>>) -> Vec<Plot> {
    let classes = class_names(model).into_iter().zip(COLORS.iter().cycle());
    let line = |(points, (name, color)): (Vec<(f64, f64)>, (String, &&str))| {
        let line = LinePlot::new().with_data(points).with_color(*color);
        Plot::Line(line.with_legend(name))
    };
    curves.into_iter().zip(classes).map(line).collect()
}

/// One group of bars per value, one bar per class.
fn bars(model: &Trained, values: &[String], probabilities: &[Vec<f64>]) -> Vec<Plot> {
    let names = class_names(model);
    let mut plot = BarPlot::new();
    for (k, value) in values.iter().enumerate() {
        let heights = probabilities.iter().map(|p| p[k]).zip(COLORS.iter().cycle().copied());
        plot = plot.with_group(value.clone(), heights);
    }
    vec![Plot::Bar(plot.with_legend(names.iter().map(String::as_str).collect()))]
}

fn normal_curve((mean, deviation): (f64, f64)) -> Vec<(f64, f64)> {
    let density = |x: f64| normal_log_density(x, mean, deviation * deviation).exp();
    normal_points((mean, deviation)).into_iter().map(|x| (x, density(x))).collect()
}

fn class_means(model: &Trained) -> Result<ClassMeans> {
    let means = model.fitted.model.as_model().classifier().and_then(|m| m.class_means());
    means.ok_or_else(|| model.estimator.unable("be plotted: it has no class means").into())
}

fn class_names(model: &Trained) -> Vec<String> {
    let classifier = model.fitted.model.as_model().classifier();
    classifier
        .map_or_else(Vec::new, |m| m.classes().labels().iter().map(ToString::to_string).collect())
}

/// The class priors, if the model has them.
fn priors(model: &Trained) -> Vec<f64> {
    let factorized = model.fitted.model.as_model().factorized_likelihood();
    factorized.map_or_else(Vec::new, |m| m.log_priors().iter().map(|p| p.exp()).collect())
}

fn column_index(names: &[String], name: &str) -> Result<usize> {
    names.iter().position(|n| n == name).ok_or_else(|| {
        let known = names.join(", ");
        Failure::Usage(format!(
            "--column {name}: the model has no such column; the columns are {known}"
        ))
    })
}

/// An image with its frame.
fn push_image(
    scene: &mut Scene,
    (rows, columns): (usize, usize),
    (left, top): (f64, f64),
    pixel: f64,
    color: impl Fn(usize) -> [u8; 3],
) {
    for i in 0..rows {
        push_runs(scene, columns, (left, top + i as f64 * pixel), pixel, |j| {
            color(i * columns + j)
        });
    }
    scene.elements.push(frame(left, top, pixel * columns as f64, pixel * rows as f64));
}

/// A row of pixels; neighbors of the same color are drawn as one rectangle.
fn push_runs(
    scene: &mut Scene,
    n: usize,
    (left, top): (f64, f64),
    pixel: f64,
    color: impl Fn(usize) -> [u8; 3],
) {
    let mut from = 0;
    for j in 1..=n {
        if j < n && color(j) == color(from) {
            continue;
        }
        let [red, green, blue] = color(from);
        scene.elements.push(Primitive::Rect {
            x: left + from as f64 * pixel,
            y: top,
            width: (j - from) as f64 * pixel,
            height: pixel,
            fill: Color::Rgb(red, green, blue),
            stroke: None,
            stroke_width: None,
            opacity: None,
        });
        from = j;
    }
}

fn frame(x: f64, y: f64, width: f64, height: f64) -> Primitive {
    Primitive::Rect {
        x,
        y,
        width,
        height,
        fill: Color::None,
        stroke: Some(Color::Rgb(136, 136, 136)),
        stroke_width: Some(0.5),
        opacity: None,
    }
}

fn label(x: f64, y: f64, content: &str, anchor: TextAnchor) -> Primitive {
    Primitive::Text {
        x,
        y,
        content: content.to_owned(),
        size: 14,
        anchor,
        rotate: None,
        bold: false,
        color: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_clipped_at_the_range_of_the_data() {
        let bin = [(2007.0, 0.0), (2007.0, 0.5), (2009.0, 0.5), (2009.0, 0.0)];
        let line = [(0.0, 0.0), (2.0, 2.0), (4.0, 0.0)];

        assert_eq!(clipped(&bin, (2007.0, 2008.0)), [(2007.0, 0.0), (2007.0, 0.5), (2008.0, 0.5)]);
        assert_eq!(clipped(&line, (1.0, 3.0)), [(1.0, 1.0), (2.0, 2.0), (3.0, 1.0)]);
        assert_eq!(clipped(&line, (5.0, 6.0)), []);
    }
}
