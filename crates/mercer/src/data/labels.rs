//! Class labels: exact values that are not converted to floating point.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// A class label, exactly as in the data.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Any other finite number.
    Float(f64),
    /// A string.
    Text(String),
}

impl Label {
    /// Parses a label: a boolean, an integer, a floating-point number, or else a string.
    ///
    /// ```
    /// use mercer::data::Label;
    /// assert_eq!(Label::parse("9007199254740993"), Label::Int(9_007_199_254_740_993));
    /// assert_eq!(Label::parse("007"), Label::Text("007".into()));
    /// ```
    pub fn parse(text: &str) -> Label {
        match text {
            "true" => return Label::Bool(true),
            "false" => return Label::Bool(false),
            _ => {}
        }
        if let Ok(n) = text.parse::<i64>()
            && n.to_string() == text
        {
            return Label::Int(n);
        }
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() && x.to_string() == text => Label::Float(x),
            _ => Label::Text(text.to_owned()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Label::Bool(_) => 0,
            Label::Int(_) | Label::Float(_) => 1,
            Label::Text(_) => 2,
        }
    }
}

impl Ord for Label {
    /// Booleans first, then numbers by value, then strings.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Label::Bool(a), Label::Bool(b)) => a.cmp(b),
            (Label::Int(a), Label::Int(b)) => a.cmp(b),
            (Label::Float(a), Label::Float(b)) => a.total_cmp(b),
            // Equal values of two types are different labels, so that the order is total.
            (Label::Int(a), Label::Float(b)) => (*a as f64).total_cmp(b).then(Ordering::Less),
            (Label::Float(a), Label::Int(b)) => a.total_cmp(&(*b as f64)).then(Ordering::Greater),
            (Label::Text(a), Label::Text(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Label {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Label {}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Bool(v) => v.fmt(f),
            Label::Int(v) => v.fmt(f),
            Label::Float(v) => v.fmt(f),
            Label::Text(v) => v.fmt(f),
        }
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Label::Text(text.to_owned())
    }
}

/// The classes, sorted and distinct; the code of a class is its index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Label>")]
pub struct Classes(Arc<[Label]>);

impl Classes {
    /// Sorts labels and removes duplicates.
    pub fn new(mut labels: Vec<Label>) -> Classes {
        labels.sort();
        labels.dedup();
        Classes(labels.into())
    }

    /// Classes with string labels.
    pub fn from_names<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Classes {
        Classes::new(names.into_iter().map(|n| Label::from(n.as_ref())).collect())
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no classes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The labels in order.
    pub fn labels(&self) -> &[Label] {
        &self.0
    }

    /// The label of a code.
    pub fn label(&self, code: u32) -> &Label {
        &self.0[code as usize]
    }

    /// The code of a label.
    pub fn code(&self, label: &Label) -> Option<u32> {
        self.0.binary_search(label).ok().map(|i| i as u32)
    }

    /// The classes of both, and for each code of `other` its code in the union.
    pub fn union(&self, other: &Classes) -> (Classes, Vec<u32>) {
        let all = Classes::new(self.0.iter().chain(other.0.iter()).cloned().collect());
        let codes = other.0.iter().filter_map(|label| all.code(label)).collect();
        (all, codes)
    }

    /// Whether both share one list in memory, which makes a comparison unnecessary.
    pub fn same_list(&self, other: &Classes) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Refuses a target with fewer than two classes.
    ///
    /// # Errors
    /// [`Error::OneClass`].
    pub fn check_several(&self) -> Result<()> {
        match self.len() {
            0 => Err(Error::NoRows),
            1 => Err(Error::OneClass { class: self.0[0].to_string() }),
            _ => Ok(()),
        }
    }
}

impl Default for Classes {
    fn default() -> Self {
        Classes(Arc::new([]))
    }
}

impl TryFrom<Vec<Label>> for Classes {
    type Error = String;

    fn try_from(labels: Vec<Label>) -> std::result::Result<Self, String> {
        if labels.is_sorted_by(|a, b| a < b) {
            Ok(Classes(labels.into()))
        } else {
            Err("class labels are not sorted and distinct".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_sort_by_type_and_value() {
        let classes = Classes::new(vec![
            Label::parse("b"),
            Label::parse("10"),
            Label::parse("2"),
            Label::parse("2.5"),
            Label::parse("2"),
        ]);

        let shown: Vec<String> = classes.labels().iter().map(Label::to_string).collect();
        assert_eq!(shown, ["2", "2.5", "10", "b"]);
        assert_eq!(classes.code(&Label::Int(10)), Some(2));
        assert_eq!(classes.code(&Label::Int(11)), None);
    }

    #[test]
    fn a_union_maps_the_codes_of_the_other() {
        let (all, codes) =
            Classes::from_names(["b", "d"]).union(&Classes::from_names(["a", "d", "e"]));

        assert_eq!(all, Classes::from_names(["a", "b", "d", "e"]));
        assert_eq!(codes, [0, 2, 3]);
    }

    #[test]
    fn unsorted_classes_in_a_file_are_refused() {
        assert!(Classes::try_from(vec![Label::from("b"), Label::from("a")]).is_err());
    }
}
