//! Error messages name the location and a remedy.

use super::{Folder, example};

/// Runs `mercer train` on a table and returns the error message.
fn refused(table: &str, args: &[&str], code: i32) -> String {
    let folder = Folder::new();
    folder.write("t.csv", table);
    let mut all = vec!["train", "t.csv"];
    all.extend(args);
    let message = folder.failure(&all, code);
    assert_eq!(folder.names(), ["t.csv"], "something was left behind");
    message
}

fn contains_all(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

const TARGET: &[&str] = &["--target", "y"];

#[test]
fn an_invalid_cell_is_named_with_line_column_and_remedy() {
    let mut table = String::from("age,y\n");
    for i in 0..30 {
        table += &format!("{},{}\n", i, if i % 2 == 0 { "a" } else { "b" });
    }
    table += "n.v.,a\n";

    let message = refused(&table, TARGET, 3);

    contains_all(
        &message,
        &["t.csv", "line 32", "`age`", "`n.v.`", "--missing", "--column age=categorical"],
    );
}

#[test]
fn a_ragged_row_is_named_with_its_counts() {
    let message = refused("a,b,y\n1,2,p\n1,2\n3,4,q\n", TARGET, 3);

    contains_all(&message, &["t.csv", "line 3", "2", "3"]);
}

#[test]
fn an_empty_file_is_reported() {
    contains_all(&refused("", TARGET, 3), &["t.csv", "empty"]);
    contains_all(&refused("a,y\n", TARGET, 3), &["t.csv", "no rows"]);
}

#[test]
fn one_class_is_refused() {
    contains_all(&refused("a,y\n1,p\n2,p\n", TARGET, 3), &["t.csv", "`y`", "`p`", "at least two"]);
}

#[test]
fn a_missing_target_column_is_named_with_the_existing_columns() {
    let message = refused("a,b\n1,p\n2,q\n", TARGET, 3);

    contains_all(&message, &["t.csv", "`y`", "`a`, `b`"]);
}

#[test]
fn an_unspecified_target_is_requested() {
    contains_all(&refused("a,b\n1,p\n2,q\n", &[], 2), &["--target", "a, b"]);
}

#[test]
fn a_missing_target_value_is_named() {
    contains_all(&refused("a,y\n1,p\n2,\n3,q\n", TARGET, 3), &["t.csv", "`y`", "line 3"]);
}

#[test]
fn a_numeric_target_is_refused_by_a_classifier() {
    let rows: String = (0..200).map(|i| format!("{i},{}.5\n", i)).collect();

    let named = ["--target", "y", "--model", "gaussian-nb"];
    let message = refused(&format!("a,y\n{rows}"), &named, 3);

    contains_all(
        &message,
        &["`y`", "a regression target", "--model ols", "--column y=categorical"],
    );
}

#[test]
fn a_categorical_target_is_refused_by_a_regressor() {
    let named = ["--target", "y", "--model", "ridge"];

    contains_all(&refused("a,y\n1,p\n2,q\n", &named, 3), &["`y`", "ridge is a regressor"]);
}

#[test]
fn unknown_estimators_and_parameters_are_reported_with_the_known_ones() {
    let table = "a,y\n1,p\n2,q\n";

    contains_all(
        &refused(table, &["--target", "y", "--model", "gauss"], 2),
        &["gauss", "gaussian-nb"],
    );
    contains_all(
        &refused(table, &["--target", "y", "--set", "smoothing=1"], 2),
        &["smoothing", "var_smoothing"],
    );
    contains_all(
        &refused(table, &["--target", "y", "--set", "var_smoothing=-1"], 2),
        &["var_smoothing", "-1", "float >= 0"],
    );
    contains_all(
        &refused(table, &["--target", "y", "--prepare", "scale=log"], 2),
        &["standard, robust, min-max or none"],
    );
}

#[test]
fn a_file_that_is_not_a_model_is_refused() {
    let folder = Folder::new();
    folder.write("t.csv", "a\n1\n");
    folder.write("m.mercer", "this is not a model");

    contains_all(
        &folder.failure(&["predict", "m.mercer", "t.csv"], 4),
        &["m.mercer", "not a valid model"],
    );
    contains_all(&folder.failure(&["predict", "gone.mercer", "t.csv"], 4), &["gone.mercer"]);
}

#[test]
fn a_damaged_model_file_is_refused() {
    let folder = Folder::new();
    folder.output(&["train", &example("iris.csv"), "--target", "species"]);
    let mut bytes = std::fs::read(folder.path("iris.mercer")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(folder.path("iris.mercer"), bytes).unwrap();

    let message = folder.failure(&["predict", "iris.mercer", &example("iris.csv")], 4);

    contains_all(&message, &["iris.mercer", "checksum"]);
}

#[test]
fn prediction_refuses_missing_and_wrongly_typed_columns_by_name() {
    let folder = Folder::new();
    folder.output(&["train", &example("iris.csv"), "--target", "species"]);
    folder.write("short.csv", "sepal_length,sepal_width,petal_length\n1,2,3\n");
    folder.write("text.csv", "sepal_length,sepal_width,petal_length,petal_width\n1,2,3,wide\n");

    contains_all(
        &folder.failure(&["predict", "iris.mercer", "short.csv"], 3),
        &["short.csv", "petal_width"],
    );
    contains_all(
        &folder.failure(&["predict", "iris.mercer", "text.csv"], 3),
        &["text.csv", "line 2", "petal_width", "wide"],
    );
}

#[test]
fn an_insufficient_memory_budget_is_reported_in_advance() {
    let folder = Folder::new();

    let message = folder
        .failure(&["train", &example("iris.csv"), "--target", "species", "--memory", "1k"], 5);

    contains_all(&message, &["budget of 1.0 KB"]);
}

#[test]
fn a_time_limit_of_zero_has_its_own_exit_code() {
    let folder = Folder::new();

    let message = folder
        .failure(&["train", &example("iris.csv"), "--target", "species", "--time-limit", "0s"], 5);

    contains_all(&message, &["--time-limit"]);
}

#[test]
fn a_row_out_of_range_is_reported() {
    let folder = Folder::new();
    folder.output(&["train", &example("iris.csv"), "--target", "species"]);

    let message =
        folder.failure(&["explain", "iris.mercer", &example("iris.csv"), "--row", "151"], 2);

    contains_all(&message, &["150 rows", "no row 151"]);
}

#[test]
fn a_cell_unsuitable_for_the_estimator_is_named_with_row_column_and_remedy() {
    let counts = ["--target", "y", "--model", "multinomial-nb", "--folds", "0"];
    let unimputed = [&counts[..], &["--prepare", "impute=none"]].concat();

    let gap = refused("a,b,y\n1,2,p\n3,,q\n", &unimputed, 3);

    contains_all(&gap, &["t.csv", "row 2", "`b`", "missing", "impute"]);
    // Columns with negative values are discretized for an estimator of counts.
    let folder = Folder::new();
    folder.write("t.csv", "a,b,y\n1,2,p\n3,-4,q\n");
    folder.output(&[&["train", "t.csv"], &counts[..]].concat());
}

#[test]
fn a_fit_that_did_not_converge_fails_with_strict_and_is_marked() {
    let iris = example("iris.csv");
    let estimators =
        ["svc", "nu-svc", "linear-svc", "logistic", "mlp", "kernel-perceptron", "kernel-k-means"];
    for model in estimators {
        let folder = Folder::new();
        let target = match model {
            "kernel-k-means" => ["--ignore", "species"],
            _ => ["--target", "species"],
        };
        let run = ["train", &iris, "--model", model, "--set", "max_iter=1", "--folds", "0"];
        let run = [&run[..], &target, &["--out", "m.mercer"]].concat();

        let why = folder.failure(&[&run[..], &["--strict"]].concat(), 6);
        let printed = folder.output(&run);

        assert!(why.contains("NOT CONVERGED"), "{model}: {why}");
        assert!(printed.contains("NOT CONVERGED"), "{model}: {printed}");
    }
    let folder = Folder::new();
    let compare = ["compare", &iris, "--target", "species", "--models", "svc,lda"];
    let printed = folder.output(&[&compare[..], &["--set", "svc.max_iter=1"]].concat());
    assert!(printed.contains("svc (not converged)"), "{printed}");
    assert!(!printed.contains("lda (not converged)"), "{printed}");
}

#[test]
fn an_output_never_replaces_the_data() {
    let folder = Folder::new();
    let iris = std::fs::read_to_string(example("iris.csv")).unwrap();
    folder.write("iris.csv", &iris);
    let train = ["train", "iris.csv", "--target", "species", "--folds", "0"];

    let model = folder.failure(&[&train[..], &["--out", "iris.csv"]].concat(), 2);
    let report = folder.failure(&[&train[..], &["--report", "iris.csv"]].concat(), 2);
    folder.output(&train);
    let plot = folder.failure(&["inspect", "iris.mercer", "--plot", "iris.csv"], 2);

    for why in [model, report, plot] {
        assert!(why.contains("iris.csv exists") && why.contains("--force"), "{why}");
    }
    assert_eq!(std::fs::read_to_string(folder.path("iris.csv")).unwrap(), iris);
    // Models and reports are replaced by newer ones, and anything with --force.
    folder.output(&train);
    folder.output(&[&train[..], &["--out", "iris.csv", "--force"]].concat());
    assert_ne!(std::fs::read(folder.path("iris.csv")).unwrap(), iris.as_bytes());
}

#[test]
fn a_singular_class_is_refused_with_its_rank_and_a_remedy_that_works() {
    let folder = Folder::new();
    let mut table = String::from("a,b,c,y\n");
    for i in 0..12 {
        table += &format!("{},{},{},p\n", i, (i * i) % 7, (i * 5) % 11);
    }
    table += "40,41,40,q\n42,40,43,q\n";
    folder.write("t.csv", &table);
    let train = ["train", "t.csv", "--target", "y", "--model", "qda", "--folds", "0"];

    let message = folder.failure(&train, 3);
    folder.output(&[&train[..], &["--set", "reg_param=0.1"]].concat());

    contains_all(
        &message,
        &["class `q` is singular", "rank 1 of 3", "2 rows", "`reg_param`", "`rda`"],
    );
}

#[test]
fn classes_that_differ_by_case_or_blanks_are_reported() {
    let folder = Folder::new();
    let rows: String = (0..30).map(|i| format!("{i},{}\n", ["yes", "no", "Yes"][i % 3])).collect();
    folder.write("t.csv", &format!("a,y\n{rows}"));

    let done = folder.mercer(&["train", "t.csv", "--target", "y"]).assert().success();

    let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(message.contains("`Yes` and `yes` differ only by case or blanks"), "{message}");
}

#[test]
fn an_empty_vocabulary_names_the_filters_that_emptied_it() {
    let table = "text,y\n\"one two\",a\n\"three four\",b\n\"five six\",a\n\"seven eight\",b\n";

    let message = refused(
        table,
        &["--target", "y", "--text", "text", "--prepare", "min-df=3", "--model", "multinomial-nb"],
        3,
    );

    contains_all(&message, &["vocabulary of `text` is empty", "at least 3 documents", "min-df"]);
}
