//! `mercer predict`: a line a row.

use crate::args::Predict;
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use mercer::catalog::Trained;
use mercer::data::{Classes, Label, Stream, Table};
use mercer::model::chunk_rows;
use mercer_num::parallel;
use mercer_num::special::{argmax, log_sum_exp};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::ControlFlow;

pub fn run(args: Predict, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    let classes = input::classes(&model)?;
    let writer = Writer::new(&args, &model, &classes, session)?;
    let source = input::open(&args.data, &args.reading, None, session)?;
    let features = &model.features;
    let chunk = chunk_rows(features.n_features(), features.layout());
    let mut out: Box<dyn Write> = match &args.out {
        Some(path) => Box::new(PendingFile::create(path)?),
        None => Box::new(io::stdout().lock()),
    };
    out.write_all(writer.header().as_bytes())?;
    let (mut rows, mut n_unseen) = (0, 0);
    let mut broken = None;
    source.stream(&features.reading(None), chunk, &mut |tables| {
        let lines = parallel::map(tables.len(), |k| writer.lines(&tables[k], rows + k * chunk))
            .map_err(|e| e.after_rows(rows))?;
        rows += tables.iter().map(Table::n_rows).sum::<usize>();
        for (text, unseen) in lines {
            n_unseen += unseen;
            if let Err(error) = out.write_all(text.as_bytes()) {
                broken = Some(error);
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    session.check_interrupt()?;
    if let Some(error) = broken {
        return Err(error.into());
    }
    out.flush()?;
    session.say(&format!("{rows} rows predicted"));
    if n_unseen > 0 {
        session.say(&format!("{n_unseen} cells hold words the model never saw; they were skipped"));
    }
    Ok(())
}

/// Turns tables into lines.
struct Writer<'a> {
    model: &'a Trained,
    classes: &'a Classes,
    names: Vec<String>,
    target: String,
    proba: bool,
    density: bool,
    json: bool,
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
            return Err(model.estimator.unable("give probabilities").into());
        }
        if args.density && able.generative().is_none() {
            return Err(model.estimator.unable("give a density").into());
        }
        Ok(Writer {
            model,
            classes,
            names: classes.labels().iter().map(Label::to_string).collect(),
            target: model.features.target.clone().unwrap_or_else(|| "prediction".into()),
            proba: args.proba,
            density: args.density,
            json: session.json,
        })
    }

    fn header(&self) -> String {
        if self.json {
            return String::new();
        }
        let mut columns = vec![quoted(&self.target)];
        if self.proba {
            columns.extend(self.names.iter().map(|n| quoted(&format!("P({n})"))));
        }
        if self.density {
            columns.push("log_density".into());
        }
        columns.join(",") + "\n"
    }

    /// The lines of a table and the number of its cells with unknown words.
    fn lines(&self, table: &Table, first_row: usize) -> mercer::Result<(String, u64)> {
        let rows = self.model.features.encode(table, None)?;
        let able = self.model.fitted.model.as_model();
        let Some(classifier) = able.classifier() else { return Ok((String::new(), 0)) };
        let scores = classifier.scores(&rows.rows())?;
        let log_proba = match able.probabilistic() {
            Some(model) if self.proba => Some(model.log_proba(&rows.rows())?),
            _ => None,
        };
        let mut text = String::new();
        for (i, scores) in scores.outer_iter().enumerate() {
            let scores = scores.to_vec();
            let proba = log_proba.as_ref().map(|p| p.row(i).mapv(f64::exp).to_vec());
            let density = self.density.then(|| log_sum_exp(&scores));
            self.line(&mut text, first_row + i, argmax(&scores), proba, density);
        }
        Ok((text, rows.n_unseen))
    }

    fn line(
        &self,
        text: &mut String,
        row: usize,
        winner: usize,
        proba: Option<Vec<f64>>,
        density: Option<f64>,
    ) {
        if self.json {
            let mut line =
                json!({"row": row + 1, "prediction": self.classes.labels()[winner].to_string()});
            if let Some(proba) = proba {
                line["proba"] =
                    self.names.iter().cloned().zip(proba.into_iter().map(|p| json!(p))).collect();
            }
            if let Some(density) = density {
                line["log_density"] = json!(density);
            }
            // Writing to a string cannot fail.
            writeln!(text, "{line}").ok();
            return;
        }
        text.push_str(&quoted(&self.names[winner]));
        for p in proba.into_iter().flatten() {
            write!(text, ",{}", json!(p)).ok();
        }
        if let Some(density) = density {
            write!(text, ",{}", json!(density)).ok();
        }
        text.push('\n');
    }
}

/// A CSV field, quoted where it must be.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// A file that appears whole, when it is flushed, or not at all.
struct PendingFile {
    file: Option<io::BufWriter<tempfile::NamedTempFile>>,
    path: std::path::PathBuf,
}

impl PendingFile {
    fn create(path: &std::path::Path) -> Result<PendingFile> {
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
