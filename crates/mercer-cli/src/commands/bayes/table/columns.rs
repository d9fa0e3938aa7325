//! The columns of the joint table: the selected ones, the ones that an option names, or the categorical ones.

use super::Table;
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use mercer::data::{Kind, Values};
use mercer::probability::JointTable;
use mercer_io::Profile;
use std::collections::HashSet;

/// Columns of the joint table unless the user selects them.
const MOST_COLUMNS: usize = 4;
/// Distinct values of a numeric column that is used without being named, as the faces of a die.
const MOST_NUMERIC_VALUES: usize = 30;

/// The joint table, and the number of rows that were left out.
pub fn read(args: &Table, session: &Session) -> Result<(JointTable, usize)> {
    let source = input::open(&args.data, &args.reading, None, session)?;
    let profile = input::profile(&source, session)?;
    let data = source.read(&profile.schema())?;
    let named: Vec<String> = match args.names.is_empty() {
        false => args.names.clone(),
        true => default_columns(args, &profile, &data)?,
    };
    let counts = match &args.counts {
        Some(name) => Some(name.clone()),
        None => counts_column(&data, &named),
    };
    let named: Vec<&str> =
        named.iter().map(String::as_str).filter(|n| Some(*n) != counts.as_deref()).collect();
    if let (Some(counts), None) = (&counts, &args.counts) {
        let probabilities = data.column(counts).is_some_and(|c| sum_to_one(&c.values));
        let what = if probabilities { "probability" } else { "count" };
        session.message(&format!("`{counts}` is used as the {what} of each row (see --counts)"));
    }
    Ok(JointTable::from_table(&data, &named, counts.as_deref())?)
}

/// The columns that events and options name, and the categorical and boolean ones if they are few.
fn default_columns(
    args: &Table,
    profile: &Profile,
    data: &mercer::data::Table,
) -> Result<Vec<String>> {
    let counts = args.counts.as_deref();
    let all: Vec<String> = (profile.columns.iter())
        .map(|c| c.name.clone())
        .filter(|name| Some(name.as_str()) != counts)
        .collect();
    let asked = asked_columns(args, &all)?;
    let fit = |name: &str| match data.column(name).map(|c| &c.values) {
        Some(Values::Categorical { .. } | Values::Boolean(_)) => true,
        Some(_) | None => false,
    };
    let mut some: Vec<String> = all.iter().filter(|name| fit(name)).cloned().collect();
    if some.is_empty() && asked.is_empty() {
        let few = |name: &&String| few_integers(data.column(name).map(|c| &c.values));
        some = all.iter().filter(few).cloned().collect();
    }
    if some.len() > MOST_COLUMNS {
        if !asked.is_empty() {
            return Ok(asked);
        }
        return Err(Failure::Usage(format!(
            "{} columns make a large joint table; select some with --columns among {}",
            some.len(),
            some.join(", ")
        )));
    }
    let chosen: Vec<String> =
        all.into_iter().filter(|name| some.contains(name) || asked.contains(name)).collect();
    match chosen.is_empty() {
        true => Err(Failure::Usage(
            "found no categorical or boolean column; select columns with --columns".into(),
        )),
        false => Ok(chosen),
    }
}

/// The columns that events and options name.
fn asked_columns(args: &Table, all: &[String]) -> Result<Vec<String>> {
    let mut asked: Vec<String> = Vec::new();
    for event in args.given.iter().chain(&args.event) {
        asked.extend(event.variables(all)?.into_iter().map(|i| all[i].clone()));
    }
    asked.extend(args.by.iter().chain(&args.moments).chain(&args.independent).cloned());
    asked.extend(args.risk.iter().cloned());
    match asked.iter().find(|name| !all.contains(name)) {
        Some(name) => Err(mercer::Error::MissingColumn { name: name.clone() }.into()),
        None => Ok(asked),
    }
}

fn few_integers(values: Option<&Values>) -> bool {
    let Some(Values::Numeric(values)) = values else { return false };
    let present = values.iter().filter(|x| !x.is_nan());
    let distinct: HashSet<u64> = present.clone().map(|x| x.to_bits()).collect();
    distinct.len() <= MOST_NUMERIC_VALUES && present.clone().all(|x| x.fract() == 0.0)
}

/// Whether the values are probabilities that sum to one.
fn sum_to_one(values: &Values) -> bool {
    const TOLERANCE: f64 = 1e-6;
    let Values::Numeric(values) = values else { return false };
    values.iter().all(|x| *x >= 0.0) && (values.iter().sum::<f64>() - 1.0).abs() <= TOLERANCE
}

/// The only column of counts or probabilities, if every combination of the others occurs once: such a file is a
/// contingency table.
fn counts_column(data: &mercer::data::Table, named: &[String]) -> Option<String> {
    let whole = |values: &Values| matches!(values, Values::Numeric(v) if v.iter().all(|x| *x >= 0.0 && x.fract() == 0.0));
    let mut numeric = data
        .columns()
        .iter()
        .filter(|c| c.values.kind() == Kind::Numeric)
        .filter(|c| !named.contains(&c.name));
    let (only, None) = (numeric.next()?, numeric.next()) else { return None };
    if !(whole(&only.values) || sum_to_one(&only.values)) || data.columns().len() != named.len() + 1
    {
        return None;
    }
    let mut seen = HashSet::new();
    let distinct = (0..data.n_rows()).all(|i| {
        let row: Vec<Option<String>> =
            named.iter().filter_map(|n| data.column(n)).map(|c| c.values.cell(i)).collect();
        seen.insert(row)
    });
    distinct.then(|| only.name.clone())
}
