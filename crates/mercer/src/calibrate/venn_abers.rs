//! Inductive Venn-Abers predictors: calibrated probability intervals from two isotonic regressions.
//!
//! Add a new row to the calibration rows, once with a negative and once with a positive label, and fit isotonic
//! regression each time: its probabilities `p₀` and `p₁` form an interval, one end of which is calibrated for any
//! scores (Vovk & Petej 2014). The point prediction `p₁ / (1 − p₀ + p₁)` minimizes the worst-case log loss. Both ends are
//! step functions of the score and are computed in advance: the pools on either side of the new row do not depend on
//! its label, so only the pools that it merges with are visited (after Vovk, Petej & Fedorova 2015).

use super::isotonic::{Pool, by_score};
use serde::{Deserialize, Serialize};

/// The interval of probabilities as two step functions of the score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VennAbers {
    /// The first score of each step except the first, ascending.
    pub scores: Vec<f64>,
    /// `p₀` on every step.
    pub low: Vec<f64>,
    /// `p₁` on every step.
    pub high: Vec<f64>,
}

/// A linked list of pools whose tails are shared: one pool and the index of the next link.
#[derive(Clone, Copy)]
struct Link {
    pool: Pool,
    next: usize,
}

impl VennAbers {
    /// Fits the labels of weighted rows.
    pub(crate) fn fit(scores: &[f64], positive: &[bool], weights: &[f64]) -> VennAbers {
        let targets: Vec<f64> = positive.iter().map(|p| f64::from(u8::from(*p))).collect();
        let pools = by_score(scores, &targets, weights);
        let n = pools.len();
        let (left, right) = (pool_from_left(&pools), pool_from_right(&pools));
        let mut steps = VennAbers { scores: Vec::new(), low: Vec::new(), high: Vec::new() };
        let mut push = |start: f64, tied: Option<Pool>, before: usize, after: usize| {
            let [low, high] = [0.0, 1.0].map(|target| {
                let new = Pool { score: start, weight: 1.0, sum: target };
                let new = tied.map_or(new, |tied| tied.with(&new));
                pooled_mean(new, &left, before, &right, after)
            });
            if steps.low.last() == Some(&low) && steps.high.last() == Some(&high) {
                return;
            }
            if !steps.low.is_empty() {
                steps.scores.push(start);
            }
            steps.low.push(low);
            steps.high.push(high);
        };
        push(f64::NEG_INFINITY, None, 0, 0);
        for (k, pool) in pools.iter().enumerate() {
            push(pool.score, Some(*pool), k, k + 1);
            // The open interval between this score and the next, unless no number lies in it.
            let above = pool.score.next_up();
            if k + 1 == n || above < pools[k + 1].score {
                push(above, None, k + 1, k + 1);
            }
        }
        steps
    }

    /// `p₀` and `p₁` at a score.
    pub fn interval(&self, score: f64) -> (f64, f64) {
        let step = self.scores.partition_point(|s| *s <= score);
        (self.low[step], self.high[step])
    }

    /// The point prediction at a score.
    pub fn at(&self, score: f64) -> f64 {
        let (low, high) = self.interval(score);
        high / (1.0 - low + high)
    }

    /// Whether both are nondecreasing functions with values between zero and one.
    pub(crate) fn is_valid(&self) -> bool {
        let monotone = |v: &[f64]| {
            v.len() == self.scores.len() + 1
                && v.iter().all(|p| (0.0..=1.0).contains(p))
                && v.is_sorted_by(|a, b| *a <= *b + 1e-9)
        };
        monotone(&self.low)
            && monotone(&self.high)
            && self.low.iter().zip(&self.high).all(|(low, high)| low <= high)
            && self.scores.iter().all(|s| s.is_finite())
            && self.scores.is_sorted_by(|a, b| a < b)
    }
}

/// For every prefix of the rows, its last isotonic pool and the end of the pool before it.
fn pool_from_left(pools: &[Pool]) -> Vec<Link> {
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

/// For every suffix of the rows, its first isotonic pool and the start of the pool after it.
fn pool_from_right(pools: &[Pool]) -> Vec<Link> {
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

/// The mean of the pool that contains a new row between the first `before` rows and those from `after` on.
fn pooled_mean(
    new: Pool,
    left: &[Link],
    mut before: usize,
    right: &[Link],
    mut after: usize,
) -> f64 {
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

    /// Two isotonic regressions with the new row included.
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
    fn the_interval_equals_two_isotonic_regressions() {
        let mut random = Random::new(8);
        for round in 0..40 {
            let n = 1 + random.below(40);
            // Few distinct scores, so that there are ties.
            let scores: Vec<f64> = (0..n).map(|_| random.below(25) as f64 / 4.0).collect();
            let positive: Vec<bool> =
                scores.iter().map(|s| random.uniform() < 0.1 + 0.12 * s).collect();
            let weights: Vec<f64> =
                (0..n).map(|_| if round % 2 == 0 { 1.0 } else { 0.2 + random.uniform() }).collect();

            let found = VennAbers::fit(&scores, &positive, &weights);

            assert!(found.is_valid());
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
        // One positive row at zero. A new row to its right pools with it to ½ as negative and has 1 as positive:
        // 1 / (1 − ½ + 1) = ⅔. A new row to its left has 0 as negative and 1 as positive: ½.
        let found = VennAbers::fit(&[0.0], &[true], &[1.0]);

        assert_eq!((found.interval(1.0), found.interval(-1.0)), ((0.5, 1.0), (0.0, 1.0)));
        assert!((found.at(1.0) - 2.0 / 3.0).abs() < 1e-15);
        assert!((found.at(-1.0) - 0.5).abs() < 1e-15);
    }
}
