"""Scikit-learn's manners around the one compiled class.

The classes users see are generated from the catalog; each puts together the parts below that its
model can do. What is learned lives in ``_fitted``, a compiled object that never changes.
"""

import copy
import importlib
import json
import math
import os
import warnings
from inspect import signature
from itertools import chain, combinations, combinations_with_replacement
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    assert_all_finite,
    check_array,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _mercer, labels, rows
from .exceptions import CutShortWarning
from .explanation import Explanation, ScoreExplanation, TermExplanation
from .limits import bounds
from .summary import Summary

__all__ = [
    "Additive",
    "Calibrated",
    "Classifier",
    "Clusterer",
    "Decides",
    "Detector",
    "Discriminant",
    "Estimator",
    "Factored",
    "Generative",
    "Mergeable",
    "MergeableRegressor",
    "Online",
    "OnlineRegressor",
    "Probabilistic",
    "Regressor",
    "Summed",
    "Transformer",
    "Warm",
    "load",
]

#: What scikit-learn calls the fields of a model, and how its numbers follow from ours.
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
    "feature_log_prob_": ("log_shares", None),
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

#: What scikit-learn calls the parts of a model that has an entry a column.
BY_COLUMN = {"category_count_": "counts", "feature_log_prob_": "log_shares"}



def _support_vectors(machine: dict[str, Any]) -> Any:
    thin = machine["thin"]
    if thin is None:
        return machine["vectors"]
    shape = (len(thin["offsets"]) - 1, machine["n_columns"])
    parts = (thin["values"], thin["columns"], thin["offsets"])
    return importlib.import_module("scipy.sparse").csr_matrix(parts, shape=shape)


def _pair_weights(machine: dict[str, Any], n_support: np.ndarray | None) -> np.ndarray:
    """The weights of the columns in every decision, where the kernel is linear."""
    if machine["function"]["kernel"] != "linear":
        raise AttributeError("coef_ is only available when using a linear kernel")
    vectors, table = _support_vectors(machine), machine["coefficients"]
    if n_support is None or len(machine["intercepts"]) == len(table):
        return np.asarray(table @ vectors)
    ends = np.concatenate([[0], np.cumsum(n_support)])
    of = [slice(a, b) for a, b in zip(ends, ends[1:], strict=False)]
    return np.array(
        [
            table[b - 1, of[a]] @ vectors[of[a]] + table[a, of[b]] @ vectors[of[b]]
            for a in range(len(of))
            for b in range(a + 1, len(of))
        ]
    )


#: What scikit-learn calls the parts of a machine with support vectors, and how they are made of ours.
OF_MACHINE = {
    "coef_": _pair_weights,
    "dual_coef_": lambda machine, _: machine["coefficients"],
    "intercept_": lambda machine, _: machine["intercepts"],
    "n_support_": lambda machine, _: np.array([len(machine["support"])], dtype=np.int32),
    "offset_": lambda machine, _: -machine["intercepts"],
    "support_": lambda machine, _: machine["support"].astype(np.int32),
    "support_vectors_": lambda machine, _: _support_vectors(machine),
}


def _by_target(fitted: _mercer.Fitted, table: np.ndarray) -> np.ndarray:
    """A row a target as scikit-learn has it: a column a target, or a list for one."""
    return table[0] if fitted.n_targets == 1 else table.T


def _powers(fitted: _mercer.Fitted) -> np.ndarray:
    """How often each column occurs in each product."""
    n = fitted.field("n_columns")
    choose = combinations if fitted.field("interaction_only") else combinations_with_replacement
    degrees = range(fitted.field("min_degree"), fitted.field("max_degree") + 1)
    products = chain.from_iterable(choose(range(n), degree) for degree in degrees)
    products = chain([()] if fitted.field("include_bias") else [], products)
    return np.vstack([np.bincount(np.array(p, dtype=int), minlength=n) for p in products])


def _of_machine(derive: Any) -> Any:
    return lambda fitted: derive(fitted.field("machine"))


#: The same where the machine is a part of something else, by id.
OF_KERNELIZED = {
    "kernel-pca": {
        "eigenvectors_": lambda fitted: (
            fitted.field("machine")["coefficients"].T * np.sqrt(fitted.field("eigenvalues"))
        ),
        "gamma_": _of_machine(lambda machine: machine["function"]["gamma"]),
        "X_fit_": _of_machine(_support_vectors),
    },
    "kernel-ridge": {
        "dual_coef_": lambda fitted: _by_target(fitted, fitted.field("machine")["coefficients"]),
        "X_fit_": _of_machine(_support_vectors),
    },
    "nystroem": {
        "component_indices_": _of_machine(lambda machine: machine["support"].astype(np.int64)),
        "components_": _of_machine(_support_vectors),
        "normalization_": _of_machine(lambda machine: machine["coefficients"]),
    },
    "polynomial-features": {
        "n_output_features_": lambda fitted: fitted.n_outputs,
        "powers_": lambda fitted: _powers(fitted),
    },
}

#: Rows that a kernel in Python is asked about at once.
KERNEL_ROWS = 1024

#: Estimators whose scikit-learn twins call a kernel in Python with two rows, not with two matrices.
BY_PAIR = frozenset({"kernel-pca", "kernel-ridge", "nystroem"})

#: What a kernel in Python takes the rows of.
OF_KERNEL_ROWS = frozenset({"X_fit_", "components_", "support_vectors_"})

#: What has an entry a number where several are learned at once, and what it is called in a model.
OF_TARGETS = {"coef_": "coefficients", "dual_coef_": "", "intercept_": "intercept"}

#: What scikit-learn asks for all the time and no model has: looking would cost a copy of the model.
NO_FIELDS = frozenset({"classes_", "feature_names_in_", "n_features_in_"})


class Estimator(BaseEstimator):
    """What every estimator has: parameters, rows checked at the door, a model file."""

    #: Its id in the catalog.
    _id = ""
    #: What its rows may have: ``missing`` values, ``sparse`` storage; or are read as.
    _takes: tuple[str, ...] = ()
    #: What it learned; there after a fit.
    _fitted: _mercer.Fitted
    #: The words of the columns that came as words.
    _levels: rows.Levels | None = None
    #: The rows learned from, where the kernel is a Python function.
    _kernel_rows: Any = None

    @property
    def certificate_(self) -> dict[str, Any]:
        """How the fit ended: method, rows, objective, violation, seconds, what cut it short."""
        check_is_fitted(self)
        return self._fitted.certificate

    def save(self, path: str | os.PathLike) -> None:
        """Writes a ``.mercer`` model file, whole or not at all."""
        check_is_fitted(self)
        if self._kernel_rows is not None:
            raise ValueError(
                "the kernel is a Python function, which a model file does not hold; keep the model "
                "with pickle, or write the kernel as a formula"
            )
        self._fitted.save(Path(path))

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Reads a model file of this class."""
        model = _load(path)
        if not isinstance(model, cls):
            raise ValueError(f"{path} holds a {type(model).__name__}, not a {cls.__name__}")
        return model

    def __getattr__(self, name: str) -> Any:
        """The fields of the fitted model: under their own names, and under scikit-learn's."""
        fitted = self.__dict__.get("_fitted")
        if name not in NO_FIELDS and fitted is not None and name.endswith("_") and name[0] != "_":
            if name in OF_KERNEL_ROWS and self._kernel_rows is not None:
                return self._kernel_rows[fitted.field("machine")["support"]]
            kernelized = OF_KERNELIZED.get(self._id)
            if kernelized is not None and name in kernelized:
                return kernelized[name](fitted)
            if kernelized is None and name in OF_MACHINE and "machine" in fitted.fields():
                n_support = fitted.field("n_support") if "n_support" in fitted.fields() else None
                if name != "n_support_" or n_support is None:
                    return OF_MACHINE[name](fitted.field("machine"), n_support)
            # Scikit-learn may call two things by one name; what the model lacks is not meant.
            for field, derive in [ALIASES.get(name, ("", None)), (name[:-1], None)]:
                try:
                    value = fitted.field(field)
                except KeyError:
                    continue
                return value if derive is None else derive(value)
            fields = fitted.fields()
            if name in BY_COLUMN and "columns" in fields:
                return [column[BY_COLUMN[name]] for column in fitted.field("columns")]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        fitted = self.__dict__.get("_fitted")
        fields = set(fitted.fields()) if fitted is not None else set()
        names = {alias for alias, (field, _) in ALIASES.items() if field in fields}
        names |= set(BY_COLUMN) if "columns" in fields else set()
        machine = set(OF_MACHINE) - {"coef_"} if "machine" in fields else set()
        names |= set(OF_KERNELIZED.get(self._id, machine)) if fields else set()
        return sorted({*super().__dir__(), *names, *(f"{field}_" for field in fields)})

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = "missing" in self._takes
        tags.input_tags.sparse = "sparse" in self._takes
        # The chi-squared kernel compares shares, and a share is never negative.
        shares = type(self).__name__ == "AdditiveChi2Sampler"
        tags.input_tags.positive_only = shares or not {"counts", "categories"}.isdisjoint(self._takes)
        tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
        tags.input_tags.categorical = not {"categories", "mixed"}.isdisjoint(self._takes)
        return tags

    def _params(self) -> str:
        """The parameters as the core reads them; ``None`` stands for a default that is shown as it."""
        defaults = signature(type(self).__init__).parameters
        params = self.get_params(deep=False)
        if "random_state" in params:
            params["random_state"] = _seed(params["random_state"])
        # The core is handed the model to begin at, and whom to tell; scikit-learn's word for no price is None.
        params.pop("warm_start", None)
        params.pop("verbose", None)
        if "penalty" in params and params["penalty"] is None:
            params["penalty"] = "none"
        if "scoring" in params and params["scoring"] is None:
            params["scoring"] = "accuracy"
        if callable(params.get("kernel")):
            params["kernel"] = "precomputed"
        told = {k: v for k, v in params.items() if v is not None or defaults[k].default is not None}
        return json.dumps({k: _plain(v) for k, v in told.items()})

    def _rows(self, X: Any, *, reset: bool) -> np.ndarray | rows.Compressed:
        """Rows as the core reads them: checked, and made into kernel values where the kernel is a Python
        function."""
        matrix = self._checked_rows(X, reset=reset)
        if not callable(getattr(self, "kernel", None)):
            if reset:
                self._kernel_rows = None
            return matrix
        return self._kernel_values(matrix, reset=reset)

    def _kernel_values(self, matrix: np.ndarray | rows.Compressed, *, reset: bool) -> np.ndarray:
        """The kernel of rows with those learned from, asked for block by block; of those that the fitted
        model has no use for, it is left at zero."""
        if isinstance(matrix, tuple):
            data, places, offsets, width = matrix
            shape = (len(offsets) - 1, width)
            matrix = importlib.import_module("scipy.sparse").csr_matrix(
                (data, places, offsets), shape=shape
            )
        else:
            assert_all_finite(matrix, input_name="X")
        if reset:
            self._kernel_rows = matrix.copy()
            support = slice(None)
            n_fit = matrix.shape[0]
        else:
            support = self._fitted.field("machine")["support"].astype(np.int64)
            n_fit = self._fitted.n_columns
        others = self._kernel_rows[support]
        out = np.zeros((matrix.shape[0], n_fit))
        for first in range(0, matrix.shape[0], KERNEL_ROWS):
            part = slice(first, first + KERNEL_ROWS)
            if self._id in BY_PAIR:
                pairwise = importlib.import_module("sklearn.metrics.pairwise").pairwise_kernels
                values = pairwise(matrix[part], others, metric=self.kernel)
            else:
                values = np.asarray(self.kernel(matrix[part], others), dtype=np.float64)
            expected = (matrix[part].shape[0], others.shape[0])
            if values.shape != expected:
                raise ValueError(
                    f"the kernel gave values of shape {values.shape} where {expected} was expected"
                )
            out[part, support] = values
        return out

    def _checked_rows(self, X: Any, *, reset: bool) -> np.ndarray | rows.Compressed:
        """Checks rows and remembers their columns, or compares them with those remembered.

        Whether numbers are finite is left to the core, which looks at every one of them anyway.
        """
        if not reset and self._fitted.table_names is not None:
            kinds = dict(zip(self._fitted.table_names, self._fitted.table_kinds, strict=True))
            return self._fitted.encode(rows.with_texts(X, kinds))
        if not {"mixed", "categories"}.isdisjoint(self._takes):
            known = None if reset else self._fitted.levels
            coded = rows.coded(X, known)
            if coded is not None:
                matrix, names, levels = coded
                if reset:
                    self._levels = levels
                return self._named(matrix, names, reset=reset)
        if reset:
            self._levels = None
        table = rows.table(X)
        if table is not None:
            return self._named(*table, reset=reset)
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if "sparse" in self._takes else False,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
        )
        if "categories" in self._takes:
            X = _whole(X)
        return rows.matrix(X)

    def _named(self, X: np.ndarray, names: list[str], *, reset: bool) -> np.ndarray:
        if len(X) == 0:
            raise ValueError("the table has 0 sample(s), at least 1 is required")
        if reset:
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.array(names, dtype=object)
            return X
        known = getattr(self, "feature_names_in_", None)
        if known is not None and list(known) != names:
            raise ValueError(
                f"The feature names should match those that were passed during fit: "
                f"{list(known)}, not {names}"
            )
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"X has {len(names)} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return X

    def _known_rows(self, X: Any) -> np.ndarray | rows.Compressed:
        check_is_fitted(self)
        return self._rows(X, reset=False)

    def _one_row(self, x: Any) -> np.ndarray:
        """One row of anything that has one, as an array."""
        if hasattr(x, "columns") or hasattr(x, "column_names") or hasattr(x, "tocsr"):
            row = self._rows(x, reset=False)
        else:
            row = np.atleast_2d(np.asarray(x, dtype=np.float64))
        if isinstance(row, tuple):
            data, places, offsets, width = row
            row = np.zeros((len(offsets) - 1, width))
            if len(row) == 1:
                # A cell may be stored in parts.
                np.add.at(row[0], places, data)
        if len(row) != 1:
            raise ValueError(f"explain takes one row, not {len(row)}")
        return np.ascontiguousarray(row[0], dtype=np.float64)

    def _names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None or self._kernel_rows is not None else list(names)

    def _start(self) -> _mercer.Fitted | None:
        """The model a fit begins at, where it was asked to begin at one."""
        return self.__dict__.get("_fitted") if getattr(self, "warm_start", False) else None

    def _bounds(self) -> tuple[Any, ...]:
        """What a fit may use, and who is told its plan."""
        return bounds(_say_plan if getattr(self, "verbose", False) else None)

    def _fit_rows(self, X: Any, sample_weight: Any) -> Self:
        """Learns from rows that have no target."""
        matrix = self._rows(X, reset=True)
        n_rows = len(matrix[2]) - 1 if isinstance(matrix, tuple) else len(matrix)
        weights = _weights(sample_weight, np.empty(n_rows))
        fitted = _mercer.fit(
            self._id,
            self._params(),
            matrix,
            None,
            [],
            weights,
            self._names(),
            self._levels,
            self._bounds(),
        )
        return self._keep(fitted, n_rows)

    def _keep(self, fitted: _mercer.Fitted, n_rows: int) -> Self:
        self._fitted = fitted
        certificate = fitted.certificate if fitted.ready else {"stopped": None}
        if certificate["stopped"] is not None:
            warnings.warn(
                f"the time limit ended the fit before all of {n_rows} rows were learned: "
                f"{certificate['text']}",
                CutShortWarning,
                stacklevel=3,
            )
        return self


class Classifier(ClassifierMixin, Estimator):
    """Tells classes apart."""

    classes_: np.ndarray
    #: Whether classes that were not named at the start may come later.
    _classes_grow: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # As scikit-learn says of its own: counting says little about real numbers.
        counting = {"counts", "binary", "categories"}
        tags.classifier_tags.poor_score = not counting.isdisjoint(self._takes)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from rows and their classes.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows. NaN and null are missing values, where the estimator takes them.
        y : array of shape (n_samples,)
            Their classes: truth values, whole numbers, numbers or strings.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        table = rows.with_texts(X) if "mixed" in self._takes else None
        matrix = self._rows(X, reset=True) if table is None else self._columns(table)
        codes, classes, weights = self._target(matrix, y, sample_weight)
        fitted = self._learned(table, matrix, codes, classes, weights, wait=False)
        self.classes_ = classes
        self._classes_grow = False
        return self._keep(fitted, len(codes))

    def _columns(self, table: rows.Columns) -> np.ndarray:
        """Remembers the columns of a table with texts; an array as long as it stands for its rows."""
        names = [name for name, _, _ in table]
        rest = np.empty((len(table[0][2]), 0))
        self._levels = None
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return rest

    def _learned(
        self,
        table: rows.Columns | None,
        matrix: np.ndarray | rows.Compressed,
        codes: np.ndarray,
        classes: np.ndarray,
        weights: np.ndarray | None,
        *,
        wait: bool,
    ) -> _mercer.Fitted:
        names, params, limit = labels.natives(classes), self._params(), self._bounds()
        if table is not None:
            return _mercer.fit_table(self._id, params, table, codes, names, weights, limit, wait)
        columns, start = self._names(), self._start()
        return _mercer.fit(
            self._id, params, matrix, codes, names, weights, columns, self._levels, limit, wait, start
        )

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        matrix = self._known_rows(X)
        return self.classes_[self._fitted.predict(matrix)]

    def _target(
        self, matrix: np.ndarray | rows.Compressed, y: Any, sample_weight: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        codes, classes = labels.encode(y)
        _check_lengths(matrix, codes)
        return codes, classes, _weights(sample_weight, codes)


class Mergeable(Classifier):
    """Learns by statistics: rows can be added, taken back out, and learned in parts."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learns more rows. Any split of the rows gives the model of all of them.

        Rows too few for a model, as those of a single class, are kept; predicting then raises
        ``ValueError`` until more have come.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their classes.
        classes : array of shape (n_classes,), default=None
            All classes that will ever occur. Given in the first call, others are refused later;
            without it, classes are added as they come.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        first = not self.__sklearn_is_fitted__()
        table = rows.with_texts(X) if first and "mixed" in self._takes else None
        matrix = self._rows(X, reset=first) if table is None else self._columns(table)
        codes, seen, weights = self._target(matrix, y, sample_weight)
        known = self._known_classes(seen, classes, first=first)
        codes = labels.recode(codes, seen, known)
        if first:
            fitted = self._learned(table, matrix, codes, known, weights, wait=True)
            self._classes_grow = classes is None
        else:
            names, params, limit = labels.natives(known), self._params(), self._bounds()
            fitted = self._fitted.observe(params, matrix, codes, names, weights, limit)
        self.classes_ = known
        return self._keep(fitted, len(codes))

    def _known_classes(self, seen: np.ndarray, classes: Any, *, first: bool) -> np.ndarray:
        given = None if classes is None else labels.encode(classes)[1]
        if first:
            return seen if given is None else given
        if given is not None and not np.array_equal(given, self.classes_):
            raise ValueError(
                f"`classes={given!r}` is not the same as on last call to partial_fit, "
                f"was: {self.classes_!r}"
            )
        if not self._classes_grow:
            return self.classes_
        kinds = {type(label) for label in labels.natives(np.concatenate([self.classes_, seen]))}
        if len(kinds) > 1:
            words = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(f"y changes its labels' type: {words}")
        return np.unique(np.concatenate([self.classes_, seen]))

    def merge(self, other: Self) -> Self:
        """The model of the rows of both, as a new estimator.

        Both must have the same parameters and columns; classes may differ.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        merged = _with(self, self._fitted.merge(other._fitted))
        merged.classes_ = np.unique(np.concatenate([self.classes_, other.classes_]))
        merged._classes_grow = self._classes_grow or other._classes_grow
        return merged

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Takes rows back out, as if they had never been learned."""
        matrix = self._known_rows(X)
        codes, seen, weights = self._target(matrix, y, sample_weight)
        codes = labels.recode(codes, seen, self.classes_)
        names = labels.natives(self.classes_)
        self._fitted = self._fitted.forget(matrix, codes, names, weights)
        return self


class Online(Classifier):
    """Learns one row after the other: more rows can be learned at any time, and their order matters."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Goes on with one pass over more rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their classes.
        classes : array of shape (n_classes,), default=None
            All classes that will ever occur; needed in the first call.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts.
        """
        first = not self.__sklearn_is_fitted__()
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        matrix = self._rows(X, reset=first)
        codes, seen, weights = self._target(matrix, y, sample_weight)
        known = self.classes_ if classes is None else labels.encode(classes)[1]
        if not first and not np.array_equal(known, self.classes_):
            raise ValueError(
                f"`classes={known!r}` is not the same as on last call to partial_fit, "
                f"was: {self.classes_!r}"
            )
        codes = labels.recode(codes, seen, known)
        fitted = _mercer.learn_on(
            self._id,
            self._params(),
            None if first else self._fitted,
            matrix,
            codes,
            labels.natives(known),
            weights,
            self._names(),
            self._bounds(),
        )
        self.classes_ = known
        self._classes_grow = False
        return self._keep(fitted, len(codes))


class Warm(Estimator):
    """Can begin at the model of the fit before."""

    warm_start: bool


class Probabilistic(Classifier):
    """Says how sure it is."""

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """``log P(class | row)``, a column for each of ``classes_``."""
        return self._log_proba(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """``P(class | row)``, a column for each of ``classes_``."""
        shares = self._log_proba(X)
        return np.exp(shares, out=shares)

    def _log_proba(self, X: Any) -> np.ndarray:
        matrix = self._known_rows(X)
        return self._fitted.log_proba(matrix)


class Generative(Classifier):
    """Has a density over rows: recognizes strangers and invents new rows."""

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """``log P(class, row)``, a column for each of ``classes_``."""
        matrix = self._known_rows(X)
        return self._fitted.log_joint(matrix)

    def log_density(self, X: Any) -> np.ndarray:
        """``log p(row)``: the lower, the stranger the row."""
        matrix = self._known_rows(X)
        return self._fitted.log_density(matrix)

    def score_samples(self, X: Any) -> np.ndarray:
        """The same as ``log_density``, by scikit-learn's name."""
        return self.log_density(X)

    def keep_densities(self, X: Any) -> Self:
        """Keeps how the log-densities of these rows lie, so that ``is_outlier`` can tell strangers.

        Rows the model did not learn from give the more honest measure. What is kept is saved with the
        model; a model that the command ``mercer train`` made has it already.
        """
        matrix = self._known_rows(X)
        self._fitted = self._fitted.with_densities(matrix)
        return self

    def is_outlier(self, X: Any, share: float = 0.01) -> np.ndarray:
        """Whether each row has a smaller density than all but a share of the rows kept by
        ``keep_densities``."""
        check_is_fitted(self)
        threshold = self._fitted.outlier_threshold(share)
        if threshold is None:
            raise ValueError("the model knows no densities to compare with; call keep_densities first")
        return self.log_density(X) < threshold

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """New rows and their classes, drawn from the model."""
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"n_samples is {n_samples}; it must be at least 1")
        X, codes = self._fitted.sample(n_samples, _seed(random_state))
        return X, self.classes_[codes]


class Calibrated(Probabilistic):
    """Says how sure it is, where it was asked to learn that."""

    def _says_how_sure(self) -> bool:
        if hasattr(self, "probability"):
            return self.probability
        return self.loss in ("log_loss", "modified_huber")

    @available_if(lambda self: self._says_how_sure())
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """``log P(class | row)``, a column for each of ``classes_``."""
        return self._log_proba(X)

    @available_if(lambda self: self._says_how_sure())
    def predict_proba(self, X: Any) -> np.ndarray:
        """``P(class | row)``, a column for each of ``classes_``."""
        return np.exp(self._log_proba(X))


class Decides(Estimator):
    """Has a decision function."""

    def decision_function(self, X: Any) -> np.ndarray:
        """How far on which side of the border each row is.

        Of two classes a number a row, above zero for the second of ``classes_``; of more, a column a
        class, or a column a pair of classes where ``decision_function_shape="ovo"``.
        """
        matrix = self._known_rows(X)
        decisions = self._fitted.decisions(matrix)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions


class Detector(OutlierMixin, Estimator):
    """Knows the rows that are like those it learned from."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from rows alone.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : ignored
            There for scikit-learn's pipelines.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        return self._fit_rows(X, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """1 for each row that is inside, -1 for a stranger."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def score_samples(self, X: Any) -> np.ndarray:
        """The decision without its offset."""
        return self.decision_function(X) + self.offset_


class Clusterer(ClusterMixin, Estimator):
    """Knows which rows lie together."""

    labels_: np.ndarray

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from rows alone.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : ignored
            There for scikit-learn's pipelines.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        return self._fit_rows(X, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """The nearest cluster of each row."""
        matrix = self._known_rows(X)
        return self._fitted.assign(matrix).astype(np.int32)

    def distances(self, X: Any) -> np.ndarray:
        """Squared distances from the center of each cluster, a column each."""
        matrix = self._known_rows(X)
        return self._fitted.cluster_distances(matrix)


class Factored(Classifier):
    """Has scores that are a prior times one factor a column."""

    def explain(self, x: Any) -> Explanation:
        """Why a row gets its class: every factor with its numbers put in.

        Parameters
        ----------
        x : array of shape (n_features,), or anything of one row
            The row.
        """
        check_is_fitted(self)
        told = self._fitted.explain(self._one_row(x))
        return Explanation(told, self.classes_)


class Summed(Classifier):
    """Has scores that are sums with one term a column."""

    # Scikit-learn takes whatever has one for something that reads any numbers.
    @available_if(lambda self: "categories" not in self._takes)
    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the classes; of two classes, the second's less the first's."""
        matrix = self._known_rows(X)
        scores = self._fitted.scores(matrix)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def explain(self, x: Any) -> ScoreExplanation:
        """Why a row gets its class: what each column adds to the score of each class.

        Parameters
        ----------
        x : array of shape (n_features,), or anything of one row
            The row.
        """
        check_is_fitted(self)
        return ScoreExplanation(self._fitted.explain(self._one_row(x)), self.classes_)


class Discriminant(Summed):
    """Has a center for every class and measures how far rows are from it."""

    def mahalanobis(self, X: Any) -> np.ndarray:
        """Squared distances from the centers, a column for each of ``classes_``, in units of the
        spread of the class."""
        matrix = self._known_rows(X)
        return self._fitted.distances(matrix)


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Maps rows to other rows."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from rows alone.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : ignored
            There for scikit-learn's pipelines.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        return self._fit_rows(X, sample_weight)

    def transform(self, X: Any) -> Any:
        """The new rows, in single precision where the rows are; sparse where new rows of sparse rows are."""
        matrix = self._known_rows(X)
        if isinstance(matrix, tuple):
            thin = self._fitted.transform_sparse(matrix)
            if thin is not None:
                return rows.like(X, thin)
        new = self._dense(X, matrix)
        return np.asfortranarray(new) if getattr(self, "order", "C") == "F" else new

    def _dense(self, X: Any, matrix: np.ndarray | rows.Compressed) -> np.ndarray:
        if isinstance(matrix, np.ndarray) and matrix.dtype == np.float32:
            return self._fitted.transform_single(matrix)
        new = self._fitted.transform(matrix)
        # Compressed rows are widened at the door.
        return new.astype(np.float32) if getattr(X, "dtype", None) == np.float32 else new

    @property
    def _n_features_out(self) -> int:
        return self._fitted.n_outputs

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the new columns: made of the old ones where the map says how, else numbered."""
        check_is_fitted(self)
        inputs = _check_feature_names_in(self, input_features)
        names = self._fitted.names_out([str(name) for name in inputs])
        if names is None:
            return super().get_feature_names_out(input_features)
        return np.asarray(names, dtype=object)


class Regressor(RegressorMixin, Estimator):
    """Predicts numbers."""

    #: Whether the numbers came as columns, and predictions are given so.
    _columns_of_y = False

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if name not in OF_TARGETS or not (self._columns_of_y or self._fitted.n_targets > 1):
            return value
        if name == "dual_coef_":
            return value.reshape(len(value), -1)
        others = self._fitted.field("others")
        return np.array([value, *(other[OF_TARGETS[name]] for other in others)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = "targets" in self._takes
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from rows and their numbers.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their numbers; of shape (n_samples, n_targets) where the estimator learns several at once.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        matrix = self._rows(X, reset=True)
        self._columns_of_y = "targets" in self._takes and y is not None and np.asarray(y).ndim == 2
        if self._columns_of_y:
            return self._fit_many(matrix, y, sample_weight)
        numbers, weights = self._target(matrix, y, sample_weight)
        fitted = _mercer.fit(
            self._id,
            self._params(),
            matrix,
            numbers,
            [],
            weights,
            self._names(),
            self._levels,
            self._bounds(),
            start=self._start(),
        )
        return self._keep(fitted, len(numbers))

    def _fit_many(self, matrix: np.ndarray | rows.Compressed, y: Any, sample_weight: Any) -> Self:
        targets = check_array(y, dtype=np.float64, input_name="y")
        _check_lengths(matrix, targets)
        weights = _weights(sample_weight, targets[:, 0])
        fitted = _mercer.fit_many(
            self._id, self._params(), matrix, targets, weights, self._names(), self._bounds()
        )
        return self._keep(fitted, len(targets))

    def predict(self, X: Any) -> np.ndarray:
        """The number of each row; a column a number where several were learned."""
        matrix = self._known_rows(X)
        if self._columns_of_y or self._fitted.n_targets > 1:
            return self._fitted.numbers_many(matrix)
        return self._fitted.numbers(matrix)

    def predict_interval(self, X: Any, level: float = 0.95) -> np.ndarray:
        """For each row, the ends of an interval that holds its number with probability ``level``."""
        if not 0 < level < 1:
            raise ValueError(f"level is {level}; it must be between 0 and 1")
        matrix = self._known_rows(X)
        return self._fitted.intervals(matrix, level)

    def _target(
        self, matrix: np.ndarray | rows.Compressed, y: Any, sample_weight: Any
    ) -> tuple[np.ndarray, np.ndarray | None]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        y = column_or_1d(y, warn=True, dtype=np.float64)
        assert_all_finite(y, input_name="y")
        _check_lengths(matrix, y)
        return np.ascontiguousarray(y), _weights(sample_weight, y)


class MergeableRegressor(Regressor):
    """Learns by statistics: rows can be added, taken back out, and learned in parts."""

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns more rows. Any split of the rows gives the model of all of them.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their numbers.
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.
        """
        first = not self.__sklearn_is_fitted__()
        matrix = self._rows(X, reset=first)
        numbers, weights = self._target(matrix, y, sample_weight)
        params, limit = self._params(), self._bounds()
        if first:
            columns = self._names()
            fitted = _mercer.fit(
                self._id,
                params,
                matrix,
                numbers,
                [],
                weights,
                columns,
                self._levels,
                limit,
                wait=True,
            )
        else:
            fitted = self._fitted.observe(params, matrix, numbers, [], weights, limit)
        return self._keep(fitted, len(numbers))

    def merge(self, other: Self) -> Self:
        """The model of the rows of both, as a new estimator.

        Both must have the same parameters and columns.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        return _with(self, self._fitted.merge(other._fitted))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Takes rows back out, as if they had never been learned."""
        matrix = self._known_rows(X)
        numbers, weights = self._target(matrix, y, sample_weight)
        self._fitted = self._fitted.forget(matrix, numbers, [], weights)
        return self


class OnlineRegressor(Regressor):
    """Learns one row after the other: more rows can be learned at any time, and their order matters."""

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Goes on with one pass over more rows.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their numbers.
        sample_weight : array of shape (n_samples,), default=None
            How much each row counts.
        """
        first = not self.__sklearn_is_fitted__()
        matrix = self._rows(X, reset=first)
        numbers, weights = self._target(matrix, y, sample_weight)
        fitted = _mercer.learn_on(
            self._id,
            self._params(),
            None if first else self._fitted,
            matrix,
            numbers,
            [],
            weights,
            self._names(),
            self._bounds(),
        )
        return self._keep(fitted, len(numbers))


class Additive(Regressor):
    """Has predictions that are a weighted sum of columns."""

    def explain(self, x: Any) -> TermExplanation:
        """Why a row gets its number: what every column adds.

        Parameters
        ----------
        x : array of shape (n_features,), or anything of one row
            The row.
        """
        self._check_one_target("explain")
        return TermExplanation(self._fitted.explain_terms(self._one_row(x)))

    def summary(self, level: float = 0.95) -> Summary:
        """The coefficients with their errors; ``print`` it to read it as R shows it.

        Parameters
        ----------
        level : float, default=0.95
            How sure the intervals are.
        """
        self._check_one_target("summarize")
        return Summary(*self._fitted.summary(level))

    def _check_one_target(self, what: str) -> None:
        check_is_fitted(self)
        if self._fitted.n_targets > 1:
            raise ValueError(
                f"the model has learned {self._fitted.n_targets} numbers at once; "
                f"fit it to one of them to {what} it"
            )


def _whole(X: np.ndarray) -> np.ndarray:
    """Codes of categories. As scikit-learn does, fractions are cut off; unlike it, not in silence."""
    if X.dtype == np.float64 and _mercer.are_codes(X):
        return X
    if (X < 0).any():
        raise ValueError("Negative values in data: categories are whole numbers from 0")
    whole = np.trunc(X)
    cut = (whole != X) & ~np.isnan(X) & np.isfinite(X)
    if cut.any():
        warnings.warn(
            f"categories are whole numbers; {X[cut][0]} was read as {whole[cut][0]:g}",
            UserWarning,
            stacklevel=4,
        )
    return np.where(np.isfinite(X), whole, X)


def load(path: str | os.PathLike) -> Any:
    """Reads a ``.mercer`` model file as an estimator of the right class.

    A classifier that has costs, a reject zone or new priors stored with it comes as a
    :class:`mercer.decision.DecisionClassifier` around it.
    """
    model = _load(path)
    if isinstance(model, Classifier) and model._fitted.decision is not None:
        return importlib.import_module(f"{__package__}.decision")._restored(model)
    return model


def _load(path: str | os.PathLike) -> Any:
    fitted = _mercer.load(Path(path))
    if fitted.map is not None:
        raise ValueError(
            f"{path} sends its columns through a kernel map ({fitted.map}); predict with it from the "
            "command line (mercer predict), or put the map and the estimator into a pipeline in Python"
        )
    prepared = fitted.prepared
    if prepared:
        raise ValueError(
            f"{path} prepares columns before it uses them ({', '.join(prepared)}); "
            "predict with it from the command line: mercer predict"
        )
    place = next(card["python"] for card in _mercer.catalog() if card["id"] == fitted.id)
    module, _, name = place.rpartition(".")
    found = getattr(importlib.import_module(f"{__package__}.{module}"), name)
    params = {k: None if v in ([], {}) else v for k, v in json.loads(fitted.params).items()}
    model = found(**params)
    model._fitted = fitted
    names = fitted.table_names if fitted.table_names is not None else fitted.names
    model.n_features_in_ = fitted.n_columns if names is None else len(names)
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    if isinstance(model, Classifier):
        model.classes_ = labels.array(fitted.labels)
        model._classes_grow = False
    return model


def _check_lengths(matrix: np.ndarray | rows.Compressed, y: np.ndarray) -> None:
    n_rows = len(matrix[2]) - 1 if isinstance(matrix, tuple) else len(matrix)
    if len(y) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_rows}, y has {len(y)}"
        )


def _weights(sample_weight: Any, y: np.ndarray) -> np.ndarray | None:
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, y, dtype=np.float64)
    return np.ascontiguousarray(weights)


def _say_plan(plan: str) -> None:
    """Prints what a fit is about to do; at once, as what follows may take long."""
    print(f"plan: {plan}", flush=True)


def _seed(random_state: Any) -> int:
    """A seed for the core of whatever scikit-learn takes for one."""
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _with(model: Any, fitted: _mercer.Fitted) -> Any:
    """A copy of an estimator around another fitted model."""
    other = copy.copy(model)
    other._fitted = fitted
    return other


def _plain(value: Any) -> Any:
    """A parameter as JSON has it; what JSON lacks becomes a word that the core refuses by name."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if hasattr(value, "__array__"):
        return _plain(np.asarray(value))
    return repr(value)
