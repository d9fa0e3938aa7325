//! Predictions: classes, probabilities, densities, decision values, regression targets, clusters, samples.

use super::Fitted;
use crate::array::{Matrix, Numpy1, Numpy2};
use crate::work;
use mercer_num::Matrix as CoreMatrix;
use mercer_num::random::Random;
use numpy::IntoPyArray;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

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
        self.vector(py, x, |rows| model.predict(rows))
    }

    pub(super) fn class_log_proba<'py>(
        &self,
        py: Python<'py>,
        x: &Matrix<'py>,
    ) -> PyResult<Numpy2<'py, f64>> {
        let model = self.model()?.probabilistic();
        let model = model.ok_or_else(|| self.unable("predict probabilities"))?;
        self.matrix(py, x, model.classes().len(), |rows| model.log_proba(rows))
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
        seed: u64,
    ) -> PyResult<(Numpy2<'py, f64>, Numpy1<'py, u32>)> {
        let model = self.model()?.generative();
        let model = model.ok_or_else(|| self.unable("draw samples"))?;
        // A failed allocation inside the core would abort the process, so it is tried here.
        let cells = n.saturating_mul(self.features().n_features() + 1);
        Vec::<f64>::new()
            .try_reserve_exact(cells)
            .map_err(|_| PyMemoryError::new_err(format!("{n} rows do not fit in memory")))?;
        let (rows, codes) = work::run(py, |_| Ok(model.sample(n, &mut Random::new(seed))))?;
        Ok((rows.into_pyarray(py), codes.into_pyarray(py)))
    }
}
