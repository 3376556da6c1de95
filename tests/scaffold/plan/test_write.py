"""All of a plan or none of it: what stops half way leaves the tree as it was."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.scaffold.plan import write
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.plan.write import apply

ROOT = Path(__file__).resolve().parents[3]


def _tree(root: Path) -> dict[str, str]:
    """Folders, too, and every file that was forgotten."""
    return {
        str(path.relative_to(root)): path.read_text() if path.is_file() else "/"
        for path in root.rglob("*")
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "kept").mkdir(parents=True)
    (root / "kept" / "old.py").write_text("old\n")
    (root / "gone" / "deep").mkdir(parents=True)
    (root / "gone" / "deep" / "file.py").write_text("gone\n")
    return root


@pytest.fixture
def plan(root: Path) -> Plan:
    return Plan(
        root,
        {
            root / "new" / "a" / "b.py": "b\n",
            root / "kept" / "old.py": "changed\n",
            root / "gone" / "deep" / "file.py": None,
        },
    )


def test_files_are_written_changed_and_deleted(root: Path, plan: Plan) -> None:
    apply(plan, "test")
    assert _tree(root) == {
        "kept": "/",
        "kept/old.py": "changed\n",
        "new": "/",
        "new/a": "/",
        "new/a/b.py": "b\n",
    }


def test_a_plan_that_is_carried_out_has_nothing_left_to_do(plan: Plan) -> None:
    apply(plan, "test")
    assert plan.changes() == ()


def test_a_new_file_may_be_read_by_others_and_an_old_one_keeps_its_mode(
    root: Path, plan: Plan
) -> None:
    (root / "kept" / "old.py").chmod(0o750)
    apply(plan, "test")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((root / "new/a/b.py").stat().st_mode) == 0o666 & ~umask
    assert stat.S_IMODE((root / "kept/old.py").stat().st_mode) == 0o750


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_named_and_nothing_is_changed(root: Path, plan: Plan) -> None:
    before = _tree(root)
    (root / "kept").chmod(0o555)
    with pytest.raises(SetupError, match=r"cannot write .*kept.*: Permission denied"):
        apply(plan, "test")
    (root / "kept").chmod(0o755)
    assert _tree(root) == before


def test_a_file_where_a_folder_should_be_changes_nothing(root: Path, plan: Plan) -> None:
    (root / "new").write_text("in the way\n")
    before = _tree(root)
    with pytest.raises(SetupError, match=r"cannot write .*new"):
        apply(plan, "test")
    assert _tree(root) == before


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_what_stops_it_while_texts_are_written_changes_nothing(
    root: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    before, stage = _tree(root), write._stage

    def failing(path: Path, text: str) -> Path:
        if path.name == "old.py":
            raise error
        return stage(path, text)

    monkeypatch.setattr(write, "_stage", failing)
    with pytest.raises((KeyboardInterrupt, SetupError)):
        apply(plan, "test")
    assert _tree(root) == before


def test_an_error_between_two_files_takes_the_first_back(
    root: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, replace = _tree(root), Path.replace

    def failing(self: Path, target: Path) -> Path:
        if target.name == "old.py":
            raise OSError(5, "Input/output error", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(SetupError, match="Input/output error"):
        apply(plan, "test")
    assert _tree(root) == before


_KILLED = """
import os, signal, sys
from pathlib import Path
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.plan.write import apply
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` has it ignored
root, how = Path(sys.argv[1]), getattr(signal, sys.argv[2])
replace = Path.replace
def slow(self, target):
    done = replace(self, target)
    if root in target.parents and target.suffix == ".py":
        os.kill(os.getpid(), how)
    return done
Path.replace = slow
apply(Plan(root, {root / "new" / f"{n}.py": "text" for n in range(3)}), "killed")
"""


def _kill(root: Path, how: str) -> int:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", _KILLED, str(root), how], env=env).returncode


def test_what_a_kill_left_half_done_is_taken_back_by_the_next_command(root: Path) -> None:
    before = _tree(root)
    assert _kill(root, "SIGKILL") == -signal.SIGKILL
    assert _tree(root) != before
    apply(Plan(root, {}), "next")
    assert _tree(root) == before


def test_ctrl_c_between_two_files_waits_until_all_are_there(root: Path) -> None:
    assert _kill(root, "SIGINT") != 0
    assert sorted(path.name for path in (root / "new").iterdir()) == ["0.py", "1.py", "2.py"]


def test_a_thousand_files_take_no_time(tmp_path: Path) -> None:
    start = time.monotonic()
    apply(Plan(tmp_path, {tmp_path / str(n % 10) / f"{n}.py": "x" for n in range(1000)}), "many")
    assert time.monotonic() - start < 60
