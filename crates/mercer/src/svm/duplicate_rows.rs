//! Rows that are there more than once, solved as one.
//!
//! Variables with the same kernel column, the same linear term and the same group move the objective alike, so
//! only their sum matters: one variable stands for all, between the sums of their bounds. Nothing is
//! approximated. Of a sum the first rows get as much as they may, so that few become support vectors.

use crate::solver::BoxQp;

/// Fewer rows to spare than one in so many are not worth it.
const WORTH: usize = 20;

/// Variables that stand for several.
pub(super) struct DuplicateRows {
    /// The first of each kind, in their order.
    firsts: Vec<u32>,
    /// For every variable, the kind it is of.
    kinds: Vec<u32>,
    linear: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    split: usize,
}

impl DuplicateRows {
    /// Finds the twins in a problem over the rows at some places, by what tells rows apart; `None` where there
    /// are too few, or their multipliers have prices of their own.
    pub fn of(keys: &[u128], places: &[u32], problem: &BoxQp<'_>) -> Option<DuplicateRows> {
        if keys.is_empty() || problem.slack.is_some() {
            return None;
        }
        let n = places.len();
        let key = |i: u32| {
            let i = i as usize;
            (i >= problem.split, keys[places[i] as usize], problem.linear[i].to_bits())
        };
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_unstable_by_key(|i| (key(*i), *i));
        let mut first_of = vec![0; n];
        for same in order.chunk_by(|a, b| key(*a) == key(*b)) {
            same.iter().for_each(|i| first_of[*i as usize] = same[0]);
        }
        let firsts: Vec<u32> = (0..n as u32).filter(|i| first_of[*i as usize] == *i).collect();
        if WORTH * (n - firsts.len()) < n {
            return None;
        }
        let kind = |first: &u32| firsts.partition_point(|f| f < first) as u32;
        let kinds: Vec<u32> = first_of.iter().map(kind).collect();
        Some(DuplicateRows {
            linear: firsts.iter().map(|i| problem.linear[*i as usize]).collect(),
            low: sums(&kinds, firsts.len(), problem.low),
            high: sums(&kinds, firsts.len(), problem.high),
            split: firsts.partition_point(|i| (*i as usize) < problem.split),
            firsts,
            kinds,
        })
    }

    /// The places of those that stand for all.
    pub fn places(&self, places: &[u32]) -> Vec<u32> {
        self.firsts.iter().map(|i| places[*i as usize]).collect()
    }

    /// The problem over them.
    pub fn problem(&self, problem: &BoxQp<'_>) -> BoxQp<'_> {
        let first = |each: &[f64]| self.firsts.iter().map(|i| each[*i as usize]).collect();
        BoxQp {
            linear: &self.linear,
            low: &self.low,
            high: &self.high,
            tube: problem.tube,
            split: self.split,
            start: sums(&self.kinds, self.firsts.len(), &problem.start),
            outputs: problem.outputs.as_deref().map(first),
            slack: None,
        }
    }

    /// Deals out the sums: from zero, or the bound next to it, the first rows go as far as they may.
    pub fn deal(&self, sums: &[f64], problem: &BoxQp<'_>) -> Vec<f64> {
        let nearest = |i: usize| 0.0f64.clamp(problem.low[i], problem.high[i]);
        let mut out: Vec<f64> = (0..self.kinds.len()).map(nearest).collect();
        let mut left = sums.to_vec();
        out.iter().zip(&self.kinds).for_each(|(v, kind)| left[*kind as usize] -= v);
        for (i, (value, kind)) in out.iter_mut().zip(&self.kinds).enumerate() {
            let kind = *kind as usize;
            let to = match sums[kind] {
                // Bounds are kept to the last bit: what rounding leaves of them would count as free.
                sum if sum == self.low[kind] => problem.low[i],
                sum if sum == self.high[kind] => problem.high[i],
                _ => (*value + left[kind]).clamp(problem.low[i], problem.high[i]),
            };
            left[kind] -= to - *value;
            *value = to;
        }
        out
    }

    /// What is the same for twins, for each of them.
    pub fn each(&self, of_kinds: &[f64]) -> Vec<f64> {
        self.kinds.iter().map(|kind| of_kinds[*kind as usize]).collect()
    }
}

fn sums(kinds: &[u32], n_kinds: usize, each: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; n_kinds];
    kinds.iter().zip(each).for_each(|(kind, v)| out[*kind as usize] += v);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows a, b, a, a, c, b and a of the other label, in two groups.
    const KEYS: [u128; 7] = [1, 2, 1, 1, 3, 2, 1];

    fn problem<'a>(linear: &'a [f64], low: &'a [f64], high: &'a [f64]) -> BoxQp<'a> {
        let (start, split) = (vec![0.0; linear.len()], 5);
        BoxQp { linear, low, high, tube: 0.0, split, start, outputs: None, slack: None }
    }

    #[test]
    fn one_stands_for_all_that_are_alike() {
        let linear = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0];
        let low = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -3.0];
        let high = [0.1, 5.0, 0.2, 0.3, 5.0, 5.0, 0.0];
        let places: Vec<u32> = (0..7).collect();
        let whole = problem(&linear, &low, &high);

        let twins = DuplicateRows::of(&KEYS, &places, &whole).unwrap();

        // The sixth is as the second, in another group.
        assert_eq!(twins.places(&places), [0, 1, 4, 5, 6]);
        let fewer = twins.problem(&whole);
        assert_eq!(fewer.split, 3);
        assert_eq!(fewer.high, [0.1 + 0.2 + 0.3, 5.0, 5.0, 5.0, 0.0]);
        assert_eq!(fewer.low, [0.0, 0.0, 0.0, 0.0, -3.0]);
        // Some of what there may be goes to the first; all of it leaves nobody inside.
        let some = twins.deal(&[0.2, 1.0, 0.0, 0.0, -2.0], &whole);
        assert_eq!(some, [0.1, 1.0, 0.1, 0.0, 0.0, 0.0, -2.0]);
        let all = twins.deal(&[fewer.high[0], 5.0, 0.0, 0.0, -3.0], &whole);
        assert_eq!(all, [0.1, 5.0, 0.2, 0.3, 0.0, 0.0, -3.0]);
        assert_eq!(twins.each(&[4.0, 3.0, 2.0, 1.0, 0.0]), [4.0, 3.0, 4.0, 4.0, 2.0, 1.0, 0.0]);
    }

    #[test]
    fn few_twins_are_left_as_they_are() {
        let keys: Vec<u128> = (0..100).map(|i| i.max(2)).collect();
        let (ones, zeros) = (vec![1.0; 100], vec![0.0; 100]);
        let places: Vec<u32> = (0..100).collect();

        assert!(DuplicateRows::of(&keys, &places, &problem(&ones, &zeros, &ones)).is_none());
        assert!(DuplicateRows::of(&[], &places, &problem(&ones, &zeros, &ones)).is_none());
    }
}
