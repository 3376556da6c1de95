"""The emulated device on aarch64: cross-compiled, and run by qemu."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fictl.emu.flags import kernel_flags
from fictl.emu.toolchain import COMPILER, HEADERS, NAMES, PRELUDE, RUNTIME
from fictl.jit.emulated_runtime import runtime_spec
from fictl.toolchain import require_headers

CXX = shutil.which("aarch64-linux-gnu-g++")
QEMU = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
HERE = Path(__file__).parent
NULL, FLAG, OVERFLOW, ASSERT = "0", "6", "2", "4"

pytestmark = pytest.mark.skipif(
    not (CXX and QEMU), reason="needs aarch64-linux-gnu-g++ and qemu-aarch64"
)


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> list[list[str]]:
    """The words of each line that the program printed."""
    folder = tmp_path_factory.mktemp("aarch64")
    includes = [f"-I{HEADERS}", f"-I{RUNTIME}"]
    includes += [
        word for path in require_headers().include_dirs for word in ("-isystem", str(path))
    ]
    flags = [flag for flag in kernel_flags("fast", (), ()) if flag not in ("-O1", "-g1")]
    host = ["-std=c++17", "-fPIC", "-DFICTL_EMU=1", "-include", NAMES]
    kernels = [sys.executable, COMPILER, CXX, *flags, "-fpermissive", "-include", PRELUDE]
    units = [(source, [CXX, *host]) for source in runtime_spec().sources]
    units += [(HERE / "kernels" / "stopped.cu", kernels), (HERE / "aarch64_main.cpp", [CXX])]

    def compile(unit: tuple[Path, list]) -> Path:
        source, words = unit
        output = folder / f"{source.name}.o"
        subprocess.run([*words, *includes, "-c", source, "-o", output], check=True)
        return output

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile, units))
    program = folder / "main"
    subprocess.run([CXX, *objects, "-o", program, "-ldl", "-lpthread"], check=True)
    run = [QEMU, "-L", "/usr/aarch64-linux-gnu", program]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
    return [line.split(maxsplit=3) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("line", [0, 4])
def test_threads_take_turns(said, line: int) -> None:
    assert said[line][:3] == [FLAG, "0", "1"]


@pytest.mark.parametrize(
    ("line", "which", "kind"),
    [(1, NULL, "null-pointer"), (2, OVERFLOW, "stack-overflow"), (3, ASSERT, "assert")],
)
def test_a_fault_is_reported(said, line: int, which: str, kind: str) -> None:
    assert said[line][:2] == [which, "719"]
    assert f'"kind": "{kind}"' in said[line][3]
