//! Target leaks: a column that predicts the target almost perfectly by itself, such as one that was filled in after
//! the outcome was known.
//!
//! Every column alone predicts held-out rows: by the most frequent class, or the mean target, of the training rows in
//! the same bin. A bin is a level of a categorical column or a range of a numeric one.

use super::{Check, Finding, Remedy, Rows};
use crate::data::{MISSING, Values};
use crate::train::SupervisedTask;

/// Bins of a numeric column, with equally many rows.
const N_BINS: usize = 64;
const N_FOLDS: usize = 5;
/// Fewer rows show nothing.
const MIN_ROWS: usize = 30;
/// A column leaks if it explains more than this fraction of what the baseline does not.
const MAX_EXPLAINED: f64 = 0.98;

pub(super) fn check(rows: &Rows<'_>, target: &str, task: SupervisedTask) -> Vec<Finding> {
    let table = rows.table;
    let Some(column) = table.column(target).filter(|_| table.n_rows() >= MIN_ROWS) else {
        return Vec::new();
    };
    let features = table.columns().iter().filter(|column| column.name != target);
    let explained = |values: &Values| match (task, &column.values) {
        (SupervisedTask::Classification, Values::Categorical { codes, levels }) => {
            explained_classes(&bins(values)?, codes, levels.len())
        }
        (SupervisedTask::Regression, Values::Numeric(y)) => {
            let by_bins = explained_variance(&bins(values)?, y)?;
            Some(by_bins.max(squared_correlation(values, y).unwrap_or(0.0)))
        }
        _ => None,
    };
    features
        .filter_map(|feature| {
            let fraction = explained(&feature.values).filter(|x| *x > MAX_EXPLAINED)?;
            let figure = format!(
                "`{}` alone explains {:.2} % of the target beyond the baseline on held-out rows",
                feature.name,
                100.0 * fraction
            );
            let remedy = Remedy::new(
                "if the column is not known when a prediction is made, or follows from the target, drop it",
            )
            .option("--ignore", feature.name.clone());
            let evidence = rows.evidence((0..table.n_rows().min(3)).collect());
            let finding = Finding::new(Check::TargetLeak, figure, remedy).rows(evidence);
            Some(finding.columns(vec![feature.name.clone()]))
        })
        .collect()
}

/// The bin of every row, and the number of bins.
fn bins(values: &Values) -> Option<(Vec<usize>, usize)> {
    match values {
        Values::Categorical { codes, levels } => {
            let n = levels.len();
            Some((codes.iter().map(|code| (*code as usize).min(n)).collect(), n + 1))
        }
        Values::Boolean(v) => Some((v.iter().map(|x| x.map_or(2, usize::from)).collect(), 3)),
        Values::Numeric(x) => {
            let mut sorted: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
            sorted.sort_by(f64::total_cmp);
            let at = |k: usize| sorted.get(k * sorted.len() / N_BINS).copied();
            let mut cuts: Vec<f64> = (1..N_BINS).filter_map(at).collect();
            cuts.dedup();
            // A value that is frequent has a bin of its own: a cut at it and one right behind it.
            let behind: Vec<f64> = cuts.iter().map(|cut| cut.next_up()).collect();
            cuts.extend(behind);
            cuts.sort_by(f64::total_cmp);
            cuts.dedup();
            let n = cuts.len() + 1;
            let bin = |x: &f64| if x.is_nan() { n } else { cuts.partition_point(|cut| cut <= x) };
            Some((x.iter().map(bin).collect(), n + 1))
        }
        Values::Text(_) | Values::TokenCounts(_) | Values::Sparse(_) => None,
    }
}

/// The accuracy on held-out rows as a fraction of what the most frequent class leaves.
fn explained_classes(
    (bins, n_bins): &(Vec<usize>, usize),
    codes: &[u32],
    n_classes: usize,
) -> Option<f64> {
    let mut counts = vec![vec![[0usize; N_FOLDS]; n_classes]; *n_bins];
    let mut totals = vec![0usize; n_classes];
    for (i, (bin, code)) in bins.iter().zip(codes).enumerate().filter(|(_, (_, c))| **c != MISSING)
    {
        counts[*bin].get_mut(*code as usize)?[i % N_FOLDS] += 1;
        totals[*code as usize] += 1;
    }
    let (mut n_correct, mut n) = (0, 0);
    for classes in &counts {
        for fold in 0..N_FOLDS {
            let others = |c: usize| classes[c].iter().sum::<usize>() - classes[c][fold];
            let seen = (0..n_classes).any(|c| others(c) > 0);
            let best = (0..n_classes).rev().max_by_key(|c| others(*c))?;
            n_correct += if seen { classes[best][fold] } else { 0 };
            n += classes.iter().map(|folds| folds[fold]).sum::<usize>();
        }
    }
    let most = *totals.iter().max()?;
    (n > most).then(|| (n_correct as f64 - most as f64) / (n - most) as f64)
}

/// R² on held-out rows of the means of the bins.
fn explained_variance((bins, n_bins): &(Vec<usize>, usize), y: &[f64]) -> Option<f64> {
    let mut sums = vec![[(0.0, 0.0); N_FOLDS]; *n_bins];
    for (i, (bin, y)) in bins.iter().zip(y).enumerate().filter(|(_, (_, y))| !y.is_nan()) {
        let (sum, n) = &mut sums[*bin][i % N_FOLDS];
        (*sum, *n) = (*sum + y, *n + 1.0);
    }
    let n = y.iter().filter(|y| !y.is_nan()).count() as f64;
    let mean = y.iter().filter(|y| !y.is_nan()).sum::<f64>() / n;
    let (mut residual, mut total) = (0.0, 0.0);
    for (i, (bin, y)) in bins.iter().zip(y).enumerate().filter(|(_, (_, y))| !y.is_nan()) {
        let others = |k: usize| (0..N_FOLDS).filter(move |f| *f != k);
        let sum: f64 = others(i % N_FOLDS).map(|f| sums[*bin][f].0).sum();
        let count: f64 = others(i % N_FOLDS).map(|f| sums[*bin][f].1).sum();
        let predicted = if count > 0.0 { sum / count } else { mean };
        residual += (y - predicted).powi(2);
        total += (y - mean).powi(2);
    }
    (total > 0.0).then(|| 1.0 - residual / total)
}

fn squared_correlation(values: &Values, y: &[f64]) -> Option<f64> {
    let Values::Numeric(x) = values else { return None };
    let both: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).collect();
    if both.iter().any(|(x, y)| x.is_nan() || y.is_nan()) {
        return None;
    }
    let n = both.len() as f64;
    let (mean_x, mean_y) = both.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in both {
        xx += (x - mean_x).powi(2);
        yy += (y - mean_y).powi(2);
        xy += (x - mean_x) * (y - mean_y);
    }
    (xx > 0.0 && yy > 0.0).then(|| xy * xy / (xx * yy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Levels, Table};
    use std::sync::Arc;

    fn leaks(feature: Values, target: Values, task: SupervisedTask) -> bool {
        let column = |name: &str, values| Column { name: name.into(), values };
        let table = Table::new(vec![column("x", feature), column("y", target)]).unwrap();
        !check(&Rows { table: &table, complete: true }, "y", task).is_empty()
    }

    fn classes(code: impl Fn(u32) -> u32) -> Values {
        let levels = Arc::new(Levels::new(vec!["a".into(), "b".into()]));
        Values::Categorical { codes: (0..200).map(code).collect(), levels }
    }

    #[test]
    fn a_column_that_determines_the_class_leaks() {
        let class = |i: u32| u32::from(i % 7 < 3);
        let task = SupervisedTask::Classification;
        let numeric = |f: &dyn Fn(u32) -> f64| Values::Numeric((0..200).map(f).collect());

        assert!(leaks(numeric(&|i| f64::from(class(i)) * 10.0), classes(class), task));
        assert!(leaks(classes(|i| 1 - class(i)), classes(class), task), "renamed");
        assert!(!leaks(numeric(&|i| f64::from(i * 31 % 97)), classes(class), task));
        assert!(!leaks(numeric(&f64::from), classes(class), task), "a row number does not");
    }

    #[test]
    fn a_column_that_determines_the_number_leaks() {
        let y = Values::Numeric((0..200).map(|i| f64::from(i * 37 % 101)).collect());
        let x = Values::Numeric((0..200).map(|i| 3.0 * f64::from(i * 37 % 101) + 1.0).collect());
        let noise = Values::Numeric((0..200).map(|i| f64::from(i * 53 % 89)).collect());

        assert!(leaks(x, y.clone(), SupervisedTask::Regression));
        assert!(!leaks(noise, y, SupervisedTask::Regression));
    }
}
