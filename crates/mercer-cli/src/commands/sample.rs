//! `mercer sample`: new rows from what a model learned, as a table.

use super::predict::PendingFile;
use crate::args::Sample;
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use mercer::data::{DateOrder, Label, Notation};
use mercer::predict::csv_field;
use mercer::preprocess::{DateStep, NumericStep, Step};
use mercer::train::Trained;
use mercer_num::random::Random;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Cells and rows that are sampled at a time, which bounds the memory.
const MAX_CELLS: usize = 1 << 22;
const MAX_ROWS: usize = 4096;

pub fn run(args: Sample, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    let Some(generative) = model.fitted.model.as_model().generative() else {
        return Err(model.estimator.unable("make new rows: it has no density over rows").into());
    };
    if let Some(map) = &model.features.map {
        return Err(Failure::Usage(format!(
            "the model's density is over the columns of a map ({}), which do not lead back to rows of a \
             table",
            map.spec
        )));
    }
    let classes: Vec<String> = generative.classes().labels().iter().map(Label::to_string).collect();
    let target = model.features.target.clone().unwrap_or_else(|| "class".into());
    let given = args.class.as_deref().map(|name| class_code(&classes, name)).transpose()?;
    let columns = Columns::new(&model);
    let mut out: Box<dyn Write> = match &args.out {
        Some(path) => Box::new(PendingFile::create(path)?),
        None => Box::new(io::stdout().lock()),
    };
    if !session.json {
        let names = columns.names.iter().chain([&target]).map(|name| csv_field(name));
        writeln!(out, "{}", names.collect::<Vec<_>>().join(","))?;
    }
    let mut random = Random::new(args.seed);
    let at_once = (MAX_CELLS / generative.n_columns().max(1)).clamp(1, MAX_ROWS) as u64;
    let mut left = args.rows;
    while left > 0 {
        session.check_interrupt()?;
        let n = left.min(at_once);
        left -= n;
        let (rows, codes) = generative.sample(n as usize, given, &mut random);
        for (row, code) in rows.outer_iter().zip(codes) {
            let cells = columns.cells(&row.to_vec());
            let class = &classes[code as usize];
            if session.json {
                let named = columns.names.iter().cloned().zip(cells);
                let mut line: Map<String, Value> = named.collect();
                line.insert(target.clone(), json!(class));
                writeln!(out, "{}", Value::Object(line))?;
            } else {
                let cells = cells.iter().map(written).chain([csv_field(class)]);
                writeln!(out, "{}", cells.collect::<Vec<_>>().join(","))?;
            }
        }
    }
    out.flush()?;
    if !columns.left_out.is_empty() {
        session.message(&format!(
            "not sampled: {} (hashed or weighted terms do not lead back to a text)",
            columns.left_out.join(", ")
        ));
    }
    Ok(())
}

fn class_code(classes: &[String], name: &str) -> Result<u32> {
    let code = classes.iter().position(|class| class == name).ok_or_else(|| {
        Failure::Usage(format!(
            "--class {name}: the model has no such class; the classes are {}",
            classes.join(", ")
        ))
    })?;
    Ok(code as u32)
}

/// The way back from features to the columns of a table.
struct Columns<'a> {
    model: &'a Trained,
    names: Vec<String>,
    left_out: Vec<String>,
}

impl<'a> Columns<'a> {
    fn new(model: &'a Trained) -> Columns<'a> {
        let features = &model.features;
        let (mut names, mut left_out) = (Vec::new(), Vec::new());
        for (field, step) in features.schema.fields.iter().zip(&features.steps) {
            match step {
                Step::Text(step) if !step.has_vocabulary_of_counts() => {
                    left_out.push(field.name.clone());
                }
                Step::Sparse => names.extend(features.names()),
                _ => names.push(field.name.clone()),
            }
        }
        Columns { model, names, left_out }
    }

    /// The cells of a row, as the table would have them.
    fn cells(&self, row: &[f64]) -> Vec<Value> {
        let features = &self.model.features;
        let mut out = Vec::with_capacity(self.names.len());
        let mut at = 0;
        for (field, step) in features.schema.fields.iter().zip(&features.steps) {
            match step {
                Step::Numeric(step) if !step.as_code => {
                    let width = step.width();
                    out.push(number(step, &field.name, &row[at..at + width]));
                    at += width;
                }
                Step::Date(step) => {
                    out.push(date(step, &row[at..at + step.width()]));
                    at += step.width();
                }
                Step::Code | Step::Numeric(_) => {
                    out.push(features.category(at, row[at]).map_or(Value::Null, Value::from));
                    at += 1;
                }
                Step::OneHot(step) => {
                    let cells = &row[at..at + step.width(&field.levels)];
                    let word = step.level(largest(cells), &field.levels);
                    out.push(word.map_or(Value::Null, Value::from));
                    at += cells.len();
                }
                Step::Sparse => out.extend(row.iter().map(|x| json!(x))),
                Step::Text(step) => {
                    let cells = &row[at..at + step.width()];
                    at += cells.len();
                    if step.has_vocabulary_of_counts() {
                        out.push(json!(bag_of_words(&step.names(), cells)));
                    }
                }
            }
        }
        out
    }
}

/// A number as it was before it was prepared; of a bin, its name.
fn number(step: &NumericStep, name: &str, cells: &[f64]) -> Value {
    let cells = &cells[..step.value_width()];
    if cells.len() > 1 {
        return step.names(name).get(largest(cells)).map_or(Value::Null, |bin| json!(bin));
    }
    json!(step.invert(cells).unwrap_or(cells[0]))
}

/// A date as it was before it was prepared, if its elapsed days are among the features.
fn date(step: &DateStep, cells: &[f64]) -> Value {
    let elapsed = step.parts.first().and_then(|(_, numeric)| numeric.invert(cells));
    let days = elapsed.map(|days| days + step.origin.unwrap_or(0.0));
    days.map_or(Value::Null, |days| json!(Notation::Date(DateOrder::Ymd).format(days)))
}

/// The terms of a text in the order of the vocabulary, each as often as it was counted.
fn bag_of_words(terms: &[String], counts: &[f64]) -> String {
    let present = terms.iter().zip(counts).filter(|(_, n)| **n > 0.0);
    let repeated = present.flat_map(|(term, n)| std::iter::repeat_n(term.as_str(), *n as usize));
    repeated.collect::<Vec<_>>().join(" ")
}

fn largest(cells: &[f64]) -> usize {
    mercer_num::special::argmax(cells)
}

/// A cell of a CSV file.
fn written(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(word) => csv_field(word),
        other => other.to_string(),
    }
}
