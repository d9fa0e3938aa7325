//! Model files: valid safetensors with arrays as tensors and everything else as JSON in the metadata.
//!
//! ```text
//! 8 bytes   length of the header, little-endian
//! header    {"__metadata__": {"format", "version", "sha256", "description"}, tensors …}
//! bytes     the tensors, in the order of their names, those in narrow types last
//! ```
//!
//! Large arrays of integers, such as counts, are stored in the narrowest type that holds them. The order is fixed, so
//! that the same model gives the same bytes. Everything is checked on reading: sizes, shapes and bounds, the hash, and
//! finally the consistency of the model. A file contains no executable code.

mod atomic;

use crate::error::{Error, Result};
use crate::model::tree::{Array, Numbers, Tree};
use safetensors::tensor::{Dtype, SafeTensors};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// The format version that this build writes. It reads all versions up to it.
pub const VERSION: u32 = 1;
/// The beginning of the header.
const BEGINNING: &str = "{\"__metadata__\":{\"format\":\"mercer\"";
const MAX_HEADER: usize = 16 << 20;
/// The number of hexadecimal characters of a hash.
const HASH_LENGTH: usize = 64;
/// The key that refers to a tensor in a description.
const TENSOR: &str = "$tensor";

/// Arrays with fewer elements are not narrowed, because it would save little.
const MIN_NARROWED_LENGTH: usize = 4096;

/// The tensors of a file, by name.
type Tensors = BTreeMap<String, Tensor>;

/// An array and its storage type in a file.
struct Tensor {
    array: Array,
    stored: Stored,
}

/// The storage type of elements, in the order of tensors in a file: types with fewer than eight bytes come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stored {
    /// The type of the array.
    Plain,
    /// Integers in double precision, stored in four bytes.
    U32,
    /// The same, stored in two bytes.
    U16,
}

impl Stored {
    /// The narrowest type that represents every element exactly.
    fn narrowest(numbers: &Numbers) -> Stored {
        let Numbers::F64(v) = numbers else { return Stored::Plain };
        // Without a branch per element. Negative zero does not count as an integer, because its sign would be lost.
        let is_whole = |x: &f64| f64::from(*x as u32).to_bits() == x.to_bits();
        let are_whole = |some: &[f64]| some.iter().fold(true, |all, x| all & is_whole(x));
        if v.len() < MIN_NARROWED_LENGTH || !v.chunks(MIN_NARROWED_LENGTH).all(are_whole) {
            return Stored::Plain;
        }
        let most = v.iter().fold(0, |most, x| most.max(*x as u32));
        if most <= u32::from(u16::MAX) { Stored::U16 } else { Stored::U32 }
    }
}

/// The tensors in the order of the file.
fn in_order(tensors: &Tensors) -> Vec<(&String, &Tensor)> {
    let mut all: Vec<_> = tensors.iter().collect();
    all.sort_by_key(|(_, tensor)| tensor.stored);
    all
}

/// Serializes a tree to the bytes of a file.
///
/// # Errors
/// If the header would be too large.
pub fn to_bytes(tree: Tree) -> Result<Vec<u8>> {
    let mut file = UnhashedFile::new(tree)?;
    let hash = file.hash();
    file.bytes[file.hash_offset..file.hash_offset + HASH_LENGTH].copy_from_slice(hash.as_bytes());
    Ok(file.bytes)
}

/// Whether bytes are the beginning of a model file.
pub fn is_model(head: &[u8]) -> bool {
    head.get(8..).is_some_and(|head| head.starts_with(BEGINNING.as_bytes()))
}

/// Writes a tree to a file atomically. The hash of a large model takes as long as writing it, so it is computed at the
/// same time and written last.
///
/// # Errors
/// If the header is too large, or the operating system fails.
pub fn save_tree(path: &Path, tree: Tree) -> Result<()> {
    let file = UnhashedFile::new(tree)?;
    atomic::replace(path, |out| {
        let (written, hash) = rayon::join(|| out.write_all(&file.bytes), || file.hash());
        written?;
        out.seek(SeekFrom::Start(file.hash_offset as u64))?;
        out.write_all(hash.as_bytes())
    })
}

/// The bytes of a file, with zeros for its hash.
struct UnhashedFile {
    bytes: Vec<u8>,
    /// The offset of the hash.
    hash_offset: usize,
    /// The offset of the tensors.
    body_offset: usize,
    description: String,
    tensors: Tensors,
}

impl UnhashedFile {
    fn new(tree: Tree) -> Result<UnhashedFile> {
        let mut tensors = Tensors::new();
        let mut description = String::new();
        describe(tree, "", &mut description, &mut tensors);
        let mut end = 0;
        let mut infos = String::new();
        let order = in_order(&tensors);
        for (name, tensor) in &order {
            let start = end;
            end += tensor.size();
            infos += &format!(
                ",{}:{{\"dtype\":\"{}\",\"shape\":{:?},\"data_offsets\":[{start},{end}]}}",
                quoted(name),
                tensor.dtype(),
                tensor.array.shape,
            );
        }
        let before = format!("{BEGINNING},\"version\":\"{VERSION}\",\"sha256\":\"");
        let after = format!("\",\"description\":{}}}{infos}}}", quoted(&description));
        // The format requires that tensors start at a multiple of eight bytes.
        let length = (before.len() + HASH_LENGTH + after.len()).next_multiple_of(8);
        if length > MAX_HEADER {
            return Err(Error::File("the description is larger than 16 MB".into()));
        }
        // The size is known beforehand, so a large model is written without reallocation.
        let mut bytes = Vec::with_capacity(8 + length + end);
        bytes.extend((length as u64).to_le_bytes());
        bytes.extend(before.bytes());
        let hash_offset = bytes.len();
        bytes.resize(hash_offset + HASH_LENGTH, b'0');
        bytes.extend(after.bytes());
        bytes.resize(8 + length, b' ');
        for (_, tensor) in &order {
            match (&tensor.array.numbers, tensor.stored) {
                (Numbers::F64(v), Stored::U16) => put(v, |x| (x as u16).to_le_bytes(), &mut bytes),
                (Numbers::F64(v), Stored::U32) => put(v, |x| (x as u32).to_le_bytes(), &mut bytes),
                (Numbers::F64(v), Stored::Plain) => put(v, f64::to_le_bytes, &mut bytes),
                (Numbers::I64(v), _) => put(v, i64::to_le_bytes, &mut bytes),
                (Numbers::U8(v), _) => bytes.extend(v),
            }
        }
        let body_offset = 8 + length;
        Ok(UnhashedFile { bytes, hash_offset, body_offset, description, tensors })
    }

    fn hash(&self) -> String {
        hash(&self.description, &self.tensors, &self.bytes[self.body_offset..])
    }
}

fn put<T: Copy, const N: usize>(
    numbers: &[T],
    to_bytes: impl Fn(T) -> [u8; N],
    bytes: &mut Vec<u8>,
) {
    let start = bytes.len();
    bytes.resize(start + N * numbers.len(), 0);
    let (words, _) = bytes[start..].as_chunks_mut::<N>();
    words.iter_mut().zip(numbers).for_each(|(word, x)| *word = to_bytes(*x));
}

impl Tensor {
    fn of(array: Array) -> Tensor {
        let stored = Stored::narrowest(&array.numbers);
        Tensor { array, stored }
    }

    /// The number of bytes in a file.
    fn size(&self) -> usize {
        let width = match (&self.array.numbers, self.stored) {
            (Numbers::U8(_), _) => 1,
            (_, Stored::U16) => 2,
            (_, Stored::U32) => 4,
            (_, Stored::Plain) => 8,
        };
        width * self.array.numbers.len()
    }

    fn dtype(&self) -> &'static str {
        match (&self.array.numbers, self.stored) {
            (Numbers::F64(_), Stored::U16) => "U16",
            (Numbers::F64(_), Stored::U32) => "U32",
            (Numbers::F64(_), Stored::Plain) => "F64",
            (Numbers::I64(_), _) => "I64",
            (Numbers::U8(_), _) => "U8",
        }
    }

    fn read(name: &str, dtype: Dtype, shape: &[usize], bytes: &[u8]) -> Result<Tensor> {
        fn each<T, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
            bytes.as_chunks::<N>().0.iter().map(|word| number(*word)).collect()
        }
        let (numbers, stored) = match dtype {
            Dtype::F64 => (Numbers::F64(each(bytes, f64::from_le_bytes)), Stored::Plain),
            Dtype::U32 => {
                let numbers = each(bytes, |word| f64::from(u32::from_le_bytes(word)));
                (Numbers::F64(numbers), Stored::U32)
            }
            Dtype::U16 => {
                let numbers = each(bytes, |word| f64::from(u16::from_le_bytes(word)));
                (Numbers::F64(numbers), Stored::U16)
            }
            Dtype::I64 => (Numbers::I64(each(bytes, i64::from_le_bytes)), Stored::Plain),
            Dtype::U8 => (Numbers::U8(bytes.to_vec()), Stored::Plain),
            other => return Err(Error::File(format!("tensor `{name}` has type {other:?}"))),
        };
        Ok(Tensor { array: Array { shape: shape.to_vec(), numbers }, stored })
    }
}

/// The tree in the bytes of a file.
///
/// # Errors
/// The first check that fails.
pub fn from_bytes(bytes: &[u8]) -> Result<Tree> {
    let refuse = |why: &str| Error::File(why.to_owned());
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return Err(refuse("it is shorter than eight bytes"));
    };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER as u64 || length > rest.len() as u64 {
        return Err(refuse("its header is longer than the file or than 16 MB"));
    }
    let (_, parsed) = SafeTensors::read_metadata(bytes)
        .map_err(|e| Error::File(format!("it is not a safetensors file ({e})")))?;
    let safe = SafeTensors::deserialize(bytes)
        .map_err(|e| Error::File(format!("it is not a safetensors file ({e})")))?;
    let entry = |name: &str| {
        (parsed.metadata().as_ref())
            .and_then(|m| m.get(name))
            .ok_or_else(|| refuse("it is a safetensors file, but not one of Mercer's"))
    };
    let (format, version, sha256) = (entry("format")?, entry("version")?, entry("sha256")?);
    if format != "mercer" {
        return Err(refuse("it is a safetensors file, but not one of Mercer's"));
    }
    if parsed.metadata().as_ref().is_some_and(|m| m.len() != 4) {
        return Err(refuse("its metadata has entries that are not Mercer's"));
    }
    if !version.parse::<u32>().is_ok_and(|v| (1..=VERSION).contains(&v)) {
        return Err(Error::File(format!(
            "it has format version {version}; this build reads 1 to {VERSION}, a newer Mercer may read it"
        )));
    }
    let mut tensors = Tensors::new();
    for (name, view) in safe.tensors() {
        let tensor = Tensor::read(&name, view.dtype(), view.shape(), view.data())?;
        tensors.insert(name, tensor);
    }
    // The checksum does not cover the offsets of the tensors, so their order is checked.
    let mut end = 0;
    for (name, _) in in_order(&tensors) {
        let (from, to) = parsed.info(name).map_or((0, 0), |info| info.data_offsets);
        if from != end {
            return Err(Error::File(format!("tensor `{name}` is not in the expected order")));
        }
        end = to;
    }
    let description = entry("description")?;
    if *sha256 != hash(description, &tensors, &rest[length as usize..]) {
        return Err(refuse("its contents do not match its checksum; it was changed or damaged"));
    }
    let description: Value = serde_json::from_str(description)
        .map_err(|e| Error::File(format!("its description cannot be read ({e})")))?;
    let tree = resolve_tensors(description.into(), &mut tensors)?;
    match tensors.keys().next() {
        Some(name) => Err(Error::File(format!("tensor `{name}` is not used"))),
        None => Ok(tree),
    }
}

/// Writes a file atomically: to a temporary file beside it, which is synced and renamed.
///
/// # Errors
/// If the operating system fails.
pub fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    atomic::replace(path, |out| out.write_all(bytes))
}

/// Writes the tree as JSON; arrays are moved to tensors, named by their paths.
fn describe(tree: Tree, path: &str, out: &mut String, tensors: &mut Tensors) {
    match tree {
        Tree::Null => out.push_str("null"),
        Tree::Bool(v) => *out += &v.to_string(),
        Tree::Int(v) => *out += &v.to_string(),
        Tree::Float(v) if v.is_finite() => *out += &json!(v).to_string(),
        // JSON has no such values, so they are stored as a tensor with one element.
        Tree::Float(v) => {
            let array = Array { shape: Vec::new(), numbers: Numbers::F64(vec![v]) };
            describe(Tree::Array(array), path, out, tensors);
        }
        Tree::Text(v) => *out += &quoted(&v),
        Tree::List(items) => {
            let none = items.is_empty();
            for (i, item) in items.into_iter().enumerate() {
                out.push(if i == 0 { '[' } else { ',' });
                describe(item, &join(path, &i.to_string()), out, tensors);
            }
            out.push_str(if none { "[]" } else { "]" });
        }
        Tree::Map(fields) => {
            let none = fields.is_empty();
            for (i, (name, value)) in fields.into_iter().enumerate() {
                out.push(if i == 0 { '{' } else { ',' });
                *out += &quoted(&name);
                out.push(':');
                describe(value, &join(path, &name), out, tensors);
            }
            out.push_str(if none { "{}" } else { "}" });
        }
        Tree::Array(array) => {
            tensors.insert(path.to_owned(), Tensor::of(array));
            *out += &format!("{{\"{TENSOR}\":{}}}", quoted(path));
        }
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Replaces the references to tensors by the tensors; each tensor is used once.
fn resolve_tensors(tree: Tree, tensors: &mut Tensors) -> Result<Tree> {
    Ok(match tree {
        Tree::List(items) => {
            let items = items.into_iter().map(|item| resolve_tensors(item, tensors));
            Tree::List(items.collect::<Result<_>>()?)
        }
        Tree::Map(fields) => match &fields[..] {
            [(key, Tree::Text(name))] if key == TENSOR => {
                let Tensor { array, .. } = tensors
                    .remove(name)
                    .ok_or_else(|| Error::File(format!("tensor `{name}` is missing")))?;
                match (array.shape.as_slice(), &array.numbers) {
                    ([], Numbers::F64(v)) => Tree::Float(v[0]),
                    _ => Tree::Array(array),
                }
            }
            _ => {
                let fields = fields.into_iter().map(|(k, v)| Ok((k, resolve_tensors(v, tensors)?)));
                Tree::Map(fields.collect::<Result<_>>()?)
            }
        },
        leaf => leaf,
    })
}

/// SHA-256 over the description, the names, types and shapes of the tensors, and their bytes.
fn hash(description: &str, tensors: &Tensors, body: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(description);
    for (name, tensor) in tensors {
        hasher.update(format!("\n{name} {} {:?}", tensor.dtype(), tensor.array.shape));
    }
    hasher.update(body);
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
