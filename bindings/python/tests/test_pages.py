"""The examples of the pages are run."""

import doctest
import re

import pytest
from conftest import ROOT

PAGES = ["bindings/python/README.md", "docs/python.md"]


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_says(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert blocks, "no example"
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page, page, 0)
    told = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(examples, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)


def test_docstrings_print_what_they_say():
    import fewest
    from fewest import _catalogue

    for item, names in ((fewest.Selector, {}), (_catalogue.methods, {"fewest": fewest})):
        for test in doctest.DocTestFinder(recurse=False).find(item, item.__name__, globs={**vars(fewest), **names}):
            told = []
            runner = doctest.DocTestRunner()
            runner.run(test, out=told.append)
            assert runner.summarize(verbose=False).failed == 0, "".join(told)
