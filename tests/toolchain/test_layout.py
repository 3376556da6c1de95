from __future__ import annotations

import subprocess

import pytest

from fictl.errors import SetupError
from fictl.toolchain import cudart_to_link, find_cxx
from fictl.toolchain.layout import read_layout
from fictl.toolchain.nvcc import inspect


def test_a_toolkit_with_lib_instead_of_lib64_has_its_cudart(stand_in_nvcc):
    home = stand_in_nvcc("13.0").parent.parent
    (home / "lib64").rename(home / "lib")
    assert inspect(home / "bin" / "nvcc").cudart == home / "lib" / "libcudart.so.13"


def test_a_toolkit_with_targets_has_its_cudart(stand_in_nvcc):
    home = stand_in_nvcc("13.0").parent.parent
    (home / "targets" / "x86_64-linux").mkdir(parents=True)
    (home / "lib64").rename(home / "targets" / "x86_64-linux" / "lib")
    found = inspect(home / "bin" / "nvcc").cudart
    assert found == home / "targets" / "x86_64-linux" / "lib" / "libcudart.so.13"


@pytest.mark.parametrize(
    ("part", "package"),
    [
        ("nvvm/bin/cicc", "nvidia-nvvm"),
        ("include/cuda_runtime.h", "nvidia-cuda-runtime"),
        ("include/crt/host_config.h", "nvidia-cuda-crt"),
    ],
)
def test_a_partial_installation_names_what_is_missing(stand_in_nvcc, part, package):
    path = stand_in_nvcc("13.0")
    (path.parent.parent / part).unlink()
    with pytest.raises(SetupError, match=f"is incomplete: no .*{package}"):
        read_layout(path)


def test_header_folders_that_the_profile_names_but_nobody_installed_are_left_out(stand_in_nvcc):
    path = stand_in_nvcc("13.0")
    text = path.read_text().replace(
        "#\\$ LIBRARIES", '#\\$ SYSTEM_INCLUDES="-isystem" "$here/../include/cccl"\n#\\$ LIBRARIES'
    )
    path.write_text(text)
    include = path.parent.parent / "include"
    assert read_layout(path).include_dirs == (include,)
    (include / "cccl").mkdir()
    assert read_layout(path).include_dirs == (include, include / "cccl")


def test_a_profile_that_nvcc_does_not_print_is_replaced_by_the_usual_layout(stand_in_nvcc):
    path = stand_in_nvcc("13.0")
    path.write_text(
        "#!/bin/sh\necho 'nvcc fatal : Failed to preprocess host compiler properties.'\n"
    )
    home = path.parent.parent
    found = read_layout(path)
    assert (found.home, found.include_dirs) == (home, (home / "include",))


def test_the_real_toolkit_compiles_and_links_with_what_was_found(real_nvcc, tmp_path):
    source = tmp_path / "probe.cpp"
    source.write_text(
        "#include <cuda_runtime.h>\nint f(int* n) { return cudaGetDeviceCount(n); }\n"
    )
    folders = [word for folder in real_nvcc.include_dirs for word in ("-isystem", folder)]
    linked = ["-shared", "-fPIC", "-Wl,--no-undefined", source, cudart_to_link(real_nvcc)]
    libraries = ["-ldl", "-lrt", "-lpthread", "-o", tmp_path / "probe.so"]
    subprocess.run([*find_cxx().argv, *folders, *linked, *libraries], check=True)
    assert (tmp_path / "probe.so").stat().st_size
