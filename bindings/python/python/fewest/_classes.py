"""A class for each method, made from the tables of the registry."""

import inspect

from ._catalogue import METHODS, WEIGHTED
from ._docs import class_doc
from ._selector import COMMON, BaseSelector, WeightedSelector


def _make(method):
    defaults = {parameter["python"]: parameter["default"] for parameter in method["parameters"]}
    taken = defaults.keys() & COMMON.keys()
    if taken:
        raise RuntimeError(f"{method['id']}: parameters named {taken} would hide those of every estimator")
    names = [(parameter["python"], parameter["name"]) for parameter in method["parameters"]]
    keywords = {**defaults, **{name: default for name, default in COMMON.items() if name != "k"}}
    name = method["class"]

    def __init__(self, k=None, **given):
        unknown = given.keys() - keywords.keys()
        if unknown:
            raise TypeError(
                f"{name}() has no parameter {sorted(unknown)[0]!r}: it takes k, {', '.join(keywords)}")
        self.k = k
        for keyword, default in keywords.items():
            setattr(self, keyword, given.get(keyword, default))

    # What Python says of arguments that do not fit.
    __init__.__qualname__ = name
    parameter = inspect.Parameter
    __init__.__signature__ = inspect.Signature([
        parameter("self", parameter.POSITIONAL_OR_KEYWORD),
        parameter("k", parameter.POSITIONAL_OR_KEYWORD, default=None),
        *(parameter(keyword, parameter.KEYWORD_ONLY, default=value) for keyword, value in keywords.items()),
    ])

    def _method(self):
        # Only what differs from its default is given: what has no effect beside the others is an error.
        values = {own: getattr(self, python) for python, own in names}
        return method, {own: values[own] for python, own in names if not _same(values[own], defaults[python])}

    base = WeightedSelector if method["id"] in WEIGHTED else BaseSelector
    body = {"__init__": __init__, "_method": _method, "__doc__": class_doc(method), "__module__": "fewest"}
    return type(name, (base,), body)


def _same(value, default):
    return type(value) is type(default) and value == default or value is default


CLASSES = {method["class"]: _make(method) for method in METHODS.values()}
if len(CLASSES) != len(METHODS):
    raise RuntimeError("two methods have a class of one name: see fewest/_names.py")
