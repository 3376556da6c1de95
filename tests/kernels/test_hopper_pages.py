"""The pages of docs/hopper: their examples compile with one -I, and their figures are what the code does."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

from fictl.jit import gen_jit_spec
from fictl.jit.emulation import emulated_device

from .conftest import INCLUDE, KERNELS, Toolkit, output_of
from .test_hopper_steps import remarks

RUN = Path(__file__).with_name("hopper_pages.cu")
DOCS = KERNELS.parent / "docs" / "hopper"
PAGES = sorted(path for path in DOCS.glob("*.md") if path.name != "index.md")


def example(page: Path) -> str:
    """Return the block of a page that says which file it is."""
    name = page.stem.replace("-", "_").rstrip("s")
    text = page.read_text(encoding="utf-8")
    (block,) = re.findall(rf"^```cpp\n(// {name}s?\.cu\n.*?)^```", text, re.DOTALL | re.MULTILINE)
    return str(block)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All examples as one source: one compile."""
    path = tmp_path_factory.mktemp("pages") / "examples.cu"
    path.write_text("\n".join(map(example, PAGES)), encoding="utf-8")
    return path


def test_examples_are_plain_cpp(examples: Path, toolkit: Toolkit, tmp_path: Path) -> None:
    text = output_of(
        toolkit.nvcc,
        *("-std=c++17", "-arch=sm_90a", "-Xptxas=-v", f"-I{INCLUDE}"),
        *("-c", examples, "-o", tmp_path / "examples.o"),
    )
    assert text.count("Compiling entry function") >= len(PAGES)
    assert remarks(text) == []


@pytest.fixture(params=["fast", "check"])
def library(
    request: pytest.FixtureRequest, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> ctypes.CDLL:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_EMU_CHECK", str(int(request.param == "check")))
    source = examples.with_name("pages.cu")
    source.write_text(f'#include "{examples}"\n#include "{RUN}"\n', encoding="utf-8")
    words = ["-fvisibility=default", f"-I{INCLUDE}"]
    module = gen_jit_spec("hopper_pages", [source], words).build().module
    emulated_device().watch(())
    return ctypes.CDLL(str(module))


def test_examples_are_right_and_nothing_is_reported_of_them(library: ctypes.CDLL) -> None:
    device = emulated_device()
    for page in PAGES:
        run = getattr(library, page.stem.replace("-", "_"))
        run.restype = ctypes.c_bool
        right, reports = run(), [report.text() for report in device.take_reports()]
        assert (page.stem, right, reports) == (page.stem, True, [])


@pytest.mark.parametrize("width", [128, 64, 32])
def test_the_figure_of_a_swizzle(width: int) -> None:
    chunks = width // 16
    lines = [
        f"{width} bytes".ljust(14) + "  ".join(map(str, range(chunks))) + "   place in the row"
    ]
    for row in range(8):
        places = [0] * chunks
        for chunk in range(chunks):
            byte = row * width + chunk * 16
            byte ^= (byte >> 7 & chunks - 1) << 4
            places[byte % width // 16] = chunk
        lines.append(f"row {row}".ljust(14) + "  ".join(map(str, places)))
    assert "\n".join(lines) in (DOCS / "swizzles.md").read_text(encoding="utf-8")


def test_the_figure_of_the_accumulators() -> None:
    """As AccumulatorLayout has it: lane:register of rows and columns."""
    at = {}
    for lane in range(32):
        for i in range(4):
            row, column = lane // 4 + i // 2 % 2 * 8, i // 4 * 8 + lane % 4 * 2 + i % 2
            at[row, column] = f"{lane}:{i}"
    lines = [
        f"row {row:>2}" + "".join(f"{at[row, column]:>6}" for column in range(8))
        for row in (0, 1, 2, 7, 8, 15)
    ]
    text = (DOCS / "wgmma.md").read_text(encoding="utf-8")
    assert [
        line for line in lines if not re.search(re.escape(line).replace(r"\ ", " +"), text)
    ] == []
