"""Tables and targets of Python, as the library reads them: where they lie, if their layout allows."""

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, column_or_1d

from . import _fewest

FEATURES = "numbers, booleans, text and categories can be features"
# What pandas calls objects that are numbers.
NUMBERS = ("boolean", "integer", "floating", "mixed-integer-float", "decimal")
TASKS = ("auto", "classification", "regression", "survival", "affinity")


def is_frame(X):
    """Whether `X` is a data frame: of pandas, or with Arrow's interface."""
    return not isinstance(X, np.ndarray) and (_is_pandas(X) or hasattr(X, "__arrow_c_stream__"))


def array(X, validated):
    """What is no data frame, as `validated` of scikit-learn takes it; what would mislead is refused."""
    if isinstance(X, np.ma.MaskedArray):
        X = X.astype(np.float64).filled(np.nan)
    if getattr(getattr(X, "dtype", None), "kind", None) in ("m", "M"):
        raise TypeError(f"X has type {X.dtype}: numbers and booleans can be features of an array")
    try:
        return validated(X)
    except ValueError as error:
        if not str(error).startswith("could not convert string to float"):
            raise
        raise ValueError(f"{error}: text can be features of a data frame, such as pandas.DataFrame(X)") from None


def _is_pandas(X):
    return hasattr(X, "iloc") and hasattr(X, "dtypes")


def table(X):
    """The table of an array, a sparse matrix or a data frame."""
    if _is_pandas(X):
        return _pandas(X)
    if is_frame(X):
        return _arrow(X)
    if sp.issparse(X):
        return _sparse(X)
    return _dense(X)


def _bytes(values):
    """The memory of a contiguous array, as it lies."""
    return values.ravel(order="K").view(np.uint8)


def _dense(X):
    if X.dtype not in (np.float64, np.float32):
        X = X.astype(np.float64)
    if not (X.flags.c_contiguous or X.flags.f_contiguous) or not X.flags.aligned:
        X = X.copy(order="F")
    single = X.dtype == np.float32
    return _fewest.Table.dense(_bytes(X), bool(single), *X.shape, bool(X.flags.f_contiguous))


def _sparse(X):
    X = X.tocsc()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    indices = (X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int64, copy=False))
    values = np.ascontiguousarray(X.data, dtype=np.float64)
    return _fewest.Table.sparse(*indices, _bytes(values), X.shape[0])


def _pandas(X):
    names = [str(name) for name in X.columns]
    kinds = set(X.dtypes)
    if kinds in ({np.dtype(np.float64)}, {np.dtype(np.float32)}):
        return _dense(X.to_numpy()).named(names)
    return _columns([(name, *_pandas_column(name, X.iloc[:, j])) for j, name in enumerate(names)], len(X))


def _columns(columns, n_samples):
    """A table of columns: each with its name, its values and the names of its codes, where they are codes."""
    return _fewest.Table.columns([(name, _bytes(values), levels) for name, values, levels in columns], n_samples)


def _pandas_column(name, column):
    """The numbers of a column, and the names of its codes if it has categories."""
    kind = column.dtype
    if str(kind) == "object" and _holds_numbers(column):
        return np.ascontiguousarray(column.to_numpy(dtype=np.float64, na_value=np.nan)), None
    if hasattr(column, "cat") or str(kind) in ("object", "str") or str(kind).startswith("string"):
        return _categories(name, column)
    if kind.kind not in "iufb" and not getattr(kind, "_is_numeric", False):
        raise TypeError(f"column `{name}` has type {kind}: {FEATURES}")
    return np.ascontiguousarray(column.to_numpy(dtype=np.float64, na_value=np.nan)), None


def _holds_numbers(column):
    from pandas.api.types import infer_dtype

    return infer_dtype(column, skipna=True) in NUMBERS


def _categories(name, column):
    missing = column.isna().to_numpy()
    texts = column.astype(object).to_numpy()
    if any(isinstance(text, (list, dict, set)) for text in texts[:100]):
        raise TypeError(f"column `{name}` holds lists: {FEATURES}")
    return _codes(texts, missing)


def _codes(texts, missing):
    """Codes in the order of the alphabet, as the command reads text, NaN where nothing is; and their names."""
    codes = np.full(len(texts), np.nan)
    if not missing.all():
        levels, codes[~missing] = np.unique([str(text) for text in texts[~missing]], return_inverse=True)
        return codes, levels.tolist()
    return codes, []


def _arrow(X):
    """A frame of polars, or of anything with Arrow's interface that polars or pyarrow can take over."""
    try:
        import polars as pl
    except ImportError:
        return _pyarrow(X)
    X = X if isinstance(X, pl.DataFrame) else pl.DataFrame(X)
    return _columns([(column.name, *_polars_column(column, pl)) for column in X.iter_columns()], X.height)


def _polars_column(column, pl):
    kind = column.dtype
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return _codes(column.cast(pl.String).to_numpy(), column.is_null().to_numpy())
    if not kind.is_numeric() and kind != pl.Boolean:
        raise TypeError(f"column `{column.name}` has type {kind}: {FEATURES}")
    return np.ascontiguousarray(column.cast(pl.Float64).to_numpy()), None


def _pyarrow(X):
    try:
        import pyarrow as pa
    except ImportError:
        raise TypeError("data frames other than those of pandas need polars or pyarrow: install one") from None
    return _pandas(pa.table(X).to_pandas())


def _label(value):
    """The name of a class: 1 and 1.0 are the same one."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def target(y, task, kinds):
    """The target that `y` is for a method that takes targets of these kinds."""
    if y is None:
        return _fewest.Target.none()
    if task not in TASKS:
        raise ValueError(f"parameter `task` is {task}, but must be one of {', '.join(TASKS)}")
    if getattr(getattr(y, "dtype", None), "names", None):
        return _survival_record(y)
    y = _values(y)
    if y.ndim == 2:
        return _several(y, task)
    if task == "auto":
        task = _task(y, kinds)
    if task == "classification":
        names, codes = _classes(y)
        if len(names) > max(20, len(y) / 2):
            warnings.warn(
                f"the target has {len(names)} classes in {len(y)} samples: if it is a number, take a method for "
                "numbers, or task='regression'", UserWarning)
        return _fewest.Target.classes(codes.astype(np.uint32), [_label(name) for name in names])
    if task != "regression":
        raise ValueError(f"task={task} needs a target of several columns")
    return _fewest.Target.outputs(_numbers(y), len(y))


def _classes(y):
    """The classes in their order, and the number of that of each sample."""
    try:
        return np.unique(y, return_inverse=True)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in y})
        raise ValueError(f"the target mixes {' and '.join(kinds)}: write all classes as text") from None


def _values(y):
    """The values of a target, none of which is missing: an array of one column or several."""
    if _is_pandas(y) or hasattr(y, "to_numpy"):
        y = y.to_numpy()
    y = np.asarray(y)
    if y.ndim == 2:
        return column_or_1d(y, warn=True) if y.shape[1] == 1 else y
    y = column_or_1d(y)
    if y.dtype.kind in "mM":
        raise ValueError(f"the target has type {y.dtype}: numbers, booleans and text can be a target")
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    if y.dtype.kind == "O" and any(value is None or value != value for value in y):
        raise ValueError("Input y contains NaN: leave out the samples whose target is missing.")
    return y


def task_of(y, task, kinds):
    """What a target is that arrives in batches: `classification`, `regression`, or `none`."""
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"parameter `task` is {task}, but samples arrive with classes or numbers")
    if y is None:
        return "none"
    y = _values(y)
    if y.ndim == 2:
        raise ValueError(f"a target of {y.shape[1]} columns: samples arrive with one")
    return _task(y, kinds) if task == "auto" else task


def class_names(y):
    """The names of all classes, in their order."""
    return [_label(value) for value in _classes(_values(y))[0]]


def classes_target(y, classes):
    """The target of a batch, of classes that are known."""
    if y is None:
        raise ValueError("y: the first samples had classes, and these need them too")
    place = {name: code for code, name in enumerate(classes)}
    names = [_label(value) for value in _values(y)]
    if unknown := set(names) - place.keys():
        raise ValueError(
            f"y: class {min(unknown)} is none of the first batch: give all to the first call, as `classes`")
    codes = np.array([place[name] for name in names], dtype=np.uint32)
    return _fewest.Target.classes(codes, classes)


def _numbers(y):
    try:
        numbers = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("the target is text, but numbers are needed: use task='classification'") from None
    assert_all_finite(numbers, input_name="y")
    return numbers


def _task(y, kinds):
    """Classes or numbers, by the rule of the command where the method takes both."""
    if y.dtype.kind not in "iuf":
        try:
            if y.dtype.kind != "O":
                return "classification"
            y = y.astype(np.float64)
        except (TypeError, ValueError):
            return "classification"
    takes_numbers, takes_classes = "a real output" in kinds, "classes" in kinds
    if takes_numbers != takes_classes:
        if takes_numbers:
            return "regression"
        return "classification" if np.all(y == np.floor(y)) else _not_classes(y)
    return "classification" if _fewest.are_classes(np.ascontiguousarray(y, dtype=np.float64)) else "regression"


def _not_classes(y):
    raise ValueError(
        f"Unknown label type: continuous. The method needs classes as target, but a value is {y[y != np.floor(y)][0]}")


def _several(y, task):
    numbers = _numbers(y)
    if task == "survival":
        if numbers.shape[1] != 2:
            raise ValueError("task='survival' needs two columns, the time and the event, in this order")
        events = numbers[:, 1]
        if not np.isin(events, (0.0, 1.0)).all():
            raise ValueError("an event is 1, or 0 for a sample that was seen without one until then")
        return _fewest.Target.survival(np.ascontiguousarray(numbers[:, 0]), events.astype(bool).tolist())
    if task == "affinity":
        return _fewest.Target.affinity(numbers.ravel(), len(numbers))
    if task == "classification":
        raise ValueError(f"a classification with {numbers.shape[1]} target columns: give one")
    return _fewest.Target.outputs(numbers.ravel(order="F"), len(numbers))


def _survival_record(y):
    """A structured array of an event and a time, as packages for survival analysis have it."""
    events = [name for name in y.dtype.names if y.dtype[name].kind == "b"]
    times = [name for name in y.dtype.names if y.dtype[name].kind in "iuf"]
    if len(events) != 1 or len(times) != 1:
        raise ValueError("a structured target needs one field of booleans, the event, and one of numbers, the time")
    times = np.ascontiguousarray(y[times[0]], dtype=np.float64)
    return _fewest.Target.survival(times, y[events[0]].tolist())
