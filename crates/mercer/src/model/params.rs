//! Parameters, declared once.
//!
//! [`params!`](crate::params) takes each parameter's doc comment, type, default and rule, and yields
//! the struct, its `Default`, builder methods, serde, [`Params::check`] and [`Params::SPECS`]: what
//! the command line's `--set`, the Python signature and the reference page are made of.

use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::{self, Debug};

/// The parameters of an estimator.
pub trait Params:
    Clone + Debug + Default + PartialEq + Send + Sync + Serialize + DeserializeOwned
{
    /// The type's name.
    const NAME: &'static str;
    /// What it is, for users.
    const DOC: &'static str;
    /// Its parameters in order.
    const SPECS: &'static [Spec];

    /// Refuses values outside their rules.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first such value.
    fn check(&self) -> Result<()>;
}

/// What is known about one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its name, the same in Rust, on the command line and in Python.
    pub name: &'static str,
    /// What it does, for users.
    pub doc: &'static str,
    /// What it holds.
    pub kind: &'static str,
    /// What it may be.
    pub rule: Rule,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Anything of its type.
    Any,
    /// This or more.
    AtLeast(f64),
    /// More than this.
    Above(f64),
    /// From the first to the second.
    Between(f64, f64),
    /// More than the first and less than the second.
    Inside(f64, f64),
    /// Probabilities that add up to one, or nothing.
    Simplex,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// One of these words, or a formula of them.
    Formula(&'static [&'static str]),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Any => write!(f, "anything"),
            Rule::AtLeast(low) => write!(f, "a number of at least {low}"),
            Rule::Above(low) => write!(f, "a number above {low}"),
            Rule::Between(low, high) => write!(f, "a number from {low} to {high}"),
            Rule::Inside(low, high) => write!(f, "a number above {low} and below {high}"),
            Rule::Simplex => write!(f, "numbers of at least 0 that add up to 1"),
            Rule::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Rule::Formula(words) => {
                write!(f, "one of {}, or a formula as `rbf(gamma=0.1)+2*linear`", words.join(", "))
            }
        }
    }
}

/// A type a parameter can have.
pub trait ParamValue {
    /// What users call the type.
    const KIND: &'static str;

    /// Whether the value obeys a rule.
    fn obeys(&self, rule: Rule) -> bool;
}

impl ParamValue for f64 {
    const KIND: &'static str = "number";

    fn obeys(&self, rule: Rule) -> bool {
        self.is_finite()
            && match rule {
                Rule::AtLeast(low) => *self >= low,
                Rule::Above(low) => *self > low,
                Rule::Between(low, high) => (low..=high).contains(self),
                Rule::Inside(low, high) => low < *self && *self < high,
                Rule::Any | Rule::Simplex | Rule::OneOf(_) | Rule::Formula(_) => true,
            }
    }
}

impl ParamValue for usize {
    const KIND: &'static str = "whole number";

    fn obeys(&self, rule: Rule) -> bool {
        (*self as f64).obeys(rule)
    }
}

impl ParamValue for i64 {
    const KIND: &'static str = "whole number";

    fn obeys(&self, rule: Rule) -> bool {
        (*self as f64).obeys(rule)
    }
}

impl ParamValue for bool {
    const KIND: &'static str = "true or false";

    fn obeys(&self, _rule: Rule) -> bool {
        true
    }
}

impl ParamValue for Vec<f64> {
    const KIND: &'static str = "list of numbers";

    fn obeys(&self, rule: Rule) -> bool {
        match rule {
            Rule::Simplex => {
                self.is_empty()
                    || (self.iter().all(|p| p.is_finite() && *p >= 0.0)
                        && (self.iter().sum::<f64>() - 1.0).abs() <= 1e-8)
            }
            rule => self.iter().all(|p| p.obeys(rule)),
        }
    }
}

impl ParamValue for Option<f64> {
    const KIND: &'static str = "number or nothing";

    fn obeys(&self, rule: Rule) -> bool {
        self.is_none_or(|x| x.obeys(rule))
    }
}

impl ParamValue for Option<usize> {
    const KIND: &'static str = "whole number or nothing";

    fn obeys(&self, rule: Rule) -> bool {
        self.is_none_or(|n| n.obeys(rule))
    }
}

/// One number for all, or one for each.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum OneOrEach {
    /// The same for all.
    One(f64),
    /// In order.
    Each(Vec<f64>),
}

impl ParamValue for OneOrEach {
    const KIND: &'static str = "number or list of numbers";

    fn obeys(&self, rule: Rule) -> bool {
        match self {
            OneOrEach::One(x) => x.obeys(rule),
            OneOrEach::Each(v) => v.obeys(rule),
        }
    }
}

impl From<f64> for OneOrEach {
    fn from(x: f64) -> Self {
        OneOrEach::One(x)
    }
}

/// Sets one parameter from JSON.
///
/// # Errors
/// If there is no such parameter or the value does not fit.
pub fn set<P: Params>(params: &P, name: &str, value: Value) -> Result<P> {
    let Some(spec) = P::SPECS.iter().find(|s| s.name == name) else {
        return Err(Error::UnknownParameter {
            estimator: P::NAME.to_owned(),
            name: name.to_owned(),
            known: P::SPECS.iter().map(|s| s.name).collect::<Vec<_>>().join(", "),
        });
    };
    let found = value.to_string();
    let refuse = |why: serde_json::Error| Error::Parameter {
        name: name.to_owned(),
        found,
        expected: match spec.rule {
            Rule::Any => format!("a {}", spec.kind),
            Rule::Formula(_) => format!("{} ({why})", spec.rule),
            rule => rule.to_string(),
        },
    };
    let mut all = serde_json::to_value(params).map_err(|e| Error::File(e.to_string()))?;
    all[name] = value;
    let params: P = serde_json::from_value(all).map_err(refuse)?;
    params.check()?;
    Ok(params)
}

/// Declares the parameters of an estimator. See [`Params`] for what it yields.
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $doc:literal])+
        pub struct $Name:ident {
            $(
                $(#[doc = $field_doc:literal])+
                $field:ident: $Type:ty = $default:expr, $rule:expr;
            )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        // Names are those of the literature: `C` is one.
        #[allow(non_snake_case)]
        pub struct $Name {
            $($(#[doc = $field_doc])+ pub $field: $Type,)*
        }

        impl Default for $Name {
            fn default() -> Self {
                $Name { $($field: $default),* }
            }
        }

        // Not every builder is called in every crate.
        #[allow(dead_code, non_snake_case)]
        impl $Name {
            /// The defaults.
            pub fn new() -> Self {
                Self::default()
            }

            $($(#[doc = $field_doc])+
            #[must_use]
            pub fn $field(mut self, $field: $Type) -> Self {
                self.$field = $field;
                self
            })*
        }

        impl $crate::model::Params for $Name {
            const NAME: &'static str = stringify!($Name);
            const DOC: &'static str = concat!($($doc, "\n"),+);
            const SPECS: &'static [$crate::model::Spec] = {
                use $crate::model::Rule::*;
                &[$($crate::model::Spec {
                    name: stringify!($field),
                    doc: concat!($($field_doc, "\n"),+),
                    kind: <$Type as $crate::model::ParamValue>::KIND,
                    rule: $rule,
                }),*]
            };

            fn check(&self) -> $crate::Result<()> {
                use $crate::model::Rule::*;
                $(if !$crate::model::ParamValue::obeys(&self.$field, $rule) {
                    return Err($crate::Error::Parameter {
                        name: stringify!($field).to_owned(),
                        found: format!("{:?}", self.$field),
                        expected: $rule.to_string(),
                    });
                })*
                Ok(())
            }
        }
    };
}

/// Declares a parameter type that is one of a few words; what follows a bar is read as the same.
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:literal])+
        pub enum $Name:ident {
            $($(#[doc = $arm_doc:literal])+ $Arm:ident = $word:literal $(| $other:literal)*),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $Name {
            $($(#[doc = $arm_doc])+ #[serde(rename = $word $(, alias = $other)*)] $Arm),+
        }

        impl $Name {
            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl $crate::model::ParamValue for $Name {
            const KIND: &'static str = "word";

            fn obeys(&self, _rule: $crate::model::Rule) -> bool {
                true
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    params! {
        /// A test.
        pub struct Sample {
            /// How hard.
            strength: f64 = 1.0, Above(0.0);
            /// How often.
            times: usize = 3, AtLeast(1.0);
            /// Shares.
            shares: Vec<f64> = Vec::new(), Simplex;
        }
    }

    #[test]
    fn parameters_are_set_by_name() {
        let params = set(&Sample::new(), "strength", json!(2.5)).unwrap();

        assert_eq!(params, Sample::new().strength(2.5));
        assert_eq!(Sample::SPECS[0].doc.trim(), "How hard.");
    }

    #[test]
    fn unknown_names_wrong_types_and_broken_rules_are_refused() {
        let error = |name, value| set(&Sample::new(), name, value).unwrap_err();

        assert!(error("strenght", json!(1)).to_string().contains("strength, times, shares"));
        assert!(matches!(error("times", json!(1.5)), Error::Parameter { .. }));
        assert!(matches!(error("strength", json!(0.0)), Error::Parameter { .. }));
        assert!(matches!(error("shares", json!([0.5, 0.6])), Error::Parameter { .. }));
    }
}
