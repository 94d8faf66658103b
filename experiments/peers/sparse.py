#!/usr/bin/env python3
"""Solve a problem of sparse learning with another package and write what it took as JSON.

    sparse.py --problem rfs --x X.npy --y Y.npy --value 10 --threads 2 --json OUT.json

`X` is n x d and standardised first, which is not timed; `Y` holds n numbers or class codes. `--value` is

    dantzig      lambda as a share of the smallest that selects nothing, of |w|_1 where |X'(y - X w)| <= n lambda
    hinge        C of |w|_1 + C sum_i max(0, 1 - y_i (<w, x_i> + b)), y_i from the sign of Y
    best-subset  the number of features, of 1/(2n) |y - X w|^2
    rfs          gamma of sum_i |x_i W - Y_i| + gamma sum_j |W_j|, Y centred indicators of the classes
    udfs         gamma of tr(W' M W) + gamma sum_j |W_j|, and of the ridge in M; 5 clusters, 5 neighbours

dantzig and hinge are linear programs for HiGHS, as SciPy has it; best-subset is abess, rfs and udfs are
scikit-feature. `seconds` and `cpu_seconds` (user and system, all threads) are those of the call alone. The
objective is computed here, from the coefficients. `parameters` are those by which fewest solves the same problem.
"""

import argparse
import importlib.metadata
import json
import os
import time

CLUSTERS = NEIGHBOURS = 5


def lengths(w):
    return (w * w).sum(axis=1) ** 0.5


def dantzig(x, y, value, call):
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import bmat, csr_matrix, identity

    n, d = x.shape
    y = (y - y.mean()) / y.std()
    level = value * np.abs(x.T @ y).max() / n
    design, zero = csr_matrix(x), csr_matrix((d, 2 * d))
    equal = bmat([[design, -design, identity(n)]], format="csc")
    bound = bmat([[zero, design.T], [zero, -design.T]], format="csc")
    cost = np.append(np.ones(2 * d), np.zeros(n))
    limits = [(0, None)] * (2 * d) + [(None, None)] * n
    found = call(
        lambda: linprog(
            cost, A_ub=bound, b_ub=np.full(2 * d, n * level), A_eq=equal, b_eq=y, bounds=limits, method="highs"
        )
    )
    return found.fun, found.x[:d] - found.x[d : 2 * d], []


def hinge(x, y, value, call):
    import numpy as np
    from scipy.optimize import linprog

    n, d = x.shape
    signs = np.where(y > 0.0, 1.0, -1.0)
    design = signs[:, None] * x
    rows = -np.hstack([design, -design, signs[:, None], -signs[:, None], np.eye(n)])
    cost = np.concatenate([np.ones(2 * d), np.zeros(2), np.full(n, value)])
    found = call(lambda: linprog(cost, A_ub=rows, b_ub=-np.ones(n), method="highs"))
    return found.fun, found.x[:d] - found.x[d : 2 * d], []


def best_subset(x, y, value, call):
    import numpy as np
    from abess import LinearRegression

    y = (y - y.mean()) / y.std()
    model = LinearRegression(support_size=[int(value)], thread=int(os.environ["OMP_NUM_THREADS"]))
    w = call(lambda: model.fit(x, y).coef_)
    features = np.flatnonzero(w)
    residual = y - x[:, features] @ np.linalg.lstsq(x[:, features], y, rcond=None)[0]
    return 0.5 * (residual**2).mean(), w, []


def rfs(x, y, value, call):
    import numpy as np
    from skfeature.function.sparse_learning_based import RFS

    codes = np.unique(y, return_inverse=True)[1]
    table = np.eye(codes.max() + 1)[codes]
    table -= table.mean(axis=0)
    # It makes indicators of 0 and 1 itself; the same problem needs them centred.
    RFS.construct_label_matrix_pan = lambda _: table
    w = call(lambda: RFS.rfs(x, y, mode="raw", gamma=value))
    return lengths(x @ w - table).sum() + value * lengths(w).sum(), lengths(w), []


def udfs(x, y, value, call):
    import numpy as np
    from skfeature.function.sparse_learning_based import UDFS

    w = call(lambda: UDFS.udfs(x, mode="raw", gamma=value, n_clusters=CLUSTERS, k=NEIGHBOURS))
    n, d = x.shape
    squares = (x * x).sum(axis=1)
    nearest = np.argsort(squares[:, None] + squares - 2.0 * x @ x.T, axis=1)[:, : NEIGHBOURS + 1]
    centre = np.eye(NEIGHBOURS + 1) - 1.0 / (NEIGHBOURS + 1)
    between = np.zeros((n, n))
    for near in nearest:
        own = x[near].T @ centre
        inner = np.linalg.inv(own.T @ own + value * np.eye(NEIGHBOURS + 1))
        between[np.ix_(near, near)] += centre @ inner @ centre
    scatter = x.T @ between @ x
    objective = np.trace(w.T @ scatter @ w) + value * lengths(w).sum()
    return objective, lengths(w), [f"alpha_ratio={value * d / np.trace(scatter)!r}"]


PROBLEMS = {
    "dantzig": (dantzig, "scipy"),
    "hinge": (hinge, "scipy"),
    "best-subset": (best_subset, "abess"),
    "rfs": (rfs, "skfeature-chappers"),
    "udfs": (udfs, "skfeature-chappers"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", choices=list(PROBLEMS), required=True)
    parser.add_argument("--x", required=True, help="n x d float64 .npy")
    parser.add_argument("--y", required=True, help="n float64 .npy")
    parser.add_argument("--value", type=float, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", required=True, help="output file")
    args = parser.parse_args()
    # Only works before the packages are imported.
    for pool in ("OMP", "OPENBLAS", "MKL"):
        os.environ[pool + "_NUM_THREADS"] = str(args.threads)

    import warnings

    import numpy as np

    warnings.filterwarnings("ignore")
    x, y = np.load(args.x), np.load(args.y)
    deviation = x.std(axis=0)
    x = np.asfortranarray((x - x.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0))
    times = {}

    def call(work):
        cpu, start = time.process_time(), time.perf_counter()
        answer = work()
        times.update(seconds=time.perf_counter() - start, cpu_seconds=time.process_time() - cpu)
        return answer

    solve, package = PROBLEMS[args.problem]
    objective, weights, parameters = solve(x, y, args.value, call)
    result = {
        **times,
        "peer": f"{package} {importlib.metadata.version(package)}",
        "objective": float(objective),
        "parameters": parameters,
        "features": [int(j) for j in np.flatnonzero(np.abs(weights) > 1e-6 * np.abs(weights).max())],
    }
    with open(args.json, "w") as out:
        json.dump(result, out)
        out.write("\n")


if __name__ == "__main__":
    main()
