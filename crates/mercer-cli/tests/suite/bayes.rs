//! `mercer bayes`: probability calculations.

use super::{Folder, example};
use serde_json::json;

/// The candy bags of the lecture.
const BAGS: [&str; 14] = [
    "bayes",
    "update",
    "--prior",
    "h1=.1",
    "--prior",
    "h2=20%",
    "--prior",
    "h3=2/5",
    "--prior",
    "h4=.2",
    "--prior",
    "h5=.1",
    "--outcome",
    "lime=0,1/4,1/2,3/4,1",
];

fn contains_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn the_meningitis_example_prints_its_steps() {
    let folder = Folder::new();
    let requested =
        ["bayes", "rule", "--prior", "1/50000", "--likelihood", "0.5", "--evidence", "1/20"];

    let output = folder.output(&requested);
    let json = folder.json(&[&requested[..], &["--json"]].concat());

    contains_all(&output, &["0.5 x 2.000e-5 / 0.05", "= 0.0002", "Bayes factor 10"]);
    assert!((json["hypotheses"][0]["posterior"].as_f64().unwrap() - 0.0002).abs() < 1e-18);
}

#[test]
fn several_hypotheses_are_compared() {
    let folder = Folder::new();

    let json = folder.json(&[
        "bayes",
        "rule",
        "--hypothesis",
        "red=1/3,0.9",
        "--hypothesis",
        "blue=2/3,0.2",
        "--json",
    ]);

    // 0.3 against 2/15.
    let red = json["hypotheses"][0]["posterior"].as_f64().unwrap();
    assert!((red - 0.3 / (0.3 + 2.0 / 15.0)).abs() < 1e-14);
}

#[test]
fn the_weather_table_prints_fractions_and_decimals() {
    let folder = Folder::new();
    let weather = example("weather.csv");

    let output = folder.output(&["bayes", "table", &weather, "--given", "temp=hot"]);
    let rainy = folder.output(&[
        "bayes",
        "table",
        &weather,
        "--event",
        "weather=rainy",
        "--given",
        "temp=hot",
    ]);
    let json = folder.json(&["bayes", "table", &weather, "--event", "temp=cold", "--json"]);

    contains_all(&output, &["365 counted", "195/365", "170/365", "200/365", "5/365"]);
    contains_all(
        &output,
        &["P(temp=hot) = 195/365 = 0.5342", "P(weather | temp=hot)", "150/195", "0.7692"],
    );
    contains_all(&output, &["6 cells, 5 free parameters; 3 if all were independent"]);
    contains_all(&rainy, &["P(weather=rainy | temp=hot) = 5/195 = 0.02564", "product = 5/365"]);
    assert_eq!(json["answer"]["probability"]["fraction"], json!([170, 365]));
}

#[test]
fn independence_is_tested() {
    let folder = Folder::new();

    let output = folder.output(&[
        "bayes",
        "table",
        &example("weather.csv"),
        "--independent",
        "temp,weather",
    ]);

    contains_all(&output, &["Are temp and weather independent?", "2 degrees"]);
}

#[test]
fn rows_are_counted_without_a_count_column() {
    let folder = Folder::new();
    folder.write("die.csv", "roll,odd\n1,yes\n2,no\n3,yes\n4,no\n5,yes\n6,no\n");

    let json = folder.json(&[
        "bayes",
        "table",
        "die.csv",
        "--columns",
        "roll,odd",
        "--event",
        "roll=1",
        "--given",
        "odd=yes",
        "--json",
    ]);

    assert_eq!(json["answer"]["probability"]["fraction"], json!([1, 3]));
}

#[test]
fn ten_observations_print_ten_lines_and_a_plot() {
    let folder = Folder::new();
    let ask = |more: &[&'static str]| [&BAGS[..], &["--observe", "lime*10"], more].concat();

    let output = folder.output(&ask(&["--plot", "bags.svg"]));
    folder.output(&ask(&["--plot", "bags.png"]));
    let json = folder.json(&ask(&["--json"]));

    assert_eq!(output.lines().count(), 12);
    contains_all(output.lines().nth(2).unwrap(), &["lime", "0.1", "0.4", "0.3", "0.2", "0.65"]);
    contains_all(output.lines().last().unwrap(), &["0.8956", "0.973"]);
    assert!((json["lines"][1]["predictive"][0].as_f64().unwrap() - 0.65).abs() < 1e-15);
    assert!(std::fs::read_to_string(folder.path("bags.svg")).unwrap().contains("<svg"));
    assert!(std::fs::read(folder.path("bags.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn hypotheses_are_read_from_a_file() {
    let folder = Folder::new();
    folder.write(
        "coin.json",
        r#"{"hypotheses": {"fair": "9/10", "two heads": 0.1},
            "outcomes": {"heads": {"fair": 0.5, "two heads": 1}, "tails": {"fair": "1/2", "two heads": 0}},
            "observations": ["heads*3"]}"#,
    );

    let json = folder.json(&["bayes", "update", "--file", "coin.json", "--json"]);

    // 0.9 / 8 against 0.1.
    let biased = json["lines"][3]["posterior"][1].as_f64().unwrap();
    assert!((biased - 0.1 / 0.2125).abs() < 1e-14);
}

#[test]
fn parameters_have_three_point_estimates() {
    let folder = Folder::new();

    let beta = folder.output(&["bayes", "estimate", "beta", "--successes", "7", "--failures", "3"]);
    let dirichlet = folder.json(&["bayes", "estimate", "dirichlet", "--counts", "3,4,5", "--json"]);
    let known = folder.output(&[
        "bayes", "estimate", "normal", "--values", "12,14", "--noise", "2", "--prior", "10,4",
    ]);
    let unknown =
        folder.output(&["bayes", "estimate", "normal", "--values", "-1,3", "--level", "50%"]);
    let gamma = folder.output(&["bayes", "estimate", "gamma", "--counts", "3,1", "--prior", "2,1"]);

    contains_all(&beta, &["Beta(8, 4)", "0.7", "0.6667", "0.3903 to 0.8907"]);
    assert!((dirichlet["estimates"][0]["mean"].as_f64().unwrap() - 4.0 / 15.0).abs() < 1e-15);
    contains_all(&known, &["12.4", "variance 0.8", "The next value lies in"]);
    contains_all(&unknown, &["variance", "50% interval"]);
    contains_all(&gamma, &["Gamma(shape 6, rate 3)", "1.667"]);
}

#[test]
fn gaussians_are_fitted_conditioned_and_sampled() {
    let folder = Folder::new();
    let iris = example("iris.csv");

    let json = folder.json(&[
        "bayes",
        "gaussian",
        &iris,
        "--columns",
        "petal_length,petal_width",
        "--given",
        "petal_length=5",
        "--json",
    ]);
    let typed = folder.output(&[
        "bayes",
        "gaussian",
        "--mean",
        "0,0",
        "--covariance",
        "1,0.5;0.5,1",
        "--at",
        "1,1",
        "--sample",
        "3",
    ]);

    // numpy 2.4: petal_width = 1.1993 + 1.2956/3.1163 · (5 − 3.758)
    assert_eq!(json["names"], json!(["petal_width"]));
    assert!((json["mean"][0].as_f64().unwrap() - 1.715_7).abs() < 1e-3, "{json}");
    // (x − μ)ᵀ Σ⁻¹ (x − μ) = 4/3
    contains_all(&typed, &["Mahalanobis distance 1.15", "x1,x2"]);
    let drawn = typed.lines().skip_while(|line| *line != "x1,x2").count();
    assert_eq!(drawn, 4, "{typed}");
}

#[test]
fn invalid_input_is_reported() {
    let folder = Folder::new();
    let weather = example("weather.csv");
    let cases: [(&[&str], i32, &str); 10] = [
        (
            &["bayes", "rule", "--prior", "0.5", "--likelihood", "0.5", "--evidence", "0.1"],
            3,
            "evidence",
        ),
        (
            &["bayes", "rule", "--prior", "1.5", "--likelihood", "0.5", "--evidence", "1"],
            3,
            "prior",
        ),
        (&["bayes", "rule"], 2, "--prior"),
        (&["bayes", "table", &weather, "--given", "temp=warm"], 3, "`cold`, `hot`"),
        (&["bayes", "table", &weather, "--given", "heat=hot"], 3, "`temp`"),
        (&["bayes", "update", "--prior", "a=0.5", "--prior", "b=0.6"], 3, "1.1"),
        (
            &["bayes", "update", "--prior", "a=1", "--outcome", "x=0", "--observe", "x"],
            3,
            "probability 0",
        ),
        (&["bayes", "update", "--prior", "a=1", "--outcome", "x=1", "--observe", "y"], 3, "`y`"),
        (
            &["bayes", "estimate", "beta", "--successes", "1", "--failures", "1", "--prior", "1"],
            2,
            "2 numbers",
        ),
        (
            &["bayes", "gaussian", "--mean", "0,0", "--covariance", "1,1;1,1"],
            2,
            "positive definite",
        ),
    ];

    for (args, code, expected_text) in cases {
        contains_all(&folder.failure(args, code), &[expected_text]);
    }
}

#[test]
fn densities_of_a_parameter_are_plotted() {
    let folder = Folder::new();
    for of in [
        &["beta", "--successes", "7", "--failures", "3"][..],
        &["dirichlet", "--counts", "3,4,5"],
        &["normal", "--values", "125,100,70,120"],
        &["normal", "--values", "125,100,70,120", "--noise", "400"],
        &["gamma", "--counts", "3,1,4,1"],
    ] {
        folder.output(&[&["bayes", "estimate"], of, &["--plot", "density.svg"]].concat());

        let picture = std::fs::read_to_string(folder.path("density.svg")).unwrap();
        for text in ["posterior", "prior", "95 % credible interval"] {
            assert!(picture.contains(text), "{of:?}: no {text}");
        }
    }
    let discrete = ["bayes", "estimate", "discrete", "--values", "0,1", "--posterior", "0.5,0.5"];
    let error = folder.failure(&[&discrete[..], &["--plot", "density.svg"]].concat(), 2);
    assert!(error.contains("remove --plot"), "{error}");
}
