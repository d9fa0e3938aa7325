//! Columns that carry no information about new rows: constants, identifiers and duplicates of other columns.
//!
//! The profile of a table excludes nearly all columns: an identifier has no missing values and, if its values are
//! whole numbers, a range of at least the number of rows; duplicates agree in their profiles. One pass over the few
//! columns that are left decides, and ends as soon as every suspicion is refuted.

use crate::data::{ColumnProfile, Field, Kind, Profile, Schema, Stream, Table, Values};
use crate::explain::short;
use crate::model::Monitor;
use crate::preprocess::{DropReason, DroppedColumn};
use crate::train::is_identifier_name;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::ops::ControlFlow;

/// Tables of fewer rows do not show whether values repeat.
const MIN_ROWS_OF_IDENTIFIERS: u64 = 20;
/// Whole numbers of more digits than a double holds have no numeric meaning: account numbers, bar codes.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
/// Whole numbers from here on that never repeat are identifiers whatever their name.
const MIN_LONG_IDENTIFIER: f64 = 1e11;
/// Consecutive whole numbers in this range are years.
const YEARS: (f64, f64) = (1500.0, 2200.0);
/// Strings with more tokens than this on average are text, not identifiers.
const MAX_TOKENS_OF_IDENTIFIERS: usize = 2;
/// Rows whose values are compared with each other; identifiers that do not repeat among them are taken for unique.
const MAX_COMPARED_ROWS: usize = 1 << 22;
const ROWS_PER_TABLE: usize = 4096;

type FixedHasher = BuildHasherDefault<DefaultHasher>;

/// The columns of a table that are dropped before a fit, with the reason. Columns whose type the user declares, the
/// target and those in `except` are never dropped, nor are all columns together.
///
/// # Errors
/// The error of the stream, or [`crate::Error::Stopped`].
pub fn unusable_columns<S: Stream>(
    profile: &Profile,
    target: Option<&str>,
    except: &[String],
    stream: &S,
    monitor: &Monitor<'_>,
) -> Result<Vec<DroppedColumn>, S::Error> {
    let inferred = |c: &&ColumnProfile| {
        !c.declared && Some(c.name.as_str()) != target && !except.contains(&c.name)
    };
    let columns: Vec<&ColumnProfile> = profile.columns.iter().filter(inferred).collect();
    let mut dropped: HashMap<&str, DropReason> = HashMap::new();
    for column in &columns {
        if let Some(value) = constant(column, profile.n_rows) {
            dropped.insert(&column.name, DropReason::Constant(value));
        } else if is_certain_identifier(column, profile.n_rows) {
            dropped.insert(&column.name, DropReason::Identifier);
        }
    }
    let rest = columns.iter().filter(|c| !dropped.contains_key(c.name.as_str()));
    let mut suspects = Suspects::new(rest.copied(), profile.n_rows);
    suspects.scan(stream, monitor)?;
    for (name, reason) in suspects.confirmed() {
        dropped.insert(name, reason);
    }
    let features =
        |c: &&ColumnProfile| Some(c.name.as_str()) != target && !except.contains(&c.name);
    if profile.columns.iter().filter(features).all(|c| dropped.contains_key(c.name.as_str())) {
        return Ok(Vec::new());
    }
    let in_order = profile.columns.iter().filter_map(|c| {
        let reason = dropped.remove(c.name.as_str())?;
        Some(DroppedColumn { name: c.name.clone(), reason })
    });
    Ok(in_order.collect())
}

/// The value of a constant column. Where values are missing, that they are is information.
fn constant(column: &ColumnProfile, n_rows: u64) -> Option<String> {
    let one = column.n_distinct == 1 && !column.distinct_capped && column.n_missing == 0;
    if !one || n_rows < 2 || column.kind == Kind::Sparse {
        return None;
    }
    let level = column.levels.names().first().cloned();
    Some(level.or_else(|| column.min.map(short)).unwrap_or_else(|| "the same".to_owned()))
}

/// Whether the profile alone shows that a column identifies rows.
fn is_certain_identifier(column: &ColumnProfile, n_rows: u64) -> bool {
    if n_rows < MIN_ROWS_OF_IDENTIFIERS || column.n_missing > 0 {
        return false;
    }
    match column.kind {
        Kind::Categorical => column.levels.len() as u64 == n_rows,
        Kind::Numeric => {
            column.integers && column.min.is_some_and(|min| min.abs() > MAX_EXACT_INTEGER)
        }
        _ => false,
    }
}

/// Whether a column may identify rows, if its values never repeat.
fn may_identify(column: &ColumnProfile, n_rows: u64) -> bool {
    if n_rows < MIN_ROWS_OF_IDENTIFIERS || column.n_missing > 0 {
        return false;
    }
    match (column.kind, column.min, column.max) {
        (Kind::Text, ..) => true,
        (Kind::Numeric, Some(min), Some(max)) if column.integers => {
            let range = max - min + 1.0;
            let years = min >= YEARS.0 && max <= YEARS.1;
            let consecutive = range == n_rows as f64 && !years;
            let long = min >= MIN_LONG_IDENTIFIER;
            range >= n_rows as f64 && (consecutive || long || is_identifier_name(&column.name))
        }
        _ => false,
    }
}

/// What equal columns have in common.
#[derive(PartialEq, Eq, Hash)]
struct ProfileKey<'a> {
    kind: Kind,
    n_missing: u64,
    n_distinct: u64,
    range: [Option<u64>; 2],
    level_counts: &'a [u64],
}

fn profile_key(column: &ColumnProfile) -> Option<ProfileKey<'_>> {
    match column.kind {
        Kind::Text | Kind::Sparse => None,
        kind => Some(ProfileKey {
            kind,
            n_missing: column.n_missing,
            n_distinct: column.n_distinct,
            range: [column.min.map(f64::to_bits), column.max.map(f64::to_bits)],
            level_counts: &column.level_counts,
        }),
    }
}

/// The columns that are compared, value by value.
struct Suspects<'a> {
    fields: Vec<Field>,
    names: Vec<&'a str>,
    /// The distinct values so far; `None` if the column does not identify rows.
    identifiers: Vec<Option<HashSet<u64, FixedHasher>>>,
    /// The group of columns that it may be equal to; `None` if it is equal to no other.
    groups: Vec<Option<usize>>,
    /// A hash of all values so far.
    hashes: Vec<u64>,
}

impl<'a> Suspects<'a> {
    fn new(columns: impl Iterator<Item = &'a ColumnProfile>, n_rows: u64) -> Suspects<'a> {
        let columns: Vec<&ColumnProfile> = columns.collect();
        let mut members: HashMap<_, Vec<usize>> = HashMap::new();
        for (j, column) in columns.iter().enumerate() {
            if let Some(key) = profile_key(column) {
                members.entry(key).or_default().push(j);
            }
        }
        let mut groups = vec![None; columns.len()];
        for alike in members.values().filter(|alike| alike.len() > 1) {
            alike.iter().for_each(|j| groups[*j] = Some(alike[0]));
        }
        let mut suspects = Suspects {
            fields: Vec::new(),
            names: Vec::new(),
            identifiers: Vec::new(),
            groups: Vec::new(),
            hashes: Vec::new(),
        };
        for (column, group) in columns.iter().zip(groups) {
            let identifies = may_identify(column, n_rows);
            if identifies || group.is_some() {
                suspects.fields.push(column.field());
                suspects.names.push(&column.name);
                suspects.identifiers.push(identifies.then(HashSet::default));
                suspects.groups.push(group);
                suspects.hashes.push(0);
            }
        }
        suspects
    }

    fn is_settled(&self) -> bool {
        self.identifiers.iter().all(Option::is_none) && self.groups.iter().all(Option::is_none)
    }

    fn scan<S: Stream>(&mut self, stream: &S, monitor: &Monitor<'_>) -> Result<(), S::Error> {
        if self.is_settled() {
            return Ok(());
        }
        let schema = Schema { fields: self.fields.clone() };
        let mut n_rows = 0;
        stream.stream(&schema, ROWS_PER_TABLE, &mut |tables| {
            for table in &tables {
                self.observe(table);
                n_rows += table.n_rows();
            }
            if monitor.stop().is_some() {
                return Err(crate::Error::Stopped.into());
            }
            let enough = self.is_settled() || n_rows >= MAX_COMPARED_ROWS;
            Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }

    fn observe(&mut self, table: &Table) {
        let hasher = FixedHasher::default();
        for (j, column) in table.columns().iter().enumerate() {
            if self.identifiers[j].is_none() && self.groups[j].is_none() {
                continue;
            }
            if has_many_tokens(&column.values) {
                self.identifiers[j] = None;
            }
            for i in 0..table.n_rows() {
                let hash = hasher.hash_one(value_bits(&column.values, i));
                self.hashes[j] = self.hashes[j].rotate_left(5) ^ hash;
                if self.identifiers[j].as_mut().is_some_and(|known| !known.insert(hash)) {
                    self.identifiers[j] = None;
                }
            }
        }
        // A column that differs from all others of its group so far is no duplicate.
        let mut alike: HashMap<(usize, u64), usize> = HashMap::new();
        for (group, hash) in self.groups.iter().zip(&self.hashes) {
            if let Some(group) = group {
                *alike.entry((*group, *hash)).or_default() += 1;
            }
        }
        for (group, hash) in self.groups.iter_mut().zip(&self.hashes) {
            *group = group.filter(|group| alike[&(*group, *hash)] > 1);
        }
    }

    /// The suspicions that every row confirmed.
    fn confirmed(self) -> Vec<(&'a str, DropReason)> {
        let mut first: HashMap<(usize, u64), &str> = HashMap::new();
        let mut confirmed = Vec::new();
        for (j, name) in self.names.iter().enumerate() {
            if self.identifiers[j].is_some() {
                confirmed.push((*name, DropReason::Identifier));
                continue;
            }
            let Some(group) = self.groups[j] else { continue };
            match first.get(&(group, self.hashes[j])) {
                Some(other) => confirmed.push((*name, DropReason::Duplicate((*other).to_owned()))),
                None => {
                    first.insert((group, self.hashes[j]), name);
                }
            }
        }
        confirmed
    }
}

/// A value in a form that can be hashed; missing values are equal.
#[derive(Hash)]
enum Bits<'a> {
    Number(u64),
    Level(&'a str),
    Missing,
}

fn value_bits(values: &Values, i: usize) -> Bits<'_> {
    match values {
        Values::Numeric(v) if v[i].is_nan() => Bits::Missing,
        // Zero has two signs.
        Values::Numeric(v) => Bits::Number((v[i] + 0.0).to_bits()),
        Values::Boolean(v) => v[i].map_or(Bits::Missing, |x| Bits::Number(u64::from(x))),
        Values::Categorical { codes, levels } => {
            levels.name(codes[i]).map_or(Bits::Missing, Bits::Level)
        }
        Values::Text(v) => v[i].as_deref().map_or(Bits::Missing, Bits::Level),
        Values::TokenCounts(_) | Values::Sparse(_) => Bits::Missing,
    }
}

fn has_many_tokens(values: &Values) -> bool {
    let Values::Text(texts) = values else { return false };
    let n_tokens: usize =
        texts.iter().flatten().map(|text| text.split_whitespace().take(10).count()).sum();
    n_tokens > MAX_TOKENS_OF_IDENTIFIERS * texts.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Levels, Notation};
    use std::sync::Arc;

    fn numeric(name: &str, values: Vec<f64>) -> (ColumnProfile, Column) {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut distinct = values.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let profile = ColumnProfile {
            name: name.into(),
            kind: Kind::Numeric,
            n_missing: 0,
            first_missing_line: None,
            levels: Arc::new(Levels::default()),
            level_counts: Vec::new(),
            n_distinct: distinct.len().min(16) as u64,
            distinct_capped: distinct.len() > 16,
            width: 1,
            first_index: None,
            min: Some(low),
            max: Some(high),
            integers: values.iter().all(|x| x.fract() == 0.0),
            notation: Notation::Plain,
            declared: false,
            note: None,
        };
        (profile, Column { name: name.into(), values: Values::Numeric(values) })
    }

    fn unusable(columns: Vec<(ColumnProfile, Column)>) -> Vec<(String, DropReason)> {
        let (profiles, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let table = Table::new(columns).unwrap();
        let profile = Profile { n_rows: table.n_rows() as u64, columns: profiles };
        let dropped =
            unusable_columns(&profile, Some("y"), &[], &table, &Monitor::quiet()).unwrap();
        dropped.into_iter().map(|column| (column.name, column.reason)).collect()
    }

    fn of_rows(name: &str, value: impl Fn(f64) -> f64) -> (ColumnProfile, Column) {
        numeric(name, (0..100).map(|i| value(f64::from(i))).collect())
    }

    #[test]
    fn identifiers_constants_and_duplicates_are_found() {
        let found = unusable(vec![
            of_rows("row", |i| i + 1.0),
            of_rows("customer_id", |i| 7000.0 - 13.0 * i),
            of_rows("account", |i| 100_000_000_000_000_000.0 + 1000.0 * i),
            of_rows("x", |i| (i * 37.0) % 11.0),
            of_rows("same", |i| (i * 37.0) % 11.0),
            of_rows("one", |_| 1.0),
            of_rows("y", |i| (i * 7.0) % 2.0),
        ]);

        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["row", "customer_id", "account", "same", "one"]);
        assert_eq!(found[3].1, DropReason::Duplicate("x".into()));
        assert_eq!(found[4].1, DropReason::Constant("1".into()));
    }

    #[test]
    fn measurements_that_never_repeat_are_kept() {
        let found = unusable(vec![
            of_rows("population", |i| 1000.0 + i * i * 17.0),
            of_rows("year", |i| 1900.0 + i),
            of_rows("length", |i| i * 1.5),
            of_rows("id", |i| (i / 2.0).floor() * 1000.0),
            of_rows("y", |i| i % 2.0),
        ]);

        assert_eq!(found, [], "not unique, not consecutive or years");
    }

    #[test]
    fn columns_that_agree_in_their_profile_only_are_kept() {
        let found = unusable(vec![
            of_rows("a", |i| i % 10.0),
            of_rows("b", |i| 9.0 - i % 10.0),
            of_rows("y", |i| i % 2.0),
        ]);

        assert_eq!(found, []);
    }

    #[test]
    fn a_table_of_nothing_else_keeps_its_columns() {
        assert_eq!(unusable(vec![of_rows("id", |i| i), of_rows("y", |i| i % 2.0)]), []);
    }
}
