//! Reports as words and tables.

use super::TrainReport;
use crate::failure::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use mercer::decision::RiskReport;
use mercer::evaluate::{ClassificationReport, RegressionReport};
use mercer::explain::{
    Explanation, Factor, ScoreExplanation, SupportExplanation, TermExplanation, short,
};
use mercer::model::Candidates;
use mercer_io::Profile;
use std::io::{self, Write};

/// Classes shown in a confusion matrix; more do not fit a screen.
const MOST_CLASSES: usize = 12;
/// Columns shown in a profile.
const MOST_COLUMNS: usize = 40;
/// Factors shown in an explanation.
const MOST_FACTORS: usize = 40;

/// A table with headings, plain enough for a pipe.
pub fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(headings.iter().map(|h| (*h).to_owned()).collect::<Vec<_>>());
    table
}

/// A doc comment on one line.
pub fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What was read.
pub fn profile(profile: &Profile, target: &str) -> String {
    let mut rows = table(&["column", "kind", "missing", "values"]);
    align_right(&mut rows, &[2]);
    for column in profile.columns.iter().take(MOST_COLUMNS) {
        let values = match column.kind {
            mercer::data::Kind::Numeric => {
                format!(
                    "{} to {}",
                    short(column.min.unwrap_or(f64::NAN)),
                    short(column.max.unwrap_or(f64::NAN))
                )
            }
            mercer::data::Kind::Categorical => few(column.levels.names()),
            mercer::data::Kind::Sparse => format!("{} columns", column.width),
            _ => String::new(),
        };
        let mut name = column.name.clone();
        if name == target {
            name += " (target)";
        }
        let note = column.note.as_ref().map(|n| format!("  [{n}]")).unwrap_or_default();
        rows.add_row([name, column.kind.to_string(), column.n_missing.to_string(), values + &note]);
    }
    let rest = profile.columns.len().saturating_sub(MOST_COLUMNS);
    if rest > 0 {
        rows.add_row([format!("… {rest} more")]);
    }
    let missing: u64 = profile.columns.iter().map(|c| c.n_missing).sum();
    format!(
        "{} rows, {} columns, {missing} missing values\n\n{rows}\n",
        profile.n_rows,
        profile.columns.len()
    )
}

fn few(words: &[String]) -> String {
    let mut shown = words.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    if words.len() > 5 {
        shown += &format!(", … ({} in all)", words.len());
    }
    shown
}

/// The report of `mercer train`.
pub fn train(report: &TrainReport) -> Result<()> {
    {
        let mut out = io::stdout().lock();
        writeln!(out, "\n{} learned in {:.3} s", report.estimator, report.seconds)?;
        if let Some(map) = &report.map {
            writeln!(out, "map: {map}")?;
        }
        writeln!(out, "certificate: {}", report.certificate)?;
        if let Some(candidates) = &report.candidates {
            writeln!(out, "\n{}", choice(candidates))?;
        }
    }
    if let Some(judged) = &report.cross_validation {
        writeln!(io::stdout(), "\nOn rows held out by cross-validation:")?;
        classification(judged)?;
    }
    if let Some(judged) = &report.regression {
        writeln!(io::stdout(), "\nOn rows held out by cross-validation:")?;
        regression(judged)?;
    }
    let mut out = io::stdout().lock();
    if let Some(outside) = report.outside {
        let percent = 100.0 * outside;
        writeln!(out, "\nOn rows held out by cross-validation: {percent:.2} % are outliers")?;
    }
    if !report.telling.is_empty() {
        let mut rows = table(&["most informative columns", "mutual information (bits)", ""]);
        align_right(&mut rows, &[1]);
        let most = report.telling[0].bits;
        for t in report.telling.iter().take(10) {
            let bar = "#".repeat((20.0 * t.bits / most).ceil() as usize);
            rows.add_row([t.column.clone(), format!("{:.3}", t.bits), bar]);
        }
        writeln!(out, "\n{rows}")?;
    }
    writeln!(out, "\nsaved {}", report.saved.model.display())?;
    if let Some(page) = &report.saved.page {
        writeln!(out, "saved {}", page.display())?;
    }
    Ok(())
}

/// What an estimator chose among. A parameter that is the same for all of them is left out.
fn choice(candidates: &Candidates) -> Table {
    let first = candidates.all.first().map(|c| c.values.clone()).unwrap_or_default();
    let differ = |k: &usize| candidates.all.iter().any(|c| c.values[*k] != first[*k]);
    let mut shown: Vec<usize> = (0..first.len()).filter(differ).collect();
    if shown.is_empty() {
        shown = (0..first.len().min(1)).collect();
    }
    let names = shown.iter().map(|k| candidates.names[*k]);
    let score = format!("{} on rows left out", candidates.score);
    let headings: Vec<&str> = names.chain([score.as_str(), ""]).collect();
    let mut rows = table(&headings);
    align_right(&mut rows, &(0..=shown.len()).collect::<Vec<_>>());
    for candidate in &candidates.all {
        let values = shown.iter().map(|k| short(candidate.values[*k]));
        let error = candidate.error.map_or(String::new(), |e| format!(" ± {e:.4}"));
        let mark = if candidate.chosen { "chosen" } else { "" };
        let judged = [format!("{:.4}{error}", candidate.score), mark.to_owned()];
        rows.add_row(values.chain(judged).collect::<Vec<_>>());
    }
    rows
}

/// How estimators did on the same folds.
pub fn compared(rows: &[crate::commands::Compared]) -> Result<()> {
    let numbers = rows.iter().any(|row| row.regression.is_some());
    let headings: &[&str] = match numbers {
        true => &["model", "R²", "RMSE", "mean error", "seconds"],
        false => {
            &["model", "accuracy", "95 % interval", "macro F1", "log loss", "Brier", "seconds"]
        }
    };
    let mut out = table(headings);
    align_right(&mut out, &(1..headings.len()).collect::<Vec<_>>());
    let figure = |x: Option<f64>| x.map_or("none".to_owned(), |x| format!("{x:.4}"));
    for row in rows {
        let seconds = format!("{:.3}", row.seconds);
        if let Some(judged) = &row.regression {
            out.add_row([
                row.model.to_owned(),
                figure(Some(judged.r_squared)),
                short(judged.rmse),
                short(judged.mae),
                seconds,
            ]);
        } else if let Some(judged) = &row.cross_validation {
            let accuracy = judged.accuracy;
            out.add_row([
                row.model.to_owned(),
                figure(Some(accuracy.value)),
                format!("{:.4} to {:.4}", accuracy.low, accuracy.high),
                figure(Some(judged.macro_f1)),
                figure(judged.log_loss),
                figure(judged.brier),
                seconds,
            ]);
        } else {
            out.add_row([row.model.to_owned(), "not evaluated".to_owned()]);
        }
    }
    writeln!(io::stdout(), "{out}")?;
    Ok(())
}

/// The figures of a classifier.
pub fn classification(report: &ClassificationReport) -> Result<()> {
    let mut out = io::stdout().lock();
    let accuracy = report.accuracy;
    writeln!(
        out,
        "accuracy    {:.4}  (95 % interval {:.4} to {:.4}; majority-class baseline {:.4})",
        accuracy.value, accuracy.low, accuracy.high, report.baseline_accuracy
    )?;
    writeln!(out, "macro F1    {:.4}", report.macro_f1)?;
    if let (Some(loss), Some(brier), Some(calibration)) =
        (report.log_loss, report.brier, report.calibration_error)
    {
        writeln!(out, "log loss    {loss:.4} nats\nBrier score {brier:.4}")?;
        writeln!(out, "calibration {calibration:.4} mean distance of confidence from accuracy")?;
    } else if report.n_rows > 0 {
        writeln!(out, "log loss    none: the model gives classes without probabilities")?;
    }
    let mut rows = table(&["class", "precision", "recall", "F1", "rows"]);
    align_right(&mut rows, &[1, 2, 3, 4]);
    for class in &report.classes {
        rows.add_row([
            class.class.to_string(),
            format!("{:.4}", class.precision),
            format!("{:.4}", class.recall),
            format!("{:.4}", class.f1),
            class.support.to_string(),
        ]);
    }
    writeln!(out, "\n{rows}")?;
    if report.classes.len() <= MOST_CLASSES {
        writeln!(out, "\n{}", confusion(report))?;
    }
    Ok(())
}

/// What a decision rule cost. The figures above it are of the most probable class.
pub fn decision(report: &RiskReport) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "\nDecided by cost:")?;
    writeln!(
        out,
        "expected risk  {:.6} a row, by the model's own probabilities",
        report.expected_risk
    )?;
    if let Some(risk) = report.empirical_risk {
        writeln!(out, "empirical risk {risk:.6} a row, by the truth")?;
    }
    writeln!(out, "rejected       {:.2} % of the rows", 100.0 * report.rejected_fraction)?;
    if let Some(accuracy) = report.accuracy_of_answered {
        writeln!(out, "accuracy       {accuracy:.4} on the rows that were answered")?;
    }
    Ok(())
}

/// The figures of a predictor of numbers.
pub fn regression(report: &RegressionReport) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "R²            {:.4}  (fraction of the variance explained)", report.r_squared)?;
    writeln!(
        out,
        "RMSE          {}  (baseline, predicting the mean: {})",
        short(report.rmse),
        short(report.baseline_rmse)
    )?;
    writeln!(out, "mean error    {}  in size", short(report.mae))?;
    writeln!(out, "median error  {}  in size", short(report.median_error))?;
    writeln!(out, "largest error {}  in size", short(report.largest_error))?;
    writeln!(out, "bias          {}  predicted less true", short(report.bias))?;
    writeln!(out, "rows          {}", report.n_rows)?;
    Ok(())
}

/// A number, term by term.
pub fn terms(e: &TermExplanation, target: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{target} = {}\n", short(e.prediction))?;
    let mut rows = table(&["term", "value", "coefficient", "value x coefficient", "contribution"]);
    align_right(&mut rows, &[1, 2, 3, 4]);
    rows.add_row(["(intercept)", "", "", &short(e.intercept), ""]);
    let ranked = e.ranked_contributions();
    for term in ranked.iter().take(MOST_FACTORS) {
        rows.add_row([
            term.column.clone(),
            short(term.value),
            short(term.coefficient),
            short(term.term),
            format!(
                "{}{}",
                if term.contribution < 0.0 { "" } else { "+" },
                short(term.contribution)
            ),
        ]);
    }
    let rest = ranked.len().saturating_sub(MOST_FACTORS);
    if rest > 0 {
        let sum: f64 = ranked.iter().skip(MOST_FACTORS).map(|t| t.term).sum();
        rows.add_row([format!("{rest} weaker terms"), String::new(), String::new(), short(sum)]);
    }
    writeln!(out, "{rows}")?;
    writeln!(
        out,
        "\nAn average row gets {}; each push is the coefficient times the distance from the \
         average.",
        short(e.average)
    )?;
    Ok(())
}

fn confusion(report: &ClassificationReport) -> Table {
    let names: Vec<String> = report.classes.iter().map(|c| c.class.to_string()).collect();
    let mut headings = vec!["truth \\ predicted"];
    headings.extend(names.iter().map(String::as_str));
    let mut rows = table(&headings);
    align_right(&mut rows, &(1..=names.len()).collect::<Vec<_>>());
    for (name, counts) in names.iter().zip(&report.confusion) {
        let mut cells = vec![name.clone()];
        cells.extend(counts.iter().map(u64::to_string));
        rows.add_row(cells);
    }
    rows
}

/// A prediction, line by line.
/// A column, with its value where that is a word.
fn shown(factor: &Factor) -> String {
    match &factor.level {
        Some(word) => format!("{} = {word}", factor.column),
        None => factor.column.clone(),
    }
}

pub fn explanation(e: &Explanation) -> Result<()> {
    let mut out = io::stdout().lock();
    let names: Vec<String> = e.classes.iter().map(ToString::to_string).collect();
    writeln!(out, "Class {}: P = {}\n", names[e.winner], short(e.posterior[e.winner]))?;
    for c in [e.winner, e.runner_up] {
        writeln!(out, "P({} | row) is proportional to", names[c])?;
        writeln!(out, "    P({}) = {}", names[c], short(e.log_priors[c].exp()))?;
        for factor in strongest(e) {
            match factor.formulas.get(c) {
                Some(formula) => {
                    writeln!(out, "  x p({} | {}) = {formula}", shown(factor), names[c])?
                }
                None => writeln!(out, "    {} is missing: no factor", factor.column)?,
            }
        }
        let rest = e.factors.len().saturating_sub(MOST_FACTORS);
        if rest > 0 {
            writeln!(out, "  x {rest} weaker factors")?;
        }
        writeln!(out, "  = exp({}) = {}\n", short(e.log_joint[c]), short(e.log_joint[c].exp()))?;
    }
    writeln!(out, "Normalized over all classes:")?;
    for (name, p) in names.iter().zip(&e.posterior) {
        writeln!(out, "    P({name} | row) = {}", short(*p))?;
    }
    writeln!(out, "\nLog-odds, {} against {}:", names[e.winner], names[e.runner_up])?;
    let mut rows = table(&["", "log-odds", ""]);
    align_right(&mut rows, &[1]);
    rows.add_row(["prior".to_owned(), format!("{:+.3}", e.prior_log_odds()), String::new()]);
    let mut total = e.prior_log_odds();
    let ranked = e.ranked_contributions();
    for factor in ranked.iter().take(MOST_FACTORS) {
        let value = short(factor.value.unwrap_or(f64::NAN));
        let value = factor.level.as_ref().unwrap_or(&value);
        rows.add_row([
            format!("{} = {value}", factor.column),
            format!("{:+.3}", factor.log_odds),
            bar(factor.log_odds),
        ]);
        total += factor.log_odds;
    }
    let rest: f64 = ranked.iter().skip(MOST_FACTORS).map(|factor| factor.log_odds).sum();
    if ranked.len() > MOST_FACTORS {
        let name = format!("{} weaker factors", ranked.len() - MOST_FACTORS);
        rows.add_row([name, format!("{rest:+.3}"), String::new()]);
    }
    total += rest;
    rows.add_row(["sum".to_owned(), format!("{total:+.3}"), String::new()]);
    writeln!(out, "{rows}")?;
    Ok(())
}

/// A score told as a sum, line by line.
pub fn scores(e: &ScoreExplanation) -> Result<()> {
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
    // Scores of a model without probabilities are no log-odds.
    let (heading, measure) = match e.posterior.is_empty() {
        true => ("Scores", "score"),
        false => ("Log-odds", "log-odds"),
    };
    writeln!(out, "\n{heading}, {} against {}:", names[e.winner], names[e.runner_up])?;
    let mut rows = table(&["", measure, ""]);
    align_right(&mut rows, &[1]);
    let intercept = e.intercept_log_odds();
    rows.add_row(["intercept".to_owned(), format!("{intercept:+.3}"), bar(intercept)]);
    let ranked = e.ranked_contributions();
    for term in ranked.iter().take(MOST_FACTORS) {
        rows.add_row([
            format!("{} = {}", term.column, short(term.value)),
            format!("{:+.3}", term.log_odds),
            bar(term.log_odds),
        ]);
    }
    let rest: f64 = ranked.iter().skip(MOST_FACTORS).map(|term| term.log_odds).sum();
    if ranked.len() > MOST_FACTORS {
        let name = format!("{} weaker columns", ranked.len() - MOST_FACTORS);
        rows.add_row([name, format!("{rest:+.3}"), String::new()]);
    }
    let total: f64 = intercept + ranked.iter().map(|term| term.log_odds).sum::<f64>();
    rows.add_row(["sum".to_owned(), format!("{total:+.3}"), String::new()]);
    writeln!(out, "{rows}")?;
    Ok(())
}

/// An answer, row by row of those kept.
pub fn supports(e: &SupportExplanation, target: Option<&str>, detects: bool) -> Result<()> {
    let mut out = io::stdout().lock();
    let sum = format!("Σ β K(z, x) + b = {}", short(e.sum));
    match &e.between {
        Some([first, second]) => {
            writeln!(out, "Class {first}\n\n{first} against {second}: f(x) = {sum}")?;
        }
        None if detects => {
            let answer = if e.sum >= 0.0 { "Inlier" } else { "Outlier" };
            writeln!(out, "{answer}\n\nf(x) = {sum}, above zero inside")?;
        }
        None => writeln!(out, "{} = {sum}", target.unwrap_or("prediction"))?,
    }
    writeln!(out, "with K(z, x) = {} over {} rows z\n", e.kernel, e.support_vectors.len())?;
    let mut rows = table(&["row learned from", "β", "K(z, x)", "β K(z, x)"]);
    align_right(&mut rows, &[1, 2, 3]);
    let signed = |v: f64| format!("{}{}", if v < 0.0 { "" } else { "+" }, short(v));
    let ranked = e.ranked_contributions();
    for support in ranked.iter().take(MOST_FACTORS) {
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
    let rest = ranked.len().saturating_sub(MOST_FACTORS);
    if rest > 0 {
        let weaker = ranked.iter().skip(MOST_FACTORS).map(|support| support.term).sum();
        last(format!("{rest} weaker rows"), weaker);
    }
    last("b".to_owned(), e.intercept);
    last("sum".to_owned(), e.sum);
    writeln!(out, "{rows}")?;
    Ok(())
}

/// The factors with the most to say, in the order of the columns.
fn strongest(e: &Explanation) -> Vec<&Factor> {
    let mut weights: Vec<f64> = e.factors.iter().map(|f| f.log_odds.abs()).collect();
    weights.sort_by(|a, b| b.total_cmp(a));
    let least = weights.get(MOST_FACTORS).copied().unwrap_or(-1.0);
    e.factors.iter().filter(|f| f.log_odds.abs() > least).collect()
}

/// Ten signs are a factor of e^10.
fn bar(log_odds: f64) -> String {
    let sign = if log_odds < 0.0 { "-" } else { "+" };
    sign.repeat((log_odds.abs().ceil() as usize).min(30))
}

/// Numbers stand under each other.
pub fn align_right(table: &mut Table, columns: &[usize]) {
    for k in columns {
        if let Some(column) = table.column_mut(*k) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
