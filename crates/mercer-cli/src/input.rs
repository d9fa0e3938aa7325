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
