"""The estimators of ``kernel_approximation``.

Written by ``mercer generate`` from the catalog; changes belong there.
"""

from .base import Honored, Transformer

__all__ = ["RBFSampler", "Nystroem", "PolynomialCountSketch", "AdditiveChi2Sampler"]


class RBFSampler(Transformer):
    """Random Fourier features: columns whose inner products approximate the Gaussian kernel.

    Parameters
    ----------
    gamma : float >= 0, "scale" or "auto", default=1.0
        Coefficient of the squared distance in the Gaussian kernel: a number, ``scale`` for ``1 /
        (columns · variance)``, or ``auto`` for ``1 / columns``. Larger values make the kernel
        narrower.
    n_components : int in [1, 1000000000], default=100
        Number of features, or its maximum if an ``error`` is given. The approximation error is
        inversely proportional to its square root.
    error : float in (0, 1) or None, default=None
        Root mean square error of the kernel values of sampled pairs of rows to reach: features are
        added until the error is at most this, or ``n_components`` is reached. ``None`` uses
        ``n_components`` features.
    directions : {"gaussian", "orthogonal", "structured"}, default="gaussian"
        Distribution of the random directions: independent (``gaussian``), orthogonal to each other
        (``orthogonal``), which has a smaller error for the same number of features, or structured
        orthogonal by Hadamard transforms (``structured``), which is many times faster for many
        columns.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.

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
        directions="gaussian",
        random_state=0,
    ):
        self.gamma = gamma
        self.n_components = n_components
        self.error = error
        self.directions = directions
        self.random_state = random_state


class Nystroem(Transformer):
    """Nyström approximation: columns whose inner products approximate a kernel, from a few landmarks.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        Kernel function: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``; sums
        and products of kernels such as ``rbf(gamma=0.1)+2*linear``; or ``precomputed``, if the rows
        are rows of a kernel matrix.
    degree : int in [0, 1000], default=None
        Degree of the kernel ``poly``. Other kernels ignore it.
        ``None`` is 3.
    gamma : float >= 0, "scale", "auto" or None, default=None
        Coefficient of the kernels ``rbf``, ``poly``, ``sigmoid``, ``laplacian`` and ``chi2``: a
        number, ``scale`` for ``1 / (n_features * variance of X)``, or ``auto`` for ``1 /
        n_features``. Larger values make the kernel narrower and the fitted function more flexible.
        ``None`` is ``auto``, and 1 for ``chi2``.
    coef0 : float, default=None
        Constant term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
        ``None`` is 1.
    n_components : int in [1, 1000000], default=100
        Number of landmarks and of features, or its maximum if an ``error`` is given. Larger values
        approximate the kernel more closely.
    error : float in (0, 1) or None, default=None
        Relative trace error ``tr(K − K̂) / tr(K)`` of the approximation ``K̂`` to reach: landmarks
        are added until the error is at most this (doubling their number, or one by one for
        ``pivoted-cholesky``), or ``n_components`` is reached. ``None`` uses ``n_components``
        landmarks.
    landmarks : {"uniform", "k-means", "pivoted-cholesky"}, default="uniform"
        Selection of the landmarks: rows sampled by weight (``uniform``), the means of a k-means
        clustering (``k-means``), or the pivots of a randomly pivoted Cholesky factorization
        (``pivoted-cholesky``), which has the smallest error and takes longest.
    basis : {"symmetric", "cholesky"}, default="symmetric"
        Normalization of the features: the inverse symmetric square root of the kernel matrix of the
        landmarks, as in scikit-learn (``symmetric``), or the inverse of its Cholesky factor, in
        half the time (``cholesky``). Inner products are the same. An ill-conditioned kernel matrix
        falls back to ``symmetric``.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.
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
        degree=None,
        gamma=None,
        coef0=None,
        n_components=100,
        error=None,
        landmarks="uniform",
        basis="symmetric",
        random_state=0,
        n_jobs=None,
        kernel_params=None,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_components = n_components
        self.error = error
        self.landmarks = landmarks
        self.basis = basis
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.kernel_params = kernel_params


class PolynomialCountSketch(Transformer):
    """Tensor sketch: columns whose inner products approximate a polynomial kernel.

    Parameters
    ----------
    gamma : float >= 0, default=1.0
        Coefficient of the inner product in the polynomial kernel.
    degree : int in [1, 1000], default=2
        Degree of the polynomial kernel.
    coef0 : float >= 0, default=0.0
        Constant term of the polynomial kernel.
    n_components : int in [1, 1000000000], default=100
        Number of features. The approximation error is inversely proportional to its square root.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.

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
    """Features whose inner products approximate the additive chi-squared kernel, for nonnegative columns.

    Parameters
    ----------
    sample_steps : int in [1, 1000], default=2
        Number of sampled frequencies: each but the first gives two features per column.
    sample_interval : float > 0 or None, default=None
        Distance between frequencies. ``None`` uses the best one for a ``sample_steps`` of 1, 2 or
        3.

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
