//! The divisor of a variance.

use crate::choice;

choice! {
    /// The divisor of a sum of squared deviations.
    pub enum Variance {
        /// The total weight: the maximum likelihood estimate, as in scikit-learn.
        Population = "population",
        /// The total weight less one: the unbiased estimate, as in R.
        Sample = "sample",
    }
}
