"""`check_estimator` of scikit-learn on every class, with what is expected otherwise and why."""

import warnings

import numpy as np
import pytest
from conftest import needed
from sklearn.utils.estimator_checks import check_estimator

import fewest
from fewest._catalogue import METHODS, TWO_CLASSES

# Checks that fail, by method: each with the reason, and what `fit` then says.
EXPECTED = {
    "hsfs": {"check_fit2d_1feature": "projects onto two directions, of which one feature has none"},
}


def estimator(method):
    """The class with its defaults; where `fit` needs more than a table, one that finds it itself."""
    own = getattr(fewest, METHODS[method]["class"])
    if not needed(method, 3, 8):
        return own()

    def fit(self, X, y=None):
        shape = getattr(X, "shape", None) or np.shape(X)
        extra = needed(method, *shape) if len(shape) == 2 and shape[0] > 2 and shape[1] > 4 else {}
        if METHODS[method]["needs_views"] and len(shape) == 2:
            extra = {"views": [int(j >= shape[1] // 2) for j in range(shape[1])]}
        elif len(shape) == 2:
            extra = {"sample_graph": [(i, i + 1) for i in range(shape[0] - 1)]}
        return own.fit(self, X, y, **extra)

    return type(own.__name__, (own,), {"fit": fit, "__init__": own.__init__})()


@pytest.mark.parametrize("method", METHODS)
def test_an_estimator_is_one_of_scikit_learn(method):
    expected = EXPECTED.get(method, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator(method), expected_failed_checks=expected, on_skip=None, on_fail=None)
    failed = [f"{result['check_name']}: {result['exception']!r}" for result in results if result["status"] == "failed"]
    assert not failed, "\n".join(failed)
    # What is expected to fail must fail: else the reason is no longer true.
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == expected.keys()
    assert sum(result["status"] == "passed" for result in results) >= 40


def test_the_reasons_are_true(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="parameter `projections` is 2, but must be from 1"):
        fewest.HSFS(k=1).fit(X[:, :1], y)
    with pytest.raises(ValueError, match="a table without views is not supported by"):
        fewest.MVFS(k=1).fit(X)
    with pytest.raises(ValueError, match="a table without links between samples is not supported by netfs"):
        fewest.NetFS(k=1).fit(X)


@pytest.mark.parametrize("method", sorted(method for method in METHODS if "classes" in METHODS[method]["targets"]))
def test_who_takes_two_classes_only(method, wine):
    X, y = wine
    fit = getattr(fewest, METHODS[method]["class"])(k=2).fit
    extra = needed(method, *X.shape)
    if method not in TWO_CLASSES:
        fit(X, y, **extra)
        return
    with pytest.raises(ValueError, match="two classes|2 classes"):
        fit(X, y, **extra)
