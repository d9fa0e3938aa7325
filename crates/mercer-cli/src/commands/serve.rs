//! `mercer serve`: models over HTTP.

use crate::args::Serve;
use crate::failure::{Failure, Result};
use crate::session::Session;
use mercer_server::{Config, Server, StartError, Token};
use serde_json::json;
use std::io::Write;
use std::sync::Arc;

pub fn run(args: Serve, session: &Session) -> Result<()> {
    let mut config = Config::new(args.listen);
    config.token = args.token_file.as_deref().map(Token::from_file).transpose()?;
    config.hosts = args.hosts;
    config.threads = session.threads;
    let limits = &mut config.limits;
    limits.body_bytes = usize::try_from(args.max_body).unwrap_or(usize::MAX);
    limits.rows = args.max_rows;
    limits.connections = args.max_connections.max(1);
    limits.drain_time = args.drain_time;
    if let Some(memory) = session.memory {
        limits.memory_bytes = usize::try_from(memory).unwrap_or(usize::MAX);
    }
    if let Some(limit) = session.time_limit() {
        limits.request_time = limit;
    }
    if !session.is_quiet() {
        // A closed standard error is no reason to fail.
        config.log = Arc::new(|text| drop(writeln!(std::io::stderr(), "{text}")));
    }
    let off_loopback = !args.listen.ip().is_loopback();
    let server = Server::bind(config, &args.models)?;
    let address = server.address();
    for (name, version) in server.models() {
        session.message(&format!("model {name}, version {version}"));
    }
    session
        .message(&format!("listening on http://{address} (documentation: http://{address}/docs)"));
    if off_loopback {
        session.message(
            "requests and their token are not encrypted; put a TLS proxy in front of untrusted networks",
        );
    }
    if session.json {
        let models: serde_json::Map<_, _> =
            server.models().into_iter().map(|(name, version)| (name, json!(version))).collect();
        session.print_json(&json!({"address": address.to_string(), "models": models}))?;
    }
    server.run(&session.stop_on_interrupt())?;
    session.message("all requests are finished");
    Ok(())
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Settings(why) => Failure::Usage(why),
            StartError::Model(why) => Failure::Model(why),
            StartError::System(why) => Failure::Resources(why),
        }
    }
}
