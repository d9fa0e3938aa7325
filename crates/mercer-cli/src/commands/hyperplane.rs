//! `mercer hyperplane`: distances, margin and canonical form of given hyperplanes.

use crate::args::Reading;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::terminal::{align_right, table};
use crate::session::Session;
use clap::{Args as Group, ValueHint};
use mercer::data::{Classes, Stream};
use mercer::explain::short;
use mercer::preprocess::{Encoded, Features, Recipe};
use mercer::svm::{Hyperplane as Plane, Separation};
use mercer::train::classes_of_target;
use mercer_io::Source;
use serde_json::json;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Rows of which distances are printed.
const MAX_ROWS: usize = 20;
/// Rows of one batch.
const ROWS_PER_BATCH: usize = 10_000;

/// Measure given hyperplanes w·x + b = 0 on a table: signed distances, margin, canonical form.
///
/// The distance of a row is |w·x + b| / norm(w). In canonical form the nearest row has |w·x + b| = 1, and the margin
/// between two classes has the width 2 / norm(w). Of two hyperplanes the one with fewer misclassified rows is better,
/// and among equals the one with the larger margin.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer hyperplane points.csv --target y --hyperplane=1,1,-3
  mercer hyperplane points.csv --target y --hyperplane=1,1,-3 --hyperplane=1,0,-2")]
pub struct Hyperplane {
    /// Table; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    data: String,
    /// Weights in the order of the columns, then the intercept, separated by commas (twice to compare two)
    #[arg(long, value_name = "W1,W2,...,B", required = true, allow_hyphen_values = true)]
    hyperplane: Vec<String>,
    /// Column with the two classes; without it, distances and the canonical form only
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// Drop a column (may repeat)
    #[arg(long, value_name = "COLUMN")]
    ignore: Vec<String>,
    #[command(flatten)]
    reading: Reading,
}

pub fn run(args: Hyperplane, session: &Session) -> Result<()> {
    let planes = args.hyperplane.iter().map(|text| parse(text)).collect::<Result<Vec<_>>>()?;
    let source = input::open(&args.data, &args.reading, args.target.as_deref(), session)?;
    let (features, rows, classes) = read(&args, &source, session)?;
    let measured = planes
        .iter()
        .map(|plane| Measured::new(plane, &rows, &classes))
        .collect::<mercer::Result<Vec<Measured>>>()
        .map_err(|e| input::located(e.into(), &source, || features.encoded_names()))?;
    if session.json {
        let all: Vec<_> = measured.iter().map(Measured::json).collect();
        return session.print_json(&json!({"hyperplanes": all, "better": better(&measured)}));
    }
    let names = features.encoded_names();
    let mut out = io::stdout().lock();
    for (k, measured) in measured.iter().enumerate() {
        if k > 0 {
            writeln!(out)?;
        }
        measured.print(&mut out, &format!("B{}", k + 1), &names, &classes)?;
    }
    if let Some(better) = better(&measured) {
        writeln!(out, "\nB{better} is the better hyperplane")?;
    } else if measured.len() > 1 && measured.iter().all(|m| m.separation.is_some()) {
        writeln!(out, "\nboth are equally good")?;
    }
    Ok(())
}

/// The weights and the intercept of an option value.
fn parse(text: &str) -> Result<Plane> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let usage = |why: &str| Failure::Usage(format!("--hyperplane {text}: {why}"));
    let Some(mut numbers) = numbers.filter(|numbers| numbers.len() > 1) else {
        return Err(usage("expected weights and an intercept separated by commas, like 1,1,-3"));
    };
    let intercept = numbers.pop().unwrap_or_default();
    Plane::new(numbers, intercept).map_err(|error| usage(&error.to_string()))
}

/// The rows of the table, and the classes of the target if there is one.
fn read(
    args: &Hyperplane,
    source: &Source,
    session: &Session,
) -> Result<(Features, Encoded, Option<Classes>)> {
    let profile = input::profile(source, session)?;
    let mut schema = profile.schema();
    for name in args.ignore.iter().chain(&args.target) {
        if schema.field(name).is_none() {
            return Err(Failure::Usage(format!("the table has no column `{name}`")));
        }
    }
    for name in &args.ignore {
        schema = schema.without(name);
    }
    let classes = match args.target.as_deref().and_then(|name| profile.column(name)) {
        None => None,
        Some(column) => {
            let classes = classes_of_target(column, false)
                .map_err(|why| Failure::Data(format!("--target {}: {why}", column.name)))?;
            if classes.len() != 2 {
                let (name, n) = (&column.name, classes.len());
                return Err(Failure::Data(format!(
                    "--target {name}: found {n} classes, a hyperplane separates two"
                )));
            }
            Some(classes)
        }
    };
    let recipe = Recipe::default();
    let (features, _) = Features::plan(&schema, args.target.as_deref(), recipe.categories)?;
    let bar = session.bar("reading");
    let features = features.fit(&recipe, source, &session.monitor(&bar))?;
    bar.finish_and_clear();
    let mut parts = Vec::new();
    source
        .stream(&features.input_schema(classes.as_ref()), ROWS_PER_BATCH, &mut |tables| {
            for table in tables {
                parts.push(features.encode(&table, classes.as_ref())?);
            }
            Ok(ControlFlow::Continue(()))
        })
        .map_err(|e| input::located(e, source, || features.encoded_names()))?;
    let rows = Encoded::join(parts).ok_or(mercer::Error::NoRows)?;
    Ok((features, rows, classes))
}

/// A hyperplane measured on the rows.
struct Measured {
    plane: Plane,
    distances: Vec<f64>,
    /// The canonical form, if no row is on the hyperplane.
    canonical: Option<Plane>,
    separation: Option<Separation>,
}

impl Measured {
    fn new(plane: &Plane, rows: &Encoded, classes: &Option<Classes>) -> mercer::Result<Measured> {
        let x = rows.rows();
        let distances = plane.signed_distances(&x)?;
        let separation = match classes {
            None => None,
            Some(_) => {
                // The second class is the positive one, as in a binary decision function.
                let is_positive: Vec<bool> = rows.codes.iter().map(|c| *c == 1).collect();
                Some(plane.separation(&x, &is_positive)?)
            }
        };
        let canonical = match &separation {
            Some(separation) => separation.canonical.clone(),
            None => plane.canonical(&x).ok(),
        };
        Ok(Measured { plane: plane.clone(), distances, canonical, separation })
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "hyperplane": self.plane, "norm": self.plane.norm(),
            "signed_distances": self.distances, "canonical": self.canonical,
            "separation": self.separation,
        })
    }

    fn print(
        &self,
        out: &mut impl Write,
        name: &str,
        columns: &[String],
        classes: &Option<Classes>,
    ) -> Result<()> {
        writeln!(
            out,
            "{name}: {} = 0, norm(w) = {}",
            equation(&self.plane, columns),
            short(self.plane.norm())
        )?;
        if let Some(canonical) = &self.canonical {
            writeln!(out, "canonical form: {} = 0", equation(canonical, columns))?;
        } else {
            writeln!(out, "canonical form: none, a row is on the hyperplane")?;
        }
        if let (Some(separation), Some(classes)) = (&self.separation, classes) {
            let (margin, wrong) = (short(separation.margin), separation.misclassified.len());
            let nearest: Vec<String> =
                separation.nearest.iter().take(MAX_ROWS).map(|i| (i + 1).to_string()).collect();
            match separation.width {
                Some(width) => writeln!(
                    out,
                    "separates {} from {}: margin {margin} on each side, width 2/norm(w) = {} in canonical form",
                    classes.label(0),
                    classes.label(1),
                    short(width)
                )?,
                None => writeln!(
                    out,
                    "does not separate {} from {}: {wrong} rows on it or on the wrong side, the worst at {margin}",
                    classes.label(0),
                    classes.label(1)
                )?,
            }
            writeln!(out, "nearest rows: {}", nearest.join(", "))?;
        }
        let mut rows = table(&["row", "signed distance"]);
        align_right(&mut rows, &[0, 1]);
        for (i, distance) in self.distances.iter().enumerate().take(MAX_ROWS) {
            rows.add_row([(i + 1).to_string(), short(*distance)]);
        }
        writeln!(out, "{rows}")?;
        let rest = self.distances.len().saturating_sub(MAX_ROWS);
        if rest > 0 {
            writeln!(out, "{rest} more rows; --json prints all")?;
        }
        Ok(())
    }
}

/// `w·x + b` with the names of the columns.
fn equation(plane: &Plane, columns: &[String]) -> String {
    let mut text = String::new();
    for (w, column) in plane.weights.iter().zip(columns) {
        let sign = match (text.is_empty(), *w < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        text += &format!("{sign}{} {column}", short(w.abs()));
    }
    let sign = if plane.intercept < 0.0 { "-" } else { "+" };
    format!("{text} {sign} {}", short(plane.intercept.abs()))
}

/// The number of the better one of two hyperplanes, counted from one.
fn better(measured: &[Measured]) -> Option<usize> {
    let [Measured { separation: Some(first), .. }, Measured { separation: Some(second), .. }] =
        measured
    else {
        return None;
    };
    first.is_better_than(second).map(|first| if first { 1 } else { 2 })
}
