"""Mixins for the capabilities of a classifier: probabilities, densities, decision values, explanations."""

import itertools
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..explanation import Explanation, ScoreExplanation, SupportExplanation
from .classifier import Classifier
from .coefficients import SparseCoefficients
from .estimator import Estimator
from .inputs import random_seed

#: The estimators whose coefficients are sparse for sparse rows.
SPARSE_MODELS = frozenset({"svc", "nu-svc", "svr", "nu-svr", "one-class-svm"})


class WarmStart(Estimator):
    """Can start at the solution of the previous fit."""

    warm_start: bool


class Probabilistic(Classifier):
    """Predicts class probabilities."""

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """``log P(class | row)``, one column per class in the order of ``classes_``."""
        return self._log_proba(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """``P(class | row)``, one column per class in the order of ``classes_``."""
        proba = self._log_proba(X)
        return np.exp(proba, out=proba)

    # scikit-learn's name for the scores of complement naive Bayes.
    @available_if(lambda self: "counts" in self._inputs)
    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """The unnormalized scores of the classes, one column per class in the order of ``classes_``."""
        return self._apply("scores", X)

    def _log_proba(self, X: Any) -> np.ndarray:
        return self._apply("log_proba", X)


class Generative(Classifier):
    """Models the joint density of rows and classes: detects outliers and draws samples."""

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """``log P(class, row)``, one column per class in the order of ``classes_``."""
        return self._apply("log_joint", X)

    def log_density(self, X: Any) -> np.ndarray:
        """``log p(row)``; small values indicate outliers."""
        return self._apply("log_density", X)

    def score_samples(self, X: Any) -> np.ndarray:
        """``log_density`` under scikit-learn's name."""
        return self.log_density(X)

    def store_densities(self, X: Any) -> Self:
        """Stores the quantiles of the log-densities of ``X``, which ``is_outlier`` compares with.

        Held-out rows give an unbiased threshold. The quantiles are saved with the model; the command
        ``mercer train`` stores them already.
        """
        matrix = self._known_rows(X)
        self._fitted = self._fitted.with_densities(matrix)
        return self

    def is_outlier(self, X: Any, fraction: float = 0.01) -> np.ndarray:
        """Whether the density of each row is below that of all but a ``fraction`` of the rows passed
        to ``store_densities``."""
        check_is_fitted(self)
        threshold = self._fitted.outlier_threshold(fraction)
        if threshold is None:
            raise ValueError("the model has no stored densities; call store_densities first")
        return self.log_density(X) < threshold

    def sample(
        self, n_samples: int = 1, random_state: Any = None, *, y: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draws rows and their classes from the fitted distribution.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState or None, default=None
            Random seed.
        y : label, default=None
            The class of all rows; ``None`` draws classes from the priors. Documents of a multinomial
            distribution are as long as the mean document of their class.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"n_samples is {n_samples}; it must be at least 1")
        given = None if y is None else self._class_code(y)
        X, codes = self._fitted.sample(n_samples, given, random_seed(random_state))
        return X, self.classes_[codes]

    def _class_code(self, label: Any) -> int:
        found = np.flatnonzero(self.classes_ == label)
        if len(found) != 1:
            known = ", ".join(map(str, self.classes_))
            raise ValueError(f"y is {label!r}; it must be one of the classes: {known}")
        return int(found[0])


class Calibrated(Probabilistic):
    """Predicts class probabilities if its parameters request them."""

    def _has_probabilities(self) -> bool:
        if hasattr(self, "probability"):
            return self.probability not in (False, "deprecated")
        return self.loss in ("log_loss", "modified_huber")

    @available_if(lambda self: self._has_probabilities())
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """``log P(class | row)``, one column per class in the order of ``classes_``."""
        return self._log_proba(X)

    @available_if(lambda self: self._has_probabilities())
    def predict_proba(self, X: Any) -> np.ndarray:
        """``P(class | row)``, one column per class in the order of ``classes_``."""
        return np.exp(self._log_proba(X))

    def _log_proba(self, X: Any) -> np.ndarray:
        try:
            return super()._log_proba(X)
        except TypeError as error:
            if "cannot predict probabilities" not in str(error):
                raise
            # The parameter was changed after the fit.
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False"
            ) from error


class DecisionFunction(Estimator):
    """Has a decision function."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Signed decision values.

        For two classes, one value per row, positive for the second of ``classes_``. For more classes,
        one column per class, or one column per pair of classes if ``decision_function_shape="ovo"``.
        """
        decisions = self._apply("decision_function", X)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions


class FactorizedLikelihood(Classifier):
    """The joint probability is the prior times one likelihood factor per column."""

    @property
    def n_parameters(self) -> int | None:
        """Number of free parameters of the priors and of the likelihoods of all columns and classes;
        ``None`` if a likelihood is a kernel density estimate."""
        check_is_fitted(self)
        return self._fitted.parameter_counts[0]

    @property
    def n_joint_parameters(self) -> float | None:
        """Number of free parameters of the full joint table of the class and all columns, which
        assumes no independence; ``None`` if a column is not discrete."""
        check_is_fitted(self)
        return self._fitted.parameter_counts[1]

    def explain(self, x: Any) -> Explanation:
        """Explains the prediction for one row by the likelihood factor of every column.

        Parameters
        ----------
        x : array of shape (n_features,), or a matrix or table of one row
            The row.
        """
        check_is_fitted(self)
        return Explanation(self._fitted.explain(self._one_row(x)), self.classes_)


class SupportVectors(Estimator):
    """The decision function is a kernel expansion over stored training rows."""

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        # As in scikit-learn, sparse training rows give sparse coefficients.
        if name in ("dual_coef_", "coef_", "support_vectors_") and self._is_sparse_model():
            return sp.csr_matrix(value)
        return value

    def _is_sparse_model(self) -> bool:
        return self._sparse and self._kernel_rows is None and self._id in SPARSE_MODELS

    def explain(self, x: Any) -> SupportExplanation:
        """Explains the prediction for one row by the term of every support vector.

        For more than two classes, the sum is the decision value of the predicted class against the
        runner-up.

        Parameters
        ----------
        x : array of shape (n_features,), or a matrix or table of one row
            The row.
        """
        check_is_fitted(self)
        return SupportExplanation(self._fitted.explain(self._one_row(x)))

    @available_if(lambda self: hasattr(self, "margins_"))
    def class_margins(self) -> dict[tuple[Any, Any], float]:
        """The margin ``1/‖w‖`` of each decision function by the pair of its classes: one per pair
        (one-vs-one), or one per class with ``None`` for the rest (one-vs-rest). It is infinite if
        ``w`` is zero."""
        observed = [c for c, n in zip(self.classes_, self.n_support_, strict=True) if n > 0]
        pairs: list[tuple[Any, Any]] = list(itertools.combinations(observed, 2))
        if len(self.classes_) > 2 and self.get_params()["multiclass"] == "ovr":
            pairs = [(c, None) for c in observed]
        return dict(zip(pairs, self.margins_.tolist(), strict=True))


class AdditiveScores(SparseCoefficients, Classifier):
    """The score of a class is a sum with one term per column."""

    # scikit-learn's checks pass negative and fractional values to every estimator with a
    # decision_function, which estimators of counts and categories do not accept.
    @available_if(lambda self: not {"categories", "counts"} & set(self._inputs))
    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the classes; for two classes, the score of the second minus that of the
        first."""
        scores = self._apply("scores", X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def explain(self, x: Any) -> ScoreExplanation:
        """Explains the prediction for one row by the term of every column in the class scores.

        Parameters
        ----------
        x : array of shape (n_features,), or a matrix or table of one row
            The row.
        """
        check_is_fitted(self)
        return ScoreExplanation(self._fitted.explain(self._one_row(x)), self.classes_)


class Discriminant(AdditiveScores):
    """Has a mean and a covariance matrix per class."""

    def mahalanobis(self, X: Any) -> np.ndarray:
        """Squared Mahalanobis distances to the class means, one column per class."""
        return self._apply("mahalanobis", X)
