from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

FOLDER = "kernels/elementwise"


def git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def files(root: Path) -> dict[str, str]:
    found = (p for p in root.rglob("*") if p.is_file() and not {".git", "__pycache__"} & {*p.parts})
    return {path.relative_to(root).as_posix(): path.read_text() for path in found}


def test_an_op_has_another_name_and_what_is_left_is_said(fictl, tiny) -> None:
    (tiny / "README.md").write_text("Call twice.\n")
    answer = fictl("rename-op", "twice", "thrice")
    assert answer.code == 0, answer.err
    assert answer.out.splitlines() == [
        "  kernels/include/tiny/elementwise/  thrice.cuh",
        f"  {FOLDER}/thrice/  launcher.cu binding.cpp jit.py op.py trace.py bench.py",
        "  tests/kernels/elementwise/  test_thrice.py",
        "  8 files moved · next: fictl test thrice",
        "  left alone: README.md:1  Call twice.",
    ]
    assert not (tiny / FOLDER / "twice").exists()
    assert fictl("check").code == 0


def test_the_family_alone_may_change(fictl, tiny) -> None:
    assert fictl("rename-op", "twice", "--family", "doubling").code == 0
    assert (tiny / "kernels/doubling/twice/op.py").is_file()
    assert not (tiny / FOLDER).exists()
    assert fictl("check").code == 0


def test_it_can_be_taken_back(fictl, tiny) -> None:
    before = files(tiny)
    fictl("rename-op", "twice", "thrice")
    answer = fictl("new-op", "--undo")
    assert "took back `fictl rename-op twice thrice`" in answer.out
    assert files(tiny) == before


@pytest.mark.parametrize("flag", ["--dry-run", "--diff"])
def test_to_look_changes_nothing(fictl, tiny, flag: str) -> None:
    before = files(tiny)
    answer = fictl("rename-op", "twice", "thrice", flag)
    assert answer.code == 0
    assert "thrice.cuh" in answer.out
    assert files(tiny) == before


def test_the_patch_is_one_that_git_takes(fictl, tiny) -> None:
    git(tiny, "init", "-q")
    (tiny / "README.md").write_text("Call twice.\n")
    patch = tiny.parent / "patch"
    patch.write_text(fictl("rename-op", "twice", "thrice", "--diff").out)
    git(tiny, "apply", str(patch))
    assert (tiny / FOLDER / "thrice/op.py").is_file()


def test_it_is_data_too(fictl, tiny) -> None:
    (tiny / "README.md").write_text("Call twice.\n")
    data = fictl("rename-op", "twice", "thrice", "--json").document["data"]
    assert (data["op"], data["renamed"]) == ("tiny/elementwise/twice", "tiny/elementwise/thrice")
    assert {"path": f"{FOLDER}/twice/op.py", "change": "gone"} in data["files"]
    assert data["left_alone"] == [
        {"path": str(tiny / "README.md"), "line": 1, "text": "Call twice."}
    ]


def test_a_commit_has_these_files_and_no_others(fictl, tiny, monkeypatch) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@b.c")
    git(tiny, "init", "-q")
    git(tiny, "add", ".")
    git(tiny, "commit", "-qm", "start")
    (tiny / "mine.txt").write_text("")
    answer = fictl("rename-op", "twice", "thrice", "--commit")
    assert answer.code == 0, answer.err
    assert git(tiny, "status", "--porcelain").split() == ["??", "mine.txt"]
    assert "tiny/elementwise/twice is tiny/elementwise/thrice" in git(tiny, "log", "-1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing", "x"), "there is no op 'nothing'"),
        (("elementwise", "x"), "'elementwise' is not a single op"),
        (("twice",), "has that name already"),
        (("twice", "class"), "cannot name an op"),
    ],
)
def test_what_cannot_be_is_a_usage_error(fictl, tiny, words: tuple[str, ...], said: str) -> None:
    before = files(tiny)
    answer = fictl("rename-op", *words)
    assert answer.code == 2
    assert said in answer.err
    assert files(tiny) == before


def test_ops_of_fictl_are_renamed_in_its_checkout_only(fictl, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = fictl("rename-op", "scale", "stretch", "--dry-run")
    assert answer.code == 2
    assert "there is no project in or above" in answer.err
