//! The Python exceptions of the errors of the core.

use mercer::Error;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyTimeoutError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyErr, create_exception};

create_exception!(
    mercer.exceptions,
    NotSeparableError,
    PyValueError,
    "No hyperplane separates two classes. ``witness`` is the proof: convex combinations of both that coincide."
);

/// The exception with its witness: the classes, for each the indices of rows and their weights, and the distance of
/// the two convex combinations.
fn not_separable(
    message: String,
    classes: [String; 2],
    witness: &[Vec<(usize, f64)>; 2],
    distance: f64,
    spread: f64,
) -> PyErr {
    Python::attach(|py| {
        let error = NotSeparableError::new_err(message);
        let fill = || -> PyResult<()> {
            let fields = PyDict::new(py);
            let [first, second] = witness;
            let rows = |part: &[(usize, f64)]| part.iter().map(|(row, _)| *row).collect::<Vec<_>>();
            let weights = |part: &[(usize, f64)]| part.iter().map(|(_, w)| *w).collect::<Vec<_>>();
            fields.set_item("classes", classes)?;
            fields.set_item("rows", (rows(first), rows(second)))?;
            fields.set_item("weights", (weights(first), weights(second)))?;
            fields.set_item("distance", distance)?;
            fields.set_item("spread", spread)?;
            error.value(py).setattr("witness", fields)
        };
        match fill() {
            Ok(()) => error,
            Err(other) => other,
        }
    })
}

/// `numpy.linalg.LinAlgError`, or `ValueError` without numpy.
fn linear_algebra_error(message: String) -> PyErr {
    Python::attach(|py| {
        let class = py.import("numpy.linalg").and_then(|module| module.getattr("LinAlgError"));
        match class.and_then(|class| class.call1((&message,))) {
            Ok(error) => PyErr::from_value(error),
            Err(_) => PyValueError::new_err(message),
        }
    })
}

/// The exception of an error: `ValueError` for invalid input, and the matching class for limits, files and
/// unsupported operations.
pub fn raised(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Memory { .. } => PyMemoryError::new_err(message),
        Error::Stopped => PyTimeoutError::new_err(message),
        Error::System { .. } => PyOSError::new_err(message),
        Error::Unable { .. } => PyTypeError::new_err(message),
        Error::NotSeparable { first, second, witness, distance, spread } => {
            not_separable(message, [first, second], &witness, distance, spread)
        }
        // numpy's class, as scikit-learn raises; it is a ValueError.
        Error::SingularCovariance { .. } => linear_algebra_error(message),
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
