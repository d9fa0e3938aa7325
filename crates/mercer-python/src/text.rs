//! Texts on their way in, borrowed from Python's own strings, and their counts on the way out.
//!
//! The interpreter is held while pointers to strings are gathered and not a moment longer.

use crate::error::raised;
use crate::work;
use mercer::data::DocumentTermMatrix;
use mercer::model::Monitor;
use mercer::text::{
    Analyzer, DocumentFrequencies, Hashing, Norm, Reader, Sign, TermCounts, Vocabulary,
    count_terms, count_vocabulary, weigh,
};
use mercer::{Error, Result};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use std::sync::{Mutex, PoisonError};

/// The parts of a CSR matrix: row offsets, columns, numbers.
type Parts<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>);

/// The texts of a list, kept alive.
struct Texts<'py>(Vec<Bound<'py, PyString>>);

impl<'py> Texts<'py> {
    fn of(list: &Bound<'py, PyList>) -> PyResult<Self> {
        let text = |(i, item): (usize, Bound<'py, PyAny>)| {
            item.cast_into::<PyString>().map_err(|e| {
                let kind = e.into_inner().get_type();
                PyValueError::new_err(format!("document {i} is of type {kind}, not a string"))
            })
        };
        list.iter().enumerate().map(text).collect::<PyResult<_>>().map(Texts)
    }

    fn as_strs(&self) -> PyResult<Vec<&str>> {
        self.0.iter().map(|text| text.to_str()).collect()
    }
}

fn analyzer(json: &str) -> PyResult<Analyzer> {
    serde_json::from_str(json).map_err(|e| PyValueError::new_err(format!("not an analyzer: {e}")))
}

fn parts(py: Python<'_>, rows: DocumentTermMatrix) -> Parts<'_> {
    let starts: Vec<i64> = rows.starts.iter().map(|at| *at as i64).collect();
    (starts.into_pyarray(py), rows.columns.into_pyarray(py), rows.values.into_pyarray(py))
}

/// Terms of texts, counted and not yet chosen among.
#[pyclass(frozen, module = "mercer._mercer", name = "Tallied")]
pub struct PyTallied {
    tallied: Mutex<Option<TermCounts>>,
}

/// Finds and counts the terms of texts; `analyzer` is JSON.
#[pyfunction]
pub fn tally_texts(
    py: Python<'_>,
    texts: &Bound<'_, PyList>,
    analyzer: &str,
) -> PyResult<PyTallied> {
    let analyzer = self::analyzer(analyzer)?;
    let texts = Texts::of(texts)?;
    let texts = texts.as_strs()?;
    let tallied = work::run(py, |cancel| {
        count_terms(&texts, &analyzer, &Monitor::quiet().cancelled_by(cancel.clone()))
    })?;
    Ok(PyTallied { tallied: Mutex::new(Some(tallied)) })
}

#[pymethods]
impl PyTallied {
    /// How many texts there are.
    #[getter]
    fn n_texts(&self) -> PyResult<u64> {
        self.with(TermCounts::n_documents)
    }

    /// In how many texts each term occurs.
    fn documents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let all =
            self.with(|t| t.document_frequencies().iter().map(|n| *n as i64).collect::<Vec<_>>())?;
        Ok(all.into_pyarray(py))
    }

    /// How often each term occurs.
    fn occurrences<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let all = self.with(|t| t.occurrences().iter().map(|n| *n as i64).collect::<Vec<_>>())?;
        Ok(all.into_pyarray(py))
    }

    /// The terms that stay and their counts; can be had once.
    fn counts<'py>(
        &self,
        py: Python<'py>,
        keep: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<(PyVocabulary, Parts<'py>)> {
        let taken = self.tallied.lock().unwrap_or_else(PoisonError::into_inner).take();
        let tallied = taken.ok_or_else(|| PyRuntimeError::new_err("the counts were taken"))?;
        let keep = keep.as_slice()?;
        if keep.len() != tallied.n_terms() {
            return Err(PyValueError::new_err("one truth value a term is needed"));
        }
        let (vocabulary, rows) = work::run(py, |_| Ok(tallied.select(keep)))?;
        Ok((PyVocabulary { vocabulary }, parts(py, rows)))
    }
}

impl PyTallied {
    fn with<T>(&self, ask: impl FnOnce(&TermCounts) -> T) -> PyResult<T> {
        let tallied = self.tallied.lock().unwrap_or_else(PoisonError::into_inner);
        tallied.as_ref().map(ask).ok_or_else(|| PyRuntimeError::new_err("the counts were taken"))
    }
}

/// Terms with their numbers.
#[pyclass(frozen, module = "mercer._mercer", name = "Vocabulary")]
pub struct PyVocabulary {
    vocabulary: Vocabulary,
}

#[pymethods]
impl PyVocabulary {
    /// The terms in their order.
    #[new]
    fn new(terms: Vec<String>) -> PyResult<Self> {
        Ok(PyVocabulary { vocabulary: Vocabulary::new(terms).map_err(raised)? })
    }

    fn __len__(&self) -> usize {
        self.vocabulary.len()
    }

    /// The terms in their order.
    fn terms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.vocabulary.terms())
    }

    /// The number of a term.
    fn find(&self, term: &str) -> Option<usize> {
        self.vocabulary.find(term)
    }

    /// Counts these terms in texts.
    fn count<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyList>,
        analyzer: &str,
    ) -> PyResult<Parts<'py>> {
        let analyzer = self::analyzer(analyzer)?;
        let texts = Texts::of(texts)?;
        let texts = texts.as_strs()?;
        let rows = work::run(py, |cancel| {
            let monitor = Monitor::quiet().cancelled_by(cancel.clone());
            count_vocabulary(&texts, &analyzer, &self.vocabulary, &monitor)
        })?;
        Ok(parts(py, rows))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let packed = serde_json::to_vec(&slf.get().vocabulary)
            .map_err(|e| PyValueError::new_err(e.to_string()))?;
        let restore = slf.get_type().getattr("_restore")?;
        Ok((restore, (PyBytes::new(py, &packed),)))
    }

    #[staticmethod]
    fn _restore(bytes: &[u8]) -> PyResult<Self> {
        let vocabulary =
            serde_json::from_slice(bytes).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(PyVocabulary { vocabulary })
    }
}

/// Counts the terms of texts by their hash.
#[pyfunction]
pub fn hash_texts<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyList>,
    analyzer: &str,
    n_features: usize,
    alternate_sign: bool,
) -> PyResult<Parts<'py>> {
    let analyzer = self::analyzer(analyzer)?;
    let sign = if alternate_sign { Sign::Alternate } else { Sign::Positive };
    let hashing = Hashing { n_features, sign };
    let texts = Texts::of(texts)?;
    let texts = texts.as_strs()?;
    let rows = work::run(py, |cancel| {
        hashing.count(&texts, &analyzer, &Monitor::quiet().cancelled_by(cancel.clone()))
    })?;
    Ok(parts(py, rows))
}

/// The column of a term and whether it counts positive.
#[pyfunction]
pub fn hash_term(term: &str, n_features: usize) -> PyResult<(u32, bool)> {
    let hashing = Hashing { n_features, sign: Sign::Alternate };
    hashing.check().map_err(raised)?;
    Ok(hashing.column(term.as_bytes()))
}

/// For every column of a hash the term that brought most texts to it.
#[pyfunction]
pub fn hash_names(
    py: Python<'_>,
    texts: &Bound<'_, PyList>,
    analyzer: &str,
    n_features: usize,
) -> PyResult<Vec<Option<String>>> {
    let analyzer = self::analyzer(analyzer)?;
    let texts = Texts::of(texts)?;
    let texts = texts.as_strs()?;
    work::run(py, |cancel| {
        let monitor = Monitor::quiet().cancelled_by(cancel.clone());
        let hashing = Hashing { n_features, sign: Sign::Alternate };
        hashing.check()?;
        Ok(hashing.names(&DocumentFrequencies::of(&texts, &analyzer, &monitor)?))
    })
}

/// The terms of one text.
#[pyclass(frozen, module = "mercer._mercer", name = "Analyzer")]
pub struct PyAnalyzer {
    json: String,
    reader: Reader,
}

#[pymethods]
impl PyAnalyzer {
    #[new]
    fn new(json: String) -> PyResult<Self> {
        let reader = analyzer(&json)?.reader().map_err(raised)?;
        Ok(PyAnalyzer { json, reader })
    }

    fn __call__(&self, text: &str) -> Vec<String> {
        self.reader.terms(text)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String,)) {
        (slf.get_type().into_any(), (slf.get().json.clone(),))
    }
}

/// Multiplies cells by their column's weight and gives every row its norm, in place.
#[pyfunction]
#[pyo3(signature = (starts, columns, values, idf, norm))]
pub fn weigh_rows<'py>(
    py: Python<'py>,
    starts: PyReadonlyArray1<'py, i64>,
    columns: PyReadonlyArray1<'py, i32>,
    mut values: PyReadwriteArray1<'py, f64>,
    idf: Option<PyReadonlyArray1<'py, f64>>,
    norm: Option<&str>,
) -> PyResult<()> {
    let norm = match norm {
        None => Norm::None,
        Some("l1") => Norm::L1,
        Some("l2") => Norm::L2,
        Some(other) => return Err(PyValueError::new_err(format!("norm is `{other}`"))),
    };
    let idf = idf.as_ref().map(|idf| idf.as_slice()).transpose()?.unwrap_or(&[]);
    let (starts, columns, values) =
        (starts.as_slice()?, columns.as_slice()?, values.as_slice_mut()?);
    work::run(py, |_| {
        let starts = checked(starts, columns, values.len(), idf)?;
        weigh(&starts, columns, values, idf, norm, |_, _| {});
        Ok(())
    })
}

/// Row offsets that lie within the cells, and columns that have a weight.
fn checked(starts: &[i64], columns: &[i32], n_cells: usize, idf: &[f64]) -> Result<Vec<usize>> {
    let bad = |found: usize, expected: usize| Error::Columns { found, expected };
    let starts: Vec<usize> = starts.iter().map(|at| *at as usize).collect();
    let end = starts.last().copied().unwrap_or(0);
    if !starts.is_sorted() || end != n_cells || columns.len() != n_cells {
        return Err(bad(end, n_cells));
    }
    match columns.iter().find(|j| !idf.is_empty() && **j as usize >= idf.len()) {
        Some(j) => Err(bad(*j as usize, idf.len())),
        None => Ok(starts),
    }
}
