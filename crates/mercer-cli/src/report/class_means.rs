//! What the classes of a model look like: images where columns are pixels, curves and bars otherwise.

use super::plot::COLORS;
use crate::failure::{Failure, Result};
use kuva::plot::{BarPlot, LinePlot};
use kuva::render::color::Color;
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, Scene, TextAnchor};
use mercer::catalog::Input;
use mercer::data::Measure;
use mercer::explain::{ClassMeans, short};
use mercer::model::FactorizedLikelihood;
use mercer::train::Trained;
use mercer_num::Matrix;

/// Columns drawn at once.
const MOST_COLUMNS: usize = 60;
/// Values of a column that still fit beside each other.
const MOST_BARS: usize = 30;
const POINTS: usize = 200;
const PANELS_ACROSS: usize = 3;
/// The larger side of an image on the page, and the room for words.
const SIDE: f64 = 168.0;
const MARGIN: f64 = 16.0;
const WORDS: f64 = 130.0;
const HEAD: f64 = 30.0;

/// Every class as an image of its mean and one of its deviation, or of its probabilities.
pub fn images(model: &Trained, (rows, columns): (usize, usize)) -> Result<Scene> {
    let portrait = portrait(model)?;
    let width = portrait.centers.ncols();
    if rows * columns != width {
        return Err(Failure::Usage(format!(
            "--image {rows}x{columns} has {} pixels, and a row of the model {width} columns",
            rows * columns
        )));
    }
    let centers = (portrait.what.name(), &portrait.centers);
    let deviations = portrait.deviations.as_ref().map(|d| ("deviation", d));
    let shown: Vec<(&str, &Matrix)> = [Some(centers), deviations].into_iter().flatten().collect();
    let pixel = SIDE / rows.max(columns) as f64;
    let (high, wide) = (pixel * rows as f64, pixel * columns as f64);
    let names = class_names(model);
    let mut scene = Scene::new(
        WORDS + shown.len() as f64 * (wide + MARGIN) + MARGIN,
        HEAD + names.len() as f64 * (high + MARGIN) + MARGIN,
    );
    for (k, (title, numbers)) in shown.iter().enumerate() {
        let left = WORDS + k as f64 * (wide + MARGIN);
        scene.elements.push(words(left + 0.5 * wide, 20.0, title, TextAnchor::Middle));
        // One scale for all classes, so that they can be compared.
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let range = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low;
        for (c, row) in numbers.outer_iter().enumerate() {
            let top = HEAD + c as f64 * (high + MARGIN);
            let gray = |at: usize| {
                let share = if range > 0.0 { (row[at] - low) / range } else { 0.0 };
                (255.0 - 255.0 * share).round() as u8
            };
            for i in 0..rows {
                push_runs(&mut scene, columns, (left, top + i as f64 * pixel), pixel, |j| {
                    gray(i * columns + j)
                });
            }
            scene.elements.push(frame(left, top, wide, high));
        }
    }
    let priors = priors(model);
    for (c, name) in names.iter().enumerate() {
        let y = HEAD + c as f64 * (high + MARGIN) + 0.5 * high;
        scene.elements.push(words(MARGIN, y, name, TextAnchor::Start));
        if let Some(prior) = priors.get(c) {
            let share = format!("P = {}", short(*prior));
            scene.elements.push(words(MARGIN, y + 18.0, &share, TextAnchor::Start));
        }
    }
    Ok(scene)
}

/// One panel a column: a curve a class over its numbers, or a bar a class over its words.
pub fn curves(model: &Trained, columns: &[String]) -> Result<Scene> {
    let names = model.features.names();
    let chosen: Vec<usize> = match columns {
        [] => (0..names.len()).collect(),
        some => some.iter().map(|name| place(&names, name)).collect::<Result<_>>()?,
    };
    if chosen.len() > MOST_COLUMNS {
        return Err(Failure::Usage(format!(
            "{} columns are too many for one picture; name some with --column, or say --image \
             ROWSxCOLUMNS if they are pixels",
            chosen.len()
        )));
    }
    let portrait = portrait(model)?;
    let measures = model.features.descriptions();
    let mut panels = Vec::new();
    for j in chosen {
        let codes = match measures.get(j).map(|d| d.measure) {
            Some(Measure::Categorical(n)) if n <= MOST_BARS => Some(n),
            _ => None,
        };
        let factored = model.fitted.model.as_model().factorized_likelihood();
        let plots = match (factored, codes) {
            (Some(factored), Some(n)) => bars(model, factored, j, n)?,
            (Some(factored), None) => lines(model, j, &portrait, |x| {
                let mut row = missing(model);
                row[j] = x;
                Ok(factored.log_factors(&row)?.row(j).iter().map(|p| p.exp()).collect())
            })?,
            // Without factors the columns go together; alone, each is a bell curve.
            (None, _) => lines(model, j, &portrait, |x| {
                let bell = |c: usize| {
                    let mean = portrait.centers[[c, j]];
                    let deviation = portrait.deviations.as_ref().map_or(1.0, |d| d[[c, j]]);
                    mercer_num::special::normal_log_density(x, mean, deviation * deviation).exp()
                };
                Ok((0..portrait.centers.nrows()).map(bell).collect())
            })?,
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

/// A row in which nothing is known: a word that does not occur is not missing, it occurs zero times.
fn missing(model: &Trained) -> Vec<f64> {
    let is_word = |m: &Measure| matches!(m, Measure::TermCount(_));
    let gaps = model.estimator.card().accepts(Input::MissingValues);
    let columns = model.features.descriptions();
    columns.iter().map(|c| if is_word(&c.measure) || !gaps { 0.0 } else { f64::NAN }).collect()
}

fn lines(
    model: &Trained,
    j: usize,
    portrait: &ClassMeans,
    densities: impl Fn(f64) -> Result<Vec<f64>>,
) -> Result<Vec<Plot>> {
    let centers = portrait.centers.column(j);
    let stray = |c: usize| portrait.deviations.as_ref().map_or(1.0, |d| d[[c, j]]);
    let ends = centers.iter().enumerate().map(|(c, m)| (m - 3.5 * stray(c), m + 3.5 * stray(c)));
    let (low, high) = ends
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (a, b)| (low.min(a), high.max(b)));
    let high = if high > low { high } else { low + 1.0 };
    let mut points = vec![Vec::new(); centers.len()];
    for k in 0..=POINTS {
        let x = low + (high - low) * k as f64 / POINTS as f64;
        points.iter_mut().zip(densities(x)?).for_each(|(p, y)| p.push((x, y)));
    }
    let mut lines = Vec::new();
    for ((name, points), color) in
        class_names(model).into_iter().zip(points).zip(COLORS.iter().cycle())
    {
        let line = LinePlot::new().with_data(points).with_color(*color);
        lines.push(Plot::Line(line.with_legend(name)));
    }
    Ok(lines)
}

fn bars(
    model: &Trained,
    factored: &dyn FactorizedLikelihood,
    j: usize,
    n: usize,
) -> Result<Vec<Plot>> {
    let names = class_names(model);
    let mut plot = BarPlot::new();
    let mut row = missing(model);
    for code in 0..n {
        row[j] = code as f64;
        let shares: Vec<f64> = factored.log_factors(&row)?.row(j).iter().map(|p| p.exp()).collect();
        let word = model.features.word(j, code as f64).unwrap_or_else(|| code.to_string());
        plot = plot.with_group(word, shares.into_iter().zip(COLORS.iter().cycle().copied()));
    }
    Ok(vec![Plot::Bar(plot.with_legend(names.iter().map(String::as_str).collect()))])
}

fn portrait(model: &Trained) -> Result<ClassMeans> {
    let portrait = model.fitted.model.as_model().classifier().and_then(|m| m.class_means());
    portrait.ok_or_else(|| model.estimator.unable("be drawn: it has no picture of a class").into())
}

fn class_names(model: &Trained) -> Vec<String> {
    let classifier = model.fitted.model.as_model().classifier();
    classifier
        .map_or_else(Vec::new, |m| m.classes().labels().iter().map(ToString::to_string).collect())
}

/// The shares of the classes, where the model keeps them.
fn priors(model: &Trained) -> Vec<f64> {
    let factored = model.fitted.model.as_model().factorized_likelihood();
    factored.map_or_else(Vec::new, |m| m.log_priors().iter().map(|p| p.exp()).collect())
}

fn place(names: &[String], name: &str) -> Result<usize> {
    names.iter().position(|n| n == name).ok_or_else(|| {
        let known = names.join(", ");
        Failure::Usage(format!("--column {name}: the model has no such column; it has {known}"))
    })
}

/// A line of pixels; neighbors of one gray are one rectangle.
fn push_runs(
    scene: &mut Scene,
    n: usize,
    (left, top): (f64, f64),
    pixel: f64,
    gray: impl Fn(usize) -> u8,
) {
    let mut from = 0;
    for j in 1..=n {
        if j < n && gray(j) == gray(from) {
            continue;
        }
        let shade = gray(from);
        scene.elements.push(Primitive::Rect {
            x: left + from as f64 * pixel,
            y: top,
            width: (j - from) as f64 * pixel,
            height: pixel,
            fill: Color::Rgb(shade, shade, shade),
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

fn words(x: f64, y: f64, content: &str, anchor: TextAnchor) -> Primitive {
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
