"""Random fits, pickles, batches, reports, errors and interrupts in one process: it must not crash, and not grow.

`cargo xtask python --soak` runs it, or `python soak.py [RUNS] [SEED]` with the package installed.
"""

import collections
import gc
import pickle
import signal
import sys
import threading
import time
import warnings

import numpy as np
from sklearn.base import clone

import fewest
from fewest._catalogue import METHODS

ACTIONS = ("fit", "pickle", "interrupt", "report", "batches", "error")


def resident():
    """The memory of this process in MB."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


def needed(method, n_samples, n_features):
    """What `fit` of a method cannot do without, besides a table and its target."""
    about = METHODS[method]
    if about["needs_views"]:
        return {"views": [0] * (n_features // 2) + [1] * (n_features - n_features // 2)}
    if any(p["group_word"] and p["group_word"] == p["default"] for p in about["parameters"]):
        return {"feature_groups": [j // 2 for j in range(n_features)]}
    # A chain of samples.
    return {"sample_graph": [(i, i + 1) for i in range(n_samples - 1)]} if method == "netfs" else {}


def table(rng):
    """A random table, with classes and with numbers to predict."""
    n, d = int(rng.integers(30, 80)), int(rng.integers(6, 24))
    X = rng.normal(size=(n, d)).astype(rng.choice([np.float32, np.float64]), order=rng.choice(["C", "F"]))
    numbers = X[:, 0] - 2.0 * X[:, 1] + 0.2 * rng.normal(size=n)
    return X, (numbers > np.median(numbers)).astype(int), numbers


def interrupted(work, after):
    """The seconds from Ctrl-C until it was raised; nothing where `work` was done before."""
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(after, press)
    took = None
    try:
        timer.start()
        work()
        timer.cancel()
        timer.join()
        # It may come while the timer is joined.
        time.sleep(0.001)
    except KeyboardInterrupt:
        took = time.perf_counter() - pressed[0]
    timer.join()
    return took


def once(rng, told):
    """One action of a method, by chance."""
    method, action = str(rng.choice(list(METHODS))), str(rng.choice(ACTIONS))
    X, classes, numbers = table(rng)
    entry = METHODS[method]
    y = classes if "classes" in entry["targets"] or not entry["supervised"] else numbers
    extra = needed(method, *X.shape)
    selector = getattr(fewest, entry["class"])(k=2, random_state=int(rng.integers(100)), n_jobs=int(rng.integers(1, 3)))
    if action == "batches" and entry["arrives"] != "samples":
        action = "pickle"
    told[action] += 1
    if action == "interrupt":
        took = interrupted(lambda: selector.fit(X, y, **extra), float(rng.uniform(0.0, 0.02)))
        if took is not None:
            told["were interrupted"] += 1
            told["longest"] = max(told["longest"], took)
    elif action == "error":
        try:
            clone(selector).set_params(k=X.shape[1] + 1).fit(X, y, **extra)
        except ValueError:
            return
        raise AssertionError(f"{method}: too large a k is no error")
    elif action == "batches":
        for rows in (slice(0, 10), slice(10, 11), slice(11, None)):
            selector.partial_fit(X[rows], y[rows], classes=[0, 1] if rows.start == 0 else None)
        pickle.loads(pickle.dumps(selector)).transform(X)
    else:
        selector.fit(X, y, **extra)
        if action == "pickle":
            again = pickle.loads(pickle.dumps(selector))
            np.testing.assert_array_equal(again.scores_, selector.scores_)
            np.testing.assert_array_equal(again.transform(X), selector.transform(X))
        elif action == "report":
            assert len(selector.report(X, y, **extra).html) > 1000


def soak(runs, seed=0, tell=lambda line: None):
    """Runs so many actions; returns what was done and the memory in MB after every tenth of them."""
    rng = np.random.default_rng(seed)
    told, memory = collections.Counter(longest=0.0), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for run in range(1, runs + 1):
            once(rng, told)
            if run % max(runs // 10, 1) == 0:
                gc.collect()
                memory.append(resident())
                tell(f"{run} runs: {memory[-1]:.1f} MB")
    return told, memory


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:3]]
    start = time.perf_counter()
    done, sizes = soak(*(given or [1000]), tell=lambda line: print(line, flush=True))
    longest = done.pop("longest")
    print(", ".join(f"{count} {name}" for name, count in sorted(done.items())))
    print(f"longest wait after Ctrl-C {longest:.3f} s; {time.perf_counter() - start:.0f} s in all")
