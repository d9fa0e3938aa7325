//! The parameters of a Python class: those of the estimator, and those that only scikit-learn's class has.

use mercer::catalog::Card;
use mercer::model::sklearn::{Effect, ExtraParameter};
use mercer::model::{Rule, Spec};
use serde_json::Value;

/// A parameter of a Python class.
pub struct Param {
    pub name: &'static str,
    /// The default, as a Python literal.
    pub default: String,
    /// The type in words, for the docstring.
    pub value_type: String,
    /// The type hint, for the stub.
    pub hint: String,
    /// What it does, in paragraphs.
    pub doc: Vec<String>,
}

/// The parameters of the class of an estimator, those by position first.
pub fn params(card: &Card) -> Vec<Param> {
    let defaults = card.defaults();
    let own = card.specs.iter().map(|spec| own(card, spec, &defaults[spec.name]));
    let mut params: Vec<Param> = own.chain(card.extra_parameters().map(extra)).collect();
    let first = card.sklearn.positional;
    params.sort_by_key(|p| first.iter().position(|name| *name == p.name).unwrap_or(first.len()));
    params
}

fn own(card: &Card, spec: &'static Spec, value: &Value) -> Param {
    let (mut value_type, mut hint) = types(spec);
    let mut default = literal(value);
    if default == "None" && !value_type.ends_with("None") {
        value_type += " or None";
        hint += " | None";
    }
    let mut doc = vec![spec.doc.to_owned()];
    if spec.type_name.starts_with("list") && default == "None" {
        doc.push("`None` is the empty list.".to_owned());
    }
    if let Some(restated) = card.sklearn.restated.iter().find(|r| r.name == spec.name) {
        restated.default.clone_into(&mut default);
        restated.hint.clone_into(&mut hint);
        value_type = in_words(restated.hint);
        doc.push(restated.doc.to_owned());
    }
    Param { name: spec.name, default, value_type, hint, doc }
}

fn extra(parameter: &ExtraParameter) -> Param {
    let hint = extra_hint(parameter);
    Param {
        name: parameter.name,
        default: parameter.default.to_owned(),
        value_type: in_words(&hint),
        hint,
        doc: vec![extra_doc(parameter)],
    }
}

/// The type of a parameter in words, and as a type hint.
fn types(spec: &Spec) -> (String, String) {
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

/// A type hint in the words of a docstring.
fn in_words(hint: &str) -> String {
    hint.replace(" | ", " or ").replace("Literal[", "{").replace(']', "}")
}

fn extra_hint(parameter: &ExtraParameter) -> String {
    match parameter.effect {
        Effect::Honored(hint) => hint.to_owned(),
        Effect::Ignored(accepts) => {
            let (types, values): (Vec<_>, Vec<_>) =
                accepts.iter().copied().partition(|what| !what.starts_with('"'));
            union(&types, &values)
        }
        Effect::Only { values, .. } => union(&[], &[&[parameter.default], values].concat()),
    }
}

/// What the docstring and the reference page say of a parameter that only scikit-learn's class has.
pub fn extra_doc(parameter: &ExtraParameter) -> String {
    match parameter.effect {
        Effect::Honored(_) => parameter.doc.to_owned(),
        Effect::Ignored(_) => format!("Accepted without effect: {}", parameter.doc),
        Effect::Only { values, .. } => {
            let accepted = [&[parameter.default], values].concat().join("` or `");
            format!("{} Only `{accepted}` is supported.", parameter.doc)
        }
    }
}

/// The declaration of a parameter for the check at run time: its Python class and the arguments.
pub fn declaration(parameter: &ExtraParameter) -> (&'static str, Vec<String>) {
    match parameter.effect {
        Effect::Honored(_) => ("Honored", Vec::new()),
        Effect::Ignored(accepts) => {
            ("Unused", accepts.iter().map(|what| (*what).to_owned()).collect())
        }
        Effect::Only { values, remedy } => {
            let accepted = [&[parameter.default], values].concat();
            let accepted = accepted.into_iter().map(str::to_owned);
            ("Only", accepted.chain([format!("instead={}", quoted(remedy))]).collect())
        }
    }
}

/// A Python string literal, in the quotes that need no escapes.
fn quoted(text: &str) -> String {
    if text.contains('"') { format!("'{text}'") } else { format!("\"{text}\"") }
}

/// Types and values as one type hint.
fn union(types: &[&str], values: &[&str]) -> String {
    let (none, types): (Vec<_>, Vec<_>) = types.iter().partition(|what| **what == "None");
    let literal = (!values.is_empty()).then(|| format!("Literal[{}]", values.join(", ")));
    let types = types.into_iter().map(str::to_owned).chain(literal);
    types.chain(none.into_iter().map(str::to_owned)).collect::<Vec<_>>().join(" | ")
}

/// A value as a Python literal. An empty list or mapping is `None`: a default must not be mutable.
pub fn literal(value: &Value) -> String {
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

/// A tuple; a single item is followed by a comma.
pub fn tuple(items: Vec<String>) -> String {
    match items.as_slice() {
        [one] => format!("({one},)"),
        items => format!("({})", items.join(", ")),
    }
}

/// A number as Python's `repr` writes it: `0.5`, `1e-09`.
pub fn float(x: f64) -> String {
    let text = format!("{x:e}");
    let Some((digits, power)) = text.split_once('e') else { return text };
    let power: i32 = power.parse().unwrap_or(0);
    if (-4..16).contains(&power) {
        return format!("{x:?}");
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer::catalog::CATALOG;
    use mercer::model::sklearn::{INT_OR_AUTO, SEED, ignored, only};
    use serde_json::json;

    #[test]
    fn defaults_are_written_as_python_literals() {
        let written = [json!(1e-9), json!(0.5), json!(1.0), json!(1e16), json!(3), json!([])];

        let expected = ["1e-09", "0.5", "1.0", "1e+16", "3", "None"];
        assert_eq!(written.map(|value| literal(&value)), expected);
        assert_eq!(literal(&json!("sample")), "\"sample\"");
        assert_eq!(literal(&json!([0.5, 0.5])), "(0.5, 0.5)");
    }

    #[test]
    fn no_class_has_a_parameter_twice_and_all_declared_names_exist() {
        for card in CATALOG {
            let mut names: Vec<&str> = params(card).iter().map(|p| p.name).collect();
            let n = names.len();
            names.sort_unstable();
            names.dedup();

            assert_eq!(names.len(), n, "{} has a parameter twice", card.id);
            let declared = card.sklearn.positional.iter().copied();
            let declared = declared.chain(card.sklearn.restated.iter().map(|r| r.name));
            for name in declared.chain(card.sklearn.spellings.iter().map(|s| s.name)) {
                assert!(names.contains(&name), "{} has no parameter {name}", card.id);
            }
        }
    }

    #[test]
    fn types_follow_from_the_accepted_values() {
        let seed = ignored("a", SEED, "None", "");
        let auto = ignored("a", INT_OR_AUTO, "None", "");
        let only = only("a", "None", &["\"warn\""], "", "");

        assert_eq!(extra_hint(&auto), "int | Literal[\"auto\"]");
        assert_eq!(extra_hint(&seed), "int | RandomState | None");
        assert_eq!(extra_hint(&only), "Literal[None, \"warn\"]");
    }
}
