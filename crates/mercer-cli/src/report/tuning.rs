//! The report of `mercer tune` on a terminal.

use super::terminal::{align_right, table};
use mercer::train::tune::{Edge, TunedSetting, Tuning, TuningStanding};
use serde_json::Value;

/// Settings shown; `--json` lists all of them.
const MAX_SETTINGS: usize = 20;

/// The settings, the best first, and the command that trains the best one.
pub fn tuning(tuning: &Tuning, command: Option<&str>) -> String {
    let metric = tuning.metric.name();
    let names = tuning.grid.axes.iter().map(|axis| axis.name.as_str());
    let headings: Vec<&str> = names.chain([metric, "± fold", "fit s", ""]).collect();
    let mut rows = table(&headings);
    align_right(&mut rows, &(0..headings.len() - 1).collect::<Vec<_>>());
    for setting in tuning.settings.iter().take(MAX_SETTINGS) {
        let values = setting.settings.iter().map(|(_, value)| text(value));
        let spread = deviation(&setting.fold_scores);
        let cells = values.chain([
            setting.score.map(|score| format!("{score:.4}")).unwrap_or_default(),
            spread.map(|spread| format!("{spread:.4}")).unwrap_or_default(),
            format!("{:.2}", setting.fit_seconds),
            remark(setting),
        ]);
        rows.add_row(cells.collect::<Vec<String>>());
    }
    let mut out = format!("\n{rows}\n");
    let rest = tuning.settings.len().saturating_sub(MAX_SETTINGS);
    if rest > 0 {
        out += &format!("… {rest} more settings (--json lists all)\n");
    }
    let sample = if tuning.is_sample { "a random sample of " } else { "" };
    out += &format!(
        "{} settings, {} of {sample}{} rows, {:.1} s\n",
        tuning.settings.len(),
        tuning.splitting,
        tuning.n_rows,
        tuning.seconds
    );
    if let Some(corrected) = tuning.corrected {
        out += &format!(
            "{metric} corrected for the selection (bootstrap): {:.4}, 95 % interval {:.4} to {:.4}\n",
            corrected.score, corrected.low, corrected.high
        );
    }
    if tuning.cut_short {
        out += "the time ended before every setting was scored on all folds\n";
    }
    if let Some(best) = tuning.best() {
        let score = best.score.unwrap_or(f64::NAN);
        out += &format!("\nbest: {} ({metric} {score:.4})\n", best.name());
    }
    for edge in &tuning.edges {
        out += &at_edge(edge);
    }
    out += &command.map_or_else(String::new, |command| format!("train it: {command}\n"));
    out
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn remark(setting: &TunedSetting) -> String {
    match (&setting.standing, setting.converged) {
        (TuningStanding::Pruned, _) => "pruned: far behind".into(),
        (TuningStanding::OverBudget, _) => "over budget".into(),
        (TuningStanding::Failed(why), _) => format!("failed: {why}"),
        (TuningStanding::Finished, false) => "not converged".into(),
        (TuningStanding::Finished, true) => String::new(),
    }
}

fn at_edge(edge: &Edge) -> String {
    let (side, direction) =
        if edge.is_largest { ("largest", "larger") } else { ("smallest", "smaller") };
    format!(
        "{} = {} is the {side} value tried: a better one may lie beyond; add {direction} values with --grid\n",
        edge.name,
        text(&edge.value)
    )
}

/// The standard deviation of the scores of the folds.
fn deviation(scores: &[f64]) -> Option<f64> {
    let n = scores.len() as f64;
    if n < 2.0 {
        return None;
    }
    let mean = scores.iter().sum::<f64>() / n;
    let squares: f64 = scores.iter().map(|s| (s - mean).powi(2)).sum();
    Some((squares / (n - 1.0)).sqrt())
}
