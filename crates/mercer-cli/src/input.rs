//! Opening and profiling tables, with the words that go with it.

use crate::args::Reading;
use crate::failure::{Failure, Result};
use crate::session::Session;
use mercer::catalog::Trained;
use mercer::data::Classes;
use mercer_io::{Options, Profile, Source};
use std::path::Path;

/// Opens a table and says what it seems to be.
pub fn open(
    path: &str,
    reading: &Reading,
    target: Option<&str>,
    session: &Session,
) -> Result<Source> {
    let mut options = Options {
        format: reading.format,
        delimiter: reading.delimiter,
        header: !reading.no_header,
        kinds: reading.columns.clone(),
        target: target.map(str::to_owned),
        ..Options::default()
    };
    if let Some(memory) = session.memory {
        options.keep = options.keep.min(memory / 4);
    }
    options.missing.extend(reading.missing.iter().cloned());
    let source = Source::open(path, &options)?;
    session.say(&format!("{}: {}", source.name(), source.description()));
    Ok(source)
}

/// Looks at the whole table.
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

/// The failure of a cell, with the names of its file and column.
pub fn placed(error: mercer_io::Error, source: &Source, names: &[String]) -> Failure {
    use mercer::Error::{NotACount, NotFinite};
    let mercer_io::Error::Core(NotFinite { row, column, value } | NotACount { row, column, value }) =
        error
    else {
        return error.into();
    };
    let name = names.get(column).map_or("?", String::as_str);
    let place = format!("{}, row {}, column `{name}`", source.name(), row + 1);
    Failure::Data(if value.is_nan() {
        format!(
            "{place}: the value is missing, and this estimator has no use for gaps; fill them \
                 with `--prepare impute=mean`, or leave the column out with `--ignore {name}`"
        )
    } else {
        format!(
            "{place}: {value} is not a count of at least zero; leave the column out with \
                 `--ignore {name}`, or choose an estimator for real numbers"
        )
    })
}

/// Reads a model file.
pub fn load(path: &Path) -> Result<Trained> {
    let name = path.display().to_string();
    Trained::load(path).map_err(Failure::model(&name))
}

/// The classes of a model that has some.
pub fn classes(model: &Trained) -> Result<Classes> {
    model
        .fitted
        .model
        .as_model()
        .classifier()
        .map(|classifier| classifier.classes().clone())
        .ok_or_else(|| model.estimator.unable("tell classes apart").into())
}
