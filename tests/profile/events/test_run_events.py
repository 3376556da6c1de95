"""`fictl profile OP --tool events` on the emulated device, from an op's source to its answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fictl.case.options import CaseOptions
from fictl.errors import FictlError, UsageError
from fictl.profile.events.run_events import profile
from fictl.profile.request import ProfileRequest
from fictl.project import find

HEADER = "kernels/include/stray/elementwise/shift.cuh"
INDEX = "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
EVENTS = """  FICTL_KERNEL("shift");
  FICTL_EVENT("here");
  FICTL_SCOPE("copy");
"""


@pytest.fixture
def request_of(stray: Path, monkeypatch: pytest.MonkeyPatch) -> ProfileRequest:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    return ProfileRequest(
        find("shift")[0], frozenset({"shift"}), CaseOptions(case="shift-40", timeout=120)
    )


@pytest.fixture
def recording_op(stray: Path) -> None:
    path = stray / HEADER
    text = path.read_text(encoding="utf-8")
    assert INDEX in text
    text = text.replace("#pragma once", "#pragma once\n#include <fictl/device/profiler.cuh>")
    path.write_text(text.replace(INDEX, EVENTS + INDEX), encoding="utf-8")


def test_an_op_records_what_its_kernel_says(recording_op, request_of: ProfileRequest) -> None:
    result = profile(request_of)
    (kernel,) = result.recording.kernels
    assert (kernel.name, kernel.blocks, kernel.launches, len(kernel.warps)) == ("shift", 2, 1, 2)
    assert [each.name for each in kernel.warps[0].happened] == ["here", "copy"]
    assert (result.device, result.capacity, result.warnings) == ("", 16, [])
    trace = json.loads(result.trace.read_text(encoding="utf-8"))
    assert {"shift", "here", "copy"} <= {event["name"] for event in trace["traceEvents"]}


def test_an_op_without_events_is_told_which_lines_to_add(request_of: ProfileRequest) -> None:
    with pytest.raises(FictlError) as caught:
        profile(request_of)
    assert caught.value.message == "the kernels of stray/elementwise/shift have no events"
    assert caught.value.exit_code == 1
    assert "in shift.cuh: #include <fictl/device/profiler.cuh>" in caught.value.hint


def test_a_kernel_without_an_event_in_it_is_no_more(recording_op, request_of, stray) -> None:
    path = stray / HEADER
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = (line for line in lines if "FICTL_" not in line or "KERNEL" in line)
    path.write_text("\n".join(kept), encoding="utf-8")
    with pytest.raises(FictlError, match="have FICTL_KERNEL, and no event in it"):
        profile(request_of)


def test_a_program_that_ends_too_early_is_an_error_with_its_last_words(
    recording_op, request_of, monkeypatch
) -> None:
    monkeypatch.setattr("fictl.profile.events.run_events._PROGRAM", "this")
    with pytest.raises(FictlError, match="ended before it had recorded") as caught:
        profile(request_of)
    assert "The Zen of Python" in caught.value.hint or "Namespaces" in caught.value.hint


def test_a_choice_that_is_none_is_refused_before_anything_is_built(
    request_of: ProfileRequest,
) -> None:
    with pytest.raises(UsageError, match="--blocks many is not a choice of blocks"):
        profile(request_of, blocks="many")
