"""Fits whose rows are observed in parts, without a cluster: the same numbers as a fit of all rows."""

import json

import numpy as np
import pytest

from mercer import _mercer
from mercer.linear_model import LinearRegression, LogisticRegression, Ridge
from mercer.naive_bayes import GaussianNB, MultinomialNB
from mercer.svm import LinearSVC, LinearSVR


def matrix_fit(id, params, x, labels, feature_map=None):
    return _mercer.PartitionedFit.of_matrix(
        id, json.dumps(params), x.shape[1], False, None, "y", None, labels, False, feature_map
    )


def sums(fit, parts, point=None):
    """The merged sums of parts of the rows, each observed from the bytes of the fit."""
    states = []
    for rows, target, weights in parts:
        observer = _mercer.PartitionedFit.from_bytes(fit.to_bytes()).observer(0, point)
        observer.observe(rows, target, weights)
        state = observer.finish()
        if state is not None:
            states.append(state)
    return fit.merge(states)


def parts_of(x, y, n, weights=None):
    cuts = np.array_split(np.arange(len(y)), n)
    return [(x[c], y[c], None if weights is None else weights[c]) for c in cuts]


def run_rounds(fit, parts):
    rounds = fit.rounds()
    while rounds.step(sums(fit, parts, rounds.point())):
        pass
    return rounds


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 900)
    x = rng.normal(size=(900, 6)) + y[:, None] * np.linspace(-1, 1, 6)
    return x, y.astype(np.uint32)


def test_statistics_of_parts_are_those_of_all_rows(rows):
    x, y = rows
    fit = matrix_fit("gaussian-nb", {}, x, [0, 1, 2])

    fitted = fit.finish(sums(fit, parts_of(x, y, 7)))

    laptop = GaussianNB().fit(x, y)
    assert np.allclose(fitted.log_proba(x), laptop.predict_log_proba(x), rtol=1e-12, atol=1e-12)
    assert fitted.certificate["rows"] == 900


def test_counts_of_parts_have_the_bits_of_all_rows(rows):
    x, y = rows
    counts = np.rint(np.abs(x) * 10)
    fit = matrix_fit("multinomial-nb", {}, counts, [0, 1, 2])

    several = fit.finish(sums(fit, parts_of(counts, y, 7))).to_bytes()

    assert several == fit.finish(sums(fit, parts_of(counts, y, 1))).to_bytes()
    laptop = MultinomialNB().fit(counts, y)
    fitted = _mercer.from_bytes(several)
    assert np.array_equal(fitted.log_proba(counts), laptop.predict_log_proba(counts))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("wide", [False, True])
def test_rounds_over_parts_find_the_optimum(rows, n_classes, wide):
    x, y = rows
    x, y = x[y < n_classes], y[y < n_classes]
    if wide:  # Conjugate gradients instead of a factorized Hessian.
        x = np.hstack([x, np.random.default_rng(0).normal(size=(len(x), 150))])
    fit = matrix_fit("logistic", {"C": 0.5, "tol": 1e-9}, x, list(range(n_classes)))

    fitted = run_rounds(fit, parts_of(x, y, 5)).finish()

    laptop = LogisticRegression(C=0.5, tol=1e-10).fit(x, y)
    assert fitted.certificate["status"] == "converged"
    assert fitted.certificate["duality_gap"] < 1e-6
    assert np.allclose(fitted.log_proba(x), laptop.predict_log_proba(x), atol=1e-6)


def test_linear_svc_and_svr_by_rounds_match_the_laptop(rows):
    x, y = rows
    params = {"loss": "squared_hinge", "tol": 1e-9}
    svc = run_rounds(matrix_fit("linear-svc", params, x, [0, 1, 2]), parts_of(x, y, 4)).finish()
    laptop = LinearSVC(tol=1e-9, max_iter=10000).fit(x, y)
    assert np.allclose(svc.field("coefficients"), laptop.coef_, atol=1e-6)

    target = x @ np.arange(6.0) + 1.0
    params = {"loss": "squared_epsilon_insensitive", "epsilon": 0.1, "tol": 1e-9}
    svr = run_rounds(matrix_fit("linear-svr", params, x, None), parts_of(x, target, 4)).finish()
    laptop = LinearSVR(
        loss="squared_epsilon_insensitive", epsilon=0.1, tol=1e-9, max_iter=10000
    ).fit(x, target)
    assert np.allclose(svr.field("coefficients"), laptop.coef_, atol=1e-6)


def test_a_penalty_of_standardized_columns_does_not_depend_on_their_scale(rows):
    x, y = rows
    scales = np.array([1.0, 100.0, 0.01, 1.0, 1e4, 1.0])
    fits = []
    for z in (x, x * scales):
        fit = matrix_fit("logistic", {"C": 0.05, "tol": 1e-10}, z, [0, 1, 2])
        fits.append(run_rounds(fit.with_penalty("standardized"), parts_of(z, y, 3)).finish())

    assert np.allclose(fits[0].field("coefficients"), fits[1].field("coefficients") * scales)


def test_no_penalty_has_no_duality_gap(rows):
    x, y = rows
    fit = matrix_fit("logistic", {"tol": 1e-8}, x, [0, 1, 2]).with_penalty("none")

    fitted = run_rounds(fit, parts_of(x, y, 2)).finish()

    assert fitted.certificate["status"] == "converged"
    assert fitted.certificate["duality_gap"] is None


def test_weights_and_least_squares(rows):
    x, _ = rows
    y = x @ np.arange(6.0) + np.sin(np.arange(900))
    w = np.arange(900) % 4 + 0.5
    ols = matrix_fit("ols", {}, x, None)
    ridge = matrix_fit("ridge", {"alpha": 2.0}, x, None)

    for fit, laptop in ((ols, LinearRegression()), (ridge, Ridge(alpha=2.0))):
        fitted = fit.finish(sums(fit, parts_of(x, y, 6, w)))
        laptop.fit(x, y, sample_weight=w)
        assert np.allclose(fitted.field("coefficients"), laptop.coef_, rtol=1e-12, atol=1e-12)


def test_a_table_is_preprocessed_by_merged_sums():
    rng = np.random.default_rng(1)
    n = 600
    age = rng.normal(40, 10, n)
    age[::7] = np.nan
    city = rng.integers(0, 3, n).astype(np.uint32)
    flag = (rng.random(n) > 0.5).astype(float)
    text = [f"word{k % 5} common" for k in range(n)]
    y = ((np.nan_to_num(age) > 40) ^ (city == 1)).astype(np.uint32)
    levels = ["a", "b", "c"]
    fields = [("age", "numeric", None), ("city", "categorical", levels), ("flag", "boolean", None)]
    fields.append(("note", "text", None))
    fit = _mercer.PartitionedFit.of_table("logistic", "{}", fields, "y", None, [0, 1], [], None)

    def table(c):
        return [
            ("age", "numeric", age[c]),
            ("city", "codes", city[c]),
            ("flag", "boolean", flag[c]),
            ("note", "text", [text[i] for i in c]),
        ]

    def fitted(n_parts):
        stage = fit
        cuts = np.array_split(np.arange(n), n_parts)
        assert stage.stage == "preprocessing"
        states = []
        for c in cuts:
            observer = stage.observer(int(c[0]))
            observer.observe(table(c), y[c])
            states.append(observer.finish())
        stage = stage.advance(stage.merge(states))
        assert stage.stage == "fit"
        parts = [(stage.encode(table(c)), y[c], None) for c in cuts]
        return run_rounds(stage, parts).finish()

    one, many = fitted(1), fitted(5)
    rows = table(np.arange(n))
    assert np.allclose(
        one.log_proba(one.encode_rows(rows)), many.log_proba(many.encode_rows(rows)), atol=1e-9
    )
    # A missing age, an unseen city and unknown words are predicted.
    new = [
        ("age", "numeric", np.array([np.nan])),
        ("city", "codes", np.array([2**32 - 2], np.uint32)),
        ("flag", "boolean", np.array([np.nan])),
        ("note", "text", [None]),
    ]
    assert np.isfinite(many.log_proba(many.encode_rows(new))).all()


@pytest.mark.parametrize("feature_map", ["nystroem:50", "rff:64"])
def test_a_kernel_map_is_fitted_to_the_same_sample_in_any_number_of_parts(rows, feature_map):
    x, y = rows
    fit = matrix_fit("linear-svc", {"loss": "squared_hinge"}, x, [0, 1, 2], feature_map)
    maps = []
    for n_parts in (1, 4):
        states = []
        for c in np.array_split(np.arange(len(y)), n_parts):
            observer = fit.observer(int(c[0]))
            observer.observe(x[c], y[c])
            states.append(observer.finish())
        maps.append(fit.advance(fit.merge(states)))

    assert maps[0].to_bytes() == maps[1].to_bytes()
    assert "error" in maps[0].feature_map
    fitted = run_rounds(maps[0], [(maps[0].encode(x), y, None)]).finish()
    assert (fitted.predict(fitted.encode_matrix(x)) == y).mean() > 0.7


def test_damaged_bytes_are_refused(rows):
    x, y = rows
    fit = matrix_fit("gaussian-nb", {}, x, [0, 1, 2])
    state = sums(fit, parts_of(x, y, 1))
    description = fit.to_bytes()
    rng = np.random.default_rng(0)

    for whole, read in (
        (state, lambda b: fit.finish(b)),
        (description, _mercer.PartitionedFit.from_bytes),
    ):
        read(whole)
        for _ in range(200):
            damaged = bytearray(whole)
            damaged[rng.integers(len(damaged))] ^= 1 << int(rng.integers(8))
            with pytest.raises(ValueError):
                read(bytes(damaged))
        with pytest.raises(ValueError):
            read(whole[: len(whole) // 2])


def test_sums_of_another_fit_are_refused(rows):
    x, y = rows
    fit = matrix_fit("gaussian-nb", {}, x, [0, 1, 2])
    other = matrix_fit("gaussian-nb", {}, x[:, :3], [0, 1, 2])

    with pytest.raises(ValueError):
        fit.merge([sums(fit, parts_of(x, y, 1)), sums(other, parts_of(x[:, :3], y, 1))])
    logistic = matrix_fit("logistic", {}, x, [0, 1, 2])
    with pytest.raises(ValueError, match="another stage"):
        fit.finish(sums(logistic, parts_of(x, y, 1)))
