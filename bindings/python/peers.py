"""Side by side with other packages, from the same NumPy arrays in memory, one thread each, in turns.

    pip install ./bindings/python[peers]
    python bindings/python/peers.py --write docs/benchmarks/python.md

`cargo xtask python --peers` runs it on the module that the tests use, which is not optimised: figures to publish need
the one that `pip install` builds. FEWEST_DATA names the folder with orlraws10P.mat, without which a table of its shape
is made; FEWEST_COMMAND the command, whose own time is then compared with that of `fit`. `--tiny` tries the script on
small tables. A package that is not installed is left out, and said so.
"""

import os

# One thread each; only before the packages are imported.
for pool in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON"):
    os.environ[f"{pool}_NUM_THREADS"] = "1"

import contextlib
import functools
import importlib.metadata
import io
import json
import platform
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
# What takes longer is run once more after the first run, which is counted then.
LONG = 30.0


def timed(work):
    """Wall seconds, CPU seconds of all threads, and the answer."""
    cpu, start = time.process_time(), time.perf_counter()
    answer = work()
    return time.perf_counter() - start, time.process_time() - cpu, answer


def faces():
    """orlraws10P: 100 pictures of 10304 pixels, of ten people."""
    if TINY:
        return made(40, 60, 4)
    file = Path(os.environ.get("FEWEST_DATA", ".")) / "orlraws10P.mat"
    if file.is_file():
        from scipy.io import loadmat

        table = loadmat(file)
        return np.asfortranarray(table["X"], dtype=np.float64), table["Y"].ravel().astype(int)
    print(f"{file}: not there: a table of its shape instead", file=sys.stderr)
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


def best(scores, k):
    return np.argsort(-np.asarray(scores), kind="stable")[:k].tolist()


def hsic_lasso(n_jobs=1):
    from pyHSICLasso import HSICLasso

    X, y = faces()
    rows = np.ascontiguousarray(X)

    def theirs():
        other = HSICLasso()
        other.input(rows, y)
        # It tells what it does.
        with contextlib.redirect_stdout(io.StringIO()):
            other.classification(10, B=0, n_jobs=n_jobs)
        return other.get_index()

    # They divide every Gram matrix by its norm.
    return X, lambda: fewest.HSICLasso(k=10, normalization="unit", n_jobs=n_jobs).fit(X, y).order_, theirs


def fcq():
    from mrmr import mrmr_classif

    X, y = table(500, 1000)
    frame, labels, k = pd.DataFrame(X), pd.Series(y), 4 if TINY else 20
    return X, lambda: fewest.FCQ(k=k, n_jobs=1).fit(X, y).order_, lambda: mrmr_classif(
        X=frame, y=labels, K=k, show_progress=False, n_jobs=1)


def mrmr():
    from fast_select import mRMR

    X, y = table(1000, 1000, 3)
    k = 4 if TINY else 20
    # Its features are discrete: five levels, of equal width.
    low, high = X.min(axis=0), X.max(axis=0)
    X = np.asfortranarray(np.clip(np.floor(5 * (X - low) / (high - low)), 0, 4))
    return X, lambda: fewest.MRMR(k=k, integers="levels", n_jobs=1).fit(X, y).order_, lambda: mRMR(
        n_features_to_select=k, method="MID", backend="cpu").fit(X, y).top_features_


def relieff_of(make):
    X, y = table(1000, 100)
    rows = np.ascontiguousarray(X)
    return X, lambda: fewest.ReliefF(k=5, neighbours=10, n_jobs=1).fit(X, y).order_, lambda: best(
        make().fit(rows, y).feature_importances_, 5)


def relieff_skrebate():
    from skrebate import ReliefF

    return relieff_of(lambda: ReliefF(n_features_to_select=5, n_neighbors=10, n_jobs=1))


def relieff_fast_select():
    from fast_select import ReliefF

    return relieff_of(lambda: ReliefF(n_features_to_select=5, n_neighbors=10, backend="cpu", n_jobs=1))


def f_score():
    from sklearn.feature_selection import f_classif

    X, y = table(10_000, 1000)
    return X, lambda: fewest.FScore(k=10, n_jobs=1).fit(X, y).order_, lambda: best(f_classif(X, y)[0], 10)


def mutual_information():
    from sklearn.feature_selection import mutual_info_classif

    X, y = table(2000, 100)
    return X, lambda: fewest.MIM(k=5, estimator="ksg", n_jobs=1).fit(X, y).order_, lambda: best(
        mutual_info_classif(X, y, random_state=0, n_jobs=1), 5)


def lasso_path(solve):
    """Ten penalties from the largest useful one to a tenth of it, one after the other."""
    X, _ = table(500, 5000)
    rng = np.random.default_rng(1)
    y = X[:, :5].sum(axis=1) + rng.normal(size=len(X))
    largest = np.abs(((X - X.mean(axis=0)) / X.std(axis=0)).T @ (y - y.mean())).max() / len(y)
    penalties = largest * np.geomspace(1, 0.1, 10)

    def theirs():
        standard = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))
        return np.flatnonzero(solve(standard, y - y.mean(), penalties)[:, -1])

    return X, lambda: fewest.Lasso(lambda_ratio=0.1, lambda_path=10, tolerance=1e-6, n_jobs=1).fit(X, y).order_, theirs


def lasso_celer():
    from celer import celer_path

    return lasso_path(lambda X, y, penalties: celer_path(X, y, pb="lasso", alphas=penalties, tol=1e-6)[1])


def lasso_skglm():
    from skglm import Lasso

    return lasso_path(lambda X, y, penalties: Lasso(fit_intercept=False, tol=1e-6).path(X, y, penalties)[1])


# Of these the wall time is compared: the other side has processes of its own, whose CPU time is not seen.
ALL_CORES = "HSIC Lasso, k = 10, all cores"

# What is computed, the package of the other side, and the pair.
PAIRS = [
    ("HSIC Lasso, k = 10", "pyHSICLasso", hsic_lasso),
    (ALL_CORES, "pyHSICLasso", functools.partial(hsic_lasso, os.cpu_count())),
    ("mRMR by F and correlation, k = 20", "mrmr_selection", fcq),
    ("mRMR by mutual information, k = 20", "fast-select", mrmr),
    ("ReliefF, 10 neighbours", "skrebate", relieff_skrebate),
    ("ReliefF, 10 neighbours", "fast-select", relieff_fast_select),
    ("F statistic", "scikit-learn", f_score),
    ("mutual information, 3 neighbours", "scikit-learn", mutual_information),
    ("lasso path, 10 penalties", "celer", lasso_celer),
    ("lasso path, 10 penalties", "skglm", lasso_skglm),
]


def smallest(runs):
    return min(wall for wall, _, _ in runs), min(cpu for _, cpu, _ in runs)


def compared(pair):
    """The smallest wall and CPU seconds of both, in turns, after a run of each that is not counted."""
    X, ours, theirs = pair()
    ours()
    # The first run compiles what it compiles at run time.
    first = timed(theirs)
    own, other = [], []
    for turn in range(RUNS):
        own.append(timed(ours))
        if turn == 0 or first[0] < LONG:
            other.append(timed(theirs))
    found, expected = set(map(int, own[0][2])), set(map(int, other[0][2]))
    return X.shape, smallest(own), smallest(other), f"{len(found & expected)} of {len(expected)}"


def row(what, package, pair):
    try:
        version = importlib.metadata.version(package)
        (n, d), own, other, same = compared(pair)
    except (ImportError, importlib.metadata.PackageNotFoundError) as error:
        return f"| {what} | {package} | | | | | | not measured: {error} |"
    cpu, clock = (("", 0) if what == ALL_CORES else (f"{other[1]:.4f}", 1))
    return (f"| {what} | {package} {version} | {n} x {d} | {own[0]:.4f} | {own[1]:.4f} | {other[0]:.4f} | "
            f"{cpu} | {other[clock] / own[clock]:.1f} | {same} |")


# Of each, what the module itself says that selecting took is what the command would say.
OVERHEADS = [
    ("hsic-lasso", {}, faces), ("mrmr", {}, faces), ("f-score", {}, faces), ("relieff", {}, faces),
    ("f-score", {}, lambda: table(10_000, 1000)), ("f-score", {}, lambda: table(1_000, 10)),
    ("variance", {}, lambda: table(100, 100_000)),
]


def own_time(work):
    """Runs it; the seconds that the module says it took itself."""
    from fewest import _selector

    select, seconds = _selector._fewest.select, []

    def watched(*given):
        found = select(*given)
        seconds.append(json.loads(found["document"])["seconds"])
        return found

    class Module:
        def __getattr__(self, name):
            return watched if name == "select" else getattr(fewest._fewest, name)

    _selector._fewest = Module()
    try:
        work()
    finally:
        _selector._fewest = fewest._fewest
    return seconds[0]


def overhead(method, given, data):
    """Of the run with the smallest overhead: seconds of `fit`, those of the method in it, and those above.

    The method runs on a thread of its own: the CPU time of the thread that calls `fit` is all above it.
    """
    X, y = data()
    lines = []
    for order, own in (("Fortran", X), ("C", np.ascontiguousarray(X))):
        selector = fewest.Selector(method, k=10, n_jobs=1, **given)
        runs = []
        for _ in range(4 * RUNS):
            seconds, cpu = [], time.thread_time()
            wall, _, _ = timed(lambda: seconds.append(own_time(lambda: selector.fit(own, y))))
            runs.append((wall - seconds[0], wall, seconds[0], time.thread_time() - cpu))
        above, wall, inside, _ = min(runs)
        cpu = min(run[3] for run in runs)
        lines.append(f"| `{method}` | {X.shape[0]} x {X.shape[1]}, {order} order | {1000 * wall:.2f} | "
                     f"{1000 * inside:.2f} | {1000 * above:.2f} | {above / inside:.1%} | {1000 * cpu:.2f} |")
    return lines


def beside_the_command(command, method):
    """The smallest seconds of `fit`, and those that the command says it takes itself, in turns on one table."""
    X, y = faces()
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder) / "table.csv", Path(folder) / "answer.json"
        pd.DataFrame(X).add_prefix("f").assign(target=y).to_csv(file, index=False)
        arguments = [command, "select", file, "-m", method, "-k", "10", "--threads", "1", "--json", answer, "--quiet"]
        own, fit = [], []
        for _ in range(2 * RUNS):
            subprocess.run(list(map(str, arguments)), check=True, capture_output=True)
            own.append(json.loads(answer.read_text())["seconds"])
            fit.append(timed(lambda: fewest.Selector(method, k=10, n_jobs=1).fit(X, y))[0])
    own, fit = min(own), min(fit)
    return (f"| `{method}` | {X.shape[0]} x {X.shape[1]} | {1000 * fit:.2f} | {1000 * own:.2f} | "
            f"{1000 * (fit - own):.2f} | {fit / own - 1:.1%} |")


def machine():
    cpu = "unknown"
    if (info := Path("/proc/cpuinfo")).is_file():
        models = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        cpu = models[0] if models else cpu
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return [
        f"- date: `{time.strftime('%Y-%m-%d')}`",
        "- command: `python bindings/python/peers.py`, with the module that `pip install` builds",
        f"- fewest: `{fewest.__version__}`, Python `{platform.python_version()}`, NumPy `{np.__version__}`",
        f"- cpu: `{cpu}`, cores: `{os.cpu_count()}`, load before: `{load}`",
    ]


def page():
    """The lines of the page, each as soon as it is known."""
    about = machine()
    yield "# Python, beside other packages\n"
    yield (f"From the same NumPy arrays in memory, one thread each but where it says all cores, in turns in one "
           f"process; the smallest of {RUNS} runs after one that is not counted (of what takes more than {LONG:.0f} s "
           "one run). *CPU* is user and system time of all threads: on a machine that others use too, it is the figure "
           "to compare, and the ratio is of it; with all cores it is of wall time, since the other side has processes "
           "of its own. *Same* is how many of the features that the other package selects ours selects too.\n")
    yield "| what | other package | table | fewest, s | CPU s | other, s | CPU s | ratio | same |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for what, package, pair in PAIRS:
        yield row(what, package, pair)
    yield "\n## What `fit` takes above the method itself\n"
    yield ("Checks of scikit-learn, the way into the library and the attributes. *Method* is what the same run says "
           "that selecting took, as the command says it; the run with the smallest difference. *CPU* is that of "
           "the thread that calls `fit`: the method has threads of its own, so that all of it is above the method, "
           "whatever else the machine does.\n")
    yield "| method | table | fit, ms | method, ms | above, ms | share | CPU above, ms |"
    yield "|---|---|---|---|---|---|---|"
    for given in OVERHEADS:
        yield from overhead(*given)
    if command := os.environ.get("FEWEST_COMMAND"):
        yield "\nBeside the command, in turns; it reads the same table from a file, which is not counted:\n"
        yield "| method | table | fit, ms | command, ms | above, ms | share |"
        yield "|---|---|---|---|---|---|"
        for method in ("hsic-lasso", "mrmr", "f-score", "relieff"):
            yield beside_the_command(command, method)
    yield "\n## Machine\n"
    yield from about


def main():
    warnings.simplefilter("ignore")
    lines = []
    for line in page():
        print(line, flush=True)
        lines.append(line)
    if "--write" in sys.argv[1:]:
        Path(sys.argv[sys.argv.index("--write") + 1]).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
