"""The same seed gives the same bits as the command; errors are the same line."""

import json
import subprocess

import numpy as np
import pytest
from conftest import DATA, needed

from fewest import Selector
from fewest._catalogue import METHODS

# Those that need more than a table.
NEED_MORE = {
    method for method, entry in METHODS.items()
    if needed(method, 3, 8) or any(p["group_word"] == p["default"] for p in entry["parameters"] if p["group_word"])
}


def run(command, *arguments):
    return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("method", sorted(METHODS.keys() - NEED_MORE))
def test_the_bits_are_those_of_the_command(method, command, tmp_path, wine, two_classes):
    """On 178 × 13 for classes, or 392 × 7 for real targets, with a seed that is not the default."""
    import pandas as pd

    classes = "classes" in METHODS[method]["targets"]
    name = "wine.csv" if classes else "auto_mpg.csv"
    # Most machines take two classes; all take small tables.
    table = pd.read_csv(DATA / name)
    table = table[table["target"] < 2] if classes else table
    file = tmp_path / "table.csv"
    table.iloc[::2].to_csv(file, index=False)
    table = pd.read_csv(file)
    written = tmp_path / "result.json"
    called = run(command, "select", file, "-m", method, "-k", 3, "--seed", 7, "--json", written, "--quiet")
    assert called.returncode == 0, called.stderr
    expected = json.loads(written.read_text())
    X, y = table.iloc[:, :-1], table["target"]
    if not METHODS[method]["supervised"]:
        y = y if expected["data"]["task"] != "none" else None
    found = Selector(method, k=3, random_state=7).fit(X, y)
    number = {"inf": np.inf, "-inf": -np.inf, None: np.nan}
    for place, feature in enumerate(expected["features"]):
        score = feature["score"]
        assert found.order_[place] == feature["index"]
        np.testing.assert_array_equal(found.scores_[feature["index"]], number.get(score, score))
        if "p_value" in feature:
            assert found.p_values_[feature["index"]] == feature["p_value"]
    assert len(found.order_) == len(expected["features"])
    assert found.params_ == expected["params"] and found.status_ == expected["status"]
    if expected["solver"] is not None:
        assert found.certificate_.objective == expected["solver"]["objective"]
    for threads in (1, 2):
        again = Selector(method, k=3, random_state=7, n_jobs=threads).fit(np.asfortranarray(X), y)
        np.testing.assert_array_equal(again.scores_, found.scores_)


def line(command, *arguments):
    return run(command, *arguments).stderr.strip()


def raised(kind, *arguments, X, y, **given):
    with pytest.raises(kind) as error:
        Selector(*arguments, **given).fit(X, y)
    return str(error.value)


def test_errors_are_the_line_of_the_command(command, wine):
    X, y = wine
    file = DATA / "wine.csv"
    cases = [
        (ValueError, ["hsik"], {}, ["-m", "hsik"]),
        (ValueError, ["hsic"], {"sigma_x": -1.0}, ["-m", "hsic", "-p", "sigma_x=-1"]),
        (TypeError, ["hsic"], {"sigma": 1}, ["-m", "hsic", "-p", "sigma=1"]),
        (ValueError, ["hsic-lasso"], {"solver": "simplex"}, ["-m", "hsic-lasso", "-p", "solver=simplex"]),
        (ValueError, ["mrmr"], {"k": 99}, ["-m", "mrmr", "-k", "99"]),
    ]
    for kind, arguments, given, options in cases:
        told = line(command, "select", file, *options)
        message = raised(kind, *arguments, X=X, y=y, **given)
        assert "\n" not in message
        # The command names its option, where there is no parameter.
        told = told.removeprefix("fewest: ").replace("-k is", "parameter `k` is")
        told = told.replace("there is no method `hsik`: it must", "parameter `method` is hsik, but must")
        assert told in message, (told, message)
