//! Evaluation of a regressor on rows of known target: R², RMSE, MAE, median and largest error.

use serde::Serialize;

/// The maximum number of errors stored for their median.
const MAX_ERRORS: usize = 1 << 20;
/// The maximum number of points stored for a plot.
const MAX_POINTS: usize = 2000;

/// Sums over evaluated rows.
#[derive(Clone, Debug, PartialEq)]
pub struct RegressionEvaluation {
    n_rows: u64,
    /// The sum of the weights.
    n: f64,
    mean: f64,
    /// `Σ (y − mean)²`.
    spread: f64,
    squares: f64,
    absolutes: f64,
    signed: f64,
    largest: f64,
    errors: Subsample<f64>,
    points: Subsample<(f64, f64)>,
}

impl Default for RegressionEvaluation {
    fn default() -> Self {
        RegressionEvaluation {
            n_rows: 0,
            n: 0.0,
            mean: 0.0,
            spread: 0.0,
            squares: 0.0,
            absolutes: 0.0,
            signed: 0.0,
            largest: 0.0,
            errors: Subsample::new(MAX_ERRORS),
            points: Subsample::new(MAX_POINTS),
        }
    }
}

impl RegressionEvaluation {
    /// Adds rows with their targets and predictions.
    pub fn push(&mut self, truth: &[f64], predicted: &[f64]) {
        self.push_weighted(truth, predicted, &[]);
    }

    /// As [`RegressionEvaluation::push`], with sample weights: a row of weight two counts as two rows. The median error
    /// is that of the rows of positive weight.
    pub fn push_weighted(&mut self, truth: &[f64], predicted: &[f64], weights: &[f64]) {
        for (i, (y, p)) in truth.iter().zip(predicted).enumerate() {
            let weight = weights.get(i).copied().unwrap_or(1.0);
            self.n_rows += 1;
            if weight == 0.0 {
                continue;
            }
            self.n += weight;
            // Welford (1962): one pass without cancellation.
            let d = y - self.mean;
            self.mean += weight * d / self.n;
            self.spread += weight * d * (y - self.mean);
            let error = p - y;
            self.squares += weight * error * error;
            self.absolutes += weight * error.abs();
            self.signed += weight * error;
            self.largest = self.largest.max(error.abs());
            self.errors.push(error.abs());
            self.points.push((*y, *p));
        }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// The metrics.
    pub fn report(&self) -> RegressionReport {
        let mean = |sum: f64| if self.n > 0.0 { sum / self.n } else { 0.0 };
        RegressionReport {
            n_rows: self.n_rows,
            r_squared: if self.spread > 0.0 { 1.0 - self.squares / self.spread } else { 0.0 },
            rmse: mean(self.squares).sqrt(),
            baseline_rmse: mean(self.spread).sqrt(),
            mae: mean(self.absolutes),
            median_error: median(self.errors.values.clone()),
            largest_error: self.largest,
            bias: mean(self.signed),
            points: self.points.values.clone(),
        }
    }
}

/// The metrics of a regressor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegressionReport {
    /// The number of rows.
    pub n_rows: u64,
    /// The coefficient of determination R²; zero for always predicting the mean.
    pub r_squared: f64,
    /// The root mean squared error.
    pub rmse: f64,
    /// The RMSE of always predicting the mean.
    pub baseline_rmse: f64,
    /// The mean absolute error.
    pub mae: f64,
    /// The median absolute error, of an even subsample if there are more than a million rows.
    pub median_error: f64,
    /// The largest absolute error.
    pub largest_error: f64,
    /// The mean of prediction minus target.
    pub bias: f64,
    /// Targets and predictions of an even subsample of rows, for a plot.
    #[serde(skip)]
    pub points: Vec<(f64, f64)>,
}

/// An even subsample of a stream: every `stride`-th value, at capacity `capacity` of them.
#[derive(Clone, Debug, PartialEq)]
struct Subsample<T> {
    capacity: usize,
    stride: usize,
    seen: usize,
    values: Vec<T>,
}

impl<T: Copy> Subsample<T> {
    fn new(capacity: usize) -> Subsample<T> {
        Subsample { capacity, stride: 1, seen: 0, values: Vec::new() }
    }

    fn push(&mut self, x: T) {
        if self.seen.is_multiple_of(self.stride) {
            if self.values.len() == self.capacity {
                self.values = self.values.iter().step_by(2).copied().collect();
                self.stride *= 2;
            }
            if self.seen.is_multiple_of(self.stride) {
                self.values.push(x);
            }
        }
        self.seen += 1;
    }
}

fn median(mut x: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    match x.len() {
        0 => 0.0,
        n if n % 2 == 1 => x[n / 2],
        n => 0.5 * (x[n / 2 - 1] + x[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_match_a_hand_calculation() {
        let mut evaluation = RegressionEvaluation::default();

        evaluation.push(&[1.0, 2.0, 3.0], &[1.0, 4.0, 2.0]);
        evaluation.push(&[6.0], &[7.0]);
        let report = evaluation.report();

        // Errors 0, 2, −1, 1; the truth has mean 3 and squares around it 4 + 1 + 0 + 9.
        assert_eq!(report.n_rows, 4);
        assert!((report.r_squared - (1.0 - 6.0 / 14.0)).abs() < 1e-15);
        assert!((report.rmse - 1.5f64.sqrt()).abs() < 1e-15);
        assert!((report.baseline_rmse - 3.5f64.sqrt()).abs() < 1e-15);
        assert_eq!((report.mae, report.median_error, report.largest_error), (1.0, 1.0, 2.0));
        assert_eq!(report.bias, 0.5);
        assert_eq!(report.points[1], (2.0, 4.0));
    }

    #[test]
    fn a_subsample_is_even() {
        let mut subsample = Subsample::new(4);

        (0..11).for_each(|x| subsample.push(x));

        assert_eq!(subsample.values, [0, 4, 8]);
    }
}
