//! The reference pages, made from the catalog.

use crate::report::terminal::one_line;
use mercer::catalog::{CATALOG, Card};

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
    let takes: String =
        card.takes.iter().map(|what| format!(", {}", what.replace('_', " "))).collect();
    let target = if card.is_unsupervised() { "" } else { " --target COLUMN" };
    let command = format!("`mercer train DATA{target} --model {}`", card.id);
    let mut text = format!(
        "# {}\n\n{}\n\n- Python: `mercer.{}`\n- Command line: {command}\n- Learns by {}\n- Is {}\n\
         - Takes numbers{takes}\n\n\
         | parameter | default | must be | what it does |\n|---|---|---|---|\n",
        card.id,
        one_line(card.doc),
        card.python,
        format!("{:?}", card.learns).to_lowercase(),
        card.capabilities.join(", "),
    );
    let defaults = card.defaults();
    for spec in card.specs {
        text += &format!(
            "| `{}` | `{}` | {} | {} |\n",
            spec.name,
            defaults[spec.name],
            spec.rule,
            one_line(spec.doc)
        );
    }
    text
}
