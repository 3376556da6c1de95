"""Bulk copies of the emulated device against numpy: boxes of every rank, type and swizzle, in every schedule."""

from __future__ import annotations

import ctypes
import re
import shutil
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from fictl.emu.device import Watched

from .tensor_maps import (
    BF16,
    F16,
    F32,
    F64,
    S32,
    S64,
    TF32,
    U8,
    U16,
    U32,
    U64,
    Map,
    Spec,
    box_of,
    encode,
    in_shared,
    inside,
)

INVALID_VALUE, LAUNCH_FAILURE = 1, 719


@pytest.fixture(params=["g++", "g++ check", "clang++"])
def library(request, emulate, device, schedule, monkeypatch) -> Iterator[ctypes.CDLL]:
    """The kernels as one compiler aligns parameters, and as check mode sees them."""
    compiler, _, checked = request.param.partition(" ")
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    monkeypatch.setenv("CXX", compiler)
    library = emulate("hopper_copies.cu", checked=bool(checked))
    device.run_under(schedule)
    yield library
    assert [report.text() for report in device.take_reports()] == []


@pytest.fixture
def wrong(emulate, device) -> ctypes.CDLL:
    """For what is refused or reported."""
    return emulate("hopper_copies.cu")


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def corner(at: tuple[int, ...]) -> ctypes.Array[ctypes.c_int]:
    return (ctypes.c_int * 5)(*at)


def loaded(
    library: ctypes.CDLL,
    spec: Spec,
    memory: np.ndarray,
    at: tuple[int, ...],
    where: int = 0,
    offset: int = 0,
) -> np.ndarray:
    holder = Map()
    assert encode(library, holder.at(), spec, memory.ctypes.data) == 0
    out = np.full(spec.bytes, 0xCC, np.uint8)
    rank = len(spec.sizes)
    assert (
        library.load_box(holder.at(), where, rank, corner(at), spec.bytes, offset, pointer(out))
        == 0
    )
    return out


MATRIX = Spec(F16, (72, 20), (64, 8))
BOXES = [
    (Spec(F32, (40,), (16,)), (3,)),
    (Spec(F32, (40,), (16,)), (-5,)),
    (Spec(U8, (100, 7), (32, 4), swizzle=1), (17, 1)),
    (Spec(U8, (100, 7), (48, 5)), (80, 4)),
    (Spec(F16, (72, 20), (64, 16), swizzle=3), (0, 2)),
    (Spec(F16, (72, 20), (64, 16), swizzle=3), (16, 9)),
    (Spec(BF16, (72, 20), (32, 8), swizzle=2, padding=48), (-4, -3)),
    (Spec(BF16, (72, 20), (32, 8), swizzle=3), (9, 0)),
    (Spec(TF32, (33, 9), (8, 4), swizzle=1), (30, 7)),
    (Spec(S32, (33, 9), (16, 4), swizzle=2), (-16, 2)),
    (Spec(U16, (24, 5, 4), (16, 3, 2)), (-1, -1, -1)),
    (Spec(F16, (64, 6, 5), (64, 4, 2), swizzle=3), (0, 4, 1)),
    (Spec(U32, (12, 4, 3, 3), (8, 2, 2, 2), swizzle=1), (6, 1, -1, 2)),
    (Spec(F64, (6, 3, 3, 2, 3), (4, 2, 2, 2, 2), swizzle=1), (1, -1, 2, 1, 0)),
    (Spec(S64, (6, 3), (2, 2)), (100, 0)),
    (Spec(U64, (6, 3), (2, 2)), (0, -50)),
    (Spec(F32, (32, 30), (8, 9), steps=(5, 3, 1, 1, 1)), (4, 2)),
    (Spec(F32, (32, 30), (8, 9), steps=(1, 2, 1, 1, 1)), (4, 24)),
    (Spec(F16, (20, 4), (16, 4), fill=1), (10, -2)),
]


def name(case: object) -> str:
    if isinstance(case, Spec):
        return f"type{case.type}-{'x'.join(map(str, case.box))}-swizzle{case.swizzle}"
    return str(case)


@pytest.mark.parametrize(("spec", "at"), BOXES, ids=name)
def test_a_box_is_loaded_in_its_swizzle_with_zeros_around_the_tensor(library, spec, at) -> None:
    memory = spec.memory()
    expected = in_shared(spec, box_of(spec, memory, at))
    assert np.array_equal(loaded(library, spec, memory, at), expected)


@pytest.mark.parametrize("swizzle", [1, 2, 3])
def test_the_pattern_follows_the_address_and_not_the_tile(library, swizzle) -> None:
    """A tile that begins within a pattern: the one that wgmma would read, too."""
    spec = Spec(U8, (128, 32), ((16, 32, 64, 128)[swizzle], 16), swizzle=swizzle)
    memory = spec.memory()
    offset = 128 << swizzle
    expected = in_shared(spec, box_of(spec, memory, (0, 3)), offset)
    assert np.array_equal(loaded(library, spec, memory, (0, 3), offset=offset), expected)


@pytest.mark.parametrize("where", [1, 2, 3], ids=["struct", "constant", "global"])
def test_a_map_may_lie_wherever_a_gpu_takes_it(library, where) -> None:
    spec = MATRIX.with_(swizzle=3)
    memory = spec.memory()
    expected = in_shared(spec, box_of(spec, memory, (1, 2)))
    assert np.array_equal(loaded(library, spec, memory, (1, 2), where), expected)


@pytest.mark.parametrize(
    ("spec", "at"), [case for case in BOXES if case[0].steps[1] == 1 and not case[0].fill], ids=name
)
def test_a_box_is_stored_where_the_tensor_has_room(library, spec, at) -> None:
    memory, source = spec.memory(), spec.memory(1)
    box = box_of(spec, source, tuple(min(max(0, a), 1) for a in at))
    expected = memory.copy()
    of_box, of_tensor = inside(spec, at)
    if all(part.start < part.stop for part in of_box):
        spec.view(expected)[of_tensor] = box[of_box]
    stored(library, spec, memory, at, box)
    assert np.array_equal(memory, expected)


def stored(
    library: ctypes.CDLL,
    spec: Spec,
    memory: np.ndarray,
    at: tuple[int, ...],
    box: np.ndarray,
    adds: int = 0,
) -> None:
    holder = Map()
    assert encode(library, holder.at(), spec, memory.ctypes.data) == 0
    tile = in_shared(spec, box)
    rank = len(spec.sizes)
    assert library.store_box(holder.at(), rank, corner(at), spec.bytes, adds, pointer(tile)) == 0


@pytest.mark.parametrize("type_", [F16, F32, F64, S32, U64])
def test_a_box_is_added_where_the_tensor_has_room(library, type_) -> None:
    spec = Spec(type_, (24, 5, 3), (8, 4, 2), swizzle=1)
    spec = spec.with_(swizzle=0) if spec.itemsize * 8 > 32 else spec
    memory = spec.memory()
    tensor = spec.view(memory)
    tensor[:] = np.arange(tensor.size).reshape(tensor.shape)
    box = np.arange(64).reshape(2, 4, 8).astype(tensor.dtype)
    expected = tensor.copy()
    of_box, of_tensor = inside(spec, (-2, 3, 2))
    expected[of_tensor] += box[of_box]
    stored(library, spec, memory, (-2, 3, 2), box, adds=1)
    assert np.array_equal(tensor, expected)


# which, dtype, and what becomes of what is there (y) and what is copied (x)
PLAIN = [
    (0, torch.float32, lambda y, x: x),
    (1, torch.float32, torch.add),
    (2, torch.float16, torch.add),
    (3, torch.bfloat16, torch.add),
    (4, torch.int32, torch.add),
    (5, torch.int32, torch.minimum),
    (6, torch.int64, torch.maximum),
    (7, torch.int32, torch.bitwise_and),
    (8, torch.int32, torch.bitwise_or),
    (9, torch.int64, torch.bitwise_xor),
    (10, torch.float64, torch.add),
    (11, torch.bfloat16, torch.maximum),
]


@pytest.mark.parametrize(("which", "dtype", "change"), PLAIN)
def test_bytes_are_copied_and_reduced_without_a_map(library, which, dtype, change) -> None:
    generator = torch.Generator().manual_seed(which)
    x, y = (torch.randint(0, 999, (64,), generator=generator).to(dtype) for _ in range(2))
    expected = change(y, x)
    arguments = [ctypes.c_void_p(t.data_ptr()) for t in (x, y)]
    assert library.plain(*arguments, 64 * x.itemsize, which) == 0
    assert torch.equal(y, expected)


def test_bytes_are_copied_within_shared_memory(library) -> None:
    x, y = torch.arange(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    assert library.within(*(ctypes.c_void_p(t.data_ptr()) for t in (x, y))) == 0
    assert torch.equal(x, y)


@pytest.mark.parametrize(("pending", "written"), [(1, 2), (2, 0)])
def test_a_wait_covers_all_but_the_newest_groups(emulate, device, pending, written) -> None:
    """Late copies show what has been waited for; a wait that is for reading writes nothing."""
    out = np.full(128, 9, np.int32)
    assert emulate("hopper_copies.cu").groups(pointer(out), pending) == 0
    assert out[96:99].tolist() == [k + 1 if k < written else 9 for k in range(3)]
    assert out[0:96:32].tolist() == [1, 2, 3]


def test_a_map_that_a_kernel_edits_must_not_be_in_use(emulate, device, schedule) -> None:
    """A copy that completes late finds the map written over, and is reported."""
    library = emulate("hopper_copies.cu")
    device.run_under(schedule)
    spec = Spec(U8, (64, 4), (64, 4))
    memories, holders = [spec.memory(seed) for seed in (0, 1)], [Map(), Map()]
    for memory, holder in zip(memories, holders, strict=True):
        assert encode(library, holder.at(), spec, memory.ctypes.data) == 0
    out = np.zeros(spec.bytes, np.uint8)
    code = library.edit(*(holder.at() for holder in holders), spec.bytes, pointer(out))
    kinds = [report.kind for report in device.take_reports()]
    is_early = schedule.order == "reverse"
    assert (code == 0, kinds) == (is_early, [] if is_early else ["map-edited"])
    assert np.array_equal(out, memories[0]) is is_early


def test_no_other_function_of_the_driver_is_there(wrong, device) -> None:
    assert wrong.other_entry_points() == 0
    (report,) = device.take_reports()
    assert (report.kind, report.what) == ("missing", "cuMemcpy of the driver")


# ---- refusals ----

REFUSED = [
    (MATRIX.with_(sizes=(0, 20)), {}, r"globalDim\[0\] is 0, not 1 to 2\^32"),
    (MATRIX.with_(sizes=(72, (1 << 32) + 1)), {}, r"globalDim\[1\] is 4294967297"),
    (MATRIX.with_(padding=8), {}, r"globalStrides\[0\] is 152 bytes, not a multiple of 16"),
    (MATRIX.with_(padding=1 << 40), {}, r"globalStrides\[0\] is \d+ bytes, not below 2\^40"),
    (MATRIX.with_(box=(64, 0)), {}, r"boxDim\[1\] is 0, not 1 to 256"),
    (MATRIX.with_(box=(64, 257)), {}, r"boxDim\[1\] is 257"),
    (MATRIX.with_(box=(12, 8)), {}, "rows of 24 bytes, not a multiple of 16"),
    (MATRIX.with_(box=(72, 8), swizzle=3), {}, "rows of 144 bytes, more than the swizzle's 128"),
    (MATRIX.with_(box=(40, 8), swizzle=2), {}, "rows of 80 bytes, more than the swizzle's 64"),
    (MATRIX.with_(box=(24, 8), swizzle=1), {}, "rows of 48 bytes, more than the swizzle's 32"),
    (MATRIX.with_(steps=(1, 0, 1, 1, 1)), {}, r"elementStrides\[1\] is 0, not 1 to 8"),
    (MATRIX.with_(steps=(1, 9, 1, 1, 1)), {}, r"elementStrides\[1\] is 9"),
    (MATRIX, {"rank": 0}, "tensorRank is 0, not 1 to 5"),
    (MATRIX, {"rank": 6}, "tensorRank is 6"),
    (MATRIX, {"base": 8}, "globalAddress is not a multiple of 16"),
    (MATRIX, {"base": None}, "globalAddress is null"),
    (MATRIX, {"map": 32}, "the map's address is not a multiple of 64"),
    (MATRIX.with_(type=U16, fill=1), {}, "oobFill asks for NaN in a tensor of integers"),
]


@pytest.mark.parametrize(("spec", "given", "rule"), REFUSED, ids=[case[2] for case in REFUSED])
def test_a_map_that_breaks_a_rule_is_refused_with_the_rule(
    wrong, device, spec, given, rule
) -> None:
    memory = MATRIX.memory()
    base = given.get("base", 0)
    address = 0 if base is None else memory.ctypes.data + base
    options = {"rank": given["rank"]} if "rank" in given else {}
    code = encode(wrong, Map().at(64, given.get("map", 0)), spec, address, **options)
    (report,) = device.take_reports()
    assert (code, report.kind) == (INVALID_VALUE, "bad-tensor-map")
    assert re.search(rule, report.what), report.what
    assert report.place.file.endswith("hopper_copies.cu")


@pytest.mark.parametrize(
    ("spec", "given"),
    [(MATRIX, {"interleave": 1}), (MATRIX.with_(swizzle=4), {}), (MATRIX, {"type": 13})],
)
def test_a_map_of_another_kind_of_gpu_is_missing(wrong, device, spec, given) -> None:
    assert encode(wrong, Map().at(), spec, MATRIX.memory().ctypes.data, **given) == 801
    assert [report.kind for report in device.take_reports()] == ["missing"]


@pytest.mark.parametrize(
    ("offset", "checked", "said"),
    [(64, False, "not a multiple of 128"), (128, True, "not a multiple of 1024")],
)
def test_a_tile_that_is_not_aligned_is_reported(emulate, device, offset, checked, said) -> None:
    library = emulate("hopper_copies.cu", checked=checked)
    spec, holder, out = MATRIX.with_(swizzle=3), Map(), np.zeros(4096, np.uint8)
    memory = spec.memory()
    assert encode(library, holder.at(), spec, memory.ctypes.data) == 0
    code = library.load_box(holder.at(), 0, 2, corner((0, 0)), spec.bytes, offset, pointer(out))
    (report,) = device.take_reports()
    assert (code, report.kind) == (LAUNCH_FAILURE, "misaligned")
    assert said in report.what


@pytest.mark.parametrize(
    ("rank", "bytes_", "kind", "said"),
    [
        (3, MATRIX.bytes, "bad-tensor-map", "3 dimensions with a map of 2"),
        (2, MATRIX.bytes + 16, "tx-mismatch", "16 of 1040 bytes missing"),
        (2, MATRIX.bytes - 16, "tx-mismatch", "16 bytes more than the 1008 expected"),
    ],
)
def test_a_load_that_does_not_fit_is_reported(wrong, device, rank, bytes_, kind, said) -> None:
    memory, holder, out = MATRIX.memory(), Map(), np.zeros(4096, np.uint8)
    assert encode(wrong, holder.at(), MATRIX, memory.ctypes.data) == 0
    code = wrong.load_box(holder.at(), 0, rank, corner((0, 0)), bytes_, 0, pointer(out))
    (report,) = device.take_reports()
    assert (code, report.kind) == (LAUNCH_FAILURE, kind)
    assert said in report.text()


def test_bytes_that_are_no_map_are_reported(wrong, device) -> None:
    out = np.zeros(4096, np.uint8)
    assert wrong.load_box(Map().at(), 0, 2, corner((0, 0)), 1024, 0, pointer(out)) == LAUNCH_FAILURE
    (report,) = device.take_reports()
    assert report.kind == "bad-tensor-map"
    assert "cuTensorMapEncodeTiled has not been called" in report.cause


@pytest.mark.parametrize("bytes_", [24, 8])
def test_bytes_that_are_not_a_multiple_of_16_are_reported(wrong, device, bytes_) -> None:
    x, y = torch.zeros(64), torch.zeros(64)
    arguments = [ctypes.c_void_p(t.data_ptr()) for t in (x, y)]
    assert wrong.plain(*arguments, bytes_, 0) == LAUNCH_FAILURE
    assert f"{bytes_} bytes, not a multiple of 16" in device.take_reports()[0].what


def test_a_box_beyond_the_memory_of_its_tensor_is_found(emulate, device) -> None:
    """A map with more rows than the tensor that was passed has."""
    library = emulate("hopper_copies.cu", checked=True)
    memory, holder, out = MATRIX.memory(), Map(), np.zeros(4096, np.uint8)
    device.watch(
        [
            Watched("x", memory.ctypes.data, 2, (10, 72), (72, 1), False),
            Watched("out", out.ctypes.data, 1, (4096,), (1,), True),
        ]
    )
    assert encode(library, holder.at(), MATRIX, memory.ctypes.data) == 0
    code = library.load_box(holder.at(), 0, 2, corner((0, 6)), MATRIX.bytes, 0, pointer(out))
    (report,) = device.take_reports()
    assert (code, report.kind) == (LAUNCH_FAILURE, "out-of-bounds")
    assert "tensor 'x'" in report.text()
