//! Naive Bayes from the command line: likelihoods before the prior, impossible rows, samples of a class, parameter
//! counts, unknown tokens.

use super::{Folder, example};

/// Standard output and standard error of a command that succeeds.
fn both(folder: &Folder, args: &[&str]) -> (String, String) {
    let done = folder.mercer(args).assert().success();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&done.get_output().stdout), text(&done.get_output().stderr))
}

#[test]
fn the_likelihood_is_printed_before_the_prior() {
    let folder = Folder::new();
    let mammals = example("mammals.csv");
    let train = ["train", &mammals, "--target", "class", "--ignore", "name", "--folds", "0"];
    folder.output(&[&train[..], &["--model", "categorical-nb", "--set", "alpha=0"]].concat());

    // The whale: 6/7 · 6/7 · 2/7 · 2/7 and 1/13 · 10/13 · 3/13 · 4/13.
    let printed = folder.output(&["explain", "mammals.mercer", &mammals, "--row", "4"]);
    let json = folder.json(&["explain", "mammals.mercer", &mammals, "--row", "4", "--json"]);

    for line in [
        "= p(row | mammals) = exp(-2.814) = 0.05998",
        "x P(mammals) = 0.35",
        "= p(row, mammals) = exp(-3.864) = 0.02099",
        "= p(row | non-mammals) = exp(-5.472) = 0.004202",
    ] {
        assert!(printed.contains(line), "`{line}` is not in {printed}");
    }
    let likelihood = json["log_likelihood"][0].as_f64().unwrap().exp();
    assert!((likelihood - 6.0 / 7.0 * 6.0 / 7.0 * 4.0 / 49.0).abs() < 1e-12, "{likelihood}");
}

#[test]
fn a_row_that_is_impossible_in_every_class_is_reported() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b,y\nu,p,yes\nu,p,yes\nu,p,yes\nv,q,no\nv,q,no\n");
    folder.write("new.csv", "a,b\nu,q\nu,p\n");
    for model in ["categorical-nb", "mixed-nb", "tan"] {
        let train = ["train", "t.csv", "--target", "y", "--folds", "0", "--model", model];
        folder.output(&[&train[..], &["--set", "alpha=0"]].concat());

        let (predicted, messages) = both(&folder, &["predict", "t.mercer", "new.csv", "--proba"]);
        let (printed, _) = both(&folder, &["explain", "t.mercer", "new.csv"]);
        let json = folder.json(&["explain", "t.mercer", "new.csv", "--json"]);

        assert!(predicted.contains("yes,0.4,0.6\nyes,0.0,1.0\n"), "{model}: {predicted}");
        assert!(messages.contains("1 rows have likelihood zero in every class"), "{messages}");
        assert!(printed.starts_with("Class yes: P = 0.6"), "{model}: {printed}");
        assert!(printed.contains("Every class has likelihood zero"), "{printed}");
        assert!(printed.contains("undefined") && !printed.contains("NaN"), "{printed}");
        assert_eq!(json["impossible"], true);
    }
}

#[test]
fn rows_of_one_class_are_sampled() {
    let folder = Folder::new();
    folder.output(&["train", &example("iris.csv"), "--target", "species", "--folds", "0"]);

    let sample = ["sample", "iris.mercer", "--class", "virginica", "-n", "50"];
    let rows = folder.output(&sample);
    let error = folder.failure(&["sample", "iris.mercer", "--class", "rose"], 2);

    assert_eq!(rows.lines().skip(1).filter(|row| row.ends_with(",virginica")).count(), 50);
    let length = |row: &str| row.split(',').nth(2).unwrap().parse::<f64>().unwrap();
    let mean = rows.lines().skip(1).map(length).sum::<f64>() / 50.0;
    assert!((mean - 5.55).abs() < 0.5, "{mean}");
    assert!(error.contains("setosa, versicolor, virginica"), "{error}");
}

#[test]
fn documents_are_sampled_and_unknown_tokens_are_counted() {
    let folder = Folder::new();
    folder.write(
        "mail.jsonl",
        "{\"text\": \"win money now win\", \"y\": \"spam\"}\n\
         {\"text\": \"money prize now\", \"y\": \"spam\"}\n\
         {\"text\": \"meeting at noon\", \"y\": \"ham\"}\n\
         {\"text\": \"lunch at noon today\", \"y\": \"ham\"}\n",
    );
    folder.write("new.jsonl", "{\"text\": \"win a castle at noon, castle\"}\n");
    let train = ["train", "mail.jsonl", "--target", "y", "--folds", "0", "--column", "text=text"];
    folder.output(&[&train[..], &["--model", "multinomial-nb"]].concat());

    let sampled = folder.output(&["sample", "mail.mercer", "--class", "spam", "-n", "20"]);
    let (density, messages) = both(&folder, &["predict", "mail.mercer", "new.jsonl", "--density"]);
    let (_, why) = both(&folder, &["explain", "mail.mercer", "new.jsonl"]);

    // Seven tokens in two spam messages: 3.5 is rounded to 4.
    let texts = sampled.lines().skip(1).map(|row| row.split(',').next().unwrap());
    assert!(texts.clone().all(|text| text.split(' ').count() == 4), "{sampled}");
    assert!(texts.map(|text| text.matches("money").count()).sum::<usize>() > 5, "{sampled}");
    assert!(density.starts_with("y,log_density\n"), "{density}");
    assert!(messages.contains("2 tokens of the texts are not in the vocabulary"), "{messages}");
    assert!(why.contains("2 of 5 tokens are not in the vocabulary"), "{why}");
    assert!(why.contains("castle"), "{why}");
}

#[test]
fn parameters_of_naive_bayes_are_counted_against_the_joint_table() {
    let folder = Folder::new();
    let mammals = example("mammals.csv");
    let train = ["train", &mammals, "--target", "class", "--ignore", "name", "--folds", "0"];
    folder.output(&[&train[..], &["--model", "categorical-nb"]].concat());

    let printed = folder.output(&["inspect", "mammals.mercer"]);
    let json = folder.json(&["inspect", "mammals.mercer", "--json"]);

    // 1 + 2 (1 + 1 + 2 + 1) against 2 · 2 · 2 · 3 · 2 − 1.
    let expected = "parameters: 11 for 2 classes and 4 columns; the full joint table of the same";
    assert!(printed.contains(expected), "{printed}");
    assert_eq!(
        (json["n_parameters"].as_u64(), json["n_joint_parameters"].as_f64()),
        (Some(11), Some(47.0))
    );
}

#[test]
fn quiet_prints_nothing_but_requested_data() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    for model in ["gaussian-nb", "svc", "logistic"] {
        let printed =
            both(&folder, &["train", &iris, "--target", "species", "--model", model, "-q"]);

        assert_eq!(printed, (String::new(), String::new()), "{model}");
    }
    folder.output(&["train", &iris, "--target", "species", "--folds", "0"]);
    let merged = both(&folder, &["merge", "iris.mercer", "iris.mercer", "--out", "m.mercer", "-q"]);
    let plotted = both(&folder, &["inspect", "iris.mercer", "--plot", "p.svg", "-q"]);
    let (predicted, messages) = both(&folder, &["predict", "iris.mercer", &iris, "-q"]);

    assert_eq!(merged, (String::new(), String::new()));
    assert_eq!(plotted, (String::new(), String::new()));
    assert_eq!((predicted.lines().count(), messages), (151, String::new()));
}
