//! Mistakes get an answer that names the place and says what to do.

use super::{Folder, example};

/// Runs `mercer train` on a table and gives back the error.
fn refused(table: &str, args: &[&str], code: i32) -> String {
    let folder = Folder::new();
    folder.write("t.csv", table);
    let mut all = vec!["train", "t.csv"];
    all.extend(args);
    let words = folder.failure(&all, code);
    assert_eq!(folder.names(), ["t.csv"], "something was left behind");
    words
}

fn says(words: &str, parts: &[&str]) {
    for part in parts {
        assert!(words.contains(part), "`{part}` is not in: {words}");
    }
}

const TARGET: &[&str] = &["--target", "y"];

#[test]
fn a_bad_cell_is_named_with_line_column_and_remedy() {
    let mut table = String::from("age,y\n");
    for i in 0..30 {
        table += &format!("{},{}\n", i, if i % 2 == 0 { "a" } else { "b" });
    }
    table += "n.v.,a\n";

    let words = refused(&table, TARGET, 3);

    says(&words, &["t.csv", "line 32", "`age`", "`n.v.`", "--missing", "--column age=categorical"]);
}

#[test]
fn a_ragged_row_is_named_with_its_counts() {
    let words = refused("a,b,y\n1,2,p\n1,2\n3,4,q\n", TARGET, 3);

    says(&words, &["t.csv", "line 3", "2", "3"]);
}

#[test]
fn an_empty_file_is_said_to_be_empty() {
    says(&refused("", TARGET, 3), &["t.csv", "empty"]);
    says(&refused("a,y\n", TARGET, 3), &["t.csv", "no rows"]);
}

#[test]
fn one_class_is_refused() {
    says(&refused("a,y\n1,p\n2,p\n", TARGET, 3), &["t.csv", "`y`", "`p`", "at least two"]);
}

#[test]
fn a_missing_target_column_is_named_with_those_there_are() {
    let words = refused("a,b\n1,p\n2,q\n", TARGET, 3);

    says(&words, &["t.csv", "`y`", "`a`, `b`"]);
}

#[test]
fn a_target_nobody_named_is_asked_for() {
    says(&refused("a,b\n1,p\n2,q\n", &[], 2), &["--target", "a, b"]);
}

#[test]
fn a_gap_in_the_target_is_named() {
    says(&refused("a,y\n1,p\n2,\n3,q\n", TARGET, 3), &["t.csv", "`y`", "line 3"]);
}

#[test]
fn a_quantity_is_no_class() {
    let rows: String = (0..200).map(|i| format!("{i},{}.5\n", i)).collect();

    let named = ["--target", "y", "--model", "gaussian-nb"];
    let words = refused(&format!("a,y\n{rows}"), &named, 3);

    says(&words, &["`y`", "a regression target", "--model ols", "--column y=categorical"]);
}

#[test]
fn a_word_is_no_quantity() {
    let named = ["--target", "y", "--model", "ridge"];

    says(&refused("a,y\n1,p\n2,q\n", &named, 3), &["`y`", "ridge is a regressor"]);
}

#[test]
fn unknown_models_and_parameters_are_answered_with_those_there_are() {
    let table = "a,y\n1,p\n2,q\n";

    says(&refused(table, &["--target", "y", "--model", "gauss"], 2), &["gauss", "gaussian-nb"]);
    says(
        &refused(table, &["--target", "y", "--set", "smoothing=1"], 2),
        &["smoothing", "var_smoothing"],
    );
    says(
        &refused(table, &["--target", "y", "--set", "var_smoothing=-1"], 2),
        &["var_smoothing", "-1", "float >= 0"],
    );
    says(
        &refused(table, &["--target", "y", "--prepare", "scale=log"], 2),
        &["standard or min-max"],
    );
}

#[test]
fn a_model_file_that_is_none_is_refused() {
    let folder = Folder::new();
    folder.write("t.csv", "a\n1\n");
    folder.write("m.mercer", "this is not a model");

    says(&folder.failure(&["predict", "m.mercer", "t.csv"], 4), &["m.mercer", "not a valid model"]);
    says(&folder.failure(&["predict", "gone.mercer", "t.csv"], 4), &["gone.mercer"]);
}

#[test]
fn a_damaged_model_file_is_refused() {
    let folder = Folder::new();
    folder.output(&["train", &example("iris.csv"), "--target", "species"]);
    let mut bytes = std::fs::read(folder.path("iris.mercer")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(folder.path("iris.mercer"), bytes).unwrap();

    let words = folder.failure(&["predict", "iris.mercer", &example("iris.csv")], 4);

    says(&words, &["iris.mercer", "checksum"]);
}

#[test]
fn prediction_refuses_missing_and_wrongly_typed_columns_by_name() {
    let folder = Folder::new();
    folder.output(&["train", &example("iris.csv"), "--target", "species"]);
    folder.write("short.csv", "sepal_length,sepal_width,petal_length\n1,2,3\n");
    folder.write("words.csv", "sepal_length,sepal_width,petal_length,petal_width\n1,2,3,wide\n");

    says(
        &folder.failure(&["predict", "iris.mercer", "short.csv"], 3),
        &["short.csv", "petal_width"],
    );
    says(
        &folder.failure(&["predict", "iris.mercer", "words.csv"], 3),
        &["words.csv", "line 2", "petal_width", "wide"],
    );
}

#[test]
fn a_memory_budget_that_cannot_hold_is_refused_before_it_is_taken() {
    let folder = Folder::new();

    let words = folder
        .failure(&["train", &example("iris.csv"), "--target", "species", "--memory", "1k"], 5);

    says(&words, &["budget of 1.0 KB"]);
}

#[test]
fn no_time_at_all_is_told_apart_from_bad_data() {
    let folder = Folder::new();

    let words = folder
        .failure(&["train", &example("iris.csv"), "--target", "species", "--time-limit", "0s"], 5);

    says(&words, &["--time-limit"]);
}

#[test]
fn a_row_that_is_not_there_is_said_so() {
    let folder = Folder::new();
    folder.output(&["train", &example("iris.csv"), "--target", "species"]);

    let words =
        folder.failure(&["explain", "iris.mercer", &example("iris.csv"), "--row", "151"], 2);

    says(&words, &["150 rows", "no row 151"]);
}

#[test]
fn a_cell_an_estimator_cannot_use_is_named_with_its_row_column_and_remedy() {
    let counts = ["--target", "y", "--model", "multinomial-nb", "--folds", "0"];

    let gap = refused("a,b,y\n1,2,p\n3,,q\n", &counts, 3);
    let negative = refused("a,b,y\n1,2,p\n3,-4,q\n", &counts, 3);

    says(&gap, &["t.csv", "row 2", "`b`", "missing", "impute"]);
    says(&negative, &["t.csv", "row 2", "`b`", "-4", "--ignore b"]);
}
