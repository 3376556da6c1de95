from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from fictl.scaffold.record import FILE
from fictl.sealed import seal, unseal

OP = Path("kernels/elementwise/swish")


@pytest.fixture
def op(fictl, root: Path) -> Path:
    """An op of an older version, which wrote one line of its bench.py otherwise."""
    words = ("--expr", "x * sigmoid(beta * x)", "--scalar", "beta:float")
    assert fictl("new-op", "swish", *words).code == 0
    older(root / OP, "bench.py", "4096 * 4096", "4096 * 2048")
    return root / OP


def older(op: Path, name: str, line: str, before: str) -> None:
    path = op / FILE
    data = unseal(path.read_text())
    where = f"{OP.as_posix()}/{name}"
    text = "\n".join(data["files"][where])
    assert line in text
    data["files"][where] = text.replace(line, before).split("\n")
    data["version"] = "0.0.9"
    path.write_text(seal(data))
    (op / name).write_text((op / name).read_text().replace(line, before))


def edit(op: Path, old: str, new: str) -> None:
    path = op / "bench.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def files(root: Path) -> dict[str, bytes]:
    there = (p for p in root.rglob("*") if p.is_file() and ".git" not in p.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in there}


def test_the_patch_comes_first_and_the_changes_of_both_are_written(fictl, op: Path) -> None:
    edit(op, "a decode step", "one token")
    answer = fictl("upgrade", "swish")
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert (
        lines[0]
        == "diff --git a/kernels/elementwise/swish/bench.py b/kernels/elementwise/swish/bench.py"
    )
    assert lines[-3:] == [
        "  my_kernels/elementwise/swish  written by fictl 0.0.9",
        "    kernels/elementwise/swish/bench.py  both changes are in it",
        "  1 op upgraded",
    ]
    text = (op / "bench.py").read_text()
    assert "4096 * 4096" in text
    assert "one token" in text
    assert fictl("upgrade", "--check").out == "  0 ops to upgrade · 1 as the scaffold writes it\n"


@pytest.mark.parametrize("flag", ["--dry-run", "--check"])
def test_to_look_changes_nothing(fictl, root: Path, op: Path, flag: str) -> None:
    before = files(root)
    answer = fictl("upgrade", flag)
    assert answer.code == (flag == "--check")
    assert ("+    for n in" in answer.out) == (flag == "--dry-run")
    assert "1 op to upgrade" in answer.out
    assert ("hint: fictl upgrade swish" in answer.err) == (flag == "--check")
    assert files(root) == before


def test_a_conflict_is_written_with_marks_and_fails(fictl, root: Path, op: Path) -> None:
    edit(op, "4096 * 2048", "7 * 7")
    answer = fictl("upgrade")
    assert answer.code == 1
    assert "has 1 conflict" in answer.err
    assert "bench.py  1 conflict, in line " in answer.out
    assert "<<<<<<< yours\n    for n in (128, 64 * 4096, 7 * 7" in (op / "bench.py").read_text()
    again = fictl("upgrade", "--check")
    assert again.code == 1
    assert "conflicts that nobody has resolved: kernels/elementwise/swish/bench.py:" in again.err
    fictl("new-op", "--undo")
    assert "7 * 7" in (op / "bench.py").read_text()
    assert "<<<" not in (op / "bench.py").read_text()


def test_it_is_data_too(fictl, op: Path) -> None:
    document = fictl("upgrade", "--check", "--json").document
    (data,) = document["data"]["ops"]
    assert not document["ok"]
    assert (data["op"], data["status"], data["version"]) == (
        "my_kernels/elementwise/swish",
        "behind",
        "0.0.9",
    )
    path = "kernels/elementwise/swish/bench.py"
    assert data["files"] == [{"path": path, "change": "changed", "conflicts": [], "note": ""}]
    assert "4096 * 4096" in document["data"]["diff"]
    assert FILE not in document["data"]["diff"]


def git(root: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    return subprocess.run(
        ["git", *identity, *words], cwd=root, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def committed(root: Path, op: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@b.c")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def test_a_dirty_tree_is_said_and_a_commit_has_the_op_alone(fictl, committed: Path, op) -> None:
    edit(op, "a decode step", "one token")
    (committed / "notes.txt").write_text("mine")
    answer = fictl("upgrade", "--commit", "--json")
    assert "git has uncommitted changes in kernels/elementwise/swish/bench.py" in answer.err
    assert answer.document["data"]["commit"] == git(committed, "rev-parse", "HEAD").strip()
    assert git(committed, "status", "--porcelain") == "?? notes.txt\n"


def test_a_conflict_is_not_committed(fictl, committed: Path, op: Path) -> None:
    edit(op, "4096 * 2048", "7 * 7")
    before = files(committed)
    answer = fictl("upgrade", "--commit")
    assert answer.code == 2
    assert "--commit would commit conflicts" in answer.err
    assert files(committed) == before


def test_an_op_without_a_record_is_refused_if_named_and_counted_if_not(fictl, op: Path) -> None:
    (op / FILE).unlink()
    answer = fictl("upgrade", "swish")
    assert answer.code == 2
    assert "has no record of its scaffold" in answer.err
    assert "--force writes it with a record" in answer.err
    assert fictl("upgrade").out == "  0 ops upgraded · 1 without a record of its scaffold\n"


def test_a_bad_record_keeps_no_other_op_back(fictl, root: Path, op: Path) -> None:
    assert fictl("new-op", "halved", "--expr", "x / 2").code == 0
    (root / "kernels/elementwise/halved" / FILE).write_text("{}")
    answer = fictl("upgrade")
    assert answer.code == 2
    assert "halved/.scaffold.json is not as the scaffold wrote it" in answer.err
    assert "4096 * 4096" in (op / "bench.py").read_text()


@pytest.mark.parametrize("behind", [True, False])
def test_a_record_goes_with_its_op(fictl, root: Path, op: Path, behind: bool) -> None:
    if not behind:
        fictl("upgrade")
    assert fictl("rename-op", "swish", "sway").code == 0
    assert fictl("upgrade", "--check").code == behind
    assert fictl("upgrade").code == 0
    assert fictl("upgrade", "--check").code == 0
    assert fictl("remove-op", "sway").code == 0
    assert not (root / "kernels/elementwise").exists()


def test_force_writes_a_record(fictl, op: Path) -> None:
    (op / FILE).write_text("")
    words = ("--expr", "x * sigmoid(beta * x)", "--scalar", "beta:float", "--force")
    assert fictl("new-op", "swish", *words).code == 0
    assert json.loads((op / FILE).read_text())["request"]["inputs"] == ["x:n"]
    assert fictl("upgrade", "--check").code == 0
