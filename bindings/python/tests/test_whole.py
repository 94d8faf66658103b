"""Links of all samples in a search of scikit-learn, which cuts into folds whatever is as long as the samples."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline

import fewest
from fewest import FSNet, Whole

PEOPLE = [f"p{i}" for i in range(40)]
# As many links as samples.
RING = [(PEOPLE[i], PEOPLE[(i + 1) % 40]) for i in range(40)]


def searched(X, y, folds=KFold(4, shuffle=True, random_state=0), **given):
    """The scores of a search that routes what is given to the selector."""
    with sklearn.config_context(enable_metadata_routing=True):
        select = FSNet().set_fit_request(**dict.fromkeys(given, True))
        pipeline = Pipeline([("select", select), ("learn", LogisticRegression())])
        search = GridSearchCV(pipeline, {"select__k": [1, 3]}, cv=folds, error_score="raise")
        return search.fit(X, y, **given).cv_results_["mean_test_score"]


def test_whole_links_are_those_of_every_fold(two_classes):
    X, y = two_classes
    people, numbered = pd.DataFrame(X, index=PEOPLE), pd.DataFrame(X)
    folds = KFold(4, shuffle=True, random_state=0)
    expected = fewest.evaluate("fsnet", X, y, LogisticRegression(), k=[1, 3], cv=folds,
                               sample_graph=nx.cycle_graph(40))["mean"]
    graph = nx.Graph(RING[::-1])
    for links in (RING, RING[::-1], graph, nx.to_pandas_adjacency(graph, nodelist=sorted(PEOPLE))):
        np.testing.assert_allclose(searched(people, y, sample_graph=Whole(links)), expected)
    matrix = nx.to_scipy_sparse_array(nx.cycle_graph(40))
    for links in (matrix, matrix.toarray(), nx.cycle_graph(40), np.array(nx.cycle_graph(40).edges)):
        np.testing.assert_allclose(searched(numbered, y, sample_graph=Whole(links)), expected)
    # The same outside of a search.
    whole, plain = (FSNet(k=2).fit(people, y, sample_graph=links) for links in (Whole(RING), graph))
    np.testing.assert_array_equal(whole.scores_, plain.scores_)
    assert repr(Whole(RING)) == "Whole(list)"


def test_a_list_as_long_as_the_samples_is_refused(two_classes):
    X, y = two_classes
    pairs = [(i, (i + 1) % 40) for i in range(40)]
    cut = "entries for .* samples: a search of scikit-learn would cut the list"
    for links in (pairs, np.array(pairs), [(*pair, 1.0) for pair in pairs]):
        with pytest.raises(ValueError, match=f"sample_graph: 40 {cut}"):
            FSNet(k=2).fit(X, y, sample_graph=links)
    # Without shuffling the first 30 links are between the samples of the last fold: it would take them for all.
    with pytest.raises(ValueError, match=f"sample_graph: 30 {cut}"):
        searched(pd.DataFrame(X), y, folds=[(np.arange(30), np.arange(30, 40))], sample_graph=pairs)
    # A shorter list is passed on as it is.
    with pytest.raises(ValueError, match="sample_graph: .* give fewest.Whole"):
        searched(pd.DataFrame(X), y, sample_graph=pairs[:-1])
    chain = [(j, j + 1) for j in range(7)] * 6
    with pytest.raises(ValueError, match=f"feature_graph: 40 {cut}"):
        fewest.GraphLasso(graph="given").fit(X, y, feature_graph=chain[:40])
    whole = fewest.GraphLasso(k=3, graph="given").fit(X, y, feature_graph=Whole(chain[:7]))
    plain = fewest.GraphLasso(k=3, graph="given").fit(X, y, feature_graph=chain[:7])
    np.testing.assert_array_equal(whole.scores_, plain.scores_)
    sets = [[j % 8, (j + 1) % 8] for j in range(40)]
    with pytest.raises(ValueError, match=f"feature_groups: 40 {cut}"):
        fewest.OverlappingGroupLasso(k=4).fit(X, y, feature_groups=sets)
    assert len(fewest.OverlappingGroupLasso(k=4).fit(X, y, feature_groups=Whole(sets)).order_)
    # `evaluate` cuts nothing that it should not.
    results = fewest.evaluate("fsnet", X, y, LogisticRegression(), k=2, cv=4, sample_graph=pairs)
    assert len(results) == 1


def test_whole_links_need_names(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="sample_graph: .* found by name: give X as a data frame"):
        FSNet(k=2).fit(X, y, sample_graph=Whole(RING))
    with pytest.raises(ValueError, match="sample_graph: 'p0' and all others are not in the index of X: 0"):
        FSNet(k=2).fit(pd.DataFrame(X), y, sample_graph=Whole(RING))
    follows = Whole([("a1", "a0"), ("a3", "a9")])
    authors = np.array([f"a{i // 4}" for i in range(20)])
    # Authors of other folds are left out.
    found = fewest.LinkedFS(k=2).fit(X[:20], y[:20], authors=authors, follows=follows)
    plain = fewest.LinkedFS(k=2).fit(X[:20], y[:20], authors=authors, follows=[("a1", "a0")])
    np.testing.assert_array_equal(found.scores_, plain.scores_)
