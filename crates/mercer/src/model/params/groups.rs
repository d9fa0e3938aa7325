//! Groups of parameters without a chapter of their own. A chapter's groups stand in its `params.rs`.

use crate::param_group;

param_group! {
    /// The seed of a randomized algorithm.
    RandomState {
        /// Seed of the random number generator. The same seed gives the same model, on any number of
        /// threads.
        random_state: usize = 0, Any;
    }
}

param_group! {
    /// The intercept of a linear model.
    FitIntercept {
        /// Fit an intercept. If `false`, the hyperplane passes through the origin.
        fit_intercept: bool = true, Any;
    }
}

param_group! {
    /// Prior class probabilities.
    Priors {
        /// Prior class probabilities, in class order. The default, an empty list, uses the class frequencies of
        /// the training rows.
        priors: Vec<f64> = Vec::new(), Simplex;
    }
}
