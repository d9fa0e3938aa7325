//! Opens and profiles tables and reports their format.

use crate::args::Reading;
use crate::failure::{Failure, Result};
use crate::session::Session;
use mercer::data::{Classes, Kind};
use mercer::train::Trained;
use mercer_io::{Format, Options, Profile, Source};
use std::io::Read;
use std::path::Path;

/// Opens a table and reports its format.
pub fn open(
    path: &str,
    reading: &Reading,
    target: Option<&str>,
    session: &Session,
) -> Result<Source> {
    open_several(path, &[], reading, target, session)
}

/// Opens a file and more files as one table, and reports the format.
pub fn open_several(
    path: &str,
    more: &[String],
    reading: &Reading,
    target: Option<&str>,
    session: &Session,
) -> Result<Source> {
    let mut options = Options {
        format: reading.format,
        delimiter: reading.delimiter,
        header: !reading.no_header,
        quotes: !reading.no_quotes,
        types: reading.columns.clone(),
        target: target.map(str::to_owned),
        ..Options::default()
    };
    if let Some(memory) = session.memory {
        options.cache_bytes = options.cache_bytes.min(memory / 4);
    }
    options.missing.extend(reading.missing.iter().cloned());
    let source = match more {
        [] => Source::open(path, &options)?,
        more => {
            let paths: Vec<String> =
                std::iter::once(path.to_owned()).chain(more.iter().cloned()).collect();
            Source::open_several(&paths, &options)?
        }
    };
    session.message(&format!("{}: {}", source.name(), source.description()));
    Ok(source)
}

/// Opens a table for a model. For a model of a single text column, a plain text file is one document unless its first
/// line names the column.
pub fn open_for(
    model: &Trained,
    path: &str,
    reading: &Reading,
    session: &Session,
) -> Result<Source> {
    let texts: Vec<&str> = (model.features.schema.fields.iter())
        .filter(|field| field.kind == Kind::Text)
        .map(|field| field.name.as_str())
        .collect();
    let file = Path::new(path);
    let plain = file.extension().is_none_or(|end| end.eq_ignore_ascii_case("txt"));
    if let [text] = texts.as_slice()
        && model.features.steps.len() == 1
        && reading.format.is_none()
        && plain
        && file.is_file()
        && !first_line(file).is_some_and(|line| line.contains(text) || line.starts_with('{'))
    {
        let reading = Reading {
            format: Some(Format::Text),
            delimiter: None,
            missing: reading.missing.clone(),
            columns: reading.columns.clone(),
            ..*reading
        };
        return open(path, &reading, None, session);
    }
    open(path, reading, None, session)
}

/// The first line of a file, if it is readable.
fn first_line(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    std::fs::File::open(path).ok()?.take(1 << 16).read_to_end(&mut head).ok()?;
    let line = head.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}

/// The profile of the whole table.
pub fn profile(source: &Source, session: &Session) -> Result<Profile> {
    let bar = session.bar("reading");
    let profile = source.profile(&|done, total| {
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_position(done);
        !session.interrupted()
    });
    bar.finish_and_clear();
    session.check_interrupt()?;
    Ok(profile?)
}

/// The failure of a cell, with its file and column. The names are computed only on failure: hashed features have very
/// many.
pub fn located(
    error: mercer_io::Error,
    source: &Source,
    names: impl FnOnce() -> Vec<String>,
) -> Failure {
    use mercer::Error::{NotACount, NotFinite};
    let mercer_io::Error::Core(NotFinite { row, column, value } | NotACount { row, column, value }) =
        error
    else {
        return error.into();
    };
    let names = names();
    let name = names.get(column).map_or("?", String::as_str);
    let place = format!("{}, row {}, column `{name}`", source.name(), row + 1);
    Failure::Data(if value.is_nan() {
        format!(
            "{place}: missing value; the estimator does not accept missing values: impute them with \
             `--prepare impute=mean`, or drop the column with `--ignore {name}`"
        )
    } else {
        format!(
            "{place}: found {value}, expected a count of at least 0; drop the column with `--ignore {name}`, \
             or choose an estimator for real-valued features"
        )
    })
}

/// The failure of a table for a model, with a hint for models of a single text column.
pub fn located_for_model(error: mercer_io::Error, source: &Source, model: &Trained) -> Failure {
    use mercer_io::Error::{MissingColumn, MissingColumns};
    let missing = matches!(error, MissingColumn { .. } | MissingColumns { .. });
    if missing && has_one_text_column(model) {
        return Failure::Data(format!(
            "{error}; if every line is a document, add `--format lines`"
        ));
    }
    located(error, source, || model.features.encoded_names())
}

/// Whether the model has a single text column and no other features.
fn has_one_text_column(model: &Trained) -> bool {
    matches!(model.features.schema.fields.as_slice(), [field] if field.kind == Kind::Text)
}

/// Reads a model file.
pub fn load(path: &Path) -> Result<Trained> {
    let name = path.display().to_string();
    Trained::load(path).map_err(Failure::model(&name))
}

/// The classes of a classifier.
pub fn classes(model: &Trained) -> Result<Classes> {
    model
        .fitted
        .model
        .as_model()
        .classifier()
        .map(|classifier| classifier.classes().clone())
        .ok_or_else(|| model.estimator.unable("classify").into())
}
