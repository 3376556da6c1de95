"""CUDA's headers, wherever they were installed, and only where they are complete."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl import toolchain
from fictl.errors import SetupError
from fictl.toolchain import find_headers, headers, require_headers, search

API, RUNTIME, CRT = "cuda_runtime_api.h", "cuda_runtime.h", "crt/host_config.h"
COMPLETE = (API, RUNTIME, CRT)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of Python's path, on a machine without any CUDA."""
    folder = tmp_path / "site-packages"
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(search, "_ROOTS", ())
    monkeypatch.setattr(headers, "_HOMES", (tmp_path / "local" / "cuda",))
    monkeypatch.setattr(headers, "_SYSTEM", tmp_path / "usr" / "include")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "empty"))
    monkeypatch.setattr(sys, "path", [str(folder)])
    toolchain.forget()
    return folder


@pytest.fixture
def put() -> Callable[..., Path]:
    """Headers of a version below a folder."""

    def write(folder: Path, *names: str, version: int = 13000) -> Path:
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"#define CUDART_VERSION  {version}\n")
        return folder

    return write


def test_a_machine_without_them_has_none(site: Path) -> None:
    assert find_headers() is None


def test_who_needs_them_is_told_where_to_get_them(site: Path) -> None:
    with pytest.raises(SetupError, match=r"there is no cuda_runtime\.h") as caught:
        require_headers()
    for word in ("nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-cuda-cccl", "CUDA_HOME"):
        assert word in caught.value.hint


def test_those_of_the_nvcc_in_use_come_first(site: Path, use_nvcc, put, tmp_path: Path) -> None:
    put(tmp_path / "local" / "cuda" / "include", *COMPLETE, version=12060)
    nvcc = use_nvcc("12.9")
    found = require_headers()
    assert (found.include_dirs, found.version) == (nvcc.include_dirs, (12, 9))


def test_a_toolkit_whose_compiler_is_missing_has_headers(site: Path, put, tmp_path: Path) -> None:
    include = put(tmp_path / "local" / "cuda" / "include", *COMPLETE, version=12080)
    found = require_headers()
    assert (found.include_dirs, found.identity) == ((include,), "12.8")


def test_cuda_home_comes_before_the_usual_places(site, put, tmp_path, monkeypatch) -> None:
    put(tmp_path / "local" / "cuda" / "include", *COMPLETE)
    mine = put(tmp_path / "mine" / "include", *COMPLETE)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "mine"))
    assert require_headers().include_dirs == (mine,)


def test_cccl_is_a_folder_of_its_own(site: Path, put, tmp_path: Path) -> None:
    include = put(tmp_path / "local" / "cuda" / "include", *COMPLETE, "cccl/cuda/std/array")
    assert require_headers().include_dirs == (include, include / "cccl")


def test_the_wheels_of_cuda_13_share_a_folder(site: Path, put) -> None:
    include = put(site / "nvidia" / "cu13" / "include", *COMPLETE, version=13010)
    found = require_headers()
    assert (found.include_dirs, found.version) == ((include,), (13, 1))


def test_the_wheels_of_cuda_12_have_a_folder_each(site: Path, put) -> None:
    nvidia = site / "nvidia"
    folders = (
        put(nvidia / "cuda_runtime" / "include", API, RUNTIME, version=12040),
        put(nvidia / "cuda_nvcc" / "include", CRT),
        put(nvidia / "cuda_cccl" / "include", "cuda/std/array"),
    )
    found = require_headers()
    assert (found.include_dirs, found.version) == (folders, (12, 4))


def test_of_wheels_for_several_versions_the_newest_counts(site: Path, put) -> None:
    for major in (12, 13):
        put(site / "nvidia" / f"cu{major}" / "include", *COMPLETE, version=1000 * major)
    assert require_headers().version == (13, 0)


@pytest.mark.parametrize("missing", COMPLETE)
def test_an_incomplete_folder_is_passed_over(site: Path, put, tmp_path: Path, missing) -> None:
    present = [name for name in COMPLETE if name != missing]
    put(tmp_path / "local" / "cuda" / "include", *present)
    assert find_headers() is None
    whole = put(site / "nvidia" / "cu13" / "include", *COMPLETE)
    assert require_headers().include_dirs == (whole,)


def test_the_distributions_own_folder_is_used_without_naming_it(site, put, tmp_path) -> None:
    # Why: as -isystem it would stand before the C++ library's, which breaks #include_next.
    put(tmp_path / "usr" / "include", *COMPLETE, version=12020)
    found = require_headers()
    assert (found.include_dirs, found.version) == ((), (12, 2))


def test_a_version_that_cannot_be_read_is_no_reason_to_fail(site: Path, put) -> None:
    include = put(site / "nvidia" / "cu13" / "include", *COMPLETE)
    (include / API).write_text("#pragma once\n")
    assert require_headers().version == (0, 0)
