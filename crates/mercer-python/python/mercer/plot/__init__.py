"""Figures of fitted models, drawn with matplotlib.

Every figure is a display as in scikit-learn: ``XDisplay.from_estimator(model, X, y)`` computes what is drawn and
draws it; the display keeps the data as attributes, the axes as ``ax_`` and the figure as ``figure_``::

    from mercer.plot import MarginDisplay
    from mercer.svm import SVC

    display = MarginDisplay.from_estimator(SVC(kernel="linear").fit(X, y), X, y)
    display.figure_.savefig("street.png")

The command ``python -m mercer.plot FOLDER`` draws a gallery of all displays.
"""

from .belief import BeliefDisplay, ParameterDisplay
from .density import DensityDisplay
from .feature_map import FeatureMapDisplay
from .gaussian import GaussianDisplay
from .images import ClassImageDisplay
from .kernel_approximation import ApproximationErrorDisplay, KernelApproximationDisplay
from .margin import MarginDisplay
from .posterior import PosteriorDisplay
from .projection import ProjectionDisplay
from .style import Display
from .tube import TubeDisplay

__all__ = [
    "ApproximationErrorDisplay",
    "BeliefDisplay",
    "ClassImageDisplay",
    "DensityDisplay",
    "Display",
    "FeatureMapDisplay",
    "GaussianDisplay",
    "KernelApproximationDisplay",
    "MarginDisplay",
    "ParameterDisplay",
    "PosteriorDisplay",
    "ProjectionDisplay",
    "TubeDisplay",
]
