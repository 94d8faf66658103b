#!/usr/bin/env python3
"""Solve a penalised linear model with another package and write what it took as JSON.

    linear.py --peer celer --problem lasso --x X.npy --y Y.npy --ratio 0.01 --points 1 --threads 2 --json OUT.json

`X` is n x d, `Y` holds n numbers, for `outputs` n x c; both are standardised first (for `logistic`, `Y` is -1
and 1 by its sign), which is not timed. The loss is 1/(2n) |Y - X W|^2, or for `logistic` the mean of
ln(1 + exp(-y X w)); no intercept. The penalty, at `ratio` of the smallest lambda that selects nothing, is

    lasso, logistic   lambda |w|_1
    outputs           lambda (sum of the lengths of the rows of W)
    group             lambda sum_g sqrt(m) |w_g|                                  groups of m columns in a row
    sparse-group      lambda [1/2 |w|_1 + 1/2 sum_g sqrt(m) |w_g|]

With `--points` P, P such penalties from the largest one down, evenly spaced in their logarithm and warm-started
by the package.

The packages stop by criteria of their own. So the tolerance is made ten times smaller until the duality gap,
computed here and relative to the objective at zero, is at most 1e-9 at every penalty, or until a fit takes more
than `--patience` seconds; `seconds` and `cpu_seconds` (user and system, all threads) are those of the last of
these fits alone. Everything was compiled by a fit of a small problem before.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import time

PEERS = ["celer", "skglm", "liblinear", "adelie", "scikit-learn"]
PROBLEMS = ["lasso", "logistic", "outputs", "group", "sparse-group"]
GAP = 1e-9
MANY = 1_000_000


def celer_fitter(problem, size):
    from celer import Lasso, LogisticRegression, celer_path

    def lasso(x, y, alphas, tol):
        if len(alphas) == 1:
            model = Lasso(alphas[0], tol=tol, max_iter=1000, fit_intercept=False, max_epochs=MANY)
            return model.fit(x, y).coef_[:, None]
        return celer_path(x, y, "lasso", alphas=alphas, tol=tol, max_iter=1000, max_epochs=MANY)[1]

    def logistic(x, y, alphas, tol):
        model = LogisticRegression(
            C=1.0 / (alphas[0] * len(y)), tol=tol, max_iter=1000, max_epochs=MANY, fit_intercept=False
        )
        return model.fit(x, y).coef_.T

    return {"lasso": lasso, "logistic": logistic}[problem]


def skglm_fitter(problem, size):
    import numpy as np
    import skglm

    def lasso(x, y, alphas, tol):
        model = skglm.Lasso(alphas[0], tol=tol, max_iter=1000, fit_intercept=False, max_epochs=MANY)
        if len(alphas) == 1:
            return model.fit(x, y).coef_[:, None]
        return model.path(x, y, alphas)[1]

    def logistic(x, y, alphas, tol):
        model = skglm.SparseLogisticRegression(
            alphas[0], tol=tol, max_iter=1000, fit_intercept=False, max_epochs=MANY
        )
        return model.fit(x, y).coef_.T

    def groups(l1_ratio):
        from skglm.datafits import QuadraticGroup
        from skglm.penalties import WeightedGroupL2, WeightedL1GroupL2
        from skglm.solvers import GroupBCD

        def fit(x, y, alphas, tol):
            d = x.shape[1]
            sizes = np.diff(np.append(np.arange(0, d, size), d))
            starts = np.append(0, np.cumsum(sizes)).astype(np.int32)
            indices = np.arange(d).astype(np.int32)
            weights = np.sqrt(sizes.astype(float)) * (1.0 - l1_ratio)
            if l1_ratio > 0.0:
                penalty = WeightedL1GroupL2(alphas[0], weights, np.full(d, l1_ratio), starts, indices)
            else:
                penalty = WeightedGroupL2(alphas[0], weights, starts, indices)
            solver = GroupBCD(max_iter=1000, max_epochs=MANY, tol=tol, fit_intercept=False)
            solver.ws_strategy = "fixpoint" if l1_ratio > 0.0 else "subdiff"
            return solver.solve(x, y, QuadraticGroup(starts, indices), penalty)[0][:, None]

        return fit

    fitters = {"lasso": lasso, "logistic": logistic, "group": groups(0.0), "sparse-group": groups(0.5)}
    return fitters[problem]


def liblinear_fitter(problem, size):
    from sklearn.linear_model import LogisticRegression

    def logistic(x, y, alphas, tol):
        # Of a wide dense table an iteration takes up to a second: with more of them a fit may take an hour.
        model = LogisticRegression(
            penalty="l1", solver="liblinear", C=1.0 / (alphas[0] * len(y)), tol=tol, max_iter=1000,
            fit_intercept=False, random_state=0,
        )
        return model.fit(x, y).coef_.T

    return {"logistic": logistic}[problem]


def adelie_fitter(problem, size):
    import adelie
    import numpy as np

    def group(x, y, alphas, tol):
        d = x.shape[1]
        starts = np.arange(0, d, size)
        sizes = np.diff(np.append(starts, d))
        matrix = adelie.matrix.dense(x, method="naive", n_threads=int(os.environ["OMP_NUM_THREADS"]))
        state = adelie.grpnet(
            matrix, adelie.glm.gaussian(y), groups=starts, penalty=np.sqrt(sizes.astype(float)), alpha=1.0,
            lmda_path=alphas, intercept=False, early_exit=False, tol=tol, max_iters=MANY, progress_bar=False,
            n_threads=int(os.environ["OMP_NUM_THREADS"]),
        )
        return np.asarray(state.betas.toarray()).T[:, -1:]

    return {"group": group}[problem]


def scikit_learn_fitter(problem, size):
    from sklearn.linear_model import MultiTaskLasso

    def outputs(x, y, alphas, tol):
        model = MultiTaskLasso(alphas[0], fit_intercept=False, max_iter=MANY, tol=tol)
        return model.fit(x, y).coef_.reshape(-1, 1, order="F")

    return {"outputs": outputs}[problem]


def fitter(peer, problem, size):
    """A function of X, Y, penalties and a tolerance: a column of coefficients a penalty, row by row of W."""
    fitters = {
        "celer": celer_fitter,
        "skglm": skglm_fitter,
        "liblinear": liblinear_fitter,
        "adelie": adelie_fitter,
        "scikit-learn": scikit_learn_fitter,
    }
    return fitters[peer](problem, size)


class Penalty:
    """|w|_1, or what the groups of `size` coefficients have beside a share `l1_ratio` of it."""

    def __init__(self, d, size, l1_ratio, has_weights):
        import numpy as np

        self.starts, self.l1_ratio = np.arange(0, d, max(size, 1)), l1_ratio
        sizes = np.diff(np.append(self.starts, d)).astype(float)
        self.weights = np.sqrt(sizes) if has_weights else np.ones(len(sizes))

    def norms(self, v):
        import numpy as np

        return np.sqrt(np.add.reduceat(v * v, self.starts))

    def value(self, w):
        import numpy as np

        return self.l1_ratio * np.abs(w).sum() + (1.0 - self.l1_ratio) * (self.weights @ self.norms(w))

    def dual_norm(self, v):
        """The smallest lambda for which zero minimises lambda times this minus <v, w>."""
        import numpy as np

        if self.l1_ratio == 1.0:
            return np.abs(v).max()
        low, high = 0.0, (self.norms(v) / ((1.0 - self.l1_ratio) * self.weights)).max()
        for _ in range(200 if self.l1_ratio > 0.0 else 0):
            middle = 0.5 * (low + high)
            left = np.maximum(np.abs(v) - middle * self.l1_ratio, 0.0)
            if (self.norms(left) <= middle * (1.0 - self.l1_ratio) * self.weights).all():
                high = middle
            else:
                low = middle
        return high


def certificate(x, y, w, level, penalty, is_logistic):
    """Objective, and duality gap relative to the objective at zero."""
    import numpy as np

    n = len(y)
    table = w.reshape(x.shape[1], -1)
    support = np.flatnonzero(np.abs(table).sum(axis=1))
    fitted = (x[:, support] @ table[support]).reshape(y.shape)
    norm = level * penalty.value(w)
    if is_logistic:
        dual = y / (1.0 + np.exp(y * fitted)) / n
        loss = np.logaddexp(0.0, -y * fitted).mean()
        at_zero = np.log(2.0)
    else:
        dual = (y - fitted) / n
        loss = 0.5 * n * (dual**2).sum()
        at_zero = 0.5 * (y**2).sum() / n
    largest = penalty.dual_norm((x.T @ dual).ravel())
    scale = min(1.0, level / largest) if largest > 0.0 else 1.0
    if is_logistic:
        share = np.clip(scale * n * dual * y, 1e-300, 1.0)
        rest = np.clip(1.0 - share, 1e-300, 1.0)
        conjugate = (share * np.log(share) + rest * np.log(rest)).mean()
        gap = loss + norm + conjugate
    else:
        gap = (1.0 - scale) ** 2 * loss + norm - scale * (fitted * dual).sum()
    return loss + norm, gap / at_zero


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", choices=PEERS, required=True)
    parser.add_argument("--problem", choices=PROBLEMS, default="lasso")
    parser.add_argument("--group-size", type=int, default=1, help="columns of a group")
    parser.add_argument("--x", required=True, help="n x d float64 .npy")
    parser.add_argument("--y", required=True, help="n or n x c float64 .npy")
    parser.add_argument("--ratio", type=float, required=True)
    parser.add_argument("--points", type=int, default=1)
    parser.add_argument("--patience", type=float, default=20.0, help="seconds of a fit after which to stop")
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
    n, d = x.shape
    is_logistic = args.problem == "logistic"
    deviation = x.std(axis=0)
    x = np.asfortranarray((x - x.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0))
    y = np.where(y > 0.0, 1.0, -1.0) if is_logistic else np.asfortranarray((y - y.mean(axis=0)) / y.std(axis=0))
    c = y.size // n
    l1_ratio = {"lasso": 1.0, "logistic": 1.0, "sparse-group": 0.5}.get(args.problem, 0.0)
    size = c if args.problem == "outputs" else args.group_size
    penalty = Penalty(d * c, size, l1_ratio, args.problem != "outputs")
    largest = penalty.dual_norm((x.T @ y).ravel() / n) * (0.5 if is_logistic else 1.0)
    shares = np.linspace(0.0, 1.0, args.points) if args.points > 1 else np.ones(1)
    alphas = largest * args.ratio**shares

    fit = fitter(args.peer, args.problem, args.group_size)
    random = np.random.default_rng(0)
    small, few = np.asfortranarray(random.normal(size=(50, 80))), random.normal(size=(50, *y.shape[1:]))
    fit(small, np.sign(few) if is_logistic else few, np.array([0.1, 0.05])[: args.points], 1e-6)
    for digits in range(5, 15):
        cpu, start = time.process_time(), time.perf_counter()
        coefficients = fit(x, y, alphas, 10.0**-digits)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        pairs = zip(coefficients.T, alphas)
        found = [certificate(x, y, w, alpha, penalty, is_logistic) for w, alpha in pairs]
        gap = max(gap for _, gap in found)
        if gap <= GAP or seconds > args.patience:
            break
    result = {
        "peer": args.peer,
        "version": importlib.metadata.version("scikit-learn" if args.peer == "liblinear" else args.peer),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "objective": found[-1][0],
        "gap": gap,
        "features": [int(j) for j in np.flatnonzero(np.abs(coefficients[:, -1].reshape(d, -1)).sum(axis=1))],
    }
    with open(args.json, "w") as out:
        json.dump(result, out)
        out.write("\n")


if __name__ == "__main__":
    main()
