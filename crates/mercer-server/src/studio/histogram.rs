//! Histograms of columns by class, or by terciles of a numeric target.

use super::data::Data;
use mercer::data::{Column, ColumnProfile, Notation, Values};
use mercer::train::SupervisedTask;
use serde_json::{Value, json};

/// Classes with a color of their own; the rarer ones share one.
const MAX_GROUPS: usize = 8;
/// Bins of a numeric column.
const N_BINS: usize = 24;
/// Levels of a categorical column.
const MAX_LEVELS: usize = 12;
/// The outer bins hold the tails if the range is this many times that of the inner 98 % of the values.
const LONG_TAILS: f64 = 3.0;

/// The group of every row of the sample.
pub(super) struct Groups {
    pub names: Vec<String>,
    /// What the groups are.
    pub label: String,
    /// The group of each row; empty if there is a single group.
    codes: Vec<usize>,
}

impl Groups {
    /// The groups by the target of a table.
    pub fn of(data: &Data) -> Groups {
        let one = || Groups {
            names: vec!["all rows".into()],
            label: "all rows".into(),
            codes: Vec::new(),
        };
        let Some(target) = &data.target else { return one() };
        let column = data.rows.table.column(&target.name).map(|column| &column.values);
        match (target.task, column) {
            (SupervisedTask::Classification, Some(Values::Categorical { codes, .. })) => {
                let names = target.classes.labels().iter().map(ToString::to_string).collect();
                Groups::of_classes(codes, names)
            }
            (SupervisedTask::Regression, Some(Values::Numeric(values))) => {
                Groups::of_terciles(values, &target.name)
            }
            _ => one(),
        }
    }

    /// One group per class; beyond a number of classes, the most frequent ones and the others.
    fn of_classes(codes: &[u32], names: Vec<String>) -> Groups {
        let mut counts = vec![0usize; names.len()];
        let known = codes.iter().filter(|c| (**c as usize) < names.len());
        known.for_each(|c| counts[*c as usize] += 1);
        let mut kept: Vec<usize> = (0..names.len()).collect();
        if names.len() > MAX_GROUPS {
            kept.sort_by_key(|c| std::cmp::Reverse(counts[*c]));
            kept.truncate(MAX_GROUPS - 1);
            kept.sort_unstable();
        }
        let group = |c: &u32| kept.iter().position(|k| *k == *c as usize).unwrap_or(kept.len());
        let codes = codes.iter().map(group).collect();
        let n_others = names.len() - kept.len();
        let mut shown: Vec<String> = kept.iter().map(|c| names[*c].clone()).collect();
        if n_others > 0 {
            shown.push(format!("{n_others} other classes"));
        }
        Groups { names: shown, label: "class".into(), codes }
    }

    /// Low, middle and high values of a regression target.
    fn of_terciles(values: &[f64], name: &str) -> Groups {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |q: usize| sorted.get(sorted.len() * q / 3).copied().unwrap_or(0.0);
        let (first, second) = (at(1), at(2));
        let codes = values.iter().map(|x| usize::from(*x >= first) + usize::from(*x >= second));
        Groups {
            names: vec![
                format!("{name} < {}", mercer::explain::short(first)),
                "between".into(),
                format!("{name} ≥ {}", mercer::explain::short(second)),
            ],
            label: format!("tercile of {name}"),
            codes: codes.collect(),
        }
    }

    /// Two groups of rows: those in a set, and some others. Rows of neither have no group.
    pub fn of_rows(names: [String; 2], inside: &[usize], others: &[usize], n: usize) -> Groups {
        let mut codes = vec![2; n];
        inside.iter().for_each(|i| codes[*i] = 0);
        others.iter().for_each(|i| codes[*i] = 1);
        Groups { names: names.to_vec(), label: "rows".into(), codes }
    }

    /// The group of a row, if it has one.
    fn group(&self, row: usize) -> Option<usize> {
        match self.codes.get(row) {
            None => Some(0),
            Some(group) => Some(*group).filter(|g| *g < self.names.len()),
        }
    }
}

/// The histogram of a column; `None` if there is nothing to count.
pub(super) fn histogram(column: &ColumnProfile, values: &Values, groups: &Groups) -> Option<Value> {
    match values {
        Values::Numeric(x) => {
            let mut found = numeric(x, groups, |v| column.notation.format(v))?;
            // A spread in days says little about dates; their middle is a date.
            if let Notation::Date(_) = column.notation {
                found["deviation"] = Value::Null;
            }
            Some(found)
        }
        Values::Categorical { codes, levels } => {
            let code = |row: usize| Some(codes[row] as usize).filter(|c| *c < levels.len());
            Some(levels_of(levels.names(), code, codes.len(), groups))
        }
        Values::Boolean(x) => {
            let names = ["false".to_owned(), "true".to_owned()];
            Some(levels_of(&names, |row| x[row].map(usize::from), x.len(), groups))
        }
        Values::Text(x) => {
            let words = |text: &Option<String>| {
                text.as_ref().map_or(f64::NAN, |t| t.split_whitespace().count() as f64)
            };
            let lengths: Vec<f64> = x.iter().map(words).collect();
            let mut found = numeric(&lengths, groups, |v| format!("{v:.0} words"))?;
            found["kind"] = json!("words");
            Some(found)
        }
        Values::TokenCounts(_) | Values::Sparse(_) => None,
    }
}

/// The histogram of a column of the sample.
pub(super) fn of_column(data: &Data, column: &Column, groups: &Groups) -> Option<Value> {
    histogram(data.profile.column(&column.name)?, &column.values, groups)
}

fn numeric(x: &[f64], groups: &Groups, shown: impl Fn(f64) -> String) -> Option<Value> {
    let mut sorted: Vec<f64> = x.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let at = |q: f64| sorted[((sorted.len() - 1) as f64 * q) as usize];
    let (q01, q99) = (at(0.01), at(0.99));
    let has_tails = q99 > q01 && max - min > LONG_TAILS * (q99 - q01);
    let (low, high) = if has_tails { (q01, q99) } else { (min, max) };
    let integers = sorted.iter().all(|x| x.fract() == 0.0);
    let n_bins = match integers && high - low < N_BINS as f64 {
        true => (high - low) as usize + 1,
        false if high > low => N_BINS,
        false => 1,
    };
    // Bins of integers are centered at them.
    let (low, high) = match integers && high - low < N_BINS as f64 {
        true => (low - 0.5, high + 0.5),
        false => (low, high),
    };
    let width = if high > low { (high - low) / n_bins as f64 } else { 1.0 };
    let mut counts = vec![vec![0u64; n_bins]; groups.names.len()];
    for (row, x) in x.iter().enumerate().filter(|(_, x)| x.is_finite()) {
        // The conversion of a negative position saturates at zero.
        let bin = (((x - low) / width) as usize).min(n_bins - 1);
        if let Some(group) = groups.group(row) {
            counts[group][bin] += 1;
        }
    }
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let deviation = (sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    let edges: Vec<String> = (0..=n_bins).map(|k| shown(low + width * k as f64)).collect();
    Some(json!({
        "kind": "numeric",
        "edges": edges,
        "counts": counts,
        "has_tails": has_tails,
        "mean": shown(mercer::explain::short(mean).parse().unwrap_or(mean)),
        "median": shown(at(0.5)),
        "deviation": mercer::explain::short(deviation),
    }))
}

/// The most frequent levels, and the number of rows of all others.
fn levels_of(
    names: &[String],
    code: impl Fn(usize) -> Option<usize>,
    n_rows: usize,
    groups: &Groups,
) -> Value {
    let mut totals = vec![0u64; names.len()];
    (0..n_rows).filter_map(&code).for_each(|c| totals[c] += 1);
    let mut order: Vec<usize> = (0..names.len()).filter(|c| totals[*c] > 0).collect();
    order.sort_by_key(|c| std::cmp::Reverse(totals[*c]));
    let n_others = order.len().saturating_sub(MAX_LEVELS);
    order.truncate(MAX_LEVELS);
    let position = |c: usize| order.iter().position(|k| *k == c);
    let n_bars = order.len() + usize::from(n_others > 0);
    let mut counts = vec![vec![0u64; n_bars]; groups.names.len()];
    for row in 0..n_rows {
        if let (Some(c), Some(group)) = (code(row), groups.group(row)) {
            counts[group][position(c).unwrap_or(n_bars - 1)] += 1;
        }
    }
    let mut shown: Vec<String> = order.iter().map(|c| names[*c].clone()).collect();
    if n_others > 0 {
        shown.push(format!("{n_others} others"));
    }
    json!({"kind": "levels", "levels": shown, "counts": counts})
}
