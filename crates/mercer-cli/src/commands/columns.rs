//! Selects the feature columns by the flags of a command and reports the columns that are dropped.

use crate::failure::{Failure, Result};
use crate::session::Session;
use mercer::catalog::{Capability, Card};
use mercer::data::{Kind, Profile};
use mercer::preprocess::{CategoryEncoding, DropReason, DroppedColumn, Features};
use mercer::train::{ColumnSelection, unusable_columns};
use mercer_io::Source;

/// The columns that are not features: the ignored ones and that of the sample weights.
pub(super) fn left_out(ignore: &[String], weights: Option<&str>) -> Vec<String> {
    ignore.iter().cloned().chain(weights.map(str::to_owned)).collect()
}

/// The profile without the column of the sample weights, by which an estimator is chosen.
pub(super) fn without_weights(profile: &Profile, weights: Option<&str>) -> Profile {
    let mut profile = profile.clone();
    profile.columns.retain(|column| Some(column.name.as_str()) != weights);
    profile
}

/// Checks that the column of the sample weights is numeric, has no missing values and is not the target.
pub(super) fn check_weights(
    weights: Option<&str>,
    target: Option<&str>,
    profile: &Profile,
) -> Result<()> {
    let Some(name) = weights else { return Ok(()) };
    let Some(column) = profile.column(name) else {
        let names: Vec<&str> = profile.columns.iter().map(|c| c.name.as_str()).collect();
        let known = names.join(", ");
        let why = format!("no column `{name}` for the sample weights; the columns are {known}");
        return Err(Failure::Usage(why));
    };
    if Some(name) == target {
        return Err(Failure::Usage(format!("--weights: `{name}` is the target column")));
    }
    if column.kind != Kind::Numeric {
        let why = format!("--weights: column `{name}` is {}, expected numeric", column.kind);
        return Err(Failure::Data(why));
    }
    if let Some(line) = column.first_missing_line {
        return Err(Failure::Data(format!(
            "column `{name}`: the sample weight is missing in {} rows, first in line {line}; fill in the weights or \
             remove these rows",
            column.n_missing
        )));
    }
    match column.min {
        Some(min) if min < 0.0 => Err(Failure::Data(format!(
            "column `{name}`: found the sample weight {min}, expected finite numbers of at least 0"
        ))),
        _ => Ok(()),
    }
}

/// Plans the features and reports the columns that are dropped. `flag` is the option behind `selection.only`.
pub(super) fn plan(
    selection: ColumnSelection<'_>,
    flag: &str,
    profile: &Profile,
    target: Option<&str>,
    (card, categories): (&Card, CategoryEncoding),
    session: &Session,
) -> Result<Features> {
    let selected = selection.plan(profile.schema(), target, card, categories)?;
    for reason in
        [DropReason::NotSelected, DropReason::Empty, DropReason::Text, DropReason::Categorical]
    {
        let names = selected.dropped.iter().filter(|(_, r)| *r == reason);
        let names: Vec<String> = names.map(|(name, _)| format!("`{name}`")).collect();
        if !names.is_empty() {
            let why = explanation(&reason, card, flag);
            session.message(&format!("dropped columns: {} ({why})", names.join(", ")));
        }
    }
    Ok(selected.features)
}

/// Columns of which every one is named; of more, their number.
const MAX_NAMED_COLUMNS: usize = 12;

/// The columns that tell nothing about new rows, reported with the reason.
pub(super) fn unusable(
    profile: &Profile,
    target: Option<&str>,
    except: &[String],
    source: &Source,
    session: &Session,
) -> Result<Vec<DroppedColumn>> {
    let bar = session.bar("columns");
    let monitor = session.monitor(&bar);
    let dropped = unusable_columns(profile, target, except, source, &monitor);
    bar.finish_and_clear();
    session.check_interrupt()?;
    let dropped = match dropped {
        // At a time limit the columns stay as they are.
        Err(mercer_io::Error::Core(mercer::Error::Stopped)) => Vec::new(),
        dropped => dropped?,
    };
    for column in dropped.iter().take(MAX_NAMED_COLUMNS) {
        let kind = profile.column(&column.name).map_or(Kind::Numeric, |c| c.kind);
        session.message(&format!(
            "dropped column `{}` ({}); `--column {}={kind}` keeps it",
            column.name, column.reason, column.name
        ));
    }
    if let Some(more) = dropped.len().checked_sub(MAX_NAMED_COLUMNS).filter(|n| *n > 0) {
        session.message(&format!(
            "dropped {more} more constant, duplicate or identifier columns; `--keep-columns` keeps all"
        ));
    }
    Ok(dropped)
}

fn explanation(reason: &DropReason, card: &Card, flag: &str) -> String {
    match reason {
        DropReason::NotSelected => format!("not selected by {flag}"),
        DropReason::Empty => "all values are missing".to_owned(),
        DropReason::Text => {
            format!("text; {} models numeric columns, `--model mixed-nb` models all kinds", card.id)
        }
        DropReason::Categorical if card.can(Capability::FactorizedLikelihood) => format!(
            "categorical; {} models numeric columns, `--model mixed-nb` models all kinds, `--prepare \
             categories=one-hot` encodes them",
            card.id
        ),
        DropReason::Categorical => "categorical; `--prepare categories=drop`".to_owned(),
        other => other.to_string(),
    }
}
