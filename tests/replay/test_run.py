"""Replay from outside: each call has a process of its own, and what ends that is an outcome."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from fictl.emu.toolchain import current_toolchain
from fictl.op.ffi.emulated import KernelDefect
from fictl.op.watch.dump.limits import Limits
from fictl.op.watch.dump.record import METADATA, Record
from fictl.op.watch.dump.writer import DumpWriter
from fictl.op.watch.observed import observed
from fictl.paths import PACKAGE
from fictl.project import Project, mount
from fictl.replay.dump import find_dumps
from fictl.replay.outcome import Outcome, worst
from fictl.replay.run import replay

CALL = """
import torch
from fictl.project import Project, mount
mount(Project.at())
import toy
x = torch.arange(6.0)[::2]
"""


def run_in_a_process(code: str) -> int:
    """With dumps on, as a user's program."""
    env = {
        **os.environ, "PYTHONPATH": str(PACKAGE.parent),
        "FICTL_LOGLEVEL": "10", "FICTL_LOGDEST": "log", "FICTL_DUMP_DIR": "dumps",
    }  # fmt: skip
    return subprocess.run([sys.executable, "-c", CALL + code], env=env).returncode


def test_a_call_killed_in_the_middle_leaves_its_inputs_and_kills_its_replay_only(
    toy: Path,
) -> None:
    assert run_in_a_process("toy.ops.halve(x, 9.0)") == -9
    (path,) = (toy / "dumps").iterdir()
    assert Record.read(path).status == "inputs_saved"
    outcome = replay(path, "", 60.0)
    assert (outcome.status, outcome.device) == ("error", "emu")
    assert outcome.detail == "it ended its process with SIGKILL"


def test_a_call_is_replayed_and_leaves_no_dump_of_its_own(toy: Path, monkeypatch) -> None:
    assert run_in_a_process("toy.ops.halve(x)") == 0
    (path,) = (toy / "dumps").iterdir()
    monkeypatch.setenv("FICTL_LOGLEVEL", "10")
    monkeypatch.setenv("FICTL_LOGDEST", "log")
    assert replay(path, "", 60.0).status == "match"
    assert len(list((toy / "dumps").iterdir())) == 1


def test_a_call_of_a_planned_object_is_planned_again(toy: Path) -> None:
    assert run_in_a_process("d = toy.ops.Divide(); d.plan(x + 1); d.run(x); d.run(x, out=x)") == 0
    first, second = find_dumps([toy / "dumps"])
    assert list(Record.read(first).arguments) == ["by", "round", "input", "out"]
    assert [replay(path, "", 60.0).status for path in (first, second)] == ["match", "match"]


def test_a_call_that_hangs_is_ended(dump) -> None:
    outcome = replay(dump(torch.ones(2)), "", 0.01)
    assert outcome.status == "error"
    assert "did not end within 0.01 s" in outcome.detail


def test_a_gpu_that_is_not_here_is_told(dump) -> None:
    outcome = replay(dump(torch.ones(2)), "cuda", 60.0)
    assert (outcome.status, outcome.hint) == (
        "error", "--device emu replays it on the emulated device",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"settings": {"FICTL_DEVICE": "tpu"}}, "unknown device 'tpu'"),
        ({"format": "fictl.dump/9"}, "is of format 'fictl.dump/9'"),
        ({"op": "toy.ops.doubl"}, "there is no op 'toy.ops.doubl'"),
    ],
)
def test_what_is_refused_starts_no_process(dump, edit, monkeypatch, changes, said) -> None:
    path = dump(torch.ones(2))
    edit(path, **changes)
    monkeypatch.setattr("fictl.replay.run.run", None)
    outcome = replay(path, "", 60.0)
    assert (outcome.status, outcome.exit_code) == ("refused", 2)
    assert said in outcome.detail


def test_of_a_dumps_settings_only_the_ops_own_reach_the_process(dump, edit, monkeypatch) -> None:
    path, seen = dump(torch.ones(2)), {}
    edit(path, settings={"FICTL_DEVICE": "emu", "FICTL_EXTRA_CFLAGS": "-fplugin=evil.so"})

    def run(argv, env, timeout):
        seen.update(env)
        raise KeyboardInterrupt

    monkeypatch.setattr("fictl.replay.run.run", run)
    with pytest.raises(KeyboardInterrupt):
        replay(path, "", 60.0)
    assert seen["FICTL_DEVICE"] == "emu"
    assert "FICTL_EXTRA_CFLAGS" not in seen


def test_a_kernel_that_is_stopped_leaves_its_inputs_and_is_stopped_again(
    stray: Path, monkeypatch
) -> None:
    if current_toolchain() is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    mount(Project.at(stray))
    import stray as project  # type: ignore[import-not-found]

    shift = project.ops.shift
    watched = observed(shift, shift.op, [DumpWriter(stray / "dumps", Limits(9, 1e9))])
    with pytest.raises(KernelDefect):
        watched(torch.arange(80, dtype=torch.int32), 1)
    (path,) = (stray / "dumps").iterdir()
    assert len((path / METADATA).read_text().splitlines()) == 2
    outcome = replay(path, "", 120.0)
    assert outcome.status == "error"
    assert outcome.detail.startswith("KernelDefect (as recorded): shift: out-of-bounds: ")


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (["match", "no reference"], 0),
        (["match", "refused"], 2),
        (["refused", "mismatch"], 1),
        (["error"], 1),
    ],
)
def test_the_worst_outcome_decides(statuses: list[str], code: int) -> None:
    assert worst([Outcome("d", "o", status) for status in statuses]) == code
