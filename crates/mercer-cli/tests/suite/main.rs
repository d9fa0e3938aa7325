//! The command-line program, run in an empty folder with files, pipes and invalid input.

#![allow(clippy::unwrap_used)]

mod bayes;
mod checks;
mod columns;
mod compare;
mod conformal;
mod decisions;
mod errors;
mod folds;
mod inspect;
mod journey;
mod maps;
mod mission;
mod naive_bayes;
mod networks;
mod neural;
mod plot;
mod select;
#[cfg(feature = "serve")]
mod serve;
mod shell;
#[cfg(feature = "serve")]
mod studio;
mod support_vectors;
mod tables;
mod text;
mod tune;
mod unsupervised;
mod weights;

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An empty working folder.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// `mercer` in this folder. A training run that names no estimator takes the baseline: the comparison of candidates
    /// has tests of its own, with `--budget`.
    fn mercer(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("mercer"));
        command.current_dir(self.0.path()).args(args);
        let names_one = args.iter().any(|arg| {
            ["--model", "--budget", "--help"].iter().any(|option| arg.starts_with(option))
        });
        if args.contains(&"train") && !names_one {
            command.args(["--budget", "0"]);
        }
        command
    }

    /// Runs a command and returns standard output.
    fn output(&self, args: &[&str]) -> String {
        let done = self.mercer(args).assert().success();
        String::from_utf8(done.get_output().stdout.clone()).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.output(args)).unwrap()
    }

    /// Runs a command that must fail with this code and returns standard error.
    fn failure(&self, args: &[&str], code: i32) -> String {
        let done = self.mercer(args).assert().failure().code(code);
        let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
        assert!(message.contains("error:"), "no error in {message}");
        assert!(!message.contains("panicked"), "{message}");
        message
    }
}

/// A table of the repository.
fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data").join(name);
    path.to_str().unwrap().to_owned()
}
