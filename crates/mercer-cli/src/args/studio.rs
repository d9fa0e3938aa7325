//! The options of `mercer studio`.

use super::parse;
use clap::{Args as Group, ValueHint};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Inspect a table, train, compare and explain models in the browser.
///
/// The page and its engine are this command: it makes no request to another host, and the address it prints carries a
/// token, without which calls are refused. `--memory` limits the memory of fits, `--time-limit` their time. Ctrl-C ends
/// the studio.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer studio
  mercer studio examples/data/penguins.csv
  mercer studio mail.csv --listen 127.0.0.1:9000 --no-open")]
pub struct Studio {
    /// Table to open (without it, drop a file on the page)
    #[arg(value_hint = ValueHint::FilePath, value_name = "DATA")]
    pub data: Option<String>,
    /// Target column of the table [default: chosen on the page]
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub target: Option<String>,
    /// Address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS:PORT")]
    pub listen: SocketAddr,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// File with the token, required for other addresses than loopback; a new token is written if the file does not
    /// exist [default: a new token per run]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
    /// Name under which browsers reach the studio, besides localhost and IP addresses (may repeat)
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// Largest file that can be dropped on the page
    #[arg(long, value_parser = parse::bytes, default_value = "512M", value_name = "SIZE")]
    pub max_body: u64,
}
