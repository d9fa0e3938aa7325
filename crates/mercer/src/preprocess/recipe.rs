//! The preprocessing recipe: what the user wants done to the columns before the fit.

use super::{FeatureMapRecipe, TextRecipe};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The preprocessing of a table. Categorical columns are encoded; numeric columns are imputed, discretized,
/// transformed and scaled, in this order. Options that are `Auto` are decided by what the estimator needs
/// ([`recipe_for`](crate::train::recipe_for)); undecided, they leave the values as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The encoding of categorical columns.
    pub categories: CategoryEncoding,
    /// The imputation of missing numeric values.
    pub impute: Impute,
    /// The indicator features of missing numeric values.
    pub missing: MissingIndicator,
    /// The discretization of numeric columns.
    pub discretize: Discretize,
    /// The power transform of numeric columns.
    pub power: Power,
    /// The scaling of numeric columns.
    pub scale: Scale,
    /// The scaling of the regression target.
    pub target: TargetScale,
    /// The values that the estimator accepts for a numeric column.
    pub values: NumericValues,
    /// The vectorization of text columns.
    pub text: TextRecipe,
    /// Whether a bin is encoded as its code instead of one-hot, for estimators that read codes.
    pub bins_as_codes: bool,
    /// Whether terms of texts are stored as dense columns, for estimators that read codes.
    pub dense_text: bool,
    /// The kernel map of the encoded columns.
    #[serde(default)]
    pub map: Option<FeatureMapRecipe>,
}

/// The encoding of categorical columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CategoryEncoding {
    /// Category codes for estimators that read categories, one-hot encoding for all others.
    #[default]
    Auto,
    /// One indicator column per level; rare levels of a column with many levels share indicators.
    OneHot,
    /// This many indicator columns; the hash of a level decides which of them it belongs to.
    Hash(u32),
    /// The column is dropped.
    Drop,
}

/// The imputation of missing numeric values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impute {
    /// The median, unless the estimator takes missing values.
    #[default]
    Auto,
    /// They stay missing.
    Keep,
    /// The mean of the column.
    Mean,
    /// The median of the column.
    Median,
    /// The most frequent value of the column, the smallest of several.
    MostFrequent,
    /// A constant.
    Constant(f64),
}

/// The indicator features of missing numeric values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingIndicator {
    /// One if the values are imputed.
    #[default]
    Auto,
    /// None.
    Keep,
    /// A feature that is one where the value is missing, for columns with missing values in the training rows.
    Indicator,
}

/// The power transform of numeric columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// None.
    #[default]
    Keep,
    /// The Yeo-Johnson transform with the exponent of maximum likelihood, then standardization.
    YeoJohnson,
}

/// The scaling of numeric columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Standardization if the model depends on the scale of the features.
    #[default]
    Auto,
    /// None.
    Keep,
    /// Standardization: mean zero and variance one.
    Standard,
    /// To the range from zero to one (min-max scaling).
    MinMax,
    /// Robust scaling: median zero and interquartile range one.
    Robust,
}

/// The scaling of the regression target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetScale {
    /// Standardization if parameters of the estimator depend on the scale of the target.
    #[default]
    Auto,
    /// None.
    Keep,
    /// Standardization during the fit; predictions are in the original units.
    Standard,
}

/// The values that an estimator accepts for a numeric column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumericValues {
    /// All real numbers.
    #[default]
    Real,
    /// Counts: a column with negative values is discretized.
    Counts,
    /// Zero or not: a column without zeros is discretized, since all its values would be equal.
    Presence,
    /// Nonnegative numbers: a scaled value below the range of the training rows is set to zero.
    Nonnegative,
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

impl Impute {
    /// The replacement by its name, or a constant.
    fn parse(text: &str) -> Option<Impute> {
        Some(match text {
            "none" => Impute::Keep,
            "mean" => Impute::Mean,
            "median" => Impute::Median,
            "most-frequent" => Impute::MostFrequent,
            number => Impute::Constant(number.parse().ok().filter(|x: &f64| x.is_finite())?),
        })
    }
}

impl Recipe {
    /// Adds a step written as `impute=mean`, `impute=median`, `impute=most-frequent`, `impute=0`, `impute=none`,
    /// `missing=indicator`, `missing=none`, `scale=standard`, `scale=robust`, `scale=min-max`, `scale=none`,
    /// `power=yeo-johnson`, `power=none`, `target=standard`, `target=none`, `bins=equal-width:10`,
    /// `bins=equal-frequency:10`, `categories=one-hot`, `categories=hash:64` or `categories=drop`; for columns of
    /// text as `text=counts`, `text=binary`, `text=tf-idf` or `text=lecture`, or by their parts: `tf=`, `idf=`,
    /// `norm=`, `terms=`, `pattern=`, `ngrams=1-2`, `case=`, `accents=`, `stop-words=english`, `stem=english`,
    /// `min-df=2`, `max-df=0.5`, `max-terms=50000`, `hash=262144` or `hash=2^18`, `hash-sign=alternate`.
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
                let expected = "mean, median, most-frequent, none or a number";
                self.impute = Impute::parse(value).ok_or_else(|| refuse("impute", expected))?;
            }
            "missing" => {
                self.missing = match value {
                    "indicator" => MissingIndicator::Indicator,
                    "none" => MissingIndicator::Keep,
                    _ => return Err(refuse("missing", "indicator or none")),
                }
            }
            "scale" => {
                self.scale = match value {
                    "none" => Scale::Keep,
                    "standard" => Scale::Standard,
                    "robust" => Scale::Robust,
                    "min-max" => Scale::MinMax,
                    _ => return Err(refuse("scale", "standard, robust, min-max or none")),
                }
            }
            "power" => {
                self.power = match value {
                    "none" => Power::Keep,
                    "yeo-johnson" => Power::YeoJohnson,
                    _ => return Err(refuse("power", "yeo-johnson or none")),
                }
            }
            "target" => {
                self.target = match value {
                    "none" => TargetScale::Keep,
                    "standard" => TargetScale::Standard,
                    _ => return Err(refuse("target", "standard or none")),
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
                let expected = "one-hot, hash:N with N from 1 to 65536, or drop";
                let (rule, n) = value.split_once(':').unwrap_or((value, ""));
                let n = n.parse().ok().filter(|n| (1..=65536).contains(n));
                self.categories = match (rule, n) {
                    ("one-hot", None) => CategoryEncoding::OneHot,
                    ("hash", Some(n)) => CategoryEncoding::Hash(n),
                    ("drop", None) => CategoryEncoding::Drop,
                    _ => return Err(refuse("categories", expected)),
                }
            }
            _ => match self.text.set(name, value) {
                Some(set) => set?,
                None => {
                    let expected = "impute=…, missing=…, scale=…, power=…, target=…, bins=…, categories=…, or for \
                                    text columns text=…, tf=…, idf=…, norm=…, terms=…, pattern=…, ngrams=…, \
                                    case=…, accents=…, stop-words=…, stem=…, min-df=…, max-df=…, max-terms=…, \
                                    hash=… or hash-sign=…";
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
        if self.scale == Scale::Auto && self.discretize == Discretize::Keep {
            self.scale = if map.needs_nonnegative() { Scale::MinMax } else { Scale::Standard };
        }
        self.map = Some(map);
        Ok(self)
    }

    /// Whether columns other than text must be read before they can be encoded.
    pub fn needs_fit(&self) -> bool {
        self.needs_numeric_fit() || self.groups_levels()
    }

    /// Whether numeric columns must be read before they can be encoded.
    pub(crate) fn needs_numeric_fit(&self) -> bool {
        self.imputes()
            || self.missing == MissingIndicator::Indicator
            || !matches!(self.scale, Scale::Auto | Scale::Keep)
            || self.power != Power::Keep
            || self.discretize != Discretize::Keep
            || matches!(self.values, NumericValues::Counts | NumericValues::Presence)
    }

    /// Whether missing values are replaced.
    pub fn imputes(&self) -> bool {
        !matches!(self.impute, Impute::Auto | Impute::Keep)
    }

    /// Whether levels share indicators, so that levels must be counted.
    pub(crate) fn groups_levels(&self) -> bool {
        matches!(self.categories, CategoryEncoding::OneHot | CategoryEncoding::Hash(_))
    }

    /// Whether values of a column must be stored to compute its median, its quantiles or its power transform.
    pub(crate) fn needs_values(&self) -> bool {
        matches!(self.impute, Impute::Median | Impute::MostFrequent)
            || matches!(self.discretize, Discretize::EqualFrequency(_))
            || self.scale == Scale::Robust
            || self.power != Power::Keep
            || matches!(self.values, NumericValues::Counts | NumericValues::Presence)
    }
}
