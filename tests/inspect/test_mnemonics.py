"""Instructions by name and group."""

from __future__ import annotations

import pytest

from fictl.inspect.mnemonics import group, is_instruction, matches, mix, pipe_of


@pytest.mark.parametrize(
    ("opcode", "named"),
    [
        ("LDG.E.128.STRONG.GPU", "LDG.128"),
        ("LDG.E", "LDG.32"),
        ("LDG.E.U16.CONSTANT", "LDG.16"),
        ("STG.E.U8", "STG.8"),
        ("LDS.128", "LDS.128"),
        ("HMMA.16816.F32.BF16", "HMMA"),
        ("HGMMA.64x128x16.F32.BF16", "HGMMA"),
        ("BAR.SYNC.DEFER_BLOCKING", "BAR"),
        ("STL.128", "STL"),
        ("IADD3", ""),
    ],
)
def test_what_is_worth_a_column(opcode: str, named: str) -> None:
    assert group(opcode) == named


def test_the_mix_has_tensor_cores_first_and_wide_loads_before_narrow_ones() -> None:
    counts = {"MUFU.EX2": 3, "LDG.E": 1, "MOV": 9, "LDG.E.128": 2, "LDG.E.128.CONSTANT": 2}
    found = mix({**counts, "HMMA.16816.F32": 8})
    assert list(found.items()) == [("HMMA", 8), ("LDG.128", 4), ("LDG.32", 1), ("MUFU", 3)]


@pytest.mark.parametrize(
    ("opcode", "name", "meant"),
    [
        ("LDG.E.128", "LDG", True),
        ("LDG.E.128", "LDG.128", True),
        ("LDG.E.128", "LDG.32", False),
        ("LDG.E", "LDG.32", True),
        ("LDGSTS.E", "LDG", False),
        ("BAR.SYNC.DEFER_BLOCKING", "BAR.SYNC", True),
        ("BAR.ARV", "BAR.SYNC", False),
    ],
)
def test_a_name_means_all_its_modifiers(opcode: str, name: str, meant: bool) -> None:
    assert matches(opcode, name) is meant


@pytest.mark.parametrize("name", ["LDL", "LDG.128", "UTMALDG.2D", "HGMMA", "UTCQMMA", "ACQBULK"])
def test_instructions_are_known(name: str) -> None:
    assert is_instruction(name)


@pytest.mark.parametrize("name", ["LDLL", "ldl", "registers", "", "LDG..128"])
def test_other_words_are_none(name: str) -> None:
    assert not is_instruction(name)


@pytest.mark.parametrize(
    ("name", "pipe"),
    [
        ("HGMMA", "tensor"),
        ("HMMA", "tensor"),
        ("UTMALDG", "TMA"),
        ("UBLKCP", "TMA"),
        ("LDS.128", ""),
    ],
)
def test_tensor_cores_and_tma_are_pipes_of_their_own(name: str, pipe: str) -> None:
    assert pipe_of(name) == pipe
