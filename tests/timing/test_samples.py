"""What samples say of themselves."""

from __future__ import annotations

import pytest

from fictl.timing.samples import Samples


def test_they_sum_themselves_up():
    samples = Samples((1.0, 2.0, 3.0, 2.0, 2.0, 2.0, 9.0), "events", cold=True, copies=2)
    low, high = samples.interval
    assert samples.median == 2.0
    assert low <= samples.median <= high
    assert samples.stdrel == 0.0
    assert samples.std == pytest.approx(2.708, abs=0.001)
