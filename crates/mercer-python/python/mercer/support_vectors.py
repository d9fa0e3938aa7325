"""Support vector machines with scikit-learn's read-only coefficients."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .base.capabilities import SupportVectors
from .svm import SVC as CoreSVC
from .svm import SVR as CoreSVR
from .svm import NuSVC as CoreNuSVC
from .svm import NuSVR as CoreNuSVR
from .svm import OneClassSVM as CoreOneClassSVM

__all__ = ["SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"]


class _ReadOnly(SupportVectors):
    """The weights of a linear kernel follow from the dual coefficients, so that setting them would have no effect."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "coef_":
            raise AttributeError(
                f"property 'coef_' of {type(self).__name__!r} object has no setter"
            )
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if name == "coef_":
            (value if isinstance(value, np.ndarray) else value.data).flags.writeable = False
        return value

    @property
    def _gamma(self) -> float:
        """The ``gamma`` that was used, which converters of models read."""
        check_is_fitted(self)
        return self._fitted.field("function").get("gamma", 0.0)


class SVC(_ReadOnly, CoreSVC):
    __doc__ = CoreSVC.__doc__
    __module__ = "mercer.svm"


class NuSVC(_ReadOnly, CoreNuSVC):
    __doc__ = CoreNuSVC.__doc__
    __module__ = "mercer.svm"


class SVR(_ReadOnly, CoreSVR):
    __doc__ = CoreSVR.__doc__
    __module__ = "mercer.svm"


class NuSVR(_ReadOnly, CoreNuSVR):
    __doc__ = CoreNuSVR.__doc__
    __module__ = "mercer.svm"


class OneClassSVM(_ReadOnly, CoreOneClassSVM):
    __doc__ = CoreOneClassSVM.__doc__
    __module__ = "mercer.svm"
