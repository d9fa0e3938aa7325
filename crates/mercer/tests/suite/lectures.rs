//! The values that the lectures print.

use crate::cases::repository_file;
use mercer::bayes::{GaussianNb, GaussianNbModel, Variance};
use mercer::explain::{Explanation, explain};
use mercer::prelude::*;

/// The cells of a lecture's table, header first.
fn cells(path: &str) -> Vec<Vec<String>> {
    let text = repository_file(path);
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// The income column of the tax table, fitted as in the lecture: variance divided by n − 1, without smoothing.
fn tax_by_income() -> Fitted<GaussianNbModel> {
    let table = cells("examples/data/tax.csv");
    assert_eq!(table[0], ["refund", "marital_status", "taxable_income", "evade"]);
    let incomes: Vec<f64> = table[1..].iter().map(|row| row[2].parse().unwrap()).collect();
    let codes: Vec<u32> = table[1..].iter().map(|row| u32::from(row[3] == "Yes")).collect();
    let x = Matrix::from_shape_vec((10, 1), incomes).unwrap();
    let classes = Classes::from_names(["No", "Yes"]);
    GaussianNb::new()
        .variance(Variance::Sample)
        .var_smoothing(0.0)
        .fit(&Dataset::classes(&x, &codes, &classes).unwrap(), &Monitor::quiet())
        .unwrap()
}

fn explained(income: f64) -> Explanation {
    explain(&tax_by_income().model, &[income], &["taxable_income".into()]).unwrap()
}

/// Rounded to as many significant digits as the lecture prints.
fn rounded(x: f64, digits: usize) -> String {
    format!("{x:.*e}", digits - 1)
}

#[test]
fn the_tax_table_has_the_lecture_densities() {
    let model = tax_by_income();

    assert_eq!(model.means.column(0).to_vec(), [110.0, 90.0]);
    assert!((model.variances[[0, 0]] - 2975.0).abs() < 1e-12);
    assert!((model.variances[[1, 0]] - 25.0).abs() < 1e-14);
    assert!((model.log_priors[0].exp() - 0.7).abs() < 1e-15);
    assert_eq!(model.smoothing, 0.0);
}

#[test]
fn an_income_of_120_has_the_lecture_densities() {
    let model = tax_by_income();

    let factors = model.log_factors(&[120.0]).unwrap().mapv(f64::exp);

    assert_eq!(rounded(factors[[0, 0]], 2), "7.2e-3");
    assert_eq!(rounded(factors[[0, 1]], 2), "1.2e-9");
}

#[test]
fn factors_multiply_to_the_joint() {
    let explanation = explained(120.0);

    let [factor] = &explanation.factors[..] else { panic!("one column, one factor") };
    assert_eq!(factor.column, "taxable_income");
    assert_eq!(factor.value, Some(120.0));
    assert_eq!(
        factor.formulas,
        ["N(120; mean 110, variance 2975) = 0.007192", "N(120; mean 90, variance 25) = 1.215e-9"]
    );
    // 0.7 · 0.0072 against 0.3 · 1.2e-9.
    let (no, yes) = (0.7 * factor.log_factors[0].exp(), 0.3 * factor.log_factors[1].exp());
    assert!((explanation.posterior[0] - no / (no + yes)).abs() < 1e-15);
    assert!((explanation.posterior[1] / (yes / (no + yes)) - 1.0).abs() < 1e-12);
    assert_eq!((explanation.winner, explanation.runner_up), (0, 1));
    assert_eq!(explanation.classes, [Label::from("No"), Label::from("Yes")]);
}

#[test]
fn contributions_sum_to_the_log_odds() {
    let explanation = explained(95.0);

    let ranked = explanation.ranked_contributions();
    let total: f64 = explanation.prior_log_odds() + ranked.iter().map(|f| f.log_odds).sum::<f64>();

    // 0.3 · N(95; 90, 25) = 0.3 · 0.0484 beats 0.7 · N(95; 110, 2975) = 0.7 · 0.0070.
    assert_eq!(explanation.winner, 1);
    assert_eq!(ranked.len(), 1);
    assert!((explanation.prior_log_odds() - (3f64 / 7.0).ln()).abs() < 1e-14);
    let odds =
        explanation.posterior[explanation.winner] / explanation.posterior[explanation.runner_up];
    assert!((total - odds.ln()).abs() < 1e-12);
}

#[test]
fn a_missing_income_leaves_the_prior() {
    let explanation = explained(f64::NAN);

    assert_eq!(explanation.factors[0].value, None);
    assert!(explanation.factors[0].formulas.is_empty());
    assert!(explanation.ranked_contributions().is_empty());
    assert!((explanation.posterior[0] - 0.7).abs() < 1e-15);
}

#[test]
fn the_lecture_tables_give_the_lecture_counts() {
    let weather = cells("examples/data/weather.csv");
    let mammals = cells("examples/data/mammals.csv");
    let lifestyle = cells("examples/data/lifestyle.csv");
    let days = |keep: &dyn Fn(&[String]) -> bool| -> u32 {
        weather[1..].iter().filter(|row| keep(row)).map(|row| row[2].parse::<u32>().unwrap()).sum()
    };
    let count = |column: usize, value: &str, class: &str| {
        mammals[1..].iter().filter(|row| row[column] == value && row[5] == class).count()
    };

    assert_eq!(days(&|_| true), 365);
    assert_eq!(days(&|row| row[0] == "hot"), 195);
    assert_eq!(days(&|row| row[1] == "sunny"), 200);
    assert_eq!(days(&|row| row[0] == "hot" && row[1] == "rainy"), 5);
    // P(A | M) = 6/7 · 6/7 · 2/7 · 2/7 and P(A | N) = 1/13 · 10/13 · 3/13 · 4/13.
    let creature = [(1, "yes"), (2, "no"), (3, "yes"), (4, "no")];
    assert_eq!(creature.map(|(j, v)| count(j, v, "mammals")), [6, 6, 2, 2]);
    assert_eq!(creature.map(|(j, v)| count(j, v, "non-mammals")), [1, 10, 3, 4]);
    // Income level of the stressed: 1/3, 0, 2/3.
    let levels = ["0", "1", "2"].map(|level| {
        lifestyle[1..].iter().filter(|row| row[0] == level && row[3] == "stressed").count()
    });
    assert_eq!(levels, [1, 0, 2]);
}
