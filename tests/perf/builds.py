"""Builds and loads of `scale`, against the same op as one nvcc unit that includes tvm/ffi."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fictl.paths import data_root
from sample import Pair, checkout_of, interleave, python
from yardsticks import interpreter, nvcc_unit

_ROOT = Path(__file__).resolve().parents[2]
_ARCH = "9.0a"
SPEC = "from fictl.op import folder_specs; from fictl.project import find; spec = folder_specs(find('scale')[0])[0]"
BUILD = f"{SPEC}; spec.build()"


def warm_load() -> Pair:
    """`build_and_load` of a cached module over loading that very file, where all is imported."""
    ours = (
        "import time, torch, tvm_ffi, fictl.jit.build, fictl.jit.load\n"
        f"{SPEC}\n"
        "start = time.perf_counter(); spec.build_and_load()\n"
        "print(time.perf_counter() - start)"
    )
    bare = (
        "import time, torch, tvm_ffi\n"
        "start = time.perf_counter(); tvm_ffi.load_module({path!r})\n"
        "print(time.perf_counter() - start)"
    )
    with checkout() as env:
        python(BUILD, env)
        path = next(Path(env["FICTL_WORKSPACE_BASE"]).rglob("module.so"))
        return interleave(
            lambda: float(python(ours, env)),
            interpreter,
            9,
            over=lambda: float(python(bare.format(path=str(path)), env)),
        )


def cold() -> Pair:
    with checkout() as env:

        def ours() -> float:
            shutil.rmtree(env["FICTL_WORKSPACE_BASE"], ignore_errors=True)
            return _built(env)

        return interleave(ours, lambda: nvcc_unit(checkout_of(env) / "kernels"), 5)


def edited() -> Pair:
    """A changed kernel header: everything else is as it was."""
    with checkout() as env:
        python(BUILD, env)
        header = checkout_of(env) / "kernels/include/fictl/elementwise/scale.cuh"

        def ours() -> float:
            header.write_text(header.read_text() + "// edited\n")
            return _built(env)

        return interleave(ours, lambda: nvcc_unit(checkout_of(env) / "kernels"), 5)


def _built(env: dict[str, str]) -> float:
    """Seconds of one `build()`, interpreter start-up left out."""
    timer = (
        f"import time; {SPEC}\n"
        "start = time.perf_counter(); spec.build(); print(time.perf_counter() - start)"
    )
    return float(python(timer, env))


@contextmanager
def checkout() -> Iterator[dict[str, str]]:
    """A copy of the package to edit, an empty cache, and the environment that uses both."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        shutil.copytree(_ROOT / "fictl", copy / "fictl")
        shutil.copytree(data_root("kernels"), copy / "kernels")
        yield {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")]),
            "FICTL_WORKSPACE_BASE": str(Path(folder) / "cache"),
            "FICTL_CUDA_ARCH_LIST": _ARCH,
            "FICTL_LOGGING_LEVEL": "warning",
            "PYTHONDONTWRITEBYTECODE": "",
        }
