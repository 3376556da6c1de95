"""Code as people read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.inspect.instruction import SassInstruction, SourcePlace
from fictl.inspect.listing import by_source, changed, in_order
from fictl.inspect.sources import KernelSources

LOAD = SassInstruction(0, "LDG.E", "LDG.E R4, [R2]", SourcePlace("a.cuh", 1))
ADD = SassInstruction(16, "FADD", "FADD R4, R4, R4", SourcePlace("a.cuh", 2), ".L_x_7")
STORE = SassInstruction(32, "STG.E", "STG.E [R2], R4", SourcePlace("a.cuh", 1))
JUMP = SassInstruction(48, "BRA", "BRA `(.L_x_7)")


@pytest.fixture
def sources(tmp_path: Path) -> KernelSources:
    (tmp_path / "a.cuh").write_text("x = *p;\n  x += x;\n")
    return KernelSources(tmp_path, ())


def test_each_line_stands_above_what_it_became(sources: KernelSources, tmp_path: Path) -> None:
    lines = [line.replace(f"{tmp_path}/", "") for line in in_order((LOAD, ADD, JUMP), sources)]
    assert lines == [
        "  // a.cuh:1  x = *p;",
        "    0000  LDG.E R4, [R2]",
        "  // a.cuh:2  x += x;",
        ".L_x_7:",
        "    0010  FADD R4, R4, R4",
        "    0030  BRA `(.L_x_7)",
    ]


def test_by_source_each_line_is_there_once(sources: KernelSources) -> None:
    groups = by_source((LOAD, ADD, STORE, JUMP), sources)
    assert [group.code for group in groups] == [(LOAD, STORE), (ADD,), (JUMP,)]
    assert [group.text for group in groups] == ["x = *p;", "x += x;", ""]
    assert groups[2].place == "no line known"


def test_a_change_is_a_diff_without_offsets_and_numbers_of_labels() -> None:
    moved = SassInstruction(64, "BRA", "BRA `(.L_x_9)")
    other = SassInstruction(16, "FMUL", "FMUL R4, R4, 2", label=".L_x_9")
    lines = list(changed((LOAD, ADD, JUMP), (LOAD, other, moved), ("HEAD", "now")))
    assert [line.strip() for line in lines if line[:1] in "+-"] == [
        "--- HEAD",
        "+++ now",
        "-    FADD R4, R4, R4",
        "+    FMUL R4, R4, 2",
    ]
