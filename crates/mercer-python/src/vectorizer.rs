//! `mercer.preprocessing.TableVectorizer` and `mercer.check`: tables of strings and numbers, understood as the command
//! line understands files.

use crate::array::{CsrArrays, tree_object};
use crate::error::raised;
use crate::table::{self, Column};
use crate::work;
use mercer::Error;
use mercer::data::{Profile, Schema, Table, Values};
use mercer::model::{Monitor, Tree};
use mercer::preprocess::{
    CategoryEncoding, DroppedColumn, Features, MissingIndicator, Reads, Recipe,
};
use mercer::train::checks::{check_table, sample_rows};
use mercer::train::{SupervisedTask, parse_table, understand, unusable_columns};
use mercer_num::{Matrix, Rows};
use numpy::{IntoPyArray, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::{Deserialize, Serialize};

/// Encoded rows: a dense array, or the arrays of a CSR matrix if the table has text columns.
#[derive(IntoPyObject)]
enum EncodedRows<'py> {
    Dense(Bound<'py, PyArray2<f64>>),
    Sparse(CsrArrays<'py>),
}

/// The fitted preprocessing of a table.
#[pyclass(module = "mercer._mercer", frozen)]
pub struct Vectorizer {
    features: Features,
}

/// What is stored when a vectorizer is pickled.
#[derive(Serialize, Deserialize)]
struct Stored {
    features: Features,
}

fn plan(
    (profile, table): (&Profile, &Table),
    steps: &[String],
    drop: bool,
) -> mercer::Result<(Features, Recipe)> {
    let recipe = Recipe {
        missing: MissingIndicator::Indicator,
        categories: CategoryEncoding::OneHot,
        ..Recipe::default()
    };
    let recipe = steps.iter().try_fold(recipe, |recipe, step| recipe.with(step))?;
    let unusable: Vec<DroppedColumn> = match drop {
        true => unusable_columns(profile, None, &[], table, &Monitor::quiet())?,
        false => Vec::new(),
    };
    let mut schema = profile.schema();
    schema.fields.retain(|field| !unusable.iter().any(|column| column.name == field.name));
    let categories = recipe.categories;
    let (mut features, more) =
        Features::plan_for(&schema, None, categories, Reads::NumericAndText)?;
    let more = more.into_iter().map(|(name, reason)| DroppedColumn { name, reason });
    features.dropped = unusable.into_iter().chain(more).collect();
    Ok((features, recipe))
}

#[pymethods]
impl Vectorizer {
    /// Infers the types of the columns and fits their steps.
    #[staticmethod]
    fn fit(
        py: Python<'_>,
        columns: Vec<Column<'_>>,
        steps: Vec<String>,
        drop: bool,
    ) -> PyResult<Vectorizer> {
        let table = table::read(columns)?;
        let features = work::run(py, |_| {
            let (profile, table) = understand(table)?;
            let (planned, recipe) = plan((&profile, &table), &steps, drop)?;
            planned.fit(&recipe, &table, &Monitor::quiet())
        })?;
        Ok(Vectorizer { features })
    }

    /// The features of the rows of a table.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Column<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = table::read(columns)?;
        let encoded = work::run(py, |_| {
            let table = parse_table(table, &self.features.schema)?;
            self.features.encode(&table, None)
        })?;
        let rows = match encoded.rows() {
            Rows::Dense(x) => EncodedRows::Dense(Matrix::from(x.to_owned()).into_pyarray(py)),
            Rows::Sparse(rows) => {
                let (mut data, mut indices, mut offsets) = (Vec::new(), Vec::new(), vec![0i64]);
                for (columns, values) in rows.iter() {
                    indices.extend_from_slice(columns);
                    data.extend_from_slice(values);
                    offsets.push(data.len() as i64);
                }
                let width = self.features.n_features();
                let (data, indices) = (data.into_pyarray(py), indices.into_pyarray(py));
                EncodedRows::Sparse((data, indices, offsets.into_pyarray(py), width))
            }
            Rows::Single(_) => return Err(raised(Error::ByColumns)),
        };
        Ok(rows.into_pyobject(py)?.into_any())
    }

    /// The names of the features.
    fn names(&self) -> Vec<String> {
        self.features.names()
    }

    /// The type of each column that is used, by name.
    fn types(&self) -> Vec<(String, String)> {
        let name = |field: &mercer::data::Field| match field.notation.is_date() {
            true => "date".to_owned(),
            false => field.kind.to_string(),
        };
        self.features.schema.fields.iter().map(|field| (field.name.clone(), name(field))).collect()
    }

    /// The columns that are not used, with the reason.
    fn dropped(&self) -> Vec<(String, String)> {
        let dropped = self.features.dropped.iter();
        dropped.map(|column| (column.name.clone(), column.reason.to_string())).collect()
    }

    /// The steps in words.
    fn summary(&self) -> Vec<String> {
        self.features.summary()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let stored = Stored { features: self.features.clone() };
        let tree = Tree::of(&stored).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let bytes = mercer::file::to_bytes(tree).map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Vectorizer> {
        let tree = mercer::file::from_bytes(bytes).map_err(raised)?;
        let stored: Stored = tree.into_value().map_err(|e| PyValueError::new_err(e.to_string()))?;
        stored.features.check().map_err(raised)?;
        Ok(Vectorizer { features: stored.features })
    }
}

/// The findings about a table, as dictionaries.
#[pyfunction]
pub fn check<'py>(
    py: Python<'py>,
    columns: Vec<Column<'py>>,
    target: Option<String>,
    task: Option<String>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let table = table::read(columns)?;
    let task = match task.as_deref() {
        None => None,
        Some("classification") => Some(SupervisedTask::Classification),
        Some("regression") => Some(SupervisedTask::Regression),
        Some(other) => {
            let why = format!("task={other:?}: expected \"classification\" or \"regression\"");
            return Err(PyValueError::new_err(why));
        }
    };
    let findings = work::run(py, |_| {
        let (mut profile, table) = understand(table)?;
        if let Some(name) = &target {
            list_levels(&mut profile, &table, name)?;
        }
        let target = target.as_deref().and_then(|name| profile.column(name));
        let target = target.map(|t| (t, task.unwrap_or_else(|| SupervisedTask::infer(t))));
        let name = target.map(|(column, _)| column.name.as_str());
        let monitor = Monitor::quiet();
        let unusable = unusable_columns(&profile, name, &[], &table, &monitor)?;
        let left_out: Vec<String> = unusable.iter().map(|column| column.name.clone()).collect();
        let table = as_task(table, target, &profile.schema())?;
        let sample = sample_rows(&profile, target, &left_out, &table, &monitor)?;
        Ok(check_table(&profile, target, &[], &unusable, &sample))
    })?;
    findings
        .iter()
        .map(|finding| {
            let tree = Tree::of(finding).map_err(|e| PyValueError::new_err(e.to_string()))?;
            let object = tree_object(py, tree)?;
            let dict = object.cast_into::<PyDict>()?;
            Ok(dict.into_any())
        })
        .collect()
}

/// Lists the distinct values of a numeric target, by which the task is inferred.
fn list_levels(profile: &mut Profile, table: &Table, target: &str) -> mercer::Result<()> {
    let missing = || Error::MissingColumn { name: target.to_owned() };
    let column = profile.columns.iter_mut().find(|c| c.name == target).ok_or_else(missing)?;
    let values = &table.column(target).ok_or_else(missing)?.values;
    if column.levels.is_empty() {
        let mut counts = std::collections::BTreeMap::new();
        for cell in (0..values.len()).filter_map(|i| values.cell(i)) {
            *counts.entry(cell).or_insert(0u64) += 1;
        }
        let (names, counts): (Vec<String>, Vec<u64>) = counts.into_iter().unzip();
        column.levels = mercer::data::Levels::new(names).into();
        column.level_counts = counts;
    }
    Ok(())
}

/// The table with a target of classes as categories.
fn as_task(
    table: Table,
    target: Option<(&mercer::data::ColumnProfile, SupervisedTask)>,
    schema: &Schema,
) -> mercer::Result<Table> {
    let Some((column, SupervisedTask::Classification)) = target else { return Ok(table) };
    let mut schema = schema.clone();
    for field in schema.fields.iter_mut().filter(|field| field.name == column.name) {
        *field = mercer::data::Field::categorical(column.name.clone(), column.levels.clone());
    }
    let columns = table.into_columns().into_iter().map(|mut c| {
        if c.name == column.name && !matches!(c.values, Values::Categorical { .. }) {
            let cells = (0..c.values.len()).map(|i| c.values.cell(i)).collect();
            c.values = Values::Text(cells);
        }
        c
    });
    parse_table(Table::new(columns.collect())?, &schema)
}
