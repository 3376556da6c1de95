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


GUESSED = ("silu_mul_add", "--expr", "silu(x) * y + z")
GUESS = (
    "  guess: y and z are numbers (--scalar y:float --scalar z:float says so, without a guess); for "
    "tensors:\n         --input x:n --input y:n --input z:n\n"
)


def test_a_name_that_may_be_a_tensor_is_said_wherever_the_op_is_shown(
    fictl: Callable[..., Any], root: Path
) -> None:
    dry = fictl("new-op", *GUESSED, "--dry-run").out
    assert dry.startswith(f"  silu_mul_add(x:n, y:float, z:float) -> out:n = {GUESSED[2]}\n{GUESS}")
    patch = fictl("new-op", *GUESSED, "--diff")
    assert (patch.err, patch.out[:11]) == (GUESS, "diff --git ")
    data = fictl("new-op", *GUESSED, "--dry-run", "--json").document["data"]
    assert data["signature"]["call"] == dry.splitlines()[0].strip()
    assert [scalar["name"] for scalar in data["signature"]["scalars"]] == ["y", "z"]
    (guess,) = data["guesses"]
    assert guess["about"] == ["y", "z"]
    assert GUESS in fictl("new-op", *GUESSED).out


def test_what_a_guess_tells_to_type_leaves_none(fictl: Callable[..., Any], root: Path) -> None:
    words = (*GUESSED, "--dry-run", "--json")
    (guess,) = fictl("new-op", *words).document["data"]["guesses"]
    for more in (guess["instead"].split(), ("--scalar", "y:float", "--scalar", "z:float")):
        data = fictl("new-op", *words, *more).document["data"]
        assert data["guesses"] == []
    assert data["signature"]["inputs"] == [
        {"name": "x", "axes": [{"name": "n", "size": None, "computed": None}], "dtype": None}
    ]


KERNEL = """\
template <typename T>
__global__ void Gate(const T* x, T* w, int* i, int n, int experts) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row < n) w[row * 2] = x[row * experts];
}
"""
ROWS = KERNEL.replace("Gate(const T* x, T* w, int* i", "First(const T* x, T* w").replace(
    "experts", "d"
)
GATE = """\
import torch


def gate(x):
    w, i = torch.topk(x, 2)
    return w, i.to(torch.int32)
"""


@pytest.fixture
def gate(root: Path) -> tuple[str, ...]:
    """A kernel of top-2 gating with its reference."""
    (root / "gate.cu").write_text(KERNEL)
    (root / "gate.py").write_text(GATE)
    return ("gate", "--kernel", "gate.cu:Gate", "--from", "gate.py:gate", "--json", "--dry-run")


def test_the_first_hint_names_the_call_that_no_kind_has(
    fictl: Callable[..., Any], gate: tuple[str, ...]
) -> None:
    """It asks for no shapes, because with these it would be refused as well."""
    answer = fictl("new-op", "gate", "--from", "gate.py:gate")
    assert answer.code == 2
    assert "gate.py:5: 'torch.topk(x, 2)': expressions have no topk" in answer.err
    hint = " ".join(answer.err.split())
    assert "--kind topk, without --from, gives the k largest elements" in hint
    assert "write the kernel and bring it along with --kernel" in hint


def test_each_hint_about_a_kernel_is_enough_for_the_next_step(
    fictl: Callable[..., Any], gate: tuple[str, ...]
) -> None:
    first = fictl("new-op", *gate).document["error"]
    assert first["hint"].startswith("the kernel's sizes are n, experts: call the axes so")
    second = fictl("new-op", *gate, "--input", "x:n,experts").document["error"]
    _, _, paste = second["hint"].partition("if it is 2 in every call: ")
    assert paste == "--output w:n,k=2 --output i_out:n,k=2:i32"
    answer = fictl("new-op", *gate, "--input", "x:n,experts", *paste.split())
    assert answer.code == 0, answer.err
    data = answer.document["data"]
    assert data["kind"] is None
    (guess,) = data["guesses"]
    assert guess["text"].startswith("grid and block are a guess, a warp a row: grid = ")
    assert guess["instead"] == "--grid n --block 256"


def test_a_launch_that_is_said_is_no_guess(fictl: Callable[..., Any], root: Path) -> None:
    (root / "rows.cu").write_text(ROWS)
    words = ("first", "--kernel", "rows.cu:First", "--expr", "max(x)", "--json")
    shapes = ("--input", "x:n,d", "--output", "w:n")
    said = ("--grid", "ceil_div(n, 8)", "--block", "256")
    assert fictl("new-op", *words, *shapes, *said).document["data"]["guesses"] == []
    launcher = root / "kernels" / "rows" / "first" / "launcher.cu"
    text = launcher.read_text()
    assert "config.grid = dim3(device::ceil_div(x.size(0), 8));" in text
    assert "guess" not in text
    fictl("new-op", *words, *shapes, "--force")
    assert (
        "// Grid and block: a guess from the kernel's body, a warp a row." in launcher.read_text()
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--grid", "n"),
            "--grid and --block say how a kernel is launched, and --kernel names none",
        ),
        (("--kernel", "gate.cu:Gate", "--grid", "n"), "nothing says what Gate computes"),
        (("--kernel", "gate.cu:Gate", "--from", "gate.py:gate", "--dtypes", "f99"), "dtype 'f99'"),
        (("--kernel", "gate.cu:Other", "--from", "gate.py:gate"), "defines no function Other"),
        (("--from", "gate.py:gate", "--kind", "rowwize"), "there is no kind 'rowwize'"),
    ],
)
def test_what_is_wrong_whatever_the_shapes_are_is_refused_first(
    fictl: Callable[..., Any], gate: tuple[str, ...], words: tuple[str, ...], message: str
) -> None:
    answer = fictl("new-op", "gate", *words)
    assert answer.code == 2
    assert message in answer.err


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
