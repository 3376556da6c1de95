"""The emulated CUDA runtime API has names of its own: it can live beside a real libcudart."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

from fictl.emu.toolchain import HEADERS
from fictl.jit.emulation import build_runtime
from fictl.toolchain import find_cxx, find_nvcc, require_headers

_CALL = re.compile(r"\b(cuda[A-Z]\w+)\s*\(")


def _renamed() -> set[str]:
    text = (HEADERS / "fictl_emu" / "api_names.h").read_text()
    return set(re.findall(r"redefine_extname (cuda\w+) fictl_emu_\1\b", text))


def _symbols(module: Path, *options: str) -> set[str]:
    table = subprocess.run(
        ["nm", "-D", *options, module], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[-1] for line in table.splitlines()}


def _declared() -> set[str]:
    """What cuda_runtime_api.h of these headers declares."""
    includes = [word for path in require_headers().include_dirs for word in ("-isystem", str(path))]
    text = subprocess.run(
        [*find_cxx().argv, "-E", "-P", "-x", "c++", *includes, "-"],
        input="#include <cuda_runtime_api.h>\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return set(_CALL.findall(text))


def test_every_function_of_these_headers_is_renamed() -> None:
    assert _declared() - _renamed() == set()


def test_every_renamed_function_is_there_emulated_or_not() -> None:
    exported = _symbols(build_runtime().module, "--defined-only")
    assert {f"fictl_emu_{name}" for name in _renamed()} - exported == set()


def test_nothing_goes_by_a_name_of_the_real_one(emulate) -> None:
    module = Path(emulate("stopped.cu")._name)
    for library in (module, build_runtime().module):
        assert not [name for name in _symbols(library) if name.startswith("cuda")]


def test_a_kernel_runs_beside_a_real_libcudart(emulate, device) -> None:
    nvcc = find_nvcc()
    folders = [nvcc.home / "lib64", nvcc.home / "lib"] if nvcc else []
    real = next((path for folder in folders for path in folder.glob("libcudart.so*")), None)
    if real is None:
        pytest.skip("needs a toolkit with libcudart.so")
    cudart = ctypes.CDLL(str(real), mode=ctypes.RTLD_GLOBAL)
    out = (ctypes.c_int * 64)()
    null, flag = 0, 6
    assert emulate("stopped.cu").run(flag, out) == 0
    assert emulate("stopped.cu").run(null, out) == 719
    assert [report.kind for report in device.take_reports()] == ["null-pointer"]
    cudart.cudaGetErrorName.restype = ctypes.c_char_p
    assert cudart.cudaGetErrorName(719) == b"cudaErrorLaunchFailure"


def test_a_function_that_is_not_emulated_says_its_name(emulate, device) -> None:
    not_supported = 801
    assert emulate("missing_api.cu").run() == not_supported
    (report,) = device.take_reports()
    assert (report.kind, report.what) == ("missing", "cudaGraphCreate")
    assert report.place.file.endswith("missing_api.cu")


def test_the_runtime_needs_next_to_no_thread_local_storage() -> None:
    """A library that is loaded late shares some hundred bytes of it with all others."""
    table = subprocess.run(
        ["readelf", "-lW", build_runtime().module], capture_output=True, text=True, check=True
    ).stdout
    (size,) = re.findall(r"^ +TLS(?: +0x[0-9a-f]+){4} +(0x[0-9a-f]+)", table, re.MULTILINE)
    assert int(size, 16) <= 192
