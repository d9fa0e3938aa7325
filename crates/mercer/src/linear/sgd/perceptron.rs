//! The perceptron: a plane that moves towards every row on its wrong side.
//!
//! `if yᵢ (w·xᵢ + b) ≤ 0 then w ← w + η yᵢ xᵢ, b ← b + η yᵢ` (Rosenblatt 1958). Where a plane with margin `γ`
//! separates rows no longer than `R`, it makes at most `R²/γ²` mistakes (Novikoff 1962); where none does, it
//! never comes to rest, and the mean of its planes does better than the last (Freund & Schapire 1999). Of
//! more than two classes each has a plane against the others.

use super::learning_rate::{Average, LearningRate};
use super::linear_classifier::{Begin, LinearClassifier};
use super::loss::Loss;
use super::out_of_core;
use super::rows::Asked;
use crate::data::ClassWeight;
use crate::linear::logistic::Penalty;
use crate::model::{BoxedParts, Shape};
use crate::prelude::*;

params! {
    /// The perceptron: a plane that moves towards every row on its wrong side.
    pub struct Perceptron {
        /// What large weights cost: half their squared length (`l2`), the sum of their absolute values
        /// (`l1`), a mix of both (`elasticnet`) or nothing (`none`).
        penalty: Penalty = Penalty::None, OneOf(Penalty::WORDS);
        /// The price on large weights, if they have one. Larger values keep them smaller.
        alpha: f64 = 0.0001, AtLeast(0.0);
        /// The share of the absolute values in the price `elasticnet`.
        l1_ratio: f64 = 0.15, Between(0.0, 1.0);
        /// Whether there are constant terms.
        fit_intercept: bool = true, Any;
        /// Passes over the rows after which to stop in any case; the certificate then says so.
        max_iter: usize = 1000, AtLeast(1.0);
        /// Passes that lower the mean loss by less than this gain nothing. Nothing makes all passes.
        tol: Option<f64> = Some(1e-3), AtLeast(0.0);
        /// Whether every pass takes the rows in another order.
        shuffle: bool = true, Any;
        /// How far a mistake moves the plane. Without a price it scales the weights and nothing else.
        eta0: f64 = 1.0, Above(0.0);
        /// What the order of rows is drawn by.
        random_state: usize = 0, Any;
        /// Whether some rows are kept to judge the passes by, instead of the mean loss.
        early_stopping: bool = false, Any;
        /// The share of such rows.
        validation_fraction: f64 = 0.1, Between(0.0, 1.0);
        /// The fit ends after so many passes in a row that gain nothing.
        n_iter_no_change: usize = 5, AtLeast(1.0);
        /// How much the rows of each class count: `balanced`, or a number for every class.
        class_weight: Option<ClassWeight> = None, AtLeast(0.0);
        /// Whether the planes that are kept are the means over all steps, or over those from this one on:
        /// they do better where no plane separates the rows.
        average: Average = Average::Switch(false), AtLeast(1.0);
        /// How far the constant term moves beside the weights. Nothing is 1, and 0.01 for sparse rows.
        intercept_decay: Option<f64> = None, Above(0.0);
    }
}

/// The estimator of [`PerceptronModel`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfPerceptron;

/// The planes of a perceptron.
pub type PerceptronModel = LinearClassifier<OfPerceptron>;

impl Perceptron {
    fn asked(&self) -> Asked {
        Asked {
            loss: Loss::Hinge(0.0),
            penalty: self.penalty,
            alpha: self.alpha,
            l1_ratio: self.l1_ratio,
            rate: LearningRate::Constant,
            eta0: self.eta0,
            power_t: 0.5,
            fit_intercept: self.fit_intercept,
            intercept_decay: self.intercept_decay,
            average: self.average,
            max_iter: self.max_iter,
            tol: self.tol,
            n_iter_no_change: self.n_iter_no_change,
            shuffle: self.shuffle,
            random_state: self.random_state,
            validation: self.early_stopping.then_some(self.validation_fraction),
        }
    }

    fn learn(
        &self,
        from: Begin<'_, PerceptronModel>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<PerceptronModel>> {
        self.check()?;
        LinearClassifier::learn(&self.asked(), self.class_weight.as_ref(), from, data, monitor)
    }

    fn begin_parts(&self, shape: &Shape<'_>) -> Result<BoxedParts<PerceptronModel>> {
        self.check()?;
        out_of_core::of_classes(self.asked(), self.class_weight.as_ref(), shape)
    }
}

by_rows!(Perceptron => PerceptronModel);

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn two() -> Classes {
        Classes::from_names(["no", "yes"])
    }

    /// Rows as they come, passes until none gains.
    fn plain() -> Perceptron {
        Perceptron::new().shuffle(false)
    }

    #[test]
    fn mistakes_move_the_plane_as_by_hand() {
        // w = 0: row 1 (yes) on the plane, w = (2, 1), b = 1; row 2 (no): 1·2 − 1·1 + 1 = 2 > 0, a mistake,
        // w = (1, 2), b = 0; row 3 (yes): 0·1 + 1·2 = 2 right; row 4 (no): −1·1 − 1·2 = −3 right. From then
        // on row 1: 4, row 2: 1 − 2 = −1, so that all are right.
        let x = array![[2.0, 1.0], [1.0, -1.0], [0.0, 1.0], [-1.0, -1.0]];
        let (classes, codes) = (two(), [1, 0, 1, 0]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let fitted = plain().fit(&data, &Monitor::quiet()).unwrap();

        assert_eq!(fitted.coefficients, array![[1.0, 2.0]]);
        assert_eq!(fitted.intercepts, [0.0]);
        let told = fitted.certificate.to_string();
        assert_eq!(fitted.certificate.primal(), Some(0.0));
        // The nearest row is the second, 1/√5 away; R² = 2² + 1² + 1.
        assert!(told.contains("2 updates; separated with a margin of 0.4472"), "{told}");
        assert!(told.contains("bounds the updates by 30 (Novikoff)"), "{told}");
    }

    #[test]
    fn rows_no_plane_separates_are_not_said_to_be() {
        let x = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let (classes, codes) = (two(), [0, 1, 1, 0]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let fitted = plain().max_iter(50).fit(&data, &Monitor::quiet()).unwrap();

        let certificate = &fitted.certificate;
        assert!(certificate.primal().unwrap() > 0.0);
        assert!(certificate.dual.is_none() && !certificate.to_string().contains("separated"));
    }

    #[test]
    fn the_mean_of_planes_is_kept_and_the_last_goes_on() {
        // One column: planes after each row are (2, 1), (1, 0), (1, 0): the mean is (4/3, 1/3).
        let x = array![[2.0], [1.0], [3.0]];
        let (classes, codes) = (two(), [1, 0, 1]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let averaged = plain().average(Average::Switch(true));
        let model = averaged.learn_on(None, &data, &Monitor::quiet()).unwrap().model;

        assert!((model.coefficients[[0, 0]] - 4.0 / 3.0).abs() < 1e-15);
        assert!((model.intercepts[0] - 1.0 / 3.0).abs() < 1e-15);
        let last = model.last.unwrap();
        assert_eq!((last.last_coefficients[[0, 0]], last.last_intercepts[0]), (1.0, 0.0));
    }

    #[test]
    fn rows_in_parts_are_one_pass_over_all_of_them() {
        let x = Matrix::from_shape_fn((30, 3), |(i, j)| ((i * 7 + j * 5) % 11) as f64 - 5.0);
        let codes: Vec<u32> = (0..30).map(|i| (i % 3) as u32).collect();
        let classes = Classes::from_names(["a", "b", "c"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let params = plain().average(Average::From(4));

        let whole = params.learn_on(None, &data, &Monitor::quiet()).unwrap().model;
        let mut parts = params.learn_on(None, &data.slice(0..7), &Monitor::quiet()).unwrap().model;
        for range in [7..8, 8..21, 21..30] {
            let part = data.slice(range);
            parts = params.learn_on(Some(&parts), &part, &Monitor::quiet()).unwrap().model;
        }

        assert_eq!((parts.t, parts.t), (31, whole.t));
        for (a, b) in parts.coefficients.iter().zip(&whole.coefficients) {
            assert!((a - b).abs() < 1e-12);
        }
    }

    #[test]
    fn balanced_classes_of_parts_are_refused() {
        let x = array![[1.0], [2.0]];
        let classes = two();
        let data = Dataset::classes(&x, &[0, 1], &classes).unwrap();
        let balanced = serde_json::from_value(serde_json::json!("balanced")).unwrap();

        let refused = plain().class_weight(balanced).learn_on(None, &data, &Monitor::quiet());

        assert!(matches!(refused, Err(Error::Parameter { name, .. }) if name == "class_weight"));
    }
}
