//! The protocols: each turns a request into a table and predictions into a response.
//!
//! - `cells`: the values of a column on their way into a table
//! - `rows`: rows and columns in JSON, for KServe V1, MLflow and `/predict`
//! - `tensor`: tensors of the Open Inference Protocol, in JSON and binary
//! - `v2`: the Open Inference Protocol
//! - `v1`: KServe V1
//! - `mlflow`: MLflow's scoring protocol
//! - `plain`: CSV, JSON lines and Arrow streams
//! - `pages`: the OpenAPI document and the documentation page

pub(crate) mod cells;
pub(crate) mod mlflow;
pub(crate) mod pages;
pub(crate) mod plain;
mod rows;
mod tensor;
pub(crate) mod v1;
pub(crate) mod v2;

use crate::batch;
use crate::error::{ApiError, ApiResult};
use crate::metrics::ModelMetrics;
use crate::models::Served;
use crate::options::{Output, Wanted};
use crate::server::Reactor;
use mercer::data::{Label, Table};
use mercer::predict::{Predicted, Predictions, RowToExplain, outlier_name};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Instant;

/// A model as one request sees it: the version does not change while the request runs.
pub(crate) struct Target {
    pub served: Arc<Served>,
    pub metrics: Arc<ModelMetrics>,
}

/// The predictions and explanations of a request.
pub(crate) struct Answer {
    pub predictions: Predictions,
    /// One explanation per row as JSON; empty if none was requested.
    pub explanations: Vec<String>,
}

impl Target {
    /// Predicts a table, and explains it if requested.
    pub async fn answer(
        &self,
        reactor: &Arc<Reactor>,
        table: Table,
        wanted: &Wanted,
    ) -> ApiResult<Answer> {
        let start = Instant::now();
        let answer = self.unmeasured_answer(reactor, table, wanted).await;
        self.metrics.count_inference(answer.is_ok(), start.elapsed());
        answer
    }

    async fn unmeasured_answer(
        &self,
        reactor: &Arc<Reactor>,
        table: Table,
        wanted: &Wanted,
    ) -> ApiResult<Answer> {
        self.check_size(reactor, &table, wanted)?;
        let explanations = match wanted.outputs.contains(&Output::Explain) {
            true => self.explanations(reactor, table.clone()).await?,
            false => Vec::new(),
        };
        let served = Arc::clone(&self.served);
        let options = wanted.predict.clone();
        let mut predictions =
            batch::predict(reactor, served, &self.metrics, table, options).await?;
        // The threshold of the counter of rare rows is not the client's.
        predictions.outliers = predictions.outliers.take().filter(|_| wanted.marks_outliers);
        Ok(Answer { predictions, explanations })
    }

    fn check_size(&self, reactor: &Reactor, table: &Table, wanted: &Wanted) -> ApiResult<()> {
        let limits = &reactor.state.config.limits;
        let n_rows = table.n_rows();
        if n_rows == 0 {
            return Err(ApiError::bad("the request has no rows"));
        }
        let model = self.served.trained.fitted.model.as_model();
        let n_axes = model.transformer().map_or(0, |map| map.n_outputs());
        let width = |output: &Output| match output {
            Output::PredictProba | Output::DecisionFunction => self.served.labels.len().max(1),
            Output::Transform => n_axes,
            Output::Interval => 2,
            _ => 1,
        };
        let n_columns: usize = wanted.outputs.iter().map(width).sum();
        let explained = wanted.outputs.contains(&Output::Explain);
        let limit = [
            Some(limits.rows),
            Some(limits.output_cells / n_columns.max(1)),
            explained.then_some(limits.explained_rows),
        ];
        match limit.into_iter().flatten().min() {
            Some(limit) if n_rows > limit => Err(too_many_rows(n_rows, limit)),
            _ => Ok(()),
        }
    }

    async fn explanations(&self, reactor: &Reactor, table: Table) -> ApiResult<Vec<String>> {
        let served = Arc::clone(&self.served);
        let n_rows = table.n_rows();
        batch::compute(reactor, n_rows, move || {
            let explain = |row| {
                let row = RowToExplain::new(&served.trained, &table, row)?;
                serde_json::to_string(&row.explain()?).map_err(|_| ApiError::internal())
            };
            (0..n_rows).map(explain).collect()
        })
        .await
    }

    /// The prediction of each row as JSON: a label, a number, or a list for a transformation.
    fn predicted_values(&self, predictions: &Predictions) -> Vec<Value> {
        match &predictions.predicted {
            Predicted::Classes(codes) => codes
                .iter()
                .map(|code| {
                    code.map_or(Value::Null, |c| label_value(&self.served.labels[c as usize]))
                })
                .collect(),
            Predicted::Values(values) => values.iter().map(|y| json!(y)).collect(),
            Predicted::InlierScores(scores) => {
                scores.iter().map(|score| json!(outlier_name(*score))).collect()
            }
            Predicted::Clusters(clusters) => clusters.iter().map(|(k, _)| json!(k)).collect(),
            Predicted::Transformed(rows) => {
                rows.outer_iter().map(|row| json!(row.to_vec())).collect()
            }
        }
    }

    /// The predictions in JSON protocols: a plain list, or a list of objects if other outputs than the prediction were
    /// named.
    fn prediction_list(&self, answer: &Answer, wanted: &Wanted, named: bool) -> Vec<Value> {
        let predicted = self.predicted_values(&answer.predictions);
        if !named {
            return predicted;
        }
        let names: Vec<String> = self.served.labels.iter().map(Label::to_string).collect();
        let p = &answer.predictions;
        let record = |(i, predicted): (usize, Value)| {
            let mut record = Map::new();
            for output in &wanted.outputs {
                let value = match output {
                    Output::Predict => Some(predicted.clone()),
                    Output::PredictProba => p.proba.as_ref().map(|proba| {
                        let row = proba.row(i).to_vec();
                        names.iter().cloned().zip(row.into_iter().map(|p| json!(p))).collect()
                    }),
                    Output::DecisionFunction => {
                        p.decision_values.as_ref().map(|values| json!(values.row(i).to_vec()))
                    }
                    Output::LogDensity => p.log_density.as_ref().map(|density| json!(density[i])),
                    Output::Transform => match &p.projection {
                        Some(rows) => Some(json!(rows.row(i).to_vec())),
                        None => Some(predicted.clone()),
                    },
                    Output::Interval => p.intervals.as_ref().map(|all| json!([all[i].0, all[i].1])),
                    Output::Risk => p.risk.as_ref().map(|risk| json!(risk[i])),
                    Output::Explain => {
                        let explanation = answer.explanations.get(i);
                        explanation.and_then(|text| serde_json::from_str(text).ok())
                    }
                };
                record.extend(value.map(|value| (output.name().to_owned(), value)));
            }
            Value::Object(record)
        };
        predicted.into_iter().enumerate().map(record).collect()
    }
}

pub(crate) fn too_many_rows(found: usize, limit: usize) -> ApiError {
    ApiError::large(format!(
        "the request has {found} rows, more than the limit of {limit}; send fewer"
    ))
}

fn label_value(label: &Label) -> Value {
    match label {
        Label::Bool(value) => json!(value),
        Label::Int(value) => json!(value),
        Label::Float(value) => json!(value),
        Label::Text(value) => json!(value),
    }
}

/// The error of JSON that does not parse.
fn json_error(error: &serde_json::Error, body: &[u8]) -> ApiError {
    let hint =
        match body.windows(3).any(|w| w == b"NaN") || body.windows(8).any(|w| w == b"Infinity") {
            true if error.is_syntax() => {
                "; NaN and Infinity are not JSON: write null for a missing value"
            }
            _ => "",
        };
    ApiError::bad(format!("the JSON is not valid: {error}{hint}"))
}
