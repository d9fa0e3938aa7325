//! Reports: the data here; as text in `terminal` and `explanation`, as a page in `html`, with the plots in `plot`.

pub mod explanation;
pub mod html;
pub mod linear_functions;
pub mod plot;
pub mod projection;
pub mod table_profile;
pub mod terminal;
pub mod train_page;
pub mod tuning;

use crate::commands::{Commands, WithCommand};
use crate::failure::Result;
use mercer::data::{DateOrder, Notation};
use mercer::evaluate::{ClassificationReport, RegressionReport};
use mercer::model::{Candidates, Certificate};
use mercer::train::checks::Finding;
use mercer::train::select::{Importance, Leaderboard, LearningPoint};
use mercer::train::{Effect, Outcome, Trained};
use mercer_io::Profile;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Columns in the ranking by mutual information.
const MAX_COLUMNS: usize = 20;

/// The files that were written.
#[derive(Clone, Debug, Serialize)]
pub struct Paths {
    pub model: PathBuf,
    pub page: Option<PathBuf>,
}

/// The report of `mercer train`.
#[derive(Serialize)]
pub struct TrainReport {
    pub data: String,
    pub rows: u64,
    pub columns: Vec<ColumnReport>,
    pub target: String,
    /// The column of the sample weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_weights: Option<String>,
    pub estimator: &'static str,
    pub reason: String,
    pub params: Value,
    /// The candidates that were compared, the best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaderboard: Option<Leaderboard>,
    /// The command that trains the selected estimator again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    pub certificate: Certificate,
    /// The feature map, with its approximation error.
    pub feature_map: Option<String>,
    pub seconds: f64,
    /// Cross-validated scores of a classifier.
    pub cross_validation: Option<ClassificationReport>,
    /// Cross-validated scores of a regressor.
    pub regression: Option<RegressionReport>,
    /// The cross-validated fraction of outliers, for an outlier detector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outlier_fraction: Option<f64>,
    /// The candidates of a hyperparameter search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Candidates>,
    /// The mutual information of each column and the class on held-out rows, largest first.
    pub mutual_information: Vec<ColumnInformation>,
    /// Columns that are not features, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedReport>,
    /// The preprocessing, one line per kind of step.
    pub preparation: Vec<String>,
    /// What the checks found.
    pub checks: Vec<Value>,
    /// The permutation importance of the columns on held-out rows, the largest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub importances: Vec<Importance>,
    /// The metric that importances are measured by.
    #[serde(skip)]
    pub importance_metric: &'static str,
    /// The scores of training and held-out rows against the number of training rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub learning_curve: Vec<LearningPoint>,
    /// The effects of the most important columns.
    #[serde(skip)]
    pub effects: Vec<Effect>,
    /// The day of the training run.
    pub date: String,
    #[serde(flatten)]
    pub saved: Paths,
}

/// A column that is not a feature.
#[derive(Serialize)]
pub struct DroppedReport {
    pub column: String,
    pub reason: String,
}

#[derive(Serialize)]
pub struct ColumnReport {
    pub name: String,
    pub kind: String,
    /// Why it has this type, where that is not obvious.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    pub missing: u64,
    /// Minimum and maximum.
    pub range: Option<(f64, f64)>,
    /// The range as text: dates as dates, numbers with their unit.
    #[serde(skip)]
    pub shown_range: String,
}

/// The day in UTC, in ISO 8601.
fn today() -> String {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Notation::Date(DateOrder::Ymd).format((elapsed.as_secs() / 86_400) as f64)
}

#[derive(Serialize)]
pub struct ColumnInformation {
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
        let classification = outcome.evaluation.as_ref().filter(|e| e.n_rows() > 0);
        let regression = outcome.regression.as_ref().filter(|e| e.n_rows() > 0);
        TrainReport {
            data: data.to_owned(),
            rows: profile.n_rows,
            columns: profile
                .columns
                .iter()
                .map(|c| ColumnReport {
                    name: c.name.clone(),
                    kind: c.type_name(),
                    remark: c.note.clone(),
                    missing: c.n_missing,
                    range: c.min.zip(c.max),
                    shown_range: c.shown_range(),
                })
                .collect(),
            target: trained.features.target.clone().unwrap_or_default(),
            sample_weights: trained.features.weights.clone(),
            estimator: trained.estimator.id(),
            reason: reason.to_owned(),
            params: trained.estimator.params(),
            leaderboard: None,
            command: None,
            seconds: certificate.seconds,
            certificate,
            feature_map: trained.features.map.as_ref().map(|map| map.description()),
            cross_validation: classification.map(|e| e.report()),
            regression: regression.map(|e| e.report()),
            outlier_fraction: outcome.outlier_fraction,
            candidates: trained.fitted.model.as_model().cross_validated().map(|m| m.candidates()),
            mutual_information: mutual_information(trained, outcome.mutual_information.as_deref()),
            dropped: (trained.features.dropped.iter())
                .map(|dropped| DroppedReport {
                    column: dropped.name.clone(),
                    reason: dropped.reason.to_string(),
                })
                .collect(),
            preparation: trained.features.summary(),
            checks: Vec::new(),
            importances: Vec::new(),
            importance_metric: "",
            learning_curve: Vec::new(),
            effects: Vec::new(),
            date: today(),
            saved: paths.clone(),
        }
    }

    /// Adds the findings of the checks, with the commands that remedies add their options to.
    pub fn set_findings(&mut self, findings: &[Finding], commands: &Commands) -> Result<()> {
        let findings = findings.iter().map(|finding| WithCommand::new(finding, commands));
        self.checks = findings.map(serde_json::to_value).collect::<serde_json::Result<_>>()?;
        Ok(())
    }
}

/// Mutual information per column: the indicators of a categorical column are summed, the features of a sparse column
/// are listed one by one.
fn mutual_information(trained: &Trained, bits: Option<&[f64]>) -> Vec<ColumnInformation> {
    let Some(bits) = bits else { return Vec::new() };
    let features = &trained.features;
    let mut columns: Vec<ColumnInformation> =
        if features.schema.fields.len() == 1 || features.map.is_some() {
            features
                .names()
                .into_iter()
                .zip(bits)
                .map(|(column, bits)| ColumnInformation { column, bits: *bits })
                .collect()
        } else {
            let mut sums = vec![0.0; features.schema.fields.len()];
            features.origins().iter().zip(bits).for_each(|(k, b)| sums[*k] += b);
            (features.schema.fields.iter().zip(sums))
                .map(|(field, bits)| ColumnInformation { column: field.name.clone(), bits })
                .collect()
        };
    columns.retain(|t| t.bits > 0.0);
    columns.sort_by(|a, b| b.bits.total_cmp(&a.bits));
    columns.truncate(MAX_COLUMNS);
    columns
}
