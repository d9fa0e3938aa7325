//! Stratified assignment of rows to cross-validation folds.
//!
//! Within a class, every `k` consecutive rows are assigned to `k` different folds in random order: folds are
//! balanced by class, and the same seed gives the same folds in every pass over the rows.

use mercer_num::random::Random;

/// Assigns rows of a stream to folds.
#[derive(Debug)]
pub struct Folds {
    n_folds: usize,
    random: Random,
    /// For each class, the folds that the next rows are assigned to, in reverse order.
    remaining: Vec<Vec<usize>>,
}

impl Folds {
    /// An assignment to `n_folds` folds.
    pub fn new(n_folds: usize, n_classes: usize, seed: u64) -> Folds {
        Folds { n_folds, random: Random::new(seed), remaining: vec![Vec::new(); n_classes] }
    }

    /// The fold of the next row.
    pub fn assign(&mut self, class: u32) -> usize {
        let remaining = &mut self.remaining[class as usize];
        if remaining.is_empty() {
            remaining.extend(0..self.n_folds);
            self.random.shuffle(remaining);
        }
        remaining.pop().unwrap_or(0)
    }

    /// The row indices of each fold, for the next rows.
    pub fn split(&mut self, codes: &[u32]) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.n_folds];
        for (i, class) in codes.iter().enumerate() {
            rows[self.assign(*class)].push(i);
        }
        rows
    }
}

/// The fold of every row without shuffling: every fold has the same proportion of every class, and the first rows
/// of a class are in the first fold. `None` if no class has as many rows as there are folds.
///
/// The number of rows of each class in a fold follows from assigning the rows, sorted by class in the order of
/// first occurrence, to the folds in turn. The result equals scikit-learn's `StratifiedKFold`.
pub fn stratified_folds(codes: &[u32], n_classes: usize, n_folds: usize) -> Option<Vec<usize>> {
    let mut counts = vec![0; n_classes];
    let mut seen = Vec::new();
    for code in codes {
        if counts[*code as usize] == 0 {
            seen.push(*code);
        }
        counts[*code as usize] += 1;
    }
    if counts.iter().max().is_none_or(|most| *most < n_folds) {
        return None;
    }
    // The number of rows of each class in each fold.
    let mut n_left = vec![vec![0; n_folds]; n_classes];
    let sorted = seen.iter().flat_map(|c| std::iter::repeat_n(*c, counts[*c as usize]));
    sorted.enumerate().for_each(|(i, c)| n_left[c as usize][i % n_folds] += 1);
    let mut at = vec![0; n_classes];
    let assign = |code: &u32| {
        let (fold, n_left) = (&mut at[*code as usize], &mut n_left[*code as usize]);
        while n_left[*fold] == 0 {
            *fold += 1;
        }
        n_left[*fold] -= 1;
        *fold
    };
    Some(codes.iter().map(assign).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unshuffled_folds_equal_those_of_scikit_learn() {
        // StratifiedKFold(3) of these labels.
        let codes = [1, 1, 0, 2, 1, 0, 1, 0, 0, 1, 2, 1, 1, 0];

        let folds = stratified_folds(&codes, 3, 3).unwrap();

        assert_eq!(folds, [0, 0, 0, 0, 0, 1, 1, 1, 2, 1, 1, 2, 2, 2]);
        assert_eq!(stratified_folds(&codes, 3, 8), None);
    }

    #[test]
    fn folds_are_balanced_by_class_and_repeatable() {
        let codes: Vec<u32> = (0..103).map(|i| u32::from(i % 3 == 0)).collect();
        let assign = |seed| {
            let mut folds = Folds::new(5, 2, seed);
            codes.iter().map(|c| folds.assign(*c)).collect::<Vec<_>>()
        };

        let assigned = assign(1);

        for class in 0..2 {
            let mut counts = [0; 5];
            for (fold, c) in assigned.iter().zip(&codes) {
                counts[*fold] += usize::from(*c == class);
            }
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
        }
        assert_eq!(assign(1), assigned);
        assert_ne!(assign(2), assigned);
    }
}
