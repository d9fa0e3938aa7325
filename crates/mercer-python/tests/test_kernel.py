"""Kernel approximations and kernelized estimators: the attributes and predictions of scikit-learn."""

import numpy as np
import pytest
import scipy.sparse
from sklearn import kernel_approximation as maps
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import KernelPCA as TheirPCA
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge as TheirRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import mercer
from mercer.decomposition import KernelPCA
from mercer.exceptions import ApproximationErrorWarning
from mercer.kernel_approximation import (
    AdditiveChi2Sampler,
    Nystroem,
    PolynomialCountSketch,
    RBFSampler,
)
from mercer.kernel_ridge import KernelRidge
from mercer.linear_model import LogisticRegression

X = np.random.default_rng(2).uniform(0.1, 2, (60, 4))


def test_random_fourier_features_equal_scikit_learn_with_the_same_weights():
    ours = RBFSampler(gamma=0.5, n_components=30, random_state=4).fit(X)
    theirs = maps.RBFSampler(gamma=0.5, n_components=30).fit(X)
    theirs.random_weights_, theirs.random_offset_ = ours.random_weights_, ours.random_offset_

    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-13)
    assert list(ours.get_feature_names_out()[:2]) == ["rbfsampler0", "rbfsampler1"]


@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "laplacian", "chi2"])
def test_nystroem_equals_scikit_learn_with_the_same_landmarks(kernel):
    ours = Nystroem(kernel=kernel, n_components=8).fit(X)
    theirs = maps.Nystroem(kernel=kernel, n_components=8).fit(X)
    theirs.components_, theirs.normalization_ = ours.components_, ours.normalization_

    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-9)
    np.testing.assert_array_equal(ours.components_, X[ours.component_indices_])


def test_count_sketch_equals_scikit_learn_with_the_same_hashes():
    ours = PolynomialCountSketch(degree=3, coef0=1.0, n_components=20).fit(X)
    theirs = maps.PolynomialCountSketch(degree=3, coef0=1.0, n_components=20).fit(X)
    theirs.indexHash_, theirs.bitHash_ = ours.indexHash_, ours.bitHash_

    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-9)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_additive_chi2_map_equals_scikit_learn(steps):
    ours = AdditiveChi2Sampler(sample_steps=steps).fit_transform(X)

    theirs = maps.AdditiveChi2Sampler(sample_steps=steps).fit_transform(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-13)


@pytest.mark.parametrize(
    "estimator", [RBFSampler(), Nystroem(n_components=5), PolynomialCountSketch(), KernelPCA()]
)
def test_transform_preserves_single_precision(estimator):
    narrow = X.astype(np.float32)

    new = estimator.fit(narrow).transform(narrow)

    assert new.dtype == np.float32
    wide = estimator.transform(narrow.astype(float))
    np.testing.assert_allclose(new, wide, atol=1e-5)
    sparse = scipy.sparse.csr_array(X)
    np.testing.assert_allclose(estimator.transform(sparse), estimator.transform(X), atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "params", [{}, {"kernel": "rbf", "gamma": 5.0}, {"kernel": "poly", "degree": 2}]
)
def test_kernel_ridge_equals_scikit_learn(params, weighted):
    rows, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None

    ours = KernelRidge(alpha=0.3, **params).fit(rows, y, weights)
    theirs = TheirRidge(alpha=0.3, **params).fit(rows, y, weights)

    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-8)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-6, atol=1e-6)
    assert ours.leave_one_out_error_ > 0


def test_prediction_intervals_need_variance():
    rows, y = load_diabetes(return_X_y=True)
    model = KernelRidge(kernel="rbf", gamma=5.0, alpha=0.3, variance=True).fit(rows, y - y.mean())

    low, high = model.predict_interval(rows, 0.9).T

    inside = np.mean((low <= y - y.mean()) & (y - y.mean() <= high))
    assert 0.8 < inside <= 1
    with pytest.raises(TypeError, match="interval"):
        clone(model).set_params(variance=False).fit(rows, y).predict_interval(rows)


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf", "gamma": 0.3, "n_components": 4}])
def test_kernel_pca_equals_scikit_learn_up_to_signs(params):
    rows, _ = load_iris(return_X_y=True)

    ours = KernelPCA(**params).fit(rows)
    theirs = TheirPCA(**params).fit(rows)

    np.testing.assert_allclose(ours.eigenvalues_[:4], theirs.eigenvalues_[:4], rtol=1e-9)
    new, reference = ours.transform(rows)[:, :4], theirs.transform(rows)[:, :4]
    signs = np.sign((new * reference).sum(axis=0))
    np.testing.assert_allclose(new * signs, reference, atol=1e-8)


def test_feature_map_in_a_pipeline_and_a_model_file(tmp_path):
    rows, y = load_iris(return_X_y=True)
    model = make_pipeline(Nystroem(n_components=30), LogisticRegression())

    search = GridSearchCV(model, {"nystroem__gamma": [0.01, 0.2]}, cv=3).fit(rows, y)

    assert search.best_score_ > 0.93
    fitted = Nystroem(n_components=5).fit(rows)
    fitted.save(tmp_path / "map.mercer")
    loaded = mercer.load(tmp_path / "map.mercer")
    np.testing.assert_array_equal(loaded.transform(rows), fitted.transform(rows))


@pytest.mark.parametrize("kind", [RBFSampler, Nystroem, PolynomialCountSketch])
def test_random_state_determines_the_map(kind):
    def new(seed):
        return kind(random_state=seed, n_components=10).fit_transform(X)

    np.testing.assert_array_equal(new(3), new(3))
    assert not np.array_equal(new(3), new(4))
    np.testing.assert_array_equal(new(np.random.RandomState(1)), new(np.random.RandomState(1)))
    assert np.isfinite(new(None)).all()


@pytest.mark.parametrize(
    "make", [RBFSampler, Nystroem, lambda **how: Nystroem(landmarks="pivoted-cholesky", **how)]
)
def test_columns_are_added_until_the_requested_error(make):
    rows = np.random.default_rng(4).normal(size=(300, 4))
    exact = rbf_kernel(rows, gamma=0.1)
    last = 0
    for requested in [0.3, 0.1, 0.03]:
        model = make(gamma=0.1, error=requested, n_components=5000).fit(rows)

        assert model.error_ <= requested
        assert model.n_components_ == model.transform(rows).shape[1] >= last
        assert f"for an error of at most {requested}" in model.certificate_["text"]
        new = model.transform(rows)
        assert np.sqrt(np.mean((new @ new.T - exact) ** 2)) < 1.5 * requested
        last = model.n_components_


def test_unreached_error_warns():
    rows = np.random.default_rng(4).normal(size=(300, 4))

    with pytest.warns(ApproximationErrorWarning, match="n_components"):
        model = RBFSampler(error=0.01, n_components=50).fit(rows)

    assert model.n_components_ == 50
    assert model.error_ > 0.01
    for bad in [0, 1, -0.5, "small"]:
        with pytest.raises(ValueError, match="error"):
            RBFSampler(error=bad).fit(rows)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_inverse_transform_equals_scikit_learn(kernel):
    X = load_iris().data
    params = {
        "n_components": 3,
        "kernel": kernel,
        "gamma": 0.2,
        "fit_inverse_transform": True,
        "alpha": 0.3,
    }

    ours = KernelPCA(**params).fit(X)
    theirs = TheirPCA(**params).fit(X)

    back = ours.inverse_transform(ours.transform(X))
    if kernel == "poly":
        # Odd powers depend on the sign of a component, which is arbitrary.
        assert np.abs(back - X).mean() < 0.5
    else:
        np.testing.assert_allclose(back, theirs.inverse_transform(theirs.transform(X)), atol=1e-6)
    with pytest.raises(NotFittedError, match="fit_inverse_transform"):
        KernelPCA().fit(X).inverse_transform(X)
    with pytest.raises(ValueError, match="components"):
        ours.inverse_transform(X)
