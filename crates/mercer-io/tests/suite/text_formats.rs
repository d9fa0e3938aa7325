//! JSON lines and svmlight.

use crate::{file, numbers, open, read, read_with, refused, words};
use mercer::data::{Kind, Values};
use mercer_io::{Format, Options};

#[test]
fn json_keys_become_columns_in_order_of_appearance() {
    let text =
        "{\"a\":1,\"b\":\"x\"}\n\n{\"c\":true,\"a\":2.5}\n{\"b\":null,\"c\":false,\"a\":3}\n";

    let (profile, table) = read(".jsonl", text);

    let names: Vec<&str> = profile.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(numbers(&table, "a"), [1.0, 2.5, 3.0]);
    assert_eq!(words(&table, "b"), ["x", "-", "-"]);
    assert_eq!(words(&table, "c"), ["-", "true", "false"]);
    assert_eq!(profile.columns[1].first_missing_line, Some(3));
    assert_eq!(profile.columns[2].first_missing_line, Some(1));
    assert_eq!(profile.columns[2].n_missing, 1);
}

#[test]
fn json_lines_are_the_same_in_any_block_size() {
    let text: String = (0..200)
        .map(|i| match i % 4 {
            0 => format!("{{\"a\":{i},\"b\":\"w{}\"}}\n", i % 3),
            1 => format!("{{\"late\":{i}.5,\"a\":{i}}}\n"),
            2 => "{}\n".to_owned(),
            _ => "\n".to_owned(),
        })
        .collect();
    let file = file(".jsonl", text.as_bytes());
    let read = |size: usize| {
        let source = open(&file, &Options::default()).unwrap().with_block_size(size);
        let profile = source.profile(&|_, _| true).unwrap();
        let table = source.read(&profile.schema()).unwrap();
        let table: Vec<_> = table.columns().iter().map(|c| words(&table, &c.name)).collect();
        (profile, table)
    };
    let expected = read(1 << 20);

    assert_eq!(expected.0.n_rows, 150);
    for size in [1, 16, 100] {
        assert_eq!(read(size), expected, "{size}");
    }
}

#[test]
fn json_numbers_keep_their_words_as_target() {
    let options = Options { target: Some("y".into()), ..Options::default() };

    let (profile, _) =
        read_with(".jsonl", b"{\"y\":9007199254740993}\n{\"y\":1.50}\n", &options).unwrap();

    assert_eq!(profile.columns[0].levels.names(), ["1.50", "9007199254740993"]);
}

#[test]
fn nested_and_repeated_keys_are_refused_with_their_line() {
    let options = Options::default();

    let nested = refused(".jsonl", "{\"a\":1}\n{\"a\":[1]}\n", &options);
    assert!(nested.contains("line 2") && nested.contains("`a` holds a list"), "{nested}");
    let twice = refused(".jsonl", "{\"a\":1,\"a\":2}\n", &options);
    assert!(twice.contains("line 1") && twice.contains("`a` appears twice"), "{twice}");
    let deep = refused(".jsonl", format!("{}\n", "{\"a\":".repeat(100_000)), &options);
    assert!(deep.contains("line 1"), "{deep}");
}

#[test]
fn a_json_key_that_never_comes_is_a_missing_column() {
    let (profile, _) = read(".jsonl", "{\"a\":1,\"b\":2}\n");
    let file = file(".jsonl", b"{\"a\":1}\n{\"a\":2}\n");

    let error = open(&file, &Options::default()).unwrap().read(&profile.schema()).unwrap_err();

    assert!(error.to_string().contains("no column `b`"), "{error}");
}

#[test]
fn svmlight_rows_are_sparse_and_labels_exact() {
    let text = "# comment\n+1 qid:3 1:0.5 4:2 # note\n-1 2:1e3\n\n9007199254740993 4:7\n-1\n";

    let (profile, table) = read("", text);

    assert_eq!(profile.columns[0].levels.names(), ["+1", "-1", "9007199254740993"]);
    assert_eq!((profile.columns[1].kind, profile.columns[1].width), (Kind::Sparse, 4));
    let Values::Sparse(rows) = &table.column("features").unwrap().values else { panic!() };
    assert_eq!((rows.rows(), rows.cols()), (4, 4));
    assert_eq!(rows.get(0, 3), Some(&2.0));
    assert_eq!(rows.get(1, 1), Some(&1000.0));
    assert_eq!(words(&table, "label"), ["+1", "-1", "9007199254740993", "-1"]);
}

#[test]
fn index_zero_anywhere_makes_indices_count_from_zero() {
    let file = file(".svm", b"1 1:5\n0 0:2 2:3\n");
    let source = open(&file, &Options::default()).unwrap().with_block_size(4);

    let profile = source.profile(&|_, _| true).unwrap();
    let table = source.read(&profile.schema()).unwrap();

    assert_eq!(profile.columns[1].width, 3);
    assert_eq!(source.description(), "svmlight, indices from 0");
    let Values::Sparse(rows) = &table.column("features").unwrap().values else { panic!() };
    assert_eq!(rows.get(0, 1), Some(&5.0));
    // Another source of the same file finds out without a profile.
    let again = open(&file, &Options::default()).unwrap();
    assert_eq!(again.read(&profile.schema()).unwrap(), table);
}

#[test]
fn svmlight_labels_are_numbers_if_the_schema_says_so() {
    let (profile, _) = read(".svm", "1.5 1:1\n-2 1:2\n");
    let mut schema = profile.schema();
    schema.fields[0].kind = Kind::Numeric;
    let file = file(".svm", b"1.5 1:1\n-2 1:2\n");

    let table = open(&file, &Options::default()).unwrap().read(&schema).unwrap();

    assert_eq!(numbers(&table, "label"), [1.5, -2.0]);
}

#[test]
fn svmlight_faults_name_their_line() {
    let options = Options { format: Some(Format::Svmlight), ..Options::default() };
    for (text, said) in [
        ("1 1:1\n1 3:1 2:1\n", "line 2: index 2 is repeated or smaller"),
        ("1 1:1 1:2\n", "line 1: index 1 is repeated"),
        ("1 1:x\n", "`1:x` is no index:value"),
        ("1 -1:5\n", "`-1:5` is no index:value"),
        ("1:5\n", "the first word `1:5` is no label"),
        ("1 999999999999:5\n", "index 999999999999 exceeds the limit of 100000000"),
    ] {
        let message = refused("", text, &options);
        assert!(message.contains(said), "{message}");
    }
    let (profile, _) = read(".svm", "1 2:1\n");
    let file = file(".svm", b"1 1:1\n1 1:1 3:1\n");
    let error = open(&file, &options).unwrap().read(&profile.schema()).unwrap_err().to_string();
    assert!(error.contains("line 2: index 3 is beyond the 2 features"), "{error}");
}
