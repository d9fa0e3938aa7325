"""The smallest ``C`` for which an L1-penalized classifier has a nonzero weight."""

from typing import Any

import numpy as np
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.validation import check_array, check_consistent_length

__all__ = ["l1_min_c"]


def l1_min_c(
    X: Any,
    y: Any,
    *,
    loss: str = "squared_hinge",
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
) -> float:
    """The bound on ``C``: models with a smaller ``C`` have only zero weights.

    At zero weights the gradient of the loss of feature ``j`` is ``C |Σᵢ yᵢ xᵢⱼ|`` times 2 (squared hinge) or
    ½ (logistic), and an L1 penalty keeps the weight at zero while that is at most one.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Training rows.
    y : array of shape (n_samples,)
        Class labels.
    loss : {"squared_hinge", "log"}, default="squared_hinge"
        Loss: of ``LinearSVC`` or of ``LogisticRegression``.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    intercept_scaling : float, default=1.0
        Value of the constant column whose weight gives the intercept.

    Examples
    --------
    >>> from mercer.svm import l1_min_c
    >>> l1_min_c([[-1.0], [1.0]], [0, 1], fit_intercept=False)
    0.25
    """
    factors = {"squared_hinge": 2.0, "log": 0.5}
    if loss not in factors:
        from sklearn.utils._param_validation import InvalidParameterError

        raise InvalidParameterError(
            f"The 'loss' parameter of l1_min_c must be a str among {set(factors)}. Got {loss!r} instead."
        )
    X = check_array(X, accept_sparse="csc")
    check_consistent_length(X, y)
    signs = LabelBinarizer(neg_label=-1).fit_transform(y).T
    largest = np.max(np.abs(X.T @ signs.T))
    if fit_intercept:
        constant = np.full(X.shape[0], intercept_scaling)
        largest = max(largest, np.max(np.abs(signs @ constant)))
    if largest == 0.0:
        raise ValueError(
            "Ill-posed l1_min_c calculation: l1 will always select zero coefficients for this data"
        )
    return float(1.0 / (factors[loss] * largest))
