//! The attributes of a model: its certificate, and its fields by name.

use crate::array;
use mercer::explain::ClassMeans;
use mercer::model::{Certificate, Tree};
use mercer::train::Trained;
use numpy::IntoPyArray;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde::Serialize;

/// The certificate of a fit as a dictionary.
pub(crate) fn certificate<'py>(
    py: Python<'py>,
    certificate: &Certificate,
) -> PyResult<Bound<'py, PyDict>> {
    let fields = array::tree_object(py, tree(certificate)?)?.cast_into::<PyDict>()?;
    for (name, measured) in
        [("objective", &certificate.objective), ("violation", &certificate.violation)]
    {
        fields.set_item(name, measured.as_ref().map(|m| m.value))?;
        fields.set_item(format!("{name}_name"), measured.as_ref().map(|m| &m.name))?;
    }
    fields.set_item("converged", certificate.status.is_converged())?;
    fields.set_item("duality_gap", certificate.duality_gap())?;
    fields.set_item("relative_gap", certificate.relative_gap())?;
    fields.set_item("seconds", certificate.seconds)?;
    fields.set_item("text", certificate.to_string())?;
    Ok(fields)
}

/// The names of the fields of the model, of its parts, and of values derived from them.
pub(super) fn fields(trained: &Trained) -> Vec<String> {
    let mut names = Vec::new();
    let Tree::Map(fields) = trained.fitted.model.fields() else { return names };
    for (name, field) in fields {
        names.push(name);
        if let Tree::Map(parts) = field {
            names.extend(parts.into_iter().map(|(name, _)| name));
        }
    }
    let derived = trained.fitted.model.as_model().discriminant();
    let derived = derived.map(|model| model.derived_names()).unwrap_or_default();
    names.extend(derived.iter().map(|name| (*name).to_owned()));
    if class_means(trained).is_some() {
        names.extend(CLASS_MEANS.map(str::to_owned));
    }
    names
}

/// The values derived from the class means of a model.
const CLASS_MEANS: [&str; 4] =
    ["class_means", "class_deviations", "class_center", "class_composite"];

fn class_means(trained: &Trained) -> Option<ClassMeans> {
    trained.fitted.model.as_model().classifier().and_then(|model| model.class_means())
}

/// A value derived from the class means; `None` for a deviation that the model lacks.
fn of_class_means<'py>(py: Python<'py>, means: ClassMeans, name: &str) -> Bound<'py, PyAny> {
    let none = || py.None().into_bound(py);
    match name {
        "class_means" => means.centers.into_pyarray(py).into_any(),
        "class_deviations" => {
            means.deviations.map_or_else(none, |values| values.into_pyarray(py).into_any())
        }
        "class_center" => PyString::new(py, means.what.name()).into_any(),
        _ => means.composite().map_or_else(none, |image| image.into_pyarray(py).into_any()),
    }
}

/// A field of the model or of one of its parts, or a value derived from them.
pub(super) fn field<'py>(
    py: Python<'py>,
    trained: &Trained,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let model = &trained.fitted.model;
    let derived = model.as_model().discriminant().and_then(|model| model.derived(name));
    if let Some(values) = derived {
        return Ok(values.into_pyarray(py).into_any());
    }
    if CLASS_MEANS.contains(&name) {
        let means = class_means(trained).ok_or_else(|| unknown(name))?;
        return Ok(of_class_means(py, means, name));
    }
    let fields = model.fields();
    let parts = match &fields {
        Tree::Map(parts) => parts.iter().map(|(_, part)| part).collect(),
        _ => Vec::new(),
    };
    let field = fields.get(name).or_else(|| parts.iter().find_map(|part| part.get(name)));
    array::tree_object(py, field.cloned().ok_or_else(|| unknown(name))?)
}

/// The error for a name that is not a field.
pub(super) fn unknown(name: &str) -> PyErr {
    PyKeyError::new_err(name.to_owned())
}

/// A serializable value as a tree, in which arrays are not split into elements.
pub(crate) fn tree<T: Serialize>(value: &T) -> PyResult<Tree> {
    Tree::of(value).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}
