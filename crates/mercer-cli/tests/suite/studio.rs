//! `mercer studio`: its address, its token and its end.

use super::{Folder, example};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn the_printed_address_carries_the_token_of_the_calls() {
    let folder = Folder::new();
    let mut process = Command::new(assert_cmd::cargo::cargo_bin!("mercer"))
        .current_dir(folder.path(""))
        .args(["studio", &example("iris.csv"), "--target", "species", "--no-open", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(process.stdout.take().unwrap());
    let mut text = String::new();
    let started: Value = loop {
        assert!(out.read_line(&mut text).unwrap() > 0, "{text}");
        if let Ok(started) = serde_json::from_str(&text) {
            break started;
        }
    };
    let (address, token) = started["url"].as_str().unwrap().split_once("#token=").unwrap();
    let call = |token: &str| {
        let header = format!("Authorization: Bearer {token}");
        let url = format!("{address}studio/call");
        let body = r#"{"call": "session"}"#;
        let done = Command::new("curl").args(["-s", "-H", &header, "--data", body, &url]).output();
        serde_json::from_slice::<Value>(&done.unwrap().stdout).unwrap()
    };

    let (admitted, refused) = (call(token), call("x"));
    process.kill().unwrap();
    process.wait().unwrap();

    assert_eq!(admitted["data"]["n_rows"], 150);
    assert_eq!(admitted["data"]["target"], "species");
    assert!(refused["error"].as_str().unwrap().contains("Bearer"));
}

#[test]
fn other_addresses_need_a_token_file() {
    let folder = Folder::new();
    let message = folder.failure(&["studio", "--listen", "0.0.0.0:0", "--no-open"], 2);
    assert!(message.contains("--token-file"), "{message}");
    folder.write("token", "short");
    assert!(folder.failure(&["studio", "--token-file", "token", "--no-open"], 2).contains("32"));
}
