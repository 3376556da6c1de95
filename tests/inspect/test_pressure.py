"""Registers in use, as `nvdisasm -plr` counts them."""

from __future__ import annotations

from pathlib import Path

from fictl.inspect.instruction import SassInstruction, SourcePlace, parse_sass
from fictl.inspect.pressure import Peak, peaks

RANGES = """
//--------------------- .text._Z1aPf --------------------------
	.section	.text._Z1aPf,"ax",@progbits
                                                          // +-------+--------+--------+
                                                          // | GPR   | PRED   | UGPR   |
                                                          // |   #   |   #    |    #   |
_Z1aPf:                                                   // |       |        |        |
        /*0000*/                   LDC R1, c[0x0][0x28] ; // |   2   |        |        |
        /*0010*/                   S2R R0, SR_TID.X ;     // |  14   |        |   2    |
.L_x_0:                                                   // +.......+........+........+
        /*0020*/              @!P0 BRA `(.L_x_0) ;        // |  14   |   1    |   2    |
	.section	.text._Z1bPf,"ax",@progbits
        /*0000*/                   EXIT ;                 // |       |        |        |
"""
CODE = {
    "_Z1aPf": (
        SassInstruction(0, "LDC", "LDC R1, c[0x0][0x28]"),
        SassInstruction(16, "S2R", "S2R R0, SR_TID.X", SourcePlace("a.cuh", 3)),
        SassInstruction(32, "BRA", "@!P0 BRA `(.L_x_0)"),
    ),
}


def test_the_first_instruction_with_most_registers_is_found_with_its_line() -> None:
    assert peaks(RANGES, CODE) == {"_Z1aPf": Peak(14, CODE["_Z1aPf"][1])}


def test_code_that_is_not_known_has_no_peak() -> None:
    assert peaks(RANGES, {}) == {}


def test_what_cuda_13_counts_of_a_kernel(recorded: Path) -> None:
    code = parse_sass((recorded / "planted_90a.sass").read_text(), lambda path: Path(path).name)
    ((name, peak),) = peaks((recorded / "planted_90a.live").read_text(), code).items()
    assert name == "_ZN7planted7planted17LostThreadsKernelEPfPKfl"
    assert peak.live == 6  # Of the 8 that ptxas gives it.
    assert str(peak.instruction.place) == "faults.cuh:39"
