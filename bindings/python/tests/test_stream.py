"""Samples that arrive in batches: the answer is that of `fewest stream`."""

import copy
import json
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from conftest import DATA
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import fewest
from fewest import OFS, AlphaInvesting, Correlation, FScore, Selector
from fewest._catalogue import METHODS

STREAMS = [method for method, entry in METHODS.items() if entry["arrives"] == "samples"]
# Sums over samples; ofs and fsds learn from one after the other, and hsic counts at the nodes of a grid.
SUMS = [method for method in STREAMS if method not in ("ofs", "fsds", "hsic")]


@pytest.fixture(scope="module")
def cancer():
    table = pd.read_csv(DATA / "wdbc.csv")
    return table.iloc[:, :-1], table["target"]


def fed(selector, X, y, sizes):
    """The selector after batches of these sizes, over and over."""
    start, turn = 0, 0
    while start < len(X):
        size = sizes[turn % len(sizes)]
        selector.partial_fit(X[start:start + size], y[start:start + size], classes=[0, 1] if start == 0 else None)
        start, turn = start + size, turn + 1
    return selector


@pytest.mark.filterwarnings("ignore:.*nothing is selected yet")
@pytest.mark.parametrize("method", STREAMS)
def test_batches_are_the_stream_of_the_command(method, command, tmp_path, cancer):
    X, y = cancer
    written = tmp_path / "answers.json"
    called = subprocess.run(
        [command, "stream", "wdbc.csv", "-m", method, "-k", "5", "--seed", "3", "--json", written, "--quiet"],
        cwd=DATA, capture_output=True, text=True, check=False)
    assert called.returncode == 0, called.stderr
    expected = json.loads(written.read_text().splitlines()[-1])
    for sizes in ([569], [1, 3, 200], [64]):
        found = fed(Selector(method, k=5, random_state=3), X, y, sizes)
        assert found.order_.tolist() == [feature["index"] for feature in expected["features"]], sizes
        assert found.scores_[found.order_].tolist() == [feature["score"] for feature in expected["features"]]
        assert found.status_ == expected["status"]
        assert found.transform(X).shape == (569, 5)


@pytest.mark.filterwarnings("ignore:.*nothing is selected yet")
@pytest.mark.parametrize("method", SUMS)
def test_sums_are_those_of_the_whole_table(method, cancer):
    X, y = cancer
    whole = Selector(method, k=5).fit(X, y)
    found = fed(Selector(method, k=5), X, y, [100])
    assert found.order_.tolist() == whole.order_.tolist()
    known = np.isfinite(found.scores_)
    assert known.sum() >= 29
    np.testing.assert_array_equal(found.scores_[known], whole.scores_[known])
    if whole.p_values_ is not None:
        np.testing.assert_array_equal(found.p_values_[known], whole.p_values_[known])
        np.testing.assert_array_equal(found.q_values_[found.order_], whole.q_values_[whole.order_])


@pytest.mark.parametrize("method", STREAMS)
def test_a_pickle_goes_on_with_the_same_bits(method, cancer):
    X, y = cancer
    expected = fed(Selector(method, k=4), X, y, [100])
    half = fed(Selector(method, k=4), X[:300], y[:300], [100])
    for other in (pickle.loads(pickle.dumps(half)), copy.deepcopy(half)):
        assert other.order_.tolist() == half.order_.tolist()
        for start in (300, 400, 500):
            other.partial_fit(X[start:start + 100], y[start:start + 100])
        np.testing.assert_array_equal(other.scores_, expected.scores_)
    # A clone knows nothing of it, and `fit` starts anew.
    assert not hasattr(clone(half), "order_")
    again = half.fit(X, y).partial_fit(X[:300], y[:300], classes=[0, 1])
    np.testing.assert_array_equal(again.scores_, fed(Selector(method, k=4), X[:300], y[:300], [300]).scores_)


def test_arrays_frames_and_real_targets(numbers):
    X, y = numbers
    whole = Correlation(k=2).fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    for table in (frame, np.asfortranarray(X), X.astype(np.float64)):
        found = Correlation(k=2)
        for rows in (slice(0, 20), slice(20, 50)):
            found.partial_fit(table[rows], y[rows])
        np.testing.assert_array_equal(found.scores_, whole.scores_)
    found = Correlation(k=2).partial_fit(frame[:30], y[:30])
    with pytest.raises(ValueError, match="feature names"):
        found.partial_fit(frame[30:].rename(columns={"a": "z"}), y[30:])
    with pytest.raises(ValueError, match="is none of the first batch"):
        Correlation().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="classes: with task=regression there are none"):
        Correlation(task="regression").partial_fit(X, y, classes=[0, 1])


def test_classes_are_known_from_the_first_batch(cancer):
    X, y = cancer
    named = np.where(y == 1, "malignant", "benign")
    found = FScore(k=3).partial_fit(X[:300], named[:300])
    assert found.partial_fit(X[300:], named[300:]).order_.tolist() == FScore(k=3).fit(X, y).order_.tolist()
    with pytest.raises(ValueError, match="class other is none of the first batch: give all to the first call"):
        found.partial_fit(X[:2], ["other", "benign"])
    with pytest.raises(ValueError, match="classes: those of the first call stay"):
        found.partial_fit(X, named, classes=["a", "b"])
    with pytest.raises(ValueError, match="requires y to be passed"):
        found.partial_fit(X)
    # An error leaves what came before as it was.
    before = found.scores_.copy()
    np.testing.assert_array_equal(found.partial_fit(X[:1], named[:1]).scores_.shape, before.shape)


def test_one_class_is_no_answer_yet(cancer):
    X, y = cancer
    sorted_rows = np.argsort(y, kind="stable")
    X, y = X.iloc[sorted_rows], y.iloc[sorted_rows]
    found = FScore(k=3)
    with pytest.warns(UserWarning, match="f-score: nothing is selected yet"):
        found.partial_fit(X[:200], y[:200], classes=[0, 1])
    with pytest.raises(NotFittedError):
        found.transform(X)
    assert found.partial_fit(X[200:], y[200:]).order_.tolist() == FScore(k=3).fit(X, y).order_.tolist()


@pytest.mark.filterwarnings("ignore:.*nothing is selected yet")
def test_missing_values(cancer):
    X, y = cancer[0].to_numpy().copy(), cancer[1].to_numpy()
    X[5, 3] = np.nan
    found = FScore(k=3).partial_fit(X[10:], y[10:])
    with pytest.raises(ValueError, match="row|sample"):
        found.partial_fit(X[:10], y[:10])
    kept = np.arange(len(X)) != 5
    dropping = fed(FScore(k=3, missing="drop-rows"), X, y, [5, 1, 100])
    np.testing.assert_array_equal(dropping.scores_, FScore(k=3).fit(X[kept], y[kept]).scores_)
    with pytest.raises(ValueError, match="missing=mean: what to fill in is known at the end only"):
        FScore(missing="mean").partial_fit(X, y)


def test_categories_stay_those_of_the_first_batch():
    frame = pd.DataFrame({"a": ["x", "y", "z"] * 20, "b": np.arange(60) % 7.0})
    y = np.arange(60) % 2
    found = fewest.Chi2(k=1).partial_fit(frame[:30], y[:30])
    found.partial_fit(frame[30:], y[30:])
    assert found.order_.tolist() == fewest.Chi2(k=1).fit(frame, y).order_.tolist()
    with pytest.raises(ValueError, match="columns with categories"):
        found.partial_fit(frame[:2], y[:2])


def test_who_cannot_says_so(cancer):
    X, y = cancer
    for selector in (Selector("mrmr"), fewest.HSICLasso(), AlphaInvesting()):
        assert not hasattr(selector, "partial_fit")
        with pytest.raises(AttributeError, match="partial_fit") as error:
            selector.partial_fit(X, y)
        assert "needs all samples at once: use `fit`, say by `window`" in str(error.value.__cause__ or error.value)
    assert hasattr(OFS(), "partial_fit") and hasattr(Selector("mim"), "partial_fit")
    with pytest.raises(ValueError, match="`k` is 99"):
        FScore(k=99).partial_fit(X, y)
    with pytest.raises(ValueError, match="samples of partial_fit are not kept: use `fit`"):
        FScore(k=3).partial_fit(X, y).report(X, y)


FORGETTING = {
    "window": (["f-score", "mrmr", "hsic-lasso"], {"window": 200}, ["--window", "200"]),
    "half_life": (["f-score", "variance"], {"half_life": 150}, ["--half-life", "150"]),
    "drift": (["f-score"], {"drift": True}, ["--drift"]),
}


@pytest.mark.filterwarnings("ignore:.*nothing is selected yet")
@pytest.mark.parametrize("how", FORGETTING)
def test_forgetting_is_that_of_the_command(how, command, tmp_path, cancer):
    X, y = cancer
    methods, given, options = FORGETTING[how]
    for method in methods:
        written = tmp_path / f"{method}.json"
        called = subprocess.run(
            [command, "stream", "wdbc.csv", "-m", method, "-k", "5", "--json", written, "--quiet", *options],
            cwd=DATA, capture_output=True, text=True, check=False)
        assert called.returncode == 0, called.stderr
        expected = json.loads(written.read_text().splitlines()[-1])
        for sizes in ([569], [100]):
            selector = Selector(method, k=5, **given)
            for part in (slice(0, 250), slice(250, None)):
                selector = pickle.loads(pickle.dumps(fed(selector, X[part], y[part], sizes)))
            assert selector.order_.tolist() == [feature["index"] for feature in expected["features"]], sizes
            assert selector.scores_[selector.order_].tolist() == [feature["score"] for feature in expected["features"]]


def test_a_window_is_the_table_of_the_last_samples(cancer):
    X, y = cancer
    for own in (fewest.MRMR, FScore):
        found, whole = fed(own(k=4, window=100), X, y, [64]), own(k=4).fit(X[-100:], y[-100:])
        np.testing.assert_array_equal(found.scores_, whole.scores_)
        # `fit` takes all samples.
        np.testing.assert_array_equal(own(k=4, window=100).fit(X, y).scores_, own(k=4).fit(X, y).scores_)


def test_a_change_is_an_alarm():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(6000, 12))
    y = np.where(np.arange(6000) < 3000, X[:, 2], X[:, 7]) + 0.3 * rng.normal(size=6000)
    found = Correlation(k=1, drift=True).partial_fit(X[:3000], y[:3000])
    assert found.drift_ is None and found.order_.tolist() == [2]
    for start in range(3000, 6000, 500):
        found.partial_fit(X[start:start + 500], y[start:start + 500])
    alarm = found.drift_
    assert found.order_.tolist() == [7] and alarm.left == [2] and alarm.entered == [7] and alarm.number == 1
    assert 2950 <= alarm.since <= 3100 and alarm.sample > 3000 and alarm.rank_correlation < 0.9
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).drift_.left, [2])


def test_what_cannot_be_forgotten_is_told(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="give one of them"):
        FScore(window=9, half_life=9).partial_fit(X, y)
    for name, value in (("window", 0), ("window", 1.5), ("half_life", 0), ("half_life", "week"), ("drift", 1)):
        with pytest.raises(ValueError, match=f"parameter `{name}` is {value}"):
            FScore(**{name: value}).partial_fit(X, y)
    with pytest.raises(ValueError, match="a weight of samples is not supported by ofs"):
        OFS(half_life=9).partial_fit(X, y)
    with pytest.raises(ValueError, match="f-score, correlation or variance"):
        fewest.Chi2(drift=True).partial_fit(X, y)
    with pytest.raises(ValueError, match="forgetting older samples is not supported by saola: features arrive"):
        fewest.SAOLA(window=9).partial_fit(X, y)
    with pytest.raises(ValueError, match="there is no feature_groups"):
        fewest.GroupLasso(window=9).partial_fit(X, y)
    # More samples do not help: no warning, but an error.
    with pytest.raises(ValueError, match="needs links or views"):
        fewest.MVFS(window=9).partial_fit(X, y)


def test_a_selection_of_a_window_can_be_stopped(cancer):
    X, y = cancer
    slow = fewest.Boruta(k=3, window=569, trees=5000, time_limit=0.2)
    with pytest.raises((TimeoutError, Warning)):
        slow.partial_fit(X, y)
        raise UserWarning
    assert slow.set_params(time_limit=None)._batches is not None
