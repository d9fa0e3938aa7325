"""What every estimator has: parameters, rows checked at the door, a fit that is kept, a model file."""

import copy
import importlib
import json
import os
import warnings
from inspect import signature
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from .. import _mercer, rows
from ..exceptions import CutShortWarning
from ..limits import bounds
from .drop_in import Honored, Only, Unused, in_our_words
from .inputs import plain, row_weights, seed_of, threads_of, whole_codes
from .names import ALIASES, BY_COLUMN, NO_FIELDS, OF_EXPANSION, OF_KERNEL_ROWS, OF_KERNELIZED

#: Rows that a kernel in Python is asked about at once.
KERNEL_ROWS = 1024

#: Estimators whose scikit-learn twins call a kernel in Python with two rows, not with two matrices.
BY_PAIR = frozenset({"kernel-pca", "kernel-ridge", "nystroem"})


class Estimator(BaseEstimator):
    """What every estimator has: parameters, rows checked at the door, a model file."""

    #: Its id in the catalog.
    _id = ""
    #: What its rows may have: ``missing`` values, ``sparse`` storage; or are read as.
    _inputs: tuple[str, ...] = ()
    #: The parameters that the core does not have, and how they are taken.
    _beside: dict[str, Honored | Only | Unused] = {}
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
        model = importlib.import_module(f"{__package__}.files").read(path)
        if not isinstance(model, cls):
            raise ValueError(f"{path} holds a {type(model).__name__}, not a {cls.__name__}")
        return model

    def __getattr__(self, name: str) -> Any:
        """The fields of the fitted model: under their own names, and under scikit-learn's."""
        fitted = self.__dict__.get("_fitted")
        if name not in NO_FIELDS and fitted is not None and name.endswith("_") and name[0] != "_":
            if name in OF_KERNEL_ROWS and self._kernel_rows is not None:
                return self._kernel_rows[fitted.field("expansion")["support"]]
            kernelized = OF_KERNELIZED.get(self._id)
            if kernelized is not None and name in kernelized:
                return kernelized[name](fitted)
            if kernelized is None and name in OF_EXPANSION and "expansion" in fitted.fields():
                n_support = fitted.field("n_support") if "n_support" in fitted.fields() else None
                if name != "n_support_" or n_support is None:
                    return OF_EXPANSION[name](fitted.field("expansion"), n_support)
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
        expansion = set(OF_EXPANSION) - {"coef_"} if "expansion" in fields else set()
        names |= set(OF_KERNELIZED.get(self._id, expansion)) if fields else set()
        return sorted({*super().__dir__(), *names, *(f"{field}_" for field in fields)})

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = "missing-values" in self._inputs
        tags.input_tags.sparse = "sparse" in self._inputs
        # The chi-squared kernel compares shares, and a share is never negative.
        shares = type(self).__name__ == "AdditiveChi2Sampler"
        tags.input_tags.positive_only = shares or not {"counts", "categories"}.isdisjoint(self._inputs)
        tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
        tags.input_tags.categorical = not {"categories", "mixed"}.isdisjoint(self._inputs)
        return tags

    def _params(self) -> str:
        """The parameters as the core reads them; ``None`` stands for a default that is shown as it."""
        defaults = signature(type(self).__init__).parameters
        params = in_our_words(self)
        if "random_state" in params:
            params["random_state"] = seed_of(params["random_state"])
        told = {k: v for k, v in params.items() if v is not None or defaults[k].default is not None}
        return json.dumps({k: plain(v) for k, v in told.items()})

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
            support = self._fitted.field("expansion")["support"].astype(np.int64)
            n_fit = self._fitted.n_columns
        others = self._kernel_rows[support]
        out = np.zeros((matrix.shape[0], n_fit))
        for first in range(0, matrix.shape[0], KERNEL_ROWS):
            part = slice(first, first + KERNEL_ROWS)
            if self._id in BY_PAIR:
                pairwise = importlib.import_module("sklearn.metrics.pairwise").pairwise_kernels
                named = self.kernel_params or {}
                values = pairwise(matrix[part], others, metric=self.kernel, **named)
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
        if not {"mixed", "categories"}.isdisjoint(self._inputs):
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
            accept_sparse="csr" if "sparse" in self._inputs else False,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
        )
        if "categories" in self._inputs:
            X = whole_codes(X)
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
        """What a fit may use, and who is told its plan and its progress."""
        tell = _say if getattr(self, "verbose", False) else None
        return bounds(tell, threads_of(getattr(self, "n_jobs", None)))

    def _fit_rows(self, X: Any, sample_weight: Any) -> Self:
        """Learns from rows that have no target."""
        matrix = self._rows(X, reset=True)
        n_rows = len(matrix[2]) - 1 if isinstance(matrix, tuple) else len(matrix)
        weights = row_weights(sample_weight, np.empty(n_rows))
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
        certificate = fitted.certificate if fitted.ready else {}
        try:
            fitted.raise_interrupt()
        except BaseException as interrupt:
            learned = certificate.get("text", "rows, too few for a model")
            interrupt.add_note(f"What was learned until then is kept: {learned}")
            raise
        if certificate.get("status") in ("time-limit", "interrupted"):
            warnings.warn(
                f"the time limit ended the fit before all of {n_rows} rows were learned: "
                f"{certificate['text']}",
                CutShortWarning,
                stacklevel=3,
            )
        return self


def _say(line: str) -> None:
    """Prints what a fit is about to do, or how far it is; at once, as what follows may take long."""
    print(line, flush=True)


def with_fitted(model: Any, fitted: _mercer.Fitted) -> Any:
    """A copy of an estimator around another fitted model."""
    other = copy.copy(model)
    other._fitted = fitted
    return other
