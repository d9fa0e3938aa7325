//! Values of Arrow arrays as doubles and as strings.
//!
//! Only the types that a table may hold are converted, each by its own accessor: the general conversions of the Arrow
//! project (crate `arrow-cast`) cover every pair of types and would be a fifth of the whole build.

use arrow_array::cast::AsArray;
use arrow_array::timezone::Tz;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};
use std::fmt::Write;

/// Runs a generic function for the primitive type of an array.
macro_rules! by_primitive_type {
    ($of:expr, $run:ident($($argument:expr),*), else $other:expr) => {{
        use DataType::*;
        match $of {
            Int8 => $run::<Int8Type>($($argument),*),
            Int16 => $run::<Int16Type>($($argument),*),
            Int32 => $run::<Int32Type>($($argument),*),
            Int64 => $run::<Int64Type>($($argument),*),
            UInt8 => $run::<UInt8Type>($($argument),*),
            UInt16 => $run::<UInt16Type>($($argument),*),
            UInt32 => $run::<UInt32Type>($($argument),*),
            UInt64 => $run::<UInt64Type>($($argument),*),
            Float32 => $run::<Float32Type>($($argument),*),
            Float64 => $run::<Float64Type>($($argument),*),
            Date32 => $run::<Date32Type>($($argument),*),
            Date64 => $run::<Date64Type>($($argument),*),
            Time32(TimeUnit::Second) => $run::<Time32SecondType>($($argument),*),
            Time32(_) => $run::<Time32MillisecondType>($($argument),*),
            Time64(TimeUnit::Microsecond) => $run::<Time64MicrosecondType>($($argument),*),
            Time64(_) => $run::<Time64NanosecondType>($($argument),*),
            Timestamp(TimeUnit::Second, _) => $run::<TimestampSecondType>($($argument),*),
            Timestamp(TimeUnit::Millisecond, _) => $run::<TimestampMillisecondType>($($argument),*),
            Timestamp(TimeUnit::Microsecond, _) => $run::<TimestampMicrosecondType>($($argument),*),
            Timestamp(TimeUnit::Nanosecond, _) => $run::<TimestampNanosecondType>($($argument),*),
            Duration(TimeUnit::Second) => $run::<DurationSecondType>($($argument),*),
            Duration(TimeUnit::Millisecond) => $run::<DurationMillisecondType>($($argument),*),
            Duration(TimeUnit::Microsecond) => $run::<DurationMicrosecondType>($($argument),*),
            Duration(TimeUnit::Nanosecond) => $run::<DurationNanosecondType>($($argument),*),
            _ => $other,
        }
    }};
}

/// A primitive value as a double.
trait AsDouble: Copy {
    fn as_double(self) -> f64;
}

macro_rules! as_double {
    ($($Native:ty)*) => {
        $(impl AsDouble for $Native {
            fn as_double(self) -> f64 {
                self as f64
            }
        })*
    };
}

as_double!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

/// The values of a numeric or temporal array as doubles, NaN where they are null; `None` for other types.
pub(crate) fn doubles(array: &ArrayRef) -> Option<Vec<f64>> {
    fn of<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<Vec<f64>>
    where
        T::Native: AsDouble,
    {
        let values = array.as_primitive::<T>().iter();
        Some(values.map(|x| x.map_or(f64::NAN, AsDouble::as_double)).collect())
    }
    if let Some(halves) = array.as_primitive_opt::<Float16Type>() {
        return Some(halves.iter().map(|x| x.map_or(f64::NAN, |x| x.to_f64())).collect());
    }
    by_primitive_type!(array.data_type(), of(array), else None)
}

/// Writes the values of an array as strings.
pub(crate) enum Speller<'a> {
    Small(&'a arrow_array::StringArray),
    Large(&'a arrow_array::LargeStringArray),
    View(&'a arrow_array::StringViewArray),
    Boolean(&'a arrow_array::BooleanArray),
    Other(&'a ArrayRef),
}

impl<'a> Speller<'a> {
    pub fn new(values: &'a ArrayRef) -> Speller<'a> {
        match values.data_type() {
            DataType::Utf8 => Speller::Small(values.as_string()),
            DataType::LargeUtf8 => Speller::Large(values.as_string()),
            DataType::Utf8View => Speller::View(values.as_string_view()),
            DataType::Boolean => Speller::Boolean(values.as_boolean()),
            _ => Speller::Other(values),
        }
    }

    /// Appends value `i`; integers and floats in their own precision, never through a double.
    pub fn spell(&self, i: usize, into: &mut String) {
        // Writing to a string cannot fail; a value that has no spelling gives an empty string.
        let _ = match self {
            Speller::Small(v) => into.write_str(v.value(i)),
            Speller::Large(v) => into.write_str(v.value(i)),
            Speller::View(v) => into.write_str(v.value(i)),
            Speller::Boolean(v) => write!(into, "{}", v.value(i)),
            Speller::Other(v) => spell_other(v, i, into),
        };
    }
}

fn spell_other(array: &ArrayRef, i: usize, into: &mut String) -> std::fmt::Result {
    fn number<T: ArrowPrimitiveType>(
        array: &ArrayRef,
        i: usize,
        into: &mut String,
    ) -> std::fmt::Result
    where
        T::Native: std::fmt::Display,
    {
        write!(into, "{}", array.as_primitive::<T>().value(i))
    }
    match array.data_type() {
        DataType::Float16 => {
            write!(into, "{}", array.as_primitive::<Float16Type>().value(i).to_f32())
        }
        DataType::Decimal32(..) => {
            into.write_str(&array.as_primitive::<Decimal32Type>().value_as_string(i))
        }
        DataType::Decimal64(..) => {
            into.write_str(&array.as_primitive::<Decimal64Type>().value_as_string(i))
        }
        DataType::Decimal128(..) => {
            into.write_str(&array.as_primitive::<Decimal128Type>().value_as_string(i))
        }
        DataType::Decimal256(..) => {
            into.write_str(&array.as_primitive::<Decimal256Type>().value_as_string(i))
        }
        DataType::Date32 => debug(array.as_primitive::<Date32Type>().value_as_date(i), into),
        DataType::Date64 => debug(array.as_primitive::<Date64Type>().value_as_datetime(i), into),
        DataType::Time32(TimeUnit::Second) => {
            debug(array.as_primitive::<Time32SecondType>().value_as_time(i), into)
        }
        DataType::Time32(_) => {
            debug(array.as_primitive::<Time32MillisecondType>().value_as_time(i), into)
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            debug(array.as_primitive::<Time64MicrosecondType>().value_as_time(i), into)
        }
        DataType::Time64(_) => {
            debug(array.as_primitive::<Time64NanosecondType>().value_as_time(i), into)
        }
        DataType::Timestamp(TimeUnit::Second, zone) => {
            timestamp(array.as_primitive::<TimestampSecondType>(), zone.as_deref(), i, into)
        }
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            timestamp(array.as_primitive::<TimestampMillisecondType>(), zone.as_deref(), i, into)
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            timestamp(array.as_primitive::<TimestampMicrosecondType>(), zone.as_deref(), i, into)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            timestamp(array.as_primitive::<TimestampNanosecondType>(), zone.as_deref(), i, into)
        }
        of => by_primitive_type!(of, number(array, i, into), else Ok(())),
    }
}

/// A date or time in ISO 8601, as its `Debug` form writes it.
fn debug<T: std::fmt::Debug>(value: Option<T>, into: &mut String) -> std::fmt::Result {
    value.map_or(Ok(()), |value| write!(into, "{value:?}"))
}

/// A timestamp in ISO 8601, with its offset where the column has a time zone.
fn timestamp<T: ArrowTimestampType>(
    array: &PrimitiveArray<T>,
    zone: Option<&str>,
    i: usize,
    into: &mut String,
) -> std::fmt::Result
where
    i64: From<T::Native>,
{
    match zone.and_then(|zone| zone.parse::<Tz>().ok()) {
        Some(zone) => {
            let time = array.value_as_datetime_with_tz(i, zone);
            time.map_or(Ok(()), |time| into.write_str(&time.to_rfc3339()))
        }
        None => debug(array.value_as_datetime(i), into),
    }
}
