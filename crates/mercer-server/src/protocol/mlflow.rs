//! MLflow's scoring protocol: a table as CSV or JSON in, `{"predictions": [...]}` out.

use super::plain::{BodyFormat, body_format, read_table};
use super::v2::prediction_only;
use super::{Target, rows};
use crate::connection::Reply;
use crate::error::ApiResult;
use crate::options::Parameters;
use crate::server::Reactor;
use bytes::Bytes;
use hyper::header::HeaderMap;
use serde_json::json;
use std::sync::Arc;

/// `POST /invocations`.
pub(crate) async fn invocations(
    reactor: &Arc<Reactor>,
    target: Target,
    headers: &HeaderMap,
    body: Bytes,
) -> ApiResult<Reply> {
    let served = &target.served;
    let (table, (wanted, named)) = match body_format(headers)? {
        BodyFormat::Json => {
            let mut request = rows::parse(&body, served, reactor.state.config.limits.rows)?;
            let wanted = prediction_only(served, &request.parameters)?;
            (request.table(served)?, wanted)
        }
        BodyFormat::Table(format) => {
            let wanted = prediction_only(served, &Parameters::default())?;
            (read_table(reactor, &target, body, format).await?, wanted)
        }
    };
    let answer = target.answer(reactor, table, &wanted).await?;
    Ok(Reply::json(&json!({"predictions": target.prediction_list(&answer, &wanted, named)})))
}
