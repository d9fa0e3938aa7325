//! A generic tree representation of any serializable model, with arrays as leaves.
//!
//! A list of numbers becomes one array, and a matrix one array with a shape, so that files can store them as tensors
//! and Python can view them as numpy arrays. Everything else corresponds to JSON.

mod deserialize;
mod json;
mod serialize;

use self::serialize::TreeSerializer;
use serde::de::{self, DeserializeOwned};
use serde::ser::{self, Serialize};
use std::fmt;

/// A node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// JSON's `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(String),
    /// An ordered list.
    List(Vec<Tree>),
    /// An ordered map with string keys.
    Map(Vec<(String, Tree)>),
    /// A numeric array.
    Array(Array),
}

/// A row-major numeric array.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The length of each dimension.
    pub shape: Vec<usize>,
    /// The elements.
    pub numbers: Numbers,
}

/// The elements of an array, of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// 64-bit floating-point numbers.
    F64(Vec<f64>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// The bytes of a value with a serialization of its own.
    U8(Vec<u8>),
}

impl Numbers {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Numbers::F64(v) => v.len(),
            Numbers::I64(v) => v.len(),
            Numbers::U8(v) => v.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Why a value cannot be serialized or deserialized.
#[derive(Debug)]
pub struct TreeError(String);

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TreeError {}

impl ser::Error for TreeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        TreeError(message.to_string())
    }
}

impl de::Error for TreeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        TreeError(message.to_string())
    }
}

type Result<T> = std::result::Result<T, TreeError>;

impl Tree {
    /// Serializes a value to a tree.
    ///
    /// # Errors
    /// If the value has parts that a tree cannot represent (128-bit integers).
    pub fn of<T: Serialize>(value: &T) -> Result<Tree> {
        value.serialize(TreeSerializer)
    }

    /// Deserializes a value from a tree.
    ///
    /// # Errors
    /// The first mismatch.
    pub fn into_value<T: DeserializeOwned>(self) -> Result<T> {
        T::deserialize(self)
    }

    /// Sets the value of a key of a map.
    pub(crate) fn insert(&mut self, name: &str, value: Tree) {
        if let Tree::Map(fields) = self {
            match fields.iter_mut().find(|(key, _)| key == name) {
                Some((_, old)) => *old = value,
                None => fields.push((name.to_owned(), value)),
            }
        }
    }

    /// The value of a key.
    pub fn get(&self, name: &str) -> Option<&Tree> {
        match self {
            Tree::Map(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, v)| v),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::Matrix;
    use ndarray::array;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, serde::Serialize, Deserialize)]
    struct Everything {
        flag: bool,
        words: Vec<String>,
        numbers: Vec<f64>,
        codes: Vec<u32>,
        none: Option<f64>,
        some: Option<(String, f64)>,
        matrix: Matrix,
        empty: Matrix,
        arm: Variants,
        arms: Vec<Variants>,
    }

    #[derive(Debug, PartialEq, serde::Serialize, Deserialize)]
    enum Variants {
        Bare,
        Holding(i64),
        Named { x: f64 },
    }

    #[test]
    fn a_value_survives_serialization_and_arrays_are_leaves() {
        let value = Everything {
            flag: true,
            words: vec!["a".into()],
            numbers: vec![1.0, f64::NEG_INFINITY],
            codes: vec![0, u32::MAX],
            none: None,
            some: Some(("gap".into(), 0.5)),
            matrix: array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
            empty: Matrix::zeros((0, 3)),
            arm: Variants::Bare,
            arms: vec![Variants::Holding(-3), Variants::Named { x: 2.0 }],
        };

        let tree = Tree::of(&value).unwrap();

        let Some(Tree::Array(matrix)) = tree.get("matrix") else { panic!("no array: {tree:?}") };
        assert_eq!(matrix.shape, [2, 3]);
        assert_eq!(tree.into_value::<Everything>().unwrap(), value);
    }
}
