"""Products of the tensor cores against torch, and the moves of matrices, under every schedule."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator

import pytest
import torch

pytestmark = pytest.mark.usefixtures("compiler")

TYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "tf32": torch.float32,
    "s8": torch.int8,
    "u8": torch.uint8,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
}


@pytest.fixture(params=[False, True], ids=["fast", "check"])
def library(request, emulate, device, schedule) -> Iterator[ctypes.CDLL]:
    library = emulate("ptx_matrix.cu", checked=request.param)
    library.text.restype = ctypes.c_char_p
    device.run_under(schedule)
    yield library
    assert device.take_reports() == []


def random(type_: str, rows: int, depth: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The words that a kernel gets, and what they are worth."""
    generator = torch.Generator().manual_seed(rows * depth)
    if type_ == "s4":
        codes = torch.randint(0, 256, (rows, depth // 2), generator=generator, dtype=torch.uint8)
        nibbles = torch.stack((codes & 15, codes >> 4), dim=-1).flatten(1).to(torch.int64)
        return codes, (nibbles - (nibbles >> 3) * 16).double()
    dtype = TYPES[type_]
    if not dtype.is_floating_point:
        low, high = (-128, 128) if dtype == torch.int8 else (0, 256)
        values = torch.randint(low, high, (rows, depth), generator=generator).to(dtype)
        return values, values.double()
    values = torch.randn(rows, depth, generator=generator)
    if type_ == "tf32":  # what does not fit is not read
        exact = values.view(torch.int32) & ~0x1FFF
        return values, exact.view(torch.float32).double()
    values = values.to(dtype)
    return values, values.double()


def pointer(tensor: torch.Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def check(library: ctypes.CDLL, which: int, text: str) -> None:
    shape, *_, to, a_type, b_type, _ = text.split(".")
    depth = int(shape.removeprefix("m16n8k"))
    (a_words, a), (b_words, b) = random(a_type, 16, depth), random(b_type, 8, depth)
    c = torch.arange(128).reshape(16, 8) / 8 - 3
    given = c.to({"f32": torch.float32, "f16": torch.float16, "s32": torch.int32}[to])
    exact = given.double() + a @ b.T
    words = a_words.numel() * a_words.element_size() // 64
    pairs = int(to == "f16")
    assert library.product(which, pairs, words, *map(pointer, (a_words, b_words, given))) == 0
    if to == "s32":
        assert torch.equal(given.double(), exact), text
    else:
        tolerance = 1e-5 if to == "f32" else 2e-3
        torch.testing.assert_close(
            given.double(), exact, rtol=tolerance, atol=tolerance, msg=lambda why: f"{text}\n{why}"
        )


def test_a_product_is_that_of_its_matrices(library) -> None:
    texts = list(itertools.takewhile(bool, map(library.text, itertools.count())))
    assert len(texts) == 15
    for which, text in enumerate(texts):
        check(library, which, text.decode())


@pytest.mark.parametrize(("start", "expected"), [(2**31 - 5, 2**31 - 1), (7, 7 + 32 * 255 * 255)])
def test_a_saturated_sum_stops_at_the_largest_integer(library, start, expected) -> None:
    a, b = torch.full((16, 32), 255, dtype=torch.uint8), torch.full((8, 32), 255, dtype=torch.uint8)
    c = torch.full((16, 8), start, dtype=torch.int32)
    which = next(i for i in itertools.count() if b"satfinite" in library.text(i))
    assert library.product(which, 0, 8, pointer(a), pointer(b), pointer(c)) == 0
    assert c.unique().tolist() == [expected]


def shares(matrix: torch.Tensor) -> torch.Tensor:
    """The 32-bit registers of the lanes: two neighbours of a row each."""
    low, high = matrix[:, 0::2].flatten(), matrix[:, 1::2].flatten()
    return low | high << 16


def test_matrices_move_between_rows_and_registers(library) -> None:
    rows = torch.arange(256, dtype=torch.int64).reshape(32, 8) * 97 % 65521
    matrices = list(rows.split(8))
    out, moved = torch.zeros(11, 32, dtype=torch.int32), torch.zeros(32, 8, dtype=torch.uint16)
    data = rows.to(torch.uint16)
    assert library.moves(pointer(data), pointer(out), pointer(moved)) == 0
    expected = [
        *map(shares, matrices),
        *(shares(matrix.T) for matrix in matrices[:3]),
        shares(matrices[0]),
        shares(matrices[1]),
        shares(matrices[0].T),
        shares(matrices[3].T),
    ]
    assert torch.equal(out.long() & 0xFFFFFFFF, torch.stack(expected))
    transposed = [matrix.T for matrix in matrices[:3]]
    assert torch.equal(moved.long(), torch.cat((*transposed, rows[24:])))


def test_a_row_at_an_odd_address_ends_the_kernel(library, device) -> None:
    out = torch.zeros(1, dtype=torch.int32)
    assert library.misaligned(pointer(out)) != 0
    (report,) = device.take_reports()
    assert report.kind == "misaligned"
    assert "ldmatrix" in report.text()
    assert report.at.thread == (5, 0, 0)
    assert report.place.file.endswith("ptx_matrix.cu")
