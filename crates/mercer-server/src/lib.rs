//! Mercer models over HTTP.
//!
//! ```no_run
//! use mercer_server::{Config, Server};
//! use std::sync::Arc;
//! use std::sync::atomic::AtomicBool;
//!
//! let config = Config::new("127.0.0.1:8080".parse()?);
//! let server = Server::bind(config, &["penguins.mercer".into()])?;
//! println!("listening on {}", server.address());
//! server.run(&Arc::new(AtomicBool::new(false)))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In the order of a request: `server` accepts connections and hands them to the reactors; `connection` speaks HTTP
//! under limits; `guard` checks host, origin and token; `router` finds the call; `body` reads and decompresses;
//! `protocol` has one file per protocol, which turn a body into a table and predictions into a response; `batch`
//! predicts what waits together; `models` holds the models and reloads their files; `metrics` counts. `studio` is the
//! page of `mercer studio` and the session behind it, on the same connections under the same checks.

#![forbid(unsafe_code)]

mod batch;
mod body;
mod config;
mod connection;
mod error;
mod guard;
mod metrics;
mod models;
mod options;
mod protocol;
mod router;
mod server;
mod studio;
mod token;

pub use config::{Config, Limits};
pub use error::StartError;
pub use server::Server;
pub use studio::StudioOptions;
pub use token::Token;
