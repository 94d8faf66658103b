"""Groups, links and views as the library takes them: from lists, arrays, SciPy's and NetworkX's graphs."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from . import _fewest

# What `fit` takes of them.
LINKS = ("feature_groups", "feature_graph", "sample_graph", "authors", "follows", "views")


class Whole:
    """What is known of all samples or features, passed on whole by a search of scikit-learn.

    `GridSearchCV` and its relatives cut into folds whatever has as many entries as there are samples: a list of links
    that happens to be as long, a matrix of all pairs, a graph of NetworkX. They pass on `Whole(links)` as it is, and
    every fold takes the links between its own samples, which it finds by the names in the index of `X`.

    Parameters
    ----------
    value : list, array, sparse matrix, data frame or graph of NetworkX
        What `fit` would be given for all samples.
    """

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Whole({type(self.value).__name__})"


def uses(method, values):
    """What of `LINKS` a method uses with these parameters, each with how a parameter asks for it."""
    used = {link: "" for link in method["links"]}
    if method["needs_views"]:
        used["views"] = ""
    for parameter, word, link in _choices(method):
        chosen = values.get(parameter["name"])
        if (parameter["default"] if chosen is None else chosen) == word:
            others = " or ".join(repr(other) for other in parameter["words"] if other != word)
            used[link] = f"{parameter['python']}={others}"
    return used


def _choices(method):
    """The parameters by which a method takes groups or links of features, with the word that says so."""
    for parameter in method["parameters"]:
        if parameter["group_word"]:
            yield parameter, parameter["group_word"], "feature_groups"
        if parameter["name"] == "graph" and "given" in parameter["words"]:
            yield parameter, "given", "feature_graph"


def check_uses(method, values, links):
    """Refuses what a method has no use for, and a choice of what is not there."""
    used = uses(method, values)
    for link, others in used.items():
        if others and links[link] is None:
            raise ValueError(f"{method['id']}: there is no {link}: give it to `fit`, or take {others}")
    for link in LINKS:
        if links[link] is not None and link not in used:
            ask = [f"{parameter['python']}={word!r}" for parameter, word, own in _choices(method) if own == link]
            advice = f"take {ask[0]}, or leave it out" if ask else "leave it out"
            raise ValueError(f"{link}: {method['id']} does not use it: {advice}")


def sample_names(X):
    """What the samples of a table are called, where they have names."""
    return X.index.tolist() if hasattr(X, "iloc") else None


def with_links(data, given, names):
    """The data set with what is given of its features and samples, which may be called by their `names`."""
    n_samples, n_features = data.shape
    for link in ("feature_groups", "feature_graph", "sample_graph", "follows"):
        _refuse_cut(link, given[link], n_samples)
    # Features are the same in every fold.
    given = {link: value.value if isinstance(value, Whole) and link not in ("sample_graph", "follows") else value
             for link, value in given.items()}
    if given["feature_groups"] is not None:
        data = _with_groups(data, given["feature_groups"], names["feature"])
    if given["views"] is not None:
        data = data.with_views(_views(given["views"], n_features, names["feature"]))
    if given["feature_graph"] is not None:
        data = data.with_feature_graph(graph("feature_graph", given["feature_graph"], n_features, names["feature"]))
    if given["sample_graph"] is not None:
        data = data.with_sample_graph(graph("sample_graph", given["sample_graph"], n_samples, names["sample"]))
    if given["authors"] is not None:
        data = _with_authors(data, given["authors"], given["follows"])
    elif given["follows"] is not None:
        raise ValueError("follows: links between authors need `authors`, the author of each sample")
    return data


def _refuse_cut(what, given, n_samples):
    """Refuses a list that a search of scikit-learn would have cut: one with an entry for each sample, by chance."""
    if isinstance(given, (list, tuple, np.ndarray)) and not isinstance(given, Links) and len(given) == n_samples:
        widths = {len(entry) if np.ndim(entry) == 1 or isinstance(entry, (set, frozenset)) else 0 for entry in given}
        if 0 not in widths and (what == "feature_groups" or widths <= {2, 3} and n_samples not in widths):
            raise ValueError(
                f"{what}: {n_samples} entries for {n_samples} samples: a search of scikit-learn would cut the list into "
                "folds, which could not be seen here: give fewest.Whole(…) of it, or a matrix or a dictionary")


def _with_groups(data, groups, names):
    """A label for each feature, or a list of sets of features, which may overlap."""
    n_features = data.shape[1]
    if isinstance(groups, dict):
        groups = list(groups.values())
    groups = list(groups)
    if groups and all(np.ndim(group) == 1 or isinstance(group, (set, frozenset, range)) for group in groups):
        place = _places("feature_groups", n_features, names)
        return data.with_sets([sorted({place(j) for j in group}) for group in groups])
    if len(groups) != n_features:
        raise ValueError(f"feature_groups: {len(groups)} labels for {n_features} features: give each feature one")
    return data.with_partition(np.unique(groups, return_inverse=True)[1].tolist())


def _views(views, n_features, names):
    """`{name: features}`, or a label for each feature."""
    if isinstance(views, dict):
        place = _places("views", n_features, names)
        return [(str(name), [place(j) for j in features]) for name, features in views.items()]
    labels = np.asarray(views)
    if labels.shape != (n_features,):
        raise ValueError(f"views: {labels.size} labels for {n_features} features: give each feature one")
    return [(str(name), np.flatnonzero(labels == name).tolist()) for name in np.unique(labels)]


def _places(what, n_nodes, names):
    """A function that finds the place of a node: by its name, or by its number from 0 where names are no numbers."""
    known = {} if names is None else {name: place for place, name in enumerate(names)}
    if names is not None and len(known) < len(names):
        raise ValueError(f"{what}: two nodes have one name: rename one, or give a matrix")
    by_number = not any(isinstance(name, (int, np.integer)) for name in known)

    def place(node):
        if node in known:
            return known[node]
        if by_number and isinstance(node, (int, np.integer)) and 0 <= node < n_nodes:
            return int(node)
        among = f"a number from 0 to {n_nodes - 1}" if by_number else "in the index of X"
        if what == "sample_graph":
            among += "; in a search over folds give fewest.Whole(…) of all links"
        raise ValueError(f"{what}: {node!r} is no name, nor {among}" if by_number else f"{what}: {node!r} is not {among}")

    return place


class Links(NamedTuple):
    """Pairs of nodes by their numbers, each with a weight, and whether they have a direction."""

    links: list
    directed: bool


def graph(name, given, n_nodes, names=None):
    """Links of a square matrix, of a data frame of all pairs, of a graph of NetworkX, or of pairs with weights.

    Nodes of frames and graphs, and of pairs, are called by their names or by their numbers; of graphs and pairs those
    without links may be left out.
    """
    links = _of_these(name, given.value, names) if isinstance(given, Whole) else links_of(name, given, n_nodes, names)
    return _fewest.Graph(n_nodes, *links)


def _of_these(name, given, names):
    """Of the links of all nodes those between these, which are found by name: those of a fold."""
    if names is None:
        raise ValueError(
            f"{name}: the links between the samples of a fold are found by name: give X as a data frame whose index "
            "names the samples, or a square matrix of all pairs")
    nodes = _nodes(given)
    links, directed = links_of(name, given, len(nodes), nodes)
    place = {node: i for i, node in enumerate(names)}
    if len(place) < len(names):
        raise ValueError(f"{name}: two nodes have one name: rename one")
    if links and place.keys().isdisjoint(nodes):
        raise ValueError(f"{name}: {nodes[0]!r} and all others are not in the index of X: {names[0]!r}, …")
    at = [place.get(node) for node in nodes]
    kept = [(at[a], at[b], weight) for a, b, weight in links if at[a] is not None and at[b] is not None]
    if not directed:
        kept = [(min(a, b), max(a, b), weight) for a, b, weight in kept]
    return Links(sorted(kept), directed)


def _nodes(given):
    """The names of all nodes of which links are given; those of a matrix are numbers."""
    if hasattr(given, "nodes"):
        return list(given.nodes)
    if hasattr(given, "iloc"):
        return given.index.tolist()
    links = given if hasattr(given, "shape") else list(given)
    shape = getattr(links, "shape", None) or (len(links), *{len(link) for link in links})
    # Two or three pairs are no matrix.
    if sp.issparse(links) or len(shape) == 2 and shape[0] == shape[1] > 3:
        return list(range(shape[0]))
    links = links.tolist() if isinstance(links, np.ndarray) else links
    return list(dict.fromkeys(node for link in links for node in link[:2]))


def links_of(name, given, n_nodes, names=None):
    """The links of whatever says them."""
    if isinstance(given, Links):
        return given
    if hasattr(given, "is_directed") and hasattr(given, "edges"):
        place, directed = _places(name, n_nodes, names), bool(given.is_directed())
        edges = [(place(a), place(b), float(w)) for a, b, w in given.edges(data="weight", default=1.0)]
        if not directed:
            edges = [(min(a, b), max(a, b), weight) for a, b, weight in edges]
        # They come in the order in which they were added, which would be seen in the last bits.
        return Links(sorted(edges), directed)
    if hasattr(given, "iloc"):
        return _of_frame(name, given, n_nodes, names)
    if not sp.issparse(given) and not hasattr(given, "shape"):
        given = list(given)
        if any(np.ndim(row) > 1 or np.ndim(row) == 0 for row in given):
            raise ValueError(f"{name}: give a square matrix, a graph of NetworkX, or a list of pairs of nodes")
        widths = {len(row) for row in given}
        if widths <= {2, 3} and not (len(given) == n_nodes and widths == {n_nodes}):
            place = _places(name, n_nodes, names)
            return Links([
                (place(link[0]), place(link[1]), float(link[2]) if len(link) > 2 else 1.0) for link in given], False)
        given = np.asarray(given) if len(widths) == 1 else np.empty((len(given), 0))
    if given.shape == (n_nodes, n_nodes):
        return _of_matrix(sp.coo_array(given))
    if not sp.issparse(given) and given.ndim == 2 and given.shape[1] in (2, 3):
        return links_of(name, given.tolist(), n_nodes, names)
    shape = " x ".join(map(str, given.shape))
    raise ValueError(
        f"{name}: {shape}, but a square matrix of {n_nodes} nodes needed. Of a matrix, a search over folds passes on "
        "the rows of a fold only: give it fewest.Whole(…) of the matrix, and X as a data frame whose index names the "
        "samples")


def _of_frame(name, frame, n_nodes, names):
    """Of a frame of all pairs, by the names of its rows and columns: columns without a row are those of other folds."""
    if not frame.index.isin(frame.columns).all() or not frame.index.is_unique or len(frame) != n_nodes:
        raise ValueError(
            f"{name}: {len(frame)} rows of a data frame for {n_nodes} nodes: its rows and columns must have the same "
            "names, a row for each node")
    known = set(frame.index)
    if names is not None and known == set(names) and len(names) == len(known):
        frame = frame.loc[names]
    return _of_matrix(sp.coo_array(frame[frame.index.tolist()].to_numpy()))


def _of_matrix(matrix):
    directed = bool(abs(matrix - matrix.T).max() > 0) if matrix.nnz else False
    links = [
        (int(i), int(j), float(weight))
        for i, j, weight in zip(*matrix.coords, matrix.data)
        if weight != 0 and (i != j) and (directed or i < j)
    ]
    return Links(links, directed)


def _with_authors(data, authors, follows):
    """Authors by their names, in the order of the alphabet."""
    names, of_sample = np.unique(np.asarray(authors), return_inverse=True)
    links = _fewest.Graph(len(names), [], True)
    if follows is not None:
        links = graph("follows", follows, len(names), names.tolist())
    return data.with_authors(of_sample.tolist(), links)


def of_rows(given, rows, n_samples, names):
    """What is given of samples, of these rows only: for folds. What is given of features stays."""
    given = {link: value.value if isinstance(value, Whole) else value
             for link, value in given.items() if value is not None}

    def kept(link, n_nodes, names, nodes):
        links, directed = links_of(link, given[link], n_nodes, names)
        place = {int(node): i for i, node in enumerate(nodes)}
        return Links([(place[a], place[b], weight) for a, b, weight in links if a in place and b in place], directed)

    if "sample_graph" in given:
        given["sample_graph"] = kept("sample_graph", n_samples, names, rows)
    if "authors" in given:
        authors = np.asarray(given["authors"])
        everyone = np.unique(authors)
        given["authors"] = authors[rows]
        if "follows" in given:
            left = np.searchsorted(everyone, np.unique(authors[rows]))
            given["follows"] = kept("follows", len(everyone), everyone.tolist(), left)
    return {link: Whole(value) if link in ("feature_groups", "feature_graph") else value
            for link, value in given.items()}
