//! Loss functions: the loss matrix of a classifier and losses of regression.

use crate::error::{Error, Result};
use mercer_num::Matrix;
use serde::{Deserialize, Serialize};

/// The loss of every prediction for every true class, and of a rejection.
///
/// ```
/// use mercer::decision::Costs;
/// // A miss costs ten times as much as a false alarm.
/// let costs = Costs::new(ndarray::array![[0.0, 1.0], [10.0, 0.0]])?;
/// // The positive class is predicted from a probability of 1/11.
/// assert_eq!(costs.threshold(), Some(1.0 / 11.0));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    matrix: Matrix,
    reject: Option<f64>,
}

impl Costs {
    /// 0-1 loss: every error costs one, and the best rule predicts the most probable class.
    pub fn zero_one(n_classes: usize) -> Costs {
        let matrix =
            Matrix::from_shape_fn((n_classes, n_classes), |(c, a)| f64::from(u8::from(c != a)));
        Costs { matrix, reject: None }
    }

    /// One row per true class, one column per predicted class. Gains are negative costs.
    ///
    /// # Errors
    /// If the matrix is not square, or a cost is not finite.
    pub fn new(matrix: Matrix) -> Result<Costs> {
        let (rows, columns) = matrix.dim();
        if rows == 0 {
            return Err(Error::Parameter {
                name: "costs".into(),
                found: "an empty matrix".into(),
                expected: "one row for each true class".into(),
            });
        }
        if rows != columns {
            return Err(Error::Length {
                what: "a row of the cost matrix".into(),
                found: columns,
                expected: rows,
            });
        }
        for ((c, a), cost) in matrix.indexed_iter() {
            if !cost.is_finite() {
                return Err(Error::Number {
                    what: format!("the cost of predicting class {} for class {}", a + 1, c + 1),
                    value: *cost,
                    expected: "a finite number".into(),
                });
            }
        }
        Ok(Costs { matrix, reject: None })
    }

    /// Adds the reject option with its cost.
    ///
    /// # Errors
    /// If the cost is not finite.
    pub fn with_reject(mut self, cost: f64) -> Result<Costs> {
        if !cost.is_finite() {
            return Err(Error::Number {
                what: "the cost of a rejection".into(),
                value: cost,
                expected: "a finite number".into(),
            });
        }
        self.reject = Some(cost);
        Ok(self)
    }

    /// The number of classes.
    pub fn n_classes(&self) -> usize {
        self.matrix.nrows()
    }

    /// One row per true class, one column per predicted class.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The cost of a rejection; `None` if there is no reject option.
    pub fn reject(&self) -> Option<f64> {
        self.reject
    }

    /// The cost of a prediction for a true class.
    ///
    /// # Panics
    /// If a class is out of range.
    pub fn cost(&self, truth: usize, predicted: usize) -> f64 {
        self.matrix[[truth, predicted]]
    }

    /// For two classes, the probability from which the second is predicted. `None` if there are more classes, or if
    /// one class is never the better prediction.
    pub fn threshold(&self) -> Option<f64> {
        if self.n_classes() != 2 {
            return None;
        }
        let alarm = self.cost(0, 1) - self.cost(0, 0);
        let miss = self.cost(1, 0) - self.cost(1, 1);
        (alarm > 0.0 && miss > 0.0).then(|| alarm / (alarm + miss))
    }
}

/// A regression loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RegressionLoss {
    /// `(y − a)²`, minimized by the mean.
    Squared,
    /// `|y − a|`, minimized by the median.
    Absolute,
    /// 1 if `y ≠ a` and 0 otherwise, minimized by the mode.
    #[serde(rename = "zero-one")]
    ZeroOne,
    /// The pinball loss, `q (y − a)` if `a < y` and `(1 − q)(a − y)` otherwise, minimized by the
    /// `q`-quantile.
    Quantile(f64),
}

impl RegressionLoss {
    /// The loss of a prediction for the target `y`.
    pub fn loss(&self, y: f64, predicted: f64) -> f64 {
        let d = y - predicted;
        match self {
            RegressionLoss::Squared => d * d,
            RegressionLoss::Absolute => d.abs(),
            RegressionLoss::ZeroOne => f64::from(u8::from(d != 0.0)),
            RegressionLoss::Quantile(q) => (q * d).max((q - 1.0) * d),
        }
    }

    /// The prediction of least expected loss for a distribution given as values and weights. Ties go to the smallest.
    ///
    /// ```
    /// use mercer::decision::RegressionLoss;
    /// let (values, posterior) = ([0.0, 1.0, 10.0], [0.3, 0.4, 0.3]);
    /// assert_eq!(RegressionLoss::Squared.best(&values, &posterior)?, 3.4);
    /// assert_eq!(RegressionLoss::Absolute.best(&values, &posterior)?, 1.0);
    /// assert_eq!(RegressionLoss::ZeroOne.best(&values, &posterior)?, 1.0);
    /// assert_eq!(RegressionLoss::Quantile(0.9).best(&values, &posterior)?, 10.0);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    ///
    /// # Errors
    /// If lengths differ, all weights are zero, or a value, weight or quantile is invalid.
    pub fn best(&self, values: &[f64], weights: &[f64]) -> Result<f64> {
        let total = self.check(values, weights)?;
        let quantile = match self {
            RegressionLoss::Squared => {
                let first = values[0];
                let shift: f64 = values.iter().zip(weights).map(|(y, w)| w * (y - first)).sum();
                return Ok(first + shift / total);
            }
            RegressionLoss::ZeroOne => return Ok(mode(values, weights)),
            RegressionLoss::Absolute => 0.5,
            RegressionLoss::Quantile(q) => *q,
        };
        let mut order: Vec<usize> = (0..values.len()).filter(|i| weights[*i] > 0.0).collect();
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        let mut below = 0.0;
        for i in &order {
            below += weights[*i];
            // The sum of ten tenths may round to less than one.
            if below >= quantile * total * (1.0 - 1e-12) {
                return Ok(values[*i]);
            }
        }
        Ok(order.last().map_or(f64::NAN, |i| values[*i]))
    }

    /// The expected loss of a prediction.
    ///
    /// # Errors
    /// As [`RegressionLoss::best`].
    pub fn risk(&self, values: &[f64], weights: &[f64], predicted: f64) -> Result<f64> {
        let total = self.check(values, weights)?;
        let sum: f64 = values.iter().zip(weights).map(|(y, w)| w * self.loss(*y, predicted)).sum();
        Ok(sum / total)
    }

    fn check(&self, values: &[f64], weights: &[f64]) -> Result<f64> {
        if values.len() != weights.len() {
            return Err(Error::Length {
                what: "the weights".into(),
                found: weights.len(),
                expected: values.len(),
            });
        }
        if let Some((row, value)) = values.iter().enumerate().find(|(_, y)| !y.is_finite()) {
            return Err(Error::NotFinite { row, column: 0, value: *value });
        }
        for (row, value) in weights.iter().enumerate() {
            if !(*value >= 0.0 && value.is_finite()) {
                return Err(Error::Weight { row, value: *value });
            }
        }
        if let RegressionLoss::Quantile(q) = self
            && !(*q > 0.0 && *q < 1.0)
        {
            return Err(Error::Number {
                what: "the quantile".into(),
                value: *q,
                expected: "between 0 and 1".into(),
            });
        }
        let total: f64 = weights.iter().sum();
        if total > 0.0 { Ok(total) } else { Err(Error::NoRows) }
    }
}

/// The value of largest total weight; ties go to the smallest.
fn mode(values: &[f64], weights: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut best = (f64::NAN, 0.0);
    for same in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let weight: f64 = same.iter().map(|i| weights[*i]).sum();
        if weight > best.1 {
            best = (values[same[0]], weight);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn invalid_costs_are_refused() {
        let wide = Costs::new(array![[0.0, 1.0, 2.0], [1.0, 0.0, 2.0]]).unwrap_err();
        let infinite = Costs::new(array![[0.0, f64::INFINITY], [1.0, 0.0]]).unwrap_err();

        assert!(matches!(wide, Error::Length { found: 3, expected: 2, .. }));
        assert!(infinite.to_string().contains("predicting class 2 for class 1"));
        assert!(Costs::zero_one(2).with_reject(f64::NAN).is_err());
    }

    #[test]
    fn no_other_prediction_has_less_risk() {
        let values = [3.0, -1.0, 4.0, 1.5, 9.0];
        let weights = [1.0, 2.0, 0.5, 3.0, 0.25];

        for loss in [
            RegressionLoss::Squared,
            RegressionLoss::Absolute,
            RegressionLoss::Quantile(0.1),
            RegressionLoss::Quantile(0.8),
        ] {
            let best = loss.best(&values, &weights).unwrap();
            let least = loss.risk(&values, &weights, best).unwrap();
            for k in -20..=100 {
                let other = loss.risk(&values, &weights, f64::from(k) / 10.0).unwrap();
                assert!(least <= other + 1e-12, "{loss:?}: {best} costs {least}");
            }
        }
        assert!(RegressionLoss::Quantile(1.5).best(&values, &weights).is_err());
        assert!(RegressionLoss::Squared.best(&[], &[]).is_err());
    }
}
