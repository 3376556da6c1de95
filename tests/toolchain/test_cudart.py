"""The shared CUDA runtime: where it is found, and what a toolkit without it says."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.toolchain import cudart_to_link, find_cudart, find_nvcc, get_cudart, search

from ..cudart import NOBODYS, make_cudart


@pytest.fixture
def put(tmp_path: Path):
    """Put a runtime into a folder below that of this test."""

    def make(folder: str, major: int = NOBODYS) -> Path:
        return make_cudart(tmp_path / folder, major)

    return make


@pytest.mark.parametrize("folder", ["nvidia/cu99/lib", "nvidia/cuda_runtime/lib", "torch/lib"])
def test_the_packages_that_torch_needs_have_it(put, monkeypatch, tmp_path, folder):
    library = put(folder)
    assert find_cudart(NOBODYS) is None
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert find_cudart(NOBODYS) == library


@pytest.mark.parametrize("folder", ["lib64", "lib", "targets/x86_64-linux/lib"])
def test_a_toolkit_that_has_no_nvcc_has_it(put, monkeypatch, tmp_path, folder):
    library = put(f"cuda/{folder}")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    assert find_cudart(NOBODYS) == library


def test_images_that_only_run_programs_have_it_in_the_usual_folder(put, monkeypatch, tmp_path):
    library = put("cuda-99.0/lib64")
    monkeypatch.setattr(search, "_ROOTS", (tmp_path,))
    assert find_cudart(NOBODYS) == library


def test_conda_and_the_loaders_own_path_have_it(put, monkeypatch, tmp_path):
    library = put("conda/lib")
    monkeypatch.setenv("LD_LIBRARY_PATH", f":{library.parent}")
    assert find_cudart(NOBODYS) == library
    monkeypatch.setenv("CONDA_PREFIX", str(put("other/lib").parents[1]))
    assert find_cudart(NOBODYS) == tmp_path / "other" / "lib" / library.name


def test_that_of_torch_comes_before_that_of_the_nvcc_in_use(
    put, monkeypatch, tmp_path, stand_in_nvcc
):
    path = stand_in_nvcc("12.8")
    put("site/nvidia/cu12/lib", 12)
    monkeypatch.setenv("FICTL_NVCC", str(path))
    monkeypatch.setattr(sys, "path", [])
    assert find_cudart(12) == path.parents[1] / "lib64" / "libcudart.so.12"
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    assert find_cudart(12) == tmp_path / "site/nvidia/cu12/lib/libcudart.so.12"


def test_an_nvcc_of_another_cuda_does_not_answer(monkeypatch, stand_in_nvcc):
    path = stand_in_nvcc("12.8")
    make_cudart(path.parents[1] / "lib64", NOBODYS)
    monkeypatch.setenv("FICTL_NVCC", str(path))
    assert find_cudart(NOBODYS) is None


def test_a_broken_nvcc_that_was_named_is_no_error_here(monkeypatch, tmp_path):
    monkeypatch.setenv("FICTL_NVCC", str(tmp_path / "absent"))
    assert find_cudart(NOBODYS) is None


def test_a_toolkit_without_the_name_for_linking_is_linked(stand_in_nvcc, monkeypatch):
    monkeypatch.setenv("FICTL_NVCC", str(stand_in_nvcc("13.0")))
    nvcc = find_nvcc()
    folder = nvcc.home / "lib64"
    assert [path.name for path in folder.iterdir()] == ["libcudart.so.13"]
    assert cudart_to_link(nvcc) == folder / "libcudart.so.13"


def test_a_toolkit_that_has_none_links_that_of_a_package(use_nvcc, put, monkeypatch, tmp_path):
    nvcc = replace(use_nvcc("13.0"), version=(NOBODYS, 0))
    library = put("nvidia/cu99/lib")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert cudart_to_link(nvcc) == library


def test_a_runtime_that_is_installed_later_is_found(use_nvcc):
    nvcc = use_nvcc("13.0")
    library = nvcc.home / "lib64" / "libcudart.so.13"
    aside = library.rename(library.with_name("aside"))
    assert nvcc.cudart is None or nvcc.cudart.parent != library.parent
    aside.rename(library)
    assert nvcc.cudart == library


@pytest.mark.parametrize("has_static", [False, True])
def test_a_toolkit_with_the_static_one_alone_says_so(use_nvcc, has_static):
    nvcc = replace(use_nvcc("13.0"), version=(NOBODYS, 0))
    if has_static:
        (nvcc.home / "lib64" / "libcudart_static.a").touch()
    with pytest.raises(
        SetupError, match=r"has no libcudart\.so\.99.* modules are linked"
    ) as caught:
        cudart_to_link(nvcc)
    assert str(nvcc.home) in caught.value.message
    assert (", only libcudart_static.a, and" in caught.value.message) == has_static
    assert caught.value.hint == get_cudart(NOBODYS)


def test_the_way_out_is_the_package_of_that_cuda():
    assert get_cudart(13).startswith('pip install "nvidia-cuda-runtime==13.*", or set CUDA_HOME to')
    assert get_cudart(12).startswith("pip install nvidia-cuda-runtime-cu12, or set CUDA_HOME to")
