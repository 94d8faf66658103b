"""Feature selection: the fewest features that carry the answer.

Every method is a class, `fewest.HSICLasso` or `fewest.MRMR`, and has an id, `fewest.Selector("hsic-lasso")`. All are
estimators of scikit-learn. `fewest.methods()` lists them.
"""

from ._catalogue import methods
from ._classes import CLASSES
from ._evaluate import compare, evaluate
from ._fewest import __version__
from ._links import Whole
from ._report import Report, report
from ._selector import Selector

globals().update(CLASSES)

__all__ = [
    "Report", "Selector", "Whole", "__version__", "compare", "evaluate", "methods", "report", *CLASSES]
