"""A pytest plugin that runs scikit-learn's own tests with the classes of Mercer.

scikit-learn's wheel contains its tests. The plugin calls ``mercer.patch_sklearn`` before they are imported, so that
``from sklearn.svm import SVC`` in a test is Mercer's class. A test is scored if it uses an object of Mercer, or a
class of the tested modules that Mercer does not have; a test of scikit-learn's internals is not scored.
"""

import functools
import inspect
import json
import sys
from pathlib import Path
from zlib import crc32

import pytest

import mercer
from mercer.patch import replaced_names

#: Classes that share a test module with ours and belong to another topic.
OTHER_TOPICS = {"LassoLarsCV", "SplineTransformer"}

#: What the running test used: "ours", or the names of scikit-learn's classes that Mercer lacks.
used: set[str] = set()


def pytest_addoption(parser):
    group = parser.getgroup("sklearn-suite")
    group.addoption(
        "--outcomes", type=Path, help="write the outcome of every scored test to this file"
    )
    group.addoption("--sample", type=int, default=1, help="run every n-th test only")


def pytest_configure(config):
    originals = {path: _theirs(path) for path in replaced_names()}
    mercer.patch_sklearn()
    _watch_ours(originals)
    config.stash[OUTCOMES] = {}


OUTCOMES = pytest.StashKey[dict]()


def _theirs(path):
    module, _, name = path.rpartition(".")
    return getattr(sys.modules[module], name)


def _watch_ours(originals):
    """Records every use of an instance of ours, and every call of a function of ours."""
    classes = {ours for ours in replaced_names().values() if isinstance(ours, type)}
    for cls in classes:
        _watch_class(cls)
    for path, ours in replaced_names().items():
        if not isinstance(ours, type):
            module, _, name = path.rpartition(".")
            for place in {sys.modules[module], sys.modules[originals[path].__module__]}:
                setattr(place, name, _watched_function(ours))
    _watch_missing(originals)


def _watch_class(cls):
    getattribute = cls.__getattribute__

    def watched(self, name):
        used.add("ours")
        return getattribute(self, name)

    cls.__getattribute__ = watched


def _watched_function(function):
    @functools.wraps(function)
    def watched(*args, **kwargs):
        used.add("ours")
        return function(*args, **kwargs)

    return watched


def _watch_missing(originals):
    """Records the use of a public class or function of the tested modules that Mercer lacks."""
    tested = {theirs.__module__ for theirs in originals.values()}
    for module_name in sorted(tested | {"sklearn.linear_model._coordinate_descent"}):
        module = sys.modules[module_name]
        package = sys.modules[module_name.rpartition(".")[0]]
        public = set(getattr(package, "__all__", [])) | set(getattr(module, "__all__", []))
        for name, found in list(vars(module).items()):
            if name not in public or getattr(found, "__module__", None) != module_name:
                continue
            if inspect.isclass(found) and name not in OTHER_TOPICS:
                _watch_constructor(found, name)


def _watch_constructor(cls, name):
    def watched(cls_, *args, **kwargs):
        used.add(f"missing {name}")
        return object.__new__(cls_)

    cls.__new__ = watched


def pytest_collection_modifyitems(config, items):
    every = config.option.sample
    if every > 1:
        items[:] = [item for item in items if crc32(item.nodeid.encode()) % every == 0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    used.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.user_properties.append(("used", sorted(used)))
    report.user_properties.append(("xfail", item.get_closest_marker("xfail") is not None))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    properties = dict(report.user_properties)
    if report.when == "teardown" or (report.when == "setup" and report.passed):
        return
    _config.stash[OUTCOMES][report.nodeid] = {
        "outcome": report.outcome,
        "used": properties["used"],
        "xfail": properties["xfail"],
        "error": _error(report),
    }


def _error(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    return None if crash is None else crash.message[:2000]


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    global _config
    _config = session.config


def pytest_sessionfinish(session):
    path = session.config.option.outcomes
    if path is not None and not hasattr(session.config, "workerinput"):
        path.write_text(json.dumps(session.config.stash[OUTCOMES], indent=0))
