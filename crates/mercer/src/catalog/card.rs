//! The card of an estimator: what every interface knows about it before it is fitted.

use super::Estimator;
use crate::model::sklearn::{ExtraParameter, VERBOSE_PLAN, WARM_START};
use crate::model::{Attribute, Sklearn, Spec};
use crate::preprocess::Reads;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt;

/// What is known about an estimator before it is fitted.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// Its identifier in the CLI, in model files and in Rust.
    pub id: &'static str,
    /// Its Python module and class.
    pub python: &'static str,
    /// Its description.
    pub doc: &'static str,
    /// What a fit computes, as a formula.
    pub formula: &'static str,
    /// The number of the lecture that explains it.
    pub lecture: usize,
    /// Its parameters.
    pub specs: &'static [Spec],
    /// The documented attributes of its fitted model.
    pub attributes: &'static [Attribute],
    /// How scikit-learn's class of the same name differs.
    pub sklearn: &'static Sklearn,
    /// How it learns.
    pub learns: Learns,
    /// What its model can compute and how it can be fitted.
    pub capabilities: &'static [Capability],
    /// What its training rows may contain.
    pub inputs: &'static [Input],
}

/// How an estimator learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Learns {
    /// From one mergeable summary (sufficient statistics).
    Statistics,
    /// From one mergeable summary per iteration.
    Rounds,
    /// From the rows themselves, held in memory.
    Solver,
}

impl Learns {
    /// The name in JSON and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Learns::Statistics => "statistics",
            Learns::Rounds => "rounds",
            Learns::Solver => "solver",
        }
    }

    /// How a fit reads the rows, for users.
    pub fn sentence(self) -> &'static str {
        match self {
            Learns::Statistics => {
                "The fit computes sufficient statistics in one pass over the rows. Statistics of several tables can be \
                 merged, and rows can be added or removed later."
            }
            Learns::Rounds => {
                "The fit is iterative and reads the rows once per iteration, so that the training data need not fit \
                 into memory."
            }
            Learns::Solver => {
                "The fit is computed by a solver that holds the training rows in memory."
            }
        }
    }
}

/// An enum whose variants have names for JSON and Python, and sentences for the reference pages.
macro_rules! named {
    (
        $(#[doc = $doc:literal])+
        pub enum $Name:ident {
            $($(#[doc = $arm_doc:literal])+ $Arm:ident = $name:literal: $sentence:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Name { $($(#[doc = $arm_doc])+ $Arm,)+ }

        impl $Name {
            /// All variants, in order.
            pub const ALL: &'static [$Name] = &[$($Name::$Arm),+];

            /// The name in JSON and in Python.
            pub fn name(self) -> &'static str {
                match self { $($Name::$Arm => $name,)+ }
            }

            /// What it means for users, in a sentence.
            pub fn sentence(self) -> &'static str {
                match self { $($Name::$Arm => $sentence,)+ }
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}

named! {
    /// What the model of an estimator can compute (a trait of [`model`](crate::model) each), or how the
    /// estimator can be fitted.
    pub enum Capability {
        /// [`Classifier`](crate::model::Classifier).
        Classifier = "classifier":
            "It predicts classes (`predict`).",
        /// [`Probabilistic`](crate::model::Probabilistic): `predict_proba`.
        Probabilistic = "probabilistic":
            "It predicts class probabilities (`predict_proba`).",
        /// [`Probabilistic`](crate::model::Probabilistic) if the parameters request calibrated probabilities.
        Calibrated = "calibrated":
            "It predicts class probabilities (`predict_proba`) if its parameters request them.",
        /// [`Generative`](crate::model::Generative): densities and sampling.
        Generative = "generative":
            "It models the density of the rows: it scores outliers (`log_density`, `is_outlier`) and draws samples (`sample`).",
        /// [`FactorizedLikelihood`](crate::model::FactorizedLikelihood): one likelihood factor per column.
        FactorizedLikelihood = "factorized-likelihood":
            "It explains a prediction by the likelihood factor of every feature (`explain`).",
        /// [`AdditiveScores`](crate::model::AdditiveScores): class scores with one term per column.
        AdditiveScores = "additive-scores":
            "It explains a prediction by the term of every feature in the class scores (`explain`).",
        /// [`Discriminant`](crate::model::Discriminant): class means and Mahalanobis distances.
        Discriminant = "discriminant":
            "It computes Mahalanobis distances from the class means (`mahalanobis`).",
        /// [`SupportVectors`](crate::model::SupportVectors): a kernel expansion over stored rows.
        SupportVectors = "support-vectors":
            "It explains a prediction by the term of every support vector (`explain`).",
        /// [`DecisionFunction`](crate::model::DecisionFunction).
        DecisionFunction = "decision-function":
            "It has a signed decision function (`decision_function`).",
        /// [`Regressor`](crate::model::Regressor).
        Regressor = "regressor":
            "It predicts regression targets (`predict`).",
        /// [`LinearModel`](crate::model::LinearModel): a regressor with an intercept and coefficients.
        LinearModel = "linear-model":
            "It explains a prediction by the term of every feature (`explain`).",
        /// [`CrossValidated`](crate::model::CrossValidated): hyperparameters chosen by cross-validation.
        CrossValidated = "cross-validated":
            "It chooses hyperparameters by cross-validation during the fit.",
        /// [`OutlierDetector`](crate::model::OutlierDetector).
        OutlierDetector = "outlier-detector":
            "It separates inliers (1) from outliers (-1) (`predict`).",
        /// [`Clusterer`](crate::model::Clusterer).
        Clusterer = "clusterer":
            "It assigns rows to clusters (`predict`, `fit_predict`).",
        /// [`Transformer`](crate::model::Transformer).
        Transformer = "transformer":
            "It transforms rows to new features (`transform`).",
        /// Learns one row after the other and continues at any time (`partial_fit`);
        /// see [`Fit::partial_fit`](crate::model::Fit::partial_fit).
        Online = "online":
            "It learns from one batch after the other (`partial_fit`).",
        /// Can start from an earlier model (`warm_start`); see [`Fit::fit_from`](crate::model::Fit::fit_from).
        WarmStart = "warm-start":
            "It can start from the model of the previous fit (`warm_start`).",
        /// Reports a memory [`Plan`](crate::model::Plan) before it starts.
        MemoryPlan = "memory-plan":
            "It reports its algorithm and the memory it needs before the fit starts.",
        /// The model depends on the order of the training rows.
        OrderDependent = "order-dependent":
            "The model depends on the order of the training rows.",
        /// Its objective is not convex: a fit reaches one of many local minima, which one depends on the
        /// order of columns and classes.
        NonConvex = "non-convex":
            "The objective is not convex: a fit reaches one of many local minima, chosen by `random_state`.",
        /// The solution changes if a feature is multiplied by a constant (penalties, kernels and step sizes).
        ScaleDependent = "scale-dependent":
            "The model depends on the scale of the features: `mercer train` standardizes numeric columns of a table.",
        /// The meaning of parameters changes if the regression target is multiplied by a constant.
        TargetScaleDependent = "target-scale-dependent":
            "Its parameters depend on the scale of the target: `mercer train` fits the standardized target of a table and returns predictions in the original units.",
    }
}

named! {
    /// What the training rows of an estimator may contain, besides numbers in dense storage.
    pub enum Input {
        /// Missing values (NaN).
        MissingValues = "missing-values":
            "Missing values (NaN) are ignored: they have no factor in the likelihood.",
        /// Compressed sparse storage.
        Sparse = "sparse":
            "Sparse matrices are accepted and stay sparse.",
        /// Text columns, as token counts.
        Text = "text":
            "Text columns become token counts.",
        /// Several targets per row.
        MultiOutput = "multi-output":
            "A target may have several columns.",
        /// Every value is read as a count.
        Counts = "counts":
            "Every value is read as a count.",
        /// Every value is read as present or absent.
        Binary = "binary":
            "Every value is read as present or absent.",
        /// Every value is read as the code of a category.
        Categories = "categories":
            "Every value is read as the code of a category; columns of strings are encoded.",
        /// Every column has its own type: numeric, categorical or text.
        Mixed = "mixed":
            "Every column has its own type: numeric, categorical or text.",
        /// Every value must be at least zero.
        Nonnegative = "nonnegative":
            "Every value must be at least 0: `mercer train` scales numeric columns of a table to the range from 0 to 1.",
    }
}

impl Card {
    /// Whether the estimator has a capability.
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// Whether its training rows may contain something.
    pub fn accepts(&self, input: Input) -> bool {
        self.inputs.contains(&input)
    }

    /// Whether it learns from rows without a target.
    pub fn is_unsupervised(&self) -> bool {
        !self.can(Capability::Classifier) && !self.can(Capability::Regressor)
    }

    /// The parameters that only its Python class has: those that follow from its capabilities, then its own.
    pub fn extra_parameters(&self) -> impl Iterator<Item = &'static ExtraParameter> {
        let warm_start = self.can(Capability::WarmStart).then_some(&WARM_START);
        let plan = self.can(Capability::MemoryPlan).then_some(&VERBOSE_PLAN);
        warm_start.into_iter().chain(plan).chain(self.sklearn.extra)
    }

    /// Whether it has a parameter of this name.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.specs.iter().any(|spec| spec.name == name)
    }

    /// How it reads the values of a row.
    pub fn reads(&self) -> Reads {
        match () {
            () if self.accepts(Input::Mixed) => Reads::Mixed,
            () if self.accepts(Input::Categories) => Reads::Categorical,
            () if self.accepts(Input::Counts) || self.accepts(Input::Binary) => Reads::Counts,
            () if self.accepts(Input::Text) => Reads::NumericAndText,
            () => Reads::Numeric,
        }
    }

    /// The default parameters.
    pub fn defaults(&self) -> Value {
        Estimator::from_id(self.id).map(|e| e.params()).unwrap_or_default()
    }
}
