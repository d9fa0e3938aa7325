//! Explanations of a prediction, and the summary of a linear regression, as dictionaries.

use super::Fitted;
use super::attributes::tree;
use crate::array;
use crate::error::raised;
use mercer::explain::{explain, explain_scores, explain_terms};
use pyo3::prelude::*;

impl Fitted {
    /// The explanation of the first kind that the model has: terms of class scores, terms of support
    /// vectors, or likelihood factors.
    pub(super) fn explanation<'py>(
        &self,
        py: Python<'py>,
        row: &[f64],
    ) -> PyResult<Bound<'py, PyAny>> {
        let names = self.column_names();
        let model = self.model()?;
        if model.additive_scores().is_some() {
            let explanation = explain_scores(model, row, &names).map_err(raised)?;
            return array::tree_object(py, tree(&explanation)?);
        }
        if let Some(model) = model.support_vectors() {
            let explanation = model.support_terms(row).map_err(raised)?;
            return array::tree_object(py, tree(&explanation)?);
        }
        let model = model.factorized_likelihood();
        let model = model.ok_or_else(|| self.unable("explain a prediction"))?;
        let explanation = explain(model, row, &names).map_err(raised)?;
        let explanation = explanation.with_levels(|column, x| self.features().category(column, x));
        array::tree_object(py, tree(&explanation)?)
    }

    pub(super) fn term_explanation<'py>(
        &self,
        py: Python<'py>,
        row: &[f64],
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model()?.linear_model();
        let model = model.ok_or_else(|| self.unable("explain a prediction by terms"))?;
        let explanation = explain_terms(model, row, &self.column_names()).map_err(raised)?;
        array::tree_object(py, tree(&explanation)?)
    }

    pub(super) fn regression_summary<'py>(
        &self,
        py: Python<'py>,
        level: f64,
    ) -> PyResult<(Bound<'py, PyAny>, String)> {
        let names = self.column_names();
        let summary = self.model()?.linear_model().and_then(|model| model.summary(&names, level));
        let summary = summary.ok_or_else(|| self.unable("compute standard errors"))?;
        Ok((array::tree_object(py, tree(&summary)?)?, summary.to_string()))
    }
}
