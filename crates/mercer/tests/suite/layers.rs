//! Imports point down: interfaces, application, catalog, preprocessing, chapters, foundations, errors.
//!
//! A chapter may use the public items of another one if this table lists the pair, and never its internal modules.

use std::fs;
use std::path::Path;

/// The modules of the crate, lowest layer first.
const LAYERS: [&[&str]; 6] = [
    &["error"],
    &["data", "stats", "solver", "model", "evaluate", "explain", "calibrate"],
    &[
        "probability",
        "decision",
        "bayes",
        "discriminant",
        "linear",
        "kernel",
        "svm",
        "kernelized",
        "neural",
        "text",
    ],
    &["preprocess"],
    &["catalog"],
    &["train", "predict", "file"],
];
/// Chapters that build on another one.
const CHAPTERS: [(&str, &str); 6] = [
    ("decision", "probability"),
    ("kernelized", "kernel"),
    // The leave-one-out scores of a wide linear SVM need the Gram matrix of its rows.
    ("linear", "kernel"),
    ("svm", "kernel"),
    // The Nystrom approximation of an SVM is a linear SVM over its feature map.
    ("svm", "linear"),
    // Tree-augmented naive Bayes is both.
    ("probability", "bayes"),
];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

/// The paths `crate::a::b` of a file outside its tests and comments.
fn paths(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut found = Vec::new();
    for line in lines {
        for (at, _) in line.match_indices("crate::") {
            let rest = &line[at + "crate::".len()..];
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
            found.push(rest[..end.unwrap_or(rest.len())].to_owned());
        }
    }
    found
}

fn visit(folder: &Path, see: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(&path, see);
        } else if path.extension().is_some_and(|e| e == "rs") {
            see(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn imports_point_down() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut wrong, mut n_imports) = (Vec::new(), 0);

    visit(&src, &mut |path, text| {
        let file = path.strip_prefix(&src).unwrap();
        let top = file.components().next().unwrap().as_os_str().to_string_lossy();
        let top = top.trim_end_matches(".rs");
        let Some(own) = layer(top) else {
            assert!(["lib", "prelude"].contains(&top), "{top} has no layer");
            return;
        };
        if file.ends_with("tests.rs") {
            return;
        }
        for import in paths(text) {
            let mut parts = import.split("::");
            let module = parts.next().unwrap_or_default();
            let Some(theirs) = layer(module).filter(|_| module != top) else { continue };
            n_imports += 1;
            let chapters = own == 2 && theirs == 2;
            let internal = parts
                .next()
                .is_some_and(|part| part.starts_with(char::is_lowercase) && parts.next().is_some());
            let allowed = match chapters {
                true => CHAPTERS.contains(&(top, module)) && !internal,
                false => theirs <= own,
            };
            if !allowed {
                wrong.push(format!("{}: crate::{import}", file.display()));
            }
        }
    });

    assert!(n_imports > 300, "only {n_imports} imports were found");
    assert!(wrong.is_empty(), "imports that point up or into a sibling:\n{}", wrong.join("\n"));
}
