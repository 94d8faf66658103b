"""The methods and their parameters, as the registry declares them."""

from . import _fewest
from ._names import class_name, python_name

METHODS = {method["id"]: method for method in _fewest.methods()}

for _method in METHODS.values():
    _method["class"] = class_name(_method["id"], _method["title"])
    for _parameter in _method["parameters"]:
        _parameter["python"] = python_name(_parameter["name"])
        if sorted(_parameter["words"]) == ["false", "true"]:
            _parameter["kind"] = "bool"
            _parameter["default"] = _parameter["default"] == "true"

# The methods that use the weight of each sample; of every other they are refused. A test tries them all.
WEIGHTED = frozenset({"lasso", "elastic-net", "adaptive-lasso", "dantzig", "nmmkl", "nmmklr"})

# Of classes they take two only, as long as no parameter says otherwise: scikit-learn knows it from the tags of an
# estimator.
TWO_CLASSES = frozenset(
    {"alpha-investing", "correlation", "fast-osfs", "grafting", "ofs", "osfs", "relief", "saola", "t-score"}
)


def known(method):
    """The entry of a method, by its id or another name of it."""
    if not isinstance(method, str):
        raise TypeError(f"method is {method!r}, but must be the id of a method, such as 'hsic-lasso'")
    return METHODS[_fewest.find(method)]


def methods():
    """Every method: a dictionary with its `id`, `class`, `title`, `formula`, `family`, `targets` and `parameters`.

    >>> [method["class"] for method in fewest.methods() if method["family"] == "similarity"][:3]
    ['Fisher', 'GeneralizedFisher', 'Laplacian']
    """
    return [dict(method) for method in METHODS.values()]


def given(values):
    """The parameters of a method that are given, as the command takes them."""
    texts = []
    for name, value in values.items():
        if value is not None:
            try:
                texts.append((name, text(value)))
            except TypeError:
                raise TypeError(
                    f"parameter `{name}` is {value!r}, but must be a number, a word, or a list of them") from None
    return texts


def text(value):
    """A value of a parameter as the command takes it."""
    if getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if hasattr(value, "__iter__") and not isinstance(value, dict):
        return ",".join(text(item) for item in value)
    if hasattr(value, "__index__"):
        return str(int(value))
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
