//! Predictions: classes, probabilities, densities, decision values, regression targets, clusters, samples.

use super::Fitted;
use crate::array::{Matrix, Numpy1, Numpy2};
use crate::work;
use mercer::model::{log_posterior, most_probable, n_impossible};
use mercer_num::Matrix as CoreMatrix;
use mercer_num::random::Random;
use numpy::IntoPyArray;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use std::ffi::CString;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Warns about rows that were predicted from the priors alone.
fn warn_of_zero_likelihood(py: Python<'_>, n_rows: usize) -> PyResult<()> {
    if n_rows == 0 {
        return Ok(());
    }
    let category = py.import("mercer.exceptions")?.getattr("ZeroLikelihoodWarning")?;
    let message = format!(
        "{n_rows} rows have likelihood zero in every class; they were predicted from the class priors alone \
         (smoothing, such as alpha=1, avoids probabilities of zero)"
    );
    PyErr::warn(py, &category, &CString::new(message)?, 2)
}

impl Fitted {
    pub(super) fn class_scores<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        let model = self.classifier()?;
        self.matrix(py, x, model.classes().len(), |rows| model.scores(rows))
    }

    pub(super) fn class_codes<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy1<'py, u32>> {
        let model = self.classifier()?;
        let Some(priors) = model.log_prior_fallback() else {
            return self.vector(py, x, |rows| model.predict(rows));
        };
        let impossible = AtomicUsize::new(0);
        let codes = self.vector(py, x, |rows| {
            let scores = model.scores(rows)?;
            impossible.fetch_add(n_impossible(&scores), Ordering::Relaxed);
            Ok(most_probable(&scores, Some(&priors)))
        })?;
        warn_of_zero_likelihood(py, impossible.into_inner())?;
        Ok(codes)
    }

    pub(super) fn class_log_proba<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        let model = self.model()?.probabilistic();
        let model = model.ok_or_else(|| self.unable("predict probabilities"))?;
        let Some(priors) = model.log_prior_fallback() else {
            return self.matrix(py, x, model.classes().len(), |rows| model.log_proba(rows));
        };
        let impossible = AtomicUsize::new(0);
        let log_proba = self.matrix(py, x, model.classes().len(), |rows| {
            let scores = model.scores(rows)?;
            impossible.fetch_add(n_impossible(&scores), Ordering::Relaxed);
            Ok(log_posterior(scores, Some(&priors)))
        })?;
        warn_of_zero_likelihood(py, impossible.into_inner())?;
        Ok(log_proba)
    }

    pub(super) fn joint_log_proba<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        let model = self.generative()?;
        self.matrix(py, x, model.classes().len(), |rows| model.log_joint(rows))
    }

    pub(super) fn row_log_density<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy1<'py, f64>> {
        let model = self.generative()?;
        self.vector(py, x, |rows| model.log_density(rows))
    }

    pub(super) fn class_distances<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        let model = self.model()?.discriminant();
        let model = model.ok_or_else(|| self.unable("compute Mahalanobis distances"))?;
        self.matrix(py, x, model.classes().len(), |rows| model.distances(rows))
    }

    pub(super) fn decision_values<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        let model = self.model()?.decision_function();
        let model = model.ok_or_else(|| self.unable("compute a decision function"))?;
        let rows = x.rows()?;
        let decisions = work::run(py, |_| model.decisions(&rows))?;
        Ok(decisions.into_pyarray(py))
    }

    pub(super) fn regression<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy1<'py, f64>> {
        let model = self.regressor()?;
        self.vector(py, x, |rows| model.predict(rows))
    }

    pub(super) fn multi_output_regression<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        let model = self.regressor()?;
        self.matrix(py, x, model.n_targets(), |rows| model.predict_many(rows))
    }

    pub(super) fn intervals<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
        level: f64,
    ) -> PyResult<Numpy2<'py, f64>> {
        let model = self.regressor()?;
        let unable = || {
            self.estimator()
                .unable("compute prediction intervals: there are no residual degrees of freedom")
        };
        self.matrix(py, x, 2, |rows| {
            let ends = model.intervals(rows, level)?.ok_or_else(unable)?;
            let end = |(i, k): (usize, usize)| if k == 0 { ends[i].0 } else { ends[i].1 };
            Ok(CoreMatrix::from_shape_fn((ends.len(), 2), end))
        })
    }

    pub(super) fn nearest_clusters<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy1<'py, u32>> {
        let model = self.clusterer()?;
        self.vector(py, x, |rows| model.assign(rows))
    }

    pub(super) fn center_distances<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        let model = self.clusterer()?;
        self.matrix(py, x, model.n_clusters(), |rows| model.distances(rows))
    }

    pub(super) fn draw<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        given: Option<u32>,
        seed: u64,
    ) -> PyResult<(Numpy2<'py, f64>, Numpy1<'py, u32>)> {
        let model = self.model()?.generative();
        let model = model.ok_or_else(|| self.unable("draw samples"))?;
        // A failed allocation inside the core would abort the process, so it is tried here.
        let cells = n.saturating_mul(self.features().n_features() + 1);
        Vec::<f64>::new()
            .try_reserve_exact(cells)
            .map_err(|_| PyMemoryError::new_err(format!("{n} rows do not fit in memory")))?;
        let (rows, codes) = work::run(py, |_| Ok(model.sample(n, given, &mut Random::new(seed))))?;
        Ok((rows.into_pyarray(py), codes.into_pyarray(py)))
    }
}
