//! What went wrong, as the exception a Python user would expect.

use mercer::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyTimeoutError, PyTypeError, PyValueError};

/// The exception of an error; what the caller could have known better is a `ValueError`.
pub fn raised(error: Error) -> PyErr {
    let words = error.to_string();
    match error {
        Error::Memory { .. } => PyMemoryError::new_err(words),
        Error::Stopped => PyTimeoutError::new_err(words),
        Error::System { .. } => PyOSError::new_err(words),
        Error::Unable { .. } => PyTypeError::new_err(words),
        // scikit-learn's words, which its own checks look for.
        Error::NotACount { value, .. } if value < 0.0 => {
            PyValueError::new_err(format!("Negative values in data: {words}"))
        }
        Error::Number { value, expected, .. }
            if value < 0.0 && expected.starts_with("at least 0") =>
        {
            PyValueError::new_err(format!("Negative values in data: {words}"))
        }
        _ => PyValueError::new_err(words),
    }
}
