"""Workloads of running ops, with the definitions that their traces make."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from fictl.apply import ApplyRuntime, apply
from fictl.trace import TraceSet
from fictl.tracing import TracingRuntime, enable_tracing

from .samples import added, dataset_of, definition_of, gathered, twice


@pytest.fixture(autouse=True)
def _private() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def collected(root: Path) -> list[tuple[str, int]]:
    traces = TraceSet.from_path(root).workloads()
    return sorted((trace.definition, trace.workload.axes["rows"]) for trace in traces)


def test_ops_fill_an_empty_folder(tmp_path: Path) -> None:
    scale, add = twice(), added()
    with enable_tracing(tmp_path / "ds"):
        for rows in (2, 3, 2):
            scale(torch.ones(rows, 4), 2.0)
            scale(torch.ones(1, rows, 4), 2.0)
            add(torch.ones(rows, 8), torch.ones(rows, 8))
    scale(torch.ones(9, 4))
    assert collected(tmp_path / "ds") == [
        ("added_h8_f32", 2),
        ("added_h8_f32", 3),
        ("twice_h4_f32", 2),
        ("twice_h4_f32", 3),
    ]
    definition = TraceSet.from_path(tmp_path / "ds").definitions["twice_h4_f32"]
    assert definition == definition_of(scale, torch.ones(2, 4))
    (workload, _) = TraceSet.from_path(tmp_path / "ds").workloads("twice_h4_f32")
    assert workload.workload.scalars() == {"factor": 2.0}


def test_plan_and_run_are_one_workload(tmp_path: Path) -> None:
    instance = gathered()()
    with enable_tracing(tmp_path / "ds"):
        instance.plan(torch.tensor([0, 3, 5], dtype=torch.int32))
        instance.run(torch.ones(2, 4))
    (trace,) = TraceSet.from_path(tmp_path / "ds").workloads()
    assert trace.workload.model_extra == {"fictl": {"lengths": {"kv_indptr": [3, 2]}}}


def test_a_call_that_has_no_definition_runs_and_is_left_out(tmp_path: Path) -> None:
    op = twice()
    with enable_tracing(tmp_path / "ds"):
        assert op(torch.ones(8)).shape == (8,)
    assert not (tmp_path / "ds").exists()


def test_calls_that_solutions_serve_are_collected_and_their_own_are_not(tmp_path: Path) -> None:
    op = twice()
    code = "from tests.integration import test_traced\ndef run(input, factor):\n    return test_traced.OPS[0](input[:1], factor).repeat(2, 1)\n"
    OPS[:] = [op]
    made = dataset_of(tmp_path / "ds", definition_of(op, torch.ones(2, 4)), code, 2)
    with ApplyRuntime(made), enable_tracing(tmp_path / "traced"):
        op(torch.ones(2, 4))
    assert collected(tmp_path / "traced") == [("twice_h4_f32", 2)]


OPS: list[object] = []


def test_decorated_functions_are_collected_by_a_datasets_definitions(tmp_path: Path) -> None:
    definition = definition_of(twice(), torch.ones(2, 4))
    (tmp_path / "ds").mkdir()
    TraceSet(tmp_path / "ds").add_definition(definition)

    @apply("twice_h4_f32")
    def mine(input: torch.Tensor, factor: float) -> torch.Tensor:
        return input * factor

    with enable_tracing(tmp_path / "ds"):
        mine(torch.ones(5, 4), factor=3.0)
    mine(torch.ones(6, 4), factor=3.0)
    assert collected(tmp_path / "ds") == [("twice_h4_f32", 5)]
    assert TracingRuntime.current() is None
