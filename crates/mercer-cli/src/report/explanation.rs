//! Explanations of predictions as text.

use super::terminal::{align_right, table};
use crate::failure::Result;
use mercer::explain::{
    DecidedBy, Explanation, Factor, ScoreExplanation, ScoreMeasure, SupportExplanation,
    TermExplanation, short,
};
use std::io::{self, Write};

/// Features of an explanation that are printed.
const MAX_FEATURES: usize = 40;
/// The longest bar of a contribution.
const MAX_BAR_LENGTH: usize = 30;

/// The value of a feature, by its name, in the units of its column.
pub type Shown<'a> = dyn Fn(&str, f64) -> String + 'a;

/// The prediction of a linear regressor: one term per feature.
pub fn terms(e: &TermExplanation, target: &str, shown: &Shown<'_>) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{target} = {}\n", short(e.prediction))?;
    let mut rows = table(&["term", "value", "coefficient", "value x coefficient", "contribution"]);
    align_right(&mut rows, &[1, 2, 3, 4]);
    rows.add_row(["(intercept)", "", "", &short(e.intercept), ""]);
    let ranked = e.ranked_contributions();
    for term in ranked.iter().take(MAX_FEATURES) {
        rows.add_row([
            term.column.clone(),
            shown(&term.column, term.value),
            short(term.coefficient),
            short(term.term),
            format!(
                "{}{}",
                if term.contribution < 0.0 { "" } else { "+" },
                short(term.contribution)
            ),
        ]);
    }
    let rest = ranked.len().saturating_sub(MAX_FEATURES);
    if rest > 0 {
        let sum: f64 = ranked.iter().skip(MAX_FEATURES).map(|t| t.term).sum();
        rows.add_row([format!("{rest} smaller terms"), String::new(), String::new(), short(sum)]);
    }
    writeln!(out, "{rows}")?;
    writeln!(
        out,
        "\nThe mean prediction is {}; each contribution is the coefficient times the deviation from the \
         mean.",
        short(e.average)
    )?;
    Ok(())
}

/// The name of a factor: the column, with its level if it is categorical.
fn factor_name(factor: &Factor) -> String {
    match &factor.level {
        Some(word) => format!("{} = {word}", factor.column),
        None => factor.column.clone(),
    }
}

/// The prediction of a naive Bayes model: one likelihood factor per feature.
pub fn explanation(e: &Explanation, shown: &Shown<'_>) -> Result<()> {
    let mut out = io::stdout().lock();
    let names: Vec<String> = e.classes.iter().map(ToString::to_string).collect();
    writeln!(out, "Class {}: P = {}\n", names[e.winner], short(e.posterior[e.winner]))?;
    if e.impossible {
        writeln!(
            out,
            "Every class has likelihood zero, so the posterior falls back to the priors; \
             smoothing (alpha > 0) avoids probabilities of zero.\n"
        )?;
    }
    for c in [e.winner, e.runner_up] {
        class_product(&mut out, e, c, &names[c])?;
    }
    match e.impossible {
        true => writeln!(out, "The priors, because nothing can be normalized:")?,
        false => writeln!(out, "Normalized over all classes:")?,
    }
    for (name, p) in names.iter().zip(&e.posterior) {
        writeln!(out, "    P({name} | row) = {}", short(*p))?;
    }
    writeln!(out, "\nLog-odds, {} against {}:", names[e.winner], names[e.runner_up])?;
    writeln!(out, "{}", log_odds_table(e, shown))?;
    Ok(())
}

/// The likelihood, the prior and their product for one class.
fn class_product(out: &mut impl Write, e: &Explanation, c: usize, name: &str) -> Result<()> {
    writeln!(out, "Likelihood of {name}")?;
    let mut sign = " ";
    for factor in largest_factors(e) {
        match factor.formulas.get(c) {
            Some(formula) => {
                writeln!(out, "  {sign} p({} | {name}) = {formula}", factor_name(factor))?;
                sign = "x";
            }
            None => writeln!(out, "    {} is missing and has no factor", factor.column)?,
        }
    }
    let rest = e.factors.len().saturating_sub(MAX_FEATURES);
    if rest > 0 {
        writeln!(out, "  x {rest} smaller factors")?;
    }
    writeln!(out, "  = p(row | {name}) = {}", power(e.log_likelihood[c]))?;
    writeln!(out, "  x P({name}) = {}", short(e.log_priors[c].exp()))?;
    writeln!(out, "  = p(row, {name}) = {}\n", power(e.log_joint[c]))?;
    Ok(())
}

/// A probability or density that is given by its logarithm.
fn power(log: f64) -> String {
    format!("exp({}) = {}", short(log), short(log.exp()))
}

/// The log-odds of the predicted class over the runner-up as a sum.
fn log_odds_table(e: &Explanation, shown: &Shown<'_>) -> comfy_table::Table {
    let mut rows = table(&["", "log-odds", ""]);
    align_right(&mut rows, &[1]);
    rows.add_row(["prior".to_owned(), format!("{:+.3}", e.prior_log_odds()), String::new()]);
    let ranked = e.ranked_contributions();
    for factor in ranked.iter().take(MAX_FEATURES) {
        let value = shown(&factor.column, factor.value.unwrap_or(f64::NAN));
        let value = factor.level.as_ref().unwrap_or(&value);
        rows.add_row([
            format!("{} = {value}", factor.column),
            format!("{:+.3}", factor.log_odds),
            bar(factor.log_odds),
        ]);
    }
    let rest: f64 = ranked.iter().skip(MAX_FEATURES).map(|factor| factor.log_odds).sum();
    if ranked.len() > MAX_FEATURES {
        let name = format!("{} smaller factors", ranked.len() - MAX_FEATURES);
        rows.add_row([name, format!("{rest:+.3}"), String::new()]);
    }
    let total = e.total_log_odds().map_or_else(|| "undefined".into(), |sum| format!("{sum:+.3}"));
    rows.add_row(["sum".to_owned(), total, String::new()]);
    rows
}

/// The scores of a linear or discriminant classifier: one term per feature.
pub fn scores(e: &ScoreExplanation, shown: &Shown<'_>) -> Result<()> {
    let mut out = io::stdout().lock();
    let names: Vec<String> = e.classes.iter().map(ToString::to_string).collect();
    match e.posterior.get(e.winner) {
        Some(p) => writeln!(out, "Class {}: P = {}\n", names[e.winner], short(*p))?,
        None => writeln!(out, "Class {}\n", names[e.winner])?,
    }
    let columns = [
        ("score", &e.scores),
        ("squared distance", &e.distances),
        ("P(class | row)", &e.posterior),
    ];
    let columns: Vec<_> = columns.into_iter().filter(|(_, values)| !values.is_empty()).collect();
    let heads: Vec<&str> = ["class"].into_iter().chain(columns.iter().map(|c| c.0)).collect();
    let mut rows = table(&heads);
    align_right(&mut rows, &[1, 2, 3][..columns.len()]);
    for (c, name) in names.iter().enumerate() {
        let numbers = columns.iter().map(|(_, values)| short(values[c]));
        rows.add_row([name.clone()].into_iter().chain(numbers));
    }
    writeln!(out, "{rows}")?;
    if !e.baseline.is_empty() {
        writeln!(
            out,
            "\nIntegrated gradients: the intercept is the score of the mean training row (the baseline), and the \
             terms of the columns lead from there to this row."
        )?;
    }
    let highest = (0..names.len()).fold(0, |a, c| if e.scores[c] > e.scores[a] { c } else { a });
    if highest != e.winner && e.measure == ScoreMeasure::DecisionValue {
        let (first, other) = (&names[e.winner], &names[highest]);
        writeln!(
            out,
            "\nThe calibrated probabilities decide for {first}; {other} has the highest decision value."
        )?;
    }
    let (heading, measure) = match e.measure {
        ScoreMeasure::LogOdds => ("Log-odds", "log-odds"),
        ScoreMeasure::DecisionValue => ("Decision value", "w·x + b"),
    };
    writeln!(out, "\n{heading}, {} against {}:", names[e.winner], names[e.runner_up])?;
    let mut rows = table(&["", measure, ""]);
    align_right(&mut rows, &[1]);
    let intercept = e.intercept_contribution();
    rows.add_row(["intercept".to_owned(), format!("{intercept:+.3}"), bar(intercept)]);
    let ranked = e.ranked_contributions();
    for term in ranked.iter().take(MAX_FEATURES) {
        rows.add_row([
            format!("{} = {}", term.column, shown(&term.column, term.value)),
            format!("{:+.3}", term.contribution),
            bar(term.contribution),
        ]);
    }
    let rest: f64 = ranked.iter().skip(MAX_FEATURES).map(|term| term.contribution).sum();
    if ranked.len() > MAX_FEATURES {
        let name = format!("{} smaller terms", ranked.len() - MAX_FEATURES);
        rows.add_row([name, format!("{rest:+.3}"), String::new()]);
    }
    let total = e.total();
    rows.add_row(["sum".to_owned(), format!("{total:+.3}"), String::new()]);
    writeln!(out, "{rows}")?;
    Ok(())
}

/// The prediction of a kernel machine: one term per support vector.
pub fn supports(e: &SupportExplanation, target: Option<&str>, detects: bool) -> Result<()> {
    let mut out = io::stdout().lock();
    let sum = format!("Σ β K(z, x) + b = {}", short(e.sum));
    match &e.between {
        Some([first, second]) => {
            writeln!(out, "Class {first}{}", decided(e, &second.to_string()))?;
            writeln!(out, "\n{first} against {second}: f(x) = {sum}")?;
            if e.sum < 0.0 {
                writeln!(out, "f(x) < 0 is in favor of {second}, but it does not decide alone")?;
            }
        }
        None if detects => {
            let answer = if e.sum >= 0.0 { "Inlier" } else { "Outlier" };
            writeln!(out, "{answer}\n\nf(x) = {sum}; negative for outliers")?;
        }
        None => writeln!(out, "{} = {sum}", target.unwrap_or("prediction"))?,
    }
    writeln!(
        out,
        "with K(z, x) = {} over {} support vectors z\n",
        e.kernel,
        e.support_vectors.len()
    )?;
    let mut rows = table(&["training row", "β", "K(z, x)", "β K(z, x)"]);
    align_right(&mut rows, &[1, 2, 3]);
    let signed = |v: f64| format!("{}{}", if v < 0.0 { "" } else { "+" }, short(v));
    let ranked = e.ranked_contributions();
    for support in ranked.iter().take(MAX_FEATURES) {
        rows.add_row([
            (support.row + 1).to_string(),
            short(support.coefficient),
            short(support.kernel),
            signed(support.term),
        ]);
    }
    let mut last = |name: String, v: f64| {
        rows.add_row([name, String::new(), String::new(), signed(v)]);
    };
    let rest = ranked.len().saturating_sub(MAX_FEATURES);
    if rest > 0 {
        let weaker = ranked.iter().skip(MAX_FEATURES).map(|support| support.term).sum();
        last(format!("{rest} smaller terms"), weaker);
    }
    last("b".to_owned(), e.intercept);
    last("sum".to_owned(), e.sum);
    writeln!(out, "{rows}")?;
    Ok(())
}

/// What the predicted class was chosen by, with its value and that of the runner-up.
fn decided(e: &SupportExplanation, second: &str) -> String {
    let Some(decision) = &e.decision else { return String::new() };
    let [own, other] = decision.values.map(short);
    match decision.by {
        DecidedBy::Probabilities => {
            format!(": P = {own}, P({second}) = {other} by calibrated probabilities")
        }
        DecidedBy::Votes => format!(": {own} votes, {second} has {other}"),
        DecidedBy::DecisionValues if e.sum == 0.0 => {
            format!(": a tie with {second}, which class order decides")
        }
        DecidedBy::DecisionValues => " by the decision value".into(),
    }
}

/// The factors with the largest log-odds, in the order of the columns.
fn largest_factors(e: &Explanation) -> Vec<&Factor> {
    let mut weights: Vec<f64> = e.factors.iter().map(|f| f.log_odds.abs()).collect();
    weights.sort_by(|a, b| b.total_cmp(a));
    let least = weights.get(MAX_FEATURES).copied().unwrap_or(-1.0);
    e.factors.iter().filter(|f| f.log_odds.abs() > least).collect()
}

/// A bar of one sign per unit of log-odds.
fn bar(log_odds: f64) -> String {
    let sign = if log_odds < 0.0 { "-" } else { "+" };
    sign.repeat((log_odds.abs().ceil() as usize).min(MAX_BAR_LENGTH))
}
