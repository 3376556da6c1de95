"""Libraries that a solution declares: found in wheels or toolkits, or said what to install."""

from __future__ import annotations

import sys

import pytest

from fictl.runnable import BuildError, cuda_libraries
from fictl.runnable.cuda_libraries import needed


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """A folder of installed packages, the only one, and nothing of the system."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(cuda_libraries, "_SYSTEM", ())

    def install(part, *files):
        for name in files:
            path = tmp_path / "nvidia" / part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return tmp_path / "nvidia" / part

    return install


@pytest.fixture
def declaring(exporting):
    return lambda *names, **options: exporting(dependencies=list(names), **options)


def test_nothing_is_needed_by_default(declaring):
    assert needed(declaring("torch", "numpy >= 2", "triton")) == cuda_libraries.Needed()


def test_the_library_of_a_wheel_is_linked_by_its_file(wheels, declaring, use_nvcc):
    use_nvcc("13.0")
    headers = ("include/cublas_v2.h", "include/cublasLt.h")
    folder = wheels("cu13", "lib/libcublas.so.13", "lib/libcublasLt.so.13", *headers)
    found = needed(declaring("cuBLAS >= 13"))
    assert [library.name for library in found.libraries] == ["cublasLt", "cublas"]
    assert found.includes == (folder / "include",)
    assert found.link[-1] == str(folder / "lib" / "libcublas.so.13")


def test_one_of_another_cuda_is_passed_over(wheels, declaring, use_nvcc):
    use_nvcc("13.0")
    wheels("cublas", "lib/libcublas.so.12", "lib/libcublasLt.so.12", "include/cublas_v2.h")
    with pytest.raises(BuildError, match=r"no libcublas.so of CUDA 13"):
        needed(declaring("cublas"))


@pytest.mark.parametrize(
    ("name", "release", "wheel"),
    [
        ("cublas", "13.0", "nvidia-cublas"),
        ("cublas", "12.8", "nvidia-cublas-cu12"),
        ("cudnn", "13.0", "nvidia-cudnn-cu13"),
        ("curand", "13.0", "nvidia-curand"),
        ("nvrtc", "13.0", "nvidia-cuda-nvrtc"),
    ],
)
def test_what_is_missing_is_said(wheels, declaring, use_nvcc, name, release, wheel):
    use_nvcc(release)
    with pytest.raises(BuildError, match=f"answer needs {name}") as raised:
        needed(declaring(name))
    assert raised.value.hint == f"pip install {wheel}"
    assert raised.value.exit_code == 3


def test_a_flag_declares_as_well(wheels, exporting, use_nvcc):
    use_nvcc("13.0")
    with pytest.raises(BuildError, match="needs cusparse"):
        needed(exporting(), ["cusparse"])


def test_the_emulated_device_has_none(declaring):
    with pytest.raises(BuildError, match="cudnn, which runs on GPUs"):
        needed(declaring("cudnn"), emulated=True)


def test_headers_of_cccl_are_asked_for(declaring, use_nvcc):
    use_nvcc("13.0")
    with pytest.raises(BuildError, match="needs CCCL") as raised:
        needed(declaring("libcudacxx"))
    assert raised.value.hint == "pip install nvidia-cuda-cccl"


def test_cutlass_brings_its_tools(declaring, tmp_path, monkeypatch):
    monkeypatch.setattr(cuda_libraries, "cutlass_include", lambda: tmp_path / "include")
    tools = tmp_path / "tools" / "util" / "include"
    assert needed(declaring("CUTLASS")).includes == (tmp_path / "include", tools)


def test_the_driver_is_linked_where_it_is_called(wheels, solution, use_nvcc):
    stub = use_nvcc("13.0").home / "lib64" / "stubs" / "libcuda.so"
    stub.parent.mkdir(parents=True)
    stub.touch()
    calling = solution({"main.cu": "int f() { return cuInit (0); }"}, "cuda", "main.cu::run")
    assert needed(calling).driver == stub
    silent = solution({"main.cu": "// cuda_runtime cublasCreate("}, "cuda", "main.cu::run")
    assert needed(silent).driver is None
    assert needed(calling, emulated=True).driver is None
