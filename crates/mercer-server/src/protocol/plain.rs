//! Tables as in files: CSV, JSON lines and Arrow streams in, what `mercer predict` writes out.

use super::{Target, rows, too_many_rows};
use crate::batch;
use crate::connection::Reply;
use crate::error::{ApiError, ApiResult, BODY};
use crate::options::{Output, Query};
use crate::server::Reactor;
use bytes::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use mercer::data::{Stream, Table};
use mercer::predict::{LineFormat, PredictOptions, PredictionWriter};
use mercer_io::{Format, Limits, Options, Source};
use std::ops::ControlFlow;
use std::sync::Arc;

/// How many bytes one byte of a compressed Arrow buffer may become, once 64 MB have come out.
const MAX_EXPANSION: u64 = 8;
/// Rows that are read at a time.
const ROWS_PER_TABLE: usize = 4_096;

const CSV: &str = "text/csv; charset=utf-8";
const JSON_LINES: &str = "application/x-ndjson";

/// The format of a body, by its media type.
pub(crate) enum BodyFormat {
    /// One JSON document.
    Json,
    /// A table.
    Table(Format),
}

pub(crate) fn body_format(headers: &HeaderMap) -> ApiResult<BodyFormat> {
    let media_type = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    let media_type = media_type.unwrap_or("application/json").split(';').next().unwrap_or_default();
    match media_type.trim().to_ascii_lowercase().as_str() {
        // The media type that curl sends with -d unless told otherwise.
        "application/json" | "application/x-www-form-urlencoded" => Ok(BodyFormat::Json),
        "text/csv" | "application/csv" => Ok(BodyFormat::Table(Format::Csv)),
        "application/x-ndjson" | "application/jsonl" | "application/jsonlines" => {
            Ok(BodyFormat::Table(Format::JsonLines))
        }
        "application/vnd.apache.arrow.stream" | "application/vnd.apache.arrow.file" => {
            Ok(BodyFormat::Table(Format::Arrow))
        }
        _ => Err(ApiError::new(
            415,
            "the Content-Type is not supported; use application/json, text/csv, application/x-ndjson or \
             application/vnd.apache.arrow.stream",
        )),
    }
}

/// Reads a table of the model's columns, away from the reactor.
pub(crate) async fn read_table(
    reactor: &Arc<Reactor>,
    target: &Target,
    body: Bytes,
    format: Format,
) -> ApiResult<Table> {
    let served = Arc::clone(&target.served);
    let max_rows = reactor.state.config.limits.rows;
    batch::compute(reactor, 0, move || {
        let limits = Limits { expansion: MAX_EXPANSION, ..Limits::default() };
        let options = Options { limits, ..Options::default() };
        let source = Source::from_bytes(BODY, body.into(), format, &options)?;
        let schema = served.trained.features.input_schema(None);
        let mut whole: Option<Table> = None;
        let mut too_many = false;
        source.stream(&schema, ROWS_PER_TABLE, &mut |tables| {
            for table in tables {
                match &mut whole {
                    Some(whole) => whole.append(table)?,
                    None => whole = Some(table),
                }
            }
            too_many = whole.as_ref().is_some_and(|table| table.n_rows() > max_rows);
            Ok(if too_many { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        match whole {
            Some(table) if too_many => Err(too_many_rows(table.n_rows(), max_rows)),
            Some(table) => Ok(table),
            None => Err(ApiError::bad(format!("{BODY}: it has no rows"))),
        }
    })
    .await
}

/// The table of a body in any format.
async fn any_table(
    reactor: &Arc<Reactor>,
    target: &Target,
    headers: &HeaderMap,
    body: Bytes,
) -> ApiResult<(Table, LineFormat)> {
    match body_format(headers)? {
        BodyFormat::Json => {
            let max_rows = reactor.state.config.limits.rows;
            let mut request = rows::parse(&body, &target.served, max_rows)?;
            Ok((request.table(&target.served)?, LineFormat::JsonLines))
        }
        BodyFormat::Table(format) => {
            let written = match format {
                Format::JsonLines => LineFormat::JsonLines,
                _ => LineFormat::Csv,
            };
            Ok((read_table(reactor, target, body, format).await?, written))
        }
    }
}

/// `POST /predict`.
pub(crate) async fn predict(
    reactor: &Arc<Reactor>,
    target: Target,
    query: &Query,
    headers: &HeaderMap,
    body: Bytes,
) -> ApiResult<Reply> {
    let wanted = query.wanted(&target.served)?;
    let (table, format) = any_table(reactor, &target, headers, body).await?;
    let format = accepted(headers).unwrap_or(format);
    let answer = target.answer(reactor, table, &wanted).await?;
    let threshold = wanted.predict.outlier_threshold.filter(|_| wanted.marks_outliers);
    let options = PredictOptions { outlier_threshold: threshold, ..wanted.predict };
    let writer = PredictionWriter::new(&target.served.trained, &options, format);
    let mut text = writer.header();
    text += &writer.lines(&answer.predictions, 0, &|_| None);
    let content_type = match format {
        LineFormat::Csv => CSV,
        LineFormat::JsonLines => JSON_LINES,
    };
    Ok(Reply::new(content_type, text.into_bytes()))
}

/// `POST /explain`: one JSON object per row.
pub(crate) async fn explain(
    reactor: &Arc<Reactor>,
    target: Target,
    query: &Query,
    headers: &HeaderMap,
    body: Bytes,
) -> ApiResult<Reply> {
    mercer::predict::check_explainable(&target.served.trained)?;
    let mut wanted = query.wanted(&target.served)?;
    wanted.outputs.push(Output::Explain);
    let (table, _) = any_table(reactor, &target, headers, body).await?;
    let answer = target.answer(reactor, table, &wanted).await?;
    let mut text = answer.explanations.join("\n");
    text.push('\n');
    Ok(Reply::new(JSON_LINES, text.into_bytes()))
}

/// The line format that the client asks for.
fn accepted(headers: &HeaderMap) -> Option<LineFormat> {
    let accept = headers.get(ACCEPT)?.to_str().ok()?;
    if accept.contains("text/csv") {
        Some(LineFormat::Csv)
    } else if accept.contains("ndjson") || accept.contains("jsonl") {
        Some(LineFormat::JsonLines)
    } else {
        None
    }
}
