//! Compatibility with scikit-learn, declared beside the parameters of each estimator.
//!
//! A script that changes its imports should run, so that the Python class takes every parameter of
//! scikit-learn's class. A parameter that the estimator itself does not have is honored by the Python
//! layer, accepted without effect, or refused with a remedy. The Python signature, docstring, stub and the
//! check at run time are made from these declarations; the CLI does not show them.

/// How the parameters of scikit-learn's class of the same name differ.
#[derive(Clone, Copy, Debug)]
pub struct Sklearn {
    /// The parameters that scikit-learn takes by position, in its order.
    pub positional: &'static [&'static str],
    /// The parameters of scikit-learn's class that the estimator does not have.
    pub extra: &'static [ExtraParameter],
    /// The parameters whose default or type differs in Python.
    pub restated: &'static [Restated],
    /// Values that scikit-learn spells differently.
    pub spellings: &'static [Spelling],
    /// Rules that concern several parameters.
    pub translations: &'static [Translation],
    /// Whether a kernel that is a Python function is called with two rows; otherwise with two matrices.
    pub kernel_of_two_rows: bool,
}

impl Sklearn {
    /// No difference.
    pub const NONE: Sklearn = Sklearn {
        positional: &[],
        extra: &[],
        restated: &[],
        spellings: &[],
        translations: &[],
        kernel_of_two_rows: false,
    };
}

/// A parameter of scikit-learn's class that the estimator does not have.
#[derive(Clone, Copy, Debug)]
pub struct ExtraParameter {
    /// The name.
    pub name: &'static str,
    /// The default, as a Python literal.
    pub default: &'static str,
    /// What the Python class does with it.
    pub effect: Effect,
    /// What it does; for a parameter without effect, the reason.
    pub doc: &'static str,
}

/// What the Python class does with an extra parameter. Types and values are written as in Python.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    /// Honored; a value of this type.
    Honored(&'static str),
    /// Accepted without effect on the model; values of these types, or these literals.
    Ignored(&'static [&'static str]),
    /// Only the default and these literals are accepted; other values are refused with a remedy.
    Only {
        /// The literals accepted besides the default.
        values: &'static [&'static str],
        /// What to do instead.
        remedy: &'static str,
    },
}

/// A parameter of ours whose default or type differs in Python.
#[derive(Clone, Copy, Debug)]
pub struct Restated {
    /// The name.
    pub name: &'static str,
    /// The default, as a Python literal.
    pub default: &'static str,
    /// The Python type.
    pub hint: &'static str,
    /// What the docstring adds.
    pub doc: &'static str,
}

/// A value of a parameter that scikit-learn spells differently.
#[derive(Clone, Copy, Debug)]
pub struct Spelling {
    /// The parameter.
    pub name: &'static str,
    /// scikit-learn's value, as a Python literal.
    pub theirs: &'static str,
    /// Our value, as a Python literal; `None` for our default.
    pub ours: Option<&'static str>,
}

/// A value of scikit-learn and ours of the same meaning.
pub const fn spelled(name: &'static str, theirs: &'static str, ours: &'static str) -> Spelling {
    Spelling { name, theirs, ours: Some(ours) }
}

/// A value by which scikit-learn requests the default.
pub const fn default_if(name: &'static str, theirs: &'static str) -> Spelling {
    Spelling { name, theirs, ours: None }
}

/// The spelling of the polynomial kernel in scikit-learn's `pairwise_kernels`.
pub const POLYNOMIAL: Spelling = spelled("kernel", "\"polynomial\"", "\"poly\"");
/// No penalty.
pub const NO_PENALTY: Spelling = spelled("penalty", "None", "\"none\"");
/// The spellings of scikit-learn's support vector classifiers, where `probability` is deprecated.
pub const SUPPORT_VECTOR_CLASSIFIER: &[Spelling] = &[
    POLYNOMIAL,
    default_if("probability", "\"deprecated\""),
    default_if("probability", "\"warn\""),
];
/// The spellings of the linear models trained by stochastic gradient descent.
pub const SGD: &[Spelling] = &[NO_PENALTY, default_if("l1_ratio", "None")];

/// A rule by which several parameters of scikit-learn become ours: a function of `base/sklearn_parameters.py`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    /// Without a `penalty`, `l1_ratio` chooses it: 0 is `l2`, 1 is `l1`, values between are `elasticnet`. An
    /// infinite `C` is no penalty.
    L1RatioChoosesPenalty,
    /// The dictionary `kernel_params` supplies `gamma`, `coef0` and `degree` where they are `None`.
    KernelParamsSupplyMissing,
    /// `max_iter` is the smaller of `max_iter` and `max_fun`.
    MaxFunLimitsIterations,
    /// An infinite `n_iter_no_change` is the largest integer.
    InfiniteNoChange,
}

impl Translation {
    /// The name of the Python function.
    pub fn function(self) -> &'static str {
        match self {
            Translation::L1RatioChoosesPenalty => "l1_ratio_chooses_penalty",
            Translation::KernelParamsSupplyMissing => "kernel_params_supply_missing",
            Translation::MaxFunLimitsIterations => "max_fun_limits_iterations",
            Translation::InfiniteNoChange => "infinite_no_change",
        }
    }
}

/// A parameter that the Python class honors, of a Python type.
pub const fn honored(
    name: &'static str,
    hint: &'static str,
    default: &'static str,
    doc: &'static str,
) -> ExtraParameter {
    ExtraParameter { name, default, effect: Effect::Honored(hint), doc }
}

/// A parameter that is accepted without effect, for a reason.
pub const fn ignored(
    name: &'static str,
    accepts: &'static [&'static str],
    default: &'static str,
    reason: &'static str,
) -> ExtraParameter {
    ExtraParameter { name, default, effect: Effect::Ignored(accepts), doc: reason }
}

/// A parameter of which only the default and some values are accepted.
pub const fn only(
    name: &'static str,
    default: &'static str,
    values: &'static [&'static str],
    doc: &'static str,
    remedy: &'static str,
) -> ExtraParameter {
    ExtraParameter { name, default, effect: Effect::Only { values, remedy }, doc }
}

/// A parameter of ours whose default or type differs in Python.
pub const fn restated(
    name: &'static str,
    hint: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Restated {
    Restated { name, default, hint, doc }
}

/// Python types of ignored parameters.
pub const BOOL: &[&str] = &["bool"];
/// A nonnegative number.
pub const FLOAT: &[&str] = &["float"];
/// A seed of a random number generator.
pub const SEED: &[&str] = &["int", "RandomState", "None"];
/// A nonnegative integer or `None`.
pub const INT_OR_NONE: &[&str] = &["int", "None"];
/// A nonnegative integer or `"auto"`.
pub const INT_OR_AUTO: &[&str] = &["int", "\"auto\""];

/// The training rows are never modified.
pub const COPY_X: ExtraParameter =
    ignored("copy_X", BOOL, "True", "the training rows are never modified.");
/// A deterministic algorithm.
pub const NO_RANDOM_STATE: ExtraParameter =
    ignored("random_state", SEED, "None", "the algorithm is deterministic.");
/// The number of threads.
pub const N_JOBS: ExtraParameter = honored(
    "n_jobs",
    "int | None",
    "None",
    "Number of threads of the fit; -1 uses all cores, -2 all but one. `None` uses the number set by \
     `mercer.set_threads`. The model is bit-identical for any number of threads.",
);
/// Progress of a fit, with scikit-learn's default `False`.
pub const VERBOSE: ExtraParameter = honored("verbose", "bool", "False", PROGRESS);
/// Progress of a fit, with scikit-learn's default 0.
pub const VERBOSE_LEVEL: ExtraParameter = honored("verbose", "int", "0", PROGRESS);
const PROGRESS: &str = "Print the progress of the fit once per second.";
/// Arguments of a kernel that is a Python function.
pub const KERNEL_PARAMS: ExtraParameter = honored(
    "kernel_params",
    "dict | None",
    "None",
    "Keyword arguments of a kernel that is a Python function.",
);
/// A covariance estimator of scikit-learn.
pub const COVARIANCE_ESTIMATOR: ExtraParameter = only(
    "covariance_estimator",
    "None",
    &[],
    "A custom covariance estimator.",
    "use shrinkage, a number or \"auto\"",
);
/// Nonnegative coefficients.
pub const POSITIVE: ExtraParameter = honored(
    "positive",
    "bool",
    "False",
    "Constrain the coefficients to be nonnegative, by coordinate descent instead of the normal equations.",
);
/// The Gram matrix of a lasso.
pub const PRECOMPUTE: ExtraParameter = honored(
    "precompute",
    "bool | list",
    "False",
    "Compute the Gram matrix first, or use the given one: only its shape and values are checked, the model does not \
     depend on it.",
);
/// The order of the columns of a lasso.
pub const SELECTION: ExtraParameter = ignored(
    "selection",
    &["\"cyclic\"", "\"random\""],
    "\"cyclic\"",
    "the columns are visited in order; every order has the same optimum.",
);
/// The solver of a logistic regression.
pub const LOGISTIC_SOLVER: ExtraParameter = honored(
    "solver",
    "Literal[\"lbfgs\", \"liblinear\", \"newton-cg\", \"newton-cholesky\", \"sag\", \"saga\"]",
    "\"lbfgs\"",
    "Solver of scikit-learn. Every fit converges to the same certified optimum; only `liblinear` penalizes the \
     intercept of two classes, as LIBLINEAR does.",
);
/// The dual problem of a logistic regression.
pub const LOGISTIC_DUAL: ExtraParameter =
    ignored("dual", BOOL, "False", "the primal and the dual problem have the same optimum.");
/// The constant column of the penalized intercept.
pub const INTERCEPT_SCALING: &str = "Value of the constant column whose weight is the intercept if `solver` is \
     `liblinear`: larger values penalize the intercept less.";
/// The reason why the tolerance of an exact solution has no effect.
pub const EXACT: &str = "the normal equations are solved exactly.";

/// The parameters that only scikit-learn's multilayer perceptrons have.
pub const MLP: &[ExtraParameter] = &[
    VERBOSE,
    honored(
        "max_fun",
        "int",
        "15000",
        "Maximum number of iterations of `lbfgs`, as `max_iter`; the smaller of the two applies.",
    ),
];
/// The parameters of a multilayer perceptron with other defaults or values.
pub const MLP_RESTATED: &[Restated] = &[
    restated("solver", "Literal[\"lbfgs\", \"adam\", \"sgd\"]", "\"adam\"", ""),
    restated(
        "batch_size",
        "int | Literal[\"auto\"]",
        "\"auto\"",
        "`\"auto\"` is the default of the core.",
    ),
    restated("n_iter_no_change", "float", "10", "`inf` never stops before `max_iter`."),
];
/// Its values with other names.
pub const MLP_SPELLINGS: &[Spelling] = &[default_if("batch_size", "\"auto\"")];

/// The parameter of estimators that can start from an earlier model.
pub(crate) const WARM_START: ExtraParameter = honored(
    "warm_start",
    "bool",
    "False",
    "Start the fit from the model of the previous call to `fit`, if there is one.",
);
/// The parameter of estimators that report a plan.
pub(crate) const VERBOSE_PLAN: ExtraParameter = honored(
    "verbose",
    "bool",
    "False",
    "Print the plan of the fit (its algorithm and the memory it needs) before it starts, and its progress once per \
     second.",
);
