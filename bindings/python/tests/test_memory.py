"""Memory beside an array that is there."""

import sys

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("method", ["f-score", "correlation", "mim"])
def test_an_array_in_fortran_order_is_not_copied(method):
    from memory import measured

    array, added = measured(method, 200)
    assert added < 0.1 * array
