"""Loads, stores, atomics, copies and flags written in PTX, under every schedule."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator

import pytest
import torch

pytestmark = pytest.mark.usefixtures("compiler")

BLOCKS, THREADS = 3, 40
COUNT = BLOCKS * THREADS


@pytest.fixture(params=[False, True], ids=["fast", "check"])
def library(request, emulate, device, schedule) -> Iterator[ctypes.CDLL]:
    library = emulate("ptx_memory.cu", checked=request.param)
    device.run_under(schedule)
    yield library
    assert device.take_reports() == []


def test_every_form_of_load_and_store_moves_its_bytes(library) -> None:
    source = torch.arange(100, 228, dtype=torch.uint8)  # torch's memory is aligned
    out = torch.zeros_like(source)
    assert library.loads(*(ctypes.c_void_p(t.data_ptr()) for t in (source, out))) == 0
    assert torch.equal(out[:41], source[:41])
    assert torch.equal(out[48:52], source[48:52])
    assert out[44:48].view(torch.int32).item() == 141 - 256  # a byte with its sign


def test_no_change_of_an_atomic_is_lost(library) -> None:
    words = (ctypes.c_uint32 * 10)(0, 0, 1 << 20, 0, 0, 0xFF, 0, 3, 0, 0)
    longs, floats = (ctypes.c_uint64 * 1)(), (ctypes.c_float * 4)()
    doubles, pairs = (ctypes.c_double * 1)(), (ctypes.c_uint32 * 2)()
    assert library.atomics(BLOCKS, THREADS, words, longs, floats, doubles, pairs) == 0
    xor = 0
    for i in range(COUNT):
        xor ^= i
    counted = [2 * COUNT, COUNT - 41, 0, 0xFFFFFFFF, xor, 0, COUNT % 5, (3 - COUNT) % 5, 0, COUNT]
    assert list(words) == counted
    total = COUNT * (COUNT - 1) // 2
    assert list(longs) == [total << 32]
    assert list(floats) == [total / 2, 0, COUNT, 2 * COUNT]
    assert list(doubles) == [total / 4]
    assert struct.unpack("<2e", bytes(pairs)[:4]) == (2 * COUNT, COUNT)
    assert [code >> 16 << 16 for code in pairs[1:]] == [bfloat(COUNT)]
    assert [code << 16 & 0xFFFFFFFF for code in pairs[1:]] == [bfloat(2 * COUNT)]


def bfloat(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


def test_copies_land_with_zeros_behind_what_they_read(library) -> None:
    source = torch.arange(1, 17, dtype=torch.int32)
    out = torch.zeros_like(source)
    assert library.copies(*(ctypes.c_void_p(t.data_ptr()) for t in (source, out))) == 0
    assert out.tolist() == [1, 0, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 13, 14, 15, 16]


def test_one_block_waits_for_another(library) -> None:
    flags, out = (ctypes.c_uint32 * 1)(), (ctypes.c_uint32 * 2)()
    assert library.flags(flags, out) == 0
    assert list(out) == [17, 18]


def test_threads_that_exit_do_nothing_more(library) -> None:
    out = (ctypes.c_uint32 * 64)()
    assert library.leaving(out) == 0
    expected = [
        0 if lane % 2 else (3 | 2 << 8 | (1 << lane) - 1 << 16) & 0xFFFFFFFF for lane in range(32)
    ]
    assert list(out) == expected * 2
