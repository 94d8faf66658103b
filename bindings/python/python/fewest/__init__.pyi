"""Written by `python -m fewest._stubs`; a test compares it with what the package says."""

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
) -> pd.DataFrame: ...

def report(results: pd.DataFrame, *, name: str = "data") -> Report: ...

class Report:
    html: str
    def save(self, path: str | PathLike[str]) -> None: ...

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
    # Of methods to which samples arrive; others have none.
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

class Selector(WeightedSelector):
    def __init__(
        self,
        method: str = 'hsic-lasso',
        k: int | Literal['auto'] | None = None,
        *,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
        **params: Any,
    ) -> None: ...

class HSIC(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        kernel: Literal['gaussian', 'laplace', 'table'] = 'gaussian',
        sigma_x: float | Literal['median'] = 1.0,
        output: Literal['auto', 'delta', 'plain-delta', 'gaussian'] = 'auto',
        sigma_y: float | Literal['median'] = 1.0,
        normalization: Literal['none', 'unit'] = 'none',
        estimator: Literal['full', 'block'] = 'full',
        block_size: int = 20,
        permutations: int = 3,
        form: Literal['auto', 'exact', 'low-rank'] = 'auto',
        factor_tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class NOCCO(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        epsilon: float = 0.001,
        kernel: Literal['gaussian', 'laplace', 'table'] = 'gaussian',
        sigma_x: float | Literal['median'] = 1.0,
        output: Literal['auto', 'delta', 'plain-delta', 'gaussian'] = 'auto',
        sigma_y: float | Literal['median'] = 1.0,
        normalization: Literal['none', 'unit'] = 'none',
        estimator: Literal['full', 'block'] = 'full',
        block_size: int = 20,
        permutations: int = 3,
        form: Literal['auto', 'exact', 'low-rank'] = 'auto',
        factor_tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class FHSIC(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        sigma_x: float | Literal['median'] = 1.0,
        output: Literal['auto', 'delta', 'plain-delta', 'gaussian'] = 'auto',
        sigma_y: float | Literal['median'] = 1.0,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class BAHSIC(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        fraction: float = 0.1,
        sigma_x: float | Literal['median'] = 1.0,
        output: Literal['auto', 'delta', 'plain-delta', 'gaussian'] = 'auto',
        sigma_y: float | Literal['median'] = 1.0,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class CKTA(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        ridge: float = 0.001,
        kernel: Literal['gaussian', 'laplace', 'table'] = 'gaussian',
        sigma_x: float | Literal['median'] = 1.0,
        output: Literal['auto', 'delta', 'plain-delta', 'gaussian'] = 'auto',
        sigma_y: float | Literal['median'] = 1.0,
        normalization: Literal['none', 'unit'] = 'none',
        estimator: Literal['full', 'block'] = 'full',
        block_size: int = 20,
        permutations: int = 3,
        form: Literal['auto', 'exact', 'low-rank'] = 'auto',
        factor_tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class QPFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        gamma: float | Literal['auto'] = 'auto',
        similarity: Literal['mutual-information', 'hsic', 'correlation'] = 'mutual-information',
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        kernel: Literal['gaussian', 'laplace', 'table'] = 'gaussian',
        sigma_x: float | Literal['median'] = 1.0,
        output: Literal['auto', 'delta', 'plain-delta', 'gaussian'] = 'auto',
        sigma_y: float | Literal['median'] = 1.0,
        normalization: Literal['none', 'unit'] = 'unit',
        estimator: Literal['full', 'block'] = 'full',
        block_size: int = 20,
        permutations: int = 3,
        form: Literal['auto', 'exact', 'low-rank'] = 'auto',
        factor_tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class FVM(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        similarity: Literal['mutual-information', 'hsic', 'correlation'] = 'hsic',
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        kernel: Literal['gaussian', 'laplace', 'table'] = 'gaussian',
        sigma_x: float | Literal['median'] = 1.0,
        output: Literal['auto', 'delta', 'plain-delta', 'gaussian'] = 'auto',
        sigma_y: float | Literal['median'] = 1.0,
        normalization: Literal['none', 'unit'] = 'none',
        estimator: Literal['full', 'block'] = 'full',
        block_size: int = 20,
        permutations: int = 3,
        form: Literal['auto', 'exact', 'low-rank'] = 'auto',
        factor_tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class HSFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float = 0.01,
        projections: int = 2,
        starts: int = 5,
        sharpness: float = 100.0,
        iterations: int = 500,
        tolerance: float = 1e-08,
        output: Literal['auto', 'delta', 'plain-delta', 'gaussian'] = 'auto',
        sigma_y: float | Literal['median'] = 1.0,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class HSICLasso(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        rule: Literal['path', 'paper'] = 'path',
        penalty: Literal['l1', 'elastic-net', 'group'] = 'l1',
        ridge: float = 0.1,
        solver: Literal['auto', 'cd', 'dal', 'lars', 'pgd'] = 'auto',
        tolerance: float = 1e-09,
        forced: Sequence[int] | None = None,
        covariates: Sequence[int] | None = None,
        related: int = 10,
        kernel: Literal['gaussian', 'laplace', 'table'] = 'gaussian',
        sigma_x: float | Literal['median'] = 1.0,
        output: Literal['auto', 'delta', 'plain-delta', 'gaussian'] = 'auto',
        sigma_y: float | Literal['median'] = 1.0,
        normalization: Literal['none', 'unit'] = 'none',
        estimator: Literal['full', 'block'] = 'full',
        block_size: int = 20,
        permutations: int = 3,
        form: Literal['auto', 'exact', 'low-rank'] = 'auto',
        factor_tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class NOCCOLasso(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        rule: Literal['path', 'paper'] = 'path',
        penalty: Literal['l1', 'elastic-net', 'group'] = 'l1',
        ridge: float = 0.1,
        solver: Literal['auto', 'cd', 'dal', 'lars', 'pgd'] = 'auto',
        tolerance: float = 1e-09,
        forced: Sequence[int] | None = None,
        covariates: Sequence[int] | None = None,
        related: int = 10,
        epsilon: float = 0.001,
        kernel: Literal['gaussian', 'laplace', 'table'] = 'gaussian',
        sigma_x: float | Literal['median'] = 1.0,
        output: Literal['auto', 'delta', 'plain-delta', 'gaussian'] = 'auto',
        sigma_y: float | Literal['median'] = 1.0,
        normalization: Literal['none', 'unit'] = 'none',
        estimator: Literal['full', 'block'] = 'full',
        block_size: int = 20,
        permutations: int = 3,
        form: Literal['auto', 'exact', 'low-rank'] = 'auto',
        factor_tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Variance(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class TScore(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        variance: Literal['sample', 'population'] = 'sample',
        alpha: float | None = None,
        correction: Literal['benjamini-hochberg', 'bonferroni'] = 'benjamini-hochberg',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class FScore(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        alpha: float | None = None,
        correction: Literal['benjamini-hochberg', 'bonferroni'] = 'benjamini-hochberg',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Chi2(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        bins: int = 5,
        alpha: float | None = None,
        correction: Literal['benjamini-hochberg', 'bonferroni'] = 'benjamini-hochberg',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Gini(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class KruskalWallis(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        alpha: float | None = None,
        correction: Literal['benjamini-hochberg', 'bonferroni'] = 'benjamini-hochberg',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Correlation(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        coefficient: Literal['pearson', 'spearman'] = 'pearson',
        alpha: float | None = None,
        correction: Literal['benjamini-hochberg', 'bonferroni'] = 'benjamini-hochberg',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Distinct(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        copies: Literal['linear', 'exact'] = 'linear',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Uncorrelated(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        threshold: float = 0.95,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Fisher(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class GeneralizedFisher(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        ridge: float = 0.1,
        tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Laplacian(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        neighbours: int = 5,
        weights: Literal['heat', 'binary', 'cosine'] = 'heat',
        t: float | Literal['median'] = 'median',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SPEC(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        criterion: Literal['1', '2', '3'] = '1',
        m: int | None = None,
        gamma: Literal['identity', 'square', 'cube'] = 'identity',
        sigma: float | Literal['median'] = 'median',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class TraceRatio(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        style: Literal['fisher', 'laplacian'] = 'fisher',
        neighbours: int = 5,
        weights: Literal['heat', 'binary', 'cosine'] = 'heat',
        t: float | Literal['median'] = 'median',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Relief(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class ReliefF(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        neighbours: int = 10,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class RReliefF(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        neighbours: int = 10,
        rank_sigma: float | None = None,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SURF(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class MultiSURF(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class MIM(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        estimator: Literal['discrete', 'parzen', 'ksg'] = 'discrete',
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        bandwidth_factor: float = 1.0,
        neighbours: int = 3,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class MIFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        beta: float = 1.0,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class MRMR(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        form: Literal['difference', 'quotient'] = 'difference',
        estimator: Literal['discrete', 'parzen', 'ksg'] = 'discrete',
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        bandwidth_factor: float = 1.0,
        neighbours: int = 3,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class FCQ(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        form: Literal['difference', 'quotient'] = 'quotient',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class CIFE(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class JMI(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class CMIM(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        capped: bool = False,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class InformativeFragments(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class ICAP(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class DISR(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class JMIM(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class NJMIM(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class JMI3(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class LinearInformation(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        beta: float = 1.0,
        lambda_: float = 1.0,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class FCBF(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        delta: float = 0.0,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class CFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        patience: int = 5,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Lasso(WeightedSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        loss: Literal['squared', 'logistic', 'multinomial', 'squared-hinge', 'hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        lambda_folds: int | None = None,
        lambda_rule: Literal['best', 'one-se'] = 'best',
        lambda_ebic: float | None = None,
        lambda_path: int = 1,
        sign: Literal['any', 'positive', 'negative'] = 'any',
        covariates: Sequence[int] | None = None,
        offset: Sequence[int] | None = None,
        solver: Literal['auto', 'cd', 'dal', 'lars', 'pgd'] = 'auto',
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class ElasticNet(WeightedSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        l1_ratio: float = 0.5,
        loss: Literal['squared', 'logistic', 'multinomial', 'squared-hinge', 'hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        lambda_folds: int | None = None,
        lambda_rule: Literal['best', 'one-se'] = 'best',
        lambda_ebic: float | None = None,
        lambda_path: int = 1,
        sign: Literal['any', 'positive', 'negative'] = 'any',
        covariates: Sequence[int] | None = None,
        offset: Sequence[int] | None = None,
        solver: Literal['auto', 'cd', 'dal', 'lars', 'pgd'] = 'auto',
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class AdaptiveLasso(WeightedSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        initial: Literal['ridge', 'ols'] = 'ridge',
        mu: float = 0.1,
        gamma: float = 1.0,
        loss: Literal['squared', 'logistic', 'multinomial', 'squared-hinge', 'hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        lambda_folds: int | None = None,
        lambda_rule: Literal['best', 'one-se'] = 'best',
        lambda_ebic: float | None = None,
        lambda_path: int = 1,
        sign: Literal['any', 'positive', 'negative'] = 'any',
        covariates: Sequence[int] | None = None,
        offset: Sequence[int] | None = None,
        solver: Literal['auto', 'cd', 'dal', 'lars', 'pgd'] = 'auto',
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Dantzig(WeightedSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        lambda_folds: int | None = None,
        lambda_rule: Literal['best', 'one-se'] = 'best',
        lambda_ebic: float | None = None,
        refit: bool = False,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class BestSubset(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        criterion: Literal['gic', 'bic', 'ebic'] = 'gic',
        max_features: int = 50,
        exchanges: int = 5,
        most_sets: int = 100000,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class L21(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class L21Logistic(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        loss: Literal['softmax', 'ovr'] = 'softmax',
        intercept: bool = True,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class RFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class LinkedFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        copost: float = 0.5,
        cofollowing: float = 0.0,
        cofollowed: float = 0.0,
        following: float = 0.0,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class FSNet(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        graph: float = 0.1,
        ridge: float = 1.0,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class LUFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        clusters: int | None = None,
        alpha: float | None = None,
        ridge: float = 1.0,
        beta_ratio: float = 0.1,
        t: float | Literal['median'] = 'median',
        pairs: int = 16,
        smoothing: float = 1e-06,
        tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class NetFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        clusters: int | None = None,
        alpha_ratio: float = 0.1,
        beta: float = 1.0,
        tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class GroupLasso(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        groups: Literal['given', 'prefix', 'correlation'] = 'given',
        threshold: float = 0.5,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SparseGroupLasso(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        l1_ratio: float = 0.5,
        groups: Literal['given', 'prefix', 'correlation'] = 'given',
        threshold: float = 0.5,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class OverlappingGroupLasso(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        overlap: Literal['norm', 'latent'] = 'norm',
        l1_ratio: float = 0.0,
        groups: Literal['given', 'prefix', 'correlation'] = 'given',
        threshold: float = 0.5,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class TreeLasso(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        groups: Literal['given', 'correlation'] = 'given',
        threshold: float = 0.5,
        levels: int = 3,
        leaves: bool = True,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class FusedLasso(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        l1_ratio: float = 0.5,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class GraphLasso(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        l1_ratio: float = 0.5,
        graph: Literal['correlation', 'given'] = 'correlation',
        threshold: float = 0.5,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class GFLasso(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        power: int = 1,
        l1_ratio: float = 0.5,
        graph: Literal['correlation', 'given'] = 'correlation',
        threshold: float = 0.5,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class OSCAR(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        l1_ratio: float = 0.5,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class GOSCAR(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        l1_ratio: float = 0.5,
        graph: Literal['correlation', 'given'] = 'correlation',
        threshold: float = 0.5,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class NonconvexGrouping(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        l1_ratio: float = 0.5,
        graph: Literal['correlation', 'given'] = 'correlation',
        threshold: float = 0.5,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SLOPE(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        weights: Literal['bh', 'gaussian'] = 'bh',
        q: float = 0.1,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class NonconvexLasso(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        penalty: Literal['mcp', 'scad', 'l-half'] = 'mcp',
        gamma: float = 3.0,
        a: float = 3.7,
        loss: Literal['squared', 'logistic', 'squared-hinge', 'huber', 'poisson', 'cox'] = 'squared',
        intercept: bool = True,
        delta: float = 1.345,
        ties: Literal['breslow', 'efron'] = 'breslow',
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SpAM(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_ratio: float | None = None,
        sigma: float | Literal['median'] = 1.0,
        smallest_eigenvalue: float = 0.01,
        tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class MCFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        neighbours: int = 5,
        weights: Literal['heat', 'binary', 'cosine'] = 'heat',
        t: float | Literal['median'] = 'median',
        clusters: int | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class UDFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        neighbours: int = 5,
        clusters: int | None = None,
        ridge: float = 1.0,
        alpha_ratio: float = 0.1,
        smoothing: float = 1e-08,
        tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class NDFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        neighbours: int = 5,
        weights: Literal['heat', 'binary', 'cosine'] = 'heat',
        t: float | Literal['median'] = 'median',
        clusters: int | None = None,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 1000.0,
        tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class GPCOVVar(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        view: int | None = None,
        t: float | Literal['median'] = 'median',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class GPCOVSPCA(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        view: int | None = None,
        t: float | Literal['median'] = 'median',
        solver: Literal['auto', 'semidefinite', 'truncated'] = 'auto',
        rho_ratio: float = 0.1,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class JELSR(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        neighbours: int = 5,
        clusters: int | None = None,
        alpha: float = 0.1,
        beta: float = 1.0,
        smoothing: float = 1e-08,
        tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class GroupL1L21(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        view_ratio: float = 1.0,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class GroupL1L21Clusters(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        neighbours: int = 5,
        weights: Literal['heat', 'binary', 'cosine'] = 'heat',
        t: float | Literal['median'] = 'median',
        clusters: int | None = None,
        alpha_ratio: float = 0.1,
        view_ratio: float = 1.0,
        gamma: float = 1000.0,
        smoothing: float = 0.001,
        tolerance: float = 0.0001,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class MVFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        neighbours: int = 5,
        weights: Literal['heat', 'binary', 'cosine'] = 'heat',
        t: float | Literal['median'] = 'median',
        clusters: int | None = None,
        alpha_ratio: float = 0.5,
        beta: float = 1.0,
        gamma: float = 1000.0,
        loss: Literal['squared', 'l21'] = 'squared',
        power: int = 2,
        smoothing: float = 0.001,
        tolerance: float = 0.0001,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class AUMFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        neighbours: int = 5,
        weights: Literal['heat', 'binary', 'cosine'] = 'heat',
        t: float | Literal['median'] = 'median',
        clusters: int | None = None,
        alpha_ratio: float = 0.5,
        beta: float = 1.0,
        gamma: float = 1000.0,
        loss: Literal['squared', 'l21'] = 'squared',
        power: int = 2,
        smoothing: float = 0.001,
        tolerance: float = 0.0001,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SVMLW(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        c: float = 1.0,
        multiclass: Literal['one-vs-rest', 'one-vs-one'] = 'one-vs-rest',
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SVRLW(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        c: float = 1.0,
        epsilon: float = 0.1,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class LassoLW(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_folds: int = 5,
        one_standard_error: bool = False,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class L1SVM(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        c: float | None = None,
        loss: Literal['squared-hinge', 'hinge'] = 'squared-hinge',
        multiclass: Literal['one-vs-rest', 'one-vs-one'] = 'one-vs-rest',
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class EnetSVM(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        c: float | None = None,
        l1_ratio: float = 0.5,
        multiclass: Literal['one-vs-rest', 'one-vs-one'] = 'one-vs-rest',
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class L0Appr(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        c: float = 1.0,
        norm: Literal['l2', 'l1'] = 'l2',
        multiclass: Literal['one-vs-rest', 'one-vs-one'] = 'one-vs-rest',
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class FSV(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float = 0.05,
        alpha: float = 5.0,
        tolerance: float = 1e-08,
        multiclass: Literal['one-vs-rest', 'one-vs-one'] = 'one-vs-rest',
        starts: int = 10,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class R2W2(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        kernel: Literal['linear', 'gaussian'] = 'linear',
        sigma: float | Literal['median', 'dimension'] = 'dimension',
        c: float = 1.0,
        multiclass: Literal['one-vs-rest', 'one-vs-one'] = 'one-vs-rest',
        tolerance: float = 1e-06,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SDL(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        permutation: Literal['random', 'shift'] = 'random',
        permutations: int = 1,
        kernel: Literal['gaussian', 'linear'] = 'gaussian',
        sigma: float | Literal['median', 'dimension'] = 'dimension',
        c: float = 1.0,
        epsilon: float = 0.1,
        standardise_target: bool = True,
        tolerance: float = 1e-12,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SDG(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        permutation: Literal['random', 'shift'] = 'random',
        permutations: int = 1,
        kernel: Literal['gaussian', 'linear'] = 'gaussian',
        sigma: float | Literal['median', 'dimension'] = 'dimension',
        c: float = 1.0,
        epsilon: float = 0.1,
        standardise_target: bool = True,
        tolerance: float = 1e-12,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SDLRFE(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        permutation: Literal['random', 'shift'] = 'random',
        permutations: int = 1,
        step: float | Literal['halving'] = 1.0,
        stop_early: bool = False,
        folds: int | None = None,
        kernel: Literal['gaussian', 'linear'] = 'gaussian',
        sigma: float | Literal['median', 'dimension'] = 'dimension',
        c: float = 1.0,
        epsilon: float = 0.1,
        standardise_target: bool = True,
        tolerance: float = 1e-12,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SDGRFE(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        permutation: Literal['random', 'shift'] = 'random',
        permutations: int = 1,
        step: float | Literal['halving'] = 1.0,
        stop_early: bool = False,
        folds: int | None = None,
        kernel: Literal['gaussian', 'linear'] = 'gaussian',
        sigma: float | Literal['median', 'dimension'] = 'dimension',
        c: float = 1.0,
        epsilon: float = 0.1,
        standardise_target: bool = True,
        tolerance: float = 1e-12,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class DWRFE(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        step: float | Literal['halving'] = 1.0,
        stop_early: bool = False,
        folds: int | None = None,
        kernel: Literal['gaussian', 'linear'] = 'gaussian',
        sigma: float | Literal['median', 'dimension'] = 'dimension',
        c: float = 1.0,
        epsilon: float = 0.1,
        standardise_target: bool = True,
        tolerance: float = 1e-12,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class RMBRFE(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        loss: Literal['linear', 'squared'] | None = None,
        retrain: bool = False,
        step: float | Literal['halving'] = 1.0,
        stop_early: bool = False,
        folds: int | None = None,
        kernel: Literal['gaussian', 'linear'] = 'gaussian',
        sigma: float | Literal['median', 'dimension'] = 'dimension',
        c: float = 1.0,
        epsilon: float = 0.1,
        standardise_target: bool = True,
        tolerance: float = 1e-12,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SpanBRFE(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        loss: Literal['linear', 'squared'] | None = None,
        retrain: bool = False,
        step: float | Literal['halving'] = 1.0,
        stop_early: bool = False,
        folds: int | None = None,
        kernel: Literal['gaussian', 'linear'] = 'gaussian',
        sigma: float | Literal['median', 'dimension'] = 'dimension',
        c: float = 1.0,
        epsilon: float = 0.1,
        standardise_target: bool = True,
        tolerance: float = 1e-12,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class HSICRFE(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        step: float | Literal['halving'] = 1.0,
        stop_early: bool = False,
        folds: int | None = None,
        kernel: Literal['gaussian', 'linear'] = 'gaussian',
        sigma: float | Literal['median', 'dimension'] = 'dimension',
        c: float = 1.0,
        epsilon: float = 0.1,
        standardise_target: bool = True,
        tolerance: float = 1e-12,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        learner: Literal['linear-svm', 'decision-tree', 'naive-bayes', 'kernel-logistic', 'svc', 'twsvm', 'tbsvm', 'kernel-ridge', 'svr', 'cox-ridge', 'random-forest', 'nearest-neighbours'] = 'nearest-neighbours',
        folds: int = 5,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SBS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        learner: Literal['linear-svm', 'decision-tree', 'naive-bayes', 'kernel-logistic', 'svc', 'twsvm', 'tbsvm', 'kernel-ridge', 'svr', 'cox-ridge', 'random-forest', 'nearest-neighbours'] = 'nearest-neighbours',
        folds: int = 5,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SFFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        learner: Literal['linear-svm', 'decision-tree', 'naive-bayes', 'kernel-logistic', 'svc', 'twsvm', 'tbsvm', 'kernel-ridge', 'svr', 'cox-ridge', 'random-forest', 'nearest-neighbours'] = 'nearest-neighbours',
        folds: int = 5,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SBFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        learner: Literal['linear-svm', 'decision-tree', 'naive-bayes', 'kernel-logistic', 'svc', 'twsvm', 'tbsvm', 'kernel-ridge', 'svr', 'cox-ridge', 'random-forest', 'nearest-neighbours'] = 'nearest-neighbours',
        folds: int = 5,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Stepwise(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        p_enter: float = 0.05,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Boruta(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        trees: int = 500,
        rounds: int = 100,
        alpha: float = 0.01,
        quantile: float = 1.0,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class PermutationImportance(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        trees: int = 500,
        permutations: int = 100,
        features: int | None = None,
        min_leaf: int | None = None,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class NMMKL(WeightedSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        c: float = 1.0,
        tau: float = 0.1,
        kernel: Literal['linear', 'gaussian'] = 'linear',
        scaling: Literal['standard', 'range', 'none'] = 'standard',
        sigma: float | Literal['median'] = 1.0,
        factor_tolerance: float = 1e-06,
        weights: Literal['feature', 'group'] = 'feature',
        refine: bool = False,
        tolerance: float = 1e-08,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class NMMKLR(WeightedSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        c: float = 1.0,
        epsilon: float = 0.1,
        tau: float = 0.0,
        standardise_target: bool = True,
        kernel: Literal['linear', 'gaussian'] = 'linear',
        scaling: Literal['standard', 'range', 'none'] = 'standard',
        sigma: float | Literal['median'] = 1.0,
        factor_tolerance: float = 1e-06,
        weights: Literal['feature', 'group'] = 'feature',
        refine: bool = False,
        tolerance: float = 1e-08,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class MIKFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        kernel: Literal['sigmoid', 'gaussian', 'polynomial', 'linear', 'mixed'] = 'sigmoid',
        scale: float = 1.0,
        shift: float = 0.0,
        sigma: float | Literal['median'] = 1.0,
        degree: int = 2,
        offset: float = 1.0,
        lambda1: float = 1.0,
        lambda_: float | None = None,
        lambda_ratio: float = 0.1,
        lambda_folds: int | None = None,
        epsilon: float = 0.1,
        threshold: float = 1e-05,
        iterations: int = 200,
        min_improvement: float = 1e-05,
        tolerance: float = 1e-06,
        accelerated: bool = True,
        working_set: bool = True,
        form: Literal['auto', 'exact', 'low-rank'] = 'auto',
        factor_tolerance: float = 0.0001,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class RFMKL(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        kernel: Literal['sigmoid', 'gaussian', 'polynomial', 'linear'] = 'gaussian',
        scale: float = 1.0,
        shift: float = 0.0,
        sigma: float | Literal['median'] = 1.0,
        degree: int = 2,
        offset: float = 1.0,
        spectrum: Literal['clip', 'flip', 'shift'] | None = None,
        lambda_: float | None = None,
        lambda_ratio: float = 0.1,
        tolerance: float = 1e-10,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class GMKL(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        c: float = 1.0,
        lambda_: float | None = None,
        lambda_ratio: float = 0.1,
        tolerance: float = 1e-08,
        starts: int = 1,
        iterations: int = 1000,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class MKL(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        kernel: Literal['sigmoid', 'gaussian', 'polynomial', 'linear'] = 'sigmoid',
        scale: float = 1.0,
        shift: float = 0.0,
        sigma: float | Literal['median'] = 1.0,
        degree: int = 2,
        offset: float = 1.0,
        spectrum: Literal['clip', 'flip', 'shift'] = 'clip',
        lambda_: float | None = None,
        lambda_ratio: float = 0.1,
        tolerance: float = 1e-10,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class IKPCA(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        components: int = 10,
        kernel: Literal['sigmoid', 'gaussian', 'polynomial', 'linear'] = 'sigmoid',
        scale: float = 1.0,
        shift: float = 0.0,
        sigma: float | Literal['median'] = 1.0,
        degree: int = 2,
        offset: float = 1.0,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class AlphaInvesting(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        wealth: float = 0.5,
        reward: float = 0.5,
        test: Literal['t', 'lr', 'll'] = 't',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class Grafting(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        lambda_: float | None = None,
        lambda_ratio: float | None = None,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class OSFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        test: Literal['fisher-z', 'g2'] = 'fisher-z',
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        alpha: float = 0.05,
        max_conditioning: int = 3,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class FastOSFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        test: Literal['fisher-z', 'g2'] = 'fisher-z',
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        alpha: float = 0.05,
        max_conditioning: int = 3,
        outer_analysis: Literal['end', 'each'] = 'end',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class SAOLA(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        test: Literal['fisher-z', 'g2'] = 'fisher-z',
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        alpha: float = 0.05,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class OGFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        groups: Literal['given', 'consecutive'] = 'given',
        width: int = 10,
        gain: float = 0.001,
        alpha: float = 0.05,
        lambda_: float = 0.001,
        tolerance: float = 1e-09,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class GFSSF(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        groups: Literal['given', 'consecutive'] = 'given',
        width: int = 10,
        discretisation: Literal['equal-width', 'equal-frequency', 'mdl'] = 'equal-width',
        bins: int = 5,
        integers: Literal['bins', 'levels'] = 'bins',
        alpha: float = 0.05,
        cost: Literal['features', 'groups'] = 'features',
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class OFS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        kept: int | None = None,
        input: Literal['full', 'partial'] = 'full',
        exploration: float = 0.2,
        step: float = 0.2,
        lambda_: float = 0.01,
        margin: float = 0.0,
        passes: int = 1,
        shuffle: bool = True,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...

class FSDS(BaseSelector):
    def __init__(
        self,
        k: int | Literal['auto'] | None = None,
        *,
        sketch_rows: int = 20,
        components: int = 5,
        ridge: float = 1.0,
        block_rows: int = 25,
        task: Literal['auto', 'classification', 'regression', 'survival', 'affinity'] = 'auto',
        missing: Literal['error', 'drop-rows', 'mean', 'median'] = 'error',
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: bool | Callable[[str, int, int], None] = False,
    ) -> None: ...
