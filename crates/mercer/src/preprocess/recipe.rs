//! The preprocessing recipe: what the user wants done to the columns before the fit.

use super::{FeatureMapRecipe, TextRecipe};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The preprocessing of a table. Categorical columns are encoded; numeric columns are imputed, discretized and
/// scaled, in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The encoding of categorical columns.
    pub categories: CategoryEncoding,
    /// The imputation of missing numeric values.
    pub impute: Impute,
    /// The discretization of numeric columns.
    pub discretize: Discretize,
    /// The scaling of numeric columns.
    pub scale: Scale,
    /// The vectorization of text columns.
    pub text: TextRecipe,
    /// Whether a bin is encoded as its code instead of one-hot, for estimators that read codes.
    pub bins_as_codes: bool,
    /// The kernel map of the encoded columns.
    #[serde(default)]
    pub map: Option<FeatureMapRecipe>,
}

/// The encoding of categorical columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CategoryEncoding {
    /// One-hot if there are no numeric columns; dropped otherwise, unless the estimator reads categories.
    #[default]
    Auto,
    /// One indicator column per level.
    OneHot,
    /// The column is dropped.
    Drop,
}

/// The imputation of missing numeric values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impute {
    /// They stay missing.
    #[default]
    Keep,
    /// The mean of the column.
    Mean,
    /// The median of the column.
    Median,
    /// A constant.
    Constant(f64),
}

/// The scaling of numeric columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// None.
    #[default]
    Keep,
    /// Standardization: mean zero and variance one.
    Standard,
    /// To the range from zero to one (min-max scaling).
    MinMax,
}

/// The discretization of numeric columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discretize {
    /// None.
    #[default]
    Keep,
    /// This many bins of equal width.
    EqualWidth(usize),
    /// This many bins of equal frequency.
    EqualFrequency(usize),
}

impl Recipe {
    /// Adds a step written as `impute=mean`, `impute=median`, `impute=0`, `scale=standard`,
    /// `scale=min-max`, `bins=equal-width:10`, `bins=equal-frequency:10`, `categories=one-hot` or
    /// `categories=drop`; for columns of text as `text=counts`, `text=binary`, `text=tf-idf` or
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
            "categories" => {
                self.categories = match value {
                    "one-hot" => CategoryEncoding::OneHot,
                    "drop" => CategoryEncoding::Drop,
                    _ => return Err(refuse("categories", "one-hot or drop")),
                }
            }
            _ => match self.text.set(name, value) {
                Some(set) => set?,
                None => {
                    let expected = "impute=…, scale=…, bins=…, categories=…, or for text columns text=…, tf=…, \
                                    idf=…, norm=…, terms=…, pattern=…, ngrams=…, case=…, accents=…, \
                                    stop-words=…, stem=…, min-df=…, max-df=…, max-terms=…, hash=… \
                                    or hash-sign=…";
                    return Err(refuse("prepare", expected));
                }
            },
        }
        Ok(self)
    }

    /// The recipe for an estimator that reads category codes only: numeric columns are discretized, by default into ten
    /// bins of equal frequency.
    #[must_use]
    pub fn for_codes(mut self) -> Recipe {
        self.bins_as_codes = true;
        if self.discretize == Discretize::Keep {
            self.discretize = Discretize::EqualFrequency(10);
        }
        self
    }

    /// The same recipe, with the features of the kernel map after the encoded columns instead of in their place.
    ///
    /// # Errors
    /// As [`FeatureMapRecipe::appended`].
    pub fn appended(mut self) -> Result<Recipe> {
        self.map = self.map.map(FeatureMapRecipe::appended).transpose()?;
        Ok(self)
    }

    /// The recipe for an estimator that reads category codes and numeric columns: the bins of a discretized column are
    /// the categories of one column, because indicators of the bins would not be independent given the class.
    #[must_use]
    pub fn for_mixed(mut self) -> Recipe {
        self.bins_as_codes = self.map.is_none();
        self
    }

    /// The recipe with a kernel map as its last step; for the syntax see [`FeatureMapRecipe::parse`]. A kernel weights
    /// all columns equally: unless the recipe scales numeric columns, they are standardized, or scaled to the range
    /// from zero to one for a map of nonnegative features.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what is allowed.
    pub fn mapped(mut self, map: &str) -> Result<Recipe> {
        let map = FeatureMapRecipe::parse(map)?;
        if self.scale == Scale::Keep && self.discretize == Discretize::Keep {
            self.scale = if map.needs_nonnegative() { Scale::MinMax } else { Scale::Standard };
        }
        self.map = Some(map);
        Ok(self)
    }

    /// Whether numeric columns must be read before they can be encoded.
    pub fn needs_fit(&self) -> bool {
        let free = self.clone();
        *self
            != Recipe {
                categories: free.categories,
                text: free.text,
                map: free.map,
                ..Recipe::default()
            }
    }

    /// Whether the values of a column must be stored to compute its median or quantiles.
    pub(crate) fn needs_values(&self) -> bool {
        self.impute == Impute::Median || matches!(self.discretize, Discretize::EqualFrequency(_))
    }
}
