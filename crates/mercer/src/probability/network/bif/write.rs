//! The BIF writer.

use super::lexer::is_mark;
use crate::probability::network::Network;
use std::fmt::Write;

/// Writes a network; [`from_bif`](super::from_bif) reads it back to the bit.
pub fn to_bif(network: &Network) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(network, &mut out);
    out
}

fn write(network: &Network, out: &mut String) -> std::fmt::Result {
    writeln!(out, "network {} {{\n}}", quoted(network.name()))?;
    for variable in network.variables() {
        let states: Vec<String> = variable.states.iter().map(|s| quoted(s)).collect();
        writeln!(out, "variable {} {{", quoted(&variable.name))?;
        writeln!(out, "  type discrete [ {} ] {{ {} }};\n}}", states.len(), states.join(", "))?;
    }
    for (v, variable) in network.variables().iter().enumerate() {
        let name = |u: &usize| quoted(&network.variables()[*u].name);
        let parents: Vec<String> = network.parents(v).iter().map(name).collect();
        let given =
            if parents.is_empty() { String::new() } else { format!(" | {}", parents.join(", ")) };
        writeln!(out, "probability ( {}{given} ) {{", quoted(&variable.name))?;
        for (row, cells) in network.table(v).chunks_exact(network.size(v)).enumerate() {
            let states = network.row_states(v, row);
            let names = network.parents(v).iter().zip(states);
            let names: Vec<String> =
                names.map(|(p, s)| quoted(&network.variables()[*p].states[s])).collect();
            let head =
                if names.is_empty() { "table".into() } else { format!("({})", names.join(", ")) };
            let numbers: Vec<String> = cells.iter().map(number).collect();
            writeln!(out, "  {head} {};", numbers.join(", "))?;
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

/// The shortest decimal that is read back to the same number.
fn number(p: &f64) -> String {
    if *p != 0.0 && *p < 1e-5 { format!("{p:e}") } else { format!("{p}") }
}

/// A name, in quotes if it could be mistaken for a keyword or number.
fn quoted(name: &str) -> String {
    let keyword = ["network", "variable", "probability", "property", "table", "default", "type"];
    let bare = !name.is_empty()
        && !keyword.contains(&name)
        && !name.starts_with('/')
        && !name.chars().any(|c| c.is_whitespace() || is_mark(c) || c == '"' || c == '\\');
    if bare {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
