//! `mercer generate`: the files that are written from the catalog.

mod docstring;
mod example;
mod parameters;
mod python;
mod reference;

use crate::args::Generate;
use crate::failure::{Failure, Result};
use crate::session::Session;
use mercer::catalog::Card;
use python::python_files;
use reference::reference_files;
use std::path::Path;

pub fn run(args: Generate, session: &Session) -> Result<()> {
    let mut stale = Vec::new();
    for (path, content) in python_files().into_iter().chain(reference_files()?) {
        if std::fs::read_to_string(&path).is_ok_and(|found| found == content) {
            continue;
        }
        if !args.check {
            mercer::file::save(Path::new(&path), content.as_bytes())?;
            session.message(&format!("wrote {path}"));
        }
        stale.push(path);
    }
    if args.check && !stale.is_empty() {
        return Err(Failure::Data(format!(
            "out of date: {}; run `make generate`",
            stale.join(", ")
        )));
    }
    Ok(())
}

/// The Python module and class of an estimator.
fn python_name(card: &Card) -> (&'static str, &'static str) {
    card.python.split_once('.').unwrap_or(("models", card.python))
}
