"""The last scaffold is taken back, as long as nobody has touched what it wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.plan.undo import last, take_back
from fictl.scaffold.plan.write import apply


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "old.py").write_text("old\n")
    (root / "gone.py").write_text("gone\n")
    apply(
        Plan(
            root, {root / "a" / "new.py": "new\n", root / "old.py": "x\n", root / "gone.py": None}
        ),
        "fictl new-op new",
    )
    return root


def test_everything_is_as_before(root: Path) -> None:
    record = take_back(root)
    assert record is not None
    assert record.command == "fictl new-op new"
    assert {path.name: path.read_text() for path in root.iterdir()} == {
        "old.py": "old\n",
        "gone.py": "gone\n",
    }


def test_it_is_taken_back_once(root: Path) -> None:
    take_back(root)
    assert take_back(root) is None


def test_a_file_that_was_edited_since_is_kept_and_named(root: Path) -> None:
    (root / "a" / "new.py").write_text("mine\n")
    with pytest.raises(UsageError, match=r"`fictl new-op new` cannot .*new\.py changed since"):
        take_back(root)
    assert (root / "old.py").read_text() == "x\n"


def test_a_folder_that_somebody_else_uses_stays(root: Path) -> None:
    (root / "a" / "theirs.py").write_text("theirs\n")
    take_back(root)
    assert [path.name for path in (root / "a").iterdir()] == ["theirs.py"]


def test_of_two_projects_each_has_its_own(root: Path, tmp_path: Path) -> None:
    assert last(tmp_path) is None
    assert last(root) is not None


def test_a_damaged_record_is_none(root: Path) -> None:
    from fictl.scaffold.plan.undo import _place

    _place(root).write_text("{")
    assert take_back(root) is None


def test_nothing_is_deleted_where_a_folder_has_become_a_link(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (root / "a").rename(outside)
    (root / "a").symlink_to(outside)
    with pytest.raises(UsageError, match="is a link to"):
        take_back(root)
    with pytest.raises(UsageError, match="is a link to"):
        apply(Plan(root, {root / "a" / "new.py": None}), "fictl remove-op new")
    assert (outside / "new.py").read_text() == "new\n"
