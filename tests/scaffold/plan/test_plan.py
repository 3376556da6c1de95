"""What a plan would do, in words and as a patch that git takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.plan.write import apply


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "old.py").write_text("one\ntwo\n")
    (tmp_path / "same.py").write_text("same\n")
    (tmp_path / "gone.py").write_text("no newline")
    return tmp_path


@pytest.fixture
def plan(root: Path) -> Plan:
    texts = {"new/file.py": "new\n", "old.py": "one\n2\n", "same.py": "same\n", "gone.py": None}
    return Plan(root, {root / name: text for name, text in texts.items()})


def test_changes_are_what_differs(plan: Plan) -> None:
    changes = {plan.shown(change.path): change.verb for change in plan.changes()}
    assert changes == {"new/file.py": "new", "old.py": "changed", "gone.py": "gone"}


def test_the_diff_is_a_patch(plan: Plan, root: Path) -> None:
    (root / "patch").write_text(plan.diff())
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    subprocess.run(["git", "apply", "patch"], cwd=root, check=True)
    assert plan.changes() == ()


def test_what_is_there_is_not_written_over(plan: Plan) -> None:
    with pytest.raises(UsageError, match=r"old\.py is there already") as caught:
        plan.refuse_overwriting()
    assert "--force" in caught.value.hint


def test_a_file_that_would_stay_the_same_is_not_in_the_way(root: Path) -> None:
    Plan(root, {root / "same.py": "same\n"}).refuse_overwriting()


def test_a_file_that_is_no_text_is_named(root: Path) -> None:
    (root / "old.py").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"cannot read .*old\.py"):
        apply(Plan(root, {root / "old.py": "text\n"}), "test")
