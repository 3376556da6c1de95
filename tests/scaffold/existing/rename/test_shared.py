from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.errors import UsageError
from fictl.scaffold.existing.rename.renaming import Renaming
from fictl.scaffold.existing.rename.shared import includes, refuse_shared


def test_a_header_of_the_op_is_known_by_its_whole_path(twice) -> None:
    assert includes("#include <tiny/elementwise/twice.cuh>", twice)
    assert not includes("#include <fictl/elementwise/twice.cuh>", twice)


def refuse(folder, others: dict | None = None) -> None:
    files = [path for _, path in folder.files()]
    refuse_shared(Renaming(folder, replace(folder, family="math")), files, others or {})


def test_an_op_that_shares_nothing_may_leave(twice) -> None:
    refuse(twice)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("launcher.cu", "#include <tiny/elementwise/other.cuh>"),
        ("op.py", "from .._rows import split"),
        ("op.py", "from .. import _rows"),
    ],
)
def test_what_it_needs_of_its_family_keeps_it(twice, file: str, line: str) -> None:
    path = twice.path / file
    path.write_text(f"{path.read_text()}\n{line}\n")
    with pytest.raises(UsageError, match=rf"cannot leave the family elementwise: {file} has "):
        refuse(twice)


def test_who_needs_it_there_keeps_it(used) -> None:
    path = used.path.with_name("sum_twice") / "launcher.cu"
    with pytest.raises(UsageError, match=r"launcher\.cu of the same family includes its header"):
        refuse(used, {path: path.read_text()})
