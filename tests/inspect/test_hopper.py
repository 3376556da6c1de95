"""Kernels with Hopper's instructions: their mix by pipe, their registers, and gates on both."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.inspect.gate import check, parse_gates
from fictl.inspect.metrics import LaunchSize
from fictl.inspect.selection import inspect
from fictl.jit.progress import LogObserver
from fictl.toolchain import find_tool

HERE = Path(__file__).parent
HOPPER = (Arch.parse("9.0a"),)

pytestmark = [
    pytest.mark.needs_nvcc,
    pytest.mark.skipif(find_tool("nvdisasm") is None, reason="needs nvdisasm"),
]


def _line(mark):
    lines = (HERE / "hopper.cu").read_text().splitlines()
    return next(at for at, line in enumerate(lines, 1) if line.endswith(f"// {mark}"))


@pytest.fixture(scope="module")
def module():
    (one,) = inspect([str(HERE / "hopper.cu")], HOPPER, LogObserver(verbose=False))
    assert one.error is None
    return one


def test_products_copies_and_barriers_are_counted_by_their_names(module):
    (kernel,) = module.kernels
    names = ("HGMMA", "QGMMA", "IGMMA", "UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "UBLKRED")
    assert {name: kernel.mix[name] for name in names} == dict.fromkeys(names, 1)
    assert list(kernel.mix)[: len(names)] == list(names)
    assert {"LDSM", "STSM", "SYNCS", "USETMAXREG", "WARPGROUP"} <= kernel.mix.keys()
    assert (kernel.pipe("tensor"), kernel.pipe("TMA")) == (3, 5)


def test_registers_are_those_at_entry_and_those_of_the_warpgroups(module):
    (kernel,) = module.kernels
    assert (kernel.registers, kernel.setmaxnreg) == (168, (24, 240))


def test_gates_take_pipes_and_registers_and_name_the_line(module):
    right = "HGMMA==1, UTMALDG.2D==1, tma_instructions==5, tensor_instructions==3, remarks==0"
    assert check(parse_gates([right, "registers<=168, spill_bytes==0"]), module, LaunchSize()) == []
    wrong = parse_gates(["registers_most<=232", "registers_least>=40", "tensor_instructions==0"])
    most, least, tensor = check(wrong, module, LaunchSize())
    assert (most.value, most.place.endswith(f"hopper.cu:{_line('more')}")) == (240, True)
    assert (least.value, least.place.endswith(f"hopper.cu:{_line('fewer')}")) == (24, True)
    assert "GMMA" in tensor.instruction


def test_remarks_for_which_a_build_fails_are_shown_and_can_be_gated():
    source = HERE.parent / "jit" / "gate" / "wgmma.cu"
    (one,) = inspect([str(source)], HOPPER, LogObserver(verbose=False))
    assert {kernel.remarks for kernel in one.kernels} == {()}


def test_a_setmaxnreg_that_ptxas_ignores_is_a_remark_on_its_kernel(tmp_path):
    source = tmp_path / "ignored.cu"
    source.write_text(
        "__global__ void Plain(float* x) { *x = 1; }\n"
        '__global__ void Ignored(float* x) { asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");'
        " *x = 2; }\n"
    )
    (one,) = inspect([str(source)], HOPPER, LogObserver(verbose=False))
    remarks = {kernel.name: kernel.remarks for kernel in one.kernels}
    assert remarks["Plain"] == ()
    (text,) = remarks["Ignored"]
    assert text.startswith("C7508: 'setmaxnreg' ignored")
    (bad,) = check(parse_gates(["remarks==0"]), one, LaunchSize())
    assert bad.kernel.name == "Ignored"
