"""Solutions in Triton: by its interpreter where there is no GPU."""

from __future__ import annotations

import pytest
import torch

from fictl.runnable import BuilderRegistry, BuildError
from fictl.runnable.builders import TritonBuilder

KERNEL = """
import triton
import triton.language as tl

from grid import blocks


@triton.jit
def kernel(x, s, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * s, mask=i < n)


def run(x, s, y):
    kernel[blocks(x.numel())](x, s, y, x.numel(), 128)
"""
FILES = {"main.py": KERNEL, "grid.py": "def blocks(n):\n    return ((n + 127) // 128,)\n"}


@pytest.fixture
def device(request, monkeypatch):
    """A GPU for the tests that ask for one, else the interpreter."""
    triton = pytest.importorskip("triton")
    if request.node.get_closest_marker("needs_gpu"):
        return "cuda"
    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    return "cpu"


def runs(definition, solution, device):
    runnable = BuilderRegistry.get_instance().build(definition, solution(FILES, "triton", dps=True))
    x = torch.arange(200.0, device=device)
    assert torch.equal(runnable(x=x, s=2.0), x * 2)
    assert runnable.metadata.build_type == "triton"
    assert runnable.metadata.misc["module_name"].startswith("fictl_triton_answer_")


def test_it_runs_in_the_interpreter(definition, solution, kept, device):
    runs(definition, solution, device)
    assert [*(kept / "triton").glob("fictl_triton_*/grid.py")]


@pytest.mark.needs_gpu
def test_it_runs_on_a_gpu(definition, solution, kept, device):
    runs(definition, solution, device)


def test_a_kernel_is_no_entry(definition, solution, kept):
    pytest.importorskip("triton")
    with pytest.raises(BuildError, match="kernel is a JITFunction, which cannot be called"):
        TritonBuilder().build(definition, solution(FILES, "triton", "main.py::kernel"))


def test_it_is_for_triton_alone(solution, exporting):
    builder = TritonBuilder()
    assert builder.can_build(solution(FILES, "triton"))
    assert not builder.can_build(solution(FILES))
    assert not builder.can_build(exporting())
