//! Splits of rows into training and test rows: stratified, grouped, time-ordered, repeated, or a single hold-out.

use super::Folds;
use crate::error::{Error, Result};
use mercer_num::random::Random;

/// The rows that a model is fitted to, and those that it is scored on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The training rows, in ascending order.
    pub train: Vec<usize>,
    /// The test rows, in ascending order.
    pub test: Vec<usize>,
}

impl Split {
    /// The split with some test rows, and all other rows for training.
    pub fn of_test_rows(test: Vec<usize>, n_rows: usize) -> Split {
        let mut is_test = vec![false; n_rows];
        test.iter().for_each(|i| is_test[*i] = true);
        Split { train: (0..n_rows).filter(|i| !is_test[*i]).collect(), test }
    }
}

/// How rows are split.
#[derive(Clone, Debug, PartialEq)]
pub struct Splitting {
    /// The number of folds; with `hold_out` there is one split.
    pub n_folds: usize,
    /// How often the folds are drawn anew, each time with another seed.
    pub n_repeats: usize,
    /// Test on this fraction of the rows, once, instead of on every fold.
    pub hold_out: Option<f64>,
    /// The seed of the random assignment.
    pub seed: u64,
}

impl Splitting {
    /// Folds without repeats.
    pub fn folds(n_folds: usize, seed: u64) -> Splitting {
        Splitting { n_folds, n_repeats: 1, hold_out: None, seed }
    }

    /// The number of splits.
    pub fn n_splits(&self) -> usize {
        if self.hold_out.is_some() { 1 } else { self.n_folds * self.n_repeats.max(1) }
    }

    /// The fraction of the rows that a split tests on.
    pub fn test_fraction(&self) -> f64 {
        self.hold_out.unwrap_or(1.0 / self.n_folds.max(2) as f64)
    }

    /// Splits rows with the given class codes, balanced by class. With `groups`, all rows of a group are in the same
    /// fold. With `times`, the rows of a fold are later than all rows that the model is fitted to.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are fewer groups or times than folds.
    pub fn splits(
        &self,
        codes: &[u32],
        groups: Option<&[u32]>,
        times: Option<&[f64]>,
    ) -> Result<Vec<Split>> {
        let n = codes.len();
        if let Some(times) = times {
            return self.in_time(times);
        }
        let mut splits = Vec::new();
        for repeat in 0..self.n_repeats.max(1) as u64 {
            let seed = self.seed.wrapping_add(repeat);
            // A hold-out of a fraction f is the first of 1 / f folds.
            let n_folds = match self.hold_out {
                Some(fraction) => (1.0 / fraction).round().max(2.0) as usize,
                None => self.n_folds,
            };
            let folds = match groups {
                Some(groups) => grouped(groups, n_folds, seed)?,
                None => {
                    let n_classes = codes.iter().max().map_or(1, |most| *most as usize + 1);
                    Folds::new(n_folds, n_classes, seed).split(codes)
                }
            };
            let used = if self.hold_out.is_some() { 1 } else { n_folds };
            splits.extend(folds.into_iter().take(used).map(|test| Split::of_test_rows(test, n)));
        }
        Ok(splits)
    }

    /// Forward chaining: the rows in order of time are cut into one block more than there are folds, and every block but
    /// the first is predicted from all earlier ones. Rows of equal time are not separated.
    fn in_time(&self, times: &[f64]) -> Result<Vec<Split>> {
        let n = times.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|a, b| times[*a].total_cmp(&times[*b]));
        // The first row of the block that starts at about this rank.
        let boundary = |rank: usize| {
            order.partition_point(|i| times[*i] < times[order[rank.min(n - 1)]]).min(n)
        };
        let starts: Vec<usize> = match self.hold_out {
            Some(fraction) => vec![boundary(((1.0 - fraction) * n as f64).round() as usize)],
            None => (1..=self.n_folds).map(|k| boundary(k * n / (self.n_folds + 1))).collect(),
        };
        let ends = starts.iter().skip(1).copied().chain([n]);
        let sorted = |rows: &[usize]| {
            let mut rows = rows.to_vec();
            rows.sort_unstable();
            rows
        };
        let splits: Vec<Split> = starts
            .iter()
            .zip(ends)
            .filter(|(start, end)| **start > 0 && *start < end)
            .map(|(start, end)| Split {
                train: sorted(&order[..*start]),
                test: sorted(&order[*start..end]),
            })
            .collect();
        if splits.len() < starts.len() {
            return Err(Error::Parameter {
                name: "time".into(),
                found: format!("too few distinct times for {} folds", starts.len()),
                expected: "more distinct times than folds; reduce the number of folds".into(),
            });
        }
        Ok(splits)
    }
}

/// Assigns groups to folds: the largest group first, each to the fold with the fewest rows. Groups of equal size are in
/// random order.
fn grouped(groups: &[u32], n_folds: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
    let n_groups = groups.iter().max().map_or(0, |most| *most as usize + 1);
    let mut members = vec![Vec::new(); n_groups];
    groups.iter().enumerate().for_each(|(i, group)| members[*group as usize].push(i));
    let mut order: Vec<usize> = (0..n_groups).filter(|g| !members[*g].is_empty()).collect();
    if order.len() < n_folds {
        return Err(Error::Parameter {
            name: "group".into(),
            found: format!("{} groups", order.len()),
            expected: format!("at least {n_folds} groups for as many folds; reduce the folds"),
        });
    }
    Random::new(seed).shuffle(&mut order);
    order.sort_by_key(|g| std::cmp::Reverse(members[*g].len()));
    let mut folds = vec![Vec::new(); n_folds];
    for group in order {
        let smallest = (0..n_folds).min_by_key(|fold| folds[*fold].len()).unwrap_or(0);
        folds[smallest].append(&mut members[group]);
    }
    folds.iter_mut().for_each(|fold| fold.sort_unstable());
    Ok(folds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stay_together_and_folds_are_balanced() {
        let groups: Vec<u32> = (0..60).map(|i| i % 12).collect();

        let splits = Splitting::folds(4, 1).splits(&[0; 60], Some(&groups), None).unwrap();

        assert_eq!(splits.len(), 4);
        for split in &splits {
            assert_eq!(split.test.len(), 15);
            let of_test = |i: &usize| groups[*i];
            assert!(
                split.train.iter().all(|i| !split
                    .test
                    .iter()
                    .map(of_test)
                    .any(|g| g == groups[*i]))
            );
        }
        let too_many = Splitting::folds(13, 1).splits(&[0; 60], Some(&groups), None);
        assert!(too_many.unwrap_err().to_string().contains("12 groups"));
    }

    #[test]
    fn later_rows_are_predicted_from_earlier_ones() {
        // The times are unsorted, and two rows share each time.
        let times: Vec<f64> = (0..24).map(|i| f64::from((i * 7) % 12)).collect();

        let splits = Splitting::folds(3, 0).splits(&[0; 24], None, Some(&times)).unwrap();

        assert_eq!(splits.len(), 3);
        for split in &splits {
            let latest = split.train.iter().map(|i| times[*i]).fold(f64::MIN, f64::max);
            assert!(
                split.test.iter().all(|i| times[*i] > latest),
                "no test row is as early as a training row"
            );
            assert_eq!(split.test.len(), 6);
        }
        let constant = Splitting::folds(2, 0).splits(&[0; 24], None, Some(&[1.0; 24]));
        assert!(constant.is_err());
    }

    #[test]
    fn repeats_are_drawn_anew_and_a_hold_out_is_one_split() {
        let codes = [0, 1].repeat(20);
        let repeated = Splitting { n_repeats: 2, ..Splitting::folds(4, 3) };
        let splits = repeated.splits(&codes, None, None).unwrap();
        assert_eq!(splits.len(), 8);
        assert_ne!(splits[0], splits[4]);

        let once = Splitting { hold_out: Some(0.25), ..Splitting::folds(4, 3) };
        let splits = once.splits(&codes, None, None).unwrap();
        assert_eq!((splits.len(), splits[0].test.len(), splits[0].train.len()), (1, 10, 30));
    }
}
