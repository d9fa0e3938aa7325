//! What is done to a column before an estimator sees it, by the user's wish.

use super::{FeatureMapRecipe, TextRecipe};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// What is done to the columns: words first, then every numeric column in this order: fill gaps,
/// cut into bins, scale.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// What columns of words become.
    pub words: CategoryEncoding,
    /// What stands in for a missing number.
    pub impute: Impute,
    /// Whether numbers become bins.
    pub discretize: Discretize,
    /// How numbers are scaled.
    pub scale: Scale,
    /// What columns of text become.
    pub text: TextRecipe,
    /// Whether bins are written as codes, for estimators that read codes.
    pub bins_as_codes: bool,
    /// What all columns go through together, last.
    #[serde(default)]
    pub map: Option<FeatureMapRecipe>,
}

/// What columns of words become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CategoryEncoding {
    /// Indicators where the estimator can make sense of them, nothing elsewhere.
    #[default]
    Auto,
    /// One zero-or-one column a word.
    OneHot,
    /// Nothing.
    Drop,
}

/// What stands in for a missing number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impute {
    /// It stays missing.
    #[default]
    Keep,
    /// The mean of the column.
    Mean,
    /// The middle value of the column.
    Median,
    /// A number of the user's.
    Constant(f64),
}

/// How numbers are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// As they are.
    #[default]
    Keep,
    /// To mean zero and variance one.
    Standard,
    /// To the range from zero to one.
    MinMax,
}

/// Whether numbers become bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discretize {
    /// They stay numbers.
    #[default]
    Keep,
    /// This many bins of equal width.
    EqualWidth(usize),
    /// This many bins of equal weight.
    EqualFrequency(usize),
}

impl Recipe {
    /// Adds a step written as `impute=mean`, `impute=median`, `impute=0`, `scale=standard`,
    /// `scale=min-max`, `bins=equal-width:10`, `bins=equal-frequency:10`, `words=indicators` or
    /// `words=ignore`; for columns of text as `text=counts`, `text=binary`, `text=tf-idf` or
    /// `text=lecture`, or by their parts: `tf=`, `idf=`, `norm=`, `terms=`, `pattern=`, `ngrams=1-2`,
    /// `case=`, `accents=`, `stop-words=english`, `stem=english`, `min-df=2`, `max-df=0.5`,
    /// `max-terms=50000`, `hash=262144` or `hash=2^18`, `hash-sign=alternate`.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what is allowed.
    pub fn with(mut self, step: &str) -> Result<Recipe> {
        let refuse = |name: &str, expected: &str| Error::Parameter {
            name: name.to_owned(),
            found: format!("`{step}`"),
            expected: expected.to_owned(),
        };
        let (name, value) = step.split_once('=').unwrap_or((step, ""));
        match name {
            "impute" => {
                self.impute = match value {
                    "mean" => Impute::Mean,
                    "median" => Impute::Median,
                    number => match number.parse::<f64>() {
                        Ok(x) if x.is_finite() => Impute::Constant(x),
                        _ => return Err(refuse("impute", "mean, median or a number")),
                    },
                }
            }
            "scale" => {
                self.scale = match value {
                    "standard" => Scale::Standard,
                    "min-max" => Scale::MinMax,
                    _ => return Err(refuse("scale", "standard or min-max")),
                }
            }
            "bins" => {
                let expected = "equal-width:N or equal-frequency:N with N from 2 to 1000";
                let (rule, n) = value.split_once(':').unwrap_or((value, "10"));
                let n = n.parse().ok().filter(|n| (2..=1000).contains(n));
                self.discretize = match (rule, n) {
                    ("equal-width", Some(n)) => Discretize::EqualWidth(n),
                    ("equal-frequency", Some(n)) => Discretize::EqualFrequency(n),
                    _ => return Err(refuse("bins", expected)),
                }
            }
            "words" => {
                self.words = match value {
                    "indicators" => CategoryEncoding::OneHot,
                    "ignore" => CategoryEncoding::Drop,
                    _ => return Err(refuse("words", "indicators or ignore")),
                }
            }
            _ => match self.text.set(name, value) {
                Some(set) => set?,
                None => {
                    let expected = "impute=…, scale=…, bins=…, words=…, or for texts text=…, tf=…, \
                                    idf=…, norm=…, terms=…, pattern=…, ngrams=…, case=…, accents=…, \
                                    stop-words=…, stem=…, min-df=…, max-df=…, max-terms=…, hash=… \
                                    or hash-sign=…";
                    return Err(refuse("prepare", expected));
                }
            },
        }
        Ok(self)
    }

    /// The recipe for an estimator that reads codes and nothing else: numbers become bins, tenths of
    /// the rows where the recipe is silent.
    #[must_use]
    pub fn for_codes(mut self) -> Recipe {
        self.bins_as_codes = true;
        if self.discretize == Discretize::Keep {
            self.discretize = Discretize::EqualFrequency(10);
        }
        self
    }

    /// The recipe with a kernel map at its end, written as in [`FeatureMapRecipe::parse`]. Where the recipe is
    /// silent about the scale of numbers they are standardized, or, for a map that wants numbers of at least
    /// zero, brought to the range from zero to one: a kernel weighs all columns alike.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what is allowed.
    pub fn mapped(mut self, asked: &str) -> Result<Recipe> {
        let map = FeatureMapRecipe::parse(asked)?;
        if self.scale == Scale::Keep && self.discretize == Discretize::Keep {
            self.scale = if map.needs_nonnegative() { Scale::MinMax } else { Scale::Standard };
        }
        self.map = Some(map);
        Ok(self)
    }

    /// Whether columns must be looked at before they can be prepared.
    pub fn needs_a_look(&self) -> bool {
        let free = self.clone();
        *self != Recipe { words: free.words, text: free.text, map: free.map, ..Recipe::default() }
    }

    /// Whether whole columns must be kept to find their middle or their bins.
    pub(crate) fn needs_values(&self) -> bool {
        self.impute == Impute::Median || matches!(self.discretize, Discretize::EqualFrequency(_))
    }
}
