//! The Open Inference Protocol: health, metadata, inference in JSON and binary.

use crate::client::{Running, serve};
use crate::models::{iris, penguins, trained};
use serde_json::{Value, json};

const INFER: &str = "/v2/models/iris/infer";

/// The output of a response with a name.
fn output<'v>(response: &'v Value, name: &str) -> &'v Value {
    let outputs = response["outputs"].as_array().unwrap();
    outputs
        .iter()
        .find(|output| output["name"] == name)
        .unwrap_or_else(|| panic!("no {name} in {response}"))
}

fn matrix(rows: &[[f64; 4]]) -> Value {
    json!({"inputs": [{
        "name": "anything", "datatype": "FP64", "shape": [rows.len(), 4], "data": rows,
    }]})
}

const SETOSA: [f64; 4] = [5.1, 3.5, 1.4, 0.2];
const VIRGINICA: [f64; 4] = [6.3, 3.3, 6.0, 2.5];

#[test]
fn health_and_metadata_have_the_fields_of_the_specification() {
    let server = serve(&[("iris", &iris()), ("birds", &penguins())]);

    assert_eq!(server.get("/v2/health/live").json(), json!({"live": true}));
    assert_eq!(server.get("/v2/health/ready").json(), json!({"ready": true, "live": true}));
    for path in ["/v2", "/v2/"] {
        let about = server.get(path).json();
        assert_eq!(about["name"], "mercer");
        assert!(about["extensions"].as_array().unwrap().contains(&json!("binary_tensor_data")));
    }
    assert_eq!(server.get("/v2/models").json(), json!({"models": ["iris", "birds"]}));

    let about = server.get("/v2/models/birds").json();
    assert_eq!(about["name"], "birds");
    assert_eq!(about["platform"], "mercer_safetensors");
    let version = about["versions"][0].as_str().unwrap().to_owned();
    assert_eq!(version.len(), 12);
    assert!(about["parameters"]["sha256"].as_str().unwrap().starts_with(&version));
    let island = json!({"name": "island", "datatype": "BYTES", "shape": [-1]});
    assert!(about["inputs"].as_array().unwrap().contains(&island), "{about}");
    let proba = json!({"name": "predict_proba", "datatype": "FP64", "shape": [-1, 3]});
    assert!(about["outputs"].as_array().unwrap().contains(&proba), "{about}");
    assert_eq!(server.get(&format!("/v2/models/birds/versions/{version}")).json(), about);
    assert_eq!(server.get("/v2/models/birds/versions/1").status, 404);
    assert_eq!(server.get("/v2/models/birds/ready").json()["ready"], true);
    assert_eq!(server.get("/v2/models/birds/config").json()["backend"], "mercer");
    assert_eq!(server.get("/v2/models/none").error(), "there is no model `none`");
    let index = server.post("/v2/repository/index", "application/json", b"").json();
    assert_eq!(index[1]["name"], "birds");
    assert_eq!(index[1]["state"], "READY");
}

#[test]
fn one_matrix_of_any_name_gives_classes_and_probabilities() {
    let server = serve(&[("iris", &iris())]);

    let response = server.json(INFER, &matrix(&[SETOSA, VIRGINICA]));

    assert_eq!(response["model_name"], "iris");
    let predict = output(&response, "predict");
    assert_eq!(predict["datatype"], "BYTES");
    assert_eq!(predict["shape"], json!([2]));
    assert_eq!(predict["data"], json!(["setosa", "virginica"]));
    let proba = output(&response, "predict_proba");
    assert_eq!(proba["shape"], json!([2, 3]));
    let p: Vec<f64> = serde_json::from_value(proba["data"].clone()).unwrap();
    assert!(p[0] > 0.9 && p[5] > 0.9);
    assert!((p[..3].iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn flat_and_nested_data_columns_and_binary_agree_to_the_bit() {
    let server = serve(&[("iris", &iris())]);
    let expected = server.json(INFER, &matrix(&[SETOSA, VIRGINICA]))["outputs"].clone();

    let mut flat = matrix(&[SETOSA, VIRGINICA]);
    flat["inputs"][0]["data"] = json!([SETOSA, VIRGINICA].concat());
    assert_eq!(server.json(INFER, &flat)["outputs"], expected);

    // Columns in another order, one of them with a second dimension.
    let names = ["petal_width", "petal_length", "sepal_length", "sepal_width"];
    let at = [3, 2, 0, 1];
    let inputs: Vec<Value> = (0..4)
        .map(|k| {
            let data = [SETOSA[at[k]], VIRGINICA[at[k]]];
            let shape = if k == 0 { json!([2, 1]) } else { json!([2]) };
            json!({"name": names[k], "datatype": "FP64", "shape": shape, "data": data})
        })
        .collect();
    assert_eq!(server.json(INFER, &json!({"inputs": inputs}))["outputs"], expected);

    let (response, binary) = infer_binary(&server, &[SETOSA, VIRGINICA].concat(), &json!({}));
    assert_eq!(output(&response, "predict")["data"], expected[0]["data"]);
    assert_eq!(output(&response, "predict_proba")["data"], expected[1]["data"]);
    assert!(binary.is_empty());

    let parameters = json!({"binary_data_output": true});
    let (response, binary) = infer_binary(&server, &[SETOSA, VIRGINICA].concat(), &parameters);
    let sizes: Vec<u64> = response["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|output| output["parameters"]["binary_data_size"].as_u64().unwrap())
        .collect();
    assert_eq!(sizes, [4 + 6 + 4 + 9, 48]);
    assert_eq!(&binary[..10], b"\x06\0\0\0setosa");
    let (proba, _) = binary[23..].as_chunks::<8>();
    let proba: Vec<f64> = proba.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    assert_eq!(json!(proba), expected[1]["data"]);
}

/// Sends a matrix of four columns as binary data; returns the JSON and the binary data of the response.
fn infer_binary(server: &Running, cells: &[f64], parameters: &Value) -> (Value, Vec<u8>) {
    let bytes: Vec<u8> = cells.iter().flat_map(|x| x.to_le_bytes()).collect();
    let head = json!({"parameters": parameters, "inputs": [{
        "name": "x", "datatype": "FP64", "shape": [cells.len() / 4, 4],
        "parameters": {"binary_data_size": bytes.len()},
    }]})
    .to_string();
    let length = head.len().to_string();
    let body = [head.as_bytes(), &bytes].concat();
    let response = server.post_with(
        INFER,
        &[
            ("Inference-Header-Content-Length", &length),
            ("Content-Type", "application/octet-stream"),
        ],
        &body,
    );
    assert_eq!(response.status, 200, "{}", response.text());
    let length = response.header("inference-header-content-length").map(|n| n.parse().unwrap());
    let (json, binary) = response.body.split_at(length.unwrap_or(response.body.len()));
    (serde_json::from_slice(json).unwrap(), binary.to_vec())
}

#[test]
fn outputs_are_computed_on_request() {
    let margins = trained("linear-svc", "iris.csv", Some("species"), &[]);
    let server = serve(&[("iris", &iris()), ("birds", &penguins()), ("margins", &margins)]);
    let ask = |path: &str, mut body: Value, outputs: &[&str]| {
        body["outputs"] = outputs.iter().map(|name| json!({"name": name})).collect();
        server.json(path, &body)
    };

    let response =
        ask("/v2/models/margins/infer", matrix(&[SETOSA]), &["decision_function", "predict"]);
    assert_eq!(response["outputs"].as_array().unwrap().len(), 2);
    assert_eq!(output(&response, "decision_function")["shape"], json!([1, 3]));
    let response = ask(INFER, matrix(&[SETOSA]), &["explain"]);
    let explained = output(&response, "explain")["data"][0].as_str().unwrap();
    let explained: Value = serde_json::from_str(explained).unwrap();
    assert_eq!(explained["terms"].as_array().unwrap().len(), 4);

    let birds = json!({"inputs": bird_inputs(json!(["Biscoe"]), json!([50.0]))});
    let response = ask("/v2/models/birds/infer", birds, &["log_density", "risk"]);
    assert!(output(&response, "log_density")["data"][0].as_f64().unwrap() < 0.0);
    let risk = output(&response, "risk")["data"][0].as_f64().unwrap();
    assert!((0.0..0.5).contains(&risk));

    let refused = ask_refused(&server, "log_density");
    assert!(
        refused.contains("has no output `log_density`; its outputs are predict, predict_proba"),
        "{refused}"
    );
}

fn ask_refused(server: &Running, name: &str) -> String {
    let mut body = matrix(&[SETOSA]);
    body["outputs"] = json!([{"name": name}]);
    server.refusal(INFER, &body.to_string(), 400)
}

/// The columns of one penguin.
fn bird_inputs(island: Value, bill: Value) -> Value {
    let column = |name: &str, datatype: &str, data: Value| json!({"name": name, "datatype": datatype, "shape": [1], "data": data});
    json!([
        column("island", "BYTES", island),
        column("bill_length_mm", "FP64", bill),
        column("bill_depth_mm", "FP64", json!([15.0])),
        column("flipper_length_mm", "INT64", json!([220])),
        column("body_mass_g", "INT64", json!([5000])),
        column("sex", "BYTES", json!(["male"])),
        column("year", "INT64", json!([2008])),
        column("not_in_the_model", "FP64", json!([1.0])),
    ])
}

#[test]
fn null_is_missing_and_unseen_categories_are_counted() {
    let server = serve(&[("birds", &penguins())]);
    let ask = |island: Value, bill: Value| {
        let response =
            server.json("/v2/models/birds/infer", &json!({"inputs": bird_inputs(island, bill)}));
        output(&response, "predict")["data"][0].clone()
    };

    assert_eq!(ask(json!(["Biscoe"]), json!([50.0])), "Gentoo");
    assert_eq!(ask(json!([null]), json!([null])), "Gentoo");
    assert_eq!(ask(json!(["Atlantis"]), json!([50.0])), "Gentoo");

    let missing = "mercer_missing_values_total{model=\"birds\",column=";
    assert_eq!(server.metric(&format!("{missing}\"island\"}}")), 1.0);
    assert_eq!(server.metric(&format!("{missing}\"bill_length_mm\"}}")), 1.0);
    let unseen = "mercer_unseen_categories_total{model=\"birds\",column=\"island\"}";
    assert_eq!(server.metric(unseen), 1.0);
    assert_eq!(server.metric("mercer_rows_total{model=\"birds\"}"), 3.0);
    // A penguin of 50 tons is rarer than every training row.
    let rare = json!({"inputs": [
        {"name": "x", "datatype": "BYTES", "shape": [1, 7],
         "data": ["Biscoe", "1", "2", "3", "4", "male", "2008"]},
    ]});
    let refused = server.refusal("/v2/models/birds/infer", &rare.to_string(), 400);
    assert!(
        refused.contains("column `bill_length_mm`: found strings, expected finite numbers"),
        "{refused}"
    );
    let mut heavy = json!({"inputs": bird_inputs(json!(["Biscoe"]), json!([50.0]))});
    heavy["inputs"][4]["data"] = json!([50_000_000]);
    server.json("/v2/models/birds/infer", &heavy);
    assert_eq!(server.metric("mercer_low_density_rows_total"), 1.0);
}

#[test]
fn the_decision_rule_of_a_request_is_its_own() {
    let server = serve(&[("birds", &penguins())]);
    let ask = |parameters: Value| {
        let inputs = bird_inputs(json!(["Biscoe"]), json!([50.0]));
        server.json("/v2/models/birds/infer", &json!({"inputs": inputs, "parameters": parameters}))
    };
    let plain = ask(json!({}));

    let rejected = ask(json!({"reject": 0.0}));
    assert_eq!(output(&rejected, "predict")["data"], json!([null]));
    assert_eq!(output(&rejected, "risk")["data"], json!([0.0]));
    assert_eq!(server.metric("mercer_rejected_rows_total{model=\"birds\"}"), 1.0);

    // Predicting anything but Adelie costs 1000.
    let costs = json!([[0, 1000, 1000], [0, 0, 0], [0, 1000, 0]]);
    assert_eq!(output(&ask(json!({"costs": costs})), "predict")["data"], json!(["Adelie"]));
    let by_name = json!({"Adelie": {"Adelie": 0, "Chinstrap": 9, "Gentoo": 9},
        "Chinstrap": {"Adelie": 0, "Chinstrap": 0, "Gentoo": 0}, "Gentoo": {"Adelie": 0, "Chinstrap": 9, "Gentoo": 9}});
    assert_eq!(output(&ask(json!({"costs": by_name})), "predict")["data"], json!(["Adelie"]));

    let p = |response: &Value| output(response, "predict_proba")["data"][2].as_f64().unwrap();
    assert!(p(&ask(json!({"priors": {"Gentoo": 1e-12}}))) < p(&plain));
    // The rule was that of one request only.
    assert_eq!(ask(json!({})), plain);

    for (parameters, part) in [
        (json!({"priors": {"Dodo": 0.5}}), "no class is named `Dodo`"),
        (json!({"costs": [[0, 1], [1, 0]]}), "3 classes"),
        (json!({"rejct": 0.1}), "unknown field `rejct`"),
    ] {
        let inputs = bird_inputs(json!(["Biscoe"]), json!([50.0]));
        let body = json!({"inputs": inputs, "parameters": parameters}).to_string();
        let refused = server.refusal("/v2/models/birds/infer", &body, 400);
        assert!(refused.contains(part), "{refused}");
    }
}

#[test]
fn regression_has_intervals_and_integer_labels_stay_integers() {
    let regression = trained("ols", "iris.csv", Some("petal_width"), &["species"]);
    let digits = trained("gaussian-nb", "dice.csv", Some("die1"), &[]);
    let server = serve(&[("width", &regression), ("dice", &digits)]);

    let body = json!({"parameters": {"interval": 0.9}, "inputs": [
        {"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [5.0, 3.5, 1.4]},
    ]});
    let response = server.json("/v2/models/width/infer", &body);
    let y = output(&response, "predict")["data"][0].as_f64().unwrap();
    let bounds = &output(&response, "interval")["data"];
    assert!(bounds[0].as_f64().unwrap() < y && y < bounds[1].as_f64().unwrap());
    let refused = json!({"parameters": {"interval": 2.0}, "inputs": body["inputs"]}).to_string();
    assert!(server.refusal("/v2/models/width/infer", &refused, 400).contains("between 0 and 1"));

    let columns = server.get("/v2/models/dice").json()["inputs"].as_array().unwrap().len();
    let body = json!({"inputs": [
        {"name": "x", "datatype": "INT64", "shape": [1, columns], "data": vec![3; columns]},
    ]});
    let response = server.json("/v2/models/dice/infer", &body);
    assert_eq!(output(&response, "predict")["datatype"], "INT64");
    assert!(output(&response, "predict")["data"][0].is_i64());
}

#[test]
fn one_string_tensor_is_enough_for_a_text_model() {
    let mail = trained("multinomial-nb", "mail.tsv", Some("label"), &[]);
    let server = serve(&[("mail", &mail)]);

    let body = json!({"inputs": [{"name": "anything", "datatype": "BYTES", "shape": [2],
        "data": ["Dear winner, earn dollars today", "Hello team, the meeting moved xyzzy"]}]});
    let response = server.json("/v2/models/mail/infer", &body);

    assert_eq!(output(&response, "predict")["data"], json!(["spam", "ham"]));
    assert!(server.metric("mercer_unknown_tokens_total{model=\"mail\"}") >= 1.0);
}

#[test]
fn classification_returns_the_most_probable_classes() {
    let server = serve(&[("iris", &iris())]);
    let mut body = matrix(&[SETOSA]);
    body["outputs"] = json!([{"name": "predict_proba", "parameters": {"classification": 2}}]);

    let response = server.json(INFER, &body);

    let top = &output(&response, "predict_proba")["data"];
    assert_eq!(top.as_array().unwrap().len(), 2);
    assert!(top[0].as_str().unwrap().ends_with(":0:setosa"), "{top}");
    assert!(top[1].as_str().unwrap().ends_with(":1:versicolor"), "{top}");
}

#[test]
fn wrong_tensors_are_refused_by_name() {
    let server = serve(&[("iris", &iris())]);
    let tensor = |name: &str, datatype: &str, shape: Value, data: Value| {
        json!({"inputs": [{"name": name, "datatype": datatype, "shape": shape, "data": data}]})
            .to_string()
    };
    let cases = [
        (tensor("x", "FP64", json!([1, 3]), json!([1, 2, 3])), "the model has 4 columns"),
        (tensor("x", "FP64", json!([2, 4]), json!([1, 2, 3])), "found 3 values, expected 8"),
        (tensor("x", "FP64", json!([-1, 4]), json!([])), "invalid value"),
        (tensor("x", "FP64", json!([2, u64::MAX]), json!([])), "the shape is too large"),
        (tensor("sepal_length", "FP64", json!([1]), json!([1])), "column `sepal_width` is not among the inputs"),
        (tensor("x", "FP65", json!([1, 4]), json!([1, 2, 3, 4])), "unknown variant `FP65`"),
        (tensor("x", "INT64", json!([1, 4]), json!([1, 2, 3, 4.5])), "found 4.5, expected integers"),
        (tensor("x", "FP64", json!([1, 4]), json!([1, 2, 3, "a"])), "found a string after numbers"),
        (tensor("x", "BYTES", json!([1, 4]), json!(["a", "b", "c", "d"])), "found strings, expected finite numbers"),
        (tensor("x", "FP64", json!([0, 4]), json!([])), "no rows"),
        ("{\"inputs\": []}".into(), "is not among the inputs"),
        ("{}".into(), "missing field `inputs`"),
        ("".into(), "EOF"),
        ("{\"inputs\": [{\"name\":\"x\",\"datatype\":\"FP64\",\"shape\":[1,4],\"data\":[1,2,3,NaN]}]}".into(), "write null for a missing value"),
        ("{\"inputs\": [{\"name\":\"x\",\"datatype\":\"FP64\",\"shape\":[1,4],\"data\":[1,2,3,1e999]}]}".into(), "out of range"),
    ];
    for (body, part) in cases {
        let refused = server.refusal(INFER, &body, 400);
        assert!(refused.contains(part), "{part}: {refused}");
    }
    let huge = tensor("x", "FP64", json!([u64::MAX, 4]), json!([]));
    assert!(server.refusal(INFER, &huge, 413).contains("more than the limit of 100000"));
}
