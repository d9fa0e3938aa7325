//! Parquet and Arrow, written here with the arrow crates and read back.

use crate::{file, numbers, open, read, read_with, refused, words};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray,
    StringViewArray, TimestampMillisecondArray,
};
use mercer::data::Kind;
use mercer_io::Options;
use std::sync::Arc;

pub fn batch() -> RecordBatch {
    let dictionary: DictionaryArray<Int8Type> =
        vec![Some("u"), None, Some("v")].into_iter().collect();
    let decimals =
        Decimal128Array::from(vec![Some(12345), None, Some(-5)]).with_precision_and_scale(10, 2);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("int", Arc::new(Int64Array::from(vec![Some(9_007_199_254_740_993), None, Some(-2)]))),
        ("double", Arc::new(Float64Array::from(vec![0.5, f64::NAN, 2.0]))),
        ("single", Arc::new(Float32Array::from(vec![0.5, 1.5, 2.5]))),
        ("decimal", Arc::new(decimals.unwrap())),
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("word", Arc::new(StringArray::from(vec![Some("a"), Some("b"), None]))),
        ("large", Arc::new(LargeStringArray::from(vec!["007", "8", "x"]))),
        (
            "view",
            Arc::new(StringViewArray::from(vec!["a view that is longer than twelve", "b", "b"])),
        ),
        ("dictionary", Arc::new(dictionary)),
        ("date", Arc::new(Date32Array::from(vec![0, 1, 20_000]))),
        ("time", Arc::new(TimestampMillisecondArray::from(vec![1500, 0, 2000]))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
        .unwrap()
}

pub fn parquet_bytes(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

pub fn arrow_bytes(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

pub fn stream_bytes(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn every_type_comes_back_from_every_columnar_format() {
    let batch = batch();
    let zipped = zstd::encode_all(&parquet_bytes(&batch)[..], 1).unwrap();
    let files = [
        (".parquet", parquet_bytes(&batch)),
        ("", parquet_bytes(&batch)),
        (".parquet.zst", zipped),
        (".arrow", arrow_bytes(&batch)),
        ("", stream_bytes(&batch)),
    ];
    for (suffix, bytes) in files {
        let (profile, table) = read(suffix, bytes);

        assert_eq!(table.n_rows(), 6, "{suffix}");
        assert_eq!(words(&table, "double")[..3], ["0.5", "-", "2"]);
        assert_eq!(numbers(&table, "single")[3..], [0.5, 1.5, 2.5]);
        assert_eq!(words(&table, "decimal")[..3], ["123.45", "-", "-0.05"]);
        assert_eq!(words(&table, "bool")[3..], ["true", "-", "false"]);
        assert_eq!(words(&table, "word")[..3], ["a", "b", "-"]);
        assert_eq!(words(&table, "large")[..3], ["007", "8", "x"]);
        assert_eq!(words(&table, "view")[1..4], ["b", "b", "a view that is longer than twelve"]);
        assert_eq!(words(&table, "dictionary")[..3], ["u", "-", "v"]);
        assert_eq!(numbers(&table, "date")[..3], [0.0, 1.0, 20_000.0]);
        // Timestamps are days since 1970-01-01.
        let seconds: Vec<f64> =
            numbers(&table, "time")[..3].iter().map(|days| days * 86_400.0).collect();
        assert!(seconds.iter().zip([1.5, 0.0, 2.0]).all(|(a, b)| (a - b).abs() < 1e-9));
        let large = profile.column("large").unwrap();
        assert_eq!((large.kind, large.levels.len()), (Kind::Categorical, 3));
        let int = profile.column("int").unwrap();
        assert_eq!((int.n_missing, int.first_missing_line, int.integers), (2, Some(2), true));
        assert!(profile.column("date").unwrap().notation.is_date());
        assert!(profile.column("time").unwrap().notation.is_date());
    }
}

#[test]
fn big_integers_are_exact_as_target() {
    let options = Options { target: Some("int".into()), ..Options::default() };
    let bytes = parquet_bytes(&batch());

    let (profile, _) = read_with(".parquet", &bytes, &options).unwrap();

    let levels = &profile.column("int").unwrap().levels;
    assert_eq!(levels.names(), ["-2", "9007199254740993"]);
    let mut schema = profile.schema();
    schema.fields.truncate(1);
    schema.fields[0].kind = Kind::Categorical;
    schema.fields[0].levels = levels.clone();
    let file = file(".parquet", &bytes);
    let table = open(&file, &options).unwrap().read(&schema).unwrap();
    assert_eq!(words(&table, "int")[..3], ["9007199254740993", "-", "-2"]);
}

#[test]
fn nested_infinite_and_wrong_columns_are_refused_by_name() {
    let list =
        ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>([Some([Some(1)])]);
    let nested = RecordBatch::try_from_iter([("deep", Arc::new(list) as ArrayRef)]).unwrap();
    let said = refused(".parquet", parquet_bytes(&nested), &Options::default());
    assert!(said.contains("column `deep`") && said.contains("List"), "{said}");

    let infinite = Arc::new(Float64Array::from(vec![1.0, f64::INFINITY])) as ArrayRef;
    let infinite = RecordBatch::try_from_iter([("x", infinite)]).unwrap();
    let said = refused(".arrow", arrow_bytes(&infinite), &Options::default());
    assert!(said.contains("row 2, column `x`: `inf` is not a finite number"), "{said}");

    let mut schema = read(".parquet", parquet_bytes(&batch())).0.schema();
    schema.fields[5].kind = Kind::Numeric;
    let file = file(".parquet", &parquet_bytes(&batch()));
    let said = open(&file, &Options::default()).unwrap().read(&schema).unwrap_err().to_string();
    assert!(said.contains("column `word`: it holds Utf8 where numeric"), "{said}");
}

#[test]
fn damaged_files_are_said_to_be_damaged() {
    let said = refused(".parquet", b"PAR1 and nothing else", &Options::default());
    assert!(said.contains("not whole or not Parquet"), "{said}");
    let said = refused(".arrow", b"ARROW1 and nothing else", &Options::default());
    assert!(said.contains("not whole or not Arrow"), "{said}");
}
