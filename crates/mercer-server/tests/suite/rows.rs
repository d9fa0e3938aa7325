//! Rows in JSON: KServe V1 and MLflow's scoring protocol.

use crate::client::serve;
use crate::models::{iris, penguins, trained};
use serde_json::{Value, json};

const PREDICT: &str = "/v1/models/iris:predict";

#[test]
fn kserve_v1_predicts_and_explains_instances() {
    let server = serve(&[("iris", &iris())]);
    let by_position = json!({"instances": [[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5]]});
    let by_name = json!({"instances": [
        {"petal_width": 0.2, "sepal_length": 5.1, "sepal_width": 3.5, "petal_length": 1.4, "id": {"a": [1]}},
        {"petal_width": 2.5, "sepal_length": 6.3, "sepal_width": 3.3, "petal_length": 6.0},
    ]});

    let expected = json!({"predictions": ["setosa", "virginica"]});
    assert_eq!(server.json(PREDICT, &by_position), expected);
    assert_eq!(server.json(PREDICT, &by_name), expected);
    assert_eq!(server.get("/v1/models").json(), json!({"models": ["iris"]}));
    assert_eq!(server.get("/v1/models/iris").json(), json!({"name": "iris", "ready": true}));

    let explained = server.json("/v1/models/iris:explain", &by_position);
    assert_eq!(explained["predictions"], expected["predictions"]);
    let first = &explained["explanations"][0];
    let sum: f64 = first["terms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|term| term["terms"][0].as_f64().unwrap())
        .sum();
    let score = first["scores"][0].as_f64().unwrap();
    assert!((sum + first["intercepts"][0].as_f64().unwrap() - score).abs() < 1e-9);

    let mut named = by_position.clone();
    named["parameters"] = json!({"outputs": ["predict", "predict_proba"]});
    let response = server.json(PREDICT, &named);
    assert_eq!(response["predictions"][1]["predict"], "virginica");
    assert!(response["predictions"][1]["predict_proba"]["virginica"].as_f64().unwrap() > 0.9);
}

#[test]
fn mlflow_tables_agree_in_every_orientation() {
    let server = serve(&[("birds", &penguins())]);
    let names = [
        "island",
        "bill_length_mm",
        "bill_depth_mm",
        "flipper_length_mm",
        "body_mass_g",
        "sex",
        "year",
    ];
    let rows = [
        json!(["Torgersen", 39.1, 18.7, 181, 3750, "male", 2007]),
        json!(["Biscoe", null, 15.0, 220, 5000, null, 2008]),
    ];
    let record = |row: &Value| -> Value {
        names
            .iter()
            .zip(row.as_array().unwrap())
            .map(|(name, cell)| ((*name).to_owned(), cell.clone()))
            .collect()
    };
    let column = |k: usize| json!([rows[0][k], rows[1][k]]);
    let columns: Value =
        names.iter().enumerate().map(|(k, name)| ((*name).to_owned(), column(k))).collect();
    // Data before the names, an index, and a column that the model does not have.
    let split = format!(
        "{{\"dataframe_split\": {{\"index\": [7, 8], \"data\": {}, \"columns\": {}}}}}",
        json!([
            [1, rows[0][0], rows[0][1], rows[0][2], rows[0][3], rows[0][4], rows[0][5], rows[0][6]],
            [2, rows[1][0], rows[1][1], rows[1][2], rows[1][3], rows[1][4], rows[1][5], rows[1][6]]
        ]),
        json!(["more", names[0], names[1], names[2], names[3], names[4], names[5], names[6]]),
    );
    let expected = json!({"predictions": ["Adelie", "Gentoo"]});

    for body in [
        json!({"dataframe_records": [record(&rows[0]), record(&rows[1])]}).to_string(),
        json!({"instances": rows}).to_string(),
        json!({"inputs": columns}).to_string(),
        json!([record(&rows[0]), record(&rows[1])]).to_string(),
        split,
    ] {
        let response = server.post("/invocations", "application/json", body.as_bytes());
        assert_eq!(response.status, 200, "{body}: {}", response.text());
        assert_eq!(response.json(), expected, "{body}");
    }
    let csv = "year,sex,body_mass_g,flipper_length_mm,bill_depth_mm,bill_length_mm,island\n\
               2007,male,3750,181,18.7,39.1,Torgersen\n2008,,5000,220,15.0,,Biscoe\n";
    assert_eq!(server.post("/invocations", "text/csv", csv.as_bytes()).json(), expected);
    for path in ["/ping", "/health"] {
        assert_eq!(server.get(path).status, 200);
    }
    assert_eq!(server.get("/version").text(), env!("CARGO_PKG_VERSION"));

    // A column that only later rows have is missing in the first ones; one that no row has is an error.
    let mut sparse = record(&rows[0]);
    sparse.as_object_mut().unwrap().remove("sex");
    let later = json!({"dataframe_records": [sparse, record(&rows[0])]});
    assert_eq!(server.json("/invocations", &later)["predictions"], json!(["Adelie", "Adelie"]));
    let never = json!({"dataframe_records": [sparse]}).to_string();
    assert_eq!(server.refusal("/invocations", &never, 400), "column `sex` is not in the request");
}

#[test]
fn wrong_rows_are_refused_with_their_place() {
    let server = serve(&[("iris", &iris())]);
    for (body, part) in [
        (r#"{"instances": [[1, 2, 3]]}"#, "a row has 3 values, but the model has 4 columns"),
        (r#"{"instances": [[1, 2, 3, 4], [1, 2, 3]]}"#, "row 2 has 3 values, the first row has 4"),
        (r#"{"instances": [[1, 2, 3, 4], [1, 2, 3, 4, 5]]}"#, "row 2 has at least 5 values"),
        (r#"{"instances": [[1, 2, 3, 4], {"sepal_length": 1}]}"#, "row 2: some rows are objects"),
        (r#"{"instances": [[1, 2, 3, "4"]]}"#, "found strings, expected finite numbers"),
        (r#"{"instances": [[1, 2, 3, [4]]]}"#, "invalid type: sequence"),
        (r#"{"instances": [{"sepal_length": 1, "sepal_length": 1}]}"#, "occurs twice"),
        (r#"{"instances": [{"sepal_lenght": 1}]}"#, "column `sepal_length` is not in the request"),
        (
            r#"{"instances": [[1, 2, 3, 4]], "inputs": [[1, 2, 3, 4]]}"#,
            "both `instances` and `inputs`",
        ),
        (r#"{"instances": []}"#, "has 0 values"),
        (r#"{"instances": [[1, 2, 3, 4]], "parameters": {"outputs": ["x"]}}"#, "has no output `x`"),
        (r#"{"instances": [[1, 2, 3, 4]]} x"#, "trailing characters"),
        (r#"{"rows": 1}"#, "the request has no rows"),
        (
            r#"{"dataframe_split": {"columns": ["a"], "data": [[1, 2]]}}"#,
            "the rows have 2 values, but there are 1",
        ),
        (r#""text""#, "an object with rows, or a list of rows"),
    ] {
        let refused = server.refusal(PREDICT, body, 400);
        assert!(refused.contains(part), "{body}: {refused}");
    }
}

#[test]
fn unsupervised_models_answer_in_their_own_way() {
    let outliers = trained("one-class-svm", "iris.csv", None, &["species"]);
    let clusters = trained("kernel-k-means", "iris.csv", None, &["species"]);
    let axes = trained("kernel-pca", "iris.csv", None, &["species"]);
    let server = serve(&[("outliers", &outliers), ("clusters", &clusters), ("axes", &axes)]);
    let rows = json!({"instances": [[5.8, 3.0, 4.3, 1.3], [50.0, 30.0, 40.0, 13.0]]});

    let predicted = server.json("/v1/models/outliers:predict", &rows)["predictions"].clone();
    assert_eq!(predicted, json!(["inlier", "outlier"]));
    assert!(server.json("/v1/models/clusters:predict", &rows)["predictions"][0].is_u64());
    let axes = &server.json("/v1/models/axes:predict", &rows)["predictions"][0];
    assert!(axes.as_array().unwrap().iter().all(Value::is_number), "{axes}");
    let tensor = json!({"inputs": [{"name": "x", "datatype": "FP64", "shape": [1, 4], "data": [5.8, 3.0, 4.3, 1.3]}]});
    let response = server.json("/v2/models/outliers/infer", &tensor);
    assert_eq!(response["outputs"][0]["data"], json!([1]));
    assert_eq!(server.json("/v2/models/axes/infer", &tensor)["outputs"][0]["name"], "transform");
}
