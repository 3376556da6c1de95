"""Dumps as workloads: by policy, without a repeated call, and without those that are damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import fictl
from fictl.errors import FictlError
from fictl.op.watch.call import Call
from fictl.op.watch.dump.limits import Limits
from fictl.op.watch.dump.writer import DumpWriter
from fictl.tracing import TracingConfig
from fictl.tracing.dumps import collect_dumps

from .samples import workloads


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """Calls of shipped ops, as level 10 leaves them behind; no kernel has run."""
    writer = DumpWriter(tmp_path / "dumps", Limits(100, 1e9))
    scale, append = fictl.ops.scale, fictl.ops.get_batch_indices_positions
    offsets = torch.tensor([0, 3, 5], dtype=torch.int32)
    for arguments in [(torch.ones(8), 2.0), (torch.ones(16), 2.0), (torch.ones(8), 2.0)]:
        _dump(writer, scale, *arguments)
    _dump(writer, append, offsets, torch.tensor([3, 2], dtype=torch.int32), 5)
    return tmp_path / "dumps"


def _dump(writer: DumpWriter, api: Any, *arguments: Any) -> None:
    writer.before(Call(api.op, api, arguments, {}))


def test_dumps_become_a_workload_set(dumps: Path, tmp_path: Path) -> None:
    root = tmp_path / "ds"
    planned = collect_dumps([dumps], root, TracingConfig(), dry_run=True)
    assert (planned.workloads, root.exists()) == (3, False)
    collected = collect_dumps([dumps], root, TracingConfig())
    assert (collected.dumps, collected.workloads, collected.refused) == (4, 3, ())
    assert [trace.workload.axes for trace in workloads(root, "scale_f32")] == [{"n": 8}, {"n": 16}]
    again = collect_dumps([dumps], root, TracingConfig())
    assert (again.workloads, again.known) == (0, 3)
    every = collect_dumps([dumps], tmp_path / "all", TracingConfig(filter_policy="keep_all"))
    assert every.workloads == 4


def test_lengths_of_a_dump_are_numbers(dumps: Path, tmp_path: Path) -> None:
    collect_dumps([dumps], tmp_path / "ds", TracingConfig())
    noted = [trace.workload.model_extra for trace in workloads(tmp_path / "ds")]
    assert [3, 2] in [v for n in noted if n for v in n["fictl"]["lengths"].values()]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"op": "other.ops.scale"}, "no project 'other'"),
        ({"op": "fictl.ops.gone"}, "no op 'fictl.ops.gone'"),
        ({"op": "os.system"}, "not the name of an op"),
        ({"arguments": {"input": {"opaque": "x"}}}, "which no dump can hold"),
        ({"arguments": {"input": 3}}, "of no definition"),
    ],
    ids=["project", "op", "name", "opaque", "arguments"],
)
def test_one_that_does_not_fit_is_left_out_with_its_reason(
    dumps: Path, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    first = min(dumps.glob("*_scale_*")) / "metadata.jsonl"
    first.write_text(json.dumps({**json.loads(first.read_text()), **change}) + "\n")
    collected = collect_dumps([dumps], tmp_path / "ds", TracingConfig())
    ((name, error),) = collected.refused
    assert name == first.parent.name
    assert words in error.message
    assert collected.workloads == 3


def test_a_folder_without_dumps_is_named(tmp_path: Path) -> None:
    with pytest.raises(FictlError, match="is not a dump"):
        collect_dumps([tmp_path], tmp_path / "ds", TracingConfig())
