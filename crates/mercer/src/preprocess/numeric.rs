//! A numeric column's way to features: fill gaps, cut into bins, scale.

use super::recipe::{Discretize, Impute, Recipe, Scale};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// What happens to the numbers of one column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumericStep {
    /// Stands in for a missing number.
    pub fill: Option<f64>,
    /// Bin `k` holds numbers from `cuts[k-1]` up to but not `cuts[k]`; without cuts, a number stays
    /// one.
    pub cuts: Option<Vec<f64>>,
    /// Taken away, then divided by.
    pub scale: Option<(f64, f64)>,
    /// Whether a bin is written as its place among the bins, not as an indicator each.
    #[serde(default)]
    pub as_code: bool,
}

impl NumericStep {
    /// How many features come out.
    pub fn width(&self) -> usize {
        self.cuts.as_ref().filter(|_| !self.as_code).map_or(1, |cuts| cuts.len() + 1)
    }

    /// Writes the features of a number; a gap that stays one is NaN everywhere.
    pub fn write(&self, x: f64, out: &mut [f64]) {
        let x = if x.is_nan() { self.fill.unwrap_or(x) } else { x };
        match &self.cuts {
            Some(_) if x.is_nan() => out.fill(f64::NAN),
            Some(cuts) if self.as_code => {
                out[0] = cuts.partition_point(|cut| *cut <= x) as f64;
            }
            // All numbers in one bin: there was nothing to cut.
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

    /// Names the features of a column.
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

    /// Refuses a step that no recipe could have made.
    pub(crate) fn check(&self) -> Result<()> {
        let fits = self.fill.is_none_or(f64::is_finite)
            && self.scale.is_none_or(|(a, b)| a.is_finite() && b.is_finite() && b > 0.0)
            && self.cuts.iter().all(|c| {
                !c.is_empty() && c.iter().all(|x| x.is_finite()) && c.is_sorted_by(|a, b| a < b)
            });
        if fits { Ok(()) } else { Err(Error::File("a preparation step that cannot be".into())) }
    }
}

/// What a look at a column found.
pub(crate) struct Look {
    pub mean: f64,
    pub variance: f64,
    pub low: f64,
    pub high: f64,
    /// The numbers in order, where the recipe needs them.
    pub sorted: Vec<f64>,
}

impl Look {
    /// The steps a recipe asks for on this column.
    pub fn steps(&self, recipe: &Recipe) -> NumericStep {
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
        // A constant column has nothing to scale.
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

    /// The value below which a share of the column lies, between neighbors in proportion.
    fn quantile(&self, share: f64) -> f64 {
        let Some(last) = self.sorted.len().checked_sub(1) else { return 0.0 };
        let place = share * last as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(last);
        self.sorted[below] + (self.sorted[above] - self.sorted[below]) * (place - below as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(mut values: Vec<f64>) -> Look {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        Look {
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
    fn gaps_are_filled_then_scaled() {
        let recipe =
            Recipe::default().with("impute=median").unwrap().with("scale=standard").unwrap();

        let step = look(vec![1.0, 2.0, 6.0]).steps(&recipe);

        // Median 2, mean 3, variance (4 + 1 + 9) / 3.
        assert_eq!(written(&step, f64::NAN), [-1.0 / (14f64 / 3.0).sqrt()]);
        assert_eq!(written(&step, 3.0), [0.0]);
    }

    #[test]
    fn bins_hold_their_lower_edge() {
        let recipe = Recipe::default().with("bins=equal-width:2").unwrap();

        let step = look(vec![0.0, 10.0]).steps(&recipe);

        assert_eq!(step.names("x"), ["x<5", "x>=5"]);
        assert_eq!(written(&step, 4.9), [1.0, 0.0]);
        assert_eq!(written(&step, 5.0), [0.0, 1.0]);
        assert_eq!(written(&step, 1e9), [0.0, 1.0]);
    }

    #[test]
    fn equal_frequency_bins_hold_equal_shares() {
        let recipe = Recipe::default().with("bins=equal-frequency:4").unwrap();
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * i)).collect();

        let step = look(values.clone()).steps(&recipe);

        let mut counts = [0; 4];
        for x in values {
            let bin = written(&step, x).iter().position(|v| *v == 1.0).unwrap();
            counts[bin] += 1;
        }
        assert_eq!(counts, [25; 4]);
    }

    #[test]
    fn a_constant_column_is_left_alone() {
        let recipe = Recipe::default().with("scale=min-max").unwrap();

        let step = look(vec![7.0, 7.0]).steps(&recipe);

        assert_eq!(written(&step, 7.0), [0.0]);
    }

    #[test]
    fn unknown_steps_are_refused_with_what_is_allowed() {
        let error = Recipe::default().with("scale=log").unwrap_err().to_string();

        assert!(error.contains("standard or min-max"), "{error}");
    }
}
