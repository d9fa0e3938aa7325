"""What a model of classes can do beside telling them: probabilities, densities, decisions, reasons."""

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..explanation import Explanation, ScoreExplanation, SupportExplanation
from .classifier import Classifier
from .estimator import Estimator
from .inputs import seed_of


class WarmStart(Estimator):
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
        X, codes = self._fitted.sample(n_samples, seed_of(random_state))
        return X, self.classes_[codes]


class Calibrated(Probabilistic):
    """Says how sure it is, where it was asked to learn that."""

    def _says_how_sure(self) -> bool:
        if hasattr(self, "probability"):
            return self.probability not in (False, "deprecated")
        return self.loss in ("log_loss", "modified_huber")

    @available_if(lambda self: self._says_how_sure())
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """``log P(class | row)``, a column for each of ``classes_``."""
        return self._log_proba(X)

    @available_if(lambda self: self._says_how_sure())
    def predict_proba(self, X: Any) -> np.ndarray:
        """``P(class | row)``, a column for each of ``classes_``."""
        return np.exp(self._log_proba(X))


class DecisionFunction(Estimator):
    """Has a decision function."""

    def decision_function(self, X: Any) -> np.ndarray:
        """How far on which side of the border each row is.

        Of two classes a number a row, above zero for the second of ``classes_``; of more, a column a
        class, or a column a pair of classes where ``decision_function_shape="ovo"``.
        """
        matrix = self._known_rows(X)
        decisions = self._fitted.decisions(matrix)
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions


class FactorizedLikelihood(Classifier):
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


class SupportVectors(Estimator):
    """Answers by rows that it keeps."""

    def explain(self, x: Any) -> SupportExplanation:
        """Why a row gets its answer: what each of the rows learned from adds to it.

        Of many classes the sum is between the class that wins and the one that comes second.

        Parameters
        ----------
        x : array of shape (n_features,), or anything of one row
            The row.
        """
        check_is_fitted(self)
        return SupportExplanation(self._fitted.explain(self._one_row(x)))


class AdditiveScores(Classifier):
    """Has scores that are sums with one term a column."""

    # Scikit-learn takes whatever has one for something that reads any numbers.
    @available_if(lambda self: not {"categories", "counts"} & set(self._inputs))
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


class Discriminant(AdditiveScores):
    """Has a center for every class and measures how far rows are from it."""

    def mahalanobis(self, X: Any) -> np.ndarray:
        """Squared distances from the centers, a column for each of ``classes_``, in units of the
        spread of the class."""
        matrix = self._known_rows(X)
        return self._fitted.distances(matrix)
