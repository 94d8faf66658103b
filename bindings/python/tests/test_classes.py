"""Every method is a class with the parameters of the registry."""

import inspect
import pickle

import numpy as np
import pytest
from conftest import needed
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline

import fewest
from fewest import HSICLasso, MRMR, FScore, Selector
from fewest._catalogue import METHODS, WEIGHTED


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_class_has_the_parameters_of_its_method(method):
    estimator = getattr(fewest, method["class"])()
    own = {parameter["python"]: parameter["default"] for parameter in method["parameters"]}
    parameters = estimator.get_params()
    assert own.items() <= parameters.items()
    assert parameters.keys() - own.keys() == {
        "k", "task", "missing", "window", "half_life", "drift", "random_state", "n_jobs", "time_limit", "verbose"}
    for name, parameter in inspect.signature(type(estimator)).parameters.items():
        assert name.isidentifier() and parameter.default == parameters[name]
        assert f"\n{name} : " in estimator.__doc__
    assert method["formula"].split()[0] in estimator.__doc__
    copy = pickle.loads(pickle.dumps(clone(estimator)))
    assert type(copy) is type(estimator) and copy.get_params() == parameters


def test_names_are_those_of_the_field():
    names = {method["id"]: method["class"] for method in METHODS.values()}
    expected = {
        "hsic-lasso": "HSICLasso", "mrmr": "MRMR", "relieff": "ReliefF", "nmmkl": "NMMKL", "f-score": "FScore",
        "multisurf": "MultiSURF", "elastic-net": "ElasticNet", "kruskal-wallis": "KruskalWallis", "mik-fs": "MIKFS",
        "sd-l-rfe": "SDLRFE", "svm-lw": "SVMLW", "oscar": "OSCAR", "group-l1-l21": "GroupL1L21", "rrelieff": "RReliefF",
    }
    assert expected.items() <= names.items()
    for name in names.values():
        assert name.isidentifier() and name[0].isupper()


@pytest.mark.parametrize("method", METHODS)
def test_a_class_is_the_selector_of_its_id(method, two_classes, numbers):
    entry = METHODS[method]
    X, y = two_classes if "classes" in entry["targets"] or not entry["supervised"] else numbers
    extra = needed(method, *X.shape)
    by_class = getattr(fewest, entry["class"])(k=2, random_state=3).fit(X, y, **extra)
    # The layout of the table is not seen in the last bit.
    by_id = Selector(method, k=2, random_state=3).fit(np.asfortranarray(X), y, **extra)
    assert by_class.order_.tolist() == by_id.order_.tolist()
    np.testing.assert_array_equal(by_class.scores_, by_id.scores_)
    assert by_class.transform(X).shape == (len(X), len(by_class.order_))


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_used_or_refused(method, two_classes, numbers):
    entry = METHODS[method]
    X, y = two_classes if "classes" in entry["targets"] or not entry["supervised"] else numbers
    extra = needed(method, *X.shape)
    weights = np.where(np.arange(len(X)) % 3 == 0, 4.0, 0.5)
    takes = "sample_weight" in inspect.signature(getattr(fewest, entry["class"]).fit).parameters
    assert takes == (method in WEIGHTED)
    selector = Selector(method, k=2)
    if not takes:
        with pytest.raises(ValueError, match="weight"):
            selector.fit(X, y, sample_weight=weights, **extra)
        return
    plain = Selector(method, k=2).fit(X, y, **extra)
    weighted = selector.fit(X, y, sample_weight=weights, **extra)
    assert plain.scores_.tolist() != weighted.scores_.tolist(), "weights have no effect"


def test_what_is_found(wine):
    X, y = wine
    selector = HSICLasso(k=3).fit(X, y)
    assert selector.order_.shape == (3,) and selector.n_features_in_ == 13
    assert selector.ranking_[selector.order_].tolist() == [1, 2, 3]
    assert (np.delete(selector.ranking_, selector.order_) == 4).all()
    assert np.isnan(np.delete(selector.scores_, selector.order_)).all()
    assert (selector.scores_[selector.order_] > 0).all()
    assert selector.certificate_.kind == "gap" and selector.certificate_.value < 1e-6
    assert selector.path_.coefficients.shape == (len(selector.path_.lambdas), 13)
    assert (np.diff(selector.path_.lambdas) < 0).all()
    assert all(isinstance(j, int) for related in selector.related_ for j, _ in related)
    assert len(selector.related_) == 3 and selector.p_values_ is None
    assert selector.get_support(indices=True).tolist() == sorted(selector.order_)
    names = selector.get_feature_names_out()
    assert list(names) == [X.columns[j] for j in sorted(selector.order_)]
    reduced = selector.set_output(transform="pandas").transform(X)
    assert list(reduced.columns) == list(names) and reduced.index.equals(X.index)
    back = selector.set_output(transform="default").inverse_transform(reduced.to_numpy())
    assert back.shape == X.shape and (np.delete(back, selector.order_, axis=1) == 0).all()


def test_tests_have_a_p_value_of_every_feature(wine):
    X, y = wine
    selector = FScore(k=2).fit(X, y)
    assert selector.scores_.shape == selector.p_values_.shape == (13,)
    assert np.isfinite(selector.scores_).all() and np.isfinite(selector.p_values_).all()
    assert selector.order_.tolist() == np.argsort(-selector.scores_, kind="stable")[:2].tolist()


def test_how_many(wine):
    X, y = wine
    assert len(MRMR().fit(X, y).order_) == 10
    assert len(MRMR().fit(X.iloc[:, :4], y).order_) == 4
    assert 0 < len(HSICLasso(lambda_ratio=0.9).fit(X, y).order_) < 10
    assert 0 < len(HSICLasso(k="auto", lambda_ratio=0.5).fit(X, y).order_) <= 13
    with pytest.raises(ValueError, match="f-score does not decide the number of features by itself"):
        FScore(k="auto").fit(X, y)


def test_a_pipeline_a_search_and_pickles(wine):
    X, y = wine
    pipeline = make_pipeline(MRMR(k=3), LogisticRegression(max_iter=5000))
    assert pipeline.fit(X, y).score(X, y) > 0.8
    search = GridSearchCV(
        Pipeline([("select", Selector("mrmr")), ("learn", LogisticRegression(max_iter=5000))]),
        {"select__k": [1, 4], "select__method": ["mrmr", "f-score"]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_["select__k"] == 4 and search.best_score_ > 0.8
    fitted = HSICLasso(k=3).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.order_.tolist() == fitted.order_.tolist()
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))


def test_parameters_of_a_selector_are_set_and_cloned(two_classes):
    X, y = two_classes
    selector = Selector("hsic", k=2, sigma_x=2.0)
    assert clone(selector).get_params()["sigma_x"] == 2.0
    selector.set_params(sigma_x=0.5).fit(X, y)
    assert selector.params_["sigma_x"] == 0.5
    assert pickle.loads(pickle.dumps(selector)).get_params() == selector.get_params()
    assert Selector("anova", k=1).fit(X, y).order_.tolist() == FScore(k=1).fit(X, y).order_.tolist()


def test_an_unknown_parameter_is_a_type_error(two_classes):
    X, y = two_classes
    with pytest.raises(TypeError, match=r"MRMR\(\) has no parameter 'bin'"):
        MRMR(bin=3)
    with pytest.raises(TypeError, match="sigma"):
        Selector("hsic", sigma=3).fit(X, y)


def test_metadata_is_routed(two_classes):
    import sklearn

    X, y = two_classes
    weights = np.linspace(0.1, 2.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        lasso = fewest.Lasso(k=2).set_fit_request(sample_weight=True)
        routed = make_pipeline(lasso, LogisticRegression().set_fit_request(sample_weight=False))
        routed.fit(X, y, sample_weight=weights)
    direct = fewest.Lasso(k=2).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(routed[0].scores_, direct.scores_)


def test_the_stub_says_what_the_package_does():
    from importlib.resources import files

    from fewest._stubs import stub

    assert files("fewest").joinpath("__init__.pyi").read_text() == stub(), "cargo xtask python says how to write it"
    compile(stub(), "__init__.pyi", "exec")
    assert files("fewest").joinpath("py.typed").is_file()
    for name in fewest.__all__:
        said = (f"class {name}(", f"class {name}:", f"def {name}(", f"{name}: ")
        assert any(text in stub() for text in said), name
