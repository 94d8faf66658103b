"""The name of the class of a method, in the style of the field."""

import re

# Names that the rule below would not find.
EXCEPTIONS = {
    "boruta": "Boruta",
    "chi2": "Chi2",
    "distinct": "Distinct",
    "enet-svm": "EnetSVM",
    "fsnet": "FSNet",
    "generalized-fisher": "GeneralizedFisher",
    "gflasso": "GFLasso",
    "gpcov-var": "GPCOVVar",
    "group-l1-l21-clusters": "GroupL1L21Clusters",
    "l0-appr": "L0Appr",
    "linkedfs": "LinkedFS",
    "netfs": "NetFS",
    "nonconvex-grouping": "NonconvexGrouping",
    "nonconvex-lasso": "NonconvexLasso",
    "permutation-importance": "PermutationImportance",
    "spam": "SpAM",
    "spanb-rfe": "SpanBRFE",
    "uncorrelated": "Uncorrelated",
}


def class_name(method_id, title):
    """`HSICLasso` for `hsic-lasso`, whose title is `HSIC Lasso`; `MRMR` for `mrmr`.

    A part of the id that is a word of the title is written as there, with a capital; any other is short for several
    words, and is written in capitals.
    """
    if method_id in EXCEPTIONS:
        return EXCEPTIONS[method_id]
    words = {word.lower(): word for word in re.findall(r"\w+", title)}
    parts = [words.get(part, part.upper()) for part in method_id.split("-")]
    return "".join(part[:1].upper() + part[1:] for part in parts)


def python_name(parameter):
    """The name of a parameter as a keyword argument: `lambda` is a word of the language."""
    return parameter + "_" if parameter == "lambda" else parameter
