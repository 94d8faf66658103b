"""Selection inside the folds, with learners of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fewest
from fewest import FScore, HSICLasso, Selector

LEARNER = make_pipeline(StandardScaler(), LogisticRegression())


def test_scores_are_those_of_a_pipeline(wine):
    X, y = wine
    folds = KFold(4, shuffle=True, random_state=1)
    found = fewest.compare(["mrmr", HSICLasso()], X, y, LEARNER, k=[2, 5], cv=folds)
    assert found["method"].tolist() == ["mrmr", "mrmr", "hsic-lasso", "hsic-lasso"]
    for row in found.itertuples():
        expected = cross_val_score(make_pipeline(Selector(row.method, k=row.k), LEARNER), X, y, cv=folds)
        np.testing.assert_allclose(row.scores, expected)
        assert row.mean == pytest.approx(expected.mean())
        assert row.standard_error == pytest.approx(expected.std(ddof=1) / 2)
        assert row.stability <= 1.0


def test_no_test_sample_is_seen():
    """Of noise, features selected from all samples would predict well."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2000)), np.arange(60) % 2
    found = fewest.evaluate("f-score", X, y, LogisticRegression(), k=10, cv=5)
    assert found["mean"].item() < 0.75
    leaking = cross_val_score(LogisticRegression(), FScore(k=10).fit_transform(X, y), y, cv=5).mean()
    assert leaking > 0.85


def test_a_real_target_and_frames(numbers):
    X, y = numbers
    frame = pd.DataFrame(X, columns=list("abcdef"))
    found = fewest.evaluate(Selector("hsic-lasso"), frame, y, KNeighborsRegressor(), k=[1, 2, 6], cv=5,
                            scoring="neg_mean_squared_error")
    assert found["k"].tolist() == [1, 2, 6] and (found["mean"] < 0).all()
    assert found["mean"].idxmax() == 1 and found["stability"][1] == 1.0


def test_what_is_wrong_is_told(wine):
    X, y = wine
    with pytest.raises(TypeError, match="is no selector: give the id of a method"):
        fewest.evaluate(LogisticRegression(), X, y, LEARNER)
    with pytest.raises(ValueError, match="numbers of features from 1 to 13 needed"):
        fewest.evaluate("mrmr", X, y, LEARNER, k=[2, 14])
    with pytest.raises(ValueError, match="two of the selectors are the same"):
        fewest.compare(["mrmr", "mrmr"], X, y, LEARNER)
