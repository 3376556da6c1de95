"""Replay from outside: each call has a process of its own, and what ends that is an outcome."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
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
from fictl.process import Finished
from fictl.project import Project, mount
from fictl.replay.dump import find_dumps
from fictl.replay.outcome import ReplayOutcome, worst
from fictl.replay.replay_dumps import replay

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
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]),
        "FICTL_LOGLEVEL": "10",
        "FICTL_LOGDEST": "log",
        "FICTL_DUMP_DIR": "dumps",
    }
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
    assert outcome.exit_code == 1


def test_a_gpu_that_is_not_here_is_told(dump) -> None:
    outcome = replay(dump(torch.ones(2)), "cuda", 60.0)
    assert (outcome.status, outcome.exit_code, outcome.hint) == (
        "error",
        3,
        "--device emu replays it on the emulated device",
    )


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
    monkeypatch.setattr("fictl.child.program.run", None)
    outcome = replay(path, "", 60.0)
    assert (outcome.status, outcome.exit_code) == ("refused", 2)
    assert said in outcome.detail


def test_of_a_dumps_settings_only_the_ops_own_reach_the_process(dump, edit, monkeypatch) -> None:
    path, seen = dump(torch.ones(2)), {}
    edit(path, settings={"FICTL_DEVICE": "emu", "FICTL_EXTRA_CFLAGS": "-fplugin=evil.so"})

    def run(argv, env, timeout):
        seen.update(env)
        raise KeyboardInterrupt

    monkeypatch.setattr("fictl.child.program.run", run)
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
    seen = replay(path, "", 120.0, "memcheck")
    assert (seen.status, seen.exit_code) == ("defect", 1)
    assert seen.detail == "the call itself: error its kernel was stopped there"
    assert [finding.facts["kind"] for finding in seen.findings] == ["out-of-bounds"]
    assert Path(seen.findings[0].facts["file"]).name == "shift.cuh"


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
    assert worst([ReplayOutcome("d", "o", status) for status in statuses]) == code


@pytest.fixture
def sanitized(dump, monkeypatch) -> Callable[..., ReplayOutcome]:
    """Replay on a GPU that is not here, under a compute-sanitizer that says this."""

    def use(
        text: str, tool: str = "memcheck", ends: int = 66, report: bool = True
    ) -> ReplayOutcome:
        def run(argv: list[str], env: dict[str, str], timeout: float) -> Finished:
            assert argv[:1] == [f"compute-sanitizer-{tool}"]
            assert env["PYTORCH_NO_CUDA_MEMORY_CACHING"] == "1"
            if report:
                Path(argv[-1]).write_text('{"status": "match", "detail": ""}', encoding="utf-8")
            return Finished(tuple(argv), ends, text, 1.0)

        monkeypatch.setattr("fictl.child.program.run", run)
        monkeypatch.setattr("fictl.replay.replay_process.require_gpu", lambda *words: None)
        monkeypatch.setattr(
            "fictl.sanitize.compute_sanitizer.command", lambda tool: [f"compute-sanitizer-{tool}"]
        )
        return replay(dump(torch.ones(2)), "cuda", 60.0, tool)

    return use


MEMCHECK = """\
some words of the program
========= Invalid __global__ read of size 4 bytes
=========     at toy::HalveKernel(float *, const float *, long)+0x120 in halve.cuh:17
=========     by thread (40,0,0) in block (15,0,0)
=========     Access to 0x7f48eb200fa0 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f48eb200000 of size 4000 bytes
=========
========= ERROR SUMMARY: 1 error
"""


def test_what_compute_sanitizer_reports_is_a_defect_though_the_result_is_right(sanitized) -> None:
    outcome = sanitized(MEMCHECK)
    assert (outcome.status, outcome.detail, outcome.under) == (
        "defect",
        "the call itself: match",
        "memcheck",
    )
    (finding,) = outcome.findings
    assert (finding.facts["kind"], finding.facts["line"]) == ("out-of-bounds", 17)
    assert finding.facts["thread"] == (40, 0, 0)


def test_a_defect_that_the_project_accepts_is_none(sanitized, toy: Path) -> None:
    accepted = '[[suppress]]\nop = "halve"\nsite = "halve.cuh"\nwhy = "read and never used"\n'
    (toy / "sanitize.toml").write_text(accepted, encoding="utf-8")
    outcome = sanitized(MEMCHECK)
    assert (outcome.status, outcome.exit_code) == ("match", 0)
    assert [finding.suppressed for finding in outcome.findings] == ["read and never used"]


def test_a_call_that_a_fault_has_ended_has_its_reason(sanitized) -> None:
    outcome = sanitized(MEMCHECK, ends=-11, report=False)
    assert outcome.status == "defect"
    assert outcome.detail == "the call itself: error it ended its process with SIGSEGV"


def test_a_sanitizer_that_cannot_look_is_no_verdict(sanitized) -> None:
    outcome = sanitized("========= Error: Device not supported.\n", ends=255, report=False)
    assert (outcome.status, outcome.exit_code) == ("error", 3)
    assert "it does not fit this driver" in outcome.detail


def test_emulated_there_is_no_profile(dump) -> None:
    outcome = replay(dump(torch.ones(2)), "emu", 60.0, "profile")
    assert (outcome.status, outcome.exit_code) == ("error", 3)
    assert "--device cuda" in outcome.hint
