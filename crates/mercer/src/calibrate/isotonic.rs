//! Isotonic regression by the pool-adjacent-violators algorithm.
//!
//! Minimize `Σ wᵢ (yᵢ − gᵢ)²` over all `g` that are nondecreasing in the score. Adjacent blocks that violate the order
//! are pooled to their mean until none do (Ayer et al. 1955; Zadrozny & Elkan 2002 for probabilities). Rows with equal
//! scores are pooled first.

use serde::{Deserialize, Serialize};

/// Pooled rows: their first score, their total weight and the weighted sum of their targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pool {
    pub score: f64,
    pub weight: f64,
    pub sum: f64,
}

impl Pool {
    /// The mean target.
    pub fn mean(&self) -> f64 {
        self.sum / self.weight
    }

    /// The union of two pools.
    pub fn with(self, other: &Pool) -> Pool {
        Pool { weight: self.weight + other.weight, sum: self.sum + other.sum, ..self }
    }
}

/// Rows with positive weight in ascending order of their scores; rows with equal scores are pooled.
pub(crate) fn by_score(scores: &[f64], targets: &[f64], weights: &[f64]) -> Vec<Pool> {
    let rows = scores.iter().zip(targets).zip(weights).filter(|(_, w)| **w > 0.0);
    let mut rows: Vec<Pool> =
        rows.map(|((s, y), w)| Pool { score: *s, weight: *w, sum: w * y }).collect();
    rows.sort_by(|a, b| a.score.total_cmp(&b.score));
    let mut pools: Vec<Pool> = Vec::new();
    for row in rows {
        match pools.last_mut().filter(|last| last.score == row.score) {
            Some(last) => *last = last.with(&row),
            None => pools.push(row),
        }
    }
    pools
}

/// A nondecreasing function: linear between its knots and constant beyond them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Isotonic {
    /// The knots, ascending.
    pub scores: Vec<f64>,
    /// The probabilities at the knots, nondecreasing.
    pub probabilities: Vec<f64>,
}

impl Isotonic {
    /// Fits the targets of weighted rows.
    pub(crate) fn fit(scores: &[f64], targets: &[f64], weights: &[f64]) -> Isotonic {
        // Each block with its last score.
        let mut blocks: Vec<(Pool, f64)> = Vec::new();
        for pool in by_score(scores, targets, weights) {
            let mut block = (pool, pool.score);
            while let Some((last, _)) = blocks.last().filter(|(b, _)| b.mean() >= block.0.mean()) {
                block = (last.with(&block.0), block.1);
                blocks.pop();
            }
            blocks.push(block);
        }
        let mut knots = Isotonic { scores: Vec::new(), probabilities: Vec::new() };
        for (block, last) in blocks {
            // The function is constant from the first score of a block to its last.
            let probability = block.mean();
            let ends = [block.score, last];
            let ends = if block.score < last { &ends[..] } else { &ends[..1] };
            knots.scores.extend(ends);
            knots.probabilities.extend(ends.iter().map(|_| probability));
        }
        knots
    }

    /// The probability at a score.
    pub fn at(&self, score: f64) -> f64 {
        let above = self.scores.partition_point(|s| *s <= score);
        let values = &self.probabilities;
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            return 0.5;
        };
        if above == 0 || above == self.scores.len() {
            return if above == 0 { *first } else { *last };
        }
        let (from, to) = (self.scores[above - 1], self.scores[above]);
        let (low, high) = (values[above - 1], values[above]);
        // Halved, so that the difference of distant knots does not overflow.
        let fraction = (0.5 * score - 0.5 * from) / (0.5 * to - 0.5 * from);
        (low + fraction * (high - low)).clamp(low, high)
    }

    /// Whether it is a nondecreasing function with values between zero and one.
    pub(crate) fn is_valid(&self) -> bool {
        self.scores.len() == self.probabilities.len()
            && self.scores.iter().all(|s| s.is_finite())
            && self.scores.is_sorted_by(|a, b| a < b)
            && self.probabilities.iter().all(|p| (0.0..=1.0).contains(p))
            && self.probabilities.is_sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    #[test]
    fn adjacent_violators_are_pooled() {
        // 1 and 0 pool to ½, and with the next 0 to ⅓; the two rows with equal scores pool to ½.
        let scores = [1.0, 2.0, 3.0, 4.0, 4.0, 5.0];
        let targets = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0];

        let found = Isotonic::fit(&scores, &targets, &[1.0; 6]);

        assert_eq!(found.scores, [1.0, 3.0, 4.0, 5.0]);
        for (probability, by_hand) in
            found.probabilities.iter().zip([1.0 / 3.0, 1.0 / 3.0, 0.5, 1.0])
        {
            assert!((probability - by_hand).abs() < 1e-15);
        }
        assert_eq!((found.at(-9.0), found.at(9.0)), (found.probabilities[0], 1.0));
        assert!((found.at(4.5) - 0.75).abs() < 1e-15);
        assert!(found.is_valid());
    }

    #[test]
    fn the_fit_equals_the_max_min_formula() {
        // g(i) = max over a ≤ i of min over b ≥ i of mean(a..=b).
        let mut random = Random::new(4);
        for _ in 0..50 {
            let n = 1 + random.below(30);
            let scores: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let targets: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
            let weights: Vec<f64> = (0..n).map(|_| 0.1 + random.uniform()).collect();

            let found = Isotonic::fit(&scores, &targets, &weights);

            let mean = |a: usize, b: usize| {
                let of = |v: &dyn Fn(usize) -> f64| (a..=b).map(v).sum::<f64>();
                of(&|k| weights[k] * targets[k]) / of(&|k| weights[k])
            };
            for i in 0..n {
                let least = |a| (i..n).map(|b| mean(a, b)).fold(f64::INFINITY, f64::min);
                let best = (0..=i).map(least).fold(f64::NEG_INFINITY, f64::max);
                assert!((found.at(i as f64) - best).abs() < 1e-12);
            }
        }
    }
}
