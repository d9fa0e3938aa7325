//! Fitted attributes, declared beside the parameters of each estimator.
//!
//! Every field of a model is an attribute of the fitted Python object whose name ends in an underscore. What is
//! declared here is documented on the reference page and in the docstring, and may have scikit-learn's name or
//! be computed from a field. The computations are functions of `base/sklearn_attributes.py`.

/// A documented attribute of a fitted model.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// The name, with its final underscore.
    pub name: &'static str,
    /// Where the value comes from.
    pub source: Source,
    /// The type and shape, in Python's words.
    pub value_type: &'static str,
    /// What it is.
    pub doc: &'static str,
}

/// Where the value of an attribute comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The field of the same name.
    Own,
    /// A field of another name, of the model or of one of its parts.
    Field(&'static str),
    /// A Python function of the value of a field.
    OfField(&'static str, &'static str),
    /// A Python function of the fitted model.
    OfModel(&'static str),
}

/// A field of the model under its own name.
pub const fn own(name: &'static str, value_type: &'static str, doc: &'static str) -> Attribute {
    Attribute { name, source: Source::Own, value_type, doc }
}

/// A field of the model under another name.
pub const fn field(
    name: &'static str,
    field: &'static str,
    value_type: &'static str,
    doc: &'static str,
) -> Attribute {
    Attribute { name, source: Source::Field(field), value_type, doc }
}

/// A function of a field of the model.
pub const fn of_field(
    name: &'static str,
    field: &'static str,
    function: &'static str,
    value_type: &'static str,
    doc: &'static str,
) -> Attribute {
    Attribute { name, source: Source::OfField(field, function), value_type, doc }
}

/// A function of the fitted model.
pub const fn of_model(
    name: &'static str,
    function: &'static str,
    value_type: &'static str,
    doc: &'static str,
) -> Attribute {
    Attribute { name, source: Source::OfModel(function), value_type, doc }
}

/// One value per class.
pub const PER_CLASS: &str = "ndarray of shape (n_classes,)";
/// One value per class and feature.
pub const PER_CLASS_AND_FEATURE: &str = "ndarray of shape (n_classes, n_features)";
/// One value per feature.
pub const PER_FEATURE: &str = "ndarray of shape (n_features,)";

/// The weight of each class.
pub const CLASS_COUNT: Attribute = field(
    "class_count_",
    "class_weights",
    PER_CLASS,
    "Number of training rows of each class, by sample weight.",
);
/// The class priors of naive Bayes.
pub const CLASS_LOG_PRIOR: Attribute = field(
    "class_log_prior_",
    "log_priors",
    PER_CLASS,
    "Logarithm of the prior probability of each class.",
);
/// The class priors of Gaussian models.
pub const PRIORS: Attribute =
    of_field("priors_", "log_priors", "exp", PER_CLASS, "Prior probability of each class.");
/// The class means.
pub const MEANS: Attribute =
    own("means_", PER_CLASS_AND_FEATURE, "Mean of each feature in each class.");
/// The counts of naive Bayes.
pub const FEATURE_COUNT: Attribute = field(
    "feature_count_",
    "counts",
    PER_CLASS_AND_FEATURE,
    "Total count of each feature in each class.",
);
/// The probabilities of naive Bayes.
pub const FEATURE_LOG_PROB: Attribute = field(
    "feature_log_prob_",
    "log_probabilities",
    PER_CLASS_AND_FEATURE,
    "Logarithm of the smoothed probability `θ` of each feature given each class.",
);

/// The weights of a linear classifier.
pub const CLASS_COEF: Attribute = field(
    "coef_",
    "coefficients",
    "ndarray of shape (1, n_features) or (n_classes, n_features)",
    "Weights `w` of each class; for two classes one row, positive for the second class.",
);
/// The intercepts of a linear classifier.
pub const CLASS_INTERCEPT: Attribute = field(
    "intercept_",
    "intercepts",
    "ndarray of shape (1,) or (n_classes,)",
    "Intercept `b` of each row of `coef_`.",
);
/// The coefficients of a linear regression of one target.
pub const COEF: Attribute =
    field("coef_", "coefficients", PER_FEATURE, "Weight `w` of each feature.");
/// The intercept of a linear regression of one target.
pub const INTERCEPT: Attribute = own("intercept_", "float", "Intercept `b`.");
/// The coefficients of a linear regression of one or several targets.
pub const COEF_BY_TARGET: Attribute = field(
    "coef_",
    "coefficients",
    "ndarray of shape (n_features,) or (n_targets, n_features)",
    "Weight `w` of each feature.",
);
/// The intercepts of a linear regression of one or several targets.
pub const INTERCEPT_BY_TARGET: Attribute =
    own("intercept_", "float or ndarray of shape (n_targets,)", "Intercept `b`.");
/// The intercept of a linear regressor trained by stochastic gradient descent.
pub const SGD_INTERCEPT: Attribute =
    field("intercept_", "intercepts", "ndarray of shape (1,)", "Intercept `b`.");
/// The updates of stochastic gradient descent.
pub const UPDATES: Attribute = own("t_", "int", "Number of the next update, counted from one.");
/// The epochs of stochastic gradient descent.
pub const EPOCHS: Attribute = own("n_iter_", "int", "Number of epochs.");
/// The iterations of a solver.
pub const ITERATIONS: Attribute = own("n_iter_", "int", "Number of iterations of the solver.");
/// Whether a solver converged.
pub const CONVERGED: Attribute =
    own("converged_", "bool", "Whether the solver reached its tolerance.");

/// The support vectors.
pub const SUPPORT_VECTORS: Attribute = of_field(
    "support_vectors_",
    "expansion",
    "expansion_rows",
    "ndarray or sparse matrix of shape (n_support, n_features)",
    "Support vectors.",
);
/// Their indices.
pub const SUPPORT: Attribute = of_field(
    "support_",
    "support",
    "int32",
    "ndarray of shape (n_support,)",
    "Indices of the support vectors in the training data.",
);
/// Their number.
pub const SUPPORT_COUNT: Attribute = of_field(
    "n_support_",
    "support",
    "support_count",
    "ndarray of shape (1,)",
    "Number of support vectors.",
);
/// Their number per class.
pub const CLASS_SUPPORT_COUNT: Attribute =
    own("n_support_", PER_CLASS, "Number of support vectors of each class.");
/// The dual coefficients of a classifier.
pub const CLASS_DUAL_COEF: Attribute = field(
    "dual_coef_",
    "coefficients",
    "ndarray of shape (n_classes - 1, n_support)",
    "Dual coefficients `yᵢαᵢ` of the support vectors; with one-vs-rest, one row per class.",
);
/// The dual coefficients of one function.
pub const DUAL_COEF: Attribute = field(
    "dual_coef_",
    "coefficients",
    "ndarray of shape (1, n_support)",
    "Dual coefficients of the support vectors in the kernel expansion.",
);
/// The intercepts of a kernel classifier.
pub const EXPANSION_INTERCEPTS: Attribute = field(
    "intercept_",
    "intercepts",
    "ndarray of shape (n_decisions,)",
    "Intercept `b` of each decision function.",
);
/// The intercept of one function.
pub const EXPANSION_INTERCEPT: Attribute =
    field("intercept_", "intercepts", "ndarray of shape (1,)", "Intercept `b`.");
/// The weights of a kernel classifier with a linear kernel.
pub const PAIRWISE_WEIGHTS: Attribute = of_model(
    "coef_",
    "pairwise_weights",
    "ndarray of shape (n_decisions, n_features)",
    "Weights `w` of each decision function; only for a linear kernel.",
);
/// The weights of one function with a linear kernel.
pub const LINEAR_KERNEL_WEIGHTS: Attribute = of_field(
    "coef_",
    "expansion",
    "linear_weights",
    "ndarray of shape (n_decisions, n_features)",
    "Weights `w`; only for a linear kernel.",
);
/// Whether a support vector machine converged.
pub const FIT_STATUS: Attribute =
    of_field("fit_status_", "converged", "fit_status", "int", "0 if the solver converged, else 1.");
/// The class weights of a support vector machine.
pub const CLASS_WEIGHT: Attribute =
    field("class_weight_", "class_weights", PER_CLASS, "Weight of each class in the loss.");
/// The iterations of each subproblem.
pub const SUBPROBLEM_ITERATIONS: Attribute = own(
    "n_iter_",
    "ndarray of shape (n_subproblems,)",
    "Number of iterations of the solver in each binary subproblem.",
);
/// The training rows of a kernel method.
pub const X_FIT: Attribute = of_field(
    "X_fit_",
    "expansion",
    "expansion_rows",
    "ndarray or sparse matrix of shape (n_rows, n_features)",
    "Training rows of the kernel expansion.",
);

/// The weights of a multilayer perceptron.
pub const LAYER_WEIGHTS: Attribute = own(
    "coefs_",
    "list of ndarray of shape (n_inputs, n_outputs)",
    "Weights of each layer, one row per input and one column per output.",
);
/// Its intercepts.
pub const LAYER_INTERCEPTS: Attribute =
    own("intercepts_", "list of ndarray of shape (n_outputs,)", "Intercepts of each layer.");
/// Its objective.
pub const LOSS: Attribute = own("loss_", "float", "Penalized mean loss of the training rows.");
/// The loss of each epoch of a stochastic solver.
pub const LOSS_CURVE: Attribute = own(
    "loss_curve_",
    "ndarray of shape (n_iter_,)",
    "Loss of each epoch of `adam` or `sgd`, each minibatch evaluated before its update.",
);
/// The smallest of them.
pub const BEST_LOSS: Attribute =
    own("best_loss_", "float or None", "Smallest loss of an epoch; `None` with `early_stopping`.");
/// The validation scores of a stochastic solver.
pub const VALIDATION_SCORES: Attribute = own(
    "validation_scores_",
    "ndarray of shape (n_iter_,)",
    "Score of the held-out rows after each epoch, with `early_stopping`: accuracy or R².",
);
/// The largest of them.
pub const BEST_VALIDATION_SCORE: Attribute = own(
    "best_validation_score_",
    "float or None",
    "Largest score of the held-out rows, with `early_stopping`.",
);
/// The rows that a stochastic solver visited.
pub const ROWS_SEEN: Attribute = own("t_", "int", "Number of rows visited by `adam` or `sgd`.");
/// Its number of layers.
pub const LAYERS: Attribute = of_field(
    "n_layers_",
    "coefs",
    "layer_count",
    "int",
    "Number of layers, input and output included.",
);
