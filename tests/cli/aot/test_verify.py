from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def out(fictl, tiny: Path, tmp_path: Path) -> Path:
    assert fictl("aot", "build", "--out", str(tmp_path / "out")).code == 0
    return tmp_path / "out"


def test_a_folder_as_it_was_built_is_fine(fictl, out: Path) -> None:
    answer = fictl("aot", "verify", str(out))
    assert answer.code == 0
    assert "1 module, each as it should be" in answer.out
    assert fictl("aot", "verify", str(out), "--json").document["ok"] is True


def test_a_broken_module_is_exit_1_and_named(fictl, out: Path) -> None:
    next(out.rglob("module.so")).write_bytes(b"")
    answer = fictl("aot", "verify", str(out), "--json")
    assert answer.code == 1
    (module,) = answer.document["data"]["modules"]
    assert module["module"] == "elementwise.twice"
    assert "has 0 bytes" in module["problems"][0]
    assert "fictl aot build --out" in answer.document["error"]["hint"]


def test_a_folder_that_is_none_is_a_usage_error(fictl, tiny: Path) -> None:
    answer = fictl("aot", "verify", str(tiny), "--json")
    assert answer.code == 2
    assert "is not a folder of prebuilt modules" in answer.document["error"]["message"]
