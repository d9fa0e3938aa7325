//! One row of a table, and the contribution of every feature or support vector to its prediction.

use crate::data::{Table, Values};
use crate::error::Result;
use crate::explain::{
    Explanation, ScoreExplanation, SupportExplanation, TermExplanation, explain_scores,
    explain_shown, explain_terms, short,
};
use crate::preprocess::{Step, TextStep};
use crate::train::Trained;
use serde::Serialize;
use std::collections::BTreeSet;

/// The explanation of a prediction, by the structure of the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RowExplanation {
    /// A kernel expansion: one term per support vector.
    SupportVectors(SupportExplanation),
    /// Class scores: one term per feature and class.
    Scores(ScoreExplanation),
    /// A linear regression model: one term per feature.
    Terms(TermExplanation),
    /// A likelihood that factorizes: one factor per feature.
    Factors(Explanation),
}

/// Refuses models whose predictions have no explanation by feature or by support vector.
///
/// # Errors
/// [`Error::Unable`](crate::Error::Unable).
pub fn check_explainable(model: &Trained) -> Result<()> {
    let fitted = model.fitted.model.as_model();
    let by_feature = fitted.factorized_likelihood().is_some()
        || fitted.additive_scores().is_some()
        || fitted.linear_model().is_some();
    if fitted.support_vectors().is_some() {
        return Ok(());
    }
    if !by_feature {
        let what = "explain a prediction: its output is not a sum over features or support vectors";
        return Err(model.estimator.unable(what));
    }
    match model.features.map.as_ref().filter(|map| !map.is_interpretable()) {
        Some(map) => Err(model.estimator.unable(&format!(
            "explain a prediction by feature: the features of the map {} have no meaning of their own; train \
             with `--features poly:2` or without a feature map",
            map.spec
        ))),
        None => Ok(()),
    }
}

/// A row, encoded as the features of a model.
pub struct RowToExplain<'a> {
    model: &'a Trained,
    /// The encoded features.
    values: Vec<f64>,
    /// The text columns.
    pub texts: Vec<RowText<'a>>,
    /// The names of the features; hashed features are named by the terms of this row.
    names: Vec<String>,
    /// The features without the terms that the texts do not contain.
    pub present: Vec<usize>,
}

impl<'a> RowToExplain<'a> {
    /// Encodes a row of a table that was read with the schema of the model.
    ///
    /// # Errors
    /// If the columns do not fit.
    ///
    /// # Panics
    /// If the table has no such row.
    pub fn new(model: &'a Trained, table: &Table, row: usize) -> Result<RowToExplain<'a>> {
        let table = table.rows_at(&[row])?;
        let values = model.features.encode(&table, None)?.rows().row(0);
        let texts = texts(model, &table);
        let mut names = model.features.names();
        texts.iter().for_each(|text| text.name_hashes(&mut names));
        let absent = |j: usize| values[j] == 0.0 && texts.iter().any(|text| text.has(j));
        let present = (0..values.len()).filter(|j| !absent(*j)).collect();
        Ok(RowToExplain { model, values, texts, names, present })
    }

    /// The explanation of the prediction.
    ///
    /// # Errors
    /// As [`check_explainable`], or if the model refuses a cell.
    pub fn explain(&self) -> Result<RowExplanation> {
        check_explainable(self.model)?;
        let fitted = self.model.fitted.model.as_model();
        if let Some(support_vectors) = fitted.support_vectors() {
            return Ok(RowExplanation::SupportVectors(
                support_vectors.support_terms(&self.values)?,
            ));
        }
        if fitted.additive_scores().is_some() {
            let mut explained = explain_scores(fitted, &self.values, &self.names)?;
            for (j, term) in explained.terms.iter_mut().enumerate() {
                term.original = self.model.features.original_value(j, term.value);
            }
            // A term that the text does not contain contributes zero.
            let mut features = 0..;
            explained.terms.retain(|_| features.next().is_none_or(|j| self.is_present(j)));
            return Ok(RowExplanation::Scores(explained));
        }
        if let Some(linear) = fitted.linear_model() {
            let mut explained = explain_terms(linear, &self.values, &self.names)?;
            for (j, term) in explained.terms.iter_mut().enumerate() {
                term.original = self.model.features.original_value(j, term.value);
            }
            // A term that the text does not contain contributes through the mean only.
            let mut features = 0..;
            explained.terms.retain(|_| features.next().is_none_or(|j| self.is_present(j)));
            return Ok(RowExplanation::Terms(explained));
        }
        let factorized = fitted
            .factorized_likelihood()
            .ok_or_else(|| self.model.estimator.unable("explain a prediction"))?;
        let explained =
            explain_shown(factorized, &self.values, &self.names, |j| self.is_present(j))?
                .with_levels(|k, x| self.model.features.category(*self.present.get(k)?, x));
        Ok(RowExplanation::Factors(explained))
    }

    /// The value of a feature, by its name, in the units of its column, with the scaled one beside it.
    pub fn shown_value(&self, name: &str, value: f64) -> String {
        match self.names.iter().position(|known| known == name) {
            Some(j) => self.model.features.shown_value(j, value),
            None => short(value),
        }
    }

    fn is_present(&self, feature: usize) -> bool {
        self.present.binary_search(&feature).is_ok()
    }
}

impl RowExplanation {
    /// The contribution of every listed feature to the log-odds or the decision value of the predicted class; `None`
    /// if the prediction is not a sum over features of class scores.
    pub fn contributions(&self) -> Option<Vec<f64>> {
        match self {
            RowExplanation::Scores(scores) => {
                Some(scores.terms.iter().map(|term| term.contribution).collect())
            }
            RowExplanation::Factors(factors) => {
                Some(factors.factors.iter().map(|factor| factor.log_odds).collect())
            }
            RowExplanation::Terms(_) | RowExplanation::SupportVectors(_) => None,
        }
    }
}

/// A text of the row.
pub struct RowText<'a> {
    /// The text itself.
    pub text: String,
    /// Its preprocessing.
    pub step: &'a TextStep,
    /// The index of its first feature.
    pub first: usize,
}

impl RowText<'_> {
    fn has(&self, feature: usize) -> bool {
        (self.first..self.first + self.step.width()).contains(&feature)
    }

    /// The terms of the text that are not in the vocabulary of the model, in order, and the number of all terms.
    pub fn unknown_terms(&self) -> (Vec<String>, usize) {
        let Ok(reader) = self.step.analyzer.reader() else { return (Vec::new(), 0) };
        let terms = reader.terms(&self.text);
        let n_terms = terms.len();
        let unknown = terms.into_iter().filter(|term| self.step.feature(term).is_none()).collect();
        (unknown, n_terms)
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

/// The texts of the only row of a table.
fn texts<'a>(model: &'a Trained, table: &Table) -> Vec<RowText<'a>> {
    let features = &model.features;
    let origins = features.origins();
    let mut texts = Vec::new();
    for (k, (field, step)) in features.schema.fields.iter().zip(&features.steps).enumerate() {
        let column = table.column(&field.name).map(|column| &column.values);
        if let (Step::Text(step), Some(Values::Text(values))) = (step, column) {
            let first = origins.iter().position(|origin| *origin == k).unwrap_or(0);
            let text = values.first().cloned().flatten().unwrap_or_default();
            texts.push(RowText { text, step, first });
        }
    }
    texts
}
