//! `mercer models`: the list of estimators, and the parameters of one.

use crate::args::Models;
use crate::failure::{Failure, Result};
use crate::report::terminal::{one_line, wrap, wrap_labeled, wrapped_table};
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
    writeln!(out, "{}  (Python: mercer.{})\n{}\n", card.id, card.python, wrap(card.doc, 0))?;
    let names = |list: Vec<&str>| list.join(", ");
    let capabilities = names(card.capabilities.iter().map(|can| can.name()).collect());
    let inputs = names(card.inputs.iter().map(|input| input.name()).collect());
    writeln!(out, "learns by     {}", card.learns.name())?;
    writeln!(out, "{}", wrap_labeled("capabilities  ", &capabilities))?;
    writeln!(out, "{}", wrap_labeled("inputs        ", &format!("numeric, {inputs}")))?;
    writeln!(out, "\nParameters (--set NAME=VALUE):")?;
    let defaults = card.defaults();
    for spec in card.specs {
        writeln!(out, "\n  {} = {}  ({})", spec.name, defaults[spec.name], spec.value_type())?;
        writeln!(out, "{}", wrap_labeled("      ", spec.doc))?;
    }
    Ok(())
}

fn list(session: &Session) -> Result<()> {
    if session.json {
        return session.print_json(&CATALOG.iter().map(describe).collect::<Vec<_>>());
    }
    let mut rows = wrapped_table(&["id", "Python", "description"]);
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
