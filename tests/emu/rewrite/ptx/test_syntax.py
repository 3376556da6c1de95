"""The text of inline PTX as instructions, labels and scopes."""

from __future__ import annotations

import pytest

from fictl.emu.rewrite.ptx.syntax import Label, Scope, Written, parse
from fictl.emu.rewrite.scan import Malformed


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("trap;", Written("trap")),
        ("trap", Written("trap")),
        ("add.u32 %0, %1, 3;", Written("add.u32", ("%0", "%1", "3"))),
        ("ld.v2.b32 {%0,%1}, [%2 + 4];", Written("ld.v2.b32", ("{%0,%1}", "[%2 + 4]"))),
        ("@p bra L;", Written("bra", ("L",), "p")),
        ("@!%p1 exit;", Written("exit", (), "%p1", True)),
        (
            "shfl.sync.up.b32 %0|p, %1, 1, 0, -1;",
            Written("shfl.sync.up.b32", ("%0|p", "%1", "1", "0", "-1")),
        ),
        (
            "ld.shared::cta.L1::no_allocate.b32 %0, [%1];",
            Written("ld.shared::cta.L1::no_allocate.b32", ("%0", "[%1]")),
        ),
        ("// not this\n/* nor ; this */ trap;", Written("trap")),
    ],
)
def test_an_instruction_has_an_opcode_and_operands(text: str, written: Written) -> None:
    assert parse(text).items == [written]


def test_scopes_have_registers_of_their_own() -> None:
    outer = parse(".reg .pred p, q; { .reg .b32 r<2>; trap; } exit;")
    assert outer.registers == {"p": "pred", "q": "pred"}
    assert outer.items == [Scope({"r0": "b32", "r1": "b32"}, [Written("trap")]), Written("exit")]


def test_a_label_stands_before_what_it_names() -> None:
    assert parse("$again: trap; bra $again;").items == [
        Label("$again"),
        Written("trap"),
        Written("bra", ("$again",)),
    ]


@pytest.mark.parametrize("text", ["{ trap;", "trap; }", "mov.b32 {%0, %1;", "%0 = 3;"])
def test_what_is_not_ptx_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        parse(text)
