"""Scripts written for scikit-learn: the same results as with its own classes."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import discriminant_analysis as their_discriminants
from sklearn import linear_model as theirs
from sklearn.covariance import OAS, LedoitWolf
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from mercer.decomposition import KernelPCA
from mercer.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from mercer.kernel_ridge import KernelRidge
from mercer.linear_model import LogisticRegression, LogisticRegressionCV, SGDOneClassSVM
from mercer.preprocessing import PolynomialFeatures
from mercer.svm import SVC

#: Earlier versions have another objective of the one-class SVM, and no `l1_ratio` that chooses the penalty.
since_1_8 = pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8),
    reason="the interface of scikit-learn 1.8",
)


@pytest.fixture
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:, :6], y


@since_1_8
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("average", [False, True, 50])
@pytest.mark.parametrize("learning_rate", ["constant", "optimal", "invscaling", "adaptive"])
def test_one_class_svm_makes_the_updates_of_scikit_learn(cancer, sparse, average, learning_rate):
    X = sp.csr_matrix(np.where(abs(cancer[0]) < 0.3, 0.0, cancer[0])) if sparse else cancer[0]
    params = {"nu": 0.2, "shuffle": False, "tol": None, "max_iter": 3, "average": average}
    params |= {"learning_rate": learning_rate, "eta0": 0.01}
    weights = np.random.default_rng(0).uniform(0.5, 2, X.shape[0])

    ours = SGDOneClassSVM(**params).fit(X, sample_weight=weights)
    reference = theirs.SGDOneClassSVM(**params).fit(X, sample_weight=weights)

    np.testing.assert_allclose(ours.coef_, reference.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.offset_, reference.offset_, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), reference.predict(X))
    assert (ours.n_iter_, ours.t_) == (reference.n_iter_, reference.t_)


@since_1_8
@pytest.mark.parametrize("l1_ratio", [0, 1])
@pytest.mark.parametrize("intercept_scaling", [1, 10.0])
def test_liblinear_penalizes_the_intercept(cancer, l1_ratio, intercept_scaling):
    params = {"solver": "liblinear", "C": 0.05, "l1_ratio": l1_ratio, "tol": 1e-9}
    params |= {"intercept_scaling": intercept_scaling, "random_state": 0, "max_iter": 10_000}

    for X in (cancer[0], sp.csr_matrix(cancer[0])):
        ours = LogisticRegression(**params).fit(X, cancer[1])
        reference = theirs.LogisticRegression(**params).fit(X, cancer[1])

        np.testing.assert_allclose(ours.coef_, reference.coef_, atol=2e-4)
        np.testing.assert_allclose(ours.intercept_, reference.intercept_, atol=2e-4)
        assert "gradient" in ours.certificate_["text"]


@since_1_8
@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "neg_log_loss"])
def test_logistic_cv_chooses_what_scikit_learn_chooses(cancer, scoring):
    X, y = cancer
    params = {"Cs": 5, "cv": StratifiedKFold(3, shuffle=True, random_state=1), "scoring": scoring}
    params |= {"use_legacy_attributes": True, "l1_ratios": (0,), "tol": 1e-8, "max_iter": 5000}

    ours = LogisticRegressionCV(**params).fit(X, y)
    reference = theirs.LogisticRegressionCV(**params).fit(X, y)

    np.testing.assert_array_equal(ours.C_, reference.C_)
    np.testing.assert_allclose(ours.scores_[1], reference.scores_[1], atol=1e-4)
    np.testing.assert_allclose(ours.coef_, reference.coef_, atol=1e-3)
    assert ours.coefs_paths_[1].shape == reference.coefs_paths_[1].shape
    assert ours.n_iter_.shape == reference.n_iter_.shape
    assert ours.score(X, y) == pytest.approx(reference.score(X, y), abs=1e-4)


def test_folds_may_lack_classes():
    X, y = load_iris(return_X_y=True)

    model = LogisticRegressionCV(cv=KFold(3), scoring="neg_log_loss", Cs=2).fit(X, y)

    # Every fold holds out one class, of which the other folds know nothing.
    assert np.isfinite(model.scores_).all()
    assert model.coefs_paths_.shape == (3, 1, 2, 3, 5)
    assert model.predict_proba(X).shape == (150, 3)


def test_no_iterations_give_zero_weights(cancer):
    with pytest.warns(ConvergenceWarning, match="max_iter is 0"):
        model = LogisticRegression(max_iter=0).fit(*cancer)

    assert not model.coef_.any()
    np.testing.assert_array_equal(model.predict_proba(cancer[0][:1]), [[0.5, 0.5]])


def test_weights_may_be_set(cancer):
    X, y = cancer
    parts = [LogisticRegression().fit(X[k::2], y[k::2]) for k in range(2)]
    mean = LogisticRegression()

    mean.coef_ = np.mean([part.coef_ for part in parts], axis=0)
    mean.intercept_ = np.mean([part.intercept_ for part in parts], axis=0)
    mean.classes_ = parts[0].classes_

    expected = X @ mean.coef_[0] + mean.intercept_
    np.testing.assert_allclose(mean.decision_function(X), expected)
    assert mean.score(X, y) > 0.9
    assert mean.fit(X, y).coef_ is not None


@pytest.mark.parametrize("estimator", [OAS(), LedoitWolf()])
def test_covariance_estimators_equal_scikit_learn(estimator):
    X, y = load_iris(return_X_y=True)
    params = {"solver": "lsqr", "covariance_estimator": estimator}

    ours = LinearDiscriminantAnalysis(**params).fit(X, y)
    reference = their_discriminants.LinearDiscriminantAnalysis(**params).fit(X, y)

    np.testing.assert_allclose(ours.predict_proba(X), reference.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(ours.covariance_, reference.covariance_, atol=1e-12)
    quadratic = QuadraticDiscriminantAnalysis(solver="eigen", covariance_estimator=estimator)
    expected = [estimator.fit(X[y == c]).covariance_ for c in range(3)]
    np.testing.assert_allclose(quadratic.fit(X, y).covariance_, expected, atol=1e-12)
    with pytest.raises(ValueError, match="Only one of the two"):
        ours.set_params(shrinkage=0.1).fit(X, y)


def test_polynomials_of_wide_sparse_rows_have_64_bit_columns():
    X = sp.csr_array(([2.0, 3.0, 5.0], ([0, 0, 1], [1, 99_999, 0])), shape=(2, 100_000))
    maps = PolynomialFeatures(2, include_bias=False).fit(X)

    out = maps.transform(X)

    assert maps.n_output_features_ == out.shape[1] == 100_000 + 100_000 * 100_001 // 2
    assert out.indices.dtype == np.int64
    # 2, 3, 2·2, 2·3, 3·3 and 5, 5·5.
    np.testing.assert_array_equal(out.data, [2, 3, 4, 6, 9, 5, 25])
    assert out[0, out.shape[1] - 1] == 9


def test_wide_polynomials_are_those_of_narrow_rows():
    X = sp.random(20, 9, density=0.4, format="csr", random_state=0)
    for interaction_only in (False, True):
        maps = PolynomialFeatures(3, interaction_only=interaction_only).fit(X)
        expected = maps.transform(X).toarray()

        # The Python expansion of wide rows, on rows that the core can expand too.
        maps._n_products = maps.n_output_features_
        np.testing.assert_allclose(maps.transform(X).toarray(), expected)


def test_kernels_of_strings():
    words = np.array(["aa", "ab", "b", "bb", "a"], dtype=object)
    y = [1, 1, 0, 0, 1]

    def common_letters(first, second):
        return np.array([[len(set(a) & set(b)) for b in second] for a in first], dtype=float)

    model = SVC(kernel=common_letters).fit(words, y)

    np.testing.assert_array_equal(model.predict(["aaa", "bbb"]), [1, 0])


def test_cosine_kernel_equals_its_matrix(cancer):
    X, y = cancer[0][:80], cancer[1][:80].astype(float)

    named = KernelRidge(kernel="cosine").fit(X, y).predict(X)

    K = cosine_similarity(X)
    np.testing.assert_allclose(named, KernelRidge(kernel="precomputed").fit(K, y).predict(K))


def test_components_without_variance_are_zero():
    X = np.ones((4, 3))

    assert KernelPCA().fit_transform(X).shape == (4, 0)
    np.testing.assert_array_equal(KernelPCA(n_components=2).fit_transform(X), np.zeros((4, 2)))
