"""The steps of docs/hopper: each computes what torch does, and is fit to be timed."""

from __future__ import annotations

import ctypes
import re
import runpy
from pathlib import Path

import pytest
import torch

from fictl.jit import gen_jit_spec
from fictl.jit.emulation import emulated_device

from .conftest import INCLUDE, KERNELS, Toolkit, output_of

STEPS = KERNELS.parent / "docs" / "hopper" / "steps"
NAMES = [f"step{i}" for i in range(1, 8)]
REMARKS = re.compile(r"C75(?:08|1\d)|C7602|[1-9]\d* bytes spill|warning")


def remarks(text: str) -> list[str]:
    """Return the lines of a compiler that say that code is slow, or may be wrong."""
    return [line for line in text.splitlines() if REMARKS.search(line)]


@pytest.fixture(scope="module")
def one_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All steps as one source: one compile."""
    path = tmp_path_factory.mktemp("steps") / "steps.cu"
    path.write_text("".join(f'#include "{STEPS / name}.cu"\n' for name in NAMES), "utf-8")
    return path


@pytest.fixture
def library(one_file: Path, monkeypatch: pytest.MonkeyPatch) -> ctypes.CDLL:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    spec = gen_jit_spec("hopper_steps", [one_file], ["-fvisibility=default", f"-I{INCLUDE}"])
    module = spec.build().module
    emulated_device().watch(())
    return ctypes.CDLL(str(module))


@pytest.mark.parametrize("name", NAMES)
def test_a_step_is_right(name: str, library: ctypes.CDLL) -> None:
    m, n, k = 512, 768, 320  # more stages than a ring has, more tiles than there are SMs
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randn(rows, k, generator=generator).bfloat16() for rows in (m, n))
    d = torch.full((m, n), torch.nan).bfloat16()
    pointers = (ctypes.c_void_p(x.data_ptr()) for x in (a, b, d))
    assert getattr(library, f"hopper_{name}")(*pointers, m, n, k, None) == 0
    assert [report.text() for report in emulated_device().take_reports()] == []
    torch.testing.assert_close(d.double(), a.double() @ b.double().T, rtol=1e-2, atol=1e-2)


def test_steps_compile_without_a_warning_or_a_spill(
    one_file: Path, toolkit: Toolkit, tmp_path: Path
) -> None:
    text = output_of(
        toolkit.nvcc,
        *("-std=c++17", "-O3", "--expt-relaxed-constexpr", "-arch=sm_90a", "-Xptxas=-v"),
        *(f"-I{INCLUDE}", "-c", one_file, "-o", tmp_path / "steps.o"),
    )
    assert text.count("Compiling entry function") == len(NAMES)
    assert remarks(text) == []


def test_times_become_the_table_of_the_page(tmp_path: Path) -> None:
    script = runpy.run_path(str(STEPS / "time_steps.py"))
    rows = {name: {"us": 50.0, "tflops": 600.4} for name in NAMES}
    sizes = {
        "4096": {**rows, "cublas": {"us": 60.0, "tflops": 500.0}, "sm_mhz": 1500, "watts": 690}
    }
    page = tmp_path / "index.md"
    page.write_text((STEPS.parent / "index.md").read_text("utf-8"), encoding="utf-8")
    text = script["table"]({"gpu": "H200", "sizes": sizes})
    script["write_page"](text, page)
    written = page.read_text("utf-8")
    assert "| [7](steps/step7.cu) | ping-pong: the shipped kernel | 600 | 1.20x |" in written
    assert "H200, cold L2, all in the same rounds: 4096³ at 1500 MHz and up to 690 W." in written
    script["write_page"](text, page)
    assert page.read_text("utf-8") == written
