"""Costs, rejection, new priors and thresholds."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import mercer
from mercer.decision import (
    DecisionClassifier,
    bayes_risk,
    decide,
    minimax,
    minimax_threshold,
    neyman_pearson,
    optimal_rule,
    outlier_threshold,
    point_estimate,
    two_normals_error,
    two_normals_regions,
)
from mercer.naive_bayes import GaussianNB


def test_decisions_of_minimum_expected_cost():
    plain = decide([[0.85, 0.15]])
    costly = decide([[0.85, 0.15]], cost=[[0, 1], [10, 0]])
    three = decide([[0.6, 0.3, 0.1]], cost=[[0, 2, 3], [1, 0, 1], [100, 90, 0]])
    rejecting = decide([[0.6, 0.3, 0.1]], cost=[[0, 2, 3], [1, 0, 1], [100, 90, 0]], reject=2.0)

    assert (plain.actions[0], costly.actions[0], three.actions[0], rejecting.actions[0]) == (
        0,
        1,
        2,
        -1,
    )
    assert costly.risks[0] == pytest.approx(0.85)
    assert three.risks[0] == pytest.approx(2.1)


def test_the_optimal_rule_of_a_table_has_the_bayes_risk():
    joint = np.array([[150, 40, 5], [50, 60, 60]]) / 365

    rule = optimal_rule(joint)
    costly = optimal_rule(joint, cost=[[0, 1, 1], [1, 0, 1], [5, 5, 0]])
    rejecting = optimal_rule(joint, reject=0.5)

    # Hot days are sunny, cold ones cloudy (a tie with rainy): 45 and 110 of 365 are wrong.
    assert rule.actions.tolist() == [0, 1]
    assert rule.risk == pytest.approx(155 / 365) == bayes_risk(joint)
    assert costly.actions.tolist() == [0, 2]
    assert costly.risk == pytest.approx((65 + 110) / 365)
    assert rejecting.actions.tolist() == [0, -1]
    np.testing.assert_allclose(rejecting.risks, [45 / 195, 0.5])


def test_two_normals_have_regions():
    assert two_normals_regions(0.5, (0, 2), (1, 1)) == [(-np.inf, 1.0, 0), (1.0, np.inf, 1)]
    outside = two_normals_regions(0.5, (0, 0), (1, 4))
    assert [region[2] for region in outside] == [1, 0, 1]
    assert outside[1][1] == pytest.approx(np.sqrt(2 * np.log(4) / 1.5))


def test_point_estimates_follow_the_loss():
    values, posterior = [0, 1, 10], [0.3, 0.4, 0.3]
    losses = ["squared", "absolute", "zero-one"]

    assert [point_estimate(values, posterior, loss) for loss in losses] == [3.4, 1, 1]
    # Equal values add their weights.
    assert point_estimate([0, 1, 0], [0.3, 0.4, 0.3], "zero-one") == 0


def test_new_priors_change_the_posterior():
    moved = decide([[0.6, 0.4]], old_priors=[0.5, 0.5], new_priors=[0.2, 0.8])

    assert moved.proba[0, 1] == pytest.approx(0.64 / 0.88)
    with pytest.raises(ValueError, match="both"):
        decide([[0.6, 0.4]], new_priors=[0.2, 0.8])
    with pytest.raises(ValueError, match="between 0 and 1"):
        decide([[1.6, -0.6]])


def test_point_estimates_thresholds_and_risks():
    values, weights = [0.0, 1.0, 2.0, 10.0], [0.2, 0.4, 0.2, 0.2]

    assert point_estimate(values, weights) == pytest.approx(2.8)
    assert point_estimate(values, weights, "absolute") == 1.0
    assert point_estimate(values, weights, "quantile", 0.9) == 10.0
    assert minimax([[1.0, 2.0, 9.0], [3.0, 2.5, 0.0]]) == 1
    scores = [0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1]
    truth = [1, 1, 0, 1, 0, 1, 0, 0]
    assert neyman_pearson(scores, truth, 0.25) == (0.6, 0.25, 0.75)
    assert minimax_threshold(scores, truth).threshold == 0.6
    assert outlier_threshold(np.arange(100.0), 0.05) == 5.0
    assert two_normals_error(0.5, (0, 2), (1, 1)) == pytest.approx(0.158655253931457)
    assert bayes_risk([[0.3, 0.1], [0.05, 0.25], [0.15, 0.15]], cost=[[0, 1], [4, 0]]) == (
        pytest.approx(0.5)
    )


def test_without_costs_predictions_are_those_of_the_estimator(blobs):
    X, y = blobs

    model = DecisionClassifier(LogisticRegression()).fit(X, y)

    np.testing.assert_array_equal(model.predict(X), LogisticRegression().fit(X, y).predict(X))


def test_costs_and_priors_change_without_another_fit(blobs):
    X, y = blobs
    names = np.array(["a", "b", "c"])[y]
    model = DecisionClassifier(GaussianNB()).fit(X, names)
    before = (model.predict(X) == "c").sum()

    miss = {"a": 1.0, "b": 1.0, "c": 50.0}
    model.set_params(cost={t: {a: miss[t] * (a != t) for a in "abc"} for t in "abc"})
    costly = (model.predict(X) == "c").sum()
    model.set_params(cost=None, prior={"c": 0.9})
    common = model.predict_proba(X)

    assert costly > before
    priors = (model.priors_ * [1, 1, 0]) / model.priors_[:2].sum() * 0.1 + [0, 0, 0.9]
    expected = GaussianNB(priors=priors.tolist()).fit(X, names).predict_proba(X)
    np.testing.assert_allclose(common, expected, atol=1e-12)
    assert model.empirical_risk(X, names) == pytest.approx((model.predict(X) != names).mean())
    with pytest.raises(ValueError, match="'z'"):
        model.empirical_risk(X[:1], ["z"])
    model.set_params(prior={"z": 0.5})
    with pytest.raises(ValueError, match="'z'"):
        model.predict(X)


def test_rows_of_high_risk_are_rejected(blobs):
    X, y = blobs
    model = DecisionClassifier(GaussianNB(), reject=0.2, reject_label="ask").fit(X, y)

    predicted = model.predict(X)

    rejected = predicted == "ask"
    assert 0 < rejected.sum() < len(y)
    assert (predicted[~rejected] == y[~rejected]).mean() > (
        GaussianNB().fit(X, y).predict(X) == y
    ).mean()
    assert model.expected_risk(X) <= 0.2


def test_decision_rule_is_saved_with_the_model(tmp_path):
    random = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = random.normal(size=(200, 2)) + y[:, None]
    path = tmp_path / "m.mercer"
    model = DecisionClassifier(GaussianNB(), cost=[[0, 1], [5, 0]], reject=0.4, prior={1: 0.3})

    model.fit(X, y).save(path)
    again = mercer.load(path)

    assert isinstance(again, DecisionClassifier)
    assert np.array_equal(again.predict(X), model.predict(X))
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-12)
    assert isinstance(GaussianNB.load(path), GaussianNB)
    again.set_params(reject=None)
    assert None not in again.predict(X)


def test_outlier_threshold_uses_stored_densities(tmp_path):
    random = np.random.default_rng(1)
    y = np.arange(500) % 2
    X = random.normal(size=(500, 2)) + y[:, None]
    model = GaussianNB().fit(X[:300], y[:300])

    with pytest.raises(ValueError, match="store_densities"):
        model.is_outlier(X)
    model.store_densities(X[300:]).save(tmp_path / "m.mercer")

    again = mercer.load(tmp_path / "m.mercer")
    assert again.is_outlier(X[300:], fraction=0.05).sum() == 10
    assert again.is_outlier([[30.0, -30.0]]).tolist() == [True]
