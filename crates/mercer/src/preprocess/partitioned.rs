//! Preprocessing fitted to rows that are spread over several processes.
//!
//! Every process observes its part of the rows ([`FeatureObserver`]); the sums ([`FeatureSums`]) merge, and the steps
//! follow from the total as from a stream ([`Features::with_sums`]). A kernel map is fitted to a sample of the encoded
//! rows ([`RowSample`]). Both samples hold the rows with the smallest hashes of their index, so that they are those of
//! one process if the parts are numbered in the order of the rows.

use super::encoded::OwnedRows;
use super::feature_map::mix;
use super::features::{Features, Step};
use super::fit::{FitPlan, NumericSummaries, SampledRows, documents};
use super::text::TextFit;
use super::{FeatureMap, FeatureMapRecipe, KnownTerms, NumericStep, OneHotStep, Recipe};
use crate::data::{Column, Field, Table, Values};
use crate::error::{Error, Result};
use crate::model::{Monitor, Statistics};
use crate::stats::{Grouped, Moments};
use crate::text::{DocumentFrequencies, Selection, Vocabulary};
use mercer_num::parallel::Layout;
use mercer_num::{Matrix, Rows, Sparse};
use serde::{Deserialize, Serialize};

/// Accumulates what the preprocessing of a part of the rows depends on.
pub struct FeatureObserver {
    features: Features,
    plan: FitPlan,
    numeric: NumericSummaries,
    text: Vec<TextFit>,
    rows: u64,
}

/// The sums of a part of the rows that preprocessing is fitted from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureSums {
    rows: u64,
    moments: Moments,
    low: Vec<f64>,
    high: Vec<f64>,
    any_missing: Vec<bool>,
    /// The hashes of the sampled rows, as signed integers; `None` if the recipe needs no quantiles.
    keys: Option<Vec<i64>>,
    /// Their numeric values, row by row.
    values: Vec<f64>,
    /// The rows of each level, of the columns whose levels are counted.
    levels: Vec<Vec<u64>>,
    /// The terms of each text column; `None` if its step does not depend on the rows.
    text: Vec<Option<KnownTerms>>,
}

impl FeatureObserver {
    /// Observes rows of which the first has the index `first_row`.
    ///
    /// # Errors
    /// If the recipe is invalid.
    pub fn new(features: &Features, recipe: &Recipe, first_row: u64) -> Result<FeatureObserver> {
        let mut features = features.clone();
        let plan = features.plan_fit(recipe)?;
        let mut numeric = NumericSummaries::new(plan.numeric.len(), recipe.needs_values());
        numeric.n_rows = first_row as usize;
        let text = plan.steps.iter().map(|step| TextFit::new(step, 0)).collect::<Result<_>>()?;
        Ok(FeatureObserver { features, plan, numeric, text, rows: 0 })
    }

    /// Adds the rows of a table; `weights` is empty if all are one.
    ///
    /// # Errors
    /// If a column is missing or of another kind, or a value is infinite.
    pub fn observe(&mut self, table: &Table, weights: &[f64], monitor: &Monitor<'_>) -> Result<()> {
        let table = table.select(&self.features.schema)?;
        let steps = &self.features.steps;
        self.rows += table.n_rows() as u64;
        self.numeric.observe(&table, steps, &self.plan.numeric, weights, monitor)?;
        self.plan.levels.iter_mut().for_each(|rows| rows.observe(&table));
        let tables = [table];
        for (fit, k) in self.text.iter_mut().zip(&self.plan.text) {
            fit.observe(&documents(&tables, *k), monitor)?;
        }
        Ok(())
    }

    /// The sums of the observed rows.
    ///
    /// # Errors
    /// If text columns cannot be counted.
    pub fn finish(self) -> Result<FeatureSums> {
        let NumericSummaries { moments, low, high, any_missing, values, .. } = self.numeric;
        let values = values.map(|mut values| {
            values.shorten();
            values.rows
        });
        let keys = values.as_ref().map(|rows| rows.iter().map(|(key, _)| *key as i64).collect());
        let values = values.into_iter().flatten().flat_map(|(_, row)| row).collect();
        let terms = self.text.into_iter().zip(self.plan.steps).map(|(fit, step)| {
            let counts = step.needs_fit();
            let (step, _) = fit.finish(step, &Selection::default())?;
            Ok(counts.then_some(step.terms))
        });
        Ok(FeatureSums {
            rows: self.rows,
            moments,
            low,
            high,
            any_missing,
            keys,
            values,
            levels: self.plan.levels.into_iter().map(|rows| rows.counts).collect(),
            text: terms.collect::<Result<_>>()?,
        })
    }
}

impl FeatureSums {
    fn n_columns(&self) -> usize {
        self.low.len()
    }

    /// Whether both were observed with the same features and recipe.
    fn fits(&self, other: &FeatureSums) -> bool {
        let lengths = |levels: &[Vec<u64>]| levels.iter().map(Vec::len).collect::<Vec<_>>();
        self.n_columns() == other.n_columns()
            && self.keys.is_some() == other.keys.is_some()
            && lengths(&self.levels) == lengths(&other.levels)
            && self.text.len() == other.text.len()
    }

    fn sampled(&self) -> Option<SampledRows> {
        let width = self.n_columns();
        let keys = self.keys.as_ref()?.iter().map(|key| *key as u64);
        let row = |i: usize| self.values[i * width..(i + 1) * width].to_vec();
        let mut sampled = SampledRows::new(width);
        sampled.rows = keys.enumerate().map(|(i, key)| (key, row(i))).collect();
        Some(sampled)
    }

    fn summaries(&self) -> NumericSummaries {
        NumericSummaries {
            n_rows: self.rows as usize,
            moments: self.moments.clone(),
            low: self.low.clone(),
            high: self.high.clone(),
            any_missing: self.any_missing.clone(),
            values: self.sampled(),
        }
    }
}

impl Statistics for FeatureSums {
    fn merge(&mut self, other: &Self) -> Result<()> {
        if self.rows == 0 {
            *self = other.clone();
            return Ok(());
        }
        if other.rows == 0 {
            return Ok(());
        }
        if !self.fits(other) {
            return Err(Error::Merge { why: "the preprocessing differs".into() });
        }
        if let (Some(mut mine), Some(theirs)) = (self.sampled(), other.sampled()) {
            mine.rows.extend(theirs.rows);
            mine.shorten();
            self.keys = Some(mine.rows.iter().map(|(key, _)| *key as i64).collect());
            self.values = mine.rows.into_iter().flat_map(|(_, row)| row).collect();
        }
        self.rows += other.rows;
        self.moments.merge_group(0, &other.moments, 0);
        self.low.iter_mut().zip(&other.low).for_each(|(a, b)| *a = a.min(*b));
        self.high.iter_mut().zip(&other.high).for_each(|(a, b)| *a = a.max(*b));
        self.any_missing.iter_mut().zip(&other.any_missing).for_each(|(a, b)| *a |= b);
        for (mine, theirs) in self.levels.iter_mut().zip(&other.levels) {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
        for (mine, theirs) in self.text.iter_mut().zip(&other.text) {
            if let (Some(mine), Some(theirs)) = (mine, theirs) {
                merge_terms(mine, theirs)?;
            }
        }
        Ok(())
    }

    fn forget(&mut self, _: &Self) -> Result<()> {
        Err(Error::Forget { why: "preprocessing cannot forget rows".into() })
    }

    fn check(&self) -> Result<()> {
        self.moments.check()?;
        let n = self.n_columns();
        let sampled = self.keys.as_ref().map_or(0, Vec::len);
        let fits = self.high.len() == n
            && self.any_missing.len() == n
            && self.moments.means.dim() == (1, n)
            && self.values.len() == sampled * n
            && self.low.iter().chain(&self.high).all(|x| !x.is_nan())
            && !self.values.iter().any(|x| x.is_infinite());
        if !fits {
            return Err(Error::File("the sums of a preprocessing are inconsistent".into()));
        }
        self.text.iter().flatten().try_for_each(|terms| match terms {
            KnownTerms::Vocabulary(terms) => terms.check(),
            KnownTerms::Hashed { hashing, document_frequencies, .. } => {
                hashing.check()?;
                match document_frequencies.len() == hashing.n_features {
                    true => Ok(()),
                    false => {
                        Err(Error::File("hashed document frequencies are inconsistent".into()))
                    }
                }
            }
        })
    }
}

fn merge_terms(mine: &mut KnownTerms, theirs: &KnownTerms) -> Result<()> {
    match (mine, theirs) {
        (KnownTerms::Vocabulary(mine), KnownTerms::Vocabulary(theirs)) => mine.merge(theirs),
        (
            KnownTerms::Hashed { hashing, n_documents, document_frequencies },
            KnownTerms::Hashed {
                hashing: other,
                n_documents: n,
                document_frequencies: frequencies,
            },
        ) if hashing == other => {
            *n_documents += n;
            let both = document_frequencies.iter_mut().zip(frequencies);
            both.for_each(|(mine, theirs)| *mine += theirs);
            Ok(())
        }
        _ => Err(Error::Merge { why: "the terms of text columns differ".into() }),
    }
}

/// The document frequencies of the terms that a selection keeps.
fn selected(terms: &DocumentFrequencies, selection: &Selection) -> Result<DocumentFrequencies> {
    let frequencies = &terms.frequencies;
    let keep = selection.keep(terms.n_documents, frequencies, |id| frequencies[id])?;
    let kept = || (0..keep.len()).filter(|id| keep[*id]);
    Ok(DocumentFrequencies {
        n_documents: terms.n_documents,
        vocabulary: Vocabulary::new(kept().map(|id| terms.vocabulary.term(id)))?,
        frequencies: kept().map(|id| frequencies[id]).collect(),
    })
}

impl Features {
    /// Whether the steps depend on the rows, apart from a kernel map.
    ///
    /// # Errors
    /// If the recipe is invalid.
    pub fn needs_sums(&self, recipe: &Recipe) -> Result<bool> {
        Ok(self.clone().plan_fit(recipe)?.needs_pass())
    }

    /// The features whose steps need no sums.
    ///
    /// # Errors
    /// If the recipe is invalid.
    pub fn without_sums(mut self, recipe: &Recipe) -> Result<Features> {
        let plan = self.plan_fit(recipe)?;
        self.set_fixed_text(plan);
        Ok(self)
    }

    /// Fits the steps to the sums of all rows, without the kernel map.
    ///
    /// # Errors
    /// If the sums are of other features, or no feature is left.
    pub fn with_sums(mut self, recipe: &Recipe, sums: &FeatureSums) -> Result<Features> {
        if sums.rows == 0 {
            return Err(Error::NoRows);
        }
        let plan = self.plan_fit(recipe)?;
        let fits = sums.n_columns() == plan.numeric.len()
            && sums.keys.is_some() == recipe.needs_values()
            && sums.levels.len() == plan.levels.len()
            && sums.levels.iter().zip(&plan.levels).all(|(a, b)| a.len() == b.counts.len())
            && sums.text.len() == plan.text.len();
        if !fits {
            return Err(Error::Merge { why: "the sums are of other columns".into() });
        }
        if plan.fits_numeric {
            self.set_numeric_steps(&plan.numeric, &sums.summaries().finish(), recipe)?;
        }
        for (rows, counts) in plan.levels.iter().zip(&sums.levels) {
            self.steps[rows.column] = Step::OneHot(OneHotStep::planned(recipe).grouped(counts));
        }
        for ((k, mut step), terms) in plan.text.into_iter().zip(plan.steps).zip(&sums.text) {
            match terms {
                Some(KnownTerms::Vocabulary(terms)) => {
                    step.terms = KnownTerms::Vocabulary(selected(terms, &recipe.text.selection)?);
                }
                Some(hashed) => step.terms = hashed.clone(),
                None => {}
            }
            self.steps[k] = Step::Text(step.into());
        }
        match self.n_features() {
            0 => Err(self.no_features(recipe)),
            _ => Ok(self),
        }
    }
}

impl Features {
    /// A matrix as a table of the numeric columns of these features.
    ///
    /// # Errors
    /// If the number of columns differs.
    pub fn table_of(&self, rows: &Rows<'_>) -> Result<Table> {
        let fields = &self.schema.fields;
        if rows.n_columns() != fields.len() {
            return Err(Error::Columns { found: rows.n_columns(), expected: fields.len() });
        }
        let n = rows.n_rows();
        let mut columns: Vec<Vec<f64>> = vec![Vec::with_capacity(n); fields.len()];
        let block = rows.block(0..n).unwrap_or_default();
        for row in block.chunks_exact(fields.len().max(1)) {
            columns.iter_mut().zip(row).for_each(|(column, x)| column.push(*x));
        }
        let column = |(field, values): (&Field, Vec<f64>)| Column {
            name: field.name.clone(),
            values: Values::Numeric(values),
        };
        Table::new(fields.iter().zip(columns).map(column).collect())
    }

    /// The features of the rows of a matrix; `None` if they are its columns.
    ///
    /// # Errors
    /// If the number of columns differs, or a cell is not finite.
    pub fn encode_matrix(&self, rows: &Rows<'_>) -> Result<Option<Matrix>> {
        let unchanged = Step::Numeric(NumericStep::default());
        if self.steps.iter().all(|step| *step == unchanged || *step == Step::Sparse) {
            if rows.n_columns() != self.n_encoded() {
                return Err(Error::Columns { found: rows.n_columns(), expected: self.n_encoded() });
            }
            return self.map.as_ref().map(|map| map.dense(rows)).transpose();
        }
        match self.rows(&self.table_of(rows)?)?.0 {
            OwnedRows::Dense(x) => Ok(Some(x)),
            OwnedRows::Sparse(_) => Err(Error::ByColumns),
        }
    }
}

/// A random sample of encoded rows: those with the smallest hashes of their index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowSample {
    /// The number of rows that it was drawn from.
    rows: u64,
    width: usize,
    max_rows: usize,
    /// The hashes, as signed integers, ascending as unsigned ones.
    keys: Vec<i64>,
    /// The end of each row in `columns` and `values`.
    ends: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl RowSample {
    /// The sample of rows of which the first has the index `first_row`.
    pub fn of(rows: &Rows<'_>, map: &FeatureMapRecipe, first_row: u64) -> RowSample {
        let n = rows.n_rows();
        let key = |i: usize| mix(map.seed() ^ mix(first_row + i as u64));
        let mut order: Vec<(u64, usize)> = (0..n).map(|i| (key(i), i)).collect();
        order.sort_unstable();
        order.truncate(map.sample_rows());
        let mut sample = RowSample {
            rows: n as u64,
            width: rows.n_columns(),
            max_rows: map.sample_rows(),
            ..RowSample::default()
        };
        for (key, i) in order {
            sample.keys.push(key as i64);
            for (j, x) in rows.row(i).into_iter().enumerate().filter(|(_, x)| *x != 0.0) {
                sample.columns.push(j as u32);
                sample.values.push(x);
            }
            sample.ends.push(sample.values.len() as u64);
        }
        sample
    }

    fn row(&self, i: usize) -> std::ops::Range<usize> {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        start..self.ends[i] as usize
    }

    /// Fits a kernel map to the sample.
    ///
    /// # Errors
    /// As the map's own fit, or if there are no rows.
    pub fn fit(
        &self,
        map: &FeatureMapRecipe,
        layout: Layout,
        monitor: &Monitor<'_>,
    ) -> Result<FeatureMap> {
        let n = self.keys.len();
        if n == 0 {
            return Err(Error::NoRows);
        }
        let mut fitted = match layout {
            Layout::Dense => {
                let mut x = Matrix::zeros((n, self.width));
                for i in 0..n {
                    self.row(i).for_each(|at| x[[i, self.columns[at] as usize]] = self.values[at]);
                }
                map.fit(&Rows::from(&x), monitor)?
            }
            Layout::Sparse => {
                let starts = std::iter::once(0).chain(self.ends.iter().map(|end| *end as usize));
                let columns = self.columns.iter().map(|j| *j as i32).collect();
                let shape = (n, self.width);
                let x = Sparse::new(shape, starts.collect(), columns, self.values.clone());
                map.fit(&Rows::from(&x), monitor)?
            }
        };
        if (n as u64) < self.rows {
            let note = format!("fitted to {n} of {} rows", self.rows);
            fitted.certificate = fitted.certificate.note_first(note);
        }
        Ok(fitted)
    }
}

impl Statistics for RowSample {
    fn merge(&mut self, other: &Self) -> Result<()> {
        if self.rows == 0 {
            *self = other.clone();
            return Ok(());
        }
        if other.rows == 0 {
            return Ok(());
        }
        if (self.width, self.max_rows) != (other.width, other.max_rows) {
            return Err(Error::Merge { why: "the samples are of other columns".into() });
        }
        let both = [&*self, other];
        let mut order: Vec<(u64, usize, usize)> = Vec::new();
        for (k, sample) in both.iter().enumerate() {
            order.extend(sample.keys.iter().enumerate().map(|(i, key)| (*key as u64, k, i)));
        }
        order.sort_unstable();
        order.truncate(self.max_rows);
        let mut merged = RowSample {
            rows: self.rows + other.rows,
            width: self.width,
            max_rows: self.max_rows,
            ..RowSample::default()
        };
        for (key, k, i) in order {
            let range = both[k].row(i);
            merged.keys.push(key as i64);
            merged.columns.extend(&both[k].columns[range.clone()]);
            merged.values.extend(&both[k].values[range]);
            merged.ends.push(merged.values.len() as u64);
        }
        *self = merged;
        Ok(())
    }

    fn forget(&mut self, _: &Self) -> Result<()> {
        Err(Error::Forget { why: "a sample cannot forget rows".into() })
    }

    fn check(&self) -> Result<()> {
        let n = self.keys.len();
        let sorted_columns = |i: usize| {
            let columns = &self.columns[self.row(i)];
            columns.is_sorted_by(|a, b| a < b)
                && columns.last().is_none_or(|j| (*j as usize) < self.width)
        };
        let fits = n <= self.max_rows
            && n as u64 <= self.rows
            && self.ends.len() == n
            && self.ends.is_sorted()
            && self.ends.last().copied().unwrap_or(0) == self.values.len() as u64
            && self.columns.len() == self.values.len()
            && self.values.iter().all(|x| x.is_finite())
            && (0..n).all(sorted_columns);
        if fits { Ok(()) } else { Err(Error::File("an inconsistent sample of rows".into())) }
    }
}
