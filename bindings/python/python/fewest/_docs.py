"""Docstrings and types of the classes, from the tables of the registry."""

COMMON = [
    ("k", "int | Literal['auto'] | None", None,
     "Number of features. None: 10, or all if there are fewer; where a parameter is given that decides the number, as "
     "many as it decides. 'auto': as many as the method decides itself."),
    ("task", "Literal['auto', 'classification', 'regression', 'survival', 'affinity']", "auto",
     "How the target is read. 'auto': text, booleans and few different whole numbers are classes, other numbers real "
     "outputs, unless the method takes only one of these. 'survival': two columns, the time and the event. 'affinity': "
     "a symmetric matrix of all pairs of samples."),
    ("missing", "Literal['error', 'drop-rows', 'mean', 'median']", "error",
     "What is done about NaN in the features while fitting: an error, leaving out samples, or filling in the mean or "
     "median (of categories the most frequent one)."),
    ("window", "int | None", None,
     "Of `partial_fit`: only the last so many samples count, and every method has it. `fit` takes all samples."),
    ("half_life", "float | None", None,
     "Of `partial_fit`: the weight of a sample halves every so many samples. For FScore, Correlation and Variance."),
    ("drift", "bool", False,
     "Of `partial_fit`: whether to watch if the selection still holds, and to forget what came before a change; see "
     "`drift_`. For FScore, Correlation and Variance."),
    ("random_state", "int | np.random.RandomState | None", 0,
     "Seed of all random numbers, as `--seed` of the command. With an int the result is the same at every call and for "
     "any number of threads, bit for bit."),
    ("n_jobs", "int | None", None,
     "Number of threads. None or -1: all cores, but one within a parallel call of joblib."),
    ("time_limit", "float | None", None,
     "Seconds after which fitting stops with the best result so far and a ConvergenceWarning."),
    ("verbose", "bool | Callable[[str, int, int], None]", False,
     "Whether to show progress, by tqdm if it is installed; or a function that gets it."),
]

ATTRIBUTES = """Attributes
----------
order_ : ndarray of int
    The selected features, best first.
scores_ : ndarray of shape (n_features,)
    The score of every feature; NaN where the method gives none, which most give to selected features only.
ranking_ : ndarray of shape (n_features,)
    The rank of every feature: 1 is the best; all that are not selected share the last.
p_values_, q_values_ : ndarray of shape (n_features,) or None
    Of tests: the p-value, and the share of false discoveries at it (Benjamini and Hochberg).
path_ : Bunch or None
    Of methods that follow a path: `lambdas`, `coefficients` (sparse, a row for each penalty), `choice`.
certificate_ : Bunch or None
    Of methods that solve a problem: `kind`, `value`, `solver`, `status`, `objective`, `iterations`, `lambda_`.
related_ : list of list of (int, float)
    For each feature of `order_`, the features most related to it, where the method computes them.
drift_ : Bunch or None
    Of `partial_fit` with `drift`: the last alarm, with its `number`, the `sample` at which it came, `since` when the
    selection does not hold, the features that `left` and `entered`, and `rank_correlation` of the scores.
status_, notes_ : str, list of str
    How it ended, and what should be known of it.
"""

_TYPES = {"int": "int", "float": "float", "bool": "bool", "features": "Sequence[int]"}


def literal(words):
    return f"Literal[{', '.join(map(repr, words))}]"


def type_of(parameter):
    """The type of a parameter of a method, as an annotation."""
    kind = parameter["kind"]
    types = [literal(parameter["words"])] if kind == "word" else [_TYPES[kind]]
    if kind == "float" and parameter["words"]:
        types.append(literal(parameter["words"]))
    if parameter["default"] is None:
        types.append("None")
    return " | ".join(types)


def wrapped(text, indent="    ", width=108):
    lines, line = [], indent
    for word in text.split():
        if len(line) + len(word) > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    return "\n".join([*lines, line.rstrip()])


def _sentence(text):
    return text[:1].upper() + text[1:] + "."


def _entry(name, kind, default, about):
    return f"{name} : {kind}, default={default!r}\n{wrapped(about)}"


def common_parameters():
    return "\n".join(_entry(*entry) for entry in COMMON)


def class_doc(method):
    """The docstring of the class of a method."""
    entries = [_entry(*COMMON[0])]
    for parameter in method["parameters"]:
        about = _sentence(parameter["description"])
        if parameter["kind"] not in ("word", "bool"):
            about += f" {_sentence(parameter['range'])}"
        if parameter["condition"]:
            about += f" Only where {parameter['condition']}."
        entries.append(_entry(parameter["python"], type_of(parameter), parameter["default"], about))
    entries += [_entry(*entry) for entry in COMMON[1:]]
    uses = ", ".join(kind for kind in method["targets"] if kind != "none") or "none"
    facts = [f"Method `{method['id']}` of the family {method['family']}. Target: {uses}."]
    if not method["supervised"]:
        facts.append("No target is needed.")
    if method["needs_views"]:
        facts.append("`fit` needs `views`.")
    for table in method["links"]:
        facts.append(f"`fit` uses `{table}`.")
    return "\n".join([
        wrapped(_sentence(method["title"]), ""), "", wrapped(method["formula"], ""), "", wrapped(" ".join(facts), ""),
        "", "Parameters", "----------", *entries, "", ATTRIBUTES,
    ])
