"""Threads, forks, time limits, Ctrl-C."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer.exceptions import TimeLimitWarning
from mercer.kernel_ridge import KernelRidge
from mercer.linear_model import LogisticRegression, SGDClassifier
from mercer.naive_bayes import GaussianNB
from mercer.neural_network import MLPClassifier
from mercer.svm import SVC, LinearSVC, NuSVC

#: Rows of many gigabytes without their memory: overlapping windows of one vector.
ENDLESS = """
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from mercer.naive_bayes import GaussianNB
line = np.random.default_rng(0).normal(size=3_000_000)
X = sliding_window_view(line, 5000)
y = np.arange(len(X), dtype=np.int8) & 1
model = GaussianNB().fit(X[:500], y[:500])
print("ready", flush=True)
"""

#: Prints the time of the interrupt; the exit of the interpreter is not measured.
TIMED = """
import time
try:
    {work}
except KeyboardInterrupt:
    print(time.monotonic())
    raise
"""


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
@pytest.mark.parametrize(
    "work",
    [
        "GaussianNB().fit(X, y)",
        "model.predict(X)",
        "model.partial_fit(X, y)",
        "[GaussianNB().fit(X[:5000], y[:5000]) for _ in range(1000)]",
    ],
)
def test_ctrl_c_interrupts_within_a_second(work):
    child = subprocess.Popen(
        [sys.executable, "-c", ENDLESS + TIMED.format(work=work)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    assert child.poll() is None

    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    caught, message = child.communicate(timeout=30)

    assert float(caught) - sent < 1
    assert "KeyboardInterrupt" in message
    assert child.returncode != 0


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
def test_model_at_the_interrupt_is_stored():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(4000, 10)), random.integers(0, 2, 4000)
    model = SVC(C=1e6, tol=1e-9)
    # A test run in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt) as caught, mercer.time_limit(60):
        model.fit(X, y)
    signal.signal(signal.SIGINT, before)

    assert "The model fitted until the interrupt is stored" in caught.value.__notes__[0]
    assert model.certificate_["status"] == "interrupted"
    assert set(model.predict(X[:50])) <= {0, 1}


def endless(n_rows):
    line = np.random.default_rng(0).normal(size=n_rows + 499)
    X = np.lib.stride_tricks.sliding_window_view(line, 500)
    return X, np.arange(n_rows) & 1


def test_fit_at_the_time_limit_returns_the_model_of_the_rows_until_then():
    X, y = endless(4_000_000)

    with mercer.time_limit(0.2), pytest.warns(TimeLimitWarning, match="time limit reached"):
        model = GaussianNB().fit(X, y)

    rows = model.certificate_["rows"]
    assert model.certificate_["status"] == "time-limit"
    assert 0 < rows < len(X)
    np.testing.assert_allclose(
        model.theta_, GaussianNB().fit(X[:rows], y[:rows]).theta_, atol=1e-12
    )


def test_time_limit_of_zero_raises(blobs):
    with mercer.time_limit(0), pytest.raises(TimeoutError):
        GaussianNB().fit(*blobs)
    with pytest.raises(ValueError, match="at least 0"), mercer.time_limit(-1):
        pass


def test_one_and_two_threads_give_the_same_bits():
    X, y = endless(20_000)
    before = mercer.get_threads()
    models = []
    for n in [1, 2]:
        mercer.set_threads(n)
        assert mercer.get_threads() == n
        models.append(GaussianNB().fit(X, y))
    mercer.set_threads(before)

    one, two = models
    assert one._fitted.to_bytes() == two._fitted.to_bytes()
    np.testing.assert_array_equal(one.predict_log_proba(X), two.predict_log_proba(X))


def test_environment_variable_sets_the_number_of_threads():
    ask = [sys.executable, "-c", "import mercer; print(mercer.get_threads())"]
    run = lambda value: subprocess.run(  # noqa: E731
        ask, env={**os.environ, "MERCER_NUM_THREADS": value}, capture_output=True, text=True
    )

    assert run("3").stdout == "3\n"
    assert "ValueError: MERCER_NUM_THREADS is `many`" in run("many").stderr


def score_in_child(model, X, out):
    out.put(model.predict(X).tolist())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_process_has_its_own_threads(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)
    fork = multiprocessing.get_context("fork")
    out = fork.Queue()

    child = fork.Process(target=score_in_child, args=(model, X, out))
    child.start()
    answer = out.get(timeout=20)
    child.join()

    assert answer == model.predict(X).tolist()


def test_python_threads_share_a_model(blobs):
    X, y = blobs
    model = GaussianNB().fit(X, y)
    expected = model.predict_proba(X)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: model.predict_proba(X), range(64)))

    for answer in answers:
        np.testing.assert_array_equal(answer, expected)


@pytest.mark.parametrize("n_rows", [2**62, 2**48])
def test_samples_larger_than_memory_are_refused(blobs, n_rows):
    model = GaussianNB().fit(*blobs)

    with pytest.raises(MemoryError, match="do not fit in memory"):
        model.sample(n_rows)


def test_predictions_in_blocks_are_in_order():
    X, y = endless(70_000)
    model = GaussianNB().fit(X[:5000], y[:5000])

    answers = model.predict_log_proba(X)

    np.testing.assert_array_equal(answers[40_000:], model.predict_log_proba(X[40_000:]))
    np.testing.assert_array_equal(model.predict(X), model.classes_[answers.argmax(axis=1)])


def test_infinite_value_in_a_later_block_is_named_by_its_row():
    X, y = endless(70_000)
    model = GaussianNB().fit(X[:5000], y[:5000])
    X = X.copy()
    X[60_000, 7] = np.inf

    for ask in [model.predict, model.log_density, lambda X: GaussianNB().fit(X, y)]:
        with pytest.raises(ValueError, match="row 60001, column 8: found inf"):
            ask(X)


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(max_iter=1),
        NuSVC(max_iter=1),
        LinearSVC(max_iter=1),
        LogisticRegression(max_iter=1),
        MLPClassifier(max_iter=2),
        SGDClassifier(max_iter=2, tol=1e-12, n_iter_no_change=5),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_fit_that_did_not_converge_warns(blobs, estimator):
    X, y = blobs

    with pytest.warns(ConvergenceWarning, match="NOT CONVERGED"):
        estimator.fit(X, y)

    assert estimator.certificate_["status"] == "iteration-limit"
    assert not estimator.certificate_["converged"]


def test_requested_epochs_of_a_stochastic_fit_do_not_warn(blobs):
    X, y = blobs

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SGDClassifier(max_iter=2, tol=None).fit(X, y)
        model.partial_fit(X, y)

    # Two epochs are not evidence of an optimum.
    assert model.certificate_["status"] == "stopping-rule"


def test_ill_conditioned_kernel_ridge_is_not_called_exact():
    # The squares of an offset of 1000 use up the digits of a polynomial kernel matrix.
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3)) + 1000
    y = X[:, 0] - 1000 + 0.1 * random.normal(size=60)
    model = KernelRidge(alpha=1e-3, kernel="poly", degree=2, gamma=1 / (3 * X.var()), coef0=1)

    with pytest.warns(ConvergenceWarning, match="ill-conditioned"):
        model.fit(X, y)
