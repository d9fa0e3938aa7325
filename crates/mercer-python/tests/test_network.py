"""Bayesian networks: inference, learning, files."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer.naive_bayes import BayesNetworkClassifier, CategoricalNB, TreeAugmentedNB
from mercer.network import BayesianNetwork

NETWORKS = Path(__file__).resolve().parents[3] / "testdata" / "networks"


@pytest.fixture
def alarm():
    return BayesianNetwork.from_bif(NETWORKS / "earthquake.bif")


def test_the_burglar_alarm(alarm):
    calls = {"JohnCalls": "true", "MaryCalls": "true"}

    assert alarm.query("Burglary", calls)["true"] == pytest.approx(0.284171835364393, abs=1e-12)
    assert alarm.n_free_parameters == 10
    joint = alarm.query(["Burglary", "Earthquake"], calls)
    assert joint.shape == (2, 2)
    assert joint.sum() == pytest.approx(1.0)
    assert alarm.marginals(calls)["Burglary"] == pytest.approx(alarm.query("Burglary", calls))
    assert np.exp(alarm.log_evidence(calls)) == pytest.approx(0.00208410, abs=1e-8)


def test_explanation_and_separation(alarm):
    assert alarm.mpe({"Alarm": "true"})["JohnCalls"] == "true"
    assert alarm.d_separated("JohnCalls", "MaryCalls", ["Alarm"])
    assert not alarm.d_separated("JohnCalls", "MaryCalls")
    assert alarm.open_path("JohnCalls", "MaryCalls") == ["JohnCalls", "Alarm", "MaryCalls"]
    assert alarm.open_path("Burglary", "Earthquake") is None


def test_bif_pickle_and_drawing(alarm, tmp_path):
    alarm.to_bif(tmp_path / "a.bif")
    again = BayesianNetwork.from_bif(tmp_path / "a.bif")

    assert again.to_bif() == alarm.to_bif()
    assert pickle.loads(pickle.dumps(alarm)).to_bif() == alarm.to_bif()
    alarm.draw(tmp_path / "a.svg", {"Alarm": "true"})
    assert (tmp_path / "a.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("frame", [dict, pd.DataFrame])
def test_network_is_recovered_from_its_samples(alarm, frame):
    asia = BayesianNetwork.from_bif(NETWORKS / "asia.bif")
    rows = frame(asia.sample(20_000, seed=1))

    fitted = asia.fit(rows)
    learned = BayesianNetwork.learn(rows, "search")

    np.testing.assert_allclose(fitted.table("bronc"), asia.table("bronc"), atol=0.02)
    assert learned.search_certificate_["objective_name"] == "BIC"
    assert not learned.d_separated("smoke", "bronc")


def test_missing_values_are_handled_by_em(alarm):
    cancer = BayesianNetwork.from_bif(NETWORKS / "cancer.bif")
    rows = cancer.sample(2_000, seed=2)
    rows["Smoker"][::3] = [None] * len(rows["Smoker"][::3])

    fitted = cancer.fit(rows)

    assert fitted.table("Smoker")[0, 0] == pytest.approx(0.3, abs=0.05)
    assert all(b >= a - 1e-6 for a, b in zip(fitted.trace_, fitted.trace_[1:], strict=False))
    assert len(fitted.trace_) == fitted.certificate_["iterations"] > 1


def test_tree_augmented_naive_bayes_equals_its_network():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, size=(60, 4))
    y = rng.integers(0, 2, size=60)
    rows = {"y": y.tolist(), **{f"x{j}": x[:, j].tolist() for j in range(4)}}

    network = BayesianNetwork.learn(rows, "tan", target="y")
    model = TreeAugmentedNB(class_prior=network.table("y")[0].tolist()).fit(x, y)

    evidence = {f"x{j}": str(x[0, j]) for j in range(4)}
    expected = [network.query("y", evidence)[state] for state in ("0", "1")]
    np.testing.assert_allclose(model.predict_proba(x[:1])[0], expected, atol=1e-12)


def test_network_classifier_models_interactions():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 2000)
    first = rng.integers(0, 2, 2000)
    # The class depends on the interaction of both columns, and on neither of them alone.
    second = (first ^ y ^ (rng.random(2000) < 0.1)).astype(int)
    x = np.column_stack([first, second, rng.integers(0, 3, 2000)]).astype(float)

    model = BayesNetworkClassifier(augment=True).fit(x[:1500], y[:1500])
    naive = CategoricalNB().fit(x[:1500], y[:1500])

    assert model.score(x[1500:], y[1500:]) > 0.85 > naive.score(x[1500:], y[1500:])
    assert model.certificate_["objective_name"] == "BIC"
    missing = x[:5].copy()
    missing[:, 2] = np.nan
    assert np.isfinite(model.predict_log_proba(missing)).all()
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(x), model.predict_proba(x))
    assert "x1" in str(model.explain(x[0]))


def test_errors_name_variable_line_and_state(alarm):
    with pytest.raises(ValueError, match="unknown variable `Fire`"):
        alarm.query("Fire")
    with pytest.raises(ValueError, match="line 1"):
        BayesianNetwork.from_bif("nonsense {")
    with pytest.raises(ValueError, match="sums to"):
        BayesianNetwork({"a": ["0", "1"]}, {}, {"a": [0.5, 0.6]})
    with pytest.raises(ValueError, match="not a state"):
        alarm.fit({"Alarm": ["perhaps"]})
    with pytest.raises(ValueError, match="target"):
        BayesianNetwork.learn({"a": ["0", "1"]}, "tan")
