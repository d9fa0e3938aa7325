//! Duplicate rows: a copy in another fold is predicted from memory, so that cross-validated scores are too good.

use super::{Check, Finding, Remedy, Rows};
use crate::data::Values;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Fewer duplicates than this fraction change a score by less than its interval.
const MIN_FRACTION: f64 = 0.05;

pub(super) fn check(rows: &Rows<'_>, target: &str) -> Option<Finding> {
    let table = rows.table;
    let n = table.n_rows();
    let mut hashers = vec![DefaultHasher::new(); n];
    for column in table.columns().iter().filter(|column| column.name != target) {
        hash_cells(&column.values, &mut hashers)?;
    }
    let keys: Vec<u64> = hashers.iter().map(Hasher::finish).collect();
    let target = &table.column(target)?.values;
    let mut first: HashMap<u64, usize> = HashMap::with_capacity(n);
    let (mut copies, mut conflicts) = (Vec::new(), 0);
    for (i, key) in keys.iter().enumerate() {
        match first.get(key) {
            Some(original) => {
                conflicts += usize::from(target.cell(*original) != target.cell(i));
                copies.push(i);
            }
            None => {
                first.insert(*key, i);
            }
        }
    }
    let fraction = copies.len() as f64 / n.max(1) as f64;
    if fraction < MIN_FRACTION {
        return None;
    }
    let conflicting = match conflicts {
        0 => String::new(),
        n => format!(", {n} of them with another target"),
    };
    let figure = format!(
        "{} of {n} rows ({:.1} %) repeat the features of an earlier row{conflicting}; copies in other folds make \
         cross-validated scores too good",
        copies.len(),
        100.0 * fraction
    );
    let advice = "keep one row of each in a file with one record per line: awk '!seen[$0]++' DATA > unique.csv";
    let evidence = rows.evidence(copies);
    Some(Finding::new(Check::DuplicateRows, figure, Remedy::new(advice)).rows(evidence))
}

/// Adds the cells of a column to the hashes of the rows; `None` if the column has no cells.
fn hash_cells(values: &Values, hashers: &mut [DefaultHasher]) -> Option<()> {
    let rows = hashers.iter_mut().enumerate();
    match values {
        Values::Numeric(v) => rows.for_each(|(i, h)| (v[i] + 0.0).to_bits().hash(h)),
        Values::Boolean(v) => rows.for_each(|(i, h)| v[i].hash(h)),
        Values::Categorical { codes, .. } => rows.for_each(|(i, h)| codes[i].hash(h)),
        Values::Text(v) => rows.for_each(|(i, h)| v[i].hash(h)),
        Values::TokenCounts(_) | Values::Sparse(_) => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Table};

    #[test]
    fn repeated_rows_are_counted_and_named() {
        let column = |name: &str, f: &dyn Fn(u32) -> f64| Column {
            name: name.into(),
            values: Values::Numeric((0..100).map(f).collect()),
        };
        let table = Table::new(vec![
            column("x", &|i| f64::from(i % 80)),
            column("y", &|i| f64::from(u32::from(i == 80))),
        ])
        .unwrap();

        let finding = check(&Rows { table: &table, complete: true }, "y").unwrap();

        assert!(finding.figure.contains("20 of 100 rows (20.0 %)"), "{}", finding.figure);
        assert!(finding.figure.contains("1 of them with another target"), "{}", finding.figure);
        assert_eq!(finding.rows[..2], [81, 82]);
    }
}
