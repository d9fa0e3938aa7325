//! The docstring of a Python class, in the sections of numpydoc.

use super::example::doctest;
use super::parameters::{Param, params};
use mercer::catalog::{Capability, Card, Input};

/// The longest line of generated Python.
pub const WIDTH: usize = 100;

pub fn docstring(card: &Card) -> String {
    let mut out = wrapped(&format!("\"\"\"{}", prose(card.doc)), 4);
    out += "\n    Formula::\n\n";
    out += &wrapped(card.formula, 8);
    let params = params(card);
    if !params.is_empty() {
        out += &section("Parameters");
    }
    for Param { name, value_type, default, doc, .. } in params {
        let line = format!("    {name} : {value_type}, default={default}");
        // Choices that do not fit on the line are listed by the text below it.
        out += &if line.chars().count() <= WIDTH {
            line + "\n"
        } else {
            format!("    {name} : str, default={default}\n")
        };
        out += &wrapped(&prose(&doc.join(" ")), 8);
    }
    out += &attributes(card);
    out += &notes(card);
    out += &doctest(card);
    out + "    \"\"\"\n"
}

fn section(title: &str) -> String {
    format!("\n    {title}\n    {}\n", "-".repeat(title.len()))
}

fn attributes(card: &Card) -> String {
    let mut out = section("Attributes");
    for [name, value_type, doc] in documented_attributes(card) {
        out += &format!("    {name} : {value_type}\n");
        out += &wrapped(&prose(doc), 8);
    }
    out
}

/// Name, type and description of every documented attribute of a fitted object.
pub fn documented_attributes(card: &Card) -> Vec<[&'static str; 3]> {
    let classes = ["classes_", "ndarray of shape (n_classes,)", "The classes, sorted."];
    let own = card.attributes.iter().map(|a| [a.name, a.value_type, a.doc]);
    let common = [
        ["n_features_in_", "int", "Number of features of the training rows."],
        [
            "feature_names_in_",
            "ndarray of shape (n_features_in_,)",
            "Names of the features, if the training rows had names.",
        ],
        [
            "certificate_",
            "dict",
            "How the fit ended: status, objective, duality gap, iterations, and a `text` that states them.",
        ],
    ];
    let classes = card.can(Capability::Classifier).then_some(classes);
    classes.into_iter().chain(own).chain(common).collect()
}

fn notes(card: &Card) -> String {
    let mut out = section("Notes");
    out += &wrapped(
        "Every field of the fitted model is an attribute whose name ends in an underscore; \
         ``dir(model)`` lists them.",
        4,
    );
    if card.accepts(Input::MissingValues) {
        out += &wrapped(&prose(Input::MissingValues.sentence()), 4);
    }
    out
}

/// A doc comment as running text, with code in the marks of reStructuredText.
fn prose(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "``")
}

/// Text wrapped to [`WIDTH`], with every line indented.
fn wrapped(text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > WIDTH {
            out += &format!("{:indent$}{}\n", "", line.trim_end());
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    out + &format!("{:indent$}{line}\n", "")
}
