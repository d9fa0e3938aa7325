"""Accepted and refused rows, tables, labels and weights."""

import importlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from mercer import _mercer
from mercer.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB

NAMES = ["a", "b", "c", "d"]


def same_model(one, other, rtol=1e-12):
    np.testing.assert_allclose(one.theta_, other.theta_, rtol=rtol)
    np.testing.assert_allclose(one.var_, other.var_, rtol=rtol)


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X[::-1][::-1],
        lambda X: X.tolist(),
        lambda X: X.astype(">f8"),
        lambda X: np.rec.fromarrays(
            [np.zeros(len(X), "i1"), X], dtype=[("k", "i1"), ("x", "f8", 4)]
        )["x"],
    ],
    ids=[
        "fortran",
        "every other row",
        "every other column",
        "reversed",
        "lists",
        "big-endian",
        "packed",
    ],
)
def test_memory_layout_does_not_matter(blobs, change):
    X, y = blobs
    expected = GaussianNB().fit(X, y)

    model = GaussianNB().fit(change(X), y)

    np.testing.assert_array_equal(model.theta_, expected.theta_)
    np.testing.assert_array_equal(model.predict_proba(change(X)), expected.predict_proba(X))


def test_single_precision_is_widened(blobs):
    X, y = blobs
    single = X.astype(np.float32)

    model = GaussianNB().fit(single, y)

    same_model(model, GaussianNB().fit(single.astype(np.float64), y))
    assert model.theta_.dtype == np.float64


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_sparse_and_dense_agree(blobs, form, kind):
    X, y = blobs
    X = np.where(X > 0.5, X, 0)
    sparse = getattr(sp, f"{form}_{kind}")(X)
    dense = GaussianNB().fit(X, y)

    model = GaussianNB().fit(sparse, y)

    same_model(model, dense)
    np.testing.assert_allclose(model.predict_proba(sparse), dense.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(dense.predict_proba(sparse), dense.predict_proba(X), atol=1e-9)


def test_unsorted_duplicate_and_64_bit_indices():
    # Row 0 is [3, 0, 5]: column 2 first, column 0 in two parts.
    rows = sp.csr_array(
        (
            np.array([5.0, 1.0, 2.0, 7.0, 1.0, 4.0]),
            np.array([2, 0, 0, 1, 2, 0], np.int64),
            np.array([0, 3, 4, 5, 6], np.int64),
        ),
        shape=(4, 3),
    )
    y = [0, 0, 1, 1]

    model = GaussianNB(var_smoothing=0.1).fit(rows, y)

    same_model(model, GaussianNB(var_smoothing=0.1).fit(rows.toarray(), y))


def in_disorder(X):
    """The same numbers with falling columns, and every other cell stored as ``2v`` and ``-v``."""
    rows, columns = (place[::-1] for place in np.nonzero(X))
    cells, in_parts = X[rows, columns], (rows + columns) % 2 == 0
    rows = np.concatenate([rows, rows[in_parts]])
    columns = np.concatenate([columns, columns[in_parts]])
    cells = np.concatenate([np.where(in_parts, 2 * cells, cells), -cells[in_parts]])
    order = np.argsort(rows, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))])
    return sp.csr_array((cells[order], columns[order], offsets), shape=X.shape)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize(
    "place", [card["python"] for card in _mercer.catalog() if "sparse" in card["inputs"]]
)
def test_non_canonical_csr_gives_the_same_model(rng, place, kind):
    module, name = place.split(".")
    estimator = getattr(importlib.import_module(f"mercer.{module}"), name)
    y = rng.integers(0, 3, 300)
    X = rng.poisson(rng.gamma(0.5, 1.0, size=(3, 40))[y]).astype(float)
    mixed = in_disorder(X)
    mixed.indices, mixed.indptr = mixed.indices.astype(kind), mixed.indptr.astype(kind)
    assert not mixed.has_canonical_format

    # A solver is as exact as it is asked to be.
    exact = {"tol": 1e-12} if "svm" not in module and "tol" in estimator().get_params() else {}
    exact = exact if "max_iter" in estimator().get_params() else {}
    # Later, the last digit of a sum decides for one minimum of many.
    exact = {"max_iter": 5} if module == "neural_network" else exact
    # Rare counts do not vary within a class.
    exact = {"reg_param": 0.1} if name == "QuadraticDiscriminantAnalysis" else exact
    model, expected = (estimator(**exact).fit(rows, y) for rows in [mixed, sp.csr_array(X)])

    near = 1e-7 if exact else 1e-6 if name.startswith("Linear") else 1e-9
    numbers = next(m for m in ["predict_log_proba", "predict", "transform"] if hasattr(model, m))
    for rows in [mixed, sp.csr_array(X)]:
        found = getattr(model, numbers)(rows)
        found = found.toarray() if sp.issparse(found) else found
        np.testing.assert_allclose(found, getattr(expected, numbers)(X), rtol=near, atol=near)
    if numbers != "predict_log_proba":
        return
    np.testing.assert_array_equal(model.predict(mixed), expected.predict(X))
    if hasattr(model, "explain"):
        np.testing.assert_allclose(
            model.explain(mixed[[0]]).posterior, expected.explain(X[0]).posterior, atol=1e-9
        )


def test_duplicate_entries_are_added_before_the_check_of_counts():
    parts = (np.array([3.0, -1.0, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3]))
    rows = sp.csr_array(parts, shape=(2, 2))

    model = MultinomialNB().fit(rows, [0, 1])

    np.testing.assert_array_equal(model.feature_count_, [[2.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(BernoulliNB(binarize=2.5).fit(rows, [0, 1]).feature_count_, 0)
    rows.data[0] = 0.5
    with pytest.raises(ValueError, match=r"row 1, column 1: found -0\.5, expected a count"):
        MultinomialNB().fit(rows, [0, 1])


@pytest.mark.parametrize(
    ("indices", "offsets", "message"),
    [
        ([0, 1, 2], [0, 2, 3], "row 2 has a cell at column index 2"),
        ([0, -1, 1], [0, 2, 3], "row 1 has a cell at column index -1"),
        ([0, 1, 1], [0, 3, 2], "row 2 ends before it starts"),
        ([0, 1, 1], [0, 2, 4], "require 4 cells, found 3"),
        ([0, 1, 1], [-1, 2, 3], "a row offset is negative"),
        ([0, 1], [0, 2, 3], "2 column indices and 3 values"),
    ],
)
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_invalid_csr_arrays_are_refused(indices, offsets, message, kind):
    parts = (np.ones(3), np.array(indices, np.int32), np.array(offsets, kind), 2)

    request = MultinomialNB()._request(parts, np.array([0, 1], np.uint32), labels=[0, 1])

    with pytest.raises(ValueError, match=f"not a CSR matrix: .*{message}"):
        _mercer.fit(request)


def test_missing_values_are_skipped():
    X = np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, 6.0], [10.0, 0.0], [12.0, 2.0]])
    y = [0, 0, 0, 1, 1]

    model = GaussianNB(var_smoothing=0).fit(X, y)

    np.testing.assert_allclose(model.theta_, [[2, 5], [11, 1]])
    np.testing.assert_allclose(model.var_, [[1, 1], [1, 1]])
    np.testing.assert_allclose(model.predict_proba([[np.nan, np.nan]]), [[0.6, 0.4]])


TABLES = {
    "pandas": lambda frame: frame,
    "pandas with nullable columns": lambda frame: frame.convert_dtypes(),
    "polars": lambda frame: pl.DataFrame(frame.to_dict("list")),
    "polars lazy": lambda frame: pl.LazyFrame(frame.to_dict("list")),
    "arrow table": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "arrow batch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
}


@pytest.mark.parametrize("kind", TABLES)
def test_column_names_are_stored(blobs, kind, recwarn):
    X, y = blobs
    table = TABLES[kind](pd.DataFrame(X, columns=NAMES))

    model = GaussianNB().fit(table, y)

    assert model.feature_names_in_.tolist() == NAMES
    same_model(model, GaussianNB().fit(X, y))
    assert (model.predict(table) == GaussianNB().fit(X, y).predict(X)).all()
    assert not recwarn.list


@pytest.mark.parametrize("kind", TABLES)
def test_null_in_tables_is_a_missing_value(kind):
    frame = pd.DataFrame({"a": [1.0, None, 3.0, 8.0], "b": [1.0, 2.0, 0.0, None]})
    table = TABLES[kind](frame)

    model = GaussianNB().fit(table, [0, 0, 0, 1])

    np.testing.assert_allclose(model.theta_[0], [2, 1])


def test_nullable_integers_and_booleans_are_numeric():
    table = pa.table({"n": [1, None, 3, 8], "t": [True, None, False, True]})
    model = GaussianNB().fit(table, [0, 0, 0, 1])
    np.testing.assert_allclose(model.theta_[0], [2, 0.5])

    same_model(GaussianNB().fit(pl.from_arrow(table), [0, 0, 0, 1]), model)


@pytest.mark.parametrize("kind", ["polars", "arrow table", "pandas"])
def test_other_column_names_are_refused(blobs, kind):
    X, y = blobs
    frame = pd.DataFrame(X, columns=NAMES)
    model = GaussianNB().fit(TABLES[kind](frame), y)

    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(TABLES[kind](frame[["b", "a", "c", "d"]]))


@pytest.mark.parametrize("kind", ["polars", "arrow table"])
def test_string_column_is_named(kind):
    frame = pd.DataFrame({"a": [1.0, 2.0], "city": ["Ulm", "Bonn"]})

    with pytest.raises(ValueError, match=r"column 'city': .* is not numeric"):
        GaussianNB().fit(TABLES[kind](frame), [0, 1])


LABELS = {
    "int64": np.array([3, -7]),
    "int8": np.array([-128, 127], np.int8),
    "uint64": np.array([0, 2**40], np.uint64),
    "far apart": np.array([-(2**62), 2**62]),
    "bool": np.array([False, True]),
    "float": np.array([1.0, 2.0]),
    "str": np.array(["no", "yes"]),
    "object": np.array(["no", "yes"], dtype=object),
    "bytes": np.array([b"no", b"yes"]),
    "object ints": np.array([1, 2], dtype=object),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_have_their_type(kind, rng, tmp_path):
    classes = LABELS[kind]
    y = classes[rng.integers(0, 2, 100)]
    X = rng.normal(size=(100, 2)) + 9 * (y == classes[1])[:, None]

    model = GaussianNB().fit(X, y)

    assert model.classes_.dtype == y.dtype
    assert model.classes_.tolist() == sorted(classes.tolist())
    assert model.predict(X).dtype == y.dtype
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize(
    "y",
    [
        pl.Series(["b", "a", "b", "a"]),
        pa.array(["b", "a", "b", "a"]),
        pd.Series(["b", "a", "b", "a"]),
        pd.Categorical(["b", "a", "b", "a"]),
        pa.chunked_array([["b", "a"], ["b", "a"]]),
    ],
    ids=["polars", "arrow", "pandas", "categorical", "chunked"],
)
def test_labels_from_columns_of_tables(y):
    model = GaussianNB().fit([[1.0], [5.0], [1.2], [5.2]], y)

    assert model.predict([[1.1], [5.1]]).tolist() == ["b", "a"]


@pytest.mark.parametrize("kind", ["Int64", "boolean", "int32"])
def test_nullable_labels_have_their_numpy_type(kind):
    y = pd.Series([1, 0, 1, 0], dtype=kind)

    model = GaussianNB().fit([[1.0], [5.0], [1.2], [5.2]], y)

    assert model.classes_.dtype == {"Int64": np.int64, "boolean": bool, "int32": np.int32}[kind]


REFUSED = {
    "infinity": ([[1.0], [np.inf], [2.0]], [0, 1, 1], {}, "row 2, column 1: found inf"),
    "one class": ([[1.0], [2.0]], [1, 1], {}, "only one class"),
    "lengths": ([[1.0], [2.0]], [0, 1, 1], {}, "inconsistent numbers of samples"),
    "smoothing": ([[1.0], [2.0]], [0, 1], {"var_smoothing": -1.0}, "var_smoothing.*>= 0"),
    "smoothing nan": ([[1.0], [2.0]], [0, 1], {"var_smoothing": np.nan}, "var_smoothing"),
    "smoothing text": ([[1.0], [2.0]], [0, 1], {"var_smoothing": "big"}, "var_smoothing"),
    "prior sum": ([[1.0], [2.0]], [0, 1], {"priors": [0.5, 0.6]}, "priors.*sum 1"),
    "prior number": (
        [[1.0], [2.0]],
        [0, 1],
        {"priors": [0.5, 0.3, 0.2]},
        r"priors.*one prior per class \(2\)",
    ),
    "variance": ([[1.0], [2.0]], [0, 1], {"variance": "both"}, 'variance.*"population", "sample"'),
    "missing label": ([[1.0], [2.0]], np.array(["a", None]), {}, "missing"),
    "measured label": ([[1.0], [2.0]], [0.25, 1.5], {}, "continuous"),
    "large label": ([[1.0], [2.0]], np.array([1, 2**63], np.uint64), {}, "64-bit integer"),
    "missing nullable label": ([[1.0], [2.0]], pd.Series([1, None], dtype="Int64"), {}, "NaN"),
    "no spread": ([[1.0], [1.0]], [0, 1], {}, "zero variance"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_training_data_is_refused(case):
    X, y, params, message = REFUSED[case]

    with pytest.raises(ValueError, match=message):
        GaussianNB(**params).fit(X, y)


def test_mixed_labels_are_refused():
    with pytest.raises(TypeError, match="int, str"):
        GaussianNB().fit([[1.0], [2.0]], np.array([1, "a"], dtype=object))


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match="row 2: found sample weight -1"):
        GaussianNB().fit([[1.0], [2.0]], [0, 1], sample_weight=[1, -1])


def test_infinity_in_new_rows_is_refused(blobs):
    model = GaussianNB().fit(*blobs)

    with pytest.raises(ValueError, match="row 2, column 3: found -inf"):
        model.predict([[0, 0, 0, 0], [0, 0, -np.inf, 0]])
