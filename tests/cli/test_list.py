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


def test_people_get_aligned_columns_without_trailing_space(fictl, repo) -> None:
    assert fictl("list", "my_kernels/elementwise", "my_kernels/gemm").out.splitlines() == [
        "project     family       module  function  dtypes    archs  devices   built",
        "my_kernels  elementwise  halve   halve     f16 bf16  >=8.0  cuda emu  no",
        "my_kernels  gemm         dense   dense     f16 bf16  9.0a   cuda emu  built 9.0a",
    ]


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
