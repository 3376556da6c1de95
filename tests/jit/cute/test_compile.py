"""CuTe DSL run on a kernel.py: the C++ that comes out, and where errors are said to be."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from fictl.arch import parse_archs
from fictl.errors import NotInstalled
from fictl.jit import cute
from fictl.jit.cute.compile import main
from fictl.jit.cute.step import command
from fictl.project import Project
from fictl.scaffold.new.expression.functions import FUNCTIONS
from fictl.scaffold.new.new_op import draft, texts_of
from fictl.scaffold.new.request import NewOpRequest

GOLDEN = Path(__file__).parents[2] / "scaffold/golden/cute-dsl/kernels/cute_dsl/gelu_mul/kernel.py"
KERNEL = """\
from cutlass import Boolean, Constexpr, Float32, Int64, cute


@cute.kernel
def copy(out: cute.Pointer, x: cute.Pointer, flag: Boolean, n: Int64, block: Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    if thread < n:
        value = cute.make_tensor(x + thread, cute.make_layout(1)).load()
        cute.make_tensor(out + thread, cute.make_layout(1)).store(value)


def variants():
    yield copy, {"out": "*fp32:16", "x": "*fp32", "flag": "i1", "n": "i64", "block": 64, "threads": 64}
"""

needs_cute = pytest.mark.skipif(
    importlib.util.find_spec("cutlass") is None, reason="CuTe DSL is not installed"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "fictl.toml").write_text('name = "my_kernels"\n')
    (tmp_path / "kernels").mkdir()
    return Project.at(tmp_path)


def compile_kernel(
    folder: Path, text: str, archs: str = "9.0a"
) -> subprocess.CompletedProcess[str]:
    (folder / "kernel.py").write_text(text, encoding="utf-8")
    words = command(folder / "kernel.py", parse_archs(archs), "kernel.inc", line_info=False)
    return subprocess.run(words, capture_output=True, text=True, cwd=folder)


@needs_cute
def test_the_kernel_that_new_op_writes_is_compiled_for_each_target(tmp_path: Path) -> None:
    done = compile_kernel(tmp_path, GOLDEN.read_text(encoding="utf-8"), "8.0+PTX 9.0a")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "kernel.inc").read_text()
    assert text.count("cudaError_t gelu_mul(") == 3
    assert [text.count(f"{{{kind}, ") for kind in ("80, true", "80, false", "90, false")] == [6] * 3
    assert "(fictl::multiples_of_16(out_, x_, gate_, out_pitch_, x_pitch_, gate_pitch_)" in text
    assert "scratch" not in text
    # PTX of the one with vectors, and of the one without.
    assert "ld.global.v4.b32" in text
    assert "ld.global.b16" in text
    assert not [*tmp_path.glob("*.cubin")]


@needs_cute
def test_constants_and_types_of_a_kernel_are_those_of_its_variant(tmp_path: Path) -> None:
    path, output = tmp_path / "kernel.py", tmp_path / "kernel.inc"
    path.write_text(KERNEL, encoding="utf-8")
    assert main([str(path), "90", "-o", str(output)]) is None
    text = output.read_text()
    assert "static constexpr int64_t block = 64;" in text
    assert "const float* out_, const float* x_, bool flag_, int64_t n_)" in text
    assert text.count(", 64, 0}") == 2


@needs_cute
@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("x + thread", "x + lane_number", 8, "NameError: name 'lane_number' is not defined"),
        ('"threads": 64', '"warps": 2', 12, "'warps' is neither a parameter of copy nor one of"),
        (', "threads": 64', "", 12, "variants() gives copy no threads"),
        ('"n": "i64", ', "", 12, "variants() gives copy no n"),
        ('"i64"', '"i63"', 12, "'i63' is not the type of an argument"),
        (
            "n: Int64, block: Constexpr",
            "block: Constexpr, n: Int64",
            12,
            "constants come last",
        ),
        ("yield copy", "yield None", 12, "which is not a @cute.kernel"),
    ],
)
def test_an_error_has_its_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL.replace(old, new), encoding="utf-8")
    first = (main([str(path), "90", "-o", str(tmp_path / "kernel.inc")]) or "").splitlines()[0]
    assert first.startswith(f"{path}:{line}: error: ")
    assert message in first


@needs_cute
def test_every_function_of_an_expression_is_compiled(project: Project, tmp_path: Path) -> None:
    ones = [f"{name}(x)" for name, known in FUNCTIONS.items() if known.arguments == 1]
    text = " + ".join(
        [
            *ones,
            "min(x, y)",
            "max(x, 0)",
            "x ** 3",
            "x ** y",
            "2 ** x",
            "where(flag, x, y)",
            "where(x > s, 1, 0)",
        ]
    )
    request = NewOpRequest(
        "everything",
        "cute-dsl",
        inputs=("x:n", "y:n"),
        scalars=("s:float", "flag:bool"),
        dtypes="f16",
        expression=text,
    )
    texts = texts_of(draft(project, request))
    (tmp_path / "kernel.py").write_text(
        texts["kernels/cute_dsl/everything/kernel.py"], encoding="utf-8"
    )
    output = tmp_path / "kernel.inc"
    assert main([str(tmp_path / "kernel.py"), "90", "-o", str(output)]) is None
    assert "float s_, bool flag_, int64_t cols_" in output.read_text()


def test_without_the_library_the_build_says_which_extra_has_it() -> None:
    with pytest.raises(NotInstalled, match=r"mine\.op has a kernel in CuTe DSL") as caught:
        cute.require("mine.op", {"triton": "3.6.0"})
    assert 'pip install "fictl[cute-dsl]"' in caught.value.hint
