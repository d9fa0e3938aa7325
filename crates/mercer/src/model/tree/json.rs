//! A [`Tree`] from and to JSON.

use super::{Array, Numbers, Tree};
use serde_json::Value;

impl From<Value> for Tree {
    fn from(value: Value) -> Tree {
        match value {
            Value::Null => Tree::Null,
            Value::Bool(v) => Tree::Bool(v),
            Value::Number(n) => match n.as_i64() {
                Some(v) => Tree::Int(v),
                None => Tree::Float(n.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(v) => Tree::Text(v),
            Value::Array(items) => Tree::List(items.into_iter().map(Tree::from).collect()),
            Value::Object(fields) => {
                Tree::Map(fields.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
        }
    }
}

/// Numbers that are not finite become `null`, and an array loses its shape.
impl From<Tree> for Value {
    fn from(tree: Tree) -> Value {
        match tree {
            Tree::Null => Value::Null,
            Tree::Bool(v) => v.into(),
            Tree::Int(v) => v.into(),
            Tree::Float(v) => v.into(),
            Tree::Text(v) => v.into(),
            Tree::List(items) => items.into_iter().map(Value::from).collect(),
            Tree::Map(fields) => {
                fields.into_iter().map(|(key, value)| (key, Value::from(value))).collect()
            }
            Tree::Array(Array { numbers, .. }) => match numbers {
                Numbers::F64(v) => v.into(),
                Numbers::I64(v) => v.into(),
                Numbers::U8(v) => v.into(),
            },
        }
    }
}
