"""Samples that arrive batch by batch: `partial_fit`."""

import warnings

import numpy as np
from sklearn.utils import Bunch

from . import _fewest
from ._catalogue import METHODS, given
from ._input import class_names, classes_target, target, task_of
from ._links import LINKS, check_uses
from ._progress import Progress


def takes_batches(estimator):
    """Whether samples can arrive at the method; raises what says which others there are."""
    method, _ = estimator._method()
    # A window is a table, which any method takes.
    if method["arrives"] == "samples" or estimator.window is not None:
        return True
    others = ", ".join(entry["id"] for entry in METHODS.values() if entry["arrives"] == "samples")
    raise AttributeError(
        f"{method['id']} needs all samples at once: use `fit`, say by `window` how many of the last ones count, or use "
        f"one of the methods with partial_fit: {others}")


def _forgets(selector):
    """What of older samples counts, checked."""
    window, half_life, drift = selector.window, selector.half_life, selector.drift
    if window is not None and (isinstance(window, bool) or not isinstance(window, (int, np.integer)) or window < 1):
        raise ValueError(f"parameter `window` is {window}, but must be a whole number of at least 1, or None")
    if half_life is not None and not (isinstance(half_life, (int, float, np.number)) and 0 < half_life < np.inf):
        raise ValueError(f"parameter `half_life` is {half_life}, but must be a number of samples above 0, or None")
    if not isinstance(drift, (bool, np.bool_)):
        raise ValueError(f"parameter `drift` is {drift}, but must be True or False")
    return (None if window is None else int(window), None if half_life is None else float(half_life), bool(drift))


class Batches:
    """What a selector keeps of the samples that came, and what the first of them decided."""

    def __init__(self, selector, X, y, classes):
        method, values = selector._method()
        check_uses(method, values, dict.fromkeys(LINKS))
        data = selector._table(X, y, least=1)
        self.id, self.n_features, self.kinds = method["id"], data.shape[1], data.levels
        # Names of classes, where the target are classes.
        self.classes = None
        task = "classification" if classes is not None and selector.task == "auto" else selector.task
        self.task = task_of(y, task, method["targets"])
        if self.task == "classification":
            self.classes = class_names(y if classes is None else classes)
        elif classes is not None:
            raise ValueError(f"classes: with task={selector.task} there are none: leave them out")
        how = selector._how(None)
        self.stream = _fewest.Stream(
            method["id"], given(values), selector._number(), data.shape[1], how["seed"], _forgets(selector), None)

    def same_classes(self, classes):
        """Whether they are those of the first call."""
        return self.classes == class_names(classes)

    def take(self, selector, X, y):
        """Takes samples, and sets what is selected then."""
        data = selector._table(X, y, reset=False, least=1)
        if data.levels != self.kinds:
            raise ValueError(
                "the columns with categories, or these, are not those of the first batch: give every batch the same, "
                "or write categories as numbers")
        method, _ = selector._method()
        if self.classes is not None:
            goal = classes_target(y, self.classes)
        else:
            goal = target(None if self.task == "none" else y, self.task, method["targets"])
        data = _fewest.Data(data, goal)
        with Progress(selector.verbose) as progress:
            how = selector._how(progress)
            self.stream.update(data, str(selector.missing), how)
            selector._batches, selector._found = self, None
            alarm = self.stream.alarm()
            selector.drift_ = alarm and Bunch(**alarm)
            try:
                found = self.stream.selection(data, how)
            except _fewest.NotYet as error:
                # Of few samples; the next ones may change that.
                vars(selector).pop("order_", None)
                warnings.warn(f"{self.id}: nothing is selected yet: {error}", UserWarning, stacklevel=3)
                return
        selector._take(found, self.n_features)
