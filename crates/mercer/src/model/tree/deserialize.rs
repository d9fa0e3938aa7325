//! Values from a [`Tree`].
//!
//! Each method accepts only the trees that its type can come from, and every sequence has the one type
//! [`Elements`]. A visitor is then compiled for one kind of tree, where `deserialize_any` would compile it for
//! all of them.

use super::{Array, Numbers, Result, Tree, TreeError};
use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use std::vec::IntoIter;

impl Tree {
    fn scalar<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Tree::Null => visitor.visit_unit(),
            Tree::Bool(v) => visitor.visit_bool(v),
            Tree::Int(v) => visitor.visit_i64(v),
            Tree::Float(v) => visitor.visit_f64(v),
            Tree::Text(v) => visitor.visit_string(v),
            Tree::Array(Array { numbers: Numbers::U8(v), .. }) => visitor.visit_byte_buf(v),
            other => Err(other.unexpected(&visitor)),
        }
    }

    fn sequence<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Tree::List(values) => visitor.visit_seq(Elements::Values(values.into_iter())),
            Tree::Array(Array { numbers: Numbers::F64(v), shape }) if shape.len() == 1 => {
                visitor.visit_seq(Elements::Floats(v.into_iter()))
            }
            Tree::Array(Array { numbers: Numbers::I64(v), shape }) if shape.len() == 1 => {
                visitor.visit_seq(Elements::Ints(v.into_iter()))
            }
            other => Err(other.unexpected(&visitor)),
        }
    }

    fn mapping<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Tree::Map(fields) => visitor.visit_map(MapDeserializer::new(fields.into_iter())),
            Tree::Array(array) if array.shape.len() != 1 => {
                visitor.visit_map(MapDeserializer::new(ndarray_fields(array).into_iter()))
            }
            other => Err(other.unexpected(&visitor)),
        }
    }

    fn unexpected(&self, expected: &dyn de::Expected) -> TreeError {
        let found = match self {
            Tree::Null => Unexpected::Unit,
            Tree::Bool(v) => Unexpected::Bool(*v),
            Tree::Int(v) => Unexpected::Signed(*v),
            Tree::Float(v) => Unexpected::Float(*v),
            Tree::Text(v) => Unexpected::Str(v),
            Tree::List(_) | Tree::Array(_) => Unexpected::Seq,
            Tree::Map(_) => Unexpected::Map,
        };
        de::Error::invalid_type(found, expected)
    }
}

/// The fields in which ndarray serializes an array.
fn ndarray_fields(array: Array) -> Vec<(String, Tree)> {
    let shape = array.shape.iter().map(|n| Tree::Int(*n as i64)).collect();
    let flat = Array { shape: vec![array.numbers.len()], numbers: array.numbers };
    vec![
        ("v".into(), Tree::Int(1)),
        ("dim".into(), Tree::List(shape)),
        ("data".into(), Tree::Array(flat)),
    ]
}

macro_rules! forward {
    ($to:ident: $($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.$to(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Tree {
    type Error = TreeError;

    forward! { scalar:
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit
        deserialize_identifier
    }

    forward! { sequence: deserialize_seq }

    forward! { mapping: deserialize_map }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self {
            Tree::List(_) => self.sequence(visitor),
            Tree::Map(_) => self.mapping(visitor),
            Tree::Array(Array { numbers: Numbers::U8(_), .. }) => self.scalar(visitor),
            Tree::Array(array) if array.shape.len() == 1 => self.sequence(visitor),
            Tree::Array(_) => self.mapping(visitor),
            _ => self.scalar(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Tree::Null => visitor.visit_none(),
            some => visitor.visit_some(some),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.scalar(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.sequence(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.sequence(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.mapping(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self {
            Tree::Text(name) => visitor.visit_enum(Variant { name, content: None }),
            Tree::Map(mut fields) if fields.len() == 1 => {
                let (name, content) = fields.remove(0);
                visitor.visit_enum(Variant { name, content: Some(content) })
            }
            other => Err(other.unexpected(&visitor)),
        }
    }

    forward_to_deserialize_any! { i128 u128 ignored_any }
}

impl<'de> IntoDeserializer<'de, TreeError> for Tree {
    type Deserializer = Tree;

    fn into_deserializer(self) -> Tree {
        self
    }
}

/// The elements of a sequence, each as a tree.
enum Elements {
    Values(IntoIter<Tree>),
    Floats(IntoIter<f64>),
    Ints(IntoIter<i64>),
}

impl<'de> de::SeqAccess<'de> for Elements {
    type Error = TreeError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let next = match self {
            Elements::Values(values) => values.next(),
            Elements::Floats(values) => values.next().map(Tree::Float),
            Elements::Ints(values) => values.next().map(Tree::Int),
        };
        next.map(|value| seed.deserialize(value)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(match self {
            Elements::Values(values) => values.len(),
            Elements::Floats(values) => values.len(),
            Elements::Ints(values) => values.len(),
        })
    }
}

/// The name and the content of an enum variant.
struct Variant {
    name: String,
    content: Option<Tree>,
}

impl<'de> de::EnumAccess<'de> for Variant {
    type Error = TreeError;
    type Variant = Variant;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Variant)> {
        let name: de::value::StrDeserializer<'_, TreeError> =
            self.name.as_str().into_deserializer();
        let value = seed.deserialize(name)?;
        Ok((value, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant {
    type Error = TreeError;

    fn unit_variant(self) -> Result<()> {
        match self.content {
            None => Ok(()),
            Some(_) => Err(de::Error::custom(format!("variant `{}` has no content", self.name))),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self.content.unwrap_or(Tree::Null))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.content.unwrap_or(Tree::Null).sequence(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.content.unwrap_or(Tree::Null).mapping(visitor)
    }
}
