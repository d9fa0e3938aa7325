//! The commands of `docs/mission.md` run and print what the page says.

use super::Folder;
use std::path::Path;

/// A row of the page: its name, the commands and what each prints.
struct Row {
    name: String,
    commands: Vec<String>,
    prints: Vec<String>,
}

fn repository() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn rows() -> Vec<Row> {
    let page = std::fs::read_to_string(repository().join("docs/mission.md")).unwrap();
    let mut rows = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        // A pipe inside of a cell is escaped.
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> =
            line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect();
        if cells.len() != 8 || cells[1] == "row" {
            continue;
        }
        let parts = |cell: &str| -> Vec<String> { cell.split("<br>").map(code).collect() };
        rows.push(Row {
            name: cells[1].clone(),
            commands: parts(&cells[3]),
            prints: parts(&cells[4]),
        });
    }
    rows
}

/// The text between backticks; empty for a dash.
fn code(cell: &str) -> String {
    match cell.strip_prefix("`` ").and_then(|rest| rest.strip_suffix(" ``")) {
        Some(text) => text.to_owned(),
        None => cell.trim_matches('`').trim_matches('-').to_owned(),
    }
}

#[test]
#[cfg(unix)]
fn the_commands_of_the_mission_print_what_the_page_says() {
    let folder = Folder::new();
    let repository = repository();
    for name in ["examples", "testdata"] {
        std::os::unix::fs::symlink(repository.join(name), folder.path(name)).unwrap();
    }
    let program = assert_cmd::cargo::cargo_bin!("mercer");
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );

    let rows = rows();

    assert!(rows.len() >= 45, "{} rows", rows.len());
    let mut failures = Vec::new();
    for row in &rows {
        assert_eq!(row.commands.len(), row.prints.len(), "{}", row.name);
        for (command, expected) in row.commands.iter().zip(&row.prints) {
            let done = std::process::Command::new("sh")
                .args(["-c", command])
                .current_dir(folder.0.path())
                .env("PATH", &path)
                .output()
                .unwrap();
            let printed = String::from_utf8_lossy(&done.stdout);
            // Long lines are wrapped.
            let flat = printed.split_whitespace().collect::<Vec<_>>().join(" ");
            if !done.status.success() || !(flat.contains(expected) || printed.contains(expected)) {
                let messages = String::from_utf8_lossy(&done.stderr);
                failures.push(format!(
                    "{}: `{command}` does not print `{expected}`:\n{printed}\n{messages}",
                    row.name
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
