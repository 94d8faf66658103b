#!/usr/bin/env python3
"""Train one support vector machine of scikit-learn once and write its objective as JSON.

    machines.py --kind svr --x X.npy --y Y.npy --cost 1 --gamma 0.02 --epsilon 0.1 \
        --tolerance 1e-3 --json OUT.json

`seconds` and `cpu_seconds` (user and system, all threads) cover `fit` only. `objective` is the
minimised dual, computed here in double precision from the coefficients, since LIBSVM keeps
kernel values in single precision. `violation` is that of the optimality conditions at them.
"""

import argparse
import json
import os
import platform
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=["svc", "svr"], required=True)
    parser.add_argument("--x", required=True)
    parser.add_argument("--y", required=True)
    for name in ("cost", "gamma", "epsilon", "tolerance"):
        parser.add_argument("--" + name, type=float, required=True)
    parser.add_argument("--json", required=True)
    args = parser.parse_args()
    for pool in ("OMP", "OPENBLAS", "MKL"):
        os.environ[pool + "_NUM_THREADS"] = "1"

    import numpy as np
    import sklearn
    from sklearn.svm import SVC, SVR

    x, y = np.ascontiguousarray(np.load(args.x)), np.load(args.y)
    common = {"C": args.cost, "gamma": args.gamma, "tol": args.tolerance, "cache_size": 256}
    if args.kind == "svc":
        machine = SVC(**common)
    else:
        machine = SVR(epsilon=args.epsilon, **common)
    start, cpu = time.perf_counter(), time.process_time()
    machine.fit(x, y)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu

    target = np.where(y > 0, 1.0, -1.0) if args.kind == "svc" else y
    tube = 0.0 if args.kind == "svc" else args.epsilon
    beta = np.zeros(len(y))
    beta[machine.support_] = machine.dual_coef_[0]
    norms = (x * x).sum(axis=1)
    support = machine.support_
    error = target.copy()
    for first in range(0, len(y), 1000):
        rows = slice(first, first + 1000)
        distances = norms[rows, None] + norms[None, support] - 2.0 * x[rows] @ x[support].T
        error[rows] -= np.exp(-args.gamma * distances.clip(0.0)) @ beta[support]
    objective = -0.5 * beta @ (target + error) + tube * np.abs(beta).sum()
    low, high = -args.cost, args.cost
    if args.kind == "svc":
        low, high = np.where(target > 0, 0.0, low), np.where(target > 0, high, 0.0)
    up = error + np.where(beta >= 0, -tube, tube)
    down = error + np.where(beta > 0, -tube, tube)
    violation = up[beta < high].max() - down[beta > low].min()
    answer = {
        "peer": "scikit-learn",
        "version": sklearn.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "objective": float(objective),
        "violation": float(violation),
        "bias": float(machine.intercept_[0]),
        "n_support": int(len(support)),
    }
    with open(args.json, "w", encoding="utf-8") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
