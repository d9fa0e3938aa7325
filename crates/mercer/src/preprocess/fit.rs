//! Fits the steps that depend on the data: means, medians, ranges and bins of numeric columns, frequent levels of
//! categorical columns, vocabularies and document frequencies of text columns, and the kernel map.

use super::encode::translation;
use super::encoded::sample_weights;
use super::feature_map::mix;
use super::features::{Features, Step, is_text};
use super::numeric::NumericSummary;
use super::text::TextFit;
use super::{CachedCounts, DateStep, OneHotStep, Power, Recipe, Scale, TextStep};
use crate::data::{Field, Levels, Stream, Table, Values};
use crate::error::{Error, Result};
use crate::model::Monitor;
use crate::stats::{Grouped, Moments};
use crate::text::Selection;
use mercer_num::{Matrix, Rows, parallel};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows that are read together; the result does not depend on it.
const ROWS_PER_TABLE: usize = 4096;
/// Medians, quantiles and power transforms are exact up to this many rows; of more rows, a random sample is used,
const MAX_QUANTILE_ROWS: usize = 1 << 17;
/// with fewer rows if there are many columns: their values take at most this many bytes,
const MAX_QUANTILE_BYTES: usize = 256 << 20;
/// but at least this many rows.
const MIN_QUANTILE_ROWS: usize = 1 << 12;
/// Bytes of token counts that are cached if there is no memory limit.
const MAX_CACHED_BYTES: u64 = 256 << 20;

impl Features {
    /// Fits the steps that depend on the data.
    ///
    /// # Errors
    /// The error of the stream, or [`Error::Stopped`].
    pub fn fit<S: Stream>(
        self,
        recipe: &Recipe,
        stream: &S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Features, S::Error> {
        Ok(self.fit_within(recipe, stream, 0, monitor)?.0)
    }

    /// As [`Features::fit`], and caches the token counts of text columns, so that the next pass need not count again.
    ///
    /// # Errors
    /// The error of the stream, or [`Error::Stopped`].
    pub fn fit_and_cache_counts<'s, S: Stream>(
        self,
        recipe: &Recipe,
        stream: &'s S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<(Features, CachedCounts<'s, S>), S::Error> {
        // Encoded rows take three times the bytes of the cached counts. An eighth of the budget for the counts leaves
        // all of it together below one half, so the cache never makes a fit fail.
        let max_bytes =
            monitor.memory().map_or(MAX_CACHED_BYTES, |bytes| MAX_CACHED_BYTES.min(bytes / 8));
        self.fit_within(recipe, stream, max_bytes, monitor)
    }

    fn fit_within<'s, S: Stream>(
        mut self,
        recipe: &Recipe,
        stream: &'s S,
        cache_bytes: u64,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<(Features, CachedCounts<'s, S>), S::Error> {
        let mut cached = CachedCounts::new(stream);
        let plan = self.plan_fit(recipe)?;
        if !plan.needs_pass() {
            self.set_fixed_text(plan);
            return Ok((self.fit_map(recipe, stream, monitor)?, cached));
        }
        let FitPlan { text, steps, numeric, mut levels, fits_numeric } = plan;
        let cache_bytes = cache_bytes / text.len().max(1) as u64;
        let mut text_fits =
            steps.iter().map(|step| TextFit::new(step, cache_bytes)).collect::<Result<Vec<_>>>()?;
        let mut summaries = NumericSummaries::new(numeric.len(), recipe.needs_values());
        let mut stopped = None;
        let schema = self.weighted_schema();
        stream.stream(&schema, ROWS_PER_TABLE, &mut |tables| {
            for table in &tables {
                let weights =
                    sample_weights(table, &self).map_err(|e| e.after_rows(summaries.n_rows))?;
                summaries.observe(table, &self.steps, &numeric, &weights, monitor)?;
                levels.iter_mut().for_each(|rows| rows.observe(table));
            }
            for (fit, k) in text_fits.iter_mut().zip(&text) {
                fit.observe(&documents(&tables, *k), monitor)?;
            }
            stopped = monitor.stop();
            Ok(if stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if stopped.is_some() {
            return Err(Error::Stopped.into());
        }
        if fits_numeric {
            self.set_numeric_steps(&numeric, &summaries.finish(), recipe)?;
        }
        for LevelRows { column, counts, .. } in levels {
            self.steps[column] = Step::OneHot(OneHotStep::planned(recipe).grouped(&counts));
        }
        for ((k, fit), step) in text.into_iter().zip(text_fits).zip(steps) {
            let (step, counts) = fit.finish(step, &recipe.text.selection)?;
            self.steps[k] = Step::Text(step.into());
            if let Some(counts) = counts {
                cached.insert(&self.schema.fields[k].name, counts);
            }
        }
        if self.n_features() == 0 {
            return Err(self.no_features(recipe).into());
        }
        Ok((self.fit_map(recipe, &cached, monitor)?, cached))
    }

    /// What a pass over the rows has to find out, with the steps that need none.
    pub(super) fn plan_fit(&mut self, recipe: &Recipe) -> Result<FitPlan> {
        let columns = |is: fn(&Step) -> bool| -> Vec<usize> {
            (0..self.steps.len()).filter(|k| is(&self.steps[*k])).collect()
        };
        let text = columns(is_text);
        let numeric = self.numeric_inputs();
        let has_dates = self.steps.iter().any(|step| matches!(step, Step::Date(_)));
        let one_hot = columns(|step| matches!(step, Step::OneHot(_)));
        if recipe.needs_fit() {
            for k in one_hot.iter() {
                self.steps[*k] = Step::OneHot(OneHotStep::planned(recipe));
            }
        }
        self.dense_text = recipe.dense_text && !text.is_empty();
        let mut levels: Vec<LevelRows> = Vec::new();
        for k in one_hot {
            match &self.steps[k] {
                Step::OneHot(step)
                    if recipe.groups_levels() && step.needs_counts(&self.schema.fields[k]) =>
                {
                    levels.push(LevelRows::new(k, &self.schema.fields[k]));
                }
                _ => {}
            }
        }
        let steps = text.iter().map(|_| recipe.text.step()).collect::<Result<Vec<_>>>()?;
        let fits_numeric = (recipe.needs_numeric_fit() && !numeric.is_empty()) || has_dates;
        Ok(FitPlan { text, steps, numeric, levels, fits_numeric })
    }

    /// Sets text steps that do not depend on the rows.
    pub(super) fn set_fixed_text(&mut self, plan: FitPlan) {
        let steps = plan.text.into_iter().zip(plan.steps);
        steps.for_each(|(k, step)| self.steps[k] = Step::Text(step.into()));
    }

    /// Why no feature is left: the filters of the vocabulary, if there are text columns.
    pub(super) fn no_features(&self, recipe: &Recipe) -> Error {
        let columns = self.schema.fields.iter().zip(&self.steps);
        let texts = columns.filter(|(_, step)| is_text(step));
        let columns: Vec<String> = texts.map(|(field, _)| format!("`{}`", field.name)).collect();
        if columns.is_empty() {
            return Error::NoFeatures;
        }
        let Selection { min_df, max_df, .. } = recipe.text.selection;
        let (min_df, max_df) = (min_df.to_string(), max_df.to_string());
        Error::EmptyVocabulary { columns: columns.join(", "), min_df, max_df }
    }

    /// The numeric inputs: the column of each, and the part if it is a column of dates.
    fn numeric_inputs(&self) -> Vec<(usize, usize)> {
        let n_inputs = |step: &Step| match step {
            Step::Numeric(_) => 1,
            Step::Date(step) => step.parts.len(),
            _ => 0,
        };
        let columns = self.steps.iter().enumerate();
        columns.flat_map(|(k, step)| (0..n_inputs(step)).map(move |part| (k, part))).collect()
    }

    /// Sets the steps of the numeric inputs. Parts of a date that do not vary are no features, unless they were when
    /// the step was fitted before.
    pub(super) fn set_numeric_steps(
        &mut self,
        inputs: &[(usize, usize)],
        summaries: &[NumericSummary],
        recipe: &Recipe,
    ) -> Result<()> {
        // A power transform depends on the origin, which is arbitrary for dates.
        let of_dates = match recipe.power {
            Power::YeoJohnson => {
                Recipe { power: Power::Keep, scale: Scale::Standard, ..recipe.clone() }
            }
            _ => recipe.clone(),
        };
        for ((k, part), summary) in inputs.iter().zip(summaries) {
            let is_date = matches!(self.steps[*k], Step::Date(_));
            let step = summary.step(if is_date { &of_dates } else { recipe });
            step.check().map_err(|_| Error::TooLarge { column: *k })?;
            match &mut self.steps[*k] {
                Step::Date(date) => date.parts[*part].1 = step,
                other => *other = Step::Numeric(step),
            }
        }
        for (k, step) in self.steps.iter_mut().enumerate() {
            let Step::Date(date) = step else { continue };
            if date.origin.is_some() {
                continue;
            }
            let first = inputs.iter().position(|(column, _)| *column == k).unwrap_or_default();
            let varies = |part: usize| summaries[first + part].low < summaries[first + part].high;
            let kept = (0..date.parts.len()).filter(|part| *part == 0 || varies(*part));
            let parts = kept.map(|part| date.parts[part].clone()).collect();
            // Elapsed days were counted from 1970.
            let origin = summaries[first].low;
            *date = DateStep { origin: Some(origin), parts };
            date.parts[0].1.shift(origin);
        }
        Ok(())
    }

    /// Fits the kernel map of the recipe, if there is one.
    fn fit_map<S: Stream>(
        mut self,
        recipe: &Recipe,
        stream: &S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Features, S::Error> {
        if let Some(map) = &recipe.map {
            self.map = Some(Arc::new(map.fit_stream(&self, stream, monitor)?));
        }
        Ok(self)
    }
}

/// What a pass over the rows has to find out.
pub(super) struct FitPlan {
    /// The text columns,
    pub text: Vec<usize>,
    /// and the step of each.
    pub steps: Vec<TextStep>,
    /// The numeric inputs: column, and part if it is a column of dates.
    pub numeric: Vec<(usize, usize)>,
    /// The categorical columns whose levels are counted.
    pub levels: Vec<LevelRows>,
    /// Whether numeric columns are summarized.
    pub fits_numeric: bool,
}

impl FitPlan {
    /// Whether some step depends on the rows.
    pub fn needs_pass(&self) -> bool {
        self.fits_numeric || !self.levels.is_empty() || self.steps.iter().any(TextStep::needs_fit)
    }
}

/// The number of rows of each level of a categorical column.
pub(super) struct LevelRows {
    pub column: usize,
    levels: Arc<Levels>,
    pub counts: Vec<u64>,
}

impl LevelRows {
    fn new(column: usize, field: &Field) -> LevelRows {
        let levels = Arc::clone(&field.levels);
        LevelRows { column, counts: vec![0; levels.len()], levels }
    }

    pub fn observe(&mut self, table: &Table) {
        let Values::Categorical { codes, levels } = &table.columns()[self.column].values else {
            return;
        };
        let to = translation(levels, &self.levels);
        for code in codes {
            let code = to.get(*code as usize).copied().unwrap_or(*code);
            if let Some(count) = self.counts.get_mut(code as usize) {
                *count += 1;
            }
        }
    }
}

/// The documents of a text column.
pub(super) fn documents(tables: &[Table], column: usize) -> Vec<&[Option<String>]> {
    let documents = tables.iter().filter_map(|table| match &table.columns()[column].values {
        Values::Text(texts) => Some(texts.as_slice()),
        _ => None,
    });
    documents.collect()
}

/// Accumulates statistics of the numeric columns.
pub(super) struct NumericSummaries {
    /// The index of the next row.
    pub n_rows: usize,
    pub moments: Moments,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    pub any_missing: Vec<bool>,
    pub values: Option<SampledRows>,
}

/// The numeric values of a random sample of the rows: those with the smallest hashes of their index, so that the sample
/// does not depend on how the rows are read.
pub(super) struct SampledRows {
    /// The hash and the values of each row.
    pub rows: Vec<(u64, Vec<f64>)>,
    max_rows: usize,
    max_key: u64,
}

impl SampledRows {
    pub fn new(n_columns: usize) -> SampledRows {
        let rows = MAX_QUANTILE_BYTES / (8 * n_columns.max(1));
        let max_rows = rows.clamp(MIN_QUANTILE_ROWS, MAX_QUANTILE_ROWS);
        SampledRows { rows: Vec::new(), max_rows, max_key: u64::MAX }
    }

    fn push(&mut self, row: usize, values: impl Iterator<Item = f64>) {
        let key = mix(row as u64);
        if key > self.max_key {
            return;
        }
        self.rows.push((key, values.collect()));
        if self.rows.len() >= 2 * self.max_rows {
            self.shorten();
        }
    }

    pub fn shorten(&mut self) {
        if self.rows.len() > self.max_rows {
            self.rows.sort_by_key(|(key, _)| *key);
            self.rows.truncate(self.max_rows);
            self.max_key = self.rows[self.max_rows - 1].0;
        }
    }

    /// The sorted values of a column.
    fn sorted(&self, column: usize) -> Vec<f64> {
        let values = self.rows.iter().map(|(_, row)| row[column]);
        let mut values: Vec<f64> = values.filter(|x| !x.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        values
    }
}

impl NumericSummaries {
    pub fn new(n_columns: usize, store_values: bool) -> NumericSummaries {
        NumericSummaries {
            n_rows: 0,
            moments: Moments::empty(1, n_columns),
            low: vec![f64::INFINITY; n_columns],
            high: vec![f64::NEG_INFINITY; n_columns],
            any_missing: vec![false; n_columns],
            values: store_values.then(|| SampledRows::new(n_columns)),
        }
    }

    /// Means and variances are weighted by the sample weights; medians, quantiles and ranges are those of the rows of
    /// positive weight.
    pub fn observe(
        &mut self,
        table: &Table,
        steps: &[Step],
        numeric: &[(usize, usize)],
        weights: &[f64],
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let mut x = Matrix::zeros((table.n_rows(), numeric.len()));
        for (j, (k, part)) in numeric.iter().enumerate() {
            match (&table.columns()[*k].values, &steps[*k]) {
                (Values::Numeric(v), Step::Date(date)) => {
                    let days = x.column_mut(j).into_iter().zip(v);
                    days.for_each(|(to, v)| *to = date.value(*part, *v));
                }
                (Values::Numeric(v), _) => {
                    x.column_mut(j).iter_mut().zip(v).for_each(|(to, v)| *to = *v)
                }
                (Values::Boolean(v), _) => x
                    .column_mut(j)
                    .iter_mut()
                    .zip(v)
                    .for_each(|(to, v)| *to = v.map_or(f64::NAN, f64::from)),
                _ => x.column_mut(j).fill(f64::NAN),
            }
        }
        let n = x.nrows();
        let total = if weights.is_empty() { n as f64 } else { weights.iter().sum() };
        let part = Moments::of_rows(&Rows::from(&x), &vec![0; n], weights, &[total])
            .map_err(|e| in_table(e, numeric).after_rows(self.n_rows))?;
        let first_row = self.n_rows;
        self.n_rows += n;
        self.moments.merge_group(0, &part, 0);
        let counts = |i: usize| weights.get(i).is_none_or(|w| *w > 0.0);
        for (j, column) in x.columns().into_iter().enumerate() {
            for (_, value) in column.iter().enumerate().filter(|(i, _)| counts(*i)) {
                self.any_missing[j] |= value.is_nan();
                self.low[j] = self.low[j].min(*value);
                self.high[j] = self.high[j].max(*value);
            }
        }
        if let Some(values) = &mut self.values {
            for (i, row) in x.outer_iter().enumerate().filter(|(i, _)| counts(*i)) {
                values.push(first_row + i, row.iter().copied());
            }
            let n_bytes = 8 * values.rows.capacity() * (numeric.len() + 4);
            monitor.reserve("storing values for medians and quantiles", n_bytes as u64)?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> Vec<NumericSummary> {
        let variances = self.moments.variances(0.0);
        if let Some(values) = &mut self.values {
            values.shorten();
        }
        let sorted = parallel::map(self.low.len(), |j| {
            Ok::<_, Error>(self.values.as_ref().map_or_else(Vec::new, |values| values.sorted(j)))
        });
        let mut sorted = sorted.unwrap_or_default().into_iter();
        (0..self.low.len())
            .map(|j| {
                let any = self.low[j] <= self.high[j];
                NumericSummary {
                    mean: self.moments.means[[0, j]],
                    variance: variances[[0, j]],
                    low: if any { self.low[j] } else { 0.0 },
                    high: if any { self.high[j] } else { 0.0 },
                    any_missing: self.any_missing[j],
                    sorted: sorted.next().unwrap_or_default(),
                }
            })
            .collect()
    }
}

/// Translates the column of an error from the numeric columns to all columns.
fn in_table(error: Error, numeric: &[(usize, usize)]) -> Error {
    match error {
        Error::NotFinite { row, column, value } => {
            Error::NotFinite { row, column: numeric[column].0, value }
        }
        other => other,
    }
}
