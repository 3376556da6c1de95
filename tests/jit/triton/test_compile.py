"""Triton run on a kernel.py: the C++ that comes out, and where errors are said to be."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.arch import parse_archs
from fictl.jit.triton.step import command

pytest.importorskip("triton", reason="Triton is not installed")

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def _twice(x):
    return x + x


@triton.jit
def double(out, x, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(out + at, _twice(tl.load(x + at, mask=at < n)), mask=at < n)


def variants():
    for dtype in ("fp16", "fp32"):
        types = {"out": f"*{dtype}:16", "x": f"*{dtype}:16", "n": "i32:16"}
        yield double, {**types, "block": 1024, "num_warps": 4}
"""


@pytest.fixture
def compile_kernel(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(text: str = KERNEL, archs: str = "8.0") -> subprocess.CompletedProcess[str]:
        (tmp_path / "kernel.py").write_text(text, encoding="utf-8")
        words = command(tmp_path / "kernel.py", parse_archs(archs), "kernel.inc", line_info=False)
        return subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)

    return run


def test_each_signature_is_an_overload_with_code_for_each_target(
    compile_kernel, tmp_path: Path
) -> None:
    done = compile_kernel(KERNEL, "8.0+PTX 9.0a")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "kernel.inc").read_text()
    assert text.count("cudaError_t double(") == 2
    assert (
        text.count("{80, true, ") == text.count("{80, false, ") == text.count("{90, false, ") == 4
    )
    assert text.count('"double", 128, 0}') == 12


def test_nothing_is_written_but_the_output(compile_kernel, tmp_path: Path) -> None:
    assert compile_kernel().returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"kernel.py", "kernel.inc"}


def test_the_same_kernel_gives_the_same_bytes(compile_kernel, tmp_path: Path) -> None:
    texts = set()
    for _ in range(2):
        assert compile_kernel().returncode == 0
        texts.add((tmp_path / "kernel.inc").read_bytes())
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("tl.arange(0, block)", "tl.arange(0, 1000)", 12, "range must be a power of 2"),
        ("x + x", "x + tl.nope(x)", 7, "nope"),
        ("return x + x", "retrun x + x", 7, "SyntaxError"),
        ("import triton\n", "import triton\nimport tritno\n", 2, "No module named 'tritno'"),
        ("i32:16", "i33", 16, "'i33' is not the type of an argument"),
        ('"block": 1024, ', "", 16, "gives double no block"),
        (
            "num_warps",
            "num_wraps",
            16,
            "'num_wraps' is neither a parameter of double nor an option",
        ),
        ('("fp16", "fp32")', '("fp16", "fp16")', 16, r"yields double\(const __half\*, .*\) twice"),
        ('("fp16", "fp32")', "()", 16, "yields none"),
        ("def variants", "def variant", 1, "there is no variants"),
        ('"num_warps": 4', '"num_warps": 4, "launch_pdl": True', 16, "a dependent launch"),
    ],
)
def test_an_error_names_file_line_and_reason(
    compile_kernel, tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in KERNEL
    done = compile_kernel(KERNEL.replace(old, new), "9.0a")
    assert done.returncode == 1
    first = done.stderr.splitlines()[0]
    assert first.startswith(f"{tmp_path / 'kernel.py'}:{line}: error: "), first
    assert re.search(message, first), first
    assert not (tmp_path / "kernel.inc").exists()
