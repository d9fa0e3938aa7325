"""The base class of all estimators: parameters, validation of rows, fitted attributes, model files."""

import copy
import importlib
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from .. import _mercer, rows
from ..exceptions import TimeLimitWarning
from ..limits import current_limits
from .inputs import category_codes, checked_weights, n_rows, n_threads, random_seed, to_json
from .sklearn_attributes import (
    ITERATION_ARRAYS,
    KEEP_PRECISION,
    NO_FIELDS,
    PRECISION_ATTRIBUTES,
    attribute_names,
    fitted_attribute,
    in_single_precision,
)
from .sklearn_errors import as_scikit_learn, convergence_message
from .sklearn_parameters import (
    Honored,
    Only,
    Unused,
    core_parameters,
    kernel_in_python,
    parameter_defaults,
)

#: The types of arrays that the core reads as they are.
PLAIN_TYPES = (np.dtype(np.float64), np.dtype(np.float32))
#: Rows of one call of a callable kernel, which bounds the memory of its result.
ROWS_PER_KERNEL_CALL = 1024


class Estimator(BaseEstimator):
    """Holds parameters, validates rows and stores the fitted model."""

    #: The id in the catalog.
    _id = ""
    #: The accepted inputs, as named in the catalog.
    _inputs: tuple[str, ...] = ()
    #: Parameters of scikit-learn that the core does not have.
    _extra_parameters: ClassVar[dict[str, Honored | Only | Unused]] = {}
    #: By parameter, values that scikit-learn spells differently.
    _spellings: ClassVar[dict[str, dict[Any, Any]]] = {}
    #: Rules of scikit-learn that concern several parameters.
    _translations: tuple[Callable[[dict[str, Any]], None], ...] = ()
    #: Attributes that are not fields of the same name: the field, and a function of it or of the
    #: model.
    _fitted_attributes: ClassVar[dict[str, tuple[str | None, Callable[[Any], Any] | None]]] = {}
    #: Whether scikit-learn calls a callable kernel with two rows instead of two matrices.
    _kernel_of_two_rows = False
    #: The fitted model; the attribute exists after ``fit``.
    _fitted: _mercer.Fitted
    #: The levels of the categorical columns of a table.
    _levels: rows.Levels | None = None
    #: Whether the training rows were sparse.
    _sparse = False
    #: Whether the training rows were in single precision.
    _single = False
    #: The training rows, if the kernel is callable.
    _kernel_rows: Any = None

    @property
    def certificate_(self) -> dict[str, Any]:
        """How the fit ended: status, rows, iterations, objective, duality gap, violation, seconds."""
        check_is_fitted(self)
        return self._fitted.certificate

    def save(self, path: str | os.PathLike) -> None:
        """Writes a ``.mercer`` model file. An existing file is replaced only by a complete one."""
        check_is_fitted(self)
        if self._kernel_rows is not None:
            raise ValueError(
                "the kernel is a Python function, which a model file cannot store; use pickle, or "
                "pass the kernel as a formula"
            )
        self._fitted.save(Path(path))

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """Reads a model file of this class."""
        model = importlib.import_module(f"{__package__}.files").read(path)
        if not isinstance(model, cls):
            raise ValueError(f"{path} contains a {type(model).__name__}, not a {cls.__name__}")
        return model

    def __getattr__(self, name: str) -> Any:
        """Attributes of the fitted model: its fields, and those declared by the class."""
        if name == "_fitted":
            # Raises `NotFittedError`, which is an `AttributeError`.
            check_is_fitted(self)
        fitted = "_fitted" in self.__dict__ and name.endswith("_") and not name.startswith("_")
        if fitted and name not in NO_FIELDS:
            try:
                value = fitted_attribute(self, name)
                if name == "n_iter_" and self._id in ITERATION_ARRAYS:
                    return np.array([value], dtype=np.int32)
                if self._keeps_precision(name):
                    return in_single_precision(value)
                # numpy's type, as of scikit-learn's attributes.
                return np.float64(value) if name == "intercept_" and type(value) is float else value
            except KeyError:
                pass
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _keeps_precision(self, name: str) -> bool:
        """Whether an attribute has the precision of the training rows, as in scikit-learn."""
        liblinear = getattr(self, "solver", None) == "liblinear"
        kept = self._single and name in PRECISION_ATTRIBUTES and self._id in KEEP_PRECISION
        return kept and not liblinear

    def __dir__(self) -> list[str]:
        names = attribute_names(self) if "_fitted" in self.__dict__ else set()
        return sorted({*super().__dir__(), *names})

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = "missing-values" in self._inputs
        tags.input_tags.sparse = "sparse" in self._inputs
        # The chi-squared kernel is defined for histograms, which have no negative values.
        histogram = type(self).__name__ == "AdditiveChi2Sampler"
        discrete = not {"counts", "categories"}.isdisjoint(self._inputs)
        tags.input_tags.positive_only = histogram or discrete
        tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
        tags.input_tags.categorical = not {"categories", "mixed"}.isdisjoint(self._inputs)
        return tags

    def _core_parameters(self) -> dict[str, Any]:
        """The parameters of the core, without those whose default is ``None`` and that are ``None``."""
        cls: Any = type(self)
        defaults = parameter_defaults(cls)
        params = core_parameters(self)
        if "random_state" in params:
            params["random_state"] = random_seed(params["random_state"])
        return {k: v for k, v in params.items() if v is not None or defaults.get(k) is not None}

    def _params(self) -> str:
        """The parameters of the core as JSON."""
        return json.dumps({k: to_json(v) for k, v in self._core_parameters().items()})

    def _rows(self, X: Any, *, reset: bool) -> np.ndarray | rows.Csr:
        """Validated rows in the form of the core; for a callable kernel, rows of the kernel matrix."""
        if callable(getattr(self, "kernel", None)) and not self._kernel_of_two_rows:
            objects = _objects(X)
            if objects is not None:
                return self._kernel_of_objects(objects, reset=reset)
        matrix = self._checked_rows(X, reset=reset)
        if reset:
            self._sparse = isinstance(matrix, tuple)
            # Sparse rows are converted to double precision, so that their own type counts.
            self._single = getattr(X if self._sparse else matrix, "dtype", None) == np.float32
        if not kernel_in_python(self):
            if reset:
                self._kernel_rows = None
            return matrix
        return self._kernel_matrix(matrix, reset=reset)

    def _kernel_of_objects(self, X: list[Any], *, reset: bool) -> np.ndarray:
        """The callable kernel between objects that are no rows of numbers, such as strings, and the training ones."""
        if reset:
            self._kernel_rows = X
            self._sparse = self._single = False
            self.n_features_in_ = len(X)
            self.__dict__.pop("feature_names_in_", None)
        kernel: Any = self.kernel
        return _kernel_values(kernel(X, self._kernel_rows), (len(X), len(self._kernel_rows)))

    def _kernel_matrix(self, matrix: np.ndarray | rows.Csr, *, reset: bool) -> np.ndarray:
        """The callable kernel between ``matrix`` and the training rows, computed in blocks of rows.

        A fitted model needs only the columns of its support vectors; the others are zero.
        """
        X: Any = matrix
        if isinstance(matrix, tuple):
            data, indices, offsets, width = matrix
            shape = (len(offsets) - 1, width)
            X = sp.csr_matrix((data, indices, offsets), shape=shape)
        else:
            assert_all_finite(X, input_name="X")
        support: Any
        if reset:
            self._kernel_rows = X.copy()
            support = slice(None)
            n_fit = X.shape[0]
        else:
            support = self._fitted.field("expansion")["support"].astype(np.int64)
            n_fit = self._fitted.n_columns
        others = self._kernel_rows[support]
        out = np.zeros((X.shape[0], n_fit))
        for first in range(0, X.shape[0], ROWS_PER_KERNEL_CALL):
            block = slice(first, first + ROWS_PER_KERNEL_CALL)
            if self._kernel_of_two_rows:
                pairwise = importlib.import_module("sklearn.metrics.pairwise").pairwise_kernels
                params = self.kernel_params or {}
                if not callable(self.kernel):
                    own = {name: getattr(self, name, None) for name in ("gamma", "degree", "coef0")}
                    params = {k: v for k, v in own.items() if v is not None} | params
                    params["filter_params"] = True
                values = pairwise(X[block], others, metric=self.kernel, **params)
            else:
                values = self.kernel(X[block], others)
            out[block, support] = _kernel_values(values, (X[block].shape[0], others.shape[0]))
        return out

    def _checked_rows(self, X: Any, *, reset: bool) -> np.ndarray | rows.Csr:
        """Validates rows and stores their column names, or compares these with the stored names.

        The core checks that values are finite, because it reads every value anyway.
        """
        if not reset and self._fitted.table_names is not None:
            kinds = dict(zip(self._fitted.table_names, self._fitted.table_kinds, strict=True))
            return self._fitted.encode(rows.text_table(X, kinds))
        if type(X) is not np.ndarray and not {"mixed", "categories"}.isdisjoint(self._inputs):
            known = None if reset else self._fitted.levels
            encoded = rows.encoded_table(X, known)
            if encoded is not None:
                matrix, names, levels = encoded
                if reset:
                    self._levels = levels
                return self._named(matrix, names, reset=reset)
        if reset:
            self._levels = None
        if type(X) is np.ndarray and self._is_plain(X, reset=reset):
            return rows.matrix(X)
        table = rows.numeric_table(X)
        if table is not None:
            return self._named(*table, reset=reset)
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if "sparse" in self._inputs else False,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
        )
        if "categories" in self._inputs:
            X = category_codes(X, type(self).__name__)
        return rows.matrix(X)

    def _is_plain(self, X: np.ndarray, *, reset: bool) -> bool:
        """Whether an array needs no conversion, so that scikit-learn's validation has nothing to add; the
        number of columns is then stored or known to fit."""
        plain = X.ndim == 2 and X.dtype in PLAIN_TYPES and 0 not in X.shape
        if not plain:
            return False
        if "categories" in self._inputs:
            codes = X.dtype == np.float64 and _mercer.are_category_codes(X)
            if not codes:
                return False
        if reset:
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = X.shape[1]
            return True
        state = self.__dict__
        return "feature_names_in_" not in state and state.get("n_features_in_") == X.shape[1]

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

    def _known_rows(self, X: Any) -> np.ndarray | rows.Csr:
        if "_fitted" not in self.__dict__:
            check_is_fitted(self)
        return self._rows(X, reset=False)

    def _apply(self, method: str, X: Any) -> Any:
        """Applies a method of the fitted model to rows."""
        # scikit-learn's check costs as much as a prediction for one row.
        if "_fitted" not in self.__dict__:
            check_is_fitted(self)
        matrix = self._rows(X, reset=False)
        try:
            return getattr(self._fitted, method)(matrix)
        except ValueError as error:
            raise as_scikit_learn(self, matrix, error) from None

    def _one_row(self, x: Any) -> np.ndarray:
        """One row as a dense vector, from a vector, a matrix or a table of one row."""
        if hasattr(x, "columns") or hasattr(x, "column_names") or hasattr(x, "tocsr"):
            row = self._rows(x, reset=False)
        else:
            row = np.atleast_2d(np.asarray(x, dtype=np.float64))
        if isinstance(row, tuple):
            data, indices, offsets, width = row
            row = np.zeros((len(offsets) - 1, width))
            if len(row) == 1:
                # CSR may store several entries for one cell; their sum is its value.
                np.add.at(row[0], indices, data)
        if len(row) != 1:
            raise ValueError(f"explain takes one row, not {len(row)}")
        return np.ascontiguousarray(row[0], dtype=np.float64)

    def _names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None or self._kernel_rows is not None else list(names)

    def _start(self) -> _mercer.Fitted | None:
        """The model that the fit starts from, if ``warm_start``."""
        return self.__dict__.get("_fitted") if getattr(self, "warm_start", False) else None

    def _limits(self) -> tuple[Any, ...]:
        """The limits of a fit, and the function that prints its plan and progress if ``verbose``."""
        report = _print_line if getattr(self, "verbose", False) else None
        return current_limits(report, n_threads(getattr(self, "n_jobs", None)))

    def _request(
        self,
        training_rows: np.ndarray | rows.Csr | rows.Columns,
        target: np.ndarray | None,
        *,
        labels: list[Any] | None = None,
        weights: np.ndarray | None = None,
        start: _mercer.Fitted | None = None,
        partial: bool = False,
        unlabeled: "_mercer.Unlabeled | None" = None,
    ) -> "_mercer.FitRequest":
        """The arguments of a fit in the core."""
        return {
            "id": self._id,
            "params": self._params(),
            "rows": training_rows,
            "target": target,
            "labels": labels or [],
            "weights": weights,
            "names": self._names(),
            "levels": self._levels,
            "limits": self._limits(),
            "start": start,
            "partial": partial,
            "unlabeled": unlabeled,
        }

    def _fit_core(self, request: "_mercer.FitRequest") -> _mercer.Fitted:
        """Fits in the core; what scikit-learn refuses too, it refuses in the same words."""
        try:
            return _mercer.fit(request)
        except ValueError as error:
            raise as_scikit_learn(self, request["rows"], error) from None

    def _fit_rows(self, X: Any, sample_weight: Any) -> Self:
        """Fits a model without a target."""
        matrix = self._rows(X, reset=True)
        weights = checked_weights(sample_weight, np.empty(n_rows(matrix)), self._id)
        fitted = self._fit_core(self._request(matrix, None, weights=weights))
        return self._set_fitted(fitted, n_rows(matrix))

    def _set_fitted(self, fitted: _mercer.Fitted, n_samples: int) -> Self:
        """Stores a model, then raises the interrupt that ended its fit, or warns if it did not converge."""
        self._fitted = fitted
        # Attributes that `sparsify` or a user has set are those of the previous model.
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)
        certificate = fitted.certificate if fitted.ready else {}
        try:
            fitted.raise_interrupt()
        except BaseException as interrupt:
            state = certificate.get("text", "too few rows for a model")
            interrupt.add_note(f"The model fitted until the interrupt is stored: {state}")
            raise
        if certificate.get("status") in ("time-limit", "interrupted"):
            warnings.warn(
                f"the time limit ended the fit before all of {n_samples} rows were used: "
                f"{certificate['text']}",
                TimeLimitWarning,
                stacklevel=3,
            )
        elif not certificate.get("converged", True):
            warnings.warn(convergence_message(self, certificate), ConvergenceWarning, stacklevel=3)
        return self


def _kernel_values(values: Any, expected: tuple[int, int]) -> np.ndarray:
    """The values of a callable kernel as a dense matrix of the expected shape."""
    if sp.issparse(values):
        values = values.toarray()
    values = np.asarray(values, dtype=np.float64)
    if values.shape != expected:
        raise ValueError(
            f"the kernel returned an array of shape {values.shape}, expected {expected}"
        )
    return values


def _objects(X: Any) -> list[Any] | None:
    """The elements of a list or one-dimensional array of strings or other objects; ``None`` for rows of numbers."""
    if not isinstance(X, list | tuple | np.ndarray) or len(X) == 0:
        return None
    if isinstance(X, np.ndarray):
        return list(X) if X.ndim == 1 and X.dtype.kind in "OUS" else None
    return list(X) if isinstance(X[0], str | bytes) else None


def _print_line(line: str) -> None:
    # Flushed at once, because the fit that follows may take long.
    print(line, flush=True)


def with_fitted(model: Any, fitted: _mercer.Fitted) -> Any:
    """A copy of an estimator with another fitted model."""
    other = copy.copy(model)
    other._fitted = fitted
    return other
