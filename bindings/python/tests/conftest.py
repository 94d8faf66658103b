"""Data of the tests."""

import collections
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "crates/testkit/data"

# The programs beside the tests know what fits and how much memory is taken.
sys.path.insert(0, str(ROOT / "bindings/python"))
from soak import needed  # noqa: E402, F401

# A shell that starts the tests in the background has SIGINT ignored, and Python leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What `check_estimator` said, in numbers.
CHECKED = collections.Counter()


def pytest_terminal_summary(terminalreporter):
    if CHECKED:
        terminalreporter.write_line(
            f"check_estimator: {CHECKED['classes']} classes, {CHECKED['passed']} checks passed, "
            f"{CHECKED['exceptions']} exceptions with a reason")


@pytest.fixture(scope="session")
def wine():
    """A data frame of three classes and its target, as the command reads them."""
    return _read("wine.csv")


@pytest.fixture(scope="session")
def command():
    """The program, whose results are compared with those of the package."""
    program = os.environ.get("FEWEST_COMMAND")
    if program is None:
        pytest.skip("FEWEST_COMMAND names no program: cargo xtask python builds it")
    return program


def _read(name):
    table = pd.read_csv(DATA / name)
    return table.iloc[:, :-1], table.iloc[:, -1]


@pytest.fixture(scope="session")
def two_classes():
    """Eight features of which 2 and 5 tell two classes apart; 40 samples."""
    rng = np.random.default_rng(20261123)
    X = rng.normal(size=(40, 8))
    y = (X[:, 2] + X[:, 5] > 0).astype(int)
    return X, y


@pytest.fixture(scope="session")
def numbers():
    """Six features, of which the target is a function of 1 and 4; 50 samples."""
    rng = np.random.default_rng(20261124)
    X = rng.normal(size=(50, 6))
    return X, 2 * X[:, 1] - X[:, 4] + 0.1 * rng.normal(size=50)
