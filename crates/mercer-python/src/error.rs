//! The Python exceptions of the errors of the core.

use mercer::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyTimeoutError, PyTypeError, PyValueError};

/// The exception of an error: `ValueError` for invalid input, and the matching class for limits, files and
/// unsupported operations.
pub fn raised(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Memory { .. } => PyMemoryError::new_err(message),
        Error::Stopped => PyTimeoutError::new_err(message),
        Error::System { .. } => PyOSError::new_err(message),
        Error::Unable { .. } => PyTypeError::new_err(message),
        // scikit-learn's estimator checks expect this phrase.
        Error::NotACount { value, .. } if value < 0.0 => {
            PyValueError::new_err(format!("Negative values in data: {message}"))
        }
        Error::Number { value, expected, .. }
            if value < 0.0 && expected.starts_with("at least 0") =>
        {
            PyValueError::new_err(format!("Negative values in data: {message}"))
        }
        _ => PyValueError::new_err(message),
    }
}
