"""Checks of Python and of the packages that every build or call needs."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.doctor.finding import DoctorFinding, error, ok, warning
from fictl.doctor.wheels import of_missing_compiler
from fictl.errors import SetupError
from fictl.jit.compile import ninja_binary
from fictl.jit.ffi import ffi_paths
from fictl.process import run

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_PYTHON = (3, 10)
_FFI = (0, 1)
_SECONDS = 60.0

# In a child process: a torch that fails to import, or crashes on the driver, must not end this.
_ASK_TORCH = (
    "import torch; print('torch', torch.__version__, torch.version.cuda, "
    "torch.cuda.device_count() if torch.cuda.is_available() else 0)"
)


def python(facts: Facts) -> Iterator[DoctorFinding]:
    seen = f"{platform.python_version()}, {sys.executable}"
    if sys.version_info[:2] < _PYTHON:
        yield error("Python", f"{seen}: 3.10 or newer is needed", "python3.12 -m venv .venv")
    else:
        yield ok("Python", seen)


def torch(facts: Facts) -> Iterator[DoctorFinding]:
    done = run([sys.executable, "-c", _ASK_TORCH], timeout=_SECONDS)
    lines = [line.split() for line in done.output.splitlines() if line.startswith("torch ")]
    if done.code or not lines or len(lines[-1]) != 4:
        yield _no_torch(done.output)
        return
    _, version, cuda, devices = lines[-1]
    if cuda == "None":
        yield _cpu_only(facts, version)
    elif facts.gpus.gpus and devices == "0":
        yield _sees_nothing(facts, version, cuda)
    else:
        yield _against_nvcc(facts, version, cuda)


def ninja(facts: Facts) -> Iterator[DoctorFinding]:
    try:
        binary = ninja_binary()
        done = run([binary, "--version"], timeout=_SECONDS)
    except SetupError as problem:
        yield of_missing_compiler()("ninja", problem.message, problem.hint or "pip install ninja")
        return
    version = done.output.strip()
    if done.code:
        yield error(
            "ninja", f"{binary} does not run: {version}", "pip install --force-reinstall ninja"
        )
    else:
        yield ok("ninja", f"{version}, {binary}")


def tvm_ffi(facts: Facts) -> Iterator[DoctorFinding]:
    name, fix = "tvm-ffi", "pip install --force-reinstall 'apache-tvm-ffi>=0.1,<0.2'"
    try:
        paths, version = ffi_paths(), metadata.version("apache-tvm-ffi")
    except (SetupError, metadata.PackageNotFoundError):
        yield error(name, "apache-tvm-ffi is not installed", fix)
        return
    parts = (paths.tvm_ffi / "tvm/ffi/c_api.h", paths.dlpack / "dlpack/dlpack.h", paths.library)
    missing = [str(path) for path in parts if not os.path.isfile(path)]
    if missing:
        yield error(name, f"{version} is incomplete: no {', no '.join(missing)}", fix)
    elif tuple(map(int, version.split(".")[:2])) != _FFI:
        yield error(name, f"{version}: its ABI is not the 0.1 that modules are built for", fix)
    else:
        yield ok(name, f"{version}, {paths.library}")


def _no_torch(output: str) -> DoctorFinding:
    message = next(reversed(output.strip().splitlines()), "it ended without a word")
    if "No module named 'torch'" in message:
        return error("torch", "not installed", "pip install torch")
    return error("torch", f"does not import: {message}", "pip install --force-reinstall torch")


def _cpu_only(facts: Facts, version: str) -> DoctorFinding:
    if not facts.gpus.gpus:
        return ok("torch", f"{version}, without CUDA, which no GPU here asks for")
    return error(
        "torch",
        f"{version} is built without CUDA, and there is a GPU here",
        f"pip install --force-reinstall torch --index-url {_index(facts)}",
    )


def _sees_nothing(facts: Facts, version: str, cuda: str) -> DoctorFinding:
    """Finding where fictl sees a GPU by the driver and torch sees none."""
    seen = f"{version} (CUDA {cuda}) sees no GPU"
    if facts.driver and _major(cuda) > facts.driver.cuda[0]:
        return error(
            "torch",
            f"{seen}: the driver is {facts.driver}",
            f"pip install --force-reinstall torch --index-url {_index(facts)}, or a newer driver",
        )
    return error(
        "torch", f"{seen}, the driver does", "python -c 'import torch; torch.cuda.init()' says why"
    )


def _against_nvcc(facts: Facts, version: str, cuda: str) -> DoctorFinding:
    if facts.nvcc is None or _major(cuda) == facts.nvcc.cudart_major:
        return ok("torch", f"{version}, CUDA {cuda}")
    return warning(
        "torch",
        f"{version} is of CUDA {cuda}, nvcc of {facts.nvcc.release}: fictl's modules take the "
        "runtime of theirs beside torch's and do not mind, C++ extensions of torch refuse to build",
        f"for those, FICTL_NVCC or CUDA_HOME of a CUDA {_major(cuda)}",
    )


def torch_cuda() -> int | None:
    """Major version of CUDA that the installed torch is built for, read without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    version = Path(spec.origin).parent / "version.py"
    text = version.read_text(encoding="utf-8") if os.path.isfile(version) else ""
    match = re.search(r"^cuda\b[^'\n]*'(\d+)", text, re.MULTILINE)
    return int(match[1]) if match else None


def _major(version: str) -> int:
    return int(version.partition(".")[0])


def _index(facts: Facts) -> str:
    major = facts.driver.cuda[0] if facts.driver else 13
    return f"https://download.pytorch.org/whl/cu{'130' if major >= 13 else '126'}"
