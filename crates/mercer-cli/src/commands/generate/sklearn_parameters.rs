//! What scikit-learn's classes take beside the parameters of ours: more names, and some by position.
//!
//! A script that changes its imports should run, so every name is taken, in one of three ways: `Honored` ones do
//! what they say, `Unused` ones cannot change the model, and of an `Only` one there is a single way here, so that
//! everything else is refused with a word on what to do. Signature, docstring, stub and the check at run time are
//! made from this table; the command line has no use for these names and does not show them.

use mercer::catalog::{Capability, Card};

/// A parameter of a Python class that the estimator itself does not have.
pub struct Beside {
    of: Of,
    /// What it is called.
    pub name: &'static str,
    /// Its default, as Python writes it.
    pub default: &'static str,
    /// How it is taken.
    pub taken: Taken,
    /// What it is for; of an unused one, why it makes no difference.
    about: &'static str,
}

/// Who has a parameter.
enum Of {
    /// Whatever can do this.
    Can(Capability),
    /// Those with these ids.
    These(&'static [&'static str]),
}

/// How a parameter is taken. Types and values are as Python writes them.
pub enum Taken {
    /// It does what it says, and has this type.
    Honored(&'static str),
    /// It may be any of these types and values; the model is the same.
    Unused(&'static [&'static str]),
    /// It may be its default or one of these values. Anything else is refused, with a remedy.
    Only(&'static [&'static str], &'static str),
}

use Of::{Can, These};
use Taken::{Honored, Only, Unused};

const BOOL: Taken = Unused(&["bool"]);
const FLOAT: Taken = Unused(&["float"]);
const SEED: Taken = Unused(&["int", "RandomState", "None"]);
const STEPS: Taken = Unused(&["int", "None"]);
const INT_OR_AUTO: Taken = Unused(&["int", "\"auto\""]);

const ALL_ROWS: &str = "every iteration uses all rows.";
const EXACT: &str = "the normal equations are solved exactly.";
const FREE_CONSTANT: &str = "the intercept is not penalized.";
const HOW_FAR: &str = "Print the progress of the fit once a second.";
const STEP_LENGTH: &str = "step sizes are found by a line search.";
const TO_ROUNDING: &str = "eigenvectors are computed to rounding by the fastest suitable method.";
const BY_SEARCH: &str = "use sklearn.model_selection.GridSearchCV(Ridge(), {'alpha': alphas})";

const NETWORKS: Of = These(&["mlp", "mlp-regressor"]);
const LOGISTIC: Of = These(&["logistic", "logistic-cv"]);
const PCA: Of = These(&["kernel-pca"]);
const RIDGE: Of = These(&["ridge"]);
const RIDGE_CV: Of = These(&["ridge-cv"]);

/// Every parameter beside those of the catalog.
#[rustfmt::skip]
const BESIDE: &[Beside] = &[
    beside(Can(Capability::WarmStart), "warm_start", "False", Honored("bool"),
        "Start at the solution of the previous fit, if there is one."),
    beside(Can(Capability::MemoryPlan), "verbose", "False", Honored("bool"),
        "Print the plan of the fit (solver and expected memory) before it starts, and its progress once a second."),
    beside(These(&["logistic", "logistic-cv", "linear-svc", "linear-svr", "perceptron", "sgd", "sgd-regressor",
                   "passive-aggressive", "passive-aggressive-regressor"]),
        "verbose", "0", Honored("int"), HOW_FAR),
    beside(NETWORKS, "verbose", "False", Honored("bool"), HOW_FAR),
    beside(These(&["kernel-pca", "nystroem", "ols", "logistic", "logistic-cv", "perceptron", "sgd", "passive-aggressive"]),
        "n_jobs", "None", Honored("int | None"),
        "Number of threads. Negative values count from the number of cores: -1 uses all of them. `None` uses the value of \
         `mercer.set_threads`. The fitted model does not depend on it."),
    beside(These(&["kernel-pca", "ridge", "logistic", "logistic-cv", "svc", "nu-svc", "linear-svc", "linear-svr"]),
        "random_state", "None", SEED, "the fit is deterministic."),
    beside(These(&["kernel-pca", "ols", "ridge"]), "copy_X", "True", BOOL, "the input is never modified."),

    beside(These(&["kernel-pca", "kernel-ridge"]), "kernel_params", "None", Honored("dict | None"),
        "Keyword arguments of a callable kernel."),
    beside(These(&["nystroem"]), "kernel_params", "None", Honored("dict | None"),
        "Keyword arguments of a callable kernel; for other kernels `gamma`, `coef0` and `degree`."),
    beside(PCA, "eigen_solver", "\"auto\"",
        Unused(&["\"auto\"", "\"dense\"", "\"arpack\"", "\"randomized\""]), TO_ROUNDING),
    beside(PCA, "tol", "0", FLOAT, TO_ROUNDING),
    beside(PCA, "max_iter", "None", STEPS, TO_ROUNDING),
    beside(PCA, "iterated_power", "\"auto\"", INT_OR_AUTO, TO_ROUNDING),
    beside(PCA, "remove_zero_eig", "False", BOOL, "components with zero eigenvalue are always removed."),

    beside(These(&["lda", "qda"]), "covariance_estimator", "None",
        Only(&[], "use shrinkage, a number or \"auto\""),
        "A custom covariance estimator."),

    beside(These(&["ols", "ridge"]), "positive", "False",
        Only(&[], "use scipy.optimize.nnls or scikit-learn's class"),
        "Constrain the coefficients to be nonnegative."),
    beside(These(&["ols"]), "tol", "1e-06", FLOAT, EXACT),
    beside(RIDGE, "tol", "0.0001", FLOAT, EXACT),
    beside(RIDGE, "max_iter", "None", STEPS, EXACT),
    beside(RIDGE, "solver", "\"auto\"",
        Unused(&["\"auto\"", "\"svd\"", "\"cholesky\"", "\"lsqr\"", "\"sparse_cg\"", "\"sag\"", "\"saga\"", "\"lbfgs\""]),
        "the normal equations are solved exactly for every value."),
    beside(RIDGE_CV, "scoring", "None", Only(&["\"neg_mean_squared_error\""], BY_SEARCH),
        "Metric of the leave-one-out predictions: the squared error."),
    beside(RIDGE_CV, "cv", "None", Only(&[], BY_SEARCH),
        "Cross-validation scheme: leave-one-out."),
    beside(RIDGE_CV, "gcv_mode", "None", Unused(&["\"auto\"", "\"svd\"", "\"eigen\"", "None"]), EXACT),
    beside(RIDGE_CV, "store_cv_results", "False",
        Only(&[], "fit Ridge with each alpha to see its predictions"),
        "Store the error of every row for every alpha."),
    beside(RIDGE_CV, "alpha_per_target", "False", Only(&[], "fit one estimator per target"),
        "Choose alpha for each target separately."),

    beside(LOGISTIC, "solver", "\"lbfgs\"",
        Unused(&["\"lbfgs\"", "\"liblinear\"", "\"newton-cg\"", "\"newton-cholesky\"", "\"sag\"", "\"saga\""]),
        "every fit converges to the same certified optimum. The intercept is not penalized, as with every solver of \
         scikit-learn but `liblinear`."),
    beside(LOGISTIC, "dual", "False", BOOL, "the primal and the dual problem have the same optimum."),
    beside(These(&["logistic"]), "intercept_scaling", "1", FLOAT, FREE_CONSTANT),
    beside(These(&["logistic-cv"]), "intercept_scaling", "1.0", FLOAT, FREE_CONSTANT),
    beside(These(&["logistic-cv"]), "use_legacy_attributes", "False",
        Only(&["\"warn\""], "read C_, scores_ and coefs_paths_ as scikit-learn 1.10 has them"),
        "Repeat the cross-validation results for every class."),

    beside(These(&["mlp-regressor"]), "loss", "\"squared_error\"", Only(&[], "use scikit-learn's class"),
        "Loss: half the squared error."),
    beside(NETWORKS, "batch_size", "\"auto\"", INT_OR_AUTO, ALL_ROWS),
    beside(NETWORKS, "shuffle", "True", BOOL, ALL_ROWS),
    beside(NETWORKS, "learning_rate", "\"constant\"",
        Unused(&["\"constant\"", "\"invscaling\"", "\"adaptive\""]), STEP_LENGTH),
    beside(NETWORKS, "learning_rate_init", "0.001", FLOAT, STEP_LENGTH),
    beside(NETWORKS, "power_t", "0.5", FLOAT, STEP_LENGTH),
    beside(NETWORKS, "momentum", "0.9", FLOAT, STEP_LENGTH),
    beside(NETWORKS, "nesterovs_momentum", "True", BOOL, STEP_LENGTH),
    beside(NETWORKS, "beta_1", "0.9", FLOAT, STEP_LENGTH),
    beside(NETWORKS, "beta_2", "0.999", FLOAT, STEP_LENGTH),
    beside(NETWORKS, "epsilon", "1e-08", FLOAT, STEP_LENGTH),
    beside(NETWORKS, "early_stopping", "False",
        Only(&[], "increase alpha, or choose max_iter by cross-validation"),
        "Stop when the score on held-out rows no longer improves."),
    beside(NETWORKS, "validation_fraction", "0.1", FLOAT, "no rows are held out."),
    beside(NETWORKS, "n_iter_no_change", "10", FLOAT, "the fit stops by `tol` or `max_iter`."),
    beside(NETWORKS, "max_fun", "15000", Honored("int"),
        "Maximum number of iterations, as `max_iter`; the smaller of the two applies."),
];

const fn beside(
    of: Of,
    name: &'static str,
    default: &'static str,
    taken: Taken,
    about: &'static str,
) -> Beside {
    Beside { of, name, default, taken, about }
}

/// What scikit-learn takes by position, in its order.
const BY_POSITION: &[(&str, &[&str])] = &[
    ("kernel-pca", &["n_components"]),
    ("kernel-ridge", &["alpha"]),
    (
        "lda",
        &[
            "solver",
            "shrinkage",
            "priors",
            "n_components",
            "store_covariance",
            "tol",
            "covariance_estimator",
        ],
    ),
    ("linear-svc", &["penalty", "loss"]),
    ("logistic", &["penalty"]),
    ("mlp", &["hidden_layer_sizes", "activation"]),
    ("mlp-regressor", &["loss", "hidden_layer_sizes", "activation"]),
    ("nystroem", &["kernel"]),
    ("polynomial-features", &["degree"]),
    ("ridge", &["alpha"]),
    ("ridge-cv", &["alphas"]),
    ("sgd", &["loss"]),
    ("sgd-regressor", &["loss"]),
];

/// A parameter of the catalog that Python's class says in scikit-learn's words.
pub struct Said {
    ids: &'static [&'static str],
    name: &'static str,
    /// Its default, as Python writes it.
    pub default: &'static str,
    /// Its type.
    pub hint: &'static str,
    /// What the docstring adds.
    pub about: &'static str,
}

const SAID: &[Said] = &[
    // A share that is given must count, as in scikit-learn, unless a price is given too: so the price has a
    // default that nobody writes.
    Said {
        ids: &["logistic"],
        name: "penalty",
        default: "\"deprecated\"",
        hint: "Literal[\"l2\", \"l1\", \"elasticnet\", \"none\", \"deprecated\"] | None",
        about: "`None` is `none`. Scikit-learn's word `deprecated` leaves it to `l1_ratio`: 0 is `l2`, 1 is `l1`, \
                and between them is `elasticnet`.",
    },
    Said {
        ids: &["logistic"],
        name: "l1_ratio",
        default: "0.0",
        hint: "float | None",
        about: "`None` is 0.",
    },
    // What a table of parameters says counts where nothing else does.
    Said {
        ids: &["nystroem"],
        name: "coef0",
        default: "None",
        hint: "float | None",
        about: "`None` is 1.",
    },
    Said {
        ids: &["nystroem"],
        name: "degree",
        default: "None",
        hint: "int | None",
        about: "`None` is 3.",
    },
    Said {
        ids: &["mlp", "mlp-regressor"],
        name: "solver",
        default: "\"lbfgs\"",
        hint: "Literal[\"lbfgs\", \"adam\", \"sgd\"]",
        about: "Scikit-learn's `adam` and `sgd` are taken as `lbfgs`, with a warning.",
    },
];

/// How Python says a parameter of the catalog, where it is not as the catalog does.
pub fn said(card: &Card, name: &str) -> Option<&'static Said> {
    SAID.iter().find(|said| said.ids.contains(&card.id) && said.name == name)
}

/// The parameters that the class of a card has beside those of the card.
pub fn beside_of(card: &Card) -> impl Iterator<Item = &'static Beside> {
    BESIDE.iter().filter(|beside| match beside.of {
        Can(what) => card.can(what),
        These(ids) => ids.contains(&card.id),
    })
}

/// The parameters that the class of a card takes by position.
pub fn by_position(card: &Card) -> &'static [&'static str] {
    BY_POSITION.iter().find(|(id, _)| *id == card.id).map_or(&[], |(_, names)| names)
}

impl Beside {
    /// Its type.
    pub fn hint(&self) -> String {
        match self.taken {
            Honored(hint) => hint.to_owned(),
            Unused(takes) => {
                let (types, words): (Vec<_>, Vec<_>) =
                    takes.iter().copied().partition(|what| !what.starts_with('"'));
                union(&types, &words)
            }
            Only(more, _) => union(&[], &[&[self.default], more].concat()),
        }
    }

    /// What the docstring says of it.
    pub fn doc(&self) -> String {
        match self.taken {
            Honored(_) => self.about.to_owned(),
            Unused(_) => format!("Makes no difference: {}", self.about),
            Only(more, _) => {
                let takes = [&[self.default], more].concat().join("` or `");
                format!("{} Only `{takes}` is taken.", self.about)
            }
        }
    }

    /// What its class says of it, for the check at run time: the way it is taken, and the arguments of that.
    pub fn declared(&self) -> (&'static str, Vec<String>) {
        match self.taken {
            Honored(_) => ("Honored", Vec::new()),
            Unused(takes) => ("Unused", takes.iter().map(|what| (*what).to_owned()).collect()),
            Only(more, instead) => {
                let takes = [&[self.default], more].concat();
                let takes = takes.into_iter().map(str::to_owned);
                ("Only", takes.chain([format!("instead={instead:?}")]).collect())
            }
        }
    }
}

/// Types and values as one type.
fn union(types: &[&str], values: &[&str]) -> String {
    let (last, types): (Vec<_>, Vec<_>) = types.iter().partition(|what| **what == "None");
    let literal = (!values.is_empty()).then(|| format!("Literal[{}]", values.join(", ")));
    let types = types.into_iter().map(str::to_owned).chain(literal);
    types.chain(last.into_iter().map(str::to_owned)).collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer::catalog::CATALOG;

    #[test]
    fn every_estimator_named_here_is_in_the_catalog_and_lacks_what_it_is_given() {
        let named = BESIDE.iter().flat_map(|beside| match beside.of {
            Can(_) => &[],
            These(ids) => ids,
        });

        for id in named.chain(BY_POSITION.iter().map(|(id, _)| id)) {
            assert!(CATALOG.iter().any(|card| card.id == *id), "{id}");
        }
        for card in CATALOG {
            let mut names: Vec<&str> = card.specs.iter().map(|spec| spec.name).collect();
            names.extend(beside_of(card).map(|beside| beside.name));
            let n = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), n, "{} has a parameter twice", card.id);
            assert!(by_position(card).iter().all(|name| names.contains(name)), "{}", card.id);
        }
    }

    #[test]
    fn types_follow_from_what_is_taken() {
        let hint = |taken| beside(Can(Capability::WarmStart), "a", "None", taken, "").hint();

        assert_eq!(hint(INT_OR_AUTO), "int | Literal[\"auto\"]");
        assert_eq!(hint(SEED), "int | RandomState | None");
        assert_eq!(hint(Only(&["\"warn\""], "")), "Literal[None, \"warn\"]");
    }
}
