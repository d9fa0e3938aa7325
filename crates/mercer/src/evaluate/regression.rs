//! How far predicted numbers are from the true ones, gathered as rows stream by.

use serde::Serialize;

/// Errors kept for their median.
const MOST_ERRORS: usize = 1 << 20;
/// Pairs kept for a picture.
const MOST_POINTS: usize = 2000;

/// What judged rows add up to.
#[derive(Clone, Debug, PartialEq)]
pub struct RegressionEvaluation {
    n: f64,
    mean: f64,
    /// `Σ (y − mean)²`.
    spread: f64,
    squares: f64,
    absolutes: f64,
    signed: f64,
    largest: f64,
    errors: Thinned<f64>,
    points: Thinned<(f64, f64)>,
}

impl Default for RegressionEvaluation {
    fn default() -> Self {
        RegressionEvaluation {
            n: 0.0,
            mean: 0.0,
            spread: 0.0,
            squares: 0.0,
            absolutes: 0.0,
            signed: 0.0,
            largest: 0.0,
            errors: Thinned::new(MOST_ERRORS),
            points: Thinned::new(MOST_POINTS),
        }
    }
}

impl RegressionEvaluation {
    /// Adds rows with their true and predicted numbers.
    pub fn judge(&mut self, truth: &[f64], predicted: &[f64]) {
        for (y, p) in truth.iter().zip(predicted) {
            self.n += 1.0;
            // Welford (1962): one look, no cancellation.
            let d = y - self.mean;
            self.mean += d / self.n;
            self.spread += d * (y - self.mean);
            let error = p - y;
            self.squares += error * error;
            self.absolutes += error.abs();
            self.signed += error;
            self.largest = self.largest.max(error.abs());
            self.errors.push(error.abs());
            self.points.push((*y, *p));
        }
    }

    /// How many rows were judged.
    pub fn n_rows(&self) -> u64 {
        self.n as u64
    }

    /// The figures people ask for.
    pub fn report(&self) -> RegressionReport {
        let mean = |sum: f64| if self.n > 0.0 { sum / self.n } else { 0.0 };
        RegressionReport {
            n_rows: self.n as u64,
            r_squared: if self.spread > 0.0 { 1.0 - self.squares / self.spread } else { 0.0 },
            rmse: mean(self.squares).sqrt(),
            baseline_rmse: mean(self.spread).sqrt(),
            mae: mean(self.absolutes),
            median_error: median(self.errors.kept.clone()),
            largest_error: self.largest,
            bias: mean(self.signed),
            points: self.points.kept.clone(),
        }
    }
}

/// The figures of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegressionReport {
    /// Rows judged.
    pub n_rows: u64,
    /// Share of the variance that is explained; zero for always guessing the mean.
    pub r_squared: f64,
    /// Root of the mean squared error.
    pub rmse: f64,
    /// What always guessing the mean would reach.
    pub baseline_rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Median absolute error; of evenly picked rows where there are more than a million.
    pub median_error: f64,
    /// The largest absolute error.
    pub largest_error: f64,
    /// Mean of predicted less true.
    pub bias: f64,
    /// True and predicted numbers of evenly picked rows, for a picture.
    #[serde(skip)]
    pub points: Vec<(f64, f64)>,
}

/// At most so many of what came, evenly picked.
#[derive(Clone, Debug, PartialEq)]
struct Thinned<T> {
    most: usize,
    stride: usize,
    seen: usize,
    kept: Vec<T>,
}

impl<T: Copy> Thinned<T> {
    fn new(most: usize) -> Thinned<T> {
        Thinned { most, stride: 1, seen: 0, kept: Vec::new() }
    }

    fn push(&mut self, x: T) {
        if self.seen.is_multiple_of(self.stride) {
            if self.kept.len() == self.most {
                self.kept = self.kept.iter().step_by(2).copied().collect();
                self.stride *= 2;
            }
            if self.seen.is_multiple_of(self.stride) {
                self.kept.push(x);
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
    fn figures_by_hand() {
        let mut evaluation = RegressionEvaluation::default();

        evaluation.judge(&[1.0, 2.0, 3.0], &[1.0, 4.0, 2.0]);
        evaluation.judge(&[6.0], &[7.0]);
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
    fn what_is_kept_is_picked_evenly() {
        let mut thinned = Thinned::new(4);

        (0..11).for_each(|x| thinned.push(x));

        assert_eq!(thinned.kept, [0, 4, 8]);
    }
}
