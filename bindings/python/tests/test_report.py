"""The page of a selection and of a comparison: that of the command, shown by a notebook."""

import copy
import html
import pickle
import re
import subprocess

import numpy as np
import pandas as pd
import pytest
from conftest import DATA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fewest
from fewest import FScore, HSICLasso, NetFS

LEARNER = make_pipeline(StandardScaler(), LogisticRegression())


def comparable(page):
    """Without what two calls of the same method differ in: the file as bytes, the call, and the time."""
    page = re.sub(r", SHA-256 <code>[0-9a-f]+</code>", "", page)
    page = re.sub(r'<pre class="command">.*?</pre>', "", page, flags=re.DOTALL)
    return re.sub(r"<dt>Time</dt><dd>[^<]*</dd>", "", page)


@pytest.mark.parametrize("method, file", [
    ("hsic-lasso", "wine.csv"), ("f-score", "wine.csv"), ("lasso", "auto_mpg.csv"), ("qpfs", "wine.csv")])
def test_the_page_is_that_of_the_command(method, file, command, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    written = tmp_path / "page.html"
    arguments = ["select", file, "-m", method, "-k", "4", "--seed", "7", "--report", written, "--quiet"]
    called = subprocess.run([command, *arguments], cwd=DATA, capture_output=True, text=True, check=False)
    assert called.returncode == 0, called.stderr
    table = pd.read_csv(DATA / file)
    X, y = table.iloc[:, :-1], table["target"]
    page = fewest.Selector(method, k=4, random_state=7).fit(X, y).report(X, y, name=file).html
    assert comparable(page) == comparable(written.read_text())


def test_a_notebook_shows_it_in_a_frame_of_its_own(wine, tmp_path):
    X, y = wine
    report = HSICLasso(k=3).fit(X, y).report(X, y, name="wine")
    page = report.html
    assert page.startswith("<!DOCTYPE html>") and "hsic-lasso of wine" in page
    assert "HSICLasso(k=3).fit(X, y)" in page
    shown = report._repr_html_()
    frame = re.fullmatch(r'<iframe sandbox="([a-z -]+)" [^<>]*srcdoc="([^"<>]*)"></iframe>', shown)
    assert frame, "markup beside the frame"
    assert "allow-same-origin" not in frame[1] and html.unescape(frame[2]) == page
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert "save(" in repr(report) and len(repr(report)) < 100


def test_names_cannot_be_markup(two_classes):
    X, y = two_classes
    nasty = "<script>alert('x')</script>"
    frame = pd.DataFrame(X, columns=[f"{nasty}{j}" for j in range(X.shape[1])])
    report = FScore(k=3).fit(frame, y).report(frame, pd.Series(y, name=nasty), name=nasty)
    assert nasty not in report.html and "&lt;script&gt;" in report.html
    assert "<script>" not in report._repr_html_()


def test_what_was_fitted_is_drawn(wine):
    X, y = wine
    selector = HSICLasso(k=3).fit(X, y)
    page = comparable(selector.report(X, y).html)
    # A pickle is without what the page needs: it is selected again.
    for same in (pickle.loads(pickle.dumps(selector)), copy.deepcopy(selector)):
        assert comparable(same.report(X, y).html) == page
    with pytest.raises(ValueError, match="draws the data of the fit, 178 samples and 13 features .* are 90 and 13"):
        selector.report(X[:90], y[:90])
    with pytest.raises(NotFittedError):
        HSICLasso().report(X, y)
    with pytest.raises(TypeError, match="'views2'"):
        selector.report(X, y, views2=[1])


def test_linked_samples_and_gaps(two_classes):
    X, y = two_classes
    chain = [(i, i + 1) for i in range(len(X) - 1)]
    page = NetFS(k=2).fit(X, sample_graph=chain).report(X, sample_graph=chain).html
    assert 'id="network"' in page and "NetFS(k=2).fit(X)" in page
    gaps = X.copy()
    gaps[3, 2] = np.nan
    for missing in ("mean", "drop-rows"):
        assert "<dd>8</dd>" in FScore(k=2, missing=missing).fit(gaps, y).report(gaps, y).html


def test_a_comparison_is_a_page(wine, tmp_path):
    X, y = wine
    results = fewest.compare(["mrmr", HSICLasso()], X, y, LEARNER, k=[1, 2, 5], cv=4)
    page = fewest.report(results, name="wine").html
    assert "mrmr, hsic-lasso of wine" in page and "StandardScaler + LogisticRegression" in page
    best = results.loc[results["mean"].idxmax()]
    assert f"<strong>{best['mean']:.4f}</strong> accuracy" in page
    for row in results.itertuples():
        assert f"{row.mean:.4f}" in page
        assert len(row.features) == 4 and all(len(set(chosen)) == row.k for chosen in row.features)
    assert results.drop(columns="scores").attrs, "pandas keeps what the page is made of"
    single = fewest.report(fewest.evaluate("f-score", X, y, LEARNER, k=[1, 2], cv=3))
    single.save(tmp_path / "page.html")
    assert "f-score" in single._repr_html_()
    with pytest.raises(TypeError, match="what `fewest.compare` or `fewest.evaluate` returned"):
        fewest.report(pd.DataFrame({"k": [1]}))


def test_selectors_of_one_method_have_names_of_their_own(wine):
    X, y = wine
    selectors = [fewest.MRMR(), fewest.MRMR(bins=3)]
    page = fewest.report(fewest.compare(selectors, X, y, LEARNER, k=[1, 2], cv=3)).html
    assert page.count("MRMR(bins=3)") >= 3 and "MRMR(), MRMR(bins=3) of data" in page
    named = fewest.report(fewest.compare(dict(zip(("five", "three"), selectors)), X, y, LEARNER, k=[2], cv=3)).html
    assert "five, three of data" in named and named.count("(mrmr)") == 1
