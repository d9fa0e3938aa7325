"""Parameters that the estimators share, declared as pyspark.ml declares its own."""

from __future__ import annotations

from typing import Any

from pyspark import keyword_only  # noqa: F401  (part of pyspark.ml's conventions for subclasses)
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCols, HasWeightCol


def float_param(name: str, doc: str) -> Param[float]:
    return Param(Params._dummy(), name, doc, typeConverter=TypeConverters.toFloat)


def int_param(name: str, doc: str) -> Param[int]:
    return Param(Params._dummy(), name, doc, typeConverter=TypeConverters.toInt)


def string_param(name: str, doc: str) -> Param[str]:
    return Param(Params._dummy(), name, doc, typeConverter=TypeConverters.toString)


def boolean_param(name: str, doc: str) -> Param[bool]:
    return Param(Params._dummy(), name, doc, typeConverter=TypeConverters.toBoolean)


def strings_param(name: str, doc: str) -> Param[list[str]]:
    return Param(Params._dummy(), name, doc, typeConverter=TypeConverters.toListString)


def number_or_name(value: Any) -> Any:
    """A positive number, or the name of a rule."""
    return value if isinstance(value, str) else TypeConverters.toFloat(value)


class HasTable(HasInputCols, HasWeightCol):
    """Where the features come from, and how the columns of a table are preprocessed."""

    categoricalCols: Param[list[str]] = strings_param(
        "categoricalCols",
        "columns of inputCols that are categories, whatever their values look like",
    )
    textCols: Param[list[str]] = strings_param(
        "textCols", "columns of inputCols that are text, whatever their values look like"
    )
    prepare: Param[list[str]] = strings_param(
        "prepare",
        "preprocessing of inputCols in place of the default, such as 'impute=mean', 'scale=none' or"
        " 'text=counts'; see mercer train --prepare",
    )
    timeLimit: Param[float] = float_param(
        "timeLimit", "seconds after which the fit ends with the best model so far; 0 for no limit"
    )
    exactSums: Param[bool] = boolean_param(
        "exactSums",
        "sums that do not depend on partitions and their order, for estimators of counts",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(timeLimit=0.0, exactSums=False)


class HasFeatureMap(Params):
    """The approximation of a kernel by a feature map."""

    kernel: Param[str] = string_param("kernel", "rbf, laplacian, polynomial, sigmoid or chi2")
    gamma: Param[Any] = Param(
        Params._dummy(), "gamma", "the kernel's gamma: a number, 'scale' or 'auto'", number_or_name
    )
    degree: Param[int] = int_param("degree", "the degree of a polynomial kernel")
    coef0: Param[float] = float_param("coef0", "the constant of a polynomial or sigmoid kernel")
    featureMap: Param[str] = string_param(
        "featureMap",
        "nystroem: landmarks from a sample of the rows; rff: random Fourier features, for rbf",
    )
    nComponents: Param[int] = int_param(
        "nComponents", "the number of features; more features approximate the kernel better"
    )
    seed: Param[int] = int_param("seed", "the seed of landmarks and random features")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(
            kernel="rbf",
            gamma="scale",
            degree=3,
            coef0=1.0,
            featureMap="nystroem",
            nComponents=300,
            seed=0,
        )

    def _map(self) -> str:
        """The feature map in the syntax of ``mercer train --features``."""
        value = self.getOrDefault
        kind, kernel = value(self.featureMap), value(self.kernel)
        if kind not in ("nystroem", "rff"):
            raise ValueError(f"featureMap={kind!r}; it is 'nystroem' or 'rff'")
        settings = [f"{kind}:{value(self.nComponents)}", f"random_state={value(self.seed)}"]
        if kind == "rff" and kernel != "rbf":
            raise ValueError(
                f"featureMap='rff' approximates the rbf kernel, not {kernel!r}; set featureMap='nystroem'"
            )
        if kind == "nystroem":
            settings.append(f"kernel={kernel}")
            if kernel in ("poly", "polynomial"):
                settings += [f"degree={value(self.degree)}", f"coef0={value(self.coef0)}"]
            if kernel == "sigmoid":
                settings.append(f"coef0={value(self.coef0)}")
        return ",".join([*settings, f"gamma={value(self.gamma)}"])


def accessors(cls: type) -> type:
    """Adds ``setX`` and ``getX`` for the parameters of a class, as pyspark.ml writes them out."""
    for name in dir(cls):
        param = getattr(cls, name, None)
        if not isinstance(param, Param):
            continue
        suffix = name[0].upper() + name[1:]
        if not hasattr(cls, f"set{suffix}"):

            def setter(self: Any, value: Any, name: str = name) -> Any:
                return self._set(**{name: value})

            setter.__doc__ = f"Sets the value of :py:attr:`{name}`."
            setattr(cls, f"set{suffix}", setter)
        if not hasattr(cls, f"get{suffix}"):

            def getter(self: Any, name: str = name) -> Any:
                return self.getOrDefault(name)

            getter.__doc__ = f"Gets the value of :py:attr:`{name}` or its default value."
            setattr(cls, f"get{suffix}", getter)
    return cls
