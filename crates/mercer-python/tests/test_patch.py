"""Scripts written for scikit-learn run on Mercer without a change of their imports."""

import subprocess
import sys

import pytest
import sklearn.svm
from sklearn.model_selection import cross_val_score

import mercer
from mercer.patch import replaced_names


@pytest.fixture(autouse=True)
def restored():
    yield
    mercer.unpatch_sklearn()


def test_every_common_name_is_replaced_and_restored():
    theirs = sklearn.svm.SVC

    replaced = mercer.patch_sklearn()

    assert set(replaced) == set(replaced_names())
    assert len(replaced) > 50
    assert sklearn.svm.SVC is mercer.svm.SVC
    assert sklearn.svm._classes.SVC is mercer.svm.SVC
    mercer.unpatch_sklearn()
    assert sklearn.svm.SVC is theirs
    assert sklearn.svm._classes.SVC is theirs


def test_only_the_given_names_are_replaced():
    assert mercer.patch_sklearn(["LinearSVC", "naive_bayes.GaussianNB"]) == [
        "sklearn.svm.LinearSVC",
        "sklearn.naive_bayes.GaussianNB",
    ]

    assert sklearn.svm.LinearSVC is mercer.svm.LinearSVC
    assert sklearn.svm.SVC is not mercer.svm.SVC


def test_a_name_that_mercer_lacks_is_refused():
    with pytest.raises(ValueError, match="no 'RandomForestClassifier' to replace"):
        mercer.patch_sklearn(["RandomForestClassifier"])


def test_patching_twice_restores_the_originals():
    theirs = sklearn.svm.SVC
    mercer.patch_sklearn()
    mercer.patch_sklearn()

    mercer.unpatch_sklearn()

    assert sklearn.svm.SVC is theirs


def test_tools_of_scikit_learn_use_the_replacement(blobs):
    mercer.patch_sklearn(["SVC"])

    assert cross_val_score(sklearn.svm.SVC(), *blobs).mean() > 0.5


SCRIPT = """
import sys
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

X, y = load_iris(return_X_y=True)
model = GaussianNB().fit(X, y)
print(type(model).__module__, sys.argv[1:], model.score(X, y) > 0.9)
"""


def run_script(tmp_path, *options):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "mercer", *options, str(script), "--epochs", "3"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_script_runs_on_mercer_and_the_summary_names_what_was_replaced(tmp_path):
    finished = run_script(tmp_path)

    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == "mercer.naive_bayes ['--epochs', '3'] True\n"
    assert "sklearn.naive_bayes.GaussianNB  (1 instance)" in finished.stderr


def test_a_quiet_run_prints_no_summary(tmp_path):
    assert run_script(tmp_path, "--quiet").stderr == ""


def test_a_missing_script_is_an_error_with_a_hint():
    command = [sys.executable, "-m", "mercer", "no-such-script.py"]

    finished = subprocess.run(command, capture_output=True, text=True, check=False)

    assert finished.returncode == 2
    assert "there is no file 'no-such-script.py'" in finished.stderr
