//! The step of a numeric column: imputation, discretization and scaling.

use super::recipe::{Discretize, Impute, Recipe, Scale};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The fitted step of a numeric column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumericStep {
    /// The value that replaces a missing value.
    pub fill: Option<f64>,
    /// The cut points of the bins: bin `k` holds values `cuts[k-1] <= x < cuts[k]`. `None` without discretization.
    pub cuts: Option<Vec<f64>>,
    /// The shift that is subtracted and the scale that the difference is divided by.
    pub scale: Option<(f64, f64)>,
    /// Whether a bin is encoded as its index instead of one-hot.
    #[serde(default)]
    pub as_code: bool,
}

impl NumericStep {
    /// The number of features.
    pub fn width(&self) -> usize {
        self.cuts.as_ref().filter(|_| !self.as_code).map_or(1, |cuts| cuts.len() + 1)
    }

    /// Writes the features of a value; a missing value that is not imputed is NaN in all of them.
    pub fn write(&self, x: f64, out: &mut [f64]) {
        let x = if x.is_nan() { self.fill.unwrap_or(x) } else { x };
        match &self.cuts {
            Some(_) if x.is_nan() => out.fill(f64::NAN),
            Some(cuts) if self.as_code => {
                out[0] = cuts.partition_point(|cut| *cut <= x) as f64;
            }
            // All values are in one bin.
            None if self.as_code && !x.is_nan() => out[0] = 0.0,
            Some(cuts) => {
                out.fill(0.0);
                out[cuts.partition_point(|cut| *cut <= x)] = 1.0;
            }
            None => {
                out[0] = match self.scale {
                    Some((shift, spread)) => (x - shift) / spread,
                    None => x,
                }
            }
        }
    }

    /// The names of the features.
    pub fn names(&self, column: &str) -> Vec<String> {
        let Some(cuts) = self.cuts.as_ref().filter(|_| !self.as_code) else {
            return vec![column.to_owned()];
        };
        let edge = |k: usize| crate::explain::short(cuts[k]);
        (0..=cuts.len())
            .map(|k| match k {
                0 => format!("{column}<{}", edge(0)),
                k if k == cuts.len() => format!("{column}>={}", edge(k - 1)),
                k => format!("{column}={}..{}", edge(k - 1), edge(k)),
            })
            .collect()
    }

    /// The name of a bin, if the column is discretized.
    pub fn bin_name(&self, bin: usize) -> Option<String> {
        let cuts = self.cuts.as_ref()?;
        let edge = |k: usize| crate::explain::short(cuts[k]);
        match bin {
            0 => Some(format!("below {}", edge(0))),
            k if k == cuts.len() => Some(format!("{} or more", edge(k - 1))),
            k if k < cuts.len() => Some(format!("{}..{}", edge(k - 1), edge(k))),
            _ => None,
        }
    }

    /// Checks a step that was read from a file.
    pub(crate) fn check(&self) -> Result<()> {
        let fits = self.fill.is_none_or(f64::is_finite)
            && self.scale.is_none_or(|(a, b)| a.is_finite() && b.is_finite() && b > 0.0)
            && self.cuts.iter().all(|c| {
                !c.is_empty() && c.iter().all(|x| x.is_finite()) && c.is_sorted_by(|a, b| a < b)
            });
        if fits {
            Ok(())
        } else {
            Err(Error::File("the preprocessing step of a numeric column is invalid".into()))
        }
    }
}

/// The statistics of a numeric column that its step is computed from.
pub(crate) struct NumericSummary {
    pub mean: f64,
    pub variance: f64,
    pub low: f64,
    pub high: f64,
    /// The sorted values, if the recipe needs them.
    pub sorted: Vec<f64>,
}

impl NumericSummary {
    /// The step of a recipe for this column.
    pub fn step(&self, recipe: &Recipe) -> NumericStep {
        let fill = match recipe.impute {
            Impute::Keep => None,
            Impute::Mean => Some(self.mean),
            Impute::Median => Some(self.quantile(0.5)),
            Impute::Constant(x) => Some(x),
        };
        let scale = match recipe.scale {
            Scale::Keep => None,
            Scale::Standard => Some((self.mean, self.variance.sqrt())),
            Scale::MinMax => Some((self.low, self.high - self.low)),
        }
        // A constant column is shifted only.
        .map(|(shift, spread)| (shift, if spread > 0.0 { spread } else { 1.0 }));
        let as_code = recipe.bins_as_codes && recipe.discretize != Discretize::Keep;
        NumericStep { fill, cuts: self.cuts(recipe.discretize), scale, as_code }
    }

    fn cuts(&self, discretize: Discretize) -> Option<Vec<f64>> {
        let mut cuts: Vec<f64> = match discretize {
            Discretize::Keep => return None,
            Discretize::EqualWidth(n) => {
                let width = (self.high - self.low) / n as f64;
                (1..n).map(|k| self.low + width * k as f64).collect()
            }
            Discretize::EqualFrequency(n) => {
                (1..n).map(|k| self.quantile(k as f64 / n as f64)).collect()
            }
        };
        cuts.dedup();
        cuts.retain(|cut| *cut > self.low);
        (!cuts.is_empty()).then_some(cuts)
    }

    /// A quantile, interpolated linearly between neighboring values.
    fn quantile(&self, probability: f64) -> f64 {
        let Some(last) = self.sorted.len().checked_sub(1) else { return 0.0 };
        let position = probability * last as f64;
        let below = position.floor() as usize;
        let above = (below + 1).min(last);
        self.sorted[below] + (self.sorted[above] - self.sorted[below]) * (position - below as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(mut values: Vec<f64>) -> NumericSummary {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        NumericSummary {
            mean,
            variance: values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n,
            low: values[0],
            high: values[values.len() - 1],
            sorted: values,
        }
    }

    fn written(step: &NumericStep, x: f64) -> Vec<f64> {
        let mut out = vec![9.0; step.width()];
        step.write(x, &mut out);
        out
    }

    #[test]
    fn missing_values_are_imputed_then_scaled() {
        let recipe =
            Recipe::default().with("impute=median").unwrap().with("scale=standard").unwrap();

        let step = summary(vec![1.0, 2.0, 6.0]).step(&recipe);

        // Median 2, mean 3, variance (4 + 1 + 9) / 3.
        assert_eq!(written(&step, f64::NAN), [-1.0 / (14f64 / 3.0).sqrt()]);
        assert_eq!(written(&step, 3.0), [0.0]);
    }

    #[test]
    fn bins_include_their_lower_edge() {
        let recipe = Recipe::default().with("bins=equal-width:2").unwrap();

        let step = summary(vec![0.0, 10.0]).step(&recipe);

        assert_eq!(step.names("x"), ["x<5", "x>=5"]);
        assert_eq!(written(&step, 4.9), [1.0, 0.0]);
        assert_eq!(written(&step, 5.0), [0.0, 1.0]);
        assert_eq!(written(&step, 1e9), [0.0, 1.0]);
    }

    #[test]
    fn equal_frequency_bins_hold_equally_many_values() {
        let recipe = Recipe::default().with("bins=equal-frequency:4").unwrap();
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * i)).collect();

        let step = summary(values.clone()).step(&recipe);

        let mut counts = [0; 4];
        for x in values {
            let bin = written(&step, x).iter().position(|v| *v == 1.0).unwrap();
            counts[bin] += 1;
        }
        assert_eq!(counts, [25; 4]);
    }

    #[test]
    fn a_constant_column_becomes_zero() {
        let recipe = Recipe::default().with("scale=min-max").unwrap();

        let step = summary(vec![7.0, 7.0]).step(&recipe);

        assert_eq!(written(&step, 7.0), [0.0]);
    }

    #[test]
    fn unknown_options_are_refused_with_the_allowed_ones() {
        let error = Recipe::default().with("scale=log").unwrap_err().to_string();

        assert!(error.contains("standard or min-max"), "{error}");
    }
}
