//! `mercer bayes network` and `mercer bayes learn`.

use super::{Folder, example};
use std::path::Path;

fn network(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/networks").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_burglar_alarm_is_queried() {
    let folder = Folder::new();
    let alarm = network("earthquake.bif");
    let calls = ["--evidence", "JohnCalls=true", "--evidence", "MaryCalls=true"];

    let printed = folder
        .output(&[&["bayes", "network", &alarm, "--query", "Burglary"][..], &calls[..]].concat());
    let json = folder.json(
        &[&["bayes", "network", &alarm, "--query", "Burglary", "--json"][..], &calls[..]].concat(),
    );

    assert!(printed.contains("0.2842"), "{printed}");
    let p = json["marginals"]["Burglary"]["true"].as_f64().unwrap();
    assert!((p - 0.284_171_835_364_393).abs() < 1e-12);
}

#[test]
fn joint_explanation_and_separation_are_reported() {
    let folder = Folder::new();
    let alarm = network("earthquake.bif");
    let ask = |more: &[&str]| folder.output(&[&["bayes", "network", &alarm][..], more].concat());

    let joint = ask(&["--query", "Burglary,Earthquake", "--joint", "--evidence", "Alarm=true"]);
    let best = ask(&["--mpe", "--evidence", "Alarm=true"]);
    let open = ask(&["--separated", "JohnCalls", "MaryCalls"]);
    let closed = ask(&["--separated", "JohnCalls", "MaryCalls", "--given", "Alarm"]);
    let all = ask(&[]);

    assert!(joint.contains("P(evidence) = 0.002516"), "{joint}");
    assert!(best.contains("true (seen)"), "{best}");
    assert!(open.contains("JohnCalls <- Alarm -> MaryCalls is active"), "{open}");
    assert!(closed.contains("is blocked at Alarm, which is observed"), "{closed}");
    assert!(all.contains("MaryCalls"), "{all}");
}

#[test]
fn a_network_is_learned_drawn_and_queried() {
    let folder = Folder::new();
    let table = example("mammals.csv");
    for structure in ["chow-liu", "search", "tan", "naive"] {
        let printed = folder.output(&[
            "bayes",
            "learn",
            &table,
            "--structure",
            structure,
            "--target",
            "class",
            "--ignore",
            "name",
            "--out",
            "net.bif",
            "--draw",
            "net.svg",
        ]);
        assert!(
            printed.contains("saved net.bif") && printed.contains("tables: closed form"),
            "{printed}"
        );

        let json = folder.json(&["bayes", "network", "net.bif", "--query", "class", "--json"]);

        let class = json["marginals"]["class"].as_object().unwrap();
        let total: f64 = class.values().map(|p| p.as_f64().unwrap()).sum();
        assert!((total - 1.0).abs() < 1e-12);
        let svg = std::fs::read_to_string(folder.path("net.svg")).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("class"));
    }
    folder.output(&["bayes", "network", "net.bif", "--draw", "net.dot"]);
    let dot = std::fs::read_to_string(folder.path("net.dot")).unwrap();
    assert!(dot.starts_with("digraph"));
}

#[test]
fn invalid_input_is_reported_with_an_exit_code() {
    let folder = Folder::new();
    let alarm = network("earthquake.bif");
    folder.write("bad.bif", "network n { }\nvariable x { type continuous; }\n");
    folder.write(
        "sure.bif",
        "network n { } variable x { type discrete [ 2 ] { a, b }; }
         probability ( x ) { table 1, 0; }",
    );
    let fails = |args: &[&str], code, expected_text: &str| {
        let message = folder.failure(args, code);
        assert!(message.contains(expected_text), "`{expected_text}` is not in {message}");
    };

    fails(&["bayes", "network", "bad.bif"], 3, "line 2: found `continuous`");
    fails(&["bayes", "network", "none.bif"], 3, "none.bif");
    fails(&["bayes", "network", &alarm, "--query", "Fire"], 3, "unknown variable `Fire`");
    fails(
        &["bayes", "network", &alarm, "--evidence", "Alarm=maybe"],
        3,
        "variable `Alarm` has no value `maybe`",
    );
    fails(&["bayes", "network", "sure.bif", "--evidence", "x=b"], 3, "x=b has probability 0");
    fails(
        &["bayes", "network", &alarm, "--draw", "x.png"],
        2,
        "expected a file name with .svg or .dot",
    );
    fails(&["bayes", "learn", &example("mammals.csv"), "--structure", "tan"], 2, "--target");
    fails(&["bayes", "learn", &example("wine.csv")], 3, "--ignore");
}

#[test]
fn a_network_is_an_estimator_like_the_others() {
    let folder = Folder::new();
    let mammals = example("mammals.csv");
    let args = ["train", &mammals, "--target", "class", "--ignore", "name", "--no-report"];

    folder.output(&[&args[..], &["--model", "bayes-network", "--out", "net.mercer"]].concat());
    folder.output(
        &[
            &args[..],
            &["--model", "bayes-network", "--set", "criterion=bdeu", "--out", "bdeu.mercer"],
        ]
        .concat(),
    );

    for model in ["net.mercer", "bdeu.mercer"] {
        let evaluation = folder.json(&["evaluate", model, &mammals, "--json"]);
        assert!(evaluation["accuracy"]["value"].as_f64().unwrap() > 0.8);
        let printed = folder.output(&["explain", model, &mammals, "--row", "1"]);
        assert!(printed.contains("give_birth"), "{printed}");
        assert_eq!(folder.output(&["sample", model, "--rows", "5"]).lines().count(), 6);
    }
    let inside = folder.output(&["inspect", "net.mercer"]);
    assert!(inside.contains("training rows can be reconstructed"), "{inside}");
}
