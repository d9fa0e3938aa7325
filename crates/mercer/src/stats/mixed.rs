//! Statistics of rows with columns of several kinds: counts of categories, moments and histograms of numeric columns,
//! counts of terms.

use super::{CategoryCounts, Counts, GroupValueCounts, Grouped, Moments, Sample, not_a_count};
use crate::data::{Dataset, Measure};
use crate::error::{Error, Result};
use mercer_num::{Matrix, Rows};
use serde::{Deserialize, Serialize};

/// The statistics of every group, by kind of column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mixed {
    /// The number of groups.
    n_groups: usize,
    /// The kinds of the columns; empty before the first row.
    pub measures: Vec<Measure>,
    /// The names of the columns that are not terms; empty unless requested.
    pub names: Vec<String>,
    /// The counts of the categorical columns.
    pub codes: CategoryCounts,
    /// The histograms of the numeric columns; empty unless requested.
    pub value_counts: GroupValueCounts,
    /// The moments of the numeric columns.
    pub moments: Moments,
    /// The counts of the terms.
    pub terms: Counts,
    /// A sample of the rows; empty unless requested.
    #[serde(default)]
    pub sample: Sample,
}

/// Optional parts of the statistics.
#[derive(Clone, Copy, Debug)]
pub struct OptionalParts {
    /// Histograms of the numeric columns.
    pub values: bool,
    /// The names of the columns.
    pub names: bool,
    /// A sample of the rows.
    pub rows: bool,
}

/// The columns of each kind.
struct Parts {
    categories: Matrix,
    numbers: Matrix,
    terms: Counts,
}

impl Mixed {
    /// Summarizes rows; `group_of_row[i]` is the group of row `i`. Missing cells are skipped.
    ///
    /// # Errors
    /// The first cell that does not match the kind of its column.
    pub fn of_rows(
        batch: &Dataset<'_>,
        group_of_row: &[u32],
        group_weights: &[f64],
        include: OptionalParts,
    ) -> Result<Mixed> {
        let n_groups = group_weights.len();
        let measures = batch.measures();
        let weights = batch.weights();
        let parts = Parts::of(batch.rows(), &measures, group_of_row, weights, n_groups)?;
        let index = |kind: fn(&Measure) -> bool| {
            let targets: Vec<usize> = (0..measures.len()).filter(|j| kind(&measures[*j])).collect();
            move |e: Error| e.in_column(&targets)
        };
        let codes = CategoryCounts::of_rows(
            &Rows::from(&parts.categories),
            group_of_row,
            weights,
            n_groups,
        )
        .map_err(index(|m| matches!(m, Measure::Categorical(_))))?;
        let moments =
            Moments::of_rows(&Rows::from(&parts.numbers), group_of_row, weights, group_weights)
                .map_err(index(|m| *m == Measure::Numeric))?;
        let value_counts = if include.values {
            GroupValueCounts::of_columns(&parts.numbers, group_of_row, weights, n_groups)
        } else {
            GroupValueCounts::empty(n_groups, parts.numbers.ncols())
        };
        let names = batch.columns().iter().filter(|_| include.names);
        let names = names.take_while(|c| !matches!(c.measure, Measure::TermCount(_)));
        let names = names.map(|c| c.name.clone()).collect();
        let sample = if include.rows {
            Sample::of_rows(batch.rows(), head(&measures), group_of_row, weights)
        } else {
            Sample::default()
        };
        let terms = parts.terms;
        Ok(Mixed { n_groups, measures, names, codes, value_counts, moments, terms, sample })
    }

    /// Takes the columns of another summary if there were none yet, and the larger number of levels of each categorical
    /// column.
    fn adopt_columns(&mut self, other: &Mixed) {
        if self.measures.is_empty() {
            let n = self.n_groups;
            self.measures = other.measures.clone();
            self.names = other.names.clone();
            self.codes = CategoryCounts::empty(n, other.codes.shape().1);
            self.value_counts = GroupValueCounts::empty(n, other.value_counts.shape().1);
            self.moments = Moments::empty(n, other.moments.shape().1);
            self.terms = Counts::empty(n, other.terms.shape().1);
        }
        for (measure, more) in self.measures.iter_mut().zip(&other.measures) {
            if let (Measure::Categorical(k), Measure::Categorical(other)) = (measure, more) {
                *k = (*k).max(*other);
            }
        }
    }
}

/// The number of columns before the terms.
fn head(measures: &[Measure]) -> usize {
    let is_term = |m: &Measure| matches!(m, Measure::TermCount(_));
    measures.iter().position(is_term).unwrap_or(measures.len())
}

impl Parts {
    /// Splits rows by kind of column. Terms come last, so that a sparse row consists of a few cells followed by terms.
    fn of(
        rows: &Rows<'_>,
        measures: &[Measure],
        group_of_row: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> Result<Parts> {
        let head = head(measures);
        if measures[head..].iter().any(|m| !matches!(m, Measure::TermCount(_))) {
            return Err(Error::Parameter {
                name: "columns".into(),
                found: "terms before other columns".into(),
                expected: "terms last".into(),
            });
        }
        let n = rows.n_rows();
        let count = |kind: fn(&Measure) -> bool| measures.iter().filter(|m| kind(m)).count();
        let mut categories = Matrix::zeros((n, count(|m| matches!(m, Measure::Categorical(_)))));
        let mut numbers = Matrix::zeros((n, count(|m| *m == Measure::Numeric)));
        let mut terms = Counts::empty(n_groups, measures.len() - head);
        let mut put = |i: usize, head: &[f64]| {
            let (mut c, mut x) = (0, 0);
            for (value, measure) in head.iter().zip(measures) {
                if let Measure::Categorical(_) = measure {
                    categories[[i, c]] = *value;
                    c += 1;
                } else {
                    numbers[[i, x]] = *value;
                    x += 1;
                }
            }
        };
        let mut count_word = |i: usize, j: usize, n: f64| {
            if !(n.is_finite() && n >= 0.0) {
                return Err(not_a_count(i, j, n));
            }
            let weight = weights.get(i).copied().unwrap_or(1.0);
            terms.sums[[group_of_row[i] as usize, j - head]] += weight * n;
            Ok(())
        };
        match rows.block(0..n) {
            Some(block) => {
                for (i, row) in block.chunks_exact(measures.len().max(1)).enumerate() {
                    put(i, &row[..head]);
                    for (j, n) in row.iter().enumerate().skip(head) {
                        count_word(i, j, *n)?;
                    }
                }
            }
            None => {
                let Rows::Sparse(x) = rows else { return Err(Error::ByColumns) };
                let mut cells = vec![0.0; head];
                let whole = x.sum_duplicates();
                for (i, (columns, values)) in whole.view().iter().enumerate() {
                    cells.fill(0.0);
                    for (j, value) in columns.iter().zip(values) {
                        match cells.get_mut(*j as usize) {
                            Some(cell) => *cell = *value,
                            None => count_word(i, *j as usize, *value)?,
                        }
                    }
                    put(i, &cells);
                }
            }
        }
        Ok(Parts { categories, numbers, terms })
    }
}

impl Grouped for Mixed {
    fn empty(n_groups: usize, _n_columns: usize) -> Self {
        Mixed { n_groups, ..Mixed::default() }
    }

    fn shape(&self) -> (usize, usize) {
        (self.n_groups, self.measures.len())
    }

    fn agrees(&self, other: &Self) -> bool {
        let same = |(a, b): (&Measure, &Measure)| match (a, b) {
            (Measure::Categorical(_), Measure::Categorical(_)) => true,
            (a, b) => a == b,
        };
        self.measures.is_empty()
            || other.measures.is_empty()
            || (self.measures.len() == other.measures.len()
                && self.measures.iter().zip(&other.measures).all(same))
    }

    fn merge_group(&mut self, mine: usize, other: &Self, theirs: usize) {
        self.adopt_columns(other);
        self.codes.merge_group(mine, &other.codes, theirs);
        self.value_counts.merge_group(mine, &other.value_counts, theirs);
        self.moments.merge_group(mine, &other.moments, theirs);
        self.terms.merge_group(mine, &other.terms, theirs);
        self.sample.merge_group(mine, &other.sample, theirs);
    }

    fn merge_groups(&mut self, targets: &[usize], other: &Self) {
        self.adopt_columns(other);
        self.codes.merge_groups(targets, &other.codes);
        self.value_counts.merge_groups(targets, &other.value_counts);
        self.moments.merge_groups(targets, &other.moments);
        self.terms.merge_groups(targets, &other.terms);
        self.sample.merge(targets, &other.sample);
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        self.codes.forget_group(mine, &other.codes, theirs)?;
        self.value_counts.forget_group(mine, &other.value_counts, theirs)?;
        self.moments.forget_group(mine, &other.moments, theirs)?;
        self.terms.forget_group(mine, &other.terms, theirs)?;
        self.sample.forget_group(mine, &other.sample, theirs)
    }

    fn holds_rows(&self) -> bool {
        !self.sample.entries().is_empty()
    }

    fn check(&self) -> Result<()> {
        let n = self.n_groups;
        let count = |kind: fn(&Measure) -> bool| self.measures.iter().filter(|m| kind(m)).count();
        let numbers = (n, count(|m| *m == Measure::Numeric));
        let fits = self.codes.shape() == (n, count(|m| matches!(m, Measure::Categorical(_))))
            && self.value_counts.shape() == numbers
            && self.moments.shape() == numbers
            && self.terms.shape() == (n, count(|m| matches!(m, Measure::TermCount(_))));
        if !fits {
            return Err(Error::File("inconsistent statistics of columns of several kinds".into()));
        }
        self.codes.check()?;
        self.value_counts.check()?;
        self.moments.check()?;
        self.terms.check()?;
        self.sample.check(n, head(&self.measures), self.terms.shape().1)
    }
}
