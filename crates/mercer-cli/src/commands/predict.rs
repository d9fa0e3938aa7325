//! `mercer predict`: one line per row.

use super::predict_keep::Kept;
use crate::args::Predict;
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use mercer::data::{Column, Schema, Stream, Table, Values};
use mercer::decision::{Risk, outlier_threshold};
use mercer::model::chunk_rows;
use mercer::predict::{LineFormat, PredictOptions, PredictionWriter, Predictions};
use mercer::train::Trained;
use mercer_io::{Format, Source};
use mercer_num::parallel;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// The size of the buffer of standard input, in bytes.
const BUFFER_BYTES: usize = 1 << 18;

pub fn run(args: Predict, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    let classifies = model.fitted.model.as_model().classifier().is_some();
    let mut writer = Writer::new(&args, &model, session)?;
    if args.data == "-" && args.reading.format == Some(Format::Lines) {
        return predict_lines(&args, &model, &writer, session);
    }
    let source = input::open_for(&model, &args.data, &args.reading, session)?;
    if classifies && source.document_name(0).is_some() {
        writer = writer.with_files(&source);
    }
    if let Some(fraction) = args.outliers {
        let threshold = outlier_threshold_of(&args, fraction, &model, &source, session)?;
        writer = writer.with_outliers(threshold, session);
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
    let mut header = Some(kept.header(writer.lines.header()));
    let mut totals = Totals::default();
    let mut write_error = None;
    let done = source.stream(&schema, chunk, &mut |tables| {
        let first = totals.n_rows;
        let lines = parallel::map(tables.len(), |k| {
            let mut lines = writer.lines(&tables[k], first + k * chunk)?;
            lines.text = kept.lines(lines.text, &tables[k], session.json);
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
    out.write_all(writer.lines.header().as_bytes())?;
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
    options: PredictOptions,
    lines: PredictionWriter,
    /// The source, if its rows are files whose names are printed.
    files: Option<&'a Source>,
}

impl<'a> Writer<'a> {
    fn new(args: &Predict, model: &'a Trained, session: &Session) -> Result<Writer<'a>> {
        let options = PredictOptions {
            proba: args.proba,
            density: args.density,
            projection: args.projection,
            decision_values: false,
            interval: args.interval,
            conformal: args.conformal,
            sets: args.sets,
            outlier_threshold: None,
            rule: args.decision.rule(model, session)?,
        };
        options.check(model)?;
        if args.outliers.is_some() && model.fitted.model.as_model().generative().is_none() {
            return Err(model.estimator.unable("compute a density").into());
        }
        Ok(Writer { model, lines: lines_of(model, &options, session), options, files: None })
    }

    /// The same writer, with the names of the files of a source.
    fn with_files(self, source: &'a Source) -> Writer<'a> {
        Writer { lines: self.lines.with_named_rows(), files: Some(source), ..self }
    }

    /// The same writer, with a column that marks outliers.
    fn with_outliers(self, threshold: f64, session: &Session) -> Writer<'a> {
        let options = PredictOptions { outlier_threshold: Some(threshold), ..self.options };
        let lines = lines_of(self.model, &options, session);
        let lines = if self.files.is_some() { lines.with_named_rows() } else { lines };
        Writer { options, lines, ..self }
    }

    /// The lines of a table.
    fn lines(&self, table: &Table, first_row: usize) -> mercer::Result<Lines> {
        let predictions = Predictions::of(self.model, table, &self.options)?;
        let name = |row: usize| self.files?.document_name(row as u64);
        Ok(Lines {
            text: self.lines.lines(&predictions, first_row, &name),
            n_unseen: predictions.n_unseen,
            n_unknown_tokens: predictions.n_unknown_tokens,
            n_impossible: predictions.n_impossible,
            risk: predictions.total_risk,
        })
    }
}

fn lines_of(model: &Trained, options: &PredictOptions, session: &Session) -> PredictionWriter {
    let format = if session.json { LineFormat::JsonLines } else { LineFormat::Csv };
    PredictionWriter::new(model, options, format)
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
