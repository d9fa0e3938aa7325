//! Tensors of the Open Inference Protocol, in JSON and in the binary form of the binary tensor extension: little-endian
//! values, strings with a length of four bytes before each.

use super::cells::Cells;
use super::rows::FlatCells;
use crate::error::{ApiError, ApiResult};
use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};

/// The type of the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Datatype {
    Bool,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Int8,
    Int16,
    Int32,
    Int64,
    Fp16,
    Bf16,
    Fp32,
    Fp64,
    Bytes,
}

/// An input of a request.
#[derive(Deserialize)]
pub(crate) struct InputTensor {
    pub name: String,
    pub shape: Vec<usize>,
    pub datatype: Datatype,
    #[serde(default)]
    parameters: InputParameters,
    #[serde(default)]
    data: Option<FlatCells>,
}

#[derive(Default, Deserialize)]
struct InputParameters {
    binary_data_size: Option<usize>,
}

impl InputTensor {
    /// The number of rows: the first dimension.
    pub fn n_rows(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// The number of elements of a row: the product of the other dimensions.
    pub fn width(&self) -> Option<usize> {
        self.shape.iter().skip(1).try_fold(1_usize, |product, d| product.checked_mul(*d))
    }

    /// The elements, from JSON or from the front of the binary data, which is shortened by them.
    pub fn cells(&mut self, binary: &mut &[u8]) -> ApiResult<Cells> {
        let name = self.name.escape_debug().to_string();
        let refuse = |why: String| ApiError::bad(format!("input `{name}`: {why}"));
        let count = self.shape.iter().try_fold(1_usize, |product, d| product.checked_mul(*d));
        let count = count.ok_or_else(|| refuse("the shape is too large".into()))?;
        let cells = match (self.data.take(), self.parameters.binary_data_size) {
            (Some(FlatCells(cells)), None) => self.checked(cells).map_err(refuse)?,
            (None, Some(size)) => {
                let Some((own, rest)) = binary.split_at_checked(size) else {
                    let left = binary.len();
                    return Err(refuse(format!(
                        "found {left} bytes of binary data, expected {size}"
                    )));
                };
                *binary = rest;
                self.decoded(own, count).map_err(refuse)?
            }
            (Some(_), Some(_)) => {
                return Err(refuse("it has both `data` and `binary_data_size`".into()));
            }
            (None, None) => {
                return Err(refuse("it has neither `data` nor `binary_data_size`".into()));
            }
        };
        if cells.len() != count {
            return Err(refuse(format!(
                "found {} values, expected {count} for the shape {:?}",
                cells.len(),
                self.shape
            )));
        }
        Ok(cells)
    }

    /// JSON values that fit the datatype.
    fn checked(&self, cells: Cells) -> Result<Cells, String> {
        use Datatype::{Bf16, Bool, Bytes, Fp16, Fp32, Fp64};
        match (self.datatype, &cells) {
            (_, Cells::Nulls(_))
            | (Bytes, Cells::Strings(_))
            | (Bool, Cells::Booleans(_))
            | (Fp16 | Bf16 | Fp32 | Fp64, Cells::Numbers(_)) => Ok(cells),
            (Bool, Cells::Numbers(all))
                if all.iter().all(|x| x.is_nan() || *x == 0.0 || *x == 1.0) =>
            {
                Ok(cells)
            }
            (Bool | Bytes, _) | (_, Cells::Strings(_) | Cells::Booleans(_)) => {
                Err("the values do not fit the datatype".into())
            }
            (_, Cells::Numbers(all)) => {
                match all.iter().find(|x| x.fract() != 0.0 && !x.is_nan()) {
                    Some(x) => Err(format!("found {x}, expected integers")),
                    None => Ok(cells),
                }
            }
        }
    }

    /// Binary values.
    fn decoded(&self, bytes: &[u8], count: usize) -> Result<Cells, String> {
        fn numbers<const N: usize>(
            bytes: &[u8],
            count: usize,
            number: impl Fn([u8; N]) -> f64,
        ) -> Result<Cells, String> {
            let (values, rest) = bytes.as_chunks::<N>();
            if values.len() != count || !rest.is_empty() {
                return Err(format!(
                    "found {} bytes, expected {}",
                    bytes.len(),
                    count.saturating_mul(N)
                ));
            }
            Ok(Cells::Numbers(values.iter().map(|value| number(*value)).collect()))
        }
        match self.datatype {
            Datatype::Bool => match numbers(bytes, count, |[b]| f64::from(b))? {
                Cells::Numbers(all) => {
                    Ok(Cells::Booleans(all.into_iter().map(|x| Some(x != 0.0)).collect()))
                }
                other => Ok(other),
            },
            Datatype::Uint8 => numbers(bytes, count, |b| f64::from(u8::from_le_bytes(b))),
            Datatype::Uint16 => numbers(bytes, count, |b| f64::from(u16::from_le_bytes(b))),
            Datatype::Uint32 => numbers(bytes, count, |b| f64::from(u32::from_le_bytes(b))),
            Datatype::Uint64 => numbers(bytes, count, |b| u64::from_le_bytes(b) as f64),
            Datatype::Int8 => numbers(bytes, count, |b| f64::from(i8::from_le_bytes(b))),
            Datatype::Int16 => numbers(bytes, count, |b| f64::from(i16::from_le_bytes(b))),
            Datatype::Int32 => numbers(bytes, count, |b| f64::from(i32::from_le_bytes(b))),
            Datatype::Int64 => numbers(bytes, count, |b| i64::from_le_bytes(b) as f64),
            Datatype::Fp16 => numbers(bytes, count, |b| half(u16::from_le_bytes(b))),
            // The upper half of a single-precision number.
            Datatype::Bf16 => numbers(bytes, count, |b| {
                f64::from(f32::from_bits(u32::from(u16::from_le_bytes(b)) << 16))
            }),
            Datatype::Fp32 => numbers(bytes, count, |b| f64::from(f32::from_le_bytes(b))),
            Datatype::Fp64 => numbers(bytes, count, f64::from_le_bytes),
            Datatype::Bytes => strings(bytes),
        }
    }
}

/// A number in half precision (IEEE 754 binary16).
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    let magnitude = match exponent {
        0 => fraction * 2_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2_f64.powi(exponent - 15),
    };
    sign * magnitude
}

fn strings(mut bytes: &[u8]) -> Result<Cells, String> {
    let mut all = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        let (own, rest) = rest
            .split_at_checked(length)
            .ok_or_else(|| format!("string {} is longer than the data", all.len() + 1))?;
        let text = std::str::from_utf8(own)
            .map_err(|_| format!("string {} is not UTF-8", all.len() + 1))?;
        all.push(Some(text.to_owned()));
        bytes = rest;
    }
    match bytes {
        [] => Ok(Cells::Strings(all)),
        _ => Err("the data ends within the length of a string".into()),
    }
}

/// An output of a response.
#[derive(Serialize)]
pub(crate) struct OutputTensor {
    pub name: &'static str,
    pub datatype: Datatype,
    pub shape: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<OutputParameters>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Elements>,
}

/// The parameters of an output in binary form.
#[derive(Serialize)]
pub(crate) struct OutputParameters {
    pub binary_data_size: usize,
}

/// The elements of an output.
pub(crate) enum Elements {
    F64(Vec<f64>),
    I64(Vec<i64>),
    Bool(Vec<bool>),
    /// `None` is null, an empty string in binary form.
    Strings(Vec<Option<String>>),
}

impl Elements {
    pub fn datatype(&self) -> Datatype {
        match self {
            Elements::F64(_) => Datatype::Fp64,
            Elements::I64(_) => Datatype::Int64,
            Elements::Bool(_) => Datatype::Bool,
            Elements::Strings(_) => Datatype::Bytes,
        }
    }

    /// Appends the binary form.
    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Elements::F64(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
            Elements::I64(all) => all.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
            Elements::Bool(all) => bytes.extend(all.iter().map(|x| u8::from(*x))),
            Elements::Strings(all) => {
                for text in all {
                    let text = text.as_deref().unwrap_or_default();
                    bytes.extend((text.len() as u32).to_le_bytes());
                    bytes.extend(text.as_bytes());
                }
            }
        }
    }
}

impl Serialize for Elements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn list<S: Serializer, T: Serialize>(serializer: S, all: &[T]) -> Result<S::Ok, S::Error> {
            let mut list = serializer.serialize_seq(Some(all.len()))?;
            all.iter().try_for_each(|x| list.serialize_element(x))?;
            list.end()
        }
        match self {
            // serde_json writes numbers that are not finite as null.
            Elements::F64(all) => list(serializer, all),
            Elements::I64(all) => list(serializer, all),
            Elements::Bool(all) => list(serializer, all),
            Elements::Strings(all) => list(serializer, all),
        }
    }
}

impl OutputTensor {
    /// Moves the elements into the binary data.
    pub fn make_binary(&mut self, binary: &mut Vec<u8>) {
        let start = binary.len();
        if let Some(elements) = self.data.take() {
            elements.write(binary);
        }
        self.parameters = Some(OutputParameters { binary_data_size: binary.len() - start });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_has_the_values_of_its_definition() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (1, 2_f64.powi(-24)),
            (0x3555, 0.333251953125),
        ] {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan());
        assert_eq!(half(0xfc00), f64::NEG_INFINITY);
    }

    #[test]
    fn strings_are_read_with_their_lengths() {
        let bytes = b"\x02\0\0\0ab\0\0\0\0\x03\0\0\0\xe2\x82\xac";
        let expected = ["ab", "", "€"].map(|text| Some(text.to_owned()));
        assert_eq!(strings(bytes).unwrap(), Cells::Strings(expected.clone().into()));
        let mut again = Vec::new();
        Elements::Strings(expected.into()).write(&mut again);
        assert_eq!(again, bytes);

        for broken in [&b"\x02\0\0\0a"[..], b"\xff\xff\xff\xffa", b"\x01\0", b"\x01\0\0\0\xff"] {
            assert!(strings(broken).is_err());
        }
    }
}
