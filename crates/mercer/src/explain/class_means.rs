//! The mean and standard deviation of every column within every class.

use mercer_num::Matrix;
use ndarray::{Array2, Array3};

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

    /// Means and standard deviations in one picture: for every class (row) and column the red, green and blue channel,
    /// with the mean in red and blue and the standard deviation in green. Each is scaled to 0..255 over all classes.
    /// `None` without standard deviations.
    pub fn composite(&self) -> Option<Array3<u8>> {
        let means = scaled(&self.centers);
        let deviations = scaled(self.deviations.as_ref()?);
        let shape = (means.nrows(), means.ncols(), 3);
        let channel = |(c, j, k)| if k == 1 { deviations[[c, j]] } else { means[[c, j]] };
        Some(Array3::from_shape_fn(shape, channel))
    }
}

/// The values on a scale from 0 at the smallest to 255 at the largest; all 0 if they are equal.
fn scaled(values: &Matrix) -> Array2<u8> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Half of each, because the difference of huge values overflows.
    let range = 0.5 * high - 0.5 * low;
    let fraction = |x: f64| if range > 0.0 { (0.5 * x - 0.5 * low) / range } else { 0.0 };
    values.mapv(|x| (255.0 * fraction(x)).round() as u8)
}

/// Mean and standard deviation of a discrete distribution, given as pairs of value and weight.
pub(crate) fn moments_of(values: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let total: f64 = values.clone().map(|(_, p)| p).sum();
    let mean = values.clone().map(|(x, p)| x * p).sum::<f64>() / total;
    let variance = values.map(|(x, p)| p * (x - mean) * (x - mean)).sum::<f64>() / total;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_composite_has_means_in_red_and_blue_and_deviations_in_green() {
        let means =
            ClassMeans::of_moments(array![[0.0, 2.0], [4.0, 4.0]], &array![[1.0, 1.0], [9.0, 4.0]]);

        let composite = means.composite().expect("there are deviations");

        // Means 0, 2, 4, 4 of the range 0..4; deviations 1, 1, 3, 2 of the range 1..3.
        assert_eq!(composite.index_axis(ndarray::Axis(2), 0), array![[0, 128], [255, 255]]);
        assert_eq!(composite.index_axis(ndarray::Axis(2), 1), array![[0, 0], [255, 128]]);
        assert_eq!(
            composite.index_axis(ndarray::Axis(2), 2),
            composite.index_axis(ndarray::Axis(2), 0)
        );
    }

    #[test]
    fn probabilities_have_no_composite() {
        let means =
            ClassMeans { what: Center::Probability, centers: array![[0.5]], deviations: None };

        assert_eq!(means.composite(), None);
    }

    #[test]
    fn equal_and_huge_values_are_scaled() {
        assert_eq!(scaled(&array![[3.0, 3.0]]), array![[0, 0]]);
        assert_eq!(scaled(&array![[-1e308, 1e308]]), array![[0, 255]]);
    }
}
