"""Interrupts, threads, limits and progress."""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import fewest
from fewest import Boruta, FScore, HSICLasso, Selector


@pytest.fixture(scope="module")
def large():
    """Minutes of work for methods that train many times."""
    rng = np.random.default_rng(5)
    X = np.asfortranarray(rng.normal(size=(2000, 300)))
    return X, (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=2000) > 0).astype(int)


@pytest.mark.parametrize("method", ["sfs", "boruta", "hsic-lasso", "dw-rfe"])
def test_ctrl_c_stops_within_a_second(method, large):
    X, y = large
    pressed = []

    def press():
        pressed.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            Selector(method, k=100, **({"rounds": 10_000} if method == "boruta" else {})).fit(X, y)
        # Of all threads together: on a machine that does other things too, more time passes.
        assert time.process_time() - pressed[0] < 1.0 * (os.cpu_count() or 1)
    finally:
        timer.cancel()


def test_other_threads_of_python_go_on(large):
    X, y = large
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        Selector("sfs", k=50, time_limit=1.0).fit(X, y)
    took = time.monotonic() - start
    stop.set()
    thread.join()
    assert len(ticks) > 20 * took


# Nothing is decided before some thousand rounds.
ENDLESS = {"k": 10, "alpha": 1e-300, "trees": 10, "rounds": 100_000, "time_limit": 0.5}


def test_a_time_limit_leaves_the_best_so_far(large):
    X, y = large
    with pytest.warns(ConvergenceWarning, match="boruta: time-limit: the result is the best so far"):
        found = Selector("boruta", **ENDLESS).fit(X[:200, :10], y[:200])
    assert len(found.order_) <= 10 and found.status_ == "time-limit"
    with pytest.raises(TimeoutError, match="allow more time"):
        Selector("hsic-lasso", k=200, time_limit=1e-6).fit(X, y)
    with pytest.raises(ValueError, match="`time_limit` is -1, but must be a number of seconds above 0"):
        FScore(time_limit=-1.0).fit(X, y)


def test_progress_is_told_and_its_errors_raised(large):
    X, y = large[0][:200, :10], large[1][:200]
    boruta = Selector("boruta", **ENDLESS)
    told = []
    with pytest.warns(ConvergenceWarning):
        boruta.set_params(verbose=lambda *update: told.append(update)).fit(X, y)
    assert told and all(isinstance(stage, str) and done <= total for stage, done, total in told)

    def wrong(*update):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        boruta.set_params(verbose=wrong, time_limit=20.0).fit(X, y)


def test_threads_are_an_argument(two_classes):
    X, y = two_classes
    results = [HSICLasso(k=3, n_jobs=n_jobs).fit(X, y).scores_ for n_jobs in (1, 2, 5, -1, None)]
    for scores in results:
        np.testing.assert_array_equal(scores, results[0])
    for wrong in (0, 1.5, -2):
        with pytest.raises(ValueError, match="`n_jobs`"):
            HSICLasso(n_jobs=wrong).fit(X, y)


def test_seeds(two_classes):
    X, y = two_classes
    scores = [Selector("boruta", k=3, random_state=seed).fit(X, y).scores_ for seed in (1, 1, 2)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert scores[0].tolist() != scores[2].tolist()
    states = [np.random.RandomState(4), np.random.RandomState(4)]
    same = [Boruta(k=3, random_state=state).fit(X, y).scores_ for state in states]
    np.testing.assert_array_equal(*same)
    with pytest.raises(ValueError, match="random_state"):
        Boruta(random_state=-1).fit(X, y)


def test_a_process_that_forks(two_classes):
    import multiprocessing

    X, y = two_classes
    expected = FScore(k=2).fit(X, y).order_.tolist()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.starmap(_fit, [(X, y)] * 2)
    assert found == [expected] * 2


def _fit(X, y):
    return fewest.FScore(k=2).fit(X, y).order_.tolist()
