"""What a selection found, as attributes of an estimator."""

import json

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch


def _number(value):
    """A number of the document, which has words for what JSON has no numbers for."""
    return np.nan if value is None else float(value)


def _of_all(n_features, order, values):
    if values is None:
        return None
    everywhere = np.full(n_features, np.nan)
    everywhere[order] = values
    return everywhere


def _path(document, n_features):
    if "path" not in document:
        return None
    points = document["path"]
    starts = np.cumsum([0] + [len(point["index"]) for point in points])
    index = np.array([j for point in points for j in point["index"]], dtype=np.int64)
    values = np.array([_number(value) for point in points for value in point["coefficient"]])
    coefficients = sp.csr_array((values, index, starts), shape=(len(points), n_features))
    choice = document.get("choice")
    return Bunch(
        lambdas=np.array([_number(point["lambda"]) for point in points]), coefficients=coefficients,
        choice=choice and Bunch(
            criterion=choice["criterion"], point=choice["point"],
            values=np.array([_number(value) for value in choice["values"]]),
            standard_errors=np.array([_number(value) for value in choice.get("standard_errors", [])])))


def _certificate(document):
    solver = document["solver"]
    if solver is None:
        return None
    return Bunch(
        kind=solver["certificate"], value=_number(solver["gap"]), solver=solver["name"], status=solver["status"],
        objective=_number(solver["objective"]), iterations=solver["iterations"], lambda_=_number(solver["lambda"]),
        approximation=solver.get("approximation"))


def attributes(found, n_features):
    """The attributes of an estimator that found this."""
    document = json.loads(found["document"])
    order = found["order"]
    ranking = np.full(n_features, len(order) + 1, dtype=np.int64)
    ranking[order] = np.arange(1, len(order) + 1)
    scores, p_values, q_values = found["all_scores"], found["all_p_values"], found["all_q_values"]
    related = [
        [(other["index"], _number(other["relatedness"])) for other in feature.get("related", [])]
        for feature in document["features"]
    ]
    return {
        "order_": order,
        "ranking_": ranking,
        "scores_": _of_all(n_features, order, found["scores"]) if scores is None else scores,
        "p_values_": _of_all(n_features, order, found["p_values"]) if p_values is None else p_values,
        "q_values_": _of_all(n_features, order, found["q_values"]) if q_values is None else q_values,
        "path_": _path(document, n_features),
        "certificate_": _certificate(document),
        "related_": related or [[] for _ in order],
        "status_": document["status"],
        "notes_": document["notes"],
        "params_": document["params"],
        "false_discoveries_": document.get("false_discoveries"),
        "view_weights_": {view["name"]: _number(view["weight"]) for view in document.get("views", [])},
    }
