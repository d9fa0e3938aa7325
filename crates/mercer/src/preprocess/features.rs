//! How tables become rows: columns by name, numbers prepared, words as codes or indicator columns,
//! texts as counts of words.

use super::encoded::{Encoded, Encoder, OwnedRows};
use super::numeric::{Look, NumericStep};
use super::text::TextLook;
use super::{CachedCounts, CategoryEncoding, FeatureMap, Recipe, TextStep};
use crate::data::{
    Classes, Column, ColumnDescription, Kind, Label, Levels, MISSING, Measure, Stream, Table,
    UNSEEN, Values,
};
use crate::data::{Field, Schema};
use crate::error::{Error, Result};
use crate::model::{Monitor, Stop};
use crate::stats::{Grouped, Moments};
use mercer_num::parallel::Layout;
use mercer_num::{Matrix, Rows, Sparse};
use ndarray::{ArrayViewMut2, Axis, Slice};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows looked at together; any number gives the same features.
const LOOK: usize = 4096;
/// Bytes of what a look found in texts that are kept, where nobody set a budget.
const KEPT: u64 = 256 << 20;
/// Rows written together.
const TILE: usize = 256;

/// The way from a table to rows, stored in every model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// The columns features are made from.
    pub schema: Schema,
    /// One entry a column.
    pub steps: Vec<Step>,
    /// The column that holds the class or number to learn, where one has a name.
    pub target: Option<String>,
    /// What all columns go through together, last.
    #[serde(default)]
    pub map: Option<Arc<FeatureMap>>,
}

/// What happens to a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Prepared numbers.
    Numeric(NumericStep),
    /// One indicator a level; a gap or an unknown word is missing in all of them.
    OneHot,
    /// The place of the level; an unknown word has the place behind the last.
    Code,
    /// How often each of some words occurs, or what that weighs.
    Text(Arc<TextStep>),
    /// A bundle of numbers as it is.
    Sparse,
}

/// What an estimator reads the numbers of a row as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Quantities.
    Numeric,
    /// Quantities, how often words occur among them.
    NumericAndText,
    /// How often things occur.
    Counts,
    /// CategoryCounts of values.
    Categorical,
    /// Each column as it is described.
    Mixed,
}

/// Why a column is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// It has no values.
    Empty,
    /// It holds words, and a bell curve says little about words.
    Categorical,
    /// It holds free text, and the estimator does not read text.
    Text,
    /// The user selected other columns.
    NotSelected,
}

impl Features {
    /// Numeric columns as they are, as a matrix without a table has them.
    pub fn plain(names: impl IntoIterator<Item = String>) -> Features {
        let fields: Vec<Field> = names.into_iter().map(Field::numeric).collect();
        let steps = vec![Step::Numeric(NumericStep::default()); fields.len()];
        Features { schema: Schema { fields }, steps, target: None, map: None }
    }

    /// The features of a schema's columns, all but the target, and the columns left out with the
    /// reason. [`CategoryEncoding::Auto`] keeps words out of the way of numbers. A recipe that depends on the
    /// data needs [`Features::fit`] next.
    ///
    /// # Errors
    /// If nothing is left to learn from.
    pub fn plan(
        schema: &Schema,
        target: Option<&str>,
        words: CategoryEncoding,
    ) -> Result<(Features, Vec<(String, DropReason)>)> {
        Features::plan_for(schema, target, words, Reads::Numeric)
    }

    /// The same for an estimator that reads rows as something else than numbers: words keep their
    /// codes where codes are read, texts become counts of words where counts are. Counts come last.
    ///
    /// # Errors
    /// If nothing is left to learn from.
    pub fn plan_for(
        schema: &Schema,
        target: Option<&str>,
        words: CategoryEncoding,
        reads: Reads,
    ) -> Result<(Features, Vec<(String, DropReason)>)> {
        let codes =
            matches!(reads, Reads::Categorical | Reads::Mixed) && words == CategoryEncoding::Auto;
        let texts = matches!(reads, Reads::Counts | Reads::Mixed | Reads::NumericAndText);
        let columns = schema.fields.iter().filter(|f| Some(f.name.as_str()) != target);
        let numbers = columns.clone().any(|f| matches!(f.kind, Kind::Numeric | Kind::Boolean));
        let indicators =
            words == CategoryEncoding::OneHot || (words == CategoryEncoding::Auto && !numbers);
        let mut features = Features {
            schema: Schema::default(),
            steps: Vec::new(),
            target: target.map(str::to_owned),
            map: None,
        };
        let mut left_out = Vec::new();
        for field in columns {
            let step = match field.kind {
                Kind::Boolean if codes => Ok(Step::Code),
                Kind::Numeric | Kind::Boolean => Ok(Step::Numeric(NumericStep::default())),
                Kind::Categorical if codes && !field.levels.is_empty() => Ok(Step::Code),
                Kind::Text if texts && words != CategoryEncoding::Drop => {
                    Ok(Step::Text(Arc::default()))
                }
                Kind::Categorical if field.levels.is_empty() => Err(DropReason::Empty),
                Kind::Categorical if indicators => Ok(Step::OneHot),
                Kind::Categorical => Err(DropReason::Categorical),
                Kind::Sparse => Ok(Step::Sparse),
                Kind::Text => Err(DropReason::Text),
            };
            match step {
                Ok(step) => {
                    features.schema.fields.push(field.clone());
                    features.steps.push(step);
                }
                Err(why) => left_out.push((field.name.clone(), why)),
            }
        }
        if features.steps.contains(&Step::Sparse) && features.steps.len() > 1 {
            return Err(Error::Kind {
                column: features.schema.fields[0].name.clone(),
                found: "beside a sparse bundle".into(),
                expected: "a sparse bundle alone".into(),
            });
        }
        if features.steps.is_empty() {
            return Err(Error::NoFeatures);
        }
        features.put_counts_last();
        Ok((features, left_out))
    }

    fn put_counts_last(&mut self) {
        let (fields, steps) = (&mut self.schema.fields, &mut self.steps);
        let mut both: Vec<_> = fields.drain(..).zip(steps.drain(..)).collect();
        both.sort_by_key(|(_, step)| matches!(step, Step::Text(_)));
        (*fields, *steps) = both.into_iter().unzip();
    }

    /// Looks at the columns and settles what the recipe does to numbers, and which words texts have.
    ///
    /// # Errors
    /// What reading failed with, or [`Error::Stopped`].
    pub fn fit<S: Stream>(
        self,
        recipe: &Recipe,
        stream: &S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Features, S::Error> {
        Ok(self.look_with_room(recipe, stream, 0, monitor)?.0)
    }

    /// The same, and the stream with what was found in its texts, so that it need not be looked for again.
    ///
    /// # Errors
    /// What reading failed with, or [`Error::Stopped`].
    pub fn fit_and_cache_counts<'s, S: Stream>(
        self,
        recipe: &Recipe,
        stream: &'s S,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<(Features, CachedCounts<'s, S>), S::Error> {
        // Rows in memory take three times what is kept of them. So all of it together is half of a budget at
        // most, and nothing is refused that would not be refused without.
        let room = monitor.memory().map_or(KEPT, |bytes| KEPT.min(bytes / 8));
        self.look_with_room(recipe, stream, room, monitor)
    }

    fn look_with_room<'s, S: Stream>(
        mut self,
        recipe: &Recipe,
        stream: &'s S,
        room: u64,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<(Features, CachedCounts<'s, S>), S::Error> {
        let mut kept = CachedCounts::new(stream);
        let texts: Vec<usize> =
            (0..self.steps.len()).filter(|k| is_text(&self.steps[*k])).collect();
        let mut steps = Vec::with_capacity(texts.len());
        for _ in &texts {
            steps.push(recipe.text.step()?);
        }
        if !recipe.needs_fit() && !steps.iter().any(TextStep::needs_fit) {
            texts.into_iter().zip(steps).for_each(|(k, s)| self.steps[k] = Step::Text(s.into()));
            return Ok((self.with_map(recipe, stream, monitor)?, kept));
        }
        let numeric: Vec<usize> =
            (0..self.steps.len()).filter(|k| matches!(self.steps[*k], Step::Numeric(_))).collect();
        let room = room / texts.len().max(1) as u64;
        let mut found =
            steps.iter().map(|step| TextLook::new(step, room)).collect::<Result<Vec<_>>>()?;
        let mut looks = Looks::new(numeric.len(), recipe.needs_values());
        let mut stopped: Option<Stop> = None;
        stream.stream(&self.schema, LOOK, &mut |tables| {
            for table in &tables {
                looks.take(table, &numeric, monitor)?;
            }
            for (look, k) in found.iter_mut().zip(&texts) {
                let batches: Vec<&[Option<String>]> = (tables.iter())
                    .filter_map(|table| match &table.columns()[*k].values {
                        Values::Text(texts) => Some(texts.as_slice()),
                        _ => None,
                    })
                    .collect();
                look.take(&batches, monitor)?;
            }
            stopped = monitor.stop();
            Ok(if stopped.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if stopped.is_some() {
            return Err(Error::Stopped.into());
        }
        for (k, look) in numeric.into_iter().zip(looks.finish()) {
            let step = look.steps(recipe);
            step.check().map_err(|_| Error::TooLarge { column: k })?;
            self.steps[k] = Step::Numeric(step);
        }
        for ((k, look), step) in texts.into_iter().zip(found).zip(steps) {
            let (step, texts) = look.finish(step, &recipe.text.selection)?;
            self.steps[k] = Step::Text(step.into());
            if let Some(texts) = texts {
                kept.keep(&self.schema.fields[k].name, texts);
            }
        }
        if self.n_features() == 0 {
            return Err(Error::NoFeatures.into());
        }
        Ok((self.with_map(recipe, &kept, monitor)?, kept))
    }

    /// Fits the map that the recipe asks for.
    fn with_map<S: Stream>(
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

    /// The features of two models that were trained alike; a target that only one of them names
    /// counts for both.
    pub fn agreed(&self, other: &Features) -> Option<Features> {
        let target = match (&self.target, &other.target) {
            (Some(mine), Some(theirs)) if mine != theirs => return None,
            (mine, theirs) => mine.clone().or_else(|| theirs.clone()),
        };
        let alike =
            self.schema == other.schema && self.steps == other.steps && self.map == other.map;
        alike.then(|| Features { target, ..self.clone() })
    }

    /// How many features a row has.
    pub fn n_features(&self) -> usize {
        self.map.as_ref().map_or_else(|| self.n_cells(), |map| map.n_outputs())
    }

    /// How many numbers the columns become before the map; the same where there is none.
    pub fn n_cells(&self) -> usize {
        self.widths().sum()
    }

    fn widths(&self) -> impl Iterator<Item = usize> {
        self.schema.fields.iter().zip(&self.steps).map(|(field, step)| match step {
            Step::Numeric(step) => step.width(),
            Step::OneHot => field.levels.len(),
            Step::Code => 1,
            Step::Text(step) => step.width(),
            Step::Sparse => field.width,
        })
    }

    /// What is known about every feature, for the estimators that ask; words go without a name.
    pub fn descriptions(&self) -> Arc<[ColumnDescription]> {
        if self.map.is_some() {
            let number = ColumnDescription { name: String::new(), measure: Measure::Numeric };
            return std::iter::repeat_n(number, self.n_features()).collect();
        }
        let mut columns = Vec::with_capacity(self.n_features());
        for (k, (field, step)) in self.schema.fields.iter().zip(&self.steps).enumerate() {
            let named = |name, measure| ColumnDescription { name, measure };
            match step {
                Step::Text(step) => {
                    let word = named(String::new(), Measure::TermCount(k));
                    columns.extend(std::iter::repeat_n(word, step.width()));
                }
                Step::Sparse => {
                    let number = named(String::new(), Measure::Numeric);
                    columns.extend(std::iter::repeat_n(number, field.width));
                }
                Step::Code => {
                    columns.push(named(field.name.clone(), Measure::Categorical(n_codes(field))));
                }
                Step::Numeric(step) if step.as_code => {
                    let bins = step.cuts.as_ref().map_or(1, |cuts| cuts.len() + 1);
                    columns.push(named(field.name.clone(), Measure::Categorical(bins)));
                }
                Step::Numeric(_) | Step::OneHot => {
                    let names = feature_names(field, step).into_iter();
                    columns.extend(names.map(|name| named(name, Measure::Numeric)));
                }
            }
        }
        columns.into()
    }

    /// The word a feature's number stands for, where it stands for one.
    pub fn word(&self, feature: usize, x: f64) -> Option<String> {
        let k = *self.origins().get(feature)?;
        match &self.steps[k] {
            Step::Code if x == n_codes(&self.schema.fields[k]) as f64 => Some("(new)".to_owned()),
            Step::Code if self.schema.fields[k].kind == Kind::Boolean => {
                Some((x != 0.0).to_string())
            }
            Step::Code => self.schema.fields[k].levels.name(x as u32).map(str::to_owned),
            _ => None,
        }
    }

    /// The names of the features.
    pub fn names(&self) -> Vec<String> {
        let cells = self.encoded_names();
        self.map.as_ref().map_or_else(|| cells.clone(), |map| map.names(&cells))
    }

    /// The names of the numbers that the columns become before the map.
    pub fn encoded_names(&self) -> Vec<String> {
        let columns = self.schema.fields.iter().zip(&self.steps);
        columns.flat_map(|(field, step)| feature_names(field, step)).collect()
    }

    /// For every feature the place of the column it was made from; every number of a bundle stands
    /// for itself. Empty where a map makes every feature of all columns.
    pub fn origins(&self) -> Vec<usize> {
        if self.map.is_some() {
            return Vec::new();
        }
        let widths: Vec<usize> = self.widths().collect();
        widths.iter().enumerate().flat_map(|(k, w)| std::iter::repeat_n(k, *w)).collect()
    }

    /// How the rows will lie in memory.
    pub fn layout(&self) -> Layout {
        let sparse = |step: &Step| matches!(step, Step::Sparse | Step::Text(_));
        let kept = self.map.as_ref().is_none_or(|map| map.keeps_sparse());
        if kept && self.steps.iter().any(sparse) { Layout::Sparse } else { Layout::Dense }
    }

    /// The columns to read: those of the features, and the target as words if it is wanted.
    pub fn input_schema(&self, classes: Option<&Classes>) -> Schema {
        let mut schema = self.schema.clone();
        if let (Some(target), Some(classes)) = (&self.target, classes) {
            let words = classes.labels().iter().map(Label::to_string).collect();
            let levels = Arc::new(Levels::new(words));
            schema.fields.push(Field::categorical(target.clone(), levels));
        }
        schema
    }

    /// Makes rows of a table read with [`Features::input_schema`].
    ///
    /// # Errors
    /// If columns do not fit, or a row has no class or an unknown one.
    pub fn encode(&self, table: &Table, classes: Option<&Classes>) -> Result<Encoded> {
        Encoder::new(self).encode(table, classes)
    }

    /// Makes rows of a table read with [`Features::input_schema`]; rows without a class have the code
    /// [`UNLABELED`](super::UNLABELED).
    ///
    /// # Errors
    /// If columns do not fit, or a row has an unknown class.
    pub fn encode_semi_supervised(&self, table: &Table, classes: &Classes) -> Result<Encoded> {
        Encoder::new(self).encode_semi_supervised(table, classes)
    }

    /// Makes rows of a table read with [`Features::regression_schema`].
    ///
    /// # Errors
    /// If columns do not fit, or a row has no number.
    pub fn encode_regression(&self, table: &Table) -> Result<Encoded> {
        Encoder::new(self).encode_regression(table)
    }

    /// The features of a table, and how many cells have an unknown word.
    pub(crate) fn rows(&self, table: &Table) -> Result<(OwnedRows, u64)> {
        let columns = table.columns_of(&self.schema)?;
        let (rows, n_unseen) = self.cells(table.n_rows(), &columns)?;
        let Some(map) = &self.map else { return Ok((rows, n_unseen)) };
        let thin = match &rows {
            OwnedRows::Sparse(x) => map.sparse(&Rows::from(x))?,
            OwnedRows::Dense(_) => None,
        };
        let rows = match (thin, &rows) {
            (Some(thin), _) => OwnedRows::Sparse(thin),
            (None, OwnedRows::Sparse(x)) => OwnedRows::Dense(map.dense(&Rows::from(x))?),
            (None, OwnedRows::Dense(x)) => OwnedRows::Dense(map.dense(&Rows::from(x))?),
        };
        Ok((rows, n_unseen))
    }

    /// The numbers that the columns become, and how many cells have an unknown word.
    fn cells(&self, n_rows: usize, columns: &[&Column]) -> Result<(OwnedRows, u64)> {
        if let [column] = columns
            && let Values::Sparse(x) = &column.values
        {
            return Ok((OwnedRows::Sparse(x.clone()), 0));
        }
        let head: usize =
            self.widths().zip(&self.steps).filter(|(_, s)| !is_text(s)).map(|(w, _)| w).sum();
        let mut rows = Matrix::zeros((n_rows, head));
        let n_unseen = self.write(columns, &mut rows.view_mut());
        let rows = match self.steps.iter().any(is_text) {
            true => OwnedRows::Sparse(self.with_texts(columns, &rows)?),
            false => OwnedRows::Dense(rows),
        };
        Ok((rows, n_unseen))
    }

    /// Compressed rows: the cells of `head`, then those of texts.
    fn with_texts(&self, columns: &[&Column], head: &Matrix) -> Result<Sparse> {
        let mut texts = Vec::new();
        for (column, step) in columns.iter().zip(&self.steps) {
            match (&column.values, step) {
                (Values::Text(values), Step::Text(step)) => texts.push(step.rows(values)?),
                (Values::TokenCounts(values), Step::Text(step)) => {
                    texts.push(step.rows_of_counted(values)?);
                }
                _ => {}
            }
        }
        if let [_] = texts.as_slice()
            && head.ncols() == 0
        {
            return Ok(texts.remove(0).into_sparse());
        }
        let (mut starts, mut places, mut numbers) = (vec![0], Vec::new(), Vec::new());
        for (i, row) in head.outer_iter().enumerate() {
            for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                places.push(j as i32);
                numbers.push(*x);
            }
            let mut at = head.ncols() as i32;
            for rows in &texts {
                let cells = rows.starts[i]..rows.starts[i + 1];
                places.extend(rows.columns[cells.clone()].iter().map(|j| at + j));
                numbers.extend_from_slice(&rows.values[cells]);
                at += rows.n_columns as i32;
            }
            starts.push(places.len());
        }
        Ok(Sparse::new((head.nrows(), self.n_cells()), starts, places, numbers))
    }

    /// The columns to read where the target is a number.
    pub fn regression_schema(&self) -> Schema {
        let mut schema = self.schema.clone();
        schema.fields.extend(self.target.clone().map(Field::numeric));
        schema
    }

    /// Writes the dense features of a table read with [`Features::input_schema`] where they are wanted, and
    /// counts the cells whose word is unknown.
    ///
    /// # Errors
    /// If columns do not fit, or `out` has another shape.
    pub fn encode_into(&self, table: &Table, out: &mut ArrayViewMut2<'_, f64>) -> Result<u64> {
        let columns = table.columns_of(&self.schema)?;
        let expected = (table.n_rows(), self.n_features());
        if out.dim() != expected || self.layout() == Layout::Sparse {
            return Err(Error::Columns { found: out.ncols(), expected: expected.1 });
        }
        if self.map.is_some() {
            let (rows, n_unseen) = self.rows(table)?;
            if let OwnedRows::Dense(x) = &rows {
                out.assign(x);
            }
            return Ok(n_unseen);
        }
        Ok(self.write(&columns, out))
    }

    /// Some rows at a time, so that they stay in cache while column after column is written.
    fn write(&self, columns: &[&Column], out: &mut ArrayViewMut2<'_, f64>) -> u64 {
        let mut n_unseen = 0;
        for (k, mut tile) in out.axis_chunks_iter_mut(Axis(0), TILE).enumerate() {
            let mut at = 0;
            let fields = columns.iter().zip(&self.schema.fields);
            for ((column, field), (step, width)) in fields.zip(self.steps.iter().zip(self.widths()))
            {
                if is_text(step) {
                    continue;
                }
                let mut out = tile.slice_axis_mut(Axis(1), Slice::from(at..at + width));
                n_unseen += write_column(&column.values, k * TILE, field, step, &mut out);
                at += width;
            }
        }
        n_unseen
    }

    /// Refuses features that no plan could have made; for those that come from a file.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<()> {
        let fits = self.schema.fields.len() == self.steps.len()
            && self.schema.fields.iter().zip(&self.steps).all(|(field, step)| match step {
                Step::Numeric(_) => matches!(field.kind, Kind::Numeric | Kind::Boolean),
                Step::OneHot => field.kind == Kind::Categorical,
                Step::Code => matches!(field.kind, Kind::Categorical | Kind::Boolean),
                Step::Text(_) => field.kind == Kind::Text,
                Step::Sparse => field.kind == Kind::Sparse && self.steps.len() == 1,
            })
            && self.steps.is_sorted_by_key(is_text)
            && self.schema.fields.iter().all(|f| f.width >= 1 || f.kind == Kind::Sparse);
        if !fits {
            return Err(Error::File("features that no table could have".into()));
        }
        if let Some(map) = &self.map {
            map.check()?;
            if map.n_inputs() != self.n_cells() {
                return Err(Error::File("a map of other columns than there are".into()));
            }
        }
        self.steps.iter().try_for_each(|step| match step {
            Step::Numeric(step) => step.check(),
            Step::Text(step) => step.check(),
            _ => Ok(()),
        })
    }
}

/// Writes a column's features from some row on and counts the cells with unknown words.
fn write_column(
    values: &Values,
    first: usize,
    field: &Field,
    step: &Step,
    out: &mut ArrayViewMut2<'_, f64>,
) -> u64 {
    match (values, step) {
        (Values::Numeric(x), Step::Numeric(step)) if *step == NumericStep::default() => {
            out.column_mut(0).iter_mut().zip(&x[first..]).for_each(|(to, x)| *to = *x);
        }
        (Values::Numeric(x), Step::Numeric(step)) => {
            each_row(out, |i, cells| step.write(x[first + i], cells));
        }
        (Values::Boolean(x), Step::Numeric(step)) => {
            each_row(out, |i, cells| step.write(x[first + i].map_or(f64::NAN, f64::from), cells));
        }
        (Values::Boolean(x), Step::Code) => {
            each_row(out, |i, cells| cells[0] = x[first + i].map_or(f64::NAN, f64::from));
        }
        (Values::Categorical { codes, levels }, Step::OneHot) => {
            return write_indicators(&codes[first..], &translation(levels, &field.levels), out);
        }
        (Values::Categorical { codes, levels }, Step::Code) => {
            let to = translation(levels, &field.levels);
            return write_codes(&codes[first..], &to, n_codes(field), out);
        }
        _ => out.fill(f64::NAN),
    }
    0
}

/// The names of a column's features.
fn feature_names(field: &Field, step: &Step) -> Vec<String> {
    match step {
        Step::Numeric(step) => step.names(&field.name),
        Step::OneHot => {
            field.levels.names().iter().map(|w| format!("{}={w}", field.name)).collect()
        }
        Step::Code => vec![field.name.clone()],
        Step::Text(step) => step.names(),
        Step::Sparse => (1..=field.width).map(|j| format!("f{j}")).collect(),
    }
}

fn is_text(step: &Step) -> bool {
    matches!(step, Step::Text(_))
}

/// How many codes a column has.
fn n_codes(field: &Field) -> usize {
    if field.kind == Kind::Boolean { 2 } else { field.levels.len() }
}

/// The codes of a table's levels among the model's; empty where they are the same.
fn translation(from: &Arc<Levels>, to: &Arc<Levels>) -> Vec<u32> {
    if Arc::ptr_eq(from, to) || from == to {
        return Vec::new();
    }
    from.names().iter().map(|word| to.code(word)).collect()
}

fn write_indicators(codes: &[u32], translation: &[u32], out: &mut ArrayViewMut2<'_, f64>) -> u64 {
    let mut n_unseen = 0;
    each_row(out, |i, cells| {
        let code = translation.get(codes[i] as usize).copied().unwrap_or(codes[i]);
        n_unseen += u64::from(code == UNSEEN);
        if (code as usize) < cells.len() {
            cells.fill(0.0);
            cells[code as usize] = 1.0;
        } else {
            cells.fill(f64::NAN);
        }
    });
    n_unseen
}

/// Writes codes; a word the model never saw has the code behind the last.
fn write_codes(
    codes: &[u32],
    translation: &[u32],
    n_codes: usize,
    out: &mut ArrayViewMut2<'_, f64>,
) -> u64 {
    let mut n_unseen = 0;
    for (to, code) in out.column_mut(0).iter_mut().zip(codes) {
        let code = translation.get(*code as usize).copied().unwrap_or(*code);
        n_unseen += u64::from(code == UNSEEN);
        *to = match code {
            MISSING => f64::NAN,
            UNSEEN => n_codes as f64,
            code => f64::from(code),
        };
    }
    n_unseen
}

fn each_row(out: &mut ArrayViewMut2<'_, f64>, mut write: impl FnMut(usize, &mut [f64])) {
    let mut cells = vec![0.0; out.ncols()];
    for (i, mut row) in out.outer_iter_mut().enumerate() {
        write(i, &mut cells);
        row.iter_mut().zip(&cells).for_each(|(to, from)| *to = *from);
    }
}

/// What is gathered about numeric columns.
struct Looks {
    n_rows: usize,
    moments: Moments,
    low: Vec<f64>,
    high: Vec<f64>,
    values: Option<Vec<Vec<f64>>>,
}

impl Looks {
    fn new(n_columns: usize, keep_values: bool) -> Looks {
        Looks {
            n_rows: 0,
            moments: Moments::empty(1, n_columns),
            low: vec![f64::INFINITY; n_columns],
            high: vec![f64::NEG_INFINITY; n_columns],
            values: keep_values.then(|| vec![Vec::new(); n_columns]),
        }
    }

    fn take(&mut self, table: &Table, numeric: &[usize], monitor: &Monitor<'_>) -> Result<()> {
        let mut x = Matrix::zeros((table.n_rows(), numeric.len()));
        for (j, k) in numeric.iter().enumerate() {
            match &table.columns()[*k].values {
                Values::Numeric(v) => {
                    x.column_mut(j).iter_mut().zip(v).for_each(|(to, v)| *to = *v)
                }
                Values::Boolean(v) => x
                    .column_mut(j)
                    .iter_mut()
                    .zip(v)
                    .for_each(|(to, v)| *to = v.map_or(f64::NAN, f64::from)),
                _ => x.column_mut(j).fill(f64::NAN),
            }
        }
        let n = x.nrows();
        let part = Moments::of_rows(&Rows::from(&x), &vec![0; n], &[], &[n as f64])
            .map_err(|e| in_table(e, numeric).after_rows(self.n_rows))?;
        self.n_rows += n;
        self.moments.merge_group(0, &part, 0);
        for (j, column) in x.columns().into_iter().enumerate() {
            let present = column.iter().copied().filter(|v| !v.is_nan());
            self.low[j] = present.clone().fold(self.low[j], f64::min);
            self.high[j] = present.clone().fold(self.high[j], f64::max);
            if let Some(values) = &mut self.values {
                values[j].extend(present);
            }
        }
        if let Some(values) = &self.values {
            let kept: usize = values.iter().map(Vec::capacity).sum();
            monitor.reserve("finding medians and quantiles", 8 * kept as u64)?;
        }
        Ok(())
    }

    fn finish(self) -> Vec<Look> {
        let variances = self.moments.variances(0.0);
        let mut values = self.values.unwrap_or_default();
        values.iter_mut().for_each(|v| v.sort_by(f64::total_cmp));
        let mut sorted = values.into_iter();
        (0..self.low.len())
            .map(|j| {
                let seen = self.low[j] <= self.high[j];
                Look {
                    mean: self.moments.means[[0, j]],
                    variance: variances[[0, j]],
                    low: if seen { self.low[j] } else { 0.0 },
                    high: if seen { self.high[j] } else { 0.0 },
                    sorted: sorted.next().unwrap_or_default(),
                }
            })
            .collect()
    }
}

/// An error about numeric columns as one about all columns.
fn in_table(error: Error, numeric: &[usize]) -> Error {
    match error {
        Error::NotFinite { row, column, value } => {
            Error::NotFinite { row, column: numeric[column], value }
        }
        other => other,
    }
}
