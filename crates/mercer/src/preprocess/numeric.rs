//! The step of a numeric column: imputation, discretization, power transform and scaling.
//!
//! The Yeo-Johnson transform (Yeo & Johnson, 2000) of a value x with the exponent λ is
//! `((x+1)^λ - 1) / λ` for x >= 0 and `-((1-x)^(2-λ) - 1) / (2-λ)` for x < 0, with logarithms in the limits λ = 0 and
//! λ = 2. λ maximizes the likelihood of a Gaussian of the transformed values,
//! `-n/2 log variance + (λ-1) Σ sign(x) log(|x|+1)`.

use super::recipe::{Discretize, Impute, MissingIndicator, NumericValues, Power, Recipe, Scale};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The bins of a column whose values the estimator cannot read.
const DEFAULT_BINS: Discretize = Discretize::EqualFrequency(10);

/// The fitted step of a numeric column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumericStep {
    /// The value that replaces a missing value.
    pub fill: Option<f64>,
    /// The cut points of the bins: bin `k` holds values `cuts[k-1] <= x < cuts[k]`. `None` without discretization.
    pub cuts: Option<Vec<f64>>,
    /// The exponent of the Yeo-Johnson transform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
    /// The shift that is subtracted and the scale that the difference is divided by.
    pub scale: Option<(f64, f64)>,
    /// Whether a last feature is one where the value is missing and zero elsewhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub indicator: bool,
    /// Whether a negative result is set to zero.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nonnegative: bool,
    /// Whether a bin is encoded as its index instead of one-hot.
    #[serde(default)]
    pub as_code: bool,
}

impl NumericStep {
    /// The number of features.
    pub fn width(&self) -> usize {
        self.value_width() + usize::from(self.indicator)
    }

    /// The number of features of a value, without the missing indicator.
    pub fn value_width(&self) -> usize {
        self.cuts.as_ref().filter(|_| !self.as_code).map_or(1, |cuts| cuts.len() + 1)
    }

    /// Writes the features of a value; a missing value that is not imputed is NaN in all of them but the indicator.
    pub fn write(&self, x: f64, out: &mut [f64]) {
        let n = self.value_width();
        if self.indicator {
            out[n] = f64::from(u8::from(x.is_nan()));
        }
        let out = &mut out[..n];
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
                let x = self.power.map_or(x, |lambda| yeo_johnson(x, lambda));
                let x = self.scale.map_or(x, |(shift, spread)| (x - shift) / spread);
                // Written so that NaN stays NaN.
                out[0] = if self.nonnegative && x < 0.0 { 0.0 } else { x };
            }
        }
    }

    /// The value of its features, up to rounding; `None` if it is discretized.
    pub fn invert(&self, cells: &[f64]) -> Option<f64> {
        let x = *cells.first().filter(|_| self.cuts.is_none() && !self.as_code)?;
        let x = self.scale.map_or(x, |(shift, spread)| x * spread + shift);
        Some(self.power.map_or(x, |lambda| inverse_yeo_johnson(x, lambda)))
    }

    /// The step of values that are smaller by a shift. Used for dates, whose origin is known after the fit only.
    pub(crate) fn shift(&mut self, by: f64) {
        self.fill = self.fill.map(|x| x - by);
        self.scale = self.scale.map(|(shift, spread)| (shift - by, spread));
        if let Some(cuts) = &mut self.cuts {
            cuts.iter_mut().for_each(|cut| *cut -= by);
        }
    }

    /// The names of the features.
    pub fn names(&self, column: &str) -> Vec<String> {
        let indicator = self.indicator.then(|| format!("{column}=(missing)"));
        let Some(cuts) = self.cuts.as_ref().filter(|_| !self.as_code) else {
            return [column.to_owned()].into_iter().chain(indicator).collect();
        };
        let edge = |k: usize| crate::explain::short(cuts[k]);
        (0..=cuts.len())
            .map(|k| match k {
                0 => format!("{column}<{}", edge(0)),
                k if k == cuts.len() => format!("{column}>={}", edge(k - 1)),
                k => format!("{column}={}..{}", edge(k - 1), edge(k)),
            })
            .chain(indicator)
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
            && self.power.is_none_or(f64::is_finite)
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

/// The Yeo-Johnson transform of a value.
fn yeo_johnson(x: f64, lambda: f64) -> f64 {
    // Of magnitude m: ((m+1)^p - 1) / p, as expm1(p log1p(m)) / p, which is exact for small p too.
    let branch = |m: f64, p: f64| {
        let log = m.ln_1p();
        if p == 0.0 { log } else { (p * log).exp_m1() / p }
    };
    if x >= 0.0 { branch(x, lambda) } else { -branch(-x, 2.0 - lambda) }
}

/// The value of a Yeo-Johnson transform.
fn inverse_yeo_johnson(y: f64, lambda: f64) -> f64 {
    let branch =
        |m: f64, p: f64| if p == 0.0 { m.exp_m1() } else { ((p * m).ln_1p() / p).exp_m1() };
    if y >= 0.0 { branch(y, lambda) } else { -branch(-y, 2.0 - lambda) }
}

/// The range of exponents that are searched.
const POWER_RANGE: (f64, f64) = (-4.0, 6.0);
/// Steps of the golden section search; each shortens the interval by 0.618.
const POWER_STEPS: usize = 60;

/// The exponent of the Yeo-Johnson transform of maximum likelihood, by golden section search; the likelihood has a
/// single maximum.
fn power_of_maximum_likelihood(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let jacobian: f64 = values.iter().map(|x| x.abs().ln_1p().copysign(*x)).sum();
    let log_likelihood = |lambda: f64| {
        let (_, variance) = mean_and_variance(values.iter().map(|x| yeo_johnson(*x, lambda)));
        if variance > 0.0 && variance.is_finite() {
            -0.5 * n * variance.ln() + (lambda - 1.0) * jacobian
        } else {
            f64::NEG_INFINITY
        }
    };
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = POWER_RANGE;
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (log_likelihood(a), log_likelihood(b));
    for _ in 0..POWER_STEPS {
        if at_a >= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = log_likelihood(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = log_likelihood(b);
        }
    }
    0.5 * (low + high)
}

fn mean_and_variance(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / n;
    (mean, values.map(|x| (x - mean).powi(2)).sum::<f64>() / n)
}

/// The statistics of a numeric column that its step is computed from.
pub(crate) struct NumericSummary {
    pub mean: f64,
    pub variance: f64,
    pub low: f64,
    pub high: f64,
    /// Whether some values are missing.
    pub any_missing: bool,
    /// The sorted values, if the recipe needs them.
    pub sorted: Vec<f64>,
}

impl NumericSummary {
    /// The step of a recipe for this column.
    pub fn step(&self, recipe: &Recipe) -> NumericStep {
        let fill = match recipe.impute {
            Impute::Auto | Impute::Keep => None,
            Impute::Mean => Some(self.mean),
            Impute::Median => Some(self.quantile(0.5)),
            Impute::MostFrequent => Some(self.mode()),
            Impute::Constant(x) => Some(x),
        };
        let discretize = match (recipe.discretize, recipe.values) {
            (Discretize::Keep, NumericValues::Counts) if self.low < 0.0 => DEFAULT_BINS,
            (Discretize::Keep, NumericValues::Presence) if self.low != 0.0 => DEFAULT_BINS,
            (discretize, _) => discretize,
        };
        let cuts = self.cuts(discretize);
        // The values of a column that cannot be discretized, because all are equal, carry no information.
        let power = match recipe.power {
            Power::YeoJohnson if cuts.is_none() && self.low < self.high => {
                Some(power_of_maximum_likelihood(&self.sorted))
            }
            _ => None,
        };
        let scale = match (power, recipe.scale) {
            (Some(lambda), Scale::Auto | Scale::Keep | Scale::Standard) => {
                let transformed = self.sorted.iter().map(|x| yeo_johnson(*x, lambda));
                let (mean, variance) = mean_and_variance(transformed);
                Some((mean, variance.sqrt()))
            }
            (_, Scale::Auto | Scale::Keep) => None,
            (None, Scale::Standard) => Some((self.mean, self.variance.sqrt())),
            (_, Scale::MinMax) => {
                let at = |x| power.map_or(x, |lambda| yeo_johnson(x, lambda));
                Some((at(self.low), at(self.high) - at(self.low)))
            }
            (_, Scale::Robust) => {
                let at = |p| {
                    power.map_or_else(|| self.quantile(p), |l| yeo_johnson(self.quantile(p), l))
                };
                Some((at(0.5), at(0.75) - at(0.25)))
            }
        }
        // A constant column is shifted only.
        .map(|(shift, spread)| (shift, if spread > 0.0 { spread } else { 1.0 }));
        let scale = scale.filter(|_| cuts.is_none());
        NumericStep {
            fill,
            cuts,
            power,
            scale,
            indicator: self.any_missing && recipe.missing == MissingIndicator::Indicator,
            nonnegative: recipe.values != NumericValues::Real,
            as_code: recipe.bins_as_codes && recipe.discretize != Discretize::Keep,
        }
    }

    /// The most frequent value, the smallest of several.
    fn mode(&self) -> f64 {
        let (mut mode, mut longest, mut length) = (0.0, 0, 0);
        let mut last = f64::NAN;
        for x in &self.sorted {
            length = if *x == last { length + 1 } else { 1 };
            last = *x;
            if length > longest {
                (mode, longest) = (*x, length);
            }
        }
        mode
    }

    fn cuts(&self, discretize: Discretize) -> Option<Vec<f64>> {
        let mut cuts: Vec<f64> = match discretize {
            Discretize::Keep => return None,
            Discretize::EqualWidth(n) => {
                let width = (self.high - self.low) / n as f64;
                (1..n).map(|k| self.low + width * k as f64).collect()
            }
            Discretize::EqualFrequency(n) => equal_frequency_cuts(&self.sorted, n),
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

/// Cut points between bins of about equally many values. A value that fills a bin alone, as the zeros of a column that
/// is mostly zero do, is a bin of its own, and the other bins divide the rest.
fn equal_frequency_cuts(sorted: &[f64], n_bins: usize) -> Vec<f64> {
    let runs: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).collect();
    let (mut n_rest, mut bins_left, mut frequent) = (sorted.len(), n_bins, vec![false; runs.len()]);
    let mut by_length: Vec<usize> = (0..runs.len()).collect();
    by_length.sort_by_key(|k| std::cmp::Reverse(runs[*k].len()));
    // Without the frequent values the bins are smaller, so that further values fill one.
    for k in by_length {
        if bins_left == 1 || runs[k].len() * bins_left <= n_rest {
            break;
        }
        frequent[k] = true;
        n_rest -= runs[k].len();
        bins_left -= 1;
    }
    let (mut cuts, mut n_below, mut n_cuts) = (Vec::new(), 0, 1);
    for k in 1..runs.len() {
        let mut ends = frequent[k - 1] || frequent[k];
        if !frequent[k - 1] {
            n_below += runs[k - 1].len();
            // The cut of the bins so far is at or below the values seen.
            while n_cuts < bins_left && n_below * bins_left >= n_cuts * n_rest {
                ends = true;
                n_cuts += 1;
            }
        }
        if ends {
            let (below, above) = (runs[k - 1][0], runs[k][0]);
            let middle = below + 0.5 * (above - below);
            cuts.push(if middle > below { middle } else { above });
        }
    }
    cuts
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
            any_missing: false,
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
    fn a_frequent_value_is_a_bin_of_its_own() {
        let recipe = Recipe::default().with("bins=equal-frequency:5").unwrap();
        let values = [vec![0.0; 90], (1..=8).map(f64::from).collect()].concat();

        let step = summary(values).step(&recipe);

        assert_eq!(step.cuts.unwrap(), [0.5, 2.5, 4.5, 6.5]);
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

        assert!(error.contains("standard, robust, min-max or none"), "{error}");
    }
}
