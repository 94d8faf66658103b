#!/usr/bin/env python3
"""Run pyHSICLasso once and write what it selected, its time and memory as JSON.

    pyhsiclasso.py (--x X.npy --y Y.npy | --mat FILE.mat) --task classification
                   --k 50 --block 0 --permutations 1 --threads 2 --json OUT.json

`X` is n x d, `Y` holds n class codes or n real targets. `--block 0` is the full
(vanilla) estimator, for which pyHSICLasso ignores `--permutations`.

`seconds` covers the kernels and the non-negative LARS only; `process_seconds`
covers everything since the process was created, imports and loading included.
`features` is ordered as pyHSICLasso orders it, by final beta, largest first.
"""

import argparse
import contextlib
import json
import os
import platform
import resource
import sys
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--x", help="n x d float64 .npy")
    parser.add_argument("--y", help="n .npy")
    parser.add_argument("--mat", help="MATLAB file with X and Y, in place of --x and --y")
    parser.add_argument("--task", choices=("classification", "regression"), required=True)
    parser.add_argument("--k", type=int, required=True, help="features to select")
    parser.add_argument("--block", type=int, default=0, help="block size, 0 = full estimator")
    parser.add_argument("--permutations", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", required=True, help="output file")
    args = parser.parse_args()
    if not args.mat and not (args.x and args.y):
        parser.error("give --mat, or both --x and --y")
    return args


def limit_threads(threads):
    """Cap the BLAS and OpenMP pools; only works before NumPy is imported."""
    for pool in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR"):
        os.environ[pool + "_NUM_THREADS"] = str(threads)
    os.environ["LOKY_MAX_CPU_COUNT"] = str(threads)


def load(args):
    import numpy as np

    if args.mat:
        from scipy.io import loadmat

        data = loadmat(args.mat)
        x, y = data["X"], data["Y"]
    else:
        x, y = np.load(args.x), np.load(args.y)
    # pyHSICLasso refuses a column y; float64 keeps byte data out of its arithmetic.
    return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64).ravel()


def read_path(model):
    """Turn `model.path` (d x steps + 1) into entries, removals and lambdas.

    Column t holds beta at the t-th breakpoint, so a feature is active on
    segment t exactly if its value moved between columns t - 1 and t.  (A removed
    feature keeps a rounding residue, so non-zero does not mean active.)
    `model.lam` is returned untrimmed, 1 x 4d.
    """
    import numpy as np

    steps = model.path.shape[1] - 1
    order, removals, active = [], [], set()
    for t in range(1, steps + 1):
        now = set(np.flatnonzero(model.path[:, t] != model.path[:, t - 1]).tolist())
        order += sorted(now - set(order))
        removals += [{"step": t - 1, "feature": j} for j in sorted(active - now)]
        active = now
    return order, removals, model.lam[0, : steps + 1].tolist()


def process_age():
    """Seconds since this process was created (Linux)."""
    with open("/proc/self/stat") as stat:
        started = int(stat.read().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")


def peak_rss(who):
    return resource.getrusage(who).ru_maxrss * 1024


def main():
    args = arguments()
    limit_threads(args.threads)

    import importlib.metadata

    import joblib
    import numpy as np
    from joblib.externals.loky import get_reusable_executor
    from pyHSICLasso import HSICLasso

    x, y = load(args)
    model = HSICLasso()
    # Each joblib worker gets one BLAS thread, so that `threads` is the total.
    with contextlib.redirect_stdout(sys.stderr), joblib.parallel_config(
        backend="loky", inner_max_num_threads=1
    ):
        start = time.perf_counter()
        model.input(x, y)
        getattr(model, args.task)(args.k, B=args.block, M=args.permutations, n_jobs=args.threads)
        seconds = time.perf_counter() - start

    workers_rss = 0
    if args.threads > 1:  # workers count in RUSAGE_CHILDREN only once they are reaped
        get_reusable_executor().shutdown(wait=True)
        workers_rss = peak_rss(resource.RUSAGE_CHILDREN)
    order, removals, lambdas = read_path(model)
    result = {
        "peer": "pyHSICLasso",
        "version": importlib.metadata.version("pyHSICLasso"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "task": args.task,
        "n": x.shape[0],
        "d": x.shape[1],
        "k": args.k,
        "block": args.block,
        "permutations": args.permutations,
        "threads": args.threads,
        "seconds": seconds,
        "process_seconds": process_age(),
        "peak_rss_bytes": peak_rss(resource.RUSAGE_SELF),
        "worker_peak_rss_bytes": workers_rss,  # the largest single worker
        "features": [int(j) for j in model.get_index()],
        "betas": [float(b) for b in model.get_index_score()],
        "path_order": order,
        "removals": removals,
        "lambdas": lambdas,
    }
    with open(args.json, "w") as out:
        json.dump(result, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
