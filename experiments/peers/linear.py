#!/usr/bin/env python3
"""Solve a lasso with another package and write what it took as JSON.

    linear.py --peer celer --x X.npy --y Y.npy --ratio 0.01 --points 1 --threads 2 --json OUT.json

`X` is n x d, `Y` holds n numbers; both are standardised first, which is not timed. The problem is
1/(2n) |y - X w|^2 + lambda |w|_1 at `ratio` of the smallest lambda that selects nothing; with `--points` P, P
such penalties from the largest one down, evenly spaced in their logarithm and warm-started by the package.

The packages stop by criteria of their own. So the tolerance is made ten times smaller until the duality gap,
computed here and relative to the objective at zero, is at most 1e-9 at every penalty; `seconds` and
`cpu_seconds` (user and system, all threads) are those of the last of these fits alone. Everything was compiled
by a fit of a small problem before.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import time

PEERS = ["celer", "skglm"]
GAP = 1e-9


def fitter(peer):
    """A function of X, y, penalties and a tolerance that returns the coefficients, a column a penalty."""
    many = {"fit_intercept": False, "max_epochs": 1_000_000}
    if peer == "celer":
        from celer import Lasso, celer_path

        def fit(x, y, alphas, tol):
            if len(alphas) == 1:
                return Lasso(alphas[0], tol=tol, max_iter=1000, **many).fit(x, y).coef_[:, None]
            return celer_path(x, y, "lasso", alphas=alphas, tol=tol, max_iter=1000, max_epochs=1_000_000)[1]

    else:
        from skglm import Lasso

        def fit(x, y, alphas, tol):
            model = Lasso(alphas[0], tol=tol, max_iter=1000, **many)
            if len(alphas) == 1:
                return model.fit(x, y).coef_[:, None]
            return model.path(x, y, alphas)[1]

    return fit


def certificate(x, y, w, penalty):
    """Objective, and duality gap relative to the objective at zero."""
    import numpy as np

    n = len(y)
    support = np.flatnonzero(w)
    residual = y - x[:, support] @ w[support]
    correlations = x.T @ residual / n
    scale = min(1.0, penalty / np.abs(correlations).max())
    norm = penalty * np.abs(w).sum()
    square = 0.5 * (residual @ residual) / n
    gap = (1.0 - scale) ** 2 * square + norm - scale * (w @ correlations)
    return square + norm, gap / (0.5 * (y @ y) / n)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", choices=PEERS, required=True)
    parser.add_argument("--x", required=True, help="n x d float64 .npy")
    parser.add_argument("--y", required=True, help="n .npy")
    parser.add_argument("--ratio", type=float, required=True)
    parser.add_argument("--points", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", required=True, help="output file")
    args = parser.parse_args()
    # Only works before the packages are imported.
    for pool in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[pool + "_NUM_THREADS"] = str(args.threads)

    import warnings

    import numpy as np

    warnings.filterwarnings("ignore")
    x, y = np.load(args.x), np.load(args.y)
    deviation = x.std(axis=0)
    x = np.asfortranarray((x - x.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0))
    y = (y - y.mean()) / y.std()
    largest = np.abs(x.T @ y).max() / len(y)
    shares = np.linspace(0.0, 1.0, args.points) if args.points > 1 else np.ones(1)
    alphas = largest * args.ratio**shares

    fit = fitter(args.peer)
    random = np.random.default_rng(0)
    small = np.asfortranarray(random.normal(size=(50, 80)))
    fit(small, random.normal(size=50), np.array([0.1, 0.05])[: args.points], 1e-6)
    for digits in range(5, 14):
        cpu, start = time.process_time(), time.perf_counter()
        coefficients = fit(x, y, alphas, 10.0**-digits)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        found = [certificate(x, y, w, alpha) for w, alpha in zip(coefficients.T, alphas)]
        gap = max(gap for _, gap in found)
        if gap <= GAP:
            break
    result = {
        "peer": args.peer,
        "version": importlib.metadata.version(args.peer),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "objective": found[-1][0],
        "gap": gap,
        "features": [int(j) for j in np.flatnonzero(coefficients[:, -1])],
    }
    with open(args.json, "w") as out:
        json.dump(result, out)
        out.write("\n")


if __name__ == "__main__":
    main()
