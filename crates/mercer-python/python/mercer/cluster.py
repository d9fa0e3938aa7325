"""The estimators of ``cluster``.

Written by ``mercer generate`` from the declarations of the estimators; edit those.
"""

from typing import ClassVar

from .base import Clusterer, sklearn_attributes

__all__ = ["KernelKMeans"]


class KernelKMeans(Clusterer):
    """Kernel k-means: clusters of arbitrary shape, around means in the space of a kernel.

    Formula::

        min Σᵢ ‖φ(xᵢ) − μ_c(i)‖²  over the clusters c(i)

    Parameters
    ----------
    n_clusters : int in [1, 1000000], default=8
        Number of clusters. With fewer distinct rows than this, each of them is a cluster.
    kernel : str or callable, default="rbf"
        Kernel function: ``linear``, ``poly``, ``rbf``, ``sigmoid``, ``laplacian``, ``chi2``; sums
        and products of kernels such as ``rbf(gamma=0.1)+2*linear``; or ``precomputed``, if the rows
        are rows of a kernel matrix.
    degree : int in [0, 1000], default=3
        Degree of the kernel ``poly``. Other kernels ignore it.
    gamma : float >= 0, "scale", "auto" or None, default=None
        Coefficient of the kernels ``rbf``, ``poly``, ``sigmoid``, ``laplacian`` and ``chi2``: a
        number, ``scale`` for ``1 / (n_features * variance of X)``, or ``auto`` for ``1 /
        n_features``. Larger values make the kernel narrower and the fitted function more flexible.
        ``None`` is ``auto``, and 1 for ``chi2``.
    coef0 : float, default=1.0
        Independent term of the kernels ``poly`` and ``sigmoid``. Other kernels ignore it.
    n_init : int in [1, 1000000], default=4
        Number of runs from different k-means++ seedings; the run with the smallest inertia is
        returned.
    max_iter : int in [1, 1000000000], default=300
        Maximum number of iterations of each run.
    tol : float >= 0, default=1e-06
        Stop a run when the relative decrease of the inertia in one iteration is at most ``tol``.
    random_state : int, default=0
        Seed of the random number generator. The same seed gives the same model, on any number of
        threads.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each training row.
    inertia_ : float
        Sum of the squared distances of the rows from the means of their clusters.
    cluster_weights_ : ndarray of shape (n_clusters,)
        Total sample weight of each cluster.
    n_iter_ : int
        Number of iterations of the best run.
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
    >>> from mercer.cluster import KernelKMeans
    >>> X = [[0, 1], [1, 0], [4, 5], [5, 4]]
    >>> print(KernelKMeans().fit_predict(X).shape)
    (4,)
    """

    _id = "kernel-k-means"
    _inputs = ("sparse",)
    _spellings: ClassVar = {
        "kernel": {"polynomial": "poly"},
    }
    _fitted_attributes: ClassVar = {
        "labels_": ("labels", sklearn_attributes.int32),
    }

    def __init__(
        self,
        *,
        n_clusters=8,
        kernel="rbf",
        degree=3,
        gamma=None,
        coef0=1.0,
        n_init=4,
        max_iter=300,
        tol=1e-06,
        random_state=0,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
