"""Groups, links and views as the library takes them: from lists, arrays, SciPy's and NetworkX's graphs."""

import numpy as np
import scipy.sparse as sp

from . import _fewest

# What `fit` takes of them.
LINKS = ("feature_groups", "feature_graph", "sample_graph", "authors", "follows", "views")


def with_links(data, given):
    """The data set with what is given of its features and samples."""
    n_samples, n_features = data.shape
    if given["feature_groups"] is not None:
        data = _with_groups(data, given["feature_groups"], n_features)
    if given["views"] is not None:
        data = data.with_views(_views(given["views"], n_features))
    if given["feature_graph"] is not None:
        data = data.with_feature_graph(graph("feature_graph", given["feature_graph"], n_features))
    if given["sample_graph"] is not None:
        data = data.with_sample_graph(graph("sample_graph", given["sample_graph"], n_samples))
    if given["authors"] is not None:
        data = _with_authors(data, given["authors"], given["follows"])
    elif given["follows"] is not None:
        raise ValueError("follows: links between authors need `authors`, the author of each sample")
    return data


def _with_groups(data, groups, n_features):
    """A label for each feature, or a list of sets of features, which may overlap."""
    if isinstance(groups, dict):
        groups = list(groups.values())
    groups = list(groups)
    if groups and all(np.ndim(group) == 1 for group in groups):
        return data.with_sets([[int(j) for j in group] for group in groups])
    if len(groups) != n_features:
        raise ValueError(f"feature_groups: {len(groups)} labels for {n_features} features: give each feature one")
    return data.with_partition(np.unique(groups, return_inverse=True)[1].tolist())


def _views(views, n_features):
    """`{name: features}`, or a label for each feature."""
    if isinstance(views, dict):
        return [(str(name), [int(j) for j in features]) for name, features in views.items()]
    labels = np.asarray(views)
    if labels.shape != (n_features,):
        raise ValueError(f"views: {labels.size} labels for {n_features} features: give each feature one")
    return [(str(name), np.flatnonzero(labels == name).tolist()) for name in np.unique(labels)]


def graph(name, given, n_nodes):
    """Links of a square matrix, of a graph of NetworkX (its nodes in their order), or of pairs with weights."""
    if hasattr(given, "is_directed") and hasattr(given, "edges"):
        place = {node: i for i, node in enumerate(given.nodes)}
        links = [(place[a], place[b], float(weight)) for a, b, weight in given.edges(data="weight", default=1.0)]
        return _checked(name, len(place), n_nodes, links, given.is_directed())
    matrix = sp.coo_array(given) if sp.issparse(given) or np.ndim(given) == 2 and len(given) == n_nodes else None
    if matrix is None or matrix.shape[0] != matrix.shape[1]:
        links = [(int(link[0]), int(link[1]), float(link[2]) if len(link) > 2 else 1.0) for link in given]
        return _checked(name, n_nodes, n_nodes, links, False)
    directed = bool(abs(matrix - matrix.T).max() > 0) if matrix.nnz else False
    links = [
        (int(i), int(j), float(weight))
        for i, j, weight in zip(*matrix.coords, matrix.data)
        if weight != 0 and (i != j) and (directed or i < j)
    ]
    return _checked(name, matrix.shape[0], n_nodes, links, directed)


def _checked(name, found, n_nodes, links, directed):
    if found != n_nodes:
        raise ValueError(f"{name}: {found} nodes, but {n_nodes} needed: one for each")
    return _fewest.Graph(n_nodes, links, directed)


def _with_authors(data, authors, follows):
    names, of_sample = np.unique(np.asarray(authors), return_inverse=True)
    links = _fewest.Graph(len(names), [], True) if follows is None else graph("follows", follows, len(names))
    return data.with_authors(of_sample.tolist(), links)
