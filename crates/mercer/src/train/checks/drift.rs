//! Drift: the distribution of a column in a new table against that in the training data.
//!
//! The population stability index of the fractions `p` (training) and `q` (new) of the bins of a column is
//! `Σ (q - p) log(q / p)`; above 0.25 a column has changed by common practice. By chance alone it is about
//! `(bins - 1) (1/n + 1/m)` for n training and m new rows (Yurdakul, 2018).

use super::{Check, Finding, Remedy};
use crate::data::{Column, Schema, Table, Values};
use crate::explain::short;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The index from which a column has changed.
const MAX_INDEX: f64 = 0.25;
/// So many times what chance explains.
const MAX_CHANCE: f64 = 4.0;
/// Bins of a numeric column.
const N_BINS: usize = 10;
/// Levels with a fraction of their own, the most frequent ones.
const MAX_LEVELS: usize = 30;
/// Columns whose distribution is stored.
const MAX_COLUMNS: usize = 500;
/// The fraction of an empty bin.
const MIN_FRACTION: f64 = 1e-4;

/// The distributions of the columns of the training data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The number of training rows that they were measured on.
    pub n_rows: u64,
    /// One per column.
    pub columns: Vec<ColumnReference>,
}

/// The distribution of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnReference {
    /// The name of the column.
    pub name: String,
    /// The bins.
    pub bins: Bins,
    /// The fraction of the rows in each bin; then that of the other levels, if any, and of missing values.
    pub fractions: Vec<f64>,
}

/// The bins of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bins {
    /// Ranges between cut points.
    Ranges(Vec<f64>),
    /// Levels; others share a bin.
    Levels(Vec<String>),
}

impl Reference {
    /// The distributions of the columns of a schema in a table.
    pub fn of(table: &Table, schema: &Schema) -> Reference {
        let columns = schema.fields.iter().filter_map(|field| table.column(&field.name));
        Reference {
            n_rows: table.n_rows() as u64,
            columns: columns.filter_map(ColumnReference::of).take(MAX_COLUMNS).collect(),
        }
    }

    /// The range between the outer deciles of a numeric column.
    pub(crate) fn spread(&self, column: &str) -> Option<f64> {
        match &self.columns.iter().find(|c| c.name == column)?.bins {
            Bins::Ranges(cuts) => Some(cuts.last()? - cuts.first()?),
            Bins::Levels(_) => None,
        }
    }

    /// Checks a reference that was read from a file.
    pub(crate) fn is_valid(&self) -> bool {
        self.columns.iter().all(|column| {
            let sorted = match &column.bins {
                Bins::Ranges(cuts) => cuts.is_sorted() && cuts.iter().all(|x| x.is_finite()),
                Bins::Levels(_) => true,
            };
            sorted
                && column.fractions.len() == column.bins.n_bins()
                && column.fractions.iter().all(|x| (0.0..=1.0).contains(x))
        })
    }
}

impl Bins {
    /// The number of bins, with those of other levels and of missing values.
    fn n_bins(&self) -> usize {
        match self {
            Bins::Ranges(cuts) => cuts.len() + 2,
            Bins::Levels(levels) => levels.len() + 2,
        }
    }

    /// The fraction of the rows of a column in every bin.
    fn fractions(&self, values: &Values) -> Vec<f64> {
        let mut counts = vec![0.0; self.n_bins()];
        let last = counts.len() - 1;
        let known: HashMap<&str, usize> = match self {
            Bins::Levels(levels) => {
                levels.iter().enumerate().map(|(k, l)| (l.as_str(), k)).collect()
            }
            Bins::Ranges(_) => HashMap::new(),
        };
        for i in 0..values.len() {
            let bin = match (self, values) {
                (Bins::Ranges(cuts), Values::Numeric(v)) if !v[i].is_nan() => {
                    cuts.partition_point(|cut| *cut <= v[i])
                }
                (Bins::Levels(levels), Values::Categorical { codes, levels: names }) => {
                    match (names.name(codes[i]), codes[i]) {
                        (Some(name), _) => known.get(name).copied().unwrap_or(levels.len()),
                        (None, crate::data::UNSEEN) => levels.len(),
                        _ => last,
                    }
                }
                (Bins::Levels(_), Values::Boolean(v)) => v[i].map_or(last, |x| {
                    known.get(if x { "true" } else { "false" }).copied().unwrap_or(last)
                }),
                _ => last,
            };
            counts[bin] += 1.0;
        }
        let n = values.len().max(1) as f64;
        counts.iter().map(|count| count / n).collect()
    }
}

impl ColumnReference {
    fn of(column: &Column) -> Option<ColumnReference> {
        let bins = match &column.values {
            Values::Numeric(x) => {
                let mut sorted: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
                sorted.sort_by(f64::total_cmp);
                let mut cuts: Vec<f64> = (1..N_BINS)
                    .filter_map(|k| sorted.get(k * sorted.len() / N_BINS).copied())
                    .collect();
                cuts.dedup();
                Bins::Ranges(cuts)
            }
            Values::Boolean(_) => Bins::Levels(vec!["false".into(), "true".into()]),
            Values::Categorical { codes, levels } => {
                let mut counts = vec![0usize; levels.len()];
                codes
                    .iter()
                    .filter_map(|c| levels.name(*c).map(|_| *c as usize))
                    .for_each(|c| counts[c] += 1);
                let mut order: Vec<usize> = (0..levels.len()).collect();
                order.sort_by_key(|k| std::cmp::Reverse(counts[*k]));
                let names = order.into_iter().take(MAX_LEVELS).map(|k| levels.names()[k].clone());
                Bins::Levels(names.collect())
            }
            Values::Text(_) | Values::TokenCounts(_) | Values::Sparse(_) => return None,
        };
        let fractions = bins.fractions(&column.values);
        Some(ColumnReference { name: column.name.clone(), bins, fractions })
    }
}

/// Compares a table with the training data, column by column.
pub fn check_drift(reference: &Reference, table: &Table) -> Vec<Finding> {
    let changed = reference.columns.iter().filter_map(|column| {
        let values = &table.column(&column.name)?.values;
        let fractions = column.bins.fractions(values);
        let index = stability_index(&column.fractions, &fractions);
        let rows = 1.0 / reference.n_rows.max(1) as f64 + 1.0 / table.n_rows().max(1) as f64;
        let chance = (column.fractions.len() - 1) as f64 * rows;
        (index > MAX_INDEX && index > MAX_CHANCE * chance).then_some((column, fractions, index))
    });
    changed
        .map(|(column, fractions, index)| {
            let figure = format!(
                "`{}`: population stability index {index:.2}; {}",
                column.name,
                largest_change(column, &fractions)
            );
            let remedy = Remedy::new(
                "train again with rows like the new ones, and watch the scores on them",
            );
            Finding::new(Check::Drift, figure, remedy).columns(vec![column.name.clone()])
        })
        .collect()
}

fn stability_index(old: &[f64], new: &[f64]) -> f64 {
    let terms = old.iter().zip(new).map(|(p, q)| {
        let (p, q) = (p.max(MIN_FRACTION), q.max(MIN_FRACTION));
        (q - p) * (q / p).ln()
    });
    terms.sum()
}

/// The bin whose fraction changed most.
fn largest_change(column: &ColumnReference, new: &[f64]) -> String {
    let change = |k: &usize| (new[*k] - column.fractions[*k]).abs();
    let most = (0..new.len()).max_by(|a, b| change(a).total_cmp(&change(b))).unwrap_or_default();
    let name = match &column.bins {
        _ if most == new.len() - 1 => "missing values".to_owned(),
        Bins::Ranges(cuts) if cuts.is_empty() => "values".to_owned(),
        Bins::Ranges(cuts) if most == 0 => format!("values below {}", short(cuts[0])),
        Bins::Ranges(cuts) if most == cuts.len() => {
            format!("values of at least {}", short(cuts[most - 1]))
        }
        Bins::Ranges(cuts) => {
            format!("values from {} to {}", short(cuts[most - 1]), short(cuts[most]))
        }
        Bins::Levels(levels) => match levels.get(most) {
            Some(level) => format!("`{level}`"),
            None => "other levels".to_owned(),
        },
    };
    format!(
        "{name}: {:.1} % of the training rows, {:.1} % now",
        100.0 * column.fractions[most],
        100.0 * new[most]
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Field;

    fn table(f: impl Fn(u32) -> f64) -> Table {
        let values = Values::Numeric((0..1000).map(f).collect());
        Table::new(vec![Column { name: "x".into(), values }]).unwrap()
    }

    #[test]
    fn a_shifted_column_drifts_and_a_shuffled_one_does_not() {
        let schema = Schema { fields: vec![Field::numeric("x")] };
        let reference = Reference::of(&table(|i| f64::from(i % 100)), &schema);

        let same = check_drift(&reference, &table(|i| f64::from(i * 37 % 100)));
        let shifted = check_drift(&reference, &table(|i| f64::from(i % 100) + 40.0));

        assert!(reference.is_valid());
        assert_eq!(same, []);
        assert_eq!(shifted[0].columns, ["x"]);
        assert!(shifted[0].figure.contains("values of at least 90"), "{}", shifted[0].figure);
    }
}
