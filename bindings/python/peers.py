"""Side by side with other packages, from the same NumPy arrays, one thread each, in turns.

`cargo xtask python --peers [--tiny]` runs it on the module that the tests use; figures to publish need the wheel that
`pip install ./bindings/python` builds: `python peers.py`. FEWEST_DATA names the folder with orlraws10P.mat, without
which a table of its shape is made; FEWEST_COMMAND the command, whose own time is compared. A package that is not
installed is left out, and said so.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import fewest

TINY = "--tiny" in sys.argv[1:]
RUNS = 2 if TINY else 5


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def faces():
    """orlraws10P: 100 pictures of 10304 pixels, of ten people."""
    if TINY:
        return made(40, 60, 4)
    file = Path(os.environ.get("FEWEST_DATA", ".")) / "orlraws10P.mat"
    if file.is_file():
        from scipy.io import loadmat

        table = loadmat(file)
        return np.asfortranarray(table["X"], dtype=np.float64), table["Y"].ravel().astype(int)
    print(f"{file}: not there: a table of its shape instead")
    return made(100, 10_304, 10)


def made(n, d, classes):
    """A table of noise in which the first columns follow the class."""
    rng = np.random.default_rng(7)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, d))
    X[:, :10] += y[:, None] * rng.uniform(0.2, 1.0, size=10)
    return np.asfortranarray(X), y


def table(n, d, classes=2):
    return made(*((60, 12) if TINY else (n, d)), classes)


def hsic_lasso():
    from pyHSICLasso import HSICLasso

    X, y = faces()

    def theirs():
        other = HSICLasso()
        other.input(np.ascontiguousarray(X), y)
        other.classification(10, B=0, n_jobs=1)

    return X, lambda: fewest.HSICLasso(k=10, n_jobs=1).fit(X, y), theirs


def mrmr():
    from mrmr import mrmr_classif

    X, y = table(500, 1000)
    frame, labels = pd.DataFrame(X), pd.Series(y)
    return X, lambda: fewest.FCQ(k=20, n_jobs=1).fit(X, y), lambda: mrmr_classif(
        X=frame, y=labels, K=20 if not TINY else 4, show_progress=False, n_jobs=1)


def relieff():
    from skrebate import ReliefF

    X, y = table(1000, 100)
    other = np.ascontiguousarray(X)
    return X, lambda: fewest.ReliefF(k=5, neighbours=10, n_jobs=1).fit(X, y), lambda: ReliefF(
        n_features_to_select=5, n_neighbors=10, n_jobs=1).fit(other, y)


def f_score():
    from sklearn.feature_selection import f_classif

    X, y = table(10_000, 1000)
    return X, lambda: fewest.FScore(k=10, n_jobs=1).fit(X, y), lambda: f_classif(X, y)


def mutual_information():
    from sklearn.feature_selection import mutual_info_classif

    X, y = table(2000, 100)
    return X, lambda: fewest.MIM(k=10, estimator="ksg", n_jobs=1).fit(X, y), lambda: mutual_info_classif(
        X, y, random_state=0, n_jobs=1)


def lasso_problem():
    X, _ = table(500, 5000)
    rng = np.random.default_rng(1)
    y = X[:, :5].sum(axis=1) + rng.normal(size=len(X))
    standard = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))
    penalty = 0.1 * np.abs(standard.T @ (y - y.mean())).max() / len(y)
    return X, standard, y, penalty


def lasso_celer():
    from celer import Lasso

    X, standard, y, penalty = lasso_problem()
    return X, lambda: fewest.Lasso(lambda_ratio=0.1, n_jobs=1).fit(X, y), lambda: Lasso(
        alpha=penalty, tol=1e-9).fit(standard, y)


def lasso_skglm():
    from skglm import Lasso

    X, standard, y, penalty = lasso_problem()
    return X, lambda: fewest.Lasso(lambda_ratio=0.1, n_jobs=1).fit(X, y), lambda: Lasso(
        alpha=penalty, tol=1e-9).fit(standard, y)


PAIRS = {
    "HSIC Lasso, pyHSICLasso": hsic_lasso, "FCQ, mrmr_selection": mrmr, "ReliefF, skrebate": relieff,
    "F score, scikit-learn": f_score, "mutual information, scikit-learn": mutual_information,
    "lasso, celer": lasso_celer, "lasso, skglm": lasso_skglm,
}


def measured(pair):
    """Medians of both, in turns, after a run of each that is not counted."""
    X, ours, theirs = pair()
    ours(), theirs()
    times = [(seconds(ours), seconds(theirs)) for _ in range(RUNS)]
    return X.shape, *(statistics.median(column) for column in zip(*times))


def overhead(command):
    """Seconds of `fit` above those that the command says it takes itself, on the same table."""
    X, y = faces()
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder) / "table.csv", Path(folder) / "answer.json"
        frame = pd.DataFrame(X).add_prefix("f")
        frame.assign(target=y).to_csv(file, index=False)
        arguments = [command, "select", file, "-m", "hsic-lasso", "-k", "10", "--threads", "1", "--json", answer, "--quiet"]
        own, fit = [], []
        for _ in range(RUNS):
            subprocess.run(list(map(str, arguments)), check=True, capture_output=True)
            own.append(json.loads(answer.read_text())["seconds"])
            fit.append(seconds(lambda: fewest.HSICLasso(k=10, n_jobs=1).fit(X, y)))
    return statistics.median(own), statistics.median(fit)


def main():
    warnings.simplefilter("ignore")
    print(f"fewest {fewest.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores, "
          f"{time.strftime('%Y-%m-%d')}; medians of {RUNS} runs in turns")
    print("| what | table | fewest, s | other, s | ratio |\n|---|---|---|---|---|")
    for name, pair in PAIRS.items():
        try:
            (n, d), ours, theirs = measured(pair)
        except ImportError as error:
            print(f"| {name} | | | not measured: {error} | |")
            continue
        print(f"| {name} | {n} x {d} | {ours:.4f} | {theirs:.4f} | {theirs / ours:.1f} |", flush=True)
    if command := os.environ.get("FEWEST_COMMAND"):
        own, fit = overhead(command)
        print(f"overhead of fit over the command's own time: {1000 * (fit - own):.1f} ms, {fit / own - 1:.1%}")


if __name__ == "__main__":
    main()
