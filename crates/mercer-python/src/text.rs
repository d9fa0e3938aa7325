//! Text vectorization: terms of documents, vocabularies, feature hashing, tf-idf.
//!
//! Documents are borrowed from Python's strings; the interpreter lock is held only while the pointers to them are
//! collected.

use crate::error::raised;
use crate::work;
use mercer::data::DocumentTermMatrix;
use mercer::model::Monitor;
use mercer::text::{
    Analyzer, DocumentFrequencies, Hashing, Norm, Reader, Sign, TermCounts, Vocabulary,
    count_terms as count_terms_of, count_vocabulary, weigh,
};
use mercer::{Error, Result};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use std::sync::{Mutex, PoisonError};

/// The row offsets, column indices and values of a document-term matrix.
type Counts<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>);

/// The strings of a list, which own the borrowed texts.
struct Texts<'py>(Vec<Bound<'py, PyString>>);

impl<'py> Texts<'py> {
    fn of(list: &Bound<'py, PyList>) -> PyResult<Self> {
        let text = |(i, item): (usize, Bound<'py, PyAny>)| {
            item.cast_into::<PyString>().map_err(|e| {
                let kind = e.into_inner().get_type();
                PyValueError::new_err(format!(
                    "document {i} is of type {kind}; documents must be str"
                ))
            })
        };
        list.iter().enumerate().map(text).collect::<PyResult<_>>().map(Texts)
    }

    fn as_strs(&self) -> PyResult<Vec<&str>> {
        self.0.iter().map(|text| text.to_str()).collect()
    }
}

fn analyzer(json: &str) -> PyResult<Analyzer> {
    serde_json::from_str(json).map_err(|e| PyValueError::new_err(format!("invalid analyzer: {e}")))
}

fn csr_arrays(py: Python<'_>, rows: DocumentTermMatrix) -> Counts<'_> {
    let offsets: Vec<i64> = rows.starts.iter().map(|at| *at as i64).collect();
    (offsets.into_pyarray(py), rows.columns.into_pyarray(py), rows.values.into_pyarray(py))
}

/// The counts of all terms of the documents, before the terms of the vocabulary are selected.
#[pyclass(frozen, module = "mercer._mercer", name = "TermCounts")]
pub struct PyTermCounts {
    counts: Mutex<Option<TermCounts>>,
}

/// Counts the terms of documents; `analyzer` is JSON.
#[pyfunction]
pub fn count_terms(
    py: Python<'_>,
    texts: &Bound<'_, PyList>,
    analyzer: &str,
) -> PyResult<PyTermCounts> {
    let analyzer = self::analyzer(analyzer)?;
    let texts = Texts::of(texts)?;
    let texts = texts.as_strs()?;
    let counts = work::run(py, |cancel| {
        count_terms_of(&texts, &analyzer, &Monitor::quiet().cancelled_by(cancel.clone()))
    })?;
    Ok(PyTermCounts { counts: Mutex::new(Some(counts)) })
}

#[pymethods]
impl PyTermCounts {
    /// The number of documents.
    #[getter]
    fn n_documents(&self) -> PyResult<u64> {
        self.with(TermCounts::n_documents)
    }

    /// The number of documents that contain each term.
    fn document_frequencies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let all =
            self.with(|t| t.document_frequencies().iter().map(|n| *n as i64).collect::<Vec<_>>())?;
        Ok(all.into_pyarray(py))
    }

    /// The total count of each term.
    fn occurrences<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let all = self.with(|t| t.occurrences().iter().map(|n| *n as i64).collect::<Vec<_>>())?;
        Ok(all.into_pyarray(py))
    }

    /// The selected terms and their document-term matrix. The counts are moved, so this works once.
    fn select<'py>(
        &self,
        py: Python<'py>,
        selected: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<(PyVocabulary, Counts<'py>)> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner).take();
        let counts = counts.ok_or_else(moved)?;
        let selected = selected.as_slice()?;
        if selected.len() != counts.n_terms() {
            return Err(PyValueError::new_err("`selected` must have one boolean per term"));
        }
        let (vocabulary, rows) = work::run(py, |_| Ok(counts.select(selected)))?;
        Ok((PyVocabulary { vocabulary }, csr_arrays(py, rows)))
    }
}

impl PyTermCounts {
    fn with<T>(&self, read: impl FnOnce(&TermCounts) -> T) -> PyResult<T> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.as_ref().map(read).ok_or_else(moved)
    }
}

fn moved() -> PyErr {
    PyRuntimeError::new_err("`select` was called before; count the terms again")
}

/// The terms of a vocabulary, with their column indices.
#[pyclass(frozen, module = "mercer._mercer", name = "Vocabulary")]
pub struct PyVocabulary {
    vocabulary: Vocabulary,
}

#[pymethods]
impl PyVocabulary {
    /// A vocabulary of terms in the order of their columns.
    #[new]
    fn new(terms: Vec<String>) -> PyResult<Self> {
        Ok(PyVocabulary { vocabulary: Vocabulary::new(terms).map_err(raised)? })
    }

    fn __len__(&self) -> usize {
        self.vocabulary.len()
    }

    /// The terms in the order of their columns.
    fn terms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.vocabulary.terms())
    }

    /// The column index of a term.
    fn find(&self, term: &str) -> Option<usize> {
        self.vocabulary.find(term)
    }

    /// The document-term matrix of documents.
    fn count<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyList>,
        analyzer: &str,
    ) -> PyResult<Counts<'py>> {
        let analyzer = self::analyzer(analyzer)?;
        let texts = Texts::of(texts)?;
        let texts = texts.as_strs()?;
        let rows = work::run(py, |cancel| {
            let monitor = Monitor::quiet().cancelled_by(cancel.clone());
            count_vocabulary(&texts, &analyzer, &self.vocabulary, &monitor)
        })?;
        Ok(csr_arrays(py, rows))
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

/// The document-term matrix of documents by feature hashing.
#[pyfunction]
pub fn hash_texts<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyList>,
    analyzer: &str,
    n_features: usize,
    alternate_sign: bool,
) -> PyResult<Counts<'py>> {
    let analyzer = self::analyzer(analyzer)?;
    let sign = if alternate_sign { Sign::Alternate } else { Sign::Positive };
    let hashing = Hashing { n_features, sign };
    let texts = Texts::of(texts)?;
    let texts = texts.as_strs()?;
    let rows = work::run(py, |cancel| {
        hashing.count(&texts, &analyzer, &Monitor::quiet().cancelled_by(cancel.clone()))
    })?;
    Ok(csr_arrays(py, rows))
}

/// The column of a term by feature hashing, and whether its sign is positive.
#[pyfunction]
pub fn hash_term(term: &str, n_features: usize) -> PyResult<(u32, bool)> {
    let hashing = Hashing { n_features, sign: Sign::Alternate };
    hashing.check().map_err(raised)?;
    Ok(hashing.column(term.as_bytes()))
}

/// The term of the highest document frequency of each column of a hashing.
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

/// The function from a text to its terms.
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

/// Multiplies the columns by `idf` and divides each row by its norm, in place.
#[pyfunction]
#[pyo3(signature = (offsets, columns, values, idf, norm))]
pub fn apply_tfidf<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    columns: PyReadonlyArray1<'py, i32>,
    mut values: PyReadwriteArray1<'py, f64>,
    idf: Option<PyReadonlyArray1<'py, f64>>,
    norm: Option<&str>,
) -> PyResult<()> {
    let norm = match norm {
        None => Norm::None,
        Some("l1") => Norm::L1,
        Some("l2") => Norm::L2,
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "norm is `{other}`; it must be l1, l2 or None"
            )));
        }
    };
    let idf = idf.as_ref().map(|idf| idf.as_slice()).transpose()?.unwrap_or(&[]);
    let (offsets, columns, values) =
        (offsets.as_slice()?, columns.as_slice()?, values.as_slice_mut()?);
    work::run(py, |_| {
        let offsets = checked_offsets(offsets, columns, values.len(), idf)?;
        weigh(&offsets, columns, values, idf, norm, |_, _| {});
        Ok(())
    })
}

/// The row offsets, after a check that they and the column indices are within bounds.
fn checked_offsets(
    offsets: &[i64],
    columns: &[i32],
    n_cells: usize,
    idf: &[f64],
) -> Result<Vec<usize>> {
    let invalid = |found: usize, expected: usize| Error::Columns { found, expected };
    let offsets: Vec<usize> = offsets.iter().map(|at| *at as usize).collect();
    let end = offsets.last().copied().unwrap_or(0);
    if !offsets.is_sorted() || end != n_cells || columns.len() != n_cells {
        return Err(invalid(end, n_cells));
    }
    match columns.iter().find(|j| !idf.is_empty() && **j as usize >= idf.len()) {
        Some(j) => Err(invalid(*j as usize, idf.len())),
        None => Ok(offsets),
    }
}
