//! Parameters, declared once.
//!
//! [`params!`](crate::params) takes the doc comment, type, default and allowed values of each parameter
//! and writes the struct, its `Default`, builder methods, serde, [`Params::check`] and [`Params::SPECS`],
//! from which the CLI's `--set`, the Python signature and the reference page are made. Parameters that
//! several estimators share come from [groups](crate::param_group), so that the same parameter has
//! one text.

pub mod attributes;
mod groups;
pub mod sklearn;

pub use self::attributes::Attribute;
pub use self::sklearn::Sklearn;
use crate::error::{Error, Result};
use crate::model::tree::{Tree, TreeError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;

pub(crate) use groups::{AlphaParam, FitIntercept, ForceAlpha, PriorParams, Priors, RandomState};

/// The parameters of an estimator.
pub trait Params:
    Clone + Debug + Default + PartialEq + Send + Sync + Serialize + DeserializeOwned
{
    /// The name of the type.
    const NAME: &'static str;
    /// The description of the estimator, for users.
    const DOC: &'static str;
    /// What a fit computes, as a formula.
    const FORMULA: &'static str;
    /// The parameters in order.
    const SPECS: &'static [Spec];
    /// The number of the lecture that explains the estimator; 0 for none.
    const LECTURE: usize;
    /// The documented attributes of the fitted model.
    const ATTRIBUTES: &'static [Attribute];
    /// How the parameters of scikit-learn's class of the same name differ.
    const SKLEARN: Sklearn;

    /// Refuses values that are not allowed.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first such value.
    fn check(&self) -> Result<()>;
}

/// The declaration of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The name, the same in Rust, in the CLI and in Python.
    pub name: &'static str,
    /// What it does, for users.
    pub doc: &'static str,
    /// The type without its bounds; see [`ParamValue::TYPE`].
    pub type_name: &'static str,
    /// The allowed values of that type.
    pub rule: Rule,
}

impl Spec {
    /// The type with its bounds: `float > 0`, `int >= 1 or None`, `one of "l1", "l2"`.
    pub fn value_type(&self) -> String {
        self.rule.bound(self.type_name)
    }
}

/// The values that a parameter may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Any value of the type.
    Any,
    /// At least this bound.
    AtLeast(f64),
    /// Greater than this bound.
    Above(f64),
    /// In the closed interval.
    Between(f64, f64),
    /// In the open interval.
    Inside(f64, f64),
    /// Probabilities that sum to one; an empty list stands for the default.
    Simplex,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// One of these strings, or a kernel formula made of them.
    Formula(&'static [&'static str]),
}

impl Rule {
    /// A type with the bounds of the rule: the first `float` or `int` in its name gets them.
    pub fn bound(self, type_name: &str) -> String {
        let bound = match self {
            Rule::Any => return type_name.to_owned(),
            Rule::AtLeast(low) => format!(" >= {low}"),
            Rule::Above(low) => format!(" > {low}"),
            Rule::Between(low, high) => format!(" in [{low}, {high}]"),
            Rule::Inside(low, high) => format!(" in ({low}, {high})"),
            Rule::Simplex => " >= 0 with sum 1".to_owned(),
            Rule::OneOf(values) => return format!("one of {}", quoted(values)),
            Rule::Formula(kernels) => {
                let kernels = quoted(kernels);
                return format!(
                    "one of {kernels}, or a formula such as \"rbf(gamma=0.1)+2*linear\""
                );
            }
        };
        let number = ["float", "int"]
            .iter()
            .filter_map(|name| type_name.find(name).map(|start| start + name.len()));
        match number.min() {
            Some(end) => format!("{}{bound}{}", &type_name[..end], &type_name[end..]),
            None => format!("{type_name}{bound}"),
        }
    }
}

fn quoted(values: &[&str]) -> String {
    values.iter().map(|value| format!("\"{value}\"")).collect::<Vec<_>>().join(", ")
}

/// A type that a parameter can have.
pub trait ParamValue {
    /// The type in Python's words: `bool`, `int`, `float`, `str`, `None`, `list of T`, `dict of T to U`,
    /// `pair of T`, string literals in quotes; alternatives are separated by commas and a final `or`.
    const TYPE: &'static str;

    /// Whether the value is allowed by a rule.
    fn obeys(&self, rule: Rule) -> bool;
}

impl ParamValue for f64 {
    const TYPE: &'static str = "float";

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
    const TYPE: &'static str = "int";

    fn obeys(&self, rule: Rule) -> bool {
        (*self as f64).obeys(rule)
    }
}

impl ParamValue for i64 {
    const TYPE: &'static str = "int";

    fn obeys(&self, rule: Rule) -> bool {
        (*self as f64).obeys(rule)
    }
}

impl ParamValue for bool {
    const TYPE: &'static str = "bool";

    fn obeys(&self, _rule: Rule) -> bool {
        true
    }
}

impl ParamValue for Vec<f64> {
    const TYPE: &'static str = "list of float";

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
    const TYPE: &'static str = "float or None";

    fn obeys(&self, rule: Rule) -> bool {
        self.is_none_or(|x| x.obeys(rule))
    }
}

impl ParamValue for Option<usize> {
    const TYPE: &'static str = "int or None";

    fn obeys(&self, rule: Rule) -> bool {
        self.is_none_or(|n| n.obeys(rule))
    }
}

/// One value for all columns, or one value per column.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum OneOrEach {
    /// The same value for all columns.
    One(f64),
    /// One value per column, in order.
    Each(Vec<f64>),
}

impl ParamValue for OneOrEach {
    const TYPE: &'static str = "float or list of float";

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
/// If there is no such parameter or the value is not allowed.
pub fn set<P: Params>(params: &P, name: &str, value: Value) -> Result<P> {
    let Some(spec) = P::SPECS.iter().find(|s| s.name == name) else {
        return Err(Error::UnknownParameter {
            estimator: P::NAME.to_owned(),
            name: name.to_owned(),
            known: P::SPECS.iter().map(|s| s.name).collect::<Vec<_>>().join(", "),
        });
    };
    let found = value.to_string();
    // Textbooks write a hard margin as an infinite `C`.
    let has_margin = P::SPECS.iter().any(|s| s.name == "margin");
    let infinite = value.as_str().is_some_and(|v| v.parse::<f64>() == Ok(f64::INFINITY));
    let refuse = |why: TreeError| Error::Parameter {
        name: name.to_owned(),
        found,
        expected: match spec.rule {
            _ if name == "C" && has_margin && infinite => {
                format!(
                    "{}, and finite; for a hard margin set `margin` to `hard`",
                    spec.value_type()
                )
            }
            Rule::Formula(_) => format!("{} ({why})", spec.value_type()),
            _ => spec.value_type(),
        },
    };
    let mut all = Tree::of(params).map_err(|e| Error::File(e.to_string()))?;
    all.insert(name, value.into());
    let params: P = all.into_value().map_err(refuse)?;
    params.check()?;
    Ok(params)
}

/// A parameter's value as JSON, as it would be set on the command line.
pub fn shown<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Declares the parameters of an estimator. See [`Params`] for what it writes.
///
/// A line `..Group;` inserts the parameters of a [group](crate::param_group) and implements
/// `From<&Name> for Group` where the group has a struct. After the struct follow the `formula`, the number of the
/// `lecture`, the [`attributes`] of the fitted model, and the differences from scikit-learn as fields of
/// [`Sklearn`], with the names of those modules in scope.
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $doc:literal])+
        pub struct $Name:ident { $($fields:tt)* }
        $(formula = $formula:literal;)?
        $(lecture = $lecture:literal;)?
        $(attributes = [$($attribute:expr),* $(,)?];)?
        $(sklearn { $($key:ident: $value:expr),* $(,)? })?
    ) => {
        $crate::params! { @fields
            {
                $Name [$($doc)+] [concat!($($formula)?)] [$crate::params!(@lecture $($lecture)?)]
                [$($($attribute,)*)?]
                [$crate::model::Sklearn { $($($key: $value,)*)? ..$crate::model::Sklearn::NONE }]
            }
            [] [] $($fields)*
        }
    };

    (@lecture) => { 0 };
    (@lecture $number:literal) => { $number };

    // A group: its macro hands its parameters back to `@group`.
    (@fields $head:tt $groups:tt $done:tt ..$Group:ident $(($($args:tt)*))?; $($rest:tt)*) => {
        $Group! { [$head $groups $done [$($rest)*]] $($($args)*)? }
    };
    (@group [$head:tt [$($groups:tt)*] [$($done:tt)*] [$($rest:tt)*]] as $Group:ident {
        $($(#[doc = $field_doc:literal])+ $field:ident: $Type:ty = $default:expr, $rule:expr;)*
    }) => {
        $crate::params! { @fields
            $head
            [$($groups)* $Group { $($field)* }]
            [$($done)* $({ [$($field_doc)+] $field ($Type) ($default) ($rule) })*]
            $($rest)*
        }
    };
    (@group [$head:tt $groups:tt [$($done:tt)*] [$($rest:tt)*]] {
        $($(#[doc = $field_doc:literal])+ $field:ident: $Type:ty = $default:expr, $rule:expr;)*
    }) => {
        $crate::params! { @fields
            $head
            $groups
            [$($done)* $({ [$($field_doc)+] $field ($Type) ($default) ($rule) })*]
            $($rest)*
        }
    };
    // The struct of a group: the values that an estimator passes on to its solver.
    (@group [struct] as $Group:ident {
        $($(#[doc = $field_doc:literal])+ $field:ident: $Type:ty = $default:expr, $rule:expr;)*
    }) => {
        #[derive(Clone, Debug)]
        pub(crate) struct $Group {
            $($(#[doc = $field_doc])+ pub $field: $Type,)*
        }
    };

    // A parameter of the estimator's own.
    (@fields $head:tt $groups:tt [$($done:tt)*]
        $(#[doc = $field_doc:literal])+
        $field:ident: $Type:ty = $default:expr, $rule:expr;
        $($rest:tt)*
    ) => {
        $crate::params! { @fields
            $head $groups
            [$($done)* { [$($field_doc)+] $field ($Type) ($default) ($rule) }]
            $($rest)*
        }
    };

    (@fields
        {
            $Name:ident [$($doc:literal)+] [$formula:expr] [$lecture:expr] [$($attribute:expr,)*]
            [$sklearn:expr]
        }
        [$($Group:ident { $($member:ident)* })*]
        [$({ [$($field_doc:literal)+] $field:ident ($Type:ty) ($default:expr) ($rule:expr) })*]
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
            /// The default parameters.
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

        $(impl From<&$Name> for $Group {
            #[allow(clippy::clone_on_copy)]
            fn from(params: &$Name) -> Self {
                $Group { $($member: params.$member.clone()),* }
            }
        })*

        impl $crate::model::Params for $Name {
            const NAME: &'static str = stringify!($Name);
            const DOC: &'static str = concat!($($doc, "\n"),+);
            const FORMULA: &'static str = $formula;
            const SPECS: &'static [$crate::model::Spec] = {
                use $crate::model::Rule::*;
                &[$($crate::model::Spec {
                    name: stringify!($field),
                    doc: concat!($($field_doc, "\n"),+),
                    type_name: <$Type as $crate::model::ParamValue>::TYPE,
                    rule: $rule,
                }),*]
            };
            const LECTURE: usize = $lecture;
            const ATTRIBUTES: &'static [$crate::model::Attribute] = {
                #[allow(unused_imports)]
                use $crate::model::attributes::*;
                &[$($attribute),*]
            };
            #[allow(clippy::needless_update)]
            const SKLEARN: $crate::model::Sklearn = {
                #[allow(unused_imports)]
                use $crate::model::sklearn::*;
                $sklearn
            };

            fn check(&self) -> $crate::Result<()> {
                use $crate::model::Rule::*;
                $({
                    let rule: $crate::model::Rule = $rule;
                    if !$crate::model::ParamValue::obeys(&self.$field, rule) {
                        return Err($crate::Error::Parameter {
                            name: stringify!($field).to_owned(),
                            found: $crate::model::shown(&self.$field),
                            expected: rule.bound(<$Type as $crate::model::ParamValue>::TYPE),
                        });
                    }
                })*
                Ok(())
            }
        }
    };
}

/// Declares a group of parameters that several estimators share: a macro of the group's name, which
/// [`params!`](crate::params) calls for a line `..Group;`. With `as Options`, also a struct of that name, to
/// which every estimator of the group converts.
#[macro_export]
macro_rules! param_group {
    ($(#[doc = $doc:literal])* $Group:ident { $($fields:tt)* }) => {
        $crate::param_group! { @macro ($) $(#[doc = $doc])* $Group [] { $($fields)* } }
    };
    ($(#[doc = $doc:literal])* $Group:ident as $Options:ident { $($fields:tt)* }) => {
        $crate::param_group! { @macro ($) $(#[doc = $doc])* $Group [as $Options] { $($fields)* } }
        $crate::params! { @group [struct] as $Options { $($fields)* } }
    };
    (@macro ($d:tt) $(#[doc = $doc:literal])* $Group:ident [$($as:tt)*] { $($fields:tt)* }) => {
        $(#[doc = $doc])*
        macro_rules! $Group {
            ($d state:tt) => { $crate::params! { @group $d state $($as)* { $($fields)* } } };
        }
        #[allow(unused_imports)]
        pub(crate) use $Group;
    };
}

/// Declares a parameter type with a few string values; a value after a bar is read as a synonym.
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
            pub const VALUES: &'static [&'static str] = &[$($word),+];
        }

        impl $crate::model::ParamValue for $Name {
            const TYPE: &'static str = "str";

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

    param_group! {
        SamplingParams as Sampling {
            /// Number of draws.
            times: usize = 3, AtLeast(1.0);
            /// Seed.
            seed: Option<usize> = None, AtLeast(0.0);
        }
    }

    params! {
        /// A test.
        pub struct Sample {
            /// Regularization strength.
            strength: f64 = 1.0, Above(0.0);
            ..SamplingParams;
            /// Class priors.
            priors: Vec<f64> = Vec::new(), Simplex;
        }
        formula = "y = x";
        lecture = 9;
        attributes = [COEF, own("scale_", "float", "Scale.")];
        sklearn { positional: &["strength"], extra: &[N_JOBS] }
    }

    #[test]
    fn parameters_are_set_by_name() {
        let params = set(&Sample::new(), "strength", json!(2.5)).unwrap();

        assert_eq!(params, Sample::new().strength(2.5));
        assert_eq!(Sample::SPECS[0].doc.trim(), "Regularization strength.");
    }

    #[test]
    fn unknown_names_wrong_types_and_broken_rules_are_refused() {
        let error = |name, value| set(&Sample::new(), name, value).unwrap_err();

        assert!(error("strenght", json!(1)).to_string().contains("strength, times, seed, priors"));
        assert!(matches!(error("times", json!(1.5)), Error::Parameter { .. }));
        assert!(matches!(error("strength", json!(0.0)), Error::Parameter { .. }));
        assert!(matches!(error("priors", json!([0.5, 0.6])), Error::Parameter { .. }));
    }

    #[test]
    fn groups_insert_their_parameters_in_place_and_convert_to_their_struct() {
        let params = Sample::new().times(5);

        let sampling = Sampling::from(&params);

        let names: Vec<&str> = Sample::SPECS.iter().map(|spec| spec.name).collect();
        assert_eq!(names, ["strength", "times", "seed", "priors"]);
        assert_eq!((sampling.times, sampling.seed), (5, None));
        assert_eq!((Sample::FORMULA, Sample::LECTURE), ("y = x", 9));
        assert_eq!(
            Sample::ATTRIBUTES.iter().map(|a| a.name).collect::<Vec<_>>(),
            ["coef_", "scale_"]
        );
        assert_eq!(Sample::SKLEARN.positional, ["strength"]);
        assert_eq!(Sample::SKLEARN.extra[0].name, "n_jobs");
    }

    #[test]
    fn types_are_printed_with_their_bounds() {
        let types: Vec<String> = Sample::SPECS.iter().map(Spec::value_type).collect();

        let expected =
            ["float > 0", "int >= 1", "int >= 0 or None", "list of float >= 0 with sum 1"];
        assert_eq!(types, expected);
        assert_eq!(
            Rule::Between(0.0, 1.0).bound("float or \"auto\""),
            "float in [0, 1] or \"auto\""
        );
        assert_eq!(Rule::OneOf(&["a", "b"]).bound("str"), "one of \"a\", \"b\"");
        assert_eq!(Rule::Any.bound("bool"), "bool");
    }
}
