//! `mercer serve`: the examples of the documentation, and an end by SIGTERM.

use super::{Folder, example};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server, ended when it is dropped.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(folder: &Folder, models: &[&str]) -> Server {
        let mut process = Command::new(assert_cmd::cargo::cargo_bin!("mercer"))
            .current_dir(folder.path(""))
            .arg("serve")
            .args(models)
            .args(["--listen", "127.0.0.1:0", "--json"])
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
        let url = format!("http://{}", started["address"].as_str().unwrap());
        Server { process, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn trained() -> Folder {
    let folder = Folder::new();
    let table = example("penguins.csv");
    let train = ["train", &table, "--target", "species", "--model", "mixed-nb"];
    folder.mercer(&train).args(["--out", "penguins.mercer"]).assert().success();
    folder
}

#[test]
fn the_examples_of_the_documentation_run() {
    let text = include_str!("../../../../docs/serving.md");
    let commands: Vec<&str> = text
        .split("```sh\n")
        .skip(1)
        .flat_map(|block| block.split("```").next().unwrap_or_default().lines())
        .collect();
    assert_eq!(commands.len(), 7, "{commands:?}");
    let folder = trained();
    let server = Server::start(&folder, &["penguins.mercer"]);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");

    for command in commands {
        let done = Command::new("sh")
            .args(["-c", command])
            .env("URL", &server.url)
            .current_dir(&root)
            .output()
            .unwrap();
        let out = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
        assert!(!out.contains("\"error\"") && !out.is_empty(), "{command}: {out}");
        assert!(out.contains("Gentoo") || out.contains("Adelie"), "{command}: {out}");
    }
}

#[test]
fn predictions_over_http_are_those_of_the_command_line() {
    let folder = trained();
    let table = example("penguins.csv");
    let expected = folder.output(&["predict", "penguins.mercer", &table, "--proba", "--density"]);
    let server = Server::start(&folder, &["penguins.mercer"]);

    let url = format!("{}/predict?proba&density", server.url);
    let done = Command::new("curl")
        .args(["-s", "-H", "Content-Type: text/csv", "--data-binary", &format!("@{table}"), &url])
        .output()
        .unwrap();

    assert_eq!(String::from_utf8(done.stdout).unwrap(), expected);
}

#[cfg(unix)]
#[test]
fn sigterm_ends_the_server_with_success() {
    let folder = trained();
    let mut server = Server::start(&folder, &["penguins.mercer"]);

    let signal = Command::new("kill").args(["-TERM", &server.process.id().to_string()]).status();
    assert!(signal.unwrap().success());

    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}

#[test]
fn other_addresses_need_a_token_and_bad_models_are_named() {
    let folder = trained();
    let open = ["serve", "penguins.mercer", "--listen", "0.0.0.0:0"];
    assert!(folder.failure(&open, 2).contains("--token-file"));
    folder.write("bad.mercer", "no model");
    let message = folder.failure(&["serve", "bad.mercer"], 4);
    assert!(message.contains("bad.mercer: not a valid model file"), "{message}");
    folder.write("token", "short");
    let short = ["serve", "penguins.mercer", "--token-file", "token"];
    assert!(folder.failure(&short, 2).contains("at least 32"));
}

#[test]
fn a_used_port_is_a_clear_error() {
    let folder = trained();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();

    let message = folder.failure(&["serve", "penguins.mercer", "--listen", &address], 5);

    assert!(message.contains(&address), "{message}");
}
