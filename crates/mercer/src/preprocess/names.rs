//! Names and descriptions of the features.

use super::NumericStep;
use super::features::{Features, Step, n_codes};
use crate::data::{ColumnDescription, Field, Kind, Measure};
use std::sync::Arc;

impl Features {
    /// The description of every feature, for estimators that treat columns by their type. Terms and sparse features
    /// have no name.
    pub fn descriptions(&self) -> Arc<[ColumnDescription]> {
        if self.map.is_some() {
            let number = ColumnDescription { name: String::new(), measure: Measure::Numeric };
            return std::iter::repeat_n(number, self.n_features()).collect();
        }
        let mut columns = Vec::with_capacity(self.n_features());
        for (k, (field, step)) in self.schema.fields.iter().zip(&self.steps).enumerate() {
            let named = |name, measure| ColumnDescription { name, measure };
            match step {
                Step::Text(step) if self.dense_text => {
                    let names = step.names().into_iter();
                    columns.extend(names.map(|name| named(name, Measure::Categorical(2))));
                }
                Step::Text(step) => {
                    let term = named(String::new(), Measure::TermCount(k));
                    columns.extend(std::iter::repeat_n(term, step.width()));
                }
                Step::Sparse => {
                    let number = named(String::new(), Measure::Numeric);
                    columns.extend(std::iter::repeat_n(number, field.width));
                }
                Step::Code => {
                    columns.push(named(field.name.clone(), Measure::Categorical(n_codes(field))));
                }
                Step::Numeric(step) => columns.extend(numeric_descriptions(&field.name, step)),
                Step::Date(step) => {
                    columns.extend(step.parts.iter().flat_map(|(part, step)| {
                        numeric_descriptions(&part.feature(&field.name), step)
                    }));
                }
                // Indicators are categories with the codes 0 and 1, not quantities.
                Step::OneHot(_) => {
                    let names = feature_names(field, step).into_iter();
                    columns.extend(names.map(|name| named(name, Measure::Categorical(2))));
                }
            }
        }
        columns.into()
    }

    /// The category that the value of a feature stands for, if the feature is a category code.
    pub fn category(&self, feature: usize, x: f64) -> Option<String> {
        let k = *self.origins().get(feature)?;
        match &self.steps[k] {
            Step::Code if x == n_codes(&self.schema.fields[k]) as f64 => Some("(new)".to_owned()),
            Step::Code if self.schema.fields[k].kind == Kind::Boolean => {
                Some((x != 0.0).to_string())
            }
            Step::Code => self.schema.fields[k].levels.name(x as u32).map(str::to_owned),
            Step::Numeric(step) if step.as_code && !step.indicator && !x.is_nan() => {
                step.bin_name(x as usize)
            }
            _ => None,
        }
    }

    /// The names of the features.
    pub fn names(&self) -> Vec<String> {
        let encoded = self.encoded_names();
        self.map.as_ref().map_or_else(|| encoded.clone(), |map| map.names(&encoded))
    }

    /// The names of the encoded columns before the kernel map.
    pub fn encoded_names(&self) -> Vec<String> {
        let columns = self.schema.fields.iter().zip(&self.steps);
        columns.flat_map(|(field, step)| feature_names(field, step)).collect()
    }
}

/// The descriptions of the features of a numeric column.
fn numeric_descriptions(column: &str, step: &NumericStep) -> Vec<ColumnDescription> {
    let bins = step.cuts.as_ref().map_or(1, |cuts| cuts.len() + 1);
    let first = match &step.cuts {
        _ if step.as_code => Measure::Categorical(bins),
        None => Measure::Numeric,
        // Indicators are categories with the codes 0 and 1, not quantities.
        Some(_) => Measure::Categorical(2),
    };
    let names = step.names(column).into_iter().enumerate();
    names
        .map(|(k, name)| {
            let measure = if k == 0 { first } else { Measure::Categorical(2) };
            ColumnDescription { name, measure }
        })
        .collect()
}

/// The names of a column's features.
fn feature_names(field: &Field, step: &Step) -> Vec<String> {
    match step {
        Step::Numeric(step) => step.names(&field.name),
        Step::Date(step) => step.names(&field.name),
        Step::OneHot(step) => step.names(field),
        Step::Code => vec![field.name.clone()],
        Step::Text(step) => step.names(),
        Step::Sparse => (1..=field.width).map(|j| format!("f{j}")).collect(),
    }
}
