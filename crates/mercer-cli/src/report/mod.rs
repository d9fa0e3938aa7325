//! What a run has to tell: as data here, as words, JSON and a page below.

pub mod class_means;
pub mod html;
pub mod model_comparison;
pub mod plot;
pub mod terminal;

use mercer::evaluate::{ClassificationReport, RegressionReport};
use mercer::model::{Candidates, Certificate};
use mercer::train::{Outcome, Trained};
use mercer_io::Profile;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// Where things were saved.
#[derive(Clone, Debug, Serialize)]
pub struct Paths {
    pub model: PathBuf,
    pub page: Option<PathBuf>,
}

/// Everything `mercer train` tells.
#[derive(Serialize)]
pub struct TrainReport {
    pub data: String,
    pub rows: u64,
    pub columns: Vec<ColumnReport>,
    pub target: String,
    pub estimator: &'static str,
    pub reason: String,
    pub params: Value,
    pub certificate: Certificate,
    /// The map that the columns go through, and how near it is to its kernel.
    pub map: Option<String>,
    pub seconds: f64,
    /// On rows the judging model had not seen.
    pub cross_validation: Option<ClassificationReport>,
    /// The same, where numbers were learned.
    pub regression: Option<RegressionReport>,
    /// The share of such rows that were taken for strangers, where rows were learned alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<f64>,
    /// What the estimator chose among, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Candidates>,
    /// The most informative columns first, with their mutual information with the class in bits.
    pub telling: Vec<Telling>,
    #[serde(flatten)]
    pub saved: Paths,
}

#[derive(Serialize)]
pub struct ColumnReport {
    pub name: String,
    pub kind: String,
    pub missing: u64,
    /// Smallest and largest number.
    pub range: Option<(f64, f64)>,
}

#[derive(Serialize)]
pub struct Telling {
    pub column: String,
    pub bits: f64,
}

impl TrainReport {
    pub fn new(
        data: &str,
        profile: &Profile,
        reason: &str,
        outcome: &Outcome,
        paths: &Paths,
    ) -> TrainReport {
        let trained = &outcome.trained;
        let certificate = trained.fitted.certificate.clone();
        let judged = outcome.evaluation.as_ref().filter(|e| e.n_rows() > 0);
        let regression = outcome.regression.as_ref().filter(|e| e.n_rows() > 0);
        TrainReport {
            data: data.to_owned(),
            rows: profile.n_rows,
            columns: profile
                .columns
                .iter()
                .map(|c| ColumnReport {
                    name: c.name.clone(),
                    kind: c.kind.to_string(),
                    missing: c.n_missing,
                    range: c.min.zip(c.max),
                })
                .collect(),
            target: trained.features.target.clone().unwrap_or_default(),
            estimator: trained.estimator.id(),
            reason: reason.to_owned(),
            params: trained.estimator.params(),
            seconds: certificate.seconds,
            certificate,
            map: trained.features.map.as_ref().map(|map| map.description()),
            cross_validation: judged.map(|e| e.report()),
            regression: regression.map(|e| e.report()),
            outside: outcome.outlier_fraction,
            candidates: trained.fitted.model.as_model().cross_validated().map(|m| m.candidates()),
            telling: telling(trained, outcome.mutual_information.as_deref()),
            saved: paths.clone(),
        }
    }
}

/// Bits by column, indicators of one column together; a sparse bundle's numbers by themselves.
fn telling(trained: &Trained, bits: Option<&[f64]>) -> Vec<Telling> {
    let Some(bits) = bits else { return Vec::new() };
    let features = &trained.features;
    let mut columns: Vec<Telling> = if features.schema.fields.len() == 1 || features.map.is_some() {
        features
            .names()
            .into_iter()
            .zip(bits)
            .map(|(column, bits)| Telling { column, bits: *bits })
            .collect()
    } else {
        let mut sums = vec![0.0; features.schema.fields.len()];
        features.origins().iter().zip(bits).for_each(|(k, b)| sums[*k] += b);
        (features.schema.fields.iter().zip(sums))
            .map(|(field, bits)| Telling { column: field.name.clone(), bits })
            .collect()
    };
    columns.retain(|t| t.bits > 0.0);
    columns.sort_by(|a, b| b.bits.total_cmp(&a.bits));
    columns.truncate(20);
    columns
}
