#!/usr/bin/env python3
"""Select features by model-X knockoffs with knockpy and write which ones as JSON.

    knockoffs.py --folder DIR --runs 200 --fdr 0.1 0.2 [--covariance SIGMA.npy] --json OUT.json

The data sets are `x-RUN.npy`, n x d, and `y-RUN.npy`, n numbers. Knockoffs are Gaussian, by `mvr`, with the
covariance of Ledoit and Wolf or the given one and a mean of 0; the statistic is the difference of the
coefficients of a cross-validated lasso. `selected` has for each run and each bound a list of features.
"""

import argparse
import importlib.metadata
import json
import os
import platform


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True, help="where the data sets are")
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--fdr", type=float, nargs="+", required=True, help="bounds")
    parser.add_argument("--covariance", help="d x d float64 .npy; without, it is estimated")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", required=True, help="output file")
    args = parser.parse_args()
    # Only works before the packages are imported.
    for pool in ("OMP", "OPENBLAS", "MKL"):
        os.environ[pool + "_NUM_THREADS"] = "1"

    import numpy as np
    from knockpy import KnockoffFilter

    sigma = None if args.covariance is None else np.load(args.covariance)
    mean = None if sigma is None else np.zeros(len(sigma))
    selected = []
    for run in range(args.runs):
        np.random.seed(args.seed + run)
        x, y = (np.load(os.path.join(args.folder, f"{name}-{run}.npy")) for name in "xy")
        method = KnockoffFilter(fstat="lasso", ksampler="gaussian", knockoff_kwargs={"method": "mvr"})
        method.forward(X=x, y=y, mu=mean, Sigma=sigma, fdr=args.fdr[0])
        chosen = (np.flatnonzero(method.make_selections(method.W, fdr)) for fdr in args.fdr)
        selected.append([[int(j) for j in features] for features in chosen])
    result = {
        "version": importlib.metadata.version("knockpy"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "selected": selected,
    }
    with open(args.json, "w") as out:
        json.dump(result, out)
        out.write("\n")


if __name__ == "__main__":
    main()
