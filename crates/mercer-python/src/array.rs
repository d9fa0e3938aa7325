//! Arrays on their way in, borrowed, and on their way out, handed over.

use mercer::data::{Classes, ColumnDescription, Dataset, Label};
use mercer::model::Tree;
use mercer::model::tree::Numbers;
use mercer_num::{Rows, SparseView};
use numpy::ndarray::{ArrayD, IxDyn};
use numpy::{
    Element, IntoPyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::sync::Arc;

/// A feature matrix that stays borrowed from Python for as long as its rows are looked at.
pub enum Table<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
    Sparse(Compressed<'py>),
}

/// The parts of a scipy CSR matrix.
pub struct Compressed<'py> {
    data: PyReadonlyArray1<'py, f64>,
    indices: PyReadonlyArray1<'py, i32>,
    offsets: Vec<usize>,
    n_columns: usize,
}

impl<'py> FromPyObject<'_, 'py> for Table<'py> {
    type Error = PyErr;

    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if x.is_instance_of::<PyTuple>() {
            return Compressed::from_parts(x.extract()?).map(Table::Sparse);
        }
        if let Ok(x) = x.extract::<PyReadonlyArray2<'py, f32>>() {
            return whole_steps(&x).map(|()| Table::Single(x));
        }
        let x: PyReadonlyArray2<'py, f64> = x.extract()?;
        whole_steps(&x).map(|()| Table::Dense(x))
    }
}

/// Refuses memory that cannot be walked number by number, as a field of a packed record.
fn whole_steps<T: Element>(x: &PyReadonlyArray2<'_, T>) -> PyResult<()> {
    let size = size_of::<T>();
    let aligned = x.data().is_aligned();
    if aligned && x.strides().iter().all(|step| step.unsigned_abs().is_multiple_of(size)) {
        Ok(())
    } else {
        Err(PyValueError::new_err("the matrix is not aligned in memory; pass a copy of it"))
    }
}

impl Table<'_> {
    pub fn rows(&self) -> PyResult<Rows<'_>> {
        Ok(match self {
            Table::Dense(x) => Rows::Dense(x.as_array()),
            Table::Single(x) => Rows::Single(x.as_array()),
            Table::Sparse(x) => Rows::Sparse(x.view()?),
        })
    }

    pub fn n_columns(&self) -> PyResult<usize> {
        Ok(self.rows()?.n_columns())
    }

    pub fn is_sparse(&self) -> bool {
        matches!(self, Table::Sparse(_))
    }
}

/// Whether every number is whole and not negative, where it is a finite number.
#[pyfunction]
pub fn are_codes(x: PyReadonlyArray2<'_, f64>) -> bool {
    /// Adding it leaves no room for a fraction.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    let fits = |x: &f64| x.is_nan() | ((*x >= 0.0) & ((x + WHOLE) - WHOLE == *x));
    match x.as_array().as_slice_memory_order() {
        Some(cells) => {
            cells.chunks(4096).all(|cells| cells.iter().fold(true, |all, x| all & fits(x)))
        }
        None => x.as_array().iter().all(fits),
    }
}

/// Numbers, columns, offsets of the rows, and the width.
type Parts<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, i32>, Offsets<'py>, usize);

/// Where rows start, in whichever width scipy chose.
#[derive(FromPyObject)]
enum Offsets<'py> {
    Narrow(PyReadonlyArray1<'py, i32>),
    Wide(PyReadonlyArray1<'py, i64>),
}

impl Offsets<'_> {
    fn to_vec(&self) -> PyResult<Vec<usize>> {
        let offset = |at: i64| {
            usize::try_from(at).map_err(|_| {
                PyValueError::new_err("not a CSR matrix: a row starts before the first cell")
            })
        };
        match self {
            Offsets::Narrow(x) => x.as_array().iter().map(|at| offset(i64::from(*at))).collect(),
            Offsets::Wide(x) => x.as_array().iter().map(|at| offset(*at)).collect(),
        }
    }
}

impl<'py> Compressed<'py> {
    fn from_parts((data, indices, offsets, n_columns): Parts<'py>) -> PyResult<Self> {
        Ok(Compressed { data, indices, offsets: offsets.to_vec()?, n_columns })
    }

    fn view(&self) -> PyResult<SparseView<'_>> {
        let (indices, data) = (self.indices.as_slice()?, self.data.as_slice()?);
        SparseView::try_new(self.n_columns, &self.offsets, indices, data)
            .map_err(|why| PyValueError::new_err(format!("not a CSR matrix: {why}")))
    }
}

/// What is to be learned: codes of classes, numbers, or nothing.
pub enum Target<'py> {
    Classes(PyReadonlyArray1<'py, u32>),
    Regression(PyReadonlyArray1<'py, f64>),
    Nothing,
}

impl<'py> FromPyObject<'_, 'py> for Target<'py> {
    type Error = PyErr;

    fn extract(y: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if y.is_none() {
            return Ok(Target::Nothing);
        }
        if let Ok(y) = y.extract::<PyReadonlyArray1<'py, f64>>() {
            return Ok(Target::Regression(y));
        }
        Ok(Target::Classes(y.extract()?))
    }
}

/// Rows with their classes or numbers and weights, borrowed from Python.
pub struct Batch<'py> {
    pub x: Table<'py>,
    pub target: Target<'py>,
    pub classes: Classes,
    pub weights: Option<PyReadonlyArray1<'py, f64>>,
    /// What the columns hold; empty where the estimator does not ask.
    pub columns: Arc<[ColumnDescription]>,
}

impl Batch<'_> {
    pub fn dataset(&self) -> PyResult<Dataset<'_>> {
        let mut data = match &self.target {
            Target::Classes(codes) => {
                Dataset::classes(self.x.rows()?, codes.as_slice()?, &self.classes)
            }
            Target::Regression(y) => Dataset::regression(self.x.rows()?, y.as_slice()?),
            Target::Nothing => Ok(Dataset::unlabeled(self.x.rows()?)),
        }
        .map_err(crate::error::raised)?;
        if !self.columns.is_empty() {
            data = data.with_descriptions(&self.columns).map_err(crate::error::raised)?;
        }
        match &self.weights {
            Some(weights) => data.weighted(weights.as_slice()?).map_err(crate::error::raised),
            None => Ok(data),
        }
    }
}

/// The classes in the order of their codes.
pub fn classes(labels: &Bound<'_, PyList>) -> PyResult<Classes> {
    let labels = labels.iter().map(|l| label(&l)).collect::<PyResult<Vec<_>>>()?;
    Classes::try_from(labels).map_err(PyValueError::new_err)
}

fn label(value: &Bound<'_, PyAny>) -> PyResult<Label> {
    // Truth values are whole numbers in Python, so they are asked first.
    if value.is_instance_of::<PyBool>() {
        Ok(Label::Bool(value.extract()?))
    } else if value.is_instance_of::<PyInt>() {
        let refuse = |_| PyValueError::new_err(format!("class label {value} is beyond 64 bits"));
        Ok(Label::Int(value.extract().map_err(refuse)?))
    } else if value.is_instance_of::<PyFloat>() {
        Ok(Label::Float(value.extract()?))
    } else if value.is_instance_of::<PyString>() {
        Ok(Label::Text(value.extract()?))
    } else {
        let kind = value.get_type().qualname()?;
        Err(PyTypeError::new_err(format!(
            "class label {value} is of type {kind}; labels are truth values, numbers or strings"
        )))
    }
}

/// A label as Python's own value.
pub fn label_object<'py>(py: Python<'py>, label: &Label) -> PyResult<Bound<'py, PyAny>> {
    Ok(match label {
        Label::Bool(v) => PyBool::new(py, *v).to_owned().into_any(),
        Label::Int(v) => v.into_pyobject(py)?.into_any(),
        Label::Float(v) => v.into_pyobject(py)?.into_any(),
        Label::Text(v) => v.into_pyobject(py)?.into_any(),
    })
}

/// A tree as dictionaries, lists and numpy arrays.
pub fn tree_object<'py>(py: Python<'py>, tree: Tree) -> PyResult<Bound<'py, PyAny>> {
    Ok(match tree {
        Tree::Null => py.None().into_bound(py),
        Tree::Bool(v) => PyBool::new(py, v).to_owned().into_any(),
        Tree::Int(v) => v.into_pyobject(py)?.into_any(),
        Tree::Float(v) => v.into_pyobject(py)?.into_any(),
        Tree::Text(v) => v.into_pyobject(py)?.into_any(),
        Tree::List(items) => {
            let items = items.into_iter().map(|item| tree_object(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Tree::Map(fields) => {
            let map = PyDict::new(py);
            for (name, value) in fields {
                map.set_item(name, tree_object(py, value)?)?;
            }
            map.into_any()
        }
        Tree::Array(array) => match array.numbers {
            Numbers::F64(v) => shaped(py, &array.shape, v)?,
            Numbers::I64(v) => shaped(py, &array.shape, v)?,
            Numbers::U8(v) => shaped(py, &array.shape, v)?,
        },
    })
}

fn shaped<'py, T: Element>(
    py: Python<'py>,
    shape: &[usize],
    numbers: Vec<T>,
) -> PyResult<Bound<'py, PyAny>> {
    ArrayD::from_shape_vec(IxDyn(shape), numbers)
        .map(|array| array.into_pyarray(py).into_any())
        .map_err(|e| PyValueError::new_err(e.to_string()))
}
