//! CSV as people write it, read the same in blocks of any size by any number of threads.

use crate::{file, numbers, open, read, read_with, words};
use mercer::data::{Kind, Stream, Table, Values};
use mercer_io::{Options, Profile, Source};
use proptest::prelude::*;
use std::io::Write;
use std::ops::ControlFlow;

#[test]
fn plain_fields_become_columns_of_their_kind() {
    let (profile, table) = read(".csv", "a,b,c,d\n1,x,true,\n2.5,y,FALSE,NA\n?,x,,?\n");

    let kinds: Vec<Kind> = profile.columns.iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [Kind::Numeric, Kind::Categorical, Kind::Boolean, Kind::Numeric]);
    assert_eq!(words(&table, "a"), ["1", "2.5", "-"]);
    assert_eq!(words(&table, "b"), ["x", "y", "x"]);
    assert_eq!(words(&table, "c"), ["true", "false", "-"]);
    let a = &profile.columns[0];
    assert_eq!((a.n_missing, a.first_missing_line), (1, Some(4)));
    assert_eq!((a.min, a.max, a.integers), (Some(1.0), Some(2.5), false));
    let b = &profile.columns[1];
    assert_eq!(
        (b.levels.names(), &b.level_counts[..]),
        (&["x".to_owned(), "y".to_owned()][..], &[2, 1][..])
    );
    assert_eq!(profile.columns[3].note.as_deref(), Some("every value is missing"));
}

#[test]
fn the_csv_spectrum_is_read() {
    let cases: [(&str, &str, &[&str]); 9] = [
        ("a,b\n1,\"ha, ha\"\n", "b", &["ha, ha"]),
        ("a,b\n1,\"ha \"\"ha\"\" ha\"\n3,4x\n", "b", &["ha \"ha\" ha", "4x"]),
        ("a,b\n1,\"\"\n\"\",x\n", "b", &["-", "x"]),
        ("a,b\r\n1,x\r\n2,y\r\n", "b", &["x", "y"]),
        ("a,b\n1,\"Once \nupon\r\na time\"\n5,z\n", "b", &["Once \nupon\r\na time", "z"]),
        ("\u{feff}a,b\n1,x", "a", &["1"]),
        ("a,\"b,b\"\n1,x\n", "b,b", &["x"]),
        ("a,b\n1,ʤ\n", "b", &["ʤ"]),
        ("a,b\n1,5\" pipe\n2, \"x\"\n", "b", &["5\" pipe", "\"x\""]),
    ];
    for (text, column, expected) in cases {
        let (_, table) = read(".csv", text);
        assert_eq!(words(&table, column), expected, "{text}");
    }
}

#[test]
fn quoted_numbers_are_numbers_and_spaces_do_not_count() {
    let (_, table) = read(".csv", "a,b\n\"1\", 2 \n 3,\" 4\"\n");

    assert_eq!(numbers(&table, "a"), [1.0, 3.0]);
    assert_eq!(numbers(&table, "b"), [2.0, 4.0]);
}

#[test]
fn empty_lines_are_no_rows() {
    let (profile, table) = read(".csv", "\n\na,b\n\n1,2\n\r\n3,\n\n");

    assert_eq!(numbers(&table, "a"), [1.0, 3.0]);
    assert_eq!(profile.columns[1].first_missing_line, Some(7));
}

#[test]
fn the_delimiter_is_inferred_and_reported() {
    for (text, said) in [
        ("a;b\n1,5;x\n", "CSV, delimiter `;` (inferred)"),
        ("a\tb\n1\tx\n", "CSV, delimiter `tab` (inferred)"),
        ("a|b\n1|x\n", "CSV, delimiter `|` (inferred)"),
    ] {
        let file = file(".txt", text.as_bytes());
        let source = open(&file, &Options::default()).unwrap();
        assert_eq!(source.description(), said);
        assert_eq!(source.profile(&|_, _| true).unwrap().columns.len(), 2);
    }
}

#[test]
fn a_file_without_header_numbers_its_columns() {
    let options = Options { header: false, ..Options::default() };

    let (profile, table) = read_with(".csv", b"1,x\n2,y\n", &options).unwrap();

    assert_eq!(profile.n_rows, 2);
    assert_eq!(numbers(&table, "column_1"), [1.0, 2.0]);
}

#[test]
fn missing_tokens_may_be_numbers() {
    let options = Options { missing: vec!["-999".into(), "n/a".into()], ..Options::default() };

    let (profile, table) = read_with(".csv", b"a\n1\n-999\nn/a\n-9990\n", &options).unwrap();

    assert_eq!(words(&table, "a"), ["1", "-", "-", "-9990"]);
    assert_eq!(profile.columns[0].n_missing, 2);
}

#[test]
fn target_words_stay_exact_where_they_look_like_numbers() {
    let options = Options { target: Some("y".into()), ..Options::default() };
    let text = b"x,y\n1,9007199254740993\n2,007\n3,9007199254740992\n4,7\n";

    let (profile, _) = read_with(".csv", text, &options).unwrap();

    let y = profile.column("y").unwrap();
    assert_eq!(y.kind, Kind::Numeric);
    assert_eq!(y.levels.names(), ["007", "7", "9007199254740992", "9007199254740993"]);
    let mut schema = profile.schema();
    schema.fields[1].kind = Kind::Categorical;
    schema.fields[1].levels = y.levels.clone();
    let file = file(".csv", text);
    let table = open(&file, &options).unwrap().read(&schema).unwrap();
    assert_eq!(words(&table, "y"), ["9007199254740993", "007", "9007199254740992", "7"]);
}

#[test]
fn overrides_win_over_inference() {
    let options =
        Options { types: vec![("zip".into(), Kind::Categorical.into())], ..Options::default() };

    let (profile, table) = read_with(".csv", b"zip\n01234\n1234\n", &options).unwrap();

    assert_eq!(profile.columns[0].levels.names(), ["01234", "1234"]);
    assert_eq!(words(&table, "zip"), ["01234", "1234"]);
}

#[test]
fn numbers_before_the_first_word_are_levels_too() {
    let text = format!("a\n{}{}", "7\n".repeat(30), "x\n".repeat(30));

    let file = file(".csv", text.as_bytes());
    let source = open(&file, &Options::default()).unwrap().with_block_size(16);
    let profile = source.profile(&|_, _| true).unwrap();

    assert_eq!(profile.columns[0].levels.names(), ["7", "x"]);
    assert_eq!(profile.columns[0].level_counts, [30, 30]);
}

#[test]
fn long_and_various_texts_are_text() {
    let rows: String = (0..30).map(|i| format!("{i},this is review number {i}\n")).collect();

    let (profile, table) = read(".csv", format!("id,review\n{rows}"));

    assert_eq!(profile.columns[1].kind, Kind::Text);
    assert_eq!(words(&table, "review")[29], "this is review number 29");
}

#[test]
fn compressed_files_read_like_plain_ones() {
    let plain = b"a,b\n1,x\n2,y\n";
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let members = [gzip(&plain[..6]), gzip(&plain[6..])].concat();
    let zst = zstd::encode_all(&plain[..], 1).unwrap();

    for (suffix, bytes) in [(".csv.gz", gzip(plain)), ("", members), (".csv.zst", zst)] {
        let (_, table) = read(suffix, bytes);
        assert_eq!(words(&table, "b"), ["x", "y"]);
    }
}

#[test]
fn columns_go_by_name_and_extra_ones_are_ignored() {
    let (profile, _) = read(".csv", "a,b\n1,x\n");
    let file = file(".csv", b"extra,b,a\nq,x,5\nq,new,6\n");

    let table = open(&file, &Options::default()).unwrap().read(&profile.schema()).unwrap();

    assert_eq!(table.columns()[0].name, "a");
    assert_eq!(numbers(&table, "a"), [5.0, 6.0]);
    assert_eq!(words(&table, "b"), ["x", "-"]);
}

#[test]
fn a_stream_comes_in_tables_of_one_length() {
    let text: String = std::iter::once("a,b\n".to_owned())
        .chain((0..103).map(|i| format!("{i},w{}\n", i % 7)))
        .collect();
    let file = file(".csv", text.as_bytes());
    for cache_bytes in [0, 1 << 20] {
        let options = Options { cache_bytes, ..Options::default() };
        let source = open(&file, &options).unwrap().with_block_size(50);
        let schema = source.profile(&|_, _| true).unwrap().schema();

        for chunk in [1, 10, 103, 1000] {
            let tables = stream(&source, &schema, chunk);
            assert!(tables[..tables.len() - 1].iter().all(|t| t.n_rows() == chunk));
            let a: Vec<f64> = tables.iter().flat_map(|t| numbers(t, "a").to_vec()).collect();
            assert_eq!(a, (0..103).map(f64::from).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_taker_may_stop_and_so_may_a_monitor() {
    let text = format!("a\n{}", "1\n".repeat(10_000));
    let file = file(".csv", text.as_bytes());
    let source = open(&file, &Options::default()).unwrap().with_block_size(16);
    let schema = source.profile(&|_, _| true).unwrap().schema();
    let mut n_waves = 0;

    source
        .stream(&schema, 4, &mut |_| {
            n_waves += 1;
            Ok(ControlFlow::Break(()))
        })
        .unwrap();

    assert_eq!(n_waves, 1);
    assert!(source.profile(&|_, _| false).is_err());
}

fn stream(source: &Source, schema: &mercer::data::Schema, chunk: usize) -> Vec<Table> {
    let mut all = Vec::new();
    source
        .stream(schema, chunk, &mut |tables| {
            all.extend(tables);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    all
}

/// Cells that make trouble: quotes, delimiters, newlines, gaps, numbers, long words.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "-?[0-9]{1,4}(\\.[0-9]{1,3})?",
        2 => "[a-c]{1,3}",
        1 => Just(String::new()),
        1 => "[a\",;\r\n é]{1,12}",
        1 => "[x ]{20,50}",
    ]
}

/// Writes a table as CSV; `quoting` says which cells are quoted without need.
fn write_csv(rows: &[Vec<String>], quoting: u64, end: &str) -> String {
    let mut out: String =
        (0..rows[0].len()).map(|j| format!("{}c{j}", if j > 0 { "," } else { "" })).collect();
    let mut bit = quoting;
    for row in rows {
        out.push_str(end);
        for (j, cell) in row.iter().enumerate() {
            bit = bit.rotate_left(1);
            let needs =
                cell.contains([',', '"', '\n', '\r']) || (row.len() == 1 && cell.is_empty());
            out.push_str(if j > 0 { "," } else { "" });
            if needs || bit & 1 == 1 || cell.trim() != cell {
                out.push_str(&format!("\"{}\"", cell.replace('"', "\"\"")));
            } else {
                out.push_str(cell);
            }
        }
    }
    out
}

fn read_all(text: &str, block_size: usize, kinds: &[(String, Kind)]) -> (Profile, Table) {
    let options = Options {
        delimiter: Some(b','),
        types: kinds.iter().map(|(name, kind)| (name.clone(), (*kind).into())).collect(),
        ..Options::default()
    };
    let file = file(".csv", text.as_bytes());
    crate::both_ways(&options, |options| Ok(open(&file, options)?.with_block_size(block_size)))
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_written_comes_back_in_any_block_size(
        (rows, n_columns) in (1usize..4).prop_flat_map(|n| {
            (prop::collection::vec(prop::collection::vec(cell(), n), 1..60), Just(n))
        }),
        quoting: u64,
        crlf: bool,
        trailing: bool,
        block_size in 1usize..200,
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let text = write_csv(&rows, quoting, end) + if trailing { end } else { "" };
        let as_text: Vec<_> = (0..n_columns).map(|j| (format!("c{j}"), Kind::Text)).collect();
        let as_words: Vec<_> = (0..n_columns).map(|j| (format!("c{j}"), Kind::Categorical)).collect();

        let (profile, table) = read_all(&text, block_size, &as_text);
        let whole = read_all(&text, 1 << 20, &as_words);
        let parts = read_all(&text, block_size, &as_words);

        prop_assert_eq!(profile.n_rows, rows.len() as u64);
        for j in 0..n_columns {
            let expected: Vec<String> = rows
                .iter()
                .map(|row| if row[j].trim().is_empty() { "-".to_owned() } else { row[j].clone() })
                .collect();
            prop_assert_eq!(words(&table, &format!("c{j}")), expected);
        }
        prop_assert_eq!(whole, parts);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let text: String = std::iter::once("x,y,z\n".to_owned())
        .chain((0..2000).map(|i| {
            let x = f64::from(i) * 0.37 - 100.0;
            let z = if i % 13 == 0 { String::new() } else { format!("\"w\n{}\"", i % 5) };
            format!("{x},{},{z}\n", i * i)
        }))
        .collect();
    let read_by = |threads: usize, block_size: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| read_all(&text, block_size, &[]))
    };
    let expected = read_by(1, 1 << 20);

    assert_eq!(expected.0.n_rows, 2000);
    for threads in [1, 2, 3, 8] {
        for block_size in [16, 999, 1 << 14] {
            assert!(
                read_by(threads, block_size) == expected,
                "{threads} threads, {block_size} bytes"
            );
        }
    }
}

#[test]
fn texts_that_were_asked_for_are_kept_as_they_stand() {
    let options = Options { types: vec![("body".into(), Kind::Text.into())], ..Options::default() };
    let text = "label,body\na,\"  two, or \"\"three\"\" \"\nb,\na,17\nb,\"a\nb\"\na, plain \nb,NA\na,true\n";

    let (profile, table) = read_with(".csv", text.as_bytes(), &options).unwrap();

    let some = |text: &str| Some(text.to_owned());
    let expected = [
        some("  two, or \"three\" "),
        None,
        some("17"),
        some("a\nb"),
        some("plain"),
        None,
        some("true"),
    ];
    assert_eq!(table.column("body").unwrap().values, Values::Text(expected.to_vec()));
    let body = &profile.columns[1];
    assert_eq!((body.kind, body.n_missing, body.first_missing_line), (Kind::Text, 2, Some(3)));
    let broken = read_with(".csv", b"label,body\na,fine\nb,\xff\xfe\n", &options).unwrap_err();
    assert!(broken.to_string().contains("line 3"), "{broken}");
}

#[test]
fn quotes_are_letters_where_somebody_says_so() {
    let text = b"\"a\"\tb\n\"we're\tx \"1\" y\n\"\t\"z\"\n";

    let plain = Options { quotes: false, ..Options::default() };
    let (profile, table) = read_with(".tsv", text, &plain).unwrap();

    assert_eq!(profile.columns[0].name, "\"a\"");
    assert_eq!(words(&table, "\"a\""), ["\"we're", "\""]);
    assert_eq!(words(&table, "b"), ["x \"1\" y", "\"z\""]);
    let refused = read_with(".tsv", text, &Options::default()).unwrap_err();
    assert!(refused.to_string().contains("--no-quotes"), "{refused}");
}
