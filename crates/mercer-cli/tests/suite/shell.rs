//! Shell conventions: pipes, JSON, colors, completions.

use super::{Folder, example};

#[test]
fn data_is_read_from_pipes() {
    let folder = Folder::new();
    let table = std::fs::read_to_string(example("iris.csv")).unwrap();
    folder
        .mercer(&["train", "-", "--target", "species", "--out", "m.mercer"])
        .write_stdin(table.clone())
        .assert()
        .success();

    let done = folder.mercer(&["predict", "m.mercer", "-"]).write_stdin(table).assert().success();

    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 151);
}

#[test]
fn standard_output_is_json_only() {
    let folder = Folder::new();

    let report = folder.json(&["train", &example("penguins.csv"), "--target", "species", "--json"]);

    assert_eq!(report["rows"], 344);
    assert_eq!(report["estimator"], "mixed-nb");
    assert_eq!(report["certificate"]["status"], "closed-form");
    assert!(report["mutual_information"][0]["bits"].as_f64().unwrap() > 0.5);
    let cards = folder.json(&["models", "--json"]);
    assert_eq!(cards[0]["id"], "gaussian-nb");
    let why = folder.json(&["explain", "penguins.mercer", &example("penguins.csv"), "--json"]);
    assert_eq!(why["factors"][0]["column"], "island");
    assert_eq!(why["factors"][0]["level"], "Torgersen");
    let lines = folder.output(&["predict", "penguins.mercer", &example("penguins.csv"), "--json"]);
    assert_eq!(lines.lines().count(), 344);
    assert!(lines.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
}

#[test]
fn no_color_without_a_terminal() {
    let folder = Folder::new();

    let message = folder.failure(&["inspect", "nothing.mercer"], 4);

    assert!(!message.contains('\x1b'), "{message:?}");
}

#[test]
fn quiet_suppresses_messages() {
    let folder = Folder::new();

    let done = folder
        .mercer(&["train", &example("iris.csv"), "--target", "species", "--quiet"])
        .assert()
        .success();

    assert!(done.get_output().stderr.is_empty());
}

#[test]
fn every_shell_has_a_completion_script() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(folder.output(&["completions", shell]).contains("mercer"));
    }
}

#[test]
fn output_files_are_written_atomically() {
    let folder = Folder::new();
    folder.write("train.csv", "a,y\n1,p\n2,p\n8,q\n9,q\n");
    folder.output(&["train", "train.csv", "--target", "y", "--folds", "0"]);
    folder.write("bad.csv", "a\n1\nx\n");

    folder.output(&["predict", "train.mercer", "train.csv", "--out", "good.out"]);
    folder.failure(&["predict", "train.mercer", "bad.csv", "--out", "bad.out"], 3);

    assert_eq!(std::fs::read_to_string(folder.path("good.out")).unwrap(), "y\np\np\nq\nq\n");
    assert!(!folder.path("bad.out").exists());
    assert!(
        folder.names().iter().all(|name| !name.starts_with('.')),
        "litter: {:?}",
        folder.names()
    );
}

/// Ctrl-C while reading from a pipe without data, where the process is blocked.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_within_two_seconds_without_leftover_files() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let folder = Folder::new();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("mercer"))
        .current_dir(folder.path("."))
        .args(["train", "-", "--target", "y"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pipe = child.stdin.take();
    std::thread::sleep(Duration::from_millis(300));

    let start = Instant::now();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let status = child.wait().unwrap();

    drop(pipe);
    assert_eq!(status.code(), Some(130));
    assert!(start.elapsed() < Duration::from_secs(2));
    assert!(folder.names().is_empty());
}
