"""Tables in every form give the same result, and are read where they lie."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from fewest import FScore, HSICLasso, MRMR, Selector
from fewest._input import table


def result(X, y, **given):
    found = Selector("hsic-lasso", k=4, **given).fit(X, y)
    return found.order_.tolist(), found.scores_.tolist()


def test_every_form_gives_the_same_bits(wine):
    X, y = wine
    values = X.to_numpy(dtype=np.float64)
    expected = result(np.asfortranarray(values), y)
    names = [str(name) for name in X.columns]
    forms = {
        "C order": np.ascontiguousarray(values),
        "every second row of a larger array": np.repeat(values, 2, axis=0)[::2],
        "reversed columns twice": values[:, ::-1][:, ::-1],
        "read-only": _read_only(values),
        "list of lists": values.tolist(),
        "CSR": sp.csr_matrix(values),
        "CSC": sp.csc_array(values),
        "COO": sp.coo_matrix(values),
        "pandas": X,
        "pandas, nullable": X.convert_dtypes(),
        "polars": pl.DataFrame({name: values[:, j] for j, name in enumerate(names)}),
        "polars, in pieces": pl.concat([pl.DataFrame({n: v[:, j] for j, n in enumerate(names)})
                                        for v in (values[:50], values[50:])], rechunk=False),
        "pyarrow": pa.table({name: values[:, j] for j, name in enumerate(names)}),
    }
    for form, given in forms.items():
        order, scores = result(given, y)
        assert (order, scores) == expected or np.array_equal(scores, expected[1], equal_nan=True), form
        assert order == expected[0], form


def _read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


def test_what_is_read_where_it_lies(wine):
    X, _ = wine
    values = X.to_numpy(dtype=np.float64)
    assert table(np.asfortranarray(values)).in_place == 13
    assert table(np.ascontiguousarray(values)).in_place == 0
    assert table(np.asfortranarray(values, dtype=np.float32)).in_place == 0
    assert table(sp.csc_array(values)).in_place == 13
    assert table(pl.DataFrame(values)).in_place == 13
    # It is the same memory: a change of the array is seen.
    array = np.asfortranarray(values)
    lying = table(array)
    array[0, 1] = -5.0
    assert lying.column(1)[0] == -5.0


def test_float32_is_read_as_its_own_values(wine):
    X, y = wine
    single = X.to_numpy(dtype=np.float32)
    assert result(single, y)[0] == result(single.astype(np.float64), y)[0]
    np.testing.assert_array_equal(result(single, y)[1], result(single.astype(np.float64), y)[1])


def test_columns_of_every_type():
    words = ["b", None, "a", "b"]
    frame = pd.DataFrame({
        "number": [1.5, 2.5, np.nan, 4.5], "whole": [1, 2, 3, 4], "flag": [True, False, True, True],
        "text": words, "kind": pd.Categorical(words, categories=["unused", "b", "a"]),
        "nullable": pd.array([1, None, 3, 4], dtype="Int64"),
    })
    expected = {
        "number": [1.5, 2.5, np.nan, 4.5], "whole": [1, 2, 3, 4], "flag": [1, 0, 1, 1],
        "text": [1, np.nan, 0, 1], "kind": [1, np.nan, 0, 1], "nullable": [1, np.nan, 3, 4],
    }
    others = pl.DataFrame({
        "number": [1.5, 2.5, None, 4.5], "whole": [1, 2, 3, 4], "flag": [True, False, True, True], "text": words,
        "kind": pl.Series(words, dtype=pl.Categorical), "nullable": [1, None, 3, 4]})
    for given in (frame, others, others.to_arrow()):
        columns = table(given)
        assert columns.names == list(expected)
        for j, (name, values) in enumerate(expected.items()):
            np.testing.assert_array_equal(columns.column(j), values, err_msg=f"{type(given)} {name}")


def test_categories_are_categories():
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, 90)
    y = np.where(kind == 1, "yes", "no")
    # As numbers 0, 1, 2 the middle level is no straight line; as categories it is a perfect feature.
    frame = pd.DataFrame({"noise": rng.normal(size=90), "kind": np.array(["a", "b", "c"])[kind]})
    for given in (frame, pl.from_pandas(frame)):
        found = HSICLasso(k=1).fit(given, y)
        assert found.get_feature_names_out().tolist() == ["kind"]


@pytest.mark.parametrize("given", [
    pd.DataFrame({"when": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"]), "b": [1.0, 2.0, 0.0]}),
    pl.DataFrame({"when": [[1], [2], [3]], "b": [1.0, 2.0, 0.0]}),
], ids=["dates of pandas", "lists of polars"])
def test_what_can_be_no_feature_is_told(given):
    with pytest.raises(TypeError, match="column `when` .*: numbers, booleans, text and categories can be features"):
        FScore(k=1).fit(given, [0, 1, 1])


def test_missing_values_by_policy(wine):
    X, y = wine
    gaps = X.astype(float)
    gaps.iloc[3, 1] = gaps.iloc[70, 6] = np.nan
    with pytest.raises(ValueError, match="feature `malic_acid` .* is NaN in sample 3"):
        MRMR(k=2).fit(gaps, y)
    dropped = MRMR(k=3, missing="drop-rows").fit(gaps, y)
    kept = gaps.notna().all(axis=1)
    np.testing.assert_array_equal(dropped.scores_, MRMR(k=3).fit(gaps[kept], y[kept]).scores_)
    for policy, filled in (("mean", gaps.fillna(gaps.mean())), ("median", gaps.fillna(gaps.median()))):
        found = FScore(k=3, missing=policy).fit(gaps, y)
        np.testing.assert_allclose(found.scores_, FScore(k=3).fit(filled, y).scores_, rtol=1e-12)
    with pytest.raises(ValueError, match="`missing` is `zero`, but must be one of error, drop-rows, mean, median"):
        MRMR(missing="zero").fit(gaps, y)


def test_targets_of_every_kind(two_classes, numbers, wine):
    X, y = two_classes
    expected = MRMR(k=2).fit(X, y).order_.tolist()
    names = np.array(["no", "yes"])[y]
    frame = pd.DataFrame({"y": names})
    for target in (names, names.tolist(), names.astype(object), pd.Series(names), frame["y"].astype("category"),
                   y.astype(bool), y.astype(float), pl.Series(names)):
        assert MRMR(k=2).fit(X, target).order_.tolist() == expected
    X, y = numbers
    assert set(HSICLasso(k=2).fit(X, y).order_) == {1, 4}
    assert set(HSICLasso(k=2).fit(X, np.c_[y, -y]).order_) == {1, 4}
    assert set(HSICLasso(k=2, task="affinity").fit(X, np.outer(y, y)).order_) == {1, 4}
    times = np.exp(y - y.min())
    events = np.arange(50) % 4 > 0
    record = np.array(list(zip(events, times)), dtype=[("event", bool), ("time", float)])
    by_columns = Selector("lasso", k=2, loss="cox", task="survival").fit(X, np.c_[times, events])
    by_record = Selector("lasso", k=2, loss="cox").fit(X, record)
    assert set(by_columns.order_) == {1, 4}
    np.testing.assert_array_equal(by_columns.scores_, by_record.scores_)
    with pytest.raises(ValueError, match="the target is text, but numbers are needed"):
        FScore(task="regression").fit(X, np.where(y > 0, "a", "b"))


def test_groups_graphs_and_views(two_classes):
    import networkx as nx

    X, y = two_classes
    labels = ["a", "a", "b", "b", "c", "c", "d", "d"]
    by_label = Selector("group-lasso", k=4).fit(X, y, feature_groups=labels)
    assert set(by_label.order_) >= {2, 3}
    sets = Selector("overlapping-group-lasso", k=4).fit(X, y, feature_groups=[[0, 1], [2, 3, 4], [4, 5], [6, 7]])
    assert len(sets.order_)
    chain = nx.path_graph(8)
    matrix = nx.to_scipy_sparse_array(chain)
    pairs = list(chain.edges)
    found = [Selector("graph-lasso", k=3, graph="given").fit(X, y, feature_graph=graph).scores_.tolist()
             for graph in (chain, matrix, matrix.toarray(), pairs)]
    assert all(np.array_equal(scores, found[0], equal_nan=True) for scores in found)
    people = nx.cycle_graph(40)
    assert len(Selector("fsnet", k=2).fit(X, y, sample_graph=people).order_) == 2
    viewed = Selector("mvfs", k=2).fit(X, views={"first": range(4), "second": range(4, 8)})
    assert set(viewed.view_weights_) == {"first", "second"}
    with pytest.raises(ValueError, match="feature_graph: 8 is no name, nor a number from 0 to 7"):
        Selector("graph-lasso", graph="given").fit(X, y, feature_graph=nx.path_graph(9))
    with pytest.raises(ValueError, match="feature_graph: 7 x 7, but a square matrix of 8 nodes needed"):
        Selector("graph-lasso", graph="given").fit(X, y, feature_graph=matrix[:7, :7])


def test_nodes_are_found_by_their_names(two_classes):
    """A graph of NetworkX has its nodes in the order in which they came, which means nothing."""
    import networkx as nx

    X, y = two_classes
    expected = Selector("graph-lasso", k=3, graph="given").fit(X, y, feature_graph=nx.path_graph(8)).scores_
    shuffled = nx.Graph([(6, 7), (2, 3), (0, 1), (4, 5), (5, 6), (1, 2), (3, 4)])
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    named = nx.relabel_nodes(shuffled, dict(enumerate("abcdefgh")))
    for table, graph in ((X, shuffled), (frame, shuffled), (frame, named), (frame, list(zip("abcdefg", "bcdefgh"))),
                         (frame, nx.to_pandas_adjacency(named))):
        found = Selector("graph-lasso", k=3, graph="given").fit(table, y, feature_graph=graph)
        np.testing.assert_array_equal(found.scores_, expected)
    # Nodes without links may be left out; others may not be there.
    Selector("graph-lasso", k=3, graph="given").fit(X, y, feature_graph=nx.Graph([(0, 5)]))
    with pytest.raises(ValueError, match="feature_graph: 'z' is no name, nor a number from 0 to 7"):
        Selector("graph-lasso", graph="given").fit(frame, y, feature_graph=nx.Graph([("a", "z")]))
    with pytest.raises(ValueError, match="sample_graph: 40 x 30, but a square matrix of 40 nodes needed"):
        Selector("fsnet").fit(X, y, sample_graph=np.zeros((40, 30)))
    by_name = [["a", "b"], ["c", "d", "e"], ["e", "f"], ["g", "h"]]
    by_number = [[0, 1], [2, 3, 4], [4, 5], [6, 7]]
    scores = [Selector("overlapping-group-lasso", k=4).fit(frame, y, feature_groups=groups).scores_
              for groups in (by_name, by_number, dict(enumerate(map(set, by_name))))]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def test_links_of_samples_follow_the_rows_of_a_fold(two_classes):
    import networkx as nx
    import sklearn
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, KFold
    from sklearn.pipeline import Pipeline

    import fewest

    X, y = two_classes
    people = [f"p{i}" for i in range(len(X))]
    frame = pd.DataFrame(X, index=people)
    friends = nx.relabel_nodes(nx.random_regular_graph(4, len(X), seed=1), dict(enumerate(people)))
    adjacency = nx.to_pandas_adjacency(friends, nodelist=sorted(people))
    folds = KFold(3, shuffle=True, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        select = Selector("fsnet").set_fit_request(sample_graph=True, sample_weight=False)
        pipeline = Pipeline([("select", select), ("learn", LogisticRegression())])
        search = GridSearchCV(pipeline, {"select__k": [1, 3]}, cv=folds, error_score="raise")
        search.fit(frame, y, sample_graph=adjacency)
        with pytest.raises(ValueError, match="give it fewest.Whole"):
            search.fit(X, y, sample_graph=adjacency.to_numpy())
    for graph in (friends, adjacency):
        found = fewest.evaluate("fsnet", frame, y, LogisticRegression(), k=[1, 3], cv=folds, sample_graph=graph)
        np.testing.assert_allclose(found["mean"], search.cv_results_["mean_test_score"])


def test_authors_of_a_fold_keep_their_links(two_classes):
    import fewest
    from sklearn.linear_model import LogisticRegression

    X, y = two_classes
    authors = [f"a{i // 4}" for i in range(40)]
    follows = [("a9", "a0"), ("a3", "a1"), ("a5", "a2")]
    results = fewest.compare(["linkedfs", "f-score"], X, y, LogisticRegression(), k=[2], cv=4, authors=authors,
                             follows=follows)
    assert results["method"].tolist() == ["linkedfs", "f-score"]
    with pytest.raises(ValueError, match="authors: f-score does not use it: leave it out"):
        fewest.compare(["f-score", "mrmr"], X, y, LogisticRegression(), k=[2], cv=4, authors=authors)


def test_what_a_method_has_no_use_for_is_told(two_classes):
    X, y = two_classes
    labels = list("aabbccdd")
    with pytest.raises(ValueError, match="feature_groups: mrmr does not use it: leave it out"):
        MRMR(k=2).fit(X, y, feature_groups=labels)
    with pytest.raises(ValueError, match="feature_groups: hsic-lasso does not use it: take penalty='group'"):
        HSICLasso(k=2).fit(X, y, feature_groups=labels)
    assert len(HSICLasso(penalty="group", lambda_ratio=0.3).fit(X, y, feature_groups=labels).order_)
    with pytest.raises(ValueError, match="graph-lasso: there is no feature_graph: give it to `fit`, or take graph='c"):
        Selector("graph-lasso", graph="given").fit(X, y)
