"""Two revisions of the same kernels."""

from __future__ import annotations

from fictl.inspect.difference import compare
from fictl.inspect.kernel import Opcode
from fictl.inspect.metrics import LaunchSize


def told(before, now) -> list[tuple[str, dict[str, tuple[float | None, float | None]]]]:
    return [
        (each.status, {change.name: (change.before, change.now) for change in each.changes})
        for each in compare(before, now, LaunchSize())
    ]


def test_the_same_code_is_said_to_be(kernel) -> None:
    assert told([kernel()], [kernel()]) == [("same code", {})]


def test_numbers_that_changed_are_told(kernel) -> None:
    opcodes = {"LDG.E": Opcode(8, "", None), "LDL": Opcode(1, "", None)}
    after = kernel(registers=64, opcodes=opcodes, code="other")
    assert told([kernel()], [after]) == [
        (
            "changed",
            {
                "registers": (40, 64),
                "occupancy": (75.0, 50.0),
                "blocks_per_sm": (6, 4),
                "instructions": (6, 9),
                "LDG.128": (4, 0),
                "LDG.32": (0, 8),
                "LDL": (0, 1),
            },
        )
    ]


def test_other_instructions_may_have_the_same_numbers(kernel) -> None:
    assert told([kernel()], [kernel(code="other")]) == [("changed", {})]


def test_kernels_of_one_revision_alone(kernel) -> None:
    old, new = kernel(mangled="_Z3oldv"), kernel(mangled="_Z3newv")
    assert [status for status, _ in told([old], [new])] == ["new", "gone"]


def test_architectures_are_compared_each_with_itself(kernel) -> None:
    both = [kernel(arch="8.0"), kernel(arch="9.0a")]
    assert [status for status, _ in told(both, both)] == ["same code", "same code"]


def test_registers_are_told_once_where_all_warps_have_the_same(kernel) -> None:
    ((_, changes),) = told([kernel()], [kernel(registers=48, code="other")])
    assert changes["registers"] == (40, 48)
    assert not {"registers_least", "registers_most"} & changes.keys()
    after = kernel(registers=40, setmaxnreg=(24, 240), code="other")
    ((status, changes),) = told([kernel()], [after])
    assert (status, changes["registers_least"], changes["registers_most"]) == (
        "changed",
        (40, 24),
        (40, 240),
    )
