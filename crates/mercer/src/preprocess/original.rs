//! Features in the units of their columns: what a scaled value was before it was scaled.

use super::features::{Features, Step};
use super::numeric::NumericStep;
use crate::data::{DatePart, Notation};

/// A numeric feature: its step, the notation of its column, and its part if the column has dates.
struct NumericFeature<'a> {
    step: &'a NumericStep,
    notation: &'a Notation,
    part: Option<DatePart>,
}

impl Features {
    /// The numeric feature at an index; `None` for indicators, codes and terms.
    fn numeric_feature(&self, feature: usize) -> Option<NumericFeature<'_>> {
        if self.map.is_some() {
            return None;
        }
        let mut at = 0;
        for ((field, step), width) in self.schema.fields.iter().zip(&self.steps).zip(self.widths())
        {
            if feature >= at + width {
                at += width;
                continue;
            }
            let notation = &field.notation;
            let value = |step: &'_ NumericStep, at: usize| {
                step.cuts.is_none() && !step.as_code && feature == at
            };
            return match step {
                Step::Numeric(step) if value(step, at) => {
                    Some(NumericFeature { step, notation, part: None })
                }
                Step::Date(date) => date.parts.iter().find_map(|(part, step)| {
                    let here = at;
                    at += step.width();
                    value(step, here).then_some(NumericFeature {
                        step,
                        notation,
                        part: Some(*part),
                    })
                }),
                _ => None,
            };
        }
        None
    }

    /// The value of a scaled or transformed feature in the units of its column; `None` if the feature has them.
    pub fn original_value(&self, feature: usize, x: f64) -> Option<f64> {
        let NumericFeature { step, .. } = self.numeric_feature(feature)?;
        (step.scale.is_some() || step.power.is_some()).then(|| step.invert(&[x])).flatten()
    }

    /// A value of a feature for users: in the units of its column, with the scaled one beside it.
    pub fn shown_value(&self, feature: usize, x: f64) -> String {
        let scaled = crate::explain::short(x);
        let Some(numeric) = self.numeric_feature(feature) else { return scaled };
        let original = self.original_value(feature, x);
        let value = original.unwrap_or(x);
        let shown = match numeric.part {
            None => numeric.notation.format(value),
            Some(_) => crate::explain::short(value),
        };
        match original {
            Some(_) => format!("{shown} (scaled {scaled})"),
            None => shown,
        }
    }

    /// The shift and the scale of every feature, such that a feature is `(original - shift) / scale`. `None` if a
    /// feature is another function of its column, or if the features are those of a kernel map.
    pub fn affine_scales(&self) -> Option<Vec<(f64, f64)>> {
        if self.map.is_some() {
            return None;
        }
        let transformed = |step: &Step| match step {
            Step::Numeric(step) => step.power.is_some() || step.nonnegative && step.scale.is_some(),
            Step::Date(date) => date.parts.iter().any(|(_, step)| step.power.is_some()),
            _ => false,
        };
        if self.steps.iter().any(transformed) {
            return None;
        }
        let mut scales = vec![(0.0, 1.0); self.n_features()];
        let mut at = 0;
        for (step, width) in self.steps.iter().zip(self.widths()) {
            match step {
                Step::Numeric(step) => scales[at] = step.scale.unwrap_or((0.0, 1.0)),
                Step::Date(date) => {
                    let mut first = at;
                    for (_, step) in &date.parts {
                        scales[first] = step.scale.unwrap_or((0.0, 1.0));
                        first += step.width();
                    }
                }
                _ => {}
            }
            at += width;
        }
        Some(scales)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Field, NumberNotation, Schema};

    #[test]
    fn a_scaled_value_is_shown_in_its_unit() {
        let unit = Some("€".to_owned());
        let notation =
            Notation::Number(NumberNotation { unit, ..NumberNotation::with_decimal(',') });
        let fields = vec![Field::written("price", notation), Field::numeric("age")];
        let scaled = NumericStep { scale: Some((100.0, 50.0)), ..NumericStep::default() };
        let steps = vec![Step::Numeric(scaled), Step::Numeric(NumericStep::default())];
        let features = Features { steps, ..Features::of_schema(Schema { fields }) };

        assert_eq!(features.shown_value(0, -1.0), "50 € (scaled -1)");
        assert_eq!(features.shown_value(1, 31.0), "31");
        assert_eq!(features.affine_scales(), Some(vec![(100.0, 50.0), (0.0, 1.0)]));
    }
}
