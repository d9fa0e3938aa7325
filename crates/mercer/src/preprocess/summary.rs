//! What the preprocessing does, in one line per kind of step.

use super::features::{Features, Step};
use crate::data::Field;
use crate::explain::short;

/// Columns that a line names; of more, it gives their number only.
const MAX_NAMES: usize = 6;

impl Features {
    /// The steps, one line per kind of step, for users.
    pub fn summary(&self) -> Vec<String> {
        let numeric = self.columns(|_, step| matches!(step, Step::Numeric(_)));
        let mut lines = Vec::new();
        let mut add = |what: &str, columns: Vec<&Field>| {
            if !columns.is_empty() {
                let all = columns.len() == numeric.len() && columns.len() > MAX_NAMES;
                let names = if all { format!("all {}", columns.len()) } else { names(&columns) };
                lines.push(format!("{what}: {names}"));
            }
        };
        let is = |test: fn(&super::NumericStep) -> bool| {
            self.columns(move |_, step| matches!(step, Step::Numeric(step) if test(step)))
        };
        add(
            "missing values imputed, with a missing indicator",
            is(|s| s.fill.is_some() && s.indicator),
        );
        add("discretized", is(|s| s.cuts.is_some()));
        add("Yeo-Johnson transform, standardized", is(|s| s.power.is_some()));
        add("scaled", is(|s| s.power.is_none() && s.scale.is_some()));
        for (field, step) in self.schema.fields.iter().zip(&self.steps) {
            if let Step::Date(step) = step {
                let parts: Vec<String> =
                    step.parts.iter().map(|(part, _)| part.to_string()).collect();
                lines.push(format!("date `{}` as features: {}", field.name, parts.join(", ")));
            }
        }
        let one_hot = self.columns(|_, step| matches!(step, Step::OneHot(_)));
        if !one_hot.is_empty() {
            let width: usize = self.one_hot().map(|(field, step)| step.width(&field.levels)).sum();
            lines.push(format!("one-hot encoded as {width} indicators: {}", names(&one_hot)));
        }
        let shared: Vec<&Field> =
            self.one_hot().filter(|(_, step)| step.n_shared > 0).map(|(field, _)| field).collect();
        if !shared.is_empty() {
            lines.push(format!("rare levels share indicators: {}", names(&shared)));
        }
        for (field, step) in self.schema.fields.iter().zip(&self.steps) {
            if let Step::Text(step) = step {
                lines.push(format!("text `{}`: {}", field.name, step.description()));
            }
        }
        if let Some((mean, deviation)) = self.target_scale {
            lines.push(format!(
                "target standardized during the fit (mean {}, standard deviation {}); predictions are in its units",
                short(mean),
                short(deviation)
            ));
        }
        lines
    }

    fn columns(&self, test: impl Fn(&Field, &Step) -> bool) -> Vec<&Field> {
        let columns = self.schema.fields.iter().zip(&self.steps);
        columns.filter(|(field, step)| test(field, step)).map(|(field, _)| field).collect()
    }

    fn one_hot(&self) -> impl Iterator<Item = (&Field, &super::OneHotStep)> {
        self.schema.fields.iter().zip(&self.steps).filter_map(|(field, step)| match step {
            Step::OneHot(step) => Some((field, step)),
            _ => None,
        })
    }
}

fn names(columns: &[&Field]) -> String {
    if columns.len() > MAX_NAMES {
        return format!("{} columns", columns.len());
    }
    columns.iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ")
}
