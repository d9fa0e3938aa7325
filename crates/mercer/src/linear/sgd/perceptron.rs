//! The perceptron (Rosenblatt 1958): `if yᵢ (w·xᵢ + b) ≤ 0 then w ← w + η yᵢ xᵢ, b ← b + η yᵢ`.
//!
//! If a hyperplane with margin `γ` separates rows with `‖x‖ ≤ R`, the perceptron makes at most `R²/γ²` mistakes
//! (Novikoff 1962). If the classes are not linearly separable it does not converge, and the averaged weights
//! classify better than the last ones (Freund & Schapire 1999). More than two classes are one-vs-rest.

use super::learning_rate::{Average, LearningRate};
use super::linear_classifier::{Initialization, LinearClassifier};
use super::loss::Loss;
use super::options::SgdSettings;
use super::params::{EpochParams, PenaltyParams};
use crate::data::ClassWeightParam;
use crate::linear::logistic::Penalty;
use crate::model::{BoxedOutOfCoreFit, Shape};
use crate::prelude::*;

params! {
    /// Perceptron: a linear classifier updated on each misclassified row.
    pub struct Perceptron {
        ..PenaltyParams(Penalty::None);
        ..EpochParams;
        /// Learning rate: the factor of every update. Without a penalty it only scales the weights.
        eta0: f64 = 1.0, Above(0.0);
        ..ClassWeightParam(AtLeast(0.0));
    }
    formula = "if yᵢ(w·xᵢ + b) ≤ 0:  w ← w + η yᵢ xᵢ,  b ← b + η yᵢ";
    lecture = 14;
    attributes = [CLASS_COEF, CLASS_INTERCEPT, EPOCHS, UPDATES];
    sklearn {
        extra: &[VERBOSE_LEVEL, N_JOBS],
        spellings: SGD,
    }
}

/// The estimator of [`PerceptronModel`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfPerceptron;

/// A fitted perceptron.
pub type PerceptronModel = LinearClassifier<OfPerceptron>;

impl Perceptron {
    fn sgd_settings(&self) -> SgdSettings {
        sgd_settings! { self;
            loss: Loss::Hinge(0.0),
            penalty: self.penalty,
            alpha: self.alpha,
            l1_ratio: self.l1_ratio,
            rate: LearningRate::Constant,
            eta0: self.eta0,
            power_t: 0.5,
            class_weight: self.class_weight.clone(),
        }
    }
}

fit_by_sgd!(Perceptron => PerceptronModel);

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn two() -> Classes {
        Classes::from_names(["no", "yes"])
    }

    /// Rows in their given order.
    fn unshuffled() -> Perceptron {
        Perceptron::new().shuffle(false)
    }

    #[test]
    fn updates_match_a_hand_calculation() {
        // w = 0: row 1 (yes) has decision value 0, a mistake: w = (2, 1), b = 1. Row 2 (no): 1·2 − 1·1 + 1 = 2 > 0, a
        // mistake: w = (1, 2), b = 0. Row 3 (yes): 0·1 + 1·2 = 2, correct; row 4 (no): −1·1 − 1·2 = −3, correct. In
        // the next epoch row 1 has 4 and row 2 has 1 − 2 = −1, so all rows are correct.
        let x = array![[2.0, 1.0], [1.0, -1.0], [0.0, 1.0], [-1.0, -1.0]];
        let (classes, codes) = (two(), [1, 0, 1, 0]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let fitted = unshuffled().fit(&data, &Monitor::quiet()).unwrap();

        assert_eq!(fitted.coefficients, array![[1.0, 2.0]]);
        assert_eq!(fitted.intercepts, [0.0]);
        let text = fitted.certificate.to_string();
        assert_eq!(fitted.certificate.primal(), Some(0.0));
        // The closest row is the second, at distance 1/√5; R² = 2² + 1² + 1.
        assert!(text.contains("2 updates; separated with a margin of 0.4472"), "{text}");
        assert!(text.contains("bounds the updates by 30 (Novikoff)"), "{text}");
    }

    #[test]
    fn inseparable_rows_have_no_margin_in_the_certificate() {
        let x = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let (classes, codes) = (two(), [0, 1, 1, 0]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let fitted = unshuffled().max_iter(50).fit(&data, &Monitor::quiet()).unwrap();

        let certificate = &fitted.certificate;
        assert!(certificate.primal().unwrap() > 0.0);
        assert!(certificate.dual.is_none() && !certificate.to_string().contains("separated"));
    }

    #[test]
    fn averaged_weights_are_reported_and_training_continues_from_the_last() {
        // One column: (w, b) after each row is (2, 1), (1, 0), (1, 0), with average (4/3, 1/3).
        let x = array![[2.0], [1.0], [3.0]];
        let (classes, codes) = (two(), [1, 0, 1]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let averaged = unshuffled().average(Average::Switch(true));
        let model = averaged.partial_fit(None, &data, &Monitor::quiet()).unwrap().model;

        assert!((model.coefficients[[0, 0]] - 4.0 / 3.0).abs() < 1e-15);
        assert!((model.intercepts[0] - 1.0 / 3.0).abs() < 1e-15);
        let last = model.last.unwrap();
        assert_eq!((last.last_coefficients[[0, 0]], last.last_intercepts[0]), (1.0, 0.0));
    }

    #[test]
    fn partial_fits_equal_one_epoch_over_all_rows() {
        let x = Matrix::from_shape_fn((30, 3), |(i, j)| ((i * 7 + j * 5) % 11) as f64 - 5.0);
        let codes: Vec<u32> = (0..30).map(|i| (i % 3) as u32).collect();
        let classes = Classes::from_names(["a", "b", "c"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let params = unshuffled().average(Average::From(4));

        let whole = params.partial_fit(None, &data, &Monitor::quiet()).unwrap().model;
        let mut parts =
            params.partial_fit(None, &data.slice(0..7), &Monitor::quiet()).unwrap().model;
        for range in [7..8, 8..21, 21..30] {
            let part = data.slice(range);
            parts = params.partial_fit(Some(&parts), &part, &Monitor::quiet()).unwrap().model;
        }

        assert_eq!((parts.t, parts.t), (31, whole.t));
        for (a, b) in parts.coefficients.iter().zip(&whole.coefficients) {
            assert!((a - b).abs() < 1e-12);
        }
    }

    #[test]
    fn balanced_class_weights_are_refused_for_partial_fit() {
        let x = array![[1.0], [2.0]];
        let classes = two();
        let data = Dataset::classes(&x, &[0, 1], &classes).unwrap();
        let balanced = serde_json::from_value(serde_json::json!("balanced")).unwrap();

        let refused =
            unshuffled().class_weight(balanced).partial_fit(None, &data, &Monitor::quiet());

        assert!(matches!(refused, Err(Error::Parameter { name, .. }) if name == "class_weight"));
    }
}
