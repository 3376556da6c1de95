from __future__ import annotations

import pytest


def test_an_op_is_a_project_of_its_own(fictl, tiny, tmp_path, monkeypatch) -> None:
    target = tmp_path / "alone"
    answer = fictl("export-op", "twice", str(target))
    assert answer.code == 0, answer.err
    assert answer.out.splitlines() == [
        "  fictl.toml",
        "  kernels/include/tiny/elementwise/  twice.cuh",
        "  kernels/elementwise/twice/  launcher.cu binding.cpp jit.py op.py trace.py bench.py",
        "  tests/kernels/elementwise/  test_twice.py",
        f"  9 files in {target} · next: cd {target}      fictl test twice",
    ]
    monkeypatch.chdir(target)
    assert fictl("check").code == 0


def test_a_shipped_op_is_exported_from_anywhere(fictl, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = fictl("export-op", "fictl/scale", "alone", "--name", "mine", "--json").document["data"]
    assert (data["op"], data["root"]) == ("fictl/elementwise/scale", str(tmp_path / "alone"))
    assert (tmp_path / "alone/kernels/include/mine/elementwise/scale.cuh").is_file()


@pytest.mark.parametrize("flag", ["--dry-run", "--diff"])
def test_to_look_writes_nothing(fictl, tiny, tmp_path, flag: str) -> None:
    answer = fictl("export-op", "twice", str(tmp_path / "alone"), flag)
    assert answer.code == 0
    assert "twice.cuh" in answer.out
    assert not (tmp_path / "alone").exists()


def test_a_folder_that_is_in_use_is_refused(fictl, tiny) -> None:
    answer = fictl("export-op", "twice", str(tiny))
    assert answer.code == 2
    assert "is not an empty folder" in answer.err


def test_a_family_is_no_single_op(fictl, tiny, tmp_path) -> None:
    answer = fictl("export-op", "elementwise", str(tmp_path / "alone"))
    assert answer.code == 2
    assert "is not a single op" in answer.err
