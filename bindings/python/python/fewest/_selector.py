"""The base of all estimators, and the one that takes the id of a method."""

import numbers
import sys
import warnings

import joblib
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import ClassifierTags, check_consistent_length, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted, validate_data

from . import _docs, _fewest
from ._catalogue import TWO_CLASSES, given, known
from ._input import array, is_frame, table, target
from ._links import LINKS, check_uses, sample_names, with_links
from ._progress import Progress
from ._report import Report, target_names
from ._result import attributes
from ._stream import Batches, takes_batches

COMMON = {name: default for name, _, default, _ in _docs.COMMON}


class BaseSelector(SelectorMixin, BaseEstimator):
    """What all estimators share: a subclass says which method it is."""

    def _method(self):
        """The entry of the method, and the values of its parameters by name."""
        raise NotImplementedError

    def fit(self, X, y=None, *, feature_groups=None, feature_graph=None, sample_graph=None, authors=None,
            follows=None, views=None):
        """Select features.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Read where it lies if its columns are contiguous float64: arrays in Fortran order, columns of frames, the
            values of a CSC matrix. float32 and arrays in C order are read in place too, a column at a time; CSR,
            integers and strided arrays are copied.
        y : array of shape (n_samples,) or (n_samples, n_outputs), default=None
            Classes, numbers, survival times or affinities; see `task`.
        feature_groups, feature_graph, sample_graph, authors, follows, views
            What is known of features and samples, for methods that use it.

        Returns
        -------
        self
        """
        return self._fit(X, y, None, dict(
            feature_groups=feature_groups, feature_graph=feature_graph, sample_graph=sample_graph, authors=authors,
            follows=follows, views=views))

    def _data(self, X, y, sample_weight, links):
        """The data set, checked as scikit-learn does it."""
        method, values = self._method()
        check_uses(method, values, links)
        data = self._table(X, y)
        names = data.names
        data = _fewest.Data(data, target(y, self.task, method["targets"]))
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
            data = data.with_weights(np.ascontiguousarray(weights))
        return with_links(data, links, {"feature": names, "sample": sample_names(X)})

    def _table(self, X, y, *, reset=True, least=2):
        """The table of at least so many samples, checked as scikit-learn does it."""
        if y is None and self._method()[0]["supervised"]:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        if is_frame(X):
            if len(getattr(X, "shape", (0, 0))) != 2:
                raise ValueError(
                    f"Expected 2D array, got 1D array instead: X is a {type(X).__name__}. Give a table, such as "
                    "X.to_frame()")
            validate_data(self, X, reset=reset, skip_check_array=True)
            if (found := _num_samples(X)) < least:
                raise ValueError(f"Found array with {found} sample(s) while a minimum of {least} is required.")
        else:
            # NaN and infinities are found by the method, which names the cell.
            X = array(X, lambda X: validate_data(
                self, X, reset=reset, accept_sparse="csc", dtype=(np.float64, np.float32), ensure_all_finite=False,
                ensure_min_samples=least))
        if y is not None:
            check_consistent_length(X, y)
        data = table(X)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and data.names is None:
            data = data.named([str(name) for name in names])
        return data

    def _fit(self, X, y, sample_weight, links):
        data = self._data(X, y, sample_weight, links).complete(str(self.missing))
        method, values = self._method()
        with Progress(self.verbose) as progress:
            found = _fewest.select(data, method["id"], given(values), self._number(), self._how(progress))
        self._batches, self.drift_ = None, None
        self._take(found, data.shape[1])
        if self.status_ not in ("converged", "almost-converged", "ended"):
            warnings.warn(f"{method['id']}: {self.status_}: the result is the best so far", ConvergenceWarning)
        return self

    def _take(self, found, n_features):
        """Sets the attributes of what was found."""
        self._found = found["found"]
        for name, value in attributes(found, n_features).items():
            setattr(self, name, value)

    def _number(self):
        """`k`, checked."""
        if self.k is not None and not isinstance(self.k, (str, int, np.integer)) or isinstance(self.k, bool):
            raise ValueError(f"parameter `k` is {self.k}, but must be a whole number, auto, or None")
        if isinstance(self.k, (int, np.integer)) and self.k < 1:
            raise ValueError(f"parameter `k` is {self.k}, but must be at least 1")
        if isinstance(self.k, int) and self.k > sys.maxsize:
            raise ValueError(f"parameter `k` is {self.k}, but must be at most the number of features")
        return self.k

    @available_if(takes_batches)
    def partial_fit(self, X, y=None, *, classes=None):
        """Takes the next samples, and selects from all that came: what `fewest stream` selects of the same lines.

        The memory does not grow with the samples. The answer does not depend on how they are cut into batches; of
        methods that are sums over samples it is that of `fit` on all of them, and with `window` that of `fit` on the
        last ones. `fit` starts anew.

        Parameters
        ----------
        X, y
            As in `fit`, with any number of samples.
        classes : array, default=None
            All classes, at the first call only. None: those of the first batch, and another one later is an error.

        Returns
        -------
        self
        """
        if getattr(self, "_batches", None) is None:
            batches = Batches(self, X, y, classes)
        elif classes is not None and not self._batches.same_classes(classes):
            raise ValueError("classes: those of the first call stay: leave them out, or start again with a clone")
        else:
            batches = self._batches
        batches.take(self, X, y)
        return self

    def report(self, X, y=None, *, name="data", **given_to_fit):
        """The page that `fewest select --report` writes of this selection.

        Parameters
        ----------
        X, y : the data of `fit`, which the page draws
        name : str, default='data'
            What the page calls the data.
        **given_to_fit
            What else `fit` was given: the page draws linked samples.

        Returns
        -------
        Report
            Shown by a notebook; `save(path)` writes it.
        """
        check_is_fitted(self, "order_")
        if getattr(self, "_batches", None) is not None:
            raise ValueError("report draws the data of `fit`, and samples of partial_fit are not kept: use `fit`")
        found = getattr(self, "_found", None)
        if found is None:
            # Pickles are without it.
            found = clone(self).fit(X, y, **given_to_fit)._found
        weights = given_to_fit.pop("sample_weight", None)
        links = dict(dict.fromkeys(LINKS), **given_to_fit)
        if links.keys() - set(LINKS):
            raise TypeError(f"report() takes no {sorted(links.keys() - set(LINKS))[0]!r}: what `fit` takes")
        data = clone(self)._data(X, y, weights, links).complete(str(self.missing))
        call = f"{self!r}.fit({'X' if y is None else 'X, y'})"
        return Report(found.report(data, name, target_names(y), call))

    def __getstate__(self):
        # It is as large as the answer, and can be computed again.
        return {name: value for name, value in super().__getstate__().items() if name != "_found"}

    def _how(self, progress):
        """Seed, threads and limits of a run."""
        if self.time_limit is not None and not isinstance(self.time_limit, numbers.Real):
            raise ValueError(
                f"parameter `time_limit` is {self.time_limit}, but must be a number of seconds above 0, or None")
        return dict(seed=seed_of(self.random_state), time_limit=self.time_limit, threads=_threads(self.n_jobs),
                    progress=progress)

    def __sklearn_is_fitted__(self):
        # A parameter such as `lambda_` would look like a result.
        return hasattr(self, "order_")

    def _get_support_mask(self):
        check_is_fitted(self, "order_")
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.order_] = True
        return mask

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            method, _ = self._method()
        except (TypeError, ValueError):
            return tags
        if method["id"] in TWO_CLASSES:
            tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.target_tags.required = method["supervised"]
        tags.target_tags.multi_output = "several real outputs" in method["targets"]
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


def seed_of(random_state):
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"parameter `random_state` is {random_state}, but must be at least 0")
        if random_state >= 2**64:
            raise ValueError(f"parameter `random_state` is {random_state}, but must be below 2^64")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _threads(n_jobs):
    """A number of threads; None for all cores."""
    if n_jobs in (None, -1):
        # The workers of a parallel call share the cores already.
        return 1 if joblib.parallel.get_active_backend()[0].nesting_level else None
    if not isinstance(n_jobs, (int, np.integer)) or n_jobs < 1:
        raise ValueError(f"parameter `n_jobs` is {n_jobs}, but must be a whole number of at least 1, -1 or None")
    return int(n_jobs)


class WeightedSelector(BaseSelector):
    """The base of methods that use the weight of each sample."""

    def fit(self, X, y=None, *, sample_weight=None, feature_groups=None, feature_graph=None, sample_graph=None,
            authors=None, follows=None, views=None):
        return self._fit(X, y, sample_weight, dict(
            feature_groups=feature_groups, feature_graph=feature_graph, sample_graph=sample_graph, authors=authors,
            follows=follows, views=views))

    fit.__doc__ = BaseSelector.fit.__doc__.replace(
        "feature_groups, feature_graph",
        "sample_weight : array of shape (n_samples,), default=None\n            The weight of each sample, at least 0."
        "\n        feature_groups, feature_graph", 1)


class Selector(WeightedSelector):
    __doc__ = f"""Any method of the registry, by its id.

Parameters
----------
method : str, default='hsic-lasso'
    The id of the method, or another name of it: `fewest.methods()` lists them.
{_docs.common_parameters()}
**params
    Parameters of the method, as keyword arguments; `lambda` is written `lambda_`. What is not given has its default.

{_docs.ATTRIBUTES}

Examples
--------
>>> from sklearn.datasets import load_wine
>>> X, y = load_wine(return_X_y=True, as_frame=True)
>>> selector = Selector("mrmr", k=2).fit(X, y)
>>> list(selector.get_feature_names_out())
['alcohol', 'flavanoids']
"""

    def __init__(self, method="hsic-lasso", k=None, *, task="auto", missing="error", window=None, half_life=None,
                 drift=False, random_state=0, n_jobs=None, time_limit=None, verbose=False, **params):
        self.method = method
        self.k = k
        self.task = task
        self.missing = missing
        self.window = window
        self.half_life = half_life
        self.drift = drift
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.verbose = verbose
        self._given = tuple(params)
        for name, value in params.items():
            setattr(self, name, value)

    def _method(self):
        method = known(self.method)
        names = {parameter["python"]: parameter["name"] for parameter in method["parameters"]}
        return method, {names.get(name, name): getattr(self, name) for name in self._given}

    def get_params(self, deep=True):
        """The parameters, with those of the method that were given."""
        return {**super().get_params(deep=deep), **{name: getattr(self, name) for name in self._given}}

    def set_params(self, **params):
        """Sets parameters, those of the method too, whether they were given before or not."""
        method = known(params.get("method", self.method))
        new = {parameter["python"] for parameter in method["parameters"]} & params.keys() - set(self._given)
        for name in sorted(new):
            self._given += (name,)
            setattr(self, name, None)
        return super().set_params(**params)
