//! How much a class counts.

use super::Classes;
use crate::choice;
use crate::error::{Error, Result};
use crate::model::{ParamValue, Rule};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

choice! {
    /// A rule for the weights of classes.
    pub enum ClassWeightRule {
        /// Every class weighs the same in all: its rows count `rows / (classes · rows of the class)`.
        Balanced = "balanced",
    }
}

/// How much the rows of each class count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ClassWeight {
    /// By a rule.
    Rule(ClassWeightRule),
    /// By the class's name; others count once.
    ByClass(BTreeMap<String, f64>),
}

impl ParamValue for Option<ClassWeight> {
    const TYPE: &'static str = "\"balanced\", dict of class to float or None";

    fn obeys(&self, rule: Rule) -> bool {
        match self {
            Some(ClassWeight::ByClass(weights)) => {
                !weights.is_empty() && weights.values().all(|w| w.obeys(rule))
            }
            _ => true,
        }
    }
}

impl ClassWeight {
    /// The factor of each class, from the weight of its rows.
    ///
    /// # Errors
    /// [`Error::UnknownClass`] if a name is no class.
    pub(crate) fn factors(
        weight: Option<&ClassWeight>,
        classes: &Classes,
        rows: &[f64],
    ) -> Result<Vec<f64>> {
        let names: Vec<String> = classes.labels().iter().map(ToString::to_string).collect();
        match weight {
            None => Ok(vec![1.0; names.len()]),
            Some(ClassWeight::Rule(ClassWeightRule::Balanced)) => {
                let present = rows.iter().filter(|w| **w > 0.0).count() as f64;
                let total: f64 = rows.iter().sum();
                let factor = |w: &f64| if *w > 0.0 { total / (present * w) } else { 1.0 };
                Ok(rows.iter().map(factor).collect())
            }
            Some(ClassWeight::ByClass(by_name)) => {
                if let Some(name) = by_name.keys().find(|name| !names.contains(name)) {
                    return Err(Error::UnknownClass {
                        class: name.clone(),
                        known: names.join(", "),
                    });
                }
                Ok(names.iter().map(|n| by_name.get(n).copied().unwrap_or(1.0)).collect())
            }
        }
    }
}
