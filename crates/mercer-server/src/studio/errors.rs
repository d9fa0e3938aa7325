//! The errors of a candidate on held-out rows: a confusion matrix or bins of residuals, and the rows of a cell.

use super::Message;
use super::board::{Board, Named, scatter};
use super::code::Snippets;
use super::histogram::{Groups, of_column};
use super::session::Session;
use super::shown_rows;
use crate::error::{ApiError, ApiResult};
use mercer::data::{Column, Notation, Values};
use mercer::evaluate::{Evaluation, Predictions, RegressionEvaluation};
use mercer::explain::short;
use mercer_num::special::chi_squared_sf;
use serde::Deserialize;
use serde_json::{Value, json};

/// Classes of a matrix; of more, those with most errors are shown.
const MAX_CLASSES: usize = 24;
/// Pairs of classes that are listed.
const MAX_PAIRS: usize = 20;
/// Columns whose difference is shown.
const MAX_DIFFERENCES: usize = 8;
/// The 5 % critical value of the two-sample Kolmogorov-Smirnov statistic, times sqrt(nm / (n + m)).
const KOLMOGOROV_SMIRNOV: f64 = 1.358;
/// Differences of categories are beyond chance below this p-value.
const MAX_P_VALUE: f64 = 0.05;
/// Bounds of the bins of residuals, in root mean squared errors.
const RESIDUAL_BOUNDS: [f64; 4] = [-1.5, -0.5, 0.5, 1.5];
const RESIDUAL_NAMES: [&str; 5] = ["far too low", "too low", "close", "too high", "far too high"];

/// `errors`: the matrix of a classifier or the residuals of a regressor.
pub(super) fn describe(session: &Session, message: Message) -> ApiResult<Value> {
    let Named { name } = message.parse()?;
    let board = session.board()?;
    let fitted = session.held().fit.as_ref().map(|fit| fit.name.clone());
    let has_predictions = |name: &String| board.row(name).is_ok_and(|r| r.predictions.is_some());
    let mut all = board.board.rows.iter().map(|row| row.name.clone());
    let name = name.or(fitted.filter(has_predictions)).or_else(|| all.find(has_predictions));
    let row = board.row_or_best(name.as_deref())?;
    let predictions = board.predictions(row)?;
    let target = board.data.target()?;
    let with_predictions = board.board.rows.iter().filter(|row| row.predictions.is_some());
    let mut answer = json!({
        "name": row.name,
        "names": with_predictions.map(|row| row.name.as_str()).collect::<Vec<_>>(),
        "task": target.task.to_string(),
        "target": target.name,
        "n_rows": predictions.n_rows(),
        "is_sample": board.data.rows.is_partial,
        "splitting": board.board.splitting,
        "code": Snippets::of_errors(&board.data, &row.candidate),
    });
    match predictions {
        Predictions::Classes { .. } => {
            let evaluation = Evaluation::of_predictions(predictions, &target.classes);
            let evaluation = evaluation.ok_or_else(ApiError::internal)?;
            answer["matrix"] = matrix(&evaluation);
        }
        Predictions::Regression { truth, predicted, weights } => {
            let mut evaluation = RegressionEvaluation::default();
            evaluation.push_weighted(truth, predicted, weights);
            let report = evaluation.report();
            let mut counts = [0; RESIDUAL_NAMES.len()];
            truth.iter().zip(predicted).for_each(|(y, p)| counts[bin(p - y, report.rmse)] += 1);
            let bounds = RESIDUAL_BOUNDS.map(|bound| short(bound * report.rmse));
            answer["bins"] = json!(
                (0..counts.len())
                    .map(|k| {
                        let range = match k {
                            0 => format!("below {}", bounds[0]),
                            4 => format!("above {}", bounds[3]),
                            k => format!("{} to {}", bounds[k - 1], bounds[k]),
                        };
                        json!({"name": RESIDUAL_NAMES[k], "range": range, "n": counts[k]})
                    })
                    .collect::<Vec<_>>()
            );
            answer["points"] = scatter(truth, predicted);
            answer["regression"] = json!(report);
        }
    }
    Ok(answer)
}

/// The bin of a residual (prediction minus target).
fn bin(residual: f64, rmse: f64) -> usize {
    RESIDUAL_BOUNDS.iter().filter(|bound| residual > **bound * rmse).count()
}

/// The confusion matrix of the classes with most errors, and the most frequent errors.
fn matrix(evaluation: &Evaluation) -> Value {
    let report = evaluation.report();
    let (confusion, n) = (&report.confusion, report.classes.len());
    let errors = |c: usize| -> u64 {
        (0..n).filter(|d| *d != c).map(|d| confusion[c][d] + confusion[d][c]).sum()
    };
    let mut shown: Vec<usize> = (0..n).collect();
    if n > MAX_CLASSES {
        shown.sort_by_key(|c| std::cmp::Reverse(errors(*c)));
        shown.truncate(MAX_CLASSES);
        shown.sort_unstable();
    }
    let mut pairs: Vec<(usize, usize, u64)> = (0..n)
        .flat_map(|t| (0..n).filter(move |p| *p != t).map(move |p| (t, p)))
        .map(|(t, p)| (t, p, confusion[t][p]))
        .filter(|(_, _, count)| *count > 0)
        .collect();
    pairs.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
    let name = |c: usize| report.classes[c].class.to_string();
    let n_errors: u64 = pairs.iter().map(|(_, _, count)| count).sum();
    json!({
        "n_classes": n,
        "classes": shown
            .iter()
            .map(|c| {
                let class = &report.classes[*c];
                json!({
                    "code": c,
                    "name": name(*c),
                    "precision": class.precision,
                    "recall": class.recall,
                    "support": class.support,
                })
            })
            .collect::<Vec<_>>(),
        "counts": shown
            .iter()
            .map(|t| shown.iter().map(|p| confusion[*t][*p]).collect::<Vec<_>>())
            .collect::<Vec<_>>(),
        "n_errors": n_errors,
        "accuracy": report.accuracy,
        "pairs": pairs
            .iter()
            .take(MAX_PAIRS)
            .map(|(t, p, count)| json!({
                "truth": t, "predicted": p, "truth_name": name(*t), "predicted_name": name(*p), "n": count,
            }))
            .collect::<Vec<_>>(),
    })
}

/// A cell of the matrix, or a bin of the residuals.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    name: String,
    #[serde(default)]
    truth: u32,
    #[serde(default)]
    predicted: u32,
    #[serde(default)]
    bin: Option<usize>,
    /// Whether the rows are compared with all others; otherwise with the correct ones of the same class.
    #[serde(default)]
    with_all: bool,
}

/// Rows of the table, by whether they are in a cell.
struct CellRows {
    inside: Vec<usize>,
    others: Vec<usize>,
    names: [String; 2],
    /// What the page shows of each row: the probabilities, or the prediction and the residual.
    details: Vec<Value>,
}

/// `errors.cell`: the rows of a cell, and how they differ from others.
pub(super) fn cell(session: &Session, message: Message) -> ApiResult<Value> {
    let asked: Cell = message.parse()?;
    let board = session.board()?;
    let row = board.row(&asked.name)?;
    let rows = match board.predictions(row)? {
        Predictions::Classes { .. } => class_cell(&board, board.predictions(row)?, &asked)?,
        Predictions::Regression { truth, predicted, .. } => {
            residual_cell(&board, truth, predicted, asked.bin.unwrap_or_default())?
        }
    };
    let data = &board.data;
    let differences = differences(&board, &rows);
    let names: Vec<String> =
        differences.iter().filter_map(|d| d["column"].as_str().map(str::to_owned)).collect();
    let shown: Vec<usize> = rows.inside.iter().copied().take(shown_rows::MAX_ROWS).collect();
    let mut answer = shown_rows::table(data, &shown, &names);
    answer["details"] = json!(&rows.details[..shown.len()]);
    answer["n_inside"] = json!(rows.inside.len());
    answer["n_others"] = json!(rows.others.len());
    answer["groups"] = json!(rows.names);
    answer["differences"] = json!(differences);
    Ok(answer)
}

fn class_cell(board: &Board, predictions: &Predictions, asked: &Cell) -> ApiResult<CellRows> {
    let Predictions::Classes { truth, predicted, log_proba, n_classes, .. } = predictions else {
        return Err(ApiError::internal());
    };
    if asked.truth as usize >= *n_classes || asked.predicted as usize >= *n_classes {
        return Err(ApiError::bad(format!("there are {n_classes} classes")));
    }
    let is_inside = |k: &usize| truth[*k] == asked.truth && predicted[*k] == asked.predicted;
    let is_error = asked.truth != asked.predicted;
    let is_other = |k: &usize| match asked.with_all || !is_error {
        true => !is_inside(k),
        false => truth[*k] == asked.truth && predicted[*k] == asked.truth,
    };
    let probability =
        |k: usize, c: u32| log_proba.as_ref().map(|log_proba| log_proba[[k, c as usize]].exp());
    let mut inside: Vec<usize> = (0..truth.len()).filter(is_inside).collect();
    // The most confident predictions first: those are the errors to look at.
    let confidence = |k: usize| probability(k, asked.predicted).unwrap_or(0.0);
    inside.sort_by(|a, b| confidence(*b).total_cmp(&confidence(*a)));
    let label = |c: u32| board.data.target().map(|t| t.classes.label(c).to_string());
    let (truth_name, predicted_name) = (label(asked.truth)?, label(asked.predicted)?);
    let names = match (is_error, asked.with_all) {
        (true, false) => [
            format!("{truth_name} predicted as {predicted_name}"),
            format!("{truth_name} predicted correctly"),
        ],
        (true, true) => {
            [format!("{truth_name} predicted as {predicted_name}"), "all others".into()]
        }
        (false, _) => [format!("{truth_name} predicted correctly"), "all others".into()],
    };
    let held_out = |k: usize| board.board.held_out.get(k).copied().unwrap_or_default();
    Ok(CellRows {
        others: (0..truth.len()).filter(is_other).map(held_out).collect(),
        details: inside
            .iter()
            .map(|k| {
                json!({
                    "p_truth": probability(*k, asked.truth),
                    "p_predicted": probability(*k, asked.predicted),
                })
            })
            .collect(),
        inside: inside.into_iter().map(held_out).collect(),
        names,
    })
}

fn residual_cell(
    board: &Board,
    truth: &[f64],
    predicted: &[f64],
    asked: usize,
) -> ApiResult<CellRows> {
    let name = RESIDUAL_NAMES.get(asked).ok_or_else(|| ApiError::bad("there are five bins"))?;
    let mut evaluation = RegressionEvaluation::default();
    evaluation.push(truth, predicted);
    let rmse = evaluation.report().rmse;
    let residual = |k: usize| predicted[k] - truth[k];
    let is_inside = |k: &usize| bin(residual(*k), rmse) == asked;
    let mut inside: Vec<usize> = (0..truth.len()).filter(is_inside).collect();
    inside.sort_by(|a, b| residual(*b).abs().total_cmp(&residual(*a).abs()));
    let held_out = |k: usize| board.board.held_out.get(k).copied().unwrap_or_default();
    Ok(CellRows {
        others: (0..truth.len()).filter(|k| !is_inside(k)).map(held_out).collect(),
        details: inside
            .iter()
            .map(|k| json!({"prediction": predicted[*k], "residual": residual(*k)}))
            .collect(),
        inside: inside.into_iter().map(held_out).collect(),
        names: [format!("predicted {name}"), "all others".into()],
    })
}

/// The columns by how much their distributions differ, the largest difference first.
fn differences(board: &Board, rows: &CellRows) -> Vec<Value> {
    let data = &board.data;
    let target = data.target.as_ref().map(|target| target.name.as_str());
    let is_used = |column: &&Column| {
        Some(column.name.as_str()) != target
            && !data.choices.ignore.contains(&column.name)
            && data.unusable.iter().all(|dropped| dropped.name != column.name)
    };
    let columns = data.rows.table.columns().iter().filter(is_used);
    let mut found: Vec<(f64, &Column, Value)> = columns
        .filter_map(|column| {
            let notation = &data.profile.column(&column.name)?.notation;
            let of_values = difference(column, notation, &rows.inside, &rows.others);
            let of_missing = missing_difference(column, &rows.inside, &rows.others);
            let all = [of_values, of_missing].into_iter().flatten();
            let (distance, difference) = all.max_by(|a, b| a.0.total_cmp(&b.0))?;
            Some((distance, column, difference))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let n = data.rows.table.n_rows();
    let groups = Groups::of_rows(rows.names.clone(), &rows.inside, &rows.others, n);
    found
        .into_iter()
        .take(MAX_DIFFERENCES)
        .map(|(_, column, mut difference)| {
            difference["column"] = json!(column.name);
            difference["histogram"] = json!(of_column(data, column, &groups));
            difference
        })
        .collect()
}

/// The distance of two distributions of a column, between 0 and 1: the Kolmogorov-Smirnov statistic of numbers, and the
/// total variation of categories. `None` if a side is empty.
fn difference(
    column: &Column,
    notation: &Notation,
    inside: &[usize],
    others: &[usize],
) -> Option<(f64, Value)> {
    match &column.values {
        Values::Numeric(x) => {
            let sorted = |rows: &[usize]| {
                let mut values: Vec<f64> =
                    rows.iter().map(|i| x[*i]).filter(|x| x.is_finite()).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            let (a, b) = (sorted(inside), sorted(others));
            let distance = kolmogorov_smirnov(&a, &b)?;
            let (n, m) = (a.len() as f64, b.len() as f64);
            let median = |values: &[f64]| notation.format(values[values.len() / 2]);
            let text = format!("median {} instead of {}", median(&a), median(&b));
            let is_beyond_chance = distance > KOLMOGOROV_SMIRNOV * ((n + m) / (n * m)).sqrt();
            Some((distance, described(distance, text, is_beyond_chance)))
        }
        Values::Categorical { codes, levels } => {
            let code = |i: usize| Some(codes[i] as usize).filter(|c| *c < levels.len());
            categories(levels.names(), code, inside, others)
        }
        Values::Boolean(x) => {
            let names = ["false".to_owned(), "true".to_owned()];
            categories(&names, |i| x[i].map(usize::from), inside, others)
        }
        Values::Text(_) | Values::TokenCounts(_) | Values::Sparse(_) => None,
    }
}

/// The difference of the fractions of missing values; `None` if none is missing.
fn missing_difference(column: &Column, inside: &[usize], others: &[usize]) -> Option<(f64, Value)> {
    if column.values.n_missing() == 0 {
        return None;
    }
    let names = ["present".to_owned(), "missing".to_owned()];
    let code = |i: usize| Some(usize::from(column.values.cell(i).is_none()));
    let (distance, mut found) = categories(&names, code, inside, others)?;
    let fraction = |rows: &[usize]| {
        let n = rows.iter().filter(|i| code(**i) == Some(1)).count();
        100.0 * n as f64 / rows.len().max(1) as f64
    };
    let (a, b) = (fraction(inside), fraction(others));
    found["text"] = json!(format!("missing in {a:.0} % instead of {b:.0} %"));
    Some((distance, found))
}

fn described(distance: f64, text: String, is_beyond_chance: bool) -> Value {
    json!({"distance": distance, "text": text, "is_beyond_chance": is_beyond_chance})
}

/// The largest difference of two empirical distribution functions, of sorted values.
fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (mut i, mut j, mut largest) = (0, 0, 0.0f64);
    while i < a.len() && j < b.len() {
        let x = a[i].min(b[j]);
        i += a[i..].iter().take_while(|v| **v <= x).count();
        j += b[j..].iter().take_while(|v| **v <= x).count();
        largest = largest.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    Some(largest)
}

fn categories(
    names: &[String],
    code: impl Fn(usize) -> Option<usize>,
    inside: &[usize],
    others: &[usize],
) -> Option<(f64, Value)> {
    let counted = |rows: &[usize]| {
        let mut counts = vec![0.0; names.len()];
        rows.iter().filter_map(|i| code(*i)).for_each(|c| counts[c] += 1.0);
        counts
    };
    let (a, b) = (counted(inside), counted(others));
    let (n, m) = (a.iter().sum::<f64>(), b.iter().sum::<f64>());
    if n == 0.0 || m == 0.0 {
        return None;
    }
    let change = |c: usize| a[c] / n - b[c] / m;
    let largest = (0..names.len()).max_by(|c, d| change(*c).abs().total_cmp(&change(*d).abs()))?;
    let distance = 0.5 * (0..names.len()).map(|c| change(c).abs()).sum::<f64>();
    // Pearson's test that both groups have the same distribution.
    let used: Vec<usize> = (0..names.len()).filter(|c| a[*c] + b[*c] > 0.0).collect();
    let statistic: f64 = used
        .iter()
        .map(|c| {
            let total = a[*c] + b[*c];
            let (first, second) = (total * n / (n + m), total * m / (n + m));
            (a[*c] - first).powi(2) / first + (b[*c] - second).powi(2) / second
        })
        .sum();
    let degrees = used.len().saturating_sub(1) as f64;
    let is_beyond_chance = degrees > 0.0 && chi_squared_sf(statistic, degrees) < MAX_P_VALUE;
    let text = format!(
        "`{}` in {:.0} % instead of {:.0} %",
        names[largest],
        100.0 * a[largest] / n,
        100.0 * b[largest] / m
    );
    Some((distance, described(distance, text, is_beyond_chance)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_statistic_is_the_largest_step_between_two_samples() {
        assert_eq!(kolmogorov_smirnov(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
        assert_eq!(kolmogorov_smirnov(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), Some(0.0));
        assert_eq!(kolmogorov_smirnov(&[1.0, 3.0], &[2.0, 4.0]), Some(0.5));
        assert_eq!(kolmogorov_smirnov(&[], &[1.0]), None);
    }

    #[test]
    fn residuals_are_binned_by_their_size_in_errors() {
        let bins: Vec<usize> =
            [-10.0, -1.0, 0.0, 0.5, 0.6, 1.0, 2.0].iter().map(|r| bin(*r, 1.0)).collect();

        assert_eq!(bins, [0, 1, 2, 2, 3, 3, 4]);
    }

    #[test]
    fn categories_differ_by_their_total_variation() {
        let names = ["a".to_owned(), "b".to_owned()];
        let codes = [0, 0, 0, 1, 1, 1, 1, 0];

        let (distance, found) =
            categories(&names, |i| Some(codes[i]), &[0, 1, 2, 3], &[4, 5, 6, 7]).unwrap();

        // 3/4 of `a` against 1/4.
        assert_eq!(distance, 0.5);
        assert_eq!(found["is_beyond_chance"], false);
    }
}
