//! What a row costs, by its score `p` and what it should be, `y`: a number, or 1 and −1 for the two sides of
//! a plane.
//!
//! Every loss is convex in `p` and at least zero, so that its slopes, drawn towards zero as far as needed,
//! make a point of the dual problem, and the conjugates `L*(a) = sup_p ap − L(p)` a bound on the objective.

use crate::choice;

choice! {
    /// What a row costs a plane between two sides.
    pub enum ClassificationLoss {
        /// `max(0, 1 − yp)`: a linear support vector machine.
        Hinge = "hinge",
        /// `log(1 + exp(−yp))`: logistic regression.
        Log = "log_loss",
        /// `max(0, 1 − yp)²`, and `−4yp` below −1: smooth, gives probabilities, bears outliers.
        ModifiedHuber = "modified_huber",
        /// `max(0, 1 − yp)²`.
        SquaredHinge = "squared_hinge",
        /// `max(0, −yp)`: only mistakes cost.
        Perceptron = "perceptron",
        /// `½ (p − y)²`.
        SquaredError = "squared_error",
        /// The same near the target, straight where it is farther away than `epsilon`.
        Huber = "huber",
        /// `max(0, |p − y| − epsilon)`.
        EpsilonInsensitive = "epsilon_insensitive",
        /// The square of that.
        SquaredEpsilonInsensitive = "squared_epsilon_insensitive",
    }
}

choice! {
    /// What a row costs a plane through numbers.
    pub enum SgdRegressionLoss {
        /// `½ (p − y)²`.
        SquaredError = "squared_error",
        /// The same near the target, straight where it is farther away than `epsilon`.
        Huber = "huber",
        /// `max(0, |p − y| − epsilon)`.
        EpsilonInsensitive = "epsilon_insensitive",
        /// The square of that.
        SquaredEpsilonInsensitive = "squared_epsilon_insensitive",
    }
}

/// A loss with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Loss {
    /// `max(0, θ − yp)`.
    Hinge(f64),
    SquaredHinge,
    Log,
    ModifiedHuber,
    Squared,
    Huber(f64),
    Tube(f64),
    SquaredTube(f64),
}

impl ClassificationLoss {
    pub(crate) fn with(self, epsilon: f64) -> Loss {
        match self {
            ClassificationLoss::Hinge => Loss::Hinge(1.0),
            ClassificationLoss::Log => Loss::Log,
            ClassificationLoss::ModifiedHuber => Loss::ModifiedHuber,
            ClassificationLoss::SquaredHinge => Loss::SquaredHinge,
            ClassificationLoss::Perceptron => Loss::Hinge(0.0),
            ClassificationLoss::SquaredError => Loss::Squared,
            ClassificationLoss::Huber => Loss::Huber(epsilon),
            ClassificationLoss::EpsilonInsensitive => Loss::Tube(epsilon),
            ClassificationLoss::SquaredEpsilonInsensitive => Loss::SquaredTube(epsilon),
        }
    }
}

impl SgdRegressionLoss {
    pub(crate) fn with(self, epsilon: f64) -> Loss {
        match self {
            SgdRegressionLoss::SquaredError => Loss::Squared,
            SgdRegressionLoss::Huber => Loss::Huber(epsilon),
            SgdRegressionLoss::EpsilonInsensitive => Loss::Tube(epsilon),
            SgdRegressionLoss::SquaredEpsilonInsensitive => Loss::SquaredTube(epsilon),
        }
    }
}

impl Loss {
    /// The loss of a score.
    pub fn value(self, y: f64, p: f64) -> f64 {
        let (z, r) = (y * p, p - y);
        match self {
            Loss::Hinge(threshold) => (threshold - z).max(0.0),
            Loss::SquaredHinge => (1.0 - z).max(0.0).powi(2),
            Loss::Log if z > 0.0 => (-z).exp().ln_1p(),
            Loss::Log => z.exp().ln_1p() - z,
            Loss::ModifiedHuber if z < -1.0 => -4.0 * z,
            Loss::ModifiedHuber => (1.0 - z).max(0.0).powi(2),
            Loss::Squared => 0.5 * r * r,
            Loss::Huber(c) if r.abs() <= c => 0.5 * r * r,
            Loss::Huber(c) => c * (r.abs() - 0.5 * c),
            Loss::Tube(epsilon) => (r.abs() - epsilon).max(0.0),
            Loss::SquaredTube(epsilon) => (r.abs() - epsilon).max(0.0).powi(2),
        }
    }

    /// Its slope in the score; where it has a kink, that of the side the lecture takes: a row on a plane
    /// counts as a mistake.
    pub fn slope(self, y: f64, p: f64) -> f64 {
        let (z, r) = (y * p, p - y);
        match self {
            Loss::Hinge(threshold) if z <= threshold => -y,
            Loss::Hinge(_) => 0.0,
            Loss::SquaredHinge => -2.0 * y * (1.0 - z).max(0.0),
            Loss::Log => -y / (z.exp() + 1.0),
            Loss::ModifiedHuber if z < -1.0 => -4.0 * y,
            Loss::ModifiedHuber => -2.0 * y * (1.0 - z).max(0.0),
            Loss::Squared => r,
            Loss::Huber(c) => r.clamp(-c, c),
            Loss::Tube(epsilon) if r.abs() > epsilon => r.signum(),
            Loss::Tube(_) => 0.0,
            Loss::SquaredTube(epsilon) => 2.0 * r.signum() * (r.abs() - epsilon).max(0.0),
        }
    }

    /// `L*(a)` for a slope drawn towards zero.
    pub fn conjugate(self, y: f64, a: f64) -> f64 {
        let u = y * a;
        let information = |q: f64| if q > 0.0 { q * q.ln() } else { 0.0 };
        match self {
            Loss::Hinge(threshold) => threshold * u,
            Loss::SquaredHinge | Loss::ModifiedHuber => u + 0.25 * u * u,
            Loss::Log => information(-u) + information(1.0 + u),
            Loss::Squared | Loss::Huber(_) => a * y + 0.5 * a * a,
            Loss::Tube(epsilon) => a * y + epsilon * a.abs(),
            Loss::SquaredTube(epsilon) => a * y + epsilon * a.abs() + 0.25 * a * a,
        }
    }

    /// Whether a score on the right side of zero is all it asks for.
    pub fn counts_mistakes(self) -> bool {
        self == Loss::Hinge(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Loss; 9] = [
        Loss::Hinge(1.0),
        Loss::Hinge(0.0),
        Loss::SquaredHinge,
        Loss::Log,
        Loss::ModifiedHuber,
        Loss::Squared,
        Loss::Huber(0.3),
        Loss::Tube(0.2),
        Loss::SquaredTube(0.2),
    ];

    #[test]
    fn slopes_are_those_of_the_values() {
        for loss in ALL {
            for y in [-1.0, 1.0] {
                for p in [-7.3, -1.7, -0.93, -0.11, 0.07, 0.61, 1.43, 5.9] {
                    let h = 1e-6;
                    let difference = loss.value(y, p + h) - loss.value(y, p - h);
                    let slope = loss.slope(y, p);

                    assert!((difference / (2.0 * h) - slope).abs() < 1e-6, "{loss:?} {y} {p}");
                    // Fenchel: the line of slope `a` through the point touches the conjugate.
                    let touched = slope * p - loss.value(y, p);
                    assert!((loss.conjugate(y, slope) - touched).abs() < 1e-12, "{loss:?} {y} {p}");
                }
            }
        }
    }

    #[test]
    fn shorter_slopes_still_bound_the_loss_from_below() {
        for loss in ALL {
            for y in [-1.0, 1.0] {
                for p in [-3.0, -0.4, 0.2, 2.5] {
                    for short in [0.0, 0.3, 1.0] {
                        let a = short * loss.slope(y, p);
                        for q in [-4.0, -1.0, 0.0, 0.5, 1.0, 3.0] {
                            assert!(a * q - loss.conjugate(y, a) <= loss.value(y, q) + 1e-12);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_log_loss_of_any_score_is_finite() {
        for p in [-1e6, -800.0, 800.0, 1e6] {
            assert!(Loss::Log.value(1.0, p).is_finite() && Loss::Log.slope(1.0, p).is_finite());
        }
        assert_eq!(Loss::Log.value(1.0, -1e6), 1e6);
    }
}
