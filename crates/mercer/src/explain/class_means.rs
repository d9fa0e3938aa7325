//! The mean and standard deviation of every column within every class.

use mercer_num::Matrix;

/// Mean and standard deviation of every class (row) in every column.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassMeans {
    /// The kind of statistic in `centers`.
    pub what: Center,
    /// The mean of each column, or its probability.
    pub centers: Matrix,
    /// The standard deviation; `None` if the model has none.
    pub deviations: Option<Matrix>,
}

/// The kind of statistic that describes the center of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Center {
    /// The mean.
    Mean,
    /// The probability that a binary feature is one, or of a term in a multinomial distribution.
    Probability,
}

impl Center {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Center::Mean => "mean",
            Center::Probability => "probability",
        }
    }
}

impl ClassMeans {
    /// From means and variances.
    pub fn of_moments(means: Matrix, variances: &Matrix) -> ClassMeans {
        let deviations = Some(variances.mapv(|v| v.max(0.0).sqrt()));
        ClassMeans { what: Center::Mean, centers: means, deviations }
    }

    /// From a function that returns mean and standard deviation of a class and column.
    pub fn of_columns(
        n_classes: usize,
        n_columns: usize,
        moments: impl Fn(usize, usize) -> (f64, f64),
    ) -> ClassMeans {
        let shape = (n_classes, n_columns);
        let (mut centers, mut deviations) = (Matrix::zeros(shape), Matrix::zeros(shape));
        for at in ndarray::indices(shape) {
            (centers[at], deviations[at]) = moments(at.0, at.1);
        }
        ClassMeans { what: Center::Mean, centers, deviations: Some(deviations) }
    }
}

/// Mean and standard deviation of a discrete distribution, given as pairs of value and weight.
pub(crate) fn moments_of(values: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let total: f64 = values.clone().map(|(_, p)| p).sum();
    let mean = values.clone().map(|(x, p)| x * p).sum::<f64>() / total;
    let variance = values.map(|(x, p)| p * (x - mean) * (x - mean)).sum::<f64>() / total;
    (mean, variance.sqrt())
}
