//! Tables: named columns with numeric, categorical, boolean, text or sparse values, some of which may be missing.

use super::{Schema, TokenCounts};
use crate::error::{Error, Result};
use mercer_num::Sparse;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// The code of a missing category.
pub const MISSING: u32 = u32::MAX;
/// The code of a category that is not among the levels.
pub const UNSEEN: u32 = u32::MAX - 1;

/// A table with named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    n_rows: usize,
}

/// A named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name in the header of the file.
    pub name: String,
    /// One value per row.
    pub values: Values,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// NaN is missing.
    Numeric(Vec<f64>),
    /// Codes into sorted levels, [`MISSING`] or [`UNSEEN`].
    Categorical {
        /// One code per row.
        codes: Vec<u32>,
        /// The levels.
        levels: Arc<Levels>,
    },
    /// `None` is missing.
    Boolean(Vec<Option<bool>>),
    /// `None` is missing.
    Text(Vec<Option<String>>),
    /// Documents of which only the term counts are stored.
    TokenCounts(TokenCounts),
    /// Several numeric columns in CSR format, as in svmlight files.
    Sparse(Sparse),
}

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers.
    Numeric,
    /// One of a few levels.
    Categorical,
    /// True or false.
    Boolean,
    /// Free text.
    Text,
    /// Many numeric features, mostly zero.
    Sparse,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Numeric => "numeric",
            Kind::Categorical => "categorical",
            Kind::Boolean => "boolean",
            Kind::Text => "text",
            Kind::Sparse => "sparse",
        })
    }
}

/// The levels of a categorical column, sorted and distinct; the code of a level is its index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Levels(Vec<String>);

impl Levels {
    /// Sorts names and removes duplicates.
    pub fn new(mut names: Vec<String>) -> Levels {
        names.sort();
        names.dedup();
        Levels(names)
    }

    /// The names in order.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The number of levels.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The code of a level, [`UNSEEN`] if it is not among them.
    pub fn code(&self, name: &str) -> u32 {
        self.0.binary_search_by(|w| w.as_str().cmp(name)).map_or(UNSEEN, |i| i as u32)
    }

    /// The name of a code.
    pub fn name(&self, code: u32) -> Option<&str> {
        self.0.get(code as usize).map(String::as_str)
    }
}

impl TryFrom<Vec<String>> for Levels {
    type Error = String;

    fn try_from(names: Vec<String>) -> std::result::Result<Self, String> {
        if names.is_sorted_by(|a, b| a < b) {
            Ok(Levels(names))
        } else {
            Err("levels are not sorted and distinct".to_owned())
        }
    }
}

impl From<Levels> for Vec<String> {
    fn from(levels: Levels) -> Self {
        levels.0
    }
}

impl Values {
    /// The kind of the values.
    pub fn kind(&self) -> Kind {
        match self {
            Values::Numeric(_) => Kind::Numeric,
            Values::Categorical { .. } => Kind::Categorical,
            Values::Boolean(_) => Kind::Boolean,
            Values::Text(_) | Values::TokenCounts(_) => Kind::Text,
            Values::Sparse(_) => Kind::Sparse,
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Numeric(v) => v.len(),
            Values::Categorical { codes, .. } => codes.len(),
            Values::Boolean(v) => v.len(),
            Values::Text(v) => v.len(),
            Values::TokenCounts(v) => v.len(),
            Values::Sparse(v) => v.rows(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of missing values; unknown, and zero, for documents of which only term counts are stored.
    pub fn n_missing(&self) -> usize {
        match self {
            Values::Numeric(v) => v.iter().filter(|x| x.is_nan()).count(),
            Values::Categorical { codes, .. } => codes.iter().filter(|c| **c == MISSING).count(),
            Values::Boolean(v) => v.iter().filter(|x| x.is_none()).count(),
            Values::Text(v) => v.iter().filter(|x| x.is_none()).count(),
            Values::TokenCounts(_) | Values::Sparse(_) => 0,
        }
    }

    /// The value of row `i` as text; `None` if it is missing or the column is sparse.
    pub fn cell(&self, i: usize) -> Option<String> {
        match self {
            Values::Numeric(v) => (!v[i].is_nan()).then(|| v[i].to_string()),
            Values::Categorical { codes, levels } => levels.name(codes[i]).map(str::to_owned),
            Values::Boolean(v) => v[i].map(|b| b.to_string()),
            Values::Text(v) => v[i].clone(),
            Values::TokenCounts(_) | Values::Sparse(_) => None,
        }
    }

    /// A copy of the rows at some indices; `None` for documents of which only term counts are stored.
    fn rows_at(&self, indices: &[usize]) -> Option<Values> {
        fn at<T: Clone>(v: &[T], indices: &[usize]) -> Vec<T> {
            indices.iter().map(|i| v[*i].clone()).collect()
        }
        Some(match self {
            Values::Numeric(v) => Values::Numeric(at(v, indices)),
            Values::Categorical { codes, levels } => {
                Values::Categorical { codes: at(codes, indices), levels: Arc::clone(levels) }
            }
            Values::Boolean(v) => Values::Boolean(at(v, indices)),
            Values::Text(v) => Values::Text(at(v, indices)),
            Values::TokenCounts(_) => return None,
            Values::Sparse(v) => {
                let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
                for row in indices.iter().filter_map(|i| v.outer_view(*i)) {
                    columns.extend_from_slice(row.indices());
                    values.extend_from_slice(row.data());
                    starts.push(columns.len());
                }
                Values::Sparse(Sparse::new((indices.len(), v.cols()), starts, columns, values))
            }
        })
    }

    /// Appends the rows of `other`.
    ///
    /// # Errors
    /// If the kinds or levels differ.
    fn append(&mut self, other: Values) -> std::result::Result<(), (Kind, Kind)> {
        let kinds = (self.kind(), other.kind());
        match (self, other) {
            (Values::Numeric(a), Values::Numeric(mut b)) => a.append(&mut b),
            (
                Values::Categorical { codes: a, levels },
                Values::Categorical { codes: mut b, levels: other },
            ) if *levels == other => a.append(&mut b),
            (Values::Boolean(a), Values::Boolean(mut b)) => a.append(&mut b),
            (Values::Text(a), Values::Text(mut b)) => a.append(&mut b),
            (Values::Sparse(a), Values::Sparse(b)) if a.cols() == b.cols() => {
                *a = sprs::vstack(&[a.view(), b.view()]);
            }
            _ => return Err(kinds),
        }
        Ok(())
    }

    /// Removes and returns the first `n` rows.
    fn take_front(&mut self, n: usize) -> Values {
        fn front<T>(v: &mut Vec<T>, n: usize) -> Vec<T> {
            let rest = v.split_off(n);
            std::mem::replace(v, rest)
        }
        match self {
            Values::Numeric(v) => Values::Numeric(front(v, n)),
            Values::Categorical { codes, levels } => {
                Values::Categorical { codes: front(codes, n), levels: Arc::clone(levels) }
            }
            Values::Boolean(v) => Values::Boolean(front(v, n)),
            Values::Text(v) => Values::Text(front(v, n)),
            Values::TokenCounts(v) => {
                let head = v.slice(0..n);
                *v = v.slice(n..v.len());
                Values::TokenCounts(head)
            }
            Values::Sparse(v) => {
                let head = v.slice_outer(0..n).to_owned();
                *v = v.slice_outer(n..v.rows()).to_owned();
                Values::Sparse(head)
            }
        }
    }
}

impl Table {
    /// A table of columns of one length with distinct names.
    ///
    /// # Errors
    /// If lengths differ or two columns have the same name.
    pub fn new(columns: Vec<Column>) -> Result<Table> {
        let n_rows = columns.first().map_or(0, |c| c.values.len());
        let mut names = HashSet::with_capacity(columns.len());
        for column in &columns {
            if column.values.len() != n_rows {
                return Err(Error::Length {
                    what: format!("column `{}`", column.name),
                    found: column.values.len(),
                    expected: n_rows,
                });
            }
            if !names.insert(column.name.as_str()) {
                return Err(Error::RepeatedColumn { name: column.name.clone() });
            }
        }
        Ok(Table { columns, n_rows })
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The columns in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns in order, without a copy.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// The column with a name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// The columns of a schema, by name, in its order.
    ///
    /// # Errors
    /// The first column that is missing or has the wrong kind.
    pub fn select(&self, schema: &Schema) -> Result<Table> {
        let columns = self.columns_of(schema)?.into_iter().cloned().collect();
        Ok(Table { columns, n_rows: self.n_rows })
    }

    /// The same as references.
    ///
    /// # Errors
    /// The first column that is missing or has the wrong kind.
    pub fn columns_of(&self, schema: &Schema) -> Result<Vec<&Column>> {
        // A search per column would be quadratic in their number; mostly the order is the same.
        let mut by_name: Option<HashMap<&str, &Column>> = None;
        let mut find = |i: usize, name: &str| match self.columns.get(i) {
            Some(column) if column.name == name => Some(column),
            _ => {
                let columns = || self.columns.iter().map(|c| (c.name.as_str(), c)).collect();
                by_name.get_or_insert_with(columns).get(name).copied()
            }
        };
        let fields = schema.fields.iter().enumerate();
        fields.map(|(i, field)| field.check(find(i, &field.name))).collect()
    }

    /// Appends the rows of `other`, which has the same columns in the same order.
    ///
    /// # Errors
    /// If names, kinds or levels differ.
    pub fn append(&mut self, other: Table) -> Result<()> {
        if self.columns.is_empty() && self.n_rows == 0 {
            *self = other;
            return Ok(());
        }
        if self.columns.len() != other.columns.len() {
            return Err(Error::Columns {
                found: other.columns.len(),
                expected: self.columns.len(),
            });
        }
        for (mine, theirs) in self.columns.iter_mut().zip(other.columns) {
            if mine.name != theirs.name {
                return Err(Error::MissingColumn { name: mine.name.clone() });
            }
            mine.values.append(theirs.values).map_err(|(expected, found)| Error::Kind {
                column: mine.name.clone(),
                found: found.to_string(),
                expected: expected.to_string(),
            })?;
        }
        self.n_rows += other.n_rows;
        Ok(())
    }

    /// A copy of the rows at some indices, as for the rows of a cross-validation fold.
    ///
    /// # Errors
    /// If only term counts of a text column are stored.
    ///
    /// # Panics
    /// If an index is not that of a row.
    pub fn rows_at(&self, indices: &[usize]) -> Result<Table> {
        let columns = self.columns.iter().map(|column| {
            let values = column.values.rows_at(indices).ok_or_else(|| Error::Kind {
                column: column.name.clone(),
                found: "term counts".into(),
                expected: "text".into(),
            })?;
            Ok(Column { name: column.name.clone(), values })
        });
        Ok(Table { columns: columns.collect::<Result<_>>()?, n_rows: indices.len() })
    }

    /// Removes and returns the first `n` rows.
    ///
    /// # Panics
    /// If there are fewer rows.
    pub fn take_front(&mut self, n: usize) -> Table {
        let columns = self
            .columns
            .iter_mut()
            .map(|c| Column { name: c.name.clone(), values: c.values.take_front(n) })
            .collect();
        self.n_rows -= n;
        Table { columns, n_rows: n }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(values: &[f64], names: &[&str]) -> Table {
        let levels = Arc::new(Levels::new(vec!["a".into(), "b".into()]));
        let codes = names.iter().map(|w| levels.code(w)).collect();
        Table::new(vec![
            Column { name: "x".into(), values: Values::Numeric(values.to_vec()) },
            Column { name: "c".into(), values: Values::Categorical { codes, levels } },
        ])
        .unwrap()
    }

    #[test]
    fn taking_and_appending_preserves_every_row() {
        let mut rest = table(&[1.0, 2.0, 3.0], &["a", "b", "z"]);
        let mut head = rest.take_front(2);
        assert_eq!(head, table(&[1.0, 2.0], &["a", "b"]));

        head.append(rest).unwrap();

        assert_eq!(head, table(&[1.0, 2.0, 3.0], &["a", "b", "z"]));
        assert_eq!(head.columns()[1].values.cell(2), None);
    }

    #[test]
    fn rows_are_selected_in_the_order_of_the_indices() {
        let all = table(&[1.0, 2.0, 3.0], &["a", "b", "z"]);

        assert_eq!(all.rows_at(&[2, 0]).unwrap(), table(&[3.0, 1.0], &["z", "a"]));
    }

    #[test]
    fn duplicate_names_are_refused() {
        let twice =
            ["x", "x"].map(|name| Column { name: name.into(), values: Values::Numeric(vec![1.0]) });

        assert!(matches!(Table::new(twice.into()), Err(Error::RepeatedColumn { .. })));
    }
}
