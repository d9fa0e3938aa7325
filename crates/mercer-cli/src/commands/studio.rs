//! `mercer studio`: the page in the browser.

use crate::args::Studio;
use crate::failure::Result;
use crate::session::Session;
use mercer_server::{Config, Server, StudioOptions, Token};
use serde_json::json;
use std::io::Write;
use std::process::{Command, Stdio};
use tempfile::NamedTempFile;

pub fn run(args: Studio, session: &Session) -> Result<()> {
    let mut config = Config::new(args.listen);
    let (token, secret) = match &args.token_file {
        Some(path) => (Token::from_file(path)?, None),
        None if args.listen.ip().is_loopback() => {
            let (token, secret) = Token::random()?;
            (token, Some(secret))
        }
        // `Server::studio` refuses the address, with the remedy.
        None => return Ok(Server::studio(config, StudioOptions::default()).map(drop)?),
    };
    config.token = Some(token);
    config.hosts = args.hosts;
    config.threads = session.threads;
    config.limits.body_bytes = usize::try_from(args.max_body).unwrap_or(usize::MAX);
    let options = StudioOptions {
        data: args.data,
        target: args.target,
        memory: session.memory,
        time_limit: session.time_limit(),
    };
    let server = Server::studio(config, options)?;
    let address = server.address();
    let url = match &secret {
        Some(secret) => format!("http://{address}/#token={secret}"),
        None => format!("http://{address}/"),
    };
    session.message(&format!("the studio is at {url} (Ctrl-C ends it)"));
    if secret.is_none() {
        session.message("the page asks for the token in the file of --token-file");
    }
    if session.json {
        session.print_json(&json!({"address": address.to_string(), "url": url}))?;
    }
    let redirect = (!args.no_open).then(|| redirect_page(&url)).transpose();
    match &redirect {
        Ok(Some(page)) if !open(page) => session.message("no browser could be started"),
        Err(error) => session.message(&format!("no browser could be started: {error}")),
        Ok(_) => {}
    }
    server.run(&session.stop_on_interrupt())?;
    Ok(())
}

/// A private page that leads to the studio. The address holds the token, which other users of the machine could read
/// among the arguments of the browser's process.
fn redirect_page(url: &str) -> std::io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("mercer-studio-").suffix(".html").tempfile()?;
    let target = format!("<meta http-equiv=\"refresh\" content=\"0; url={url}\">");
    writeln!(file, "<!doctype html><title>Mercer Studio</title>{target}")?;
    Ok(file)
}

/// Opens a file in the browser of the desktop.
fn open(page: &NamedTempFile) -> bool {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(page.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
