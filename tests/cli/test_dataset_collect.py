"""fictl dataset collect: counts, left out dumps, exit codes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

import fictl as package
from fictl.op.watch.call import Call
from fictl.op.watch.dump.limits import Limits
from fictl.op.watch.dump.writer import DumpWriter


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    writer = DumpWriter(tmp_path / "dumps", Limits(10, 1e9))
    scale = package.ops.scale
    writer.before(Call(scale.op, scale, (torch.ones(8), 2.0), {}))
    return tmp_path / "dumps"


def test_counts_are_shown_and_given(fictl, dumps: Path, tmp_path: Path) -> None:
    out = tmp_path / "ds"
    planned = fictl("dataset", "collect", str(dumps), "--out", str(out), "--dry-run")
    assert "1 dump · 1 new workload · 1 definition would be written" in planned.out
    assert not os.path.exists(out)
    answer = fictl("dataset", "collect", str(dumps), "--out", str(out), "--json")
    assert (answer.code, answer.document["data"]["workloads"]) == (0, 1)
    assert fictl("dataset", "validate", str(out)).code == 0


def test_a_damaged_dump_is_named_and_fails(fictl, dumps: Path, tmp_path: Path) -> None:
    (dump,) = dumps.iterdir()
    (dump / "metadata.jsonl").write_text("{}\n")
    answer = fictl("dataset", "collect", str(dumps), "--out", str(tmp_path / "ds"))
    assert answer.code == 2
    assert dump.name in answer.err


@pytest.mark.parametrize("option", ["--policy", "--inputs"])
def test_an_unknown_policy_is_refused(fictl, dumps: Path, option: str) -> None:
    answer = fictl("dataset", "collect", str(dumps), option, "nope", "--dry-run")
    assert answer.code == 2
    assert "'nope'" in answer.err
