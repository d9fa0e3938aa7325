//! The calls of the studio, compared with the library.

use super::client::{Running, TOKEN, studio};
use mercer::predict::{PredictOptions, Predicted, Predictions};
use mercer::train::Trained;
use mercer_io::{Options, Source};
use mercer_server::StudioOptions;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn example(name: &str) -> String {
    format!("{}/../../examples/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn open(name: &str, target: &str) -> Running {
    studio(StudioOptions {
        data: Some(example(name)),
        target: Some(target.into()),
        ..StudioOptions::default()
    })
}

/// Drops a table on the page.
fn dropped(name: &str, table: &str, target: &str) -> Running {
    let running = studio(StudioOptions::default());
    let token = format!("Bearer {TOKEN}");
    let path = format!("/studio/data?name={name}");
    let response = running.post_with(&path, &[("Authorization", token.as_str())], table.as_bytes());
    assert_eq!(response.status, 200, "{}", response.text());
    running.call("data.target", json!({"target": target}));
    running
}

/// Fits and returns the last state of the run.
fn fitted(studio: &Running, start: Value) -> Value {
    studio.call("session", json!({}));
    studio.call("train.start", start);
    finished(studio)
}

fn finished(studio: &Running) -> Value {
    let start = Instant::now();
    loop {
        let state = studio.call("train.state", json!({}));
        if state["is_running"] == false {
            return state;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "{state}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn one(model: &str) -> Value {
    json!({"candidates": [{"model": model}]})
}

/// The model that the page offers for download.
fn model(studio: &Running) -> Trained {
    let head = format!(
        "GET /studio/model HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    );
    Trained::from_bytes(&studio.raw(head.as_bytes()).body).unwrap()
}

/// A regression table with missing values, a date and an identifier.
fn flats() -> String {
    let mut text = String::from("id,area,rooms,district,sold,price\n");
    for i in 0..120 {
        let (area, rooms) = (30 + (i * 37) % 90, 1 + i % 5);
        let district = ["north", "south", "west"][i % 3];
        let price = 3 * area + 20 * rooms + 40 * (i % 3) + (i * 7919) % 13;
        let shown = if i % 17 == 0 { String::new() } else { area.to_string() };
        let day = 1 + i % 28;
        text += &format!("f{i},{shown},{rooms},{district},2024-03-{day:02},{price}.5\n");
    }
    text
}

#[test]
fn the_page_is_open_and_its_calls_need_the_token() {
    let studio = open("penguins.csv", "species");

    let page = studio.get("/");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("Mercer Studio"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; connect-src 'self'"));
    assert_eq!(studio.get("/assets/app.js").status, 200);
    assert_eq!(studio.get("/assets/../Cargo.toml").status, 404);
    assert_eq!(studio.get("/assets/%2e%2e/Cargo.toml").status, 404);

    let bare = studio.post("/studio/call", "application/json", br#"{"call": "session"}"#);
    assert_eq!(bare.status, 401);
    assert_eq!(studio.get("/studio/model").status, 401);
    let data = studio.post("/studio/data?name=a.csv", "text/csv", b"a,b\n1,2\n");
    assert_eq!(data.status, 401);
    let foreign = studio.raw(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert_eq!(foreign.status, 403);
    let token = format!("Bearer {TOKEN}");
    let headers = [("Authorization", token.as_str()), ("Origin", "http://evil.example")];
    let other_page = studio.post_with("/studio/call", &headers, br#"{"call": "session"}"#);
    assert_eq!(other_page.status, 403);
    let model =
        format!("GET /v2/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: {token}\r\n\r\n");
    assert_eq!(studio.raw(model.as_bytes()).status, 404);
}

#[test]
fn messages_that_make_no_sense_are_refused() {
    let studio = open("penguins.csv", "species");
    studio.call("session", json!({}));
    let token = format!("Bearer {TOKEN}");
    let headers = [("Authorization", token.as_str())];
    let status = |body: &[u8]| studio.post_with("/studio/call", &headers, body).status;

    assert_eq!(status(b""), 400);
    assert_eq!(status(b"[]"), 400);
    assert_eq!(status(br#"{"call": 1}"#), 400);
    assert_eq!(status(br#"{"call": "no.such.call"}"#), 404);
    assert_eq!(status("[".repeat(100_000).as_bytes()), 400);
    assert_eq!(status(&vec![b' '; 5 << 20]), 413);
    let refused = |name: &str, message: Value| studio.try_call(name, message).status;
    assert_eq!(refused("data.describe", json!({"from": -1})), 400);
    assert_eq!(refused("data.type", json!({"column": "sex", "type": "color"})), 400);
    assert_eq!(refused("data.type", json!({"column": "none", "type": "text"})), 400);
    assert_eq!(refused("train.start", json!({"candidates": [{"model": "none"}]})), 400);
    assert_eq!(refused("train.start", json!({"candidates": [{"model": "ridge"}]})), 400);
    assert_eq!(refused("train.start", json!({"metric": "rmse"})), 400);
    let bad_c = json!({"candidates": [{"model": "svc", "settings": {"C": "-1"}}]});
    assert_eq!(refused("train.start", bad_c), 400);
    assert_eq!(refused("why", json!({"row": 0})), 409);
    assert_eq!(refused("board", json!({})), 409);
}

#[test]
fn a_table_that_cannot_be_read_is_a_message_and_not_an_end() {
    let options =
        StudioOptions { data: Some("no-such-file.csv".into()), ..StudioOptions::default() };
    let studio = studio(options);

    let session = studio.call("session", json!({}));

    assert!(session["problem"].as_str().unwrap().contains("no-such-file.csv"));
    assert_eq!(studio.try_call("data.describe", json!({})).status, 409);
}

#[test]
fn the_profile_has_types_reasons_and_distributions_by_class() {
    let studio = open("penguins.csv", "species");
    studio.call("session", json!({}));

    let table = studio.call("data.describe", json!({}));

    assert_eq!((&table["n_rows"], &table["n_missing"]), (&json!(344), &json!(19)));
    assert_eq!(table["task"]["classes"], json!(["Adelie", "Chinstrap", "Gentoo"]));
    let column = |name: &str| {
        let columns = table["columns"].as_array().unwrap();
        columns.iter().find(|column| column["name"] == name).unwrap().clone()
    };
    assert_eq!(column("sex")["n_missing"], 11);
    assert_eq!(column("year")["why"], "all 344 values are integers");
    let counts = column("island")["histogram"]["counts"].clone();
    let total: u64 = counts.as_array().unwrap().iter().flat_map(sum_of).sum();
    assert_eq!(total, 344);
}

fn sum_of(group: &Value) -> Vec<u64> {
    group.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

#[test]
fn a_type_is_changed_by_a_call_and_a_refused_target_changes_nothing() {
    let studio = open("penguins.csv", "species");
    studio.call("session", json!({}));

    studio.call("data.type", json!({"column": "year", "type": "categorical"}));
    studio.call("data.type", json!({"column": "island", "type": "ignore"}));
    let refused = studio.try_call("data.target", json!({"target": "sex"}));

    assert_eq!(refused.status, 400);
    assert!(refused.error().contains("missing in 11 rows"), "{}", refused.text());
    let table = studio.call("data.describe", json!({"filter": "year"}));
    assert_eq!(table["columns"][0]["type"], "categorical");
    assert_eq!(table["columns"][0]["why"], "chosen by you");
    assert_eq!(table["target"], "species");
    let code = table["code"][0]["code"].as_str().unwrap();
    assert!(code.contains("--column year=categorical --ignore island"), "{code}");
    studio.call("data.type", json!({"column": "year", "type": null}));
    let table = studio.call("data.describe", json!({"filter": "year"}));
    assert_eq!(table["columns"][0]["type"], "numeric");
}

#[test]
fn candidates_of_several_runs_are_on_one_leaderboard_of_the_same_folds() {
    let studio = open("penguins.csv", "species");
    let first = fitted(&studio, one("gaussian-nb"));
    assert_eq!(first["phase"], "done", "{first}");
    let both =
        json!({"candidates": [{"model": "lda"}, {"model": "logistic", "settings": {"C": "10"}}]});
    let second = fitted(&studio, both);

    let board = studio.call("board", json!({}));

    assert!(second["fit"]["certificate"]["is_converged"].as_bool().unwrap());
    let rows = board["rows"].as_array().unwrap();
    let mut names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["gaussian-nb", "lda", "logistic C=10"]);
    for row in rows {
        let details = studio.call("board.row", json!({"name": row["name"]}));
        let report = &details["report"];
        assert_eq!(report["accuracy"]["value"], row["score"], "{row}");
        assert_eq!(report["n_rows"], 344);
        let (low, high) =
            (row["interval"][0].as_f64().unwrap(), row["interval"][1].as_f64().unwrap());
        let score = row["score"].as_f64().unwrap();
        assert!(low <= score && score <= high && high <= 1.0, "{row}");
        assert_eq!(row["fold_scores"].as_array().unwrap().len(), 10);
        let roc = details["curves"][0]["roc"].as_array().unwrap();
        assert_eq!((roc.first(), roc.last()), (Some(&json!([0.0, 0.0])), Some(&json!([1.0, 1.0]))));
    }
}

#[test]
fn every_held_out_row_is_in_one_cell_of_the_confusion_matrix() {
    let studio = open("penguins.csv", "species");
    fitted(&studio, one("tan"));

    let errors = studio.call("errors", json!({}));

    let counts = errors["matrix"]["counts"].as_array().unwrap();
    let (mut n_rows, mut seen) = (0, Vec::new());
    for (truth, row) in counts.iter().enumerate() {
        for (predicted, count) in row.as_array().unwrap().iter().enumerate() {
            let cell = json!({"name": "tan", "truth": truth, "predicted": predicted});
            let cell = studio.call("errors.cell", cell);
            assert_eq!(cell["n_inside"], *count);
            n_rows += count.as_u64().unwrap();
            for shown in cell["rows"].as_array().unwrap() {
                let class = ["Adelie", "Chinstrap", "Gentoo"][truth];
                assert_eq!(shown["cells"][0], class, "{shown}");
                seen.push(shown["row"].as_u64().unwrap());
            }
            let certain = cell["details"].as_array().unwrap().iter();
            let certain: Vec<f64> = certain.filter_map(|d| d["p_predicted"].as_f64()).collect();
            assert!(certain.is_sorted_by(|a, b| a >= b));
        }
    }
    assert_eq!(n_rows, 344);
    let n_seen = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), n_seen);
}

/// `start + Σ contributions` is the score of the prediction.
fn check_sum(why: &Value) {
    let e = &why["explanation"];
    let parts = e["contributions"].as_array().unwrap_or_else(|| panic!("{e}"));
    let sum: f64 = parts.iter().map(|part| part["contribution"].as_f64().unwrap()).sum();
    let rest = e["rest"]["contribution"].as_f64().unwrap_or(0.0);
    let total = e["total"].as_f64().unwrap();
    let found = e["start"]["value"].as_f64().unwrap() + sum + rest;
    assert!((found - total).abs() <= 1e-9 * total.abs().max(1.0), "{found} is not {total}");
}

#[test]
fn contributions_sum_to_the_score_and_probabilities_are_those_of_the_model() {
    let studio = open("penguins.csv", "species");
    for id in ["logistic", "mixed-nb", "lda", "svc", "linear-svc"] {
        fitted(&studio, one(id));
        let trained = model(&studio);
        let options = Options { target: Some("species".into()), ..Options::default() };
        let source = Source::open(&example("penguins.csv"), &options).unwrap();
        let table = source.read(&trained.features.input_schema(None)).unwrap();
        let proba = trained.fitted.model.as_model().probabilistic().is_some();
        let asked = PredictOptions { proba, ..PredictOptions::default() };
        let expected = Predictions::of(&trained, &table, &asked).unwrap();
        let Predicted::Classes(codes) = &expected.predicted else { panic!("a classifier") };
        let names = trained.class_names();

        for row in [0, 3, 200, 343] {
            let why = studio.call("why", json!({"row": row}));
            check_sum(&why);
            let class = names[codes[row].unwrap() as usize].as_str();
            assert_eq!(why["prediction"]["class"], class, "{id} {row}");
            for (name, found) in pairs(&why["prediction"]["proba"]) {
                let c = names.iter().position(|known| *known == name).unwrap();
                let p = expected.proba.as_ref().unwrap()[[row, c]];
                assert!((found - p).abs() < 1e-12, "{id} {row} {name}: {found} is not {p}");
            }
        }
    }
}

fn pairs(list: &Value) -> Vec<(String, f64)> {
    let list = list.as_array().cloned().unwrap_or_default();
    let pair = |p: Value| (p[0].as_str().unwrap().to_owned(), p[1].as_f64().unwrap());
    list.into_iter().map(pair).collect()
}

#[test]
fn the_smallest_changes_change_the_class_and_half_of_a_change_does_not() {
    let studio = open("penguins.csv", "species");
    fitted(&studio, one("logistic"));
    let mut n_numeric = 0;

    for row in [0, 100, 250] {
        let before = studio.call("why", json!({"row": row}));
        let flip = studio.call("why.flip", json!({"row": row}));
        let changes = flip["changes"].as_array().unwrap();
        let sizes: Vec<f64> = changes.iter().filter_map(|c| c["size"].as_f64()).collect();
        assert!(sizes.is_sorted());
        for change in changes {
            let name = change["column"].as_str().unwrap();
            let after = studio.call("why", json!({"row": row, "cells": {name: change["cell"]}}));
            assert_eq!(after["prediction"]["class"], change["class"], "{change}");
            assert_ne!(after["prediction"]["class"], before["prediction"]["class"]);
            if let Some(to) = change["cell"].as_f64() {
                n_numeric += 1;
                let columns = before["columns"].as_array().unwrap();
                let from = columns.iter().find(|column| column["name"] == name).unwrap();
                let half = 0.5 * (from["value"].as_f64().unwrap() + to);
                let less = studio.call("why", json!({"row": row, "cells": {name: half}}));
                assert_eq!(less["prediction"]["class"], before["prediction"]["class"]);
            }
        }
    }
    assert!(n_numeric >= 3, "{n_numeric}");
}

#[test]
fn a_missing_value_and_an_unknown_category_can_be_set() {
    let studio = open("penguins.csv", "species");
    fitted(&studio, one("mixed-nb"));

    let cells = json!({"bill_length_mm": null, "island": "Atlantis", "sex": null});
    let why = studio.call("why", json!({"row": 0, "cells": cells}));

    assert_eq!(why["prediction"]["n_unseen"], 1);
    check_sum(&why);
    let wrong = studio.try_call("why", json!({"row": 0, "cells": {"bill_length_mm": "long"}}));
    assert_eq!(wrong.status, 400);
    assert_eq!(studio.try_call("why", json!({"row": 344})).status, 400);
    assert_eq!(studio.try_call("why", json!({"row": 0, "cells": {"wings": 2}})).status, 400);
}

#[test]
fn regression_tables_have_residuals_intervals_and_contributions() {
    let studio = dropped("flats.csv", &flats(), "price");
    let table = studio.call("data.describe", json!({}));
    assert_eq!(table["task"]["name"], "regression");
    assert_eq!(table["findings"][0]["code"], "MRC008");
    let state = fitted(&studio, one("ridge"));
    assert_eq!(state["phase"], "done", "{state}");

    let errors = studio.call("errors", json!({}));
    let bins = errors["bins"].as_array().unwrap();
    let n: u64 = bins.iter().map(|bin| bin["n"].as_u64().unwrap()).sum();
    assert_eq!(n, 120);
    for (k, bin) in bins.iter().enumerate() {
        let cell = studio.call("errors.cell", json!({"name": "ridge", "bin": k}));
        assert_eq!(cell["n_inside"], bin["n"]);
    }
    let why = studio.call("why", json!({"row": 5}));
    check_sum(&why);
    let value = why["prediction"]["value"].as_f64().unwrap();
    assert!((value - why["explanation"]["total"].as_f64().unwrap()).abs() < 1e-9 * value.abs());
    assert!(why["prediction"]["interval"]["low"].as_f64().unwrap() < value);
    let curves = studio.call("why.curves", json!({"row": 5}));
    assert_eq!(curves["measure"], "the prediction");
    assert_eq!(curves["curves"][0]["points"].as_array().unwrap().len(), 41);
    assert_eq!(studio.call("why.flip", json!({"row": 5}))["is_classifier"], false);
}

#[test]
fn striking_a_token_of_a_text_moves_the_odds() {
    let studio = open("mail.tsv", "label");
    fitted(&studio, one("multinomial-nb"));

    let why = studio.call("why", json!({"row": 1}));
    check_sum(&why);
    let spans = why["texts"][0]["spans"].as_array().unwrap();
    let text: String = spans.iter().map(|span| span["text"].as_str().unwrap()).collect();
    assert_eq!(text, why["columns"][0]["value"].as_str().unwrap());
    let strongest = spans
        .iter()
        .max_by(|a, b| {
            a["log_odds"].as_f64().unwrap_or(0.0).total_cmp(&b["log_odds"].as_f64().unwrap_or(0.0))
        })
        .unwrap();
    let struck = text.replacen(strongest["text"].as_str().unwrap(), "", 1);
    let less = studio.call("why", json!({"row": 1, "cells": {"body": struck}}));

    let flip = studio.call("why.flip", json!({"row": 1}));
    let mut rest = text.clone();
    for token in flip["strikes"]["tokens"].as_array().unwrap() {
        rest = rest.replacen(token.as_str().unwrap(), "", 1);
    }
    let other = studio.call("why", json!({"row": 1, "cells": {"body": rest}}));
    assert_eq!(other["prediction"]["class"], flip["strikes"]["class"]);
    assert_ne!(other["prediction"]["class"], why["prediction"]["class"]);

    check_sum(&less);
    let total = |why: &Value| why["explanation"]["total"].as_f64().unwrap();
    assert!(total(&less) < total(&why), "{} {}", total(&less), total(&why));
}

#[test]
fn a_stopped_comparison_keeps_the_best_candidate() {
    let studio = open("wine.csv", "cultivar");
    studio.call("session", json!({}));
    studio.call("train.start", json!({"metric": "log-loss"}));
    let start = Instant::now();
    loop {
        let state = studio.call("train.state", json!({}));
        let scored = |row: &&Value| !row["score"].is_null();
        let n_scored = state["candidates"].as_array().unwrap().iter().filter(scored).count();
        if n_scored > 0 || state["is_running"] == false {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    let second = studio.try_call("train.start", json!({}));
    studio.call("train.stop", json!({}));

    let state = finished(&studio);

    assert!(second.status == 409 || state["phase"] == "done", "{}", second.text());
    assert_eq!(state["phase"], "done", "{state}");
    let board = studio.call("board", json!({}));
    let best = board["rows"].as_array().unwrap().iter().find(|row| !row["score"].is_null());
    assert_eq!(best.unwrap()["name"], state["fit"]["name"]);
    assert!(model(&studio).class_names().len() == 3);
}

#[test]
fn compressed_tables_and_tables_without_rows_can_be_dropped() {
    let studio = studio(StudioOptions::default());
    let token = format!("Bearer {TOKEN}");
    let put = |name: &str, bytes: &[u8]| {
        let path = format!("/studio/data?name={name}");
        studio.post_with(&path, &[("Authorization", token.as_str())], bytes)
    };

    let mut packed = Vec::new();
    let mut encoder = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, b"a;b\n1,5;x\n2,5;y\n").unwrap();
    encoder.finish().unwrap();
    assert_eq!(put("small.csv.gz", &packed).status, 200);
    let table = studio.call("data.describe", json!({}));
    assert_eq!((&table["n_rows"], &table["columns"][0]["type"]), (&json!(2), &json!("numeric")));
    assert_eq!(put("lines.jsonl", b"{\"a\": 1}\n{\"a\": null}\n").status, 200);
    assert_eq!(studio.call("data.describe", json!({}))["n_missing"], 1);

    assert_eq!(put("empty.csv", b"").status, 400);
    assert_eq!(put("header.csv", b"a,b\n").status, 400);
    assert_eq!(put("binary.csv", &[0, 159, 146, 150]).status, 400);
    assert_eq!(studio.call("data.describe", json!({}))["name"], "lines.jsonl");
}
