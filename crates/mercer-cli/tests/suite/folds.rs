//! Folds of other kinds than plain ones: grouped, time-ordered, repeated and hold-out.

use super::{Folder, example};
use std::fmt::Write as _;

/// Visits of patients: the target is that of the patient, and a column identifies the patient, so that a model that has
/// seen a patient knows the target of all visits.
fn visits() -> String {
    let mut table = String::from("patient,mark,day,ill\n");
    for patient in 0..30 {
        for visit in 0..6 {
            let mark = f64::from(patient * 17 % 30) + f64::from((visit * 7 + patient) % 5) / 100.0;
            let ill = if (patient * 13) % 7 < 3 { "yes" } else { "no" };
            writeln!(table, "p{patient},{mark},2024-0{}-{:02},{ill}", visit + 1, patient % 28 + 1)
                .unwrap();
        }
    }
    table
}

#[test]
fn grouped_folds_do_not_reward_recognizing_the_group() {
    let folder = Folder::new();
    folder.write("visits.csv", &visits());
    let run = ["compare", "visits.csv", "--target", "ill", "--models", "svc", "--json"];
    let narrow = ["--set", "svc.gamma=1000", "--set", "svc.C=100", "--ignore", "day"];

    let plain = folder.json(&[&run[..], &narrow, &["--ignore", "patient"]].concat());
    let grouped = folder.json(&[&run[..], &narrow, &["--group", "patient"]].concat());

    let plain = plain[0]["cross_validation"]["accuracy"]["value"].as_f64().unwrap();
    let grouped_score = grouped["rows"][0]["score"].as_f64().unwrap();
    assert!(plain > 0.95 && grouped_score < 0.8, "{plain} {grouped_score}");
    assert_eq!(grouped["splitting"], "10 folds grouped by `patient`");
}

#[test]
fn a_named_estimator_is_trained_with_grouped_and_time_ordered_scores() {
    let folder = Folder::new();
    folder.write("visits.csv", &visits());
    let run = ["train", "visits.csv", "--target", "ill", "--model", "logistic", "--no-report"];

    let grouped = folder.json(&[&run[..], &["--group", "patient", "--json"]].concat());
    let in_time = folder.json(
        &[&run[..], &["--ignore", "patient", "--time", "day", "--folds", "4", "--json"]].concat(),
    );
    let once = folder.json(&[&run[..], &["--hold-out", "0.2", "--json"]].concat());

    let n_rows =
        |report: &serde_json::Value| report["cross_validation"]["n_rows"].as_u64().unwrap();
    assert_eq!(n_rows(&grouped), 180);
    // The first of five blocks is never predicted.
    assert!((140..=150).contains(&n_rows(&in_time)), "{}", n_rows(&in_time));
    assert!((34..=37).contains(&n_rows(&once)), "{}", n_rows(&once));
    // The group is no feature: the model predicts a table without it.
    folder.output(&[&run[..], &["--group", "patient", "--quiet"]].concat());
    folder.write("new.csv", "mark,day\n3.5,2024-01-05\n");
    assert_eq!(folder.output(&["predict", "visits.mercer", "new.csv"]).lines().count(), 2);
}

#[test]
fn repeated_folds_are_pooled() {
    let folder = Folder::new();
    let iris = example("iris.csv");
    let run = ["compare", &iris, "--target", "species", "--models", "lda,gaussian-nb", "--json"];

    let board = folder.json(&[&run[..], &["--repeats", "3", "--folds", "5"]].concat());

    assert_eq!(board["splitting"], "5 folds, 3 repeats");
    for row in board["rows"].as_array().unwrap() {
        assert_eq!(row["fold_scores"].as_array().unwrap().len(), 15);
    }
}

#[test]
fn weights_count_in_the_scores_of_a_comparison() {
    let folder = Folder::new();
    // The second half of the rows has the opposite rule, and nearly all of the weight.
    let mut table = String::from("x,y,w\n");
    for i in 0..80 {
        let x = f64::from(i % 40) - 19.5;
        let (sign, weight) = if i < 40 { (1.0, 1.0) } else { (-1.0, 50.0) };
        writeln!(table, "{x},{},{weight}", if sign * x > 0.0 { "a" } else { "b" }).unwrap();
    }
    folder.write("t.csv", &table);
    let run =
        ["compare", "t.csv", "--target", "y", "--models", "logistic", "--repeats", "2", "--json"];

    let unweighted = folder.json(&[&run[..], &["--ignore", "w"]].concat());
    let weighted = folder.json(&[&run[..], &["--weights", "w"]].concat());

    let score = |board: &serde_json::Value| board["rows"][0]["score"].as_f64().unwrap();
    assert!(score(&unweighted) < 0.7, "{}", score(&unweighted));
    assert!(score(&weighted) > 0.9, "{}", score(&weighted));
}

#[test]
fn columns_and_combinations_that_do_not_work_are_refused() {
    let folder = Folder::new();
    folder.write("visits.csv", &visits());
    folder.write("holes.csv", "g,x,y\na,1,u\n,2,v\nb,3,u\nb,4,v\n");
    let run = ["train", "visits.csv", "--target", "ill", "--model", "lda"];

    for (args, code, expected) in [
        ([&run[..], &["--group", "doctor"]].concat(), 2, "no column `doctor`"),
        ([&run[..], &["--group", "ill"]].concat(), 2, "is the target"),
        ([&run[..], &["--hold-out", "0.9"]].concat(), 2, "up to 0.5"),
        ([&run[..], &["--group", "patient", "--folds", "50"]].concat(), 2, "at least 50 groups"),
        (
            vec!["train", "visits.csv", "--target", "ill", "--budget", "0", "--repeats", "2"],
            2,
            "add --model",
        ),
        (
            vec!["train", "holes.csv", "--target", "y", "--model", "lda", "--group", "g"],
            3,
            "first in line 3",
        ),
    ] {
        let printed = folder.failure(&args, code);
        assert!(printed.contains(expected), "{printed}");
    }
}
