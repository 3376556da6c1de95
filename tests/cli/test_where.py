from __future__ import annotations

import pytest

from fictl.paths import data_root

KERNELS = data_root("kernels")


def test_an_ops_files_are_listed_with_the_lines_of_its_functions(fictl, repo) -> None:
    op = f"{repo}/kernels/gemm/dense/op.py"
    assert fictl("where", "dense").out.splitlines() == [
        "my_kernels/gemm/dense",
        f"  op        {op}",
        f"  dense()   {op}:3",
    ]


def test_the_shipped_op_has_every_part(fictl) -> None:
    (found,) = fictl("where", "scale", "--json").document["data"]
    assert found["op"] == "fictl/elementwise/scale"
    assert [each["name"] for each in found["functions"]] == ["scale"]
    parts = {file["part"]: file["path"] for file in found["files"]}
    assert parts["kernel"] == str(KERNELS / "include/fictl/elementwise/scale.cuh")
    assert {"kernel", "launcher", "binding", "op", "trace", "bench"} <= parts.keys()


def test_the_default_jit_generator_is_named_where_the_folder_has_none(fictl) -> None:
    assert "  jit       the default: one module of these files" in fictl("where", "scale").out
    assert f"  jit       {KERNELS}/attention/decode/jit.py\n" in fictl("where", "decode").out


def test_a_family_is_all_its_modules(fictl, repo) -> None:
    found = fictl("where", "my_kernels/elementwise", "gemm", "--json").document["data"]
    assert [op["op"] for op in found] == ["my_kernels/elementwise/halve", "my_kernels/gemm/dense"]


def test_include_is_one_folder_for_the_compiler(fictl, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert fictl("where", "--include").out == f"{KERNELS / 'include'}\n"


def test_include_is_of_the_project_here_or_of_the_op(fictl, repo) -> None:
    assert fictl("where", "--include").out == f"{repo / 'kernels' / 'include'}\n"
    assert fictl("where", "--include", "scale").out == f"{KERNELS / 'include'}\n"


def test_cmake_is_where_find_package_looks(fictl, repo) -> None:
    folder = fictl("where", "--cmake", "--json").document["data"]["path"]
    assert (KERNELS / "cmake" / "fictlConfig.cmake").is_file()
    assert folder == str(KERNELS / "cmake")


@pytest.mark.parametrize("words", [(), ("--include", "--cmake")])
def test_nothing_and_too_much_are_usage_errors(fictl, words: tuple[str, ...]) -> None:
    assert fictl("where", *words).code == 2
