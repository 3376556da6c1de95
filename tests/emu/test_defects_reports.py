"""What check mode knows of tensors, and how it says what it has found."""

from __future__ import annotations

import ctypes
import json

import pytest

from fictl.emu.device import Watched


@pytest.fixture
def memory():
    """Why one: which tensor lies nearest must not be the allocator's choice."""
    return (ctypes.c_float * 4096)(*range(256))


@pytest.fixture
def x(memory):
    return (ctypes.c_float * 256).from_buffer(memory)


@pytest.fixture
def y(memory):
    return (ctypes.c_float * 256).from_buffer(memory, 3840 * 4)


@pytest.fixture
def call(emulate, device, x, y):
    """Runs the bug, or its correct twin, of a fixture with these tensors watched."""
    flags = (ctypes.c_int * 64)()

    def call(source: str, name: str, watched: list[Watched], bug: bool = True):
        device.watch(watched)
        getattr(emulate(source, checked=True), name)(bug, x, y, flags, 128)
        return device.take_reports()

    return call


def _watched(name, memory, *, shape=(256,), strides=(1,), offset=0, writable=True) -> Watched:
    return Watched(name, ctypes.addressof(memory) + offset, 4, shape, strides, writable)


def test_a_tensor_that_is_input_and_output_may_be_written(call, x, y) -> None:
    watched = [_watched("x", x), _watched("in", y, writable=False), _watched("out", y)]
    assert call("defects_memory.cu", "write_to_an_input", watched, bug=False) == []


def test_with_nothing_watched_only_shared_memory_is_checked(call) -> None:
    assert call("defects_races.cu", "blocks_write_the_same", []) == []
    (report,) = call("defects_memory.cu", "static_shared_past_the_end", [])
    assert report.kind == "out-of-bounds"


def test_the_nearest_tensor_is_named(call, x, y) -> None:
    near = _watched("near", x, shape=(8,), offset=128 * 4)
    far = _watched("far", x, shape=(8,), offset=200 * 4)
    (report,) = call("defects_memory.cu", "null_read", [near, far, _watched("y", y)], bug=False)
    assert report.facts["tensor"] == "near"


def test_a_view_is_named_with_the_index_of_its_element(call, x, y) -> None:
    # A transposed matrix of 16 x 16, and the kernel writes its first 64 elements in memory.
    watched = [
        _watched("x", x, shape=(16, 16), strides=(1, 16), writable=False),
        _watched("y", y),
    ]
    (report,) = call("defects_memory.cu", "write_to_an_input", watched)
    assert report.facts["element"] == "[3, 0]"


def test_a_tensor_with_a_backward_stride_lies_before_its_first_element(call, x, y) -> None:
    watched = [_watched("x", x, strides=(-1,), offset=255 * 4, writable=False), _watched("y", y)]
    (report,) = call("defects_memory.cu", "write_to_an_input", watched)
    assert report.facts["byte"] == 12


def test_a_row_that_is_broadcast_is_one_row(call, x, y) -> None:
    row = _watched("x", x, shape=(8, 256), strides=(0, 1), writable=False)
    assert call("defects_memory.cu", "write_to_an_input", [row, _watched("y", y)], bug=False) == []


def test_windows_that_overlap_have_no_gaps(call, x, y) -> None:
    windows = _watched("x", x, shape=(63, 8), strides=(4, 1), writable=False)
    watched = [windows, _watched("y", y)]
    assert call("defects_memory.cu", "write_to_an_input", watched, bug=False) == []


def test_an_empty_tensor_holds_nothing(call, x, y) -> None:
    watched = [_watched("x", x, shape=(0,)), _watched("y", y)]
    (report,) = call("defects_memory.cu", "write_to_an_input", watched)
    assert (report.kind, report.facts["size"]) == ("out-of-bounds", 0)


def test_a_defect_is_said_once_a_launch_for_its_place(call, x, y) -> None:
    watched = [_watched("x", x), _watched("y", y)]
    for _ in range(2):
        assert len(call("defects_races.cu", "two_writers", watched)) == 1


def test_a_launch_says_fifty_things_at_most(call, x, y) -> None:
    watched = [_watched("x", x), _watched("y", y)]
    assert len(call("defects_races.cu", "very_many_races", watched)) == 50


def test_a_race_has_two_sides_in_its_json(call, x, y) -> None:
    (report,) = call(
        "defects_races.cu", "blocks_write_the_same", [_watched("x", x), _watched("y", y)]
    )
    row = json.loads(json.dumps(report.to_dict()))
    assert row["kernel"] == "blocks_write_the_same_kernel<true>"
    assert (row["tensor"], row["conflict"], row["bytes"]) == ("y", "write after write", 4)
    assert row["block"] != row["other"]["block"]
    assert row["thread"] == row["other"]["thread"]
    assert row["file"].endswith("defects_races.cu")
    assert row["line"] == row["other"]["line"] > 0
    assert "two blocks write the same memory" in row["cause"]


def test_fast_mode_next_to_it_reports_nothing(call, emulate, device, x, y) -> None:
    watched = [_watched("x", x), _watched("y", y)]
    call("defects_races.cu", "two_writers", watched)
    fast = emulate("defects_races.cu", checked=False)
    assert fast.two_writers(True, x, y, None, 128) == 0
    assert device.take_reports() == []


def test_tensors_that_overlap_are_the_cause_and_no_barrier(emulate, device, memory, x) -> None:
    """Thread i writes what thread i + 4 reads, as an element of another argument."""
    out = (ctypes.c_float * 64).from_buffer(memory, 16)
    device.watch([_watched("x", x, writable=False), _watched("out", out, shape=(64,))])
    emulate("defects_more.cu", checked=True).no_blocks(False, x, out, None, 128)
    (report,) = device.take_reports()
    assert "the tensors 'out' and 'x' overlap in memory" in report.cause
    assert "sync" not in report.cause


def test_one_tensor_as_input_and_output_is_the_cause_if_threads_meet_in_it(call, x, y) -> None:
    watched = [_watched("x", x), _watched("input", y), _watched("out", y)]
    for report in call("defects_more.cu", "stencil_in_place", watched):
        assert "the tensors 'input' and 'out' are the same memory" in report.cause


def test_two_outputs_that_overlap_are_the_cause_of_two_writes(call, x, y) -> None:
    watched = [_watched("x", x), _watched("out", y), _watched("lse", y, shape=(8,))]
    reports = call("defects_races.cu", "blocks_write_the_same", watched)
    assert any("'out' and 'lse' overlap" in report.cause for report in reports)


def test_an_input_below_is_no_cause_of_two_writes(call, x, y) -> None:
    watched = [_watched("x", x), _watched("out", y), _watched("in", y, writable=False)]
    reports = call("defects_races.cu", "blocks_write_the_same", watched)
    assert all("two blocks write" in report.cause for report in reports)


def test_memory_that_was_given_back_is_called_so(call, x, y) -> None:
    watched = [_watched("x", x), _watched("y", y)]
    (report,) = call("defects_memory.cu", "memory_that_was_freed", watched)
    assert "memory that cudaFree() has taken back" in report.what
