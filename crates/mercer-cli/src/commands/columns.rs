//! Selects the feature columns by the flags of a command and reports the columns that are dropped.

use crate::args::Reading;
use crate::failure::Result;
use crate::session::Session;
use mercer::catalog::{Card, Input};
use mercer::data::{Kind, Profile};
use mercer::preprocess::{CategoryEncoding, DropReason, Features};
use mercer::train::ColumnSelection;

/// The columns that the user declared to be text.
pub(super) fn text_columns(reading: &Reading) -> Vec<String> {
    let text = reading.columns.iter().filter(|(_, kind)| *kind == Kind::Text);
    text.map(|(name, _)| name.clone()).collect()
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
        DropReason::Text if card.accepts(Input::TextOnRequest) => {
            "text; `--text COLUMN` learns from the tokens of a text column".to_owned()
        }
        DropReason::Text => format!("text; {} does not take text columns", card.id),
        DropReason::Categorical => format!(
            "categorical; {} needs numeric features, `--prepare categories=one-hot` encodes them",
            card.id
        ),
    }
}
