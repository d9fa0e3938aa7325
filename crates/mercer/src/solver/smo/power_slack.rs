//! PowerSlack that costs a power of its length.
//!
//! Where a row behind its margin by `ξ` costs `C ξᵏ` with `k > 1`, its multiplier `a` has no bound but a price of its
//! own in the dual, the conjugate of that cost:
//!
//! `max over ξ of (a ξ − C ξᵏ) = (k − 1) (a / k)^(k/(k−1)) C^(−1/(k−1)) = (1 − 1/k) a ξ(a)`,
//! `ξ(a) = (a / kC)^(1/(k−1))`,
//!
//! whose slope is `ξ(a)`: at the optimum a multiplier knows the slack of its row. For `k = 2` it is `a² / 4C`, which
//! is `1/2C` more on the diagonal of the kernel (Cortes & Vapnik 1995).

use mercer_num::simd::smo::MIN_CURVATURE;

/// What slack costs, variable by variable.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerSlack {
    /// `k`, above one.
    pub power: f64,
    /// `C` of each variable.
    pub prices: Vec<f64>,
}

/// The slack at which curvature is measured where a multiplier is near zero: there it may be without bound.
const NEAR: f64 = 0.1;
/// Most steps towards the end of a move; a bracket is halved with each at the latest.
const STEPS: usize = 100;

impl PowerSlack {
    /// `C ξᵏ`.
    pub fn loss(&self, i: usize, slack: f64) -> f64 {
        self.prices[i] * slack.powf(self.power)
    }

    /// The slack that a multiplier belongs to.
    pub fn slack(&self, i: usize, a: f64) -> f64 {
        let share = a / (self.power * self.prices[i]);
        if self.power == 2.0 { share } else { share.powf(1.0 / (self.power - 1.0)) }
    }

    /// The multiplier that a slack has.
    fn multiplier(&self, i: usize, slack: f64) -> f64 {
        self.power * self.prices[i] * slack.powf(self.power - 1.0)
    }

    /// What a multiplier costs.
    pub fn conjugate(&self, i: usize, a: f64) -> f64 {
        (1.0 - 1.0 / self.power) * a * self.slack(i, a)
    }

    /// How much that curves: `ξ / (k − 1) a`.
    pub fn curvature(&self, i: usize, a: f64) -> f64 {
        if self.power == 2.0 {
            return 0.5 / self.prices[i];
        }
        let a = a.max(self.multiplier(i, NEAR));
        self.slack(i, a) / ((self.power - 1.0) * a)
    }

    /// The slope of its cost at a coefficient, which is a multiplier with a sign.
    pub fn slope(&self, i: usize, beta: f64) -> f64 {
        self.slack(i, beta.abs()).copysign(beta)
    }

    /// How far `i` rises and `j` falls until their gain is used up, at most `room`: the root of what is left of
    /// it, `gain − curvature t − (slopes at i) + (slopes at j)`, which only falls.
    pub fn way(
        &self,
        (i, from_i): (usize, f64),
        (j, from_j): (usize, f64),
        gain: f64,
        curvature: f64,
        room: f64,
    ) -> f64 {
        let curvature = curvature.max(0.0);
        if self.power == 2.0 {
            let own = self.curvature(i, 0.0) + self.curvature(j, 0.0);
            return (gain / (curvature + own).max(MIN_CURVATURE)).min(room);
        }
        let (slope_i, slope_j) = (self.slope(i, from_i), self.slope(j, from_j));
        let left = |t: f64| {
            let rise = self.slope(i, from_i + t) - slope_i;
            let fall = slope_j - self.slope(j, from_j - t);
            gain - curvature * t - rise - fall
        };
        // Each of the three alone would use it up at the latest here.
        let mut high = (gain / curvature.max(MIN_CURVATURE)).min(room);
        if from_i >= 0.0 {
            high = high.min(self.multiplier(i, slope_i + gain) - from_i);
        }
        if from_j <= 0.0 {
            high = high.min(self.multiplier(j, gain - slope_j) + from_j);
        }
        if high == room && left(room) >= 0.0 {
            return room;
        }
        let (mut low, mut t) = (0.0, 0.5 * high);
        for _ in 0..STEPS {
            let here = left(t);
            if here > 0.0 {
                low = t
            } else {
                high = t
            }
            let steep = |i: usize, beta: f64| {
                let a = beta.abs();
                if a > 0.0 { self.slack(i, a) / ((self.power - 1.0) * a) } else { f64::INFINITY }
            };
            let newton = t + here / (curvature + steep(i, from_i + t) + steep(j, from_j - t));
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if next == t || high - low <= f64::EPSILON * high {
                break;
            }
            t = next;
        }
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conjugate_is_the_largest_of_what_slack_leaves() {
        for power in [1.2, 2.0, 3.0, 7.5] {
            let slack = PowerSlack { power, prices: vec![0.7] };
            for a in [0.01, 0.5, 3.0] {
                let left = |xi: f64| a * xi - slack.loss(0, xi);
                let best = slack.slack(0, a);

                assert!((left(best) - slack.conjugate(0, a)).abs() < 1e-12);
                for other in [0.5 * best, 0.99 * best, 1.01 * best, 2.0 * best] {
                    assert!(left(other) < left(best));
                }
                // The formula as it is usually written.
                let p = 1.0 / (power - 1.0);
                let usual = (power - 1.0) * (a / power).powf(power * p) * 0.7f64.powf(-p);
                assert!((usual / slack.conjugate(0, a) - 1.0).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn a_move_uses_its_gain_up() {
        for power in [1.1, 1.5, 2.0, 2.5, 6.0] {
            let slack = PowerSlack { power, prices: vec![0.7, 2.0] };
            for (from_i, from_j) in [(0.0, 0.0), (0.3, -0.1), (0.2, 0.9), (-0.5, -0.2)] {
                for (gain, curvature) in [(1.5, 0.8), (0.01, 0.0), (0.2, 3.0)] {
                    let room = if from_i < 0.0 { -from_i } else { f64::INFINITY };
                    let room = if from_j > 0.0 { room.min(from_j) } else { room };

                    let t = slack.way((0, from_i), (1, from_j), gain, curvature, room);

                    let rise = slack.slope(0, from_i + t) - slack.slope(0, from_i);
                    let fall = slack.slope(1, from_j) - slack.slope(1, from_j - t);
                    let left = gain - curvature * t - rise - fall;
                    assert!(t > 0.0 && t <= room);
                    assert!(left.abs() < 1e-9 || (t == room && left > 0.0), "{power}: {t}, {left}");
                }
            }
        }
    }
}
