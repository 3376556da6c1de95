"""What promises are measured in: work of this machine's that has nothing of fictl in it.

A promise in seconds fails on a slower machine; a ratio to one of these, taken in turns with ours, does not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import timeit
from pathlib import Path

from sample import timed

_CALLS = 100_000
_ROOT = Path(__file__).resolve().parents[2]


def interpreter() -> float:
    """Seconds of Python's start-up."""
    return process([sys.executable, "-c", ""])


def import_typer() -> float:
    return process([sys.executable, "-c", "import typer"])


def process(argv: list[str], cwd: Path | None = None) -> float:
    """Seconds of a process that imports this checkout, with bytecode, as installed."""
    # The first sample writes the bytecode, the median reads it.
    path = os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "PYTHONPYCACHEPREFIX": tempfile.gettempdir()}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return timed(
        lambda: subprocess.run(argv, cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)
    )


def plain_call() -> float:
    """Seconds of a call of a Python function that does nothing, with arguments as ops have."""
    return timeit.timeit(lambda: _nothing(1, 2.0, out=3), number=_CALLS) / _CALLS


def parsed_lines(path: Path) -> float:
    """Seconds of json.loads over the lines of a file."""
    text = path.read_text(encoding="utf-8")
    return timed(lambda: [json.loads(line) for line in text.splitlines()])


def nvcc_unit(kernels: Path = _ROOT / "kernels") -> float:
    """Seconds of a single `.cu` that holds kernel, launcher and binding of `scale`: compile and link.

    It includes what tvm-ffi's documentation includes; ours takes fewer of its headers.
    """
    from fictl.jit.ffi import ffi_paths
    from fictl.toolchain import find_cxx, require_nvcc

    nvcc, paths = require_nvcc(), ffi_paths()
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "unit.cu"
        op = kernels / "elementwise/scale"
        parts = ("<tvm/ffi/tvm_ffi.h>", f'"{op}/launcher.cu"', f'"{op}/binding.cpp"')
        unit.write_text("".join(f"#include {part}\n" for part in parts))
        includes = [kernels / "include", kernels, paths.tvm_ffi, paths.dlpack, *nvcc.include_dirs]
        argv = [
            nvcc.path,
            f"-ccbin={find_cxx().ccbin}",
            "-std=c++17",
            "-O3",
            "-shared",
            "--expt-relaxed-constexpr",
            "-Xcompiler=-fPIC,-fvisibility=hidden",
            "-Xfatbin=-compress-all",
            "-gencode=arch=compute_90a,code=sm_90a",
            *(f"-I{path}" for path in includes),
            unit,
            f"-L{paths.library.parent}",
            "-ltvm_ffi",
            "-o",
            Path(folder) / "unit.so",
        ]
        return timed(lambda: subprocess.run(argv, check=True))


def _nothing(x: int, scale: float, *, out: int, **options: object) -> None:
    pass
