"""The C++ around cubins: bytes as text, one function for each signature, compiled to be sure."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fictl.jit.ffi import ffi_paths
from fictl.jit.triton.cubin import Cubin, Kernel
from fictl.jit.triton.overloads import header, literal
from fictl.jit.triton.variant import Variant
from fictl.paths import data_root
from fictl.toolchain import find_cxx, require_headers


def twice() -> None:
    """Stands for a kernel."""


def kernel(
    dtype: str, assumed: tuple[int, ...] = (0, 1), ptx: str = "", **constants: Any
) -> Kernel:
    types = {"out": f"*{dtype}", "n": "i64", **dict.fromkeys(constants, "constexpr")}
    variant = Variant(twice, types, constants, {"num_warps": 4}, assumed)
    return Kernel(variant, (Cubin(80, b"\x7fELF\0001?", ptx, "twice", 128, 0),))


def compiled(text: str, folder: Path) -> None:
    """As a unit of a module would."""
    source = folder / "unit.cpp"
    source.write_text(f"#include <stdint.h>\n{text}\n")
    paths = [data_root("kernels"), *require_headers().include_dirs, ffi_paths().dlpack]
    words = [*find_cxx().argv, "-std=c++17", "-fsyntax-only", "-Wall", "-Wno-unused"]
    subprocess.run([*words, *(f"-I{path}" for path in paths), source], check=True)


@pytest.mark.parametrize(
    "data", [bytes(range(256)), b'\0001"\\??/\n', b"", b"x" * 1000, b"\x7f1\x809"]
)
def test_bytes_come_through_a_literal(data: bytes) -> None:
    lines = literal(data).splitlines()
    assert b"".join(ast.literal_eval(f"b{line.strip()}") for line in lines) == data
    assert max(map(len, lines), default=0) < 350


def test_the_case_that_may_be_assumed_is_chosen_by_the_arguments() -> None:
    best = kernel("fp16", block=64)
    text = header("kernel.py", "Triton 3.6.0", [(best, Kernel(best.variant.general, best.cubins))])
    assert "(fictl::multiples_of_16(out_, n_) ? best : general).launch(" in text
    assert "Made of kernel.py by Triton 3.6.0" in text
    assert "// twice(out: *fp16:16, n: i64:16), block = 64, num_warps = 4\n" in text


def test_where_nothing_is_assumed_there_is_one_code() -> None:
    text = header("kernel.py", "Triton 3.6.0", [(kernel("fp16", ()),)])
    assert "return best.launch(" in text
    assert "general" not in text


def test_ptx_stands_before_code_for_the_gpu_itself() -> None:
    text = header("kernel.py", "Triton 3.6.0", [(kernel("fp16", (), ptx=".version 8.0"),)])
    rows = [line.strip() for line in text.splitlines() if line.startswith("    {80")]
    assert [row.split(",")[1] for row in rows] == [" true", " false"]


def test_headers_are_those_of_the_types() -> None:
    text = header("kernel.py", "Triton 3.6.0", [(kernel("fp16"),), (kernel("fp8e5"),)])
    assert "cuda_fp16.h" in text
    assert "cuda_fp8.h" in text
    assert "cuda_bf16.h" not in text


def test_it_is_c_plus_plus(tmp_path: Path) -> None:
    constants = {"block": 64, "causal": True, "scale": 0.5, "name": "not C++'s"}
    kernels = [(kernel(dtype, ptx=".version", **constants),) * 2 for dtype in ("fp16", "bf16")]
    use = """
    cudaError_t use(const fictl::Launch& launch, __half* x, const __nv_bfloat16* y) {
      const auto grid = [](auto constants) { return constants.block * 2; };
      const auto square = [](auto constants) { return dim3(1, constants.causal ? 2 : 3); };
      return kernel::twice(launch, grid, x, 4) == cudaSuccess
                 ? kernel::twice(launch, square, y, 4)
                 : cudaErrorUnknown;
    }
    """
    compiled(header("kernel.py", "Triton 3.6.0", kernels) + use, tmp_path)


def test_an_argument_may_be_called_like_a_word_of_c_plus_plus(tmp_path: Path) -> None:
    types = dict.fromkeys(["new", "grid", "launch", "scratch", "best"], "i32")
    variant = Variant(twice, types, {}, {}, (0,))
    made = Kernel(variant, (Cubin(80, b"code", "", "twice", 128, 0),))
    compiled(header("kernel.py", "Triton 3.6.0", [(made, made)]), tmp_path)
