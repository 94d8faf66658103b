#!/usr/bin/env python3
"""Eliminate features recursively with scikit-learn once and write the ranking as JSON.

    wrappers.py --peer svr-rfe --x X.npy --y Y.npy --threads 1 --json OUT.json

`X` is n x d and is standardised first, `Y` holds n numbers. `seconds` and `cpu_seconds` (user and
system, all threads) cover the elimination only.
"""

import argparse
import json
import os
import platform
import time

PEERS = ["svr-rfe"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", choices=PEERS, required=True)
    parser.add_argument("--x", required=True, help="n x d float64 .npy")
    parser.add_argument("--y", required=True, help="n .npy")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", required=True, help="output file")
    args = parser.parse_args()
    # Only works before the packages are imported.
    for pool in ("OMP", "OPENBLAS", "MKL"):
        os.environ[pool + "_NUM_THREADS"] = str(args.threads)

    import numpy as np
    import sklearn
    from sklearn.feature_selection import RFE
    from sklearn.svm import SVR

    x, y = np.load(args.x), np.load(args.y)
    x = np.ascontiguousarray((x - x.mean(axis=0)) / x.std(axis=0))
    method = RFE(SVR(kernel="linear"), n_features_to_select=1, step=1)
    cpu, start = time.process_time(), time.perf_counter()
    method.fit(x, y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    result = {
        "peer": "scikit-learn",
        "version": sklearn.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "features": [int(j) for j in np.argsort(method.ranking_, kind="stable")],
    }
    with open(args.json, "w") as out:
        json.dump(result, out)
        out.write("\n")


if __name__ == "__main__":
    main()
