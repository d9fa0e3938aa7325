"""Fitted attributes: fields of the model, and the functions by which the others are computed.

A generated class declares an attribute as a pair: the name of a field, or ``None`` for the whole
model, and a function of it, or ``None`` for the field itself. The declarations stand beside the
parameters of each estimator in Rust.
"""

import importlib
from itertools import chain, combinations, combinations_with_replacement, pairwise
from typing import Any

import numpy as np

from .. import _mercer

#: Attributes that scikit-learn reads often and no model has as fields; a lookup would copy the model.
NO_FIELDS = frozenset({"classes_", "feature_names_in_", "n_features_in_"})

#: Attributes with one entry per target of a multi-output model, and their fields in the model.
OF_TARGETS = {"coef_": "coefficients", "dual_coef_": "", "intercept_": "intercept"}


#: The attributes that have the precision of the training rows, and the estimators for which this holds.
PRECISION_ATTRIBUTES = frozenset({"coef_", "intercept_", "coefs_", "intercepts_"})
KEEP_PRECISION = frozenset(
    {
        "elastic-net",
        "lasso",
        "lda",
        "logistic",
        "mlp",
        "mlp-regressor",
        "ols",
        "ridge",
        "ridge-cv",
        "sgd",
        "sgd-one-class",
        "sgd-regressor",
    }
)


#: The estimators whose ``n_iter_`` is an array with one entry per problem.
ITERATION_ARRAYS = frozenset({"logistic"})


def in_single_precision(value: Any) -> Any:
    """Arrays, and lists of arrays, in single precision."""
    if isinstance(value, list):
        return [in_single_precision(item) for item in value]
    return np.asarray(value, dtype=np.float32) if np.ndim(value) else np.float32(value)


def fitted_attribute(estimator: Any, name: str) -> Any:
    """The value of an attribute of a fitted estimator; raises ``KeyError`` for an unknown name."""
    fitted = estimator._fitted
    field, function = estimator._fitted_attributes.get(name, (name[:-1], None))
    if function is expansion_rows and estimator._kernel_rows is not None:
        # With a callable kernel the core has no rows, only kernel values.
        return estimator._kernel_rows[fitted.field("support")]
    value = fitted if field is None else fitted.field(field)
    return value if function is None else function(value)


def attribute_names(estimator: Any) -> set[str]:
    """The names of all attributes of a fitted estimator."""
    fields = estimator._fitted.fields()
    return {*estimator._fitted_attributes, *(f"{field}_" for field in fields)}


# Functions of the whole model.


def dual_coefficients_by_target(fitted: _mercer.Fitted) -> np.ndarray:
    """One column per target, or a vector for one target."""
    coefficients = fitted.field("coefficients")
    return coefficients[0] if fitted.n_targets == 1 else coefficients.T


def kernel_eigenvectors(fitted: _mercer.Fitted) -> np.ndarray:
    """The eigenvectors of the centered kernel matrix, of unit length."""
    return fitted.field("coefficients").T * np.sqrt(fitted.field("eigenvalues"))


def one_iteration(fitted: _mercer.Fitted) -> int:
    """scikit-learn's checks require ``n_iter_`` of estimators with ``max_iter``."""
    return 1


def output_count_of_model(fitted: _mercer.Fitted) -> int:
    """The number of features of a transformed row."""
    return fitted.n_outputs


def pairwise_weights(fitted: _mercer.Fitted) -> np.ndarray:
    """The weights of every decision function of a classifier with a linear kernel."""
    expansion, n_support = fitted.field("expansion"), fitted.field("n_support")
    table = expansion["coefficients"]
    if len(expansion["intercepts"]) == len(table):
        return linear_weights(expansion)
    _require_linear(expansion)
    vectors = expansion_rows(expansion)
    ends = np.concatenate([[0], np.cumsum(n_support)])
    of = [slice(a, b) for a, b in pairwise(ends)]
    return np.array(
        [
            table[b - 1, of[a]] @ vectors[of[a]] + table[a, of[b]] @ vectors[of[b]]
            for a in range(len(of))
            for b in range(a + 1, len(of))
        ]
    )


def posterior_covariance(fitted: _mercer.Fitted) -> np.ndarray:
    """The posterior covariance of the coefficients of ridge regression."""
    factor = fitted.field("whitener")
    return fitted.field("noise_variance") * (factor.T @ factor)


def powers(fitted: _mercer.Fitted) -> np.ndarray:
    """The exponent of each input column in each output column."""
    n = fitted.field("n_columns")
    choose = combinations if fitted.field("interaction_only") else combinations_with_replacement
    degrees = range(fitted.field("min_degree"), fitted.field("max_degree") + 1)
    products = chain.from_iterable(choose(range(n), degree) for degree in degrees)
    products = chain([()] if fitted.field("include_bias") else [], products)
    return np.vstack([np.bincount(np.array(p, dtype=int), minlength=n) for p in products])


def target_count(fitted: _mercer.Fitted) -> int:
    """The number of targets."""
    return fitted.n_targets


# Functions of a kernel expansion or of its parts.


def expansion_rows(expansion: dict[str, Any]) -> Any:
    """The rows of a kernel expansion, dense or sparse as they are stored."""
    sparse = expansion["sparse_vectors"]
    if sparse is None:
        return expansion["vectors"]
    shape = (len(sparse["offsets"]) - 1, expansion["n_columns"])
    parts = (sparse["values"], sparse["columns"], sparse["offsets"])
    return importlib.import_module("scipy.sparse").csr_matrix(parts, shape=shape)


def kernel_gamma(function: dict[str, Any]) -> float:
    """The ``gamma`` of a kernel function."""
    return function["gamma"]


def linear_weights(expansion: dict[str, Any]) -> np.ndarray:
    """The weights of every decision function with a linear kernel."""
    _require_linear(expansion)
    return np.asarray(expansion["coefficients"] @ expansion_rows(expansion))


def support_count(support: np.ndarray) -> np.ndarray:
    """The number of support vectors."""
    return np.array([len(support)], dtype=np.int32)


def _require_linear(expansion: dict[str, Any]) -> None:
    if expansion["function"]["kernel"] != "linear":
        raise AttributeError("coef_ is only available when using a linear kernel")


# Functions of other fields.


def category_counts(columns: list[dict[str, Any]]) -> np.ndarray:
    """The number of categories of each column."""
    return np.array([column["counts"].shape[1] for column in columns])


def class_contrast(coefficients: np.ndarray) -> np.ndarray:
    """For two classes, the weights of the second minus those of the first."""
    return np.diff(coefficients, axis=0) if len(coefficients) == 2 else coefficients


def class_contrast_of_intercepts(intercepts: np.ndarray) -> np.ndarray:
    """For two classes, the intercept of the second minus that of the first."""
    values = np.ravel(intercepts)
    return np.diff(values) if len(values) == 2 else values


def classifier_activation(intercepts: list[np.ndarray]) -> str:
    """The activation of the output layer of a classifier."""
    return "logistic" if len(intercepts[-1]) == 1 else "softmax"


def column_counts(columns: list[dict[str, Any]]) -> list[np.ndarray]:
    """The counts of each column."""
    return [column["counts"] for column in columns]


def column_log_probabilities(columns: list[dict[str, Any]]) -> list[np.ndarray]:
    """The log-probabilities of each column."""
    return [column["log_probabilities"] for column in columns]


def fit_status(converged: bool) -> int:
    """0 for a fit that converged, else 1."""
    return 0 if converged else 1


def layer_count(coefs: list[np.ndarray]) -> int:
    """The number of layers, input and output included."""
    return len(coefs) + 1


def output_count(intercepts: list[np.ndarray]) -> int:
    """The number of units of the output layer."""
    return len(intercepts[-1])


def sum_over_classes(counts: np.ndarray) -> np.ndarray:
    """The sum of the rows of a matrix with one row per class."""
    return counts.sum(axis=0)


def one_or_array(values: np.ndarray) -> Any:
    """The value of a single problem, or the values of several."""
    return float(values[0]) if len(values) == 1 else values


def one_or_list(values: np.ndarray) -> Any:
    """The count of a single problem, or the counts of several."""
    counts = [int(value) for value in values]
    return counts[0] if len(counts) == 1 else counts


def sparse_matrix(coefficients: np.ndarray) -> Any:
    """Coefficients as a sparse array of one row."""
    return importlib.import_module("scipy.sparse").csr_array(np.atleast_2d(coefficients))


# Conversions.


def array(values: Any) -> np.ndarray:
    """A nested list as an array."""
    return np.array(values)


def exp(values: np.ndarray) -> np.ndarray:
    """Probabilities from their logarithms."""
    return np.exp(values)


def int32(values: np.ndarray) -> np.ndarray:
    """Integers in scikit-learn's type for indices of support vectors and clusters."""
    return values.astype(np.int32)


def int64(values: np.ndarray) -> np.ndarray:
    """Integers in numpy's type for indices."""
    return values.astype(np.int64)


def integer(value: Any) -> int:
    """A number that is stored as a matrix of one cell."""
    return int(np.ravel(value)[0])


def integers(values: np.ndarray) -> np.ndarray:
    """Integers that are stored as a matrix of one row."""
    return values[0].astype(int)


def list_of(values: np.ndarray) -> list[np.ndarray]:
    """An array as a list along its first axis."""
    return list(values)


def negated(values: np.ndarray) -> np.ndarray:
    """The values with the opposite sign."""
    return -values


def ravel(values: np.ndarray) -> np.ndarray:
    """A vector that is stored as a matrix of one row."""
    return np.ravel(values)
