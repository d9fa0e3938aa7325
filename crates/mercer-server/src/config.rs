//! The settings of a server and its limits.

use crate::token::Token;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The settings of a server.
#[derive(Clone)]
pub struct Config {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The bearer token that requests must carry; required for other addresses than loopback.
    pub token: Option<Token>,
    /// Names under which clients reach the server, besides `localhost` and IP addresses.
    pub hosts: Vec<String>,
    /// The number of threads that answer requests; 0 takes one per core.
    pub threads: usize,
    /// The limits.
    pub limits: Limits,
    /// Receives messages for the operator, such as the reload of a model.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Config {
    /// The default settings for an address.
    pub fn new(listen: SocketAddr) -> Config {
        Config {
            listen,
            token: None,
            hosts: Vec::new(),
            threads: 0,
            limits: Limits::default(),
            log: Arc::new(|_| {}),
        }
    }
}

/// Bounds on what clients may request of the machine.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a request body, also after decompression.
    pub body_bytes: usize,
    /// Rows of a request.
    pub rows: usize,
    /// Rows that a request may have explained.
    pub explained_rows: usize,
    /// Cells of a response, such as rows times classes.
    pub output_cells: usize,
    /// Rows that wait for their prediction, over all requests.
    pub waiting_rows: usize,
    /// Bytes that request bodies and what is parsed from them may take, over all requests.
    pub memory_bytes: usize,
    /// Open connections.
    pub connections: usize,
    /// Header lines of a request.
    pub headers: usize,
    /// Bytes of the head of a request.
    pub header_bytes: usize,
    /// Time for the head of a request, and for an idle connection to send the next one.
    pub header_time: Duration,
    /// Time for the body of a request, and from there to the response.
    pub request_time: Duration,
    /// Time for which a client may stop reading its response.
    pub write_time: Duration,
    /// Time for running requests to finish after a stop.
    pub drain_time: Duration,
    /// Time between two checks of a model file for a new version.
    pub reload_time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body_bytes: 32 << 20,
            rows: 100_000,
            explained_rows: 1_000,
            output_cells: 10_000_000,
            waiting_rows: 1_000_000,
            memory_bytes: 1 << 30,
            connections: 2_048,
            headers: 100,
            header_bytes: 16 << 10,
            header_time: Duration::from_secs(10),
            request_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            drain_time: Duration::from_secs(10),
            reload_time: Duration::from_secs(1),
        }
    }
}
