//! `mercer predict`: one line per row.

use super::predict_keep::Kept;
use super::unsupervised;
use crate::args::Predict;
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use mercer::data::{Classes, Column, Label, Schema, Stream, Table, Values};
use mercer::decision::{Action, DecisionRule, Risk, outlier_threshold};
use mercer::model::{Regressor, chunk_rows, log_posterior, most_probable, n_impossible};
use mercer::train::Trained;
use mercer_io::{Format, Source};
use mercer_num::{Rows, parallel};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// The size of the buffer of standard input, in bytes.
const BUFFER_BYTES: usize = 1 << 18;

pub fn run(args: Predict, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    let regression = model.fitted.model.as_model().regressor().is_some();
    let unsupervised = model.estimator.card().is_unsupervised();
    let classes = match regression || unsupervised {
        true => Classes::default(),
        false => input::classes(&model)?,
    };
    let mut writer = Writer::new(&args, &model, &classes, session)?;
    if args.data == "-" && args.reading.format == Some(Format::Lines) {
        return predict_lines(&args, &model, &writer, session);
    }
    let source = input::open_for(&model, &args.data, &args.reading, session)?;
    if !regression && !unsupervised && source.document_name(0).is_some() {
        writer.files = Some(&source);
    }
    if let Some(fraction) = args.outliers {
        writer.threshold = Some(outlier_threshold_of(&args, fraction, &model, &source, session)?);
    }
    let totals = predict_table(&args, &model, &writer, &source, session)?;
    session.message(&format!("{} rows predicted", totals.n_rows));
    if let Some(report) = totals.risk.report() {
        session.message(&format!(
            "expected risk {:.6}, {:.2} % of the rows rejected",
            report.expected_risk,
            100.0 * report.rejected_fraction
        ));
    }
    if totals.n_impossible > 0 {
        session.message(&format!(
            "{} rows have likelihood zero in every class; they were predicted from the priors alone (smoothing, \
             such as alpha=1, avoids probabilities of zero)",
            totals.n_impossible
        ));
    }
    if totals.n_unknown_tokens > 0 {
        session.message(&format!(
            "{} tokens of the texts are not in the vocabulary of the model; they have no factor",
            totals.n_unknown_tokens
        ));
    }
    if totals.n_unseen > 0 {
        let treatment = match model.estimator.params()["unseen"].as_str() {
            Some("other") => "counted as categories of frequency zero",
            _ => "ignored",
        };
        session.message(&format!(
            "{} cells hold categories that the training data does not; they were {treatment}",
            totals.n_unseen
        ));
    }
    Ok(())
}

/// Totals over the predicted rows.
#[derive(Default)]
struct Totals {
    n_rows: usize,
    /// Cells with unknown categories.
    n_unseen: u64,
    /// Tokens outside the vocabulary.
    n_unknown_tokens: u64,
    /// Rows with likelihood zero in every class.
    n_impossible: usize,
    risk: Risk,
}

/// The lines of a table and what was counted while they were written.
#[derive(Default)]
struct Lines {
    text: String,
    n_unseen: u64,
    n_unknown_tokens: u64,
    n_impossible: usize,
    risk: Risk,
}

/// Writes the predictions of a table.
fn predict_table(
    args: &Predict,
    model: &Trained,
    writer: &Writer<'_>,
    source: &Source,
    session: &Session,
) -> Result<Totals> {
    let features = &model.features;
    let chunk = chunk_rows(features.n_features(), features.layout());
    let mut out = output(args.out.as_deref())?;
    let kept = Kept { names: &args.keep };
    let schema = kept.add_to(features.input_schema(None));
    report_extra_columns(source, &schema, model, session);
    let mut header = Some(kept.header(writer.header()));
    let mut totals = Totals::default();
    let mut write_error = None;
    let done = source.stream(&schema, chunk, &mut |tables| {
        let first = totals.n_rows;
        let lines = parallel::map(tables.len(), |k| {
            let mut lines = writer.lines(&tables[k], first + k * chunk)?;
            lines.text = kept.lines(lines.text, &tables[k], writer.json);
            Ok::<_, mercer::Error>(lines)
        })
        .map_err(|e| e.after_rows(first))?;
        totals.n_rows += tables.iter().map(Table::n_rows).sum::<usize>();
        // The header is written only once the first rows have been predicted without an error.
        let header = header.take().map(|text| Lines { text, ..Lines::default() });
        for lines in header.into_iter().chain(lines) {
            totals.n_unseen += lines.n_unseen;
            totals.n_unknown_tokens += lines.n_unknown_tokens;
            totals.n_impossible += lines.n_impossible;
            totals.risk.merge(&lines.risk);
            if let Err(error) = out.write_all(lines.text.as_bytes()) {
                write_error = Some(error);
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    done.map_err(|e| input::located_for_model(e, source, model))?;
    session.check_interrupt()?;
    if let Some(error) = write_error {
        return Err(error.into());
    }
    out.flush()?;
    Ok(totals)
}

/// Columns that are named; of more, their number.
const MAX_EXTRA_COLUMNS: usize = 20;

/// Reports the columns of the table that are not used, besides the target and those that training dropped.
fn report_extra_columns(source: &Source, schema: &Schema, model: &Trained, session: &Session) {
    let features = &model.features;
    let known = |name: &String| {
        Some(name) == features.target.as_ref()
            || Some(name) == features.weights.as_ref()
            || features.dropped.iter().any(|column| column.name == *name)
    };
    let extra = source.extra_columns(schema);
    let extra: Vec<String> =
        extra.into_iter().filter(|name| !known(name)).map(|name| format!("`{name}`")).collect();
    if extra.is_empty() {
        return;
    }
    let shown = extra[..extra.len().min(MAX_EXTRA_COLUMNS)].join(", ");
    let more = match extra.len() - extra.len().min(MAX_EXTRA_COLUMNS) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    session.message(&format!(
        "columns that the model was not trained with are not used: {shown}{more}"
    ));
}

fn output(path: Option<&Path>) -> Result<Box<dyn Write>> {
    Ok(match path {
        Some(path) => Box::new(PendingFile::create(path)?),
        None => Box::new(io::stdout().lock()),
    })
}

/// The log density below which a row is an outlier.
fn outlier_threshold_of(
    args: &Predict,
    fraction: f64,
    model: &Trained,
    source: &Source,
    session: &Session,
) -> Result<f64> {
    let (threshold, reference) = match &model.densities {
        Some(known) if !args.outliers_here => {
            (known.threshold(fraction)?, "held-out training rows")
        }
        None if !args.outliers_here => {
            return Err(Failure::Usage(format!(
                "{} stores no densities of held-out training rows; train it with cross-validation, or compute \
                 the threshold from this table with --outliers-here",
                args.model.display()
            )));
        }
        _ => {
            let densities = log_densities(model, source, session)?;
            (outlier_threshold(&densities, fraction)?, "rows of this table")
        }
    };
    let percent = 100.0 * fraction;
    session.message(&format!(
        "outliers have log p(row) below {threshold}, the {percent} % quantile of the {reference}"
    ));
    Ok(threshold)
}

/// Predicts the lines of standard input as they arrive: a prediction is written before the next line is read.
fn predict_lines(
    args: &Predict,
    model: &Trained,
    writer: &Writer<'_>,
    session: &Session,
) -> Result<()> {
    let [field] = model.features.schema.fields.as_slice() else {
        return Err(Failure::Usage(
            "--format lines: the model has more than one column; pass a table".to_owned(),
        ));
    };
    if !args.keep.is_empty() {
        return Err(Failure::Usage(
            "--keep needs a table; it does not work with --format lines".to_owned(),
        ));
    }
    if args.outliers.is_some() {
        return Err(Failure::Usage(
            "--outliers needs a table; it does not work with --format lines".to_owned(),
        ));
    }
    let mut out = output(args.out.as_deref())?;
    out.write_all(writer.header().as_bytes())?;
    let mut input = io::BufReader::with_capacity(BUFFER_BYTES, io::stdin().lock());
    let mut rows = 0;
    let mut lines: Vec<Option<String>> = Vec::new();
    let mut ended = false;
    while !ended {
        let mut bytes = Vec::new();
        ended = input.read_until(b'\n', &mut bytes)? == 0;
        if !ended {
            let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            lines.push(Some(String::from_utf8_lossy(line).into_owned()));
        }
        // Complete lines that are in the buffer already are predicted together.
        if (ended || !input.buffer().contains(&b'\n')) && !lines.is_empty() {
            let values = Values::Text(std::mem::take(&mut lines));
            let table = Table::new(vec![Column { name: field.name.clone(), values }])?;
            let written = writer.lines(&table, rows)?;
            rows += table.n_rows();
            out.write_all(written.text.as_bytes())?;
            if args.out.is_none() {
                out.flush()?;
            }
        }
        session.check_interrupt()?;
    }
    out.flush()?;
    session.message(&format!("{rows} rows predicted"));
    Ok(())
}

/// `log p(row)` of every row.
fn log_densities(model: &Trained, source: &Source, session: &Session) -> Result<Vec<f64>> {
    let chunk = chunk_rows(model.features.n_features(), model.features.layout());
    let mut densities = Vec::new();
    source.stream(&model.features.input_schema(None), chunk, &mut |tables| {
        let some = parallel::map(tables.len(), |k| {
            let rows = model.features.encode(&tables[k], None)?;
            match model.fitted.model.as_model().generative() {
                Some(generative) => generative.log_density(&rows.rows()),
                None => Err(model.estimator.unable("compute a density")),
            }
        })
        .map_err(|e: mercer::Error| e.after_rows(densities.len()))?;
        densities.extend(some.into_iter().flatten());
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    session.check_interrupt()?;
    Ok(densities)
}

/// Turns tables into lines.
struct Writer<'a> {
    model: &'a Trained,
    classes: &'a Classes,
    names: Vec<String>,
    /// The predicted columns of an unsupervised model.
    unsupervised: Option<Vec<String>>,
    target: String,
    proba: bool,
    density: bool,
    projection: bool,
    /// Below this log-density a row is an outlier.
    threshold: Option<f64>,
    rule: Option<DecisionRule>,
    interval: Option<f64>,
    json: bool,
    /// The source, if its rows are files whose names are printed.
    files: Option<&'a Source>,
}

/// The prediction of a row.
struct Prediction {
    /// The code of the class; `None` if the row is rejected.
    class: Option<usize>,
    proba: Option<Vec<f64>>,
    /// The expected cost of the decision, if there is a decision rule.
    risk: Option<f64>,
    density: Option<f64>,
    /// The coordinates along the discriminant axes, if requested.
    projection: Vec<f64>,
    outlier: Option<bool>,
}

impl<'a> Writer<'a> {
    fn new(
        args: &Predict,
        model: &'a Trained,
        classes: &'a Classes,
        session: &Session,
    ) -> Result<Writer<'a>> {
        let able = model.fitted.model.as_model();
        if args.proba && able.probabilistic().is_none() {
            return Err(model.estimator.unable("predict probabilities").into());
        }
        if (args.density || args.outliers.is_some()) && able.generative().is_none() {
            return Err(model.estimator.unable("compute a density").into());
        }
        if args.projection && (able.transformer().is_none() || able.classifier().is_none()) {
            return Err(model.estimator.unable("project rows on discriminant axes").into());
        }
        if args.interval.is_some() && able.regressor().is_none() {
            return Err(model.estimator.unable("predict an interval").into());
        }
        Ok(Writer {
            model,
            classes,
            names: classes.labels().iter().map(Label::to_string).collect(),
            unsupervised: unsupervised::columns(model),
            target: model.features.target.clone().unwrap_or_else(|| "prediction".into()),
            proba: args.proba,
            density: args.density,
            projection: args.projection,
            threshold: None,
            rule: args.decision.rule(model, classes, session)?,
            interval: args.interval,
            json: session.json,
            files: None,
        })
    }

    fn header(&self) -> String {
        if self.json {
            return String::new();
        }
        if let Some(columns) = &self.unsupervised {
            let columns: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
            return columns.join(",") + "\n";
        }
        let mut columns = vec![quoted(&self.target)];
        if self.files.is_some() {
            columns.insert(0, "file".to_owned());
        }
        if self.proba {
            columns.extend(self.names.iter().map(|n| quoted(&format!("P({n})"))));
        }
        if self.rule.is_some() {
            columns.push("risk".into());
        }
        if self.density {
            columns.push("log_density".into());
        }
        if self.projection {
            columns.extend(self.axis_names());
        }
        if self.threshold.is_some() {
            columns.push("outlier".into());
        }
        if self.interval.is_some() {
            columns.extend(["low".to_owned(), "high".to_owned()]);
        }
        columns.join(",") + "\n"
    }

    /// The names of the discriminant axes.
    fn axis_names(&self) -> Vec<String> {
        let map = self.model.fitted.model.as_model().transformer();
        let n_axes = map.map_or(0, |map| map.n_outputs());
        (0..n_axes).map(|k| format!("{}{k}", self.model.estimator.id())).collect()
    }

    /// The lines of a table.
    fn lines(&self, table: &Table, first_row: usize) -> mercer::Result<Lines> {
        let rows = self.model.features.encode(table, None)?;
        let (n_unseen, n_unknown_tokens) = (rows.n_unseen, rows.n_unknown_tokens);
        let mut lines = Lines { n_unseen, n_unknown_tokens, ..Lines::default() };
        let able = self.model.fitted.model.as_model();
        if let Some(regressor) = able.regressor() {
            lines.text = self.regression_lines(regressor, &rows.rows(), first_row)?;
            return Ok(lines);
        }
        if let Some(columns) = &self.unsupervised {
            lines.text =
                unsupervised::lines(self.model, columns, &rows.rows(), first_row, self.json)?;
            return Ok(lines);
        }
        let Some(classifier) = able.classifier() else { return Ok(Lines::default()) };
        let posterior = self.proba || self.rule.is_some();
        let (predicted, log_proba) = match classifier.log_prior_fallback() {
            // The scores are joint log-likelihoods: they give the class, the posterior and the impossible rows.
            Some(priors) => {
                let scores = classifier.scores(&rows.rows())?;
                lines.n_impossible = n_impossible(&scores);
                let predicted = most_probable(&scores, Some(&priors));
                (predicted, posterior.then(|| log_posterior(scores, Some(&priors))))
            }
            None => {
                let log_proba = match able.probabilistic() {
                    Some(model) if posterior => Some(model.log_proba(&rows.rows())?),
                    _ => None,
                };
                (classifier.predict(&rows.rows())?, log_proba)
            }
        };
        let densities = match able.generative() {
            Some(model) if self.density || self.threshold.is_some() => {
                Some(model.log_density(&rows.rows())?)
            }
            _ => None,
        };
        let projected = match able.transformer() {
            Some(map) if self.projection => Some(map.transform(&rows.rows())?),
            _ => None,
        };
        for (i, class) in predicted.into_iter().enumerate() {
            let density = densities.as_ref().map(|densities| densities[i]);
            let mut prediction = Prediction {
                class: Some(class as usize),
                proba: log_proba.as_ref().map(|p| p.row(i).mapv(f64::exp).to_vec()),
                risk: None,
                density: density.filter(|_| self.density),
                projection: projected.as_ref().map_or_else(Vec::new, |z| z.row(i).to_vec()),
                outlier: self.threshold.zip(density).map(|(least, density)| density < least),
            };
            if let (Some(rule), Some(log_proba)) = (&self.rule, &log_proba) {
                let log_posterior = log_proba.row(i).to_vec();
                let decision = rule.decide(&log_posterior)?;
                lines.risk.push(&rule.costs, &decision, None);
                prediction.class = match decision.action {
                    Action::Class(c) => Some(c),
                    Action::Reject => None,
                };
                prediction.risk = Some(decision.risk);
                let adjusted = rule.adjusted(&log_posterior)?;
                prediction.proba = Some(adjusted.iter().map(|p| p.exp()).collect());
            }
            prediction.proba = prediction.proba.filter(|_| self.proba);
            self.line(&mut lines.text, first_row + i, prediction);
        }
        Ok(lines)
    }

    /// One regression prediction per line, with the bounds of its interval if requested.
    fn regression_lines(
        &self,
        model: &dyn Regressor,
        rows: &Rows<'_>,
        first_row: usize,
    ) -> mercer::Result<String> {
        let predicted = model.predict(rows)?;
        let intervals = match self.interval {
            Some(level) => {
                let unable = || {
                    self.model
                        .estimator
                        .unable("predict an interval: there are no residual degrees of freedom")
                };
                Some(model.intervals(rows, level)?.ok_or_else(unable)?)
            }
            None => None,
        };
        let mut text = String::new();
        for (i, y) in predicted.iter().enumerate() {
            let interval = intervals.as_ref().map(|all| all[i]);
            // Writing to a string cannot fail.
            match (self.json, interval) {
                (true, None) => {
                    writeln!(text, "{}", json!({"row": first_row + i + 1, "prediction": y}))
                }
                (true, Some((low, high))) => {
                    let line = json!({
                        "row": first_row + i + 1, "prediction": y, "low": low, "high": high,
                    });
                    writeln!(text, "{line}")
                }
                (false, None) => writeln!(text, "{}", json!(y)),
                (false, Some((low, high))) => {
                    writeln!(text, "{},{},{}", json!(y), json!(low), json!(high))
                }
            }
            .ok();
        }
        Ok(text)
    }

    fn file(&self, row: usize) -> Option<String> {
        self.files?.document_name(row as u64)
    }

    fn line(&self, text: &mut String, row: usize, prediction: Prediction) {
        if self.json {
            let winner = prediction.class.map(|c| self.classes.labels()[c].to_string());
            let mut line = json!({"row": row + 1, "prediction": winner});
            if let Some(file) = self.file(row) {
                line["file"] = json!(file);
            }
            if let Some(proba) = prediction.proba {
                line["proba"] =
                    self.names.iter().cloned().zip(proba.into_iter().map(|p| json!(p))).collect();
            }
            for (name, value) in [("risk", prediction.risk), ("log_density", prediction.density)] {
                if let Some(value) = value {
                    line[name] = json!(value);
                }
            }
            for (name, value) in self.axis_names().into_iter().zip(prediction.projection) {
                line[name] = json!(value);
            }
            if let Some(outlier) = prediction.outlier {
                line["outlier"] = json!(outlier);
            }
            // Writing to a string cannot fail.
            writeln!(text, "{line}").ok();
            return;
        }
        if let Some(file) = self.file(row) {
            text.push_str(&quoted(&file));
            text.push(',');
        }
        // A row without an answer has an empty cell, as every missing value.
        text.push_str(&prediction.class.map_or_else(String::new, |c| quoted(&self.names[c])));
        let numbers = prediction.proba.into_iter().flatten();
        let numbers = numbers.chain(prediction.risk).chain(prediction.density);
        for value in numbers.chain(prediction.projection) {
            write!(text, ",{}", json!(value)).ok();
        }
        if let Some(outlier) = prediction.outlier {
            write!(text, ",{outlier}").ok();
        }
        text.push('\n');
    }
}

/// A CSV field, quoted where it must be.
pub(super) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// A file that appears whole, when it is flushed, or not at all.
pub(super) struct PendingFile {
    file: Option<io::BufWriter<tempfile::NamedTempFile>>,
    path: std::path::PathBuf,
}

impl PendingFile {
    pub(super) fn create(path: &std::path::Path) -> Result<PendingFile> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        let file = tempfile::Builder::new()
            .prefix(".mercer-")
            .tempfile_in(folder.unwrap_or(std::path::Path::new(".")))
            .map_err(|e| Failure::Resources(format!("{}: {e}", path.display())))?;
        Ok(PendingFile { file: Some(io::BufWriter::new(file)), path: path.to_owned() })
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|e| e.error)?;
        Ok(())
    }
}
