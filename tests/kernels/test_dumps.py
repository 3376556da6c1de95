"""Dumps of calls on a GPU: they are replayed there, and captured graphs stay as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.op.watch.dump.limits import Limits
from fictl.op.watch.dump.record import Record
from fictl.op.watch.dump.writer import DumpWriter
from fictl.op.watch.observed import observed
from fictl.ops import scale
from fictl.replay.replay_dumps import replay

pytestmark = pytest.mark.needs_gpu


@pytest.fixture
def dumped(tmp_path: Path) -> Any:
    return observed(scale, scale.op, [DumpWriter(tmp_path / "dumps", Limits(9, 1e9))])


def test_a_call_on_a_gpu_is_dumped_and_replayed(dumped: Any, tmp_path: Path) -> None:
    x = torch.randn(64, 256, device="cuda", dtype=torch.bfloat16)[:, :128]
    x[3, 5] = float("nan")
    dumped(x, 2.0)
    (path,) = (tmp_path / "dumps").iterdir()
    record = Record.read(path)
    assert record.gpu == torch.cuda.get_device_name()
    assert record.stream.startswith("0x")
    assert record.inputs.tensors["input"].stride == (256, 1)
    outcome = replay(path, "", 300.0)
    assert (outcome.status, outcome.device) == ("match", "cuda"), outcome


def test_nothing_is_dumped_while_a_graph_is_captured(dumped: Any, tmp_path: Path) -> None:
    x, out = torch.ones(1024, device="cuda"), torch.empty(1024, device="cuda")
    scale(x, 2.0, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        dumped(x, 2.0, out=out)
    x.fill_(3.0)
    graph.replay()
    assert out.unique().tolist() == [6.0]
    assert not (tmp_path / "dumps").exists()
