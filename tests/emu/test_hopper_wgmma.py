"""Products of a warpgroup against torch: every layout, type and schedule, and what is wrong."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator

import pytest
import torch

from fictl.emu.schedule import Schedule
from tests.emu.wgmma_layouts import BYTES, Layout, accumulators, fragments, matrix_of, write

FORMS = {
    "Bf16": (96, "bf16", "bf16"),
    "Bf16Transposed": (96, "bf16", "bf16"),
    "Wide": (256, "bf16", "bf16"),
    "Negative": (8, "f16", "f16"),
    "TwiceNegative": (8, "f16", "f16"),
    "Halves": (8, "f16", "f16"),
    "Tf32": (8, "tf32", "tf32"),
    "Fp8": (96, "e4m3", "e5m2"),
    "Integers": (8, "s8", "u8"),
    "Saturated": (8, "u8", "u8"),
    "Bf16InRegisters": (96, "bf16", "bf16"),
    "Fp8InRegisters": (8, "e5m2", "e4m3"),
}
TYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "tf32": torch.float32,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "s8": torch.int8,
    "u8": torch.uint8,
}
K128, K64, K32 = (Layout(width, True, 16, 8 * width) for width in (128, 64, 32))
K_LAYOUTS = [
    K128,
    K64,
    K32,
    Layout(128, True, 16, 3072),
    Layout(16, True, 128, 256),
    Layout(16, True, 4096, 128),
]
MN_LAYOUTS = [
    Layout(128, False, 2048, 1024),
    Layout(128, False, 1024, 2048),
    Layout(64, False, 1024, 512),
    Layout(32, False, 512, 256),
    Layout(16, False, 2048, 128),
    Layout(16, False, 128, 256),
]
START_OF_B, END_OF_B = 24 << 10, 60 << 10


@pytest.fixture(params=[False, True], ids=["fast", "check"])
def library(request, emulate, device) -> ctypes.CDLL:
    return emulate("hopper_wgmma.cu", checked=request.param)


@pytest.fixture
def clean(library, device) -> Iterator[ctypes.CDLL]:
    """For products that nothing is reported of."""
    yield library
    assert device.take_reports() == []


@pytest.fixture
def scheduled(clean, device, schedule) -> ctypes.CDLL:
    device.run_under(schedule)
    return clean


def operand(type_: str, rows: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the bytes of an operand, 32 a row, and its values."""
    generator = torch.Generator().manual_seed(seed)
    dtype = TYPES[type_]
    columns = BYTES // dtype.itemsize
    if dtype.is_floating_point:
        values = torch.randn(rows, columns, generator=generator).to(dtype)
    else:
        low, high = (-128, 128) if dtype == torch.int8 else (0, 256)
        values = torch.randint(low, high, (rows, columns), generator=generator).to(dtype)
    read = values
    if type_ == "tf32":  # what does not fit is not read
        read = (values.view(torch.int32) & ~0x1FFF).view(torch.float32)
    return values.view(torch.uint8), read.double()


def pointer(tensor: torch.Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def run(
    library: ctypes.CDLL,
    form: str,
    registers: torch.Tensor,
    layouts: tuple[Layout, Layout] = (K128, K128),
    *,
    starts: tuple[int, int] = (0, START_OF_B),
    adds: bool = True,
    peeks: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the registers after the product, those before the wait if it peeks, and A B."""
    columns, a_type, b_type = FORMS[form]
    (a_bytes, a), (b_bytes, b) = operand(a_type, 64, 1), operand(b_type, columns, 2)
    image = torch.zeros(END_OF_B, dtype=torch.uint8)
    write(image, a_bytes, layouts[0], starts[0])
    write(image, b_bytes, layouts[1], starts[1])
    after, before = registers.clone(), torch.zeros_like(registers)
    a_registers = fragments(a_bytes)
    code = library.product(
        list(FORMS).index(form),
        pointer(image),
        image.numel() // 16,
        *(ctypes.c_uint64(layouts[i].descriptor(starts[i])) for i in (0, 1)),
        *map(pointer, (a_registers, after)),
        pointer(before) if peeks else None,
        int(adds),
    )
    assert code == 0
    return after, before, a @ b.T


def start_values(columns: int) -> torch.Tensor:
    return accumulators(torch.arange(64 * columns).reshape(64, columns) / 64 - 3)


def check(library: ctypes.CDLL, form: str, *more, sign: int = 1, **options) -> None:
    """Compare a product with sums of fp32 with torch's."""
    given = start_values(FORMS[form][0])
    after, _, product = run(library, form, given, *more, **options)
    expected = matrix_of(given).double() + sign * product
    torch.testing.assert_close(matrix_of(after).double(), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("layout", K_LAYOUTS, ids=str)
def test_every_layout_along_k(clean, layout) -> None:
    check(clean, "Bf16", (layout, K128))
    check(clean, "Bf16", (K64, layout))
    check(clean, "Fp8", (layout, layout))


@pytest.mark.parametrize("layout", MN_LAYOUTS, ids=str)
def test_every_layout_across_k(clean, layout) -> None:
    check(clean, "Bf16Transposed", (layout, MN_LAYOUTS[0]))
    check(clean, "Bf16Transposed", (MN_LAYOUTS[2], layout))
    check(clean, "Bf16InRegisters", (K128, layout))


def test_a_start_within_a_swizzled_row_is_a_step_along_k(clean) -> None:
    check(clean, "Bf16", starts=(32, START_OF_B + 96))


@pytest.mark.parametrize("form", ["Wide", "TwiceNegative", "Tf32", "Fp8InRegisters"])
def test_every_type_and_width(scheduled, form) -> None:
    check(scheduled, form)


def test_the_sign_of_one_operand_turns_the_product(clean) -> None:
    check(clean, "Negative", sign=-1)


def test_without_scale_d_the_accumulators_are_not_read(clean) -> None:
    given = torch.full((128, 48), torch.nan)
    after, _, product = run(clean, "Bf16", given, adds=False)
    torch.testing.assert_close(matrix_of(after).double(), product, rtol=1e-5, atol=1e-4)


def test_accumulators_may_be_halves(clean) -> None:
    given = start_values(8).half()
    after, _, product = run(clean, "Halves", given.view(torch.int32))
    expected = matrix_of(given).double() + product
    got = matrix_of(after.view(torch.float16)).double()
    torch.testing.assert_close(got, expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(("form", "start"), [("Integers", -7), ("Saturated", 2**31 - 9)])
def test_accumulators_may_be_integers(clean, form, start) -> None:
    after, _, product = run(clean, form, torch.full((128, 4), start, dtype=torch.int32))
    exact = (product.long() + start).clamp(max=2**31 - 1)
    assert torch.equal(matrix_of(after).long(), exact)


def test_accumulators_are_nan_before_the_wait_where_products_end_late(library, device) -> None:
    device.run_under(Schedule("forward"))
    _, before, _ = run(library, "Bf16", start_values(96), peeks=True)
    assert before.isnan().all()
    device.run_under(Schedule("reverse", early=True))
    after, before, _ = run(library, "Bf16", start_values(96), peeks=True)
    assert torch.equal(after, before)


def gemm(library: ctypes.CDLL, depth: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    a, b = (torch.randn(n, depth, generator=generator).bfloat16() for n in (128, 256))
    c = torch.zeros(128, 256)
    assert library.gemm(*map(pointer, (a, b, c)), depth) == 0
    return c, a.double() @ b.double().T


def test_two_warpgroups_share_b_over_two_stages(scheduled) -> None:
    c, expected = gemm(scheduled, 256)
    torch.testing.assert_close(c.double(), expected, rtol=1e-5, atol=1e-4)


def test_a_product_of_matrices_takes_less_than_a_second(emulate, schedule, device) -> None:
    library = emulate("hopper_wgmma.cu")
    device.run_under(schedule)
    begin = time.process_time()
    gemm(library, 256)
    assert time.process_time() - begin < 1


MISTAKES = [
    ("divergent-warpgroup", "different descriptors of A"),
    ("divergent-warpgroup", "of the same warpgroup are at wgmma.commit_group"),
    ("divergent-warpgroup", "thread 37 of their warpgroup, which has returned"),
    ("divergent-warpgroup", "wgmma.commit_group"),
    ("bad-descriptor", "base offset 3"),
    ("bad-descriptor", "bits set that belong to no field: 0x4000"),
    ("bad-descriptor", "in the middle of a pattern of 1024 bytes"),
    ("out-of-bounds", ""),
    ("uncommitted", "1 wgmma that no wgmma.commit_group follows"),
    ("uncommitted", "wgmma.wait_group 8"),
    ("divergent-warpgroup", "a warpgroup of 96 threads"),
    ("wgmma-register", "an accumulator of a wgmma has changed"),
    ("wgmma-register", "a register of A of a wgmma has changed"),
]


@pytest.mark.parametrize("mistake", range(len(MISTAKES)), ids=lambda i: f"{i}-{MISTAKES[i][0]}")
def test_a_mistake_is_reported_with_its_line(library, device, mistake) -> None:
    kind, said = MISTAKES[mistake]
    out = torch.zeros(128)
    library.wrong(mistake, pointer(out))
    # Check mode sees a register touched, and then changed.
    *_, report = reports = device.take_reports()
    assert {each.kind for each in reports} == {kind}
    assert said in report.text()
    assert all(each.place.file.endswith("hopper_wgmma.cu") for each in reports)


@pytest.mark.parametrize(("mistake", "seen"), [(13, True), (14, False)])
def test_operands_are_read_when_the_product_ends(emulate, device, mistake, seen) -> None:
    library = emulate("hopper_wgmma.cu")
    out = [torch.zeros(128), torch.zeros(128)]
    for result, schedule in zip(
        out, (Schedule("forward"), Schedule("reverse", early=True)), strict=True
    ):
        device.run_under(schedule)
        assert library.wrong(mistake, pointer(result)) == 0
    assert torch.equal(*out) is not seen
    assert device.take_reports() == []
