//! Requests that wait together are predicted together, with the same bits.

use crate::client::{read_response, request, serve};
use crate::models::{example, iris, penguins, trained};
use mercer::catalog::{CATALOG, Capability};
use mercer::predict::{PredictOptions, Predicted, Predictions};
use mercer::train::Trained;
use mercer_io::{Options, Source};
use serde_json::{Value, json};
use std::io::Write;

fn body(i: usize, n_rows: usize) -> Vec<u8> {
    let rows: Vec<[f64; 4]> = (0..n_rows)
        .map(|k| {
            let x = ((i * 31 + k * 7) % 100) as f64 / 100.0;
            [4.0 + 4.0 * x, 2.0 + 2.0 * (1.0 - x), 1.0 + 5.0 * x * x, 2.5 * x]
        })
        .collect();
    let body = json!({"id": i.to_string(), "inputs": [
        {"name": "x", "datatype": "FP64", "shape": [n_rows, 4], "data": rows},
    ]});
    body.to_string().into_bytes()
}

#[test]
fn a_batch_has_the_bits_of_single_requests() {
    let server = serve(&[("iris", &iris())]);
    let path = "/v2/models/iris/infer";
    let bodies: Vec<Vec<u8>> = (0..200).map(|i| body(i, 1 + i % 3)).collect();
    // The first prediction leaves the reactor, because its time is not known yet.
    let alone: Vec<Value> =
        bodies.iter().map(|body| server.post(path, "application/json", body).json()).collect();
    let before = server.metric("mercer_batch_requests_count");

    // Everything is written before anything is read, so that requests wait.
    let mut together: Vec<Option<Value>> = vec![None; bodies.len()];
    for round in 0..5 {
        let mut streams: Vec<_> = bodies.iter().map(|_| server.connect()).collect();
        for (stream, body) in streams.iter_mut().zip(&bodies) {
            stream.write_all(&request(path, &[], body)).unwrap();
        }
        for (i, stream) in streams.iter_mut().enumerate() {
            let response = read_response(stream).unwrap();
            assert_eq!(response.status, 200, "round {round}: {}", response.text());
            together[i] = Some(response.json());
        }
        for (i, (alone, together)) in alone.iter().zip(&together).enumerate() {
            assert_eq!(Some(alone), together.as_ref(), "request {i} of round {round}");
        }
    }

    let n_batches = server.metric("mercer_batch_requests_count") - before;
    assert!(n_batches < 1000.0, "1000 requests were predicted in {n_batches} batches");
}

#[test]
fn a_bad_request_in_a_batch_fails_alone() {
    let server = serve(&[("birds", &penguins())]);
    let path = "/v1/models/birds:predict";
    let good = json!({"instances": [["Biscoe", 50.0, 15.0, 220, 5000, "male", 2008]]}).to_string();
    let bad =
        json!({"instances": [["Biscoe", 50.0, 15.0, 220, "heavy", "male", 2008]]}).to_string();
    server.post(path, "application/json", good.as_bytes());

    let mut streams: Vec<_> = (0..60).map(|_| server.connect()).collect();
    for (i, stream) in streams.iter_mut().enumerate() {
        let body = if i % 7 == 3 { &bad } else { &good };
        stream.write_all(&request(path, &[], body.as_bytes())).unwrap();
    }

    for (i, stream) in streams.iter_mut().enumerate() {
        let response = read_response(stream).unwrap();
        assert_eq!(response.status, if i % 7 == 3 { 400 } else { 200 }, "{}", response.text());
    }
}

/// The options that compute everything a model can.
fn everything(model: &Trained) -> PredictOptions {
    let able = model.fitted.model.as_model();
    PredictOptions {
        proba: able.probabilistic().is_some(),
        density: able.generative().is_some(),
        decision_values: able.decision_function().is_some(),
        ..PredictOptions::default()
    }
}

/// The numbers of some predictions, as bits.
fn bits(p: &Predictions) -> Vec<u64> {
    let mut numbers: Vec<f64> = match &p.predicted {
        Predicted::Classes(codes) => codes.iter().map(|code| f64::from(code.unwrap())).collect(),
        Predicted::Values(values) | Predicted::InlierScores(values) => values.clone(),
        Predicted::Clusters(clusters) => {
            clusters.iter().flat_map(|(k, d)| [f64::from(*k), *d]).collect()
        }
        Predicted::Transformed(rows) => rows.iter().copied().collect(),
    };
    numbers.extend(p.proba.iter().flatten().chain(p.decision_values.iter().flatten()));
    numbers.extend(p.log_density.iter().flatten());
    numbers.into_iter().map(f64::to_bits).collect()
}

#[test]
fn a_row_alone_has_the_bits_of_its_batch_under_every_estimator() {
    let tables = [
        ("iris.csv", "species", "petal_width"),
        ("penguins.csv", "species", "year"),
        ("mail.tsv", "label", ""),
    ];
    let (mut n_cases, mut n_kernels, mut wrong) = (0, 0, Vec::new());
    for (name, class, number) in tables {
        for card in CATALOG {
            let target = match card {
                card if card.can(Capability::Classifier) => Some(class),
                card if card.can(Capability::Regressor) => Some(number),
                _ => None,
            };
            if target == Some("") {
                continue;
            }
            let ignore = if target.is_none() { vec![class] } else { Vec::new() };
            let model = trained(card.id, name, target, &ignore);
            let source =
                Source::open(example(name).to_str().unwrap(), &Options::default()).unwrap();
            let table = source.read(&model.features.input_schema(None)).unwrap();
            let options = everything(&model);
            let all = Predictions::of(&model, &table, &options).unwrap();
            n_cases += 1;
            // Rows alone and in threes, at the ends and inside.
            let n_rows = table.n_rows();
            let ranges = [0..1, 1..2, n_rows / 2..n_rows / 2 + 3, n_rows - 1..n_rows, 3..10];
            let differs = ranges.into_iter().find(|range| {
                let rows: Vec<usize> = range.clone().collect();
                let some = table.rows_at(&rows).unwrap();
                let alone = Predictions::of(&model, &some, &options).unwrap();
                bits(&alone) != bits(&all.rows(range.clone()))
            });
            // Kernel evaluations choose the storage of the rows by their contents; the server does not batch them.
            let has_kernel = card.specs.iter().any(|spec| spec.name == "kernel");
            n_kernels += usize::from(has_kernel);
            let differs = differs.filter(|_| !has_kernel);
            wrong.extend(differs.map(|range| format!("{} on {name}, rows {range:?}", card.id)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let n_regressors = CATALOG
        .iter()
        .filter(|card| card.can(Capability::Regressor) && !card.can(Capability::Classifier))
        .count();
    assert_eq!(n_cases, 3 * CATALOG.len() - n_regressors);
    assert!(n_kernels < n_cases / 2, "{n_kernels} of {n_cases} cases have a kernel");
}
