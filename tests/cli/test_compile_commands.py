"""fictl compile-commands: where it writes, what it says, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fictl.project import Project


@pytest.fixture
def op(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the op, which is where one works."""
    folder = tiny / "kernels" / "elementwise" / "twice"
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.needs_nvcc
def test_it_is_written_to_the_root_of_the_project_and_once(fictl, tiny: Path, op: Path) -> None:
    first, second = fictl("compile-commands"), fictl("compile-commands")
    assert first.code == second.code == 0
    assert first.out == f"{tiny}/compile_commands.json  written: 2 sources, 1 headers\n"
    assert "up to date: 2 sources" in second.out
    files = {entry["file"] for entry in json.loads((tiny / "compile_commands.json").read_text())}
    assert files == {
        str(op / "launcher.cu"),
        str(op / "binding.cpp"),
        str(tiny / "kernels/include/tiny/elementwise/twice.cuh"),
    }


@pytest.mark.needs_nvcc
def test_outside_a_users_project_it_is_written_to_the_working_folder(
    fictl, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert fictl("compile-commands").code == 0
    entries = json.loads((tmp_path / "compile_commands.json").read_text())
    assert all(Path(e["file"]).is_relative_to(Project.shipped().kernels) for e in entries)


@pytest.mark.needs_nvcc
@pytest.mark.parametrize("out", ["build", "build/commands.json"])
def test_out_is_a_folder_or_a_file(fictl, tiny: Path, op: Path, out: str) -> None:
    (tiny / "build").mkdir()
    document = fictl("compile-commands", "--out", str(tiny / out), "--json").document
    assert Path(document["data"]["path"]).is_file()
    assert not (tiny / "compile_commands.json").exists()


@pytest.mark.needs_nvcc
def test_a_dry_run_prints_the_file_and_writes_none(fictl, tiny: Path, op: Path) -> None:
    answer = fictl("compile-commands", "twice", "--dry-run")
    assert len(json.loads(answer.out)) == 3
    assert f"would be {tiny}/compile_commands.json" in answer.err
    assert not (tiny / "compile_commands.json").exists()


@pytest.mark.needs_nvcc
def test_the_document_has_the_entries(fictl, tiny: Path, op: Path) -> None:
    document = fictl("compile-commands", "--arch", "9.0a", "--json").document
    assert document["schema"] == "fictl.compile-commands/1"
    assert document["data"]["written"] is True
    cuda = [e for e in document["data"]["commands"] if e["file"].endswith((".cu", ".cuh"))]
    assert len(cuda) == 2
    assert all("--cuda-gpu-arch=sm_90a" in entry["arguments"] for entry in cuda)


def test_without_a_compiler_it_is_the_machines_fault(fictl, op: Path, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_NVCC", "/nowhere/nvcc")
    answer = fictl("compile-commands")
    assert answer.code == 3
    assert "/nowhere/nvcc" in answer.err


@pytest.mark.needs_nvcc
def test_an_architecture_that_no_op_is_for_is_a_usage_error(fictl, tiny: Path, op: Path) -> None:
    answer = fictl("compile-commands", "--arch", "7.5")
    assert answer.code == 2
    assert "is for >=8.0, not for 7.5" in answer.err
    assert not (tiny / "compile_commands.json").exists()


def test_an_unknown_op_is_named_with_the_nearest(fictl, op: Path) -> None:
    answer = fictl("compile-commands", "twise")
    assert answer.code == 2
    assert "did you mean 'twice'?" in answer.err
