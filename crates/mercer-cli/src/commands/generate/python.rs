//! Files written from the catalog: a Python class and its type stub for every estimator.
//!
//! A class is its card in Python's words: the signature from the defaults, the docstring from the
//! doc comments and rules, the base classes from what the model can do. What it does stands in the
//! hand-written package `base`.

use super::sklearn_parameters::{beside_of, by_position, said};
use mercer::catalog::{CATALOG, Capability, Card, Estimator, Input, Learns};
use mercer::data::Dataset;
use mercer::model::{Monitor, Rule, Spec};
use mercer_num::{Matrix, Rows};
use serde_json::Value;
use std::collections::BTreeMap;

const PACKAGE: &str = "crates/mercer-python/python/mercer";
/// How long a line of a docstring may be, and of code before its arguments get a line each.
const WIDTH: usize = 100;

/// Every Python file there is to write: its path from the root of the repository, and its text.
pub fn python_files() -> Vec<(String, String)> {
    let mut modules: BTreeMap<&str, Vec<&Card>> = BTreeMap::new();
    for card in CATALOG {
        modules.entry(place(card).0).or_default().push(card);
    }
    modules
        .iter()
        .flat_map(|(module, cards)| {
            [
                (format!("{PACKAGE}/{module}.py"), source(module, cards)),
                (format!("{PACKAGE}/{module}.pyi"), stub(cards)),
            ]
        })
        .collect()
}

/// The module and the class of a card.
fn place(card: &Card) -> (&'static str, &'static str) {
    card.python.split_once('.').unwrap_or(("models", card.python))
}

/// What a module offers, on one line where it fits.
fn all(cards: &[&Card]) -> String {
    let names: Vec<String> = cards.iter().map(|card| format!("\"{}\"", place(card).1)).collect();
    let line = format!("__all__ = [{}]", names.join(", "));
    if line.chars().count() <= WIDTH {
        return line;
    }
    let lines: String = names.iter().map(|name| format!("    {name},\n")).collect();
    format!("__all__ = [\n{lines}]")
}

fn source(module: &str, cards: &[&Card]) -> String {
    let classes: String = cards.iter().map(|card| class(card)).collect();
    let kinds = ["Honored", "Only", "Unused"];
    let kinds = kinds.into_iter().filter(|kind| classes.contains(&format!(": {kind}(")));
    let seeds = if classes.contains("RandomState,") { RANDOM_STATE } else { "" };
    format!(
        "\"\"\"The estimators of ``{module}``.\n\n\
         Written by ``mercer generate`` from the catalog; changes belong there.\n\
         \"\"\"\n\n\
         {seeds}{}\n\n\
         {}\n\
         {classes}",
        import_bases(cards, &kinds.collect::<Vec<_>>()),
        all(cards)
    )
}

const RANDOM_STATE: &str = "from numpy.random import RandomState\n\n";

fn import_bases(cards: &[&Card], kinds: &[&'static str]) -> String {
    let mut all: Vec<&str> = cards.iter().flat_map(|card| bases(card)).collect();
    all.extend(kinds);
    all.sort_unstable();
    all.dedup();
    let line = format!("from .base import {}", all.join(", "));
    if line.chars().count() < WIDTH {
        return line;
    }
    let names: Vec<String> = all.iter().map(|name| (*name).to_owned()).collect();
    listed("from .base import (", &names, ")", 0)
}

/// Items between brackets, on one line where they fit, else a line each.
fn listed(open: &str, items: &[String], close: &str, indent: usize) -> String {
    let line = format!("{open}{}{close}", items.join(", "));
    if line.chars().count() < WIDTH {
        return line;
    }
    let pad = " ".repeat(indent);
    let lines: String = items.iter().map(|item| format!("{pad}    {item},\n")).collect();
    format!("{open}\n{lines}{pad}{close}")
}

/// The head of a class.
fn heading(card: &Card) -> String {
    let bases: Vec<String> = bases(card).iter().map(|base| (*base).to_owned()).collect();
    listed(&format!("class {}(", place(card).1), &bases, "):", 0)
}

/// The parts of the package `base` that a card's model can do, the most particular first.
fn bases(card: &Card) -> Vec<&'static str> {
    const PARTS: [(Capability, &str); 14] = [
        // Its own decision function takes precedence over the difference of the scores.
        (Capability::DecisionFunction, "DecisionFunction"),
        (Capability::Discriminant, "Discriminant"),
        (Capability::SupportVectors, "SupportVectors"),
        (Capability::AdditiveScores, "AdditiveScores"),
        (Capability::FactorizedLikelihood, "FactorizedLikelihood"),
        (Capability::Generative, "Generative"),
        (Capability::Probabilistic, "Probabilistic"),
        (Capability::Calibrated, "Calibrated"),
        (Capability::Classifier, "Classifier"),
        (Capability::LinearModel, "LinearModel"),
        (Capability::Regressor, "Regressor"),
        (Capability::OutlierDetector, "OutlierDetector"),
        (Capability::Clusterer, "Clusterer"),
        (Capability::Transformer, "Transformer"),
    ];
    let goes_on = match (card.learns, card.can(Capability::Online), card.can(Capability::Regressor))
    {
        (Learns::Statistics, _, false) => Some("Mergeable"),
        (Learns::Statistics, _, true) => Some("MergeableRegressor"),
        (_, true, false) => Some("Online"),
        (_, true, true) => Some("OnlineRegressor"),
        _ => None,
    };
    let warm = card.can(Capability::WarmStart).then_some("WarmStart");
    let parts = PARTS.iter().filter(|(can, _)| card.can(*can)).map(|(_, part)| *part);
    goes_on.into_iter().chain(warm).chain(parts).collect()
}

fn class(card: &Card) -> String {
    let inputs = card.inputs.iter().map(|input| format!("\"{input}\"")).collect();
    let params = params(card);
    let mut out = format!(
        "\n\n{}\n{}\n    _id = \"{}\"\n    _inputs = {}\n",
        heading(card),
        docstring(card),
        card.id,
        tuple(inputs),
    );
    let beside: String = beside_of(card)
        .map(|beside| {
            let (taken, arguments) = beside.declared();
            let open = format!("        \"{}\": {taken}(", beside.name);
            listed(&open, &arguments, ")", 8) + ",\n"
        })
        .collect();
    if !beside.is_empty() {
        out += &format!("    _beside = {{\n{beside}    }}\n");
    }
    let declared = |p: &Param| format!("{}={}", p.name, p.default);
    out += &format!("\n{}:\n", init(card, &params, declared, ""));
    if params.is_empty() {
        out += "        pass\n";
    }
    for Param { name, .. } in params {
        out += &format!("        self.{name} = {name}\n");
    }
    out
}

/// The head of `__init__`, on one line where it fits.
fn init(
    card: &Card,
    params: &[Param],
    declared: impl Fn(&Param) -> String,
    returns: &str,
) -> String {
    let mut arguments: Vec<String> = params.iter().map(declared).collect();
    // What is taken by position comes first.
    let n = by_position(card).len();
    if n < arguments.len() {
        arguments.insert(n, "*".to_owned());
    }
    arguments.insert(0, "self".to_owned());
    listed("    def __init__(", &arguments, &format!("){returns}"), 4)
}

/// A parameter as Python has it.
struct Param {
    name: &'static str,
    default: String,
    /// The type in words, for the docstring.
    words: String,
    /// The type, for the stub.
    hint: String,
    /// What it is for, in paragraphs.
    doc: Vec<String>,
}

/// The parameters of a class: those by position, those of the catalog, and those that only Python has.
fn params(card: &Card) -> Vec<Param> {
    let defaults = card.defaults();
    let own = card.specs.iter().map(|spec| own(card, spec, &defaults[spec.name]));
    let beside = beside_of(card).map(|beside| Param {
        name: beside.name,
        default: beside.default.to_owned(),
        words: beside.hint().replace(" | ", " or ").replace("Literal[", "{").replace(']', "}"),
        hint: beside.hint(),
        doc: vec![beside.doc()],
    });
    let mut params: Vec<Param> = own.chain(beside).collect();
    let first = by_position(card);
    params.sort_by_key(|p| first.iter().position(|name| *name == p.name).unwrap_or(first.len()));
    params
}

fn own(card: &Card, spec: &'static Spec, value: &Value) -> Param {
    let (mut words, mut hint) = kind(spec);
    let mut default = literal(value);
    if default == "None" && !words.ends_with("None") {
        words += " or None";
        hint += " | None";
    }
    let mut doc = vec![spec.doc.to_owned()];
    if spec.type_name.starts_with("list") && default == "None" {
        doc.push("`None` is the empty list.".to_owned());
    }
    if let Some(said) = said(card, spec.name) {
        said.default.clone_into(&mut default);
        said.hint.clone_into(&mut hint);
        doc.push(said.about.to_owned());
    }
    Param { name: spec.name, default, words, hint, doc }
}

/// The type of a parameter for the docstring, and as a type hint.
fn kind(spec: &Spec) -> (String, String) {
    match spec.rule {
        Rule::OneOf(choices) => {
            let quoted = choices.iter().map(|c| format!("\"{c}\"")).collect::<Vec<_>>().join(", ");
            (format!("{{{quoted}}}"), format!("Literal[{quoted}]"))
        }
        Rule::Formula(_) => ("str or callable".to_owned(), "str | Callable[..., Any]".to_owned()),
        rule => (rule.bound(spec.type_name), hint(spec.type_name)),
    }
}

/// The type hint of a type in words; see [`ParamValue::TYPE`](mercer::model::ParamValue::TYPE).
fn hint(type_name: &str) -> String {
    let alternatives = type_name.replace(" or ", ", ");
    let (literals, types): (Vec<&str>, Vec<&str>) =
        alternatives.split(", ").partition(|part| part.starts_with('"'));
    let (none, types): (Vec<&str>, Vec<&str>) = types.into_iter().partition(|t| *t == "None");
    let literals = (!literals.is_empty()).then(|| format!("Literal[{}]", literals.join(", ")));
    let none = none.first().map(|none| (*none).to_owned());
    types.into_iter().map(hint_of_one).chain(literals).chain(none).collect::<Vec<_>>().join(" | ")
}

fn hint_of_one(type_name: &str) -> String {
    if let Some(item) = type_name.strip_prefix("list of ") {
        return format!("Sequence[{}]", hint_of_one(item));
    }
    if let Some(item) = type_name.strip_prefix("pair of ") {
        let item = hint_of_one(item);
        return format!("tuple[{item}, {item}]");
    }
    if let Some((key, value)) =
        type_name.strip_prefix("dict of ").and_then(|t| t.split_once(" to "))
    {
        return format!("dict[{}, {}]", hint_of_one(key), hint_of_one(value));
    }
    match type_name {
        "class" => "Any".to_owned(),
        plain => plain.to_owned(),
    }
}

/// A value as Python writes it. An empty list or table is `None`: a default must not be changeable.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Array(items) if items.is_empty() => "None".to_owned(),
        Value::Object(fields) if fields.is_empty() => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(n) if n.is_f64() => float(n.as_f64().unwrap_or(f64::NAN)),
        Value::Array(items) => tuple(items.iter().map(literal).collect()),
        other => other.to_string(),
    }
}

/// A tuple, with the comma that makes one of a single item.
fn tuple(items: Vec<String>) -> String {
    match items.as_slice() {
        [one] => format!("({one},)"),
        items => format!("({})", items.join(", ")),
    }
}

/// A number as Python's `repr` has it: `0.5`, `1e-09`.
fn float(x: f64) -> String {
    let text = format!("{x:e}");
    let Some((digits, power)) = text.split_once('e') else { return text };
    let power: i32 = power.parse().unwrap_or(0);
    if (-4..16).contains(&power) {
        return format!("{x:?}");
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

fn docstring(card: &Card) -> String {
    let mut out = wrapped(&format!("\"\"\"{}", sentences(card.doc)), 4);
    if !params(card).is_empty() {
        out += "\n    Parameters\n    ----------\n";
    }
    for Param { name, words, default, doc, .. } in params(card) {
        let line = format!("    {name} : {words}, default={default}");
        // A list of words that does not fit stands below in the text, which names them.
        out += &if line.chars().count() <= WIDTH {
            line + "\n"
        } else {
            format!("    {name} : str, default={default}\n")
        };
        for paragraph in doc {
            out += &wrapped(&sentences(&paragraph), 8);
        }
    }
    out += &attributes(card);
    out += &example(card);
    out + "    \"\"\"\n"
}

fn attributes(card: &Card) -> String {
    let mut out = "\n    Attributes\n    ----------\n".to_owned();
    if card.can(Capability::Classifier) {
        out += "    classes_ : ndarray of shape (n_classes,)\n        The classes, sorted.\n";
    }
    out += "    n_features_in_ : int\n        How many columns a row has.\n";
    out += "    feature_names_in_ : ndarray of shape (n_features_in_,)\n";
    out += "        Their names, where the rows came with names.\n";
    out += "    certificate_ : dict\n";
    out += &wrapped("How the fit ended and how far from the best it can be.", 8);
    out += "\n    Notes\n    -----\n";
    out += &wrapped(
        "Every field of the fitted model is an attribute whose name ends in an underscore, and \
         scikit-learn's names for them work too; ``dir(model)`` lists both.",
        4,
    );
    if card.accepts(Input::MissingValues) {
        out += &wrapped("NaN is a missing value: it is left out, not filled in.", 4);
    }
    out
}

fn example(card: &Card) -> String {
    let (module, name) = place(card);
    if card.can(Capability::Regressor) {
        // Where a minimum is one of many, digits behind the point are the processor's own.
        let digits = if card.can(Capability::NonConvex) { "" } else { ", 6" };
        let number = between(card);
        let said =
            if card.can(Capability::NonConvex) { format!("{number:.0}") } else { float(number) };
        return format!(
            "\n    Examples\n    --------\n\
             \x20   >>> from mercer.{module} import {name}\n\
             \x20   >>> X = [[1], [2], [3], [4]]\n\
             \x20   >>> y = [20, 30, 40, 50]\n\
             \x20   >>> model = {name}().fit(X, y)\n\
             \x20   >>> print(round(model.predict([[2.5]])[0]{digits}))\n\
             \x20   {said}\n"
        );
    }
    if !card.can(Capability::Classifier) {
        return String::new();
    }
    // Counts of a kind every classifier can learn from; three rows of a class are three folds at most.
    let folds = if card.specs.iter().any(|spec| spec.name == "cv") { "cv=3" } else { "" };
    format!(
        "\n    Examples\n    --------\n\
         \x20   >>> from mercer.{module} import {name}\n\
         \x20   >>> X = [[3, 0], [2, 1], [4, 0], [0, 3], [1, 2], [0, 4]]\n\
         \x20   >>> y = [\"a\", \"a\", \"a\", \"b\", \"b\", \"b\"]\n\
         \x20   >>> model = {name}({folds}).fit(X, y)\n\
         \x20   >>> print(*model.predict([[3, 0], [0, 3]]))\n\
         \x20   a b\n"
    )
}

/// What the example of a regressor says: 35 where there is a constant term.
fn between(card: &Card) -> f64 {
    let x = Matrix::from_shape_fn((4, 1), |(i, _)| i as f64 + 1.0);
    let y = [20.0, 30.0, 40.0, 50.0];
    let at = Matrix::from_elem((1, 1), 2.5);
    let predicted = Estimator::from_id(card.id)
        .and_then(|estimator| estimator.fit(&Dataset::regression(&x, &y)?, &Monitor::quiet()))
        .and_then(|fitted| match fitted.as_model().regressor() {
            Some(model) => model.predict(&Rows::from(&at)),
            None => Ok(Vec::new()),
        });
    predicted.map_or(f64::NAN, |y| y.iter().map(|y| (1e6 * y).round() / 1e6).sum())
}

/// The lines of a doc comment as running text, its code in Python's marks.
fn sentences(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "``")
}

/// Text broken into lines that fit, each indented.
fn wrapped(text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > WIDTH {
            out += &format!("{:indent$}{line}\n", "");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    out + &format!("{:indent$}{line}\n", "")
}

fn stub(cards: &[&Card]) -> String {
    let classes: String = cards.iter().map(|card| stub_class(card)).collect();
    let mut out = String::new();
    let used = |names: [(&'static str, &str); 2]| -> Vec<&'static str> {
        let used = names.iter().filter(|(_, used)| classes.contains(used));
        used.map(|(name, _)| *name).collect()
    };
    let modules = [
        ("collections.abc", used([("Callable", "Callable["), ("Sequence", "Sequence[")])),
        ("typing", used([("Any", "Any"), ("Literal", "Literal[")])),
    ];
    for (module, names) in modules.iter().filter(|(_, names)| !names.is_empty()) {
        out += &format!("from {module} import {}\n", names.join(", "));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    if classes.contains("RandomState") {
        out += RANDOM_STATE;
    }
    out + &format!("{}\n\n{}\n{classes}", import_bases(cards, &[]), all(cards))
}

fn stub_class(card: &Card) -> String {
    let params = params(card);
    // A list of choices that does not fit on a line has one of its own, or one for every choice.
    let declared = |p: &Param, indent: usize, rest: &str| {
        let line = format!("{}: {}{rest}", p.name, p.hint);
        match p.hint.strip_prefix("Literal[").and_then(|hint| hint.strip_suffix(']')) {
            Some(choices) if indent + line.chars().count() >= WIDTH => {
                let pad = " ".repeat(indent);
                let choices = match indent + 4 + choices.chars().count() <= WIDTH {
                    true => choices.to_owned(),
                    false => choices.replace(", ", &format!(",\n{pad}    ")) + ",",
                };
                format!("{}: Literal[\n{pad}    {choices}\n{pad}]{rest}", p.name)
            }
            _ => line,
        }
    };
    let mut out = format!("\n{}\n", heading(card));
    for p in &params {
        out += &format!("    {}\n", declared(p, 4, ""));
    }
    let argument = |p: &Param| declared(p, 8, &format!(" = {}", p.default));
    out + &format!("{}: ...\n", init(card, &params, argument, " -> None"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn defaults_are_written_as_python_writes_them() {
        let written = [json!(1e-9), json!(0.5), json!(1.0), json!(1e16), json!(3), json!([])];

        let expected = ["1e-09", "0.5", "1.0", "1e+16", "3", "None"];
        assert_eq!(written.map(|value| literal(&value)), expected);
        assert_eq!(literal(&json!("sample")), "\"sample\"");
        assert_eq!(literal(&json!([0.5, 0.5])), "(0.5, 0.5)");
    }

    #[test]
    fn every_estimator_has_its_class_and_its_stub() {
        let files: BTreeMap<String, String> = python_files().into_iter().collect();

        for card in CATALOG {
            let (module, name) = place(card);
            for ending in ["py", "pyi"] {
                let text = &files[&format!("{PACKAGE}/{module}.{ending}")];
                assert!(text.contains(&format!("\nclass {name}(")));
                assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
            }
        }
    }
}
