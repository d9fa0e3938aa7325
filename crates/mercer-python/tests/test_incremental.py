"""partial_fit, merge, forget, model files, explanations."""

import copy
import io
import json
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import mercer
from mercer.naive_bayes import GaussianNB


def same_model(one, other, rtol=1e-12):
    assert one.classes_.tolist() == other.classes_.tolist()
    np.testing.assert_allclose(one.theta_, other.theta_, rtol=rtol, atol=1e-12)
    np.testing.assert_allclose(one.var_, other.var_, rtol=rtol)
    np.testing.assert_allclose(one.class_count_, other.class_count_, rtol=rtol)


@pytest.mark.parametrize("cuts", [[1], [100, 200], [3, 7, 8, 150], list(range(10, 300, 10))])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_split_gives_the_same_model(blobs, rng, cuts, weighted):
    X, y = blobs
    weights = rng.uniform(0, 3, len(y)) if weighted else np.ones(len(y))
    model = GaussianNB()

    for part in np.split(np.arange(len(y)), cuts):
        model.partial_fit(X[part], y[part], classes=[0, 1, 2], sample_weight=weights[part])

    same_model(model, GaussianNB().fit(X, y, weights))
    assert model.certificate_["rows"] == len(y)


def test_the_first_call_needs_the_classes(blobs):
    X, y = blobs

    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        GaussianNB().partial_fit(X, y)


def test_classes_of_the_first_call_are_final(blobs):
    X, y = blobs
    model = GaussianNB().partial_fit(X[y == 0], y[y == 0], classes=[2, 0, 1])
    assert (model.predict(X) == 0).all()

    with pytest.raises(ValueError, match=r"\[5\] in y do not exist in the initial classes"):
        model.partial_fit(X[:2], [0, 5])
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(X[:2], [0, 1], classes=[0, 1])


def test_rows_of_one_class_are_a_model_of_the_given_classes(blobs):
    X, y = blobs
    order = np.argsort(y, kind="stable")
    model = GaussianNB()

    model.partial_fit(X[order[:40]], y[order[:40]], classes=[0, 1, 2])

    assert set(model.predict(X)) == {0}
    model = pickle.loads(pickle.dumps(model)).partial_fit(X[order[40:]], y[order[40:]])
    same_model(model, GaussianNB().fit(X, y))


def test_partial_fit_of_single_rows_equals_fit(blobs):
    X, y = blobs
    model = GaussianNB()

    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1, 2])

    same_model(model, GaussianNB().fit(X, y))


def test_statistics_of_too_few_rows_merge(blobs):
    X, y = blobs
    parts = [GaussianNB().partial_fit(X[y == c], y[y == c], classes=[0, 1, 2]) for c in range(3)]

    merged = parts[0].merge(parts[1]).merge(parts[2])

    same_model(merged, GaussianNB().fit(X, y))


def test_failed_partial_fit_leaves_the_model_unchanged(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)
    before = model.theta_.copy()

    with pytest.raises(ValueError, match="inf"):
        model.partial_fit(np.full((2, 4), np.inf), [0, 1])

    np.testing.assert_array_equal(model.theta_, before)


def test_new_parameters_apply_to_the_next_partial_fit(blobs):
    X, y = blobs
    model = GaussianNB().fit(X[:200], y[:200])

    model.set_params(var_smoothing=0.5, variance="sample").partial_fit(X[200:], y[200:])

    same_model(model, GaussianNB(var_smoothing=0.5, variance="sample").fit(X, y))


def test_merge_equals_fit_of_both(blobs):
    X, y = blobs
    left = GaussianNB().fit(X[y < 2], y[y < 2])
    right = GaussianNB().fit(X[y > 0], y[y > 0])
    both = np.r_[np.flatnonzero(y < 2), np.flatnonzero(y > 0)]

    merged = left.merge(right)

    same_model(merged, GaussianNB().fit(X[both], y[both]))
    assert left.classes_.tolist() == [0, 1]
    assert merged.certificate_["rows"] == len(both)


def test_merge_needs_equal_parameters_and_columns(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)

    with pytest.raises(ValueError, match="parameters differ"):
        model.merge(GaussianNB(var_smoothing=0.1).fit(X, y))
    with pytest.raises(ValueError, match="columns differ"):
        model.merge(GaussianNB().fit(X[:, :2], y))


def test_forget_removes_rows(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)

    model.forget(X[:50], y[:50])

    same_model(model, GaussianNB().fit(X[50:], y[50:]), rtol=1e-9)
    with pytest.raises(ValueError, match="cannot forget"):
        model.forget(np.repeat(X, 2, axis=0), np.repeat(y, 2))


@pytest.mark.parametrize(
    "copied",
    [
        lambda m: pickle.loads(pickle.dumps(m)),
        lambda m: pickle.loads(pickle.dumps(m, protocol=2)),
        copy.copy,
        copy.deepcopy,
        lambda m: joblib.load(joblib_file(m)),
    ],
    ids=["pickle", "pickle 2", "copy", "deepcopy", "joblib"],
)
def test_copies_predict_the_same_bits(blobs, copied):
    X, y = blobs
    names = np.array(["a", "b", "c"], dtype=object)[y]
    model = GaussianNB().fit(pd.DataFrame(X, columns=list("wxyz")), names)

    again = copied(model)

    frame = pd.DataFrame(X, columns=list("wxyz"))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.classes_.dtype == model.classes_.dtype
    assert again.get_params() == model.get_params()
    again.partial_fit(frame, names)
    np.testing.assert_array_equal(model.class_count_.sum(), 300)


def joblib_file(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("labels", [[1, 2, 3], ["a", "b", "c"], [0.0, 1.0, 2.0]])
def test_a_saved_model_is_loaded_whole(blobs, tmp_path, labels):
    X, y = blobs
    y = np.array(labels)[y]
    frame = pd.DataFrame(X, columns=list("wxyz"))
    model = GaussianNB(var_smoothing=1e-6, priors=[0.2, 0.3, 0.5]).fit(frame, y)
    model.save(tmp_path / "model.mercer")

    again = mercer.load(tmp_path / "model.mercer")

    assert type(again) is GaussianNB
    assert again.get_params() == model.get_params()
    assert again.classes_.dtype == model.classes_.dtype
    assert again.feature_names_in_.tolist() == list("wxyz")
    np.testing.assert_array_equal(again.predict_log_proba(frame), model.predict_log_proba(frame))
    same_model(again.forget(frame[:10], y[:10]), model.forget(frame[:10], y[:10]))
    assert type(GaussianNB.load(tmp_path / "model.mercer")) is GaussianNB


def test_boolean_labels_and_sparse_columns_in_a_model_file(tmp_path):
    X = sp.csr_array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [0.0, 4.0]])
    model = GaussianNB(var_smoothing=0.1).fit(X, [True, False, True, False])
    model.save(tmp_path / "model.mercer")

    again = mercer.load(tmp_path / "model.mercer")

    assert again.classes_.dtype == bool
    assert not hasattr(again, "feature_names_in_")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_same_rows_give_the_same_bytes(blobs):
    one, other = GaussianNB().fit(*blobs), GaussianNB().fit(*blobs)

    assert one._fitted.to_bytes() == other._fitted.to_bytes()


def test_damaged_files_are_refused(blobs, tmp_path):
    model = GaussianNB().fit(*blobs)
    content = bytearray(model._fitted.to_bytes())
    content[-1] ^= 1
    (tmp_path / "model.mercer").write_bytes(content)

    with pytest.raises(ValueError, match="checksum"):
        mercer.load(tmp_path / "model.mercer")
    with pytest.raises(OSError, match="nowhere"):
        mercer.load(tmp_path / "nowhere.mercer")


def test_outliers_have_a_low_density(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)

    density = model.log_density(X)

    np.testing.assert_allclose(
        density, np.logaddexp.reduce(model.predict_joint_log_proba(X), axis=1)
    )
    assert model.score_samples([[50, 50, 50, 50]])[0] < density.min()


def test_samples_follow_the_model(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)

    rows, classes = model.sample(20_000, random_state=3)

    again = GaussianNB().fit(rows, classes)
    np.testing.assert_allclose(again.theta_, model.theta_, atol=0.06)
    np.testing.assert_array_equal(model.sample(5, random_state=3)[0], model.sample(5, 3)[0])
    assert model.sample()[0].shape == (1, 4)
    model.sample(2, np.random.RandomState(1))


def test_explanation_adds_up_to_the_posterior(blobs):
    X, y = blobs
    model = GaussianNB().fit(pd.DataFrame(X, columns=list("wxyz")), np.array(["a", "b", "c"])[y])
    row = [0.5, np.nan, 1.0, -0.5]

    explanation = model.explain(row)

    expected = model.predict_proba(pd.DataFrame([row], columns=list("wxyz")))[0]
    np.testing.assert_allclose(explanation.posterior, expected, rtol=1e-12)
    assert explanation.winner == model.classes_[expected.argmax()]
    total = explanation.log_joint.max() - np.sort(explanation.log_joint)[-2]
    np.testing.assert_allclose(sum(odds for _, odds in explanation.ranked_contributions()), total)
    text = str(explanation)
    assert "N(0.5; mean" in text
    assert "missing, no factor" in text
    assert f"log-odds of {explanation.winner} against {explanation.runner_up}" in text
    assert json.loads(json.dumps(explanation.to_dict()))["factors"][0]["column"] == "w"
    assert repr(explanation).startswith("<Explanation: class")


def test_explain_accepts_one_row_of_any_type(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)
    expected = model.explain(X[0]).posterior

    for row in [X[:1], X[0].tolist(), sp.csr_array(X[:1]), X[0].astype(np.float32).astype(float)]:
        np.testing.assert_allclose(model.explain(row).posterior, expected, atol=1e-6)
    with pytest.raises(ValueError, match="one row, not 2"):
        model.explain(X[:2])
    with pytest.raises(ValueError, match="3 columns, expected 4"):
        model.explain(X[0, :3])


def test_unfitted_model_raises():
    model = GaussianNB()

    for ask in [model.predict, model.log_density, model.explain]:
        with pytest.raises(NotFittedError):
            ask([[1.0]])
    with pytest.raises(NotFittedError):
        model.save("nowhere.mercer")
    assert not hasattr(model, "theta_")


def test_fields_have_two_names(blobs):
    model = GaussianNB().fit(*blobs)

    np.testing.assert_array_equal(model.means_, model.theta_)
    assert {"means_", "theta_", "var_", "epsilon_"} <= set(dir(model))
    with pytest.raises(AttributeError, match="no attribute 'coef_'"):
        _ = model.coef_


def test_certificate_of_a_closed_form_fit(blobs):
    certificate = GaussianNB().fit(*blobs).certificate_

    assert certificate["status"] == "closed-form"
    assert certificate["rows"] == 300
    assert certificate["converged"]
    assert certificate["seconds"] > 0
    assert certificate["objective_name"] == "mean log likelihood"
