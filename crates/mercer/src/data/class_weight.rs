//! Class weights: the weight of each class in the loss.

use super::Classes;
use crate::choice;
use crate::error::{Error, Result};
use crate::model::{ParamValue, Rule};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

choice! {
    /// A rule that computes the class weights from the class frequencies.
    pub enum ClassWeightRule {
        /// Inversely proportional to class frequencies: `n_rows / (n_classes · n_rows of the class)`.
        Balanced = "balanced",
    }
}

/// The weight of each class in the loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ClassWeight {
    /// Computed by a rule.
    Rule(ClassWeightRule),
    /// Given by class name; classes that are not named have weight one.
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

/// The weights of the classes. `..ClassWeightParam(Above(0.0));` names the values that a weight may have.
macro_rules! ClassWeightParam {
    ($state:tt $rule:expr) => {
        $crate::params! { @group $state {
            /// Weight of each class in the loss: `balanced` (inversely proportional to the class frequencies), a
            /// weight per class, or `None` for equal weights.
            class_weight: Option<$crate::data::ClassWeight> = None, $rule;
        } }
    };
}
pub(crate) use ClassWeightParam;

impl ClassWeight {
    /// The weight of each class; `rows` has the total sample weight of each.
    ///
    /// # Errors
    /// [`Error::UnknownClass`] if a name is not one of the classes.
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
