//! `mercer generate`: the files that are made from the catalog.

mod python;
mod reference;
mod sklearn_parameters;

use super::generate::python::python_files;
use super::generate::reference::reference_files;
use crate::args::Generate;
use crate::failure::{Failure, Result};
use crate::session::Session;
use std::path::Path;

pub fn run(args: Generate, session: &Session) -> Result<()> {
    let mut stale = Vec::new();
    for (path, content) in python_files().into_iter().chain(reference_files()) {
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
        return Err(Failure::Data(format!("not fresh: {}; run `make generate`", stale.join(", "))));
    }
    Ok(())
}
