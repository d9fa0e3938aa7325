//! KServe's V1 protocol: `{"instances": [...]}` in, `{"predictions": [...]}` out.

use super::v2::prediction_only;
use super::{Target, rows};
use crate::connection::Reply;
use crate::error::ApiResult;
use crate::models::Slot;
use crate::options::Output;
use crate::server::Reactor;
use serde_json::{Value, json};
use std::sync::Arc;

/// `POST /v1/models/{model}:predict`.
pub(crate) async fn predict(
    reactor: &Arc<Reactor>,
    target: Target,
    body: &[u8],
) -> ApiResult<Reply> {
    let mut request = rows::parse(body, &target.served, reactor.state.config.limits.rows)?;
    let (wanted, named) = prediction_only(&target.served, &request.parameters)?;
    let table = request.table(&target.served)?;
    let answer = target.answer(reactor, table, &wanted).await?;
    Ok(Reply::json(&json!({"predictions": target.prediction_list(&answer, &wanted, named)})))
}

/// `POST /v1/models/{model}:explain`.
pub(crate) async fn explain(
    reactor: &Arc<Reactor>,
    target: Target,
    body: &[u8],
) -> ApiResult<Reply> {
    let served = &target.served;
    mercer::predict::check_explainable(&served.trained)?;
    let mut request = rows::parse(body, served, reactor.state.config.limits.rows)?;
    let (mut wanted, named) = prediction_only(served, &request.parameters)?;
    wanted.outputs.push(Output::Explain);
    let table = request.table(served)?;
    let answer = target.answer(reactor, table, &wanted).await?;
    wanted.outputs.pop();
    let predictions = target.prediction_list(&answer, &wanted, named);
    let explanations = answer.explanations.iter();
    let explanations: Vec<Value> =
        explanations.filter_map(|text| serde_json::from_str(text).ok()).collect();
    Ok(Reply::json(&json!({"predictions": predictions, "explanations": explanations})))
}

/// `GET /v1/models`.
pub(crate) fn list(slots: &[Slot]) -> Reply {
    super::v2::list(slots)
}

/// `GET /v1/models/{model}`.
pub(crate) fn ready(name: &str) -> Reply {
    Reply::json(&json!({"name": name, "ready": true}))
}
