#!/usr/bin/env python3
"""Run one filter of another package once and write what it selected as JSON.

    filters.py --peer fast-select-relieff --x X.npy --y Y.npy --k 50 --threads 2 --json OUT.json

`X` is n x d, `Y` holds n class codes. `seconds` and `cpu_seconds` (user and system, all
threads) cover the selection only: the package is imported, what it compiles at run time is
compiled on a small corner of the data, and the data are in the form it takes.
`scores` holds the score of every feature, where the package has them.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", choices=sorted(PEERS), required=True)
    parser.add_argument("--x", required=True, help="n x d float64 .npy")
    parser.add_argument("--y", required=True, help="n .npy")
    parser.add_argument("--k", type=int, required=True, help="features to select")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", required=True, help="output file")
    return parser.parse_args()


def limit_threads(threads):
    """Cap the thread pools; only works before the packages are imported."""
    for pool in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON"):
        os.environ[pool + "_NUM_THREADS"] = str(threads)
    os.environ["POLARS_MAX_THREADS"] = str(threads)


def best(scores, k):
    import numpy as np

    return np.argsort(-scores, kind="stable")[:k]


def fast_select(make):
    """The Numba programs of fast-select; `make(k, threads)` gives the estimator."""

    def prepare(x, y, k, threads):
        corner = x[:64, :64].copy(order="K")
        make(1, threads).fit(corner, y[:64])
        return lambda: make(k, threads).fit(x, y)

    return prepare


def fast_select_mrmr(k, threads):
    from fast_select import mRMR

    return mRMR(n_features_to_select=k, method="MID", backend="cpu")


def fast_select_relieff(k, threads):
    from fast_select import ReliefF

    return ReliefF(n_features_to_select=k, n_neighbors=10, backend="cpu", n_jobs=threads)


def fast_select_multisurf(k, threads):
    from fast_select import MultiSURF

    return MultiSURF(n_features_to_select=k, backend="cpu", n_jobs=threads)


def order_of(model, k):
    return model.top_features_, None


def scores_of(model, k):
    return best(model.feature_importances_, k), model.feature_importances_


def mrmrs(x, y, k, threads):
    import mrmrs
    import polars

    frame = polars.DataFrame({str(j): x[:, j] for j in range(x.shape[1])})
    target = polars.Series("y", y)
    return lambda: mrmrs.mrmr(frame, target, k, "classification")


def f_classif(order):
    def prepare(x, y, k, threads):
        import numpy as np
        from sklearn.feature_selection import f_classif

        x = np.asarray(x, order=order)
        return lambda: f_classif(x, y)

    return prepare


def names_of(features, k):
    return [int(feature.name) for feature in features], None


def statistics_of(answer, k):
    return best(answer[0], k), answer[0]


# What prepares the call, what reads its answer, and the package.
PEERS = {
    "fast-select-mrmr": (fast_select(fast_select_mrmr), order_of, "fast-select"),
    "fast-select-relieff": (fast_select(fast_select_relieff), scores_of, "fast-select"),
    "fast-select-multisurf": (fast_select(fast_select_multisurf), scores_of, "fast-select"),
    "mrmrs-fcq": (mrmrs, names_of, "mrmrs"),
    "scikit-learn-f-classif-rows": (f_classif("C"), statistics_of, "scikit-learn"),
    "scikit-learn-f-classif-columns": (f_classif("F"), statistics_of, "scikit-learn"),
}


def main():
    args = arguments()
    limit_threads(args.threads)

    import numpy as np

    x, y = np.load(args.x), np.load(args.y).astype(np.int64)
    prepare, read, package = PEERS[args.peer]
    call = prepare(x, y, args.k, args.threads)
    cpu, start = time.process_time(), time.perf_counter()
    answer = call()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    features, scores = read(answer, args.k)
    result = {
        "peer": package,
        "version": importlib.metadata.version(package),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "features": [int(j) for j in features],
        "scores": None if scores is None else [float(score) for score in scores],
    }
    with open(args.json, "w") as out:
        json.dump(result, out)
        out.write("\n")


if __name__ == "__main__":
    main()
