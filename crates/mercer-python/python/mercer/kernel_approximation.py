"""The estimators of ``kernel_approximation``.

Written by ``mercer generate`` from the declarations of the estimators; edit those.
"""

from typing import ClassVar

from .base import DEFAULT, Honored, Transformer, sklearn_attributes, sklearn_parameters

__all__ = [
    "AdditiveChi2Sampler",
    "Nystroem",
    "PolynomialCountSketch",
    "RBFSampler",
    "SkewedChi2Sampler",
]


class RBFSampler(Transformer):
    """Random Fourier features: columns whose inner products approximate the Gaussian kernel.

    Formula::

        φₖ(x) = √(2/M) cos(wₖ·x + bₖ),  w ~ N(0, 2γI),  b ~ U[0, 2π)

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
    random_weights_ : ndarray of shape (n_features, n_components)
        Random directions ``w``, one column per component.
    random_offset_ : ndarray of shape (n_components,)
        Random phases ``b``.
    gamma_ : float
        The ``gamma`` of the kernel.
    error_ : float or None
        Measured root mean square error of the kernel values, if an ``error`` was given.
    n_components_ : int
        Number of features after the transformation.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.kernel_approximation import RBFSampler
    >>> X = [[0, 1], [1, 0], [4, 5], [5, 4]]
    >>> print(RBFSampler().fit_transform(X).shape[0])
    4
    """

    _id = "rbf-sampler"
    _inputs = ("sparse",)
    _fitted_attributes: ClassVar = {
        "n_components_": (None, sklearn_attributes.output_count_of_model),
    }

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
    """Nyström approximation: columns whose inner products approximate a kernel, from a few
    landmarks.

    Formula::

        φ(x) = K(z, z)^(−½) K(z, x)  for landmarks z

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        Kernel function: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``; sums
        and products of kernels such as ``rbf(gamma=0.1)+2*linear``; or ``precomputed``, if the rows
        are rows of a kernel matrix.
    degree : int or None, default=None
        Degree of the kernel ``poly``. Other kernels ignore it. ``None`` is 3.
    gamma : float >= 0, "scale", "auto" or None, default=None
        Coefficient of the kernels ``rbf``, ``poly``, ``sigmoid``, ``laplacian`` and ``chi2``: a
        number, ``scale`` for ``1 / (n_features * variance of X)``, or ``auto`` for ``1 /
        n_features``. Larger values make the kernel narrower and the fitted function more flexible.
        ``None`` is ``auto``, and 1 for ``chi2``.
    coef0 : float or None, default=None
        Independent term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it. ``None``
        is 1.
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
        Number of threads of the fit; -1 uses all cores, -2 all but one. ``None`` uses the number
        set by ``mercer.set_threads``. The model is bit-identical for any number of threads.
    kernel_params : dict or None, default=None
        Keyword arguments of a kernel that is a Python function; for other kernels ``gamma``,
        ``coef0`` and ``degree``.

    Attributes
    ----------
    components_ : ndarray or sparse matrix of shape (n_components, n_features)
        Landmarks ``z``.
    component_indices_ : ndarray of shape (n_components,)
        Indices of the landmarks in the training data.
    normalization_ : ndarray of shape (n_components, n_components)
        Normalization ``K(z, z)^(−½)``, or the inverse Cholesky factor.
    rank_ : int
        Numerical rank of the kernel matrix of the landmarks.
    error_ : float
        Relative trace error of the approximation.
    n_components_ : int
        Number of features after the transformation.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.kernel_approximation import Nystroem
    >>> X = [[0, 1], [1, 0], [4, 5], [5, 4]]
    >>> print(Nystroem().fit_transform(X).shape[0])
    4
    """

    _id = "nystroem"
    _inputs = ("sparse",)
    _extra_parameters: ClassVar = {
        "n_jobs": Honored(),
        "kernel_params": Honored(),
    }
    _spellings: ClassVar = {
        "kernel": {"polynomial": "poly"},
        "coef0": {None: DEFAULT},
        "degree": {None: DEFAULT},
    }
    _translations = (sklearn_parameters.kernel_params_supply_missing,)
    _fitted_attributes: ClassVar = {
        "components_": ("expansion", sklearn_attributes.expansion_rows),
        "component_indices_": ("support", sklearn_attributes.int64),
        "normalization_": ("coefficients", None),
        "error_": ("relative_trace_error", None),
        "n_components_": (None, sklearn_attributes.output_count_of_model),
    }
    _kernel_of_two_rows = True

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

    Formula::

        E φ(x)·φ(z) = (γ x·z + c₀)ᵈ,  φ the convolution of d count sketches

    Parameters
    ----------
    gamma : float >= 0, default=1.0
        Coefficient of the inner product in the polynomial kernel.
    degree : int in [1, 1000], default=2
        Degree of the polynomial kernel.
    coef0 : float >= 0, default=0.0
        Independent term of the polynomial kernel ``(gamma x·z + coef0)^degree``.
    n_components : int in [1, 1000000000], default=100
        Number of features. The approximation error is inversely proportional to its square root.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.

    Attributes
    ----------
    indexHash_ : ndarray of shape (degree, n_features)
        Component to which each count sketch adds each feature.
    bitHash_ : ndarray of shape (degree, n_features)
        Sign with which it adds it, 1 or -1.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.kernel_approximation import PolynomialCountSketch
    >>> X = [[0, 1], [1, 0], [4, 5], [5, 4]]
    >>> print(PolynomialCountSketch().fit_transform(X).shape[0])
    4
    """

    _id = "polynomial-sketch"
    _inputs = ("sparse",)
    _fitted_attributes: ClassVar = {
        "indexHash_": ("index_hash", sklearn_attributes.array),
        "bitHash_": ("bit_hash", None),
    }

    def __init__(self, *, gamma=1.0, degree=2, coef0=0.0, n_components=100, random_state=0):
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.random_state = random_state


class AdditiveChi2Sampler(Transformer):
    """Features whose inner products approximate the additive chi-squared kernel, for nonnegative
    columns.

    Formula::

        φ(x)·φ(z) ≈ Σⱼ 2 xⱼ zⱼ / (xⱼ + zⱼ)

    Parameters
    ----------
    sample_steps : int in [1, 1000], default=2
        Number of sampled frequencies: each but the first gives two features per column.
    sample_interval : float > 0 or None, default=None
        Distance between frequencies. ``None`` uses the best one for a ``sample_steps`` of 1, 2 or
        3.

    Attributes
    ----------
    sample_interval_ : float
        Distance between the sampled frequencies.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training rows had names.
    certificate_ : dict
        How the fit ended: status, objective, duality gap, iterations, and a ``text`` that states
        them.

    Notes
    -----
    Every field of the fitted model is an attribute whose name ends in an underscore; ``dir(model)``
    lists them.

    Examples
    --------
    >>> from mercer.kernel_approximation import AdditiveChi2Sampler
    >>> X = [[0, 1], [1, 0], [4, 5], [5, 4]]
    >>> print(AdditiveChi2Sampler().fit_transform(X).shape[0])
    4
    """

    _id = "additive-chi2"
    _inputs = ("sparse", "nonnegative")

    def __init__(self, *, sample_steps=2, sample_interval=None):
        self.sample_steps = sample_steps
        self.sample_interval = sample_interval


from .feature_maps import AdditiveChi2Sampler, Nystroem, RBFSampler  # noqa: E402, F811
from .skewed_chi2 import SkewedChi2Sampler  # noqa: E402
