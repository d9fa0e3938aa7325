//! `mercer models`: the list of estimators, and the parameters of one.

use crate::args::Models;
use crate::failure::{Failure, Result};
use crate::report::terminal::{one_line, wrap, wrap_labeled, wrapped_table};
use crate::session::Session;
use mercer::Error;
use mercer::catalog::{CATALOG, Card, Input, card};
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
    writeln!(out, "{}  (Python: mercer.{})\n\n{}\n", card.id, card.python, wrap(card.doc, 0))?;
    writeln!(out, "{}\n", wrap_labeled("    ", card.formula))?;
    writeln!(out, "{}", wrap(card.learns.sentence(), 0))?;
    for capability in card.capabilities {
        writeln!(out, "{}", wrap_labeled("- ", capability.sentence()))?;
    }
    writeln!(out, "\n{}", wrap(&format!("Input: {}", inputs(card)), 0))?;
    if !card.specs.is_empty() {
        writeln!(out, "\nParameters (--set NAME=VALUE):")?;
    }
    let defaults = card.defaults();
    for spec in card.specs {
        let declared = format!("{} = {} ({})", spec.name, defaults[spec.name], spec.value_type());
        writeln!(out, "\n{}", wrap_labeled("  ", &declared))?;
        writeln!(out, "{}", wrap_labeled("      ", spec.doc))?;
    }
    Ok(())
}

/// What the rows may contain, in sentences.
pub fn inputs(card: &Card) -> String {
    let numbers = match card {
        card if card.accepts(Input::Mixed) => None,
        card if card.accepts(Input::MissingValues) => Some("Rows of numbers."),
        _ => Some("Rows of finite numbers; the command line imputes missing values."),
    };
    let sentences = card.inputs.iter().map(|input| input.sentence());
    numbers.into_iter().chain(sentences).collect::<Vec<_>>().join(" ")
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
        "id": card.id, "python": card.python, "doc": one_line(card.doc), "formula": card.formula, "learns": card.learns,
        "capabilities": card.capabilities, "inputs": card.inputs, "params": params,
    })
}
