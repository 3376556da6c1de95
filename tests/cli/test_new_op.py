"""fictl new-op: what it writes and prints, and that bad input leaves the tree as it was."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl.scaffold.record import FILE

OP = {
    "kernels/include/my_kernels/rope/rope_scale.cuh",
    *(
        f"kernels/rope/rope_scale/{name}"
        for name in (FILE, "launcher.cu", "binding.cpp", "op.py", "trace.py", "bench.py")
    ),
    "tests/kernels/rope/test_rope_scale.py",
}
WORDS = (
    "rope_scale",
    "--family",
    "rope",
    "--input",
    "x:n,d",
    "--scalar",
    "s:float=1.0",
    "--expr",
    "x * s",
)


def _files(root: Path) -> set[str]:
    found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    return {name for name in found if not name.startswith(".git/")} - {"fictl.toml"}


def test_eight_files_where_the_layout_has_them(fictl: Callable[..., Any], root: Path) -> None:
    answer = fictl("new-op", *WORDS)
    assert answer.code == 0
    assert _files(root) == OP
    assert answer.out.splitlines() == [
        "  rope_scale(x:n,d, s:float=1.0) -> out:n,d = x * s",
        "  kernels/include/my_kernels/rope/rope_scale.cuh      "
        "kernel, 16 bytes of each input a thread",
        "  kernels/rope/rope_scale/  launcher.cu binding.cpp op.py trace.py bench.py",
        "  tests/kernels/rope/test_rope_scale.py",
        "  7 files · next: fictl test rope_scale      fictl bench rope_scale      "
        "edit: rope_scale.cuh:29",
    ]


def test_the_line_to_edit_is_the_computation(fictl: Callable[..., Any], root: Path) -> None:
    fictl("new-op", *WORDS)
    header = root / "kernels/include/my_kernels/rope/rope_scale.cuh"
    assert "return x * s;" in header.read_text().splitlines()[28]


def test_the_new_op_keeps_every_rule_and_is_listed(fictl: Callable[..., Any], root: Path) -> None:
    fictl("new-op", *WORDS)
    assert fictl("check").code == 0
    assert "rope_scale" in fictl("list").out


def test_a_dry_run_shows_a_tree_and_writes_nothing(fictl: Callable[..., Any], root: Path) -> None:
    answer = fictl("new-op", *WORDS, "--dry-run")
    assert answer.code == 0
    assert "rope_scale.cuh  new" in answer.out
    assert _files(root) == set()


def test_a_diff_is_a_patch_and_writes_nothing(fictl: Callable[..., Any], root: Path) -> None:
    answer = fictl("new-op", *WORDS, "--diff")
    assert _files(root) == set()
    subprocess.run(["git", "apply", "-"], input=answer.out, text=True, cwd=root, check=True)
    assert _files(root) == {name for name in OP if FILE not in name}


def test_json_says_what_was_written(fictl: Callable[..., Any], root: Path) -> None:
    document = fictl("new-op", *WORDS, "--json").document
    assert document["schema"] == "fictl.new-op/1"
    assert document["data"]["op"] == "my_kernels/rope/rope_scale"
    assert {each["path"] for each in document["data"]["files"]} == OP
    assert document["data"]["written"] is True


def test_undo_takes_it_back(fictl: Callable[..., Any], root: Path) -> None:
    fictl("new-op", *WORDS)
    answer = fictl("new-op", "--undo")
    assert "took back `fictl new-op rope_scale`: 7 files" in answer.out
    assert not (root / "tests").exists()
    assert fictl("new-op", "--undo").code == 2


def test_an_edited_file_is_not_taken_back(fictl: Callable[..., Any], root: Path) -> None:
    fictl("new-op", *WORDS)
    (root / "kernels/rope/rope_scale/op.py").write_text("mine")
    answer = fictl("new-op", "--undo")
    assert answer.code == 2
    assert "op.py changed since" in answer.err
    assert _files(root) == OP


def test_force_writes_over_an_op_and_nothing_else_does(
    fictl: Callable[..., Any], root: Path
) -> None:
    fictl("new-op", *WORDS)
    test = root / "tests/kernels/rope/test_rope_scale.py"
    test.write_text("mine")
    refused = fictl("new-op", *WORDS)
    assert (refused.code, test.read_text()) == (2, "mine")
    assert "there is an op 'rope_scale' already" in refused.err
    assert fictl("new-op", *WORDS, "--force").code == 0
    assert test.read_text() != "mine"


def test_files_that_are_no_op_yet_are_not_written_over(
    fictl: Callable[..., Any], root: Path
) -> None:
    test = root / "tests/kernels/rope/test_rope_scale.py"
    test.parent.mkdir(parents=True)
    test.write_text("mine")
    answer = fictl("new-op", *WORDS)
    assert answer.code == 2
    assert "tests/kernels/rope/test_rope_scale.py is there already" in answer.err
    assert test.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--output", "y:k"), "names 'k', which is an axis of no input", "axes are n"),
        (("--input", "x:n:f12"), "unknown dtype 'f12'", "bf16"),
        (("--dtypes", "f16,q8"), "unknown dtype 'q8'", "bf16"),
        (("--dtypes", "e2m1"), "elementwise cannot be of float4_e2m1fn_x2", "f16, bf16"),
        (("--dtypes", ","), "--dtypes names none", "f16"),
        (("--kind", "elementwize"), "no kind 'elementwize'", "did you mean 'elementwise'"),
        (("--family", "include"), "'include' cannot name a family", "my_include"),
        (("--arch", "9.x"), "9.x", "8.0"),
        (("--expr", "x * torch.exp(y)"), "calls 'torch.exp'", "exp"),
        (("--scalar", "s:half"), "'s:half' is not a scalar", "eps:float=1e-6"),
        (("--from", "nowhere.py:f"), "nowhere.py", ""),
        (("--kernel", "nowhere.cu:F"), "nowhere.cu", ""),
    ],
)
def test_bad_input_is_said_in_words_and_writes_nothing(
    fictl: Callable[..., Any], root: Path, words: tuple[str, ...], message: str, hint: str
) -> None:
    given = words if {"--kind", "--kernel"} & {*words} else ("--kind", "elementwise", *words)
    inputs = () if "--input" in words else ("--input", "x:n")
    answer = fictl("new-op", "mine", *given, *inputs)
    assert answer.code == 2, answer.err
    assert message in answer.err
    assert hint in answer.err
    assert "Traceback" not in answer.err
    assert _files(root) == set()


@pytest.mark.parametrize("name", ["class", "half", "Rope", "a-b", "__x"])
def test_a_name_that_cannot_be_gets_another_one_suggested(
    fictl: Callable[..., Any], root: Path, name: str
) -> None:
    answer = fictl("new-op", name)
    assert answer.code == 2
    assert "try '" in answer.err
    assert _files(root) == set()


def test_without_a_name_it_says_so(fictl: Callable[..., Any], root: Path) -> None:
    assert "a new op needs a name" in fictl("new-op").err


def test_where_there_is_no_project_it_says_how_to_make_one(
    fictl: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = fictl("new-op", "mine")
    assert answer.code == 2
    assert "there is no project in or above" in answer.err
    assert "fictl init" in answer.err


def test_in_a_pipe_it_never_asks(fictl: Callable[..., Any], root: Path) -> None:
    answer = fictl("new-op", "mine")
    assert answer.code == 0
    assert "x * factor" in answer.out


def test_a_kind_that_was_not_named_follows_from_the_signature(
    fictl: Callable[..., Any], root: Path
) -> None:
    words = ("--input", "x:n,hidden", "--input", "w:hidden", "--scalar", "eps:float=1e-6")
    data = fictl("new-op", "mine", *words, "--output", "y:n,hidden", "--json").document["data"]
    assert data["kind"] == "rowwise"


def test_what_fits_no_kind_lists_what_each_takes(fictl: Callable[..., Any], root: Path) -> None:
    answer = fictl("new-op", "mine", "--input", "x:a", "--input", "y:b", "--output", "out:a,b")
    assert answer.code == 2
    assert "kind elementwise cannot be x:a, y:b -> out:a,b" in answer.err


def test_commit_makes_a_commit_of_its_files_alone(fictl: Callable[..., Any], root: Path) -> None:
    git = ["git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "init", "-q"], check=True)
    for key, value in (("user.name", "A"), ("user.email", "a@b.c")):
        subprocess.run([*git, "config", key, value], check=True)
    answer = fictl("new-op", *WORDS, "--commit")
    assert answer.code == 0, answer.err
    shown = subprocess.run(
        [*git, "show", "--name-only", "--format="], capture_output=True, text=True, check=True
    )
    assert set(shown.stdout.split()) == OP


def test_commit_without_a_repository_writes_nothing(fictl: Callable[..., Any], root: Path) -> None:
    answer = fictl("new-op", *WORDS, "--commit")
    assert answer.code != 0
    assert _files(root) == set()
