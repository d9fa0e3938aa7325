//! The reference pages, written from the catalog.

use super::docstring::documented_attributes;
use super::example;
use super::parameters::{extra_doc, literal};
use super::python_name;
use crate::commands::models::inputs;
use crate::failure::{Failure, Result};
use crate::report::terminal::one_line;
use mercer::catalog::{CATALOG, Card};
use serde_json::Value;

const LECTURES: &str = "docs/lectures";

/// Every page: its path from the root of the repository, and its text.
pub fn reference_files() -> Result<Vec<(String, String)>> {
    let mut files = vec![("docs/reference/README.md".to_owned(), index())];
    for card in CATALOG {
        files.push((format!("docs/reference/{}.md", card.id), page(card, &lecture(card)?)));
    }
    Ok(files)
}

fn index() -> String {
    let mut text = String::from(
        "# Reference\n\n\
         One page per estimator, written by `make generate` from the declarations in the code.\n\n\
         | id | Python | description |\n|---|---|---|\n",
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

fn page(card: &Card, lecture: &str) -> String {
    let (_, class) = python_name(card);
    let target = if card.is_unsupervised() { "" } else { " --target COLUMN" };
    let mut text = format!(
        "# {class}\n\n{}\n\n```text\n{}\n```\n\n\
         The symbols are those of the [glossary](../glossary.md). {lecture}\n\n\
         - Python: `mercer.{}`\n\
         - Command line: `mercer train DATA{target} --model {}`\n\n",
        one_line(card.doc),
        card.formula,
        card.python,
        card.id,
    );
    text += &format!("## Fit and capabilities\n\n{}\n\n", card.learns.sentence());
    for capability in card.capabilities {
        text += &format!("- {}\n", capability.sentence());
    }
    text += &format!("\n## Input\n\n{}\n", inputs(card));
    text += &parameters(card);
    text += &extra_parameters(card);
    text += &attributes(card);
    text + &format!(
        "\n## Example\n\n```python\n{}```\n\n```sh\n{}```\n",
        example::python(card),
        example::commands(card)
    )
}

/// A sentence with a link to the lecture that explains an estimator.
fn lecture(card: &Card) -> Result<String> {
    let prefix = format!("{:02}-", card.lecture);
    let missing = || Failure::Data(format!("no lecture {LECTURES}/{prefix}*.md for {}", card.id));
    let names = std::fs::read_dir(LECTURES).map_err(|_| missing())?.flatten();
    let name = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .find(|name| name.starts_with(&prefix))
        .ok_or_else(missing)?;
    let text = std::fs::read_to_string(format!("{LECTURES}/{name}")).map_err(|_| missing())?;
    let title = text.lines().find_map(|line| line.strip_prefix("# ")).ok_or_else(missing)?;
    Ok(format!("Lecture {}: [{title}](../lectures/{name}).", card.lecture))
}

fn parameters(card: &Card) -> String {
    if card.specs.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Parameters\n\n| parameter | type | default | description |\n|---|---|---|---|\n",
    );
    let defaults = card.defaults();
    for spec in card.specs {
        text += &row(&[
            &format!("`{}`", spec.name),
            &spec.value_type(),
            &format!("`{}`", default(&defaults[spec.name])),
            spec.doc,
        ]);
    }
    text
}

/// A default as a Python literal; empty lists and mappings are shown as such.
fn default(value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        value => literal(value),
    }
}

fn extra_parameters(card: &Card) -> String {
    if card.extra_parameters().next().is_none() {
        return String::new();
    }
    let mut text = String::from(
        "\nThe Python class also has these parameters:\n\n\
         | parameter | default | description |\n|---|---|---|\n",
    );
    for parameter in card.extra_parameters() {
        text += &row(&[
            &format!("`{}`", parameter.name),
            &format!("`{}`", parameter.default),
            &extra_doc(parameter),
        ]);
    }
    text
}

fn attributes(card: &Card) -> String {
    let mut text = String::from(
        "\n## Fitted attributes\n\n| attribute | type | description |\n|---|---|---|\n",
    );
    for [name, value_type, doc] in documented_attributes(card) {
        text += &row(&[&format!("`{name}`"), value_type, doc]);
    }
    text
}

/// A row of a Markdown table. A bar inside a cell is escaped.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| one_line(cell).replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_estimator_declares_its_formula_lecture_and_attributes() {
        for card in CATALOG {
            assert!(!card.formula.is_empty(), "{} has no formula", card.id);
            assert!(card.lecture > 0, "{} has no lecture", card.id);
            assert!(!card.attributes.is_empty(), "{} has no attributes", card.id);
            assert!(card.attributes.iter().all(|a| a.name.ends_with('_')), "{}", card.id);
        }
    }

    #[test]
    fn bars_in_cells_are_escaped() {
        assert_eq!(row(&["`p(x | c)`", "a\n b"]), "| `p(x \\| c)` | a b |\n");
    }
}
