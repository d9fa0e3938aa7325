"""Products written out, kernels as formulas and functions, clusters, perceptrons, several numbers at once."""

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
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.cluster import KernelKMeans
from mercer.decomposition import KernelPCA
from mercer.kernel_approximation import Nystroem
from mercer.kernel_ridge import KernelRidge
from mercer.linear_model import LogisticRegression
from mercer.preprocessing import PolynomialFeatures
from mercer.svm import SVC, SVR, KernelPerceptron, OneClassSVM

X = np.random.default_rng(3).normal(size=(50, 4))


def excused(estimator):
    """A row twice is looked at twice, and a row of weight two once: the order of rows is learned from."""
    if not isinstance(estimator, KernelPerceptron):
        return {}
    check = "check_sample_weight_equivalence_on"
    why = "learning depends on the order of rows"
    return {f"{check}_dense_data": why, f"{check}_sparse_data": why}


@parametrize_with_checks(
    [
        PolynomialFeatures(),
        PolynomialFeatures(kernel=True, degree=3),
        KernelKMeans(n_clusters=3),
        KernelPerceptron(),
        KernelPerceptron(average=True, budget=100),
        KernelRidge(solver="cg", tol=1e-13),
        KernelRidge(kernel="rbf", solver="approx", tol=1e-13),
        KernelRidge(kernel="rbf+0.5*linear"),
    ],
    expected_failed_checks=excused,
)
def test_scikit_learn_finds_nothing_to_complain_about(estimator, check):
    check(estimator)


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
def test_products_are_scikit_learns_to_the_bit(params, dtype):
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
def test_sparse_rows_have_sparse_products(degree, layout):
    thin = scipy.sparse.random(30, 8, density=0.3, random_state=1, format=layout)

    new = PolynomialFeatures(degree=degree).fit(thin).transform(thin)

    reference = Theirs(degree=degree).fit(thin).transform(thin)
    assert scipy.sparse.issparse(new) and new.format == reference.format
    np.testing.assert_array_equal(new.toarray(), reference.toarray())


def test_inner_products_of_products_are_the_kernel():
    new = PolynomialFeatures(degree=3, kernel=True, gamma=0.5, coef0=2.0).fit_transform(X)

    np.testing.assert_allclose(new @ new.T, (0.5 * X @ X.T + 2) ** 3, rtol=1e-11, atol=1e-11)


def test_a_formula_is_a_kernel_everywhere():
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


def test_a_function_is_a_kernel_as_in_scikit_learn(tmp_path):
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


def test_a_function_of_two_rows_is_a_kernel_where_scikit_learn_calls_it_so():
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
def test_several_numbers_are_learned_at_once(solver, tmp_path):
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


def test_a_linear_kernel_finds_what_k_means_finds():
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


def test_a_linear_kernel_is_scikit_learns_perceptron():
    rows, y = load_iris(return_X_y=True)
    rows, y = StandardScaler().fit_transform(rows), y == 2

    ours = KernelPerceptron(kernel="linear", shuffle=False, max_iter=7).fit(rows, y)

    theirs = Perceptron(shuffle=False, max_iter=7, tol=None).fit(rows, y)
    np.testing.assert_allclose(
        ours.decision_function(rows), theirs.decision_function(rows), atol=1e-9
    )


def test_a_budget_bounds_the_sum():
    rows, y = load_iris(return_X_y=True)

    model = KernelPerceptron(budget=25, average=True).fit(rows, y)

    assert len(model.support_) <= 25
    assert model.score(rows, y) > 0.6


def test_maps_stand_in_a_pipeline():
    rows, y = load_iris(return_X_y=True)
    model = make_pipeline(
        StandardScaler(), PolynomialFeatures(include_bias=False), LogisticRegression()
    )

    assert model.fit(rows, y).score(rows, y) > 0.95
    assert len(model[:-1].get_feature_names_out()) == 14
