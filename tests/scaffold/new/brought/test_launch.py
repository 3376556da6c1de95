"""How a brought kernel is launched: guessed from its body, or said with --grid and --block."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.scaffold.new.brought.kernel_source import KernelSource, read_kernel
from fictl.scaffold.new.brought.launch import (
    KernelLaunch,
    KernelUnit,
    checked_launch,
    launch_of,
    unit_of,
)
from fictl.scaffold.new.brought.sizes import Sizes
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.new.signature import Signature, parse_tensor

Read = Callable[..., KernelSource]
_TOP2 = Sizes(
    Signature(
        (parse_tensor("x:rows,experts"),),
        (),
        (parse_tensor("w:rows,k=2"), parse_tensor("idx:rows,k=2:i32")),
    )
)
_WARPS = "int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; w[row] = x[row];"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def of(body: str, head: str = "template <typename T> __global__ void F") -> KernelSource:
        path = tmp_path / "my.cu"
        path.write_text(f"namespace a {{ {head}(const T* x, T* w, int n) {{ {body} }} }}")
        return read_kernel(f"{path}:F")

    return of


def launch(source: KernelSource, grid: str = "", block: str = "") -> KernelLaunch:
    request = NewOpRequest("f", kernel="my.cu:F", grid=grid, block=block)
    made = launch_of(checked_launch(source, request), request, _TOP2)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int i = blockIdx.x * blockDim.x + threadIdx.x;", KernelUnit("element", "256")),
        ("int i = threadIdx.x + blockDim.x * blockIdx.x;", KernelUnit("element", "256")),
        ("auto i = (size_t)blockIdx.x * 128 + threadIdx.x;", KernelUnit("element", "128")),
        (
            "auto i = static_cast<long>(blockIdx.x) * kT + threadIdx.x;",
            KernelUnit("element", "a::kT"),
        ),
        ("const T* row = x + blockIdx.x * n;", KernelUnit("row", "256")),
        (_WARPS, KernelUnit("warp", "256")),
        (
            "int i = blockIdx.x * blockDim.x + threadIdx.x; int row = i >> 5;",
            KernelUnit("warp", "256"),
        ),
        (
            "int row = blockIdx.x * (blockDim.x / warpSize) + threadIdx.x / warpSize;",
            KernelUnit("warp", "256"),
        ),
        ("int row = blockIdx.x * kRows + threadIdx.x / 32;", KernelUnit("warp", "a::kRows * 32")),
        ("int row = (blockIdx.x * 128 + threadIdx.x) / 32;", KernelUnit("warp", "128")),
        ("int row = blockIdx.x * 4 + (threadIdx.x >> 5);", KernelUnit("warp", "4 * 32")),
        (
            "int i = blockIdx.x * blockDim.x + threadIdx.x; w[i] = x[i / 2];",
            KernelUnit("element", "256"),
        ),
    ],
)
def test_the_launch_follows_from_the_index(body: str, expected: KernelUnit, read: Read) -> None:
    assert unit_of(read(body)) == expected


def test_launch_bounds_say_the_threads(read: Read) -> None:
    head = "template <typename T, int kT = 64> __global__ void __launch_bounds__(kT) F"
    assert unit_of(read("w[blockIdx.x] = x[0];", head)) == KernelUnit("row", "64")


def test_a_warp_a_row_has_its_threads(read: Read) -> None:
    made = launch(read(_WARPS))
    assert made.grid == ("device::ceil_div(w.size(0) * 32, 256)",)


def test_a_guess_says_itself_and_what_to_type_instead(read: Read) -> None:
    made = launch(read("int i = blockIdx.x * blockDim.x + threadIdx.x; w[i] = x[i];"))
    (guess,) = made.guesses
    assert guess.about == ("grid", "block")
    assert guess.text == (
        "grid and block are a guess, a thread an element: "
        "grid = device::ceil_div(w.numel(), 256), block = 256; another, as in"
    )
    assert guess.instead == "--grid 'ceil_div(rows * 32, 256)' --block 256"


@pytest.mark.parametrize(
    ("grid", "block", "expected", "threads", "guessed"),
    [
        ("rows", "128", ("x.size(0)",), ("128",), ()),
        ("rows,experts", "32,8", ("x.size(0)", "x.size(1)"), ("32", "8"), ()),
        (
            "ceil_div(rows * 32, 256)",
            "256",
            ("device::ceil_div(x.size(0) * 32, 256)",),
            ("256",),
            (),
        ),
        ("(rows + 1) // k", "", ("(x.size(0) + 1) / 2",), ("256",), ("block",)),
        ("", "64", ("device::ceil_div(w.size(0) * 32, 64)",), ("64",), ("grid",)),
        ("numel", "1", ("w.numel()",), ("1",), ()),
    ],
)
def test_sizes_are_said_over_the_op_s_axes(
    grid: str,
    block: str,
    expected: tuple[str, ...],
    threads: tuple[str, ...],
    guessed: tuple[str, ...],
    read: Read,
) -> None:
    made = launch(read(_WARPS), grid, block)
    assert (made.grid, made.block) == (expected, threads)
    assert tuple(name for guess in made.guesses for name in guess.about) == guessed


@pytest.mark.parametrize(
    ("grid", "block", "message", "hint"),
    [
        ("tokens", "", "--grid names 'tokens', which is not an axis", "rows, experts, k, numel"),
        ("rows / 2", "", "--grid has 'rows / 2', which is not a size", "//"),
        ("rows;system('x')", "", "is not a size", "--grid rows"),
        ("x.size(0)", "", "--grid has 'x.size(0)', which is not a size", "ceil_div"),
        ("0", "", "--grid has '0'", ""),
        ("99999999999999", "", "--grid has '99999999999999'", ""),
        ("1,2,3,4", "", "has 4 dimensions, not 1 to 3", ""),
        ("(" * 500 + "1" + ")" * 500, "", "is not a size", ""),
        ("", "2048", "--block 2048 is not a block size", "1024"),
        ("", "32,64", "--block 32,64 is not a block size", "--block 32,8"),
        ("", "0", "--block 0 is not", ""),
        ("", "rows", "--block rows is not", ""),
        ("", "True", "--block True is not", ""),
    ],
)
def test_what_is_no_size_is_refused(
    grid: str, block: str, message: str, hint: str, read: Read
) -> None:
    with pytest.raises(UsageError) as error:
        launch(read(_WARPS), grid, block)
    assert message in error.value.message
    assert hint in f"{error.value.message} {error.value.hint}"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("int i = blockIdx.y + blockIdx.x;", "has blockIdx.y"),
        ("w[threadIdx.x] = x[threadIdx.x];", "has no blockIdx.x"),
    ],
)
def test_a_launch_that_cannot_be_seen_has_to_be_said(body: str, why: str, read: Read) -> None:
    with pytest.raises(UsageError, match=why) as error:
        launch(read(body))
    assert "--grid rows,heads --block 32,8; or point --kernel at the host" in error.value.hint
    assert launch(read(body), "rows,2").grid == ("x.size(0)", "2")


def test_threads_of_two_dimensions_have_to_be_said(read: Read) -> None:
    body = read("w[blockIdx.x] = x[threadIdx.y];")
    with pytest.raises(UsageError, match=r"has threadIdx\.y"):
        launch(body, "rows")
    assert launch(body, "rows", "32,4").block == ("32", "4")


def test_dynamic_shared_memory_needs_the_host_function(read: Read) -> None:
    with pytest.raises(UsageError, match="has extern __shared__") as error:
        launch(read("extern __shared__ char space[]; w[blockIdx.x] = x[0];"), "rows", "32")
    assert error.value.hint == "point --kernel at the host function that launches it"
