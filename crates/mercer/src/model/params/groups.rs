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
/// Additive smoothing: `..AlphaParam;` for one pseudocount, `..AlphaParam(per_feature);` for one per feature.
macro_rules! AlphaParam {
    ($state:tt) => {
        $crate::model::AlphaParam! { @with $state f64 = 1.0, "" }
    };
    ($state:tt per_feature) => {
        $crate::model::AlphaParam! { @with
            $state
            $crate::model::OneOrEach = $crate::model::OneOrEach::One(1.0),
            " One value, or one per feature."
        }
    };
    (@with $state:tt $Type:ty = $default:expr, $values:literal) => {
        $crate::params! { @group $state {
            /// Additive smoothing: the pseudocount added to every count. 1 is Laplace smoothing, 0 is none.
            /// Larger values make the estimated distributions more uniform.
            #[doc = $values]
            alpha: $Type = $default, AtLeast(0.0);
        } }
    };
}
pub(crate) use AlphaParam;

param_group! {
    /// Small values of `alpha`.
    ForceAlpha {
        /// Use `alpha` as given. If `false`, values below 1e-10 are raised to 1e-10, for numerical stability.
        force_alpha: bool = true, Any;
    }
}

param_group! {
    /// The class priors.
    PriorParams {
        /// Estimate the class priors from the class frequencies. If `false`, all classes are equally probable.
        fit_prior: bool = true, Any;
        /// Prior class probabilities, in class order. The default, an empty list, follows `fit_prior`.
        class_prior: Vec<f64> = Vec::new(), Simplex;
    }
}
