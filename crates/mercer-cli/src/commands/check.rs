//! `mercer check`: findings about a table, or about a new table of a model.

use super::columns::unusable;
use super::select::quoted;
use super::train::{target_column, target_failure};
use crate::args::{CheckArgs, IgnoredChecks};
use crate::failure::Result;
use crate::input;
use crate::report::terminal;
use crate::session::Session;
use mercer::data::{ColumnProfile, Kind, Profile};
use mercer::preprocess::DroppedColumn;
use mercer::train::checks::{
    Finding, FitFacts, Remedy, check_drift, check_fit, check_table, sample_rows,
};
use mercer::train::select::Sample;
use mercer::train::{SupervisedTask, check_regression_target};
use mercer_io::Source;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

pub fn run(args: CheckArgs, session: &Session) -> Result<()> {
    let findings = match &args.model {
        Some(model) => of_model(&args, model, session)?,
        None => of_table(&args, session)?,
    };
    let findings = reported(findings, &args.ignored);
    print(&findings, &commands(&args.data, args.target.as_deref()), session)
}

/// Prints findings, or says that there are none.
fn print(findings: &[Finding], commands: &Commands, session: &Session) -> Result<()> {
    if session.json {
        let findings: Vec<_> = findings.iter().map(|f| WithCommand::new(f, commands)).collect();
        return session.print_json(&findings);
    }
    let mut out = io::stdout().lock();
    if findings.is_empty() {
        writeln!(out, "no findings")?;
    }
    write!(out, "{}", terminal::findings(findings, commands))?;
    Ok(())
}

/// A finding with the command of its remedy.
#[derive(Serialize)]
pub struct WithCommand<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    /// The command that applies the remedy.
    command: Option<String>,
    /// The page that explains the check.
    page: String,
}

impl<'a> WithCommand<'a> {
    pub fn new(finding: &'a Finding, commands: &Commands) -> WithCommand<'a> {
        let page = format!("docs/checks/{}.md", finding.code);
        WithCommand { finding, command: remedy_command(&finding.remedy, commands), page }
    }

    /// The finding on one line.
    pub fn line(&self) -> String {
        let Finding { code, title, figure, remedy, .. } = self.finding;
        let command = self.command.as_ref().map(|c| format!(" (`{c}`)")).unwrap_or_default();
        format!("**{code} {title}**: {figure}. {}{command}", remedy.advice)
    }
}

/// The findings that the user does not ignore.
pub fn reported(findings: Vec<Finding>, ignored: &IgnoredChecks) -> Vec<Finding> {
    findings.into_iter().filter(|finding| !ignored.codes.contains(&finding.code)).collect()
}

/// The command that a remedy adds its options to.
pub fn commands(data: &str, target: Option<&str>) -> Commands {
    let target = target.map(|target| format!(" --target {}", quoted(target))).unwrap_or_default();
    Commands { table: format!("mercer train {}{target}", quoted(data)), fit: None }
}

/// The commands that the options of a remedy are added to.
#[derive(Default)]
pub struct Commands {
    /// Reads the table.
    pub table: String,
    /// Trains the estimator again.
    pub fit: Option<String>,
}

/// The command of a remedy, if it is one. A remedy that names the estimator changes the command that trained it.
pub fn remedy_command(remedy: &Remedy, commands: &Commands) -> Option<String> {
    let options: Vec<String> = remedy.options.iter().map(|word| quoted(word)).collect();
    match (options.as_slice(), &commands.fit) {
        ([], _) => None,
        ([option, _, rest @ ..], Some(fit)) if option == "--model" => {
            Some(format!("{fit} {}", rest.join(" ")))
        }
        (options, _) => Some(format!("{} {}", commands.table, options.join(" "))),
    }
}

fn of_table(args: &CheckArgs, session: &Session) -> Result<Vec<Finding>> {
    let source = input::open(&args.data, &args.reading, args.target.as_deref(), session)?;
    let profile = input::profile(&source, session)?;
    let named = args.target.as_deref().or(source.label_column());
    let target = match named {
        Some(_) => Some(supervised(named, args.task, &source, &profile)?),
        None => None,
    };
    let checked = CheckedTable::read(&profile, target, &args.ignore, &source, session)?;
    Ok(checked.findings)
}

/// The target and its task.
pub(super) fn supervised<'p>(
    name: Option<&str>,
    task: Option<SupervisedTask>,
    source: &Source,
    profile: &'p Profile,
) -> Result<(&'p ColumnProfile, SupervisedTask)> {
    let target = target_column(name, source, profile)?;
    let task = task.unwrap_or_else(|| SupervisedTask::infer(target));
    if task == SupervisedTask::Regression {
        check_regression_target(target, "regression").map_err(|e| target_failure(e, source))?;
    }
    Ok((target, task))
}

/// A table with what the checks found in it.
pub(super) struct CheckedTable {
    pub unusable: Vec<DroppedColumn>,
    pub sample: Sample,
    pub findings: Vec<Finding>,
}

impl CheckedTable {
    /// Reads a sample of the rows and checks them.
    pub fn read(
        profile: &Profile,
        target: Option<(&ColumnProfile, SupervisedTask)>,
        ignore: &[String],
        source: &Source,
        session: &Session,
    ) -> Result<CheckedTable> {
        let name = target.map(|(target, _)| target.name.as_str());
        let unusable = unusable(profile, name, ignore, source, session)?;
        let left_out: Vec<String> =
            ignore.iter().cloned().chain(unusable.iter().map(|c| c.name.clone())).collect();
        let sample = read_sample(profile, target, &left_out, source, session)?;
        let sample = sample.unwrap_or_else(Sample::empty);
        let findings = check_table(profile, target, ignore, &unusable, &sample);
        Ok(CheckedTable { unusable, sample, findings })
    }
}

/// A sample of the rows, without some columns; `None` if it does not fit into the memory or the time.
pub(super) fn read_sample(
    profile: &Profile,
    target: Option<(&ColumnProfile, SupervisedTask)>,
    left_out: &[String],
    source: &Source,
    session: &Session,
) -> Result<Option<Sample>> {
    let bar = session.bar("checking");
    let monitor = session.monitor(&bar);
    let sparse = profile.columns.iter().filter(|column| column.kind == Kind::Sparse);
    let left_out: Vec<String> =
        left_out.iter().cloned().chain(sparse.map(|column| column.name.clone())).collect();
    let sample = sample_rows(profile, target, &left_out, source, &monitor);
    bar.finish_and_clear();
    session.check_interrupt()?;
    match sample {
        Ok(sample) => Ok(Some(sample)),
        // Checks are no reason to fail.
        Err(mercer_io::Error::Core(mercer::Error::Stopped | mercer::Error::Memory { .. })) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// The findings about a new table of a model: drift of its columns, and the certificate of the model.
fn of_model(args: &CheckArgs, path: &Path, session: &Session) -> Result<Vec<Finding>> {
    let model = input::load(path)?;
    let source = input::open_for(&model, &args.data, &args.reading, session)?;
    let extra = source.extra_columns(&model.features.schema);
    let unknown = |name: &&String| Some(*name) != model.features.target.as_ref();
    let extra: Vec<&String> = extra.iter().filter(unknown).collect();
    if !extra.is_empty() {
        let names: Vec<String> = extra.iter().take(20).map(|name| format!("`{name}`")).collect();
        session.message(&format!("columns that the model does not use: {}", names.join(", ")));
    }
    let table = source.read(&model.features.schema);
    let table = table.map_err(|e| input::located_for_model(e, &source, &model))?;
    let mut findings = match &model.reference {
        Some(reference) => check_drift(reference, &table),
        None => {
            session.message("note: the model file has no distributions of its training data");
            Vec::new()
        }
    };
    findings.extend(check_fit(&FitFacts {
        trained: &model,
        classification: None,
        regression: None,
        leaderboard: None,
        grid_edges: &[],
        rows: None,
    }));
    Ok(findings)
}
