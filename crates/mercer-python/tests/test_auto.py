"""Automatic model selection."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_moons
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import AutoClassifier, AutoRegressor

#: A row of weight two is in one fold, the row twice may be in two.
EXPECTED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "folds of repeated rows differ"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [AutoClassifier(budget=2, n_folds=2), AutoRegressor(budget=2, n_folds=2)],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_best_candidate_predicts_and_the_leaderboard_is_sorted():
    X, y = make_moons(300, noise=0.15, random_state=0)

    model = AutoClassifier(budget=20).fit(X[:200], y[:200])

    board = model.leaderboard_
    finished = board[board["standing"] == "finished"]["score"].to_numpy()
    assert len(board) > 20
    assert (np.diff(finished) <= 1e-12).all()
    assert model.score(X[200:], y[200:]) > 0.93
    proba = model.predict_proba(X[200:])
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert 0.9 < model.best_score_ <= 1
    assert model.best_estimator_ == board["name"][0]


def test_tables_of_all_kinds(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=240),
            "color": rng.choice(["red", "green", "blue"], 240),
            "flag": rng.choice([True, False], 240),
        }
    )
    label = np.where((table["size"] > 0) ^ (table["color"] == "red"), "yes", "no")
    table.loc[::17, "size"] = np.nan

    model = AutoClassifier(budget=10).fit(table, label)
    model.save(tmp_path / "model.mercer")

    assert set(model.predict(table)) == {"yes", "no"}
    assert model.score(table, label) > 0.85
    with pytest.raises(ValueError, match="color"):
        model.predict(table[["size", "flag"]])
    with pytest.raises(ValueError, match="pass a table"):
        model.predict(np.zeros((2, 3)))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    with pytest.raises(ValueError, match="mercer predict"):
        mercer.load(tmp_path / "model.mercer")


def test_prediction_sets_and_intervals_cover_what_they_promise():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))
    X, y = X[order] + np.random.default_rng(2).normal(scale=0.5, size=X.shape), y[order]
    model = AutoClassifier(budget=5).fit(X[:100], y[:100])
    sets = model.predict_set(X[100:], level=0.9)
    assert all(len(classes) >= 1 for classes in sets)
    assert [classes[0] for classes in sets] == model.predict(X[100:]).tolist()
    covered = np.mean([label in classes for label, classes in zip(y[100:], sets, strict=True)])
    assert covered > 0.9 - 4 * np.sqrt(0.09 * (1 / 100 + 1 / 50))

    X, y = load_diabetes(return_X_y=True)
    model = AutoRegressor(budget=5).fit(X[:300], y[:300])
    bounds = model.predict_interval(X[300:], level=0.8)
    inside = np.mean((bounds[:, 0] <= y[300:]) & (y[300:] <= bounds[:, 1]))
    assert abs(inside - 0.8) < 4 * np.sqrt(0.16 * (1 / 300 + 1 / 142))


def test_the_same_seed_gives_the_same_model():
    X, y = load_iris(return_X_y=True)
    first = AutoClassifier(budget=30, random_state=3).fit(X, y)

    second = clone(first).fit(X, y)

    assert first.best_estimator_ == second.best_estimator_
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


def test_sample_weights_count():
    x = np.tile(np.linspace(-2, 2, 40), 2).reshape(-1, 1)
    y = np.concatenate([x[:40, 0] > 0, x[40:, 0] < 0])
    weights = np.repeat([1.0, 50.0], 40)

    model = AutoClassifier(budget=5).fit(x, y, sample_weight=weights)

    assert (model.predict(x[:40]) == y[40:]).mean() > 0.9
