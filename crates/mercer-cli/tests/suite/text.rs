//! Text classification, from raw texts to a label.

use super::{Folder, example};

/// One folder per class.
fn mails(folder: &Folder) {
    for (class, texts) in [
        ("ham", ["lunch at noon", "notes of the meeting", "the meeting is at noon"]),
        ("spam", ["win money now", "cheap money, win!", "win a prize"]),
    ] {
        std::fs::create_dir_all(folder.path("mails").join(class)).unwrap();
        for (i, text) in texts.iter().enumerate() {
            folder.write(&format!("mails/{class}/{i}"), text);
        }
    }
    // Not UTF-8, as in many mails.
    std::fs::write(folder.path("mails/spam/9.eml"), b"gr\xfc\xdfe: win money").unwrap();
}

#[test]
fn the_spam_filter_takes_three_lines() {
    let folder = Folder::new();

    let printed = folder.json(&[
        "train",
        &example("mail.tsv"),
        "--target",
        "label",
        "--text",
        "body",
        "--json",
    ]);
    let answer = folder.output(&["predict", "mail.mercer", &example("letter.txt"), "--proba"]);
    let why =
        folder.output(&["explain", "mail.mercer", &example("letter.txt"), "--html", "why.html"]);

    assert_eq!(printed["estimator"], "multinomial-nb");
    assert!(printed["cross_validation"]["accuracy"]["value"].as_f64().unwrap() > 0.9, "{printed}");
    assert!(answer.starts_with("label,P(ham),P(spam)\nspam,"), "{answer}");
    assert_eq!(answer.lines().count(), 2);
    assert!(why.contains("Class spam") && why.contains("free = 1"), "{why}");
    let page = std::fs::read_to_string(folder.path("why.html")).unwrap();
    assert!(page.contains("<mark class=\"for\"") && page.contains(">free</mark>"), "{page}");
    assert!(page.contains("<mark class=\"against\""), "{page}");
    assert!(!page.contains("<script"));
}

#[test]
fn linear_models_highlight_the_terms_of_a_text() {
    for (model, says) in [("logistic", "P = "), ("linear-svc", "Score = ")] {
        let folder = Folder::new();
        let mail = example("mail.tsv");
        let train = ["train", &mail, "--target", "label", "--text", "body", "--model", model];

        let printed = folder
            .json(&[&train[..], &["--prepare", "text=counts", "--folds", "3", "--json"]].concat());
        let answer = folder.output(&["predict", "mail.mercer", &example("letter.txt")]);
        let why = folder.output(&[
            "explain",
            "mail.mercer",
            &example("letter.txt"),
            "--html",
            "why.html",
        ]);

        assert_eq!(printed["estimator"], model);
        assert!(
            printed["cross_validation"]["accuracy"]["value"].as_f64().unwrap() > 0.8,
            "{printed}"
        );
        assert_eq!(answer, "label\nspam\n");
        assert!(why.contains("Class spam") && why.contains("free = 1"), "{why}");
        let page = std::fs::read_to_string(folder.path("why.html")).unwrap();
        assert!(page.contains(says) && page.contains(">free</mark>"), "{page}");
    }
}

#[test]
fn a_folder_per_class_is_trained_on_and_predicted() {
    let folder = Folder::new();
    mails(&folder);
    folder.write("mails/README", "not of any class");

    let done = folder.mercer(&["train", "mails", "--folds", "0"]).assert().success();
    let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(message.contains("7 files in 2 classes (1 files outside"), "{message}");
    assert_eq!(folder.names(), ["mails", "mails.html", "mails.mercer"]);

    folder.write("letter.eml", "Win the money prize");
    assert_eq!(folder.output(&["predict", "mails.mercer", "letter.eml"]), "label\nspam\n");
    let report = folder.json(&["evaluate", "mails.mercer", "mails", "--json"]);
    assert_eq!(report["accuracy"]["value"], 1.0);
    let all = folder.output(&["predict", "mails.mercer", "mails"]);
    let mut lines = all.lines();
    assert_eq!(lines.next(), Some("file,label"));
    assert_eq!(lines.next(), Some("mails/ham/0,ham"));
    assert_eq!(lines.last(), Some("mails/spam/9.eml,spam"));
}

#[test]
fn mails_are_decoded() {
    let folder = Folder::new();
    let mail = |subject: &str, body: &str| {
        format!(
            "Received: by a host\nSubject: {subject}\nFrom: a@example.org\nContent-Type: text/html; \
             charset=utf-8\nContent-Transfer-Encoding: base64\n\n{body}\n"
        )
    };
    // <p>win money</p>, <p>meeting at noon</p>, and both as encoded subjects (RFC 2047).
    for (class, subject, body) in [
        ("spam", "=?utf-8?B?UHJlaXPDvGJlcnJhc2NodW5n?=", "PHA+d2luIG1vbmV5PC9wPg=="),
        ("ham", "=?utf-8?Q?Besprechung_f=C3=BCr_alle?=", "PHA+bWVldGluZyBhdCBub29uPC9wPg=="),
    ] {
        std::fs::create_dir_all(folder.path("mails").join(class)).unwrap();
        (0..3).for_each(|i| folder.write(&format!("mails/{class}/{i}.eml"), &mail(subject, body)));
    }

    folder.output(&["train", "mails", "--folds", "0", "--no-report"]);
    folder.write("letter.eml", &mail("hello", "PHA+d2luIG1vbmV5PC9wPg=="));
    folder.write("letters.mbox", "From a\nSubject: Besprechung\n\n\nFrom b\n\nwin money\n");

    assert_eq!(folder.output(&["predict", "mails.mercer", "letter.eml"]), "label\nspam\n");
    assert_eq!(folder.output(&["predict", "mails.mercer", "letters.mbox"]), "label\nham\nspam\n");
    let why = folder.output(&["explain", "mails.mercer", "letter.eml"]);
    assert!(why.contains("money = 1"), "{why}");
    // Neither the encoded words nor uninformative headers have become terms.
    let terms = folder.output(&["inspect", "mails.mercer"]);
    assert!(!terms.contains("received") && !terms.contains("utf"), "{terms}");
}

#[test]
fn lines_are_predicted_as_they_arrive() {
    let folder = Folder::new();
    mails(&folder);
    folder.output(&["train", "mails", "--folds", "0", "--no-report"]);

    let lines = folder
        .mercer(&["predict", "mails.mercer", "-", "--format", "lines"])
        .write_stdin("win money\nnoon meeting\n\nprize")
        .assert()
        .success();
    let out = String::from_utf8(lines.get_output().stdout.clone()).unwrap();

    // A line without terms has the class of the largest prior.
    assert_eq!(out, "label\nspam\nham\nspam\nspam\n");
    folder.write("lines.txt", "win money\nnoon meeting\n");
    let file = folder.output(&["predict", "mails.mercer", "lines.txt", "--format", "lines"]);
    assert_eq!(file, "label\nspam\nham\n");
}

#[test]
fn lines_without_a_column_name_are_refused_with_a_remedy() {
    let folder = Folder::new();
    folder.write(
        "mail.tsv",
        "label\tbody\nspam\t\"win\" money\nham\tlunch at noon\nspam\t\"prize\nham\tnotes\n",
    );
    let train = ["train", "mail.tsv", "--target", "label", "--text", "body", "--folds", "0"];
    folder.output(&[&train[..], &["--no-report", "--no-quotes"]].concat());

    let done = folder
        .mercer(&["predict", "mail.mercer", "-"])
        .write_stdin("win money\nnoon meeting\n")
        .assert()
        .failure();

    let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(message.contains("if every line is a document, add `--format lines`"), "{message}");
    assert!(done.get_output().stdout.is_empty());
    let quotes = folder.mercer(&train).assert().failure();
    let message = String::from_utf8(quotes.get_output().stderr.clone()).unwrap();
    assert!(message.contains("`--no-quotes`"), "{message}");
}

#[test]
fn every_weighting_trains_and_predicts_from_json_lines() {
    let folder = Folder::new();
    let mail = |label: &str, body: &str| {
        format!("{{\"label\":\"{label}\",\"body\":\"{body}\",\"id\":1}}\n")
    };
    let spam = ["win money now", "cheap money win", "win a prize", "free prize money"];
    let ham = ["lunch at noon", "notes of the meeting", "meeting at noon", "the notes"];
    let lines: String =
        (spam.iter().map(|b| mail("spam", b))).chain(ham.iter().map(|b| mail("ham", b))).collect();
    folder.write("mail.jsonl", &lines);
    for steps in [
        &["text=tf-idf"][..],
        &["text=lecture"],
        &["text=binary", "min-df=2"],
        &["tf=log", "idf=plain", "norm=l1", "ngrams=1-2", "stop-words=english"],
        &["terms=characters-in-words", "ngrams=3"],
        &["hash=64"],
        &["hash=4096", "text=tf-idf"],
        &["pattern=[a-z]+", "stem=english", "accents=ascii", "max-terms=10"],
    ] {
        let mut args = vec![
            "train",
            "mail.jsonl",
            "--target",
            "label",
            "--text",
            "body",
            "--folds",
            "0",
            "--no-report",
        ];
        steps.iter().for_each(|step| args.extend(["--prepare", step]));

        let done = folder.mercer(&args).assert().success();
        let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
        let answers = folder.output(&["predict", "mail.mercer", "mail.jsonl"]);

        assert!(message.contains("dropped columns: `id` (not selected by --text)"), "{message}");
        assert_eq!(
            answers,
            "label\n".to_owned() + &"spam\n".repeat(4) + &"ham\n".repeat(4),
            "{steps:?}"
        );
        let why = folder.output(&["explain", "mail.mercer", "mail.jsonl", "--row", "1"]);
        assert!(why.contains("Class spam"), "{why}");
        folder.output(&["inspect", "mail.mercer"]);
    }
}

#[test]
fn hashed_terms_with_signs_are_explained_by_name() {
    let folder = Folder::new();
    let mail = example("mail.tsv");
    let train = ["train", &mail, "--target", "label", "--text", "body", "--folds", "3", "--json"];
    let hashing =
        ["--prepare", "hash=2^12", "--prepare", "hash-sign=alternate", "--prepare", "norm=l2"];

    let printed = folder.json(&[&train[..], &["--model", "sgd"], &hashing].concat());
    let answer = folder.output(&["predict", "mail.mercer", &example("letter.txt")]);
    let why = folder.output(&["explain", "mail.mercer", &example("letter.txt")]);
    let inside = folder.output(&["inspect", "mail.mercer"]);
    let refused = folder.mercer(&[&train[..], &hashing].concat()).assert().failure();

    assert!(printed["cross_validation"]["accuracy"]["value"].as_f64().unwrap() > 0.8, "{printed}");
    assert_eq!(answer, "label\nspam\n");
    assert!(why.contains("free"), "{why}");
    assert!(inside.contains("terms hashed to 4096 features with random signs"), "{inside}");
    let message = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(message.contains("must be `positive` for `multinomial-nb`"), "{message}");
}

#[test]
fn regressions_are_fitted_to_texts() {
    let folder = Folder::new();
    let words = ["garden", "view", "small", "old", "bright", "garage", "quiet", "noisy"];
    let worth = [30.0, 20.0, -25.0, -15.0, 10.0, 12.0, 8.0, -9.0];
    let mut table = "price\tbody\tnote\n".to_owned();
    for i in 0..120 {
        let has: Vec<usize> =
            (0..8).filter(|k| (i * i * (k + 3) + i * (k * k + 7) + k * 41) % 97 % 5 < 2).collect();
        let body: Vec<&str> = has.iter().map(|k| words[*k]).collect();
        let price = 200.0 + has.iter().map(|k| worth[*k]).sum::<f64>() + (i % 7) as f64 / 10.0;
        table += &format!("{price}\ta flat {}\tnote number {i} of many\n", body.join(" "));
    }
    folder.write("flats.tsv", &table);
    folder.write("new.tsv", "body\na flat garden view\na flat small old\n");
    for model in ["ols", "ridge", "ridge-cv", "linear-svr", "sgd-regressor", "svr", "kernel-ridge"]
    {
        let kernel = matches!(model, "svr" | "kernel-ridge");
        let mut args = vec!["train", "flats.tsv", "--target", "price", "--text", "body", "--model"];
        args.extend([model, "--folds", "3", "--no-report", "--json"]);
        if kernel {
            args.extend(["--set", "kernel=linear"]);
        }
        if model == "sgd-regressor" {
            args.extend(["--set", "max_iter=3000", "--set", "tol=0"]);
        }
        if model == "linear-svr" {
            args.extend(["--set", "C=100"]);
        }

        let printed = folder.json(&args);
        let answers = folder.output(&["predict", "flats.mercer", "new.tsv"]);

        assert!(printed["regression"]["r_squared"].as_f64().unwrap() > 0.8, "{model}: {printed}");
        let prices: Vec<f64> = answers.lines().skip(1).map(|line| line.parse().unwrap()).collect();
        assert!(prices[0] > 240.0 && prices[1] < 175.0, "{model}: {answers}");
        if !kernel {
            let why = folder.output(&["explain", "flats.mercer", "new.tsv"]);
            assert!(why.contains("garden") && !why.contains("noisy"), "{model}: {why}");
        }
    }
    let chosen =
        folder.json(&["train", "flats.tsv", "--target", "price", "--text", "body", "--json"]);
    assert_eq!(chosen["estimator"], "ridge");
    // Without `--text`, every text column is used.
    let done = folder
        .mercer(&[
            "train",
            "flats.tsv",
            "--target",
            "price",
            "--model",
            "ridge",
            "--column",
            "body=text",
        ])
        .assert()
        .success();
    let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
    assert!(message.contains("text `note`: tf-idf weights"), "{message}");
}

#[test]
fn models_of_hashed_terms_merge_without_a_common_vocabulary() {
    let folder = Folder::new();
    folder.write("monday.tsv", "y\tt\na\tred apple\nb\tblue sea\n");
    folder.write("tuesday.tsv", "y\tt\na\tred rose\nb\tblue sky\n");
    for day in ["monday", "tuesday"] {
        let table = format!("{day}.tsv");
        folder.output(&[
            "train",
            &table,
            "--target",
            "y",
            "--text",
            "t",
            "--prepare",
            "hash=1024",
            "--folds",
            "0",
            "--no-report",
        ]);
    }

    folder.output(&["merge", "monday.mercer", "tuesday.mercer", "--out", "week.mercer"]);

    folder.write("new.tsv", "t\nrose\nsky\napple\n");
    assert_eq!(folder.output(&["predict", "week.mercer", "new.tsv"]), "y\na\nb\na\n");
}

#[test]
fn invalid_text_options_are_reported_with_a_remedy() {
    let folder = Folder::new();
    mails(&folder);
    let mail = example("mail.tsv");
    let train = |more: &[&str]| {
        let mut args = vec!["train", mail.as_str(), "--target", "label"];
        args.extend(more);
        let done = folder.mercer(&args).assert().failure();
        String::from_utf8(done.get_output().stderr.clone()).unwrap()
    };

    let no_column = train(&["--text", "subject"]);
    let no_step = train(&["--text", "body", "--prepare", "text=magic"]);
    let no_stem = train(&["--text", "body", "--prepare", "stem=klingon"]);
    let none_left = train(&["--text", "body", "--prepare", "min-df=1000"]);

    assert!(no_column.contains("no column `subject`; it has `label`, `body`"), "{no_column}");
    assert!(no_step.contains("one of counts, binary, tf-idf, lecture"), "{no_step}");
    assert!(no_stem.contains("finnish"), "{no_stem}");
    assert!(none_left.contains("min_df"), "{none_left}");
    std::fs::write(folder.path("mails/ham/picture"), b"\x89PNG\0\0").unwrap();
    let picture = folder.mercer(&["train", "mails"]).assert().failure();
    let message = String::from_utf8(picture.get_output().stderr.clone()).unwrap();
    assert!(message.contains("mails/ham/picture: it is not text"), "{message}");
    std::fs::create_dir(folder.path("empty")).unwrap();
    let empty = folder.mercer(&["train", "empty"]).assert().failure();
    assert!(String::from_utf8(empty.get_output().stderr.clone()).unwrap().contains("empty"));
}

#[test]
fn a_small_budget_gives_the_same_file() {
    let folder = Folder::new();
    let line = |i: usize| {
        let (class, word) = if i.is_multiple_of(2) { ("spam", "money") } else { ("ham", "lunch") };
        format!("{class}\t{}\n", format!("{word} number {} ", i % 50).repeat(8))
    };
    let lines: String = (0..3000).map(line).collect();
    folder.write("mail.tsv", &format!("label\ttext\n{lines}"));
    let train = ["train", "mail.tsv", "--target", "label", "--text", "text", "--no-report"];
    let how = ["--model", "linear-svc", "--prepare", "text=tf-idf", "--folds", "0"];

    for more in [&["--out", "kept.mercer"][..], &["--out", "again.mercer", "--memory", "1MB"]] {
        folder.output(&[&train[..], &how, more].concat());
    }

    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(bytes("kept.mercer") == bytes("again.mercer"));
}
