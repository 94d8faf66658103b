"""The stub of the package, from the tables of the registry: `python -m fewest._stubs` prints it."""

from ._catalogue import METHODS, WEIGHTED
from ._docs import COMMON, type_of

HEAD = '''"""Written by `python -m fewest._stubs`; a test compares it with what the package says."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Bunch

__version__: str

def methods() -> list[dict[str, Any]]: ...
def evaluate(
    selector: BaseSelector | str,
    X: Any,
    y: Any,
    learner: BaseEstimator,
    *,
    k: Sequence[int] | int | None = None,
    cv: Any = 10,
    scoring: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    feature_groups: Any = None,
    feature_graph: Any = None,
    sample_graph: Any = None,
    authors: Any = None,
    follows: Any = None,
    views: Any = None,
) -> pd.DataFrame: ...
def compare(
    selectors: Sequence[BaseSelector | str] | dict[str, BaseSelector | str],
    X: Any,
    y: Any,
    learner: BaseEstimator,
    *,
    k: Sequence[int] | int | None = None,
    cv: Any = 10,
    scoring: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    feature_groups: Any = None,
    feature_graph: Any = None,
    sample_graph: Any = None,
    authors: Any = None,
    follows: Any = None,
    views: Any = None,
) -> pd.DataFrame: ...

def report(results: pd.DataFrame, *, name: str = "data") -> Report: ...

class Report:
    html: str
    def save(self, path: str | PathLike[str]) -> None: ...

class Whole:
    value: Any
    def __init__(self, value: Any) -> None: ...

class BaseSelector(SelectorMixin, BaseEstimator):
    order_: np.ndarray
    scores_: np.ndarray
    ranking_: np.ndarray
    p_values_: np.ndarray | None
    q_values_: np.ndarray | None
    path_: Bunch | None
    certificate_: Bunch | None
    related_: list[list[tuple[int, float]]]
    status_: str
    notes_: list[str]
    params_: dict[str, Any]
    false_discoveries_: dict[str, Any] | None
    view_weights_: dict[str, float]
    drift_: Bunch | None
    n_features_in_: int
    feature_names_in_: np.ndarray
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        feature_groups: Any = None,
        feature_graph: Any = None,
        sample_graph: Any = None,
        authors: Any = None,
        follows: Any = None,
        views: Any = None,
    ) -> Self: ...
    # Of methods to which samples arrive, and of every one with `window`.
    def partial_fit(self, X: Any, y: Any = None, *, classes: Sequence[Any] | None = None) -> Self: ...
    def report(self, X: Any, y: Any = None, *, name: str = "data", **given_to_fit: Any) -> Report: ...

class WeightedSelector(BaseSelector):
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        feature_groups: Any = None,
        feature_graph: Any = None,
        sample_graph: Any = None,
        authors: Any = None,
        follows: Any = None,
        views: Any = None,
    ) -> Self: ...
'''


def _init(parameters, rest=()):
    lines = ["    def __init__(", "        self,"]
    for name, kind, default in parameters:
        lines.append(f"        {name}: {kind} = {default!r},")
        if name == "k":
            lines.append("        *,")
    return [*lines, *rest, "    ) -> None: ..."]


def stub():
    """The text of `__init__.pyi`."""
    common = [(name, kind, default) for name, kind, default, _ in COMMON]
    lines = [HEAD, "class Selector(WeightedSelector):"]
    lines += _init([("method", "str", "hsic-lasso"), *common], ["        **params: Any,"])
    for method in METHODS.values():
        base = "WeightedSelector" if method["id"] in WEIGHTED else "BaseSelector"
        lines += ["", f"class {method['class']}({base}):"]
        own = [(entry["python"], type_of(entry), entry["default"]) for entry in method["parameters"]]
        lines += _init([common[0], *own, *common[1:]])
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(stub(), end="")
