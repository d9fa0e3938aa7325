//! `mercer bayes table`: events, the laws of total probability and expectation, moments, independence and Bayes risk.

use super::{Folder, example};
use serde_json::{Value, json};

fn ask(folder: &Folder, table: &str, more: &[&str]) -> String {
    folder.output(&[&["bayes", "table", &example(table)], more].concat())
}

fn ask_json(folder: &Folder, table: &str, more: &[&str]) -> Value {
    folder.json(&[&["bayes", "table", &example(table), "--json"], more].concat())
}

fn contains_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn events_are_combined_by_and_or_and_not() {
    let folder = Folder::new();
    let fraction = |table: &str, event: &str| {
        ask_json(&folder, table, &["--event", event])["answer"]["probability"]["fraction"].clone()
    };

    // Hot days and the cold days that are not sunny: 195 + 60 + 60.
    assert_eq!(fraction("weather.csv", "temp=hot or not weather=sunny"), json!([315, 365]));
    assert_eq!(fraction("weather.csv", "not (temp=hot or weather=sunny)"), json!([120, 365]));
    assert_eq!(fraction("weather.csv", "temp=hot and (weather=sunny|rainy)"), json!([155, 365]));
    // Two dice: the sum is 2 only for a pair of ones.
    assert_eq!(fraction("dice.csv", "die1=1 and die2=1"), json!([1, 36]));
    assert_eq!(fraction("dice.csv", "die1+die2=2"), json!([1, 36]));
    assert_eq!(fraction("dice.csv", "die1+die2>=11"), json!([3, 36]));
    assert_eq!(fraction("dice.csv", "die1=die2"), json!([6, 36]));
    assert_eq!(fraction("dice.csv", "die1 > die2 + 3"), json!([3, 36]));
}

#[test]
fn invalid_events_are_refused_with_the_grammar_or_the_names() {
    let folder = Folder::new();
    let refused = |table: &str, event: &str, code: i32| {
        folder.failure(&["bayes", "table", &example(table), "--event", event], code)
    };

    contains_all(&refused("weather.csv", "temp=hot or", 2), &["and, or, not and parentheses"]);
    contains_all(&refused("weather.csv", "heat=hot", 3), &["`heat`", "`temp`"]);
    contains_all(&refused("weather.csv", "temp=warm", 3), &["`warm`", "`hot`"]);
    contains_all(&refused("weather.csv", "temp+weather>3", 3), &["numeric"]);
    contains_all(&refused("dice.csv", "die1=7", 3), &["`7`"]);
}

#[test]
fn the_law_of_total_probability_is_shown_term_by_term() {
    let folder = Folder::new();

    let output = ask(&folder, "weather.csv", &["--event", "weather=rainy", "--by", "temp"]);
    let given = ask_json(
        &folder,
        "dice.csv",
        &["--event", "die1=1", "--by", "die2", "--given", "die1+die2<=3"],
    );

    contains_all(
        &output,
        &[
            "sum over temp of P(weather=rainy | temp) P(temp)",
            "P(weather=rainy | temp=hot) P(temp=hot) = 5/195 x 195/365 = 0.0137",
            "P(weather=rainy | temp=cold) P(temp=cold) = 60/170 x 170/365 = 0.1644",
            "sum = 65/365 = 0.1781",
        ],
    );
    // (1, 1), (1, 2), (2, 1): 1/2 of the cases with die2 = 1, all with die2 = 2.
    let terms = given["answer"]["total"]["terms"].as_array().unwrap();
    assert_eq!(terms.len(), 2);
    assert_eq!(terms[0]["conditional"]["fraction"], json!([1, 2]));
    assert_eq!(given["answer"]["total"]["probability"]["fraction"], json!([2, 3]));
}

#[test]
fn moments_are_exact_fractions() {
    let folder = Folder::new();

    let die = ask(&folder, "dice.csv", &["--moments", "die1,die2"]);
    let high = ask(&folder, "dice.csv", &["--moments", "die1,die2", "--given", "die1+die2>=11"]);
    let by =
        ask(&folder, "dice.csv", &["--moments", "die1", "--by", "die2", "--given", "die1+die2<=4"]);

    contains_all(
        &die,
        &["E[die1] = 7/2 = 3.5", "Var[die1] = 35/12 = 2.917", "Cov[die1, die2] = 0", ": 0\n"],
    );
    // (5, 6), (6, 5), (6, 6): E = 17/3, Var = 97/3 - 289/9, Cov = 32 - 289/9.
    contains_all(
        &high,
        &[
            "E[die1 | die1+die2>=11] = 17/3 = 5.667",
            "Var[die1 | die1+die2>=11] = 2/9 = 0.2222",
            "Cov[die1, die2 | die1+die2>=11] = -1/9 = -0.1111",
            "-0.5",
        ],
    );
    contains_all(
        &by,
        &["By the law of total expectation", "E[die1 | die2, die1+die2<=4]", "= 5/3 = 1.667"],
    );
    let words =
        folder.failure(&["bayes", "table", &example("weather.csv"), "--moments", "temp"], 3);
    contains_all(&words, &["`temp`", "numeric values"]);
}

#[test]
fn a_table_of_probabilities_gets_a_verdict_and_no_test() {
    let folder = Folder::new();
    let house = |more: &[&str]| {
        let start = ["--counts", "p", "--independent"];
        ask(&folder, "house.csv", &[&start, more].concat())
    };

    let marginal = house(&["john,mary"]);
    let given = house(&["john,mary,alarm"]);
    let sized = house(&["john,mary", "--sample-size", "80000"]);

    contains_all(
        &marginal,
        &[
            "john and mary are dependent",
            "3 free parameters; 2 under independence",
            "no test: the table has probabilities; --sample-size N",
        ],
    );
    assert!(!marginal.contains("G ="), "{marginal}");
    // The column of probabilities is found without --counts.
    let found = ask(&folder, "house.csv", &["--independent", "john,mary"]);
    assert_eq!(found, marginal);
    contains_all(
        &given,
        &["john and mary are independent given alarm", "6 free parameters; 4 under independence"],
    );
    contains_all(
        &sized,
        &["john and mary are dependent: p is below 0.05", "G = 191.02", "p = 1.904e-43"],
    );
    let counted = ["bayes", "table", &example("weather.csv"), "--independent", "temp,weather"];
    let refused = folder.failure(&[&counted[..], &["--sample-size", "10"]].concat(), 2);
    contains_all(&refused, &["this one has counts"]);
    contains_all(&folder.output(&counted), &["temp and weather are dependent: p is below 0.05"]);
}

#[test]
fn the_bayes_risk_of_a_table_comes_with_the_optimal_rule() {
    let folder = Folder::new();
    folder.write("costs.csv", "true,cloudy,rainy,sunny\ncloudy,0,1,1\nrainy,5,0,5\nsunny,1,1,0\n");

    let zero_one = ask_json(&folder, "weather.csv", &["--risk", "weather"]);
    let costs = ask_json(&folder, "weather.csv", &["--risk", "weather", "--cost", "costs.csv"]);
    let printed = ask(&folder, "weather.csv", &["--risk", "weather"]);
    let rejecting = ask_json(&folder, "weather.csv", &["--risk", "weather", "--reject", "0.5"]);

    // Hot: sunny, 45 of 365 wrong. Cold: cloudy (a tie with rainy), 110 wrong. Without temp: sunny, 165 wrong.
    let near = |value: &Value, expected: f64| {
        assert!((value.as_f64().unwrap() - expected).abs() < 1e-12, "{value} {expected}");
    };
    near(&zero_one["risk"]["risk"], 155.0 / 365.0);
    near(&zero_one["risk"]["prior_risk"], 165.0 / 365.0);
    contains_all(&printed, &["Bayes error (0-1 loss) = 0.4247", "temp=hot", "sunny"]);
    // Rain that is missed costs five. Cold: rainy costs 50 + 60, sunny 60 + 300. Hot: sunny costs 40 + 25.
    near(&costs["risk"]["risk"], (110.0 + 65.0) / 365.0);
    // A rejection at 0.5 replaces the cold days, whose error rate is 110/170.
    near(&rejecting["risk"]["risk"], (45.0 + 85.0) / 365.0);
}

#[test]
fn two_gaussians_have_a_bayes_error_and_a_rule() {
    let folder = Folder::new();

    let equal = folder.output(&["bayes", "risk", "--means", "0,2", "--variances", "1"]);
    let two = folder.json(&[
        "bayes",
        "risk",
        "--means",
        "0,0",
        "--variances",
        "1,4",
        "--prior",
        "1/2",
        "--json",
    ]);

    contains_all(&equal, &["class 1 for x < 1", "class 2 for x > 1", "Bayes error = 0.1587"]);
    // The wider class wins outside of a symmetric interval: x² = 2 ln 2 / (1 - 1/4).
    let bound = (2.0 * 4f64.ln() / 1.5).sqrt();
    assert!((two["rule"][1]["to"].as_f64().unwrap() - bound).abs() < 1e-12, "{two}");
    assert_eq!(two["rule"].as_array().unwrap().len(), 3);
    let refused = folder.failure(&["bayes", "risk", "--means", "0", "--variances", "1"], 2);
    contains_all(&refused, &["two numbers"]);
}

#[test]
fn binomial_and_multinomial_distributions_take_real_counts() {
    let folder = Folder::new();

    let coin = folder.output(&["bayes", "binomial", "--trials", "4", "--probability", "1/2"]);
    let real =
        folder.json(&["bayes", "binomial", "-n", "7.5", "-p", "0.3", "-k", "2.25", "--json"]);
    let dice = folder.json(&["bayes", "multinomial", "-p", "0.5,0.3,0.2", "-c", "2,2,1", "--json"]);

    contains_all(&coin, &["mean 2, variance 1", "0.375", "0.6875"]);
    // Γ(8.5) / (Γ(3.25) Γ(6.25)) · 0.3^2.25 · 0.7^5.25
    let p = real["successes"][0]["probability"].as_f64().unwrap();
    assert!((p - 0.304_945_890_530_642_4).abs() < 1e-13);
    assert!((dice["probability"].as_f64().unwrap() - 0.135).abs() < 1e-14);
    assert!((dice["covariance"][0][1].as_f64().unwrap() + 0.75).abs() < 1e-14);
    let sum = folder.failure(&["bayes", "multinomial", "-p", "0.5,0.4", "-c", "1,1"], 3);
    contains_all(&sum, &["0.9"]);
    let many = folder.failure(&["bayes", "binomial", "-n", "3", "-p", "0.5", "-k", "4"], 2);
    contains_all(&many, &["not between 0 and"]);
}

#[test]
fn bayes_estimates_follow_the_loss() {
    let folder = Folder::new();

    let discrete = folder.json(&[
        "bayes",
        "estimate",
        "discrete",
        "--values",
        "0,1,10",
        "--posterior",
        "0.3,0.4,0.3",
        "--json",
    ]);
    let beta = folder.output(&["bayes", "estimate", "beta", "--successes", "1", "--failures", "0"]);
    let bags = [
        "bayes",
        "update",
        "--prior",
        "0=.1",
        "--prior",
        "1/4=.2",
        "--prior",
        "1/2=.4",
        "--prior",
        "3/4=.2",
        "--prior",
        "1=.1",
        "--outcome",
        "lime=0,1/4,1/2,3/4,1",
        "--observe",
        "lime",
    ];
    let update = folder.json(&[&bags[..], &["--json"]].concat());

    assert_eq!(
        (&discrete["mean"], &discrete["median"], &discrete["mode"]),
        (&json!(3.4), &json!(1.0), &json!(1.0),)
    );
    // Beta(2, 1): mode 1, mean 2/3, median the root of 1/2.
    contains_all(&beta, &["median (absolute loss)", "0.6667", "0.7071"]);
    // Posterior 0, .1, .4, .3, .2 after one lime.
    let near = |name: &str, expected: f64| {
        assert!((update["estimates"][name].as_f64().unwrap() - expected).abs() < 1e-12, "{update}");
    };
    near("mean", 0.65);
    near("median", 0.5);
    near("mode", 0.5);
    let refused = folder.failure(&[&bags[..], &["--values", "1,2"]].concat(), 2);
    contains_all(&refused, &["one per hypothesis"]);
}
