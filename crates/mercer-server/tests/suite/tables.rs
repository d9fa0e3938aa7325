//! Tables as in files, and what is the same in every call: several models, compression, pages.

use crate::client::{serve, serve_with};
use crate::models::{example, iris, penguins};
use std::io::{Read, Write};

#[test]
fn csv_and_json_lines_give_what_the_command_line_gives() {
    let model = penguins();
    let server = serve(&[("birds", &model)]);
    let csv = std::fs::read(example("penguins.csv")).unwrap();

    let response = server.post("/predict?proba&density", "text/csv", &csv);
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.header("content-type"), Some("text/csv; charset=utf-8"));
    let text = response.text();
    let mut lines = text.lines();
    let header = "species,P(Adelie),P(Chinstrap),P(Gentoo),log_density";
    assert_eq!(lines.next(), Some(header));
    assert_eq!(text.lines().count(), String::from_utf8(csv.clone()).unwrap().lines().count());
    assert!(lines.next().unwrap().starts_with("Adelie,0.9"), "{text}");

    let row = "{\"island\": \"Biscoe\", \"bill_length_mm\": 50.0, \"bill_depth_mm\": 15.0, \"flipper_length_mm\": 220, \
               \"body_mass_g\": 5000, \"sex\": null, \"year\": 2008}\n";
    let response = server.post("/predict?outliers=0.01", "application/x-ndjson", row.as_bytes());
    let line: serde_json::Value = serde_json::from_str(response.text().trim()).unwrap();
    assert_eq!(line["prediction"], "Gentoo");
    assert_eq!(line["outlier"], false);
    assert_eq!(line["row"], 1);
    let as_csv = [("Content-Type", "application/x-ndjson"), ("Accept", "text/csv")];
    assert_eq!(server.post_with("/predict", &as_csv, row.as_bytes()).text(), "species\nGentoo\n");
    let rejected = server.post("/predict?reject=0", "application/x-ndjson", row.as_bytes());
    assert!(rejected.text().contains("\"prediction\":null"), "{}", rejected.text());

    let explained = server.post("/explain", "text/csv", &csv);
    assert_eq!(explained.status, 200, "{}", explained.text());
    let first: serde_json::Value =
        serde_json::from_str(explained.text().lines().next().unwrap()).unwrap();
    assert_eq!(first["winner"], 0);
}

#[cfg(feature = "all-formats")]
#[test]
fn damaged_arrow_is_refused() {
    let server = serve(&[("iris", &iris())]);
    let arrow = "application/vnd.apache.arrow.stream";
    for body in [
        &b"\xff\xff\xff\xff"[..],
        b"ARROW1\0\0garbage",
        &[0; 100],
        b"\xff\xff\xff\xff\xff\xff\xff\x7f",
    ] {
        let response = server.post("/predict", arrow, body);
        assert_eq!(response.status, 400, "{}", response.text());
        assert!(!response.error().contains('/'), "{}", response.text());
    }
}

#[test]
fn wrong_tables_are_refused_with_line_and_column() {
    let server = serve(&[("iris", &iris())]);
    for (body, part) in [
        (
            "sepal_length,sepal_width,petal_length,petal_width\n1,2,x,4\n",
            "line 2, column `petal_length`: `x` is not a numeric value",
        ),
        ("sepal_length,sepal_width,petal_length\n1,2,3\n", "has no column `petal_width`"),
        ("sepal_length,sepal_width,petal_length,petal_width\n", "no rows"),
        ("", "no rows"),
        ("a,b\n1\n", ""),
        ("\u{0}\u{1}\u{2}", ""),
    ] {
        let response = server.post("/predict", "text/csv", body.as_bytes());
        assert_eq!(response.status, 400, "{body:?}: {}", response.text());
        assert!(response.error().contains(part), "{}", response.error());
    }
    let typed = server.post("/predict", "image/png", b"x");
    assert_eq!(typed.status, 415);
    let option = server.post("/predict?probab=1", "text/csv", b"a\n1\n");
    assert!(option.error().contains("unknown option `probab`"), "{}", option.error());
}

#[test]
fn several_models_are_chosen_by_name() {
    let server = serve(&[("iris", &iris()), ("birds", &penguins())]);
    let row = "sepal_length,sepal_width,petal_length,petal_width\n5.1,3.5,1.4,0.2\n";

    let unnamed = server.post("/predict", "text/csv", row.as_bytes());
    assert_eq!(unnamed.status, 400);
    assert!(unnamed.error().contains("`?model=`: iris, birds"));
    let named = server.post("/predict?model=iris", "text/csv", row.as_bytes());
    assert_eq!(named.text(), "species\nsetosa\n");
    assert_eq!(server.post("/predict?model=x", "text/csv", row.as_bytes()).status, 404);
}

#[test]
fn bodies_are_compressed_both_ways() {
    let server = serve(&[("iris", &iris())]);
    let table = std::fs::read(example("iris.csv")).unwrap();
    let mut many = table.clone();
    for _ in 0..10 {
        let rows = table.splitn(2, |b| *b == b'\n').nth(1).unwrap();
        many.extend_from_slice(rows);
    }
    let plain = server.post("/predict?proba", "text/csv", &many).text();
    let mut packed = Vec::new();
    flate2::read::GzEncoder::new(many.as_slice(), flate2::Compression::fast())
        .read_to_end(&mut packed)
        .unwrap();

    let headers = [
        ("Content-Type", "text/csv"),
        ("Content-Encoding", "gzip"),
        ("Accept-Encoding", "br, gzip;q=0.5"),
    ];
    let response = server.post_with("/predict?proba", &headers, &packed);

    assert_eq!(response.header("content-encoding"), Some("gzip"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(response.body.as_slice()).read_to_string(&mut text).unwrap();
    assert_eq!(text, plain);
    let broken = server.post_with("/predict", &headers, b"not gzip");
    assert_eq!(broken.status, 400);
    let unknown = [("Content-Type", "text/csv"), ("Content-Encoding", "br")];
    assert_eq!(server.post_with("/predict", &unknown, b"x").status, 415);
}

#[test]
fn pages_and_methods() {
    let server = serve(&[("iris", &iris())]);
    let page = server.get("/docs");
    assert_eq!(page.status, 200);
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    let text = page.text();
    assert!(text.contains("/v2/models/iris/infer") && text.contains("petal_length"));
    assert!(!text.contains("<script") && !text.contains("https://"));
    assert_eq!(server.get("/openapi.json").json()["openapi"], "3.1.0");
    assert_eq!(
        server.get("/docs/style.css").header("content-type"),
        Some("text/css; charset=utf-8")
    );

    let wrong = server.get("/predict");
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("POST")));
    assert_eq!(server.post("/metrics", "text/csv", b"").status, 405);
    assert_eq!(server.get("/nothing").error(), "there is no such path; see /docs");
    let mut stream = server.connect();
    stream.write_all(b"HEAD /v2/health/live HTTP/1.0\r\n\r\n").unwrap();
    let mut head = String::new();
    stream.read_to_string(&mut head).unwrap();
    assert!(head.contains("200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("access-control-allow-origin"), None);
}

#[test]
fn limits_on_rows_are_kept() {
    let server = serve_with(&[("iris", &iris())], |config| {
        config.limits.rows = 3;
        config.limits.explained_rows = 2;
    });
    let csv = |n: usize| {
        let mut text = "sepal_length,sepal_width,petal_length,petal_width\n".to_owned();
        (0..n).for_each(|_| text += "1,2,3,4\n");
        text
    };
    let post = |path: &str, n: usize| server.post(path, "text/csv", csv(n).as_bytes()).status;

    assert_eq!(post("/predict", 3), 200);
    assert_eq!(post("/predict", 4), 413);
    assert_eq!(post("/explain", 2), 200);
    assert_eq!(post("/explain", 3), 413);
    let rows = serde_json::json!({"instances": vec![vec![1.0; 4]; 4]}).to_string();
    assert!(server.refusal("/v1/models/iris:predict", &rows, 400).contains("more than 3 rows"));
}
