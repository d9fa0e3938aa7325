//! Folders of texts and mails, files that are one, and a text a line.

use crate::{file, words};
use mercer::data::Kind;
use mercer::data::{Field, Schema};
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
        assert_eq!(profile.column("label").unwrap().levels.names(), ["a", "b"]);
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

const MAIL: &[u8] = b"Subject: =?iso-8859-1?Q?Sch=F6ne_Preise?=\r\nFrom: Ada <ada@example.org>\r\n\
    MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=outer\r\n\r\n--outer\r\n\
    Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
    <style>p {}</style><p>Gr=C3=BC=C3=9Fe</p><p>an alle</p>\r\n--outer\r\n\
    Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0=\r\n--outer--\r\n";

#[test]
fn mails_are_their_subject_sender_and_body() {
    let folder = tempfile::tempdir().unwrap();
    let mailbox =
        [b"From ada Mon\n", MAIL, b"\nFrom ada Tue\nSubject: two\n\n>From here\n"].concat();
    for (path, bytes) in [
        ("ham/1.eml", MAIL),
        ("spam/0.mbox", b""),
        ("spam/1.MBOX", &mailbox),
        ("spam/2.txt", b"Subject: left as it is"),
    ] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let one = "Schöne Preise Ada ada@example.org Grüße an alle";
    for size in [1, 1 << 20] {
        let source = Source::open(folder.path().to_str().unwrap(), &Options::default()).unwrap();
        let source = source.with_block_size(size);

        let profile = source.profile(&|_, _| true).unwrap();
        let table = source.read(&profile.schema()).unwrap();

        assert_eq!(words(&table, "label"), ["ham", "spam", "spam", "spam"]);
        let line = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let texts: Vec<String> = words(&table, "text").iter().map(line).collect();
        assert_eq!(texts, [one, one, "two From here", "Subject: left as it is"]);
        assert!(source.description().contains("4 files with 4 texts in 2 classes"));
        assert!(source.document_name(0).unwrap().ends_with("ham/1.eml"));
        assert!(source.document_name(2).unwrap().ends_with("spam/1.MBOX#2"));
        assert!(source.document_name(3).unwrap().ends_with("spam/2.txt"));
        assert_eq!(source.document_name(4), None);
    }
}

#[test]
fn a_mail_or_a_mailbox_is_read_by_its_name() {
    let schema = Schema { fields: vec![Field::new("body", Kind::Text)] };
    let read = |suffix: &str, bytes: &[u8]| {
        let file = file(suffix, bytes);
        let source = Source::open(file.path().to_str().unwrap(), &Options::default()).unwrap();
        (source.format(), source.read(&schema).map(|table| words(&table, "body")))
    };

    let (mail, texts) = read(".eml", MAIL);
    let (mailbox, many) = read(".mbox", b"From a\nSubject: 1\n\nFrom b\nSubject: 2\n");
    let (_, broken) = read(".mbox", b"Subject: 1\n");
    let (_, picture) = read(".eml", b"\x89PNG\r\n\x1a\n\0\0");

    assert_eq!((mail, mailbox), (Format::Mail, Format::Mailbox));
    assert!(texts.unwrap()[0].contains("Grüße"));
    assert_eq!(many.unwrap().iter().map(|t| t.trim()).collect::<Vec<_>>(), ["1", "2"]);
    assert!(broken.unwrap_err().to_string().contains(".mbox is not whole or not a mailbox"));
    assert!(picture.unwrap_err().to_string().contains(".eml: it is not text"));
}
