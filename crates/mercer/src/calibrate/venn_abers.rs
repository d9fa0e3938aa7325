//! Venn-Abers prediction: probabilities with a guarantee, from two isotonic fits.
//!
//! Let a new row join the others, once as negative and once as positive, and let isotonic regression say each
//! time what its share would be: `p₀` and `p₁`. One of the two is calibrated whatever the scores are (Vovk & Petej
//! 2014), and `p₁ / (1 − p₀ + p₁)` is the number between them that loses least in the worst case. What both fits
//! would say anywhere is worked out beforehand: the pools left of the new row and those right of it do not depend on
//! its target, so that only those that it disturbs are looked at (after Vovk, Petej & Fedorova 2015).

use super::isotonic::{Pool, by_score};
use serde::{Deserialize, Serialize};

/// Two step functions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VennAbers {
    /// Where each step but the first begins, rising.
    pub scores: Vec<f64>,
    /// The share of a new row that joins as negative, on every step.
    pub low: Vec<f64>,
    /// The share of one that joins as positive.
    pub high: Vec<f64>,
}

/// A pool in front of others, and where those begin: a list whose tails are shared.
#[derive(Clone, Copy)]
struct Link {
    pool: Pool,
    next: usize,
}

impl VennAbers {
    /// What rows say about any other.
    pub(crate) fn fit(scores: &[f64], positive: &[bool], weights: &[f64]) -> VennAbers {
        let targets: Vec<f64> = positive.iter().map(|p| f64::from(u8::from(*p))).collect();
        let pools = by_score(scores, &targets, weights);
        let n = pools.len();
        let (left, right) = (from_the_left(&pools), from_the_right(&pools));
        let mut steps = VennAbers { scores: Vec::new(), low: Vec::new(), high: Vec::new() };
        let mut push = |begins: f64, here: Option<Pool>, before: usize, after: usize| {
            let [low, high] = [0.0, 1.0].map(|target| {
                let new = Pool { score: begins, weight: 1.0, sum: target };
                let new = here.map_or(new, |here| here.with(&new));
                joined(new, &left, before, &right, after)
            });
            if steps.low.last() == Some(&low) && steps.high.last() == Some(&high) {
                return;
            }
            if !steps.low.is_empty() {
                steps.scores.push(begins);
            }
            steps.low.push(low);
            steps.high.push(high);
        };
        push(f64::NEG_INFINITY, None, 0, 0);
        for (k, pool) in pools.iter().enumerate() {
            push(pool.score, Some(*pool), k, k + 1);
            // Above this score and below the next; where there is no number between, nobody comes by.
            let above = pool.score.next_up();
            if k + 1 == n || above < pools[k + 1].score {
                push(above, None, k + 1, k + 1);
            }
        }
        steps
    }

    /// The two shares at a score.
    pub fn interval(&self, score: f64) -> (f64, f64) {
        let step = self.scores.partition_point(|s| *s <= score);
        (self.low[step], self.high[step])
    }

    /// The number between them.
    pub fn at(&self, score: f64) -> f64 {
        let (low, high) = self.interval(score);
        high / (1.0 - low + high)
    }

    /// Whether both functions rise.
    pub(crate) fn fits(&self) -> bool {
        let shares = |v: &[f64]| {
            v.len() == self.scores.len() + 1
                && v.iter().all(|p| (0.0..=1.0).contains(p))
                && v.is_sorted_by(|a, b| *a <= *b + 1e-9)
        };
        shares(&self.low)
            && shares(&self.high)
            && self.low.iter().zip(&self.high).all(|(low, high)| low <= high)
            && self.scores.iter().all(|s| s.is_finite())
            && self.scores.is_sorted_by(|a, b| a < b)
    }
}

/// For every number of rows from the left, the last of their pools and where the one before it ends.
fn from_the_left(pools: &[Pool]) -> Vec<Link> {
    let none = Link { pool: Pool { score: 0.0, weight: 0.0, sum: 0.0 }, next: 0 };
    let mut links = vec![none];
    for (k, pool) in pools.iter().enumerate() {
        let mut link = Link { pool: *pool, next: k };
        while link.next > 0 && links[link.next].pool.mean() >= link.pool.mean() {
            let before = links[link.next];
            link = Link { pool: link.pool.with(&before.pool), next: before.next };
        }
        links.push(link);
    }
    links
}

/// For every row, the first pool of those from there on and where the next one begins.
fn from_the_right(pools: &[Pool]) -> Vec<Link> {
    let n = pools.len();
    let none = Link { pool: Pool { score: 0.0, weight: 0.0, sum: 0.0 }, next: n };
    let mut links = vec![none; n + 1];
    for k in (0..n).rev() {
        let mut link = Link { pool: pools[k], next: k + 1 };
        while link.next < n && links[link.next].pool.mean() <= link.pool.mean() {
            let after = links[link.next];
            link = Link { pool: link.pool.with(&after.pool), next: after.next };
        }
        links[k] = link;
    }
    links
}

/// The mean of the pool that a new one ends in, between `before` rows and those from `after` on.
fn joined(new: Pool, left: &[Link], mut before: usize, right: &[Link], mut after: usize) -> f64 {
    let n = right.len() - 1;
    let mut pool = new;
    loop {
        if before > 0 && left[before].pool.mean() >= pool.mean() {
            pool = pool.with(&left[before].pool);
            before = left[before].next;
        } else if after < n && right[after].pool.mean() <= pool.mean() {
            pool = pool.with(&right[after].pool);
            after = right[after].next;
        } else {
            return pool.mean();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::isotonic::Isotonic;
    use mercer_num::random::Random;

    /// Two isotonic fits with the new row among the others.
    fn by_definition(scores: &[f64], positive: &[bool], weights: &[f64], score: f64) -> (f64, f64) {
        let with = |target: f64| {
            let scores: Vec<f64> = scores.iter().copied().chain([score]).collect();
            let targets = positive.iter().map(|p| f64::from(u8::from(*p))).chain([target]);
            let weights: Vec<f64> = weights.iter().copied().chain([1.0]).collect();
            Isotonic::fit(&scores, &targets.collect::<Vec<_>>(), &weights).at(score)
        };
        (with(0.0), with(1.0))
    }

    #[test]
    fn steps_are_two_isotonic_fits_for_every_new_row() {
        let mut random = Random::new(8);
        for round in 0..40 {
            let n = 1 + random.below(40);
            // Few different scores, so that there are ties.
            let scores: Vec<f64> = (0..n).map(|_| random.below(25) as f64 / 4.0).collect();
            let positive: Vec<bool> =
                scores.iter().map(|s| random.uniform() < 0.1 + 0.12 * s).collect();
            let weights: Vec<f64> =
                (0..n).map(|_| if round % 2 == 0 { 1.0 } else { 0.2 + random.uniform() }).collect();

            let found = VennAbers::fit(&scores, &positive, &weights);

            assert!(found.fits());
            for k in -3..60 {
                let score = f64::from(k) / 8.0;
                let (low, high) = found.interval(score);
                let (low_again, high_again) = by_definition(&scores, &positive, &weights, score);
                assert!((low - low_again).abs() < 1e-12, "{low}, {low_again}");
                assert!((high - high_again).abs() < 1e-12, "{high}, {high_again}");
                assert!(low < found.at(score) && found.at(score) < high);
            }
        }
    }

    #[test]
    fn one_row_by_hand() {
        // A positive row at zero. Right of it a negative newcomer pools with it to ½ and a positive one has 1:
        // 1 / (1 − ½ + 1) = ⅔. Left of it a negative one has 0 and a positive one 1: ½.
        let found = VennAbers::fit(&[0.0], &[true], &[1.0]);

        assert_eq!((found.interval(1.0), found.interval(-1.0)), ((0.5, 1.0), (0.0, 1.0)));
        assert!((found.at(1.0) - 2.0 / 3.0).abs() < 1e-15);
        assert!((found.at(-1.0) - 0.5).abs() < 1e-15);
    }
}
