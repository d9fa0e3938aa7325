//! Statistics by class, stored under the class's name, so that parts with different classes can be merged.

use crate::data::{Classes, Dataset};
use crate::error::{Error, Result};
use crate::model::Statistics;
use mercer_num::parallel::{Layout, chunk_rows};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Statistics of several groups of rows, one entry per group.
pub trait Grouped: Clone + Default + Send + Sync + Serialize + DeserializeOwned {
    /// Empty groups.
    fn empty(n_groups: usize, n_columns: usize) -> Self;

    /// The numbers of groups and columns.
    fn shape(&self) -> (usize, usize);

    /// Whether the columns of both have the same kinds.
    fn agrees(&self, _other: &Self) -> bool {
        true
    }

    /// Enlarges the summary for values of `other` that were not observed before, before its groups are added or
    /// removed.
    ///
    /// # Errors
    /// If that takes too much memory.
    fn widen(&mut self, _other: &Self) -> Result<()> {
        Ok(())
    }

    /// Adds the group `theirs` of `other` to the group `mine`.
    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize);

    /// Adds every group of `other`; `targets[theirs]` is the group it is added to.
    fn merge_groups(&mut self, targets: &[usize], other: &Self) {
        for (theirs, mine) in targets.iter().enumerate() {
            self.merge_group(*mine, other, theirs);
        }
    }

    /// Removes the group `theirs` of `other` from the group `mine`.
    ///
    /// # Errors
    /// If it cannot have been part of it.
    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()>;

    /// Adds statistics that are common to all groups of `other`; called once, before its groups are added.
    fn merge_shared(&mut self, _other: &Self) {}

    /// Removes statistics that are common to all groups of `other`; called once, after its groups are removed. `before`
    /// is the summary before the removal.
    ///
    /// # Errors
    /// If they cannot have been part of it.
    fn forget_shared(&mut self, _other: &Self, _before: &Self) -> Result<()> {
        Ok(())
    }

    /// Refuses inconsistent values, as of a damaged file.
    ///
    /// # Errors
    /// [`Error::File`] names them.
    fn check(&self) -> Result<()>;

    /// As [`Statistics::holds_rows`].
    fn holds_rows(&self) -> bool {
        false
    }

    /// As [`Statistics::chunk_rows`].
    fn chunk_rows(n_columns: usize, layout: Layout) -> usize {
        chunk_rows(n_columns, layout)
    }

    /// As [`Statistics::bytes`].
    fn bytes(n_classes: usize, n_columns: usize) -> u64 {
        24 * n_classes.max(1) as u64 * n_columns as u64
    }
}

/// Groups by class. Only observed classes are stored, so a chunk of a problem with thousands of classes stays small.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByClass<G> {
    /// The classes that may occur.
    classes: Classes,
    /// The number of columns; zero before the first row.
    n_columns: usize,
    /// The codes of the observed classes, ascending.
    codes: Vec<u32>,
    /// Their weights.
    weights: Vec<f64>,
    /// Their summaries.
    groups: G,
}

impl<G: Grouped> ByClass<G> {
    /// No rows yet, with known classes.
    pub fn new(classes: Classes) -> Self {
        ByClass { classes, ..Default::default() }
    }

    /// Adds rows. `summarize` receives the group of each row and the weight of each group.
    ///
    /// # Errors
    /// If the target is not a class, there are no columns, or their number differs.
    pub fn push_rows(
        &mut self,
        batch: &Dataset<'_>,
        summarize: impl FnOnce(&Dataset<'_>, &[u32], &[f64]) -> Result<G>,
    ) -> Result<()> {
        let (row_codes, classes) = batch.class_target()?;
        if batch.n_columns() == 0 {
            return Err(Error::NoFeatures);
        }
        let mut weights = vec![0.0; classes.len()];
        let mut seen = vec![false; classes.len()];
        for (i, c) in row_codes.iter().enumerate() {
            weights[*c as usize] += batch.weights().get(i).copied().unwrap_or(1.0);
            seen[*c as usize] = true;
        }
        let codes: Vec<u32> = (0..classes.len() as u32).filter(|c| seen[*c as usize]).collect();
        let mut group_of_class = vec![0; classes.len()];
        for (group, c) in codes.iter().enumerate() {
            group_of_class[*c as usize] = group as u32;
        }
        let group_of_row: Vec<u32> =
            row_codes.iter().map(|c| group_of_class[*c as usize]).collect();
        let weights: Vec<f64> = codes.iter().map(|c| weights[*c as usize]).collect();
        let groups = summarize(batch, &group_of_row, &weights)?;
        let n_columns = batch.n_columns();
        let part = ByClass { classes: classes.clone(), n_columns, codes, weights, groups };
        if self.is_empty() {
            *self = part;
            return Ok(());
        }
        self.merge(&part)
    }

    /// The classes that may occur.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The weight of every class, observed or not.
    pub fn weights(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.classes.len()];
        self.codes.iter().zip(&self.weights).for_each(|(c, w)| all[*c as usize] = *w);
        all
    }

    /// The summary of every class, observed or not.
    pub fn groups(&self) -> G {
        if self.codes.len() == self.classes.len() {
            return self.groups.clone();
        }
        let mut all = G::empty(self.classes.len(), self.n_columns);
        all.merge_shared(&self.groups);
        let targets: Vec<usize> = self.codes.iter().map(|c| *c as usize).collect();
        all.merge_groups(&targets, &self.groups);
        all
    }

    /// The codes of the observed classes, and their summaries in this order.
    pub fn observed(&self) -> (&[u32], &G) {
        (&self.codes, &self.groups)
    }

    /// Whether there are neither classes nor rows.
    fn is_empty(&self) -> bool {
        self.classes.is_empty() && self.codes.is_empty()
    }

    /// Translates the codes into a larger list of classes.
    fn translate_codes(&mut self, classes: &Classes) {
        let (all, targets) = classes.union(&self.classes);
        debug_assert_eq!(&all, classes, "the new list holds the old one");
        self.codes.iter_mut().for_each(|c| *c = targets[*c as usize]);
        self.classes = classes.clone();
    }

    /// Translates `other` into my classes, which are enlarged if necessary.
    fn align(&mut self, other: &Self) -> Result<Self> {
        if self.n_columns == 0 {
            self.n_columns = other.n_columns;
        }
        if other.n_columns != self.n_columns && other.n_columns != 0 {
            return Err(Error::Columns { found: other.n_columns, expected: self.n_columns });
        }
        let mut other = other.clone();
        let (all, _) = self.classes.union(&other.classes);
        if all != self.classes {
            self.translate_codes(&all);
        }
        other.translate_codes(&all);
        Ok(other)
    }

    /// Refuses a summary with columns of other kinds.
    fn check_agreement(&self, other: &Self) -> Result<()> {
        // A different number of columns has an error of its own.
        let comparable =
            !self.codes.is_empty() && !other.codes.is_empty() && self.n_columns == other.n_columns;
        if !comparable || self.groups.agrees(&other.groups) {
            return Ok(());
        }
        Err(Error::Merge { why: "the columns have different kinds".into() })
    }

    /// Adds rows with the same classes.
    fn merge_aligned(&mut self, other: &Self) -> Result<()> {
        if self.codes == other.codes {
            self.groups.widen(&other.groups)?;
            self.groups.merge_shared(&other.groups);
            let targets: Vec<usize> = (0..self.codes.len()).collect();
            self.weights.iter_mut().zip(&other.weights).for_each(|(a, b)| *a += b);
            self.groups.merge_groups(&targets, &other.groups);
            return Ok(());
        }
        let mut codes: Vec<u32> = self.codes.iter().chain(&other.codes).copied().collect();
        codes.sort_unstable();
        codes.dedup();
        let mut weights = vec![0.0; codes.len()];
        let mut groups = G::empty(codes.len(), self.n_columns);
        for part in [&*self, other] {
            groups.widen(&part.groups)?;
            groups.merge_shared(&part.groups);
            let index = |c: &u32| codes.partition_point(|code| code < c);
            let targets: Vec<usize> = part.codes.iter().map(index).collect();
            targets.iter().zip(&part.weights).for_each(|(group, w)| weights[*group] += w);
            groups.merge_groups(&targets, &part.groups);
        }
        (self.codes, self.weights, self.groups) = (codes, weights, groups);
        Ok(())
    }
}

impl<G: Grouped> Statistics for ByClass<G> {
    fn merge(&mut self, other: &Self) -> Result<()> {
        if self.is_empty() {
            *self = other.clone();
            return Ok(());
        }
        self.check_agreement(other)?;
        if self.classes.same_list(&other.classes) && self.n_columns == other.n_columns {
            self.merge_aligned(other)
        } else {
            let other = self.align(other)?;
            self.merge_aligned(&other)
        }
    }

    fn forget(&mut self, other: &Self) -> Result<()> {
        self.check_agreement(other)?;
        let mut left = self.clone();
        let other = left.align(other)?;
        left.groups.widen(&other.groups)?;
        if left.classes != self.classes {
            return Err(Error::Forget {
                why: "it has classes that are not in the training data".into(),
            });
        }
        for (theirs, c) in other.codes.iter().enumerate() {
            let Some(group) = left.codes.iter().position(|code| code == c) else {
                let class = left.classes.label(*c);
                return Err(Error::Forget {
                    why: format!("class `{class}` is not in the training data"),
                });
            };
            let weight = left.weights[group] - other.weights[theirs];
            if weight < -1e-9 * left.weights[group].max(1.0) {
                return Err(Error::Forget {
                    why: format!(
                        "class `{}` has weight {}, which is less than the {} to remove",
                        left.classes.label(*c),
                        left.weights[group],
                        other.weights[theirs]
                    ),
                });
            }
            left.weights[group] = weight.max(0.0);
            left.groups.forget_group(group, &other.groups, theirs)?;
        }
        left.groups.forget_shared(&other.groups, &self.groups)?;
        *self = left;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let n = self.codes.len();
        let fits = self.codes.is_sorted_by(|a, b| a < b)
            && self.codes.iter().all(|c| (*c as usize) < self.classes.len())
            && self.weights.len() == n
            && self.weights.iter().all(|w| w.is_finite() && *w >= 0.0)
            && (n == 0 || (self.n_columns > 0 && self.groups.shape() == (n, self.n_columns)));
        if !fits {
            return Err(Error::File("inconsistent statistics by class".into()));
        }
        self.groups.check()
    }

    fn outline(&self) -> Option<(usize, Classes)> {
        Some((self.n_columns, self.classes.clone()))
    }

    fn holds_rows(&self) -> bool {
        self.groups.holds_rows()
    }

    fn chunk_rows(n_columns: usize, layout: Layout) -> usize {
        G::chunk_rows(n_columns, layout)
    }

    fn bytes(n_classes: usize, n_columns: usize) -> u64 {
        G::bytes(n_classes, n_columns)
    }
}
