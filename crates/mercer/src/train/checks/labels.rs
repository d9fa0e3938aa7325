//! Checks of the classes: imbalance, rare classes, and labels that differ in spelling only.

use super::{Check, Finding, Remedy};
use crate::data::{ColumnProfile, parse_boolean};
use crate::train::SupervisedTask;
use std::collections::BTreeMap;

/// The most frequent class has more than this many times the rows of the rarest.
const MAX_RATIO: f64 = 10.0;
/// A class of fewer rows is absent from some of ten folds.
const MIN_ROWS_PER_CLASS: u64 = 10;
/// Classes that are named.
const MAX_NAMED: usize = 5;

pub(super) fn check(target: &ColumnProfile, task: SupervisedTask) -> Vec<Finding> {
    if task == SupervisedTask::Regression || target.level_counts.is_empty() {
        return Vec::new();
    }
    [spelling(target), imbalance(target), rare(target)].into_iter().flatten().collect()
}

/// A label without its case and with single blanks.
fn folded(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn spelling(target: &ColumnProfile) -> Option<Finding> {
    let mut alike: BTreeMap<String, Vec<(&str, u64)>> = BTreeMap::new();
    for (label, n) in target.levels.names().iter().zip(&target.level_counts) {
        alike.entry(folded(label)).or_default().push((label, *n));
    }
    let groups: Vec<String> = (alike.values().filter(|labels| labels.len() > 1).take(MAX_NAMED))
        .map(|labels| {
            let shown = labels.iter().map(|(label, n)| format!("`{label}` ({n} rows)"));
            shown.collect::<Vec<_>>().join(" and ")
        })
        .collect();
    if groups.is_empty() {
        return None;
    }
    let figure = format!("labels differ in case or blanks only: {}", groups.join("; "));
    let booleans = target.levels.names().iter().all(|label| parse_boolean(label).is_some());
    let remedy = match booleans {
        true => Remedy::new("read the target as boolean, in any spelling")
            .option("--column", format!("{}=boolean", target.name)),
        false => Remedy::new(format!(
            "write each label of `{}` in one way in the file; they are {} classes now",
            target.name,
            target.levels.len()
        )),
    };
    Some(Finding::new(Check::LabelSpelling, figure, remedy).columns(vec![target.name.clone()]))
}

fn imbalance(target: &ColumnProfile) -> Option<Finding> {
    let counts = || target.level_counts.iter().zip(target.levels.names());
    let (most, frequent) = counts().max_by_key(|(n, _)| **n)?;
    let (least, seldom) = counts().min_by_key(|(n, _)| **n)?;
    let ratio = *most as f64 / (*least).max(1) as f64;
    if ratio <= MAX_RATIO {
        return None;
    }
    let figure = format!(
        "`{frequent}` has {most} rows, `{seldom}` {least}: {ratio:.0} times as many; accuracy hardly depends on rare \
         classes"
    );
    let remedy = Remedy::new("select the model by a metric in which every class counts the same")
        .option("--metric", "balanced-accuracy");
    Some(Finding::new(Check::Imbalance, figure, remedy).columns(vec![target.name.clone()]))
}

fn rare(target: &ColumnProfile) -> Option<Finding> {
    let rare: Vec<(&String, &u64)> = (target.levels.names().iter().zip(&target.level_counts))
        .filter(|(_, n)| **n < MIN_ROWS_PER_CLASS)
        .collect();
    let (_, fewest) = rare.iter().min_by_key(|(_, n)| **n)?;
    let named = rare.iter().take(MAX_NAMED).map(|(label, n)| format!("`{label}` ({n})"));
    let mut figure = format!(
        "{} of {} classes have fewer than {MIN_ROWS_PER_CLASS} rows: {}",
        rare.len(),
        target.levels.len(),
        named.collect::<Vec<_>>().join(", ")
    );
    if rare.len() > MAX_NAMED {
        figure += ", …";
    }
    let remedy = Remedy::new(
        "collect more rows or merge these classes; fewer folds let every fold have each class",
    )
    .option("--folds", (**fewest).clamp(2, 5).to_string());
    Some(Finding::new(Check::RareClasses, figure, remedy).columns(vec![target.name.clone()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_blanks_do_not_make_a_label() {
        assert_eq!(folded("  Very  Good "), "very good");
        assert_ne!(folded("good"), folded("goods"));
    }
}
