//! `mercer explain`: the contribution of every feature or support vector to a prediction.

use crate::args::Explain;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::{explanation, html};
use crate::session::Session;
use mercer::data::Stream;
use mercer::predict::{RowExplanation, RowText, RowToExplain, check_explainable};
use mercer::text::{TextSpan, highlight};
use mercer::train::Trained;
use mercer_io::Source;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

/// Rows that are read together.
const ROWS_PER_TABLE: usize = 1024;
/// Unknown tokens that are listed.
const MAX_UNKNOWN_TOKENS: usize = 10;

pub fn run(args: Explain, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    check(&model, args.html.is_some())?;
    let source = input::open_for(&model, &args.data, &args.reading, session)?;
    let row = find_row(&model, &source, args.row, session)?;
    for text in &row.texts {
        report_unknown_tokens(text, session);
    }
    let explained = row.explain()?;
    if let Some(path) = args.html.as_deref() {
        write_page(path, &explained, &row, session)?;
    }
    if session.json {
        return session.print_json(&explained);
    }
    let fitted = model.fitted.model.as_model();
    let target = model.features.target.as_deref();
    let shown: &explanation::Shown<'_> = &|name, value| row.shown_value(name, value);
    match &explained {
        RowExplanation::SupportVectors(explained) => {
            explanation::supports(explained, target, fitted.outlier_detector().is_some())
        }
        RowExplanation::Scores(explained) => explanation::scores(explained, shown),
        RowExplanation::Terms(explained) => {
            explanation::terms(explained, target.unwrap_or("prediction"), shown)
        }
        RowExplanation::Factors(explained) => explanation::explanation(explained, shown),
    }
}

/// Refuses models whose predictions have no explanation, or no terms to highlight in a text.
fn check(model: &Trained, html: bool) -> Result<()> {
    check_explainable(model)?;
    let fitted = model.fitted.model.as_model();
    let by_term = fitted.factorized_likelihood().is_some() || fitted.additive_scores().is_some();
    if html && !by_term {
        return Err(model.estimator.unable("highlight the terms of a text").into());
    }
    Ok(())
}

/// Reads the table up to the row, counted from one, and encodes it.
fn find_row<'a>(
    model: &'a Trained,
    source: &Source,
    number: u64,
    session: &Session,
) -> Result<RowToExplain<'a>> {
    let index = number as usize - 1;
    let (mut found, mut n_read) = (None, 0);
    source.stream(&model.features.input_schema(None), ROWS_PER_TABLE, &mut |tables| {
        for table in tables {
            if index < n_read + table.n_rows() {
                found = Some(RowToExplain::new(model, &table, index - n_read)?);
                return Ok(ControlFlow::Break(()));
            }
            n_read += table.n_rows();
        }
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    session.check_interrupt()?;
    found.ok_or_else(|| {
        let name = source.name();
        Failure::Usage(format!("{name} has {n_read} rows; there is no row {number}"))
    })
}

/// Reports the tokens of a text that are not in the vocabulary.
fn report_unknown_tokens(text: &RowText<'_>, session: &Session) {
    let (unknown, n_terms) = text.unknown_terms();
    let distinct: BTreeSet<&String> = unknown.iter().collect();
    if distinct.is_empty() {
        return;
    }
    let shown: Vec<&str> =
        distinct.iter().take(MAX_UNKNOWN_TOKENS).map(|term| term.as_str()).collect();
    let more = if distinct.len() > shown.len() { ", …" } else { "" };
    session.message(&format!(
        "{} of {n_terms} tokens are not in the vocabulary of the model and have no factor: {}{more}",
        unknown.len(),
        shown.join(", ")
    ));
}

fn write_page(
    path: &Path,
    explained: &RowExplanation,
    row: &RowToExplain<'_>,
    session: &Session,
) -> Result<()> {
    if row.texts.is_empty() {
        return Err(Failure::Usage("--html: the model has no text column to highlight".to_owned()));
    }
    let page = match explained {
        RowExplanation::Scores(explained) => html::Highlighted::of_scores(explained),
        RowExplanation::Factors(explained) => html::Highlighted::of(explained),
        RowExplanation::Terms(_) | RowExplanation::SupportVectors(_) => return Ok(()),
    };
    let contributions = explained.contributions().unwrap_or_default();
    let contribution = |feature: usize| {
        let k = row.present.binary_search(&feature).ok()?;
        contributions.get(k).copied()
    };
    let mut spans: Vec<Vec<TextSpan>> = Vec::new();
    for text in &row.texts {
        let feature = |term: &str| text.step.feature(term);
        let log_odds = |j: usize| contribution(text.first + j);
        spans.push(highlight(&text.text, &text.step.analyzer, feature, log_odds)?);
    }
    session.check_output(path)?;
    let page = html::highlighted_page(&page, &spans)?;
    mercer::file::save(path, page.as_bytes())
        .map_err(Failure::model(&path.display().to_string()))?;
    session.message(&format!("saved {}", path.display()));
    Ok(())
}
