"""The estimators of ``kernel_approximation``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Honored, Transformer

__all__ = ["RBFSampler", "Nystroem", "PolynomialCountSketch", "AdditiveChi2Sampler"]


class RBFSampler(Transformer):
    """Random Fourier features: rows as waves whose inner products are near to a Gaussian kernel.

    Parameters
    ----------
    gamma : number, "scale" or "auto", default=1.0
        How fast the kernel falls with distance: a number, ``scale`` for ``1 / (columns ·
        variance)``, or ``auto`` for ``1 / columns``.
        It must be a number of at least 0.
    n_components : int, default=100
        How many waves; where an ``error`` is asked for, at most so many. The error falls with the
        square root of their number.
        It must be a number from 1 to 1000000000.
    error : float or None, default=None
        How far kernel values of rows may be off, as a root mean square over sampled pairs: waves
        are added until they are that near, or ``n_components`` are drawn. Nothing draws
        ``n_components`` at once.
        It must be a number above 0 and below 1.
    directions : {"plain", "orthogonal", "structured"}, default="plain"
        How directions are drawn: each for itself (``plain``), at right angles to each other
        (``orthogonal``), which has smaller errors for as many waves, or so by sums and differences
        alone (``structured``), which is many times faster where columns are many.
    random_state : int, default=0
        The seed of what is drawn.

    Attributes
    ----------
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.
    """

    _id = "rbf-sampler"
    _inputs = ("sparse",)

    def __init__(
        self,
        *,
        gamma=1.0,
        n_components=100,
        error=None,
        directions="plain",
        random_state=0,
    ):
        self.gamma = gamma
        self.n_components = n_components
        self.error = error
        self.directions = directions
        self.random_state = random_state


class Nystroem(Transformer):
    """Nyström's map: columns whose inner products are near to a kernel, from a few rows.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The kernel: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``, sums and
        products of these as in ``rbf(gamma=0.1)+2*linear``, or ``precomputed`` where the rows are
        kernel values.
    gamma : number, "scale", "auto", or None, default=None
        How fast a kernel falls with distance: a number, ``scale`` for ``1 / (columns · variance)``,
        or ``auto`` for ``1 / columns``. Nothing is ``auto``, and 1 for ``chi2``.
        It must be a number of at least 0.
    coef0 : float, default=None
        The constant in the kernels ``poly`` and ``sigmoid``.
        ``None`` is 1.
    degree : int, default=None
        The power of the kernel ``poly``.
        It must be a number from 0 to 1000.
        ``None`` is 3.
    n_components : int, default=100
        How many centers, and columns of the new rows; where an ``error`` is asked for, at most so
        many. More are closer to the kernel.
        It must be a number from 1 to 1000000.
    error : float or None, default=None
        The share of the kernel's trace that the map may leave out: centers are added until no more
        is left (twice as many in turn, or one by one where they are pivots), or there are
        ``n_components``. Nothing takes ``n_components`` at once.
        It must be a number above 0 and below 1.
    centers : {"uniform", "k-means", "pivots"}, default="uniform"
        Where centers come from: rows drawn by weight (``uniform``), means of rows that lie together
        (``k-means``), or rows drawn by what the ones before do not tell (``pivots``), which leaves
        the least and takes longest.
    basis : {"root", "triangle"}, default="root"
        In which coordinates new rows are written: those of the root of the kernel matrix of the
        centers, as scikit-learn has them (``root``), or of its triangle, in half the time
        (``triangle``). Inner products are the same; centers that tell nearly the same have a root
        only.
    random_state : int, default=0
        The seed of what is drawn.
    n_jobs : int or None, default=None
        How many threads a fit takes; numbers below zero count from all cores, which are -1.
        ``None`` takes those of ``mercer.set_threads``. The model has the same bits with any number.
    kernel_params : dict or None, default=None
        What a kernel that is a Python function is called with beside two rows, by name; for other
        kernels, ``gamma``, ``coef0`` and ``degree``.

    Attributes
    ----------
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.
    """

    _id = "nystroem"
    _inputs = ("sparse",)
    _beside = {
        "n_jobs": Honored(),
        "kernel_params": Honored(),
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma=None,
        coef0=None,
        degree=None,
        n_components=100,
        error=None,
        centers="uniform",
        basis="root",
        random_state=0,
        n_jobs=None,
        kernel_params=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.n_components = n_components
        self.error = error
        self.centers = centers
        self.basis = basis
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.kernel_params = kernel_params


class PolynomialCountSketch(Transformer):
    """Tensor sketch: columns whose inner products are near to a polynomial kernel.

    Parameters
    ----------
    gamma : float, default=1.0
        What inner products are multiplied by.
        It must be a number of at least 0.
    degree : int, default=2
        The power.
        It must be a number from 1 to 1000.
    coef0 : float, default=0.0
        The constant that is added to inner products.
        It must be a number of at least 0.
    n_components : int, default=100
        How many columns the new rows have. The error falls with the square root of their number.
        It must be a number from 1 to 1000000000.
    random_state : int, default=0
        The seed of what is drawn.

    Attributes
    ----------
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.
    """

    _id = "polynomial-sketch"
    _inputs = ("sparse",)

    def __init__(self, *, gamma=1.0, degree=2, coef0=0.0, n_components=100, random_state=0):
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state


class AdditiveChi2Sampler(Transformer):
    """Columns whose inner products are near to the additive chi-squared kernel, for counts.

    Parameters
    ----------
    sample_steps : int, default=2
        How many frequencies; each but the first gives two columns for every column.
        It must be a number from 1 to 1000.
    sample_interval : float or None, default=None
        The distance between frequencies. Nothing takes the best one for 1, 2 or 3 of them.
        It must be a number above 0.

    Attributes
    ----------
    n_features_in_ : int
        How many columns a row has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came with names.
    certificate_ : dict
        How the fit ended and how far from the best it can be.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore, and
    scikit-learn's names for them work too; ``dir(model)`` lists both.
    """

    _id = "additive-chi2"
    _inputs = ("sparse",)

    def __init__(self, *, sample_steps=2, sample_interval=None):
        self.sample_steps = sample_steps
        self.sample_interval = sample_interval
