//! Portable random number streams: ChaCha with eight rounds, from a seed.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;

/// A seeded stream of random numbers.
#[derive(Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Random(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A uniform value in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// A standard normal value.
    pub fn normal(&mut self) -> f64 {
        self.0.sample(StandardNormal)
    }

    /// A uniform integer below `n`.
    ///
    /// # Panics
    /// If `n` is zero.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    /// An index drawn with the given probabilities, which add up to one.
    pub fn choice(&mut self, probabilities: &[f64]) -> usize {
        let mut left = self.uniform();
        for (i, p) in probabilities.iter().enumerate() {
            left -= p;
            if left < 0.0 {
                return i;
            }
        }
        // Rounding can leave a positive remainder, which belongs to the last outcome of positive probability.
        probabilities.iter().rposition(|p| *p > 0.0).unwrap_or(0)
    }

    /// Shuffles a slice.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// A hash of 64 bits in which every output bit depends on all input bits (SplitMix64; Steele, Lea & Flood 2014).
#[inline]
pub fn splitmix64(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_stream() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (random.uniform(), random.normal(), random.below(10))
        };

        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn impossible_outcomes_are_never_drawn() {
        let mut random = Random::new(1);

        let seen: Vec<usize> = (0..1000).map(|_| random.choice(&[0.0, 0.25, 0.75, 0.0])).collect();

        assert!(seen.iter().all(|i| *i == 1 || *i == 2));
        let coefficient = seen.iter().filter(|i| **i == 1).count() as f64 / 1000.0;
        assert!((coefficient - 0.25).abs() < 0.05);
    }
}
