//! Reports as text: aligned tables and wrapped paragraphs.

use super::TrainReport;
use super::table_profile::{TableReport, frequent};
use crate::commands::{Commands, remedy_command};
use crate::failure::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use mercer::decision::RiskReport;
use mercer::evaluate::{ClassificationReport, RegressionReport};
use mercer::explain::short;
use mercer::model::Candidates;
use mercer::train::checks::Finding;
use mercer::train::select::{Leaderboard, Standing};
use mercer_io::Profile;
use std::io::{self, IsTerminal, Write};

/// Classes of a confusion matrix that is printed; more do not fit on a screen.
const MAX_CONFUSION_CLASSES: usize = 12;
/// Columns of a profile that are printed.
const MAX_COLUMNS: usize = 40;
/// Features of the ranking by mutual information that are printed.
const MAX_RANKED_FEATURES: usize = 10;
/// Candidates of a comparison that are printed.
const MAX_CANDIDATES: usize = 12;
/// The width of text that is not printed on a terminal, and the maximum on one.
const TEXT_WIDTH: usize = 100;

/// A table with headings. On a terminal long cells are wrapped to its width; in a pipe every row is one line.
pub fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(headings.iter().map(|h| (*h).to_owned()).collect::<Vec<_>>());
    if io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(terminal_width());
    }
    table
}

/// A table whose long cells are always wrapped.
pub fn wrapped_table(headings: &[&str]) -> Table {
    let mut table = table(headings);
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(terminal_width().min(TEXT_WIDTH as u16));
    table
}

fn terminal_width() -> u16 {
    terminal_size::terminal_size().map_or(TEXT_WIDTH as u16, |(width, _)| width.0)
}

/// Wraps a text at spaces to the width of the terminal; lines after the first are indented.
pub fn wrap(text: &str, indent: usize) -> String {
    wrap_to(text, indent, (terminal_width() as usize).min(TEXT_WIDTH))
}

/// A label and a text wrapped beside it.
pub fn wrap_labeled(label: &str, text: &str) -> String {
    let indent = label.chars().count();
    let width = (terminal_width() as usize).min(TEXT_WIDTH).saturating_sub(indent);
    let lines = wrap_to(text, 0, width);
    format!("{label}{}", lines.replace('\n', &format!("\n{}", " ".repeat(indent))))
}

fn wrap_to(text: &str, indent: usize, max_width: usize) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > max_width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            width = indent;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
    }
    out
}

/// A doc comment on one line.
pub fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The columns of a table.
pub fn profile(profile: &Profile, target: &str) -> String {
    let mut rows = table(&["column", "type", "missing", "values"]);
    align_right(&mut rows, &[2]);
    for column in profile.columns.iter().take(MAX_COLUMNS) {
        let values = match column.kind {
            mercer::data::Kind::Numeric => column.shown_range(),
            mercer::data::Kind::Categorical => few(column.levels.names()),
            mercer::data::Kind::Sparse => format!("{} features", column.width),
            _ => String::new(),
        };
        let mut name = column.name.clone();
        if name == target {
            name += " (target)";
        }
        let note = column.note.as_ref().map(|n| format!("  [{n}]")).unwrap_or_default();
        rows.add_row([name, column.type_name(), column.n_missing.to_string(), values + &note]);
    }
    let rest = profile.columns.len().saturating_sub(MAX_COLUMNS);
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

/// Findings, each with its figure, evidence and remedy.
pub fn findings(findings: &[Finding], commands: &Commands) -> String {
    let mut text = String::new();
    for finding in findings {
        text += &format!("\n{} {}\n", finding.code, finding.title);
        text += &format!("  {}\n", wrap(&finding.figure, 2));
        if !finding.rows.is_empty() {
            let rows: Vec<String> = finding.rows.iter().map(u64::to_string).collect();
            text += &format!("  rows {}\n", rows.join(", "));
        }
        text += &format!("  remedy: {}\n", wrap(&finding.remedy.advice, 4));
        if let Some(command) = remedy_command(&finding.remedy, commands) {
            text += &format!("    {command}\n");
        }
    }
    if !findings.is_empty() {
        text += "\nCodes are explained in docs/checks; `--ignore-check CODE` silences one.\n";
    }
    text
}

/// The columns of a table with their types, distributions and remarks.
pub fn table_profile(report: &TableReport<'_>) -> String {
    let mut rows = table(&["column", "type", "missing", "distinct", "values", ""]);
    align_right(&mut rows, &[2, 3]);
    for column in &report.columns {
        let values = match &column.range {
            Some((low, high)) => format!("{low} to {high}"),
            None => frequent(column),
        };
        let dropped = column.dropped.as_ref().map(|why| format!("dropped: {why}"));
        rows.add_row([
            column.name.clone(),
            column.kind.clone(),
            column.missing.to_string(),
            column.distinct.clone(),
            values,
            dropped.or_else(|| column.reason.clone()).unwrap_or_default(),
        ]);
    }
    format!(
        "{} rows, {} columns, {} missing values\n\n{rows}",
        report.rows,
        report.columns.len(),
        report.missing
    )
}

fn few(levels: &[String]) -> String {
    let mut shown = levels.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    if levels.len() > 5 {
        shown += &format!(", … ({} levels)", levels.len());
    }
    shown
}

/// The candidates that were compared, and the corrected score of the best.
pub fn leaderboard(board: &Leaderboard) -> String {
    let metric = board.metric.name();
    let mut rows = table(&["candidate", metric, "rows", "p", "fit s", ""]);
    align_right(&mut rows, &[1, 2, 3, 4]);
    let n_failed =
        board.rows.iter().filter(|row| matches!(row.standing, Standing::Failed(_))).count();
    let shown = board.rows.iter().filter(|row| row.score.is_some()).take(MAX_CANDIDATES);
    for row in shown {
        let remark = match (&row.standing, row.converged) {
            (Standing::Dropped, _) => "dropped after fewer rows",
            (Standing::OverBudget, _) => "over budget",
            (_, false) => "not converged",
            _ => "",
        };
        rows.add_row([
            row.name.clone(),
            row.score.map(|score| format!("{score:.4}")).unwrap_or_default(),
            row.n_rows.to_string(),
            row.p_value.map(|p| format!("{p:.3}")).unwrap_or_default(),
            format!("{:.2}", row.fit_seconds),
            remark.to_owned(),
        ]);
    }
    let mut text = format!("\n{rows}\n");
    let rest = board.rows.len().saturating_sub(MAX_CANDIDATES);
    if rest > 0 {
        text += &format!("… {rest} more candidates (--json lists all; {n_failed} failed)\n");
    }
    let sample = if board.is_sample { "a random sample of " } else { "" };
    text += &format!(
        "{} of {sample}{} rows, {:.1} s; p: paired t-test against the best, corrected for overlapping folds \
         (Nadeau-Bengio) and for the number of tests (Holm)\n",
        board.splitting, board.n_rows, board.seconds
    );
    if let Some(corrected) = board.corrected {
        text += &format!(
            "{metric} corrected for the selection (bootstrap): {:.4}, 95 % interval {:.4} to {:.4}\n",
            corrected.score, corrected.low, corrected.high
        );
    }
    if let Some(baseline) = board.baseline {
        text += &format!("{metric} of the baseline (most frequent class or mean): {baseline:.4}\n");
        if !board.beats_baseline() {
            text += "warning: no candidate is better than the baseline: no model is recommended\n";
        }
    }
    if board.cut_short {
        text += "the budget ended before every candidate was compared on all rows; raise it with --budget\n";
    }
    text
}

/// The report of `mercer train`.
pub fn train(report: &TrainReport, findings: &str) -> Result<()> {
    {
        let mut out = io::stdout().lock();
        if let Some(board) = &report.leaderboard {
            writeln!(out, "{}", leaderboard(board))?;
        }
        writeln!(out, "\n{} fitted in {:.3} s", report.estimator, report.seconds)?;
        if let Some(command) = &report.command {
            writeln!(out, "reproduce: {command}")?;
        }
        if let Some(weights) = &report.sample_weights {
            writeln!(out, "sample weights: column `{weights}`, in the fit and in the scores")?;
        }
        if let Some(map) = &report.feature_map {
            writeln!(out, "{}", wrap(&format!("feature map: {map}"), 2))?;
        }
        writeln!(out, "{}", wrap(&format!("certificate: {}", report.certificate), 2))?;
        if let Some(candidates) = &report.candidates {
            writeln!(out, "\n{}", candidates_table(candidates))?;
        }
    }
    if let Some(scores) = &report.cross_validation {
        writeln!(io::stdout(), "\nCross-validated scores:")?;
        classification(scores)?;
    }
    if let Some(scores) = &report.regression {
        writeln!(io::stdout(), "\nCross-validated scores:")?;
        regression(scores)?;
    }
    let mut out = io::stdout().lock();
    if let Some(fraction) = report.outlier_fraction {
        let percent = 100.0 * fraction;
        writeln!(out, "\nCross-validated fraction of outliers: {percent:.2} %")?;
    }
    if let Some(first) = report.mutual_information.first() {
        let mut rows = table(&["most informative features", "mutual information (bits)", ""]);
        align_right(&mut rows, &[1]);
        for feature in report.mutual_information.iter().take(MAX_RANKED_FEATURES) {
            let bar = "#".repeat((20.0 * feature.bits / first.bits).ceil() as usize);
            rows.add_row([feature.column.clone(), format!("{:.3}", feature.bits), bar]);
        }
        writeln!(out, "\n{rows}")?;
    }
    write!(out, "{findings}")?;
    writeln!(out, "\nsaved {}", report.saved.model.display())?;
    if let Some(page) = &report.saved.page {
        writeln!(out, "saved {}", page.display())?;
    }
    Ok(())
}

/// The candidates of a hyperparameter search. Parameters that do not vary are left out.
fn candidates_table(candidates: &Candidates) -> Table {
    let first = candidates.all.first().map(|c| c.values.clone()).unwrap_or_default();
    let differ = |k: &usize| candidates.all.iter().any(|c| c.values[*k] != first[*k]);
    let mut shown: Vec<usize> = (0..first.len()).filter(differ).collect();
    if shown.is_empty() {
        shown = (0..first.len().min(1)).collect();
    }
    let names = shown.iter().map(|k| candidates.names[*k]);
    let score = format!("cross-validated {}", candidates.score);
    let headings: Vec<&str> = names.chain([score.as_str(), ""]).collect();
    let mut rows = table(&headings);
    align_right(&mut rows, &(0..=shown.len()).collect::<Vec<_>>());
    for candidate in &candidates.all {
        let values = shown.iter().map(|k| short(candidate.values[*k]));
        let error = candidate.error.map_or(String::new(), |e| format!(" ± {e:.4}"));
        let mark = if candidate.chosen { "selected" } else { "" };
        let score = [format!("{:.4}{error}", candidate.score), mark.to_owned()];
        rows.add_row(values.chain(score).collect::<Vec<_>>());
    }
    rows
}

/// The cross-validated scores of several estimators.
pub fn compared(rows: &[crate::commands::Compared]) -> Result<()> {
    let regression = rows.iter().any(|row| row.regression.is_some());
    let headings: &[&str] = match regression {
        true => &["model", "R²", "RMSE", "MAE", "seconds"],
        false => &["model", "accuracy", "95% interval", "macro F1", "log loss", "Brier", "seconds"],
    };
    let mut out = table(headings);
    align_right(&mut out, &(1..headings.len()).collect::<Vec<_>>());
    let figure = |x: Option<f64>| x.map_or("none".to_owned(), |x| format!("{x:.4}"));
    for row in rows {
        let seconds = format!("{:.3}", row.seconds);
        let model = match row.certificate.status.is_converged() {
            true => row.model.to_owned(),
            false => format!("{} (not converged)", row.model),
        };
        if let Some(scores) = &row.regression {
            out.add_row([
                model,
                figure(Some(scores.r_squared)),
                short(scores.rmse),
                short(scores.mae),
                seconds,
            ]);
        } else if let Some(scores) = &row.cross_validation {
            let accuracy = scores.accuracy;
            out.add_row([
                model,
                figure(Some(accuracy.value)),
                format!("{:.4} to {:.4}", accuracy.low, accuracy.high),
                figure(Some(scores.macro_f1)),
                figure(scores.log_loss),
                figure(scores.brier),
                seconds,
            ]);
        } else {
            out.add_row([model, "not scored".to_owned()]);
        }
    }
    writeln!(io::stdout(), "{out}")?;
    Ok(())
}

/// The scores of a classifier.
pub fn classification(report: &ClassificationReport) -> Result<()> {
    let mut out = io::stdout().lock();
    let accuracy = report.accuracy;
    writeln!(
        out,
        "accuracy    {:.4}  (95% interval {:.4} to {:.4}; baseline (majority class): {:.4})",
        accuracy.value, accuracy.low, accuracy.high, report.baseline_accuracy
    )?;
    writeln!(out, "macro F1    {:.4}", report.macro_f1)?;
    if let (Some(loss), Some(brier), Some(calibration)) =
        (report.log_loss, report.brier, report.calibration_error)
    {
        writeln!(out, "log loss    {loss:.4}\nBrier score {brier:.4}")?;
        writeln!(out, "calibration {calibration:.4}  (expected calibration error)")?;
    } else if report.n_rows > 0 {
        writeln!(out, "log loss    none (the model has no probabilities)")?;
    }
    let mut rows = table(&["class", "precision", "recall", "F1", "support"]);
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
    if report.classes.len() <= MAX_CONFUSION_CLASSES {
        writeln!(out, "\n{}", confusion(report))?;
    }
    Ok(())
}

/// The risk of a decision rule. The scores above it are those of the most probable class.
pub fn decision(report: &RiskReport) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "\nDecisions by expected cost:")?;
    writeln!(
        out,
        "expected risk  {:.6} per row, by the posterior probabilities",
        report.expected_risk
    )?;
    if let Some(risk) = report.empirical_risk {
        writeln!(out, "empirical risk {risk:.6} per row")?;
    }
    writeln!(out, "rejected       {:.2} % of the rows", 100.0 * report.rejected_fraction)?;
    if let Some(accuracy) = report.accuracy_of_answered {
        writeln!(out, "accuracy       {accuracy:.4} on the rows that were not rejected")?;
    }
    Ok(())
}

/// The scores of a regressor.
pub fn regression(report: &RegressionReport) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "R²            {:.4}  (coefficient of determination)", report.r_squared)?;
    writeln!(
        out,
        "RMSE          {}  (baseline (mean): {})",
        short(report.rmse),
        short(report.baseline_rmse)
    )?;
    writeln!(out, "MAE           {}  (mean absolute error)", short(report.mae))?;
    writeln!(out, "median error  {}  (absolute)", short(report.median_error))?;
    writeln!(out, "largest error {}  (absolute)", short(report.largest_error))?;
    writeln!(out, "bias          {}  (mean of predicted minus true)", short(report.bias))?;
    writeln!(out, "rows          {}", report.n_rows)?;
    Ok(())
}

fn confusion(report: &ClassificationReport) -> Table {
    let names: Vec<String> = report.classes.iter().map(|c| c.class.to_string()).collect();
    let mut headings = vec!["true \\ predicted"];
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

/// Aligns numeric columns to the right.
pub fn align_right(table: &mut Table, columns: &[usize]) {
    for k in columns {
        if let Some(column) = table.column_mut(*k) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_wrapped_and_indented() {
        assert_eq!(wrap_to("one two three four", 2, 9), "one two\n  three\n  four");
        assert_eq!(wrap_to("unbreakable", 2, 5), "unbreakable");
    }
}
