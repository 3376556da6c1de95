"""Modules that compile in a tenth of a second, a compiler that is counted, and doctored builds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fictl
from fictl import log
from fictl.arch import Arch
from fictl.jit import JitSpec, gen_jit_spec, load
from fictl.paths import cache_root
from fictl.toolchain import Gpu

from ..cudart import NOBODYS, make_cudart

_FUNCTION = """{above}
#include <tvm/ffi/c_api.h>
extern "C" __attribute__((visibility("default"))) int __tvm_ffi_{name}(
    void*, const TVMFFIAny*, int32_t, TVMFFIAny* result) {{
  result->type_index = kTVMFFIInt;
  result->v_int64 = {value};
  return 0;
}}
"""

# Why without these: tvm_ffi imports them where it can, which takes longer than a build here.
_QUICKLY = (
    "import sys; sys.modules.update(dict.fromkeys(['torch', 'numpy', 'ml_dtypes', 'cuda']))\n"
)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> Path:
    """An architecture where there is no GPU, nothing loaded, and the folder of the empty cache."""
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0")
    monkeypatch.setattr(load, "_loaded", {})
    log.warn_once.cache_clear()
    return cache_root()


@pytest.fixture
def cpp() -> Callable[..., str]:
    """The text of a unit that exports one function of no arguments."""

    def text(name: str = "answer", value: object = 42, above: str = "") -> str:
        return _FUNCTION.format(name=name, value=value, above=above)

    return text


@pytest.fixture
def answer(tmp_path: Path, cpp: Callable[..., str]) -> Callable[..., JitSpec]:
    """The spec of a module with one host unit: `answer()` returns `value`."""

    def make(value: object = 42, folder: str = "op", above: str = "", **options: object) -> JitSpec:
        source = tmp_path / folder / "answer.cpp"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(cpp("answer", value, above), encoding="utf-8")
        return gen_jit_spec("answer", [source], **options)  # type: ignore[arg-type]

    return make


@pytest.fixture
def calls_cuda_99(answer: Callable[..., JitSpec], tmp_path: Path) -> JitSpec:
    """The spec of a module that calls the runtime of a CUDA that is not here."""
    folder = tmp_path / "cuda-99"
    library = make_cudart(folder, NOBODYS, 'extern "C" int cudaWhich() { return 99; }')
    above = 'extern "C" int cudaWhich();'
    return answer("cudaWhich()", above=above, extra_ldflags=["-Wl,--no-as-needed", str(library)])


@pytest.fixture
def on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that lookups see, and nobody uses."""
    gpu = Gpu(0, "NVIDIA A100", Arch(8, 0))
    monkeypatch.setattr("fictl.jit.lookup.visible_gpus", lambda: (gpu,))


@pytest.fixture
def compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Callable[[str, str], Path]
) -> Callable[[], list[str]]:
    """The objects that compilers were run for, in order; links are not counted."""
    log_file = tmp_path / "compiled.log"
    counter = script("count", f'for last; do :; done\necho "$last" >> "{log_file}"\nexec "$@"\n')
    monkeypatch.setenv("FICTL_CXX_LAUNCHER", str(counter))
    monkeypatch.setenv("FICTL_NVCC_LAUNCHER", str(counter))
    return lambda: log_file.read_text().split() if log_file.exists() else []


@pytest.fixture
def python() -> Callable[..., subprocess.Popen[str]]:
    """A fresh interpreter that runs a script; None as a variable's value unsets it."""

    def start(code: str, **changes: str | None) -> subprocess.Popen[str]:
        path = os.pathsep.join(
            [str(Path(fictl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        )
        env = {**os.environ, "PYTHONPATH": path, **changes}
        return subprocess.Popen(
            [sys.executable, "-c", _QUICKLY + code],
            env={name: value for name, value in env.items() if value is not None},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    return start


@pytest.fixture
def listing() -> Callable[[Path], dict[str, tuple[int, int]]]:
    """Everything below a folder with size and mtime: equal listings mean that nothing was written."""

    def everything(folder: Path) -> dict[str, tuple[int, int]]:
        stats = {str(path): path.lstat() for path in (folder, *folder.rglob("*"))}
        return {name: (info.st_size, info.st_mtime_ns) for name, info in stats.items()}

    return everything
