"""Rewritten kernels compute what nvcc's would: launches, shared variables, lambdas."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pytest


@pytest.fixture(params=[False, True], ids=["fast", "check"])
def library(request, emulate, device, schedule) -> Iterator[ctypes.CDLL]:
    library = emulate("rewrite.cu", checked=request.param)
    device.run_under(schedule)
    yield library
    assert device.take_reports() == []


def test_shared_variables_of_every_form_are_those_of_the_block(library) -> None:
    out = (ctypes.c_float * 32)()
    assert library.declared(out) == 0
    by_value, by_nothing, nested, read, hidden = 3 + 7, 1, 0.5 * 6 + 7 + 4 + 2, 30 + 300, 2
    constant = by_value + by_nothing + nested + read + hidden
    assert list(out) == [constant + lane for lane in range(32)]


def test_dynamic_shared_memory_is_one_for_all_its_declarations(library) -> None:
    floats, shorts = (ctypes.c_float * 8)(), (ctypes.c_short * 8)()
    assert library.dynamic(floats, shorts) == 0
    assert list(floats) == [3, 2, 1, 0, 7, 6, 5, 4]
    assert list(shorts) == [7, 6, 5, 4, 3, 2, 1, 0]


def test_launches_of_every_form_run_their_kernels(library) -> None:
    ints, floats = (ctypes.c_int * 8)(), (ctypes.c_float * 8)()
    assert library.launches(ints, floats) == 0
    assert list(ints) == [1128] * 8
    assert list(floats) == [7.5] * 8
