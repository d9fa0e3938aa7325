//! Conversion between numpy arrays and the types of the core: inputs are borrowed, outputs are moved.

use mercer::data::{Classes, ColumnDescription, Dataset, Label};
use mercer::model::Tree;
use mercer::model::tree::{Array, Numbers};
use mercer_num::{Rows, SparseView};
use numpy::ndarray::{ArrayD, IxDyn};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArrayDyn, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::sync::Arc;

/// A numpy vector.
pub type Numpy1<'py, T> = Bound<'py, PyArray1<T>>;

/// A numpy matrix.
pub type Numpy2<'py, T> = Bound<'py, PyArray2<T>>;

/// The values, column indices, row offsets and width of a CSR matrix, for scipy.
pub type CsrArrays<'py> = (Numpy1<'py, f64>, Numpy1<'py, i32>, Numpy1<'py, i64>, usize);

/// A feature matrix, borrowed from Python.
pub enum Matrix<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
    Sparse(CsrMatrix<'py>),
}

/// A CSR matrix of scipy.
pub struct CsrMatrix<'py> {
    data: PyReadonlyArray1<'py, f64>,
    indices: PyReadonlyArray1<'py, i32>,
    offsets: Vec<usize>,
    n_columns: usize,
}

impl<'py> FromPyObject<'_, 'py> for Matrix<'py> {
    type Error = PyErr;

    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if x.is_instance_of::<PyTuple>() {
            return CsrMatrix::from_parts(x.extract()?).map(Matrix::Sparse);
        }
        if let Ok(x) = x.extract::<PyReadonlyArray2<'py, f32>>() {
            return check_alignment(&x).map(|()| Matrix::Single(x));
        }
        let x: PyReadonlyArray2<'py, f64> = x.extract()?;
        check_alignment(&x).map(|()| Matrix::Dense(x))
    }
}

/// Refuses unaligned memory, such as that of a field of a packed record.
fn check_alignment<T: Element>(x: &PyReadonlyArray2<'_, T>) -> PyResult<()> {
    let size = size_of::<T>();
    let aligned = x.data().is_aligned();
    if aligned && x.strides().iter().all(|stride| stride.unsigned_abs().is_multiple_of(size)) {
        Ok(())
    } else {
        Err(PyValueError::new_err("the matrix is not aligned in memory; pass a copy of it"))
    }
}

impl Matrix<'_> {
    pub fn rows(&self) -> PyResult<Rows<'_>> {
        Ok(match self {
            Matrix::Dense(x) => Rows::Dense(x.as_array()),
            Matrix::Single(x) => Rows::Single(x.as_array()),
            Matrix::Sparse(x) => Rows::Sparse(x.view()?),
        })
    }

    pub fn n_columns(&self) -> PyResult<usize> {
        Ok(self.rows()?.n_columns())
    }

    pub fn is_sparse(&self) -> bool {
        matches!(self, Matrix::Sparse(_))
    }
}

/// Encoded rows as a dense matrix, or as the arrays of a CSR matrix.
pub fn rows_object<'py>(py: Python<'py>, rows: &Rows<'_>) -> PyResult<Bound<'py, PyAny>> {
    let width = rows.n_columns();
    if let Rows::Sparse(rows) = rows {
        let (mut data, mut indices, mut offsets) = (Vec::new(), Vec::new(), vec![0i64]);
        for (columns, values) in rows.iter() {
            indices.extend_from_slice(columns);
            data.extend_from_slice(values);
            offsets.push(data.len() as i64);
        }
        let csr: CsrArrays<'py> =
            (data.into_pyarray(py), indices.into_pyarray(py), offsets.into_pyarray(py), width);
        return Ok(csr.into_pyobject(py)?.into_any());
    }
    let cells = rows.block(0..rows.n_rows()).unwrap_or_default().into_owned();
    shaped(py, &[rows.n_rows(), width], cells)
}

/// Whether every value is NaN or an integer of at least 0.
#[pyfunction]
pub fn are_category_codes(x: PyReadonlyArray2<'_, f64>) -> bool {
    /// 2⁵²: a sum with it has no fractional bits.
    const NO_FRACTION: f64 = 4_503_599_627_370_496.0;
    let is_code = |x: &f64| x.is_nan() | ((*x >= 0.0) & ((x + NO_FRACTION) - NO_FRACTION == *x));
    match x.as_array().as_slice_memory_order() {
        Some(cells) => {
            cells.chunks(4096).all(|cells| cells.iter().fold(true, |all, x| all & is_code(x)))
        }
        None => x.as_array().iter().all(is_code),
    }
}

/// The values, column indices, row offsets and width of a CSR matrix.
type CsrParts<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, i32>, Offsets<'py>, usize);

/// Row offsets, of the index type that scipy chose.
#[derive(FromPyObject)]
enum Offsets<'py> {
    Narrow(PyReadonlyArray1<'py, i32>),
    Wide(PyReadonlyArray1<'py, i64>),
}

impl Offsets<'_> {
    fn to_vec(&self) -> PyResult<Vec<usize>> {
        let offset = |at: i64| {
            usize::try_from(at)
                .map_err(|_| PyValueError::new_err("not a CSR matrix: a row offset is negative"))
        };
        match self {
            Offsets::Narrow(x) => x.as_array().iter().map(|at| offset(i64::from(*at))).collect(),
            Offsets::Wide(x) => x.as_array().iter().map(|at| offset(*at)).collect(),
        }
    }
}

impl<'py> CsrMatrix<'py> {
    fn from_parts((data, indices, offsets, n_columns): CsrParts<'py>) -> PyResult<Self> {
        Ok(CsrMatrix { data, indices, offsets: offsets.to_vec()?, n_columns })
    }

    fn view(&self) -> PyResult<SparseView<'_>> {
        let (indices, data) = (self.indices.as_slice()?, self.data.as_slice()?);
        SparseView::try_new(self.n_columns, &self.offsets, indices, data)
            .map_err(|why| PyValueError::new_err(format!("not a CSR matrix: {why}")))
    }
}

/// The target of a fit: class codes, regression targets, several of them per row, or `None`.
pub enum Target<'py> {
    Classes(PyReadonlyArray1<'py, u32>),
    Regression(PyReadonlyArray1<'py, f64>),
    MultiOutput(PyReadonlyArray2<'py, f64>),
    None,
}

impl<'py> FromPyObject<'_, 'py> for Target<'py> {
    type Error = PyErr;

    fn extract(y: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if y.is_none() {
            return Ok(Target::None);
        }
        if let Ok(y) = y.extract::<PyReadonlyArray1<'py, f64>>() {
            return Ok(Target::Regression(y));
        }
        if let Ok(y) = y.extract::<PyReadonlyArray2<'py, f64>>() {
            return Ok(Target::MultiOutput(y));
        }
        Ok(Target::Classes(y.extract()?))
    }
}

/// Training rows with target and weights, borrowed from Python.
pub struct Batch<'py> {
    pub x: Matrix<'py>,
    pub target: Target<'py>,
    pub classes: Classes,
    pub weights: Option<PyReadonlyArray1<'py, f64>>,
    /// Descriptions of the columns; empty for estimators of numeric columns.
    pub columns: Arc<[ColumnDescription]>,
}

impl Batch<'_> {
    pub fn dataset(&self) -> PyResult<Dataset<'_>> {
        let mut data = match &self.target {
            Target::Classes(codes) => {
                Dataset::classes(self.x.rows()?, codes.as_slice()?, &self.classes)
            }
            Target::Regression(y) => Dataset::regression(self.x.rows()?, y.as_slice()?),
            Target::MultiOutput(y) => Dataset::multi_output(self.x.rows()?, y.as_array()),
            Target::None => Ok(Dataset::unlabeled(self.x.rows()?)),
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
    // A Python bool is also an int, so it is checked first.
    if value.is_instance_of::<PyBool>() {
        Ok(Label::Bool(value.extract()?))
    } else if value.is_instance_of::<PyInt>() {
        let refuse = |_| {
            PyValueError::new_err(format!("class label {value} does not fit in a 64-bit integer"))
        };
        Ok(Label::Int(value.extract().map_err(refuse)?))
    } else if value.is_instance_of::<PyFloat>() {
        Ok(Label::Float(value.extract()?))
    } else if value.is_instance_of::<PyString>() {
        Ok(Label::Text(value.extract()?))
    } else {
        let kind = value.get_type().qualname()?;
        Err(PyTypeError::new_err(format!(
            "class label {value} is of type {kind}; labels must be bool, int, float or str"
        )))
    }
}

/// A label as a Python object.
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

/// A tree from Python objects: the inverse of [`tree_object`]. Arrays have the types `float64` and `int64`.
pub fn object_tree(object: &Bound<'_, PyAny>) -> PyResult<Tree> {
    if object.is_none() {
        Ok(Tree::Null)
    } else if object.is_instance_of::<PyBool>() {
        Ok(Tree::Bool(object.extract()?))
    } else if object.is_instance_of::<PyInt>() {
        Ok(Tree::Int(object.extract()?))
    } else if object.is_instance_of::<PyFloat>() {
        Ok(Tree::Float(object.extract()?))
    } else if object.is_instance_of::<PyString>() {
        Ok(Tree::Text(object.extract()?))
    } else if let Ok(items) = object.cast::<PyList>() {
        items.iter().map(|item| object_tree(&item)).collect::<PyResult<_>>().map(Tree::List)
    } else if let Ok(map) = object.cast::<PyDict>() {
        let fields = map.iter().map(|(name, value)| Ok((name.extract()?, object_tree(&value)?)));
        fields.collect::<PyResult<_>>().map(Tree::Map)
    } else if let Ok(array) = object.extract::<PyReadonlyArrayDyn<'_, f64>>() {
        let values = array.as_array().iter().copied().collect();
        Ok(Tree::Array(Array { shape: array.shape().to_vec(), numbers: Numbers::F64(values) }))
    } else {
        let array = object.extract::<PyReadonlyArrayDyn<'_, i64>>()?;
        let values = array.as_array().iter().copied().collect();
        Ok(Tree::Array(Array { shape: array.shape().to_vec(), numbers: Numbers::I64(values) }))
    }
}

fn shaped<'py, T: Element>(
    py: Python<'py>,
    shape: &[usize],
    values: Vec<T>,
) -> PyResult<Bound<'py, PyAny>> {
    ArrayD::from_shape_vec(IxDyn(shape), values)
        .map(|array| array.into_pyarray(py).into_any())
        .map_err(|e| PyValueError::new_err(e.to_string()))
}
