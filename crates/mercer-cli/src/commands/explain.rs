//! `mercer explain`: a prediction, line by line.

use crate::args::Explain;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::{html, terminal};
use crate::session::Session;
use mercer::data::{Stream, Table, Values};
use mercer::explain::{explain_scores, explain_shown, explain_terms};
use mercer::preprocess::{Step, TextStep};
use mercer::text::{TextSpan, highlight};
use mercer::train::Trained;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Rows read at a time on the way to the one asked for.
const STEP: usize = 1024;

pub fn run(args: Explain, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    let able = model.fitted.model.as_model();
    let by_columns = able.factorized_likelihood().is_some()
        || able.additive_scores().is_some()
        || able.linear_model().is_some();
    if !by_columns && able.support_vectors().is_none() {
        return Err(model.estimator.unable("explain a prediction step by step").into());
    }
    let map = model.features.map.as_ref().filter(|map| by_columns && !map.is_interpretable());
    if let Some(map) = map {
        return Err(Failure::Usage(format!(
            "the model sees its columns through a map ({}), and no column of the map says anything by \
             itself; train with `--features poly:2`, whose columns are products, or without a map, to \
             have predictions explained",
            map.asked
        )));
    }
    let source = input::open_for(&model, &args.data, &args.reading, session)?;
    let wanted = args.row as usize - 1;
    let (mut found, mut seen) = (None, 0);
    source.stream(&model.features.input_schema(None), STEP, &mut |tables| {
        for table in tables {
            if wanted < seen + table.n_rows() {
                let rows = model.features.encode(&table, None)?;
                found =
                    Some((rows.rows().row(wanted - seen), texts(&model, &table, wanted - seen)));
                return Ok(ControlFlow::Break(()));
            }
            seen += table.n_rows();
        }
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    session.check_interrupt()?;
    let (row, texts) = found.ok_or_else(|| {
        Failure::Usage(format!("{} has {seen} rows; there is no row {}", source.name(), args.row))
    })?;
    let mut names = model.features.names();
    if args.html.is_some()
        && able.factorized_likelihood().is_none()
        && able.additive_scores().is_none()
    {
        return Err(model.estimator.unable("mark words in a text").into());
    }
    if let Some(supported) = able.support_vectors() {
        let explanation = supported.support_terms(&row)?;
        if session.json {
            return session.print_json(&explanation);
        }
        let target = model.features.target.as_deref();
        return terminal::supports(&explanation, target, able.outlier_detector().is_some());
    }
    let absent = |j: usize| row[j] == 0.0 && texts.iter().any(|text| text.has(j));
    let features: Vec<usize> = (0..row.len()).filter(|j| !absent(*j)).collect();
    if able.additive_scores().is_some() {
        texts.iter().for_each(|text| text.name_hashes(&mut names));
        let mut explanation = explain_scores(able, &row, &names)?;
        // A word that the text does not have adds nothing.
        let mut places = 0..;
        explanation.terms.retain(|_| places.next().is_none_or(|j| !absent(j)));
        if let Some(path) = &args.html {
            let said = explanation.terms.iter().map(|term| term.log_odds).collect();
            let page = html::Marked::of_scores(&explanation);
            write_page(path, &page, said, &features, &texts)?;
            session.message(&format!("saved {}", path.display()));
        }
        if session.json {
            return session.print_json(&explanation);
        }
        return terminal::scores(&explanation);
    }
    if let Some(additive) = able.linear_model() {
        texts.iter().for_each(|text| text.name_hashes(&mut names));
        let mut explanation = explain_terms(additive, &row, &names)?;
        // Of the words that the text does not have, only the average row knows.
        let mut places = 0..;
        explanation.terms.retain(|_| places.next().is_none_or(|j| !absent(j)));
        if session.json {
            return session.print_json(&explanation);
        }
        let target = model.features.target.as_deref().unwrap_or("prediction");
        return terminal::terms(&explanation, target);
    }
    let Some(factored) = able.factorized_likelihood() else { return Ok(()) };
    texts.iter().for_each(|text| text.name_hashes(&mut names));
    let explanation = explain_shown(factored, &row, &names, |j| !absent(j))?
        .with_levels(|k, x| model.features.word(*features.get(k)?, x));
    if let Some(path) = &args.html {
        let said = explanation.factors.iter().map(|factor| factor.log_odds).collect();
        write_page(path, &html::Marked::of(&explanation), said, &features, &texts)?;
        session.message(&format!("saved {}", path.display()));
    }
    if session.json {
        return session.print_json(&explanation);
    }
    terminal::explanation(&explanation)
}

/// A text of the row, and which features it makes.
struct Text<'a> {
    text: String,
    step: &'a TextStep,
    first: usize,
}

impl Text<'_> {
    fn has(&self, feature: usize) -> bool {
        (self.first..self.first + self.step.width()).contains(&feature)
    }

    /// Calls hashed features by the words of this very text.
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
    path: &std::path::Path,
    page: &html::Marked,
    said: Vec<f64>,
    features: &[usize],
    texts: &[Text<'_>],
) -> Result<()> {
    if texts.is_empty() {
        return Err(Failure::Usage("--html: the model reads no text to mark words in".to_owned()));
    }
    let said = |feature: usize| {
        let k = features.binary_search(&feature).ok()?;
        said.get(k).copied()
    };
    let mut spans: Vec<Vec<TextSpan>> = Vec::new();
    for text in texts {
        let feature = |term: &str| text.step.feature(term);
        spans.push(highlight(&text.text, &text.step.analyzer, feature, |j| said(text.first + j))?);
    }
    let page = html::marked_page(page, &spans)?;
    mercer::file::save(path, page.as_bytes()).map_err(Failure::model(&path.display().to_string()))
}
