//! A Python class and its type stub for every estimator.
//!
//! The class is the declaration of the estimator in Python: its signature, docstring and base classes, and the
//! tables that the hand-written package `base` interprets.

use super::docstring::{WIDTH, docstring};
use super::parameters::{Param, declaration, params, tuple};
use super::python_name;
use mercer::catalog::{CATALOG, Capability, Card, Learns};
use mercer::model::attributes::Source;
use std::collections::BTreeMap;

const PACKAGE: &str = "crates/mercer-python/python/mercer";
/// The indentation of the entries of a dictionary in a class.
const INDENT: &str = "        ";
const RANDOM_STATE: &str = "from numpy.random import RandomState\n\n";

/// Hand-written classes and functions that belong to a generated module: module, file and names. A name of the catalog
/// replaces the generated class, from which it inherits.
const HANDWRITTEN: &[(&str, &str, &[&str])] = &[
    ("decomposition", "kernel_pca", &["KernelPCA"]),
    (
        "discriminant_analysis",
        "discriminants",
        &["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"],
    ),
    ("kernel_approximation", "feature_maps", &["AdditiveChi2Sampler", "Nystroem", "RBFSampler"]),
    ("kernel_approximation", "skewed_chi2", &["SkewedChi2Sampler"]),
    ("linear_model", "elastic_net", &["ElasticNet", "Lasso"]),
    (
        "linear_model",
        "elastic_net_cv",
        &[
            "ElasticNetCV",
            "LassoCV",
            "MultiTaskElasticNet",
            "MultiTaskElasticNetCV",
            "MultiTaskLasso",
            "MultiTaskLassoCV",
            "enet_path",
            "lasso_path",
        ],
    ),
    ("linear_model", "least_squares", &["LinearRegression", "Ridge"]),
    ("linear_model", "logistic", &["LogisticRegression"]),
    ("linear_model", "logistic_cv", &["LogisticRegressionCV"]),
    ("linear_model", "one_class", &["SGDOneClassSVM"]),
    (
        "linear_model",
        "ridge_classifier",
        &["RidgeClassifier", "RidgeClassifierCV", "ridge_regression"],
    ),
    ("linear_model", "ridge_cv", &["RidgeCV"]),
    ("neural_network", "perceptrons", &["MLPClassifier", "MLPRegressor"]),
    ("preprocessing", "polynomial", &["PolynomialFeatures"]),
    ("preprocessing", "tables", &["TableVectorizer"]),
    ("svm", "hyperplane", &["Hyperplane"]),
    ("svm", "l1_min_c", &["l1_min_c"]),
    ("svm", "support_vectors", &["NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR"]),
];

/// Every generated Python file: its path from the root of the repository, and its text.
pub fn python_files() -> Vec<(String, String)> {
    let mut modules: BTreeMap<&str, Vec<&Card>> = BTreeMap::new();
    for card in CATALOG {
        modules.entry(python_name(card).0).or_default().push(card);
    }
    modules
        .iter()
        .flat_map(|(module, cards)| {
            [
                (format!("{PACKAGE}/{module}.py"), source(module, cards)),
                (format!("{PACKAGE}/{module}.pyi"), stub(module, cards)),
            ]
        })
        .collect()
}

fn source(module: &str, cards: &[&Card]) -> String {
    let classes: String = cards.iter().map(|card| class(card)).collect();
    let names = ["DEFAULT", "Honored", "Only", "Unused"];
    let modules = ["sklearn_attributes", "sklearn_parameters"];
    let names = names.into_iter().filter(|name| {
        [format!(": {name}("), format!(": {name}}}"), format!(": {name},")]
            .iter()
            .any(|used| classes.contains(used))
    });
    let modules = modules.into_iter().filter(|name| classes.contains(&format!("{name}.")));
    let used: Vec<&str> = names.chain(modules).collect();
    let class_var =
        if classes.contains("ClassVar") { "from typing import ClassVar\n\n" } else { "" };
    let random_state = if classes.contains("RandomState,") { RANDOM_STATE } else { "" };
    format!(
        "\"\"\"The estimators of ``{module}``.\n\n\
         Written by ``mercer generate`` from the declarations of the estimators; edit those.\n\
         \"\"\"\n\n\
         {class_var}{random_state}{}\n\n\
         {}\n\
         {classes}{}",
        import_bases(cards, &used),
        all(module, cards),
        import_handwritten(module, cards),
    )
}

/// The imports of the hand-written parts of a module. They stand at its end, because these import the generated classes.
fn import_handwritten(module: &str, cards: &[&Card]) -> String {
    let generated: Vec<&str> = cards.iter().map(|card| python_name(card).1).collect();
    let import = |(_, file, names): &(&str, &str, &[&str])| {
        let replaces = names.iter().any(|name| generated.contains(name));
        let codes = if replaces { "E402, F811" } else { "E402" };
        let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        names.sort_unstable_by_key(|name| isort_key(name));
        let line = format!("from .{file} import {}  # noqa: {codes}", names.join(", "));
        match line.chars().count() <= WIDTH {
            true => format!("{line}\n"),
            false => listed(&format!("from .{file} import (  # noqa: {codes}"), &names, ")\n", 0),
        }
    };
    let own: String = handwritten(module).map(import).collect();
    if own.is_empty() { own } else { format!("\n\n{own}") }
}

/// The same for a stub, without the names that replace generated classes: these are declared like those.
fn stub_imports(module: &str, cards: &[&Card]) -> String {
    let generated: Vec<&str> = cards.iter().map(|card| python_name(card).1).collect();
    let import = |(_, file, names): &(&str, &str, &[&str])| {
        let names = names.iter().filter(|name| !generated.contains(name));
        let mut names: Vec<String> = names.map(|name| (*name).to_owned()).collect();
        names.sort_unstable_by_key(|name| isort_key(name));
        let line = format!("from .{file} import {}", names.join(", "));
        match (names.is_empty(), line.chars().count() <= WIDTH) {
            (true, _) => String::new(),
            (_, true) => format!("{line}\n"),
            _ => listed(&format!("from .{file} import ("), &names, ")\n", 0),
        }
    };
    handwritten(module).map(import).collect()
}

/// The hand-written parts of a module.
fn handwritten(
    module: &str,
) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static [&'static str])> {
    HANDWRITTEN.iter().filter(move |(of, _, _)| *of == module)
}

/// The import of the base classes and other names of the package `base`, sorted as isort does.
fn import_bases(cards: &[&Card], used: &[&'static str]) -> String {
    let mut names: Vec<&str> = cards.iter().flat_map(|card| bases(card)).collect();
    names.extend(used);
    names.sort_unstable_by_key(|name| isort_key(name));
    names.dedup();
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let line = format!("from .base import {}", names.join(", "));
    match line.chars().count() <= WIDTH {
        true => line,
        false => listed("from .base import (", &names, ")", 0),
    }
}

/// Constants first, then classes, then other names.
fn isort_key(name: &str) -> (u8, String) {
    let upper = |c: char| c.is_uppercase() || c.is_numeric() || c == '_';
    let kind = match name {
        name if name.len() > 1 && name.chars().all(upper) => 0,
        name if name.starts_with(char::is_uppercase) => 1,
        _ => 2,
    };
    (kind, name.to_owned())
}

/// The `__all__` of a module.
fn all(module: &str, cards: &[&Card]) -> String {
    let mut names: Vec<&str> = cards.iter().map(|card| python_name(card).1).collect();
    names.extend(handwritten(module).flat_map(|(_, _, names)| names.iter()));
    names.sort_unstable_by_key(|name| isort_key(name));
    names.dedup();
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    listed("__all__ = [", &names, "]", 0)
}

/// Items between brackets, on one line if they fit, else on one line each.
fn listed(open: &str, items: &[String], close: &str, indent: usize) -> String {
    let line = format!("{open}{}{close}", items.join(", "));
    // Another bracket or comma may follow.
    if line.chars().count() < WIDTH {
        return line;
    }
    let pad = " ".repeat(indent);
    let lines: String = items.iter().map(|item| format!("{pad}    {item},\n")).collect();
    format!("{open}\n{lines}{pad}{close}")
}

/// The first line of a class.
fn heading(card: &Card) -> String {
    let bases: Vec<String> = bases(card).iter().map(|base| (*base).to_owned()).collect();
    listed(&format!("class {}(", python_name(card).1), &bases, "):", 0)
}

/// The base classes: one per capability, the most specific first.
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
    let incremental =
        match (card.learns, card.can(Capability::Online), card.can(Capability::Regressor)) {
            (Learns::Statistics, _, false) => Some("Mergeable"),
            (Learns::Statistics, _, true) => Some("MergeableRegressor"),
            (_, true, false) => Some("Online"),
            (_, true, true) => Some("OnlineRegressor"),
            _ => None,
        };
    let warm_start = card.can(Capability::WarmStart).then_some("WarmStart");
    let parts = PARTS.iter().filter(|(can, _)| card.can(*can)).map(|(_, part)| *part);
    incremental.into_iter().chain(warm_start).chain(parts).collect()
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
    out += &table("_extra_parameters", &extra_parameters(card));
    out += &table("_spellings", &spellings(card));
    let translations = card.sklearn.translations.iter();
    let translations: Vec<String> =
        translations.map(|rule| format!("sklearn_parameters.{}", rule.function())).collect();
    match translations.as_slice() {
        [] => {}
        [one] => out += &format!("    _translations = ({one},)\n"),
        all => out += &(listed("    _translations = (", all, ")", 4) + "\n"),
    }
    out += &table("_fitted_attributes", &fitted_attributes(card));
    if card.sklearn.kernel_of_two_rows {
        out += "    _kernel_of_two_rows = True\n";
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

/// A dictionary that all objects of a class share.
fn table(name: &str, entries: &[String]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let entries: String = entries.iter().map(|entry| format!("{entry},\n")).collect();
    format!("    {name}: ClassVar = {{\n{entries}    }}\n")
}

fn extra_parameters(card: &Card) -> Vec<String> {
    card.extra_parameters()
        .map(|parameter| {
            let (class, arguments) = declaration(parameter);
            listed(&format!("{INDENT}\"{}\": {class}(", parameter.name), &arguments, ")", 8)
        })
        .collect()
}

/// The spellings by parameter.
fn spellings(card: &Card) -> Vec<String> {
    let mut by_name: Vec<(&str, Vec<String>)> = Vec::new();
    for spelling in card.sklearn.spellings {
        let entry = format!("{}: {}", spelling.theirs, spelling.ours.unwrap_or("DEFAULT"));
        match by_name.iter_mut().find(|(name, _)| *name == spelling.name) {
            Some((_, entries)) => entries.push(entry),
            None => by_name.push((spelling.name, vec![entry])),
        }
    }
    by_name
        .iter()
        .map(|(name, entries)| listed(&format!("{INDENT}\"{name}\": {{"), entries, "}", 8))
        .collect()
}

/// The attributes that are not fields of the same name: the field, and the function of it or of the model.
fn fitted_attributes(card: &Card) -> Vec<String> {
    card.attributes
        .iter()
        .filter_map(|attribute| {
            let source = match attribute.source {
                Source::Own => return None,
                Source::Field(field) => format!("(\"{field}\", None)"),
                Source::OfField(field, function) => {
                    format!("(\"{field}\", sklearn_attributes.{function})")
                }
                Source::OfModel(function) => format!("(None, sklearn_attributes.{function})"),
            };
            Some(format!("{INDENT}\"{}\": {source}", attribute.name))
        })
        .collect()
}

/// The signature of `__init__`.
fn init(
    card: &Card,
    params: &[Param],
    declared: impl Fn(&Param) -> String,
    returns: &str,
) -> String {
    let mut arguments: Vec<String> = params.iter().map(declared).collect();
    let n_positional = card.sklearn.positional.len();
    if n_positional < arguments.len() {
        arguments.insert(n_positional, "*".to_owned());
    }
    arguments.insert(0, "self".to_owned());
    listed("    def __init__(", &arguments, &format!("){returns}"), 4)
}

fn stub(module: &str, cards: &[&Card]) -> String {
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
    let imports = format!("{}\n{}", import_bases(cards, &[]), stub_imports(module, cards));
    out + &format!("{imports}\n{}\n{classes}", all(module, cards))
}

fn stub_class(card: &Card) -> String {
    let params = params(card);
    // Choices that do not fit on the line have a line of their own, or one line each.
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

    #[test]
    fn every_estimator_has_a_class_and_a_stub_with_short_lines() {
        let files: BTreeMap<String, String> = python_files().into_iter().collect();

        for card in CATALOG {
            let (module, name) = python_name(card);
            for ending in ["py", "pyi"] {
                let text = &files[&format!("{PACKAGE}/{module}.{ending}")];
                assert!(text.contains(&format!("\nclass {name}(")));
                for line in text.lines() {
                    assert!(line.chars().count() <= WIDTH, "{module}.{ending}: {line}");
                }
            }
        }
    }

    #[test]
    fn names_are_sorted_as_isort_does() {
        let mut names = ["sklearn_attributes", "SVC", "LinearSVC", "DEFAULT", "NuSVC"];

        names.sort_unstable_by_key(|name| isort_key(name));

        assert_eq!(names, ["DEFAULT", "SVC", "LinearSVC", "NuSVC", "sklearn_attributes"]);
    }
}
