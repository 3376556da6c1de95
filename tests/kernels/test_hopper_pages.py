"""The pages of docs/hopper: their examples compile with one -I, and their figures are what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fictl.jit import gen_jit_spec

from .conftest import INCLUDE, KERNELS, Toolkit, output_of
from .test_hopper_steps import remarks

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


def test_examples_are_the_emulated_devices_as_well(
    examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    assert gen_jit_spec("hopper_examples", [examples], [f"-I{INCLUDE}"]).build().module.exists()


@pytest.mark.parametrize("width", [128, 64, 32])
def test_the_figure_of_a_swizzle(width: int) -> None:
    chunks = width // 16
    lines = [f"{width} bytes".ljust(14) + "  ".join(map(str, range(chunks))) + "   place in the row"]
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
    assert [line for line in lines if not re.search(re.escape(line).replace(r"\ ", " +"), text)] == []
