from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.needs_nvcc


def test_it_says_what_was_built_and_how_to_use_it(fictl, tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = fictl("aot", "build", "--out", str(out), "--arch", "8.0 9.0a")
    assert answer.code == 0
    assert "✓ elementwise.twice  8.0 9.0a  compiled in" in answer.out
    assert "1 of 1 modules in " in answer.out
    assert f"use it: FICTL_STORES={out}" in answer.out


def test_it_says_what_more_is_in_the_folder_and_why(
    fictl, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    assert fictl("aot", "build", "--out", str(out), "--arch", "8.0 9.0a").code == 0
    answer = fictl("aot", "build", "--out", str(out), "--arch", "8.0")
    assert "kept of an earlier run: elementwise.twice  8.0 9.0a" in answer.out
    assert fictl("cache", "clear").code == 0
    assert fictl("build", "--arch", "8.6 8.0").code == 0
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    answer = fictl("aot", "build", "--out", str(tmp_path / "another"), "--arch", "8.0")
    assert "more than was asked for (8.6)" in answer.out


def test_a_failure_is_exit_1_with_the_rest_built(fictl, tiny: Path, tmp_path: Path) -> None:
    launcher = tiny / "kernels" / "elementwise" / "twice" / "launcher.cu"
    launcher.write_text("#error half done\n")
    answer = fictl("aot", "build", "--out", str(tmp_path / "out"), "--json")
    assert answer.code == 1
    (module,) = answer.document["data"]["modules"]
    assert "half done" in module["error"]["message"]
    assert "half done" in answer.document["error"]["message"]


def test_a_dry_run_makes_no_folder(fictl, tiny: Path, tmp_path: Path) -> None:
    answer = fictl("aot", "build", "--out", str(tmp_path / "out"), "--dry-run", "--json")
    assert answer.code == 0
    assert answer.document["schema"] == "fictl.aot.build/1"
    assert [plan["module"] for plan in answer.document["data"]] == ["elementwise.twice"]
    assert not (tmp_path / "out").exists()


def test_the_folder_must_be_named(fictl, tiny: Path) -> None:
    answer = fictl("aot", "build", "--json")
    assert answer.code == 2
    assert "--out" in answer.document["error"]["message"]


def test_a_folder_of_something_else_is_refused(fictl, tiny: Path) -> None:
    answer = fictl("aot", "build", "--out", str(tiny), "--json")
    assert answer.code == 2
    assert "holds something that fictl did not put there" in answer.document["error"]["message"]
