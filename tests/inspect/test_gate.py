"""Gates: read, held, and never passed for want of a number."""

from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.inspect.gate import check, parse_gates
from fictl.inspect.inspected import Inspected
from fictl.inspect.instruction import SassInstruction, SourcePlace
from fictl.inspect.kernel import Opcode
from fictl.inspect.metrics import LaunchSize
from fictl.inspect.pressure import Peak

SPILL = {
    "IADD3": Opcode(9, "IADD3 R1, R1, R2", SourcePlace("a.cuh", 8)),
    "STL.64": Opcode(2, "STL.64 [R1], R4", SourcePlace("a.cuh", 12)),
    "LDL": Opcode(5, "LDL R4, [R1]", SourcePlace("a.cuh", 20)),
}


def held(kernel, *gates: str) -> list[dict[str, object]]:
    found = Inspected("m", kernels=(kernel,))
    return [each.to_dict() for each in check(parse_gates(gates), found, LaunchSize())]


def test_a_list_is_read_by_commas() -> None:
    gates = parse_gates(["spill_bytes==0, registers <= 128,", "LDG.128>=4, occupancy>=37.5%"])
    assert list(map(str, gates)) == [
        "spill_bytes==0",
        "registers<=128",
        "LDG.128>=4",
        "occupancy>=37.5",
    ]


@pytest.mark.parametrize(
    "gate",
    ["registers==40", "registers!=41", "registers<=40", "registers<41", "registers>39"]
    + ["registers>=40", "LDG.128==4", "LDG==4", "LDL==0", "HGMMA==0", "blocks_per_sm>=6"],
)
def test_what_holds_is_no_violation(kernel, gate: str) -> None:
    assert held(kernel(), gate) == []


def test_a_violation_names_the_first_instruction_to_blame(kernel) -> None:
    spilling = kernel(spill_stores=16, spill_loads=20, local=16, opcodes=SPILL)
    (found,) = held(spilling, "spill_bytes==0")
    assert found == {
        "gate": "spill_bytes==0",
        "kernel": "a::copy",
        "arch": "9.0a",
        "value": 36,
        "place": "a.cuh:12",
        "source": "",
        "instruction": "STL.64 [R1], R4",
        "why": "",
    }


def test_an_instructions_gate_names_that_instruction(kernel) -> None:
    (found,) = held(kernel(opcodes=SPILL), "LDL<=4")
    assert (found["value"], found["place"]) == (5, "a.cuh:20")


def test_what_no_instruction_is_to_blame_for_names_the_kernel(kernel) -> None:
    (found,) = held(kernel(), "registers<=32")
    assert (found["value"], found["place"], found["instruction"]) == (40, "a.cuh:7", "")


def test_too_many_registers_are_where_most_are_in_use(kernel) -> None:
    add = SassInstruction(32, "FADD", "FADD R9, R9, R8", SourcePlace("/a.cuh", 11))

    class Unit:
        kernels = (kernel(),)

        def peaks(self) -> dict[str, Peak]:
            return {kernel().mangled: Peak(38, add)}

    found = Inspected("m", units=(Unit(),), kernels=(kernel(),))
    (violation,) = check(parse_gates(["registers<=32"]), found, LaunchSize())
    assert (violation.value, violation.place) == (40, "/a.cuh:11")
    assert violation.instruction == "FADD R9, R9, R8"
    assert violation.why == "38 registers are in use here"


def test_what_is_missing_names_the_kernel(kernel) -> None:
    (found,) = held(kernel(), "HMMA>=1")
    assert (found["value"], found["place"]) == (0, "a.cuh:7")


@pytest.mark.parametrize("gate", ["spills==0", "LDLL==0", "ldl==0", "regs<=3"])
def test_an_unknown_name_lists_what_there_is(gate: str) -> None:
    with pytest.raises(UsageError, match="there is nothing named") as error:
        parse_gates([gate])
    assert "registers_most, spill_bytes" in error.value.hint


@pytest.mark.parametrize("gate", ["registers", "registers=4", "==4", "registers<=many", "4<5"])
def test_what_is_no_comparison_is_refused(gate: str) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        parse_gates([gate])


def test_occupancy_that_nobody_knows_is_an_error(kernel) -> None:
    with pytest.raises(UsageError, match="occupancy>=50 cannot be told of a::copy") as error:
        held(kernel(threads=None), "occupancy>=50")
    assert "--threads" in error.value.hint


def test_spills_of_a_compiled_file_are_an_error(kernel) -> None:
    with pytest.raises(UsageError, match="a compiled file does not say it"):
        held(kernel(spill_stores=None, spill_loads=None), "spill_bytes==0")
