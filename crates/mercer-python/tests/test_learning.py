"""Learning in parts, taking rows back, saving, explaining."""

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


def test_classes_come_as_they_are_seen(blobs):
    X, y = blobs
    early = y < 2
    model = GaussianNB().partial_fit(X[early], y[early])
    assert model.classes_.tolist() == [0, 1]

    model.partial_fit(X[~early], y[~early])

    same_model(model, GaussianNB().fit(X, y))


def test_classes_named_first_stay(blobs):
    X, y = blobs
    model = GaussianNB().partial_fit(X[y == 0], y[y == 0], classes=[2, 0, 1])
    assert (model.predict(X) == 0).all()

    with pytest.raises(ValueError, match=r"\[5\] in y do not exist in the initial classes"):
        model.partial_fit(X[:2], [0, 5])
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(X[:2], [0, 1], classes=[0, 1])


def test_rows_too_few_for_a_model_are_kept(blobs):
    X, y = blobs
    order = np.argsort(y, kind="stable")
    model = GaussianNB()

    model.partial_fit(X[order[:40]], y[order[:40]])

    with pytest.raises(ValueError, match="only one class"):
        model.predict(X)
    assert not hasattr(model, "theta_")
    with pytest.raises(ValueError, match="only one class"):
        model.save("nowhere.mercer")
    model = pickle.loads(pickle.dumps(model)).partial_fit(X[order[40:]], y[order[40:]])
    same_model(model, GaussianNB().fit(X, y))


def test_row_by_row_is_the_whole(blobs):
    X, y = blobs
    model = GaussianNB()

    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])

    same_model(model, GaussianNB().fit(X, y))


def test_models_in_waiting_merge(blobs):
    X, y = blobs
    parts = [GaussianNB().partial_fit(X[y == c], y[y == c]) for c in range(3)]

    merged = parts[0].merge(parts[1]).merge(parts[2])

    same_model(merged, GaussianNB().fit(X, y))


def test_a_refused_part_leaves_the_model_as_it_was(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)
    before = model.theta_.copy()

    with pytest.raises(ValueError, match="inf"):
        model.partial_fit(np.full((2, 4), np.inf), [0, 1])

    np.testing.assert_array_equal(model.theta_, before)


def test_new_parameters_take_hold_with_the_next_part(blobs):
    X, y = blobs
    model = GaussianNB().fit(X[:200], y[:200])

    model.set_params(var_smoothing=0.5, variance="sample").partial_fit(X[200:], y[200:])

    same_model(model, GaussianNB(var_smoothing=0.5, variance="sample").fit(X, y))


def test_merging_is_learning_both(blobs):
    X, y = blobs
    left = GaussianNB().fit(X[y < 2], y[y < 2])
    right = GaussianNB().fit(X[y > 0], y[y > 0])
    both = np.r_[np.flatnonzero(y < 2), np.flatnonzero(y > 0)]

    merged = left.merge(right)

    same_model(merged, GaussianNB().fit(X[both], y[both]))
    assert left.classes_.tolist() == [0, 1]
    assert merged.certificate_["rows"] == len(both)


def test_models_that_differ_do_not_merge(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)

    with pytest.raises(ValueError, match="parameters differ"):
        model.merge(GaussianNB(var_smoothing=0.1).fit(X, y))
    with pytest.raises(ValueError, match="columns differ"):
        model.merge(GaussianNB().fit(X[:, :2], y))


def test_forgetting_undoes_learning(blobs):
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


def test_truth_values_and_sparse_columns_survive_a_file(tmp_path):
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


def test_density_recognizes_strangers(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)

    density = model.log_density(X)

    np.testing.assert_allclose(
        density, np.logaddexp.reduce(model.predict_joint_log_proba(X), axis=1)
    )
    assert model.score_samples([[50, 50, 50, 50]])[0] < density.min()


def test_samples_come_from_the_model(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)

    rows, classes = model.sample(20_000, random_state=3)

    again = GaussianNB().fit(rows, classes)
    np.testing.assert_allclose(again.theta_, model.theta_, atol=0.06)
    np.testing.assert_array_equal(model.sample(5, random_state=3)[0], model.sample(5, 3)[0])
    assert model.sample()[0].shape == (1, 4)
    model.sample(2, np.random.RandomState(1))


def test_an_explanation_adds_up(blobs):
    X, y = blobs
    model = GaussianNB().fit(pd.DataFrame(X, columns=list("wxyz")), np.array(["a", "b", "c"])[y])
    row = [0.5, np.nan, 1.0, -0.5]

    told = model.explain(row)

    expected = model.predict_proba(pd.DataFrame([row], columns=list("wxyz")))[0]
    np.testing.assert_allclose(told.posterior, expected, rtol=1e-12)
    assert told.winner == model.classes_[expected.argmax()]
    total = told.log_joint.max() - np.sort(told.log_joint)[-2]
    np.testing.assert_allclose(sum(odds for _, odds in told.ranked_contributions()), total)
    text = str(told)
    assert "N(0.5; mean" in text
    assert "missing, no factor" in text
    assert f"log-odds of {told.winner} against {told.runner_up}" in text
    assert json.loads(json.dumps(told.to_dict()))["factors"][0]["column"] == "w"
    assert repr(told).startswith("<Explanation: class")


def test_one_row_in_any_form_can_be_explained(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)
    expected = model.explain(X[0]).posterior

    for row in [X[:1], X[0].tolist(), sp.csr_array(X[:1]), X[0].astype(np.float32).astype(float)]:
        np.testing.assert_allclose(model.explain(row).posterior, expected, atol=1e-6)
    with pytest.raises(ValueError, match="one row, not 2"):
        model.explain(X[:2])
    with pytest.raises(ValueError, match="3 columns where 4"):
        model.explain(X[0, :3])


def test_an_unfitted_model_says_so():
    model = GaussianNB()

    for ask in [model.predict, model.log_density, model.explain]:
        with pytest.raises(NotFittedError):
            ask([[1.0]])
    with pytest.raises(NotFittedError):
        model.save("nowhere.mercer")
    assert not hasattr(model, "theta_")


def test_fields_have_their_own_names_too(blobs):
    model = GaussianNB().fit(*blobs)

    np.testing.assert_array_equal(model.means_, model.theta_)
    assert {"means_", "theta_", "var_", "epsilon_"} <= set(dir(model))
    with pytest.raises(AttributeError, match="no attribute 'coef_'"):
        _ = model.coef_


def test_the_certificate_tells_how_it_ended(blobs):
    certificate = GaussianNB().fit(*blobs).certificate_

    assert certificate["status"] == "closed-form"
    assert certificate["rows"] == 300
    assert certificate["converged"]
    assert certificate["seconds"] > 0
    assert certificate["objective_name"] == "mean log likelihood"
