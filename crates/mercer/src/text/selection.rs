//! Selection of terms by document frequency and by number of occurrences.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The terms that get a column, by the number of documents they occur in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// The minimum document frequency.
    pub min_df: Bound,
    /// The maximum document frequency.
    pub max_df: Bound,
    /// The maximum number of terms: the most frequent are selected, on ties the first in order.
    pub max_features: Option<usize>,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection { min_df: Bound::Documents(1), max_df: Bound::Fraction(1.0), max_features: None }
    }
}

/// A document frequency, as a number or as a fraction of the documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// A number of documents.
    Documents(u64),
    /// A fraction of the documents.
    Fraction(f64),
}

impl Bound {
    /// The number of documents among `n`.
    pub fn of(self, n: u64) -> f64 {
        match self {
            Bound::Documents(documents) => documents as f64,
            Bound::Fraction(fraction) => fraction * n as f64,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Documents(1) => f.write_str("1 document"),
            Bound::Documents(n) => write!(f, "{n} documents"),
            Bound::Fraction(fraction) => write!(f, "{} % of the documents", 100.0 * fraction),
        }
    }
}

impl Selection {
    /// For every term whether it is selected, given its frequency among `n` documents and its number of
    /// occurrences.
    ///
    /// # Errors
    /// If `max_df` is below `min_df`.
    pub fn keep(
        &self,
        n: u64,
        document_frequencies: &[u64],
        occurrences: impl Fn(usize) -> u64,
    ) -> Result<Vec<bool>> {
        let (low, high) = (self.min_df.of(n), self.max_df.of(n));
        if high < low {
            return Err(Error::Parameter {
                name: "max_df".into(),
                found: format!("{high} documents"),
                expected: format!("at least min_df, {low} documents"),
            });
        }
        let mut keep: Vec<bool> =
            document_frequencies.iter().map(|df| (low..=high).contains(&(*df as f64))).collect();
        if let Some(most) = self.max_features {
            let mut selected: Vec<usize> = (0..keep.len()).filter(|id| keep[*id]).collect();
            if selected.len() > most {
                selected.sort_by_key(|id| std::cmp::Reverse(occurrences(*id)));
                selected[most..].iter().for_each(|id| keep[*id] = false);
            }
        }
        Ok(keep)
    }
}
