from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fictl import toolchain
from fictl.errors import SetupError
from fictl.toolchain import candidates, find_cxx, find_nvcc, require_nvcc, search


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine whose usual places hold no nvcc."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", f"{empty}:/usr/bin:/bin")
    monkeypatch.setattr(search, "_ROOTS", (tmp_path / "local",))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site-packages")])
    monkeypatch.setattr(sys, "prefix", str(empty))


def problem_of(origin: str) -> str:
    return next(c.problem for c in candidates() if c.origin == origin)


def test_a_bare_machine_has_none():
    assert find_nvcc() is None


def test_the_error_names_every_place_and_the_ways_out():
    with pytest.raises(SetupError) as caught:
        require_nvcc()
    for place in ("FICTL_NVCC", "CUDA_HOME", "PATH", "/usr/local/cuda*", "conda", "PyPI"):
        assert place in caught.value.message
    for way in ("FICTL_NVCC", "CUDA_HOME", 'pip install "fictl[toolchain]"'):
        assert way in caught.value.hint


def test_every_place_is_looked_in_in_order(stand_in_nvcc, monkeypatch, tmp_path):
    def at(name: str) -> str:
        return str(stand_in_nvcc("13.0", tmp_path / name).parent.parent)

    monkeypatch.setenv("FICTL_NVCC", at("chosen") + "/bin/nvcc")
    monkeypatch.setenv("CUDA_HOME", at("home"))
    monkeypatch.setenv("PATH", at("path") + "/bin:/usr/bin:/bin")
    at("local/cuda")
    monkeypatch.setenv("CONDA_PREFIX", at("conda"))
    at("site-packages/nvidia/cu13")
    names = ["chosen", "home", "path", "local/cuda", "conda", "site-packages/nvidia/cu13"]
    assert [c.nvcc.home for c in candidates() if c.nvcc] == [tmp_path / n for n in names]


def test_of_several_installed_versions_the_newest_is_taken(stand_in_nvcc, tmp_path):
    for release, name in (("12.9", "cuda-12.9"), ("13.0", "cuda-13.0"), ("12.8", "cuda-9.0")):
        stand_in_nvcc(release, tmp_path / "local" / name)
    assert require_nvcc().release == "13.0"


def test_the_link_that_the_administrator_set_beats_a_newer_version(stand_in_nvcc, tmp_path):
    stand_in_nvcc("13.0", tmp_path / "local" / "cuda-13.0")
    old = stand_in_nvcc("12.8", tmp_path / "local" / "cuda-12.8")
    (tmp_path / "local" / "cuda").symlink_to(old.parent.parent)
    assert require_nvcc().release == "12.8"


def test_fictl_nvcc_that_cannot_be_used_is_an_error_although_another_would_do(
    stand_in_nvcc, monkeypatch
):
    monkeypatch.setenv("CUDA_HOME", str(stand_in_nvcc("13.0").parent.parent))
    monkeypatch.setenv("FICTL_NVCC", "/nowhere/nvcc")
    with pytest.raises(SetupError, match="FICTL_NVCC=/nowhere/nvcc cannot be used"):
        find_nvcc()


def test_cuda_home_with_a_leading_colon_is_named_and_passed_over(
    stand_in_nvcc, tmp_path, monkeypatch
):
    home = stand_in_nvcc("13.0", tmp_path / "local" / "cuda").parent.parent
    monkeypatch.setenv("CUDA_HOME", f":{home}")
    assert require_nvcc().home == home
    assert "has a ':'" in problem_of("CUDA_HOME")


def test_cuda_home_without_an_nvcc_is_named_and_passed_over(stand_in_nvcc, tmp_path, monkeypatch):
    home = stand_in_nvcc("13.0", tmp_path / "local" / "cuda").parent.parent
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "empty"))
    assert require_nvcc().home == home
    assert "is not there" in problem_of("CUDA_HOME")


def test_a_wheel_without_its_companions_is_passed_over_and_says_which(stand_in_nvcc, tmp_path):
    nvcc = stand_in_nvcc("13.0", tmp_path / "site-packages" / "nvidia" / "cu13")
    (nvcc.parent.parent / "nvvm" / "bin" / "cicc").unlink()
    assert find_nvcc() is None
    assert "nvidia-nvvm" in problem_of("PyPI packages")


def test_an_nvcc_that_is_installed_later_is_found_by_the_same_process(stand_in_nvcc, tmp_path):
    assert find_nvcc() is None
    stand_in_nvcc("13.0", tmp_path / "site-packages" / "nvidia" / "cu13")
    assert find_nvcc() is not None


def test_a_change_of_cuda_home_is_seen_by_the_same_process(stand_in_nvcc, monkeypatch):
    for release in ("12.8", "13.0"):
        monkeypatch.setenv("CUDA_HOME", str(stand_in_nvcc(release).parent.parent))
        assert require_nvcc().release == release


def test_a_warm_start_spawns_nothing(stand_in_nvcc, monkeypatch):
    monkeypatch.setenv("CUDA_HOME", str(stand_in_nvcc("13.0").parent.parent))
    cold = (find_nvcc(), find_cxx())
    toolchain.forget()

    def spawn(*args: object, **kwargs: object) -> None:
        raise AssertionError(f"spawned {args}")

    monkeypatch.setattr(subprocess, "Popen", spawn)
    assert (find_nvcc(), find_cxx()) == cold
