//! `mercer check`, `mercer profile`, and the checks of `mercer train`.

use super::{Folder, example};
use std::path::Path;

/// The codes of the findings of a command.
fn codes(folder: &Folder, args: &[&str]) -> Vec<String> {
    let findings = folder.json(&[args, &["--json"]].concat());
    let findings = findings.as_array().unwrap();
    findings.iter().map(|f| f["code"].as_str().unwrap().to_owned()).collect()
}

/// Rows of `x` and a label.
fn labeled(n: u32, label: impl Fn(u32) -> String) -> String {
    let rows = (0..n).map(|i| format!("{}.5,{}\n", (i * 7919) % 997, label(i)));
    "x,y\n".to_owned() + &rows.collect::<String>()
}

#[test]
fn a_clean_table_has_no_findings() {
    let folder = Folder::new();
    let iris = example("iris.csv");

    let found = folder.output(&["check", &iris, "--target", "species"]);

    assert_eq!(found, "no findings\n");
}

#[test]
fn imbalance_rare_classes_and_spelling_are_found() {
    let folder = Folder::new();
    let label = |i: u32| match i {
        0..4 => "rare".to_owned(),
        i if i % 10 == 0 => "Common".to_owned(),
        _ => "common".to_owned(),
    };
    folder.write("t.csv", &labeled(200, label));
    let check = ["check", "t.csv", "--target", "y"];

    assert_eq!(codes(&folder, &check), ["MRC006", "MRC007", "MRC009"]);
    let silenced = [&check[..], &["--ignore-check", "mrc006", "--ignore-check", "MRC009"]].concat();
    assert_eq!(codes(&folder, &silenced), ["MRC007"]);
    let error = folder.failure(&[&check[..], &["--ignore-check", "MRC999"]].concat(), 2);
    assert!(error.contains("MRC001"), "{error}");
}

#[test]
fn duplicates_are_found_with_their_rows() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|i| format!("{}.5,{}\n", i % 50, i % 2)).collect();
    folder.write("t.csv", &format!("x,y\n{rows}"));

    let found = folder.output(&["check", "t.csv", "--target", "y"]);

    assert!(found.contains("MRC002") && found.contains("10 of 60 rows"), "{found}");
    assert!(found.contains("rows 51, 52"), "{found}");
}

#[test]
fn drift_of_a_new_table_is_found() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    folder.output(&["train", &iris, "--target", "species", "--model", "lda", "--out", "m.mercer"]);
    let shifted: String = std::fs::read_to_string(&iris)
        .unwrap()
        .lines()
        .enumerate()
        .map(|(i, line)| match (i, line.split_once(',')) {
            (1.., Some((first, rest))) => {
                format!("{},{rest}\n", first.parse::<f64>().unwrap() + 3.0)
            }
            _ => format!("{line}\n"),
        })
        .collect();
    folder.write("shifted.csv", &shifted);

    assert_eq!(codes(&folder, &["check", &iris, "m.mercer"]), [""; 0]);
    assert_eq!(codes(&folder, &["check", "shifted.csv", "m.mercer"]), ["MRC016"]);
}

#[test]
fn a_fit_is_checked_too() {
    let folder = Folder::new();
    let wine = example("wine.csv");
    let train =
        ["train", &wine, "--target", "cultivar", "--model", "svc", "--prepare", "scale=none"];

    let report = folder.json(&[&train[..], &["--json"]].concat());

    let codes = report["checks"].to_string();
    assert!(codes.contains("MRC010"), "{codes}");
    let slow = ["--model", "mlp", "--set", "max_iter=1", "--json"];
    let slow =
        folder.json(&[&["train", &example("iris.csv"), "--target", "species"], &slow[..]].concat());
    assert!(slow["checks"].to_string().contains("MRC013"), "{}", slow["checks"]);
}

#[test]
fn every_code_has_a_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks");

    for check in mercer::train::checks::Check::ALL {
        let page = std::fs::read_to_string(folder.join(format!("{check}.md"))).unwrap();
        assert!(page.starts_with(&format!("# {check} ")), "{check}");
        assert!(page.contains("```sh\n"), "{check} shows no command");
    }
}

#[test]
fn a_profile_is_written_in_three_formats() {
    let folder = Folder::new();
    let penguins = example("penguins.csv");

    let text = folder.output(&["profile", &penguins, "--target", "species"]);
    for name in ["p.html", "p.md", "p.json"] {
        folder.output(&["profile", &penguins, "--target", "species", "--out", name]);
    }

    assert!(text.contains("species") && text.contains("344 rows"), "{text}");
    let html = std::fs::read_to_string(folder.path("p.html")).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("class=\"histogram\""));
    let markdown = std::fs::read_to_string(folder.path("p.md")).unwrap();
    assert!(markdown.contains("| species | categorical | 0 |"), "{markdown}");
    let json = std::fs::read_to_string(folder.path("p.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["rows"], 344);
    let error = folder.failure(&["profile", &penguins, "--out", "p.txt"], 2);
    assert!(error.contains(".html, .md or .json"), "{error}");
}
