"""What a GPU can do at best."""

from __future__ import annotations

import pytest

from fictl.timing.ceilings import ceilings


@pytest.mark.needs_gpu
def test_of_a_gpu():
    found = ceilings()
    assert 1e10 < found.copy < 2e13
    assert 1e10 < found.read < 2e13
    assert 1e12 < found.matmul < 1e16
