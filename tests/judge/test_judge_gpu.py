"""Judging on a GPU: honest solutions of several languages, and what only a GPU lets one try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.judge import Judge
from fictl.judge.reference import Reference
from fictl.trace import Workload

from .earned import Earned
from .judge_runs import CONFIG, definition, said, solution

pytestmark = pytest.mark.needs_gpu
FOLDER = Path(__file__).parent / "hostile_gpu"
GPU = replace(CONFIG, device="cuda", iterations=10, num_trials=2, compile_timeout_seconds=120.0)
WORKLOAD = Workload.model_validate(
    {
        "axes": {"m": 1 << 16},
        "uuid": "w",
        "inputs": {"x": {"type": "random"}, "s": {"type": "scalar", "value": 2.5}},
    }
)
TRITON = """
import triton
import triton.language as tl


@triton.jit
def scale(x, y, s, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * s, mask=at < n)


def run(x, s, y):
    scale[(triton.cdiv(x.numel(), 4096),)](x, y, s, x.numel(), BLOCK=4096)
"""


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    with Reference(definition(), "cuda") as made:
        yield made


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_a_solution_gets_what_it_has_earned(name: str, reference: Reference) -> None:
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    earned = Earned.of(source)
    tried = solution(source, dps=earned.dps)
    with Judge(definition(), tried, GPU, reference=reference) as judge:
        found = judge.evaluate(WORKLOAD)
    earned.require(found)


def test_a_triton_kernel_passes_and_is_timed_by_the_gpu(reference: Reference) -> None:
    tried = solution(TRITON, dps=True, language="triton")
    with Judge(definition(), tried, GPU, reference=reference) as judge:
        found = judge.evaluate(WORKLOAD)
    assert found.status.value == "PASSED", said(found)
    assert found.performance is not None
    assert found.fictl is not None
    assert found.fictl["timer"] in ("cupti", "events")
    # 33.5 MB in all: faster than 10 TB/s is not timed, slower than 100 GB/s is no GPU.
    assert 0.003 < found.performance.latency_ms < 0.3
