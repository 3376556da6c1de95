"""SASS as nvdisasm prints it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.inspect.instruction import SassInstruction, SourcePlace, digest_of, parse_sass

PREFIX = "/home/me/planted/kernels/include/"
LOST = "_ZN7planted7planted17LostThreadsKernelEPfPKfl"

INLINED = """
.section .text.outer,"ax",@progbits
	//## File "/usr/include/cuda_fp16.hpp", line 7 inlined at "/home/a.cuh", line 3
	//## File "/home/a.cuh", line 3 inlined at "/home/a.cuh", line 9
	//## File "/home/a.cuh", line 9
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/               @P0 BRA `(.L_x_7) ;
	//## File "/usr/include/cuda_fp16.hpp", line 8
        /*0020*/                   FADD R1, R1, R1 ;
.L_x_7:
        /*0030*/                   EXIT ;
.L_x_8:
        /*0040*/                   BRA `(.L_x_8);
        /*0050*/                   NOP;
"""


def planted(recorded: Path) -> dict[str, tuple[SassInstruction, ...]]:
    text = (recorded / "planted_90a.sass").read_text()
    return parse_sass(text, lambda path: path.removeprefix(PREFIX))


def test_each_kernel_has_its_instructions_in_order(recorded: Path) -> None:
    code = planted(recorded)[LOST]
    assert len(planted(recorded)) == 6
    assert [each.offset for each in code] == list(range(0, 16 * len(code), 16))
    assert code[0] == SassInstruction(0, "LDC", "LDC R1, c[0x0][0x28]", code[0].place)
    assert {each.opcode for each in code} >= {"BAR.SYNC.DEFER_BLOCKING", "LDG.E", "STG.E"}


def test_each_instruction_knows_its_line(recorded: Path) -> None:
    (barrier,) = [each for each in planted(recorded)[LOST] if each.opcode.startswith("BAR")]
    assert barrier.place == SourcePlace("planted/planted/faults.cuh", 41)
    assert barrier.text.startswith("@!P")


def test_what_fills_the_last_line_is_no_instruction_of_the_kernel(recorded: Path) -> None:
    for code in planted(recorded).values():
        assert code[-1].opcode in ("EXIT", "RET.REL.NODEC", "VIADD")


def test_of_inlined_calls_the_innermost_line_of_the_project_counts() -> None:
    code = parse_sass(INLINED, lambda path: path.removeprefix("/home/"))["outer"]
    assert [str(each.place) for each in code[:2]] == ["a.cuh:3", "a.cuh:3"]
    assert str(code[2].place) == "/usr/include/cuda_fp16.hpp:8"
    assert code[1].text == "@P0 BRA `(.L_x_7)"
    assert (code[-1].label, code[-1].opcode) == (".L_x_7", "EXIT")


def test_text_without_code_has_no_kernel() -> None:
    assert parse_sass("nvdisasm warning : nothing\n") == {}


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("@P0 BRA `(.L_x_93)", True),
        ("@P1 BRA `(.L_x_7)", False),
        ("CALL.REL.NOINC `($__internal_4_$__cuda_sm20_rem_s64)", False),
    ],
)
def test_numbers_of_labels_do_not_make_other_code(other: str, same: bool) -> None:
    before = digest_of([SassInstruction(0, "BRA", "@P0 BRA `(.L_x_7)")])
    assert (digest_of([SassInstruction(16, "BRA", other)]) == before) is same


def test_jumps_to_two_places_are_not_jumps_to_one() -> None:
    one = [SassInstruction(0, "BRA", "BRA `(.L_x_1)"), SassInstruction(0, "BRA", "BRA `(.L_x_1)")]
    two = [SassInstruction(0, "BRA", "BRA `(.L_x_1)"), SassInstruction(0, "BRA", "BRA `(.L_x_2)")]
    assert digest_of(one) != digest_of(two)
