"""What kinds give is what is committed, byte by byte, and the shipped scale is one of them."""

from __future__ import annotations

from pathlib import Path

import golden
import pytest

from fictl.project import Project
from fictl.scaffold.kinds.kind import kinds
from fictl.scaffold.new.new_op import draft, plan_op
from fictl.scaffold.new.request import NewOpRequest


@pytest.mark.parametrize("kind", golden.KINDS)
def test_a_kind_gives_its_golden_tree(kind: str) -> None:
    root = golden.GOLDEN / kind
    there = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in root.rglob("*")
        if path.is_file() and not any(part.startswith((".", "__")) for part in path.parts)
    }
    assert golden.tree(kind) == there, f"look, then: python tests/scaffold/golden.py {kind}"


def test_every_kind_has_a_golden_tree() -> None:
    assert [*kinds()] == golden.KINDS


def test_the_shipped_scale_is_what_new_op_writes() -> None:
    request = NewOpRequest(
        "scale",
        kind="elementwise",
        expression="input * factor",
        scalars=("factor:float",),
        doc="Multiply every element by one number.",
    )
    plan = plan_op(draft(Project.shipped(), request, overwrite=True), polished=False)
    assert len(plan.files) == 7
    assert {path: Path(path).read_text(encoding="utf-8") for path in plan.files} == plan.files
