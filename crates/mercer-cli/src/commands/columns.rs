//! Selects the feature columns by the flags of a command and reports the columns that are dropped.

use crate::failure::{Failure, Result};
use crate::session::Session;
use mercer::catalog::{Capability, Card};
use mercer::data::{Kind, Profile};
use mercer::preprocess::{CategoryEncoding, DropReason, Features};
use mercer::train::ColumnSelection;

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
            let why = explanation(reason, card, flag);
            session.message(&format!("dropped columns: {} ({why})", names.join(", ")));
        }
    }
    Ok(selected.features)
}

fn explanation(reason: DropReason, card: &Card, flag: &str) -> String {
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
    }
}
