//! Which fold a row belongs to, decided as rows stream by.
//!
//! WithinClassScatter a class, every `k` consecutive rows go to `k` different folds in a random order: folds
//! are balanced by class, and the same seed gives the same folds in every pass.

use mercer_num::random::Random;

/// Deals rows to folds.
#[derive(Debug)]
pub struct Folds {
    n_folds: usize,
    random: Random,
    /// For each class, the folds still to be dealt in this round.
    decks: Vec<Vec<usize>>,
}

impl Folds {
    /// A dealer for `n_folds` folds.
    pub fn new(n_folds: usize, n_classes: usize, seed: u64) -> Folds {
        Folds { n_folds, random: Random::new(seed), decks: vec![Vec::new(); n_classes] }
    }

    /// The fold of the next row.
    pub fn deal(&mut self, class: u32) -> usize {
        let deck = &mut self.decks[class as usize];
        if deck.is_empty() {
            deck.extend(0..self.n_folds);
            self.random.shuffle(deck);
        }
        deck.pop().unwrap_or(0)
    }

    /// The places of each fold's rows among the next rows.
    pub fn split(&mut self, codes: &[u32]) -> Vec<Vec<usize>> {
        let mut places = vec![Vec::new(); self.n_folds];
        for (i, class) in codes.iter().enumerate() {
            places[self.deal(*class)].push(i);
        }
        places
    }
}

/// The fold of every row where rows are not shuffled: the same share of every class in each, the first rows
/// of a class in the first fold. `None` if no class has as many rows as there are folds.
///
/// Rows sorted by class are dealt out like cards, which says how many rows of each class a fold gets; classes
/// come in the order they are first seen. So scikit-learn's `StratifiedKFold` deals them.
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
    // How many rows of each class are in each fold.
    let mut shares = vec![vec![0; n_folds]; n_classes];
    let sorted = seen.iter().flat_map(|c| std::iter::repeat_n(*c, counts[*c as usize]));
    sorted.enumerate().for_each(|(i, c)| shares[c as usize][i % n_folds] += 1);
    let mut at = vec![0; n_classes];
    let deal = |code: &u32| {
        let (fold, shares) = (&mut at[*code as usize], &mut shares[*code as usize]);
        while shares[*fold] == 0 {
            *fold += 1;
        }
        shares[*fold] -= 1;
        *fold
    };
    Some(codes.iter().map(deal).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_dealt_as_scikit_learn_deals_them() {
        // StratifiedKFold(3) of these labels.
        let codes = [1, 1, 0, 2, 1, 0, 1, 0, 0, 1, 2, 1, 1, 0];

        let folds = stratified_folds(&codes, 3, 3).unwrap();

        assert_eq!(folds, [0, 0, 0, 0, 0, 1, 1, 1, 2, 1, 1, 2, 2, 2]);
        assert_eq!(stratified_folds(&codes, 3, 8), None);
    }

    #[test]
    fn folds_are_balanced_by_class_and_repeatable() {
        let codes: Vec<u32> = (0..103).map(|i| u32::from(i % 3 == 0)).collect();
        let deal = |seed| {
            let mut folds = Folds::new(5, 2, seed);
            codes.iter().map(|c| folds.deal(*c)).collect::<Vec<_>>()
        };

        let dealt = deal(1);

        for class in 0..2 {
            let mut counts = [0; 5];
            for (fold, c) in dealt.iter().zip(&codes) {
                counts[*fold] += usize::from(*c == class);
            }
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
        }
        assert_eq!(deal(1), dealt);
        assert_ne!(deal(2), dealt);
    }
}
