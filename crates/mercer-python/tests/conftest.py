import numpy as np
import pytest

# The generated modules first: their hand-written parts, whose doctests are collected, belong to them.
import mercer.decomposition
import mercer.discriminant_analysis
import mercer.kernel_approximation
import mercer.linear_model
import mercer.neural_network
import mercer.preprocessing
import mercer.svm  # noqa: F401


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def blobs(rng):
    """Three overlapping classes in four columns."""
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 4)) + y[:, None] * [1.0, 0.5, 0.0, -1.0]
    return X, y
