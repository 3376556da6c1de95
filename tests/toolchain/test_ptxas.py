"""What `ptxas -v` of CUDA 13.0 says."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.toolchain.ptxas import Remark, Usage, parse_remarks, parse_usage

RECORDED = Path(__file__).parents[1] / "inspect" / "recorded"


def test_registers_memory_and_barriers_of_each_kernel() -> None:
    found = dict(parse_usage((RECORDED / "planted_90a.ptxas").read_text()))
    assert len(found) == 6
    assert found["_ZN7planted7planted14SpillingKernelEPfPKfl"] == Usage(
        "90a", registers=32, local=504, spill_stores=668, spill_loads=764
    )
    assert found["_ZN7planted7planted16LocalArrayKernelEPfPKfl"] == Usage(
        "90a", registers=20, local=128
    )
    assert found["_ZN7planted7planted17LostThreadsKernelEPfPKfl"] == Usage(
        "90a", registers=8, barriers=1, shared=256
    )


def test_what_a_called_function_spills_is_its_kernels() -> None:
    found = dict(parse_usage((RECORDED / "calls_90a.ptxas").read_text()))
    (calls,) = [usage for name, usage in found.items() if "two" in name]
    assert (calls.local, calls.spill_stores, calls.spill_loads) == (64, 28, 28)
    (other,) = [usage for name, usage in found.items() if "three" in name]
    assert other == Usage("90a", registers=8)


def test_a_unit_without_kernels_has_none() -> None:
    assert parse_usage("ptxas info    : 0 bytes gmem\n") == []


def test_several_architectures_are_told_apart() -> None:
    text = (
        "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
        "ptxas info    : Used 20 registers, used 0 barriers\n"
        "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
        "    8 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
        "ptxas info    : Used 24 registers, used 0 barriers\n"
    )
    old, new = parse_usage(text)
    assert old == ("k", Usage("80", registers=20))
    assert (new[1].target, new[1].registers, new[1].spill_bytes) == ("90a", 24, 12)


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        (
            "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to x.",
            Remark("C7508", "Potential Performance Loss: 'setmaxnreg' ignored; unable to x."),
        ),
        (
            "ptxas info    : (C7519) warpgroup.arrive is injected in around line 324 by compiler to "
            "allow use of registers in GMMA in function '_Z6kernelPf'",
            Remark(
                "C7519",
                "warpgroup.arrive is injected in around line 324 by compiler to allow use of "
                "registers in GMMA in function '_Z6kernelPf'",
                "_Z6kernelPf",
                324,
            ),
        ),
        (
            "ptxas warning : (C7514) serialized due to reading registers of  a wgmma in the function "
            "'f'",
            Remark(
                "C7514",
                "serialized due to reading registers of a wgmma in the function 'f'",
                "f",
            ),
        ),
    ],
)
def test_a_remark_has_a_number_and_names_a_function_or_none(line: str, remark: Remark) -> None:
    assert parse_remarks(f"{line}\nptxas info    : 0 bytes gmem\n{line}\n") == (remark,)


def test_lines_of_other_programs_are_not_remarks() -> None:
    assert parse_remarks("nvcc warning : (C7519) x\nk.cu(3): (C7519) y\n") == ()
