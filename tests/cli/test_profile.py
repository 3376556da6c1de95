"""fictl profile: what is asked for, what is shown, and what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fictl.errors import FictlError, SetupError
from fictl.profile.cupti.row import HostRow, KernelRow
from fictl.profile.cupti.summary import CuptiSummary
from fictl.profile.outcome import ProfileOutcome

_ROW = KernelRow(
    "twice::Kernel<4>",
    1,
    (10e-6, 11e-6),
    1.0,
    (1056, 1, 1),
    (256, 1, 1),
    (0, 0, 0),
    64,
    0,
    4096,
    0.5,
    ("registers",),
    4,
    2.0,
)
_SUMMARY = CuptiSummary(
    "twice-1-int32",
    "NVIDIA H200",
    2,
    (_ROW,),
    (),
    (HostRow("cudaLaunchKernel", 1, (3e-6,), 1.0),),
    (10e-6, 11e-6),
    (0.0, 0.0),
    0.0,
    sm_mhz=1980,
    cold=True,
    trace="profiles/twice-1-int32.trace.json",
)


@pytest.fixture
def found(monkeypatch) -> list[ProfileOutcome]:
    """A GPU, and what is found on it."""
    outcomes = [ProfileOutcome("tiny/elementwise/twice", "twice-1-int32", _SUMMARY)]
    monkeypatch.setattr("fictl.toolchain.require_gpu", lambda problem, hint: None)
    monkeypatch.setattr(
        "fictl.profile.cupti.run_cupti.profile", lambda requests, trace, say: iter(outcomes)
    )
    return outcomes


def test_it_shows_how_kernels_were_launched_and_how_long_they_took(tiny, fictl, found):
    answer = fictl("profile", "twice")
    assert answer.code == 0
    assert "H200 · 1980 MHz · cupti · cold L2 · 2 calls" in answer.out
    line = next(line for line in answer.out.split("\n") if "twice::Kernel<4>" in line)
    assert line.split() == [
        *("twice::Kernel<4>", "1056", "256", "64", "4.0", "KiB", "dyn", "50%", "registers", "2"),
        *("10.5", "us", "10.0", "us", "11.0", "us", "100.0%"),
    ]
    assert "wrote profiles/twice-1-int32.trace.json, for ui.perfetto.dev" in answer.out


def test_json_is_the_summary_of_each_case(tiny, fictl, found):
    document = fictl("profile", "twice", "--json").document
    assert (document["schema"], document["ok"]) == ("fictl.profile/1", True)
    (case,) = document["data"]
    assert case["result"]["kernels"][0]["seconds"] == [10e-6, 11e-6]
    assert (case["case"], case["error"]) == ("twice-1-int32", None)


def test_a_case_that_failed_stands_below_the_others(tiny, fictl, found):
    found.append(
        ProfileOutcome("tiny/elementwise/twice", "twice-2-int32", None, FictlError("it broke"))
    )
    answer = fictl("profile", "twice")
    assert answer.code == 1
    assert "twice::Kernel<4>" in answer.out
    assert "error: twice-2-int32: it broke" in answer.err


def test_what_all_of_them_met_is_said_once(tiny, fictl, found):
    found[:] = [
        ProfileOutcome("o", case, None, SetupError("CUPTI is busy", "wait")) for case in "ab"
    ]
    answer = fictl("profile", "twice")
    assert (answer.code, answer.out) == (3, "")
    assert answer.err.count("CUPTI is busy") == 1


def test_dry_run_says_which_cases_it_would_be(tiny, fictl):
    answer = fictl("profile", "twice", "--calls", "5", "--dry-run")
    assert answer.out.split("\n")[1].split() == ["twice-1-int32", "cupti", "5", "profiles/"]
    assert not Path("profiles").exists()


def test_without_a_gpu_it_says_what_works_without(tiny, fictl):
    answer = fictl("profile", "twice")
    assert answer.code == 3
    assert "there is no GPU here to profile on" in answer.err
    assert "fictl inspect" in answer.err


def test_an_op_of_one_process_has_no_ranks(tiny, fictl):
    answer = fictl("profile", "twice", "--gpus", "2", "--device", "emu", "--dry-run")
    assert answer.code == 2
    assert "is called by one process, not by several ranks" in answer.err


def test_without_a_gpu_ranks_run_emulated(tiny, fictl):
    answer = fictl("profile", "twice", "--gpus", "2", "--device", "cuda")
    assert answer.code == 3
    assert "--device emu runs the ranks on the emulated device" in answer.err


def test_more_ranks_than_gpus_are_refused(tiny, fictl, found, monkeypatch):
    monkeypatch.setattr("fictl.ranks.gpus.visible_gpus", lambda: [object()] * 2)
    answer = fictl("profile", "twice", "--gpus", "3")
    assert answer.code == 3
    assert "needs 3 GPUs, 2 are visible" in answer.err


@pytest.mark.parametrize("tool", ["cupti", "ncu", "nsys"])
def test_on_the_emulated_device_there_is_nothing_to_time(tiny, fictl, tool):
    answer = fictl("profile", "twice", "--tool", tool, "--device", "emu")
    assert answer.code == 3
    assert f"{tool} profiles a GPU" in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["twice", "--tool", "gdb"], "'gdb' is not a tool of profile"),
        (["twice", "--set", "full"], "--set is for --tool ncu"),
        (["twice", "--tool", "nsys", "--ncu-arg", "-x"], "--ncu-arg is for --tool ncu"),
        (["twice", "--case", "nonsense", "--dry-run"], "no case of twice matches nonsense"),
        (["--dry-run"], "which op is to be profiled?"),
        (["rmsnorm", "--case", "16x", "--trace", "t", "--dry-run"], "--trace names one file"),
        (["twice", "--calls", "0"], "'0' is not a whole number from 1"),
    ],
)
def test_a_wrong_request_is_refused(tiny, fictl, words, said):
    answer = fictl("profile", *words)
    assert answer.code == 2
    assert said in answer.err


def test_ncu_is_given_what_is_for_it(tiny, fictl, found, monkeypatch):
    asked: list[Any] = []
    monkeypatch.setattr(
        "fictl.profile.ncu.run_ncu.profile",
        lambda request, collection, say: asked.append((request, collection)) or _Found(),
    )
    monkeypatch.setattr(
        "fictl.cli._profile.ncu_view.show", lambda out, result: out.print(result.said)
    )
    words = ["--set", "basic", "--kernel", "a|b", "--ncu-arg=--clock-control=base"]
    answer = fictl("profile", "twice", "--tool", "ncu", *words)
    ((request, collection),) = asked
    assert (request.case, request.calls) == ("twice-1-int32", 1)
    assert (collection.set, collection.kernel) == ("basic", "a|b")
    assert collection.extra == ("--clock-control=base",)
    assert answer.out == "what it found\n"


@pytest.mark.parametrize("tool", ["nsys", "events"])
def test_others_are_asked_case_by_case(tiny, fictl, found, monkeypatch, tool):
    monkeypatch.setattr(f"fictl.profile.{tool}.run_{tool}.profile", lambda request, *more: _Found())
    document = fictl("profile", "twice", "--tool", tool, "--json").document
    assert [each["result"] for each in document["data"]] == [{"said": "what it found"}]


def test_a_tool_that_is_not_there_ends_it(tiny, fictl, found, monkeypatch):
    def missing(*_arguments: object) -> None:
        raise SetupError("nsys is not installed", "apt install")

    monkeypatch.setattr("fictl.profile.nsys.run_nsys.profile", missing)
    answer = fictl("profile", "twice", "--tool", "nsys")
    assert answer.code == 3
    assert "nsys is not installed" in answer.err


class _Found:
    said = "what it found"

    def to_dict(self) -> dict[str, str]:
        return {"said": self.said}
