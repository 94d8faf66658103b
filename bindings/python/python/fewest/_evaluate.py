"""How well the selected features predict: selection inside every fold, any estimator of scikit-learn as learner."""

import operator
import time

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_consistent_length

from . import _fewest
from ._catalogue import given, known
from ._input import target
from ._links import check_uses, of_rows, sample_names, uses
from ._report import target_names
from ._selector import BaseSelector, Selector, seed_of

DEFAULT_KS = (1, 2, 5, 10, 20, 50, 100)


def evaluate(selector, X, y, learner, *, k=None, cv=10, scoring=None, sample_weight=None, groups=None,
             feature_groups=None, feature_graph=None, sample_graph=None, authors=None, follows=None, views=None):
    """Measures how well a learner predicts from the features that a method selects.

    In every fold the method selects on the training samples only, and the learner is trained on these; the scores are
    those of the test samples.

    Parameters
    ----------
    selector : estimator of this package, or the id of a method
    X, y : the table and its target
    learner : estimator of scikit-learn
    k : sequence of int, default=None
        The numbers of features. None: 1, 2, 5, 10, 20, 50 and 100, as far as there are so many.
    cv : int, splitter or iterable, default=10
        As in scikit-learn; an int means folds with the classes in proportion, shuffled by `selector.random_state`.
    scoring : str or callable, default=None
        As in scikit-learn. None: the score of the learner.
    sample_weight : array, default=None
        Weights for the selection, of methods that use them.
    groups : array, default=None
        For splitters that keep groups of samples together.
    feature_groups, feature_graph, sample_graph, authors, follows, views
        As in `fit`, of all samples; every fold selects with the links between its training samples.

    Returns
    -------
    DataFrame
        A row for each number of features: `k`, `mean` and `standard_error` of the score over the folds, `stability` of
        the sets selected (Nogueira et al. 2018; 1 if all folds select the same), `seconds` to select, and of every
        fold `scores` and `features`, best first. `fewest.report` makes a page of it.
    """
    return compare([selector], X, y, learner, k=k, cv=cv, scoring=scoring, sample_weight=sample_weight, groups=groups,
                   feature_groups=feature_groups, feature_graph=feature_graph, sample_graph=sample_graph,
                   authors=authors, follows=follows, views=views).drop(columns="method")


def compare(selectors, X, y, learner, *, k=None, cv=10, scoring=None, sample_weight=None, groups=None,
            feature_groups=None, feature_graph=None, sample_graph=None, authors=None, follows=None, views=None):
    """Evaluates several methods on the same folds: as `evaluate`, with the column `method`.

    A list of selectors or ids, or a dictionary that names them. Groups, links and views are for the methods that use
    them; there has to be one.
    """
    import pandas as pd

    start = time.perf_counter()
    if isinstance(X, list):
        X = np.asarray(X)
    if isinstance(selectors, (str, BaseSelector)):
        selectors = [selectors]
    named = selectors if isinstance(selectors, dict) else _names([_selector(given) for given in selectors])
    named = {name: _selector(given) for name, given in named.items()}
    check_consistent_length(X, y)
    scorer = check_scoring(learner, scoring)
    folds = _folds(cv, X, y, learner, groups)
    n_features = X.shape[1] if hasattr(X, "shape") else np.shape(X)[1]
    ks = _ks(k, n_features)
    links = dict(feature_groups=feature_groups, feature_graph=feature_graph, sample_graph=sample_graph,
                 authors=authors, follows=follows, views=views)
    used = {name: uses(*selector._method()) for name, selector in named.items()}
    for link, value in links.items():
        if value is not None and not any(link in own for own in used.values()):
            check_uses(*next(iter(named.values()))._method(), dict(dict.fromkeys(links), **{link: value}))
    rows, methods = [], []
    for name, selector in named.items():
        own = {link: value for link, value in links.items() if link in used[name]}
        given = [dict(of_rows(own, train, len(y), sample_names(X)), **_weights(sample_weight, train))
                 for train, _ in folds]
        outcomes = [_fold(selector, X, y, learner, ks, scorer, *fold) for fold in zip(folds, given)]
        methods.append(_about_method(selector, name, outcomes))
        for place, number in enumerate(ks):
            scores = np.array([outcome[place][1] for outcome in outcomes])
            chosen = [outcome[place][0] for outcome in outcomes]
            rows.append({
                "method": name, "k": number, "mean": scores.mean(),
                "standard_error": scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else np.nan,
                "stability": _fewest.stability(chosen, n_features),
                "seconds": np.mean([outcome[place][2] for outcome in outcomes]),
                "scores": scores.tolist(), "features": chosen,
            })
    results = pd.DataFrame(rows)
    task, classes = target(y, selector.task, known(methods[-1]["id"])["targets"]).described()
    results.attrs["fewest"] = {
        "n_features": n_features, "task": task, "classes": classes, "targets": target_names(y),
        "learner": _learner_name(learner), "metric": _metric_name(learner, scoring), "ks": ks,
        "splitter": " ".join(str(cv).split()) if hasattr(cv, "split") else f"{len(folds)} folds",
        "folds": [(len(train), len(test)) for train, test in folds], "methods": methods,
        "seconds": time.perf_counter() - start,
        "call": f"fewest.compare({list(named)}, X, y, {_learner_name(learner)}, k={ks}, cv={len(folds)})",
    }
    return results


def _weights(sample_weight, rows):
    return {} if sample_weight is None else {"sample_weight": _safe_indexing(sample_weight, rows)}


def _about_method(selector, name, outcomes):
    """What a report tells of a method."""
    method, values = selector._method()
    return {"id": method["id"], "name": name, "given": given(values), "seed": seed_of(selector.random_state), "outcomes": outcomes}


def _learner_name(learner):
    steps = [step for _, step in getattr(learner, "steps", [])]
    return " + ".join(map(_learner_name, steps)) if steps else type(learner).__name__


def _metric_name(learner, scoring):
    if scoring is not None:
        return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    return "accuracy" if is_classifier(learner) else "R²" if is_regressor(learner) else "score"


def _selector(given):
    if isinstance(given, str):
        return Selector(given)
    if not isinstance(given, BaseSelector):
        raise TypeError(f"{given!r} is no selector: give the id of a method or an estimator of this package")
    return given


def _names(selectors):
    """Each by its id; those of one method with different parameters by what they are."""
    ids = [selector._method()[0]["id"] for selector in selectors]
    names = [" ".join(str(selector).split()) if ids.count(own) > 1 else own for own, selector in zip(ids, selectors)]
    if len(set(names)) < len(names):
        raise ValueError("two of the selectors are the same: give a dictionary with a name for each")
    return dict(zip(names, selectors))


def _folds(cv, X, y, learner, groups):
    splitter = check_cv(cv, y, classifier=is_classifier(learner))
    if isinstance(cv, int):
        # Sorted tables would give folds that are unlike each other.
        splitter = type(splitter)(cv, shuffle=True, random_state=0)
    return list(splitter.split(np.zeros((len(y), 1)), y, groups))


def _ks(k, n_features):
    if k is None:
        return [number for number in DEFAULT_KS if number <= n_features]
    try:
        ks = sorted({operator.index(number) for number in ([k] if np.ndim(k) == 0 else k)})
    except TypeError:
        raise ValueError(f"k: whole numbers of features needed, found {k!r}") from None
    if not ks or ks[0] < 1 or ks[-1] > n_features:
        raise ValueError(f"k: numbers of features from 1 to {n_features} needed, found {ks}")
    return ks


def _fold(selector, X, y, learner, ks, scorer, fold, given_to_fit):
    """For each number of features the features, the score, and the seconds to select and to learn."""
    train, test = fold
    X_train, X_test, y_train, y_test = (
        _safe_indexing(values, rows) for values, rows in ((X, train), (X, test), (y, train), (y, test)))
    nested = known(selector._method()[0]["id"])["nested"]
    outcomes = {}
    for number in reversed(ks):
        if nested and outcomes:
            # The best few are the first of the best many.
            fitted.order_ = fitted.order_[:number]
        else:
            start = time.perf_counter()
            fitted = clone(selector).set_params(k=number).fit(X_train, y_train, **given_to_fit)
            seconds = time.perf_counter() - start
        columns = fitted.get_support(indices=True)
        start = time.perf_counter()
        model = clone(learner).fit(_safe_indexing(X_train, columns, axis=1), y_train)
        score = float(scorer(model, _safe_indexing(X_test, columns, axis=1), y_test))
        outcomes[number] = fitted.order_.tolist(), score, seconds, time.perf_counter() - start
    return [outcomes[number] for number in ks]
