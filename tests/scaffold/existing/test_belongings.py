from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.project import OpFolder, Project
from fictl.scaffold.existing.belongings import other_files, own_files, text_of


@pytest.fixture
def twice(tiny) -> OpFolder:
    return OpFolder(Project.at(tiny), "elementwise", "twice")


def test_the_files_of_the_layout_are_its_own(twice) -> None:
    assert own_files(twice) == tuple(path for _, path in twice.files())
    assert other_files(twice) == ()


@pytest.mark.parametrize(
    ("file", "user", "line"),
    [
        ("plan.py", "op.py", "from .plan import Plan"),
        ("plan.py", "op.py", "from . import jit, plan"),
        ("tile.h", "launcher.cu", '#include "tile.h"'),
        ("table.jinja", "jit.py", 'TABLE = "table.jinja"'),
    ],
)
def test_a_file_that_one_of_them_names_is_its_own(twice, file: str, user: str, line: str) -> None:
    (twice.path / file).write_text("")
    path = twice.path / user
    path.write_text(f"{path.read_text()}\n{line}\n")
    assert own_files(twice)[-1] == twice.path / file
    assert other_files(twice) == ()


def test_what_its_files_name_names_more(twice) -> None:
    (twice.path / "plan.py").write_text("from .rows import split\n")
    (twice.path / "rows.py").write_text("")
    twice.op.write_text(f"{twice.op.read_text()}\nfrom .plan import Plan\n")
    assert [path.name for path in own_files(twice)[-2:]] == ["plan.py", "rows.py"]


def test_what_nobody_names_is_something_else(twice) -> None:
    (twice.path / "notes.md").write_text("")
    (twice.path / "plan.py").write_text("")
    assert [path.name for path in other_files(twice)] == ["notes.md", "plan.py"]


def test_what_python_caches_is_nothing(twice) -> None:
    (twice.path / "__pycache__").mkdir()
    (twice.path / "__pycache__/op.cpython-311.pyc").touch()
    assert other_files(twice) == ()


def test_what_cannot_be_read_is_an_error_in_words(twice) -> None:
    path = twice.path / "table.bin"
    path.write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"cannot read .*table\.bin: .*utf-8"):
        text_of(path)
