"""The HTML pages that the command writes by `--report`, in a notebook or a file."""

import html
from pathlib import Path

from . import _fewest


class Report:
    """A page of HTML that needs nothing else: `html` is its text.

    A notebook shows it, in a frame of its own; `save` writes it to a file.
    """

    def __init__(self, html):
        self.html = html

    def save(self, path):
        """Writes the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self):
        # What the page says cannot reach the notebook: its script runs in the frame, as of another origin.
        return (f'<iframe sandbox="allow-scripts allow-modals" title="report of fewest" width="100%" height="700" '
                f'style="border: 0" srcdoc="{html.escape(self.html, quote=True)}"></iframe>')

    def __repr__(self):
        return f"<Report of {len(self.html)} characters: report.save('report.html'), or show it in a notebook>"


def target_names(y):
    """What the columns of a target are called, where they have names."""
    if getattr(y, "columns", None) is not None:
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [] if y is None or name is None else [str(name)]


def report(results, *, name="data"):
    """The page that `fewest compare --report` writes, from the results of `compare` or `evaluate`.

    Parameters
    ----------
    results : DataFrame
        What `compare` or `evaluate` returned, as it is.
    name : str, default='data'
        What the page calls the data.

    Returns
    -------
    Report
        Shown by a notebook; `save(path)` writes it.
    """
    try:
        about = results.attrs["fewest"]
    except (AttributeError, KeyError):
        raise TypeError("report needs what `fewest.compare` or `fewest.evaluate` returned, as it is") from None
    return Report(_fewest.evaluation({**about, "name": name}))
