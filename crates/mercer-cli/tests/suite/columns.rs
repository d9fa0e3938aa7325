//! Columns as people write them: identifiers, dates, separators, units, booleans, codes.

use super::Folder;

/// A table in a European notation, with every kind of column that is not a plain feature: an 18-digit account number, a
/// date, a constant, a copy of another column, a leak, thousands separators with decimal commas, percents, a code and
/// booleans in several spellings. The target depends on `income` and on `signup`.
fn customers(n: u32) -> String {
    let mut table = String::from(
        "row;account;signup;country;income;copy;rate;region_code;active;cancelled_on;churned\n",
    );
    for i in 0..n {
        let noise = (i * 7919) % 1000;
        let income = f64::from(noise) * 12.5 + 500.25;
        let month = i % 12 + 1;
        let churned = (noise < 400) == (month < 10);
        let whole = income.trunc() as u32;
        let amount = match whole {
            0..1000 => format!("{whole},{:02}", (income.fract() * 100.0).round()),
            _ => format!(
                "{}.{:03},{:02}",
                whole / 1000,
                whole % 1000,
                (income.fract() * 100.0).round()
            ),
        };
        let active = ["yes", "No", "Y", "no"][(i / 3) as usize % 4];
        table += &format!(
            "{};{};{:02}.{month:02}.2023;DE;{amount};{amount};{},{} %;{};{active};{};{}\n",
            i + 1,
            123_456_789_012_345_000u64 + u64::from(i) * 7,
            i % 28 + 1,
            i % 90,
            i % 10,
            [10, 20, 40, 110][(i % 4) as usize],
            if churned { "after" } else { "never" },
            if churned { "yes" } else { "no" },
        );
    }
    table
}

fn messages(folder: &Folder, args: &[&str]) -> String {
    let done = folder.mercer(args).assert().success();
    String::from_utf8(done.get_output().stderr.clone()).unwrap()
}

#[test]
fn every_kind_of_column_is_found_and_named() {
    let folder = Folder::new();
    folder.write("customers.csv", &customers(300));

    let said = messages(&folder, &["train", "customers.csv", "--target", "churned"]);

    for expected in [
        "dropped column `row` (identifier",
        "dropped column `account` (identifier",
        "dropped column `country` (constant: every value is `DE`",
        "dropped column `copy` (duplicate of `income`",
        "dates written as day-month-year",
        "numbers written as 1.234,5",
        "with the unit %",
        "whole numbers, named like a code: 4 categories",
        "several spellings of true and false",
        "MRC001 target leak: `cancelled_on` alone explains 100.00 %",
        "date `signup` as features: days, month, day, weekday",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let inspected = folder.output(&["inspect", "customers.mercer"]);
    for expected in
        ["dropped column `account`: identifier", "column `income`: numbers written as 1.234,5"]
    {
        assert!(inspected.contains(expected), "{expected}: {inspected}");
    }
}

#[test]
fn a_leak_is_removed_by_its_remedy_and_the_rest_is_learned_honestly() {
    let folder = Folder::new();
    folder.write("customers.csv", &customers(300));

    let leaking = folder.json(&["check", "customers.csv", "--target", "churned", "--json"]);

    let leak = leaking.as_array().unwrap().iter().find(|f| f["code"] == "MRC001").unwrap();
    let command = leak["command"].as_str().unwrap();
    assert_eq!(command, "mercer train customers.csv --target churned --ignore cancelled_on");
    let mut args: Vec<&str> = command.split(' ').skip(1).collect();
    args.extend(["--budget", "20s", "--json"]);
    let report = folder.json(&args);
    let scores = &report["cross_validation"];
    let (accuracy, baseline) = (&scores["accuracy"]["value"], &scores["baseline_accuracy"]);
    // The target is an exclusive or of two columns: a kernel or a network learns it.
    assert!(accuracy.as_f64().unwrap() > baseline.as_f64().unwrap() + 0.1, "{scores}");
    assert!(!report["checks"].to_string().contains("MRC003"), "{}", report["checks"]);
}

#[test]
fn noise_is_not_recommended() {
    let folder = Folder::new();
    let mut table = String::from("a,b,y\n");
    for i in 0u64..200 {
        let random = |k: u64| (i * 2_654_435_761 + k * 40_503).wrapping_mul(2_246_822_519) >> 7;
        let class = if random(3).is_multiple_of(3) { "yes" } else { "no" };
        table += &format!("{},{},{class}\n", random(1) % 1000, random(2) % 1000);
    }
    folder.write("noise.csv", &table);

    let report = folder.json(&["train", "noise.csv", "--target", "y", "--model", "svc", "--json"]);

    let scores = &report["cross_validation"];
    let below = scores["accuracy"]["value"].as_f64() <= scores["baseline_accuracy"].as_f64();
    let found = report["checks"].to_string().contains("MRC003");
    assert_eq!(below, found, "{report}");
    let page = std::fs::read_to_string(folder.path("noise.html")).unwrap();
    assert_eq!(below, page.contains("Not recommended"), "{scores}");
}

#[test]
fn new_files_are_parsed_as_the_training_data_and_rows_are_joined() {
    let folder = Folder::new();
    folder.write("customers.csv", &customers(300));
    folder.output(&[
        "train",
        "customers.csv",
        "--target",
        "churned",
        "--ignore",
        "cancelled_on",
        "--model",
        "mixed-nb",
    ]);
    let new = "account;signup;income;rate;region_code;active;comment\n\
               555;17.03.2023;1.234,50;12,5 %;40;TRUE;hello\n\
               556;18.11.2023;99;3 %;10;n;\"a;b\"\n";
    folder.write("new.csv", new);

    let predicted = folder.output(&[
        "predict",
        "customers.mercer",
        "new.csv",
        "--keep",
        "account",
        "--keep",
        "comment",
    ]);

    let lines: Vec<&str> = predicted.lines().collect();
    assert_eq!(lines[0], "account,comment,churned");
    assert!(lines[1].starts_with("555,hello,"), "{predicted}");
    assert!(lines[2].starts_with("556,a;b,"), "{predicted}");
    let said = messages(&folder, &["predict", "customers.mercer", "new.csv"]);
    assert!(said.contains("are not used: `comment`"), "{said}");
    folder.write("few.csv", "account;income\n1;2\n");
    let error = folder.failure(&["predict", "customers.mercer", "few.csv"], 3);
    for name in ["signup", "rate", "region_code", "active"] {
        assert!(error.contains(&format!("`{name}`")), "{error}");
    }
    folder.write("bad.csv", &new.replace("1.234,50", "12.34,5"));
    let error = folder.failure(&["predict", "customers.mercer", "bad.csv"], 3);
    assert!(error.contains("line 2") && error.contains("`12.34,5`"), "{error}");
}

#[test]
fn inferences_can_be_overridden() {
    let folder = Folder::new();
    folder.write("customers.csv", &customers(100));
    let train = ["train", "customers.csv", "--target", "churned", "--model", "mixed-nb"];
    let overridden = [
        "--column",
        "row=numeric",
        "--column",
        "signup=categorical",
        "--column",
        "region_code=numeric",
        "--column",
        "country=categorical",
    ];

    let report = folder.json(&[&train[..], &overridden, &["--json"]].concat());

    let kind = |name: &str| {
        let columns = report["columns"].as_array().unwrap();
        columns.iter().find(|c| c["name"] == name).unwrap()["kind"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        [kind("row"), kind("signup"), kind("region_code")],
        ["numeric", "categorical", "numeric"]
    );
    let dropped = report["dropped"].to_string();
    assert!(!dropped.contains("\"row\"") && !dropped.contains("country"), "{dropped}");
    let all = folder.json(&[&train[..], &["--keep-columns", "--json"]].concat());
    assert!(all["dropped"].is_null(), "{}", all["dropped"]);
}

#[test]
fn ambiguous_notations_follow_the_file_and_the_user() {
    let folder = Folder::new();
    let rows: String = (0..30).map(|i| format!("1,{:03};0,{i}5;{}\n", i * 7, i % 2)).collect();
    folder.write("european.csv", &format!("x;z;y\n{rows}"));
    let train = ["train", "european.csv", "--target", "y", "--model", "gaussian-nb", "--json"];

    let comma = folder.json(&train);
    let thousands = folder.json(&[&train[..], &["--column", "x=numeric:point"]].concat());

    assert_eq!(comma["columns"][0]["range"], serde_json::json!([1.0, 1.203]));
    assert_eq!(thousands["columns"][0]["range"], serde_json::json!([1000.0, 1203.0]));
}

#[test]
fn json_lines_and_dates_with_times_are_understood() {
    let folder = Folder::new();
    let mut table = String::new();
    for i in 0..60 {
        table += &format!(
            "{{\"at\": \"2024-0{}-1{} {:02}:30:00\", \"price\": \"${}.50\", \"y\": \"{}\"}}\n",
            i % 3 + 1,
            i % 9,
            i % 24,
            i % 7,
            if i % 24 < 12 { "am" } else { "pm" }
        );
    }
    folder.write("events.jsonl", &table);

    let report =
        folder.json(&["train", "events.jsonl", "--target", "y", "--model", "lda", "--json"]);

    assert_eq!(report["columns"][0]["kind"], "date");
    assert!(
        report["columns"][1]["remark"].as_str().unwrap().contains("with the unit $"),
        "{report}"
    );
    // The hour determines the class.
    assert!(report["cross_validation"]["accuracy"]["value"].as_f64().unwrap() > 0.95, "{report}");
}
