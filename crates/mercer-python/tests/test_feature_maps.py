"""Polynomial features, kernel formulas, callable kernels, kernel k-means, kernel perceptron, multi-output."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import KernelPCA as TheirPCA
from sklearn.kernel_ridge import KernelRidge as TheirRidge
from sklearn.linear_model import Perceptron
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures as Theirs
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as TheirSVC
from sklearn.svm import SVR as TheirSVR

import mercer
from mercer.cluster import KernelKMeans
from mercer.decomposition import KernelPCA
from mercer.kernel_approximation import Nystroem
from mercer.kernel_ridge import KernelRidge
from mercer.linear_model import LogisticRegression
from mercer.preprocessing import PolynomialFeatures
from mercer.svm import SVC, SVR, KernelPerceptron, OneClassSVM

X = np.random.default_rng(3).normal(size=(50, 4))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"degree": 3},
        {"degree": 4, "interaction_only": True},
        {"degree": (2, 3), "include_bias": False},
        {"degree": 0},
        {"degree": 3, "order": "F"},
    ],
)
def test_polynomial_features_equal_scikit_learn_bit_for_bit(params, dtype):
    rows = X.astype(dtype)

    ours, theirs = PolynomialFeatures(**params).fit(rows), Theirs(**params).fit(rows)

    new, reference = ours.transform(rows), theirs.transform(rows)
    np.testing.assert_array_equal(new, reference)
    assert (new.dtype, new.flags.f_contiguous) == (reference.dtype, reference.flags.f_contiguous)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    np.testing.assert_array_equal(ours.powers_, theirs.powers_)
    assert ours.n_output_features_ == theirs.n_output_features_


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize("degree", [2, 3, (1, 2)])
def test_polynomial_features_of_sparse_rows_are_sparse(degree, layout):
    sparse = scipy.sparse.random(30, 8, density=0.3, random_state=1, format=layout)

    new = PolynomialFeatures(degree=degree).fit(sparse).transform(sparse)

    reference = Theirs(degree=degree).fit(sparse).transform(sparse)
    assert scipy.sparse.issparse(new) and new.format == reference.format
    np.testing.assert_array_equal(new.toarray(), reference.toarray())


def test_inner_products_equal_the_polynomial_kernel():
    new = PolynomialFeatures(degree=3, kernel=True, gamma=0.5, coef0=2.0).fit_transform(X)

    np.testing.assert_allclose(new @ new.T, (0.5 * X @ X.T + 2) ** 3, rtol=1e-11, atol=1e-11)


def test_kernel_formula_equals_callable_kernel():
    rows, y = load_iris(return_X_y=True)

    def kernel(a, b):
        return rbf_kernel(a, b, gamma=0.1) + 2 * a @ b.T

    ours = SVC(kernel="rbf(gamma=0.1)+2*linear", tol=1e-6).fit(rows, y)
    theirs = TheirSVC(kernel=kernel, tol=1e-6).fit(rows, y)

    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    np.testing.assert_allclose(
        ours.decision_function(rows), theirs.decision_function(rows), atol=1e-3
    )
    with pytest.raises(ValueError, match="no kernel is called `gauss`"):
        SVC(kernel="gauss+linear").fit(rows, y)


def test_callable_kernel_of_matrices(tmp_path):
    rows, y = load_iris(return_X_y=True)
    kernel = laplacian_kernel

    ours, theirs = (
        SVC(kernel=kernel, tol=1e-6).fit(rows, y),
        TheirSVC(kernel=kernel, tol=1e-6).fit(rows, y),
    )

    np.testing.assert_array_equal(ours.predict(rows[::3]), theirs.predict(rows[::3]))
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    assert ours.n_features_in_ == 4
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(ours)).predict(rows), ours.predict(rows)
    )
    assert ours.support_vectors_.shape == (len(ours.support_), 4)
    with pytest.raises(ValueError, match="Python function"):
        ours.save(tmp_path / "model.mercer")
    with pytest.raises(ValueError, match="4 features"):
        ours.predict(rows[:, :3])
    numbers = rows[:, 0]
    np.testing.assert_allclose(
        SVR(kernel=kernel, tol=1e-7).fit(rows, numbers).predict(rows),
        TheirSVR(kernel=kernel, tol=1e-7).fit(rows, numbers).predict(rows),
        atol=1e-4,
    )
    assert set(OneClassSVM(kernel=kernel).fit(rows).predict(rows)) == {-1, 1}
    assert len(KernelKMeans(n_clusters=2, kernel=kernel).fit_predict(rows)) == 150


def test_callable_kernel_of_two_rows():
    rows, y = load_iris(return_X_y=True)
    rows = rows[::3]

    def kernel(a, b):
        return np.minimum(a, b).sum()

    ours, theirs = KernelRidge(kernel=kernel), TheirRidge(kernel=kernel)
    ours.fit(rows, y[::3]), theirs.fit(rows, y[::3])
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-8)
    new = KernelPCA(n_components=2, kernel=kernel).fit(rows).transform(rows)
    reference = TheirPCA(n_components=2, kernel=kernel).fit(rows).transform(rows)
    np.testing.assert_allclose(abs(new), abs(reference), atol=1e-8)
    assert Nystroem(kernel=kernel, n_components=5).fit_transform(rows).shape == (50, 5)


@pytest.mark.parametrize("solver", ["cholesky", "cg", "approx"])
def test_multi_output_equals_scikit_learn(solver, tmp_path):
    rows, y = load_diabetes(return_X_y=True)
    both = np.column_stack([y, y**2 / 100, -y])
    theirs = TheirRidge(kernel="rbf", gamma=5.0, alpha=0.3).fit(rows, both)

    ours = KernelRidge(kernel="rbf", gamma=5.0, alpha=0.3, solver=solver, tol=1e-12).fit(rows, both)

    new = ours.predict(rows)
    assert new.shape == (442, 3)
    np.testing.assert_allclose(new, theirs.predict(rows), rtol=1e-4)
    if solver == "cholesky":
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-6)
    ours.save(tmp_path / "many.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "many.mercer").predict(rows), new)
    assert clone(ours).fit(rows, y).predict(rows).shape == (442,)
    assert clone(ours).fit(rows, y[:, None]).predict(rows).shape == (442, 1)


def test_linear_kernel_k_means_equals_k_means():
    rows, _ = load_iris(return_X_y=True)
    theirs = KMeans(3, n_init=10, random_state=0).fit(rows)

    ours = KernelKMeans(n_clusters=3, kernel="linear", n_init=10).fit(rows)

    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-4)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) > 0.98
    np.testing.assert_array_equal(ours.predict(rows), ours.labels_)
    assert ours.distances(rows).shape == (150, 3)
    weights = np.ones(150)
    weights[:50] = 0
    assert ours.fit(rows, sample_weight=weights).labels_.shape == (150,)


def test_linear_kernel_perceptron_equals_perceptron():
    rows, y = load_iris(return_X_y=True)
    rows, y = StandardScaler().fit_transform(rows), y == 2

    ours = KernelPerceptron(kernel="linear", shuffle=False, max_iter=7).fit(rows, y)

    theirs = Perceptron(shuffle=False, max_iter=7, tol=None).fit(rows, y)
    np.testing.assert_allclose(
        ours.decision_function(rows), theirs.decision_function(rows), atol=1e-9
    )


def test_budget_limits_the_support_vectors():
    rows, y = load_iris(return_X_y=True)

    model = KernelPerceptron(budget=25, average=True).fit(rows, y)

    assert len(model.support_) <= 25
    assert model.score(rows, y) > 0.6


def test_polynomial_features_in_a_pipeline():
    rows, y = load_iris(return_X_y=True)
    model = make_pipeline(
        StandardScaler(), PolynomialFeatures(include_bias=False), LogisticRegression()
    )

    assert model.fit(rows, y).score(rows, y) > 0.95
    assert len(model[:-1].get_feature_names_out()) == 14
