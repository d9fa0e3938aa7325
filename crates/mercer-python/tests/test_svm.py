"""Support vector machines: the attributes and predictions of scikit-learn."""

import numpy as np
import pytest
import scipy.sparse
from sklearn import svm as theirs
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
import mercer.exceptions
from mercer.decomposition import KernelPCA
from mercer.kernel_ridge import KernelRidge
from mercer.svm import SVC, SVR, Hyperplane, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM


@pytest.mark.parametrize(
    "params", [{}, {"C": 10, "gamma": 0.1}, {"kernel": "linear"}, {"kernel": "poly"}]
)
def test_binary_svc_equals_scikit_learn(params):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)

    ours = SVC(tol=1e-9, **params).fit(X, y)
    reference = theirs.SVC(tol=1e-9, **params).fit(X, y)

    np.testing.assert_allclose(ours.decision_function(X), reference.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, reference.intercept_, atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), reference.predict(X))
    assert abs(len(ours.support_) - len(reference.support_)) <= 2
    if params.get("kernel") == "linear":
        np.testing.assert_allclose(ours.coef_, reference.coef_, atol=1e-4)


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_multiclass_svc_equals_scikit_learn(shape, kernel):
    X, y = load_iris(return_X_y=True)
    params = {"decision_function_shape": shape, "kernel": kernel, "C": 2.0, "tol": 1e-10}

    ours, reference = SVC(**params).fit(X, y), theirs.SVC(**params).fit(X, y)

    # scikit-learn caches the kernel in single precision, which limits the accuracy for a linear kernel.
    near = 1e-4 if kernel == "linear" else 1e-6
    np.testing.assert_allclose(ours.decision_function(X), reference.decision_function(X), atol=near)
    np.testing.assert_array_equal(ours.support_, reference.support_)
    np.testing.assert_array_equal(ours.n_support_, reference.n_support_)
    np.testing.assert_allclose(ours.support_vectors_, reference.support_vectors_)
    np.testing.assert_allclose(ours.dual_coef_, reference.dual_coef_, atol=10 * near)
    assert ours.fit_status_ == 0
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, reference.coef_, atol=near)
    else:
        assert not hasattr(ours, "coef_")


def test_svr_and_one_class_svm_equal_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X, y = 10 * X, y / 50

    for ours, reference in [
        (SVR(C=2, tol=1e-9), theirs.SVR(C=2, tol=1e-9)),
        (NuSVR(C=2, nu=0.3, tol=1e-9), theirs.NuSVR(C=2, nu=0.3, tol=1e-9)),
    ]:
        np.testing.assert_allclose(
            ours.fit(X, y).predict(X), reference.fit(X, y).predict(X), atol=1e-5
        )
    ours, reference = (
        OneClassSVM(nu=0.1, tol=1e-9).fit(X),
        theirs.OneClassSVM(nu=0.1, tol=1e-9).fit(X),
    )
    np.testing.assert_allclose(ours.decision_function(X), reference.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(ours.offset_, reference.offset_, atol=1e-5)
    np.testing.assert_allclose(ours.score_samples(X), reference.score_samples(X), atol=1e-5)


def test_class_weights_equal_scikit_learn():
    X, y = load_iris(return_X_y=True)
    for weight in ["balanced", {0: 1, 1: 3, 2: 0.5}]:
        ours = SVC(class_weight=weight, tol=1e-10).fit(X, y)
        reference = theirs.SVC(class_weight=weight, tol=1e-10).fit(X, y)

        np.testing.assert_allclose(ours.class_weight_, reference.class_weight_)
        np.testing.assert_allclose(
            ours.decision_function(X), reference.decision_function(X), atol=1e-6
        )


def test_probabilities_agree_with_predictions():
    X, y = load_iris(return_X_y=True)

    model = SVC(probability=True).fit(X, y)

    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    assert model.score(X, y) > 0.95
    assert not hasattr(SVC(), "predict_proba")


def test_sparse_rows_and_precomputed_kernel_give_the_same_model():
    X, y = load_iris(return_X_y=True)
    model = SVC(gamma=0.5, tol=1e-10).fit(X, y)

    sparse = SVC(gamma=0.5, tol=1e-10).fit(scipy.sparse.csr_matrix(X), y)
    gram = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1))
    given = SVC(kernel="precomputed", tol=1e-10).fit(gram, y)

    np.testing.assert_allclose(sparse.decision_function(X), model.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(given.decision_function(gram), model.decision_function(X), atol=1e-6)


def test_svc_model_file_clone_and_grid_search(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = SVC(C=3, class_weight="balanced").fit(X, y)
    model.save(tmp_path / "svc.mercer")

    loaded = mercer.load(tmp_path / "svc.mercer")
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1]}).fit(X, y)

    assert loaded.get_params() == model.get_params() == clone(model).get_params()
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert search.best_score_ > 0.9
    certificate = model.certificate_
    assert certificate["violation"] <= 1e-3
    assert certificate["objective"] >= certificate["dual"]


def test_invalid_parameters_are_named():
    X, y = load_iris(return_X_y=True)

    for params in [{"C": 0}, {"kernel": "nonsense"}, {"gamma": -1.0}, {"class_weight": {7: 1.0}}]:
        with pytest.raises(
            ValueError, match=next(iter(params)) if "class_weight" not in params else "7"
        ):
            SVC(**params).fit(X, y)
    with pytest.raises(ValueError, match="nu"):
        NuSVC(nu=0.9).fit(X[45:], y[45:])


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"dual": False},
        {"loss": "hinge", "dual": True},
        {"penalty": "l1", "dual": False, "C": 0.1},
    ],
)
def test_linear_svc_equals_scikit_learn(params):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)

    ours = LinearSVC(tol=1e-9, **params).fit(X, y)
    reference = theirs.LinearSVC(tol=1e-9, max_iter=1_000_000, random_state=0, **params).fit(X, y)
    sparse = LinearSVC(tol=1e-9, **params).fit(scipy.sparse.csr_matrix(X), y)

    np.testing.assert_allclose(ours.coef_, reference.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, reference.intercept_, atol=1e-4)
    np.testing.assert_allclose(sparse.coef_, ours.coef_, atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), reference.predict(X))
    assert ours.decision_function(X).shape == (150, 3)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_svr_equals_scikit_learn(loss):
    X, y = load_diabetes(return_X_y=True)
    X, y = 20 * X[:150], y[:150] / 50

    ours = LinearSVR(tol=1e-9, epsilon=0.2, loss=loss).fit(X, y)
    reference = theirs.LinearSVR(tol=1e-9, epsilon=0.2, loss=loss, max_iter=1_000_000).fit(X, y)

    np.testing.assert_allclose(ours.coef_, reference.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict(X), reference.predict(X), atol=1e-3)


def test_unpenalized_intercept_is_translation_invariant():
    X, y = load_iris(return_X_y=True)

    here = LinearSVC(intercept="unpenalized", tol=1e-9).fit(X, y)
    there = LinearSVC(intercept="unpenalized", tol=1e-9).fit(X + 50, y)

    np.testing.assert_allclose(here.coef_, there.coef_, atol=1e-5)
    with pytest.raises(ValueError, match="unpenalized"):
        LinearSVC(intercept="unpenalized", dual=True).fit(X, y)


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic", "venn-abers"])
@pytest.mark.parametrize(
    "estimator",
    [SVC(), NuSVC(nu=0.2), LinearSVC(), LinearSVC(loss="hinge"), LinearSVC(penalty="l1")],
    ids=lambda estimator: repr(estimator),
)
def test_the_most_probable_class_is_the_predicted_one(estimator, calibration):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for rows in [slice(None), slice(50, 150)]:
        model = (
            clone(estimator)
            .set_params(probability=True, calibration=calibration)
            .fit(X[rows], y[rows])
        )

        proba = model.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
        np.testing.assert_allclose(np.log(proba), model.predict_log_proba(X), atol=1e-9)
        assert model.score(X[rows], y[rows]) > 0.85
    assert not hasattr(estimator, "predict_proba")


def test_linear_svc_probabilities_are_calibrated():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1

    for calibration in ["sigmoid", "isotonic", "venn-abers"]:
        model = LinearSVC(probability=True, calibration=calibration).fit(X[train], y[train])

        chance = model.predict_proba(X[test])[:, 1]
        # The Brier score of the class frequencies is 0.23.
        assert np.mean((chance - y[test]) ** 2) < 0.05


@pytest.mark.parametrize("params", [{"C": 0.1}, {"C": 0.1, "fit_intercept": False}])
def test_crammer_singer_equals_scikit_learn(params):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    params = {"multi_class": "crammer_singer", **params}

    for rows in [slice(None), slice(50, 150)]:
        ours = LinearSVC(tol=1e-8, max_iter=1_000_000, **params).fit(X[rows], y[rows])
        reference = theirs.LinearSVC(tol=1e-10, max_iter=1_000_000, random_state=0, **params)
        reference.fit(X[rows], y[rows])

        np.testing.assert_allclose(ours.coef_, reference.coef_, atol=1e-3)
        np.testing.assert_allclose(ours.intercept_, reference.intercept_, atol=1e-3)
        np.testing.assert_array_equal(ours.predict(X), reference.predict(X))
    with pytest.raises(ValueError, match="multi_class"):
        LinearSVC(multi_class="crammer_singer", probability=True).fit(X, y)


def test_squared_slack_with_a_linear_kernel_equals_linear_svc():
    X, y = load_iris(return_X_y=True)
    X, y = StandardScaler().fit_transform(X[50:]), y[50:]

    kernel = SVC(kernel="linear", slack_power=2, tol=1e-9).fit(X, y)
    linear = LinearSVC(intercept="unpenalized", tol=1e-9).fit(X, y)

    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), atol=1e-5)


@pytest.mark.parametrize(
    "estimator", [SVC(C=10), NuSVC(nu=0.2), LinearSVC(), SVR(), NuSVR(), OneClassSVM()]
)
def test_a_gap_is_where_the_fit_ends(estimator):
    X, y = load_iris(return_X_y=True)

    model = estimator.set_params(gap=1e-2).fit(X, y)

    objective, bound = model.certificate_["objective"], model.certificate_["dual"]
    assert objective - bound <= 1e-2 * max(abs(objective), abs(bound))


def test_a_verbose_fit_prints_its_plan_which_the_certificate_keeps(capsys):
    X, y = load_iris(return_X_y=True)

    quiet = SVC().fit(X, y)
    assert capsys.readouterr().out == ""
    said = SVC(verbose=1).fit(X, y)

    plan = said.certificate_["plan"]
    assert plan == quiet.certificate_["plan"]
    assert plan["strategy"] == "3 one-vs-one SVMs, dense kernel matrices"
    assert plan["kernel_matrix_bytes"] == 4 * 150 * 150
    assert capsys.readouterr().out.startswith(f"plan: {plan['strategy']}; about ")
    for model in [SVR(verbose=True), NuSVR(verbose=True), KernelRidge(verbose=True)]:
        model.fit(X, X[:, 0])
        assert capsys.readouterr().out.startswith("plan: ")
    for model in [OneClassSVM(verbose=True), KernelPCA(n_components=2, verbose=True)]:
        model.fit(X)
        assert capsys.readouterr().out.count("plan: ") == 1


def test_memory_error_names_the_need_and_a_remedy():
    X, y = load_iris(return_X_y=True)

    with mercer.memory_limit(20_000), pytest.raises(MemoryError, match=r"45.6 KB.*`approx`"):
        SVC().fit(X, y)
    with mercer.memory_limit(1e6):
        SVC().fit(X, y)


@pytest.mark.parametrize(
    "estimator", [SVR(), NuSVR(), KernelRidge(kernel="rbf")], ids=lambda m: type(m).__name__
)
def test_regression_is_explained_by_support_vectors(estimator):
    X, y = load_diabetes(return_X_y=True)
    estimator.fit(X, y)

    explanation = estimator.explain(X[5])

    assert explanation.sum == pytest.approx(estimator.predict(X[5:6])[0], rel=1e-5)
    terms = [support["coefficient"] * support["kernel"] for support in explanation.support_vectors]
    assert explanation.intercept + sum(terms) == pytest.approx(explanation.sum)
    assert explanation.between is None and "exp(-" in str(explanation)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr", "crammer_singer"])
def test_classification_is_explained_by_support_vectors(multiclass):
    X, y = load_iris(return_X_y=True)
    model = SVC(multiclass=multiclass).fit(X, y)

    for row in X[::10]:
        explanation = model.explain(row)

        assert explanation.between[0] == model.predict([row])[0]
        assert {support["row"] for support in explanation.support_vectors} <= set(model.support_)
        assert f"{explanation.between[0]} against {explanation.between[1]}" in str(explanation)
    two = SVC().fit(X[:100], y[:100])
    explanation = two.explain(X[3])
    assert explanation.sum == pytest.approx(-two.decision_function(X[3:4])[0], rel=1e-5)
    assert OneClassSVM().fit(X).explain(X[0]).to_dict()["between"] is None


def test_indefinite_kernels_have_no_duality_gap():
    X, y = load_iris(return_X_y=True)
    certificate = SVC(kernel="precomputed").fit(-X @ X.T, y).certificate_
    assert certificate["duality_gap"] is None and certificate["dual"] is None
    assert not certificate["converged"] and certificate["status"] == "stationary"
    assert "not positive semi-definite (smallest eigenvalue -" in certificate["text"]


def test_certificates_far_from_zero_are_those_of_centered_rows():
    for seed in range(6):
        r = np.random.default_rng(seed)
        X = np.round(r.normal(size=(40, 3)) * 3e3)
        X[20:] = X[:20]
        y = r.integers(0, 2, 40)
        far, near = (SVC(C=23, gamma=1 / 3, tol=1e-8).fit(x, y).certificate_ for x in (X + 2e8, X))
        assert far["objective"] == pytest.approx(near["objective"], rel=1e-7)
        assert far["dual"] <= near["objective"] * (1 + 1e-9)


def test_not_separable_has_a_witness():
    X = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]) + 1e5
    y = ["a", "a", "b", "b"]
    with pytest.raises(mercer.exceptions.NotSeparableError) as caught:
        SVC(kernel="linear", margin="hard").fit(X, y)
    witness = caught.value.witness
    assert witness["classes"] == ["a", "b"]
    points = [
        np.average(X[rows], axis=0, weights=weights)
        for rows, weights in zip(witness["rows"], witness["weights"], strict=True)
    ]
    np.testing.assert_allclose(*points, rtol=1e-9)
    assert witness["distance"] < 1e-6 * witness["spread"]
    # An infinite C is a large one, as in scikit-learn.
    np.testing.assert_array_equal(
        SVC(C=np.inf).fit(X, y).predict(X), SVC(C=1e10).fit(X, y).predict(X)
    )


def test_sample_weights_enter_neither_gamma_nor_balanced_class_weights():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    weights = np.random.default_rng(0).uniform(0.2, 3, len(y)) * np.where(y == 2, 2, 1)
    for params in [{}, {"class_weight": "balanced"}, {"class_weight": "balanced", "gamma": 0.3}]:
        ours = SVC(tol=1e-9, **params).fit(X, y, sample_weight=weights)
        reference = theirs.SVC(tol=1e-9, **params).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(
            ours.decision_function(X), reference.decision_function(X), atol=1e-4
        )
    ours = SVR(tol=1e-9).fit(X, y, sample_weight=weights)
    reference = theirs.SVR(tol=1e-9).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(X), reference.predict(X), atol=1e-5)


def test_a_margin_classifier_is_explained_by_its_decision_value():
    X, y = load_iris(return_X_y=True)
    model = LinearSVC().fit(X[:100], y[:100])
    for row in (X[3], X[70]):
        explanation = model.explain(row)
        total = sum(value for _, value in explanation.ranked_contributions())
        assert total == pytest.approx(abs(model.decision_function([row])[0]))
        assert explanation.measure == "decision value" and "log-odds" not in str(explanation)
    calibrated = SVC(probability=True).fit(X, y)
    explanation = calibrated.explain(X[70])
    assert explanation.decision["by"] == "calibrated probabilities"
    best = np.sort(calibrated.predict_proba(X[70:71])[0])[::-1]
    np.testing.assert_allclose(explanation.decision["values"], best[:2], rtol=1e-9)
    assert SVC().fit(X, y).explain(X[70]).decision["by"] == "votes"


def test_kernel_check_has_the_findings_of_the_command():
    X, _ = load_iris(return_X_y=True)
    good = mercer.kernel_check(X)
    assert good["positive"] and good["witness"] is None and good["duplicates"] == 1
    bad = mercer.kernel_check(X, "sigmoid", gamma=1.0)
    assert bad["duplicates"] == 1 and bad["indistinguishable"] > 1000
    negated = mercer.kernel_check(-X @ X.T, "precomputed")
    assert not negated["positive"] and len(negated["witness"]) == len(X)
    with pytest.raises(ValueError, match="gamma"):
        mercer.kernel_check(X, gamma="wide")


def test_hyperplanes():
    X = np.array([[0.0, 0], [1, 1], [3, 1], [1, 3]])
    y = [0, 0, 1, 1]
    first, second = Hyperplane([2, 2], -6), Hyperplane([1, 2], -4)
    np.testing.assert_allclose(first.signed_distance(X), (2 * X.sum(axis=1) - 6) / np.sqrt(8))
    separation = first.separation(X, y)
    assert separation["width"] == pytest.approx(2 / np.sqrt(2))
    assert separation["nearest"] == [1, 2, 3] and separation["misclassified"] == []
    assert repr(separation["canonical"]) == "Hyperplane([1, 1], -3.0)"
    assert first.margin(X) == pytest.approx(np.sqrt(0.5))
    assert first.is_better_than(second, X, y) and not second.is_better_than(first, X, y)
    fitted = SVC(kernel="linear", margin="hard").fit(X, y)
    own = Hyperplane(fitted.coef_, fitted.intercept_[0]).separation(X, y)
    assert own["margin"] == pytest.approx(fitted.margins_[0])
    with pytest.raises(ValueError, match="w = 0"):
        Hyperplane([0, 0], 1)


def test_margins_by_class():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = SVC(kernel="linear").fit(X, names)
    margins = model.class_margins()
    assert list(margins) == [
        ("setosa", "versicolor"),
        ("setosa", "virginica"),
        ("versicolor", "virginica"),
    ]
    np.testing.assert_allclose(list(margins.values()), 1 / np.linalg.norm(model.coef_, axis=1))
    rest = SVC(kernel="linear", multiclass="ovr").fit(X, names).class_margins()
    assert list(rest) == [(name, None) for name in model.classes_]
    assert not hasattr(SVR().fit(X, y), "class_margins")
