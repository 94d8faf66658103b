"""The largest memory that `fit` takes above an array that is there: for an array of 4 GB in Fortran order.

    python bindings/python/memory.py [--mb 4000] [METHOD …]

`tests/test_memory.py` runs it for arrays of 200 MB. Every method has a process of its own, in which the array is
made before the memory is looked at. Linux only, which tells the largest resident memory since it was last asked
to forget it.
"""

import argparse
import subprocess
import sys
from pathlib import Path

# A method of each kind: moments, levels, tests, correlations, paths of the lasso, kernels.
METHODS = ("variance", "f-score", "correlation", "mim", "mrmr", "fcq", "lasso", "hsic-lasso", "relieff")
STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def resident(what):
    """Megabytes (10⁶ bytes): `VmRSS` now, `VmHWM` at most."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) * 1024 / 1e6


def one(method, megabytes):
    """Prints the megabytes of the array, and those that are added at most."""
    import numpy as np

    import fewest

    n_samples = 1000 if method in ("relieff", "hsic-lasso") else 10_000
    n_features = int(megabytes * 1e6 / 8 / n_samples)
    X = np.empty((n_samples, n_features), order="F")
    rng = np.random.default_rng(1)
    y = np.arange(n_samples) % 2
    for j in range(n_features):
        X[:, j] = rng.standard_normal(n_samples)
        if j < 20:
            X[:, j] += y
    # What is there once: imports, threads, code.
    fewest.Selector(method, k=10).fit(X[:, :200].copy(order="F"), y)
    FORGET.write_text("5")
    before = resident("VmRSS")
    fewest.Selector(method, k=10).fit(X, y)
    print(f"{X.nbytes / 1e6:.1f} {resident('VmHWM') - before:.1f}")


def measured(method, megabytes):
    """Megabytes of the array, and those that `fit` added at most."""
    call = [sys.executable, __file__, "--mb", str(megabytes), "--one", method]
    done = subprocess.run(call, check=True, capture_output=True, text=True)
    array, added = done.stdout.split()
    return float(array), float(added)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("methods", nargs="*", metavar="METHOD", default=METHODS)
    parser.add_argument("--mb", type=float, default=4000, help="megabytes of the array")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one, given.mb)
        return
    print("| method | array, MB | added by `fit`, MB | share |\n|---|---|---|---|")
    for method in given.methods or METHODS:
        array, added = measured(method, given.mb)
        print(f"| `{method}` | {array:.0f} | {added:.0f} | {added / array:.1%} |", flush=True)


if __name__ == "__main__":
    main()
