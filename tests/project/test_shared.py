"""What a family's `_*.py` has for users."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.project import Project
from fictl.project.shared import offered, shared


@pytest.fixture
def project(tiny: Path) -> Project:
    family = tiny / "kernels" / "elementwise"
    (family / "_order.py").write_text('__all__ = ["Order"]\n', encoding="utf-8")
    (family / "_maker.py").write_text(
        'OFFERED_IN = ("fictl.jit",)\n__all__ = ["make", "Made"]\n', encoding="utf-8"
    )
    (family / "_own.py").write_text('OFFERED_IN = ("fictl.jit",)\n', encoding="utf-8")
    (family / "_computed.py").write_text("__all__ = [*names()]\n", encoding="utf-8")
    return Project.at()


def test_names_are_read_and_nothing_is_imported(project: Project) -> None:
    assert sorted(shared(project)) == [
        ("elementwise", "tiny.elementwise._maker", "Made"),
        ("elementwise", "tiny.elementwise._maker", "make"),
        ("elementwise", "tiny.elementwise._order", "Order"),
    ]


def test_what_a_package_of_fictl_has_too_is_said_by_the_file(project: Project) -> None:
    place = "tiny.elementwise._maker"
    assert offered(project, "fictl.jit") == {"make": place, "Made": place}
    assert offered(project, "fictl.op") == {}
