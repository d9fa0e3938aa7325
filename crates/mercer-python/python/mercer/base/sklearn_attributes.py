"""scikit-learn's attribute names, and how their values are computed from the fields of a model."""

import importlib
from itertools import chain, combinations, combinations_with_replacement, pairwise
from typing import Any

import numpy as np

from .. import _mercer

#: By scikit-learn's name: the field of the model, and a function of its value.
ALIASES = {
    "bitHash_": ("bit_hash", None),
    "class_count_": ("class_weights", None),
    "class_log_prior_": ("log_priors", None),
    "class_prior_": ("log_priors", np.exp),
    "class_weight_": ("class_weights", None),
    "coef_": ("coefficients", lambda c: np.diff(c, axis=0) if c.ndim == 2 and len(c) == 2 else c),
    "covariance_": ("covariances", list),
    "epsilon_": ("smoothing", None),
    "explained_variance_ratio_": ("explained_variance_ratio", np.ravel),
    "feature_all_": ("counts", lambda counts: counts.sum(axis=0)),
    "feature_count_": ("counts", None),
    "feature_log_prob_": ("log_probabilities", None),
    "fit_status_": ("converged", lambda converged: 0 if converged else 1),
    "indexHash_": ("index_hash", np.array),
    "intercept_": ("intercepts", lambda b: np.diff(np.ravel(b)) if b.size == 2 else np.ravel(b)),
    "labels_": ("labels", lambda labels: labels.astype(np.int32)),
    "log_determinants_": ("log_determinants", np.ravel),
    "n_categories_": ("columns", lambda columns: np.array([c["counts"].shape[1] for c in columns])),
    "priors_": ("log_priors", np.exp),
    "rank_": ("rank", lambda rank: int(np.ravel(rank)[0])),
    "ranks_": ("ranks", lambda row: row[0].astype(int)),
    "scalings_": ("axes", None),
    "theta_": ("means", None),
    "var_": ("variances", None),
    "xbar_": ("center", np.ravel),
}

#: The same for models that store one entry per column.
BY_COLUMN = {"category_count_": "counts", "feature_log_prob_": "log_probabilities"}


def _support_vectors(expansion: dict[str, Any]) -> Any:
    sparse = expansion["sparse_vectors"]
    if sparse is None:
        return expansion["vectors"]
    shape = (len(sparse["offsets"]) - 1, expansion["n_columns"])
    parts = (sparse["values"], sparse["columns"], sparse["offsets"])
    return importlib.import_module("scipy.sparse").csr_matrix(parts, shape=shape)


def _pair_weights(expansion: dict[str, Any], n_support: np.ndarray | None) -> np.ndarray:
    """The weight vector of every decision function; only for a linear kernel."""
    if expansion["function"]["kernel"] != "linear":
        raise AttributeError("coef_ is only available when using a linear kernel")
    vectors, table = _support_vectors(expansion), expansion["coefficients"]
    if n_support is None or len(expansion["intercepts"]) == len(table):
        return np.asarray(table @ vectors)
    ends = np.concatenate([[0], np.cumsum(n_support)])
    of = [slice(a, b) for a, b in pairwise(ends)]
    return np.array(
        [
            table[b - 1, of[a]] @ vectors[of[a]] + table[a, of[b]] @ vectors[of[b]]
            for a in range(len(of))
            for b in range(a + 1, len(of))
        ]
    )


#: scikit-learn's names of the parts of a kernel expansion, computed from the expansion and the number of
#: support vectors of each class.
OF_EXPANSION = {
    "coef_": _pair_weights,
    "dual_coef_": lambda expansion, _: expansion["coefficients"],
    "intercept_": lambda expansion, _: expansion["intercepts"],
    "n_support_": lambda expansion, _: np.array([len(expansion["support"])], dtype=np.int32),
    "offset_": lambda expansion, _: -expansion["intercepts"],
    "support_": lambda expansion, _: expansion["support"].astype(np.int32),
    "support_vectors_": lambda expansion, _: _support_vectors(expansion),
}


def _by_target(fitted: _mercer.Fitted, table: np.ndarray) -> np.ndarray:
    """A matrix of one row per target in scikit-learn's shape: one column per target, or a vector."""
    return table[0] if fitted.n_targets == 1 else table.T


def _powers(fitted: _mercer.Fitted) -> np.ndarray:
    """The exponent of each input column in each output column."""
    n = fitted.field("n_columns")
    choose = combinations if fitted.field("interaction_only") else combinations_with_replacement
    degrees = range(fitted.field("min_degree"), fitted.field("max_degree") + 1)
    products = chain.from_iterable(choose(range(n), degree) for degree in degrees)
    products = chain([()] if fitted.field("include_bias") else [], products)
    return np.vstack([np.bincount(np.array(p, dtype=int), minlength=n) for p in products])


def _of_expansion(derive: Any) -> Any:
    return lambda fitted: derive(fitted.field("expansion"))


#: Attributes by the id of the estimator, where the kernel expansion has another meaning than in an SVM, or
#: the model has no expansion.
BY_ESTIMATOR = {
    "kernel-pca": {
        "eigenvectors_": lambda fitted: (
            fitted.field("expansion")["coefficients"].T * np.sqrt(fitted.field("eigenvalues"))
        ),
        "gamma_": _of_expansion(lambda expansion: expansion["function"]["gamma"]),
        "X_fit_": _of_expansion(_support_vectors),
    },
    "kernel-ridge": {
        "dual_coef_": lambda fitted: _by_target(fitted, fitted.field("expansion")["coefficients"]),
        "X_fit_": _of_expansion(_support_vectors),
    },
    "mlp": {
        "n_layers_": lambda fitted: len(fitted.field("coefs")) + 1,
        "n_outputs_": lambda fitted: len(fitted.field("intercepts")[-1]),
        "out_activation_": lambda fitted: (
            "logistic" if len(fitted.field("intercepts")[-1]) == 1 else "softmax"
        ),
    },
    "mlp-regressor": {
        "n_layers_": lambda fitted: len(fitted.field("coefs")) + 1,
        "n_outputs_": lambda fitted: fitted.n_targets,
        "out_activation_": lambda fitted: "identity",
    },
    "nystroem": {
        "component_indices_": _of_expansion(
            lambda expansion: expansion["support"].astype(np.int64)
        ),
        "components_": _of_expansion(_support_vectors),
        "error_": lambda fitted: fitted.field("relative_trace_error"),
        "n_components_": lambda fitted: fitted.n_outputs,
        "normalization_": _of_expansion(lambda expansion: expansion["coefficients"]),
    },
    "polynomial-features": {
        "n_output_features_": lambda fitted: fitted.n_outputs,
        "powers_": lambda fitted: _powers(fitted),
    },
    "rbf-sampler": {"n_components_": lambda fitted: fitted.n_outputs},
    # scikit-learn's checks require ``n_iter_`` of estimators with ``max_iter``; the normal equations are
    # solved directly.
    "ridge": {"n_iter_": lambda fitted: 1},
}

#: Attributes that are training rows; a callable kernel needs them in Python.
OF_KERNEL_ROWS = frozenset({"X_fit_", "components_", "support_vectors_"})

#: Attributes with one entry per target of a multi-output model, and their fields in the model.
OF_TARGETS = {"coef_": "coefficients", "dual_coef_": "", "intercept_": "intercept"}

#: Attributes that scikit-learn reads often and no model has as fields; looking them up would copy the model.
NO_FIELDS = frozenset({"classes_", "feature_names_in_", "n_features_in_"})
