//! Loss functions `L(y, p)` of the prediction `p`, for a regression target or a class `y = ±1`.
//!
//! Every loss is convex in `p` and nonnegative. Its derivatives, scaled towards zero where feasibility needs it, are
//! therefore a dual point, and the convex conjugates `L*(a) = sup_p ap − L(p)` give a lower bound on the objective.

use crate::choice;

choice! {
    /// The loss of a classifier as a function of the margin `yp`.
    pub enum ClassificationLoss {
        /// `max(0, 1 − yp)`: a linear support vector machine.
        Hinge = "hinge",
        /// `log(1 + exp(−yp))`: logistic regression.
        Log = "log_loss",
        /// `max(0, 1 − yp)²`, and `−4yp` below −1: smooth, tolerates outliers, and gives probabilities.
        ModifiedHuber = "modified_huber",
        /// `max(0, 1 − yp)²`.
        SquaredHinge = "squared_hinge",
        /// `max(0, −yp)`: the loss of the perceptron.
        Perceptron = "perceptron",
        /// `½ (p − y)²`.
        SquaredError = "squared_error",
        /// The squared error for residuals up to `epsilon`, linear beyond.
        Huber = "huber",
        /// `max(0, |p − y| − epsilon)`.
        EpsilonInsensitive = "epsilon_insensitive",
        /// `max(0, |p − y| − epsilon)²`.
        SquaredEpsilonInsensitive = "squared_epsilon_insensitive",
    }
}

choice! {
    /// The loss of a regressor as a function of the residual `p − y`.
    pub enum SgdRegressionLoss {
        /// `½ (p − y)²`.
        SquaredError = "squared_error",
        /// The squared error for residuals up to `epsilon`, linear beyond.
        Huber = "huber",
        /// `max(0, |p − y| − epsilon)`.
        EpsilonInsensitive = "epsilon_insensitive",
        /// `max(0, |p − y| − epsilon)²`.
        SquaredEpsilonInsensitive = "squared_epsilon_insensitive",
    }
}

/// A loss with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Loss {
    /// `max(0, θ − yp)`.
    Hinge(f64),
    SquaredHinge,
    Log,
    ModifiedHuber,
    Squared,
    Huber(f64),
    EpsilonInsensitive(f64),
    SquaredEpsilonInsensitive(f64),
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
            ClassificationLoss::EpsilonInsensitive => Loss::EpsilonInsensitive(epsilon),
            ClassificationLoss::SquaredEpsilonInsensitive => {
                Loss::SquaredEpsilonInsensitive(epsilon)
            }
        }
    }
}

impl SgdRegressionLoss {
    pub(crate) fn with(self, epsilon: f64) -> Loss {
        match self {
            SgdRegressionLoss::SquaredError => Loss::Squared,
            SgdRegressionLoss::Huber => Loss::Huber(epsilon),
            SgdRegressionLoss::EpsilonInsensitive => Loss::EpsilonInsensitive(epsilon),
            SgdRegressionLoss::SquaredEpsilonInsensitive => {
                Loss::SquaredEpsilonInsensitive(epsilon)
            }
        }
    }
}

impl Loss {
    /// The loss of a prediction.
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
            Loss::EpsilonInsensitive(epsilon) => (r.abs() - epsilon).max(0.0),
            Loss::SquaredEpsilonInsensitive(epsilon) => (r.abs() - epsilon).max(0.0).powi(2),
        }
    }

    /// A subgradient in the prediction. At `yp = θ` the hinge loss takes the nonzero one: a row on the hyperplane is a
    /// mistake of the perceptron.
    pub fn derivative(self, y: f64, p: f64) -> f64 {
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
            Loss::EpsilonInsensitive(epsilon) if r.abs() > epsilon => r.signum(),
            Loss::EpsilonInsensitive(_) => 0.0,
            Loss::SquaredEpsilonInsensitive(epsilon) => {
                2.0 * r.signum() * (r.abs() - epsilon).max(0.0)
            }
        }
    }

    /// The convex conjugate `L*(a)`, for `a` between zero and a derivative of the loss.
    pub fn conjugate(self, y: f64, a: f64) -> f64 {
        let u = y * a;
        let negative_entropy = |q: f64| if q > 0.0 { q * q.ln() } else { 0.0 };
        match self {
            Loss::Hinge(threshold) => threshold * u,
            Loss::SquaredHinge | Loss::ModifiedHuber => u + 0.25 * u * u,
            Loss::Log => negative_entropy(-u) + negative_entropy(1.0 + u),
            Loss::Squared | Loss::Huber(_) => a * y + 0.5 * a * a,
            Loss::EpsilonInsensitive(epsilon) => a * y + epsilon * a.abs(),
            Loss::SquaredEpsilonInsensitive(epsilon) => a * y + epsilon * a.abs() + 0.25 * a * a,
        }
    }

    /// Whether this is the loss of the perceptron, which is zero for every correctly classified row.
    pub fn is_perceptron(self) -> bool {
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
        Loss::EpsilonInsensitive(0.2),
        Loss::SquaredEpsilonInsensitive(0.2),
    ];

    #[test]
    fn derivatives_match_finite_differences() {
        for loss in ALL {
            for y in [-1.0, 1.0] {
                for p in [-7.3, -1.7, -0.93, -0.11, 0.07, 0.61, 1.43, 5.9] {
                    let h = 1e-6;
                    let difference = loss.value(y, p + h) - loss.value(y, p - h);
                    let derivative = loss.derivative(y, p);

                    assert!((difference / (2.0 * h) - derivative).abs() < 1e-6, "{loss:?} {y} {p}");
                    // Fenchel-Young equality: L(p) + L*(L'(p)) = p L'(p).
                    let tangent = derivative * p - loss.value(y, p);
                    assert!(
                        (loss.conjugate(y, derivative) - tangent).abs() < 1e-12,
                        "{loss:?} {y} {p}"
                    );
                }
            }
        }
    }

    #[test]
    fn scaled_derivatives_give_lower_bounds() {
        for loss in ALL {
            for y in [-1.0, 1.0] {
                for p in [-3.0, -0.4, 0.2, 2.5] {
                    for fraction in [0.0, 0.3, 1.0] {
                        let a = fraction * loss.derivative(y, p);
                        for q in [-4.0, -1.0, 0.0, 0.5, 1.0, 3.0] {
                            assert!(a * q - loss.conjugate(y, a) <= loss.value(y, q) + 1e-12);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn log_loss_is_finite_for_extreme_predictions() {
        for p in [-1e6, -800.0, 800.0, 1e6] {
            assert!(
                Loss::Log.value(1.0, p).is_finite() && Loss::Log.derivative(1.0, p).is_finite()
            );
        }
        assert_eq!(Loss::Log.value(1.0, -1e6), 1e6);
    }
}
