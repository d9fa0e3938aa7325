//! Compatibility with scikit-learn, declared beside the parameters of each estimator.
//!
//! A script that changes its imports should run, so that the Python class takes every parameter of
//! scikit-learn's class. A parameter that the estimator itself does not have is honored by the Python
//! layer, accepted without effect, or refused with a remedy. The Python signature, docstring, stub and the
//! check at run time are made from these declarations; the CLI does not show them.

/// How scikit-learn's class of the same name differs in its parameters and attributes.
#[derive(Clone, Copy, Debug)]
pub struct Sklearn {
    /// The parameters that scikit-learn takes by position, in its order.
    pub positional: &'static [&'static str],
    /// The parameters of scikit-learn's class that the estimator does not have.
    pub extra: &'static [ExtraParameter],
    /// The parameters whose default or type differs in Python.
    pub restated: &'static [Restated],
    /// Rules by which parameter values of scikit-learn become ours.
    pub translations: &'static [Translation],
    /// scikit-learn's names of fitted attributes, and how they are derived from the model.
    pub attributes: &'static [(&'static str, Attribute)],
    /// Whether a kernel that is a Python function is called with two rows; otherwise with two matrices.
    pub kernel_of_two_rows: bool,
}

impl Sklearn {
    /// No difference.
    pub const NONE: Sklearn = Sklearn {
        positional: &[],
        extra: &[],
        restated: &[],
        translations: &[],
        attributes: &[],
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

impl Effect {
    /// The name in the catalog of the Python package.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Honored(_) => "honored",
            Effect::Ignored(_) => "ignored",
            Effect::Only { .. } => "only",
        }
    }
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

/// A rule by which parameter values of scikit-learn become ours; implemented in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    /// Without a `penalty`, `l1_ratio` chooses it: 0 is `l2`, 1 is `l1`, values between are `elasticnet`. An
    /// infinite `C` is no penalty.
    L1RatioChoosesPenalty,
    /// The dictionary `kernel_params` supplies `gamma`, `coef0` and `degree` where they are `None`.
    KernelParamsDict,
    /// `max_iter` is the smaller of `max_iter` and `max_fun`.
    MaxFunLimitsIterations,
    /// The solvers `adam` and `sgd` are replaced by `lbfgs`, with a warning.
    StochasticSolversAreLbfgs,
}

impl Translation {
    /// The name in the catalog of the Python package.
    pub fn name(self) -> &'static str {
        match self {
            Translation::L1RatioChoosesPenalty => "l1-ratio-chooses-penalty",
            Translation::KernelParamsDict => "kernel-params-dict",
            Translation::MaxFunLimitsIterations => "max-fun-limits-iterations",
            Translation::StochasticSolversAreLbfgs => "stochastic-solvers-are-lbfgs",
        }
    }
}

/// How a fitted attribute of scikit-learn is derived from the model; implemented in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// The rows of the kernel expansion.
    ExpansionRows,
    /// The indices of those rows in the training data.
    ExpansionIndices,
    /// The coefficients of the kernel expansion.
    ExpansionCoefficients,
    /// The same with one column per target, or a vector for one target.
    ExpansionCoefficientsByTarget,
    /// The `gamma` of the kernel.
    KernelGamma,
    /// The eigenvectors of the centered kernel matrix.
    KernelEigenvectors,
    /// The number of layers of a network, input and output included.
    NumberOfLayers,
    /// The number of units of the output layer.
    NumberOfOutputUnits,
    /// The activation function of the output layer of a classifier: `logistic` or `softmax`.
    ClassifierActivation,
    /// The identity activation of the output layer of a regressor.
    RegressorActivation,
    /// The number of features of the transformed rows.
    NumberOfFeaturesOut,
    /// The exponents of each column in each monomial.
    Exponents,
    /// The number one: the equations are solved directly.
    OneIteration,
    /// A field of the model by another name.
    Field(&'static str),
}

impl Attribute {
    /// The name in the catalog of the Python package.
    pub fn name(self) -> &'static str {
        match self {
            Attribute::ExpansionRows => "expansion-rows",
            Attribute::ExpansionIndices => "expansion-indices",
            Attribute::ExpansionCoefficients => "expansion-coefficients",
            Attribute::ExpansionCoefficientsByTarget => "expansion-coefficients-by-target",
            Attribute::KernelGamma => "kernel-gamma",
            Attribute::KernelEigenvectors => "kernel-eigenvectors",
            Attribute::NumberOfLayers => "number-of-layers",
            Attribute::NumberOfOutputUnits => "number-of-output-units",
            Attribute::ClassifierActivation => "classifier-activation",
            Attribute::RegressorActivation => "regressor-activation",
            Attribute::NumberOfFeaturesOut => "number-of-features-out",
            Attribute::Exponents => "exponents",
            Attribute::OneIteration => "one-iteration",
            Attribute::Field(name) => name,
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
