from __future__ import annotations

import pytest

from fictl.arch import Arch
from fictl.jit.status import BuildStatus


@pytest.fixture(autouse=True)
def _built(monkeypatch: pytest.MonkeyPatch) -> None:
    def built(_stores: object, project: str, module: str, *_) -> BuildStatus:
        if module == "gemm.dense":
            return BuildStatus("built", (Arch(9, 0, "a"),))
        return BuildStatus("no")

    monkeypatch.setattr("fictl.builds.catalogue.built", built)


def test_a_row_says_all_that_is_declared(fictl, repo) -> None:
    (row,) = fictl("list", "dense", "--json").document["data"]
    assert row == {
        "project": "my_kernels",
        "family": "gemm",
        "module": "dense",
        "function": "dense",
        "doc": "What dense does.",
        "dtypes": ["f16", "bf16"],
        "archs": "9.0a",
        "devices": ["cuda", "emu"],
        "built": "built",
        "built_archs": ["9.0a"],
    }


def test_a_pipe_gets_a_line_for_each_function_without_trailing_space(fictl, repo) -> None:
    """Without columns that say the same in every line: here the project, and the devices."""
    assert fictl("list", "my_kernels/elementwise", "my_kernels/gemm").out.splitlines() == [
        "family       function  dtypes    archs  built",
        "elementwise  halve     f16 bf16  >=8.0  no",
        "gemm         dense     f16 bf16  9.0a   built 9.0a",
    ]


def test_projects_and_devices_are_said_where_they_differ(fictl, repo) -> None:
    op = repo / "kernels/gemm/dense/op.py"
    op.write_text(op.read_text().replace('"cuda emu"', '"cuda"'))
    assert fictl("list", "my_kernels/gemm", "fictl/scale").out.splitlines() == [
        "family             function  dtypes        archs  devices   built",
        "my_kernels/gemm    dense     f16 bf16      9.0a   cuda      built 9.0a",
        "fictl/elementwise  scale     f16 bf16 f32  >=7.5  cuda emu  no",
    ]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 80 columns, without colours."""
    monkeypatch.setattr("fictl.cli.console.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def test_a_terminal_of_80_columns_shows_every_name_whole(fictl, repo, terminal) -> None:
    lines = fictl("list").out.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    listed = [row["function"] for row in fictl("list", "--json").document["data"]]
    assert len(listed) > 50
    assert max(map(len, listed)) > 40  # Such a name is what was cut.
    assert {*listed} <= {line.strip().partition(" ")[0] for line in lines}


def test_a_terminal_shows_functions_below_their_family(fictl, repo, terminal) -> None:
    assert fictl("list", "my_kernels/elementwise", "my_kernels/gemm").out.splitlines() == [
        "function  dtypes    archs  built",
        "",
        "elementwise",
        "  halve   f16 bf16  >=8.0  no",
        "",
        "gemm",
        "  dense   f16 bf16  9.0a   built 9.0a",
        "",
        "2 functions",
    ]


def test_one_family_is_listed(fictl, repo) -> None:
    rows = fictl("list", "--family", "gemm", "--json").document["data"]
    assert {row["family"] for row in rows} == {"gemm"}
    assert {row["project"] for row in rows} == {"my_kernels", "fictl"}


def test_an_unknown_family_is_refused_with_those_there_are(fictl, repo) -> None:
    answer = fictl("list", "--family", "gem")
    assert answer.code == 2
    assert "there is no family 'gem'" in answer.err
    assert "elementwise, gemm" in answer.err


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("halve", {"halve"}),
        ("DENSE what", {"dense"}),  # "What dense does."
        ("gemm dense does", {"dense"}),
        ("halve dense", set()),
    ],
)
def test_words_are_searched_in_names_and_descriptions(fictl, repo, words, found) -> None:
    answer = fictl("list", "my_kernels/gemm", "my_kernels/elementwise", "--search", words, "--json")
    assert {row["function"] for row in answer.document["data"]} == found


def test_a_search_without_a_match_says_so(fictl, repo, terminal) -> None:
    answer = fictl("list", "--search", "no such thing")
    assert (answer.code, answer.out) == (0, "no op matches\n")


def test_without_names_it_is_the_project_here_and_the_shipped_one(fictl, repo) -> None:
    found = {row["function"] for row in fictl("list", "--json").document["data"]}
    assert found >= {"halve", "dense", "scale"}


@pytest.mark.parametrize(
    ("archs", "found"),
    [("8.0", ["halve"]), ("9.0", ["halve", "dense"]), ("9.0a", ["halve", "dense"]), ("7.5", [])],
)
def test_an_architecture_keeps_what_runs_on_it(fictl, repo, archs: str, found: list[str]) -> None:
    rows = fictl("list", "elementwise", "gemm", "--arch", archs, "--json").document["data"]
    assert [row["function"] for row in rows if row["project"] == "my_kernels"] == found


def test_native_without_a_gpu_is_the_environments_fault(fictl, monkeypatch) -> None:
    monkeypatch.setattr("fictl.toolchain.visible_gpus", list)
    answer = fictl("list", "--arch", "native")
    assert answer.code == 3
    assert "there is no GPU here" in answer.err


def test_an_unknown_architecture_is_named(fictl, repo) -> None:
    answer = fictl("list", "--arch", "8.0  9x")
    assert answer.code == 2
    assert "unknown architecture '9x'" in answer.err


def test_a_broken_op_is_named_with_its_line(fictl, repo) -> None:
    (repo / "kernels/gemm/dense/op.py").write_text("\ndef dense(:\n")
    answer = fictl("list")
    assert answer.code == 2
    assert "gemm/dense/op.py:2: not valid Python" in answer.err
