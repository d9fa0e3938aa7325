//! The one-hot encoding of a categorical column: one indicator per frequent level, and indicators that rare levels
//! share, so that the number of features is bounded.
//!
//! A column with few levels has an indicator for every level. Of a column with more levels, the frequent ones have
//! their own and all others share one (`color=(other)`); if there are too many for that, the hash of a rare level
//! decides which of several indicators it belongs to (feature hashing: Weinberger et al., 2009). Target statistics
//! would need one number per level only, but they must be computed without the row they encode.

use super::recipe::{CategoryEncoding, Recipe};
use crate::data::{Field, Levels, MISSING};
use serde::{Deserialize, Serialize};

/// Up to this many levels, every level has its own indicator.
const MAX_UNGROUPED_LEVELS: usize = 20;
/// A rare level has fewer rows than this,
const MIN_LEVEL_ROWS: u64 = 2;
/// or fewer than one row in this many.
const ROWS_PER_RARE_ROW: u64 = 200;
/// The number of levels of one column that have their own indicator. A column with more levels shares
/// [`SHARED_INDICATORS`] among the others, a column with fewer a single one.
const MAX_OWN_INDICATORS: usize = 100;
const SHARED_INDICATORS: u32 = 32;

/// The fitted one-hot encoding of a column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OneHotStep {
    /// The codes of the levels with their own indicator, in ascending order; `None` for all levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<Vec<u32>>,
    /// The number of indicators that the other levels share.
    pub n_shared: u32,
    /// Whether a missing value is zero in all indicators instead of NaN. A category that was not seen in training
    /// belongs to the shared indicator if there is one, and is like a missing value otherwise.
    pub missing_as_zeros: bool,
}

/// The indicator of a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indicator {
    /// The indicator with this index is one, all others are zero.
    At(usize),
    /// All are zero, or NaN if missing values are.
    Unknown,
}

impl OneHotStep {
    /// The step of a column before its levels are counted.
    pub(super) fn planned(recipe: &Recipe) -> OneHotStep {
        let missing_as_zeros = recipe.imputes();
        match recipe.categories {
            CategoryEncoding::Hash(n) => {
                OneHotStep { own: Some(Vec::new()), n_shared: n, missing_as_zeros }
            }
            _ => OneHotStep { own: None, n_shared: 0, missing_as_zeros },
        }
    }

    /// Whether the rows of each level must be counted.
    pub(super) fn needs_counts(&self, field: &Field) -> bool {
        self.own.is_none() && field.levels.len() > MAX_UNGROUPED_LEVELS
    }

    /// Groups rare levels; `counts` are the rows of each level.
    #[must_use]
    pub(super) fn grouped(mut self, counts: &[u64]) -> OneHotStep {
        let n_rows: u64 = counts.iter().sum();
        let frequent = MIN_LEVEL_ROWS.max(n_rows.div_ceil(ROWS_PER_RARE_ROW));
        let mut own: Vec<u32> = (0..counts.len() as u32).collect();
        own.retain(|code| counts[*code as usize] >= frequent);
        // Most frequent first, equally frequent ones by name.
        own.sort_by_key(|code| (std::cmp::Reverse(counts[*code as usize]), *code));
        own.truncate(MAX_OWN_INDICATORS);
        own.sort_unstable();
        self.n_shared = match counts.len() {
            n if n == own.len() => 0,
            n if n <= MAX_OWN_INDICATORS => 1,
            _ => SHARED_INDICATORS,
        };
        self.own = (own.len() < counts.len()).then_some(own);
        self
    }

    /// The number of features.
    pub fn width(&self, levels: &Levels) -> usize {
        self.own.as_ref().map_or(levels.len(), Vec::len) + self.n_shared as usize
    }

    /// The indicator of a code.
    pub(super) fn indicator(&self, code: u32, levels: &Levels) -> Indicator {
        let Some(name) = levels.name(code) else {
            return match (code, self.n_shared) {
                (code, 1) if code != MISSING => Indicator::At(self.width(levels) - 1),
                _ => Indicator::Unknown,
            };
        };
        let Some(own) = &self.own else { return Indicator::At(code as usize) };
        match (own.binary_search(&code), self.n_shared) {
            (Ok(k), _) => Indicator::At(k),
            (Err(_), 0) => Indicator::Unknown,
            (Err(_), n) => Indicator::At(own.len() + (hash(name) % u64::from(n)) as usize),
        }
    }

    /// The category of an indicator: the name of its level, or `None` for a shared indicator.
    pub fn level<'l>(&self, indicator: usize, levels: &'l Levels) -> Option<&'l str> {
        match &self.own {
            Some(own) => levels.name(*own.get(indicator)?),
            None => levels.name(indicator as u32),
        }
    }

    /// The names of the features.
    pub(super) fn names(&self, field: &Field) -> Vec<String> {
        let width = self.width(&field.levels);
        let n_own = width - self.n_shared as usize;
        (0..width)
            .map(|k| match self.level(k, &field.levels) {
                Some(level) => format!("{}={level}", field.name),
                None if self.n_shared == 1 => format!("{}=(other)", field.name),
                None => format!("{}=(other {})", field.name, k - n_own + 1),
            })
            .collect()
    }

    /// Whether the step fits the levels of its column.
    pub(super) fn fits(&self, field: &Field) -> bool {
        self.own.as_ref().is_none_or(|own| {
            own.is_sorted_by(|a, b| a < b)
                && own.iter().all(|code| (*code as usize) < field.levels.len())
        }) && self.n_shared <= 1 << 16
    }
}

/// FNV-1a, the same on every machine.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::UNSEEN;
    use std::sync::Arc;

    fn field(n: usize) -> Field {
        Field::categorical("c", Arc::new(Levels::new((0..n).map(|i| format!("{i:04}")).collect())))
    }

    #[test]
    fn rare_levels_share_an_indicator_that_unseen_ones_join() {
        // 30 levels: five with 100 rows, 25 with one row.
        let field = field(30);
        let counts: Vec<u64> = (0..30).map(|i| if i % 6 == 0 { 100 } else { 1 }).collect();

        let step = OneHotStep::default().grouped(&counts);

        assert_eq!(step.own, Some(vec![0, 6, 12, 18, 24]));
        assert_eq!((step.n_shared, step.width(&field.levels)), (1, 6));
        assert_eq!(step.indicator(12, &field.levels), Indicator::At(2));
        assert_eq!(step.indicator(1, &field.levels), Indicator::At(5));
        assert_eq!(step.indicator(UNSEEN, &field.levels), Indicator::At(5));
        assert_eq!(step.indicator(MISSING, &field.levels), Indicator::Unknown);
        assert_eq!(step.names(&field)[4..], ["c=0024", "c=(other)"]);
    }

    #[test]
    fn the_number_of_indicators_is_bounded() {
        let field = field(5000);
        let counts: Vec<u64> = (0..5000).map(|i| if i < 150 { 1000 } else { 1 }).collect();

        let step = OneHotStep::default().grouped(&counts);

        assert_eq!(step.width(&field.levels), 132);
        let shared: std::collections::HashSet<_> = (300..5000)
            .map(|code| step.indicator(code, &field.levels))
            .map(|k| match k {
                Indicator::At(k) => k,
                Indicator::Unknown => panic!("a known level"),
            })
            .collect();
        assert_eq!(shared.len(), 32, "rare levels use all shared indicators");
    }

    #[test]
    fn levels_that_are_all_frequent_keep_their_indicators() {
        let step = OneHotStep::default().grouped(&[10; 30]);

        assert_eq!(step, OneHotStep::default());
    }
}
