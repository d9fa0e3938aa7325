//! Predictions as text: CSV with a header, or JSON lines.

use super::unsupervised::output_columns;
use super::{PredictOptions, Predicted, Predictions};
use crate::data::Label;
use crate::train::Trained;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The names of the two predictions of an outlier detector.
const OUTLIER_NAMES: [&str; 2] = ["outlier", "inlier"];

/// A line format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFormat {
    /// A header line, then one line per row.
    Csv,
    /// One JSON object per row.
    JsonLines,
}

/// Writes the predictions of one model under one set of options.
pub struct PredictionWriter {
    format: LineFormat,
    /// The names of the classes in code order; empty for other models than classifiers.
    classes: Vec<String>,
    /// The predicted columns of an unsupervised model.
    unsupervised: Option<Vec<String>>,
    target: String,
    /// The names of the discriminant axes, if the projection is requested.
    axes: Vec<String>,
    options: PredictOptions,
    /// Whether every line begins with the name of a file.
    named_rows: bool,
}

impl PredictionWriter {
    /// A writer for the predictions of a model.
    pub fn new(model: &Trained, options: &PredictOptions, format: LineFormat) -> PredictionWriter {
        let able = model.fitted.model.as_model();
        let labels = able.classifier().map_or_else(Vec::new, |c| c.classes().labels().to_vec());
        let n_axes = able.transformer().filter(|_| options.projection).map_or(0, |m| m.n_outputs());
        PredictionWriter {
            format,
            classes: labels.iter().map(Label::to_string).collect(),
            unsupervised: output_columns(model),
            target: model.features.target.clone().unwrap_or_else(|| "prediction".into()),
            axes: (0..n_axes).map(|k| format!("{}{k}", model.estimator.id())).collect(),
            options: options.clone(),
            named_rows: false,
        }
    }

    /// The same writer, for rows that are files whose names are printed.
    #[must_use]
    pub fn with_named_rows(self) -> PredictionWriter {
        PredictionWriter { named_rows: true, ..self }
    }

    /// The header line; empty for JSON lines.
    pub fn header(&self) -> String {
        if self.format == LineFormat::JsonLines {
            return String::new();
        }
        let mut columns = match &self.unsupervised {
            Some(columns) => columns.clone(),
            None => vec![self.target.clone()],
        };
        if self.named_rows {
            columns.insert(0, "file".to_owned());
        }
        let options = &self.options;
        if options.proba {
            columns.extend(self.classes.iter().map(|name| format!("P({name})")));
        }
        let extra = [(options.rule.is_some(), "risk"), (options.density, "log_density")];
        columns.extend(extra.iter().filter(|(given, _)| *given).map(|(_, name)| (*name).into()));
        columns.extend(self.axes.iter().cloned());
        if options.outlier_threshold.is_some() {
            columns.push("outlier".into());
        }
        if options.sets.is_some() {
            columns.push("set".into());
        }
        if options.interval.is_some() {
            columns.extend(["low".to_owned(), "high".to_owned()]);
        }
        let columns: Vec<String> = columns.iter().map(|name| csv_field(name)).collect();
        columns.join(",") + "\n"
    }

    /// The lines of some predictions, the first of which is that of `first_row`, counted from zero. `name` returns the
    /// name of a row.
    pub fn lines(
        &self,
        predictions: &Predictions,
        first_row: usize,
        name: &dyn Fn(usize) -> Option<String>,
    ) -> String {
        let mut text = String::new();
        for i in 0..predictions.n_rows() {
            let row = first_row + i;
            let name = name(row).filter(|_| self.named_rows);
            match self.format {
                LineFormat::JsonLines => self.json_line(&mut text, predictions, i, row, name),
                LineFormat::Csv => self.csv_line(&mut text, predictions, i, name),
            }
        }
        text
    }

    fn json_line(
        &self,
        text: &mut String,
        predictions: &Predictions,
        i: usize,
        row: usize,
        name: Option<String>,
    ) {
        let mut line = Map::new();
        line.insert("row".into(), json!(row + 1));
        match &self.unsupervised {
            Some(columns) => {
                line.extend(columns.iter().cloned().zip(self.predicted(predictions, i)));
            }
            None => {
                let predicted = self.predicted(predictions, i);
                line.extend(predicted.map(|value| ("prediction".to_owned(), value)));
            }
        }
        line.extend(name.map(|name| ("file".to_owned(), json!(name))));
        if let Some(proba) = &predictions.proba {
            let proba = proba.row(i).to_vec().into_iter().map(|p| json!(p));
            line.insert("proba".into(), self.classes.iter().cloned().zip(proba).collect());
        }
        line.extend(self.numbers(predictions, i));
        // Writing to a string cannot fail.
        writeln!(text, "{}", Value::Object(line)).ok();
    }

    fn csv_line(
        &self,
        text: &mut String,
        predictions: &Predictions,
        i: usize,
        name: Option<String>,
    ) {
        if let Some(name) = name {
            text.push_str(&csv_field(&name));
            text.push(',');
        }
        match &predictions.predicted {
            // A rejected row has an empty cell, as every missing value.
            Predicted::Classes(codes) => {
                let class = codes[i].and_then(|code| self.classes.get(code as usize));
                text.push_str(&class.map_or_else(String::new, |class| csv_field(class)));
            }
            Predicted::Values(values) => push_number(text, values[i]),
            Predicted::InlierScores(scores) => {
                text.push_str(outlier_name(scores[i]));
                push_cell(text, scores[i]);
            }
            Predicted::Clusters(clusters) => {
                write!(text, "{}", clusters[i].0).unwrap_or_default();
                push_cell(text, clusters[i].1);
            }
            Predicted::Transformed(rows) => {
                for (k, x) in rows.row(i).iter().enumerate() {
                    if k > 0 {
                        text.push(',');
                    }
                    push_number(text, *x);
                }
            }
        }
        if let Some(proba) = &predictions.proba {
            proba.row(i).iter().for_each(|p| push_cell(text, *p));
        }
        let p = predictions;
        let mut numbers = Vec::new();
        numbers.extend(p.risk.as_ref().map(|risk| risk[i]));
        numbers.extend(p.log_density.as_ref().map(|density| density[i]));
        numbers.extend(p.projection.iter().flat_map(|rows| rows.row(i).to_vec()));
        numbers.into_iter().for_each(|x| push_cell(text, x));
        if let Some(outliers) = &p.outliers {
            text.push_str(if outliers[i] { ",true" } else { ",false" });
        }
        if let Some(sets) = &p.sets {
            let names: Vec<&str> = self.class_names(&sets[i]).collect();
            text.push(',');
            text.push_str(&csv_field(&names.join("|")));
        }
        if let Some(intervals) = &p.intervals {
            push_cell(text, intervals[i].0);
            push_cell(text, intervals[i].1);
        }
        text.push('\n');
    }

    fn class_names(&self, codes: &[usize]) -> impl Iterator<Item = &str> {
        codes.iter().filter_map(|code| self.classes.get(*code).map(String::as_str))
    }

    /// The prediction of a row; several values for an unsupervised model.
    fn predicted(&self, predictions: &Predictions, i: usize) -> impl Iterator<Item = Value> {
        let values = match &predictions.predicted {
            Predicted::Classes(codes) => {
                vec![json!(codes[i].and_then(|code| self.classes.get(code as usize)))]
            }
            Predicted::Values(values) => vec![json!(values[i])],
            Predicted::InlierScores(scores) => {
                vec![json!(outlier_name(scores[i])), json!(scores[i])]
            }
            Predicted::Clusters(clusters) => vec![json!(clusters[i].0), json!(clusters[i].1)],
            Predicted::Transformed(rows) => rows.row(i).iter().map(|x| json!(x)).collect(),
        };
        values.into_iter()
    }

    /// What was requested besides the prediction and the probabilities, by column.
    fn numbers(&self, p: &Predictions, i: usize) -> impl Iterator<Item = (String, Value)> {
        let mut numbers = Vec::new();
        let mut push = |name: &str, value: Value| numbers.push((name.to_owned(), value));
        if let Some(risk) = &p.risk {
            push("risk", json!(risk[i]));
        }
        if let Some(density) = &p.log_density {
            push("log_density", json!(density[i]));
        }
        if let Some(projection) = &p.projection {
            self.axes.iter().zip(projection.row(i)).for_each(|(name, z)| push(name, json!(z)));
        }
        if let Some(outliers) = &p.outliers {
            push("outlier", json!(outliers[i]));
        }
        if let Some(sets) = &p.sets {
            push("set", self.class_names(&sets[i]).collect());
        }
        if let Some(intervals) = &p.intervals {
            push("low", json!(intervals[i].0));
            push("high", json!(intervals[i].1));
        }
        numbers.into_iter()
    }
}

/// The name of an outlier score.
pub fn outlier_name(score: f64) -> &'static str {
    OUTLIER_NAMES[usize::from(score >= 0.0)]
}

fn push_cell(text: &mut String, x: f64) {
    text.push(',');
    push_number(text, x);
}

/// A number with the digits of its JSON form; `inf` and `-inf`, which JSON does not have, for infinities.
fn push_number(text: &mut String, x: f64) {
    // Writing to a string cannot fail.
    match x.is_infinite() {
        true => write!(text, "{x}").ok(),
        false => write!(text, "{}", json!(x)).ok(),
    };
}

/// A CSV field, quoted where it must be.
pub fn csv_field(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
