"""The CUDA runtime of a process: brought once, two side by side, absent, broken or too old."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.jit import cuda_runtime, load
from fictl.jit.store.platform import measured
from fictl.toolchain import cudart_name, require_nvcc

from ..cudart import NOBODYS, make_cudart

pytestmark = pytest.mark.needs_nvcc


def _run(code: str, *words: str | Path) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


_TWO = """
import ctypes, sys
from pathlib import Path
torchs = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
sys.path.append(sys.argv[2])
from fictl.jit import cuda_runtime
for _ in range(2):
    cuda_runtime.bring(99, Path(sys.argv[3]))
import tvm_ffi
print(tvm_ffi.load_module(sys.argv[3]).answer())
print(torchs.cudaWhich())
"""


def test_a_torch_of_another_cuda_keeps_its_runtime_and_the_module_has_its_own(
    calls_cuda_99, tmp_path: Path
) -> None:
    torchs = make_cudart(tmp_path / "torch", 98, 'extern "C" int cudaWhich() { return 98; }')
    library = 'extern "C" int cudaWhich() { return 99; }'
    make_cudart(tmp_path / "site" / "nvidia" / "cu99" / "lib", NOBODYS, library)
    module = calls_cuda_99.build().module
    assert _run(_TWO, torchs, tmp_path / "site", module) == ["99", "98"]


def test_one_that_is_in_the_process_is_not_looked_for(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cuda_runtime, "cudart_name", lambda major: "libc.so.6")
    monkeypatch.setattr(cuda_runtime, "find_cudart", lambda major: pytest.fail("it was looked for"))
    cuda_runtime.bring(NOBODYS, tmp_path / "absent")
    assert cuda_runtime.lacking(NOBODYS, tmp_path / "absent") == ""


def test_one_that_is_nowhere_is_named_with_what_to_install(calls_cuda_99) -> None:
    module = calls_cuda_99.build().module
    with pytest.raises(SetupError, match=r"of CUDA 99 do not load: libcudart\.so\.99, ") as caught:
        cuda_runtime.bring(NOBODYS, module)
    assert caught.value.hint.startswith('pip install "nvidia-cuda-runtime==99.*"')
    assert cuda_runtime.lacking(NOBODYS, module).endswith(caught.value.hint)


def test_a_module_that_calls_none_of_it_does_without(answer) -> None:
    module = answer().build().module
    cuda_runtime.bring(NOBODYS, module)
    assert cuda_runtime.lacking(NOBODYS, module) == ""
    assert b"libcudart" not in module.read_bytes()


def test_a_module_that_is_not_here_yet_is_taken_to_need_it(tmp_path: Path) -> None:
    assert "libcudart.so.99" in cuda_runtime.lacking(NOBODYS, tmp_path / "absent")


def test_one_that_cannot_be_loaded_is_named(calls_cuda_99, monkeypatch, tmp_path: Path) -> None:
    library = make_cudart(tmp_path / "nvidia" / "cu99" / "lib", NOBODYS)
    library.write_bytes(b"no library")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    with pytest.raises(SetupError, match=r"cannot load .*/libcudart\.so\.99, .* (ELF|short)"):
        cuda_runtime.bring(NOBODYS, calls_cuda_99.build().module)


_TOLD = """
import ctypes, sys
from pathlib import Path
ctypes.CDLL(sys.argv[1])
from fictl.errors import FictlError
from fictl.jit.load import load
from fictl.jit.store.entry import Entry
try:
    load(Entry.read(Path(sys.argv[2])))
except FictlError as error:
    print(error.message, error.hint, sep="\\n")
"""


def test_a_function_that_an_older_runtime_lacks_is_an_error_at_load(
    calls_cuda_99, tmp_path: Path
) -> None:
    library = make_cudart(tmp_path / "older", NOBODYS, 'extern "C" int cudaOld() { return 99; }')
    message, hint = _run(_TOLD, library, calls_cuda_99.build().path)
    assert "undefined symbol: cudaWhich, version libcudart.so.99" in message
    assert hint.startswith("libcudart.so.99 of this process is older than the nvcc that built it")
    assert 'pip install "nvidia-cuda-runtime==99.*"' in hint


def test_another_failure_to_load_is_not_blamed_on_the_runtime() -> None:
    assert cuda_runtime.too_old("undefined symbol: _ZN5fictl5twiceEv") == ""


def test_a_module_needs_the_runtime_by_its_name_and_knows_no_folder(answer) -> None:
    module = answer("cudaGetDeviceCount(nullptr)", above="#include <cuda_runtime.h>").build().module
    nvcc = require_nvcc()
    listed = subprocess.run(["readelf", "-dW", module], capture_output=True, text=True).stdout
    assert f"[{cudart_name(nvcc.cudart_major)}]" in listed
    assert "PATH" not in listed
    assert str(nvcc.home).encode() not in module.read_bytes()
    assert {kind for kind, _ in measured(module).needs} <= {"glibc", "glibcxx", "cxxabi"}


def test_the_emulated_device_asks_for_no_runtime(fake_build, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cuda_runtime, "bring", lambda *_: pytest.fail("it was asked for"))
    monkeypatch.setattr(load, "emulated_device", lambda: None)
    load.bring_runtime(fake_build(tmp_path / "recipe" / "build", device="emu"))
