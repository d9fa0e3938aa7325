//! `mercer explain`: the contribution of every feature or support vector to a prediction.

use crate::args::Explain;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::{explanation, html};
use crate::session::Session;
use mercer::data::{Stream, Table, Values};
use mercer::explain::{explain_scores, explain_shown, explain_terms, short};
use mercer::model::{FactorizedLikelihood, LinearModel};
use mercer::preprocess::{Step, TextStep};
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
        text.report_unknown_tokens(session);
    }
    let fitted = model.fitted.model.as_model();
    if let Some(support_vectors) = fitted.support_vectors() {
        let explained = support_vectors.support_terms(&row.values)?;
        if session.json {
            return session.print_json(&explained);
        }
        let target = model.features.target.as_deref();
        return explanation::supports(&explained, target, fitted.outlier_detector().is_some());
    }
    let html = args.html.as_deref();
    if fitted.additive_scores().is_some() {
        return explain_by_scores(&row, &model, html, session);
    }
    match (fitted.linear_model(), fitted.factorized_likelihood()) {
        (Some(linear), _) => {
            let target = model.features.target.as_deref().unwrap_or("prediction");
            explain_by_terms(&row, (linear, &model), target, session)
        }
        (None, Some(factorized)) => explain_by_factors(&row, &model, factorized, html, session),
        (None, None) => Ok(()),
    }
}

/// Refuses models whose predictions have no explanation by feature or by support vector.
fn check(model: &Trained, html: bool) -> Result<()> {
    let fitted = model.fitted.model.as_model();
    let by_term = fitted.factorized_likelihood().is_some() || fitted.additive_scores().is_some();
    let by_feature = by_term || fitted.linear_model().is_some();
    if !by_feature && fitted.support_vectors().is_none() {
        let what = "explain a prediction: its output is not a sum over features or support vectors";
        return Err(model.estimator.unable(what).into());
    }
    let map = model.features.map.as_ref().filter(|map| by_feature && !map.is_interpretable());
    if let Some(map) = map {
        return Err(Failure::Usage(format!(
            "the features of the map {} have no meaning of their own, so a prediction cannot be explained by \
             feature; train with `--features poly:2` or without a feature map",
            map.spec
        )));
    }
    if html && !by_term {
        return Err(model.estimator.unable("highlight the terms of a text").into());
    }
    Ok(())
}

/// The row to explain.
struct Row<'a> {
    /// The encoded features.
    values: Vec<f64>,
    /// The text columns.
    texts: Vec<Text<'a>>,
    /// The names of the features; hashed features are named by the terms of this row.
    names: Vec<String>,
    /// The features without the terms that the texts do not contain.
    present: Vec<usize>,
}

impl Row<'_> {
    fn is_absent_term(&self, feature: usize) -> bool {
        self.present.binary_search(&feature).is_err()
    }
}

/// Reads the table up to the row, counted from one, and encodes it.
fn find_row<'a>(
    model: &'a Trained,
    source: &Source,
    number: u64,
    session: &Session,
) -> Result<Row<'a>> {
    let index = number as usize - 1;
    let (mut found, mut n_read) = (None, 0);
    source.stream(&model.features.input_schema(None), ROWS_PER_TABLE, &mut |tables| {
        for table in tables {
            if index < n_read + table.n_rows() {
                let rows = model.features.encode(&table, None)?;
                let i = index - n_read;
                found = Some((rows.rows().row(i), texts(model, &table, i)));
                return Ok(ControlFlow::Break(()));
            }
            n_read += table.n_rows();
        }
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    session.check_interrupt()?;
    let (values, texts) = found.ok_or_else(|| {
        let name = source.name();
        Failure::Usage(format!("{name} has {n_read} rows; there is no row {number}"))
    })?;
    let mut names = model.features.names();
    texts.iter().for_each(|text| text.name_hashes(&mut names));
    let absent = |j: usize| values[j] == 0.0 && texts.iter().any(|text| text.has(j));
    let present = (0..values.len()).filter(|j| !absent(*j)).collect();
    Ok(Row { values, texts, names, present })
}

fn explain_by_scores(
    row: &Row<'_>,
    model: &Trained,
    html: Option<&Path>,
    session: &Session,
) -> Result<()> {
    let fitted = model.fitted.model.as_model();
    let mut explained = explain_scores(fitted, &row.values, &row.names)?;
    for (j, term) in explained.terms.iter_mut().enumerate() {
        term.original = model.features.original_value(j, term.value);
    }
    // A term that the text does not contain contributes zero.
    let mut features = 0..;
    explained.terms.retain(|_| features.next().is_none_or(|j| !row.is_absent_term(j)));
    if let Some(path) = html {
        let log_odds = explained.terms.iter().map(|term| term.contribution).collect();
        write_page(path, &html::Highlighted::of_scores(&explained), log_odds, row, session)?;
    }
    if session.json {
        return session.print_json(&explained);
    }
    explanation::scores(&explained, &|name, x| shown(model, row, name, x))
}

/// The value of a feature in the units of its column, with the scaled one beside it.
fn shown(model: &Trained, row: &Row<'_>, name: &str, x: f64) -> String {
    match row.names.iter().position(|known| known == name) {
        Some(j) => model.features.shown_value(j, x),
        None => short(x),
    }
}

fn explain_by_terms(
    row: &Row<'_>,
    (linear, model): (&dyn LinearModel, &Trained),
    target: &str,
    session: &Session,
) -> Result<()> {
    let mut explained = explain_terms(linear, &row.values, &row.names)?;
    for (j, term) in explained.terms.iter_mut().enumerate() {
        term.original = model.features.original_value(j, term.value);
    }
    // A term that the text does not contain contributes through the mean only.
    let mut features = 0..;
    explained.terms.retain(|_| features.next().is_none_or(|j| !row.is_absent_term(j)));
    if session.json {
        return session.print_json(&explained);
    }
    explanation::terms(&explained, target, &|name, x| shown(model, row, name, x))
}

fn explain_by_factors(
    row: &Row<'_>,
    model: &Trained,
    factorized: &dyn FactorizedLikelihood,
    html: Option<&Path>,
    session: &Session,
) -> Result<()> {
    let present = |j| !row.is_absent_term(j);
    let explained = explain_shown(factorized, &row.values, &row.names, present)?
        .with_levels(|k, x| model.features.category(*row.present.get(k)?, x));
    if let Some(path) = html {
        let log_odds = explained.factors.iter().map(|factor| factor.log_odds).collect();
        write_page(path, &html::Highlighted::of(&explained), log_odds, row, session)?;
    }
    if session.json {
        return session.print_json(&explained);
    }
    explanation::explanation(&explained, &|name, x| shown(model, row, name, x))
}

/// A text of the row, and the index of its first feature.
struct Text<'a> {
    text: String,
    step: &'a TextStep,
    first: usize,
}

impl Text<'_> {
    fn has(&self, feature: usize) -> bool {
        (self.first..self.first + self.step.width()).contains(&feature)
    }

    /// Reports the tokens that are not in the vocabulary.
    fn report_unknown_tokens(&self, session: &Session) {
        let Ok(reader) = self.step.analyzer.reader() else { return };
        let terms = reader.terms(&self.text);
        let unknown = terms.iter().filter(|term| self.step.feature(term).is_none());
        let distinct: BTreeSet<&String> = unknown.clone().collect();
        if distinct.is_empty() {
            return;
        }
        let shown: Vec<&str> =
            distinct.iter().take(MAX_UNKNOWN_TOKENS).map(|term| term.as_str()).collect();
        let more = if distinct.len() > shown.len() { ", …" } else { "" };
        session.message(&format!(
            "{} of {} tokens are not in the vocabulary of the model and have no factor: {}{more}",
            unknown.count(),
            terms.len(),
            shown.join(", ")
        ));
    }

    /// Names hashed features by the terms of this text.
    fn name_hashes(&self, names: &mut [String]) {
        let Ok(reader) = self.step.analyzer.reader() else { return };
        let terms: BTreeSet<String> = reader.terms(&self.text).into_iter().collect();
        let mut named = BTreeSet::new();
        for term in terms {
            let Some(j) = self.step.feature(&term) else { continue };
            let name = &mut names[self.first + j];
            if named.insert(j) {
                *name = term;
            } else {
                *name += " / ";
                *name += &term;
            }
        }
    }
}

/// The texts of a row.
fn texts<'a>(model: &'a Trained, table: &Table, row: usize) -> Vec<Text<'a>> {
    let features = &model.features;
    let origins = features.origins();
    let mut texts = Vec::new();
    for (k, (field, step)) in features.schema.fields.iter().zip(&features.steps).enumerate() {
        let column = table.column(&field.name).map(|column| &column.values);
        if let (Step::Text(step), Some(Values::Text(values))) = (step, column) {
            let first = origins.iter().position(|origin| *origin == k).unwrap_or(0);
            texts.push(Text { text: values[row].clone().unwrap_or_default(), step, first });
        }
    }
    texts
}

fn write_page(
    path: &Path,
    page: &html::Highlighted,
    log_odds: Vec<f64>,
    row: &Row<'_>,
    session: &Session,
) -> Result<()> {
    if row.texts.is_empty() {
        return Err(Failure::Usage("--html: the model has no text column to highlight".to_owned()));
    }
    let log_odds = |feature: usize| {
        let k = row.present.binary_search(&feature).ok()?;
        log_odds.get(k).copied()
    };
    let mut spans: Vec<Vec<TextSpan>> = Vec::new();
    for text in &row.texts {
        let feature = |term: &str| text.step.feature(term);
        let log_odds = |j: usize| log_odds(text.first + j);
        spans.push(highlight(&text.text, &text.step.analyzer, feature, log_odds)?);
    }
    session.check_output(path)?;
    let page = html::highlighted_page(page, &spans)?;
    mercer::file::save(path, page.as_bytes())
        .map_err(Failure::model(&path.display().to_string()))?;
    session.message(&format!("saved {}", path.display()));
    Ok(())
}
