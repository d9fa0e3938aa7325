//! Soft margins with the slack raised to a power.
//!
//! If a slack `ξ` costs `C ξᵏ` with `k > 1`, its dual variable `α` has no upper bound. The dual objective contains the
//! convex conjugate of the cost instead:
//!
//! `max over ξ of (α ξ − C ξᵏ) = (k − 1) (α / k)^(k/(k−1)) C^(−1/(k−1)) = (1 − 1/k) α ξ(α)`,
//! `ξ(α) = (α / kC)^(1/(k−1))`,
//!
//! with derivative `ξ(α)`: at the optimum a dual variable determines the slack of its row. For `k = 2` the conjugate is
//! `α² / 4C`, which adds `1/2C` to the diagonal of the kernel matrix (Cortes & Vapnik 1995).

use mercer_num::simd::smo::MIN_CURVATURE;

/// The cost `Cᵢ ξᵏ` of the slack of every variable.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerSlack {
    /// `k`, above one.
    pub power: f64,
    /// `Cᵢ` of each variable.
    pub costs: Vec<f64>,
}

/// The smallest slack at which the curvature is evaluated: it can be unbounded as the dual variable approaches zero.
const MIN_CURVATURE_SLACK: f64 = 0.1;
/// The largest number of iterations of the step size search; each at least halves the bracket.
const MAX_STEP_ITERATIONS: usize = 100;

impl PowerSlack {
    /// `Cᵢ ξᵏ`.
    pub fn loss(&self, i: usize, slack: f64) -> f64 {
        self.costs[i] * slack.powf(self.power)
    }

    /// The slack `ξ(α)` that belongs to a dual variable.
    pub fn slack(&self, i: usize, alpha: f64) -> f64 {
        let ratio = alpha / (self.power * self.costs[i]);
        if self.power == 2.0 { ratio } else { ratio.powf(1.0 / (self.power - 1.0)) }
    }

    /// The dual variable that belongs to a slack.
    fn alpha(&self, i: usize, slack: f64) -> f64 {
        self.power * self.costs[i] * slack.powf(self.power - 1.0)
    }

    /// The convex conjugate of the cost, at a dual variable.
    pub fn conjugate(&self, i: usize, alpha: f64) -> f64 {
        (1.0 - 1.0 / self.power) * alpha * self.slack(i, alpha)
    }

    /// The second derivative of the conjugate, `ξ / (k − 1) α`.
    pub fn curvature(&self, i: usize, alpha: f64) -> f64 {
        if self.power == 2.0 {
            return 0.5 / self.costs[i];
        }
        let alpha = alpha.max(self.alpha(i, MIN_CURVATURE_SLACK));
        self.slack(i, alpha) / ((self.power - 1.0) * alpha)
    }

    /// The derivative of the conjugate at `|β|` with respect to the signed dual variable `β`.
    pub fn derivative(&self, i: usize, beta: f64) -> f64 {
        self.slack(i, beta.abs()).copysign(beta)
    }

    /// The step size that minimizes the objective while `βᵢ` increases and `βⱼ` decreases, at most `max_step`. It is the
    /// root of the decreasing function `slope − curvature t − (change of derivative i) − (change of derivative j)`,
    /// found by Newton's method with a bracket.
    pub fn step_size(
        &self,
        (i, beta_i): (usize, f64),
        (j, beta_j): (usize, f64),
        slope: f64,
        curvature: f64,
        max_step: f64,
    ) -> f64 {
        let curvature = curvature.max(0.0);
        if self.power == 2.0 {
            let own = self.curvature(i, 0.0) + self.curvature(j, 0.0);
            return (slope / (curvature + own).max(MIN_CURVATURE)).min(max_step);
        }
        let (derivative_i, derivative_j) = (self.derivative(i, beta_i), self.derivative(j, beta_j));
        let remaining = |t: f64| {
            let change_i = self.derivative(i, beta_i + t) - derivative_i;
            let change_j = derivative_j - self.derivative(j, beta_j - t);
            slope - curvature * t - change_i - change_j
        };
        // Each of the three terms alone bounds the root from above.
        let mut high = (slope / curvature.max(MIN_CURVATURE)).min(max_step);
        if beta_i >= 0.0 {
            high = high.min(self.alpha(i, derivative_i + slope) - beta_i);
        }
        if beta_j <= 0.0 {
            high = high.min(self.alpha(j, slope - derivative_j) + beta_j);
        }
        if high == max_step && remaining(max_step) >= 0.0 {
            return max_step;
        }
        let (mut low, mut t) = (0.0, 0.5 * high);
        for _ in 0..MAX_STEP_ITERATIONS {
            let here = remaining(t);
            if here > 0.0 {
                low = t
            } else {
                high = t
            }
            let second = |i: usize, beta: f64| {
                let alpha = beta.abs();
                if alpha > 0.0 {
                    self.slack(i, alpha) / ((self.power - 1.0) * alpha)
                } else {
                    f64::INFINITY
                }
            };
            let newton = t + here / (curvature + second(i, beta_i + t) + second(j, beta_j - t));
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
    fn conjugate_is_the_maximum_over_the_slack() {
        for power in [1.2, 2.0, 3.0, 7.5] {
            let slack = PowerSlack { power, costs: vec![0.7] };
            for alpha in [0.01, 0.5, 3.0] {
                let value = |xi: f64| alpha * xi - slack.loss(0, xi);
                let best = slack.slack(0, alpha);

                assert!((value(best) - slack.conjugate(0, alpha)).abs() < 1e-12);
                for other in [0.5 * best, 0.99 * best, 1.01 * best, 2.0 * best] {
                    assert!(value(other) < value(best));
                }
                // The closed form of the conjugate.
                let p = 1.0 / (power - 1.0);
                let closed = (power - 1.0) * (alpha / power).powf(power * p) * 0.7f64.powf(-p);
                assert!((closed / slack.conjugate(0, alpha) - 1.0).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn derivative_vanishes_at_the_step_size() {
        for power in [1.1, 1.5, 2.0, 2.5, 6.0] {
            let slack = PowerSlack { power, costs: vec![0.7, 2.0] };
            for (beta_i, beta_j) in [(0.0, 0.0), (0.3, -0.1), (0.2, 0.9), (-0.5, -0.2)] {
                for (slope, curvature) in [(1.5, 0.8), (0.01, 0.0), (0.2, 3.0)] {
                    let max_step = if beta_i < 0.0 { -beta_i } else { f64::INFINITY };
                    let max_step = if beta_j > 0.0 { max_step.min(beta_j) } else { max_step };

                    let t = slack.step_size((0, beta_i), (1, beta_j), slope, curvature, max_step);

                    let change_i = slack.derivative(0, beta_i + t) - slack.derivative(0, beta_i);
                    let change_j = slack.derivative(1, beta_j) - slack.derivative(1, beta_j - t);
                    let left = slope - curvature * t - change_i - change_j;
                    assert!(t > 0.0 && t <= max_step);
                    let at_bound = t == max_step && left > 0.0;
                    assert!(left.abs() < 1e-9 || at_bound, "{power}: {t}, {left}");
                }
            }
        }
    }
}
