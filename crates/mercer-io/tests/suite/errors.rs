//! Every message says file, line, column, what was found and what to do.

use crate::{file, open, read, refused};
use mercer::data::Kind;
use mercer_io::{Error, Limits, Options, Source};

fn check(suffix: &str, bytes: impl AsRef<[u8]>, options: &Options, parts: &[&str]) {
    let said = refused(suffix, bytes, options);
    for part in parts {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
}

#[test]
fn a_column_of_numbers_with_one_word_is_not_turned_into_words() {
    let rows: String =
        (0..30).map(|i| if i == 20 { "1,n/a\n".into() } else { format!("1,{i}\n") }).collect();

    let parts = [
        ".csv, line 22, column `age`: `n/a` is not a finite number",
        "--missing 'n/a'",
        "--column age=categorical",
    ];
    check(".csv", format!("x,age\n{rows}"), &Options::default(), &parts);
    let gap = Options { missing: vec!["n/a".into()], ..Options::default() };
    assert!(crate::read_with(".csv", format!("x,age\n{rows}").as_bytes(), &gap).is_ok());
    let words =
        Options { types: vec![("age".into(), Kind::Categorical.into())], ..Options::default() };
    assert!(crate::read_with(".csv", format!("x,age\n{rows}").as_bytes(), &words).is_ok());
}

#[test]
fn lines_are_true_behind_quoted_newlines() {
    let file = file(".csv", b"a,b\n\"x\n\n\",1\ny,2\nz,3,4\n");

    for size in [1, 8, 16, 1 << 20] {
        let source = open(&file, &Options::default()).unwrap().with_block_size(size);
        let said = source.profile(&|_, _| true).unwrap_err().to_string();
        assert!(said.contains("line 6: found 3 fields where the first line has 2"), "{said}");
    }
}

#[test]
fn faults_of_csv_are_named() {
    let plain = Options::default();
    check(".csv", "a,b\n1\n", &plain, &["line 2", "found 1 fields", "has 2"]);
    check(".csv", "a,b\n1,2\n\n3,\"x\n", &plain, &["line 4", "never closed"]);
    check(".csv", "a,b\n1,\"x\"y\n", &plain, &["line 2", "closing quote"]);
    check(".csv", "a,b,a\n1,2,3\n", &plain, &["column `a` appears twice", "1 and 3"]);
    check(".csv", "", &plain, &["is empty"]);
    check(".csv", "\n\n", &plain, &["is empty"]);
    check(".csv", "a,b\n", &plain, &["no rows, only a header", "--no-header"]);
    check(".csv", b"a,b\n1,x\n2,\xff\n", &plain, &["line 3", "column `b`", "not UTF-8"]);
    check(".csv", b"a,\xff\n1,x\n", &plain, &["line 1", "column 2", "not UTF-8"]);
    check("", b"\xff\xfea\x00", &plain, &["UTF-16", "iconv"]);
    check("", b"\x7fELF\x00\x00", &plain, &["cannot tell the format", "--format csv"]);
    let odd = Options { delimiter: Some(b'e'), ..Options::default() };
    check(".csv", "a,b\n", &odd, &["`e` cannot be a delimiter"]);
}

#[test]
fn asked_kinds_and_targets_are_checked() {
    let kinds = |name: &str, kind| Options {
        types: vec![(name.into(), Kind::into(kind))],
        ..Options::default()
    };
    let text = "age,city\n1,Ulm\nx,Bonn\n";
    check(
        ".csv",
        text,
        &kinds("age", Kind::Numeric),
        &["line 3", "column `age`", "`x` is not a finite"],
    );
    check(
        ".csv",
        text,
        &kinds("city", Kind::Boolean),
        &["line 2", "column `city`", "`true` or `false`"],
    );
    check(".csv", text, &kinds("city", Kind::Sparse), &["`city` cannot be read as sparse"]);
    check(".csv", text, &kinds("citi", Kind::Text), &["no column `citi` (did you mean `city`?)"]);
    let target = Options { target: Some("Age".into()), ..Options::default() };
    check(
        ".csv",
        text,
        &target,
        &["no column `Age` (did you mean `age`?)", "it has `age`, `city`"],
    );
}

#[test]
fn a_schema_is_matched_by_name_and_kind() {
    let (profile, _) = read(".csv", "age,ok,city\n1,true,Ulm\n");
    for (text, said) in [
        ("age,ok\n1,true\n", "no column `city`; it has `age`, `ok`"),
        (
            "city,age,ok\nUlm,1,true\nUlm,old,true\n",
            "line 3, column `age`: `old` is not a finite number",
        ),
        ("city,age,ok\nUlm,1,2\n", "line 2, column `ok`: `2` is not `true` or `false`"),
    ] {
        let file = file(".csv", text.as_bytes());
        let error = open(&file, &Options::default()).unwrap().read(&profile.schema()).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert!(!error.is_resource());
    }
}

#[test]
fn limits_are_named_and_adjustable() {
    let with = |limits: Limits| Options { limits, ..Options::default() };
    let usual = Limits::default();
    let text = format!("a,b\n1,{}\n", "x".repeat(100));
    let parts = ["line 2", "column `b`", "limit of 50", "`field_bytes`"];
    check(".csv", &text, &with(Limits { field_bytes: 50, ..usual }), &parts);
    let parts = ["line 2", "a record", "limit of 60", "`record_bytes`"];
    check(".csv", &text, &with(Limits { record_bytes: 60, ..usual }), &parts);
    check(
        ".csv",
        &text,
        &with(Limits { columns: 1, ..usual }),
        &["2 columns", "limit of 1", "`columns`"],
    );
    let levels = Options {
        limits: Limits { levels: 2, ..usual },
        types: vec![("a".into(), Kind::Categorical.into())],
        ..Options::default()
    };
    check(".csv", "a\nx\ny\nz\n", &levels, &["column `a`", "limit of 2", "`levels`"]);
    let (profile, _) =
        crate::read_with(".csv", b"a\nx\ny\nz\n", &with(Limits { levels: 2, ..usual })).unwrap();
    assert_eq!(profile.columns[0].kind, Kind::Text);
}

#[test]
fn a_bomb_is_stopped() {
    let zeros = vec![b'1'; 100 << 20];
    let bomb = zstd::encode_all(&zeros[..], 1).unwrap();
    let limits = Limits { record_bytes: 1 << 30, field_bytes: 1 << 30, ..Limits::default() };
    let file = file(".csv.zst", &bomb);

    let error = open(&file, &Options { limits, ..Options::default() }).unwrap_err();

    assert!(error.is_resource());
    assert!(error.to_string().contains("`expansion`"), "{error}");
}

#[test]
fn what_cannot_be_opened_is_named() {
    let error = Source::open("/no/such/file.csv", &Options::default()).unwrap_err();
    assert!(matches!(&error, Error::System { file, .. } if file == "/no/such/file.csv"), "{error}");
    // A folder is a table of its texts; one without any is empty.
    let folder = tempfile::tempdir().unwrap();
    let error = Source::open(folder.path().to_str().unwrap(), &Options::default()).unwrap_err();
    assert!(matches!(&error, Error::Empty { .. }), "{error}");
    check(".csv.gz", b"\x1f\x8b\x08\x00\x00", &Options::default(), &["gzip"]);
}
