//! Several files as one table.

use super::{both_ways, read_with};
use mercer_io::{Options, Source};
use std::fs;
use tempfile::TempDir;

/// A folder with files of these names and contents.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

const PARTS: [(&str, &str); 4] = [
    ("part-0.csv", "age,city\n31,Ulm\n9,Bonn\n"),
    ("nested/part-1.csv", "age,city\n4,Kiel\n"),
    ("_SUCCESS", ""),
    ("part-2.csv", "age,city\n7,Ulm\n8,Trier\n"),
];

#[test]
fn a_folder_of_tables_is_the_table_of_their_rows() {
    let folder = folder(&PARTS);
    let path = folder.path().to_str().unwrap().to_owned();

    let (profile, table) =
        both_ways(&Options::default(), |options| Source::open(&path, options)).unwrap();

    // Nested folders come in the order of names.
    let whole = "age,city\n4,Kiel\n31,Ulm\n9,Bonn\n7,Ulm\n8,Trier\n";
    let (expected_profile, expected) =
        read_with(".csv", whole.as_bytes(), &Options::default()).unwrap();
    assert_eq!(table, expected);
    assert_eq!(profile.schema(), expected_profile.schema());
    assert_eq!(profile.n_rows, 5);
}

#[test]
fn listed_files_are_read_in_the_order_of_the_list() {
    let folder = folder(&PARTS);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let paths = [path("part-2.csv"), path("part-0.csv")];

    let source = Source::open_several(&paths, &Options::default()).unwrap();
    let profile = source.profile(&|_, _| true).unwrap();
    let table = source.read(&profile.schema()).unwrap();

    assert_eq!(table.columns()[0].values.cell(0), Some("7".to_owned()));
    assert_eq!(table.n_rows(), 4);
    assert!(source.description().contains("2 files as one table"), "{}", source.description());
}

#[test]
fn an_error_names_the_file_and_its_line() {
    let folder = folder(&[("a.csv", "x,y\n1,2\n3,4\n"), ("b.csv", "x,y\n5,6\n7\n")]);
    let path = folder.path().to_str().unwrap().to_owned();

    let source = Source::open(&path, &Options::default()).unwrap();
    let error = source.profile(&|_, _| true).unwrap_err().to_string();

    assert!(error.contains("b.csv") && error.contains("line 3"), "{error}");
}

#[test]
fn files_with_other_columns_or_formats_are_refused() {
    let other = folder(&[("a.csv", "x,y\n1,2\n"), ("b.csv", "x,z\n5,6\n")]);
    let mixed = folder(&[("a.csv", "x,y\n1,2\n"), ("b.jsonl", "{\"x\":1,\"y\":2}\n")]);
    let path = |folder: &TempDir, name: &str| folder.path().join(name).to_str().unwrap().to_owned();

    let error = Source::open(other.path().to_str().unwrap(), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("b.csv") && error.to_string().contains("x, z"), "{error}");
    let paths = [path(&mixed, "a.csv"), path(&mixed, "b.jsonl")];
    let error = Source::open_several(&paths, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("all are CSV or all are Parquet"), "{error}");
}
