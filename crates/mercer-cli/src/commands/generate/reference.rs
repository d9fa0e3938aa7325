//! The reference pages, made from the catalog.

use crate::report::terminal::one_line;
use mercer::catalog::{CATALOG, Capability, Card};

/// Every page: its path from the root of the project, and its text.
pub fn reference_files() -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> =
        CATALOG.iter().map(|card| (format!("docs/reference/{}.md", card.id), page(card))).collect();
    files.push(("docs/reference/README.md".into(), index()));
    files
}

fn index() -> String {
    let mut text = String::from(
        "# Reference\n\nMade from the catalog by `make generate`.\n\n\
         | id | Python | what it is |\n|---|---|---|\n",
    );
    for card in CATALOG {
        text += &format!(
            "| [{id}]({id}.md) | `mercer.{}` | {} |\n",
            card.python,
            one_line(card.doc),
            id = card.id
        );
    }
    text
}

fn page(card: &Card) -> String {
    let inputs: String = card.inputs.iter().map(|input| format!(", {input}")).collect();
    let target = if card.is_unsupervised() { "" } else { " --target COLUMN" };
    let command = format!("`mercer train DATA{target} --model {}`", card.id);
    let mut text = format!(
        "# {}\n\n{}\n\n- Python: `mercer.{}`\n- Command line: {command}\n- Learns by {}\n- Is {}\n\
         - Takes numbers{inputs}\n\n\
         | parameter | default | type | what it does |\n|---|---|---|---|\n",
        card.id,
        one_line(card.doc),
        card.python,
        card.learns.name(),
        join(card.capabilities),
    );
    let defaults = card.defaults();
    for spec in card.specs {
        text += &format!(
            "| `{}` | `{}` | {} | {} |\n",
            spec.name,
            defaults[spec.name],
            spec.value_type(),
            one_line(spec.doc)
        );
    }
    text
}

/// The names of capabilities, separated by commas.
pub fn join(capabilities: &[Capability]) -> String {
    capabilities.iter().map(|can| can.name()).collect::<Vec<_>>().join(", ")
}
