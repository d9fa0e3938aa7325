//! A generic tree representation of any serializable model, with arrays as leaves.
//!
//! A list of numbers becomes one array, and a matrix one array with a shape, so that files can store them as tensors
//! and Python can view them as numpy arrays. Everything else corresponds to JSON.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};
use serde::ser::{self, Serialize};
use serde::{Deserializer, forward_to_deserialize_any};
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

type Done<T> = Result<T, TreeError>;

impl Tree {
    /// Serializes a value to a tree.
    ///
    /// # Errors
    ///
    /// If the value has parts that a tree cannot represent (128-bit integers).
    pub fn of<T: Serialize>(value: &T) -> Done<Tree> {
        value.serialize(TreeSerializer)
    }

    /// Deserializes a value from a tree.
    ///
    /// # Errors
    ///
    /// The first mismatch.
    pub fn into_value<T: DeserializeOwned>(self) -> Done<T> {
        T::deserialize(self)
    }

    /// The value of a key.
    pub fn get(&self, name: &str) -> Option<&Tree> {
        match self {
            Tree::Map(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, v)| v),
            _ => None,
        }
    }
}

/// Serializes values to trees.
struct TreeSerializer;

/// A list, tuple, map or struct under construction.
struct TreeBuilder {
    tag: Option<&'static str>,
    /// The expected number of items.
    capacity: usize,
    key: String,
    items: Vec<Tree>,
    fields: Vec<(String, Tree)>,
    numbers: Option<Numbers>,
}

impl TreeBuilder {
    fn new(tag: Option<&'static str>, capacity: usize) -> TreeBuilder {
        let (key, items, fields) = (String::new(), Vec::new(), Vec::new());
        TreeBuilder { tag, capacity, key, items, fields, numbers: None }
    }

    /// Appends an item; numbers of one type are collected in an array.
    #[inline]
    fn push(&mut self, item: Tree) {
        // Arrays have millions of elements, so another number of the same type takes a fast path.
        match (&mut self.numbers, &item) {
            (Some(Numbers::F64(v)), Tree::Float(x)) => v.push(*x),
            (Some(Numbers::I64(v)), Tree::Int(x)) => v.push(*x),
            _ => self.push_other(item),
        }
    }

    /// Appends the first item, or one of another type, which converts the array to a list.
    fn push_other(&mut self, item: Tree) {
        match (&mut self.numbers, item) {
            (None, Tree::Float(x)) if self.items.is_empty() => {
                self.numbers = Some(Numbers::F64(first(x, self.capacity)));
            }
            (None, Tree::Int(x)) if self.items.is_empty() => {
                self.numbers = Some(Numbers::I64(first(x, self.capacity)));
            }
            (_, item) => {
                match self.numbers.take() {
                    Some(Numbers::F64(v)) => self.items.extend(v.into_iter().map(Tree::Float)),
                    Some(Numbers::I64(v)) => self.items.extend(v.into_iter().map(Tree::Int)),
                    Some(Numbers::U8(_)) | None => {}
                }
                self.items.push(item);
            }
        }
    }

    fn list(self) -> Tree {
        let list = match self.numbers {
            Some(numbers) => Tree::Array(Array { shape: vec![numbers.len()], numbers }),
            None => Tree::List(self.items),
        };
        tagged(self.tag, list)
    }

    fn map(self) -> Tree {
        tagged(self.tag, matrix(self.fields).unwrap_or_else(Tree::Map))
    }
}

/// A vector of one item with a given capacity.
fn first<T>(item: T, capacity: usize) -> Vec<T> {
    let mut list = Vec::with_capacity(capacity.max(1));
    list.push(item);
    list
}

/// Recognizes the serialized form of ndarray (`v`, `dim`, `data`); other fields are returned unchanged.
fn matrix(mut fields: Vec<(String, Tree)>) -> std::result::Result<Tree, Vec<(String, Tree)>> {
    let shape = match &fields[..] {
        [(v, _), (dim, Tree::Array(Array { numbers: Numbers::I64(shape), .. })), (data, _)]
            if (v.as_str(), dim.as_str(), data.as_str()) == ("v", "dim", "data") =>
        {
            shape.iter().map(|n| usize::try_from(*n).ok()).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    let Some(shape) = shape else { return Err(fields) };
    let numbers = match fields.pop() {
        Some((_, Tree::Array(array))) => array.numbers,
        Some((_, Tree::List(empty))) if empty.is_empty() => Numbers::F64(Vec::new()),
        other => {
            fields.extend(other);
            return Err(fields);
        }
    };
    Ok(Tree::Array(Array { shape, numbers }))
}

fn tagged(tag: Option<&'static str>, value: Tree) -> Tree {
    match tag {
        Some(tag) => Tree::Map(vec![(tag.to_owned(), value)]),
        None => value,
    }
}

macro_rules! scalars {
    ($($method:ident $Type:ty => $make:expr;)*) => {
        $(fn $method(self, v: $Type) -> Done<Self::Ok> { ($make)(v) })*
    };
}

impl ser::Serializer for TreeSerializer {
    type Ok = Tree;
    type Error = TreeError;
    type SerializeSeq = TreeBuilder;
    type SerializeTuple = TreeBuilder;
    type SerializeTupleStruct = TreeBuilder;
    type SerializeTupleVariant = TreeBuilder;
    type SerializeMap = TreeBuilder;
    type SerializeStruct = TreeBuilder;
    type SerializeStructVariant = TreeBuilder;

    scalars! {
        serialize_bool bool => |v| Ok(Tree::Bool(v));
        serialize_i8 i8 => |v| Ok(Tree::Int(i64::from(v)));
        serialize_i16 i16 => |v| Ok(Tree::Int(i64::from(v)));
        serialize_i32 i32 => |v| Ok(Tree::Int(i64::from(v)));
        serialize_i64 i64 => |v| Ok(Tree::Int(v));
        serialize_u8 u8 => |v| Ok(Tree::Int(i64::from(v)));
        serialize_u16 u16 => |v| Ok(Tree::Int(i64::from(v)));
        serialize_u32 u32 => |v| Ok(Tree::Int(i64::from(v)));
        serialize_u64 u64 => |v| i64::try_from(v).map(Tree::Int).map_err(ser::Error::custom);
        serialize_f32 f32 => |v| Ok(Tree::Float(f64::from(v)));
        serialize_f64 f64 => |v| Ok(Tree::Float(v));
        serialize_char char => |v: char| Ok(Tree::Text(v.to_string()));
        serialize_str &str => |v: &str| Ok(Tree::Text(v.to_owned()));
        serialize_bytes &[u8] => |v: &[u8]| {
            let numbers = Numbers::U8(v.to_vec());
            Ok(Tree::Array(Array { shape: vec![v.len()], numbers }))
        };
        serialize_unit_struct &'static str => |_| Ok(Tree::Null);
    }

    fn serialize_none(self) -> Done<Tree> {
        Ok(Tree::Null)
    }
    fn serialize_unit(self) -> Done<Tree> {
        Ok(Tree::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done<Tree> {
        value.serialize(self)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done<Tree> {
        Ok(Tree::Text(variant.to_owned()))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Done<Tree> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Done<Tree> {
        Ok(tagged(Some(variant), value.serialize(self)?))
    }
    fn serialize_seq(self, capacity: Option<usize>) -> Done<TreeBuilder> {
        Ok(TreeBuilder::new(None, capacity.unwrap_or(0)))
    }
    fn serialize_tuple(self, _: usize) -> Done<TreeBuilder> {
        Ok(TreeBuilder::new(None, 0))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Done<TreeBuilder> {
        Ok(TreeBuilder::new(None, 0))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Done<TreeBuilder> {
        Ok(TreeBuilder::new(Some(variant), 0))
    }
    fn serialize_map(self, _: Option<usize>) -> Done<TreeBuilder> {
        Ok(TreeBuilder::new(None, 0))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Done<TreeBuilder> {
        Ok(TreeBuilder::new(None, 0))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Done<TreeBuilder> {
        Ok(TreeBuilder::new(Some(variant), 0))
    }
}

macro_rules! growing_lists {
    ($($Trait:ident $method:ident;)*) => {
        $(impl ser::$Trait for TreeBuilder {
            type Ok = Tree;
            type Error = TreeError;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Done<()> {
                self.push(value.serialize(TreeSerializer)?);
                Ok(())
            }
            fn end(self) -> Done<Tree> {
                Ok(self.list())
            }
        })*
    };
}

growing_lists! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

macro_rules! growing_structs {
    ($($Trait:ident;)*) => {
        $(impl ser::$Trait for TreeBuilder {
            type Ok = Tree;
            type Error = TreeError;
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Done<()> {
                self.fields.push((key.to_owned(), value.serialize(TreeSerializer)?));
                Ok(())
            }
            fn end(self) -> Done<Tree> {
                Ok(self.map())
            }
        })*
    };
}

growing_structs! { SerializeStruct; SerializeStructVariant; }

impl ser::SerializeMap for TreeBuilder {
    type Ok = Tree;
    type Error = TreeError;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done<()> {
        match key.serialize(TreeSerializer)? {
            Tree::Text(key) => self.key = key,
            other => return Err(TreeError(format!("{other:?} cannot be a name"))),
        }
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done<()> {
        self.fields.push((std::mem::take(&mut self.key), value.serialize(TreeSerializer)?));
        Ok(())
    }
    fn end(self) -> Done<Tree> {
        Ok(self.map())
    }
}

/// Converts a matrix back to the serialized form of ndarray.
fn unshaped(array: Array) -> Tree {
    let shape = array.shape.iter().map(|n| Tree::Int(*n as i64)).collect();
    let flat = Array { shape: vec![array.numbers.len()], numbers: array.numbers };
    Tree::Map(vec![
        ("v".into(), Tree::Int(1)),
        ("dim".into(), Tree::List(shape)),
        ("data".into(), Tree::Array(flat)),
    ])
}

impl<'de> Deserializer<'de> for Tree {
    type Error = TreeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Done<V::Value> {
        match self {
            Tree::Null => visitor.visit_unit(),
            Tree::Bool(v) => visitor.visit_bool(v),
            Tree::Int(v) => visitor.visit_i64(v),
            Tree::Float(v) => visitor.visit_f64(v),
            Tree::Text(v) => visitor.visit_string(v),
            Tree::List(items) => visitor.visit_seq(SeqDeserializer::new(items.into_iter())),
            Tree::Map(fields) => visitor.visit_map(MapDeserializer::new(fields.into_iter())),
            Tree::Array(array) if array.shape.len() != 1 => {
                unshaped(array).deserialize_any(visitor)
            }
            Tree::Array(Array { numbers: Numbers::F64(v), .. }) => {
                visitor.visit_seq(SeqDeserializer::new(v.into_iter()))
            }
            Tree::Array(Array { numbers: Numbers::I64(v), .. }) => {
                visitor.visit_seq(SeqDeserializer::new(v.into_iter()))
            }
            Tree::Array(Array { numbers: Numbers::U8(v), .. }) => visitor.visit_byte_buf(v),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Done<V::Value> {
        match self {
            Tree::Null => visitor.visit_none(),
            some => visitor.visit_some(some),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Done<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Done<V::Value> {
        match self {
            Tree::Text(variant) => visitor.visit_enum(Variant { variant, content: None }),
            Tree::Map(mut fields) if fields.len() == 1 => {
                let (variant, content) = fields.remove(0);
                visitor.visit_enum(Variant { variant, content: Some(content) })
            }
            _ => Err(TreeError("a variant was expected".into())),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, TreeError> for Tree {
    type Deserializer = Tree;

    fn into_deserializer(self) -> Tree {
        self
    }
}

/// The variant of an enum and its content.
struct Variant {
    variant: String,
    content: Option<Tree>,
}

impl<'de> de::EnumAccess<'de> for Variant {
    type Error = TreeError;
    type Variant = Variant;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Done<(S::Value, Variant)> {
        let name: de::value::StrDeserializer<'_, TreeError> =
            self.variant.as_str().into_deserializer();
        let value = seed.deserialize(name)?;
        Ok((value, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant {
    type Error = TreeError;

    fn unit_variant(self) -> Done<()> {
        match self.content {
            None => Ok(()),
            Some(_) => Err(TreeError(format!("`{}` holds nothing", self.variant))),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Done<S::Value> {
        seed.deserialize(self.content.unwrap_or(Tree::Null))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Done<V::Value> {
        self.content.unwrap_or(Tree::Null).deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Done<V::Value> {
        self.content.unwrap_or(Tree::Null).deserialize_any(visitor)
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
