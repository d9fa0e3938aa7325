//! What the rows of each class look like: where every column stands and how far it strays.

use mercer_num::Matrix;

/// A picture of every class (row) in every column.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassMeans {
    /// What `centers` are.
    pub what: Center,
    /// The mean of each column, or its probability.
    pub centers: Matrix,
    /// How far it strays from there; `None` where the model does not say.
    pub deviations: Option<Matrix>,
}

/// What the center of a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Center {
    /// Its mean.
    Mean,
    /// How probable it is: to be there, or to be the next thing in a bag.
    Probability,
}

impl Center {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Center::Mean => "mean",
            Center::Probability => "probability",
        }
    }
}

impl ClassMeans {
    /// Means and variances.
    pub fn of_moments(means: Matrix, variances: &Matrix) -> ClassMeans {
        let deviations = Some(variances.mapv(|v| v.max(0.0).sqrt()));
        ClassMeans { what: Center::Mean, centers: means, deviations }
    }

    /// A mean and a deviation for each class and column.
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

/// The mean and the deviation of values that occur with these shares.
pub(crate) fn moments_of(values: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let total: f64 = values.clone().map(|(_, p)| p).sum();
    let mean = values.clone().map(|(x, p)| x * p).sum::<f64>() / total;
    let square = values.map(|(x, p)| p * (x - mean) * (x - mean)).sum::<f64>() / total;
    (mean, square.sqrt())
}
