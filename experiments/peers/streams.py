#!/usr/bin/env python3
"""Give a table to a method of river, sample by sample, and write the time as JSON.

    streams.py --peer select-k-best --x X.npy --y Y.npy --k 10 --samples 20000 --json OUT.json

`X` is n x d, `Y` holds n numbers or class codes; the first so many samples are used. `seconds` and
`cpu_seconds` (user and system) cover `learn_one` (of covariance `update`) for every sample alone: samples are
dictionaries before.
"""

import argparse
import json
import platform
import time

PEERS = ["select-k-best", "variance-threshold", "logistic-l1", "covariance"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", choices=PEERS, required=True)
    parser.add_argument("--x", required=True, help="n x d float64 .npy")
    parser.add_argument("--y", required=True, help="n .npy")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--samples", type=int, required=True, help="how many samples are used")
    parser.add_argument("--json", required=True, help="output file")
    args = parser.parse_args()

    import numpy as np
    import river
    from river import covariance, feature_selection, linear_model, optim, stats

    x, y = np.load(args.x)[: args.samples], np.load(args.y)[: args.samples]
    samples = [dict(enumerate(row)) for row in x.tolist()]
    target = y.tolist()
    if args.peer == "logistic-l1":
        target = [value > 0 for value in target]
        method = linear_model.LogisticRegression(optim.SGD(0.2), l1=0.01)
    elif args.peer == "covariance":
        method = covariance.EmpiricalCovariance()
    elif args.peer == "variance-threshold":
        method = feature_selection.VarianceThreshold(threshold=0.5)
    else:
        method = feature_selection.SelectKBest(similarity=stats.PearsonCorr(), k=args.k)
    cpu, start = time.process_time(), time.perf_counter()
    if args.peer == "variance-threshold":
        for sample in samples:
            method.learn_one(sample)
    elif args.peer == "covariance":
        for sample in samples:
            method.update(sample)
    else:
        for sample, value in zip(samples, target):
            method.learn_one(sample, value)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    if args.peer == "logistic-l1":
        selected = sum(weight != 0 for weight in method.weights.values())
    elif args.peer == "covariance":
        selected = 0
    else:
        selected = len(method.transform_one(samples[-1]))
    result = {
        "peer": "river",
        "version": river.__version__,
        "python": platform.python_version(),
        "seconds": seconds,
        "cpu_seconds": cpu,
        "selected": selected,
    }
    with open(args.json, "w") as out:
        json.dump(result, out)
        out.write("\n")


if __name__ == "__main__":
    main()
