//! `mercer profile`: a report of the columns of a table.

use super::check::{CheckedTable, WithCommand, commands, reported, supervised};
use crate::args::ProfileArgs;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::table_profile::{TableReport, html, markdown};
use crate::report::terminal;
use crate::session::Session;
use std::io::{self, Write};
use std::path::Path;

pub fn run(args: ProfileArgs, session: &Session) -> Result<()> {
    args.out.as_deref().map_or(Ok(()), |path| check_extension(path, session))?;
    let source = input::open(&args.data, &args.reading, args.target.as_deref(), session)?;
    let profile = input::profile(&source, session)?;
    let named = args.target.as_deref().or(source.label_column());
    let target = match named {
        Some(_) => Some(supervised(named, None, &source, &profile)?),
        None => None,
    };
    let quiet = session.quietly();
    let checked = CheckedTable::read(&profile, target, &[], &source, &quiet)?;
    let findings = reported(checked.findings, &args.ignored);
    let commands = commands(&args.data, named);
    let named_findings: Vec<_> = findings.iter().map(|f| WithCommand::new(f, &commands)).collect();
    let report = TableReport::new(
        (&args.data, source.description()),
        &profile,
        named,
        &checked.unusable,
        &checked.sample.table,
        named_findings,
    );
    let Some(path) = &args.out else {
        if session.json {
            return session.print_json(&report);
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{}", terminal::table_profile(&report))?;
        write!(out, "{}", terminal::findings(&findings, &commands))?;
        return Ok(());
    };
    let text = match extension(path) {
        Some("md") => markdown(&report),
        Some("json") => serde_json::to_string_pretty(&report)?,
        _ => html(&report)?,
    };
    mercer::file::save(path, text.as_bytes())
        .map_err(Failure::model(&path.display().to_string()))?;
    session.message(&format!("saved {}", path.display()));
    Ok(())
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|end| end.to_str())
}

fn check_extension(path: &Path, session: &Session) -> Result<()> {
    match extension(path) {
        // Reports of these kinds have no beginning by which an earlier one is recognized.
        Some("md" | "json") => Ok(()),
        Some("html" | "htm") => session.check_output(path),
        _ => Err(Failure::Usage(format!(
            "--out {}: expected a name that ends in .html, .md or .json",
            path.display()
        ))),
    }
}
