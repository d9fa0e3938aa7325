//! End-to-end tests: from a table to a model and to predictions.

use super::{Folder, example};
use assert_cmd::Command;
use std::path::Path;

#[test]
fn training_evaluates_reports_and_saves() {
    let folder = Folder::new();

    let done = folder
        .mercer(&["train", &example("penguins.csv"), "--target", "species"])
        .assert()
        .success();

    let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    let report = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    for expected_text in
        ["delimiter `,`", "344 rows, 8 columns, 19 missing values", "mixed-nb (chosen because"]
    {
        assert!(message.contains(expected_text), "`{expected_text}` is not in {message}");
    }
    for expected_text in [
        "certificate: closed form",
        "95% interval",
        "log loss",
        "calibration",
        "Gentoo",
        "true \\ predicted",
        "most informative features",
        "flipper_length_mm",
        "saved penguins.mercer",
        "saved penguins.html",
    ] {
        assert!(report.contains(expected_text), "`{expected_text}` is not in {report}");
    }
    assert_eq!(folder.names(), ["penguins.html", "penguins.mercer"]);
    let page = std::fs::read_to_string(folder.path("penguins.html")).unwrap();
    assert!(page.matches("<svg").count() >= 4);
    for external in ["<script", "<link", "src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(external), "the page is self-contained, without `{external}`");
    }
}

#[test]
fn a_saved_model_predicts_with_probabilities_that_sum_to_one() {
    let folder = Folder::new();
    folder.output(&["train", &example("iris.csv"), "--target", "species"]);

    let text =
        folder.output(&["predict", "iris.mercer", &example("iris.csv"), "--proba", "--density"]);

    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("species,P(setosa),P(versicolor),P(virginica),log_density"));
    let mut n = 0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let total: f64 = cells[1..4].iter().map(|p| p.parse::<f64>().unwrap()).sum();
        assert!((total - 1.0).abs() < 1e-12);
        assert!(cells[4].parse::<f64>().unwrap().is_finite());
        n += 1;
    }
    assert_eq!(n, 150);
}

#[test]
fn the_same_data_gives_the_same_bytes_on_any_number_of_threads() {
    let folder = Folder::new();
    for threads in ["1", "2", "3", "8"] {
        let out = format!("{threads}.mercer");
        folder.output(&[
            "train",
            &example("wine.csv"),
            "--target",
            "cultivar",
            "--threads",
            threads,
            "--out",
            &out,
        ]);
    }

    let first = std::fs::read(folder.path("1.mercer")).unwrap();

    for threads in ["2", "3", "8"] {
        assert_eq!(std::fs::read(folder.path(&format!("{threads}.mercer"))).unwrap(), first);
    }
}

#[test]
fn the_income_column_has_the_densities_of_the_lecture() {
    let folder = Folder::new();
    folder.output(&[
        "train",
        &example("tax.csv"),
        "--target",
        "evade",
        "--model",
        "gaussian-nb",
        "--set",
        "variance=sample",
        "--set",
        "var_smoothing=0",
        "--prepare",
        "categories=drop",
        "--folds",
        "0",
    ]);
    folder.write("test.csv", "refund,marital_status,taxable_income\nNo,Married,120\n");

    let printed = folder.output(&["explain", "tax.mercer", "test.csv"]);

    assert!(printed.contains("N(120; mean 110, variance 2975) = 0.007192"), "{printed}");
    assert!(printed.contains("N(120; mean 90, variance 25) = 1.215e-9"), "{printed}");
    assert!(printed.starts_with("Class No"), "{printed}");
}

#[test]
fn a_model_is_evaluated_on_a_table() {
    let folder = Folder::new();
    folder.output(&["train", &example("iris.csv"), "--target", "species"]);

    let report = folder.json(&["evaluate", "iris.mercer", &example("iris.csv"), "--json"]);

    // scikit-learn 1.9's GaussianNB gets 144 of the 150 rows it was trained on.
    assert_eq!(report["accuracy"]["value"], 0.96);
    assert_eq!(report["n_rows"], 150);
}

#[test]
fn merging_two_halves_gives_the_model_of_the_whole() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(example("iris.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    folder.write("a.csv", &format!("{header}\n{}\n", rows[..80].join("\n")));
    folder.write("b.csv", &format!("{header}\n{}\n", rows[80..].join("\n")));
    folder.write("all.csv", &format!("{header}\n{}\n", rows.join("\n")));

    folder.output(&["train", "all.csv", "--target", "species", "--set", "var_smoothing=1e-6"]);
    let smoothed = ["train", "a.csv", "--target", "species", "--set", "var_smoothing=1e-6"];
    folder.output(&smoothed);
    folder.output(&["train", "b.csv", "--like", "a.mercer"]);
    folder.output(&["merge", "a.mercer", "b.mercer", "--out", "both.mercer"]);

    let whole = folder.json(&["evaluate", "all.mercer", "all.csv", "--json"]);
    let both = folder.json(&["evaluate", "both.mercer", "all.csv", "--json"]);
    assert_eq!(whole["confusion"], both["confusion"]);
    let close = |name: &str| {
        let of = |report: &serde_json::Value| report[name].as_f64().unwrap();
        assert!((of(&whole) - of(&both)).abs() < 1e-10, "{name}");
    };
    close("log_loss");
    close("brier");
}

#[test]
fn forgetting_rows_inverts_learning_them() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(example("iris.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    folder.write("most.csv", &format!("{header}\n{}\n", rows[..140].join("\n")));
    folder.write("few.csv", &format!("{header}\n{}\n", rows[140..].join("\n")));
    folder.write("all.csv", &text);
    folder.output(&["train", "most.csv", "--target", "species"]);
    folder.output(&["train", "all.csv", "--target", "species"]);

    folder.output(&["forget", "all.mercer", "few.csv", "--out", "left.mercer"]);

    let expected = folder.json(&["evaluate", "most.mercer", "all.csv", "--json"]);
    let left = folder.json(&["evaluate", "left.mercer", "all.csv", "--json"]);
    assert_eq!(expected["confusion"], left["confusion"]);
    let gap = expected["log_loss"].as_f64().unwrap() - left["log_loss"].as_f64().unwrap();
    assert!(gap.abs() < 1e-9);
    let inside = folder.json(&["inspect", "left.mercer", "--json"]);
    assert_eq!(inside["certificate"]["rows"], 140);
}

#[test]
fn columns_are_matched_by_name_in_any_order() {
    let folder = Folder::new();
    folder.write("train.csv", "a,b,y\n1,10,p\n2,11,p\n8,30,q\n9,31,q\n");
    folder.output(&["train", "train.csv", "--target", "y", "--folds", "0"]);
    folder.write("shuffled.csv", "extra,b,a\nx,30,9\nx,10,1\n");

    let text = folder.output(&["predict", "train.mercer", "shuffled.csv"]);

    assert_eq!(text, "y\nq\np\n");
}

#[test]
fn labels_are_preserved_exactly() {
    let folder = Folder::new();
    folder.write("ids.csv", "x,y\n1,9007199254740993\n2,9007199254740993\n8,007\n9,007\n");
    folder.output(&["train", "ids.csv", "--target", "y", "--folds", "0"]);

    let text = folder.output(&["predict", "ids.mercer", "ids.csv"]);

    assert_eq!(text, "y\n9007199254740993\n9007199254740993\n007\n007\n");
}

#[test]
fn sparse_files_carry_their_labels() {
    let folder = Folder::new();
    folder.write("d.svm", "+1 1:1 3:2\n+1 1:2 3:3\n-1 2:1\n-1 2:2 3:0.1\n");

    folder.output(&["train", "d.svm", "--folds", "0"]);

    assert_eq!(folder.output(&["predict", "d.mercer", "d.svm"]), "label\n+1\n+1\n-1\n-1\n");
}

#[test]
fn preprocessing_is_applied_at_prediction() {
    let folder = Folder::new();
    let train = ["train", &example("penguins.csv"), "--target", "species"];
    for (k, steps) in [
        vec!["impute=mean", "scale=standard"],
        vec!["impute=median", "bins=equal-frequency:5"],
        vec!["bins=equal-width:4", "categories=one-hot"],
        vec!["impute=0", "scale=min-max"],
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("{k}.mercer");
        let mut args = train.to_vec();
        args.extend(["--out", &out, "--json"]);
        args.extend(steps.iter().flat_map(|step| ["--prepare", *step]));

        let report = folder.json(&args);

        assert!(report["cross_validation"]["accuracy"]["value"].as_f64().unwrap() > 0.6);
        folder.output(&["predict", &out, &example("penguins.csv")]);
    }
}

#[test]
fn a_sparse_file_without_its_first_index_keeps_its_columns() {
    let folder = Folder::new();
    folder.write("zero.svm", "p 0:1 2:5\np 0:2 2:6\nq 1:1 2:0.1\nq 1:2\n");
    folder.output(&["train", "zero.svm", "--folds", "0"]);
    folder.write("later.svm", "? 2:5\n? 1:1\n");

    assert_eq!(folder.output(&["predict", "zero.mercer", "later.svm"]), "label\np\nq\n");
}

#[test]
fn a_discriminant_is_trained_explained_merged_and_reduced() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    for model in ["lda", "qda", "rda"] {
        folder.output(&["train", &iris, "--target", "species", "--model", model]);

        let printed = folder.json(&["explain", "iris.mercer", &iris, "--row", "71", "--json"]);
        let message = folder.output(&["explain", "iris.mercer", &iris, "--row", "71"]);
        folder.output(&["merge", "iris.mercer", "iris.mercer", "--out", "twice.mercer"]);
        folder.output(&["forget", "twice.mercer", &iris, "--out", "once.mercer"]);

        let sum: f64 = printed["intercepts"][1].as_f64().unwrap()
            + (printed["terms"].as_array().unwrap().iter())
                .map(|term| term["terms"][1].as_f64().unwrap())
                .sum::<f64>();
        assert!((sum - printed["scores"][1].as_f64().unwrap()).abs() < 1e-9);
        assert!(message.contains("squared distance") && message.contains("petal_width = 1.8"));
        let petal_width = printed["terms"].as_array().unwrap().last().unwrap();
        // The value of a scaled column is shown in its units too.
        let value = petal_width["original"].as_f64().or(petal_width["value"].as_f64()).unwrap();
        assert!((value - 1.8).abs() < 1e-12, "{model}: {petal_width}");
        let answers = ["iris", "once"]
            .map(|name| folder.output(&["predict", &format!("{name}.mercer"), &iris]));
        assert_eq!(answers[0], answers[1], "{model}");
    }
}

/// Sepal length from the other three columns of the iris data.
fn train_iris(folder: &Folder, more: &[&str]) {
    let data = example("iris.csv");
    let mut args = vec!["train", &data, "--target", "sepal_length", "--ignore", "species"];
    args.extend(more);
    folder.output(&args);
}

#[test]
fn a_regression_is_trained_evaluated_and_plotted() {
    let folder = Folder::new();
    let data = example("iris.csv");

    let done = folder
        .mercer(&["train", &data, "--target", "sepal_length", "--ignore", "species"])
        .assert()
        .success();

    let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    let report = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(message.contains("ols (chosen because `sepal_length` is numeric"), "{message}");
    for expected_text in
        ["R²            0.8", "RMSE", "median error", "rows          150", "condition number"]
    {
        assert!(report.contains(expected_text), "`{expected_text}` is not in {report}");
    }
    let page = std::fs::read_to_string(folder.path("iris.html")).unwrap();
    assert!(page.contains("Predicted against true") && page.contains("Residuals"));
    assert!(page.contains("residual standard error"));
}

#[test]
fn a_regression_is_inspected_explained_and_predicts_with_intervals() {
    let folder = Folder::new();
    train_iris(&folder, &["--model", "ols"]);

    let table = folder.output(&["inspect", "iris.mercer"]);
    let printed = folder.json(&["explain", "iris.mercer", &example("iris.csv"), "--json"]);
    let lines =
        folder.output(&["predict", "iris.mercer", &example("iris.csv"), "--interval", "0.9"]);
    let evaluation = folder.json(&["evaluate", "iris.mercer", &example("iris.csv"), "--json"]);

    // scikit-learn 1.9's LinearRegression on the same rows: 1.8560, 0.6508, 0.7091, -0.5565.
    for cell in ["1.856", "0.6508", "0.7091", "-0.5565", "***", "146 degrees of freedom"] {
        assert!(table.contains(cell), "`{cell}` is not in {table}");
    }
    let first = printed["prediction"].as_f64().unwrap();
    assert!((first - 5.015416).abs() < 1e-5, "{first}");
    let cells: Vec<f64> =
        lines.lines().nth(1).unwrap().split(',').map(|c| c.parse().unwrap()).collect();
    assert_eq!(lines.lines().next(), Some("sepal_length,low,high"));
    assert!(cells[1] < cells[0] && cells[0] < cells[2] && (cells[0] - first).abs() < 1e-12);
    assert_eq!(lines.lines().count(), 151);
    assert!((evaluation["r_squared"].as_f64().unwrap() - 0.858612).abs() < 1e-6);
}

#[test]
fn regressions_merge_and_forget() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(example("iris.csv")).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    let part = |rows: &[&str]| format!("{}\n{}\n", text.lines().next().unwrap(), rows.join("\n"));
    folder.write("a.csv", &part(&rows[1..80]));
    folder.write("b.csv", &part(&rows[80..]));
    let train = |data: &str, more: &[&str]| {
        let mut args = vec!["train", data, "--model", "ridge"];
        args.extend(more);
        folder.output(&args);
    };
    train("a.csv", &["--target", "sepal_length", "--ignore", "species"]);
    train("b.csv", &["--like", "a.mercer"]);

    folder.output(&["merge", "a.mercer", "b.mercer", "--out", "both.mercer"]);
    folder.output(&["forget", "both.mercer", "b.csv", "--out", "left.mercer"]);

    let predict = |model: &str| folder.output(&["predict", model, "a.csv"]);
    let numbers =
        |text: String| text.lines().skip(1).map(|l| l.parse::<f64>().unwrap()).collect::<Vec<_>>();
    let (left, first) = (numbers(predict("left.mercer")), numbers(predict("a.mercer")));
    assert!(left.iter().zip(&first).all(|(a, b)| (a - b).abs() < 1e-9));
    assert_ne!(predict("both.mercer"), predict("a.mercer"));
}

#[test]
fn the_tax_table_is_explained_as_in_the_lecture() {
    let folder = Folder::new();
    folder.output(&[
        "train",
        &example("tax.csv"),
        "--target",
        "evade",
        "--set",
        "alpha=0",
        "--set",
        "variance=sample",
        "--likelihood",
        "taxable_income=gaussian",
    ]);
    folder.write("new.csv", "refund,marital_status,taxable_income\nNo,Married,120\n");

    let printed = folder.output(&["explain", "tax.mercer", "new.csv"]);
    let json = folder.output(&["explain", "tax.mercer", "new.csv", "--json"]);

    for line in [
        "Class No: P = 1",
        "P(No) = 0.7",
        "    p(refund = No | No) = 4/7 = 0.5714",
        "x p(marital_status = Married | No) = 4/7 = 0.5714",
        "N(120; mean 110, variance 2975) = 0.007192",
        "x p(marital_status = Married | Yes) = 0/3 = 0",
        "N(120; mean 90, variance 25) = 1.215e-9",
    ] {
        assert!(printed.contains(line), "`{line}` is not in {printed}");
    }
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["factors"][1]["level"], "Married");
    assert_eq!(json["posterior"][0], 1.0);
}

#[test]
fn the_worked_examples_of_the_lectures_run_and_print_their_digits() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lectures.sh");
    let done = Command::new("sh")
        .arg(script)
        .env("MERCER", assert_cmd::cargo::cargo_bin!("mercer"))
        .assert()
        .success();
    let printed = String::from_utf8(done.get_output().stdout.clone()).unwrap();

    for line in [
        // 4/7 · 4/7 · 0.0072 = 0.0024, times 7/10.
        "= exp(-6.411) = 0.001644",
        "p(have_legs = no | non-mammals) = 4/13 = 0.3077",
        "= exp(-3.864) = 0.02099",
        "= exp(-5.903) = 0.002731",
        "p(income_level = 2 | stressed) = 2/3",
        "N(8; mean 7.833",
        "p(a | one) = ((3 + 0) / 12) = 0.25",
        "P(one) = 0.4",
        "= exp(-8.108) = 0.0003012",
        "= exp(-8.907) = 0.0001355",
    ] {
        assert!(printed.contains(line), "`{line}` is not in {printed}");
    }
}

#[test]
fn a_model_without_probabilities_is_evaluated_by_its_classes() {
    let folder = Folder::new();
    let train = ["train", &example("iris.csv"), "--target", "species", "--model", "svc", "--json"];
    let report = folder.json(&train);
    let evaluation = folder.json(&["evaluate", "iris.mercer", &example("iris.csv"), "--json"]);
    let printed = folder.output(&["evaluate", "iris.mercer", &example("iris.csv")]);

    for figures in [&report["cross_validation"], &evaluation] {
        assert!(figures["accuracy"]["value"].as_f64().unwrap() > 0.9, "{figures}");
        assert!(figures["log_loss"].is_null(), "{figures}");
    }
    assert!(printed.contains("the model has no probabilities"), "{printed}");
}

#[test]
fn two_runs_that_save_to_one_path_leave_the_model_of_one_of_them() {
    let folder = Folder::new();
    let (iris, penguins) = (example("iris.csv"), example("penguins.csv"));
    let run = |data: &str, out: &str| {
        let mut mercer = std::process::Command::new(assert_cmd::cargo::cargo_bin!("mercer"));
        mercer.current_dir(folder.path("."));
        mercer.args(["train", data, "--target", "species", "--no-report", "--quiet"]);
        mercer.args(["--out", out]).stdout(std::process::Stdio::null());
        mercer.spawn().unwrap()
    };
    for (data, out) in [(&iris, "a.mercer"), (&penguins, "b.mercer")] {
        assert!(run(data, out).wait().unwrap().success());
    }
    let alone = ["a.mercer", "b.mercer"].map(|name| std::fs::read(folder.path(name)).unwrap());

    let at_once: Vec<_> =
        [&iris, &penguins, &iris, &penguins].map(|data| run(data, "same.mercer")).into();
    for mut one in at_once {
        assert!(one.wait().unwrap().success());
    }

    let left = std::fs::read(folder.path("same.mercer")).unwrap();
    assert!(alone.contains(&left), "{} bytes of neither run", left.len());
    assert_eq!(folder.names(), ["a.mercer", "b.mercer", "same.mercer"]);
}

#[test]
fn a_kernel_method_reports_its_plan_once_and_stores_it() {
    let folder = Folder::new();
    let train = ["train", &example("iris.csv"), "--target", "species", "--model", "svc"];

    let done = folder.mercer(&train).assert().success();
    let report = folder.json(&[&train[..], &["--json"]].concat());
    let printed = folder.output(&["inspect", "iris.mercer"]);
    let quiet = folder.mercer(&[&train[..], &["--quiet"]].concat()).assert().success();

    let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    let way = "3 one-vs-one SVMs, dense kernel matrices";
    assert_eq!(
        message.matches("plan: ").count(),
        1,
        "the folds have a plan of their own in {message}"
    );
    assert!(message.contains(&format!("plan: {way}; about ")), "{message}");
    let plan = &report["certificate"]["plan"];
    assert_eq!(
        (&plan["strategy"], &plan["kernel_matrix_bytes"]),
        (&way.into(), &(4 * 150 * 150).into()),
        "{report}"
    );
    assert!(printed.contains(&format!("plan: {way}; about ")), "{printed}");
    assert!(quiet.get_output().stderr.is_empty());
}

#[test]
fn a_kernel_method_beyond_the_memory_budget_reports_sizes_and_remedy() {
    let folder = Folder::new();
    for (model, target, set, says) in [
        ("svc", "species", "C=1", ["needs about 45.6 KB", "`approx`"]),
        ("kernel-ridge", "petal_length", "solver=cholesky", ["of 150 rows needs about", "`cg`"]),
    ] {
        let (data, train) = (example("iris.csv"), ["--memory", "20000", "--model", model]);
        let args = [&["train", &data, "--target", target, "--set", set][..], &train].concat();

        let message = folder.failure(&args, 5);

        for expected_text in says.iter().chain(&["budget of 20.0 KB", "raise the memory budget"]) {
            assert!(message.contains(expected_text), "`{expected_text}` is not in {message}");
        }
    }
}

#[test]
fn sampled_rows_form_a_table_with_the_original_levels() {
    let folder = Folder::new();
    folder.output(&["train", &example("penguins.csv"), "--target", "species", "--ignore", "year"]);

    let text = folder.output(&["sample", "penguins.mercer", "--rows", "50", "--seed", "3"]);

    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(header.last(), Some(&"species"));
    let island = header.iter().position(|name| *name == "island").unwrap();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 50);
    for row in &rows {
        assert!(["Biscoe", "Dream", "Torgersen"].contains(&row[island]), "{row:?}");
    }
    // Sampled rows can be read again and are mostly predicted as the class they were sampled from.
    folder.write("new.csv", &text);
    let evaluation = folder.output(&["evaluate", "penguins.mercer", "new.csv", "--json"]);
    let evaluation: serde_json::Value = serde_json::from_str(&evaluation).unwrap();
    assert!(evaluation["accuracy"]["value"].as_f64().unwrap() > 0.9, "{evaluation}");
}

#[test]
fn unseen_categories_are_counted_in_the_report() {
    let folder = Folder::new();
    folder.output(&["train", &example("tax.csv"), "--target", "evade"]);
    folder.write("new.csv", "refund,marital_status,taxable_income\nPerhaps,Widowed,120\n");

    let done = folder.mercer(&["predict", "tax.mercer", "new.csv"]).assert().success();

    let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(
        message.contains("2 cells hold categories that the training data does not"),
        "{message}"
    );
}

/// Two clusters, of which only the first rows have a class.
fn clusters(n: usize, labeled: usize) -> String {
    let mut text = String::from("x,color,y\n");
    for i in 0..n {
        let (x, color) = if i % 2 == 0 { (i % 7, "red") } else { (8 + i % 7, "blue") };
        let label = if i >= labeled { "" } else { ["low", "high"][i % 2] };
        text += &format!("{x},{color},{label}\n");
    }
    text
}

#[test]
fn unlabeled_rows_are_used_on_request() {
    let folder = Folder::new();
    folder.write("some.csv", &clusters(200, 12));
    folder.write("more.csv", &clusters(100, 0).replace(",y\n", "\n").replace(",\n", "\n"));

    let message = folder.failure(&["train", "some.csv", "--target", "y"], 3);
    assert!(message.contains("`--unlabeled`") && message.contains("line 14"), "{message}");
    let args = ["train", "some.csv", "--target", "y", "--unlabeled", "--folds", "3", "--json"];
    let report = folder.json(&args);
    assert_eq!(report["certificate"]["rows"], 200);
    assert_eq!(report["cross_validation"]["n_rows"], 12);
    let more = ["train", "some.csv", "--target", "y", "--unlabeled-data", "more.csv", "--json"];
    assert_eq!(folder.json(&more)["certificate"]["rows"], 300);
    let predicted = folder.output(&["predict", "some.mercer", "more.csv"]);
    assert!(predicted.starts_with("y\nlow\nhigh\n"), "{predicted}");

    folder.failure(&["train", "some.csv", "--target", "y", "--unlabeled-weight", "2"], 2);
}

#[test]
fn classes_are_plotted_as_densities_bars_and_images() {
    let folder = Folder::new();
    folder.output(&["train", &example("penguins.csv"), "--target", "species", "--no-report"]);
    let mut pixels = String::from("a,b,c,d,e,f,y\n");
    for i in 0..40 {
        let cells = if i % 2 == 0 {
            ["0", "9", "9", "0", "9", "1"]
        } else {
            ["9", "0", "0", "9", "0", "2"]
        };
        let at = i % 6;
        let mut cells = cells.map(str::to_owned);
        cells[at] = "5".to_owned();
        pixels += &format!("{},{}\n", cells.join(","), ["left", "right"][i % 2]);
    }
    folder.write("pixels.csv", &pixels);
    folder.output(&[
        "train",
        "pixels.csv",
        "--target",
        "y",
        "--model",
        "gaussian-nb",
        "--no-report",
    ]);
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();

    folder.output(&["inspect", "penguins.mercer", "--plot", "curves.svg"]);
    folder.output(&["inspect", "pixels.mercer", "--image", "2x3", "--plot", "image.svg"]);
    folder.output(&["inspect", "pixels.mercer", "--image", "2x3", "--plot", "image.png"]);
    folder.output(&["inspect", "pixels.mercer", "--column", "b", "--plot", "b.html"]);

    let curves = String::from_utf8(read("curves.svg")).unwrap();
    assert!(curves.contains("p(bill_length_mm | class)") && curves.contains("Adelie"));
    let image = String::from_utf8(read("image.svg")).unwrap();
    assert!(image.contains("deviation") && image.contains("left") && image.contains("P = 0.5"));
    // Black at the maximum of a class, white at its minimum.
    assert!(image.contains("#000000") || image.contains("rgb(0,0,0)"));
    assert_eq!(&read("image.png")[1..4], b"PNG");
    assert!(read("b.html").starts_with(b"<!doctype html>"));
    let wrong =
        folder.failure(&["inspect", "pixels.mercer", "--image", "3x3", "--plot", "x.svg"], 2);
    assert!(wrong.contains("9 pixels") && wrong.contains("6 columns"), "{wrong}");
    let ending = folder.failure(&["inspect", "pixels.mercer", "--plot", "x.jpg"], 2);
    assert!(ending.contains(".svg, .png or .html"), "{ending}");
    let column =
        folder.failure(&["inspect", "pixels.mercer", "--column", "z", "--plot", "x.svg"], 2);
    assert!(column.contains("a, b, c"), "{column}");
}

#[test]
fn bins_and_indicators_are_categories_of_mixed_naive_bayes() {
    let folder = Folder::new();
    let tax = example("tax.csv");
    let train = ["train", &tax, "--target", "evade", "--model", "mixed-nb", "--folds", "0"];

    let mut bins = train.to_vec();
    bins.extend(["--prepare", "bins=equal-width:3"]);
    folder.output(&bins);
    let printed = folder.output(&["explain", "tax.mercer", &tax, "--row", "5"]);

    // Incomes from 60 to 220 in three bins: 95 is below 113.3, as are 4 of 7 and 3 of 3 incomes.
    assert!(printed.contains("p(taxable_income = below 113.33 | No) = (4 + 1) / (7 + 3) = 0.5"));
    assert!(
        printed.contains("p(taxable_income = below 113.33 | Yes) = (3 + 1) / (3 + 3) = 0.6667")
    );

    let mut indicators = train.to_vec();
    indicators.extend(["--prepare", "categories=one-hot"]);
    folder.output(&indicators);
    let json = folder.json(&["inspect", "tax.mercer", "--json"]);
    let printed = folder.output(&["explain", "tax.mercer", &tax, "--row", "5"]);

    assert!(json.to_string().contains("marital_status=Married"), "{json}");
    assert!(
        printed.contains("p(marital_status=Married | No) = (3 + 1) / (7 + 2) = 0.4444"),
        "{printed}"
    );
}

#[test]
fn a_part_with_rows_of_one_class_is_trained_like_the_whole_and_merged() {
    // The rows of iris are sorted by species: every part has one class.
    let folder = Folder::new();
    let text = std::fs::read_to_string(example("iris.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    folder.write("all.csv", &format!("{header}\n{}\n", rows.join("\n")));
    let mut n_parts = 0;
    for model in ["gaussian-nb", "mixed-nb", "lda", "rda"] {
        let whole = ["train", "all.csv", "--target", "species", "--model", model, "--force"];
        folder.output(&whole);
        let mut parts = Vec::new();
        for (k, part) in rows.chunks(50).enumerate() {
            folder.write(&format!("{k}.csv"), &format!("{header}\n{}\n", part.join("\n")));
            let data = format!("{k}.csv");
            folder.output(&["train", &data, "--like", "all.mercer", "--folds", "0", "--force"]);
            parts.push(format!("{k}.mercer"));
            n_parts += 1;
        }
        let merge = ["merge", &parts[0], &parts[1], &parts[2], "--out", "merged.mercer", "--force"];
        folder.output(&merge);

        let of = |model: &str| folder.json(&["evaluate", model, "all.csv", "--json"]);
        assert_eq!(of("merged.mercer")["confusion"], of("all.mercer")["confusion"], "{model}");
    }
    assert_eq!(n_parts, 12);
}

#[test]
fn several_files_and_a_folder_are_one_table() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(example("iris.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let lines: Vec<&str> = rows.lines().collect();
    std::fs::create_dir(folder.path("parts")).unwrap();
    for (k, part) in lines.chunks(60).enumerate() {
        let text = format!("{header}\n{}\n", part.join("\n"));
        std::fs::write(folder.path(&format!("parts/{k}.csv")), text).unwrap();
    }
    let train = |data: &[&str], out: &str| {
        let options = ["--target", "species", "--model", "lda", "--out", out, "--no-report"];
        folder.output(&[&["train"], data, &options[..]].concat());
        folder.output(&["predict", out, &example("iris.csv"), "--proba"])
    };

    let whole = train(&[&example("iris.csv")], "whole.mercer");

    assert_eq!(train(&["parts"], "folder.mercer"), whole);
    assert_eq!(train(&["parts/0.csv", "parts/1.csv", "parts/2.csv"], "list.mercer"), whole);
}
