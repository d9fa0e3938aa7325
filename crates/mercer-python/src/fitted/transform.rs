//! Transformed rows: feature maps, inverse maps, and tables with text columns.

use super::Fitted;
use crate::array::{self, CsrArrays, Matrix, Numpy2};
use crate::table;
use crate::work;
use mercer::Error;
use mercer::calibrate::Conformal;
use mercer_num::Rows;
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

impl Fitted {
    pub(super) fn transformed<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        let model = self.transformer()?;
        self.matrix_into(py, x, model.n_outputs(), |rows, out| model.transform_into(rows, out))
    }

    pub(super) fn transformed_f32<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f32>> {
        let model = self.transformer()?;
        self.matrix_into(py, x, model.n_outputs(), |rows, out| model.transform_f32_into(rows, out))
    }

    pub(super) fn transformed_sparse<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Option<CsrArrays<'py>>> {
        let model = self.transformer()?;
        let rows = x.rows()?;
        let Some(new) = work::run(py, |_| model.transform_sparse(&rows))? else { return Ok(None) };
        let width = new.cols();
        let (offsets, columns, values) = new.into_raw_storage();
        let offsets: Vec<i64> = offsets.into_iter().map(|at| at as i64).collect();
        Ok(Some((
            values.into_pyarray(py),
            columns.into_pyarray(py),
            offsets.into_pyarray(py),
            width,
        )))
    }

    pub(super) fn inverse<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        let model = self.transformer()?;
        self.matrix(py, x, model.n_inputs(), |rows| {
            let unable = || self.estimator().unable("compute an inverse transform");
            model.inverse(rows)?.ok_or_else(unable)
        })
    }

    pub(super) fn encoded_rows<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<table::Column<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let features = self.features();
        let table = table::read_as(columns, &features.schema)?;
        let encoded = work::run(py, |_| features.encode(&table, None))?;
        array::rows_object(py, &encoded.rows())
    }

    pub(super) fn encoded_matrix<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Option<Numpy2<'py, f64>>> {
        let rows = x.rows()?;
        let encoded = work::run(py, |_| self.features().encode_matrix(&rows))?;
        Ok(encoded.map(|encoded| encoded.into_pyarray(py)))
    }

    pub(super) fn conformal(&self) -> PyResult<&Conformal> {
        let none = "the model has no held-out predictions; fit it with cross-validation";
        self.trained()?.conformal.as_ref().ok_or_else(|| PyValueError::new_err(none))
    }

    pub(super) fn encoded<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<table::Column<'py>>,
    ) -> PyResult<CsrArrays<'py>> {
        let table = table::read(columns)?;
        let features = self.features();
        let (data, indices, offsets) = work::run(py, |_| {
            let encoded = features.encode(&table, None)?;
            let Rows::Sparse(rows) = encoded.rows() else { return Err(Error::ByColumns) };
            let (mut data, mut indices, mut offsets) = (Vec::new(), Vec::new(), vec![0i64]);
            for (columns, values) in rows.iter() {
                indices.extend_from_slice(columns);
                data.extend_from_slice(values);
                offsets.push(data.len() as i64);
            }
            Ok((data, indices, offsets))
        })?;
        let arrays = (data.into_pyarray(py), indices.into_pyarray(py), offsets.into_pyarray(py));
        Ok((arrays.0, arrays.1, arrays.2, features.n_features()))
    }
}
