"""A dataset of two definitions and three solutions."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.trace import TraceSet

from .samples import definition, solution, workload


@pytest.fixture
def dataset(tmp_path: Path) -> TraceSet:
    """scale (norm) with the workloads s0 s1 s2, gemm (gemm) with g0; two solutions and one."""
    root = tmp_path / "dataset"
    root.mkdir()
    made = TraceSet.from_path(root)
    for name, op_type, uuids in (("scale", "norm", "s0 s1 s2"), ("mm", "gemm", "g0")):
        made.add_definition(definition(name, op_type))
        made.add_workloads(name, [workload(uuid) for uuid in uuids.split()])
    made.add_solution(solution("scale_a", "scale"))
    made.add_solution(solution("scale_b", "scale", author="you"))
    made.add_solution(solution("mm_a", "mm"))
    return TraceSet.from_path(root)
