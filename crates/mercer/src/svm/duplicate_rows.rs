//! Merging of duplicate rows into one variable.
//!
//! Variables with the same kernel column, linear term and group enter the objective only through their sum. They are
//! replaced by one variable whose bounds are the sums of their bounds, which changes nothing about the optimum. When the
//! sum is distributed again, the first rows reach their bounds, so that few rows become support vectors.

use crate::solver::BoxQp;

/// Merging pays if at least one row in this many is a duplicate.
const ROWS_PER_DUPLICATE: usize = 20;

/// The groups of duplicate rows in a quadratic program, and the merged program.
pub(super) struct DuplicateRows {
    /// The first variable of each merged one, ascending.
    firsts: Vec<u32>,
    /// The merged variable of each variable.
    merged_of: Vec<u32>,
    linear: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    split: usize,
}

impl DuplicateRows {
    /// Finds the duplicates among the given rows by their keys; `None` if there are too few, or if the slack penalty
    /// makes their variables differ.
    pub fn find(keys: &[u128], rows: &[u32], qp: &BoxQp<'_>) -> Option<DuplicateRows> {
        if keys.is_empty() || qp.slack.is_some() {
            return None;
        }
        let n = rows.len();
        let key = |i: u32| {
            let i = i as usize;
            (i >= qp.split, keys[rows[i] as usize], qp.linear[i].to_bits())
        };
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_unstable_by_key(|i| (key(*i), *i));
        let mut first_of = vec![0; n];
        for same in order.chunk_by(|a, b| key(*a) == key(*b)) {
            same.iter().for_each(|i| first_of[*i as usize] = same[0]);
        }
        let firsts: Vec<u32> = (0..n as u32).filter(|i| first_of[*i as usize] == *i).collect();
        if ROWS_PER_DUPLICATE * (n - firsts.len()) < n {
            return None;
        }
        let merged = |first: &u32| firsts.partition_point(|f| f < first) as u32;
        let merged_of: Vec<u32> = first_of.iter().map(merged).collect();
        Some(DuplicateRows {
            linear: firsts.iter().map(|i| qp.linear[*i as usize]).collect(),
            lower: sums(&merged_of, firsts.len(), qp.lower),
            upper: sums(&merged_of, firsts.len(), qp.upper),
            split: firsts.partition_point(|i| (*i as usize) < qp.split),
            firsts,
            merged_of,
        })
    }

    /// The rows without duplicates.
    pub fn distinct(&self, rows: &[u32]) -> Vec<u32> {
        self.firsts.iter().map(|i| rows[*i as usize]).collect()
    }

    /// The quadratic program over the merged variables.
    pub fn merge(&self, qp: &BoxQp<'_>) -> BoxQp<'_> {
        let first = |each: &[f64]| self.firsts.iter().map(|i| each[*i as usize]).collect();
        BoxQp {
            epsilon: qp.epsilon,
            split: self.split,
            start: sums(&self.merged_of, self.firsts.len(), &qp.start),
            outputs: qp.outputs.as_deref().map(first),
            ..BoxQp::new(&self.linear, &self.lower, &self.upper)
        }
    }

    /// Distributes the merged variables: starting at zero, or the bound next to it, the first rows reach their bounds.
    pub fn distribute(&self, sums: &[f64], qp: &BoxQp<'_>) -> Vec<f64> {
        let nearest = |i: usize| 0.0f64.clamp(qp.lower[i], qp.upper[i]);
        let mut out: Vec<f64> = (0..self.merged_of.len()).map(nearest).collect();
        let mut left = sums.to_vec();
        out.iter().zip(&self.merged_of).for_each(|(v, merged)| left[*merged as usize] -= v);
        for (i, (value, merged)) in out.iter_mut().zip(&self.merged_of).enumerate() {
            let merged = *merged as usize;
            let to = match sums[merged] {
                // Bounds are assigned exactly: a rounding residue would make the variable free.
                sum if sum == self.lower[merged] => qp.lower[i],
                sum if sum == self.upper[merged] => qp.upper[i],
                _ => (*value + left[merged]).clamp(qp.lower[i], qp.upper[i]),
            };
            left[merged] -= to - *value;
            *value = to;
        }
        out
    }

    /// Repeats a value of each merged variable for all of its rows.
    pub fn expand(&self, merged: &[f64]) -> Vec<f64> {
        self.merged_of.iter().map(|k| merged[*k as usize]).collect()
    }
}

fn sums(merged_of: &[u32], n_merged: usize, each: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; n_merged];
    merged_of.iter().zip(each).for_each(|(k, v)| out[*k as usize] += v);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows a, b, a, a, c, b and a with the other label, in two groups.
    const KEYS: [u128; 7] = [1, 2, 1, 1, 3, 2, 1];

    fn qp<'a>(linear: &'a [f64], lower: &'a [f64], upper: &'a [f64]) -> BoxQp<'a> {
        BoxQp { split: 5, ..BoxQp::new(linear, lower, upper) }
    }

    #[test]
    fn duplicates_are_merged_and_distributed() {
        let linear = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0];
        let lower = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -3.0];
        let upper = [0.1, 5.0, 0.2, 0.3, 5.0, 5.0, 0.0];
        let rows: Vec<u32> = (0..7).collect();
        let whole = qp(&linear, &lower, &upper);

        let duplicates = DuplicateRows::find(&KEYS, &rows, &whole).unwrap();

        // The sixth row equals the second but is in another group.
        assert_eq!(duplicates.distinct(&rows), [0, 1, 4, 5, 6]);
        let merged = duplicates.merge(&whole);
        assert_eq!(merged.split, 3);
        assert_eq!(merged.upper, [0.1 + 0.2 + 0.3, 5.0, 5.0, 5.0, 0.0]);
        assert_eq!(merged.lower, [0.0, 0.0, 0.0, 0.0, -3.0]);
        // A part of the sum goes to the first rows; the whole sum puts every row at its bound.
        let part = duplicates.distribute(&[0.2, 1.0, 0.0, 0.0, -2.0], &whole);
        assert_eq!(part, [0.1, 1.0, 0.1, 0.0, 0.0, 0.0, -2.0]);
        let all = duplicates.distribute(&[merged.upper[0], 5.0, 0.0, 0.0, -3.0], &whole);
        assert_eq!(all, [0.1, 5.0, 0.2, 0.3, 0.0, 0.0, -3.0]);
        let expanded = duplicates.expand(&[4.0, 3.0, 2.0, 1.0, 0.0]);
        assert_eq!(expanded, [4.0, 3.0, 4.0, 4.0, 2.0, 1.0, 0.0]);
    }

    #[test]
    fn few_duplicates_are_not_merged() {
        let keys: Vec<u128> = (0..100).map(|i| i.max(2)).collect();
        let (ones, zeros) = (vec![1.0; 100], vec![0.0; 100]);
        let rows: Vec<u32> = (0..100).collect();

        assert!(DuplicateRows::find(&keys, &rows, &qp(&ones, &zeros, &ones)).is_none());
        assert!(DuplicateRows::find(&[], &rows, &qp(&ones, &zeros, &ones)).is_none());
    }
}
