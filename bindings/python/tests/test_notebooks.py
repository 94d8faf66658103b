"""Notebooks are in the repository as they were executed: `cargo xtask python --notebooks`."""

import json

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "bindings/python/notebooks").glob("*.ipynb"))


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["genes", "sensors", "text"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_was_executed_from_top_to_bottom(path):
    text = path.read_text(encoding="utf-8")
    assert len(text) < 300_000
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    # The last one shows a report.
    assert "srcdoc=" in "".join(cells[-1]["outputs"][-1]["data"]["text/html"])
    assert "site-packages" not in text, "a path of the machine"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_code_runs_today(path, monkeypatch):
    cells = [cell["source"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
             if cell["cell_type"] == "code"]
    monkeypatch.chdir(path.parent)
    exec(compile("\n".join("".join(source) for source in cells), path.name, "exec"), {})
