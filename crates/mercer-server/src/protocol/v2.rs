//! The Open Inference Protocol, version 2 (KServe, Triton, MLServer): metadata and inference, with the binary tensor,
//! classification and statistics extensions.

use super::cells::{Cells, columns_of_matrix};
use super::tensor::{Datatype, Elements, InputTensor, OutputTensor};
use super::{Answer, Target, json_error, too_many_rows};
use crate::connection::Reply;
use crate::error::{ApiError, ApiResult};
use crate::models::{Served, Slot};
use crate::options::{Output, Parameters, Wanted};
use crate::server::Reactor;
use hyper::header::HeaderMap;
use mercer::data::{Column, Field, Kind, Label, Table};
use mercer::predict::{Predicted, Predictions};
use mercer_num::Matrix;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The name under which clients know the platform of the models.
const PLATFORM: &str = "mercer_safetensors";

#[derive(Deserialize)]
struct InferRequest {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    parameters: Option<Parameters>,
    inputs: Vec<InputTensor>,
    #[serde(default)]
    outputs: Option<Vec<RequestedOutput>>,
}

#[derive(Deserialize)]
struct RequestedOutput {
    name: String,
    #[serde(default)]
    parameters: RequestedParameters,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct RequestedParameters {
    binary_data: Option<bool>,
    /// The number of most probable classes to return as `value:index:label`.
    #[serde(default)]
    classification: usize,
}

#[derive(Serialize)]
struct InferResponse<'a> {
    model_name: &'a str,
    model_version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    outputs: Vec<OutputTensor>,
}

/// `POST /v2/models/{model}/infer`.
pub(crate) async fn infer(
    reactor: &Arc<Reactor>,
    target: Target,
    headers: &HeaderMap,
    body: &[u8],
) -> ApiResult<Reply> {
    let served = &target.served;
    let (json, mut binary) = split(headers, body)?;
    let request: InferRequest = serde_json::from_slice(json).map_err(|e| json_error(&e, json))?;
    let InferRequest { id, parameters, mut inputs, outputs } = request;
    let parameters = parameters.unwrap_or_default();
    let table = table(&mut inputs, &mut binary, served, reactor.state.config.limits.rows)?;
    if !binary.is_empty() {
        return Err(ApiError::bad(format!(
            "{} bytes of binary data belong to no input",
            binary.len()
        )));
    }
    let requested = outputs.filter(|outputs| !outputs.is_empty());
    let named = match &requested {
        Some(outputs) => {
            let outputs = outputs.iter().map(|output| Output::parse(&output.name, served));
            Some(outputs.collect::<ApiResult<Vec<_>>>()?)
        }
        None => None,
    };
    let wanted = parameters.wanted(served, named)?;
    let answer = target.answer(reactor, table, &wanted).await?;
    let parameters_of = |output: Output| {
        let named = requested.iter().flatten().find(|r| r.name == output.name());
        named.map(|r| r.parameters).unwrap_or_default()
    };
    let mut binary = Vec::new();
    let mut outputs = Vec::new();
    for output in &wanted.outputs {
        let parameters_of = parameters_of(*output);
        let Some(mut tensor) =
            output_tensor(*output, &answer, served, parameters_of.classification)
        else {
            continue;
        };
        if parameters_of.binary_data.unwrap_or(parameters.binary_data_output) {
            tensor.make_binary(&mut binary);
        }
        outputs.push(tensor);
    }
    let response =
        InferResponse { model_name: &served.name, model_version: &served.version, id, outputs };
    let has_binary = response.outputs.iter().any(|tensor| tensor.parameters.is_some());
    let mut reply = Reply::json(&response);
    if has_binary {
        reply.json_length = Some(reply.body.len());
        reply.content_type = "application/octet-stream";
        reply.body.extend(binary);
    }
    Ok(reply)
}

/// The JSON and the binary data of a body.
fn split<'b>(headers: &HeaderMap, body: &'b [u8]) -> ApiResult<(&'b [u8], &'b [u8])> {
    let Some(length) = headers.get("inference-header-content-length") else {
        return Ok((body, &[]));
    };
    let length = length.to_str().ok().and_then(|length| length.parse::<usize>().ok());
    length.and_then(|length| body.split_at_checked(length)).ok_or_else(|| {
        ApiError::bad("Inference-Header-Content-Length is not a length within the body")
    })
}

/// The table of the inputs: one tensor per column, or one matrix of any name with the columns in the order of training.
fn table(
    inputs: &mut [InputTensor],
    binary: &mut &[u8],
    served: &Served,
    max_rows: usize,
) -> ApiResult<Table> {
    let fields = &served.trained.features.schema.fields;
    let n_rows = inputs.first().map_or(0, InputTensor::n_rows);
    if n_rows > max_rows {
        return Err(too_many_rows(n_rows, max_rows));
    }
    let mut cells = Vec::with_capacity(inputs.len());
    for input in inputs.iter_mut() {
        if input.n_rows() != n_rows {
            return Err(ApiError::bad(format!(
                "input `{}` has {} rows, the first input has {n_rows}",
                input.name.escape_debug(),
                input.n_rows()
            )));
        }
        cells.push(input.cells(binary)?);
    }
    if let [input] = inputs
        && let Some(cells) = cells.pop_if(|_| is_matrix(input, served))
    {
        return matrix(input, cells, fields);
    }
    let mut columns: Vec<Option<Column>> = fields.iter().map(|_| None).collect();
    for (input, cells) in inputs.iter().zip(cells) {
        // Columns that the model does not have are ignored, as in files.
        let Some(k) = served.positions.get(&input.name).copied() else { continue };
        if columns[k].is_some() {
            return Err(ApiError::bad(format!("input `{}` occurs twice", fields[k].name)));
        }
        if input.width() != Some(1) {
            return Err(ApiError::bad(format!(
                "input `{}` has the shape {:?}, expected [{n_rows}] or [{n_rows}, 1]",
                fields[k].name, input.shape
            )));
        }
        columns[k] = Some(cells.into_column(&fields[k])?);
    }
    let found = |(column, field): (Option<Column>, &Field)| {
        column.ok_or_else(|| {
            let names: Vec<String> =
                inputs.iter().take(20).map(|input| format!("`{}`", input.name.escape_debug())).collect();
            ApiError::bad(format!(
                "column `{}` is not among the inputs {}; send one tensor per column, or one tensor of shape [n, {}]",
                field.name,
                names.join(", "),
                fields.len()
            ))
        })
    };
    let columns = columns.into_iter().zip(fields).map(found).collect::<ApiResult<_>>()?;
    Ok(Table::new(columns)?)
}

/// Whether the only input holds all columns: not if it is named as the only column of the model.
fn is_matrix(input: &InputTensor, served: &Served) -> bool {
    let is_column = served.positions.contains_key(&input.name) && input.width() == Some(1);
    let fields = &served.trained.features.schema.fields;
    !is_column && (input.shape.len() >= 2 || fields.len() == 1)
}

fn matrix(input: &InputTensor, cells: Cells, fields: &[Field]) -> ApiResult<Table> {
    let expected = match fields {
        [field] if field.kind == Kind::Sparse => field.width,
        fields => fields.len(),
    };
    if input.width() != Some(expected) {
        return Err(ApiError::bad(format!(
            "input `{}` has the shape {:?}, but the model has {expected} columns",
            input.name.escape_debug(),
            input.shape
        )));
    }
    Ok(Table::new(columns_of_matrix(cells, input.n_rows(), fields)?)?)
}

/// An output as a tensor; `None` if the answer does not have it.
fn output_tensor(
    output: Output,
    answer: &Answer,
    served: &Served,
    classification: usize,
) -> Option<OutputTensor> {
    let p = &answer.predictions;
    let (elements, width) = match output {
        Output::Predict => predicted(p, served)?,
        Output::PredictProba if classification > 0 => {
            top_classes(p.proba.as_ref()?, &served.labels, classification)
        }
        Output::PredictProba => flat(p.proba.as_ref()?),
        Output::DecisionFunction => {
            let values = p.decision_values.as_ref()?;
            let (elements, width) = flat(values);
            (elements, width.filter(|_| values.ncols() > 1))
        }
        Output::LogDensity => (Elements::F64(p.log_density.clone()?), None),
        Output::Transform => match (&p.projection, &p.predicted) {
            (Some(rows), _) | (None, Predicted::Transformed(rows)) => flat(rows),
            _ => return None,
        },
        Output::Interval => {
            let bounds = p.intervals.as_ref()?.iter().flat_map(|(low, high)| [*low, *high]);
            (Elements::F64(bounds.collect()), Some(2))
        }
        Output::Risk => (Elements::F64(p.risk.clone()?), None),
        Output::Explain => {
            (Elements::Strings(answer.explanations.iter().cloned().map(Some).collect()), None)
        }
    };
    let mut shape = vec![p.n_rows()];
    shape.extend(width);
    Some(OutputTensor {
        name: output.name(),
        datatype: elements.datatype(),
        shape,
        parameters: None,
        data: Some(elements),
    })
}

fn flat(matrix: &Matrix) -> (Elements, Option<usize>) {
    (Elements::F64(matrix.iter().copied().collect()), Some(matrix.ncols()))
}

/// The most probable classes of each row as `probability:index:label`.
fn top_classes(proba: &Matrix, labels: &[Label], n: usize) -> (Elements, Option<usize>) {
    let n = n.min(labels.len());
    let mut all = Vec::with_capacity(proba.nrows() * n);
    for row in proba.outer_iter() {
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by(|a, b| row[*b].total_cmp(&row[*a]));
        all.extend(order.iter().take(n).map(|c| Some(format!("{}:{c}:{}", row[*c], labels[*c]))));
    }
    (Elements::Strings(all), Some(n))
}

/// The prediction itself: labels in their own type, or as strings if rows may be rejected.
fn predicted(p: &Predictions, served: &Served) -> Option<(Elements, Option<usize>)> {
    let elements = match &p.predicted {
        Predicted::Classes(codes) => class_elements(codes, &served.labels),
        Predicted::Values(values) => Elements::F64(values.clone()),
        Predicted::InlierScores(scores) => {
            Elements::I64(scores.iter().map(|score| if *score >= 0.0 { 1 } else { -1 }).collect())
        }
        Predicted::Clusters(clusters) => {
            Elements::I64(clusters.iter().map(|(k, _)| i64::from(*k)).collect())
        }
        Predicted::Transformed(_) => return None,
    };
    Some((elements, None))
}

fn class_elements(codes: &[Option<u32>], labels: &[Label]) -> Elements {
    let label = |code: &Option<u32>| code.map(|c| &labels[c as usize]);
    if codes.iter().all(Option::is_some) {
        let integers = codes.iter().map(|code| match label(code) {
            Some(Label::Int(value)) => Some(*value),
            _ => None,
        });
        if label_datatype(labels) == Datatype::Int64
            && let Some(all) = integers.collect()
        {
            return Elements::I64(all);
        }
        let booleans = codes.iter().map(|code| match label(code) {
            Some(Label::Bool(value)) => Some(*value),
            _ => None,
        });
        if label_datatype(labels) == Datatype::Bool
            && let Some(all) = booleans.collect()
        {
            return Elements::Bool(all);
        }
    }
    Elements::Strings(codes.iter().map(|code| label(code).map(Label::to_string)).collect())
}

/// The type of the labels in a response without rejected rows.
fn label_datatype(labels: &[Label]) -> Datatype {
    if labels.iter().all(|label| matches!(label, Label::Int(_))) {
        Datatype::Int64
    } else if labels.iter().all(|label| matches!(label, Label::Bool(_))) {
        Datatype::Bool
    } else {
        Datatype::Bytes
    }
}

/// `GET /v2`.
pub(crate) fn server_metadata() -> Reply {
    Reply::json(&json!({
        "name": "mercer",
        "version": env!("CARGO_PKG_VERSION"),
        "extensions": ["binary_tensor_data", "classification", "statistics"],
    }))
}

/// `GET /v2/models`.
pub(crate) fn list(slots: &[Slot]) -> Reply {
    let names: Vec<&str> = slots.iter().map(|slot| slot.name.as_str()).collect();
    Reply::json(&json!({"models": names}))
}

/// `POST /v2/repository/index`.
pub(crate) fn index(slots: &[Slot]) -> Reply {
    let entries: Vec<Value> = slots
        .iter()
        .map(|slot| {
            json!({"name": slot.name, "version": slot.served().version, "state": "READY", "reason": ""})
        })
        .collect();
    Reply::json(&entries)
}

/// `GET /v2/models/{model}`.
pub(crate) fn metadata(served: &Served) -> Reply {
    let fields = served.trained.features.schema.fields.iter();
    let inputs: Vec<Value> = fields
        .map(|field| match field.kind {
            Kind::Sparse => {
                json!({"name": field.name, "datatype": "FP64", "shape": [-1, field.width]})
            }
            kind => json!({"name": field.name, "datatype": input_datatype(kind), "shape": [-1]}),
        })
        .collect();
    let outputs: Vec<Value> =
        Output::of(served).into_iter().map(|output| output_metadata(output, served)).collect();
    let labels: Vec<Value> = served.labels.iter().map(super::label_value).collect();
    Reply::json(&json!({
        "name": served.name,
        "versions": [served.version],
        "platform": PLATFORM,
        "inputs": inputs,
        "outputs": outputs,
        "parameters": {
            "estimator": served.trained.estimator.id(),
            "target": served.trained.features.target,
            "classes": labels,
            "sha256": served.sha256,
        },
    }))
}

fn input_datatype(kind: Kind) -> Datatype {
    match kind {
        Kind::Numeric | Kind::Sparse => Datatype::Fp64,
        Kind::Boolean => Datatype::Bool,
        Kind::Categorical | Kind::Text => Datatype::Bytes,
    }
}

fn output_metadata(output: Output, served: &Served) -> Value {
    let model = served.trained.fitted.model.as_model();
    let n_classes = served.labels.len();
    let (datatype, width) = match output {
        Output::Predict if model.regressor().is_some() => (Datatype::Fp64, None),
        Output::Predict if n_classes > 0 => (label_datatype(&served.labels), None),
        Output::Predict => (Datatype::Int64, None),
        Output::PredictProba => (Datatype::Fp64, Some(n_classes)),
        Output::DecisionFunction => (Datatype::Fp64, (n_classes > 2).then_some(n_classes)),
        Output::Transform => (Datatype::Fp64, model.transformer().map(|map| map.n_outputs())),
        Output::Interval => (Datatype::Fp64, Some(2)),
        Output::LogDensity | Output::Risk => (Datatype::Fp64, None),
        Output::Explain => (Datatype::Bytes, None),
    };
    let mut shape = vec![-1];
    shape.extend(width.map(|width| width as i64));
    json!({"name": output.name(), "datatype": datatype, "shape": shape})
}

/// `GET /v2/models/{model}/config`, in the form of Triton's model configuration.
pub(crate) fn config(served: &Served) -> Reply {
    let data_type = |datatype: Datatype| match datatype {
        Datatype::Bytes => "TYPE_STRING".to_owned(),
        other => format!("TYPE_{}", json!(other).as_str().unwrap_or_default()),
    };
    let inputs: Vec<Value> = (served.trained.features.schema.fields.iter())
        .map(|field| {
            let dims = if field.kind == Kind::Sparse { json!([-1, field.width]) } else { json!([-1]) };
            json!({"name": field.name, "data_type": data_type(input_datatype(field.kind)), "dims": dims})
        })
        .collect();
    let outputs: Vec<Value> = Output::of(served)
        .into_iter()
        .map(|output| {
            let about = output_metadata(output, served);
            let datatype = about["datatype"].as_str().unwrap_or_default();
            let data_type =
                if datatype == "BYTES" { "TYPE_STRING".into() } else { format!("TYPE_{datatype}") };
            json!({"name": about["name"], "data_type": data_type, "dims": about["shape"]})
        })
        .collect();
    Reply::json(&json!({
        "name": served.name,
        "platform": PLATFORM,
        "backend": "mercer",
        "max_batch_size": 0,
        "version_policy": {"latest": {"num_versions": 1}},
        "input": inputs,
        "output": outputs,
    }))
}

/// `GET /v2/models/{model}/stats` and `/v2/models/stats`.
pub(crate) fn statistics(slots: &[&Slot]) -> Reply {
    let statistics: Vec<Value> = slots
        .iter()
        .map(|slot| {
            let metrics = &slot.metrics;
            let [failures, successes] =
                [0, 1].map(|k: usize| metrics.inferences[k].load(Ordering::Relaxed));
            let time = metrics.nanoseconds.load(Ordering::Relaxed);
            json!({
                "name": slot.name,
                "version": slot.served().version,
                "inference_count": successes,
                "execution_count": successes,
                "inference_stats": {
                    "success": {"count": successes, "ns": time},
                    "fail": {"count": failures, "ns": 0},
                },
            })
        })
        .collect();
    Reply::json(&json!({"model_stats": statistics}))
}

/// The parameters of a request that names no outputs, for the plain protocols.
pub(crate) fn prediction_only(
    served: &Served,
    parameters: &Parameters,
) -> ApiResult<(Wanted, bool)> {
    let named = parameters.outputs.is_some();
    let outputs = match named {
        true => None,
        false => Some(Output::defaults(served).into_iter().take(1).collect()),
    };
    Ok((parameters.wanted(served, outputs)?, named))
}
