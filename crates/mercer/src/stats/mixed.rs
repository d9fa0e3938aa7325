//! The summary of rows whose columns are of several kinds: codes of categories, values and moments of
//! numbers, counts of words.

use super::{CategoryCounts, Counts, GroupValueCounts, Grouped, Moments, Sample, not_a_count};
use crate::data::{Dataset, Measure};
use crate::error::{Error, Result};
use mercer_num::{Matrix, Rows};
use serde::{Deserialize, Serialize};

/// Every group's columns, kind by kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mixed {
    /// How many groups there are.
    n_groups: usize,
    /// What the columns hold; empty until rows were seen.
    pub measures: Vec<Measure>,
    /// What the columns that are no words are called; empty where nobody asked.
    pub names: Vec<String>,
    /// The categories, one entry a column of them.
    pub codes: CategoryCounts,
    /// The values of the numbers, one entry a column of them; empty ones where nobody asked.
    pub tallies: GroupValueCounts,
    /// The moments of the numbers.
    pub moments: Moments,
    /// The counts of the words.
    pub words: Counts,
    /// Some rows as they are; none where nobody asked.
    #[serde(default)]
    pub sample: Sample,
}

/// What a summary keeps besides sums.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// The values of numbers.
    pub values: bool,
    /// The names of columns.
    pub names: bool,
    /// Some rows as they are.
    pub rows: bool,
}

/// The columns of each kind.
struct Parts {
    categories: Matrix,
    numbers: Matrix,
    words: Counts,
}

impl Mixed {
    /// Summarizes rows; `slots[i]` is the group of row `i`, missing cells are skipped. The values of
    /// numbers, the names of columns and some rows are kept if asked for.
    ///
    /// # Errors
    /// The first cell that is not what its column holds.
    pub fn of_rows(
        batch: &Dataset<'_>,
        slots: &[u32],
        group_weights: &[f64],
        keep: Keep,
    ) -> Result<Mixed> {
        let n_groups = group_weights.len();
        let measures = batch.measures();
        let weights = batch.weights();
        let parts = Parts::of(batch.rows(), &measures, slots, weights, n_groups)?;
        let place = |kind: fn(&Measure) -> bool| {
            let places: Vec<usize> = (0..measures.len()).filter(|j| kind(&measures[*j])).collect();
            move |e: Error| e.in_column(&places)
        };
        let codes =
            CategoryCounts::of_rows(&Rows::from(&parts.categories), slots, weights, n_groups)
                .map_err(place(|m| matches!(m, Measure::Categorical(_))))?;
        let moments = Moments::of_rows(&Rows::from(&parts.numbers), slots, weights, group_weights)
            .map_err(place(|m| *m == Measure::Numeric))?;
        let tallies = if keep.values {
            GroupValueCounts::of_columns(&parts.numbers, slots, weights, n_groups)
        } else {
            GroupValueCounts::empty(n_groups, parts.numbers.ncols())
        };
        let names = batch.columns().iter().filter(|_| keep.names);
        let names = names.take_while(|c| !matches!(c.measure, Measure::TermCount(_)));
        let names = names.map(|c| c.name.clone()).collect();
        let sample = if keep.rows {
            Sample::of_rows(batch.rows(), head(&measures), slots, weights)
        } else {
            Sample::default()
        };
        let words = parts.words;
        Ok(Mixed { n_groups, measures, names, codes, tallies, moments, words, sample })
    }

    /// Takes over the columns of another if none were seen yet, and its lists of values where they
    /// are longer.
    fn adopt(&mut self, other: &Mixed) {
        if self.measures.is_empty() {
            let n = self.n_groups;
            self.measures = other.measures.clone();
            self.names = other.names.clone();
            self.codes = CategoryCounts::empty(n, other.codes.shape().1);
            self.tallies = GroupValueCounts::empty(n, other.tallies.shape().1);
            self.moments = Moments::empty(n, other.moments.shape().1);
            self.words = Counts::empty(n, other.words.shape().1);
        }
        for (measure, more) in self.measures.iter_mut().zip(&other.measures) {
            if let (Measure::Categorical(k), Measure::Categorical(other)) = (measure, more) {
                *k = (*k).max(*other);
            }
        }
    }
}

/// How many columns stand before the words.
fn head(measures: &[Measure]) -> usize {
    let is_word = |m: &Measure| matches!(m, Measure::TermCount(_));
    measures.iter().position(is_word).unwrap_or(measures.len())
}

impl Parts {
    /// Takes rows apart. CategoryEncoding stand behind everything else, so that a sparse row is a few cells and
    /// then words.
    fn of(
        rows: &Rows<'_>,
        measures: &[Measure],
        slots: &[u32],
        weights: &[f64],
        n_groups: usize,
    ) -> Result<Parts> {
        let head = head(measures);
        if measures[head..].iter().any(|m| !matches!(m, Measure::TermCount(_))) {
            return Err(Error::Parameter {
                name: "columns".into(),
                found: "words before other columns".into(),
                expected: "words last".into(),
            });
        }
        let n = rows.n_rows();
        let count = |kind: fn(&Measure) -> bool| measures.iter().filter(|m| kind(m)).count();
        let mut categories = Matrix::zeros((n, count(|m| matches!(m, Measure::Categorical(_)))));
        let mut numbers = Matrix::zeros((n, count(|m| *m == Measure::Numeric)));
        let mut words = Counts::empty(n_groups, measures.len() - head);
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
            words.sums[[slots[i] as usize, j - head]] += weight * n;
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
        Ok(Parts { categories, numbers, words })
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
        self.adopt(other);
        self.codes.merge_group(mine, &other.codes, theirs);
        self.tallies.merge_group(mine, &other.tallies, theirs);
        self.moments.merge_group(mine, &other.moments, theirs);
        self.words.merge_group(mine, &other.words, theirs);
        self.sample.merge_group(mine, &other.sample, theirs);
    }

    fn merge_groups(&mut self, places: &[usize], other: &Self) {
        self.adopt(other);
        self.codes.merge_groups(places, &other.codes);
        self.tallies.merge_groups(places, &other.tallies);
        self.moments.merge_groups(places, &other.moments);
        self.words.merge_groups(places, &other.words);
        self.sample.merge(places, &other.sample);
    }

    fn forget_group(&mut self, mine: usize, other: &Self, theirs: usize) -> Result<()> {
        self.codes.forget_group(mine, &other.codes, theirs)?;
        self.tallies.forget_group(mine, &other.tallies, theirs)?;
        self.moments.forget_group(mine, &other.moments, theirs)?;
        self.words.forget_group(mine, &other.words, theirs)?;
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
            && self.tallies.shape() == numbers
            && self.moments.shape() == numbers
            && self.words.shape() == (n, count(|m| matches!(m, Measure::TermCount(_))));
        if !fits {
            return Err(Error::File("columns of several kinds that do not fit together".into()));
        }
        self.codes.check()?;
        self.tallies.check()?;
        self.moments.check()?;
        self.words.check()?;
        self.sample.check(n, head(&self.measures), self.words.shape().1)
    }
}
