//! Folders of texts, files that are one, and a text a line.

use crate::{file, words};
use mercer::data::Kind;
use mercer::prepare::{Field, Schema};
use mercer_io::{Format, Options, Source};
use std::sync::Arc;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("b/2.txt", "zwei"),
        ("b/deep/1", "tief"),
        ("a/1.eml", "na\u{ef}ve"),
        ("a/.hidden", "no"),
        ("loose.txt", "outside"),
    ] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn a_folder_of_folders_is_a_table_of_labels_and_texts() {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    for size in [1, 10, 1 << 20] {
        let source = Source::open(path, &Options::default()).unwrap().with_block_size(size);

        let profile = source.profile(&|_, _| true).unwrap();
        let table = source.read(&profile.schema()).unwrap();

        assert_eq!(source.format(), Format::Folder);
        assert_eq!(words(&table, "label"), ["a", "b", "b"]);
        assert_eq!(words(&table, "text"), ["naïve", "zwei", "tief"]);
        assert_eq!(profile.column("text").unwrap().kind, Kind::Text);
        assert_eq!(profile.column("label").unwrap().levels.words(), ["a", "b"]);
        assert!(source.document_name(1).unwrap().ends_with("b/2.txt"));
    }
}

#[test]
fn a_models_columns_are_served_whatever_they_are_called() {
    let folder = folder();
    let source = Source::open(folder.path().to_str().unwrap(), &Options::default()).unwrap();
    let levels = mercer::data::Levels::new(vec!["a".into(), "b".into()]);
    let fields =
        vec![Field::new("body", Kind::Text), Field::categorical("class", Arc::new(levels))];

    let table = source.read(&Schema { fields: fields.clone() }).unwrap();

    assert_eq!(words(&table, "body"), ["naïve", "zwei", "tief"]);
    assert_eq!(words(&table, "class"), ["a", "b", "b"]);
    let numbers = Schema { fields: vec![Field::numeric("size")] };
    assert!(source.read(&numbers).unwrap_err().to_string().contains("no column `size`"));
}

#[test]
fn a_file_is_one_text_and_lines_are_many() {
    let schema = Schema { fields: vec![Field::new("body", Kind::Text)] };
    let file = file(".txt", b"one, two\r\n\nthree");
    let read = |format| {
        let options = Options { format: Some(format), ..Options::default() };
        let source = Source::open(file.path().to_str().unwrap(), &options).unwrap();
        words(&source.read(&schema).unwrap(), "body")
    };

    assert_eq!(read(Format::Text), ["one, two\r\n\nthree"]);
    assert_eq!(read(Format::Lines), ["one, two", "", "three"]);
}
