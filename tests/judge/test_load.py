"""Other work on the machine is no accusation: honest solutions keep their verdict beside it."""

from __future__ import annotations

import os

from .judge_runs import said
from .under_load import HONEST, busy_loops, evaluations


def test_honest_solutions_pass_on_a_busy_machine() -> None:
    """And what disturbed them is told: `under_load.py` does it a thousand times."""
    with busy_loops(2 * len(os.sched_getaffinity(0))):
        for name, found in evaluations(HONEST, 2 * len(HONEST)):
            assert found.status.value == "PASSED", f"{name}: {said(found)}"
            assert found.performance is not None
            assert found.performance.latency_ms > 0
