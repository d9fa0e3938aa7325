//! The predictions of unsupervised models: outlier detection, clustering and transformations.

use super::Predicted;
use crate::error::Result;
use crate::train::Trained;
use mercer_num::Rows;

/// The names of the predicted columns; `None` for a supervised model.
pub fn output_columns(model: &Trained) -> Option<Vec<String>> {
    let named = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let able = model.fitted.model.as_model();
    if able.outlier_detector().is_some() {
        return named(&["prediction", "score"]);
    }
    if able.clusterer().is_some() {
        return named(&["cluster", "squared_distance"]);
    }
    let map = able.transformer().filter(|_| model.estimator.card().is_unsupervised())?;
    // The names of the Python class.
    let class = model.estimator.card().python.rsplit('.').next().unwrap_or_default().to_lowercase();
    let numbered = || (0..map.n_outputs()).map(|k| format!("{class}{k}")).collect();
    Some(map.feature_names_out(&model.features.names()).unwrap_or_else(numbered))
}

/// The predictions of each row.
pub(super) fn predicted(model: &Trained, rows: &Rows<'_>) -> Result<Predicted> {
    let able = model.fitted.model.as_model();
    if let Some(detector) = able.outlier_detector() {
        return Ok(Predicted::InlierScores(detector.inlier_scores(rows)?));
    }
    if let Some(clusterer) = able.clusterer() {
        let distances = clusterer.distances(rows)?;
        let nearest = clusterer.assign(rows)?.into_iter().zip(distances.outer_iter());
        return Ok(Predicted::Clusters(nearest.map(|(k, row)| (k, row[k as usize])).collect()));
    }
    let map = able.transformer().ok_or_else(|| model.estimator.unable("predict"))?;
    Ok(Predicted::Transformed(map.transform(rows)?))
}
