"""`check_estimator` of scikit-learn on every class, with what is expected otherwise and why."""

import warnings

import numpy as np
import pytest
from conftest import CHECKED, needed
from sklearn.utils.estimator_checks import check_estimator

import fewest
from fewest import Selector
from fewest._catalogue import METHODS, TWO_CLASSES

_COST = "a weight is a factor of the cost of a sample: the ridge tau is that of one, and so is a sample's part in scales"
_WEIGHTS = {f"check_sample_weight_equivalence_on_{kind}_data": _COST for kind in ("dense", "sparse")}

# Checks that fail, by method, each with the reason.
EXPECTED = {
    "hsfs": {"check_fit2d_1feature": "projects onto two directions, of which one feature has none"},
    "nmmkl": _WEIGHTS,
    "nmmklr": _WEIGHTS,
}

# What is checked with other parameters than the defaults.
OTHERWISE = {
    # Forests of the default size would be most of the time of all tests.
    "boruta": {"trees": 10, "rounds": 20},
    "permutation-importance": {"trees": 10, "permutations": 5},
    # With the defaults `fit` needs the groups.
    **dict.fromkeys(
        ["group-lasso", "sparse-group-lasso", "overlapping-group-lasso", "tree-lasso"], {"groups": "correlation"}),
    **dict.fromkeys(["ogfs", "gfssf"], {"groups": "consecutive"}),
}

# The checks call `fit` with a table and a target alone, which is not enough for these.
NEED_MORE = [method for method in METHODS if needed(method, 3, 8)]


@pytest.mark.parametrize("method", [method for method in METHODS if method not in NEED_MORE or method in OTHERWISE])
def test_an_estimator_is_one_of_scikit_learn(method):
    expected = EXPECTED.get(method, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = getattr(fewest, METHODS[method]["class"])
        results = check_estimator(own(**OTHERWISE.get(method, {})), expected_failed_checks=expected, on_skip=None, on_fail=None)
    failed = [f"{result['check_name']}: {result['exception']!r}" for result in results if result["status"] == "failed"]
    assert not failed, "\n".join(failed)
    # What is expected to fail must fail: else the reason is no longer true.
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == expected.keys()
    passed = sum(result["status"] == "passed" for result in results)
    assert passed >= 40
    CHECKED.update({"classes": 1, "passed": passed, "exceptions": len(expected)})


def test_the_reasons_are_true(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="parameter `projections` is 2, but must be from 1"):
        fewest.HSFS(k=1).fit(X[:, :1], y)
    # Two copies of every sample leave scales as they are: without a ridge they are a weight of 2.
    weighted, copied = (
        fewest.NMMKL(k=2, tau=0).fit(X, y, sample_weight=np.full(len(y), 2.0)),
        fewest.NMMKL(k=2, tau=0).fit(np.vstack([X, X]), np.hstack([y, y])),
    )
    np.testing.assert_allclose(weighted.scores_, copied.scores_, rtol=1e-5)


@pytest.mark.parametrize("method", NEED_MORE)
def test_what_is_needed_is_told(method, two_classes):
    X, y = two_classes
    what = "views" if METHODS[method]["needs_views"] else "links between samples"
    told = f"a table without {what} is not supported by {method}"
    if "feature_groups" in needed(method, *X.shape):
        told = f"{method}: there is no feature_groups: give it to `fit`, or take groups="
    with pytest.raises(ValueError, match=told):
        Selector(method, k=2).fit(X, y)
    # One that arriving features have to convince may keep fewer.
    kept = len(Selector(method, k=2).fit(X, y, **needed(method, *X.shape)).order_)
    assert kept == 2 or (method == "gfssf" and kept == 1)


@pytest.mark.parametrize("method", sorted(method for method in METHODS if "classes" in METHODS[method]["targets"]))
def test_who_takes_two_classes_only(method, wine):
    X, y = wine
    fit = getattr(fewest, METHODS[method]["class"])(k=2).fit
    extra = needed(method, *X.shape)
    if method not in TWO_CLASSES:
        fit(X, y, **extra)
        return
    with pytest.raises(ValueError, match="two classes|target of 3 classes"):
        fit(X, y, **extra)
