"""What users give by mistake is refused in one line that says what to do, or read as they meant it."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import fewest
from fewest import MRMR, FScore, Lasso


@pytest.mark.parametrize(("given", "told"), [
    ({"k": 10**30}, "`k` is 1000000000000000000000000000000, but must be at most the number of features"),
    ({"k": 2.0}, "`k` is 2.0, but must be a whole number"),
    ({"random_state": 2**70}, "`random_state` is 1180591620717411303424, but must be below"),
    ({"time_limit": "1s"}, "`time_limit` is 1s, but must be a number of seconds above 0"),
    ({"missing": None}, "`missing` is `None`, but must be one of error, drop-rows, mean, median"),
])
def test_common_parameters(given, told, two_classes):
    with pytest.raises(ValueError, match=told):
        MRMR(**given).fit(*two_classes)


def test_parameters_of_a_method(two_classes):
    X, y = two_classes
    for value in (object(), {}, [None]):
        with pytest.raises(TypeError, match="parameter `lambda` is .*, but must be a number, a word, or a list of them"):
            Lasso(lambda_=value).fit(X, y)
    with pytest.raises(TypeError, match=r"^MRMR\(\) takes from 1 to 2 positional arguments but 3 were given"):
        MRMR(3, 5)
    for number in (np.float64(0.1), np.array(0.1), np.float32(0.1).astype(float)):
        np.testing.assert_allclose(Lasso(lambda_=number).fit(X, y).scores_, Lasso(lambda_=0.1).fit(X, y).scores_)


def test_tables_that_are_none(two_classes):
    X, y = two_classes
    for column in (pd.Series(X[:, 0]), pl.Series(X[:, 0])):
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead: X is a Series"):
            FScore(k=1).fit(column, y)
    dates = np.full((len(y), 2), np.datetime64("2026-01-01"))
    with pytest.raises(TypeError, match="X has type datetime64.*: numbers and booleans can be features of an array"):
        FScore(k=1).fit(dates, y)
    text = np.where(X[:, :2] > 0, "yes", "no")
    for array in (text, text.astype(object)):
        with pytest.raises(ValueError, match="could not convert string to float: .*text can be features of a data frame"):
            FScore(k=1).fit(array, y)
    assert len(FScore(k=1).fit(pd.DataFrame(text), y).order_) == 1


def test_masked_cells_are_missing(two_classes):
    X, y = two_classes
    masked = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
    np.testing.assert_array_equal(FScore().fit(masked, y).scores_, FScore().fit(X, y).scores_)
    masked[3, 1] = np.ma.masked
    with pytest.raises(ValueError, match="feature `f1` .* is NaN in sample 3"):
        FScore(k=1).fit(masked, y)
    kept = np.delete(np.arange(len(y)), 3)
    np.testing.assert_array_equal(
        FScore(missing="drop-rows").fit(masked, y).scores_, FScore().fit(X[kept], y[kept]).scores_)


def test_objects_that_are_numbers_are_no_categories(two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X)
    expected = FScore().fit(frame, y).scores_
    for given in (frame.astype(object), frame.map(Decimal), frame.astype(object).set_axis(list("abcdefgh"), axis=1)):
        np.testing.assert_array_equal(FScore().fit(given, y).scores_, expected)
    flags = (frame > 0).astype(object)
    np.testing.assert_array_equal(FScore().fit(flags, y).scores_, FScore().fit(frame > 0, y).scores_)
    flags.iloc[2, 5] = None
    with pytest.raises(ValueError, match="feature `5` .* is NaN in sample 2"):
        FScore(k=1).fit(flags, y)


def test_targets(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="the target mixes int and str: write all classes as text"):
        FScore(k=1).fit(X, np.array([1] + ["a", "b"] * 19 + ["a"], dtype=object))
    with pytest.raises(ValueError, match="the target has type datetime64.*: numbers, booleans and text can be a target"):
        FScore(k=1).fit(X, pd.date_range("2026-01-01", periods=len(y)))
    with pytest.warns(UserWarning, match="40 classes in 40 samples: if it is a number, take a method for numbers"):
        fewest.Fisher(k=1).fit(X, np.arange(40))


def test_evaluations(two_classes):
    X, y = two_classes
    learner = LogisticRegression()
    expected = fewest.compare(["mrmr"], X, y, learner, k=2, cv=3)
    one = fewest.compare("mrmr", X, y, learner, k=2, cv=3)
    lists = fewest.evaluate("mrmr", X.tolist(), y.tolist(), learner, k=2, cv=3)
    assert one["method"].tolist() == ["mrmr"]
    assert one["scores"].tolist() == lists["scores"].tolist() == expected["scores"].tolist()
    for k in ("auto", 2.5, [1, "2"]):
        with pytest.raises(ValueError, match="k: whole numbers of features needed, found"):
            fewest.evaluate("mrmr", X, y, learner, k=k)
