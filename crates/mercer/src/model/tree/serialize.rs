//! Values to a [`Tree`].

use super::{Array, Numbers, Result, Tree, TreeError};
use serde::ser::{self, Serialize};

/// Serializes values to trees.
pub(super) struct TreeSerializer;

/// A list, tuple, map or struct under construction.
pub(super) struct TreeBuilder {
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
        $(fn $method(self, v: $Type) -> Result<Self::Ok> { ($make)(v) })*
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

    fn serialize_none(self) -> Result<Tree> {
        Ok(Tree::Null)
    }
    fn serialize_unit(self) -> Result<Tree> {
        Ok(Tree::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Tree> {
        value.serialize(self)
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Tree> {
        Ok(Tree::Text(variant.to_owned()))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Tree> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Tree> {
        Ok(tagged(Some(variant), value.serialize(self)?))
    }
    fn serialize_seq(self, capacity: Option<usize>) -> Result<TreeBuilder> {
        Ok(TreeBuilder::new(None, capacity.unwrap_or(0)))
    }
    fn serialize_tuple(self, _: usize) -> Result<TreeBuilder> {
        Ok(TreeBuilder::new(None, 0))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<TreeBuilder> {
        Ok(TreeBuilder::new(None, 0))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<TreeBuilder> {
        Ok(TreeBuilder::new(Some(variant), 0))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<TreeBuilder> {
        Ok(TreeBuilder::new(None, 0))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<TreeBuilder> {
        Ok(TreeBuilder::new(None, 0))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<TreeBuilder> {
        Ok(TreeBuilder::new(Some(variant), 0))
    }
}

macro_rules! growing_lists {
    ($($Trait:ident $method:ident;)*) => {
        $(impl ser::$Trait for TreeBuilder {
            type Ok = Tree;
            type Error = TreeError;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.push(value.serialize(TreeSerializer)?);
                Ok(())
            }
            fn end(self) -> Result<Tree> {
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
            ) -> Result<()> {
                self.fields.push((key.to_owned(), value.serialize(TreeSerializer)?));
                Ok(())
            }
            fn end(self) -> Result<Tree> {
                Ok(self.map())
            }
        })*
    };
}

growing_structs! { SerializeStruct; SerializeStructVariant; }

impl ser::SerializeMap for TreeBuilder {
    type Ok = Tree;
    type Error = TreeError;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        match key.serialize(TreeSerializer)? {
            Tree::Text(key) => self.key = key,
            other => return Err(TreeError(format!("{other:?} cannot be a name"))),
        }
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.fields.push((std::mem::take(&mut self.key), value.serialize(TreeSerializer)?));
        Ok(())
    }
    fn end(self) -> Result<Tree> {
        Ok(self.map())
    }
}
