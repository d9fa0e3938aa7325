//! Partial dependence: the mean prediction if a column has one value in all rows (Friedman, 2001).

use super::Trained;
use crate::data::{Column, Kind, Table, Values};
use crate::error::Result;
use serde::Serialize;
use std::sync::Arc;

/// Values of a numeric column, at quantiles of the rows.
const N_POINTS: usize = 20;
/// Levels of a categorical column, the most frequent ones.
const MAX_LEVELS: usize = 10;
/// Rows that predictions are averaged over.
const MAX_ROWS: usize = 300;

/// The mean prediction as a function of one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// The name of the column.
    pub column: String,
    /// The values of a numeric column, or indices of `levels`.
    pub values: Vec<f64>,
    /// The levels of a categorical column; empty for a numeric one.
    pub levels: Vec<String>,
    /// The classes; empty for a regressor.
    pub classes: Vec<String>,
    /// For each value, the mean probability of every class, or the mean prediction.
    pub means: Vec<Vec<f64>>,
}

/// The effect of a column on the predictions of the rows of a table; `None` if the column has no values to vary, or the
/// model predicts neither classes nor numbers.
///
/// # Errors
/// If the table does not have the columns of the model.
pub fn partial_dependence(
    trained: &Trained,
    table: &Table,
    column: &str,
) -> Result<Option<Effect>> {
    let stride = table.n_rows().div_ceil(MAX_ROWS).max(1);
    let some: Vec<usize> = (0..table.n_rows()).step_by(stride).collect();
    let Some(field) = trained.features.schema.field(column) else { return Ok(None) };
    let Some(values) = table.column(column).map(|column| &column.values) else { return Ok(None) };
    let rows = table.rows_at(&some)?;
    let (grid, levels) = match (field.kind, values) {
        (Kind::Numeric, Values::Numeric(x)) => (quantiles(x), Vec::new()),
        (Kind::Categorical, Values::Categorical { codes, levels }) => {
            let names = frequent(codes, levels.names());
            ((0..names.len()).map(|k| k as f64).collect(), names)
        }
        (Kind::Boolean, Values::Boolean(_)) => {
            (vec![0.0, 1.0], vec!["false".into(), "true".into()])
        }
        _ => return Ok(None),
    };
    if grid.len() < 2 {
        return Ok(None);
    }
    let mut effect = Effect {
        column: column.to_owned(),
        values: grid,
        levels,
        classes: trained.class_names(),
        means: Vec::new(),
    };
    for k in 0..effect.values.len() {
        let n = rows.n_rows();
        let constant = match values {
            Values::Numeric(_) => Values::Numeric(vec![effect.values[k]; n]),
            Values::Boolean(_) => Values::Boolean(vec![Some(k == 1); n]),
            Values::Categorical { levels, .. } => Values::Categorical {
                codes: vec![levels.code(&effect.levels[k]); n],
                levels: Arc::clone(levels),
            },
            _ => return Ok(None),
        };
        let columns = rows.columns().iter().map(|old| Column {
            name: old.name.clone(),
            values: if old.name == column { constant.clone() } else { old.values.clone() },
        });
        match mean_prediction(trained, &Table::new(columns.collect())?)? {
            Some(means) => effect.means.push(means),
            None => return Ok(None),
        }
    }
    Ok(Some(effect))
}

/// The mean probability of every class, the fractions of predicted classes if there are none, or the mean prediction.
fn mean_prediction(trained: &Trained, table: &Table) -> Result<Option<Vec<f64>>> {
    let encoded = trained.features.encode(table, None)?;
    let (rows, model) = (encoded.rows(), trained.fitted.model.as_model());
    let n = table.n_rows().max(1) as f64;
    if let Some(probabilistic) = model.probabilistic() {
        let proba = probabilistic.log_proba(&rows)?;
        return Ok(Some(
            proba
                .columns()
                .into_iter()
                .map(|p| p.iter().map(|p| p.exp()).sum::<f64>() / n)
                .collect(),
        ));
    }
    if let Some(classifier) = model.classifier() {
        let mut counts = vec![0.0; classifier.classes().len()];
        classifier.predict(&rows)?.iter().for_each(|c| counts[*c as usize] += 1.0 / n);
        return Ok(Some(counts));
    }
    match model.regressor() {
        Some(regressor) => Ok(Some(vec![regressor.predict(&rows)?.iter().sum::<f64>() / n])),
        None => Ok(None),
    }
}

/// Quantiles between 2 % and 98 %, without repetitions.
fn quantiles(x: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    let at = |k: usize| 0.02 + 0.96 * k as f64 / (N_POINTS - 1) as f64;
    let mut grid: Vec<f64> =
        (0..N_POINTS).map(|k| sorted[(at(k) * last as f64).round() as usize]).collect();
    grid.dedup();
    grid
}

/// The most frequent levels, by falling frequency.
fn frequent(codes: &[u32], names: &[String]) -> Vec<String> {
    let mut counts = vec![0usize; names.len()];
    for code in codes {
        if let Some(count) = counts.get_mut(*code as usize) {
            *count += 1;
        }
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|k| std::cmp::Reverse(counts[*k]));
    order.into_iter().take(MAX_LEVELS).map(|k| names[k].clone()).collect()
}
