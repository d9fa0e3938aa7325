//! Which fold a row belongs to, decided as rows stream by.
//!
//! Within a class, every `k` consecutive rows go to `k` different folds in a random order: folds
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

#[cfg(test)]
mod tests {
    use super::*;

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
