//! The options of `mercer serve`.

use super::parse;
use clap::{Args as Group, ValueHint};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Serve models over HTTP: Open Inference Protocol, KServe, MLflow, CSV and JSON lines.
///
/// The name of a model is that of its file without the extension. A file that changes is loaded, validated and then
/// replaces the served version. SIGTERM or Ctrl-C finish the running requests first. `--memory` limits the memory of
/// requests, `--time-limit` the time of one request.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer serve penguins.mercer
  mercer serve penguins.mercer mail.mercer --listen 127.0.0.1:9000
  mercer serve penguins.mercer --listen 0.0.0.0:8080 --token-file token --host models.example
  curl -H 'Content-Type: text/csv' --data-binary @new.csv 'http://localhost:8080/predict?proba'")]
pub struct Serve {
    /// Model files
    #[arg(required = true, value_hint = ValueHint::FilePath, value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// Address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,
    /// File with the bearer token that requests must carry, required for other addresses than loopback; a new token
    /// is written if the file does not exist
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
    /// Name under which clients reach the server, besides localhost and IP addresses (may repeat)
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// Largest request body, also after decompression
    #[arg(long, value_parser = parse::bytes, default_value = "32M", value_name = "SIZE")]
    pub max_body: u64,
    /// Most rows of a request
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub max_rows: usize,
    /// Most open connections; further ones wait
    #[arg(long, default_value_t = 2_048, value_name = "N")]
    pub max_connections: usize,
    /// Time for running requests to finish after SIGTERM or Ctrl-C (e.g. 10s)
    #[arg(long, value_parser = parse::duration, default_value = "10s", value_name = "TIME")]
    pub drain_time: Duration,
}
