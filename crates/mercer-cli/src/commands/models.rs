//! `mercer models`: what there is to choose from.

use crate::args::Models;
use crate::failure::{Failure, Result};
use crate::report::terminal::{one_line, table};
use crate::session::Session;
use mercer::Error;
use mercer::catalog::{CATALOG, Card, card};
use serde_json::{Value, json};
use std::io::{self, Write};

pub fn run(args: Models, session: &Session) -> Result<()> {
    let Some(id) = args.id else { return list(session) };
    let card = card(&id).ok_or_else(|| {
        Failure::from(Error::UnknownEstimator {
            id,
            known: CATALOG.iter().map(|c| c.id).collect::<Vec<_>>().join(", "),
        })
    })?;
    if session.json {
        return session.print_json(&describe(card));
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}  (Python: mercer.{})\n{}\n", card.id, card.python, one_line(card.doc))?;
    writeln!(out, "learns by {}", card.learns.name())?;
    let capabilities: Vec<&str> = card.capabilities.iter().map(|can| can.name()).collect();
    writeln!(out, "can be    {}", capabilities.join(", "))?;
    writeln!(
        out,
        "takes     numbers{}\n",
        card.inputs.iter().map(|input| format!(", {input}")).collect::<String>()
    )?;
    let defaults = card.defaults();
    let mut rows = table(&["--set", "default", "type", "what it does"]);
    for spec in card.specs {
        rows.add_row([
            spec.name.to_owned(),
            defaults[spec.name].to_string(),
            spec.value_type(),
            one_line(spec.doc),
        ]);
    }
    writeln!(out, "{rows}")?;
    Ok(())
}

fn list(session: &Session) -> Result<()> {
    if session.json {
        return session.print_json(&CATALOG.iter().map(describe).collect::<Vec<_>>());
    }
    let mut rows = table(&["id", "Python", "what it is"]);
    for card in CATALOG {
        rows.add_row([card.id.to_owned(), format!("mercer.{}", card.python), one_line(card.doc)]);
    }
    writeln!(io::stdout(), "{rows}")?;
    Ok(())
}

fn describe(card: &Card) -> Value {
    let defaults = card.defaults();
    let params: Vec<Value> = card
        .specs
        .iter()
        .map(|spec| {
            json!({
                "name": spec.name, "type": spec.value_type(), "default": defaults[spec.name],
                "doc": one_line(spec.doc),
            })
        })
        .collect();
    json!({
        "id": card.id, "python": card.python, "doc": one_line(card.doc), "learns": card.learns,
        "capabilities": card.capabilities, "inputs": card.inputs, "params": params,
    })
}
